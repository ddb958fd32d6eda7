/* Channels: one entry for each channel, direction and peer, and the queue of
 * its proxy operations.
 *
 * A channel's state is that of its head: the oldest unfinished step of its
 * oldest proxy operation that has one. Younger steps wait behind it, so their
 * states say nothing; adding them up would count up to 8 times over.
 *
 * Called by callbacks, normally by the communicator's proxy thread only.
 */
#ifndef NCS_PLUGIN_CHANNEL_H
#define NCS_PLUGIN_CHANNEL_H

#include "plugin/comm.h"
#include "shm/seqlock.h"

/* The queue of a channel, whose table entry is claimed at first sight. NULL:
 * the table is full. */
struct ncs_channel_queue *ncs_channel_find(struct ncs_comm *comm, uint64_t key,
					   uint64_t now);

/* Appends a proxy operation to its queue; takes one off it. */
void ncs_channel_enqueue(struct ncs_comm *comm, struct ncs_proxy_op *op);
void ncs_channel_dequeue(struct ncs_comm *comm, struct ncs_proxy_op *op);

/* The oldest proxy operation with a step under way; NULL: none. */
struct ncs_proxy_op *ncs_channel_search_head(struct ncs_comm *comm,
					     struct ncs_channel_queue *queue);

/* Within the channel's lock: charges the time since the latest change to the
 * state that is left. */
static inline void ncs_channel_leave(struct ncs_channel *channel, uint64_t now)
{
	uint64_t left = ncs_load_relaxed(&channel->state) & 7;

	ncs_seqlock_add(&channel->time[left],
			now - ncs_load_relaxed(&channel->since));
	ncs_payload_store(&channel->since, now);
}

/* Within the channel's lock: its state is now that of the queue's head. `since`
 * starts anew with each step, so that it tells how long nothing has moved. */
static inline void ncs_channel_follow_head(struct ncs_channel_queue *queue,
					   uint64_t now)
{
	struct ncs_channel *channel = queue->channel;
	const struct ncs_proxy_op *head = queue->head;

	ncs_channel_leave(channel, now);
	if (head) {
		ncs_payload_store(
			&channel->state,
			head->steps[head->oldest % NCS_STEP_MAX].state);
		ncs_payload_store(&channel->step, head->oldest);
		ncs_payload_store(&channel->nsteps, head->nsteps);
		ncs_payload_store(&channel->operation, head->operation);
		ncs_payload_store(&channel->function, head->record.function);
	} else {
		ncs_payload_store(&channel->state, NCS_CHANNEL_IDLE);
		ncs_payload_store(&channel->step, 0);
		ncs_payload_store(&channel->operation, 0);
	}
}

#endif
