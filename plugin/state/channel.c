/* SPDX-License-Identifier: MIT */
/* The channel table and its queues; see channel.h. */
#include "plugin/state/channel.h"

#include "plugin/state/handle.h"

/* Number of places of the index that are searched for a channel. */
#define PROBE_MAX 64

#define NO_INDEX UINT64_MAX

/* Takes the next entry of the table for a channel and returns its index;
 * NO_INDEX if the table is full. */
static uint64_t take_entry(struct ncs_comm *comm, uint64_t key, uint64_t now)
{
	uint64_t *given = &comm->header->filled.channels;
	struct ncs_channel *channel;
	uint64_t index;

	if (ncs_load_relaxed(given) >= comm->channel_count)
		return NO_INDEX;
	index = ncs_add_relaxed(given, 1);
	if (index >= comm->channel_count)
		return NO_INDEX;
	channel = &comm->channels[index];
	ncs_seqlock_begin(&channel->sequence);
	ncs_payload_store(&channel->since, now);
	ncs_payload_store(&channel->key, key);
	ncs_seqlock_end(&channel->sequence);
	return index;
}

/* Marks an entry as unused because another thread has entered the same channel
 * first. Nothing refers to this entry, and it is not reused. */
static void give_up_entry(struct ncs_comm *comm, uint64_t index)
{
	struct ncs_channel *channel = &comm->channels[index];

	ncs_seqlock_begin(&channel->sequence);
	ncs_payload_store(&channel->key, 0);
	ncs_seqlock_end(&channel->sequence);
}

struct ncs_channel_queue *ncs_channel_find(struct ncs_comm *comm, uint64_t key,
					   uint64_t now)
{
	uint64_t mask = ncs_channel_places(comm->channel_count) - 1;
	uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15) >> 40;
	uint64_t own = NO_INDEX;

	for (unsigned i = 0; i < PROBE_MAX && i <= mask; i++) {
		uint64_t *place = &comm->channel_places[(hash + i) & mask];
		/* ORDER: pairs with ncs_channel_find()
		 * (plugin/state/channel.c): the entry's key is visible before
		 * its index. */
		uint64_t index = ncs_load_acquire(place);

		if (index == 0) {
			if (own == NO_INDEX)
				own = take_entry(comm, key, now);
			if (own == NO_INDEX)
				return NULL;
			/* ORDER: pairs with ncs_channel_find()
			 * (plugin/state/channel.c): only one of two threads
			 * gets the place. */
			if (ncs_cas_acquire_release(place, 0, own + 1))
				return &comm->queues[own];
			/* ORDER: pairs with ncs_channel_find()
			 * (plugin/state/channel.c): the other thread's key is
			 * visible. */
			index = ncs_load_acquire(place);
		}
		if (ncs_load_relaxed(&comm->channels[index - 1].key) != key)
			continue;
		if (own != NO_INDEX)
			give_up_entry(comm, own);
		return &comm->queues[index - 1];
	}
	if (own != NO_INDEX)
		give_up_entry(comm, own);
	return NULL;
}

void ncs_channel_enqueue(struct ncs_comm *comm, struct ncs_proxy_op_slot *op)
{
	struct ncs_channel_queue *queue = op->queue;
	uint16_t index = (uint16_t)(op - comm->proxy_ops);

	op->next = NCS_NONE;
	op->previous = queue->last;
	if (queue->last != NCS_NONE)
		comm->proxy_ops[queue->last].next = index;
	else
		queue->first = index;
	queue->last = index;
}

void ncs_channel_dequeue(struct ncs_comm *comm, struct ncs_proxy_op_slot *op)
{
	struct ncs_channel_queue *queue = op->queue;

	if (op->previous != NCS_NONE)
		comm->proxy_ops[op->previous].next = op->next;
	else
		queue->first = op->next;
	if (op->next != NCS_NONE)
		comm->proxy_ops[op->next].previous = op->previous;
	else
		queue->last = op->previous;
	if (queue->head && queue->head->op == op)
		queue->head = NULL;
}

struct ncs_step_slot *
ncs_channel_oldest_step(const struct ncs_proxy_op_slot *op)
{
	struct ncs_step_slot *oldest = NULL;

	for (unsigned i = 0; i < NCS_STEP_MAX; i++) {
		struct ncs_step_slot *step = &op->steps[i];

		if (ncs_handle_is(ncs_load_relaxed(&step->handle),
				  NCS_HANDLE_STEP) &&
		    (!oldest || step->number < oldest->number))
			oldest = step;
	}
	return oldest;
}

struct ncs_step_slot *ncs_channel_search_head(struct ncs_comm *comm,
					      struct ncs_channel_queue *queue)
{
	uint16_t index = queue->first;

	/* The loop is bounded: callers that break NCCL's rules may turn the
	 * list into a circle. */
	for (unsigned i = 0; index != NCS_NONE && i < NCS_PROXY_OP_MAX; i++) {
		struct ncs_proxy_op_slot *op = &comm->proxy_ops[index];

		if (op->live)
			return ncs_channel_oldest_step(op);
		index = op->next;
	}
	return NULL;
}
