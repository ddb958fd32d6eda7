/* SPDX-License-Identifier: MIT */
/* When an agent's looks are due that can be read by themselves. Such a look is
 * some times as large as others: those of agents that began together, or whose
 * ranks all changed at once, must not come together for long.
 *
 * Pure; not thread-safe.
 */
#ifndef NCS_FLEET_STREAM_KEY_TIMES_H
#define NCS_FLEET_STREAM_KEY_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest time between two of them; and that time where digests are wanted
 * and looks have nothing to gain from another one. */
#define NCS_KEY_EVERY_NS UINT64_C(10000000000)
#define NCS_KEY_SETTLED_EVERY_NS UINT64_C(30000000000)

struct ncs_key_times {
	uint64_t phase; /* a number that other agents do not have */
	uint64_t latest_ns; /* CLOCK_MONOTONIC; 0: there was none */
	bool was_level; /* most ranks were level in the latest one */
};

/* How the ranks of the latest look are. */
struct ncs_key_ranks {
	bool has_digests; /* the reader wants them */
	size_t ranks;
	size_t level;   /* those that are level, */
	size_t digests; /* and those that could have a digest */
};

/* Notes that a look that is taken at now_ns can be read by itself. */
void ncs_key_times_note(struct ncs_key_times *times, uint64_t now_ns,
			const struct ncs_key_ranks *ranks);

/* Whether the next look, at now_ns, shall be one. They are due at certain times
 * of this agent's. */
bool ncs_key_times_are_due(const struct ncs_key_times *times, uint64_t now_ns,
			   const struct ncs_key_ranks *ranks);

#endif
