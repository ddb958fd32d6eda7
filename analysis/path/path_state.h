/* SPDX-License-Identifier: MIT */
/* The state of a pass along the critical path, and what the files of the pass do for each
 * other. Private to them: others include analysis/path/critical_path.h. Times are ns since
 * the pass's base.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_STATE_H
#define NCS_ANALYSIS_PATH_PATH_STATE_H

#include <math.h>

#include "analysis/base/hash_table.h"
#include "analysis/base/heap.h"
#include "analysis/path/critical_path.h"

/* Runs of a pass over the operations, by index: 0 is the replay, which changes
 * nothing; run k applies scenario k - 1. */
#define NCS_PATH_RUNS (1 + NCS_SCENARIOS_MAX)

/* Number of gaps, which are the first causes in their order: a rank's time
 * before an arrival is split into these. */
#define NCS_PATH_GAPS (NCS_PATH_STREAM + 1)

/* Returns the larger value. Unlike fmax(), does not handle NaN, which never
 * occurs. */
static inline double ncs_larger(double a, double b)
{
	return a > b ? a : b;
}

/* Returns the smaller value; see ncs_larger(). */
static inline double ncs_smaller(double a, double b)
{
	return a < b ? a : b;
}

/* Returns the time since the base, in ns; negative before it. */
static inline double ncs_since(uint64_t base_ns, uint64_t at_ns)
{
	return (double)(int64_t)(at_ns - base_ns);
}

/* The operation before the first one: the beginning of the job. */
#define NCS_PATH_NO_OPERATION UINT64_MAX

/* The end of a part that is a predecessor. */
struct ncs_path_end {
	uint64_t operation; /* index, or NCS_PATH_NO_OPERATION */
	uint32_t owner;
	bool is_unknown; /* the change of its transfer is not known */
	struct ncs_last_channel last_channel;
	double transfer_ns;
};

/* A node of the critical path in one run. Times are ns since the base. */
struct ncs_path_node {
	struct ncs_path_end predecessor;
	uint32_t owner;               /* of the part that arrived last */
	double gap_ns[NCS_PATH_GAPS]; /* its time since the predecessor's end */
	double unknown_ns;            /* so much of it may be wrong */
	double at_ns;                 /* its arrival */
	/* It has no predecessor, though it is not the first of its rank. */
	bool lacks_before;
};

/* An operation, with one node for each run; or one part of an operation in
 * which not all ranks wait for all. */
struct ncs_path_operation {
	uint64_t comm_id;
	uint64_t number; /* sequence number */
	uint64_t bytes;
	uint32_t step;
	uint8_t function;
	bool is_counted;
	bool is_unknown; /* its times are not known */
};

/* The time when all parts that an operation's parts wait for have arrived. */
struct ncs_path_ready {
	uint64_t operation;
	double ns; /* as recorded */
	double in_ns[NCS_PATH_RUNS];
};

/* Changes to an operation's transfer, by run. The replay has none. */
struct ncs_path_edits {
	struct ncs_transfer_edit edits[NCS_PATH_RUNS];
	uint64_t unknown; /* bits: runs whose change is not known */
};

/* The least number of finished parts that are remembered of each rank. */
#define NCS_PATH_ENDS 8u

/* A finished part. An array of these has items of `finished_bytes`. */
struct ncs_path_finished {
	double at_ns;       /* end, as recorded; INFINITY if there is none */
	double least_ns;    /* it may have ended from this time on */
	double call_ns;     /* as recorded */
	uint64_t operation; /* index, in the order of the pass */
	uint64_t unknown;   /* bits: runs in which its change is unknown */
	uint32_t owner;
	uint32_t number; /* in the order of its rank's calls */
	bool is_send;
	struct ncs_last_channel last_channel;
	/* By run: the end, and the transfer's time. */
	struct ncs_path_run {
		double end_ns, transfer_ns;
	} runs[];
};

/* A rank of the job, with its latest finished parts. */
struct ncs_path_rank {
	/* From then on its latest part may have ended; INFINITY if none. */
	double latest_ns;
	uint32_t latest;          /* place of that part */
	uint32_t count, capacity; /* places */
	bool has_several;         /* has several communicators */
	bool overlaps;            /* its operations run side by side */
	bool has_parts;           /* had an operation, whether or not it ended */
	bool forgets; /* has finished more parts than are remembered */
	/* Sends or receives. If it is seen to go on while it sends, its sends
	 * are no predecessors from their ends on, but from their arrivals on;
	 * the latest of their ends is `send`, NULL before the first one. */
	bool has_transfers;
	struct ncs_path_finished *send;
	/* Learned of: the send that ended last, and what else did, from the
	 * arrival to the end. */
	double send_ns, send_end_ns, other_ns, other_end_ns;
	double busy_ns; /* time that its GPU had other work, in ns */
	double *least_ns; /* by place: when the part may have ended */
	char *finished;   /* struct ncs_path_finished by place */
};

