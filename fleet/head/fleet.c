/* SPDX-License-Identifier: MIT */
/* The nodes of a fleet: takes their streams and says how they are; see
 * fleet.h. */
#include "fleet/head/fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fleet/head/fleet_internal.h"
#include "record/format/chunk.h"
#include "shm/array.h"
#include "shm/clock.h"

#define SECOND_NS UINT64_C(1000000000)

/* Memory that each node takes, without what its stream unpacks to. */
#define NODE_BYTES (UINT32_C(16) << 10)

/* Time between two marks of a node's bytes. */
#define MARK_EVERY_NS (5 * SECOND_NS)

/* --- Nodes --------------------------------------------------------------- */

static void free_node(struct ncs_fleet_node *node)
{
	if (!node)
		return;
	if (node->file.opened >= 0)
		close(node->file.opened);
	for (size_t i = 0; i < node->rank_capacity; i++)
		ncs_fleet_reported_release(&node->ranks[i].reported);
	free(node->ranks);
	ncs_stream_free(node->stream);
	free(node);
}

static struct ncs_fleet_node *new_node(struct ncs_fleet *fleet)
{
	struct ncs_fleet_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->fleet = fleet;
	node->file.opened = -1;
	node->clock = SIZE_MAX;
	node->reported = NCS_NODE_STATE_COUNT;
	node->facts.state = NCS_NODE_STARTING;
	node->facts.state_since_ns = ncs_clock_monotonic_ns();
	node->stream = ncs_stream_new(&fleet->budget, ncs_fleet_keep_look, node);
	if (node->stream)
		return node;
	free_node(node);
	return NULL;
}

struct ncs_fleet *ncs_fleet_new(const struct ncs_choice *choice)
{
	struct ncs_fleet *fleet = calloc(1, sizeof(*fleet));
	pthread_condattr_t attributes;

