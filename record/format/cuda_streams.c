/* SPDX-License-Identifier: MIT */
/* What rings say of streams; see cuda_streams.h. */
#include "record/format/cuda_streams.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct ncs_cuda_stream_lane {
	uint64_t stream; /* of the next operation, as in records */
	uint32_t next;   /* the position that comes next */
};

void ncs_cuda_streams_release(struct ncs_cuda_streams *streams)
{
	free(streams->rings);
	*streams = (struct ncs_cuda_streams){ 0 };
}

/* NULL: no memory. */
static struct ncs_cuda_stream_lane *ring_of(struct ncs_cuda_streams *streams,
					    unsigned lane)
{
	struct ncs_cuda_stream_lane *rings = streams->rings;

	if (lane >= streams->count) {
		rings = realloc(rings, (lane + 1) * sizeof(*rings));
		if (!rings)
			return NULL;
		streams->rings = rings;
		while (streams->count <= lane)
			rings[streams->count++] =
				(struct ncs_cuda_stream_lane){ 0 };
	}
	return &rings[lane];
}

int ncs_cuda_streams_take(struct ncs_cuda_streams *streams, unsigned lane,
			  const struct ncs_record *record, uint64_t *stream)
{
	struct ncs_cuda_stream_lane *ring = ring_of(streams, lane);

	if (!ring)
		return -ENOMEM;
	if (record->position != ring->next)
		ring->stream = 0;
	ring->next = record->position + 1;
	switch (record->event) {
	case NCS_EVENT_STREAM:
		ring->stream = record->value;
		*stream = 0;
		break;
	case NCS_EVENT_COLL:
	case NCS_EVENT_P2P:
		*stream = ring->stream;
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
