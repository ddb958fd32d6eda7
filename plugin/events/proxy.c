/* SPDX-License-Identifier: MIT */
/* Proxy operations and the proxy thread; see proxy.h. Most of this runs on the
 * thread that drives the network. */
#include "plugin/events/proxy.h"

#include "plugin/state/channel.h"
#include "plugin/state/lane.h"
#include "plugin/state/slots.h"
#include "plugin/events/operation.h"
#include "plugin/events/range_stats.h"
#include "plugin/events/sampling.h"
#include "plugin/events/step.h"
#include "shm/seqlock.h"

/* Number of slots that a start looks at when none is noted as free. */
#define LOOKS 4u

/* --- proxy operations --------------------------------------------------- */

/* Links a slot with its steps, which never changes. */
static void prepare_slot(struct ncs_comm *comm, struct ncs_proxy_op_slot *op)
{
	unsigned first = (unsigned)(op - comm->proxy_ops) * NCS_STEP_MAX;

	op->steps = &comm->steps[first];
	for (unsigned i = 0; i < NCS_STEP_MAX; i++) {
		op->steps[i].op = op;
		op->steps[i].handle = ncs_handle_free(comm->index, first + i);
	}
}

/* Claims a slot if it is free. No handle leads to it until ncs_proxy_op_start()
 * stores one. */
static bool claim_free(struct ncs_comm *comm, struct ncs_proxy_op_slot *op)
{
	uint64_t handle = ncs_load_relaxed(&op->handle);

	/* ORDER: pairs with release() (plugin/events/proxy.c): this thread sees
	 * the slot as its former user left it. */
	if (!ncs_handle_is(handle, NCS_HANDLE_NONE) ||
	    !ncs_cas_acquire_release(&op->handle, handle,
				     handle | NCS_HANDLE_CLAIMED))
		return false;
	if (!op->steps)
		prepare_slot(comm, op);
	return true;
}

/* Returns the handle for a claimed slot. */
static uint64_t next_handle(const struct ncs_comm *comm,
			    const struct ncs_proxy_op_slot *op)
{
	return ncs_handle_next(
		ncs_handle_freed(ncs_load_relaxed(&op->handle)) |
			ncs_handle_free(comm->index,
					(unsigned)(op - comm->proxy_ops)),
		NCS_HANDLE_PROXY_OP);
}

/* Notes that a slot is free. */
static void note_free(struct ncs_comm *comm, unsigned index)
{
	uint64_t *word = &comm->proxy_ops_free[index / 64];

	ncs_store_relaxed(word,
			  ncs_load_relaxed(word) | UINT64_C(1) << index % 64);
}

static void release(struct ncs_comm *comm, struct ncs_proxy_op_slot *op)
{
	/* ORDER: pairs with claim_free() (plugin/events/proxy.c). */
	ncs_store_release(&op->handle,
			  ncs_handle_freed(ncs_load_relaxed(&op->handle)));
	note_free(comm, (unsigned)(op - comm->proxy_ops));
}

/* Claims the first slot that is noted as free, so that few slots are in use and
 * stay in the cache; NULL if none is noted. */
static struct ncs_proxy_op_slot *claim_noted(struct ncs_comm *comm)
{
	for (unsigned i = 0; i < NCS_PROXY_OP_FREE_WORDS; i++) {
		uint64_t *word = &comm->proxy_ops_free[i];
		uint64_t noted = ncs_load_relaxed(word);
		struct ncs_proxy_op_slot *op;

		/* A note is wrong only where several threads call at the same
		 * time. */
		while (noted != 0) {
			op = &comm->proxy_ops[64 * i +
					      (unsigned)__builtin_ctzll(noted)];
			noted &= noted - 1;
			ncs_store_relaxed(word, noted);
			if (claim_free(comm, op))
				return op;
		}
	}
	return NULL;
}

/* Returns the mark of a channel in which no step starts from here on. */
static uint64_t mark_of(const struct ncs_channel_queue *queue)
{
	return ncs_load_relaxed(&queue->channel->steps_started) + 1;
}

/* Returns true if NCCL may be thought never to stop a proxy operation that has
 * no step in progress: NCCL starts, and does not stop, those of CollNet and of
 * copy engines, which have neither states nor steps. One that waits for its
 * first step, or for its next one, looks like these. It is told apart by the
 * number of proxy operations that started later, and by others of its
 * channel. */
static bool seems_abandoned(const struct ncs_comm *comm,
			    const struct ncs_proxy_op_slot *op)
{
	uint32_t number = (uint32_t)ncs_load_relaxed(&comm->proxy_op_number);
	bool aged = number - op->order >= NCS_PROXY_OP_AGE;

	if (op->first_step != 0)
		return op->steps_done >= op->nsteps || aged;
	if (aged && !op->send && op->in_progress == 0)
		op->queue->stepless = mark_of(op->queue);
	return aged || (op->queue->stepless == mark_of(op->queue) &&
			op->in_progress == 0 && !op->send);
}

