/* SPDX-License-Identifier: MIT */
/* The timeline, one row for each track of each rank, which the screen draws beside
 * their names (tui/screen/screen_timeline.c); and the table of views; see view.h. Must
 * not draw. */
#include "tui/views/view.h"

struct ncs_track ncs_timeline_track(const struct ncs_row *row)
{
	struct ncs_track track;

	ncs_track_at(row->rank, row->index, &track);
	return track;
}

static enum ncs_severity severity(const struct ncs_row *row)
{
	struct ncs_track track = ncs_timeline_track(row);

	if (track.channel && ncs_rank_is_live(row->rank) &&
	    ncs_wait_ns(row->rank, track.channel) >= NCS_LONG_WAIT_NS)
		return NCS_BAD;
	return ncs_track_is_empty(row->rank, &track) ? NCS_QUIET : NCS_NORMAL;
}

const struct ncs_screen_view ncs_screen_timeline = {
	.rules = {
		.severity = severity,
		.throughput = NCS_COLUMN_TIMELINE_SINCE,
		.bytes = NCS_COLUMN_TIMELINE_SINCE,
		.time = NCS_COLUMN_TIMELINE_SINCE,
	},
	/* The legend of the letters, which the screen draws, too. */
	.detail = { 2, 1 },
	.detail_count = 2,
};

/* --- All views ------------------------------------------------------------- */

static const struct ncs_screen_view *const views[NCS_VIEW_COUNT] = {
	[NCS_VIEW_RANK] = &ncs_screen_ranks,
	[NCS_VIEW_COMMUNICATOR] = &ncs_screen_communicators,
	[NCS_VIEW_CHANNEL] = &ncs_screen_channels,
	[NCS_VIEW_PROXY] = &ncs_screen_proxy,
	[NCS_VIEW_COLLECTIVE] = &ncs_screen_collectives,
	[NCS_VIEW_TIMELINE] = &ncs_screen_timeline,
	[NCS_VIEW_FINDING] = &ncs_screen_diagnose,
	[NCS_VIEW_RANGE] = &ncs_screen_ranges,
	[NCS_VIEW_NODE] = &ncs_screen_nodes,
	[NCS_VIEW_FUNCTION] = &ncs_screen_functions,
	[NCS_VIEW_CLASS] = &ncs_screen_sizes,
};

const struct ncs_screen_view *ncs_screen_view_of(enum ncs_view view)
{
	return views[view];
}

enum ncs_view ncs_screen_tab_of(enum ncs_view view)
{
	return view == NCS_VIEW_CLASS || view == NCS_VIEW_FUNCTION ?
		       NCS_VIEW_COLLECTIVE :
		       view;
}
