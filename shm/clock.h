/* SPDX-License-Identifier: MIT */
/* The clock of records and tables: raw ticks, and how they become ns.
 *
 * ncs_clock_ticks() is what the plugin's callbacks call: the time stamp counter
 * where the kernel itself trusts it, Arm's virtual counter, else
 * CLOCK_MONOTONIC. No system call, no lock. The rest is for start-up and for
 * readers.
 */
#ifndef NCS_SHM_CLOCK_H
#define NCS_SHM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "ncclstat/abi.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* CLOCK_MONOTONIC, ns. */
uint64_t ncs_clock_monotonic_ns(void);

/* The best clock of this machine: enum ncs_clock_kind. Reads files; not for
 * callbacks. */
uint64_t ncs_clock_choose(void);

/* Measures a clock over about 5 ms of waiting; fills in all of it. */
void ncs_clock_calibrate(struct ncs_clock *clock, uint64_t kind);

/* A better multiplier for a clock of this boot, from the distance between its
 * base and now. Leaves the clock alone where this machine cannot read the same
 * counter, or where the base is too near to be better. */
void ncs_clock_refine(struct ncs_clock *clock);

/* This machine's counter, which is one instruction; 0 where there is none. */
static inline uint64_t ncs_clock_counter(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return 0;
#endif
}

/* Whether ticks of this kind are ncs_clock_counter()'s. */
static inline bool ncs_clock_is_counter(uint64_t kind)
{
#if defined(__x86_64__)
	return kind == NCS_CLOCK_TSC;
#elif defined(__aarch64__)
	return kind == NCS_CLOCK_CNTVCT;
#else
	(void)kind;
	return false;
#endif
}

/* Ticks of this kind, now. Any thread. */
static inline uint64_t ncs_clock_ticks(uint64_t kind)
{
	struct timespec now;

	if (__builtin_expect(ncs_clock_is_counter(kind), 1))
		return ncs_clock_counter();
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

/* A number of ticks in ns. */
static inline uint64_t ncs_clock_duration_ns(const struct ncs_clock *clock,
					     uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * clock->multiplier >> 32);
}

/* A length of time in ticks. */
static inline uint64_t ncs_clock_duration_ticks(const struct ncs_clock *clock,
						uint64_t duration_ns)
{
	return (uint64_t)(((unsigned __int128)duration_ns << 32) /
			  clock->multiplier);
}

/* A moment in CLOCK_MONOTONIC ns; 0 stays 0, which means "never". */
static inline uint64_t ncs_clock_ns(const struct ncs_clock *clock,
				    uint64_t ticks)
{
	if (ticks == 0)
		return 0;
	if (ticks < clock->base_ticks)
		return clock->base_monotonic_ns -
		       ncs_clock_duration_ns(clock, clock->base_ticks - ticks);
	return clock->base_monotonic_ns +
	       ncs_clock_duration_ns(clock, ticks - clock->base_ticks);
}

#endif
