/* SPDX-License-Identifier: MIT */
/* The graph of waits: its nodes are the ranks of a model, and an edge leads
 * from a rank to the rank that it waits for.
 *
 * A wait is followed to the other end of its channel, so that "no data has
 * come" becomes "the sender's GPU", "on the wire" or "the sender is not there".
 * A rank that does not take part in an operation that others wait for may be
 * held up in another communicator: its edge leads to the rank that the same
 * process has there. A chain of edges ends at the root; a chain that does not
 * end is a circle.
 *
 * Pure. Pointers lead into the model and are valid until its next update.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_WAIT_GRAPH_H
#define NCS_ANALYSIS_DIAGNOSIS_WAIT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/diagnosis/finding.h"
#include "analysis/model/communicators.h"
#include "analysis/model/model.h"

/* No node: a rank that is not seen here. */
#define NCS_NOBODY SIZE_MAX

/* How a rank waits for another. */
enum ncs_edge_kind {
	NCS_EDGE_PEER,    /* a channel waits for its peer */
	NCS_EDGE_NETWORK, /* a channel waits for the network to its peer */
	NCS_EDGE_CALL, /* waits in a collective that the other has not called */
	NCS_EDGE_KERNEL, /* its kernel has begun, that of the other has not */
	NCS_EDGE_HALTED, /* waits in an operation whose other part is to be done
			  * by a process that is stopped or has died */
	NCS_EDGE_PROCESS, /* its process is held up in another communicator */
};

/* A wait of one rank for another. */
struct ncs_wait_edge {
	size_t from;
	size_t to; /* NCS_NOBODY if the rank is not seen here */
	int32_t unseen; /* then: its number; -1 if it is one of several */
	enum ncs_edge_kind kind;
	const struct ncs_channel_view *channel; /* of `from`; NULL unless PEER
						 * or NETWORK */
	/* The operation in which `from` waits; NULL if that is a call or shown by
	 * the channel. */
	const struct ncs_operation_view *operation;
	struct ncs_call_id call;
	uint64_t duration_ns;
};

/* A rank, and what it waits for. */
struct ncs_wait_node {
	const struct ncs_rank *rank;
	size_t first; /* the index of its first edge */
	size_t count; /* number of its edges */
	/* The longest wait for its own GPU that no wait for others explains;
	 * NULL if none. */
	const struct ncs_channel_view *local;
	/* The oldest operation known to be unfinished; NULL if none. */
	const struct ncs_operation_view *operation;
	/* Its oldest operation has not begun: its stream has other work. */
	bool queued;
	/* Its process stays stopped or has died, so it waits for nobody, and what
	 * its channels and launches show is out of date. One that died when all
	 * had waited for long, or with all others, is not halted, but judged as
	 * it was at its death. */
	bool halted;
	/* It was stopped until its process was gone, as all processes are. */
	bool was_stopped;
	/* It can wait: it has not finished, and is not halted. */
	bool waits;
	bool stalled; /* nothing of the rank has moved since the last update */
	bool gpu_stalled; /* no launch of it has begun or ended for long */
	/* How long a rank of its communicator whose GPU has begun the
	 * operation has waited for others; 0 if no GPU has begun. */
	uint64_t begun_ns;
	/* All operations of its communicator are queued behind other work of
	 * the GPUs: none has begun for long, and no rank is behind. */
	bool level;
	bool awaited;     /* an edge leads to it */
	bool is_end;      /* it has no edge, or one to NCS_NOBODY */
	bool reaches_end; /* a chain of edges leads from it to an end */
	bool is_marked;   /* a walk has visited it */
};

struct ncs_wait_graph {
	const struct ncs_model *model;
	struct ncs_wait_node *nodes; /* in the model's order */
	size_t node_count;
	size_t node_capacity;        /* also of queue */
	struct ncs_wait_edge *edges; /* by `from` */
	size_t edge_count;
	size_t edge_capacity;
	size_t *queue; /* the edges of a walk, or nodes to count */
	/* While edges are made, by communicator of the model: the ranks that may
	 * be behind others. */
	struct ncs_laggards *laggards;
	bool no_memory; /* an edge or a laggard is missing */
	/* No process lives: those that died with all others are not halted. */
	bool is_over;
};

/* Builds the graph of a model in place of the one before. A struct of zeros is
 * an empty graph. Returns 0, or -ENOMEM. */
int ncs_wait_graph_build(struct ncs_wait_graph *graph,
			 const struct ncs_model *model);

/* Releases the graph and makes it empty. */
void ncs_wait_graph_release(struct ncs_wait_graph *graph);

/* Returns the node of a rank of the model; NCS_NOBODY if it has none. */
size_t ncs_wait_graph_find(const struct ncs_wait_graph *graph,
			   const struct ncs_rank *rank);

/* Returns the node of a rank that has one. */
struct ncs_wait_node *ncs_wait_node_of(const struct ncs_wait_graph *graph,
				       const struct ncs_rank *rank);

/* Counts the ranks of the job among the first `count` nodes of the queue, which it
 * sorts: a GPU of a process counts once, in however many communicators it is. */
size_t ncs_wait_graph_ranks(struct ncs_wait_graph *graph, size_t count);

/* Counts the ranks of the job that wait for a node, directly or through others,
 * without its own. */
size_t ncs_wait_graph_waiting(struct ncs_wait_graph *graph, size_t node);

/* Removes all marks. */
void ncs_wait_graph_unmark(struct ncs_wait_graph *graph);

/* Returns the other end of a rank's channel, which `peer` has; NULL if it is
 * not seen or `peer` is NULL. */
const struct ncs_channel_view *
ncs_other_end(const struct ncs_rank *rank,
	      const struct ncs_channel_view *channel,
	      const struct ncs_rank *peer);

/* Returns for how long the kernel of an operation of a node has been running; 0 if it
 * is not known to run. */
uint64_t ncs_wait_ran_ns(const struct ncs_wait_node *node,
			 const struct ncs_operation_view *operation);

/* Returns whether several ranks of a rank's communicator share a node: they then
 * pass data to each other that no channel shows. */
bool ncs_rank_shares_node(const struct ncs_rank *rank);

/* Returns whether no channel of a rank has anything to do. */
bool ncs_rank_is_quiet(const struct ncs_rank *rank);

/* Returns the sequence number of a rank's next call of a function; 0 if it has
 * made none. */
uint64_t ncs_rank_next(const struct ncs_rank *rank, unsigned function);

/* Returns when something of a rank last moved; 0 if that is not known. */
uint64_t ncs_rank_moved_ns(const struct ncs_rank *rank);

/* Returns the operation in progress of a rank that has this number; NULL if there is
 * none. */
const struct ncs_operation_view *
ncs_operation_numbered(const struct ncs_rank *rank, uint64_t number);

/* Returns the longest time that a thread of the rank has been inside NCCL's API
 * with a call that has started no operation, in ns, and the function; 0 if there
 * is no such call. NCCL connects to peers first, and does not return before they have
 * called, too. Calls that a CUDA graph captures start no operation either, but return
 * at once. */
uint64_t ncs_unstarted_ns(const struct ncs_rank *rank, unsigned *function);

/* Returns how many calls of a function have started no operation. */
uint64_t ncs_unstarted_calls(const struct ncs_rank *rank, unsigned function);

/* Whether NCCL reports the ends of a rank's operations of a function, judged by
 * the operations so far. */
bool ncs_rank_reports_ends(const struct ncs_rank *rank, unsigned function);

/* --- Parts of building the graph, for its own files ------------------------- */

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