/* Claims a slot whose proxy operation NCCL never stops. */
static bool evict(struct ncs_comm *comm, struct ncs_lane_state *lane,
		  struct ncs_proxy_op_slot *op)
{
	uint64_t handle = ncs_load_relaxed(&op->handle);

	if (!ncs_handle_is(handle, NCS_HANDLE_PROXY_OP) || op->live ||
	    !seems_abandoned(comm, op))
		return false;
	/* ORDER: pairs with evict() (plugin/events/proxy.c): only one of two
	 * threads gets the slot. */
	if (!ncs_cas_acquire_release(&op->handle, handle,
				     handle | NCS_HANDLE_CLAIMED))
		return false;
	ncs_lane_lose(lane, NCS_LOSS_FORGOTTEN);
	ncs_operation_child_forgotten(comm, op->operation_handle);
	ncs_channel_dequeue(comm, op);
	return true;
}

/* Claims a slot when none is noted as free. Each call looks at the next few
 * only: while the pool is full, a start must cost no more than otherwise. */
static struct ncs_proxy_op_slot *look(struct ncs_comm *comm,
				      struct ncs_lane_state *lane)
{
	for (unsigned i = 0; i < LOOKS; i++) {
		uint64_t cursor = ncs_load_relaxed(&comm->proxy_op_cursor);
		struct ncs_proxy_op_slot *op =
			&comm->proxy_ops[cursor % NCS_PROXY_OP_MAX];

		ncs_store_relaxed(&comm->proxy_op_cursor, cursor + 1);
		if (claim_free(comm, op) || evict(comm, lane, op))
			return op;
	}
	ncs_lane_lose(lane, NCS_LOSS_POOL_FULL);
	return NULL;
}

static struct ncs_proxy_op_slot *claim(struct ncs_comm *comm,
				       struct ncs_lane_state *lane)
{
	struct ncs_proxy_op_slot *op = claim_noted(comm);

	return __builtin_expect(op != NULL, 1) ? op : look(comm, lane);
}

/* Links a proxy operation with its operation, and fills in the part that its
 * record and the records of its steps share. */
static void adopt(struct ncs_comm *comm, struct ncs_lane_state *lane,
		  struct ncs_proxy_op_slot *op, uint64_t parent,
		  const struct nccl_proxy_op *facts, uint64_t now)
{
	struct ncs_operation_slot *operation =
		ncs_operation_child_started(comm, lane, parent, now);
	unsigned flags = facts->is_send != 0 ? NCS_RECORD_SEND : 0;
	unsigned function = operation ? operation->function :
					NCS_FUNCTION_OTHER;

	ncs_sampling_clear(&op->sampled);
	/* Up to API 3 NCCL reports proxy operations when they first make
	 * progress. */
	if (operation)
		ncs_sampling_inherit(&op->sampled, operation,
				     comm->api_version < 4, now);
	flags |= ncs_sampling_flags(&op->sampled);
	op->operation_handle = operation ? parent : 0;
	op->operation = operation ? operation->number : 0;
	op->words[1] = ncs_record_word1(NCS_EVENT_PROXY_OP, flags,
					facts->channel, function);
	op->words[2] = ncs_record_word2(op->operation, facts->peer);
	op->step_words[0] = ncs_record_word1(NCS_EVENT_PROXY_STEP, flags,
					     facts->channel, function);
	op->step_words[1] = op->words[2];
	/* For some proxy operations (those of Broadcast since 2.29) NCCL passes
	 * no parent. */
	if (!operation && parent != 0 &&
	    !ncs_handle_is(parent, NCS_HANDLE_UNTRACKED))
		ncs_lane_lose(lane, NCS_LOSS_ORPHAN);
}

