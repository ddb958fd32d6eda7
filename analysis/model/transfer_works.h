/* SPDX-License-Identifier: MIT */
/* How long the stages of a pipeline usually work between two operations, by the
 * kinds of these: what a rank is compared with. Private to analysis/model. Pure.
 * Times are ns.
 */
#ifndef NCS_ANALYSIS_MODEL_TRANSFER_WORKS_H
#define NCS_ANALYSIS_MODEL_TRANSFER_WORKS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/model/transfer_replay.h"

struct ncs_work;

struct ncs_transfer_works {
	struct ncs_work *works;
	size_t count;
	/* All sends are of one kind, and all receives: two stages that send to
	 * and receive from each other at once do the same work, though one
	 * sends forward what the other sends back. */
	bool folds;
	/* The longest work that another rank had before the same collective,
	 * by part, after the same kind of operation: those that share a layer,
	 * or have the same stage of another replica, do the same work.
	 * UINT64_MAX if none is known. */
	uint64_t *same_ns;
};

/* Returns the kind of work before a part: the kind of what its process did
 * before, times NCS_WORK_KIND_COUNT, plus its own. */
unsigned ncs_work_between(const struct ncs_transfer_works *works,
			  const struct ncs_transfer_replay *replay, size_t i);

/* Returns whether two lines are stages of one pipeline. */
bool ncs_lines_are_together(const struct ncs_transfer_replay *replay, size_t a,
			    size_t b);

/* Finds the median of each line's work of each kind, as it was played, and what
 * others worked before the same collective. Returns 0 or -ENOMEM. Release it with
 * ncs_works_release(). */
int ncs_works_find(struct ncs_transfer_works *works,
		   const struct ncs_transfer_replay *replay, bool folds);
void ncs_works_release(struct ncs_transfer_works *works);

/* Finds what the others of its pipeline take for each kind of work: the slowest
 * of them, by its median. Where none has such work, it may be put together from
 * what they do one after the other: the last stage goes from its last receive
 * forward to its first send back as others do by way of the next stage. Where
 * stages take turns, nothing is: one may work after a send, too, before it asks
 * for the next data. */
void ncs_works_usual(const struct ncs_transfer_works *works,
		     const struct ncs_transfer_replay *replay, size_t self,
		     bool takes_turns, double usual_ns[NCS_WORK_KINDS]);

#endif
