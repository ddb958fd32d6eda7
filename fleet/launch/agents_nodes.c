/* SPDX-License-Identifier: MIT */
/* The nodes of agents, and what the lines of launchers say of them; see
 * agents_internal.h. Reads no file. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/append.h"
#include "analysis/base/utf8.h"
#include "fleet/launch/agents_internal.h"
#include "ncclstat/tables/launch_failures.def"
#include "shm/array.h"
#include "shm/clock.h"

#define SECOND_NS UINT64_C(1000000000)

/* Words of a message that are looked at for names of nodes. */
#define MESSAGE_WORDS_MAX 64
/* Messages of a launcher that are read in a second: so many, and some more for
 * each of its nodes; and the names that lists in them are expanded to. */
#define MESSAGES_A_SECOND 1000u
#define MESSAGES_A_NODE 4u
#define NAMES_A_SECOND NCS_HOSTLIST_MAX
#define TOO_MANY_MESSAGES \
	"more messages come than are read: some are left out"
#define WORD_CHARACTERS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789.-_@[],"

/* --- Nodes --------------------------------------------------------------- */

/* Finds a node by exactly this name of `length` bytes. */
static struct ncs_agent_node *find_exactly(const struct ncs_agents *agents,
					   const char *name, size_t length)
{
	return ncs_hash_table_find_name(&agents->by_name, name, length);
}

/* Finds a node by its name; an agent may know the domain, too. */
static struct ncs_agent_node *find_node(const struct ncs_agents *agents,
					const char *name)
{
	struct ncs_agent_node *node = find_exactly(agents, name, strlen(name));

	return node ? node : find_exactly(agents, name, strcspn(name, "."));
}

/* Writes what stands before a command to run it on a node: as its agent is
 * started. Words that are too long are none. */
static void find_reach(const struct ncs_agents *agents, const char *name,
		       char *text, size_t size)
{
	const struct ncs_launch *launch = &agents->launch;
	const char *ssh = launch->call.ssh;
	size_t component = ncs_slurm_component_of(&agents->job, name);
	char group[40] = "";
	int length = 0;

	switch (launch->way) {
	case NCS_AGENTS_BY_HOSTS:
		length = snprintf(text, size, "%s %s ",
				  ssh && ssh[0] ? ssh : "ssh", name);
		break;
	case NCS_AGENTS_BY_SLURM:
		if (component != SIZE_MAX)
			snprintf(group, sizeof(group), "--het-group=%zu ",
				 component);
		length = snprintf(text, size,
				  "srun --overlap --jobid=%s %s-N1 -n1 -w %s ",
				  launch->target, group, name);
		break;
	case NCS_AGENTS_BY_KUBE:
		length = snprintf(text, size, "kubectl exec -n %.*s %s -- ",
				  (int)strcspn(name, "/"), name,
				  strchr(name, '/') ? strchr(name, '/') + 1 :
						      name);
		break;
	case NCS_AGENTS_BY_COMMAND:
		break;
	}
	if (length <= 0 || (size_t)length >= size)
		text[0] = 0;
}

struct ncs_agent_node *ncs_agents_add_node(struct ncs_agents *agents,
					   const char *name)
{
	const char *at = strrchr(name, '@'), *slash = strrchr(name, '/');
	const char *target = name;
	struct ncs_agent_node *node;

	/* A user or a namespace is not part of the node's name. */
	name = at ? at + 1 : slash ? slash + 1 : name;
	if (agents->node_count == NCS_HOSTLIST_MAX ||
	    ncs_array_reserve(&agents->nodes, &agents->node_capacity,
			      agents->node_count + 1,
			      sizeof(struct ncs_agent_node *)) != 0)
		return NULL;
	node = calloc(1, sizeof(*node));
	if (!node)
		return NULL;
	snprintf(node->name, sizeof(node->name), "%s", name);
	find_reach(agents, target, node->reach, sizeof(node->reach));
	node->number = SIZE_MAX;
	node->state = NCS_NODE_STARTING;
	if (ncs_hash_table_insert_name(&agents->by_name, &node->link,
				       node->name) != 0) {
		free(node);
		return NULL;
	}
	agents->nodes[agents->node_count++] = node;
	return node;
}