	if (!fleet)
		return NULL;
	if (choice)
		fleet->choice = *choice;
	fleet->budget.most = ncs_budget_half_of_free();
	fleet->records =
		malloc(NCS_STREAM_RECORDS_MAX * sizeof(*fleet->records));
	fleet->alignment = ncs_fleet_alignment_new();
	if (!fleet->records || !fleet->alignment) {
		ncs_fleet_alignment_free(fleet->alignment);
		free(fleet->records);
		free(fleet);
		return NULL;
	}
	fleet->is_aligned_here = true;
	pthread_mutex_init(&fleet->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&fleet->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	ncs_fleet_source_init(fleet);
	return fleet;
}

void ncs_fleet_free(struct ncs_fleet *fleet)
{
	if (!fleet)
		return;
	ncs_fleet_source_release(fleet);
	for (size_t i = 0; i < fleet->count; i++)
		free_node(fleet->nodes[i]);
	free(fleet->nodes);
	ncs_hash_table_release(&fleet->by_name);
	ncs_fleet_alignment_free(fleet->alignment);
	ncs_packer_free(fleet->packer);
	free(fleet->packed.bytes);
	free(fleet->clocks);
	free(fleet->records);
	pthread_cond_destroy(&fleet->changed);
	pthread_mutex_destroy(&fleet->mutex);
	free(fleet);
}

/* Adds a node; the mutex is held. Returns NULL if there is no memory. */
static struct ncs_fleet_node *add_node(struct ncs_fleet *fleet,
				       const char *name)
{
	struct ncs_fleet_node *node;

	if (ncs_array_reserve(&fleet->nodes, &fleet->capacity, fleet->count + 1,
			      sizeof(*fleet->nodes)) != 0)
		return NULL;
	node = new_node(fleet);
	if (!node)
		return NULL;
	ncs_fleet_node_name(node, name);
	node->number = fleet->count;
	fleet->nodes[fleet->count++] = node;
	return node;
}

/* Tells of all nodes for which there is no room as one. */
static void refuse_node(struct ncs_fleet *fleet)
{
	struct ncs_fleet_node *others;

	if (fleet->has_others)
		return;
	others = add_node(fleet, "others");
	if (!others)
		return;
	fleet->has_others = others->is_named = true;
	others->reported = NCS_NODE_OVER_LIMIT;
	snprintf(others->facts.why, sizeof(others->facts.why),
		 "there are more nodes than there is room for");
	pthread_cond_broadcast(&fleet->changed);
}

int ncs_fleet_add(struct ncs_fleet *fleet, const char *name, const char *reach,
		  size_t *place)
{
	struct ncs_fleet_node *node = NULL;
	char number[32];
	int error = -E2BIG;

	pthread_mutex_lock(&fleet->mutex);
	snprintf(number, sizeof(number), "stream %zu", fleet->count + 1);
	if (fleet->count >= NCS_FLEET_NODES_MAX - 1 ||
	    !ncs_budget_take(&fleet->budget, NODE_BYTES)) {
		refuse_node(fleet);
	} else {
		node = add_node(fleet, name ? name : number);
		error = node ? 0 : -ENOMEM;
		if (!node)
			ncs_budget_give(&fleet->budget, NODE_BYTES);
	}
	if (node) {
		node->is_named = name;
		snprintf(node->facts.reach, sizeof(node->facts.reach), "%s",
			 reach);
		*place = node->number;
	}
	pthread_mutex_unlock(&fleet->mutex);
	return error;
}

/* --- Streams ------------------------------------------------------------- */

/* Takes what a new look tells of the node. */
static int take_look(struct ncs_fleet_node *node)
{
	const struct ncs_stream_facts *facts = &node->stream->facts;
	const struct ncs_look *look = &facts->look;

	node->seen_looks = facts->looks;
	if (look->dropped > node->seen_dropped)
		node->dropped_ns = node->now_ns;
	node->seen_dropped = look->dropped;
	node->reported = NCS_NODE_STATE_COUNT;
	node->facts.look_ns = node->now_ns;
	pthread_cond_broadcast(&node->fleet->changed);
	return ncs_fleet_clock_take(node->fleet, node);
}

/* Takes the word of a launcher, or of an agent on the way here, about the
 * node. */
static void take_word(struct ncs_fleet_node *node, enum ncs_node_state state,
		      const char *why)
{
	if (state == NCS_NODE_OVER_LIMIT) {
		ncs_fleet_node_limit(node, why);
	} else {
		node->reported = state;
		snprintf(node->facts.why, sizeof(node->facts.why), "%s", why);
	}
	pthread_cond_broadcast(&node->fleet->changed);
}

/* Keeps the number of bytes at a time 5 to 10 s ago. */
static void take_rate(struct ncs_fleet_node *node, uint64_t bytes)
{
	if (node->marks_ns[1] != 0 &&
	    node->now_ns - node->marks_ns[1] < MARK_EVERY_NS)
		return;
	node->marks_ns[0] = node->marks_ns[1];
	node->marks_bytes[0] = node->marks_bytes[1];
	node->marks_ns[1] = node->now_ns;
	node->marks_bytes[1] = bytes;
}

int ncs_fleet_feed(struct ncs_fleet *fleet, size_t place, const void *bytes,
		   size_t size, uint64_t now_ns)
{
	const struct ncs_stream_facts *facts;
	struct ncs_fleet_node *node;
	int error;

	pthread_mutex_lock(&fleet->mutex);
	node = fleet->nodes[place];
	facts = &node->stream->facts;
	node->now_ns = now_ns;
	take_rate(node, facts->bytes);
	error = ncs_stream_feed(node->stream, bytes, size, now_ns);
	if (!node->is_named && facts->has_head) {
		ncs_fleet_node_name(node, facts->head.host);
		node->is_named = true;
	}
	if (!error && facts->looks != node->seen_looks)
		error = take_look(node);
	if (facts->reported_times != node->seen_reported)
		take_word(node, facts->reported, facts->reported_why);
	node->seen_reported = facts->reported_times;
	if (facts->limited_times != node->seen_limited)
		take_word(node, NCS_NODE_OVER_LIMIT, facts->limited);
	node->seen_limited = facts->limited_times;
	if (facts->refused[0])
		pthread_cond_broadcast(&fleet->changed);
	pthread_mutex_unlock(&fleet->mutex);
	return error;
}

void ncs_fleet_gap(struct ncs_fleet *fleet, size_t place)
{
	pthread_mutex_lock(&fleet->mutex);
	ncs_stream_gap(fleet->nodes[place]->stream);
	pthread_mutex_unlock(&fleet->mutex);
}

void ncs_fleet_set_state(struct ncs_fleet *fleet, size_t place,
			 enum ncs_node_state state, const char *why,
			 uint64_t now_ns)
{
	struct ncs_fleet_node *node;

	pthread_mutex_lock(&fleet->mutex);
	node = fleet->nodes[place];
	node->now_ns = now_ns;
	take_word(node, state, why);
	pthread_mutex_unlock(&fleet->mutex);
}

/* --- Waiting ------------------------------------------------------------- */

static bool have_all_answered(const struct ncs_fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++) {
		const struct ncs_fleet_node *node = fleet->nodes[i];

		if (node->facts.look_ns == 0 &&
		    !node->stream->facts.refused[0] && node->limited_ns == 0 &&
		    (node->reported == NCS_NODE_STATE_COUNT ||
		     node->reported == NCS_NODE_STARTING))
			return false;
	}
	return fleet->count > 0;
}

bool ncs_fleet_wait(struct ncs_fleet *fleet, uint64_t wait_ns)
{
	struct timespec until;
	bool answered;
	int error = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	wait_ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(wait_ns / SECOND_NS);
	until.tv_nsec = (long)(wait_ns % SECOND_NS);
	pthread_mutex_lock(&fleet->mutex);
	while (!have_all_answered(fleet) && error != ETIMEDOUT)
		error = pthread_cond_timedwait(&fleet->changed, &fleet->mutex,
					       &until);
	answered = have_all_answered(fleet);
	pthread_mutex_unlock(&fleet->mutex);
	return answered;
}
