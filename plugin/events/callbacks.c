/* SPDX-License-Identifier: MIT */
/* The core of the callbacks: finds the communicator and the event of a
 * callback, checks that they are live, and calls the module that handles the
 * event. */
#include "plugin/events/callbacks.h"

#include <string.h>

#include "ncclstat/tables/states.def"
#include "plugin/state/noted_calls.h"
#include "plugin/events/call.h"
#include "plugin/events/control_watch.h"
#include "plugin/events/copies.h"
#include "plugin/events/decode.h"
#include "plugin/events/launch.h"
#include "plugin/state/lane.h"
#include "plugin/mask/mask.h"
#include "plugin/events/operation.h"
#include "plugin/state/registry.h"
#include "plugin/events/proxy.h"
#include "plugin/events/range_stats.h"
#include "plugin/events/sampling.h"
#include "plugin/events/span.h"
#include "plugin/events/step.h"
#include "shm/seqlock.h"

/* The version of the API that introduced each state, and the event type that it
 * belongs to, by state. */
static const struct {
	uint8_t api;
	uint8_t event;
} states[] = {
#define X(ID, value, api, event, name) [value] = { api, NCS_EVENT_##event },
	NCS_STATES(X)
#undef X
};

#define STATE_COUNT (sizeof(states) / sizeof(states[0]))

/* --- events that cannot be followed ------------------------------------- */

/* Counts a lost event that belongs to no known communicator. */
static void lose_unattributed(enum ncs_loss loss, uint64_t now)
{
	struct ncs_comm *comm = ncs_comm_for_unattributed();

	if (comm)
		ncs_lane_lose(ncs_lane_enter(comm, now), loss);
}

/* Returns true if the communicator takes events; else counts a late
 * callback. */
static bool accept(struct ncs_comm *comm, uint64_t now)
{
	if (ncs_comm_is_live(comm))
		return true;
	ncs_lane_lose(ncs_lane_enter(comm, now), NCS_LOSS_LATE);
	return false;
}

/* Returns true for the context of a communicator that could not be
 * published. */
static bool is_disabled(const void *context)
{
	return (uintptr_t)context == 1;
}

/* Counts an event whose context is not that of a live communicator. */
__attribute__((noinline)) static void refuse_context(const void *context)
{
	struct ncs_comm *comm = ncs_comm_of_context(context);
	uint64_t now = ncs_now();

	if (comm)
		accept(comm, now);
	else if (!is_disabled(context))
		lose_unattributed(NCS_LOSS_FOREIGN, now);
}

/* Counts a stop or state whose handle does not lead to a live communicator. */
__attribute__((noinline)) static void
refuse_handle(const struct ncs_handle *handle)
{
	struct ncs_comm *comm = handle->kind != NCS_HANDLE_NONE ?
					ncs_comm_of_handle(handle) :
					NULL;
	uint64_t now = ncs_now();

	if (comm)
		accept(comm, now);
	else
		lose_unattributed(NCS_LOSS_STALE, now);
}

/* Returns the communicator of a handle; NULL if it is not live. */
static inline struct ncs_comm *
live_comm_of_handle(const struct ncs_handle *handle)
{
	struct ncs_comm *comm = &ncs_registry.comms[handle->comm];

	return handle->kind != NCS_HANDLE_NONE && ncs_comm_is_live(comm) ?
		       comm :
		       NULL;
}

/* Counts an event of another process (PXN). Returns a stand-in by which its
 * children are recognised. */
static uint64_t foreign(struct ncs_comm *comm, uint64_t now)
{
	if (!comm)
		comm = ncs_comm_for_unattributed();
	if (!comm)
		return 0;
	ncs_lane_lose(ncs_lane_enter(comm, now), NCS_LOSS_FOREIGN);
	return ncs_handle_encode(NCS_HANDLE_FOREIGN, comm->index, 0, 0, 0);
}

/* --- start -------------------------------------------------------------- */