void ncs_agents_tell_nodes(struct ncs_agents *agents)
{
	while (agents->reported_count < agents->node_count) {
		struct ncs_agent_node *node =
			agents->nodes[agents->reported_count++];

		node->number = agents->sink->node(agents->sink->context,
						  node->name, node->reach);
	}
}

void ncs_agents_release_nodes(struct ncs_agents *agents)
{
	for (size_t i = 0; i < agents->node_count; i++)
		free(agents->nodes[i]);
	free(agents->nodes);
	ncs_hash_table_release(&agents->by_name);
}

void ncs_agents_set_state(struct ncs_agents *agents,
			  struct ncs_agent_node *node,
			  enum ncs_node_state state, const char *why)
{
	node->is_judged = state != NCS_NODE_STARTING;
	if (node->state == state && !why[0])
		return;
	node->state = state;
	agents->sink->state(agents->sink->context, node->number, state, why);
}

/* --- Failures ------------------------------------------------------------ */

/* Exit statuses of ssh, for its own failures, and of shells. */
#define STATUS_SSH 255
#define STATUS_CANNOT_RUN 126
#define STATUS_NOT_FOUND 127

static const struct failure_row {
	enum ncs_node_state state;
	const char *words;
	const char *advice;
} rows[] = {
#define X(state, words, advice) { NCS_NODE_##state, words, advice },
	NCS_LAUNCH_FAILURES(X)
#undef X
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Returns the number of the first row that fits, from 1; 0 if none does. */
static size_t find_row(const char *message)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strstr(message, rows[i].words))
			return i + 1;
	return 0;
}

/* Whether there is a letter or a digit, of any language. */
static bool has_words(const char *message)
{
	while (*message && (unsigned char)*message < 0x80 &&
	       !isalnum((unsigned char)*message))
		message++;
	return *message;
}

/* Takes a message, a line without its end. */
static void take_failure(struct ncs_failure *failure, const char *message)
{
	size_t row = find_row(message);
	bool is_better = row && (!failure->row || row < failure->row);
	size_t length;

	message += strspn(message, " \t@");
	/* The latest message is kept until there is one that is known. Frames
	 * say nothing. */
	if (!has_words(message) || (failure->row && !is_better))
		return;
	if (is_better)
		failure->row = row;
	ncs_utf8_clean(failure->message, sizeof(failure->message), message,
		       false);
	/* ssh frames some of its warnings. */
	length = strlen(failure->message);
	while (length > 0 && strchr(" \t@", failure->message[length - 1]))
		failure->message[--length] = 0;
}

/* Finds the exit status in a message of a launcher of many nodes, such as
 * "n02: task 1: Exited with exit code 127". Returns -1 if there is none. */
static int status_in(const char *message)
{
	static const char *const words[] = { "exit code ", "exit status " };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *found = strstr(message, words[i]);
		char *end;
		long status;

		if (!found)
			continue;
		found += strlen(words[i]);
		status = strtol(found, &end, 10);
		if (end > found && status >= 0 && status <= 255)
			return (int)status;
	}
	return -1;
}

/* The state that a status alone tells. */
static enum ncs_node_state judge_status(int status, bool has_spoken)
{
	if (status == STATUS_SSH)
		return NCS_NODE_NOT_REACHABLE;
	if (!has_spoken &&
	    (status == STATUS_CANNOT_RUN || status == STATUS_NOT_FOUND))
		return NCS_NODE_NOT_INSTALLED;
	return has_spoken || status == 0 ? NCS_NODE_ENDED : NCS_NODE_FAILED;
}

