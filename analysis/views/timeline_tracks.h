/* SPDX-License-Identifier: MIT */
/* The tracks of the timeline, for the files that make their stretches. Private to
 * timeline*.c. Pure.
 */
#ifndef NCS_ANALYSIS_VIEWS_TIMELINE_TRACKS_H
#define NCS_ANALYSIS_VIEWS_TIMELINE_TRACKS_H

#include <stdbool.h>

#include "analysis/records/latest_records.h"
#include "analysis/views/timeline.h"

/* Returns whether a track has records of this kind. Times on the stream are in
 * the records of operations, those of channels of kernels in their own. */
bool ncs_track_uses_ring(const struct ncs_rank *rank,
			 const struct ncs_track *track,
			 enum ncs_latest_kind kind);

#endif
