/* Proxy operations, steps and control; see proxy.h. Runs in callbacks, most of
 * them on the thread that drives the network: no lock, no allocation, no
 * system call.
 *
 * A channel's state is that of its head: the oldest unfinished step of its
 * oldest proxy operation that has one. Younger steps wait behind it, so their
 * states say nothing; adding them up would count up to 8 times over. */
#include "plugin/proxy.h"

#include <string.h>

#include "plugin/lane.h"
#include "plugin/operation.h"
#include "plugin/process.h"
#include "shm/seqlock.h"

/* What one callback adds to a channel's counters. */
struct change {
	unsigned operations_started, operations_done;
	unsigned steps_started, steps_done, size_unknown;
	uint64_t bytes;
};

/* --- channels --------------------------------------------------------------- */

#define PROBE_MAX 64

/* The channel's index in the table, claimed at first sight; NCS_NONE: full. */
static uint16_t find_channel(struct ncs_comm *comm, uint64_t key)
{
	uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15) >> 40;

	for (unsigned i = 0; i < PROBE_MAX && i < comm->channel_count; i++) {
		uint32_t index =
			(uint32_t)(hash + i) & (comm->channel_count - 1);
		struct ncs_channel *channel = &comm->channels[index];
		uint64_t found = ncs_load_relaxed(&channel->key);

		/* ORDER: pairs with find_channel() (plugin/proxy.c): of two
		 * threads one gets the entry. */
		if (found == 0 &&
		    ncs_cas_acquire_release(&channel->key, 0, key)) {
			ncs_seqlock_begin(&channel->sequence);
			ncs_payload_store(&channel->since, ncs_now());
			ncs_seqlock_end(&channel->sequence);
			return (uint16_t)index;
		}
		if (ncs_load_relaxed(&channel->key) == key)
			return (uint16_t)index;
	}
	return NCS_NONE;
}

static void enqueue(struct ncs_comm *comm, struct ncs_proxy_op *op)
{
	struct ncs_channel_queue *queue = &comm->queues[op->channel_index];
	uint16_t index = (uint16_t)(op - comm->proxy_ops);

	op->next = NCS_NONE;
	op->previous = queue->last;
	if (queue->last != NCS_NONE)
		comm->proxy_ops[queue->last].next = index;
	else
		queue->first = index;
	queue->last = index;
}

static void dequeue(struct ncs_comm *comm, struct ncs_proxy_op *op)
{
	struct ncs_channel_queue *queue = &comm->queues[op->channel_index];

	if (op->previous != NCS_NONE)
		comm->proxy_ops[op->previous].next = op->next;
	else
		queue->first = op->next;
	if (op->next != NCS_NONE)
		comm->proxy_ops[op->next].previous = op->previous;
	else
		queue->last = op->previous;
}

/* The oldest proxy operation of a channel with a step under way. */
static const struct ncs_proxy_op *head_of(const struct ncs_comm *comm,
					  uint16_t channel_index)
{
	uint16_t index = comm->queues[channel_index].first;

	for (unsigned i = 0; index != NCS_NONE && i < NCS_PROXY_OP_MAX; i++) {
		const struct ncs_proxy_op *op = &comm->proxy_ops[index];

		if (op->live_steps)
			return op;
		index = op->next;
	}
	return NULL;
}

static void add(uint64_t *counter, uint64_t addend)
{
	if (addend)
		ncs_payload_store(counter, ncs_load_relaxed(counter) + addend);
}

/* Moves the channel on to what its head is now. An interval is charged to the
 * state that is left, and `since` starts anew with each step, so that it tells
 * how long nothing has moved. */
