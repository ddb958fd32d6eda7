/* SPDX-License-Identifier: MIT */
/* The launchers of agents: child processes that are started, read, started
 * again, and ended; see agents_internal.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "fleet/launch/agents_internal.h"
#include "shm/array.h"
#include "shm/clock.h"

#define SECOND_NS UINT64_C(1000000000)
/* Time between two looks at what has ended or is due. */
#define LOOK_NS (SECOND_NS / 10)
/* The number of launchers that may be busy starting at once, and how long. */
#define STARTING_MAX 64u
#define STARTING_NS (10 * SECOND_NS)
/* Pauses before a launcher is started again. */
#define PAUSE_LEAST_NS (2 * SECOND_NS)
#define PAUSE_MOST_NS (60 * SECOND_NS)
/* Time for all nodes of a step of Slurm to begin to tell: a node whose slurmd
 * does not answer has srun kill the whole step after 20 s. */
#define STEP_NS (6 * SECOND_NS)
/* Time until a step that is being replaced is ended. */
#define REPLACED_NS (15 * SECOND_NS)
/* Time before a node that was silent in a step is tried again. */
#define SILENT_NS (30 * SECOND_NS)
/* Time between two beats. Agents end when several have not come. */
#define BEAT_NS (NCS_AGENT_HEARTBEAT_S * SECOND_NS / 6)
/* Reads of one launcher in a turn, so that no other one starves. */
#define READS_MAX 16
/* How long launchers have to end: when their input is closed, and when they
 * are terminated. */
#define CLOSED_NS (SECOND_NS / 2)
#define TERMINATED_NS (3 * SECOND_NS / 2)

/* --- Adding -------------------------------------------------------------- */

struct ncs_launcher *ncs_agents_add_launcher(struct ncs_agents *agents,
					     const char *target,
					     uint64_t due_ns)
{
	struct ncs_launcher *launcher = NULL;

	if (ncs_array_reserve(&agents->launchers, &agents->launcher_capacity,
			      agents->launcher_count + 1,
			      sizeof(struct ncs_launcher *)) == 0)
		launcher = calloc(1, sizeof(*launcher));
	if (!launcher)
		return NULL;
	launcher->target = target ? strdup(target) : NULL;
	if (target && !launcher->target) {
		free(launcher);
		return NULL;
	}
	launcher->child.input = -1;
	launcher->child.output = -1;
	launcher->child.error = -1;
	launcher->due_ns = due_ns;
	launcher->number = agents->launcher_count;
	agents->launchers[agents->launcher_count++] = launcher;
	return launcher;
}

bool ncs_agents_ask_launcher(struct ncs_launcher *launcher,
			     struct ncs_agent_node *node)
{
	struct ncs_agent_node **nodes = realloc(
		launcher->nodes, (launcher->node_count + 1) * sizeof(*nodes));

	if (!nodes)
		return false;
	nodes[launcher->node_count++] = node;
	launcher->nodes = nodes;
	node->launcher = launcher;
	return true;
}

/* --- Starting ------------------------------------------------------------ */

/* Adds the words that start those of a launcher's nodes that are of a component
 * of the job, if there are any; SIZE_MAX: of none. */
static void add_component(const struct ncs_agents *agents,
			  const struct ncs_launcher *launcher, size_t component,
			  struct ncs_words *words)
{
	char *names = NULL;
	size_t size, count = 0;
	FILE *file = open_memstream(&names, &size);

	for (size_t i = 0; file && i < launcher->node_count; i++) {
		const char *name = launcher->nodes[i]->name;

		if (ncs_slurm_component_of(&agents->job, name) == component)
			fprintf(file, "%s%s", count++ > 0 ? "," : "", name);
	}
	if (!file || fclose(file) != 0)
		words->failed = true;
	else if (count > 0)
		ncs_words_add_srun(words, agents->launch.target, component,
				   names, count, &agents->launch.call);
	free(names);
}

