/* SPDX-License-Identifier: MIT */
/* Rare cases of steps; see step.h. */
#include "plugin/events/step.h"

/* Returns true if the records of a proxy operation's steps are published by
 * now. */
static bool is_published(struct ncs_proxy_op_slot *op, uint64_t now)
{
	if (!ncs_sampling_leaves_out(&op->sampled))
		return true;
	if (!ncs_sampling_is_slow(&op->sampled, op->operation_handle, now))
		return false;
	op->step_words[0] |=
		ncs_record_word1(0, ncs_sampling_flags(&op->sampled), 0, 0);
	return true;
}

/* Publishes a step's record in the shared lane, or only if its operation is
 * slow. */
void ncs_step_publish_rarely(struct ncs_lane_state *lane,
			     const struct ncs_step_slot *step, uint64_t now)
{
	const uint64_t *words;

	if (!is_published(step->op, now))
		return;
	words = (const uint64_t[NCS_RECORD_WORDS])NCS_STEP_WORDS(step, now);
	ncs_lane_publish_words(lane, words);
}

/* Finds the next head of a channel whose head has stopped. */
void ncs_step_move_head(struct ncs_comm *comm, struct ncs_channel_queue *queue,
			const struct ncs_step_slot *stopped, uint64_t now)
{
	struct ncs_channel *channel = queue->channel;
	struct ncs_step_slot *next =
		stopped->op->live != 0 ? ncs_channel_oldest_step(stopped->op) :
					 ncs_channel_search_head(comm, queue);

	queue->head = next;
	ncs_seqlock_begin(&channel->sequence);
	ncs_channel_leave(channel, stopped->state, now);
	if (next) {
		ncs_channel_show(channel, next);
		ncs_channel_show_op(channel, next->op);
	} else {
		ncs_channel_show_nothing(channel);
	}
	ncs_seqlock_end(&channel->sequence);
}

void ncs_step_close(struct ncs_comm *comm, struct ncs_lane_state *lane,
		    struct ncs_step_slot *step, uint64_t now)
{
	ncs_lane_lose(lane, NCS_LOSS_MISSING_STOP);
	step->flags = (uint64_t)NCS_RECORD_MISSING_STOP
		      << 8 * offsetof(struct ncs_record, flags) % 64;
	ncs_step_stop(comm, lane, step, now);
}

/* NCCL starts a receive step repeatedly while it cannot be posted. Up to 2.26
 * it does not stop some steps, whose slots are then used again. */
uint64_t ncs_step_start_again(struct ncs_comm *comm,
			      struct ncs_lane_state *lane,
			      struct ncs_proxy_op_slot *op, uint32_t number,
			      uint64_t now)
{
	struct ncs_step_slot *step = &op->steps[number % NCS_STEP_MAX];

	if (step->number == number)
		return ncs_load_relaxed(&step->handle);
	ncs_step_close(comm, lane, step, now);
	/* If another thread has started a step here in the meantime, return
	 * that one: trying again might not end. */
	return ncs_step_is_live(step) ?
		       ncs_load_relaxed(&step->handle) :
		       ncs_step_start(comm, lane, op, number, now);
}

uint64_t ncs_step_start_slowly(struct ncs_comm *comm,
			       struct ncs_proxy_op_slot *op, uint32_t number)
{
	uint64_t now = ncs_now();
	struct ncs_lane_state *lane = ncs_lane_enter(comm, now);

	ncs_lane_count_event(lane, NCS_EVENT_PROXY_STEP);
	return ncs_step_start(comm, lane, op, number, now);
}

void ncs_step_stop_slowly(struct ncs_comm *comm, struct ncs_step_slot *step)
{
	uint64_t now = ncs_now();

	ncs_step_stop(comm, ncs_lane_enter(comm, now), step, now);
}

void ncs_step_enter_slowly(struct ncs_step_slot *step, uint32_t transition,
			   const uint64_t *bytes)
{
	ncs_step_enter(step, transition, bytes, ncs_now());
}
