/* SPDX-License-Identifier: MIT */
/* Waits of the whole job, as shares of the time of its ranks. Pure. */
#ifndef NCS_ANALYSIS_MODEL_JOB_WAITS_H
#define NCS_ANALYSIS_MODEL_JOB_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/tables/waits.def"

struct ncs_model;

enum ncs_wait_kind {
#define X(ID, letter, name, help) NCS_WAIT_##ID,
	NCS_WAITS(X)
#undef X
		NCS_WAIT_COUNT
};

struct ncs_job_waits {
	size_t ranks; /* of which something is known; if 0, nothing else is */
	double share[NCS_WAIT_COUNT]; /* their sum is 1 */
};

/* Return the letter of a kind, and its word. */
char ncs_wait_letter(unsigned kind);
const char *ncs_wait_name(unsigned kind);

/* Return the kind of wait of a channel in a state (ncs_channel_state), and of a
 * launch that waits (ncs_launch_wait_kind); NCS_WAIT_COUNT for any other
 * number. */
enum ncs_wait_kind ncs_wait_of_channel(unsigned state);
enum ncs_wait_kind ncs_wait_of_launch(unsigned kind);

/* Adds up the waits of the ranks that live; all ranks count alike. A rank's
 * waits are those of its channels over its window, or over the latest interval
 * if `latest` is true. A rank whose channels were all idle, or that has none,
 * counts by what its oldest launch waits for now. */
void ncs_job_waits(const struct ncs_model *model, bool latest,
		   struct ncs_job_waits *waits);

/* --- The trend ---------------------------------------------------------- */

/* The job's speed and waits at the latest updates, for graphs. Memory: 18 KiB. Start
 * with zeros. */

#define NCS_TREND_LENGTH 512u

/* One update. Numbers that are not known are negative. */
struct ncs_trend_point {
	uint64_t time_ns;
	float busbw; /* GB/s, of the function that carries the most bytes */
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