static void update_head(struct ncs_channel *channel,
			const struct ncs_proxy_op *head, uint64_t now)
{
	uint64_t state = NCS_CHANNEL_IDLE, number = 0, step = 0, left;

	if (head) {
		step = head->oldest;
		state = head->steps[step % NCS_STEP_MAX].state;
		number = head->operation;
	}
	left = ncs_load_relaxed(&channel->state);
	if (state == left && step == ncs_load_relaxed(&channel->step) &&
	    number == ncs_load_relaxed(&channel->operation))
		return;
	add(&channel->time[left < NCS_CHANNEL_STATE_COUNT ? left : 0],
	    now - ncs_load_relaxed(&channel->since));
	ncs_payload_store(&channel->state, state);
	ncs_payload_store(&channel->since, now);
	ncs_payload_store(&channel->step, step);
	ncs_payload_store(&channel->operation, number);
	if (head) {
		ncs_payload_store(&channel->nsteps, head->nsteps);
		ncs_payload_store(&channel->function, head->function);
	}
}

static void update_channel(struct ncs_comm *comm, uint16_t channel_index,
			   const struct change *change, uint64_t now)
{
	struct ncs_channel *channel;

	if (channel_index == NCS_NONE)
		return;
	channel = &comm->channels[channel_index];
	ncs_seqlock_begin(&channel->sequence);
	add(&channel->operations_started, change->operations_started);
	add(&channel->operations_done, change->operations_done);
	add(&channel->steps_started, change->steps_started);
	add(&channel->steps_done, change->steps_done);
	add(&channel->size_unknown, change->size_unknown);
	add(&channel->bytes, change->bytes);
	update_head(channel, head_of(comm, channel_index), now);
	ncs_seqlock_end(&channel->sequence);
}

/* --- proxy operations ---------------------------------------------------------- */

static bool claim_free(struct ncs_proxy_op *op)
{
	uint64_t tag = ncs_load_relaxed(&op->tag);

	/* ORDER: pairs with release() (plugin/proxy.c): the slot is seen as its
	 * former user left it. */
	return !(tag & 1) && ncs_cas_acquire_release(&op->tag, tag, tag + 1);
}

static void release(struct ncs_comm *comm, struct ncs_proxy_op *op)
{
	uint64_t index = (uint64_t)(op - comm->proxy_ops);

	/* ORDER: pairs with claim_free() (plugin/proxy.c). */
	ncs_store_release(&op->tag, (ncs_load_relaxed(&op->tag) | 1) + 1);
	if (index < ncs_load_relaxed(&comm->proxy_op_hint))
		ncs_store_relaxed(&comm->proxy_op_hint, index);
}

/* Frees the next slot in turn whose proxy operation has no step under way:
 * some (CollNet, copy engines) are never stopped by NCCL. */
static struct ncs_proxy_op *evict(struct ncs_comm *comm,
				  struct ncs_lane_state *lane, uint64_t now)
{
	static const struct change nothing;

	for (unsigned i = 0; i < NCS_PROXY_OP_MAX; i++) {
		struct ncs_proxy_op *op =
			&comm->proxy_ops[ncs_add_relaxed(&comm->proxy_op_evict,
							 1) %
					 NCS_PROXY_OP_MAX];

		if (op->live_steps)
			continue;
		ncs_lane_lose(lane, NCS_LOSS_FORGOTTEN);
		ncs_operation_child_forgotten(comm, op->operation_handle);
		if (op->channel_index != NCS_NONE) {
			dequeue(comm, op);
			update_channel(comm, op->channel_index, &nothing, now);
		}
		release(comm, op);
		if (claim_free(op))
			return op;
	}
	return NULL;
}

/* The lowest free slot, so that few of them stay warm in the cache. */
static struct ncs_proxy_op *claim(struct ncs_comm *comm,
				  struct ncs_lane_state *lane, uint64_t now)
{
	uint64_t hint = ncs_load_relaxed(&comm->proxy_op_hint);
	struct ncs_proxy_op *op;

	for (uint64_t i = hint; i < NCS_PROXY_OP_MAX; i++) {
		if (claim_free(&comm->proxy_ops[i])) {
			ncs_store_relaxed(&comm->proxy_op_hint, i + 1);
			return &comm->proxy_ops[i];
		}
	}
	op = evict(comm, lane, now);
	if (!op)
		ncs_lane_lose(lane, NCS_LOSS_POOL_FULL);
	return op;
}

