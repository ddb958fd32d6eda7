/* SPDX-License-Identifier: MIT */
/* Launches that were captured into CUDA graphs: what the stamps of each stand
 * for.
 *
 * The capturing thread adds to these tables (plugin/events/capture.c); the watch
 * thread reads them when the GPU reports a replay (plugin/life/replays.c).
 * Entries are never used again: a graph may be replayed for as long as the
 * process lives. Callbacks use the tables without a lock.
 */
#ifndef NCS_PLUGIN_STATE_CAPTURED_H
#define NCS_PLUGIN_STATE_CAPTURED_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/state/decoded.h"

/* Entries of the tables. Memory that is not used is never touched. */
#define NCS_GRAPH_MAX 16384u
#define NCS_CAPTURED_LAUNCH_MAX 262144u
#define NCS_CAPTURED_OPERATION_MAX 524288u

/* A captured launch's word in its stamps: its index, times 2; plus 1 at its
 * end. */
#define NCS_STAMP_END 1u

/* An operation of a captured launch. */
struct ncs_captured_operation {
	struct ncs_operation_facts facts;
	uint32_t place; /* among the graph's of its function, from 0 */
	uint32_t next;  /* index plus 1 of the launch's next one; 0 if none */
	/* Written by the watch thread: its handle in the latest replay. */
	uint64_t handle;
};

struct ncs_captured_launch {
	uint32_t graph;	 /* index */
	uint32_t number; /* in its graph, from 1 */
	uint32_t next;	 /* index plus 1 of the graph's next one; 0 if none */
	/* Operations: index plus 1 of the first and the last; 0 if none. */
	uint32_t first, last;
	/* Whether it has a stamp before it, and one after it. */
	bool has_begin, has_end;
	/* Written by the watch thread: when it began in the latest replay, in
	 * ticks and by the GPU's clock; 0 if it is not under way. */
	uint64_t begin, begin_ns;
	uint64_t bytes; /* messages of its operations, while it is under way */
};

/* The launches of a communicator in a capture. */
struct ncs_graph {
	struct ncs_comm *comm;
	uint64_t context; /* the communicator's, to tell it from a later one */
	uint32_t launches; /* their number */
	uint32_t first, last; /* index plus 1 of the first and the last */
	uint32_t operations[NCS_FUNCTION_MAX]; /* by function */
	uint32_t operations_noted;	       /* of all */
	uint64_t capture;                      /* its ID */
	/* The first launch has stamps, one in so many after it, and the one with
	 * the number `probe`, if that is not 0. */
	uint32_t period, probe;
	uint32_t last_stamped; /* number of the last one that has; 0: none */
	/* Written by the watch thread. The GPU's time when the latest replay
	 * began, 0 if that is not known; the least from a replay's begin to the
	 * end of its last launch with stamps, the number of replays that this
	 * is of, and the least from one's begin to the next one's; ns. */
	uint64_t begin_ns, span_ns, spans, apart_ns;
	uint64_t replays;
	/* Index plus 1 of the latest launch that has begun or is known to be
	 * over in this replay; 0 if none has. */
	uint32_t latest;
	/* Numbers of its first operations in this replay. */
	uint64_t base[NCS_FUNCTION_MAX];
};

struct ncs_captured {
	/* Entries that were asked for; those beyond a table's end were
	 * refused. */
	uint64_t graphs_used, launches_used, operations_used;
	struct ncs_graph graphs[NCS_GRAPH_MAX];
	struct ncs_captured_launch launches[NCS_CAPTURED_LAUNCH_MAX];
	struct ncs_captured_operation operations[NCS_CAPTURED_OPERATION_MAX];
};

extern struct ncs_captured ncs_captured;

/* For a forked child: forgets the parent's graphs. */
void ncs_captured_forget(void);

#endif