/* Returns the state of a node whose launcher ended with this status, and
 * writes words about it. A status of -1 is that of a launcher that could not be
 * started. `has_spoken`: the agent had begun to tell. */
static enum ncs_node_state judge_failure(const struct ncs_failure *failure,
					 int status, bool has_spoken,
					 char why[NCS_NODE_WHY_BYTES])
{
	const struct failure_row *row = failure->row ? &rows[failure->row - 1] :
						       NULL;
	enum ncs_node_state state = row && status != 0 ?
					    row->state :
					    judge_status(status, has_spoken);

	/* An agent that has told was installed, and could be read. */
	if (has_spoken && (state == NCS_NODE_NOT_INSTALLED ||
			   state == NCS_NODE_OTHER_VERSION))
		state = NCS_NODE_ENDED;
	why[0] = 0;
	if (status > 128 && status < STATUS_SSH && !row)
		ncs_append(why, NCS_NODE_WHY_BYTES, "ended by signal %d",
			   status - 128);
	else if (status > 0 && !row)
		ncs_append(why, NCS_NODE_WHY_BYTES, "exit status %d", status);
	if (failure->message[0])
		ncs_append(why, NCS_NODE_WHY_BYTES, "%s%s", why[0] ? ": " : "",
			   failure->message);
	if (row && row->advice[0])
		ncs_append(why, NCS_NODE_WHY_BYTES, " (%s)", row->advice);
	return state;
}

/* Whether it makes sense to try again when a node is in this state. */
static bool may_pass(enum ncs_node_state state)
{
	return state == NCS_NODE_NOT_REACHABLE || state == NCS_NODE_FAILED ||
	       state == NCS_NODE_SILENT || state == NCS_NODE_ENDED;
}

/* --- Lines of agents ----------------------------------------------------- */

/* Whether what a launcher says of a node is believed: it was asked to reach it,
 * and no later one tells of it. A command of the user's reaches nodes that only
 * it knows. */
static bool is_asked(const struct ncs_launcher *launcher,
		     const struct ncs_agent_node *node)
{
	return !node->launcher || node->launcher == launcher ||
	       node->child == launcher;
}

/* Returns the node that a line is of; NULL if it is of none that is to be
 * believed, or there are too many. */
static struct ncs_agent_node *node_of(struct ncs_agents *agents,
				      const struct ncs_launcher *launcher,
				      const struct ncs_line *line)
{
	struct ncs_agent_node *node;

	if (launcher->target)
		return launcher->nodes[0];
	node = find_node(agents, line->node);
	if (node)
		return is_asked(launcher, node) ? node : NULL;
	if (agents->launch.way != NCS_AGENTS_BY_COMMAND)
		return NULL;
	node = ncs_agents_add_node(agents, line->node);
	ncs_agents_tell_nodes(agents);
	return node;
}

/* Whether a line comes from another agent than the one that the launcher of many
 * nodes has started on this one: it starts one a node. */
static bool is_foreign(const struct ncs_launcher *launcher,
		       const struct ncs_agent_node *node,
		       const struct ncs_line *line)
{
	return !launcher->target && node->launcher == launcher &&
	       node->child == launcher && line->agent != node->order.agent;
}

static void take_ours(struct ncs_agents *agents, struct ncs_launcher *launcher,
		      const struct ncs_line *line)
{
	struct ncs_agent_node *node = node_of(agents, launcher, line);
	enum ncs_line_step step;

	if (!node || is_foreign(launcher, node, line))
		return;
	step = ncs_line_order_take(&node->order, line);
	if (step == NCS_LINE_DROP)
		return;
	if (step == NCS_LINE_BEGINS || node->child != launcher) {
		node->child = launcher;
		node->has_spoken = true;
		memset(&node->failure, 0, sizeof(node->failure));
		node->status = 0;
		ncs_agents_set_state(agents, node, NCS_NODE_STARTING, "");
	}
	launcher->has_spoken = true;
	agents->sink->bytes(agents->sink->context, node->number, step,
			    line->bytes, line->byte_count);
}

