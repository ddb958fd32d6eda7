/* SPDX-License-Identifier: MIT */
/* Channels: one table entry for each channel, direction and peer, and the queue
 * of its proxy operations.
 *
 * A channel's state is the state of its head: the oldest unfinished step of the
 * oldest proxy operation that has one. Younger steps wait behind the head, so
 * their states say nothing; counting them would count the same time up to 8
 * times.
 *
 * Called by callbacks, normally on the communicator's proxy thread only: no
 * lock, no allocation, no system call.
 */
#ifndef NCS_PLUGIN_STATE_CHANNEL_H
#define NCS_PLUGIN_STATE_CHANNEL_H

#include "plugin/state/comm.h"
#include "shm/seqlock.h"

/* Returns the number of places in the index of a table of this many
 * channels. */
static inline size_t ncs_channel_places(uint32_t channels)
{
	return 2 * (size_t)channels;
}

/* Returns the queue of a channel, and claims a table entry for it at first use;
 * NULL if the table is full. */
struct ncs_channel_queue *ncs_channel_find(struct ncs_comm *comm, uint64_t key,
					   uint64_t now);

/* Append a proxy operation to its queue; remove one, which must have no step in
 * progress. */
void ncs_channel_enqueue(struct ncs_comm *comm, struct ncs_proxy_op_slot *op);
void ncs_channel_dequeue(struct ncs_comm *comm, struct ncs_proxy_op_slot *op);

/* Return the oldest step in progress of a proxy operation, and the head of a
 * queue; NULL if there is none. */
struct ncs_step_slot *
ncs_channel_oldest_step(const struct ncs_proxy_op_slot *op);
struct ncs_step_slot *ncs_channel_search_head(struct ncs_comm *comm,
					      struct ncs_channel_queue *queue);

/* The next four functions are called between ncs_seqlock_begin() and
 * ncs_seqlock_end() of the channel. */

/* Adds the time since the last change to the state being exited. */
static inline void ncs_channel_leave(struct ncs_channel *channel, unsigned left,
				     uint64_t now)
{
	ncs_seqlock_add(&channel->time[left & 7],
			now - ncs_load_relaxed(&channel->since));
	ncs_payload_store(&channel->since, now);
}

/* Shows a step as the channel's head. Call ncs_channel_leave() before: `since`
 * restarts with each step, so that it tells how long nothing has moved. */
static inline void ncs_channel_show(struct ncs_channel *channel,
				    const struct ncs_step_slot *step)
{
	ncs_payload_store(&channel->state, step->state);
	ncs_payload_store(&channel->step, step->number);
}

/* Shows the proxy operation of the new head. Needed only if the previous head
 * belonged to another one. */
static inline void ncs_channel_show_op(struct ncs_channel *channel,
				       const struct ncs_proxy_op_slot *op)
{
	ncs_payload_store(&channel->nsteps, op->nsteps);
	ncs_payload_store(&channel->operation, op->operation);
	ncs_payload_store(&channel->function, op->record.function);
}

/* Shows that the channel has no head. */
static inline void ncs_channel_show_nothing(struct ncs_channel *channel)
{
	ncs_payload_store(&channel->state, NCS_CHANNEL_IDLE);
	ncs_payload_store(&channel->step, 0);
	ncs_payload_store(&channel->operation, 0);
}

#endif