static void start_kernel(struct ncs_comm *comm, struct ncs_lane_state *lane,
			 unsigned api_version, struct ncs_span_slot *span,
			 uint64_t parent, const void *body, uint64_t now)
{
	struct ncs_operation_slot *op =
		span ? ncs_operation_child_started(comm, lane, parent, now) :
		       NULL;
	uint8_t channel;

	if (span && !op && parent != 0 &&
	    ncs_handle_decode(parent).kind != NCS_HANDLE_UNTRACKED)
		ncs_lane_lose(lane, NCS_LOSS_ORPHAN);
	if (!span)
		return;
	ncs_decode_kernel(api_version, body, &channel, &span->gpu_start_ns);
	span->words[1] =
		ncs_record_word1(NCS_EVENT_KERNEL_CH, 0, channel,
				 op ? op->function : NCS_FUNCTION_OTHER);
	if (!op)
		return;
	ncs_sampling_inherit(&span->sampled, op, true, now);
	span->operation_handle = parent;
	span->words[2] = ncs_record_word2(op->number, -1);
	span->launched = op->launched != 0;
	span->since = op->launched ? op->launched : op->start;
}

static void start_phase(struct ncs_comm *comm, struct ncs_lane_state *lane,
			struct ncs_span_slot *span, uint64_t parent,
			const void *body)
{
	struct ncs_handle handle = ncs_handle_decode(parent);
	struct ncs_span_slot *kernel = NULL;

	if (handle.kind == NCS_HANDLE_SPAN && handle.comm == comm->index)
		kernel = ncs_span_find(comm, &handle);
	if (kernel && kernel->record.event != NCS_EVENT_KERNEL_CH)
		kernel = NULL;
	if (!kernel && handle.kind != NCS_HANDLE_UNTRACKED)
		ncs_lane_lose(lane, NCS_LOSS_ORPHAN);
	if (!span)
		return;
	ncs_decode_phase(body, &span->record.channel, &span->record.delta[0],
			 &span->gpu_start_ns);
	span->record.function = NCS_FUNCTION_OTHER;
	if (kernel) {
		ncs_sampling_pass_on(&span->sampled, &kernel->sampled);
		span->operation_handle = kernel->operation_handle;
		span->since = kernel->since;
		span->record.operation = kernel->record.operation;
		span->record.function = kernel->record.function;
	}
}

static void start_net(struct ncs_comm *comm, struct ncs_lane_state *lane,
		      struct ncs_span_slot *span, uint64_t parent,
		      const void *body)
{
	const struct ncs_step_slot *step =
		ncs_handle_comm(parent) == comm->index ? ncs_step_find(parent) :
							 NULL;
	const struct ncs_proxy_op_slot *op = step ? step->op : NULL;

	if (!op && parent != 0 && !ncs_handle_is(parent, NCS_HANDLE_UNTRACKED))
		ncs_lane_lose(lane, NCS_LOSS_ORPHAN);
	if (!span)
		return;
	ncs_decode_net(body, &span->record.number, &span->record.value);
	span->record.function = NCS_FUNCTION_OTHER;
	if (op) {
		ncs_sampling_pass_on(&span->sampled, &op->sampled);
		span->operation_handle = op->operation_handle;
		span->record.function = op->record.function;
		span->record.channel = op->record.channel;
		span->record.peer = op->record.peer;
		span->record.operation = (uint32_t)op->operation;
		span->record.flags = op->send ? NCS_RECORD_SEND : 0;
	}
}

