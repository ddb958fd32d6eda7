/* SPDX-License-Identifier: MIT */
/* The timeline's axis, and the cells of a track along it.
 */
#include "analysis/views/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- The axis ------------------------------------------------------------ */

int64_t ncs_axis_ns(const struct ncs_axis *axis, int column)
{
	return axis->end_ns - axis->cell_ns * (axis->width - column);
}

/* Returns the smallest of 1, 2, 5, 10 ... that is not less than `value`. */
static int64_t round_up(int64_t value)
{
	static const int64_t digits[] = { 1, 2, 5 };

	for (int64_t power = 1;; power *= 10)
		for (unsigned i = 0; i < 3; i++)
			if (digits[i] * power >= value)
				return digits[i] * power;
}

/* Returns the next shorter cell: of two neighbours, one is more than a third of
 * the other. */
static int64_t shorter(int64_t cell_ns)
{
	return round_up((cell_ns + 2) / 3);
}

void ncs_axis_zoom(struct ncs_axis *axis, int column, bool in)
{
	int64_t cell_ns = in ? shorter(axis->cell_ns) :
			       round_up(axis->cell_ns + 1);
	int64_t at_ns = ncs_axis_ns(axis, column);

	if (cell_ns < NCS_CELL_SHORTEST_NS || cell_ns > NCS_CELL_LONGEST_NS)
		return;
	axis->cell_ns = cell_ns;
	axis->end_ns = at_ns + cell_ns * (axis->width - column);
}

void ncs_axis_pan(struct ncs_axis *axis, bool back, int64_t latest_ns)
{
	int64_t half_ns = axis->cell_ns * ((axis->width + 1) / 2);

	axis->end_ns += back ? -half_ns : half_ns;
	if (axis->end_ns > latest_ns)
		axis->end_ns = latest_ns;
}

int64_t ncs_axis_tick_ns(const struct ncs_axis *axis, int columns)
{
	return round_up(axis->cell_ns * columns);
}

/* --- Cells --------------------------------------------------------------- */

struct track_weights {
	int64_t of[NCS_ACTIVITY_COUNT];
};

struct track_painter {
	const struct ncs_axis *axis;
	const struct ncs_track *track;
	const struct ncs_collective *collective;
	const struct ncs_presence *part; /* NULL if nothing is highlighted */
	struct ncs_cell *cells;
	struct track_weights *weights;
};

static int column_of(const struct ncs_axis *axis, int64_t at_ns)
{
	int64_t from_ns = ncs_axis_ns(axis, 0);

	if (at_ns <= from_ns)
		return 0;
	if (at_ns >= axis->end_ns)
		return axis->width - 1;
	return (int)((at_ns - from_ns) / axis->cell_ns);
}

static void paint(void *context, const struct ncs_stretch *stretch)
{
	const struct track_painter *painter = context;
	const struct ncs_axis *axis = painter->axis;
	bool before = ncs_activities[stretch->activity].layer ==
		      NCS_LAYER_BEFORE;
	bool lit = painter->part &&
		   ncs_presence_has(painter->part, painter->collective,
				    painter->track, stretch);
	int first = column_of(axis, (int64_t)stretch->start_ns);
	int last = column_of(axis, (int64_t)stretch->end_ns - 1);

	for (int i = first; i <= last; i++) {
		int64_t from_ns = ncs_axis_ns(axis, i);
		struct track_weights *weights = &painter->weights[i];
		struct ncs_cell *cell = &painter->cells[i];

		weights->of[stretch->activity] += ncs_stretch_overlap_ns(
			stretch, from_ns, from_ns + axis->cell_ns);
		cell->lit = cell->lit || lit;
		if (!before)
			continue;
		/* The activity shows here whether there was one before. */
		cell->several = cell->activity != NCS_ACTIVITY_UNKNOWN;
		cell->activity = stretch->activity;
	}
}

/* Returns the activity of a cell without stretches: none, lost, or unknown. */
static enum ncs_activity nothing(const struct ncs_rank *rank,
				 const struct ncs_track *track, int64_t from_ns,
				 int64_t until_ns)
{
	const struct ncs_latest *latest = rank->latest;

	if (until_ns <= (int64_t)ncs_track_known_from_ns(rank, track) ||
	    from_ns >= (int64_t)ncs_rank_end_ns(rank) ||
	    ncs_track_has_gaps(rank, track))
		return NCS_ACTIVITY_UNKNOWN;
	if (latest && latest->lost > 0 &&
	    until_ns > (int64_t)latest->lost_from_ns &&
	    from_ns < (int64_t)latest->lost_until_ns)
		return NCS_ACTIVITY_LOST;
	return NCS_ACTIVITY_NONE;
}

/* Returns the activity that has most of the time of a cell, of the foremost
 * layer that has any. */
static enum ncs_activity heaviest(const struct track_weights *weights)
{
	enum ncs_activity found = NCS_ACTIVITY_UNKNOWN;

	for (unsigned i = 0; i < NCS_ACTIVITY_COUNT; i++) {
		enum ncs_activity_layer layer = ncs_activities[i].layer;

		if (weights->of[i] == 0)
			continue;
		if (layer > ncs_activities[found].layer ||
		    (layer == ncs_activities[found].layer &&
		     weights->of[i] > weights->of[found]))
			found = (enum ncs_activity)i;
	}
	return found;
}

int ncs_track_cells(const struct ncs_rank *rank, const struct ncs_track *track,
		    const struct ncs_axis *axis,
		    const struct ncs_collective *collective,
		    struct ncs_cell *cells)
{
	struct ncs_presence part;
	bool is_lit = collective &&
		      ncs_collective_find(rank, collective, &part);
	struct track_painter painter = {
		.axis = axis,
		.track = track,
		.collective = collective,
		.part = is_lit ? &part : NULL,
		.cells = cells,
		.weights =
			calloc((size_t)axis->width, sizeof(*painter.weights)),
	};

	memset(cells, 0, (size_t)axis->width * sizeof(*cells));
	if (!painter.weights)
		return -ENOMEM;
	ncs_track_visit(rank, track, ncs_axis_ns(axis, 0), axis->end_ns, paint,
			&painter);
	for (int i = 0; i < axis->width; i++) {
		int64_t from_ns = ncs_axis_ns(axis, i);

		cells[i].activity = heaviest(&painter.weights[i]);
		if (cells[i].activity == NCS_ACTIVITY_UNKNOWN)
			cells[i].activity = nothing(rank, track, from_ns,
						    from_ns + axis->cell_ns);
	}
	free(painter.weights);
	return 0;
}
