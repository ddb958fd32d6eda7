/* SPDX-License-Identifier: MIT */
/* Communicators as a whole: how far each of its ranks is, and which are behind.
 *
 * Ranks of several processes belong to one communicator if they have the same
 * id, or the same name if no id is known. Ranks of two jobs that use one id are
 * told apart by their numbers and by when they began. A rank that has neither is alone in
 * its communicator.
 *
 * Pure. Returned pointers lead into the model and are valid until its next
 * update.
 */
#ifndef NCS_ANALYSIS_MODEL_COMMUNICATORS_H
#define NCS_ANALYSIS_MODEL_COMMUNICATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/moving.h"
#include "analysis/model/rank.h"
#include "analysis/model/waits.h"

struct ncs_model;
struct ncs_skew_state; /* analysis/model/lateness_state.h */

/* Progress of a communicator's ranks in one function, by the sequence numbers
 * of their calls. Counts the ranks that live. If none does, counts all ranks,
 * to show which were behind when the job ended. */
struct ncs_progress {
	size_t known;   /* ranks with a number; if 0, nothing else is set */
	uint64_t most;  /* the largest number */
	uint64_t least; /* the smallest number */
	/* The first rank with the largest and the smallest number, and the
	 * number of ranks that have it. */
	const struct ncs_rank *fastest;
	const struct ncs_rank *slowest;
	size_t fastest_count;
	size_t slowest_count;
};

/* A communicator, with sums over its ranks. */
struct ncs_communicator {
	/* Identifies it from one update to the next; not for users. */
	char key[272];
	struct ncs_rank **ranks; /* in the model's order */
	size_t rank_count;
	/* The ranks whose number is known, by number; of the same number in the
	 * model's order. */
	struct ncs_rank **numbered;
	size_t numbered_count;
	const struct ncs_identity *identity; /* of the rank that knows most */
	bool is_only; /* there is no other in the model */
	size_t live;   /* ranks that are alive or silent */
	size_t silent; /* ranks by liveness */
	size_t finished;
	size_t dead;
	uint64_t functions; /* in which a rank has sequence numbers, as bits */
	/* The function in which a rank is the farthest behind; if none is, the
	 * function that most ranks are in; NCS_FUNCTION_COUNT if no sequence
	 * number is known. */
	unsigned function;
	struct ncs_progress progress; /* in this function */
	struct ncs_oldest oldest;     /* longest wait of the ranks that live */
	/* Sums over all ranks whose rate is known; negative if none is. */
	double operations_rate;
	double most_operations_rate; /* of a rank; likewise */
	double send_rate;
	double recv_rate;
	uint64_t lost;
	struct ncs_busiest busiest;
	struct ncs_skew_state *skew; /* NULL if nothing was compared */
	size_t other_clocks; /* ranks that most others are not compared with */
};

/* Finds the communicators of model->ranks, in the order of their first ranks,
 * and sets the communicator of each rank. Returns 0, or -ENOMEM with no
 * communicators. */
int ncs_communicators_find(struct ncs_model *model);

/* Takes the rates of all communicators again, for another window. Nothing else
 * of them changes. */
void ncs_communicators_rate(struct ncs_model *model);

/* Releases the model's communicators. */
void ncs_communicators_release(struct ncs_model *model);

/* Returns the communicator with this key, or NULL if there is none. */
const struct ncs_communicator *
ncs_communicator_of_key(const struct ncs_model *model, const char *key);

/* Returns how many ranks of a communicator are not seen here; 0 if it is not
 * known how many it has. */
size_t ncs_communicator_unseen(const struct ncs_communicator *communicator);

/* Whether all ranks of a communicator are seen as they are now. */
bool ncs_is_seen_whole(const struct ncs_communicator *communicator);

/* Returns how many ranks of a communicator a verdict is about: those that live;
 * all that are seen once none does. At least 1. */
size_t ncs_communicator_judged(const struct ncs_communicator *communicator);

/* Returns the rank with the number `peer` of the same communicator; NULL if it
 * is not seen here. If several ranks have this number, as in a restarted job,
 * returns a live one. */
const struct ncs_rank *ncs_peer_rank(const struct ncs_rank *rank, int peer);

/* Fills in the progress of a communicator's ranks in one function. */
void ncs_communicator_progress(const struct ncs_communicator *communicator,
			       unsigned function,
			       struct ncs_progress *progress);

/* Returns how many operations the slowest rank is behind the fastest; 0 if all
 * ranks have the same number. */
uint64_t ncs_progress_behind(const struct ncs_progress *progress);

/* Returns whether a rank is behind that did not move in the latest interval.
 * The ranks of a job that runs are a little apart, but all of them move. */
bool ncs_progress_is_held_up(const struct ncs_progress *progress,
			     unsigned function);

/* Returns whether a rank is behind others of its communicator, in the function
 * of that, and did not move in the latest interval. */
bool ncs_rank_is_held_up(const struct ncs_rank *rank);

#endif
