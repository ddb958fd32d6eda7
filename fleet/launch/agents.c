/* SPDX-License-Identifier: MIT */
/* The agents of a job; see agents.h. The nodes are in agents_nodes.c, the
 * processes that start agents in agents_launchers.c. */
#include "fleet/launch/agents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fleet/launch/agents_internal.h"
#include "shm/clock.h"

#define NS_PER_MS UINT64_C(1000000)
#define EVENTS_MAX 64
/* The number of the wake-up's event. */
#define WAKE UINT64_MAX
/* Files of each launcher, and of the program besides. */
#define LAUNCHER_FILES 3u
#define OTHER_FILES 256u

/* Time from an answer to the next question. */
#define ASK_EVERY_NS UINT64_C(3000000000)

/* Time after which a pod that does not run is not expected to come back. */
#define GONE_NS UINT64_C(60000000000)

/* --- Opening ------------------------------------------------------------- */

static int look_up(struct ncs_agents *agents, struct ncs_hostlist *list,
		   char *why, size_t why_size)
{
	const struct ncs_launch *launch = &agents->launch;
	const struct ncs_lookup lookup = { &agents->guard, list, why,
					   why_size };
	int error = 0;

	switch (launch->way) {
	case NCS_AGENTS_BY_HOSTS:
		error = ncs_lookup_hosts(&lookup, launch->target);
		break;
	case NCS_AGENTS_BY_SLURM:
		error = ncs_lookup_job(&lookup, launch->target, &agents->job);
		agents->launch.target = agents->job.number;
		break;
	case NCS_AGENTS_BY_KUBE:
		error = ncs_lookup_pods(&lookup, launch->target);
		break;
	case NCS_AGENTS_BY_COMMAND:
		return 0;
	}
	if (!error)
		error = ncs_lookup_exclude(&lookup, launch->exclude);
	/* Pods may yet come. */
	if (!error && list->count == 0 && launch->way != NCS_AGENTS_BY_KUBE) {
		snprintf(why, why_size, "there is no node left");
		error = -ENOENT;
	}
	return error;
}

/* Adds a launcher for all nodes, or for each. */
static bool add_launchers(struct ncs_agents *agents,
			  const struct ncs_hostlist *list)
{
	bool is_shared = agents->launch.way == NCS_AGENTS_BY_SLURM ||
			 agents->launch.way == NCS_AGENTS_BY_COMMAND;
	struct ncs_launcher *launcher = NULL;

	if (is_shared) {
		launcher = ncs_agents_add_launcher(agents, NULL, 0);
		if (!launcher)
			return false;
	}
	for (size_t i = 0; i < list->count; i++) {
		const char *name = list->hosts[i]->name;
		struct ncs_agent_node *node = ncs_agents_add_node(agents, name);

		if (!is_shared)
			launcher = ncs_agents_add_launcher(agents, name, 0);
		if (!node || !launcher ||
		    !ncs_agents_ask_launcher(launcher, node))
			return false;
	}
	return true;
}

/* Allows as many open files as launchers have, up to the hard limit; starting
 * a launcher beyond it fails, in words. */
static void allow_files(const struct ncs_agents *agents)
{
	rlim_t needed = agents->launcher_count * LAUNCHER_FILES + OTHER_FILES;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed)
		return;
	limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int open_events(struct ncs_agents *agents)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = WAKE };

	agents->events = epoll_create1(EPOLL_CLOEXEC);
	agents->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (agents->events < 0 || agents->wake < 0 ||
	    epoll_ctl(agents->events, EPOLL_CTL_ADD, agents->wake, &event) != 0)
		return -errno;
	return ncs_guard_start(&agents->guard);
}

