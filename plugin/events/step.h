/* SPDX-License-Identifier: MIT */
/* Proxy steps: the hot path. Four of five callbacks of a job with network
 * traffic are about steps.
 *
 * Everything is inline, so that a callback is one straight run of code from
 * NCCL's call to the last store. Rare cases are in step.c and are called last,
 * so that no register has to be saved for them.
 *
 * Called normally on the communicator's proxy thread only: no lock, no
 * allocation, no system call. If several threads call at the same time, numbers
 * may be wrong, but nothing breaks: every index is checked and every loop is
 * bounded.
 */
#ifndef NCS_PLUGIN_EVENTS_STEP_H
#define NCS_PLUGIN_EVENTS_STEP_H

#include "plugin/state/channel.h"
#include "plugin/state/handle.h"
#include "plugin/state/lane.h"
#include "plugin/nccl/nccl_abi.h"
#include "plugin/state/registry.h"
#include "plugin/events/sampling.h"

#define NCS_STEP_INLINE static inline __attribute__((always_inline))

/* Returns the step of a handle, which may be any value; NULL if it is not the
 * handle of a step in progress. */
NCS_STEP_INLINE struct ncs_step_slot *ncs_step_find(uint64_t handle)
{
	const struct ncs_comm *comm =
		&ncs_registry.comms[ncs_handle_comm(handle)];
	/* ORDER: pairs with admit_callbacks() (plugin/life/lifecycle.c). */
	uint64_t steps = ncs_load_acquire(&comm->live);
	struct ncs_step_slot *step = (struct ncs_step_slot *)(uintptr_t)steps +
				     ncs_handle_slot(handle);

	return steps != 0 && ncs_handle_is(handle, NCS_HANDLE_STEP) &&
			       ncs_load_relaxed(&step->handle) == handle ?
		       step :
		       NULL;
}

/* Returns true if the slot's step is in progress. */
static inline bool ncs_step_is_live(const struct ncs_step_slot *step)
{
	return ncs_handle_is(ncs_load_relaxed(&step->handle), NCS_HANDLE_STEP);
}

/* Rare cases: publishing in the shared lane or for an operation that is left
 * out; finding the next head of a channel; starting a step whose slot is in
 * use. */
void ncs_step_publish_rarely(struct ncs_lane_state *lane,
			     const struct ncs_step_slot *step, uint64_t now);
void ncs_step_move_head(struct ncs_comm *comm, struct ncs_channel_queue *queue,
			const struct ncs_step_slot *stopped, uint64_t now);
uint64_t ncs_step_start_again(struct ncs_comm *comm,
			      struct ncs_lane_state *lane,
			      struct ncs_proxy_op_slot *op, uint32_t number,
			      uint64_t now);

/* Ends a step whose stop NCCL has not reported, and counts it. */
void ncs_step_close(struct ncs_comm *comm, struct ncs_lane_state *lane,
		    struct ncs_step_slot *step, uint64_t now);

/* A step's record, word by word: reading back words that were put together by
 * smaller stores would have to wait for these. */
#define NCS_STEP_WORDS(step, now) \
	{ \
		(step)->start, (step)->op->step_words[0] | (step)->flags, \
			(step)->op->step_words[1], (step)->bytes, \
			(step)->number, (now) - (step)->start, \
			(step)->delta[0], (step)->delta[1], \
	}

/* Publishes a step's record in a lane of the thread's own. */
static inline void ncs_step_publish(struct ncs_lane_state *lane,
				    const struct ncs_step_slot *step,
				    uint64_t now)
{
	const uint64_t words[NCS_RECORD_WORDS] = NCS_STEP_WORDS(step, now);

	ncs_ring_put_words(&lane->ring, words);
}

/* Ends a step: publishes its record and moves its channel's head on, usually to
 * the next step of the same proxy operation, or to none. */
NCS_STEP_INLINE void ncs_step_stop(struct ncs_comm *comm,
				   struct ncs_lane_state *lane,
				   struct ncs_step_slot *step, uint64_t now)
{
	struct ncs_proxy_op_slot *op = step->op;
	struct ncs_channel_queue *queue = op->queue;
	struct ncs_channel *channel = queue->channel;
	struct ncs_step_slot *next = NULL;

	if (__builtin_expect(
		    lane->shared || ncs_sampling_leaves_out(&op->sampled), 0))
		ncs_step_publish_rarely(lane, step, now);
	else
		ncs_step_publish(lane, step, now);
	/* ORDER: pairs with ncs_step_start() (plugin/events/step.h). */
	ncs_store_release(&step->handle,
			  ncs_handle_freed(ncs_load_relaxed(&step->handle)));
	op->steps_done++;
	op->live--;
	ncs_seqlock_add(&channel->steps_done, 1);
	ncs_seqlock_add(&channel->size_unknown, !op->size_known);
	if (queue->head != step)
		return;
	if (op->live != 0) {
		next = &op->steps[(step->number + 1) % NCS_STEP_MAX];
		if (__builtin_expect(!ncs_step_is_live(next) ||
					     next->number != step->number + 1,
				     0)) {
			ncs_step_move_head(comm, queue, step, now);
			return;
		}
	} else if (queue->first != queue->last) {
		ncs_step_move_head(comm, queue, step, now);
		return;
	}
	queue->head = next;
	ncs_seqlock_begin(&channel->sequence);
	ncs_channel_leave(channel, step->state, now);
	if (next)
		ncs_channel_show(channel, next);
	else
		ncs_channel_show_nothing(channel);
	ncs_seqlock_end(&channel->sequence);
}