static uint64_t start_span(unsigned api_version, struct ncs_comm *comm,
			   struct ncs_lane_state *lane, enum ncs_event event,
			   uint64_t parent, const void *body, uint64_t now)
{
	uint64_t handle;
	struct ncs_span_slot *span =
		ncs_span_start(comm, lane, event, now, &handle);

	switch ((int)event) {
	case NCS_EVENT_COLL_API:
	case NCS_EVENT_P2P_API:
		ncs_call_api(comm, lane, span, handle, event, parent, body,
			     now);
		break;
	case NCS_EVENT_KERNEL_LAUNCH:
		ncs_call_launch(comm, lane, span, handle, parent, body, now);
		break;
	case NCS_EVENT_KERNEL_CH:
		start_kernel(comm, lane, api_version, span, parent, body, now);
		break;
	case NCS_EVENT_KERNEL_PHASE:
		start_phase(comm, lane, span, parent, body);
		break;
	case NCS_EVENT_NET_PLUGIN:
		start_net(comm, lane, span, parent, body);
		break;
	case NCS_EVENT_GROUP_API:
		if (span)
			ncs_decode_group_api(body, &span->record);
		break;
	case NCS_EVENT_CE_COLL:
		ncs_copies_start(comm, span ? handle : 0, body, now);
		if (span)
			ncs_decode_span(comm->nranks, event, body,
					&span->record);
		break;
	default:
		if (span)
			ncs_decode_span(comm->nranks, event, body,
					&span->record);
		break;
	}
	return handle;
}

/* Counts a step whose proxy operation is not in progress here. */
static uint64_t start_unattributed_step(const void *context, uint64_t parent)
{
	uint64_t now = ncs_now();
	struct ncs_handle handle = ncs_handle_decode(parent);
	struct ncs_comm *comm = parent ? ncs_comm_of_handle(&handle) : NULL;
	struct ncs_lane_state *lane;

	/* Only the parent counts: the context may be another process's even if
	 * the proxy operation is not. */
	if (comm && handle.kind == NCS_HANDLE_FOREIGN)
		return foreign(comm, now);
	if (!comm)
		comm = ncs_comm_of_context(context);
	if (!comm)
		return is_disabled(context) ? 0 : foreign(NULL, now);
	if (!accept(comm, now))
		return 0;
	lane = ncs_lane_enter(comm, now);
	ncs_lane_count_event(lane, NCS_EVENT_PROXY_STEP);
	ncs_lane_lose(lane, handle.kind == NCS_HANDLE_UNTRACKED ?
				    NCS_LOSS_POOL_FULL :
				    NCS_LOSS_ORPHAN);
	return ncs_handle_encode(NCS_HANDLE_UNTRACKED, comm->index, 0, 0, 0);
}

static uint64_t start_proxy_op(const void *context, uint64_t parent,
			       const struct nccl_proxy_op *facts)
{
	uint64_t now = ncs_now();
	struct ncs_comm *comm = ncs_comm_of_context(context);
	struct ncs_lane_state *lane;

	if (is_disabled(context))
		return 0;
	if (!comm || (uint32_t)facts->pid != ncs_registry.pid)
		return foreign(comm, now);
	if (!accept(comm, now))
		return 0;
	lane = ncs_lane_enter(comm, now);
	ncs_lane_count_event(lane, NCS_EVENT_PROXY_OP);
	return ncs_proxy_op_start(comm, lane, parent, facts, now);
}

uint64_t ncs_start_event(unsigned api_version, const void *context,
			 uint64_t type, const void *parent_pointer, int rank,
			 const void *body)
{
	uint64_t parent = (uint64_t)(uintptr_t)parent_pointer, now;
	enum ncs_event event;
	struct ncs_comm *comm;
	struct ncs_lane_state *lane;

	ncs_thread.takers = 0;
	if (type == 1u << NCS_EVENT_PROXY_STEP)
		return start_unattributed_step(context, parent);
	if (type == 1u << NCS_EVENT_PROXY_OP)
		return start_proxy_op(context, parent, body);
	comm = ncs_comm_of_context(context);
	if (__builtin_expect(!comm || !ncs_comm_is_live(comm), 0)) {
		refuse_context(context);
		return 0;
	}
	lane = ncs_lane_of_caller(comm);
	event = (enum ncs_event)__builtin_ctzll(type | UINT64_C(1) << 63);
	if (__builtin_expect(event >= NCS_EVENT_COUNT ||
				     type != UINT64_C(1) << event ||
				     api_version < ncs_event_api(event),
			     0)) {
		ncs_lane_lose(lane, NCS_LOSS_UNKNOWN);
		return 0;
	}
	ncs_lane_count_event(lane, event);
	if (event == NCS_EVENT_PROXY_CTRL)
		return ncs_ctrl_start(comm, lane);
	now = ncs_now();
	ncs_lane_note_call(lane, now);
	if (event == NCS_EVENT_GROUP || event == NCS_EVENT_GROUP_API) {
		ncs_mask_check(comm);
		ncs_control_check(lane, now);
	}
	if (event == NCS_EVENT_COLL || event == NCS_EVENT_P2P)
		return ncs_call_operation(api_version, comm, lane, event,
					  parent, rank, body, now);
	return start_span(api_version, comm, lane, event, parent, body, now);
}

