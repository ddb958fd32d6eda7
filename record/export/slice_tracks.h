/* SPDX-License-Identifier: MIT */
/* Tracks for overlapping slices: as many tracks of one name as are needed, so
 * that slices on the same track do not overlap.
 *
 * Slices are expected in the order of their ends; a slice that comes later gets
 * a track of its own if it does not fit. Viewers show tracks of one name as
 * one. Not thread-safe.
 */
#ifndef NCS_RECORD_EXPORT_SLICE_TRACKS_H
#define NCS_RECORD_EXPORT_SLICE_TRACKS_H

#include <stddef.h>
#include <stdint.h>

#include "record/export/trace_writer.h"

/* Largest number of tracks that are reused. Further tracks are used for one
 * slice each. */
#define NCS_SLICE_TRACKS_MAX 256u

struct ncs_slice_track {
	uint32_t track;
	uint64_t end_ns; /* end of its latest slice */
};

struct ncs_slice_tracks {
	uint32_t parent; /* parent of the tracks, as for ncs_trace_track() */
	uint32_t place;
	const char *name; /* borrowed */
	struct ncs_slice_track *tracks;
	size_t count;
	size_t capacity;
};

/* Returns tracks of a name, of which none has been made yet. */
static inline struct ncs_slice_tracks
ncs_slice_tracks_below(uint32_t parent, uint32_t place, const char *name)
{
	return (struct ncs_slice_tracks){ .parent = parent,
					  .place = place,
					  .name = name };
}

/* Returns the track for a slice: of those that are free at its start, the one
 * whose latest slice ended last; a new one if none is free. */
uint32_t ncs_slice_tracks_take(struct ncs_slice_tracks *tracks,
			       struct ncs_trace_writer *writer,
			       uint64_t start_ns, uint64_t end_ns);

/* Frees the memory. The tracks stay in the trace. */
void ncs_slice_tracks_release(struct ncs_slice_tracks *tracks);

#endif