/* Returns true if a step that starts becomes its channel's head: no other step
 * is in progress, or only younger ones are. */
static inline bool ncs_step_leads(const struct ncs_step_slot *head,
				  const struct ncs_proxy_op_slot *op,
				  uint32_t number)
{
	if (!head)
		return true;
	if (head->op == op)
		return number < head->number;
	return op->record.start < head->op->record.start;
}

/* Starts a step and returns its handle. */
NCS_STEP_INLINE uint64_t ncs_step_start(struct ncs_comm *comm,
					struct ncs_lane_state *lane,
					struct ncs_proxy_op_slot *op,
					uint32_t number, uint64_t now)
{
	struct ncs_step_slot *step = &op->steps[number % NCS_STEP_MAX];
	struct ncs_channel_queue *queue = op->queue;
	struct ncs_channel *channel = queue->channel;
	struct ncs_step_slot *head;
	uint64_t handle;

	if (__builtin_expect(ncs_step_is_live(step), 0))
		return ncs_step_start_again(comm, lane, op, number, now);
	handle = ncs_handle_next(ncs_load_relaxed(&step->handle),
				 NCS_HANDLE_STEP);
	step->number = number;
	step->state = op->send ? NCS_CHANNEL_SEND_GPU_WAIT :
				 NCS_CHANNEL_RECV_WAIT;
	step->start = now;
	step->bytes = 0;
	step->delta[0] = step->delta[1] = 0;
	step->flags = 0;
	/* ORDER: pairs with ncs_step_stop() (plugin/events/step.h). */
	ncs_store_release(&step->handle, handle);
	op->live++;
	if (op->first_step == 0)
		op->first_step = now;
	head = queue->head;
	if (!ncs_step_leads(head, op, number)) {
		ncs_seqlock_add(&channel->steps_started, 1);
		return handle;
	}
	queue->head = step;
	ncs_seqlock_begin(&channel->sequence);
	ncs_seqlock_add(&channel->steps_started, 1);
	ncs_channel_leave(channel, head ? head->state : NCS_CHANNEL_IDLE, now);
	ncs_channel_show(channel, step);
	ncs_channel_show_op(channel, op);
	ncs_seqlock_end(&channel->sequence);
	return handle;
}

/* The meaning of a state of NCCL for a step, in one word:
 *   bits  0- 7  the state to enter, enum ncs_channel_state; 0 if the state is
 *               not a step's
 *   bits  8-15  the version of the API that introduced it
 *   bits 16-23  index of the record's delta to set, plus 1; 0 if none
 *   bit  24     transSize is the size of this step */
#define NCS_STEP_TRANSITION(entered, api, delta, sized) \
	((uint32_t)(entered) | (api) << 8 | (delta) << 16 | (sized) << 24)

/* Returns that word for a state, which may be any value; 0 if it is not a
 * step's. */
static inline uint32_t ncs_step_transition(unsigned state)
{
	static const _Alignas(64) uint32_t transitions[32] = {
		[NCCL_STATE_STEP_SEND_GPU_WAIT] = NCS_STEP_TRANSITION(
			NCS_CHANNEL_SEND_GPU_WAIT, 1u, 0u, 0u),
		[NCCL_STATE_STEP_SEND_PEER_WAIT] = NCS_STEP_TRANSITION(
			NCS_CHANNEL_SEND_PEER_WAIT, 4u, 1u, 0u),
		[NCCL_STATE_STEP_SEND_WAIT] =
			NCS_STEP_TRANSITION(NCS_CHANNEL_SEND_WAIT, 1u, 2u, 1u),
		[NCCL_STATE_STEP_RECV_WAIT] =
			NCS_STEP_TRANSITION(NCS_CHANNEL_RECV_WAIT, 1u, 0u, 0u),
		[NCCL_STATE_STEP_RECV_FLUSH_WAIT] = NCS_STEP_TRANSITION(
			NCS_CHANNEL_RECV_FLUSH_WAIT, 1u, 1u, 1u),
		[NCCL_STATE_STEP_RECV_GPU_WAIT] = NCS_STEP_TRANSITION(
			NCS_CHANNEL_RECV_GPU_WAIT, 1u, 2u, 0u),
	};

	return state < 32 ? transitions[state] : 0;
}

/* Makes a step enter another state. `bytes` is NULL if NCCL did not report the
 * size. */
