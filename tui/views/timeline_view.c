/* SPDX-License-Identifier: MIT */
/* Timeline: one row for each track of each rank. Must not draw: the
 * screen draws the tracks beside their names (tui/screen/screen_timeline.c).
 */
#include "tui/views/view.h"

#include "analysis/views/timeline.h"

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
