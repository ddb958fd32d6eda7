/* SPDX-License-Identifier: MIT */
/* The nodes of agents, and what the lines of launchers say of them; see
 * agents_internal.h. Does no I/O. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "record/launch/agents_internal.h"
#include "shm/array.h"

/* Words of a message that are looked at for names of nodes. */
#define MESSAGE_WORDS_MAX 64
/* Nodes that one message speaks of. */
#define MESSAGE_NODES_MAX 64
#define WORD_CHARACTERS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789.-_@[],"

/* --- Nodes --------------------------------------------------------------- */

/* Finds a node by exactly this name of `length` bytes. */
static size_t find_exactly(const struct ncs_agents *agents, const char *name,
			   size_t length)
{
	struct ncs_hash_link *link = ncs_hash_table_first(
		&agents->by_name, XXH3_64bits(name, length));

	for (; link; link = ncs_hash_table_next(link)) {
		struct ncs_agent_node *node =
			NCS_HASH_ITEM(link, struct ncs_agent_node, link);

		if (strlen(node->name) == length &&
		    memcmp(node->name, name, length) == 0)
			return node->number;
	}
	return SIZE_MAX;
}

/* Finds a node by its name; an agent may know the domain, too. */
static size_t find_node(const struct ncs_agents *agents, const char *name)
{
	size_t node = find_exactly(agents, name, strlen(name));

	return node != SIZE_MAX ?
		       node :
		       find_exactly(agents, name, strcspn(name, "."));
}

/* Writes what stands before a command to run it on a node: as its agent is
 * started. Words that are too long are none. */
static void find_reach(const struct ncs_launch *launch, const char *name,
		       char *text, size_t size)
{
	const char *ssh = launch->call.ssh;
	int length = 0;

	switch (launch->way) {
	case NCS_AGENTS_BY_HOSTS:
		length = snprintf(text, size, "%s %s ",
				  ssh && ssh[0] ? ssh : "ssh", name);
		break;
	case NCS_AGENTS_BY_SLURM:
		length = snprintf(text, size,
				  "srun --overlap --jobid=%s -N1 -n1 -w %s ",
				  launch->target, name);
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

size_t ncs_agents_add_node(struct ncs_agents *agents, const char *name)
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
		return SIZE_MAX;
	node = calloc(1, sizeof(*node));
	if (!node)
		return SIZE_MAX;
	snprintf(node->name, sizeof(node->name), "%s", name);
	find_reach(&agents->launch, target, node->reach, sizeof(node->reach));
	node->number = agents->node_count;
	node->child = NCS_NO_CHILD;
	node->state = NCS_NODE_STARTING;
	if (ncs_hash_table_insert(&agents->by_name, &node->link,
				  XXH3_64bits(node->name,
					      strlen(node->name))) != 0) {
		free(node);
		return SIZE_MAX;
	}
	agents->nodes[agents->node_count] = node;
	return agents->node_count++;
}

void ncs_agents_tell_nodes(struct ncs_agents *agents)
{
	for (; agents->told_count < agents->node_count; agents->told_count++)
		agents->sink->node(agents->sink->context, agents->told_count,
				   agents->nodes[agents->told_count]->name,
				   agents->nodes[agents->told_count]->reach);
}

void ncs_agents_release_nodes(struct ncs_agents *agents)
{
	for (size_t i = 0; i < agents->node_count; i++)
		free(agents->nodes[i]);
	free(agents->nodes);
	ncs_hash_table_release(&agents->by_name);
}

void ncs_agents_set_state(struct ncs_agents *agents, size_t node,
			  enum ncs_node_state state, const char *why)
{
	struct ncs_agent_node *known = agents->nodes[node];

	known->is_judged = state != NCS_NODE_STARTING;
	if (known->state == state && !why[0])
		return;
	known->state = state;
	agents->sink->state(agents->sink->context, node, state, why);
}

/* --- Lines of agents ----------------------------------------------------- */

/* Returns the node that a line is of; SIZE_MAX if there are too many. */
static size_t node_of(struct ncs_agents *agents,
		      const struct ncs_launcher *launcher,
		      const struct ncs_line *line)
{
	size_t node;

	if (launcher->target)
		return launcher->nodes[0];
	node = find_node(agents, line->node);
	if (node != SIZE_MAX)
		return node;
	node = ncs_agents_add_node(agents, line->node);
	ncs_agents_tell_nodes(agents);
	return node;
}

static void take_ours(struct ncs_agents *agents, size_t number,
		      const struct ncs_line *line)
{
	struct ncs_launcher *launcher = agents->launchers[number];
	size_t node = node_of(agents, launcher, line);
	struct ncs_agent_node *known;
	enum ncs_line_step step;

	if (node == SIZE_MAX)
		return;
	known = agents->nodes[node];
	step = ncs_line_order_take(&known->order, line);
	if (step == NCS_LINE_DROP)
		return;
	if (step == NCS_LINE_BEGINS || known->child != number) {
		known->child = number;
		known->has_spoken = true;
		memset(&known->failure, 0, sizeof(known->failure));
		known->status = 0;
		ncs_agents_set_state(agents, node, NCS_NODE_STARTING, "");
	}
	launcher->has_spoken = true;
	agents->sink->bytes(agents->sink->context, node, step, line->bytes,
			    line->byte_count);
}

/* --- Messages ------------------------------------------------------------ */

/* Nodes that a message names. */
struct named_nodes {
	size_t nodes[MESSAGE_NODES_MAX];
	size_t count;
};

static void add_named(struct named_nodes *named, size_t node)
{
	if (node == SIZE_MAX || named->count == MESSAGE_NODES_MAX)
		return;
	for (size_t i = 0; i < named->count; i++)
		if (named->nodes[i] == node)
			return;
	named->nodes[named->count++] = node;
}

/* Adds the nodes that a word names: Slurm writes n[02-04], and slurmstepd-n02;
 * mpirun and pdsh write a name alone. */
static void add_word(const struct ncs_agents *agents, const char *word,
		     struct named_nodes *named)
{
	static const char daemon[] = "slurmstepd-";
	struct ncs_hostlist list = { .count = 0 };
	char error[64];

	if (strncmp(word, daemon, sizeof(daemon) - 1) == 0)
		word += sizeof(daemon) - 1;
	if (!strchr(word, '['))
		add_named(named, find_node(agents, word));
	else if (ncs_hostlist_add(&list, word, error, sizeof(error)) == 0)
		for (size_t i = 0; i < list.count; i++)
			add_named(named,
				  find_node(agents, list.hosts[i]->name));
	ncs_hostlist_release(&list);
}

static void find_named(const struct ncs_agents *agents, const char *message,
		       struct named_nodes *named)
{
	char word[NCS_HOST_NAME_BYTES];

	named->count = 0;
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
			add_word(agents, word, named);
		}
		message += strcspn(message, " :");
		message += strspn(message, " :");
	}
}

