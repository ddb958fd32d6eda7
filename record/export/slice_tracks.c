/* SPDX-License-Identifier: MIT */
/* Which track is free; see slice_tracks.h. */
#include "record/export/slice_tracks.h"

#include <stdlib.h>

void ncs_lanes_release(struct ncs_lanes *lanes)
{
	free(lanes->lanes);
	lanes->lanes = NULL;
	lanes->count = 0;
}

static struct ncs_lane_end *find(struct ncs_lanes *lanes, uint64_t start_ns)
{
	struct ncs_lane_end *found = NULL;

	for (unsigned i = 0; i < lanes->count; i++) {
		struct ncs_lane_end *lane = &lanes->lanes[i];

		if (lane->end_ns <= start_ns &&
		    (!found || lane->end_ns > found->end_ns))
			found = lane;
	}
	return found;
}

/* NULL: it is not kept, as there are too many or there is no memory. */
static struct ncs_lane_end *add(struct ncs_lanes *lanes)
{
	unsigned count = lanes->count;
	struct ncs_lane_end *more = lanes->lanes;

	if (count == NCS_LANES_MAX)
		return NULL;
	if ((count & (count - 1)) == 0) /* full, as it doubles */
		more = realloc(more, (count ? 2 * count : 1) * sizeof(*more));
	if (!more)
		return NULL;
	lanes->lanes = more;
	return &more[lanes->count++];
}

uint32_t ncs_lanes_take(struct ncs_lanes *lanes,
			struct ncs_trace_writer *writer, uint64_t start_ns,
			uint64_t end_ns)
{
	struct ncs_lane_end *lane = find(lanes, start_ns);
	uint32_t track = lane ? lane->track :
				ncs_trace_track(writer, lanes->parent,
						lanes->name, lanes->place);

	if (!lane)
		lane = add(lanes);
	if (lane)
		*lane = (struct ncs_lane_end){ track, end_ns };
	return track;
}
