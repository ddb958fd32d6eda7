/* SPDX-License-Identifier: MIT */
/* Channels: one entry for each channel, direction and peer, and the queue of
 * its proxy operations.
 *
 * A channel's state is that of its head: the oldest unfinished step of its
 * oldest proxy operation that has one. Younger steps wait behind it, so their
 * states say nothing; adding them up would count up to 8 times over.
 *
 * Called by callbacks, normally by the communicator's proxy thread only.
 */
#ifndef NCS_PLUGIN_STATE_CHANNEL_H
#define NCS_PLUGIN_STATE_CHANNEL_H

#include "plugin/state/comm.h"
#include "shm/seqlock.h"

/* Places in the index of a table of so many channels. */
static inline size_t ncs_channel_places(uint32_t channels)
{
	return 2 * (size_t)channels;
}

/* The queue of a channel, whose table entry is claimed at first sight. NULL:
 * the table is full. */
struct ncs_channel_queue *ncs_channel_find(struct ncs_comm *comm, uint64_t key,
					   uint64_t now);

/* Appends a proxy operation to its queue; takes one without steps under way
 * off it. */
void ncs_channel_enqueue(struct ncs_comm *comm, struct ncs_proxy_op *op);
void ncs_channel_dequeue(struct ncs_comm *comm, struct ncs_proxy_op *op);

/* The oldest step under way of a proxy operation, and of a queue; NULL: none. */
struct ncs_step_slot *ncs_channel_oldest_step(const struct ncs_proxy_op *op);
struct ncs_step_slot *ncs_channel_search_head(struct ncs_comm *comm,
					      struct ncs_channel_queue *queue);

/* Within the channel's lock: charges the time since the latest change to the
 * state that is left. */
static inline void ncs_channel_leave(struct ncs_channel *channel, unsigned left,
				     uint64_t now)
{
	ncs_seqlock_add(&channel->time[left & 7],
			now - ncs_load_relaxed(&channel->since));
	ncs_payload_store(&channel->since, now);
}

/* Within the channel's lock: it shows this step now. `since` starts anew with
 * each step, so that it tells how long nothing has moved. */
static inline void ncs_channel_show(struct ncs_channel *channel,
				    const struct ncs_step_slot *step)
{
	ncs_payload_store(&channel->state, step->state);
	ncs_payload_store(&channel->step, step->number);
}

/* … and its proxy operation, which is another one than before. */
static inline void ncs_channel_show_op(struct ncs_channel *channel,
				       const struct ncs_proxy_op *op)
{
	ncs_payload_store(&channel->nsteps, op->nsteps);
	ncs_payload_store(&channel->operation, op->operation);
	ncs_payload_store(&channel->function, op->record.function);
}

/* … and there is none. */
static inline void ncs_channel_show_nothing(struct ncs_channel *channel)
{
	ncs_payload_store(&channel->state, NCS_CHANNEL_IDLE);
	ncs_payload_store(&channel->step, 0);
	ncs_payload_store(&channel->operation, 0);
}

#endif
