/* SPDX-License-Identifier: MIT */
/* Says how each node of a fleet is; see fleet.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/append.h"
#include "fleet/head/fleet_internal.h"

#define SECOND_NS UINT64_C(1000000000)

/* A node is silent after this many intervals without a look, and at least this
 * much more than one. */
#define SILENT_INTERVALS 3
#define SILENT_NS (2 * SECOND_NS)

/* For how long a node's link counts as slow after it has dropped a look, and a
 * node as over a limit; an agent on the way here tells of that every 10 s. */
#define SLOW_NS (10 * SECOND_NS)
#define LIMITED_NS (20 * SECOND_NS)

static struct ncs_fleet_node *find_name(const struct ncs_fleet *fleet,
					const char *name)
{
	return ncs_hash_table_find_name(&fleet->by_name, name, strlen(name));
}

void ncs_fleet_node_name(struct ncs_fleet_node *node, const char *name)
{
	struct ncs_fleet *fleet = node->fleet;
	char *own = node->facts.name;
	const size_t size = sizeof(node->facts.name);
	struct ncs_fleet_node *first;

	if (node->is_linked)
		ncs_hash_table_remove(&fleet->by_name, &node->link.link);
	node->next_name = 2;
	snprintf(own, size, "%.60s", name[0] ? name : "?");
	first = find_name(fleet, own);
	while (first && find_name(fleet, own))
		snprintf(own, size, "%.52s (%u)", name[0] ? name : "?",
			 first->next_name++);
	/* Without memory it has the name, but another may get it, too. */
	node->is_linked = ncs_hash_table_insert_name(&fleet->by_name,
						     &node->link, own) == 0;
}

void ncs_fleet_node_limit(struct ncs_fleet_node *node, const char *why)
{
	node->limited_ns = node->now_ns;
	snprintf(node->limited, sizeof(node->limited), "%s", why);
}

static bool is_silent(const struct ncs_node *facts, uint64_t now_ns)
{
	uint64_t age_ns = ncs_node_age_ns(facts, now_ns);

	return age_ns > SILENT_INTERVALS * facts->interval_ns &&
	       age_ns > facts->interval_ns + SILENT_NS;
}

static bool is_limited(const struct ncs_fleet_node *node, uint64_t now_ns)
{
	return node->facts.left_out > 0 ||
	       (node->limited_ns != 0 &&
		now_ns < node->limited_ns + LIMITED_NS);
}

/* Returns the state of a node of which the launcher says nothing. */
static enum ncs_node_state state_of(const struct ncs_fleet_node *node,
				    uint64_t now_ns)
{
	const struct ncs_node *facts = &node->facts;

	if (node->stream->facts.refused[0])
		return NCS_NODE_OTHER_VERSION;
	if (facts->look_ns == 0)
		return node->limited_ns != 0 ? NCS_NODE_OVER_LIMIT :
					       NCS_NODE_STARTING;
	if (is_silent(facts, now_ns))
		return NCS_NODE_SILENT;
	if (is_limited(node, now_ns))
		return NCS_NODE_OVER_LIMIT;
	if (node->dropped_ns != 0 && now_ns - node->dropped_ns < SLOW_NS)
		return NCS_NODE_SLOW_LINK;
	if (facts->ranks > 0)
		return NCS_NODE_RUNNING;
	if (facts->denied > 0)
		return NCS_NODE_DENIED;
	return facts->unreadable > 0 ? NCS_NODE_UNREADABLE : NCS_NODE_NO_JOB;
}

/* Sets the words about a limit that is reached: here, or by the agent. */
static void explain_limit(struct ncs_fleet_node *node, uint64_t now_ns)
{
	struct ncs_node *facts = &node->facts;
	bool is_here = node->limited_ns != 0 &&
		       now_ns < node->limited_ns + LIMITED_NS;

	facts->why[0] = '\0';
	if (facts->left_out > 0)
		ncs_append(facts->why, sizeof(facts->why),
			   "%" PRIu32 " segment%s left out: ", facts->left_out,
			   facts->left_out == 1 ? " is" : "s are");
	ncs_append(facts->why, sizeof(facts->why), "%s",
		   is_here ? node->limited :
			     "they do not fit into a look of its agent");
}

/* Sets the words about a state that comes from the stream. */
static void explain(struct ncs_fleet_node *node, enum ncs_node_state state,
		    uint64_t now_ns)
{
	const struct ncs_stream_facts *facts = &node->stream->facts;
	const char *why = "";
	char come[64];

	if (state == NCS_NODE_OVER_LIMIT) {
		explain_limit(node, now_ns);
		return;
	}
	if (state == NCS_NODE_OTHER_VERSION) {
		why = facts->refused;
	} else if (state == NCS_NODE_STARTING && facts->bytes > 0) {
		snprintf(come, sizeof(come), "%" PRIu64 " bytes have come",
			 facts->bytes);
		why = come;
	} else if ((state == NCS_NODE_DENIED || state == NCS_NODE_UNREADABLE) &&
		   node->stream->unreadable_count > 0) {
		why = node->stream->unreadable[0].why;
	}
	snprintf(node->facts.why, sizeof(node->facts.why), "%s", why);
}

static void take_facts(struct ncs_fleet_node *node, uint64_t now_ns)
{
	const struct ncs_stream_facts *stream = &node->stream->facts;
	const struct ncs_look *look = &stream->look;
	struct ncs_node *facts = &node->facts;

	snprintf(facts->host, sizeof(facts->host), "%s",
		 stream->has_head ? stream->head.host : "");
	facts->program_version = look->program_version;
	facts->interval_ns = look->interval_ns;
	facts->bytes = stream->bytes;
	facts->bytes_a_second = 0;
	if (node->marks_ns[0] != 0 && now_ns > node->marks_ns[0])
		facts->bytes_a_second = (uint64_t)(
			(double)(stream->bytes - node->marks_bytes[0]) * 1e9 /
			(double)(now_ns - node->marks_ns[0]));
	facts->looks = stream->looks;
	facts->looks_dropped = look->dropped;
	facts->looks_lost = stream->looks_lost;
	facts->ranks = look->ranks;
	facts->denied = look->denied;
	facts->unreadable = look->unreadable;
	facts->left_out = look->left_out + stream->left_out;
	facts->clock_is_aligned = false;
	if (node->clock == SIZE_MAX)
		return;
	facts->clock_is_aligned = node->fleet->clocks[node->clock].is_aligned;
	facts->clock_error_ns = node->fleet->clocks[node->clock].error_ns;
}

void ncs_fleet_node_judge(struct ncs_fleet_node *node, uint64_t now_ns)
{
	enum ncs_node_state state = node->reported;

	take_facts(node, now_ns);
	if (state == NCS_NODE_STATE_COUNT) {
		state = state_of(node, now_ns);
		explain(node, state, now_ns);
	}
	if (state != node->facts.state)
		node->facts.state_since_ns = now_ns;
	node->facts.state = state;
}

size_t ncs_fleet_nodes(struct ncs_fleet *fleet, uint64_t now_ns,
		       struct ncs_node *nodes, size_t size)
{
	size_t count;

	pthread_mutex_lock(&fleet->mutex);
	count = fleet->count;
	for (size_t i = 0; i < count && i < size; i++) {
		ncs_fleet_node_judge(fleet->nodes[i], now_ns);
		nodes[i] = fleet->nodes[i]->facts;
	}
	pthread_mutex_unlock(&fleet->mutex);
	return count;
}
