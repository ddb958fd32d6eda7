/* SPDX-License-Identifier: MIT */
/* Aligning the clocks of a recording's hosts by their traffic.
 *
 * Looks at some of a recording: messages and collectives in windows of time that
 * are spread over all of it, so many that offset and drift of each host follow
 * (analysis/clocks/alignment.h); of a large recording that is a small part. Hosts that
 * have no traffic with others stay as CLOCK_REALTIME tells.
 */
#ifndef NCS_RECORD_READ_ALIGN_H
#define NCS_RECORD_READ_ALIGN_H

#include "analysis/clocks/alignment.h"
#include "analysis/records/messages.h"
#include "record/read/recording.h"

/* How that went. */
struct ncs_recording_alignment {
	struct ncs_aligned *hosts; /* by the recording's hosts */
	size_t host_count;
	unsigned windows;
	uint64_t looked_ns; /* the time in them together … */
	uint64_t length_ns; /* … of so much */
	uint64_t records;   /* looked at */
	uint64_t collectives;
	struct ncs_messages_count messages;
	struct ncs_alignment_quality quality;
};

/* Aligns all hosts to the first one, for from_ns … until_ns of the common time;
 * 0, UINT64_MAX: all of it. Of one host nothing is done. 0 or -errno; release
 * the alignment in any case. What is moved: all times of the recording. */
int ncs_recording_align_hosts(struct ncs_recording *recording, uint64_t from_ns,
			      uint64_t until_ns,
			      struct ncs_recording_alignment *alignment);
void ncs_recording_alignment_release(struct ncs_recording_alignment *alignment);

#endif
