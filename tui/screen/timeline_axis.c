/* SPDX-License-Identifier: MIT */
/* The time axis of the timeline; see timeline_axis.h. Must not draw. */
#include "tui/screen/timeline_axis.h"

#define FIRST_CELL_NS 500000

void ncs_timeline_init(struct ncs_time_view *time)
{
	*time = (struct ncs_time_view){ .cell_ns = FIRST_CELL_NS };
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
		time->fixed = false;
		time->cursor = 0;
		return true;
	default:
		return false;
	}
}
