/* SPDX-License-Identifier: MIT */
/* Finds a free track for a slice; see slice_tracks.h. */
#include "record/export/slice_tracks.h"

#include <stdlib.h>

#include "shm/array.h"

void ncs_slice_tracks_release(struct ncs_slice_tracks *tracks)
{
	free(tracks->tracks);
	tracks->tracks = NULL;
	tracks->count = tracks->capacity = 0;
}

static struct ncs_slice_track *find(struct ncs_slice_tracks *tracks,
				    uint64_t start_ns)
{
	struct ncs_slice_track *found = NULL;

	for (size_t i = 0; i < tracks->count; i++) {
		struct ncs_slice_track *track = &tracks->tracks[i];

		if (track->end_ns <= start_ns &&
		    (!found || track->end_ns > found->end_ns))
			found = track;
	}
	return found;
}

/* Remembers a new track. Returns NULL if there are too many tracks or there is
 * no memory. */
static struct ncs_slice_track *add(struct ncs_slice_tracks *tracks)
{
	if (tracks->count == NCS_SLICE_TRACKS_MAX ||
	    ncs_array_reserve(&tracks->tracks, &tracks->capacity,
			      tracks->count + 1, sizeof(*tracks->tracks)) != 0)
		return NULL;
	return &tracks->tracks[tracks->count++];
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