/* --- Messages ------------------------------------------------------------ */

/* Tells, once a second, that a launcher's messages are left out. */
static void say_over(const struct ncs_agents *agents,
		     struct ncs_launcher *launcher)
{
	if (launcher->room.is_over)
		return;
	launcher->room.is_over = true;
	if (launcher->target)
		agents->sink->state(agents->sink->context,
				    launcher->nodes[0]->number,
				    NCS_NODE_OVER_LIMIT, TOO_MANY_MESSAGES);
	else
		take_failure(&launcher->failure, TOO_MANY_MESSAGES);
}

/* Takes a message off those that are read in this second. Returns false if there
 * are none left. */
static bool has_message_room(const struct ncs_agents *agents,
			     struct ncs_launcher *launcher)
{
	struct ncs_message_room *room = &launcher->room;
	uint64_t second = ncs_clock_monotonic_ns() / SECOND_NS;

	if (second != room->second)
		*room = (struct ncs_message_room){
			.second = second,
			.messages = MESSAGES_A_SECOND +
				    MESSAGES_A_NODE * agents->node_count,
			.names = NAMES_A_SECOND,
		};
	if (room->messages == 0 || room->names == 0) {
		say_over(agents, launcher);
		return false;
	}
	room->messages--;
	return true;
}

/* Nodes that a message names. */
struct named_nodes {
	uint64_t message;
	struct ncs_agent_node **nodes;
	size_t count;
	size_t capacity;
};

/* Adds a node that the launcher was asked to reach. */
static void add_named(const struct ncs_launcher *launcher,
		      struct ncs_agent_node *node, struct named_nodes *named)
{
	if (!node || !is_asked(launcher, node) ||
	    node->message == named->message ||
	    ncs_array_reserve(&named->nodes, &named->capacity, named->count + 1,
			      sizeof(*named->nodes)) != 0)
		return;
	node->message = named->message;
	named->nodes[named->count++] = node;
}

/* Adds the nodes that a word names: Slurm writes n[02-04], and slurmstepd-n02;
 * mpirun and pdsh write a name alone. */
static void add_word(const struct ncs_agents *agents,
		     struct ncs_launcher *launcher, const char *word,
		     struct named_nodes *named)
{
	static const char daemon[] = "slurmstepd-";
	struct ncs_message_room *room = &launcher->room;
	struct ncs_hostlist list = { .count = 0 };
	char error[64];

	if (strncmp(word, daemon, sizeof(daemon) - 1) == 0)
		word += sizeof(daemon) - 1;
	if (!strchr(word, '['))
		add_named(launcher, find_node(agents, word), named);
	else if (ncs_hostlist_add_within(&list, word, &room->names, error,
					 sizeof(error)) == 0)
		for (size_t i = 0; i < list.count; i++)
			add_named(launcher,
				  find_node(agents, list.hosts[i]->name),
				  named);
	if (room->names == 0)
		say_over(agents, launcher);
	ncs_hostlist_release(&list);
}

static void find_named(const struct ncs_agents *agents,
		       struct ncs_launcher *launcher, const char *message,
		       struct named_nodes *named)
{
	char word[NCS_HOST_NAME_BYTES];

	for (int i = 0; i < MESSAGE_WORDS_MAX && *message; i++) {
		size_t length;

		message += strcspn(message, WORD_CHARACTERS);
		length = strspn(message, WORD_CHARACTERS);
		if (length > 0 && length < sizeof(word)) {
			memcpy(word, message, length);
			word[length] = 0;
			/* The end of a sentence is not part of a name. */
			while (length > 0 && strchr(".,", word[length - 1]))
				word[--length] = 0;
			add_word(agents, launcher, word, named);
		}
		message += strcspn(message, " :");
		message += strspn(message, " :");
	}
}

/* Judges a node by what it said and the status that its launcher ended with, or
 * has told. */
