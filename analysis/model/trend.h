/* SPDX-License-Identifier: MIT */
/* The job's speed and waits at the latest updates, for graphs.
 *
 * Memory: 18 KiB. Pure. Start with zeros.
 */
#ifndef NCS_ANALYSIS_MODEL_TREND_H
#define NCS_ANALYSIS_MODEL_TREND_H

#include <stdint.h>

#include "analysis/model/job_waits.h"

#define NCS_TREND_LENGTH 512u

/* One update. Numbers that are not known are negative. */
struct ncs_trend_point {
	uint64_t time_ns;
	float traffic; /* bytes per second, sent and received by all ranks */
	float busbw;   /* GB/s, of the busiest class */
	float share[NCS_WAIT_COUNT]; /* of waits in the interval before */
};

struct ncs_trend {
	/* Update n is at n modulo the length. */
	struct ncs_trend_point points[NCS_TREND_LENGTH];
	uint64_t count;
};

/* Adds the model's latest update. */
void ncs_trend_add(struct ncs_trend *trend, const struct ncs_model *model);

/* Returns the point of an update, 0 being the latest; NULL if there is none. */
const struct ncs_trend_point *ncs_trend_at(const struct ncs_trend *trend,
					   uint64_t age);

#endif
