/* SPDX-License-Identifier: MIT */
/* The work of ranks that send and receive, as a pass has learned it: how long each
 * takes between operations of two kinds (analysis/records/work_kind.h), and how
 * long others do. It also holds what is known of the waits of all hosts
 * (host_waits.h). A pass that answers what a job takes without a rank reads both.
 *
 * Must not decide whose work is cut. Memory grows with ranks times pairs of kinds.
 * Pure. Functions are not thread-safe. Times are ns.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_WORKS_H
#define NCS_ANALYSIS_PATH_PATH_WORKS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/host_waits.h"

struct ncs_path_works;

/* Creates the works of so many ranks of a job, of which nothing is known yet.
 * Returns NULL if there is no memory. Free them with ncs_path_works_free(), which
 * accepts NULL. */
struct ncs_path_works *ncs_path_works_new(uint32_t rank_count);
void ncs_path_works_free(struct ncs_path_works *works);

/* Returns what is known of the waits of the job's hosts, which belongs to the
 * works. */
struct ncs_host_waits *ncs_path_works_waits(const struct ncs_path_works *works);

/* Notes that a rank goes on while it sends. So do all that run the same program,
 * whether or not it is seen of them; what was noted so far is forgotten, as it
 * counted from the ends of sends. */
void ncs_path_works_set_beside(struct ncs_path_works *works);

/* Returns whether ranks go on while they send. */
bool ncs_path_works_is_beside(const struct ncs_path_works *works);

/* Notes that a rank goes on while it receives, or in collectives: then the time
 * between its operations is not its work, and what others do is not known. */
void ncs_path_works_set_aside(struct ncs_path_works *works, uint32_t rank);

/* Counts an operation of a rank: its kind (enum ncs_work_kind), and whether it turns
 * back what came before. */
void ncs_path_works_count(struct ncs_path_works *works, uint32_t rank,
			  unsigned kind, bool is_turn);

/* Returns whether a rank is a stage: not one that sends or receives a few times, as
 * a job does when it begins. */
bool ncs_path_works_is_stage(const struct ncs_path_works *works, uint32_t rank);

/* Notes the time of a rank from an operation of one kind to one of another kind.
 * Returns 0 or -ENOMEM. */
int ncs_path_works_note(struct ncs_path_works *works, uint32_t rank,
			unsigned before, unsigned kind, double ns);

/* Returns how long a rank usually takes between two kinds: its median; INFINITY if
 * that is not known. */
double ncs_path_works_own_ns(struct ncs_path_works *works, uint32_t rank,
			     unsigned before, unsigned kind);

/* Returns how long the other ranks usually take: the median of theirs; INFINITY if
 * it is not known. */
double ncs_path_works_others_ns(struct ncs_path_works *works, uint32_t rank,
				unsigned before, unsigned kind);

#endif