/* The sequence numbers of a communicator. */
struct ncs_path_numbers {
	uint64_t comm_id;
	uint64_t next[NCS_FUNCTION_COUNT]; /* by function; 0: none was seen */
};

/* A rank of a communicator: the owner of parts. */
struct ncs_path_member {
	struct ncs_path_rank *rank;
	double least_ns; /* shortest time that a kernel took to begin */
	/* Its latest finished part; NULL if the rank has only one
	 * communicator. */
	struct ncs_path_finished *latest;
	double call_ns; /* latest call, as recorded; -INFINITY if none */
	/* By run: how much earlier that call comes than by the end that it
	 * follows alone. */
	double saved_ns[NCS_PATH_RUNS];
};

/* The end of a finished part before a moment. */
struct ncs_path_before {
	const struct ncs_path_finished *finished; /* NULL if there is none */
	/* How much its end, as recorded, is after that moment, because it is
	 * recorded too late. */
	double overlap_ns;
};

/* Returns how much the end of a part before a moment is after that moment in run
 * k: less where its transfer takes less than that, so that the moment is not before
 * the transfer began unless it is so as recorded. */
static inline double ncs_path_overlap_ns(const struct ncs_path_before *before,
					 size_t k)
{
	const struct ncs_path_run *runs = before->finished->runs;
	double overlap_ns = before->overlap_ns;
	double longer_ns = overlap_ns - runs[0].transfer_ns;

	if (k == 0)
		return overlap_ns;
	return ncs_smaller(overlap_ns,
			   runs[k].transfer_ns + ncs_larger(longer_ns, 0));
}

/* Returns the end of a part before a moment in run k. There must be one. */
static inline double ncs_path_before_ns(const struct ncs_path_before *before,
					size_t k)
{
	return before->finished->runs[k].end_ns -
	       ncs_path_overlap_ns(before, k);
}

/* The place of a part that cannot be compared. */
#define NCS_PATH_NO_PLACE SIZE_MAX

/* The arrival of a part, as recorded. */
struct ncs_path_arrival {
	double at_ns;
	double gap_ns[NCS_PATH_GAPS]; /* since the predecessor's end */
	double total_ns;              /* sum of these */
	/* The part of its communicator before it, if it was launched behind
	 * that one; else the part of the rank that ended last by the arrival.
	 * None if there is none or it is forgotten: then `base_ns` replaces its
	 * end, and `earliest` is the first part that is remembered if any was
	 * forgotten, else NULL. */
	struct ncs_path_before predecessor;
	double base_ns;
	const struct ncs_path_finished *earliest;
	bool is_first; /* of its rank */
	double call_ns, begin_ns;
	/* The part of the rank that ended last by the call; none if that is the
	 * predecessor. */
	struct ncs_path_before call_predecessor;
	double call_gap_ns; /* from its end until the call */
	/* The host's own time before the call: since its call before, or since
	 * the rank's end after that. */
	double host_ns;
	bool is_next_call; /* it is the former */
	/* Finished part of its communicator that ended last by the arrival;
	 * none if the rank has one communicator. Of a send that is queued
	 * behind another one, that one. */
	struct ncs_path_before comm_predecessor;
	double comm_gap_ns; /* from its end until the arrival, if queued */
	bool is_send;
	uint32_t number; /* in the order of its rank's calls */
	/* A send beside which its rank goes on. */
	bool send_overlaps;
	/* A queued send: its time since the predecessor may be waiting. */
	bool is_guessed;
	size_t place; /* among the parts that can be compared, or NO_PLACE */
	struct ncs_path_member *member;
};

/* When the parts that are processed together can start. */
struct ncs_path_start {
	struct ncs_path_ready ready;
	size_t last[NCS_PATH_RUNS]; /* the part that arrives last */
};

/* Operations whose nodes are kept; a power of two. */
#define NCS_PATH_OPERATIONS 16384u