static void judge(struct ncs_agents *agents,
		  const struct ncs_launcher *launcher,
		  struct ncs_agent_node *node, int status)
{
	const struct ncs_failure *failure = &node->failure;
	char why[NCS_NODE_WHY_BYTES];
	enum ncs_node_state state;

	/* A message that names no node may be what this one said. */
	if (!failure->message[0] || (!failure->row && launcher->failure.row))
		failure = &launcher->failure;
	state = judge_failure(failure, status, node->has_spoken, why);
	ncs_agents_set_state(agents, node, state, why);
}

/* Takes a message of a launcher of many nodes. A node's reason may come after
 * the status, as the two come by different ways to srun. */
static void take_shared_message(struct ncs_agents *agents,
				struct ncs_launcher *launcher,
				const char *message)
{
	struct named_nodes named = { .message = ++agents->messages };
	int status = status_in(message);

	find_named(agents, launcher, message, &named);
	if (named.count == 0)
		take_failure(&launcher->failure, message);
	for (size_t i = 0; i < named.count; i++) {
		struct ncs_agent_node *node = named.nodes[i];
		size_t row = node->failure.row;

		take_failure(&node->failure, message);
		if (status > 0)
			node->status = status;
		if (status > 0 ||
		    (node->status > 0 && node->failure.row != row))
			judge(agents, launcher, node, node->status);
	}
	free(named.nodes);
}

/* Takes a line that is not of ours. */
static void take_message(struct ncs_agents *agents,
			 struct ncs_launcher *launcher, enum ncs_line_kind kind,
			 const char *line)
{
	if (!has_message_room(agents, launcher))
		return;
	if (!launcher->target && kind == NCS_LINE_MESSAGE)
		take_shared_message(agents, launcher, line);
	else if (launcher->target && kind == NCS_LINE_MESSAGE)
		take_failure(&launcher->nodes[0]->failure, line);
	else if (launcher->target)
		ncs_agents_set_state(agents, launcher->nodes[0],
				     NCS_NODE_OTHER_VERSION,
				     "it writes lines of another form");
}

void ncs_agents_take_line(struct ncs_agents *agents,
			  struct ncs_launcher *launcher, char *line,
			  size_t length)
{
	struct ncs_line parsed;
	enum ncs_line_kind kind = ncs_line_parse(line, length, &parsed);

	switch (kind) {
	case NCS_LINE_OURS:
		take_ours(agents, launcher, &parsed);
		break;
	case NCS_LINE_FOREIGN:
	case NCS_LINE_MESSAGE:
		take_message(agents, launcher, kind, line);
		break;
	case NCS_LINE_TORN: /* its number is missing: the next one shows it */
		break;
	}
}

/* --- The end of a launcher ----------------------------------------------- */

/* Judges one node of a launcher that has ended. */
static void judge_node(struct ncs_agents *agents,
		       const struct ncs_launcher *launcher,
		       struct ncs_agent_node *node)
{
	judge(agents, launcher, node, launcher->child.status);
	node->has_spoken = false;
	node->child = NULL;
	memset(&node->failure, 0, sizeof(node->failure));
}

bool ncs_agents_judge_end(struct ncs_agents *agents,
			  const struct ncs_launcher *launcher)
{
	bool passes = false;

	for (size_t i = 0; i < agents->node_count; i++) {
		struct ncs_agent_node *node = agents->nodes[i];

		if (node->child != launcher)
			continue;
		/* A launcher has said better what became of it. */
		if (!node->is_judged)
			judge_node(agents, launcher, node);
		node->child = NULL;
		node->has_spoken = false;
	}
	for (size_t i = 0; i < launcher->node_count; i++) {
		struct ncs_agent_node *node = launcher->nodes[i];

		if (!node->is_judged && !node->child)
			judge_node(agents, launcher, node);
		passes |= may_pass(node->state);
	}
	return passes;
}
