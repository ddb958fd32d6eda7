/* SPDX-License-Identifier: MIT */
/* The links of critical paths, for each scenario those of the latest operations,
 * and where the time of what is older went.
 *
 * A link tells, of an operation, who came last and what that rank's time went
 * into since the end of the operation that it followed on. The path is walked
 * back from the latest end; once the room is used up, from the latest end so
 * far: its older half is then settled. Paths of ranks that have to do with each
 * other run together within a few operations, so that this changes nothing.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_NODES_H
#define NCS_ANALYSIS_PATH_PATH_NODES_H

#include "analysis/path/path_types.h"
#include "analysis/path/path_times.h"

#define NCS_NO_UNIT UINT64_MAX

/* The end of a part, on which something follows. */
struct ncs_path_end {
	uint64_t unit; /* its operation; NCS_NO_UNIT: the beginning */
	uint32_t owner;
	bool is_unknown; /* the transfer's change is not known */
	struct ncs_last_channel last_channel;
	double transfer_ns;
};

struct ncs_path_node {
	struct ncs_path_end after;
	uint32_t owner; /* who came last */
	double gap_ns[NCS_PATH_GAPS];
	double at_ns; /* when it came */
};

/* What all scenarios know of an operation, or of a part by itself. */
struct ncs_path_unit {
	uint64_t comm_id;
	uint64_t number;
	uint64_t bytes;
	uint32_t step;
	uint8_t function;
	bool is_counted;
};

struct ncs_path_nodes;

/* NULL: no memory. */
struct ncs_path_nodes *
ncs_path_nodes_new(const struct ncs_path_options *options);
void ncs_path_nodes_free(struct ncs_path_nodes *nodes);

/* Begins the next unit; the caller fills in all its nodes, `count` of them. The
 * latest ends so far are by scenario. NULL: no memory. */
struct ncs_path_node *ncs_path_nodes_add(struct ncs_path_nodes *nodes,
					 const struct ncs_path_unit *unit,
					 const struct ncs_path_end *ends,
					 uint64_t *index);

/* Settles all up to the latest ends, which were at these moments; the first call
 * was at `first_ns`. */
void ncs_path_nodes_finish(struct ncs_path_nodes *nodes,
			   const struct ncs_path_end *ends,
			   const double *ends_ns, double first_ns);

/* Times of segments are later by this; before the first unit. */
void ncs_path_nodes_set_base(struct ncs_path_nodes *nodes, uint64_t base_ns);

/* The row of a step; NULL: no memory, or too many. */
struct ncs_path_step *ncs_path_nodes_step(struct ncs_path_nodes *nodes,
					  uint32_t step);

/* Fills in sums, but for what elapsed, steps and channels. Once, at the end.
 * Returns the sums. */
struct ncs_path_sum *ncs_path_nodes_report(struct ncs_path_nodes *nodes,
					   double first_ns,
					   struct ncs_path_report *report);

#endif
