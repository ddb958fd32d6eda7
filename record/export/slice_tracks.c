/* SPDX-License-Identifier: MIT */
/* Which track is free; see slice_tracks.h. */
#include "record/export/slice_tracks.h"

#include <stdlib.h>

void ncs_slice_tracks_release(struct ncs_slice_tracks *tracks)
{
	free(tracks->tracks);
	tracks->tracks = NULL;
	tracks->count = 0;
}

static struct ncs_slice_track *find(struct ncs_slice_tracks *tracks,
				    uint64_t start_ns)
{
	struct ncs_slice_track *found = NULL;

	for (unsigned i = 0; i < tracks->count; i++) {
		struct ncs_slice_track *track = &tracks->tracks[i];

		if (track->end_ns <= start_ns &&
		    (!found || track->end_ns > found->end_ns))
			found = track;
	}
	return found;
}

/* NULL: it is not kept, as there are too many or there is no memory. */
static struct ncs_slice_track *add(struct ncs_slice_tracks *tracks)
{
	unsigned count = tracks->count;
	struct ncs_slice_track *more = tracks->tracks;

	if (count == NCS_SLICE_TRACKS_MAX)
		return NULL;
	if ((count & (count - 1)) == 0) /* full, as it doubles */
		more = realloc(more, (count ? 2 * count : 1) * sizeof(*more));
	if (!more)
		return NULL;
	tracks->tracks = more;
	return &more[tracks->count++];
}

uint32_t ncs_slice_tracks_take(struct ncs_slice_tracks *tracks,
			       struct ncs_trace_writer *writer,
			       uint64_t start_ns, uint64_t end_ns)
{
	struct ncs_slice_track *track = find(tracks, start_ns);
	uint32_t number = track ? track->track :
				  ncs_trace_track(writer, tracks->parent,
						  tracks->name, tracks->place);

	if (!track)
		track = add(tracks);
	if (track)
		*track = (struct ncs_slice_track){ number, end_ns };
	return number;
}
