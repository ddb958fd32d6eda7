/* SPDX-License-Identifier: MIT */
/* A recording as a source: a pass as of a moment finds each rank as it was last
 * recorded until then, and the records that had ended since the pass before.
 *
 * Snapshots are as of the moment at which the state was recorded, not of the
 * pass: counters and times then belong together. A pass that finds nothing new
 * of a rank brings the state that the pass before brought. */
#ifndef NCS_RECORD_READ_SOURCE_RECORDING_H
#define NCS_RECORD_READ_SOURCE_RECORDING_H

#include "analysis/base/source.h"
#include "record/read/recording.h"

/* The recording stays the caller's and must outlive the source; its moments are
 * its common time. pid 0: of all processes. NULL: no memory. */
struct ncs_source *ncs_source_open_recording(struct ncs_recording *recording,
					     uint32_t pid);

/* A pass will be as of this moment: what it takes is read from the disk
 * meanwhile. */
void ncs_source_recording_expect(struct ncs_source *source, uint64_t moment_ns);

/* The next pass is a first one, at whatever moment: it brings the latest
 * records before it. So does a pass that is earlier than the one before. */
void ncs_source_recording_restart(struct ncs_source *source);

#endif
