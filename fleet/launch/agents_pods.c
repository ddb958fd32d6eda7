/* SPDX-License-Identifier: MIT */
/* Pods that come and go while their job is watched; see agents_internal.h. Must
 * not wait for kubectl: agents are read meanwhile. */
#include <errno.h>
#include <string.h>

#include "fleet/launch/agents_internal.h"

/* Time from an answer to the next question. */
#define ASK_EVERY_NS UINT64_C(3000000000)

/* Time after which a pod that does not run is not expected to come back. */
#define GONE_NS UINT64_C(60000000000)

/* Finds the launcher of a pod by its namespace and name. */
static struct ncs_launcher *launcher_of(const struct ncs_agents *agents,
					const char *pod)
{
	for (size_t i = 0; i < agents->launcher_count; i++)
		if (strcmp(agents->launchers[i]->target, pod) == 0)
			return agents->launchers[i];
	return NULL;
}

/* Adds a pod that is new. Without memory for its launcher it is new again the
 * next time. */
static void add_pod(struct ncs_agents *agents, const char *pod, uint64_t now_ns)
{
	size_t node = ncs_agents_add_node(agents, pod);
	size_t launcher = SIZE_MAX;

	if (node != SIZE_MAX)
		launcher = ncs_agents_add_launcher(agents, pod, now_ns);
	/* A launcher without its node must not run. */
	if (launcher != SIZE_MAX &&
	    !ncs_agents_ask_launcher(agents, launcher, node))
		agents->launchers[launcher]->phase = NCS_LAUNCHER_DONE;
}

static void take_pod(struct ncs_agents *agents, const char *pod,
		     uint64_t now_ns)
{
	struct ncs_launcher *launcher = launcher_of(agents, pod);

	if (!launcher) {
		add_pod(agents, pod, now_ns);
	} else if (launcher->is_gone && launcher->node_count > 0) {
		launcher->is_gone = false;
		launcher->phase = NCS_LAUNCHER_WAITS;
		launcher->pause_ns = 0;
		launcher->due_ns = now_ns;
	}
}

static void tell(struct ncs_agents *agents, const struct ncs_launcher *launcher,
		 enum ncs_node_state state)
{
	if (launcher->node_count > 0)
		ncs_agents_set_state(agents, launcher->nodes[0], state,
				     "the pod does not run any more");
}

/* Ends the attempts to get into pods that do not run. */
static void leave_pods(struct ncs_agents *agents,
		       const struct ncs_hostlist *running, uint64_t now_ns)
{
	for (size_t i = 0; i < agents->launcher_count; i++) {
		struct ncs_launcher *launcher = agents->launchers[i];

		if (launcher->phase == NCS_LAUNCHER_RUNS ||
		    ncs_hostlist_has(running, launcher->target))
			continue;
		if (!launcher->is_gone) {
			launcher->is_gone = true;
			launcher->gone_ns = now_ns;
			launcher->phase = NCS_LAUNCHER_DONE;
			tell(agents, launcher, NCS_NODE_ENDED);
		} else if (launcher->gone_ns != 0 &&
			   now_ns - launcher->gone_ns >= GONE_NS) {
			launcher->gone_ns = 0;
			tell(agents, launcher, NCS_NODE_GONE);
		}
	}
}

void ncs_agents_watch_pods(struct ncs_agents *agents, uint64_t now_ns)
{
	struct ncs_hostlist running = { .count = 0 };
	char why[200];
	const struct ncs_lookup lookup = { &agents->guard, &running, why,
					   sizeof(why) };
	int turn;

	/* It was asked when the agents were opened. */
	if (agents->pods_ns == 0)
		agents->pods_ns = now_ns + ASK_EVERY_NS;
	if (!agents->asks_pods) {
		if (now_ns < agents->pods_ns)
			return;
		agents->pods_ns = now_ns + ASK_EVERY_NS;
		agents->asks_pods = ncs_lookup_pods_begin(&lookup,
							  agents->launch.target,
							  &agents->pods) == 0;
		return;
	}
	turn = ncs_answer_turn(&agents->pods, 0);
	if (turn == 0)
		return;
	agents->asks_pods = false;
	agents->pods_ns = now_ns + ASK_EVERY_NS;
	if (ncs_lookup_pods_end(&lookup, &agents->pods, turn) == 0) {
		for (size_t i = 0; i < running.count; i++)
			take_pod(agents, running.hosts[i]->name, now_ns);
		leave_pods(agents, &running, now_ns);
		ncs_agents_tell_nodes(agents);
	}
	ncs_hostlist_release(&running);
}