uint64_t ncs_proxy_op_start(struct ncs_comm *comm, struct ncs_lane_state *lane,
			    uint64_t parent, const struct nccl_proxy_op *facts,
			    uint64_t now)
{
	uint64_t number = ncs_load_relaxed(&comm->proxy_op_number) + 1;
	struct ncs_proxy_op_slot *op = claim(comm, lane);
	bool send = facts->is_send != 0;
	uint64_t handle;

	ncs_store_relaxed(&comm->proxy_op_number, number);
	if (!op)
		return ncs_handle_encode(NCS_HANDLE_UNTRACKED, comm->index, 0,
					 0, 0);
#pragma GCC unroll 8
	for (unsigned i = 3; i < NCS_RECORD_WORDS; i++)
		op->words[i] = 0;
	op->words[0] = now;
	adopt(comm, lane, op, parent, facts, now);
	op->nsteps = facts->steps > 0 ? (uint32_t)facts->steps : 0;
	op->send = send;
	op->order = (uint32_t)number;
	op->live = 0;
	op->has_sample = op->size_known = 0;
	op->bytes = op->steps_done = op->cumulative_bytes = 0;
	op->in_progress = op->first_step = 0;
	op->queue = ncs_channel_find(
		comm, NCS_CHANNEL_KEY(facts->channel, send, facts->peer), now);
	if (!op->queue) {
		ncs_lane_lose(lane, NCS_LOSS_TABLE_FULL);
		op->queue = &comm->overflow_queue;
	}
	ncs_channel_enqueue(comm, op);
	ncs_seqlock_add(&op->queue->channel->operations_started, 1);
	handle = next_handle(comm, op);
	/* ORDER: pairs with ncs_step_on_start() (plugin/events/step.h): a
	 * thread that finds the handle finds the slot filled. */
	ncs_store_release(&op->handle, handle);
	return handle;
}

struct ncs_proxy_op_slot *ncs_proxy_op_find(struct ncs_comm *comm,
					    uint64_t handle)
{
	struct ncs_proxy_op_slot *op =
		&comm->proxy_ops[ncs_handle_slot(handle) &
				 (NCS_PROXY_OP_MAX - 1)];

	return ncs_handle_is(handle, NCS_HANDLE_PROXY_OP) &&
			       ncs_load_relaxed(&op->handle) == handle ?
		       op :
		       NULL;
}

/* Adds a size that NCCL up to 2.26 reports with the states of a proxy
 * operation. It is a sum with an arbitrary start, so only differences count. */
static uint64_t sample_size(struct ncs_proxy_op_slot *op,
			    uint64_t cumulative_bytes)
{
	uint64_t moved = 0;

	if (op->has_sample && cumulative_bytes > op->cumulative_bytes)
		moved = cumulative_bytes - op->cumulative_bytes;
	op->has_sample = op->size_known = 1;
	op->cumulative_bytes = cumulative_bytes;
	op->bytes += moved;
	return moved;
}

void ncs_proxy_op_state(struct ncs_proxy_op_slot *op, unsigned state,
			const uint64_t *cumulative_bytes, uint64_t now)
{
	uint64_t moved;

	if (state == NCCL_STATE_OP_IN_PROGRESS && op->in_progress == 0) {
		op->in_progress = now;
		if (ncs_sampling_leaves_out(&op->sampled))
			ncs_sampling_in_progress(&op->sampled,
						 op->operation_handle, now);
	}
	if (state > NCCL_STATE_OP_RECV_DONE || !cumulative_bytes)
		return;
	moved = sample_size(op, *cumulative_bytes);
	if (moved)
		ncs_seqlock_add(&op->queue->channel->bytes, moved);
}

static void publish_proxy_op(struct ncs_lane_state *lane,
			     struct ncs_proxy_op_slot *op, uint64_t now)
{
	struct ncs_record *record = &op->record;

	record->value = op->bytes;
	record->number = op->steps_done;
	record->duration = now - record->start;
	if (op->in_progress)
		record->delta[0] = op->in_progress - record->start;
	if (op->first_step)
		record->delta[1] = op->first_step - record->start;
	op->words[1] |=
		ncs_record_word1(0, ncs_sampling_flags(&op->sampled), 0, 0);
	ncs_lane_publish_words(lane, op->words);
}

void ncs_proxy_op_stop(struct ncs_comm *comm, struct ncs_lane_state *lane,
		       struct ncs_proxy_op_slot *op, uint64_t now)
{
	for (unsigned i = 0; op->live != 0 && i < NCS_STEP_MAX; i++)
		if (ncs_step_is_live(&op->steps[i]))
			ncs_step_close(comm, lane, &op->steps[i], now);
	if (ncs_sampling_publishes(&op->sampled, op->operation_handle, now))
		publish_proxy_op(lane, op, now);
	ncs_channel_dequeue(comm, op);
	ncs_range_channel(comm, op->queue,
			  ncs_operation_find(comm, op->operation_handle));
	ncs_seqlock_add(&op->queue->channel->operations_done, 1);
	ncs_operation_proxy_done(
		comm, lane, op->operation_handle,
		op->in_progress ? op->in_progress : op->record.start, now);
	release(comm, op);
}

/* --- the proxy thread --------------------------------------------------- */

