/* SPDX-License-Identifier: MIT */
/* Finds the CUDA stream that each record of a rank belongs to: either the
 * record names it, or a record before it in the same ring does
 * (ncclstat/record.h).
 *
 * Records are not trusted: they may hold any value. Not thread-safe.
 */
#ifndef NCS_RECORD_FORMAT_CUDA_STREAMS_H
#define NCS_RECORD_FORMAT_CUDA_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#include "ncclstat/record.h"

/* The streams of one rank's lanes. A struct of zeros is empty. */
struct ncs_cuda_streams {
	struct ncs_cuda_stream_lane *lanes; /* by lane */
	size_t capacity;
};

/* Frees the memory of the lanes. */
void ncs_cuda_streams_release(struct ncs_cuda_streams *streams);

/* Takes the next record of a lane. All records must be taken, in their order.
 * Sets *stream to the stream of the record's event, as it is in records; 0 if
 * the event has no stream, or its stream is not known. After missing records
 * the stream is not known until a record names it again. Returns 0 or
 * -ENOMEM. */
int ncs_cuda_streams_take(struct ncs_cuda_streams *streams, unsigned lane,
			  const struct ncs_record *record, uint64_t *stream);

#define NCS_CUDA_STREAM_TEXT_BYTES 19u

/* Prints a stream's handle as debuggers show it, e.g. "0x7f0012345678". */
void ncs_cuda_stream_text(uint64_t handle,
			  char text[NCS_CUDA_STREAM_TEXT_BYTES]);

#endif
