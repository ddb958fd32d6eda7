/* SPDX-License-Identifier: MIT */
/* Who waits for whom: the ranks of a model as nodes, what holds each up as
 * edges.
 *
 * A wait is followed to the other end of its channel, so that "no data has
 * come" turns into "the sender's GPU", "on the wire" or "the sender is not
 * there". A rank that does not take part in what others wait for may be held
 * up in another communicator: such edges lead to the same process's rank
 * there. Where chains of edges end is the root; where they do not, there is a
 * circle.
 *
 * Pure. What it points to is the model's and valid until its next update.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_WAIT_GRAPH_H
#define NCS_ANALYSIS_DIAGNOSIS_WAIT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/communicators.h"
#include "analysis/model/model.h"

#define NCS_NOBODY SIZE_MAX

enum ncs_edge_kind {
	NCS_EDGE_PEER,    /* a channel waits for the peer's doing */
	NCS_EDGE_NETWORK, /* … for the network between the two */
	NCS_EDGE_CALL,    /* a collective, which the other has not called */
	NCS_EDGE_PROCESS, /* the same process is held up in another one */
};

struct ncs_wait_edge {
	size_t from;
	size_t to; /* NCS_NOBODY: a rank that is not seen here */
	enum ncs_edge_kind kind;
	const struct ncs_channel_view *channel; /* PEER, NETWORK: of `from` */
	unsigned function;        /* NCS_FUNCTION_COUNT: not known */
	uint64_t sequence_number; /* NCS_NO_SEQUENCE_NUMBER: none */
	uint64_t duration_ns;
};

struct ncs_wait_node {
	const struct ncs_rank *rank;
	size_t first; /* its edges */
	size_t count;
	/* The longest wait for its own GPU that no wait for others explains;
	 * NULL: none. */
	const struct ncs_channel_view *local;
	/* The oldest operation that is known to be unfinished; NULL: none. */
	const struct ncs_operation_view *operation;
	bool stands; /* nothing of it has moved since the pass before */
	/* In its communicator: since when the GPU of some rank has begun what
	 * is under way, and held up by others; 0: none. */
	uint64_t begun_ns;
	bool level;   /* … and none is behind, nor has one begun for long */
	bool awaited; /* edges lead to it */
	bool is_end;  /* has no edges, or one that leads nowhere */
	bool reaches; /* an end */
};

struct ncs_wait_graph {
	struct ncs_wait_node *nodes; /* in the model's order */
	size_t node_count;
	struct ncs_wait_edge *edges; /* by `from` */
	size_t edge_count;
	size_t edge_capacity;
	size_t *by_address; /* nodes by their ranks' addresses */
	size_t *queue;      /* for walks */
	bool *marks;
};

/* Zeros are an empty graph. 0 or -ENOMEM. */
int ncs_wait_graph_build(struct ncs_wait_graph *graph,
			 const struct ncs_model *model);
void ncs_wait_graph_release(struct ncs_wait_graph *graph);

/* The node of a rank of the model. */
size_t ncs_wait_graph_find(const struct ncs_wait_graph *graph,
			   const struct ncs_rank *rank);

/* How many ranks wait for a node, directly or by way of others. */
size_t ncs_wait_graph_waiting(struct ncs_wait_graph *graph, size_t node);

/* A circle among the nodes that reach no end and are not marked: its first
 * edges' indexes into `edges`, in order; 0: there is none. Marks what it went
 * over, so that the next call finds another. */
size_t ncs_wait_graph_circle(struct ncs_wait_graph *graph, size_t *edges,
			     size_t size);
void ncs_wait_graph_unmark(struct ncs_wait_graph *graph);

/* The other end of a rank's channel; NULL: it is not seen. */
const struct ncs_channel_view *
ncs_other_end(const struct ncs_rank *rank,
	      const struct ncs_channel_view *channel,
	      const struct ncs_rank *peer);

/* The number of a rank's next call; one that has made none begins at 0. */
uint64_t ncs_rank_next(const struct ncs_rank *rank, unsigned function);

/* Whether NCCL tells how operations of a function end, as far as seen. */
bool ncs_rank_reports_ends(const struct ncs_rank *rank, unsigned function);

#endif