/* How far the path of a run is added up. */
struct ncs_path_sums {
	double (*rank_ns)[NCS_PATH_CAUSE_COUNT]; /* of the run's report */
	uint64_t added; /* latest operation, or NCS_PATH_NO_OPERATION */
	/* Start of the path, if `added` is set. What was before it is unknown
	 * if its rank had had an operation. */
	double origin_ns;
	bool lacks_before;
	/* All until then is added. Clocks that contradict each other let an
	 * operation arrive before another that it follows: no time counts twice. */
	double reached_ns;
};

/* The nodes of the critical paths, for the latest operations, and the sums of
 * the time that the paths before those took.
 *
 * There is a node for each operation and run of the pass: the part that arrived
 * last, the end of its predecessor, and what its rank's time has gone into
 * since then. A path is walked back from the latest end. When the room for
 * nodes is used up, the path from the latest end so far is walked, and its
 * older half is added to the sums for good. The result is the same, because the
 * paths of ranks that communicate meet within a few operations. */
struct ncs_path_nodes {
	uint64_t first; /* oldest operation that is not added up */
	uint64_t next;  /* index of the next operation */
	/* By index % NCS_PATH_OPERATIONS; of `all` then by run. */
	struct ncs_path_operation *operations;
	struct ncs_path_node *all;
	uint64_t *walk; /* operations of a path, backwards */
	struct ncs_path_sums sums[NCS_PATH_RUNS];
	struct ncs_path_sum report[NCS_PATH_RUNS];
	struct ncs_path_step *steps;
	size_t step_count, step_capacity;
	uint32_t step;   /* the step that is being added up */
	double *step_ns; /* its time by rank */
	struct ncs_path_channel *channels;
	size_t channel_count, channel_capacity;
	struct ncs_hash_table places; /* of channels */
};

/* A pass along the critical path. Times are ns since its base. */
struct ncs_path {
	struct ncs_path_options options;
	size_t run_count; /* the replay and the scenarios */
	/* By run: how parts move that can be compared; NULL if they do not. */
	const struct ncs_cost_move *moves[NCS_PATH_RUNS];
	size_t compared; /* such parts so far */
	size_t finished_bytes;
	bool has_base;
	uint64_t base_ns;
	double first_ns; /* first call */
	double last_ns;  /* last end */
	struct ncs_path_rank *ranks;
	struct ncs_path_member *members;  /* by owner */
	struct ncs_path_numbers *numbers; /* of all communicators */
	size_t numbers_count, numbers_capacity;
	size_t numbers_found; /* place of those found last */
	struct ncs_path_nodes nodes;
	/* The latest end so far, by run. */
	struct ncs_path_end ends[NCS_PATH_RUNS];
	double ends_ns[NCS_PATH_RUNS];
	bool wants_hosts;  /* some scenario asks for the hosts of parts */
	/* Work space by part of the operation at hand. */
	struct ncs_path_arrival *arrivals;
	struct ncs_part_times *part_times;
	int32_t *part_ranks;
	size_t room; /* capacity of these three */
	/* The arrival and the end of the send at hand beside which its rank
	 * goes on. */
	struct ncs_path_finished *overlap, *overlap_end;
	struct ncs_heap deferred; /* parts, by time */
	uint64_t deferred_count;  /* number so far; gives their order */
	struct ncs_path_report report;
	int error; /* 0 or -ENOMEM */
};

/* Returns the finished part at a place of a rank. */
static inline struct ncs_path_finished *
ncs_path_finished_at(const struct ncs_path *path,
		     const struct ncs_path_rank *rank, uint32_t place)
{
	return (void *)(rank->finished + place * path->finished_bytes);
}

/* Returns the scenario of run k; NULL for the replay. */
static inline const struct ncs_scenario *
ncs_path_scenario(const struct ncs_path *path, size_t k)
{
	return k > 0 ? &path->options.scenarios[k - 1] : NULL;
}

/* Returns how a part moves in run k; NULL if it comes as what is before it lets it. */
static inline const struct ncs_cost_move *
ncs_path_move(const struct ncs_path *path, size_t k,
	      const struct ncs_path_arrival *arrival)
{
	const struct ncs_cost_move *move = path->moves[k];

	if (!move || arrival->place == NCS_PATH_NO_PLACE)
		return NULL;
	move += arrival->place;
	return isnan(move->begin_ns) ? NULL : move;
}

