/* SPDX-License-Identifier: MIT */
/* The nodes that a source gets its ranks from by the streams of agents, and
 * what is known of each: whether it answers, how old that is, how well it gets
 * through. A source that reads this machine's segments, or a recording, has no
 * nodes.
 *
 * Launchers (fleet/launch) report failures in these states; fleet/head sets
 * the others; views and the diagnosis show them. Functions have no side
 * effects.
 */
#ifndef NCS_ANALYSIS_BASE_NODES_H
#define NCS_ANALYSIS_BASE_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/tables/node_states.def"

enum ncs_node_state {
#define X(ID, name, sight, help) NCS_NODE_##ID,
	NCS_NODE_STATES(X)
#undef X
		NCS_NODE_STATE_COUNT
};

/* How much of a node's ranks is known: nothing, what they were in at its last
 * look, what some of them are in now, or what all are in now. */
enum ncs_sight {
#define X(ID, name) NCS_SIGHT_##ID,
	NCS_SIGHTS(X)
#undef X
};

/* Bytes of a node's name and of the words about it, with the final 0. */
#define NCS_NODE_NAME_BYTES 72u
#define NCS_NODE_WHY_BYTES 200u
/* Bytes of the words before a command that run it on a node. */
#define NCS_NODE_REACH_BYTES 256u

/* A node at one time. Times are this machine's CLOCK_MONOTONIC in ns. */
struct ncs_node {
	/* The name that the launcher or the stream gives it; never empty. */
	char name[NCS_NODE_NAME_BYTES];
	char host[NCS_NODE_NAME_BYTES]; /* as it names itself; "": not known */
	/* Words before a command that run it there, such as "ssh n1 "; "":
	 * it is not known how, or it is here. */
	char reach[NCS_NODE_REACH_BYTES];
	enum ncs_node_state state;
	/* Words for users about the state, as of a launcher or of segments that
	 * cannot be read; "" if the state says it all. */
	char why[NCS_NODE_WHY_BYTES];
	uint64_t state_since_ns;
	uint64_t look_ns;         /* when its latest look came; 0: none has */
	uint64_t interval_ns;     /* time between its looks; 0: not known */
	uint32_t program_version; /* major << 16 | minor << 8 | patch; 0: not
				     known */
	uint64_t bytes;           /* that have come from it */
	uint64_t bytes_a_second;  /* over the latest 5 to 10 s; 0: not known */
	uint64_t looks;           /* that have come whole */
	uint64_t looks_dropped;   /* by the agent: what was before was not gone
				     yet */
	uint64_t looks_lost;      /* on the way here: damaged, or cut */
	/* In the latest look: */
	uint32_t ranks;
	uint32_t denied;          /* segments of other users */
	uint32_t unreadable;      /* other segments that cannot be read */
	uint32_t left_out; /* segments for which a look has no room, or that
			      are more than is kept here */
	/* Its clock can be compared with those of other nodes; the error is how
	 * far it is off at most. */
	bool clock_is_aligned;
	uint64_t clock_error_ns;
};

/* Returns a state's word; its clause for users. `state` may be any value. */
const char *ncs_node_state_name(unsigned state);
const char *ncs_node_state_help(unsigned state);

/* Returns how much is known of the ranks of a node in this state. */
enum ncs_sight ncs_node_sight(enum ncs_node_state state);

/* Returns the age of a node's latest look in ns; UINT64_MAX if none has
 * come. */
uint64_t ncs_node_age_ns(const struct ncs_node *node, uint64_t now_ns);

#endif
