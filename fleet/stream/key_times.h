/* SPDX-License-Identifier: MIT */
/* When an agent's looks are due that can be read by themselves. Such a look is
 * some times as large as others: those of agents that began together must not
 * come together for long.
 *
 * Pure; not thread-safe.
 */
#ifndef NCS_FLEET_STREAM_KEY_TIMES_H
#define NCS_FLEET_STREAM_KEY_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* The longest time between two of them. */
#define NCS_KEY_EVERY_NS UINT64_C(10000000000)

struct ncs_key_times {
	uint64_t phase; /* a number that other agents do not have */
	uint64_t latest_ns; /* of the latest one, CLOCK_MONOTONIC; 0: none */
};

/* Whether the next look, at now_ns, shall be one. They are due at certain times
 * of this agent's. */
static inline bool ncs_key_times_are_due(const struct ncs_key_times *times,
					 uint64_t now_ns)
{
	uint64_t shift_ns = times->phase % NCS_KEY_EVERY_NS;

	return times->latest_ns == 0 ||
	       (now_ns + shift_ns) / NCS_KEY_EVERY_NS !=
		       (times->latest_ns + shift_ns) / NCS_KEY_EVERY_NS;
}

#endif
