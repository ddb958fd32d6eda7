/* SPDX-License-Identifier: MIT */
/* Copies a function's counters; see function_reader.h. */
#include "shm/read/function_reader.h"

#include <sched.h>
#include <string.h>

#include "shm/segment.h"
#include "shm/seqlock.h"

/* Copies the stream times after the counters. Returns false if the sequence has
 * changed since those were copied. */
static bool copy_times(struct ncs_stream_times *times,
		       const struct ncs_lane *lane, unsigned function,
		       uint64_t sequence)
{
	const uint64_t *words = (const uint64_t *)&lane->stream_times[function];
	uint64_t copy[sizeof(*times) / sizeof(uint64_t)];

	for (size_t i = 0; i < sizeof(copy) / sizeof(*copy); i++)
		copy[i] = ncs_payload_load(&words[i]);
	memcpy(times, copy, sizeof(copy));
	/* ORDER: pairs with ncs_seqlock_begin() (shm/seqlock.h): the sequence
	 * is read again after all words. */
	ncs_fence_acquire();
	return ncs_load_relaxed(&lane->functions[function].sequence) ==
	       sequence;
}

bool ncs_function_copy(const struct ncs_reader *reader,
		       const struct ncs_lane *lane, unsigned function,
		       struct ncs_function *counters,
		       struct ncs_stream_times *times)
{
	const uint64_t *block = (const uint64_t *)&lane->functions[function];
	uint64_t copy[sizeof(*counters) / sizeof(uint64_t)];
	/* An image does not change while it is read. */
	unsigned tries = ncs_reader_is_image(reader) ? 1 : NCS_SEQLOCK_TRIES;
	bool has_times = ncs_segment_has_stream_times(&reader->header);
	bool good = false;

	memset(times, 0, sizeof(*times));
	for (unsigned i = 0; i < tries && !good; i++) {
		good = ncs_seqlock_try(copy, block,
				       sizeof(copy) / sizeof(*copy));
		if (has_times && !copy_times(times, lane, function, copy[0]))
			good = false;
		/* The writer may be waiting for this processor. */
		if (!good && i % 64 == 63)
			sched_yield();
	}
	memcpy(counters, copy, sizeof(copy));
	return good;
}
