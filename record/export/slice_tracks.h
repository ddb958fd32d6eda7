/* SPDX-License-Identifier: MIT */
/* Tracks for slices that overlap: as many of one name as are needed, each of
 * which gets slices one after another.
 *
 * Slices are taken in the order of their ends, as a rule; one that comes later
 * gets a track of its own if need be. Viewers show tracks of one name as one.
 */
#ifndef NCS_RECORD_EXPORT_SLICE_TRACKS_H
#define NCS_RECORD_EXPORT_SLICE_TRACKS_H

#include "record/export/trace_writer.h"

/* More tracks than that are made, but not searched. */
#define NCS_SLICE_TRACKS_MAX 256u

struct ncs_slice_track {
	uint32_t track;
	uint64_t end_ns;
};

/* All zeros but for what they are called. */
struct ncs_slice_tracks {
	uint32_t parent; /* as for ncs_trace_track() */
	uint32_t place;
	const char *name; /* borrowed */
	struct ncs_slice_track *tracks;
	unsigned count;
};

/* The track for a slice: of those that are free then, the one that is so since
 * the shortest time. */
uint32_t ncs_slice_tracks_take(struct ncs_slice_tracks *tracks,
			       struct ncs_trace_writer *writer,
			       uint64_t start_ns, uint64_t end_ns);

void ncs_slice_tracks_release(struct ncs_slice_tracks *tracks);

#endif
