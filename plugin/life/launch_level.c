/* SPDX-License-Identifier: MIT */
/* The level of timing; see launch_level.h. */
#include "plugin/life/launch_level.h"

#include "plugin/state/launches.h"
#include "shm/atomics.h"

/* Most launches of a period that may be timed. */
#define BUDGET \
	(NCS_LAUNCH_PERIOD_NS * NCS_LAUNCH_SHARE / 1000 / NCS_LAUNCH_COST_NS)

/* The part of them that is for the stretch; the others are spread over the rest of the
 * period, so that times are never old. */
#define STRETCH (BUDGET / 4 * 3)

/* At that level hardly a launch is timed, however many there are. */
#define LEVEL_MOST 40u

static struct {
	uint64_t period;   /* its number, since 1970; 0: none is watched */
	uint64_t begun_ns; /* when it began, or was first watched */
	uint64_t launches, timed; /* of the process, until then */
	bool is_sparse;           /* its stretch is over */
} current;

void ncs_launch_level_reset(uint8_t detail)
{
	current.period = 0;
	ncs_store_relaxed(&ncs_launch_process.sparse_level, 0);
	ncs_launch_time(detail);
}

static void begin_period(uint64_t now_ns)
{
	if (!current.is_sparse)
		ncs_store_relaxed(&ncs_launch_process.sparse_level, 0);
	current.period = now_ns / NCS_LAUNCH_PERIOD_NS;
	current.begun_ns = now_ns;
	current.launches = ncs_launch_process.launches;
	current.timed = ncs_load_relaxed(&ncs_launch_process.timed);
	current.is_sparse = false;
}

/* Returns the least level at which no more launches than are left of the budget are timed
 * until the period ends, if they go on to come as they did. */
static uint64_t level_for(uint64_t launches, uint64_t left, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - current.begun_ns + 1;
	uint64_t rest_ns = NCS_LAUNCH_PERIOD_NS - now_ns % NCS_LAUNCH_PERIOD_NS;
	double coming = (double)launches * (double)rest_ns / (double)passed_ns;
	uint64_t level = 0;

	for (; coming > (double)left && level < LEVEL_MOST; coming /= 2)
		level++;
	return level;
}

static uint64_t next_level(uint64_t now_ns)
{
	uint64_t timed, level;

	/* The clock may be set back. */
	if (now_ns / NCS_LAUNCH_PERIOD_NS != current.period ||
	    now_ns < current.begun_ns)
		begin_period(now_ns);
	timed = ncs_load_relaxed(&ncs_launch_process.timed) - current.timed;
	if (timed < STRETCH)
		return 0;
	level = level_for(ncs_launch_process.launches - current.launches,
			  timed < BUDGET ? BUDGET - timed : 1, now_ns);
	if (!current.is_sparse && level > 0) {
		current.is_sparse = true;
		ncs_store_relaxed(&ncs_launch_process.sparse_level, level);
	}
	return level;
}

void ncs_launch_level_choose(uint64_t realtime_ns)
{
	uint64_t timing = ncs_load_relaxed(&ncs_launch_process.timing);

	if (NCS_LAUNCH_DETAIL(timing) != NCS_TIMING_DETAIL_AUTO) {
		current.period = 0;
		return;
	}
	/* Unless somebody has asked for something else meanwhile. */
	ncs_cas_relaxed(&ncs_launch_process.timing, timing,
			NCS_LAUNCH_TIMING(NCS_TIMING_DETAIL_AUTO,
					  next_level(realtime_ns)));
}