/* --- stop --------------------------------------------------------------- */

static bool stop_span(struct ncs_comm *comm, struct ncs_lane_state *lane,
		      uint64_t value, const struct ncs_handle *handle)
{
	struct ncs_span_slot *span = ncs_span_find(comm, handle);
	uint64_t now;

	if (!span)
		return false;
	now = ncs_now();
	ncs_lane_note_call(lane, now);
	if (span->record.event == NCS_EVENT_KERNEL_LAUNCH)
		ncs_launch_stop(comm, lane, value,
				(void *)(uintptr_t)NCS_RECORD_STREAM_HANDLE(
					span->record.delta[0]));
	if (span->record.event == NCS_EVENT_CE_COLL)
		ncs_copies_stop(comm, value, now);
	ncs_span_stop(comm, lane, handle, span, now);
	return true;
}

static bool stop_proxy_op(struct ncs_comm *comm, struct ncs_lane_state *lane,
			  uint64_t value)
{
	struct ncs_proxy_op_slot *op = ncs_proxy_op_find(comm, value);
	uint64_t now;

	if (!op)
		return false;
	now = ncs_now();
	ncs_lane_note_call(lane, now);
	ncs_proxy_op_stop(comm, lane, op, now);
	return true;
}

static bool stop_ctrl(struct ncs_comm *comm, struct ncs_lane_state *lane,
		      const struct ncs_handle *handle)
{
	struct ncs_lane_state *owner = ncs_ctrl_find(comm, handle);

	if (owner)
		ncs_ctrl_stop(lane, owner);
	return owner != NULL;
}

static bool stop_operation(struct ncs_comm *comm, struct ncs_lane_state *lane,
			   uint64_t value)
{
	uint64_t now = ncs_now();

	ncs_lane_note_call(lane, now);
	return ncs_operation_stop(comm, value, now);
}

void ncs_stop_event(const void *pointer)
{
	uint64_t value = (uint64_t)(uintptr_t)pointer;
	struct ncs_handle handle = ncs_handle_decode(value);
	struct ncs_comm *comm = live_comm_of_handle(&handle);
	struct ncs_lane_state *lane;
	bool good = false;

	ncs_thread.takers = 0;
	if (!comm) {
		refuse_handle(&handle);
		return;
	}
	lane = ncs_lane_of_caller(comm);
	switch ((int)handle.kind) {
	case NCS_HANDLE_SPAN:
		good = stop_span(comm, lane, value, &handle);
		break;
	case NCS_HANDLE_OPERATION:
		good = stop_operation(comm, lane, value);
		break;
	case NCS_HANDLE_PROXY_OP:
		good = stop_proxy_op(comm, lane, value);
		break;
	case NCS_HANDLE_CTRL:
		good = stop_ctrl(comm, lane, &handle);
		break;
	case NCS_HANDLE_FOREIGN:
	case NCS_HANDLE_UNTRACKED:
		return;
	default:
		break;
	}
	if (!good)
		ncs_lane_lose(lane, NCS_LOSS_STALE);
}

/* --- states ------------------------------------------------------------- */

