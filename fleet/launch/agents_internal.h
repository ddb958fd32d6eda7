/* SPDX-License-Identifier: MIT */
/* The agents' own state, for the files agents*.c only. */
#ifndef NCS_FLEET_LAUNCH_AGENTS_INTERNAL_H
#define NCS_FLEET_LAUNCH_AGENTS_INTERNAL_H

#include <stdbool.h>

#include "analysis/base/hash_table.h"
#include "fleet/launch/agents.h"
#include "fleet/launch/lookups.h"
#include "fleet/launch/subprocess.h"

/* Why an agent did not start, or ended: the meaning of the messages so far. One
 * of zeros is at the beginning. */
struct ncs_failure {
	size_t row; /* of the table, from 1; 0: no row fits */
	char message[NCS_NODE_WHY_BYTES]; /* clean; that which fits the row */
};

struct ncs_launcher;

struct ncs_agent_node {
	struct ncs_name_link link;
	size_t number;             /* the sink's */
	char name[NCS_NODE_NAME_BYTES];
	char reach[NCS_NODE_REACH_BYTES];
	/* The latest that was asked to reach it, NULL: none was, a command told
	 * of it; and the one through which its agent tells, NULL: none. */
	struct ncs_launcher *launcher, *child;
	bool has_spoken;           /* through that child */
	enum ncs_node_state state; /* that the sink knows */
	bool is_judged; /* its present launcher has failed or ended there */
	struct ncs_line_order order;
	struct ncs_failure failure;
	/* With which its agent ended, as a launcher of many nodes said; 0: it
	 * has not. */
	int status;
	uint64_t message; /* number of the latest one that named it */
};

/* The rest of a launcher's messages that are read in the present second. */
struct ncs_message_room {
	uint64_t second;
	size_t messages;
	size_t names; /* that lists in them are expanded to */
	bool is_over; /* some were left out, which was told */
};

enum ncs_launcher_phase {
	NCS_LAUNCHER_WAITS, /* until due_ns */
	NCS_LAUNCHER_RUNS,
	NCS_LAUNCHER_DONE,
};

/* A launcher: a child process that starts one or many agents. */
struct ncs_launcher {
	size_t number;
	struct ncs_subprocess child;
	enum ncs_launcher_phase phase;
	char *target;  /* a host or a pod; NULL for many nodes */
	/* Those it starts; none are known of a command. */
	struct ncs_agent_node **nodes;
	size_t node_count;
	bool has_spoken;  /* since it was started */
	bool is_replaced; /* by launchers without the nodes that are silent */
	bool is_gone;     /* its pod does not run any more, */
	uint64_t gone_ns; /* since when; 0: that was told long ago */
	uint64_t due_ns;
	uint64_t began_ns;
	uint64_t pause_ns; /* before it is started again */
	struct ncs_line_splitter output;
	struct ncs_line_splitter error;
	struct ncs_failure failure; /* what it says of no node */
	struct ncs_message_room room;
};

struct ncs_agents {
	struct ncs_launch launch;
	struct ncs_slurm_job job; /* the target, by Slurm */
	struct ncs_guard guard;
	const struct ncs_agents_sink *sink; /* while ncs_agents_run() runs */
	struct ncs_agent_node **nodes;
	size_t node_count;
	size_t node_capacity;
	size_t reported_count; /* nodes that the sink knows */
	uint64_t messages; /* of launchers of many nodes so far */
	struct ncs_hash_table by_name;
	struct ncs_launcher **launchers;
	size_t launcher_count;
	size_t launcher_capacity;
	int events;       /* epoll */
	int wake;         /* eventfd */
	uint64_t look_ns; /* when to look after launchers again */
	uint64_t beat_ns; /* when to tell agents again that we live */
	/* The question which pods run, whether it is asked now, and when it is
	 * asked again. */
	struct ncs_answer pods;
	bool asks_pods;
	uint64_t pods_ns;
};

/* --- agents_nodes.c ------------------------------------------------------ */

/* Adds a node. Returns NULL if there is no memory or there are too many. */
struct ncs_agent_node *ncs_agents_add_node(struct ncs_agents *agents,
					   const char *name);

/* Tells the sink of nodes that it does not know. */
void ncs_agents_tell_nodes(struct ncs_agents *agents);

/* Sets a node's state and tells the sink, if it is another one or `why` is not
 * empty. */
void ncs_agents_set_state(struct ncs_agents *agents,
			  struct ncs_agent_node *node,
			  enum ncs_node_state state, const char *why);

/* Takes a line that a launcher has written. */
void ncs_agents_take_line(struct ncs_agents *agents,
			  struct ncs_launcher *launcher, char *line,
			  size_t length);

/* Judges the nodes of a launcher that has ended. Returns whether it may be
 * started again. */
bool ncs_agents_judge_end(struct ncs_agents *agents,
			  const struct ncs_launcher *launcher);

/* Frees all nodes. */
void ncs_agents_release_nodes(struct ncs_agents *agents);

/* --- agents.c ------------------------------------------------------------ */

/* Asks from time to time which pods run: adds launchers for new ones, and ends
 * those of pods that are gone. Does not wait for kubectl: agents are read
 * meanwhile. */
void ncs_agents_watch_pods(struct ncs_agents *agents, uint64_t now_ns);

/* --- agents_launchers.c -------------------------------------------------- */

/* Adds a launcher that is to be started at `due_ns`: of one host or pod, or of
 * all nodes that it is asked to reach. Returns NULL without memory. The
 * other function asks it to reach a node, and returns whether there was memory
 * for that. */
struct ncs_launcher *ncs_agents_add_launcher(struct ncs_agents *agents,
					     const char *target,
					     uint64_t due_ns);
bool ncs_agents_ask_launcher(struct ncs_launcher *launcher,
			     struct ncs_agent_node *node);

/* Starts launchers that are due; notices those that have ended; and replaces a
 * step of Slurm in which some nodes are silent by one without them. */
void ncs_agents_look_after(struct ncs_agents *agents, uint64_t now_ns);

/* Reads what a launcher has written to its output or standard error. */
void ncs_agents_read(struct ncs_agents *agents, struct ncs_launcher *launcher,
		     bool is_error);

/* Ends and frees all launchers. */
void ncs_agents_end_launchers(struct ncs_agents *agents);

#endif
