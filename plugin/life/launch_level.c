/* SPDX-License-Identifier: MIT */
/* The level of timing; see launch_level.h. */
#include "plugin/life/launch_level.h"

#include "plugin/life/launch_clock.h"
#include "plugin/state/launches.h"
#include "shm/atomics.h"

/* A timed launch holds up its stream by 5.3 us where kernels queue back to back
 * (AllReduce of 1 MB on two H200 over NVLink, driver 580, NCCL 2.28.9: 13.4 us
 * without, 18.7 us with events at every launch), else by nothing. In a step of
 * PyTorch's DDP there it was some 9 us, within the step's own spread. */
#define COST_SECONDS 5.3e-6

/* The share of the time that timing may cost. */
#define BUDGET 0.002

#define PER_SECOND (BUDGET / COST_SECONDS)

/* A burst of so many may exceed the budget. */
#define BURST 400.0

static struct {
	uint64_t last_pass; /* ticks */
	uint64_t last_launches, last_timed;
	double rate; /* launches in a second */
	double allowance;
} measured;

void ncs_launch_level_reset(enum ncs_stream_mode mode, uint64_t level)
{
	measured.rate = 0;
	measured.last_launches = measured.last_timed = 0;
	measured.allowance = BURST;
	ncs_store_relaxed(
		&ncs_launch_process.timing,
		NCS_LAUNCH_TIMING(mode,
				  mode == NCS_STREAM_MODE_PERIOD ? level : 0));
}

void ncs_launch_level_begin(uint64_t now)
{
	measured.last_pass = now;
}

/* The least level at which launches at this rate stay within the budget. */
static uint64_t level_for(double rate)
{
	uint64_t level = 0;

	while (rate > PER_SECOND && level < 40) {
		rate /= 2;
		level++;
	}
	return level;
}

/* Returns the level for the launches so far, as measured. */
static uint64_t next_level(uint64_t level)
{
	uint64_t needed = level_for(measured.rate);

	if (measured.allowance <= 0 && level < needed)
		return needed;
	if (measured.allowance <= 0 && level == 0)
		return 1;
	if (measured.allowance > BURST / 2 && level > needed)
		return level - 1;
	return level;
}

/* Lets bursts be timed whole as long as the average leaves allowance for them,
 * and lowers the level only once there is allowance again. */
void ncs_launch_level_choose(uint64_t now)
{
	uint64_t timing = ncs_load_relaxed(&ncs_launch_process.timing);
	uint64_t launches = ncs_launch_process.launches;
	uint64_t timed = ncs_load_relaxed(&ncs_launch_process.timed);
	double seconds =
		(double)ncs_clock_duration_ns(&ncs_launch_host_clock,
					      now - measured.last_pass) /
		1e9;
	double weight = seconds < 1 ? seconds : 1;

	if (seconds <= 0)
		return;
	measured.rate += weight * ((double)(launches - measured.last_launches) /
					   seconds -
				   measured.rate);
	measured.allowance +=
		seconds * PER_SECOND - (double)(timed - measured.last_timed);
	if (measured.allowance > BURST)
		measured.allowance = BURST;
	/* A burst is forgotten after some seconds. */
	if (measured.allowance < -BURST)
		measured.allowance = -BURST;
	measured.last_pass = now;
	measured.last_launches = launches;
	measured.last_timed = timed;
	/* Unless somebody has asked for something else meanwhile. */
	if (NCS_LAUNCH_MODE(timing) == NCS_STREAM_MODE_AUTO)
		ncs_cas_relaxed(&ncs_launch_process.timing, timing,
				NCS_LAUNCH_TIMING(
					NCS_STREAM_MODE_AUTO,
					next_level(NCS_LAUNCH_LEVEL(timing))));
}
