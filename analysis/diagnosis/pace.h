/* SPDX-License-Identifier: MIT */
/* How fast communicators are, against what they were: the traffic of each in
 * every interval between two passes, remembered for a while.
 *
 * Pure. Communicators are told apart by their keys.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_PACE_H
#define NCS_ANALYSIS_DIAGNOSIS_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/communicators.h"
#include "analysis/model/model.h"

/* Medians are those of the latest intervals with traffic, so many … */
#define NCS_PACE_INTERVALS 64u
/* … and of at least so many: fewer say nothing of what is usual. */
#define NCS_PACE_LEAST 8u

/* One interval. */
struct ncs_pace {
	double bytes_rate; /* sent, by all ranks, a second */
	double wire_ns;    /* a byte sent has waited for peer and network */
};

struct ncs_pace_history {
	char key[sizeof(((struct ncs_communicator *)0)->key)];
	struct ncs_pace intervals[NCS_PACE_INTERVALS];
	size_t count; /* so far; the latest are kept */
	size_t slow;  /* intervals in a row that were slow, not remembered */
	const struct ncs_rank *slow_rank; /* … by it; only to be compared */
	bool seen;
};

struct ncs_paces {
	struct ncs_pace_history *histories;
	size_t count;
};

/* What an interval was, against those before it. */
enum ncs_pace_verdict {
	NCS_PACE_USUAL, /* or not to be told */
	NCS_PACE_SLOW_RANK,
	NCS_PACE_SLOW_NETWORK,
};

struct ncs_pace_finding {
	enum ncs_pace_verdict verdict;
	const struct ncs_rank *rank; /* who is waited for; who sends slowly */
	const struct ncs_channel_view *channel; /* its slowest: SLOW_NETWORK */
	struct ncs_pace now;
	struct ncs_pace median;
};

/* Zeros are none. After each pass, once for each communicator; forgets those
 * that are gone with ncs_paces_end_pass(). 0 or -ENOMEM. */
int ncs_paces_add(struct ncs_paces *paces, const struct ncs_model *model,
		  const struct ncs_communicator *communicator,
		  struct ncs_pace_finding *finding);
void ncs_paces_end_pass(struct ncs_paces *paces);
void ncs_paces_release(struct ncs_paces *paces);

/* The share of the latest interval that a rank's channels in one direction
 * spent in a state; negative: not known. */
double ncs_state_share(const struct ncs_rank *rank, bool send,
		       enum ncs_channel_state state);

#endif
