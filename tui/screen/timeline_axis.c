/* SPDX-License-Identifier: MIT */
/* The time axis of the timeline; see screen_timeline.h. Must not draw. */
#include "tui/screen/screen_timeline.h"

#include "tui/table/table.h"

#define FIRST_CELL_NS 500000

void ncs_timeline_init(struct ncs_time_view *time)
{
	*time = (struct ncs_time_view){ .cell_ns = FIRST_CELL_NS,
					.legend_lines = 1 };
}

int64_t ncs_timeline_latest_ns(const struct ncs_screen *screen)
{
	const struct ncs_model *model = &screen->model;
	uint64_t latest_ns = 0;

	for (size_t i = 0; i < model->rank_count; i++)
		if (model->ranks[i]->now.taken_ns > latest_ns)
			latest_ns = model->ranks[i]->now.taken_ns;
	return (int64_t)(latest_ns != 0 ? latest_ns : model->now_ns);
}

/* Shows a time, and some more before it. */
static void show(struct ncs_time_view *time, int64_t from_ns, int64_t until_ns)
{
	const struct ncs_axis whole = {
		.cell_ns = (until_ns - from_ns) / time->width * 9 / 8 + 1,
	};

	time->cell_ns = ncs_axis_tick_ns(&whole, 1);
	if (time->cell_ns > NCS_CELL_LONGEST_NS)
		time->cell_ns = NCS_CELL_LONGEST_NS;
	time->end_ns = until_ns;
}

void ncs_timeline_place(struct ncs_screen *screen)
{
	const struct ncs_grid *table = &screen->tables[NCS_VIEW_TIMELINE];
	const struct ncs_grid_row *row = ncs_grid_selected(table);
	int64_t latest_ns = ncs_timeline_latest_ns(screen);
	struct ncs_time_view *time = &screen->time;
	uint64_t wait_ns = screen->summary.oldest.duration_ns;
	uint64_t from_ns, until_ns;

	if (time->placed || time->width <= 0 || !row || !row->row.rank)
		return;
	if (screen->summary.oldest.rank && wait_ns >= NCS_LONG_WAIT_NS) {
		/* Again for each frame: its beginning stays on the screen. */
		show(time, latest_ns - (int64_t)wait_ns, latest_ns);
		time->fixed = false;
	} else if (ncs_latest_step(row->row.rank, &from_ns, &until_ns)) {
		show(time, (int64_t)from_ns, (int64_t)until_ns);
		/* Until there is one about now, the latest that there is. */
		time->placed = latest_ns - (int64_t)until_ns <=
			       (int64_t)(until_ns - from_ns);
		time->fixed = !time->placed;
	}
}

struct ncs_axis ncs_timeline_axis(const struct ncs_screen *screen)
{
	const struct ncs_time_view *time = &screen->time;

	return (struct ncs_axis){
		.end_ns = time->fixed ? time->end_ns :
					ncs_timeline_latest_ns(screen),
		.cell_ns = time->cell_ns,
		.width = time->width,
	};
}

int ncs_timeline_cursor_column(const struct ncs_screen *screen)
{
	const struct ncs_time_view *time = &screen->time;

	return time->cursor < time->width ? time->width - 1 - time->cursor : 0;
}

static void set_axis(struct ncs_screen *screen, const struct ncs_axis *axis)
{
	struct ncs_time_view *time = &screen->time;

	time->placed = true;
	time->cell_ns = axis->cell_ns;
	time->end_ns = axis->end_ns;
	time->fixed = axis->end_ns < ncs_timeline_latest_ns(screen);
}

/* Zooms around the cursor. If the cursor is at now, now stays at the right
 * edge. */
static void zoom(struct ncs_screen *screen, bool in)
{
	struct ncs_axis axis = ncs_timeline_axis(screen);
	bool is_now = !screen->time.fixed && screen->time.cursor == 0;

	ncs_axis_zoom(&axis,
		      is_now ? axis.width : ncs_timeline_cursor_column(screen),
		      in);
	set_axis(screen, &axis);
}

static void pan(struct ncs_screen *screen, bool back)
{
	struct ncs_axis axis = ncs_timeline_axis(screen);

	ncs_axis_pan(&axis, back, ncs_timeline_latest_ns(screen));
	set_axis(screen, &axis);
}

/* Moves the cursor. At an edge, the axis moves instead. */
static void move_cursor(struct ncs_screen *screen, bool back)
{
	struct ncs_time_view *time = &screen->time;
	struct ncs_axis axis = ncs_timeline_axis(screen);

	if (back && time->cursor + 1 >= time->width)
		axis.end_ns -= axis.cell_ns;
	else if (!back && time->cursor == 0)
		axis.end_ns += axis.cell_ns;
	else
		time->cursor += back ? 1 : -1;
	if (axis.end_ns > ncs_timeline_latest_ns(screen))
		axis.end_ns = ncs_timeline_latest_ns(screen);
	set_axis(screen, &axis);
}

bool ncs_timeline_act_on_axis(struct ncs_screen *screen, enum ncs_action action)
{
	struct ncs_time_view *time = &screen->time;

	switch (action) {
	case NCS_ACTION_ZOOM_IN:
	case NCS_ACTION_UNFOLD:
		zoom(screen, true);
		return true;
	case NCS_ACTION_ZOOM_OUT:
	case NCS_ACTION_FOLD:
		zoom(screen, false);
		return true;
	case NCS_ACTION_PAN_BACK:
	case NCS_ACTION_SORT_PREVIOUS:
		pan(screen, true);
		return true;
	case NCS_ACTION_PAN_ON:
	case NCS_ACTION_SORT_NEXT:
		pan(screen, false);
		return true;
	case NCS_ACTION_LEFT:
	case NCS_ACTION_RIGHT:
		move_cursor(screen, action == NCS_ACTION_LEFT);
		return true;
	case NCS_ACTION_COLUMN_FIRST:
		time->cursor = time->width > 0 ? time->width - 1 : 0;
		return true;
	case NCS_ACTION_COLUMN_LAST:
		time->cursor = 0;
		return true;
	case NCS_ACTION_LAST:
		time->placed = true;
		time->fixed = false;
		time->cursor = 0;
		return true;
	default:
		return false;
	}
}
