/* SPDX-License-Identifier: MIT */
/* Pauses: long work that all stages of a pipeline do at the same time, as when they
 * load their first kernels or write a checkpoint. Nobody waits for anybody then, so
 * a pause is no rank's delay. Private to analysis/model. Pure. Times are ns.
 */
#ifndef NCS_ANALYSIS_MODEL_TRANSFER_PAUSES_H
#define NCS_ANALYSIS_MODEL_TRANSFER_PAUSES_H

#include "analysis/model/transfer_replay.h"

/* Sets how much of each part's work is a pause; all parts were in `time_ns`. Call it
 * after a first ncs_replay_run(); it counts from the next one on. Returns 0 or
 * -ENOMEM. */
int ncs_transfer_find_pauses(struct ncs_transfer_replay *replay,
			     uint64_t time_ns);

#endif
