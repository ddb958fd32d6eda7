/* Steps: four of five callbacks of a job with network traffic are theirs.
 *
 * Inline, so that a callback is one straight run of code. Called by callbacks,
 * normally by the communicator's proxy thread only. Should several threads
 * call at once, numbers may be wrong, but nothing breaks: every index is
 * checked and every loop is bounded.
 */
#ifndef NCS_PLUGIN_STEP_H
#define NCS_PLUGIN_STEP_H

#include "plugin/channel.h"
#include "plugin/handle.h"
#include "plugin/lane.h"
#include "plugin/nccl_abi.h"
#include "plugin/sampling.h"

/* The step of a handle and its proxy operation; NULL: the handle is stale. */
static inline struct ncs_proxy_op *ncs_step_find(struct ncs_comm *comm,
						 const struct ncs_handle *handle,
						 struct ncs_step **step)
{
	struct ncs_proxy_op *op =
		&comm->proxy_ops[handle->slot & (NCS_PROXY_OP_MAX - 1)];

	*step = &op->steps[handle->lane & (NCS_STEP_MAX - 1)];
	return ncs_handle_matches(handle, ncs_load_relaxed(&(*step)->tag)) ?
		       op :
		       NULL;
}

static inline uint64_t ncs_step_handle(const struct ncs_comm *comm,
				       const struct ncs_proxy_op *op,
				       const struct ncs_step *step)
{
	return ncs_handle_encode(NCS_HANDLE_STEP, comm->index,
				 (unsigned)(op - comm->proxy_ops),
				 (unsigned)(step - op->steps),
				 ncs_load_relaxed(&step->tag));
}

/* A step's record, word by word: put together from smaller stores it would
 * have to wait for them to be read back as words. */
static inline void ncs_step_publish(struct ncs_lane_state *lane,
				    const struct ncs_proxy_op *op,
				    const struct ncs_step *step, uint64_t now)
{
	const uint64_t words[NCS_RECORD_WORDS] = {
		step->start,
		op->step_words[0] | step->missing_stop,
		op->step_words[1],
		step->bytes,
		step->number,
		now - step->start,
		step->delta[0],
		step->delta[1],
	};

	ncs_lane_publish_words(lane, words);
}

/* Whether the records of a proxy operation's steps are published, as of now. */
static inline bool ncs_step_is_published(struct ncs_proxy_op *op, uint64_t now)
{
	if (__builtin_expect(!ncs_sampling_leaves_out(&op->sampled), 1))
		return true;
	if (!ncs_sampling_is_slow(&op->sampled, op->operation_handle, now))
		return false;
	op->step_words[0] |= (uint64_t)ncs_sampling_flags(&op->sampled)
			     << 8 * offsetof(struct ncs_record, flags) % 64;
	return true;
}

/* Takes a step off its operation and publishes its record. */
static inline void ncs_step_retire(struct ncs_lane_state *lane,
				   struct ncs_proxy_op *op,
				   struct ncs_step *step, uint64_t now)
{
	unsigned slot = (unsigned)(step - op->steps);
	uint32_t oldest = UINT32_MAX;

	if (ncs_step_is_published(op, now))
		ncs_step_publish(lane, op, step, now);
	/* ORDER: pairs with ncs_step_start() (plugin/step.h). */
	ncs_store_release(&step->tag, ncs_load_relaxed(&step->tag) + 1);
	op->steps_done++;
	op->live_steps &= (uint8_t)~(1u << slot);
	for (unsigned left = op->live_steps; left; left &= left - 1) {
		uint32_t number =
			(uint32_t)op->steps[__builtin_ctz(left)].number;

		if (number < oldest)
			oldest = number;
	}
	if (op->live_steps)
		op->oldest = oldest;
}

/* Ends a step and moves its channel on. */
static inline void ncs_step_stop(struct ncs_comm *comm,
				 struct ncs_lane_state *lane,
				 struct ncs_proxy_op *op,
				 struct ncs_step *step, uint64_t now)
{
	struct ncs_channel_queue *queue = op->queue;
	bool was_oldest = (uint32_t)step->number == op->oldest;

	ncs_step_retire(lane, op, step, now);
	if (!queue)
		return;
	ncs_seqlock_begin(&queue->channel->sequence);
	ncs_seqlock_add(&queue->channel->steps_done, 1);
	if (!op->size_known)
		ncs_seqlock_add(&queue->channel->size_unknown, 1);
	if (queue->head == op && was_oldest) {
		if (!op->live_steps)
			queue->head = ncs_channel_search_head(comm, queue);
		ncs_channel_follow_head(queue, now);
	}
	ncs_seqlock_end(&queue->channel->sequence);
}

/* A step whose stop NCCL did not report. */
static inline void ncs_step_close(struct ncs_comm *comm,
				  struct ncs_lane_state *lane,
				  struct ncs_proxy_op *op,
				  struct ncs_step *step, uint64_t now)
{
	ncs_lane_lose(lane, NCS_LOSS_MISSING_STOP);
	step->missing_stop = (uint64_t)NCS_RECORD_MISSING_STOP
			     << 8 * offsetof(struct ncs_record, flags) % 64;
	ncs_step_stop(comm, lane, op, step, now);
}

