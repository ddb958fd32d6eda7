/* SPDX-License-Identifier: MIT */
/* The parts of building the graph of waits (analysis/diagnosis/wait_graph.h).
 * Private to wait_graph.c, wait_nodes.c and the files of edges. Pure.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_WAIT_GRAPH_PARTS_H
#define NCS_ANALYSIS_DIAGNOSIS_WAIT_GRAPH_PARTS_H

#include "analysis/diagnosis/wait_graph.h"

/* Makes a node for each rank of the model, and no edges. Returns 0 or
 * -ENOMEM. */
int ncs_wait_nodes_make(struct ncs_wait_graph *graph,
			const struct ncs_model *model);

/* Finds the processes whose deaths explain no waits, and the ranks that can
 * wait. */
void ncs_wait_nodes_find_waiting(struct ncs_wait_graph *graph,
				 const struct ncs_model *model);

/* Finds the communicators of which all operations in progress are queued behind
 * other work of the GPUs. */
void ncs_wait_nodes_find_level(struct ncs_wait_graph *graph,
			       const struct ncs_model *model);

/* Returns whether an operation in progress has still something to do, as far as
 * NCCL reports it. */
bool ncs_wait_is_unfinished(const struct ncs_rank *rank,
			    const struct ncs_operation_view *operation);

/* Returns whether a channel is as it was posted: no GPU has begun, so nothing
 * was sent or received. */
bool ncs_wait_has_not_begun(const struct ncs_channel_view *channel);

/* Writes at most `size` edges from a node to ranks that its running kernel needs
 * and that are not seen, and returns their number. There are none while another
 * edge explains the node, a rank that is seen has not begun, or data move. */
size_t ncs_wait_edges_to_unseen(const struct ncs_wait_graph *graph, size_t from,
				struct ncs_wait_edge *edges, size_t size);

/* Adds the edges of all nodes. Returns 0 or -ENOMEM. */
int ncs_wait_edges_make(struct ncs_wait_graph *graph,
			const struct ncs_model *model);

#endif
