/* The channel table and its queues; see channel.h. Runs in callbacks: no lock,
 * no allocation, no system call. */
#include "plugin/channel.h"

#include "plugin/handle.h"

/* How many entries are looked at for a channel's. */
#define PROBE_MAX 64

struct ncs_channel_queue *ncs_channel_find(struct ncs_comm *comm, uint64_t key,
					   uint64_t now)
{
	uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15) >> 40;

	for (unsigned i = 0; i < PROBE_MAX && i < comm->channel_count; i++) {
		uint32_t index =
			(uint32_t)(hash + i) & (comm->channel_count - 1);
		struct ncs_channel *channel = &comm->channels[index];
		uint64_t found = ncs_load_relaxed(&channel->key);

		if (found == key)
			return &comm->queues[index];
		/* ORDER: pairs with ncs_channel_find() (plugin/channel.c): of
		 * two threads one gets the entry. */
		if (found == 0 &&
		    ncs_cas_acquire_release(&channel->key, 0, key)) {
			ncs_seqlock_begin(&channel->sequence);
			ncs_payload_store(&channel->since, now);
			ncs_seqlock_end(&channel->sequence);
			return &comm->queues[index];
		}
		if (ncs_load_relaxed(&channel->key) == key)
			return &comm->queues[index];
	}
	return NULL;
}

void ncs_channel_enqueue(struct ncs_comm *comm, struct ncs_proxy_op *op)
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

void ncs_channel_dequeue(struct ncs_comm *comm, struct ncs_proxy_op *op)
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

struct ncs_step *ncs_channel_oldest_step(const struct ncs_proxy_op *op)
{
	struct ncs_step *oldest = NULL;

	for (unsigned i = 0; i < NCS_STEP_MAX; i++) {
		struct ncs_step *step = &op->steps[i];

		if (ncs_handle_is(ncs_load_relaxed(&step->handle),
				  NCS_HANDLE_STEP) &&
		    (!oldest || step->number < oldest->number))
			oldest = step;
	}
	return oldest;
}

struct ncs_step *ncs_channel_search_head(struct ncs_comm *comm,
					 struct ncs_channel_queue *queue)
{
	uint16_t index = queue->first;

	/* Bounded: callers that break NCCL's rules may make it a circle. */
	for (unsigned i = 0; index != NCS_NONE && i < NCS_PROXY_OP_MAX; i++) {
		struct ncs_proxy_op *op = &comm->proxy_ops[index];

		if (op->live)
			return ncs_channel_oldest_step(op);
		index = op->next;
	}
	return NULL;
}
