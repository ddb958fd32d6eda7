/* SPDX-License-Identifier: MIT */
/* Statistics of network transfers: how long steps take and what they wait for,
 * by direction, from the records of a rank since its first refresh.
 *
 * Reads records by itself, as it decides nothing about operations: a step's times
 * are its own (step_record.h), and steps without their operation's record count,
 * too.
 *
 * Sampled records stand for all; their clusters are operations
 * (analysis/base/estimate.h). The records of an operation come over a while and
 * may be mixed with those of others, so a number of latest operations is kept
 * apart. A record that comes after its operation had to make room counts as one
 * of another operation, which makes errors too small. Memory is bounded. Must
 * do no I/O.
 */
#ifndef NCS_ANALYSIS_RECORDS_STEP_STATS_H
#define NCS_ANALYSIS_RECORDS_STEP_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/estimate.h"
#include "analysis/records/step_record.h"

struct ncs_clock; /* ncclstat/abi_clock.h */

/* Estimates of one time over all steps, in ns. */
struct ncs_step_estimate {
	struct ncs_estimate total;
	struct ncs_estimate mean;
	struct ncs_estimate share; /* of the duration, 0 to 1 */
	struct ncs_quantile p50;
	struct ncs_quantile p99;
};

/* The statistics of one direction. */
struct ncs_steps_view {
	uint64_t operations; /* in the estimates */
	uint64_t records;    /* steps in the estimates */
	uint64_t slow;       /* kept for being slow: not in the estimates */
	unsigned level;      /* sampling level of the latest of these records */
	struct ncs_estimate steps; /* number of steps */
	struct ncs_step_estimate times[NCS_STEP_TIMES];
};

struct ncs_steps;

/* Creates empty statistics. Returns NULL if there is no memory. Free them with
 * ncs_steps_free(), which accepts NULL. */
struct ncs_steps *ncs_steps_new(void);
void ncs_steps_free(struct ncs_steps *steps);

/* Takes the records of one refresh, of any type. `lost` records before these
 * were overwritten since the last refresh. Returns 0 or -ENOMEM. */
int ncs_steps_take(struct ncs_steps *steps, const struct ncs_clock *clock,
		   const struct ncs_record *records, size_t count,
		   uint64_t lost);

/* Returns the estimates up to now, or NULL if no step was seen in this
 * direction. They belong to `steps`, which may be NULL. */
const struct ncs_steps_view *ncs_steps_view(struct ncs_steps *steps, bool send);

/* Returns the number of records that were overwritten since the first refresh.
 * If there are any, totals are unknown; if they are more than one in a hundred,
 * so are errors. `steps` may be NULL. */
uint64_t ncs_steps_lost(const struct ncs_steps *steps);

#endif
