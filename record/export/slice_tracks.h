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

/* More lanes than that are made, but not searched. */
#define NCS_LANES_MAX 256u

struct ncs_lane_end {
	uint32_t track;
	uint64_t end_ns;
};

/* All zeros but for what they are called. */
struct ncs_lanes {
	uint32_t parent; /* as for ncs_trace_track() */
	uint32_t place;
	const char *name; /* borrowed */
	struct ncs_lane_end *lanes;
	unsigned count;
};

/* The track for a slice: of those that are free then, the one that is so since
 * the shortest time. */
uint32_t ncs_lanes_take(struct ncs_lanes *lanes,
			struct ncs_trace_writer *writer, uint64_t start_ns,
			uint64_t end_ns);

void ncs_lanes_release(struct ncs_lanes *lanes);

#endif
