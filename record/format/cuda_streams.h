/* SPDX-License-Identifier: MIT */
/* On which CUDA stream a rank's records are: what they say themselves, or what
 * their ring said before them (ncclstat/record.h).
 *
 * Records are not trusted: any value may be in them. Not thread-safe.
 */
#ifndef NCS_RECORD_FORMAT_CUDA_STREAMS_H
#define NCS_RECORD_FORMAT_CUDA_STREAMS_H

#include <stdint.h>

#include "ncclstat/record.h"

/* Start with {0}. */
struct ncs_cuda_streams {
	struct ncs_cuda_stream_lane *rings; /* by lane */
	unsigned count;
};

void ncs_cuda_streams_release(struct ncs_cuda_streams *streams);

/* Takes the next record of a lane, of all that there are and in their order, and
 * says which stream its event is on, as in records; 0: on none, or that is not
 * known. After records that are missing it is not known until the ring says it
 * again. 0 or -ENOMEM. */
int ncs_cuda_streams_take(struct ncs_cuda_streams *streams, unsigned lane,
			  const struct ncs_record *record, uint64_t *stream);

#define NCS_CUDA_STREAM_TEXT_BYTES 19u

/* A stream's handle as debuggers show it: "0x7f0012345678". */
void ncs_cuda_stream_text(uint64_t handle,
			  char text[NCS_CUDA_STREAM_TEXT_BYTES]);

#endif