/* Adds the words of one step for all nodes of a launcher. */
static void add_step(const struct ncs_agents *agents,
		     const struct ncs_launcher *launcher,
		     struct ncs_words *words)
{
	add_component(agents, launcher, SIZE_MAX, words);
	for (size_t i = 0; i < agents->job.component_count; i++)
		add_component(agents, launcher, i, words);
}

static void add_words(const struct ncs_agents *agents,
		      const struct ncs_launcher *launcher,
		      struct ncs_words *words)
{
	const struct ncs_launch *launch = &agents->launch;
	const char *target = launcher->target;
	char *text;

	switch (launch->way) {
	case NCS_AGENTS_BY_HOSTS:
		ncs_words_add_ssh(words, target, &launch->call);
		break;
	case NCS_AGENTS_BY_SLURM:
		add_step(agents, launcher, words);
		break;
	case NCS_AGENTS_BY_KUBE:
		text = strndup(target, strcspn(target, "/"));
		words->failed = !text;
		if (text)
			ncs_words_add_kubectl(words, text,
					      target + strlen(text) + 1,
					      &launch->call);
		free(text);
		break;
	case NCS_AGENTS_BY_COMMAND:
		ncs_words_add_shell(words, launch->target);
		break;
	}
}

/* Has epoll tell of one of a launcher's files. */
static int watch(struct ncs_agents *agents, const struct ncs_launcher *launcher,
		 int file, bool is_error)
{
	struct epoll_event event = {
		.events = EPOLLIN,
		.data.u64 = (uint64_t)launcher->number << 1 | is_error,
	};

	return epoll_ctl(agents->events, EPOLL_CTL_ADD, file, &event) == 0 ?
		       0 :
		       -errno;
}

/* Begins a new run of a launcher: forgets what the one before said. */
static void forget(struct ncs_launcher *launcher)
{
	launcher->has_spoken = false;
	memset(&launcher->failure, 0, sizeof(launcher->failure));
	launcher->output.used = 0;
	launcher->error.used = 0;
	for (size_t i = 0; i < launcher->node_count; i++) {
		launcher->nodes[i]->is_judged = false;
		launcher->nodes[i]->status = 0;
	}
}

/* Decides whether and when a launcher that has ended is started again. */
static void end(struct ncs_agents *agents, struct ncs_launcher *launcher,
		uint64_t now_ns)
{
	bool again;

	ncs_subprocess_release(&launcher->child);
	if (launcher->has_spoken)
		launcher->pause_ns = 0;
	again = ncs_agents_judge_end(agents, launcher);
	if (!again || launcher->is_replaced ||
	    agents->launch.way == NCS_AGENTS_BY_COMMAND) {
		launcher->phase = NCS_LAUNCHER_DONE;
		return;
	}
	launcher->pause_ns *= 2;
	if (launcher->pause_ns < PAUSE_LEAST_NS)
		launcher->pause_ns = PAUSE_LEAST_NS;
	if (launcher->pause_ns > PAUSE_MOST_NS)
		launcher->pause_ns = PAUSE_MOST_NS;
	launcher->phase = NCS_LAUNCHER_WAITS;
	launcher->due_ns = now_ns + launcher->pause_ns;
}

static void start(struct ncs_agents *agents, struct ncs_launcher *launcher,
		  uint64_t now_ns)
{
	struct ncs_words words = { .count = 0 };
	int error = -ENOMEM;

	forget(launcher);
	add_words(agents, launcher, &words);
	if (!words.failed)
		error = ncs_subprocess_start(&launcher->child, &agents->guard,
					     words.words, true);
	launcher->phase = NCS_LAUNCHER_RUNS;
	launcher->began_ns = now_ns;
	/* It gets its orders with the next beat. */
	agents->beat_ns = 0;
	if (!error)
		error = watch(agents, launcher, launcher->child.output, false);
	if (!error)
		error = watch(agents, launcher, launcher->child.error, true);
	if (error) {
		snprintf(launcher->failure.message,
			 sizeof(launcher->failure.message),
			 "%s cannot be started here: %s",
			 words.count > 0 ? words.words[0] : "it",
			 strerror(-error));
		launcher->child.status = -1;
		ncs_subprocess_signal(&launcher->child, SIGKILL);
		if (launcher->child.pid == 0)
			end(agents, launcher, now_ns);
	}
	ncs_words_release(&words);
}

