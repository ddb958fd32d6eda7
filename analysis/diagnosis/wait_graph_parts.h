/* SPDX-License-Identifier: MIT */
/* The parts of building the graph of waits (analysis/diagnosis/wait_graph.h).
 * Private to wait_graph.c, wait_nodes.c and wait_edges.c. Pure.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_WAIT_GRAPH_PARTS_H
#define NCS_ANALYSIS_DIAGNOSIS_WAIT_GRAPH_PARTS_H

#include "analysis/diagnosis/wait_graph.h"

/* Makes a node for each rank of the model, and no edges: which ranks can wait, which
 * deaths explain no waits, and in which communicators all operations in progress are
 * queued behind other work of the GPUs. Returns 0 or -ENOMEM. */
int ncs_wait_nodes_make(struct ncs_wait_graph *graph);

/* Returns whether an operation in progress has still something to do, as far as
 * NCCL reports it. */
bool ncs_wait_is_unfinished(const struct ncs_rank *rank,
			    const struct ncs_operation_view *operation);

/* Returns whether a channel is as it was posted: no GPU has begun, so nothing
 * was sent or received. */
bool ncs_wait_has_not_begun(const struct ncs_channel_view *channel);

/* Adds the edges of all nodes. Sets graph->no_memory if some are missing. */
void ncs_wait_edges_make(struct ncs_wait_graph *graph);

#endif