int ncs_agents_open(struct ncs_agents **agents, const struct ncs_launch *launch,
		    char *why, size_t why_size)
{
	struct ncs_agents *opened = calloc(1, sizeof(*opened));
	struct ncs_hostlist list = { .count = 0 };
	int error;

	*agents = NULL;
	if (!opened) {
		snprintf(why, why_size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	opened->launch = *launch;
	opened->events = opened->wake = opened->guard.socket = -1;
	error = open_events(opened);
	if (error)
		snprintf(why, why_size, "%s", strerror(-error));
	else
		error = look_up(opened, &list, why, why_size);
	if (!error && !add_launchers(opened, &list)) {
		snprintf(why, why_size, "%s", strerror(ENOMEM));
		error = -ENOMEM;
	}
	ncs_hostlist_release(&list);
	if (error) {
		ncs_agents_close(opened);
		return error;
	}
	allow_files(opened);
	*agents = opened;
	return 0;
}

/* --- Pods ---------------------------------------------------------------- */

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
	struct ncs_agent_node *node = ncs_agents_add_node(agents, pod);
	struct ncs_launcher *launcher = NULL;

	if (node)
		launcher = ncs_agents_add_launcher(agents, pod, now_ns);
	/* A launcher without its node must not run. */
	if (launcher && !ncs_agents_ask_launcher(launcher, node))
		launcher->phase = NCS_LAUNCHER_DONE;
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
		allow_files(agents);
	}
	ncs_hostlist_release(&running);
}

/* --- Running ------------------------------------------------------------- */

/* Returns how long to wait in ms: until the end, or the next look. */
static int timeout_of(const struct ncs_agents *agents, uint64_t now_ns,
		      uint64_t until_ns)
{
	uint64_t next_ns = agents->look_ns < until_ns ? agents->look_ns :
							until_ns;

	if (next_ns <= now_ns)
		return 0;
	return (int)((next_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS);
}

/* Takes what epoll told. Returns whether ncs_agents_wake() was called. */
static bool take_events(struct ncs_agents *agents,
			const struct epoll_event *events, int count)
{
	bool woken = false;
	uint64_t value;

	for (int i = 0; i < count; i++) {
		uint64_t number = events[i].data.u64;

		if (number == WAKE)
			woken = read(agents->wake, &value, sizeof(value)) > 0;
		else
			ncs_agents_read(agents, agents->launchers[number >> 1],
					(number & 1) != 0);
	}
	return woken;
}

void ncs_agents_run(struct ncs_agents *agents,
		    const struct ncs_agents_sink *sink, uint64_t until_ns)
{
	struct epoll_event events[EVENTS_MAX];
	uint64_t now_ns = ncs_clock_monotonic_ns();
	bool woken = false;
	int count;

	agents->sink = sink;
	ncs_agents_tell_nodes(agents);
	do {
		if (agents->launch.way == NCS_AGENTS_BY_KUBE &&
		    now_ns >= agents->look_ns)
			ncs_agents_watch_pods(agents, now_ns);
		ncs_agents_look_after(agents, now_ns);
		count = epoll_wait(agents->events, events, EVENTS_MAX,
				   timeout_of(agents, now_ns, until_ns));
		woken = take_events(agents, events, count);
		now_ns = ncs_clock_monotonic_ns();
	} while (!woken && now_ns < until_ns);
	agents->sink = NULL;
}

void ncs_agents_wake(struct ncs_agents *agents)
{
	const uint64_t one = 1;

	/* A counter that is full wakes as well. */
	if (write(agents->wake, &one, sizeof(one)) < 0)
		return;
}

bool ncs_agents_have_ended(const struct ncs_agents *agents)
{
	if (agents->launch.way == NCS_AGENTS_BY_KUBE &&
	    agents->launcher_count == 0)
		return false;
	for (size_t i = 0; i < agents->launcher_count; i++)
		if (agents->launchers[i]->phase != NCS_LAUNCHER_DONE)
			return false;
	return true;
}

const char *ncs_agents_message(const struct ncs_agents *agents)
{
	const char *message = "";

	if (agents->launch.way == NCS_AGENTS_BY_KUBE &&
	    agents->launcher_count == 0)
		return "no pod that runs matches the selector yet";
	for (size_t i = 0; i < agents->launcher_count; i++)
		if (agents->launchers[i]->failure.message[0])
			message = agents->launchers[i]->failure.message;
	return message;
}

/* --- Closing ------------------------------------------------------------- */

void ncs_agents_close(struct ncs_agents *agents)
{
	if (!agents)
		return;
	if (agents->asks_pods)
		ncs_answer_cancel(&agents->pods);
	ncs_agents_end_launchers(agents);
	ncs_guard_stop(&agents->guard);
	ncs_agents_release_nodes(agents);
	ncs_slurm_job_release(&agents->job);
	if (agents->events >= 0)
		close(agents->events);
	if (agents->wake >= 0)
		close(agents->wake);
	free(agents);
}
