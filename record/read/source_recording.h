/* SPDX-License-Identifier: MIT */
/* A recording as a source. A pass is made at a time of the recording: it finds
 * each rank's latest state at that time, and the records that ended since the
 * previous pass.
 *
 * Snapshots are as of the time at which the state was recorded, not as of the
 * time of the pass, so that their counters and times belong together. If a rank
 * has no new state, the pass brings the previous one again.
 */
#ifndef NCS_RECORD_READ_SOURCE_RECORDING_H
#define NCS_RECORD_READ_SOURCE_RECORDING_H

#include "analysis/base/source.h"
#include "record/read/recording.h"

/* Opens a source. The recording must outlive it; times are its common time.
 * `pid` is the only process to show, 0 for all. Returns NULL if there is no
 * memory. */
struct ncs_source *ncs_source_open_recording(struct ncs_recording *recording,
					     uint32_t pid);

/* Announces a pass at this time, so that the kernel reads ahead the chunks that
 * the pass needs. */
void ncs_source_recording_expect(struct ncs_source *source, uint64_t at_ns);

/* Makes the next pass a first one, which brings the latest records before its
 * time. A pass at an earlier time than the previous one is also a first one. */
void ncs_source_recording_restart(struct ncs_source *source);

#endif