uint64_t ncs_ctrl_start(struct ncs_comm *comm, struct ncs_lane_state *lane)
{
	uint64_t tag = (ncs_load_relaxed(&lane->ctrl_tag) + 1) | 1;

#pragma GCC unroll 8
	for (unsigned i = 0; i < NCS_RECORD_WORDS; i++)
		lane->ctrl_words[i] = 0;
	lane->ctrl_words[1] = ncs_record_word1(NCS_EVENT_PROXY_CTRL, 0, 0, 0);
	lane->ctrl_words[2] = ncs_record_word2(0, -1);
	ncs_store_relaxed(&lane->ctrl_tag, tag);
	return ncs_handle_encode(NCS_HANDLE_CTRL, comm->index, 0, lane->index,
				 tag);
}

struct ncs_lane_state *ncs_ctrl_find(struct ncs_comm *comm,
				     const struct ncs_handle *handle)
{
	struct ncs_lane_state *lane;

	if (handle->lane >= NCS_LANE_MAX)
		return NULL;
	lane = &comm->lanes[handle->lane];
	return ncs_handle_matches(handle, ncs_load_relaxed(&lane->ctrl_tag)) ?
		       lane :
		       NULL;
}

static void enter_proxy_state(struct ncs_comm *comm,
			      enum ncs_proxy_transition transition,
			      enum ncs_proxy_state state, uint64_t appended,
			      uint64_t now)
{
	struct ncs_proxy *proxy = &comm->header->proxy;
	uint64_t left = ncs_load_relaxed(&proxy->state);

	ncs_seqlock_begin(&proxy->sequence);
	ncs_seqlock_add(&proxy->count[transition], 1);
	ncs_seqlock_add(&proxy->appended_operations, appended);
	if (state != left) {
		if (left != NCS_PROXY_UNKNOWN && left < NCS_PROXY_STATE_COUNT)
			ncs_seqlock_add(&proxy->time[left],
					now - ncs_load_relaxed(&proxy->since));
		ncs_payload_store(&proxy->state, state);
		ncs_payload_store(&proxy->since, now);
	}
	ncs_seqlock_end(&proxy->sequence);
}

/* Returns the state to which the thread returns after sleeping or appending:
 * NCCL reports idle and active only when they change. */
static enum ncs_proxy_state resting(const struct ncs_comm *comm)
{
	uint64_t state = ncs_load_relaxed(&comm->proxy_resting);

	return state == NCS_PROXY_ACTIVE ? NCS_PROXY_ACTIVE : NCS_PROXY_IDLE;
}

/* The state that the thread enters, by transition; none: the one to which it returns. */
static const uint8_t entered_by[NCS_TRANSITION_COUNT] = {
	[NCS_TRANSITION_IDLE] = NCS_PROXY_IDLE,
	[NCS_TRANSITION_ACTIVE] = NCS_PROXY_ACTIVE,
	[NCS_TRANSITION_SLEEP] = NCS_PROXY_SLEEP,
	[NCS_TRANSITION_APPEND] = NCS_PROXY_APPEND,
};

static_assert(NCCL_STATE_CTRL_APPEND_END - NCCL_STATE_CTRL_IDLE ==
		      (int)NCS_TRANSITION_APPEND_END,
	      "transitions are NCCL's states in their order");

void ncs_ctrl_state(struct ncs_comm *comm, struct ncs_lane_state *owner,
		    unsigned state, uint64_t appended, uint64_t now)
{
	unsigned transition = state - NCCL_STATE_CTRL_IDLE;
	enum ncs_proxy_state entered = entered_by[transition];
	struct ncs_record *ctrl = &owner->ctrl;

	if (ctrl->start == 0)
		ctrl->start = now;
	if (entered == NCS_PROXY_IDLE || entered == NCS_PROXY_ACTIVE) {
		ncs_store_relaxed(&comm->proxy_resting, entered);
	} else if (entered != NCS_PROXY_UNKNOWN) {
		ctrl->number = entered;
	} else {
		entered = resting(comm);
		ctrl->delta[0] = now - ctrl->start;
		ctrl->value = appended;
	}
	enter_proxy_state(comm, transition, entered, appended, now);
}

/* Idle and active are points in time, up to 10^6 a second when operations
 * stall: they are counted, but have no records. */
void ncs_ctrl_stop(struct ncs_lane_state *lane, struct ncs_lane_state *owner)
{
	struct ncs_record *ctrl = &owner->ctrl;

	if (ctrl->number != 0) {
		ctrl->duration = ctrl->delta[0] != 0 ? ctrl->delta[0] :
						       ncs_now() - ctrl->start;
		ncs_lane_publish_words(lane, owner->ctrl_words);
	}
	ncs_store_relaxed(&owner->ctrl_tag,
			  (ncs_load_relaxed(&owner->ctrl_tag) | 1) + 1);
}