/* Links a proxy operation to the operation that it is part of. */
static void adopt(struct ncs_comm *comm, struct ncs_lane_state *lane,
		  struct ncs_proxy_op *op, uint64_t parent, uint64_t now)
{
	struct ncs_op *operation = ncs_operation_find(comm, parent);

	op->operation_handle = 0;
	op->operation = 0;
	op->function = NCS_FUNCTION_OTHER;
	if (!operation) {
		/* NCCL names no parent for some (Broadcast since 2.29). */
		if (parent != 0 &&
		    ncs_handle_decode(parent).kind != NCS_HANDLE_UNTRACKED)
			ncs_lane_lose(lane, NCS_LOSS_ORPHAN);
		return;
	}
	op->operation_handle = parent;
	op->operation = operation->number;
	op->function = operation->function;
	ncs_operation_child_started(lane, operation, now);
}

uint64_t ncs_proxy_op_start(struct ncs_comm *comm, struct ncs_lane_state *lane,
			    uint64_t parent, const struct nccl_proxy_op *facts,
			    uint64_t now)
{
	struct change change = { .operations_started = 1 };
	struct ncs_proxy_op *op = claim(comm, lane, now);

	if (!op)
		return ncs_handle_encode(NCS_HANDLE_UNTRACKED, comm->index, 0,
					 0, 0);
	adopt(comm, lane, op, parent, now);
	op->start = now;
	op->in_progress = op->first_step = 0;
	op->bytes = op->steps_done = op->cumulative_bytes = 0;
	op->nsteps = facts->steps > 0 ? (uint32_t)facts->steps : 0;
	op->oldest = 0;
	op->peer = facts->peer;
	op->channel = facts->channel;
	op->send = facts->is_send != 0;
	op->live_steps = op->has_sample = op->size_known = 0;
	op->channel_index = find_channel(
		comm, NCS_CHANNEL_KEY(op->channel, op->send, op->peer));
	if (op->channel_index != NCS_NONE)
		enqueue(comm, op);
	else
		ncs_lane_lose(lane, NCS_LOSS_TABLE_FULL);
	update_channel(comm, op->channel_index, &change, now);
	return ncs_handle_encode(NCS_HANDLE_PROXY_OP, comm->index,
				 (unsigned)(op - comm->proxy_ops), 0,
				 ncs_load_relaxed(&op->tag));
}

struct ncs_proxy_op *ncs_proxy_op_find(struct ncs_comm *comm,
				       const struct ncs_handle *handle)
{
	struct ncs_proxy_op *op = &comm->proxy_ops[handle->slot];

	if (handle->slot >= NCS_PROXY_OP_MAX ||
	    !ncs_handle_matches(handle, ncs_load_relaxed(&op->tag)))
		return NULL;
	return op;
}

/* Up to NCCL 2.26 sizes come with the proxy operation's states: a sum since an
 * arbitrary start, so only differences count. */
static uint64_t sample_size(struct ncs_proxy_op *op, uint64_t cumulative_bytes)
{
	uint64_t moved = 0;

	if (op->has_sample && cumulative_bytes > op->cumulative_bytes)
		moved = cumulative_bytes - op->cumulative_bytes;
	op->has_sample = op->size_known = 1;
	op->cumulative_bytes = cumulative_bytes;
	op->bytes += moved;
	return moved;
}

void ncs_proxy_op_state(struct ncs_comm *comm, struct ncs_proxy_op *op,
			unsigned state, const uint64_t *cumulative_bytes,
			uint64_t now)
{
	struct change change = { 0 };

	if (state == NCCL_STATE_OP_IN_PROGRESS && op->in_progress == 0)
		op->in_progress = now;
	if (state > NCCL_STATE_OP_RECV_DONE || !cumulative_bytes)
		return;
	change.bytes = sample_size(op, *cumulative_bytes);
	if (change.bytes)
		update_channel(comm, op->channel_index, &change, now);
}

/* --- steps ------------------------------------------------------------------- */