/* Whether a step that has just started is the one that its channel shows: it is
 * the oldest of the head, or of an older proxy operation that had none. */
static inline bool ncs_step_leads(const struct ncs_channel_queue *queue,
				  const struct ncs_proxy_op *op, int number)
{
	const struct ncs_proxy_op *head = queue->head;

	if (head == op)
		return op->oldest == (uint32_t)number;
	return !head || op->record.start < head->record.start;
}

/* Returns the handle. */
static inline uint64_t ncs_step_start(struct ncs_comm *comm,
				      struct ncs_lane_state *lane,
				      struct ncs_proxy_op *op, int number,
				      uint64_t now)
{
	struct ncs_channel_queue *queue = op->queue;
	unsigned slot = (unsigned)number % NCS_STEP_MAX;
	struct ncs_step *step = &op->steps[slot];

	if (__builtin_expect(op->live_steps & 1u << slot, 0)) {
		/* NCCL starts a receive step again while it cannot be posted;
		 * and up to 2.26 it loses the stop of some, whose slot then
		 * comes round again. */
		if ((uint32_t)step->number == (uint32_t)number)
			return ncs_step_handle(comm, op, step);
		ncs_step_close(comm, lane, op, step, now);
	}
	step->start = now;
	step->number = (uint32_t)number;
	step->bytes = 0;
	step->delta[0] = step->delta[1] = 0;
	step->missing_stop = 0;
	step->state = op->send ? NCS_CHANNEL_SEND_GPU_WAIT :
				 NCS_CHANNEL_RECV_WAIT;
	/* ORDER: pairs with ncs_step_retire() (plugin/step.h). */
	ncs_store_release(&step->tag, (ncs_load_relaxed(&step->tag) + 1) | 1);
	if (!op->live_steps || (uint32_t)number < op->oldest)
		op->oldest = (uint32_t)number;
	op->live_steps |= (uint8_t)(1u << slot);
	if (op->first_step == 0)
		op->first_step = now;
	if (!queue)
		return ncs_step_handle(comm, op, step);
	if (ncs_step_leads(queue, op, number)) {
		queue->head = op;
		ncs_seqlock_begin(&queue->channel->sequence);
		ncs_seqlock_add(&queue->channel->steps_started, 1);
		ncs_channel_follow_head(queue, now);
		ncs_seqlock_end(&queue->channel->sequence);
	} else {
		ncs_seqlock_add(&queue->channel->steps_started, 1);
	}
	return ncs_step_handle(comm, op, step);
}

/* What a state of NCCL's means for a step. */
struct ncs_step_transition {
	uint8_t entered; /* enum ncs_channel_state */
	uint8_t delta;	 /* which of the record's, plus 1; 0: none */
	uint8_t sized;	 /* transSize is this step's */
};

static inline struct ncs_step_transition ncs_step_transition(unsigned state)
{
	static const struct ncs_step_transition transitions[] = {
		[NCCL_STATE_STEP_SEND_GPU_WAIT] = { NCS_CHANNEL_SEND_GPU_WAIT,
						    0, 0 },
		[NCCL_STATE_STEP_SEND_WAIT] = { NCS_CHANNEL_SEND_WAIT, 2, 1 },
		[NCCL_STATE_STEP_RECV_WAIT] = { NCS_CHANNEL_RECV_WAIT, 0, 0 },
		[NCCL_STATE_STEP_RECV_FLUSH_WAIT] = {
			NCS_CHANNEL_RECV_FLUSH_WAIT, 1, 1 },
		[NCCL_STATE_STEP_RECV_GPU_WAIT] = { NCS_CHANNEL_RECV_GPU_WAIT,
						    2, 0 },
		[NCCL_STATE_STEP_SEND_PEER_WAIT] = {
			NCS_CHANNEL_SEND_PEER_WAIT, 1, 0 },
	};

	return transitions[state];
}

/* A step enters a state that it is not in yet. `bytes` NULL: not told. */
static inline void ncs_step_enter(struct ncs_proxy_op *op,
				  struct ncs_step *step,
				  struct ncs_step_transition transition,
				  const uint64_t *bytes, uint64_t now)
{
	struct ncs_channel_queue *queue = op->queue;
	uint64_t moved = 0;

	step->state = transition.entered;
	if (transition.delta)
		step->delta[transition.delta - 1] = now - step->start;
	if (transition.sized && bytes) {
		moved = *bytes;
		op->size_known = 1;
		op->bytes += moved;
		step->bytes = moved;
	}
	if (!queue)
		return;
	if (queue->head == op && (uint32_t)step->number == op->oldest) {
		struct ncs_channel *channel = queue->channel;

		ncs_seqlock_begin(&channel->sequence);
		ncs_seqlock_add(&channel->bytes, moved);
		ncs_channel_leave(channel, now);
		ncs_payload_store(&channel->state, transition.entered);
		ncs_seqlock_end(&channel->sequence);
	} else if (moved) {
		ncs_seqlock_add(&queue->channel->bytes, moved);
	}
}

#endif