static bool record_proxy_op(unsigned api_version, struct ncs_comm *comm,
			    struct ncs_lane_state *lane, uint64_t handle,
			    unsigned state, const void *args)
{
	const union nccl_state_args_v1 *sizes = args;
	struct ncs_proxy_op_slot *op = ncs_proxy_op_find(comm, handle);
	uint64_t bytes, now = ncs_now();

	if (!op)
		return false;
	ncs_lane_note_call(lane, now);
	if (args && api_version < 4) {
		bytes = sizes->proxy_op.transferred_bytes;
		ncs_proxy_op_state(op, state, &bytes, now);
	} else {
		ncs_proxy_op_state(op, state, NULL, now);
	}
	return true;
}

static bool record_ctrl(struct ncs_comm *comm, struct ncs_lane_state *lane,
			const struct ncs_handle *handle, unsigned state,
			const void *args)
{
	const union nccl_state_args_v4 *counts = args;
	struct ncs_lane_state *owner = ncs_ctrl_find(comm, handle);
	uint64_t now = ncs_now();
	int appended = 0;

	if (!owner)
		return false;
	ncs_lane_note_call(lane, now);
	if (args && state == NCCL_STATE_CTRL_APPEND_END)
		appended = counts->proxy_ctrl.appended_ops;
	ncs_ctrl_state(comm, owner, state,
		       appended > 0 ? (uint64_t)appended : 0, now);
	return true;
}

/* Returns the time since a span's start, for its record. */
static uint64_t time_in(struct ncs_lane_state *lane,
			const struct ncs_span_slot *span)
{
	uint64_t now = ncs_now();

	ncs_lane_note_call(lane, now);
	return now - span->record.start;
}

static bool record_span(struct ncs_comm *comm, struct ncs_lane_state *lane,
			const struct ncs_handle *handle, unsigned state,
			const void *args)
{
	const union nccl_state_args_v4 *timer = args;
	struct ncs_span_slot *span = ncs_span_find(comm, handle);

	if (!span || span->record.event != states[state].event)
		return false;
	switch (state) {
	case NCCL_STATE_KERNEL_CH_STOP:
	case NCCL_STATE_KERNEL_PHASE_STOP:
		if (args)
			span->gpu_stop_ns = timer->kernel_ch.gpu_timer_ns;
		break;
	case NCCL_STATE_GROUP_START_API_STOP:
		span->record.delta[0] = time_in(lane, span);
		break;
	case NCCL_STATE_GROUP_END_API_START:
		span->record.delta[1] = time_in(lane, span);
		break;
	default:
		break;
	}
	return true;
}

void ncs_record_state(unsigned api_version, const void *pointer, unsigned state,
		      const void *args)
{
	uint64_t value = (uint64_t)(uintptr_t)pointer;
	struct ncs_handle handle = ncs_handle_decode(value);
	struct ncs_comm *comm = live_comm_of_handle(&handle);
	struct ncs_lane_state *lane;
	unsigned event;
	bool good = false;

	ncs_thread.takers = 0;
	if (!comm) {
		refuse_handle(&handle);
		return;
	}
	if (handle.kind == NCS_HANDLE_FOREIGN ||
	    handle.kind == NCS_HANDLE_UNTRACKED)
		return;
	lane = ncs_lane_of_caller(comm);
	if (state >= STATE_COUNT || states[state].api > api_version) {
		ncs_lane_lose(lane, NCS_LOSS_UNKNOWN);
		return;
	}
	event = states[state].event;
	if (handle.kind == NCS_HANDLE_PROXY_OP)
		good = event == NCS_EVENT_PROXY_OP &&
		       record_proxy_op(api_version, comm, lane, value, state,
				       args);
	else if (handle.kind == NCS_HANDLE_CTRL)
		good = event == NCS_EVENT_PROXY_CTRL &&
		       record_ctrl(comm, lane, &handle, state, args);
	else if (handle.kind == NCS_HANDLE_SPAN)
		good = record_span(comm, lane, &handle, state, args);
	if (!good)
		ncs_lane_lose(lane, NCS_LOSS_STALE);
}
