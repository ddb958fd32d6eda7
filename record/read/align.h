/* SPDX-License-Identifier: MIT */
/* Aligns the clocks of a recording's hosts by their traffic.
 *
 * Reads messages and collectives in windows of time that are spread over the
 * recording, enough to compute each host's offset and drift
 * (analysis/clocks/alignment.h). The windows are a small part of a large
 * recording. Hosts without traffic to others stay aligned by CLOCK_REALTIME.
 */
#ifndef NCS_RECORD_READ_ALIGN_H
#define NCS_RECORD_READ_ALIGN_H

#include "analysis/clocks/alignment.h"
#include "analysis/records/messages.h"
#include "record/read/recording.h"

/* The result of an alignment. */
struct ncs_recording_alignment {
	struct ncs_aligned *hosts; /* one for each host of the recording */
	size_t host_count;
	unsigned windows;
	uint64_t windows_ns; /* total time of the windows */
	uint64_t length_ns;  /* time that was to be aligned */
	uint64_t records;    /* number of records read */
	uint64_t messages, collectives;
	struct ncs_alignment_quality quality;
};

/* Aligns all hosts to the first one, for from_ns to until_ns of the common time
 * (0 and UINT64_MAX for all of it). This changes all times of the recording.
 * Does nothing if there is only one host. Returns 0 or -errno. The caller
 * releases *alignment in either case. */
int ncs_recording_align_hosts(struct ncs_recording *recording, uint64_t from_ns,
			      uint64_t until_ns,
			      struct ncs_recording_alignment *alignment);
void ncs_recording_alignment_release(struct ncs_recording_alignment *alignment);

#endif
