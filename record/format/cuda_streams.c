/* SPDX-License-Identifier: MIT */
/* Follows the CUDA streams of records; see cuda_streams.h. */
#include "record/format/cuda_streams.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "shm/array.h"

struct ncs_cuda_stream_lane {
	/* Stream of the next operation, as in records; 0 if unknown. */
	uint64_t stream;
	uint32_t next;   /* position of the next record */
};

void ncs_cuda_streams_release(struct ncs_cuda_streams *streams)
{
	free(streams->lanes);
	*streams = (struct ncs_cuda_streams){ 0 };
}

int ncs_cuda_streams_take(struct ncs_cuda_streams *streams, unsigned lane,
			  const struct ncs_record *record, uint64_t *stream)
{
	struct ncs_cuda_stream_lane *state;

	if (ncs_array_reserve_zeroed(&streams->lanes, &streams->capacity,
				     (size_t)lane + 1,
				     sizeof(*streams->lanes)) != 0)
		return -ENOMEM;
	state = &streams->lanes[lane];
	if (record->position != state->next)
		state->stream = 0;
	state->next = record->position + 1;
	switch (record->event) {
	case NCS_EVENT_STREAM:
		state->stream = record->value;
		*stream = 0;
		break;
	case NCS_EVENT_COLL:
	case NCS_EVENT_P2P:
		*stream = state->stream;
		break;
	case NCS_EVENT_COLL_API:
	case NCS_EVENT_P2P_API:
	case NCS_EVENT_KERNEL_LAUNCH:
	case NCS_EVENT_CE_COLL:
		*stream = record->delta[0];
		break;
	default:
		*stream = 0;
		break;
	}
	return 0;
}

void ncs_cuda_stream_text(uint64_t handle,
			  char text[NCS_CUDA_STREAM_TEXT_BYTES])
{
	snprintf(text, NCS_CUDA_STREAM_TEXT_BYTES, "0x%" PRIx64, handle);
}
