/* SPDX-License-Identifier: MIT */
/* How long network transfers take and what they wait for, from the records of
 * steps: of a communicator's rank, in each direction, since it was first looked
 * at.
 *
 * Records that were sampled stand for all; their clusters are operations
 * (analysis/base/estimate.h). Those of an operation come over a while and may
 * be mixed with others', so the latest operations are kept apart, so many at a
 * time; a record that comes when its operation had to make room counts as
 * another operation's, which makes errors too small. Memory is bounded. No I/O.
 */
#ifndef NCS_ANALYSIS_RECORDS_STEP_STATS_H
#define NCS_ANALYSIS_RECORDS_STEP_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/estimate.h"
#include "ncclstat/abi.h"

/* The step from its start to its end, and its waits, which make it up. */
enum ncs_step_time {
	NCS_STEP_DURATION,
	NCS_STEP_FIRST_WAIT,
	NCS_STEP_TIMES = NCS_STEP_FIRST_WAIT + 3
};

/* The channel state that a wait is spent in; `time` is no duration. */
enum ncs_channel_state ncs_step_state(bool send, unsigned time);

/* The times of a step's record, in ticks. What NCCL did not report is not
 * there: then the wait before it lasted until the next. */
void ncs_step_split(const struct ncs_record *record,
		    uint64_t ticks[NCS_STEP_TIMES]);

/* ns, of all steps; the share is that in the duration. */
struct ncs_step_estimate {
	struct ncs_estimate total;
	struct ncs_estimate mean;
	struct ncs_estimate share;
	struct ncs_quantile p50;
	struct ncs_quantile p99;
};

/* Of one direction. */
struct ncs_steps_view {
	uint64_t operations; /* that the estimates come from */
	uint64_t records;    /* steps that the estimates come from */
	uint64_t slow;       /* steps kept for being slow, not in them */
	unsigned level;      /* of the latest record that is in them */
	struct ncs_estimate steps;
	struct ncs_step_estimate times[NCS_STEP_TIMES];
};

struct ncs_steps;

/* NULL: no memory. */
struct ncs_steps *ncs_steps_new(void);
void ncs_steps_free(struct ncs_steps *steps); /* NULL: nothing to do */

/* Takes in the records of one look, of any type. `lost`: records that were
 * overwritten since the look before. 0 or -ENOMEM. */
int ncs_steps_take(struct ncs_steps *steps, const struct ncs_clock *clock,
		   const struct ncs_record *records, size_t count,
		   uint64_t lost);

/* The estimates of now. NULL: no step was seen in this direction. */
const struct ncs_steps_view *ncs_steps_view(struct ncs_steps *steps, bool send);

/* Records that were overwritten since the first look. Where there are any,
 * totals are unknown, and where they are more than one in a hundred, so are
 * errors. */
uint64_t ncs_steps_lost(const struct ncs_steps *steps);

#endif