/* --- Steps in which nodes are silent --------------------------------------- */

/* Splits the nodes of a step into those that tell, for a step that begins now,
 * and the others, for one that begins later. */
static void replace(struct ncs_agents *agents, struct ncs_launcher *step,
		    uint64_t now_ns)
{
	struct ncs_launcher *telling =
		ncs_agents_add_launcher(agents, NULL, now_ns);
	struct ncs_launcher *silent =
		ncs_agents_add_launcher(agents, NULL, now_ns + SILENT_NS);

	if (!telling || !silent)
		return;
	step->is_replaced = true;
	for (size_t i = 0; i < step->node_count; i++) {
		struct ncs_agent_node *node = step->nodes[i];
		bool tells = node->child == step;

		ncs_agents_ask_launcher(tells ? telling : silent, node);
		if (!tells)
			ncs_agents_set_state(agents, node,
					     NCS_NODE_NOT_REACHABLE,
					     "Slurm cannot start a step there;"
					     " tried again every 30 s");
	}
}

static void look_at_step(struct ncs_agents *agents, struct ncs_launcher *step,
			 uint64_t now_ns)
{
	uint64_t age_ns = now_ns - step->began_ns;
	size_t telling = 0;

	for (size_t i = 0; i < step->node_count; i++)
		telling += step->nodes[i]->child == step;
	if (!step->is_replaced && telling > 0 && telling < step->node_count &&
	    age_ns > STEP_NS)
		replace(agents, step, now_ns);
	/* Its nodes tell through their new step, or will have to. */
	else if (step->is_replaced && (telling == 0 || age_ns > REPLACED_NS))
		ncs_subprocess_signal(&step->child, SIGTERM);
}

/* --- Looking after them -------------------------------------------------- */

/* Whether a launcher that runs is still busy with its start. */
static bool is_starting(const struct ncs_launcher *launcher, uint64_t now_ns)
{
	return launcher->phase == NCS_LAUNCHER_RUNS && !launcher->has_spoken &&
	       now_ns - launcher->began_ns < STARTING_NS;
}

/* Notices the end of a launcher. What it wrote before is read first. */
static void look_at(struct ncs_agents *agents, struct ncs_launcher *launcher,
		    uint64_t now_ns)
{
	if (launcher->phase != NCS_LAUNCHER_RUNS)
		return;
	if (ncs_subprocess_runs(&launcher->child, &agents->guard)) {
		if (agents->launch.way == NCS_AGENTS_BY_SLURM)
			look_at_step(agents, launcher, now_ns);
		return;
	}
	ncs_agents_read(agents, launcher, true);
	ncs_agents_read(agents, launcher, false);
	end(agents, launcher, now_ns);
}

/* Tells all agents that we live. What a command of the user's does with its
 * input is not known; it gets none. */
static void beat(struct ncs_agents *agents, uint64_t now_ns)
{
	static const char orders[] = "\n" NCS_ORDER_PACK "\n";

	if (now_ns < agents->beat_ns ||
	    agents->launch.way == NCS_AGENTS_BY_COMMAND)
		return;
	agents->beat_ns = now_ns + BEAT_NS;
	for (size_t i = 0; i < agents->launcher_count; i++) {
		int input = agents->launchers[i]->child.input;

		/* A pipe that is full has beats enough; a child that has ended
		 * is noticed as such. The first end of a line ends what may
		 * have been cut. */
		if (input >= 0 && write(input, orders, strlen(orders)) < 0)
			continue;
	}
}