/* Judges a node by the status that a launcher of many nodes has told. */
static void judge_told(struct ncs_agents *agents,
		       const struct ncs_launcher *launcher,
		       struct ncs_agent_node *node)
{
	const struct ncs_failure *failure = &node->failure;
	char why[NCS_NODE_WHY_BYTES];
	enum ncs_node_state state;

	/* A message that names no node may be what this one said. */
	if (!failure->row && launcher->failure.row)
		failure = &launcher->failure;
	state = ncs_failure_judge(failure, node->status, node->has_spoken, why,
				  sizeof(why));
	ncs_agents_set_state(agents, node->number, state, why);
}

/* Takes a message of a launcher of many nodes. A node's reason may come after
 * the status, as the two come by different ways to srun. */
static void take_shared_message(struct ncs_agents *agents,
				struct ncs_launcher *launcher,
				const char *message)
{
	int status = ncs_failure_status_in(message);
	struct named_nodes named;

	find_named(agents, message, &named);
	if (named.count == 0)
		ncs_failure_take(&launcher->failure, message);
	for (size_t i = 0; i < named.count; i++) {
		struct ncs_agent_node *node = agents->nodes[named.nodes[i]];
		size_t row = node->failure.row;

		ncs_failure_take(&node->failure, message);
		if (status > 0)
			node->status = status;
		if (status > 0 ||
		    (node->status > 0 && node->failure.row != row))
			judge_told(agents, launcher, node);
	}
}

void ncs_agents_take_line(struct ncs_agents *agents, size_t number, char *line,
			  size_t length)
{
	struct ncs_launcher *launcher = agents->launchers[number];
	struct ncs_line parsed;

	switch (ncs_line_parse(line, length, &parsed)) {
	case NCS_LINE_OURS:
		take_ours(agents, number, &parsed);
		break;
	case NCS_LINE_FOREIGN:
		if (launcher->target)
			ncs_agents_set_state(agents, launcher->nodes[0],
					     NCS_NODE_OTHER_VERSION,
					     "it writes lines of another form");
		break;
	case NCS_LINE_MESSAGE:
		if (launcher->target)
			ncs_failure_take(
				&agents->nodes[launcher->nodes[0]]->failure,
				line);
		else
			take_shared_message(agents, launcher, line);
		break;
	case NCS_LINE_TORN: /* its number is missing: the next one shows it */
		break;
	}
}

/* --- The end of a launcher ----------------------------------------------- */

/* Judges one node of a launcher that has ended. */
static void judge_node(struct ncs_agents *agents,
		       const struct ncs_launcher *launcher, size_t node)
{
	struct ncs_agent_node *known = agents->nodes[node];
	const struct ncs_failure *failure = &known->failure;
	char why[NCS_NODE_WHY_BYTES];
	enum ncs_node_state state;

	if (!failure->message[0] || (!failure->row && launcher->failure.row))
		failure = &launcher->failure;
	state = ncs_failure_judge(failure, launcher->child.status,
				  known->has_spoken, why, sizeof(why));
	ncs_agents_set_state(agents, node, state, why);
	known->has_spoken = false;
	known->child = NCS_NO_CHILD;
	memset(&known->failure, 0, sizeof(known->failure));
}

bool ncs_agents_judge_end(struct ncs_agents *agents, size_t number)
{
	struct ncs_launcher *launcher = agents->launchers[number];
	bool may_pass = false;

	for (size_t i = 0; i < agents->node_count; i++) {
		struct ncs_agent_node *node = agents->nodes[i];

		if (node->child != number)
			continue;
		/* A launcher has said better what became of it. */
		if (!node->is_judged)
			judge_node(agents, launcher, i);
		node->child = NCS_NO_CHILD;
		node->has_spoken = false;
	}
	for (size_t i = 0; i < launcher->node_count; i++) {
		size_t node = launcher->nodes[i];

		if (!agents->nodes[node]->is_judged &&
		    agents->nodes[node]->child == NCS_NO_CHILD)
			judge_node(agents, launcher, node);
		may_pass = may_pass ||
			   ncs_failure_may_pass(agents->nodes[node]->state);
	}
	return may_pass;
}
