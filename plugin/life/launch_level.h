/* SPDX-License-Identifier: MIT */
/* How many launches are timed: one in 2^level, so that timing costs at most a
 * given share of the time.
 *
 * Used by the watch thread, one at a time; the launching threads read the level
 * from ncs_launch_process. Calls nothing.
 */
#ifndef NCS_PLUGIN_LIFE_LAUNCH_LEVEL_H
#define NCS_PLUGIN_LIFE_LAUNCH_LEVEL_H

#include <stdint.h>

#include "plugin/nccl/environment.h"

/* Sets what was asked for, and forgets what was measured. `level` counts for
 * NCS_STREAM_MODE_PERIOD only. */
void ncs_launch_level_reset(enum ncs_stream_mode mode, uint64_t level);

/* The time before `now`, in ticks, was not watched. */
void ncs_launch_level_begin(uint64_t now);

/* Chooses the level anew in NCS_STREAM_MODE_AUTO, by the launches since the
 * last call. `now` is in ticks. */
void ncs_launch_level_choose(uint64_t now);

#endif
