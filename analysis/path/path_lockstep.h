/* SPDX-License-Identifier: MIT */
/* Ranks that keep step: each has one communicator, and the operations of that,
 * in which all wait for all, come one after the other. Their latest ends lie in
 * columns, so that a pass along the critical path takes a few ns a rank and
 * operation.
 *
 * The caller knows all of it rank by rank as well, but for the latest turns,
 * the unsaved ones: it takes them over before it looks at a rank by itself.
 * Whatever is not as usual is not dealt with here. Times are computed as the
 * caller does, by analysis/path/path_times.h. Pure.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_LOCKSTEP_H
#define NCS_ANALYSIS_PATH_PATH_LOCKSTEP_H

#include "analysis/path/path_times.h"

/* An operation, and how it ended for each rank. */
struct ncs_lockstep_turn {
	struct ncs_path_ready ready;
	struct ncs_path_edits edits;
	double *end_ns; /* as recorded */
	struct ncs_last_channel *last_channels;
};

struct ncs_lockstep {
	size_t count; /* ranks */
	size_t sums;  /* scenarios and the replay */
	uint32_t *owners;
	double *least_ns;    /* that a kernel took to begin */
	double *busy_ns;     /* with other work; where there are scenarios */
	double *producer_ns; /* … before the arrivals at hand */
	struct ncs_lockstep_turn turns[NCS_PATH_ENDS]; /* in turn */
	unsigned latest;
	unsigned turn_count; /* that are remembered */
	unsigned unsaved;    /* the latest ones, which the caller lacks */
	bool drops;          /* the caller will never have had all */
	/* By scenario: the rank that it names, which is left to the caller;
	 * `count`: none. */
	size_t named[NCS_PATH_SUMS];
};

/* Of the parts' owners; no scenario names any. NULL: no memory. */
struct ncs_lockstep *ncs_lockstep_new(const struct ncs_part_times *part_times,
				      size_t count, size_t sums);
void ncs_lockstep_free(struct ncs_lockstep *lockstep); /* NULL: nothing to do */

/* A turn: 0 is the latest, and so on back to the first that is remembered. */
const struct ncs_lockstep_turn *
ncs_lockstep_turn(const struct ncs_lockstep *lockstep, unsigned age);

/* The latest turn that had ended for a rank by its call. NULL: none that is
 * remembered. */
const struct ncs_lockstep_turn *
ncs_lockstep_called(const struct ncs_lockstep *lockstep, size_t i,
		    double call_ns);

/* When a turn ended for a rank, in a scenario. */
static inline double ncs_lockstep_end_ns(const struct ncs_lockstep_turn *turn,
					 size_t k, size_t i)
{
	return turn->ready.in_ns[k] +
	       ncs_path_transfer_ns(&turn->edits, k,
				    turn->end_ns[i] - turn->ready.ns);
}

/* How all come. */
struct ncs_lockstep_come {
	double ready_ns;      /* the last one, as recorded */
	double first_call_ns; /* as recorded */
	uint64_t violations;
	double ready_in_ns[NCS_PATH_SUMS]; /* the last one that is not named */
	size_t last[NCS_PATH_SUMS];        /* who that is: the first such */
};

/* All parts of an operation come: fills in *come. False: they are not its
 * ranks' in its order, or not all of them follow on the latest turn, or it is
 * not remembered what they follow on. Nothing has changed then but `least_ns`,
 * as it changes once more when the caller looks at them rank by rank. */
bool ncs_lockstep_come(struct ncs_lockstep *lockstep,
		       const struct ncs_path_changes *changes,
		       const struct ncs_part_times *part_times, size_t count,
		       uint64_t base_ns, double latest_ns,
		       struct ncs_lockstep_come *come);

/* All of them end: this is the latest turn from now on. Returns the last end,
 * as recorded. */
double ncs_lockstep_end(struct ncs_lockstep *lockstep,
			const struct ncs_path_ready *ready,
			const struct ncs_path_edits *edits,
			const struct ncs_part_times *part_times,
			uint64_t base_ns);

#endif