static void publish_step(struct ncs_lane_state *lane,
			 const struct ncs_proxy_op *op,
			 const struct ncs_step *step, bool stopped,
			 uint64_t now)
{
	struct ncs_record record = {
		.start = step->start,
		.event = NCS_EVENT_PROXY_STEP,
		.flags = (uint8_t)((op->send ? NCS_RECORD_SEND : 0) |
				   (stopped ? 0 : NCS_RECORD_MISSING_STOP)),
		.channel = op->channel,
		.function = op->function,
		.operation = (uint32_t)op->operation,
		.peer = op->peer,
		.value = step->bytes,
		.number = step->number,
		.duration = now - step->start,
		.delta = { step->delta[0], step->delta[1] },
	};

	ncs_lane_publish(lane, &record);
}

/* Takes a step off its operation; the oldest is the next that is left. */
static void retire_step(struct ncs_proxy_op *op, struct ncs_step *step)
{
	unsigned slot = (unsigned)(step - op->steps);
	uint32_t oldest = UINT32_MAX;

	op->live_steps &= (uint8_t)~(1u << slot);
	op->steps_done++;
	/* ORDER: pairs with ncs_step_start() (plugin/proxy.c). */
	ncs_store_release(&step->tag, (ncs_load_relaxed(&step->tag) | 1) + 1);
	for (unsigned i = 0; i < NCS_STEP_MAX; i++)
		if (op->live_steps & 1u << i && op->steps[i].number < oldest)
			oldest = op->steps[i].number;
	if (op->live_steps)
		op->oldest = oldest;
}

/* Ends a step, and adds what that changes. */
static void end_step(struct ncs_lane_state *lane, struct ncs_proxy_op *op,
		     struct ncs_step *step, bool stopped,
		     struct change *change, uint64_t now)
{
	if (!stopped)
		ncs_lane_lose(lane, NCS_LOSS_MISSING_STOP);
	publish_step(lane, op, step, stopped, now);
	retire_step(op, step);
	change->steps_done++;
	if (!op->size_known)
		change->size_unknown++;
}

static uint64_t step_handle(const struct ncs_comm *comm,
			    const struct ncs_proxy_op *op,
			    const struct ncs_step *step)
{
	return ncs_handle_encode(NCS_HANDLE_STEP, comm->index,
				 (unsigned)(op - comm->proxy_ops),
				 (unsigned)(step - op->steps),
				 ncs_load_relaxed(&step->tag));
}

uint64_t ncs_step_start(struct ncs_comm *comm, struct ncs_lane_state *lane,
			struct ncs_proxy_op *op, int number, uint64_t now)
{
	struct change change = { .steps_started = 1 };
	unsigned slot = (unsigned)number % NCS_STEP_MAX;
	struct ncs_step *step = &op->steps[slot];

	if (op->live_steps & 1u << slot) {
		/* NCCL starts a receive step again while it cannot be posted;
		 * and up to 2.26 it loses the stop of some, whose slot then
		 * comes round again. */
		if (step->number == (uint32_t)number)
			return step_handle(comm, op, step);
		end_step(lane, op, step, false, &change, now);
	}
	step->start = now;
	step->delta[0] = step->delta[1] = 0;
	step->bytes = 0;
	step->number = (uint32_t)number;
	step->state = op->send ? NCS_CHANNEL_SEND_GPU_WAIT :
				 NCS_CHANNEL_RECV_WAIT;
	/* ORDER: pairs with retire_step() (plugin/proxy.c). */
	ncs_store_release(&step->tag, (ncs_load_relaxed(&step->tag) + 1) | 1);
	if (!op->live_steps || step->number < op->oldest)
		op->oldest = step->number;
	op->live_steps |= (uint8_t)(1u << slot);
	if (op->first_step == 0)
		op->first_step = now;
	update_channel(comm, op->channel_index, &change, now);
	return step_handle(comm, op, step);
}

struct ncs_proxy_op *ncs_step_find(struct ncs_comm *comm,
				   const struct ncs_handle *handle,
				   struct ncs_step **step)
{
	struct ncs_proxy_op *op = &comm->proxy_ops[handle->slot];

