/* SPDX-License-Identifier: MIT */
/* The nodes of the critical paths, for the latest operations, and the sums of
 * the time that the paths before those took.
 *
 * There is a node for each operation and run of the pass: the part that arrived
 * last, the end of its predecessor, and what its rank's time has gone into
 * since then. A path is walked back from the latest end. When the room for
 * nodes is used up, the path from the latest end so far is walked, and its
 * older half is added to the sums for good. The result is the same, because the
 * paths of ranks that communicate meet within a few operations.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_NODES_H
#define NCS_ANALYSIS_PATH_PATH_NODES_H

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
	double unknown_ns; /* so much of it may be wrong */
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

struct ncs_path_nodes;

/* Returns nodes for a pass with these options, which are borrowed; NULL if
 * there is no memory. */
struct ncs_path_nodes *
ncs_path_nodes_new(const struct ncs_path_options *options);

/* Releases nodes; NULL is allowed. */
void ncs_path_nodes_free(struct ncs_path_nodes *nodes);

/* Sets the base in ns, which is added to the times of reported path segments.
 * Call this before the first operation. */
void ncs_path_nodes_set_base(struct ncs_path_nodes *nodes, uint64_t base_ns);

/* Adds an operation and returns its nodes by run, which the caller fills in;
 * its index goes into *index. `ends` are the latest ends so far, by run. */
struct ncs_path_node *
ncs_path_nodes_add(struct ncs_path_nodes *nodes,
		   const struct ncs_path_operation *operation,
		   const struct ncs_path_end *ends, uint64_t *index);

/* Returns the row of a step, valid until the next call; NULL if there is no
 * memory, or if there are too many steps. */
struct ncs_path_step *ncs_path_nodes_step(struct ncs_path_nodes *nodes,
					  uint32_t step);

/* Adds up the paths to the latest ends, which were at `ends_ns`, by run, and fills in
 * the report's sums, except their elapsed times, and its steps and channels. The first
 * call was at `first_ns`. Call this once, after the last operation. Returns the sums. */
struct ncs_path_sum *ncs_path_nodes_report(struct ncs_path_nodes *nodes,
					   const struct ncs_path_end *ends,
					   const double *ends_ns,
					   double first_ns,
					   struct ncs_path_report *report);

/* Makes the sums of a run that was reported so many times as large. */
void ncs_path_nodes_scale(struct ncs_path_nodes *nodes, size_t run,
			  double factor);

#endif
