/* SPDX-License-Identifier: MIT */
/* The ranks whose states are wanted although their nodes send digests of them;
 * see fleet.h. Writes to nobody: whoever has the agents gives the orders. */
#include <string.h>

#include "fleet/head/fleet_internal.h"
#include "shm/clock.h"

#define SECOND_NS UINT64_C(1000000000)

/* A state that has not come after so many intervals, and this much more, is not
 * expected any more: its agent may be one that knows no such orders. */
#define ASKED_INTERVALS 3
#define ASKED_NS (5 * SECOND_NS)

static uint64_t recording_of(const struct ncs_fleet_node *node)
{
	const struct ncs_stream_facts *facts = ncs_stream_facts(node->stream);

	return facts->has_head ? facts->head.recording[0] : 0;
}

static bool is_same(const struct ncs_fleet_order *a,
		    const struct ncs_fleet_order *b)
{
	return a->node == b->node && a->recording == b->recording &&
	       a->rank == b->rank;
}

/* --- Wanting --------------------------------------------------------------- */

/* Finds a rank by its id, NODE:PATH. Names of nodes may have colons. */
static bool find_rank(const struct ncs_fleet *fleet, const char *id,
		      struct ncs_fleet_order *order)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct ncs_fleet_node *node = fleet->nodes[i];
		size_t length = strlen(node->facts.name);

		if (strncmp(id, node->facts.name, length) != 0 ||
		    id[length] != ':')
			continue;
		for (size_t k = 0; k < ncs_stream_rank_count(node->stream);
		     k++) {
			const struct ncs_stream_rank *rank =
				ncs_stream_rank(node->stream, k);

			if (!rank->is_named || !rank->is_there ||
			    strcmp(rank->path, id + length + 1) != 0)
				continue;
			*order = (struct ncs_fleet_order){
				.node = i,
				.recording = recording_of(node),
				.rank = (uint32_t)k,
			};
			return true;
		}
	}
	return false;
}

/* Adds a rank; it has been wanted since when `before` says, or now. */
static void add(struct ncs_fleet *fleet, const struct ncs_fleet_order *order,
		const struct ncs_fleet_wanted *before, size_t before_count,
		uint64_t now_ns)
{
	struct ncs_fleet_wanted *wanted;

	if (fleet->wanted_count == NCS_ORDER_STATES_MAX)
		return;
	wanted = &fleet->wanted[fleet->wanted_count++];
	wanted->order = *order;
	wanted->since_ns = now_ns;
	for (size_t i = 0; i < before_count; i++)
		if (is_same(&before[i].order, order))
			wanted->since_ns = before[i].since_ns;
}

/* Empties the list, and copies what it had. Returns how many. */
static size_t begin(struct ncs_fleet *fleet,
		    struct ncs_fleet_wanted before[NCS_ORDER_STATES_MAX])
{
	size_t count = fleet->wanted_count;

	memcpy(before, fleet->wanted, count * sizeof(*before));
	fleet->wanted_count = 0;
	return count;
}

void ncs_fleet_want(struct ncs_source *source, const char *const *ids,
		    size_t count)
{
	struct ncs_fleet *fleet = (struct ncs_fleet *)source;
	struct ncs_fleet_wanted before[NCS_ORDER_STATES_MAX];
	uint64_t now_ns = ncs_clock_monotonic_ns();
	struct ncs_fleet_order order;
	size_t before_count;

	pthread_mutex_lock(&fleet->mutex);
	before_count = begin(fleet, before);
	for (size_t i = 0; i < count; i++)
		if (find_rank(fleet, ids[i], &order))
			add(fleet, &order, before, before_count, now_ns);
	pthread_mutex_unlock(&fleet->mutex);
}

/* Finds the node whose stream has this number. */
static bool find_stream(const struct ncs_fleet *fleet, uint64_t recording,
			size_t *node)
{
	for (*node = 0; *node < fleet->count; ++*node)
		if (recording_of(fleet->nodes[*node]) == recording)
			return true;
	return false;
}

void ncs_fleet_pass_orders(struct ncs_fleet *fleet,
			   const struct ncs_orders *orders)
{
	struct ncs_fleet_wanted before[NCS_ORDER_STATES_MAX];
	uint64_t now_ns = ncs_clock_monotonic_ns();
	size_t before_count;

	pthread_mutex_lock(&fleet->mutex);
	fleet->wants_digests = orders->digests;
	before_count = begin(fleet, before);
	for (size_t i = 0; i < orders->state_count; i++) {
		struct ncs_fleet_order order = {
			.recording = orders->states[i].recording,
			.rank = orders->states[i].rank,
		};

		if (find_stream(fleet, order.recording, &order.node))
			add(fleet, &order, before, before_count, now_ns);
	}
	pthread_mutex_unlock(&fleet->mutex);
}

/* --- Orders ---------------------------------------------------------------- */

size_t ncs_fleet_orders(struct ncs_fleet *fleet,
			struct ncs_fleet_order orders[NCS_ORDER_STATES_MAX])
{
	size_t count = 0;

	pthread_mutex_lock(&fleet->mutex);
	fleet->gives_orders = true;
	for (size_t i = 0; i < fleet->wanted_count; i++) {
		const struct ncs_fleet_order *order = &fleet->wanted[i].order;
		const struct ncs_fleet_node *node = fleet->nodes[order->node];

		if (ncs_stream_facts(node->stream)->has_digests)
			orders[count++] = *order;
	}
	pthread_mutex_unlock(&fleet->mutex);
	return count;
}

bool ncs_fleet_wants_digests(struct ncs_fleet *fleet)
{
	bool wants;

	pthread_mutex_lock(&fleet->mutex);
	wants = fleet->wants_digests;
	pthread_mutex_unlock(&fleet->mutex);
	return wants;
}

bool ncs_fleet_is_asked(const struct ncs_fleet *fleet, size_t node,
			uint32_t rank, uint64_t now_ns)
{
	const struct ncs_fleet_order order = {
		.node = node,
		.recording = recording_of(fleet->nodes[node]),
		.rank = rank,
	};
	uint64_t most_ns =
		ASKED_NS +
		ASKED_INTERVALS * fleet->nodes[node]->facts.interval_ns;

	for (size_t i = 0; i < fleet->wanted_count && fleet->gives_orders; i++)
		if (is_same(&fleet->wanted[i].order, &order))
			return now_ns < fleet->wanted[i].since_ns + most_ns;
	return false;
}