	if (handle->slot >= NCS_PROXY_OP_MAX || handle->lane >= NCS_STEP_MAX)
		return NULL;
	*step = &op->steps[handle->lane];
	if (!(op->live_steps & 1u << handle->lane) ||
	    !ncs_handle_matches(handle, ncs_load_relaxed(&(*step)->tag)))
		return NULL;
	return op;
}

void ncs_step_state(struct ncs_comm *comm, struct ncs_proxy_op *op,
		    struct ncs_step *step, unsigned state,
		    const uint64_t *bytes, uint64_t now)
{
	struct change change = { 0 };
	uint8_t entered;
	int delta = -1;
	bool sized = false;

	switch (state) {
	case NCCL_STATE_STEP_SEND_GPU_WAIT:
		entered = NCS_CHANNEL_SEND_GPU_WAIT;
		break;
	case NCCL_STATE_STEP_SEND_PEER_WAIT:
		entered = NCS_CHANNEL_SEND_PEER_WAIT;
		delta = 0;
		break;
	case NCCL_STATE_STEP_SEND_WAIT:
		entered = NCS_CHANNEL_SEND_WAIT;
		delta = 1;
		sized = true;
		break;
	case NCCL_STATE_STEP_RECV_WAIT:
		entered = NCS_CHANNEL_RECV_WAIT;
		break;
	case NCCL_STATE_STEP_RECV_FLUSH_WAIT:
		entered = NCS_CHANNEL_RECV_FLUSH_WAIT;
		delta = 0;
		sized = true;
		break;
	default:
		entered = NCS_CHANNEL_RECV_GPU_WAIT;
		delta = 1;
		break;
	}
	/* NCCL repeats SendPeerWait at every poll: the first one counts. */
	if (step->state == entered)
		return;
	step->state = entered;
	if (delta >= 0)
		step->delta[delta] = now - step->start;
	if (sized && bytes) {
		op->size_known = 1;
		op->bytes += *bytes;
		step->bytes = *bytes;
		change.bytes = *bytes;
	}
	update_channel(comm, op->channel_index, &change, now);
}

void ncs_step_stop(struct ncs_comm *comm, struct ncs_lane_state *lane,
		   struct ncs_proxy_op *op, struct ncs_step *step,
		   uint64_t now)
{
	struct change change = { 0 };

	end_step(lane, op, step, true, &change, now);
	update_channel(comm, op->channel_index, &change, now);
}

/* --- the end of a proxy operation ----------------------------------------------- */

static void publish_proxy_op(struct ncs_lane_state *lane,
			     const struct ncs_proxy_op *op, uint64_t now)
{
	struct ncs_record record = {
		.start = op->start,
		.event = NCS_EVENT_PROXY_OP,
		.flags = op->send ? NCS_RECORD_SEND : 0,
		.channel = op->channel,
		.function = op->function,
		.operation = (uint32_t)op->operation,
		.peer = op->peer,
		.value = op->bytes,
		.number = op->steps_done,
		.duration = now - op->start,
	};

	if (op->in_progress)
		record.delta[0] = op->in_progress - op->start;
	if (op->first_step)
		record.delta[1] = op->first_step - op->start;
	ncs_lane_publish(lane, &record);
}

void ncs_proxy_op_stop(struct ncs_comm *comm, struct ncs_lane_state *lane,
		       struct ncs_proxy_op *op, uint64_t now)
{
	struct change change = { .operations_done = 1 };

	for (unsigned i = 0; i < NCS_STEP_MAX; i++)
		if (op->live_steps & 1u << i)
			end_step(lane, op, &op->steps[i], false, &change, now);
	publish_proxy_op(lane, op, now);
	if (op->channel_index != NCS_NONE)
		dequeue(comm, op);
	update_channel(comm, op->channel_index, &change, now);
	ncs_operation_proxy_done(comm, lane, op->operation_handle,
				 op->in_progress ? op->in_progress : op->start,
				 now);
	release(comm, op);
}

