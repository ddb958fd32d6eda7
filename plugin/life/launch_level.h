/* SPDX-License-Identifier: MIT */
/* Which launches are timed, so that timing costs at most a given share of the time.
 *
 * From the begin of each period on, all launches are timed until most of what may be
 * timed in the period has been; from then on one in 2^level. Periods are those of the
 * wall clock, and so begin at once on all ranks of a job: that stretch tells what a rank
 * costs, for which all launches must have times.
 *
 * Used by the watch thread, one at a time; the launching threads read the level
 * from ncs_launch_process. Calls nothing.
 */
#ifndef NCS_PLUGIN_LIFE_LAUNCH_LEVEL_H
#define NCS_PLUGIN_LIFE_LAUNCH_LEVEL_H

#include <stdint.h>

/* In a window of that length, which costs are of, the times of one period are as many as
 * those of two halves. */
#define NCS_LAUNCH_PERIOD_NS UINT64_C(10000000000)

/* A timed launch holds up its stream by so much where kernels queue back to back
 * (AllReduce of 1 MB on two H200 over NVLink, driver 580, NCCL 2.28.9: 13.4 us
 * without, 18.7 us with events at every launch), else by nothing. In a step of
 * PyTorch's DDP there it was some 9 us, within the step's own spread. */
#define NCS_LAUNCH_COST_NS UINT64_C(5300)

/* The share of the time that timing may cost, per mille. */
#define NCS_LAUNCH_SHARE UINT64_C(2)

/* Sets what was asked for (enum ncs_timing_detail), and forgets what was
 * measured. */
void ncs_launch_level_reset(uint8_t detail);

/* Chooses the level anew in NCS_TIMING_DETAIL_AUTO, by the launches of this period.
 * `realtime_ns` is since 1970. */
void ncs_launch_level_choose(uint64_t realtime_ns);

#endif
