/* SPDX-License-Identifier: MIT */
/* The clock of a segment: the conversion of ticks. For all of the segment see
 * abi.h. */
#ifndef NCCLSTAT_ABI_CLOCK_H
#define NCCLSTAT_ABI_CLOCK_H

#include <assert.h>
#include <stdint.h>

enum ncs_clock_kind {
	NCS_CLOCK_MONOTONIC = 1, /* ticks are ns of CLOCK_MONOTONIC */
	NCS_CLOCK_TSC = 2,       /* x86 time stamp counter */
	NCS_CLOCK_CNTVCT = 3,    /* Arm's virtual counter */
};

/* The conversion of ticks to ns of CLOCK_MONOTONIC:
 *   base_monotonic_ns + ((ticks - base_ticks) * multiplier >> 32)
 * with a 128-bit product. The plugin measures the multiplier over a few ms when
 * it starts. A reader of the same boot that can read the same counter improves
 * it by measuring from the base until now (shm/clock.h). */
struct ncs_clock {
	uint64_t kind; /* enum ncs_clock_kind */
	uint64_t base_ticks;
	uint64_t base_monotonic_ns;
	uint64_t base_realtime_ns; /* CLOCK_REALTIME at the same time */
	uint64_t multiplier;       /* ns per tick, times 2^32 */
};

static_assert(sizeof(struct ncs_clock) == 40, "clock");

#endif
