/* SPDX-License-Identifier: MIT */
/* Chooses and measures clocks; see clock.h. No state. Called at start-up and by
 * readers, never by a callback. */
#include "shm/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CALIBRATION_NS UINT64_C(5000000)

/* The least distance from the base at which measuring again is more accurate
 * than the calibration. */
#define REFINE_MIN_NS UINT64_C(1000000000)

static uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

uint64_t ncs_clock_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t ncs_clock_realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

uint64_t ncs_clock_thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#if defined(__x86_64__)
/* Tells whether the processor promises that the TSC neither stops nor changes
 * its rate, and whether the kernel uses it for its own time. */
static bool tsc_is_trusted(void)
{
	unsigned eax, ebx, ecx, edx;
	char source[32] = "";
	FILE *file;

	if (!__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) ||
	    !(edx & 1u << 8))
		return false;
	file = fopen("/sys/devices/system/clocksource/clocksource0/"
		     "current_clocksource", "re");
	if (!file)
		return false;
	if (!fgets(source, sizeof(source), file))
		source[0] = '\0';
	fclose(file);
	return strcmp(source, "tsc\n") == 0;
}
#endif

uint64_t ncs_clock_choose(void)
{
#if defined(__x86_64__)
	if (tsc_is_trusted())
		return NCS_CLOCK_TSC;
#elif defined(__aarch64__)
	return NCS_CLOCK_CNTVCT;
#endif
	return NCS_CLOCK_MONOTONIC;
}

/* Reads both clocks at the same time: of several tries it keeps the one with
 * the shortest time between two readings of CLOCK_MONOTONIC around the ticks.
 * Returns false if that clock went back each time. */
static bool read_pair(uint64_t kind, uint64_t *ticks, uint64_t *monotonic_ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		uint64_t before = clock_ns(CLOCK_MONOTONIC);
		uint64_t now = ncs_clock_ticks(kind);
		uint64_t after = clock_ns(CLOCK_MONOTONIC);

		if (after >= before && after - before < best) {
			best = after - before;
			*ticks = now;
			*monotonic_ns = before + (after - before) / 2;
		}
	}
	return best != UINT64_MAX;
}

/* Returns ns per tick, times 2^32; 0 if there is no ratio. */
static uint64_t rate(uint64_t ns, uint64_t ticks)
{
	return ticks == 0 ? 0 :
			    (uint64_t)(((unsigned __int128)ns << 32) / ticks);
}

static void use_monotonic(struct ncs_clock *clock)
{
	clock->kind = NCS_CLOCK_MONOTONIC;
	clock->multiplier = UINT64_C(1) << 32;
	clock->base_monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	clock->base_ticks = clock->base_monotonic_ns;
}

/* Rates from 1 MHz to 32 GHz. */
#define MULTIPLIER_MIN (UINT64_C(1) << 27)
#define MULTIPLIER_MAX (UINT64_C(1000) << 32)

/* Measures the rate of a counter. Returns false if one of the two clocks does
 * not advance. */
static bool measure(struct ncs_clock *clock)
{
	uint64_t ticks, monotonic_ns, until_ns;
	uint32_t tries = 0;

	if (!read_pair(clock->kind, &clock->base_ticks,
		       &clock->base_monotonic_ns))
		return false;
	until_ns = clock->base_monotonic_ns + CALIBRATION_NS;
	while (clock_ns(CLOCK_MONOTONIC) < until_ns)
		if (++tries == NCS_CALIBRATION_TRIES)
			return false;
	if (!read_pair(clock->kind, &ticks, &monotonic_ns) ||
	    ticks <= clock->base_ticks || monotonic_ns < until_ns)
		return false;
	clock->multiplier = rate(monotonic_ns - clock->base_monotonic_ns,
				 ticks - clock->base_ticks);
	return clock->multiplier >= MULTIPLIER_MIN &&
	       clock->multiplier <= MULTIPLIER_MAX;
}

void ncs_clock_calibrate(struct ncs_clock *clock, uint64_t kind)
{
	memset(clock, 0, sizeof(*clock));
	clock->kind = kind;
	clock->base_realtime_ns = clock_ns(CLOCK_REALTIME);
	if (kind == NCS_CLOCK_MONOTONIC || !measure(clock))
		use_monotonic(clock);
}

void ncs_clock_refine(struct ncs_clock *clock)
{
	uint64_t ticks, monotonic_ns, multiplier, margin;

	if (clock->kind == NCS_CLOCK_MONOTONIC ||
	    clock->kind != ncs_clock_choose() ||
	    !read_pair(clock->kind, &ticks, &monotonic_ns) ||
	    ticks <= clock->base_ticks ||
	    monotonic_ns < clock->base_monotonic_ns + REFINE_MIN_NS)
		return;
	multiplier = rate(monotonic_ns - clock->base_monotonic_ns,
			  ticks - clock->base_ticks);
	/* A rate that differs from the writer's by more than 0.1 % is that of
	 * another counter. */
	margin = clock->multiplier / 1000;
	if (multiplier > clock->multiplier - margin &&
	    multiplier < clock->multiplier + margin)
		clock->multiplier = multiplier;
}