NCS_STEP_INLINE void ncs_step_enter(struct ncs_step_slot *step,
				    uint32_t transition, const uint64_t *bytes,
				    uint64_t now)
{
	struct ncs_proxy_op_slot *op = step->op;
	struct ncs_channel_queue *queue = op->queue;
	struct ncs_channel *channel = queue->channel;
	unsigned left = step->state;

	step->state = transition & 0xff;
	if (transition >> 16 & 0xff)
		step->delta[(transition >> 16 & 0xff) - 1] = now - step->start;
	if (transition >> 24 && bytes) {
		op->size_known = 1;
		op->bytes += *bytes;
		step->bytes = *bytes;
		ncs_seqlock_add(&channel->bytes, *bytes);
	}
	if (queue->head != step)
		return;
	ncs_seqlock_begin(&channel->sequence);
	ncs_channel_leave(channel, left, now);
	ncs_payload_store(&channel->state, transition & 0xff);
	ncs_seqlock_end(&channel->sequence);
}

/* --- callbacks of steps in progress ------------------------------------- */

/* ncs_step_start(), ncs_step_stop() and ncs_step_enter() for a thread's first
 * callback in a communicator, and for clocks other than the processor's
 * counter. */
uint64_t ncs_step_start_slowly(struct ncs_comm *comm,
			       struct ncs_proxy_op_slot *op, uint32_t number);
void ncs_step_stop_slowly(struct ncs_comm *comm, struct ncs_step_slot *step);
void ncs_step_enter_slowly(struct ncs_step_slot *step, uint32_t transition,
			   const uint64_t *bytes);

/* Returns true if the three functions above are not needed. */
static inline bool ncs_step_is_quick(const struct ncs_lane_state *lane)
{
	return __builtin_expect(
		lane && ncs_clock_is_counter(ncs_registry.clock.kind), 1);
}

/* Handles startEvent of a step. Returns false, and does nothing, if its proxy
 * operation is not in progress here. */
NCS_STEP_INLINE bool ncs_step_on_start(const void *parent_pointer,
				       const struct nccl_proxy_step *facts,
				       uint64_t *handle)
{
	uint64_t parent = (uint64_t)(uintptr_t)parent_pointer, now;
	struct ncs_comm *comm = &ncs_registry.comms[ncs_handle_comm(parent)];
	uint32_t number = (uint32_t)facts->step;
	struct ncs_lane_state *lane;
	struct ncs_proxy_op_slot *op;

	if (!ncs_comm_is_live(comm) ||
	    !ncs_handle_is(parent, NCS_HANDLE_PROXY_OP))
		return false;
	op = &comm->proxy_ops[ncs_handle_slot(parent) & (NCS_PROXY_OP_MAX - 1)];
	/* ORDER: pairs with ncs_proxy_op_start() (plugin/events/proxy.c). */
	if (ncs_load_acquire(&op->handle) != parent)
		return false;
	lane = comm->lane_of_thread[ncs_thread.index];
	if (!ncs_step_is_quick(lane)) {
		*handle = ncs_step_start_slowly(comm, op, number);
		return true;
	}
	now = ncs_clock_counter();
	ncs_lane_note_call(lane, now);
	ncs_lane_count_event(lane, NCS_EVENT_PROXY_STEP);
	*handle = ncs_step_start(comm, lane, op, number, now);
	return true;
}

/* Handles stopEvent; returns false if the handle is not that of a step in
 * progress. */
NCS_STEP_INLINE bool ncs_step_on_stop(const void *pointer)
{
	uint64_t handle = (uint64_t)(uintptr_t)pointer, now;
	struct ncs_step_slot *step = ncs_step_find(handle);
	struct ncs_lane_state *lane;
	struct ncs_comm *comm;

	if (!step)
		return false;
	comm = &ncs_registry.comms[ncs_handle_comm(handle)];
	lane = comm->lane_of_thread[ncs_thread.index];
	if (!ncs_step_is_quick(lane)) {
		ncs_step_stop_slowly(comm, step);
		return true;
	}
	now = ncs_clock_counter();
	ncs_lane_note_call(lane, now);
	ncs_step_stop(comm, lane, step, now);
	return true;
}

/* Handles recordEventState; returns false if the callback is not about a step
 * in progress or the state is not a step's. */
NCS_STEP_INLINE bool ncs_step_on_state(unsigned api_version,
				       const void *pointer, unsigned state,
				       const void *args)
{
	uint32_t transition = ncs_step_transition(state);
	struct ncs_step_slot *step =
		ncs_step_find((uint64_t)(uintptr_t)pointer);
	const union nccl_state_args_v4 *sizes = args;
	const uint64_t *bytes = NULL;

	if (!step || transition == 0 || (transition >> 8 & 0xff) > api_version)
		return false;
	/* NCCL repeats SendPeerWait at every poll: only the first one counts,
	 * and the others need not even be timed. */
	if (step->state == (transition & 0xff))
		return true;
	if (api_version >= 4 && args)
		bytes = &sizes->proxy_step.transferred_bytes;
	if (ncs_clock_is_counter(ncs_registry.clock.kind))
		ncs_step_enter(step, transition, bytes, ncs_clock_counter());
	else
		ncs_step_enter_slowly(step, transition, bytes);
	return true;
}

#endif
