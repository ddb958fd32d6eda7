/* SPDX-License-Identifier: MIT */
/* The agents of a job: starts them by ssh, Slurm, Kubernetes or a command of
 * the user's, takes what they write, says in words what became of them, and
 * ends them.
 *
 * Each line that an agent writes is given to the sink as bytes of its node.
 * Agents whose link breaks are started again, after 2 s and then less and less
 * often. SIGPIPE must be blocked or ignored. One thread calls all functions but
 * ncs_agents_wake(), and lives until ncs_agents_close() has returned; the sink
 * is called by that thread, from ncs_agents_run() only.
 */
#ifndef NCS_FLEET_LAUNCH_AGENTS_H
#define NCS_FLEET_LAUNCH_AGENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/nodes.h"
#include "fleet/launch/launchers.h"
#include "fleet/launch/lines.h"

enum ncs_agents_way {
	NCS_AGENTS_BY_HOSTS, /* target: a list of hosts; one ssh each */
	NCS_AGENTS_BY_SLURM, /* target: the id of a job; one step for all nodes */
	NCS_AGENTS_BY_KUBE,    /* target: [NAMESPACE:]SELECTOR of pods */
	NCS_AGENTS_BY_COMMAND, /* target: a command for the shell, which prints
			     lines of agents */
};

/* How to start agents. The texts are the caller's until the agents are
 * closed. */
struct ncs_launch {
	enum ncs_agents_way way;
	const char *target;
	const char *exclude; /* a list of hosts to leave out; NULL: none */
	struct ncs_agent_call call; /* not for a command */
};

/* Takes what agents tell. */
struct ncs_agents_sink {
	void *context;
	/* A node was added: when the agents are opened or, of a command, when
	 * its first line comes. `reach` is what stands before a command to run
	 * it there, with a blank at its end; "" if that is not known. Returns a
	 * number for it; SIZE_MAX: nothing of it is wanted. */
	size_t (*node)(void *context, const char *name, const char *reach);
	/* Bytes of a node's stream came. `step` is not NCS_LINE_DROP; after
	 * NCS_LINE_BEGINS the stream begins anew, after NCS_LINE_GAP bytes are
	 * missing before these. */
	void (*bytes)(void *context, size_t node, enum ncs_line_step step,
		      const void *bytes, size_t size);
	/* A node's agent starts to tell (NCS_NODE_STARTING), or is in trouble;
	 * `why` are words for users, or "". */
	void (*state)(void *context, size_t node, enum ncs_node_state state,
		      const char *why);
};

struct ncs_agents;

/* Finds out which nodes there are, and prepares to start their agents. Returns
 * 0; or -errno, with a clause for users in `why`, if there are none. */
int ncs_agents_open(struct ncs_agents **agents, const struct ncs_launch *launch,
		    char *why, size_t why_size);

/* Starts agents and takes what they write until CLOCK_MONOTONIC is `until_ns`,
 * or ncs_agents_wake() was called. The first call adds the nodes. */
void ncs_agents_run(struct ncs_agents *agents,
		    const struct ncs_agents_sink *sink, uint64_t until_ns);

/* Has ncs_agents_run() return; may be called by any thread and in a signal
 * handler. */
void ncs_agents_wake(struct ncs_agents *agents);

/* Whether all launchers have ended and none will be started again. */
bool ncs_agents_have_ended(const struct ncs_agents *agents);

/* The latest message that was of no node, "" if there is none; valid until the
 * next call. */
const char *ncs_agents_message(const struct ncs_agents *agents);

/* Ends all agents: closes their input, then terminates, then kills what is left
 * after 2 s at most. */
void ncs_agents_close(struct ncs_agents *agents);

#endif
