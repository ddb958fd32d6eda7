/* SPDX-License-Identifier: MIT */
/* The clock of records and tables: raw ticks and their conversion to ns.
 *
 * Callbacks of the plugin call ncs_clock_ticks() only: no system call, no lock.
 * The rest is for start-up and for readers. All functions may be called by any
 * thread.
 */
#ifndef NCS_SHM_CLOCK_H
#define NCS_SHM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "ncclstat/abi_clock.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* More than it takes to read a clock for 5 ms on any machine. */
#define NCS_CALIBRATION_TRIES 1000000u

/* Return CLOCK_MONOTONIC and CLOCK_REALTIME in ns. */
uint64_t ncs_clock_monotonic_ns(void);
uint64_t ncs_clock_realtime_ns(void);

/* Returns how long the calling thread has had a processor, in ns. */
uint64_t ncs_clock_thread_ns(void);

/* Returns the best clock of this machine, an enum ncs_clock_kind: the time
 * stamp counter if the kernel trusts it, Arm's virtual counter, else
 * CLOCK_MONOTONIC. Reads files; not for callbacks. */
uint64_t ncs_clock_choose(void);

/* Measures a clock's rate, which takes about 5 ms, and fills in *clock. If
 * CLOCK_MONOTONIC does not advance as it should, e.g. because it is not the
 * kernel's (libfaketime), returns after NCS_CALIBRATION_TRIES readings with a
 * clock of kind NCS_CLOCK_MONOTONIC. */
void ncs_clock_calibrate(struct ncs_clock *clock, uint64_t kind);

/* Improves the multiplier of a clock of this boot by measuring from its base
 * until now. Leaves the clock unchanged if this machine cannot read the same
 * counter, or if the base is less than a second ago. */
void ncs_clock_refine(struct ncs_clock *clock);

/* Reads this machine's counter, one instruction; 0 if there is none. */
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

/* Tells whether a clock of this kind is ncs_clock_counter(). */
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

/* Returns the current time in ticks of a clock of this kind. */
static inline uint64_t ncs_clock_ticks(uint64_t kind)
{
	struct timespec now;

	if (__builtin_expect(ncs_clock_is_counter(kind), 1))
		return ncs_clock_counter();
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

/* Converts a duration from ticks to ns. */
static inline uint64_t ncs_clock_duration_ns(const struct ncs_clock *clock,
					     uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * clock->multiplier >> 32);
}

/* Converts a duration from ns to ticks. A clock with a multiplier of 0, which
 * only a broken segment or recording has, yields 0. */
static inline uint64_t ncs_clock_duration_ticks(const struct ncs_clock *clock,
						uint64_t duration_ns)
{
	if (clock->multiplier == 0)
		return 0;
	return (uint64_t)(((unsigned __int128)duration_ns << 32) /
			  clock->multiplier);
}

/* Converts a time from ticks to ns of CLOCK_MONOTONIC. 0 means "never" and
 * stays 0. */
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
