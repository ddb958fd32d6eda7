/* SPDX-License-Identifier: MIT */
/* The limits of a stream: its memory, and how much is unpacked at once; see
 * stream_internal.h. Must not look at what is in the stream. */
#include <stdio.h>

#include "fleet/stream/stream_internal.h"

#define SECOND_NS UINT64_C(1000000000)

/* The pause after which the most may be unpacked. */
#define BURST_NS \
	(NCS_STREAM_BURST_BYTES / NCS_STREAM_UNPACKED_A_SECOND * SECOND_NS)

void ncs_stream_note_limit(struct ncs_stream_reader *stream, const char *why)
{
	stream->facts.limited_times++;
	snprintf(stream->facts.limited, sizeof(stream->facts.limited), "%s",
		 why);
}

void ncs_stream_note_no_room(struct ncs_stream_reader *stream)
{
	const struct ncs_budget *own = &stream->budget, *whole = own->whole;
	bool is_own = !whole || own->most - own->used < whole->most - whole->used;

	ncs_stream_note_limit(stream, is_own ?
					      "its ranks take more than 256 MiB" :
					      "all nodes together take half of"
					      " the memory that was free");
}

bool ncs_stream_pay(struct ncs_stream_reader *stream, uint64_t bytes)
{
	if (ncs_budget_take(&stream->budget, bytes))
		return true;
	ncs_stream_note_no_room(stream);
	return false;
}

void ncs_stream_allow(struct ncs_stream_reader *stream, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns > stream->allowance_ns ?
				     now_ns - stream->allowance_ns :
				     0;

	stream->allowance_ns += passed_ns;
	if (passed_ns >= BURST_NS)
		stream->allowance_bytes = NCS_STREAM_BURST_BYTES;
	else
		stream->allowance_bytes +=
			passed_ns * NCS_STREAM_UNPACKED_A_SECOND / SECOND_NS;
	if (stream->allowance_bytes > NCS_STREAM_BURST_BYTES)
		stream->allowance_bytes = NCS_STREAM_BURST_BYTES;
}

bool ncs_stream_may_unpack(struct ncs_stream_reader *stream, uint64_t bytes)
{
	if (bytes > stream->allowance_bytes) {
		ncs_stream_note_limit(stream, "more than 64 MiB a second come"
					      " from it, unpacked");
		return false;
	}
	stream->allowance_bytes -= bytes;
	return true;
}
