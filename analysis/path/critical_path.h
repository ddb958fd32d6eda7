/* SPDX-License-Identifier: MIT */
/* The critical path of a job's collectives: where the elapsed time went, and
 * how long the job would have taken with changes. One pass over all operations,
 * in the order in which their first parts ended.
 *
 * A rank of the job is a GPU with the communicators that use it. Its time is
 * split at its arrivals at operations and at their ends:
 *   - the predecessor of an arrival is the operation of its communicator that
 *     it was launched behind and came straight from, or else the latest
 *     operation of the rank that had ended by then;
 *   - a call follows the host's call before it, or the latest operation of the
 *     rank that had ended since then;
 *   - where an end is recorded too late, what came a little before it may have
 *     followed on it all the same (least_end_ns in analysis/records/join.h);
 *   - analysis/base/collective_waits.h says which ranks wait for which;
 *   - no part starts before its call, or before the previous operation of its
 *     communicator has ended.
 * The pass computes all arrivals and ends anew, once without changes (the
 * replay) and once for each scenario.
 *
 * A rank that goes on while it sends follows the arrivals at its sends, not their
 * ends.
 *
 * Without a rank, arrivals and ends come as much earlier as the replay of analysis/cost
 * tells (without.h), and the elapsed time is shorter by what the rank costs. The path
 * of such a run is that of these times, scaled to it.
 *
 * Memory grows with ranks times scenarios, and with the number of steps. Pure.
 * Times are ns of the parts' clock. Functions are not thread-safe for one pass.
 */
#ifndef NCS_ANALYSIS_PATH_CRITICAL_PATH_H
#define NCS_ANALYSIS_PATH_CRITICAL_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/path/what_if.h"
#include "analysis/path/without.h"
#include "analysis/records/join.h"

/* The causes of time on the path. */
enum ncs_path_cause {
#define X(ID, name, help) NCS_PATH_##ID,
	NCS_PATH_CAUSES(X)
#undef X
		NCS_PATH_CAUSE_COUNT
};

/* The largest number of scenarios in one pass. */
#define NCS_SCENARIOS_MAX 16u

/* The step of an operation that belongs to no step. */
#define NCS_NO_STEP UINT32_MAX

/* A segment of the path, not a shared-memory segment: time of one rank that has
 * one cause. */
struct ncs_path_segment {
	unsigned cause;   /* enum ncs_path_cause */
	size_t owner;     /* index of the owners */
	uint64_t from_ns; /* as replayed */
	uint64_t until_ns;
	/* The operation that the rank waited for, or transferred. */
	uint64_t comm_id;
	uint64_t number; /* sequence number */
	uint64_t bytes;
	uint8_t function;
	uint32_t step;
	/* The channel that ended last; only for causes from NCS_PATH_GPU on. */
	uint8_t channel;
	bool send;
	int32_t peer;
};

/* Facts that a pass has learned of ranks that send and receive. */
struct ncs_path_lines {
	bool sends_overlap; /* ranks go on while they send */
	struct ncs_path_line {
		uint64_t operations, transfers;
	} * ranks; /* by rank of the job */
};

/* The input of a pass. The caller owns all that it points to. */
struct ncs_path_options {
	const struct ncs_path_owner *owners;
	size_t owner_count;
	uint32_t rank_count; /* of the job: larger than each owner's rank */
	const struct ncs_scenario *scenarios;
	size_t scenario_count; /* NCS_SCENARIOS_MAX at most */
	struct ncs_fits *fits; /* NULL if there are none */
	/* Facts that an earlier pass has learned or, if `learns`, this one does.
	 * NULL if nothing is known. */
	struct ncs_path_lines *lines;
	bool learns;
	/* The costs of ranks, computed for these scenarios; NULL if none of them
	 * leaves a rank out. */
	const struct ncs_without *without;
	/* Returns whether a part was called in a range, which is named by its
	 * path. NULL means never. */
	bool (*is_in_range)(const void *context, const struct ncs_part *part,
			    const char *path);
	/* Called for each segment of the path as it was, in the order of time.
	 * May be NULL. */
	void (*segment)(void *context, const struct ncs_path_segment *segment);
	/* Called for each part of each run (0 is the replay, then the
	 * scenarios) with the times when it arrives and ends in that run. May
	 * be NULL. */
	void (*timed)(void *context, size_t run, const struct ncs_part *part,
		      uint64_t arrival_ns, uint64_t end_ns);
	void *context; /* passed to these functions */
};