void ncs_agents_look_after(struct ncs_agents *agents, uint64_t now_ns)
{
	size_t starting = 0;

	if (now_ns < agents->look_ns)
		return;
	agents->look_ns = now_ns + LOOK_NS;
	ncs_guard_check(&agents->guard);
	for (size_t i = 0; i < agents->launcher_count; i++)
		look_at(agents, agents->launchers[i], now_ns);
	for (size_t i = 0; i < agents->launcher_count; i++)
		starting += is_starting(agents->launchers[i], now_ns);
	for (size_t i = 0; i < agents->launcher_count; i++) {
		struct ncs_launcher *launcher = agents->launchers[i];

		if (launcher->phase == NCS_LAUNCHER_WAITS &&
		    launcher->due_ns <= now_ns && starting < STARTING_MAX) {
			start(agents, launcher, now_ns);
			starting++;
		}
	}
	beat(agents, now_ns);
}

/* --- Reading ------------------------------------------------------------- */

static void take_bytes(struct ncs_agents *agents, struct ncs_launcher *launcher,
		       struct ncs_line_splitter *splitter, const char *bytes,
		       size_t size)
{
	size_t length;
	char *line;

	while ((line = ncs_line_next(splitter, &bytes, &size, &length)))
		ncs_agents_take_line(agents, launcher, line, length);
}

void ncs_agents_read(struct ncs_agents *agents, struct ncs_launcher *launcher,
		     bool is_error)
{
	int *file = is_error ? &launcher->child.error : &launcher->child.output;
	struct ncs_line_splitter *splitter = is_error ? &launcher->error :
							&launcher->output;
	char bytes[16384];

	for (int i = 0; i < READS_MAX && *file >= 0; i++) {
		ssize_t size = read(*file, bytes, sizeof(bytes));

		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0 && errno == EAGAIN)
			return;
		if (size > 0) {
			take_bytes(agents, launcher, splitter, bytes,
				   (size_t)size);
			continue;
		}
		/* The last line may lack its end. */
		if (splitter->used > 0)
			take_bytes(agents, launcher, splitter, "\n", 1);
		close(*file);
		*file = -1;
		/* Its end is noticed at once. */
		agents->look_ns = 0;
	}
}

/* --- Ending -------------------------------------------------------------- */

/* Waits until all launchers have ended. Returns false if the time is up. */
static bool wait_for_all(struct ncs_agents *agents, uint64_t until_ns)
{
	const struct timespec step = { .tv_nsec = 2000000 };

	for (;;) {
		bool any = false;

		for (size_t i = 0; i < agents->launcher_count; i++) {
			struct ncs_subprocess *child =
				&agents->launchers[i]->child;

			any = ncs_subprocess_runs(child, &agents->guard) || any;
		}
		if (!any)
			return true;
		if (ncs_clock_monotonic_ns() > until_ns)
			return false;
		nanosleep(&step, NULL);
	}
}

static void signal_all(struct ncs_agents *agents, int number)
{
	for (size_t i = 0; i < agents->launcher_count; i++)
		ncs_subprocess_signal(&agents->launchers[i]->child, number);
}

/* Closes the files of all launchers. */
static void release_files(struct ncs_agents *agents)
{
	for (size_t i = 0; i < agents->launcher_count; i++)
		ncs_subprocess_release(&agents->launchers[i]->child);
}

void ncs_agents_end_launchers(struct ncs_agents *agents)
{
	uint64_t now_ns = ncs_clock_monotonic_ns();

	/* srun does not end by itself when nobody reads; and once its input has
	 * ended while a node does not answer, its tasks outlive it. */
	if (agents->launch.way == NCS_AGENTS_BY_SLURM)
		signal_all(agents, SIGTERM);
	else
		release_files(agents);
	if (!wait_for_all(agents, now_ns + CLOSED_NS)) {
		signal_all(agents, SIGTERM);
		if (!wait_for_all(agents, now_ns + CLOSED_NS + TERMINATED_NS)) {
			signal_all(agents, SIGKILL);
			wait_for_all(agents, UINT64_MAX);
		}
	}
	release_files(agents);
	for (size_t i = 0; i < agents->launcher_count; i++) {
		free(agents->launchers[i]->target);
		free(agents->launchers[i]->nodes);
		free(agents->launchers[i]);
	}
	free(agents->launchers);
}