/* --- the proxy thread ------------------------------------------------------------ */

uint64_t ncs_ctrl_start(struct ncs_comm *comm, struct ncs_lane_state *lane,
			uint64_t now)
{
	unsigned index = (unsigned)(lane - comm->lanes);
	uint64_t tag = (ncs_load_relaxed(&lane->ctrl_tag) + 1) | 1;

	memset(&lane->ctrl, 0, sizeof(lane->ctrl));
	lane->ctrl.start = now;
	lane->ctrl.event = NCS_EVENT_PROXY_CTRL;
	lane->ctrl.peer = -1;
	ncs_store_relaxed(&lane->ctrl_tag, tag);
	return ncs_handle_encode(NCS_HANDLE_CTRL, comm->index, 0, index, tag);
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
	add(&proxy->count[transition], 1);
	add(&proxy->appended_operations, appended);
	if (state != left) {
		if (left != NCS_PROXY_UNKNOWN && left < NCS_PROXY_STATE_COUNT)
			add(&proxy->time[left],
			    now - ncs_load_relaxed(&proxy->since));
		ncs_payload_store(&proxy->state, state);
		ncs_payload_store(&proxy->since, now);
	}
	ncs_seqlock_end(&proxy->sequence);
}

/* What the thread goes back to after sleeping or appending: NCCL reports idle
 * and active only when they change. */
static enum ncs_proxy_state resting(const struct ncs_comm *comm)
{
	uint64_t state = ncs_load_relaxed(&comm->proxy_resting);

	return state == NCS_PROXY_ACTIVE ? NCS_PROXY_ACTIVE : NCS_PROXY_IDLE;
}

void ncs_ctrl_state(struct ncs_comm *comm, struct ncs_lane_state *owner,
		    unsigned state, uint64_t appended, uint64_t now)
{
	struct ncs_record *ctrl = &owner->ctrl;

	switch (state) {
	case NCCL_STATE_CTRL_IDLE:
		ncs_store_relaxed(&comm->proxy_resting, NCS_PROXY_IDLE);
		enter_proxy_state(comm, NCS_TRANSITION_IDLE, NCS_PROXY_IDLE, 0,
				  now);
		break;
	case NCCL_STATE_CTRL_ACTIVE:
		ncs_store_relaxed(&comm->proxy_resting, NCS_PROXY_ACTIVE);
		enter_proxy_state(comm, NCS_TRANSITION_ACTIVE,
				  NCS_PROXY_ACTIVE, 0, now);
		break;
	case NCCL_STATE_CTRL_SLEEP:
		enter_proxy_state(comm, NCS_TRANSITION_SLEEP, NCS_PROXY_SLEEP,
				  0, now);
		ctrl->number = NCS_PROXY_SLEEP;
		break;
	case NCCL_STATE_CTRL_WAKEUP:
		enter_proxy_state(comm, NCS_TRANSITION_WAKEUP, resting(comm),
				  0, now);
		ctrl->delta[0] = now - ctrl->start;
		break;
	case NCCL_STATE_CTRL_APPEND:
		enter_proxy_state(comm, NCS_TRANSITION_APPEND,
				  NCS_PROXY_APPEND, 0, now);
		ctrl->number = NCS_PROXY_APPEND;
		break;
	default:
		enter_proxy_state(comm, NCS_TRANSITION_APPEND_END,
				  resting(comm), appended, now);
		ctrl->delta[0] = now - ctrl->start;
		ctrl->value = appended;
		break;
	}
}

/* Idle and active are moments, up to 10^6 a second when operations stall: they
 * are counted, but no records. */
void ncs_ctrl_stop(struct ncs_lane_state *lane, struct ncs_lane_state *owner,
		   uint64_t now)
{
	if (owner->ctrl.number != 0) {
		owner->ctrl.duration = now - owner->ctrl.start;
		ncs_lane_publish(lane, &owner->ctrl);
	}
	ncs_store_relaxed(&owner->ctrl_tag,
			  (ncs_load_relaxed(&owner->ctrl_tag) | 1) + 1);
}