/* Returns when a part ends in run k that ended at `end_ns`, as recorded. */
static inline double ncs_path_end_ns(const struct ncs_path *path, size_t k,
				     const struct ncs_path_arrival *arrival,
				     const struct ncs_path_ready *ready,
				     const struct ncs_path_edits *edits,
				     double end_ns)
{
	const struct ncs_cost_move *move = ncs_path_move(path, k, arrival);

	if (move)
		return ncs_larger(end_ns - (double)move->end_ns,
				  ready->in_ns[k]);
	return ready->in_ns[k] +
	       ncs_transfer_edited(&edits->edits[k], end_ns - ready->ns);
}

/* --- Nodes: path_nodes.c -------------------------------------------------- */

/* Makes room for nodes. Returns false if there is no memory. */
bool ncs_path_nodes_init(struct ncs_path *path);
void ncs_path_nodes_release(struct ncs_path_nodes *nodes);

/* Adds an operation and returns its nodes by run, which the caller fills in;
 * its index goes into *index. */
struct ncs_path_node *
ncs_path_nodes_add(struct ncs_path *path,
		   const struct ncs_path_operation *operation, uint64_t *index);

/* Returns the row of a step, valid until the next call; NULL if there is no
 * memory, or if there are too many steps. */
struct ncs_path_step *ncs_path_nodes_step(struct ncs_path *path, uint32_t step);

/* Adds up the paths to the latest ends, and fills in the report's sums, except their
 * elapsed times, and its steps and channels. Call this once, after the last operation.
 * Returns the sums. */
struct ncs_path_sum *ncs_path_nodes_report(struct ncs_path *path);

/* Makes the sums of a run that was reported so many times as large. */
void ncs_path_nodes_scale(struct ncs_path *path, size_t run, double factor);

/* --- Finished parts: path_finished.c -------------------------------------- */

/* Makes room for the first parts of a rank. Returns false if there is no
 * memory. */
bool ncs_path_finished_init(const struct ncs_path *path,
			    struct ncs_path_rank *rank);

/* Returns the part of a rank that ended last by `until_ns`, as far as it may
 * have ended by then. Returns NULL if there is none, or if it is forgotten. If parts were
 * forgotten, *earliest is then the first part that is remembered; otherwise it
 * is NULL. */
const struct ncs_path_finished *
ncs_path_finished_before(const struct ncs_path *path,
			 const struct ncs_path_rank *rank, double until_ns,
			 const struct ncs_path_finished **earliest);

/* Returns a part, which may be NULL, as the one before a moment. */
static inline struct ncs_path_before
ncs_path_before_of(const struct ncs_path_finished *finished, double until_ns)
{
	return (struct ncs_path_before){
		finished,
		finished ? ncs_larger(finished->at_ns - until_ns, 0) : 0
	};
}

/* Returns the end of a part before a moment in run k, as the predecessor of a
 * node. */
static inline struct ncs_path_end
ncs_path_finished_end(const struct ncs_path_before *before, size_t k)
{
	const struct ncs_path_finished *finished = before->finished;

	return (struct ncs_path_end){
		.operation = finished->operation,
		.owner = finished->owner,
		.is_unknown = finished->unknown >> k & 1,
		.last_channel = finished->last_channel,
		.transfer_ns = finished->runs[k].transfer_ns -
			       ncs_path_overlap_ns(before, k),
	};
}

/* Adds the end of a part that arrived as *arrival says. */
void ncs_path_finished_add(struct ncs_path *path,
			   const struct ncs_path_ready *ready,
			   const struct ncs_path_edits *edits,
			   const struct ncs_part_times *times,
			   const struct ncs_path_arrival *arrival);

/* Remembers the arrival at a send beside which its rank goes on, as path->overlap has it, as
 * what the rank has done. */
void ncs_path_keep_overlap(struct ncs_path *path,
			   const struct ncs_path_arrival *arrival);

/* --- Arrivals, rank by rank: path_arrivals.c ------------------------------ */

/* Returns when a part arrives in run k. */
double ncs_path_arrival_ns(const struct ncs_path *path, size_t k,
			   const struct ncs_part *part,
			   const struct ncs_path_arrival *arrival);

/* Makes parts arrive, of which the first has this place: fills in the path's arrivals
 * and *start in all runs. */
void ncs_path_arrive(struct ncs_path *path, const struct ncs_part *parts,
		     const struct ncs_part_times *part_times, size_t count,
		     size_t place, struct ncs_path_start *start);

/* Fills in the node of a part that arrives last in run k, at `at_ns`: its
 * predecessor, and its gaps. */
void ncs_path_explain(const struct ncs_path *path, size_t k,
		      const struct ncs_part *part,
		      const struct ncs_path_arrival *arrival, double at_ns,
		      struct ncs_path_node *node);

#endif
