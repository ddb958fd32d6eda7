/* SPDX-License-Identifier: MIT */
/* What is known of a communicator as a whole: who of its ranks is how far, and
 * who of them is behind.
 *
 * Ranks are joined across processes by the communicator's id, by its name
 * where no id is known; a rank of which neither is known is by itself.
 *
 * Pure. What is found points into the model and is valid until its next
 * update.
 */
#ifndef NCS_ANALYSIS_MODEL_COMMUNICATORS_H
#define NCS_ANALYSIS_MODEL_COMMUNICATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/model/waits.h"

/* How far the ranks of a communicator are in one function, by the sequence
 * numbers that NCCL gives its calls. Of the ranks that live; where none does,
 * of all: who was behind when the job ended. */
struct ncs_progress {
	size_t known;   /* ranks with a number; 0: nothing else here is set */
	uint64_t most;  /* the largest number */
	uint64_t least; /* the smallest */
	/* The first rank that is at the one and the other, and how many are. */
	const struct ncs_rank *fastest;
	const struct ncs_rank *slowest;
	size_t fastest_count;
	size_t slowest_count;
};

struct ncs_communicator {
	/* Who it is, whatever its place; no text for people. */
	char key[272];
	struct ncs_rank **ranks; /* in the model's order */
	size_t rank_count;
	const struct ncs_identity *identity; /* of the rank that knows most */
	size_t live;                         /* alive or silent */
	size_t silent;
	size_t finished;
	size_t dead;
	/* The function in which a rank is behind the most; if none is, that
	 * which most ranks are in; NCS_FUNCTION_COUNT: no number is known. */
	unsigned function;
	struct ncs_progress progress; /* in this function */
	struct ncs_wait oldest;       /* of the ranks that live */
	/* Of all ranks together, as far as known; negative: of none. */
	double operations_rate;
	double send_rate;
	double recv_rate;
	uint64_t lost;
	struct ncs_skew_state *skew; /* analysis/model/stragglers.h; NULL: none */
	size_t other_clocks; /* ranks that most of them are not compared with */
};

/* Finds the communicators of model->ranks, in the order of their first ranks,
 * and tells each rank its own. 0 or -ENOMEM: there are then none. */
int ncs_communicators_find(struct ncs_model *model);
void ncs_communicators_release(struct ncs_model *model);

/* By its key; NULL: there is none. */
const struct ncs_communicator *
ncs_communicator_of_key(const struct ncs_model *model, const char *key);

void ncs_communicator_progress(const struct ncs_communicator *communicator,
			       unsigned function,
			       struct ncs_progress *progress);

/* How far the slowest rank is behind; 0 where all are level. */
uint64_t ncs_progress_behind(const struct ncs_progress *progress);

/* Whether a rank is behind that did not move in the latest interval: ranks of
 * a job that runs are a little apart, but none keeps its place. */
bool ncs_progress_is_held_up(const struct ncs_progress *progress,
			     unsigned function);

#endif
