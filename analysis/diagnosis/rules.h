/* SPDX-License-Identifier: MIT */
/* The rules of the diagnosis, and what they share: the findings made so far,
 * and the communicators that a rule has already explained.
 *
 * A rule adds findings; it skips communicators that an earlier rule explained,
 * since one fault makes all ranks of a communicator wait. Files other than the
 * rules include analysis/diagnosis/diagnosis.h instead. Pure.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_RULES_H
#define NCS_ANALYSIS_DIAGNOSIS_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/diagnosis/finding.h"
#include "analysis/diagnosis/wait_graph.h"
#include "analysis/model/model.h"

struct ncs_pace_history;

/* The latest findings, and what the rules keep between updates. */
struct ncs_diagnosis {
	struct ncs_finding *findings; /* the worst first; empty if healthy */
	size_t count;                 /* of findings */
	size_t capacity;
	size_t passes; /* number of ncs_diagnose() calls */
	const struct ncs_model *model; /* of the latest */
	struct ncs_wait_graph graph;
	struct ncs_pace_history *paces; /* of communicators; in slowness.c */
	size_t pace_count, pace_capacity;
	bool *explained; /* by communicator of the model, for this update */
	bool no_memory;  /* rules may go on, but nothing counts */
	struct ncs_finding unkept; /* one for which there was no memory */
};

/* --- The rules, in the order in which they run ---------------------------- */

/* Rules of a single communicator are not asked about those that were explained, and
 * return whether they explain it. */

/* Finds calls of two ranks that disagree, in their order or in their arguments. */
bool ncs_find_disagreements(struct ncs_diagnosis *diagnosis,
			    const struct ncs_communicator *communicator);

/* Finds the ranks at which chains of waits end. */
void ncs_find_chain_ends(struct ncs_diagnosis *diagnosis);

/* Finds processes that are gone without having finished, while others of their
 * communicator live, and may be waited for. */
void ncs_find_dead_ranks(struct ncs_diagnosis *diagnosis);

/* Finds circles of waits that no earlier rule explained. */
void ncs_find_circles(struct ncs_diagnosis *diagnosis);

/* Finds ranks that others wait for and that are not seen here. */
bool ncs_find_unseen_ranks(struct ncs_diagnosis *diagnosis,
			   const struct ncs_communicator *communicator);

/* Finds ranks that have been inside NCCL's API for long without starting an
 * operation, because NCCL is still connecting. If not as many ranks send as
 * receive, a half of a transfer is missing; else the finding is only "possible",
 * since connecting takes long when a large job begins. */
bool ncs_find_unstarted_calls(struct ncs_diagnosis *diagnosis,
			      const struct ncs_communicator *communicator);

/* Finds ranks that have not joined a communicator, and communicators that all ranks
 * have joined and that may not be set up: the latest one, where nothing was called
 * since. */
void ncs_find_setups(struct ncs_diagnosis *diagnosis);

/* Finds a rank whose GPU is in a collective for NCS_STUCK_NS that all other ranks
 * have finished. */
bool ncs_find_left_behind(struct ncs_diagnosis *diagnosis,
			  const struct ncs_communicator *communicator);

/* Finds a collective that the GPUs of all ranks have been in for NCS_STUCK_NS, and as
 * long again for each GiB. */
bool ncs_find_not_ended(struct ncs_diagnosis *diagnosis,
			const struct ncs_communicator *communicator);

/* Finds ranks that cost more than NCS_STRAGGLER_COST of the recent time, by
 * their lateness; deaths of a job that was killed as a whole hide none. */
void ncs_find_late_ranks(struct ncs_diagnosis *diagnosis);

/* Compares the pace of every communicator with its past, and finds those that
 * are slower than they were. */
void ncs_find_slow_communicators(struct ncs_diagnosis *diagnosis);

/* Finds a link that has turned slow, by how long messages are on the way, unless
 * the rule before has found its sender. It explains nothing. */
bool ncs_find_slow_links(struct ncs_diagnosis *diagnosis,
			 const struct ncs_communicator *communicator);

/* Finds the processes that died when all had waited for long, and those of a job
 * of which none lives, unless nothing else was wrong until its end. It comes after
 * all rules that judge what was before: these deaths explain nothing of that. */
void ncs_find_late_deaths(struct ncs_diagnosis *diagnosis);

/* Finds communicators in which the calls of two ranks differed, but have ended. It
 * explains no waits. */
void ncs_find_ended_mismatches(struct ncs_diagnosis *diagnosis);

/* Adds evidence to the findings of the rules before, and makes none. */
void ncs_find_held_back(struct ncs_diagnosis *diagnosis);

/* Lowers the confidence of findings on communicators that are not seen whole,
 * and finds nodes whose ranks are not seen. Is the last of the rules. */
void ncs_find_unseen_nodes(struct ncs_diagnosis *diagnosis);

/* --- Helpers for the rules ------------------------------------------------ */

/* Appends a finding with nothing but its verdict and its root, and returns it.
 * Pointers to earlier findings become invalid. Without memory it is not kept. */
struct ncs_finding *ncs_diagnosis_add(struct ncs_diagnosis *diagnosis,
				      enum ncs_verdict verdict,
				      struct ncs_party root);

/* Returns whether a communicator was explained; false for NULL. */
bool ncs_diagnosis_explains(const struct ncs_diagnosis *diagnosis,
			    const struct ncs_communicator *communicator);

/* Marks a rank's communicator, if it has one, as explained. */
void ncs_diagnosis_explain(struct ncs_diagnosis *diagnosis,
			   const struct ncs_rank *rank);

/* Whether the process of a rank is in a communicator that was explained: it may be
 * held up there, or its kernels may take the room of others of it. */
bool ncs_diagnosis_explains_process(const struct ncs_diagnosis *diagnosis,
				    const struct ncs_rank *rank);

/* Returns the first finding with a verdict on a rank of a communicator; NULL if there
 * is none. */
struct ncs_finding *
ncs_diagnosis_find(const struct ncs_diagnosis *diagnosis,
		   enum ncs_verdict verdict,
		   const struct ncs_communicator *communicator);

/* Adds what the waiting rank of an edge reports: its channel's state, or the
 * call that it waits in and the state of one of its channels. */
void ncs_finding_add_waiter(struct ncs_finding *finding,
			    const struct ncs_wait_graph *graph,
			    const struct ncs_wait_edge *edge);

/* Returns the first operation in progress of a rank that is a call; NULL if there is
 * none. */
const struct ncs_operation_view *
ncs_operation_of_call(const struct ncs_rank *rank, struct ncs_call_id call);

/* Returns the node that was the first to die of the halted ones of a node's
 * communicator, which is that of a process that died. */
const struct ncs_wait_node *ncs_first_death(const struct ncs_wait_graph *graph,
					    const struct ncs_wait_node *node);

/* Adds that a rank's process is gone, since when, and how many other ranks
 * of its communicator may have died before it. */
void ncs_finding_add_death(struct ncs_finding *finding,
			   const struct ncs_model *model,
			   const struct ncs_rank *rank);

#endif