/* Where the time of one run went, by its own path. */
struct ncs_path_sum {
	const struct ncs_scenario *scenario; /* NULL for the replay */
	double elapsed_ns; /* from the first call to the last end */
	double cause_ns[NCS_PATH_CAUSE_COUNT];
	double uncounted_ns; /* on the path, in operations that do not count */
	/* On the path, in transfers of unknown change, and in operations whose
	 * times are not known. */
	double unknown_ns;
	/* That is little, and what is left out has a known cost: the elapsed time
	 * can be told. */
	bool is_known;
	/* The cost that NCS_WHAT_IF_WITHOUT leaves out, else NULL. If the elapsed
	 * time is known, it is between the two. */
	const struct ncs_cost_of_rank *cost;
	double at_least_ns, at_most_ns;
	const double (*rank_ns)[NCS_PATH_CAUSE_COUNT]; /* by rank of the job */
};

/* Time on the path that a channel took: its rank, direction and peer. */
struct ncs_path_channel {
	uint32_t rank; /* of the job */
	uint64_t comm_id;
	uint8_t channel;
	bool send;
	int32_t peer; /* rank in the communicator */
	double ns;
};

/* A step of the job (an iteration of its training loop). */
struct ncs_path_step {
	bool has_end; /* false if no operation belongs to the step */
	double end_ns[1 + NCS_SCENARIOS_MAX]; /* by run, since the first call */
	double cause_ns[NCS_PATH_CAUSE_COUNT];
	uint32_t rank;  /* rank of the job that has most of the step's path */
	double rank_ns; /* time of the path in that rank */
};

/* How operations are known, and those that a pass cannot rely on, by reason. */
struct ncs_path_trust {
	/* By the moment that counts as arrival; if that is OPERATION, the times
	 * cannot be relied on. */
	uint64_t arrivals[NCS_MOMENT_COUNT];
	uint64_t endless;    /* their end is not known */
	uint64_t incomplete; /* not all parts are there */
	uint64_t unrecorded; /* nor are all ranks of the communicator recorded */
	uint64_t to_itself;  /* a rank sends to itself */
	/* By their sequence numbers they were between others, but there is no
	 * record of them: not all operations were recorded. */
	uint64_t unseen;
	uint64_t queued_parts; /* parts: when they were ready is not known */
};

/* The result of a pass, which owns all that this points to. */
struct ncs_path_report {
	double measured_ns; /* elapsed, as recorded */
	double first_ns;    /* time of the first call */
	uint64_t operations;
	uint64_t parts;
	struct ncs_path_trust trust;
	uint64_t forgotten; /* parts whose predecessor was forgotten */
	uint64_t breaks;  /* places where the path was cut for lack of memory */
	size_t sum_count; /* runs: the replay and the scenarios */
	const struct ncs_path_sum *sums;
	size_t step_count;
	const struct ncs_path_step *steps;
	size_t channel_count;
	const struct ncs_path_channel *channels; /* the most expensive first */
};

struct ncs_path;

/* Creates a pass. Returns NULL if there is no memory. Release it with
 * ncs_path_free(). The pass borrows all that the options point to. */
struct ncs_path *ncs_path_new(const struct ncs_path_options *options);

/* Releases a pass; NULL is allowed. */
void ncs_path_free(struct ncs_path *path);

/* Takes the next operation. Only operations with `is_counted` go into the
 * tables and steps; all of them go into the times. `step` is NCS_NO_STEP, or a
 * number from 0 that never decreases from one operation to the next. Returns 0
 * or -ENOMEM. */
int ncs_path_add(struct ncs_path *path, const struct ncs_joined *joined,
		 bool is_counted, uint32_t step);

/* Ends the pass after the last operation. Returns 0 or -ENOMEM. */
int ncs_path_end(struct ncs_path *path);

/* Returns the report of a pass that has ended; valid until it is released. */
const struct ncs_path_report *ncs_path_report(const struct ncs_path *path);

#endif
