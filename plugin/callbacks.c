/* The core of the callbacks: who is meant, is it ours, and who handles it. */
#include "plugin/callbacks.h"

#include <string.h>

#include "ncclstat/tables/states.h"
#include "plugin/decode.h"
#include "plugin/kernel.h"
#include "plugin/lane.h"
#include "plugin/mask.h"
#include "plugin/operation.h"
#include "plugin/process.h"
#include "plugin/proxy.h"
#include "plugin/span.h"
#include "plugin/step.h"
#include "shm/seqlock.h"

/* The API version that brought each event type. */
static const uint8_t event_api[] = {
#define X(ID, name, bit, api, help) api,
	NCS_EVENTS(X)
#undef X
};

/* … and each state, with the event type that it is of. */
static const struct {
	uint8_t api;
	uint8_t event;
} states[] = {
#define X(ID, value, api, event, name) [value] = { api, NCS_EVENT_##event },
	NCS_STATES(X)
#undef X
};

#define STATE_COUNT (sizeof(states) / sizeof(states[0]))

/* --- what cannot be followed ---------------------------------------------------- */

/* Counts a loss where no better place is known. */
static void lose_stray(enum ncs_loss loss, uint64_t now)
{
	struct ncs_comm *comm = ncs_comm_for_strays();

	if (comm)
		ncs_lane_lose(ncs_lane_enter(comm, now), loss);
}

/* True if the communicator takes events; else the callback is counted. */
static bool accept(struct ncs_comm *comm, uint64_t now)
{
	if (ncs_comm_is_live(comm))
		return true;
	ncs_lane_lose(ncs_lane_enter(comm, now), NCS_LOSS_LATE);
	return false;
}

/* The context of a communicator that could not be published. */
static bool is_disabled(const void *context)
{
	return (uintptr_t)context == 1;
}

/* An event of another process (PXN): it is counted, and its children are
 * recognised by the stand-in. */
static uint64_t foreign(struct ncs_comm *comm, uint64_t now)
{
	if (!comm)
		comm = ncs_comm_for_strays();
	if (!comm)
		return 0;
	ncs_lane_lose(ncs_lane_enter(comm, now), NCS_LOSS_FOREIGN);
	return ncs_handle_encode(NCS_HANDLE_FOREIGN, comm->index, 0, 0, 0);
}

/* --- start ---------------------------------------------------------------------- */

/* API 1-3 tell who we are with the first operation. */
static void identify(struct ncs_comm *comm, int rank,
		     const struct ncs_decoded_comm *facts)
{
	struct ncs_identity *identity = &comm->header->identity;
	struct ncs_identity copy;

	/* ORDER: pairs with identify() (plugin/callbacks.c): once is enough. */
	if (ncs_exchange_acquire_release(&comm->identified, 1) != 0)
		return;
	memcpy(&copy, identity, sizeof(copy));
	copy.rank = rank;
	copy.known |= NCS_KNOWN_RANK;
	if (facts->id != 0) {
		copy.comm_id = facts->id;
		copy.known |= NCS_KNOWN_COMM_ID;
	}
	if (facts->name) {
		strncpy(copy.comm_name, facts->name,
			sizeof(copy.comm_name) - 1);
		copy.known |= NCS_KNOWN_COMM_NAME;
	}
	ncs_seqlock_begin(&identity->sequence);
	for (size_t i = 1; i < sizeof(copy) / sizeof(uint64_t); i++)
		ncs_payload_store((uint64_t *)identity + i,
				  ((uint64_t *)&copy)[i]);
	ncs_seqlock_end(&identity->sequence);
}

static uint64_t start_operation(unsigned api_version, struct ncs_comm *comm,
				struct ncs_lane_state *lane,
				enum ncs_event event, int rank,
				const void *body, uint64_t now)
{
	struct ncs_operation_facts facts = { .event = event };
	struct ncs_decoded_comm told = { 0 };

	if (event == NCS_EVENT_COLL)
		ncs_decode_coll(api_version, body, &facts, &told);
	else
		ncs_decode_p2p(api_version, body, &facts, &told);
	if (api_version < 4 && ncs_load_relaxed(&comm->identified) == 0)
		identify(comm, rank, &told);
	return ncs_operation_start(comm, lane, &facts, now);
}

/* Fills in what an API call says, and counts the call. */
static void start_api_call(struct ncs_comm *comm, struct ncs_lane_state *lane,
			   const void *context, struct ncs_span *span,
			   enum ncs_event event, const void *body, uint64_t now)
{
	struct ncs_decoded_call call;
	struct ncs_function *function;

	ncs_decode_api_call(event, body, &call);
	ncs_mask_call(comm, (uintptr_t)context, event, &call);
	ncs_store_relaxed(&lane->launched, now);
	function = ncs_lane_function_begin(lane, call.function);
	ncs_lane_function_add(lane, &function->calls, 1);
	ncs_lane_function_end(lane, function);
	if (!span)
		return;
	span->record.function = call.function;
	span->record.flags = call.graph ? NCS_RECORD_GRAPH : 0;
	span->record.peer = call.root;
	ncs_message_bytes(comm, call.function, call.datatype, call.count,
			  &span->record.value);
}

static void start_kernel(struct ncs_comm *comm, struct ncs_lane_state *lane,
			 unsigned api_version, struct ncs_span *span,
			 uint64_t parent, const void *body, uint64_t now)
{
	struct ncs_op *op =
		span ? ncs_operation_child_started(comm, lane, parent, now) :
		       NULL;

	if (span && !op && parent != 0 &&
	    ncs_handle_decode(parent).kind != NCS_HANDLE_UNTRACKED)
		ncs_lane_lose(lane, NCS_LOSS_ORPHAN);
	if (!span)
		return;
	ncs_decode_kernel(api_version, body, &span->record.channel,
			  &span->gpu_start_ns);
	span->record.function = NCS_FUNCTION_OTHER;
	if (!op)
		return;
	span->operation_handle = parent;
	span->record.operation = (uint32_t)op->number;
	span->record.function = op->function;
	ncs_kernel_started(comm, span, op);
}

static void start_phase(struct ncs_comm *comm, struct ncs_lane_state *lane,
			struct ncs_span *span, uint64_t parent,
			const void *body)
{
	struct ncs_handle handle = ncs_handle_decode(parent);
	struct ncs_span *kernel = NULL;

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
		span->since = kernel->since;
		span->record.operation = kernel->record.operation;
		span->record.function = kernel->record.function;
	}
}

static void start_net(struct ncs_comm *comm, struct ncs_lane_state *lane,
		      struct ncs_span *span, uint64_t parent, const void *body)
{
	struct ncs_handle handle = ncs_handle_decode(parent);
	struct ncs_proxy_op *op = NULL;
	struct ncs_step *step;

	if (handle.kind == NCS_HANDLE_STEP && handle.comm == comm->index)
		op = ncs_step_find(comm, &handle, &step);
	if (!op && parent != 0 && handle.kind != NCS_HANDLE_UNTRACKED)
		ncs_lane_lose(lane, NCS_LOSS_ORPHAN);
	if (!span)
		return;
	ncs_decode_net(body, &span->record.number, &span->record.value);
	span->record.function = NCS_FUNCTION_OTHER;
	if (op) {
		span->record.function = op->record.function;
		span->record.channel = op->record.channel;
		span->record.peer = op->record.peer;
		span->record.operation = (uint32_t)op->operation;
		span->record.flags = op->send ? NCS_RECORD_SEND : 0;
	}
}

static uint64_t start_span(unsigned api_version, struct ncs_comm *comm,
			   struct ncs_lane_state *lane, const void *context,
			   enum ncs_event event, uint64_t parent,
			   const void *body, uint64_t now)
{
	uint64_t handle;
	struct ncs_span *span = ncs_span_start(comm, lane, event, now, &handle);

	switch ((int)event) {
	case NCS_EVENT_COLL_API:
	case NCS_EVENT_P2P_API:
		start_api_call(comm, lane, context, span, event, body, now);
		break;
	case NCS_EVENT_KERNEL_LAUNCH:
		ncs_store_relaxed(&lane->launched, now);
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
	default:
		if (span)
			ncs_decode_span(comm, event, body, &span->record);
		break;
	}
	return handle;
}

/* A step whose proxy operation is not one of ours that is under way. */
static uint64_t start_stray_step(const void *context, uint64_t parent,
				 uint64_t now)
{
	struct ncs_handle handle = ncs_handle_decode(parent);
	struct ncs_comm *comm = parent ? ncs_comm_of_handle(&handle) : NULL;
	struct ncs_lane_state *lane;

	/* The context may be another process's even where the operation is
	 * not: only the parent counts. */
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

static uint64_t start_step(const void *context, uint64_t parent,
			   const struct nccl_proxy_step *facts)
{
	struct ncs_handle handle = ncs_handle_decode(parent);
	struct ncs_comm *comm = &ncs_process_state.comms[handle.comm];
	struct ncs_proxy_op *op = NULL;
	struct ncs_lane_state *lane;
	uint64_t now = ncs_now();

	if (handle.kind == NCS_HANDLE_PROXY_OP && ncs_comm_is_live(comm))
		op = ncs_proxy_op_find(comm, &handle);
	if (__builtin_expect(!op, 0))
		return start_stray_step(context, parent, now);
	lane = ncs_lane_enter(comm, now);
	ncs_lane_count_event(lane, NCS_EVENT_PROXY_STEP);
	return ncs_step_start(comm, lane, op, facts->step, now);
}

static uint64_t start_proxy_op(const void *context, uint64_t parent,
			       const struct nccl_proxy_op *facts, uint64_t now)
{
	struct ncs_comm *comm = ncs_comm_of_context(context);
	struct ncs_lane_state *lane;

	if (is_disabled(context))
		return 0;
	if (!comm || (uint32_t)facts->pid != ncs_process_state.pid)
		return foreign(comm, now);
	if (!accept(comm, now))
		return 0;
	lane = ncs_lane_enter(comm, now);
	ncs_lane_count_event(lane, NCS_EVENT_PROXY_OP);
	return ncs_proxy_op_start(comm, lane, parent, facts, now);
}

/* Apart, so that the run of a step's callback stays short. */
__attribute__((noinline)) static uint64_t
start_other(unsigned api_version, const void *context, uint64_t type,
	    uint64_t parent, int rank, const void *body)
{
	uint64_t now = ncs_now();
	enum ncs_event event;
	struct ncs_comm *comm;
	struct ncs_lane_state *lane;

	if (type == 1u << NCS_EVENT_PROXY_OP)
		return start_proxy_op(context, parent, body, now);
	comm = ncs_comm_of_context(context);
	if (!comm) {
		if (!is_disabled(context))
			lose_stray(NCS_LOSS_FOREIGN, now);
		return 0;
	}
	if (!accept(comm, now))
		return 0;
	lane = ncs_lane_enter(comm, now);
	event = (enum ncs_event)__builtin_ctzll(type | UINT64_C(1) << 63);
	if (event >= NCS_EVENT_COUNT || type != UINT64_C(1) << event ||
	    api_version < event_api[event]) {
		ncs_lane_lose(lane, NCS_LOSS_UNKNOWN);
		return 0;
	}
	ncs_lane_count_event(lane, event);
	if (event == NCS_EVENT_PROXY_CTRL)
		return ncs_ctrl_start(comm, lane, now);
	if (event == NCS_EVENT_COLL || event == NCS_EVENT_P2P)
		return start_operation(api_version, comm, lane, event, rank,
				       body, now);
	return start_span(api_version, comm, lane, context, event, parent, body,
			  now);
}

uint64_t ncs_start_event(unsigned api_version, const void *context,
			 uint64_t type, const void *parent_pointer, int rank,
			 const void *body)
{
	uint64_t parent = (uint64_t)(uintptr_t)parent_pointer;

	if (__builtin_expect(type == 1u << NCS_EVENT_PROXY_STEP, 1))
		return start_step(context, parent, body);
	return start_other(api_version, context, type, parent, rank, body);
}

/* --- stop ------------------------------------------------------------------------ */

/* False if the handle is stale. */
static bool stop(struct ncs_comm *comm, struct ncs_lane_state *lane,
		 const struct ncs_handle *handle, uint64_t value, uint64_t now)
{
	struct ncs_proxy_op *proxy_op;
	struct ncs_lane_state *owner;
	struct ncs_span *span;
	uint64_t context;

	switch ((int)handle->kind) {
	case NCS_HANDLE_PROXY_OP:
		proxy_op = ncs_proxy_op_find(comm, handle);
		if (!proxy_op)
			return false;
		ncs_proxy_op_stop(comm, lane, proxy_op, now);
		return true;
	case NCS_HANDLE_SPAN:
		/* ORDER: pairs with publish_comm() (plugin/process.c): a span
		 * that is still found after that is of this communicator. */
		context = ncs_load_acquire(&comm->context);
		span = ncs_span_find(comm, handle);
		if (!span)
			return false;
		if (span->record.event == NCS_EVENT_GROUP_API)
			ncs_mask_group_end(comm, context, now);
		ncs_span_stop(comm, lane, handle, span, now);
		return true;
	case NCS_HANDLE_OPERATION:
		return ncs_operation_stop(comm, value, now);
	case NCS_HANDLE_CTRL:
		owner = ncs_ctrl_find(comm, handle);
		if (!owner)
			return false;
		ncs_ctrl_stop(lane, owner, now);
		return true;
	default:
		return false;
	}
}

/* The communicator of a handle that is to be followed; NULL: it has been seen
 * to. */
__attribute__((noinline)) static struct ncs_comm *
comm_of(const struct ncs_handle *handle, uint64_t now)
{
	struct ncs_comm *comm = handle->kind != NCS_HANDLE_NONE ?
					ncs_comm_of_handle(handle) :
					NULL;

	if (!comm) {
		lose_stray(NCS_LOSS_STALE, now);
		return NULL;
	}
	if (!accept(comm, now))
		return NULL;
	if (handle->kind == NCS_HANDLE_FOREIGN ||
	    handle->kind == NCS_HANDLE_UNTRACKED)
		return NULL;
	return comm;
}

/* The step of a handle if it is one of ours that is under way; else NULL. */
static inline struct ncs_proxy_op *find_step(const struct ncs_handle *handle,
					     struct ncs_comm **comm,
					     struct ncs_step **step)
{
	*comm = &ncs_process_state.comms[handle->comm];
	return handle->kind == NCS_HANDLE_STEP && ncs_comm_is_live(*comm) ?
		       ncs_step_find(*comm, handle, step) :
		       NULL;
}

/* Apart, so that the run of a step's callback stays short. */
__attribute__((noinline)) static void stop_other(uint64_t value, uint64_t now)
{
	struct ncs_handle handle = ncs_handle_decode(value);
	struct ncs_comm *comm = comm_of(&handle, now);
	struct ncs_lane_state *lane;

	if (!comm)
		return;
	lane = ncs_lane_enter(comm, now);
	if (!stop(comm, lane, &handle, value, now))
		ncs_lane_lose(lane, NCS_LOSS_STALE);
}

void ncs_stop_event(const void *pointer)
{
	uint64_t value = (uint64_t)(uintptr_t)pointer, now = ncs_now();
	struct ncs_handle handle = ncs_handle_decode(value);
	struct ncs_step *step;
	struct ncs_comm *comm;
	struct ncs_proxy_op *op = find_step(&handle, &comm, &step);

	if (__builtin_expect(op != NULL, 1)) {
		ncs_step_stop(comm, ncs_lane_enter(comm, now), op, step, now);
		return;
	}
	stop_other(value, now);
}

/* --- states ---------------------------------------------------------------------- */

/* A step's state: what most callbacks are. */
static void record_step(unsigned api_version, struct ncs_comm *comm,
			struct ncs_proxy_op *op, struct ncs_step *step,
			unsigned state, const void *args)
{
	const union nccl_state_args_v4 *sizes = args;
	struct ncs_step_transition transition = ncs_step_transition(state);
	uint64_t bytes, now;

	/* NCCL repeats SendPeerWait at every poll: the first one counts, and
	 * the others need not even be timed. */
	if (step->state == transition.entered)
		return;
	now = ncs_now();
	ncs_lane_enter(comm, now);
	if (args && api_version >= 4) {
		bytes = sizes->proxy_step.transferred_bytes;
		ncs_step_enter(op, step, transition, &bytes, now);
	} else {
		ncs_step_enter(op, step, transition, NULL, now);
	}
}

static bool record_proxy_op(unsigned api_version, struct ncs_comm *comm,
			    const struct ncs_handle *handle, unsigned state,
			    const void *args, uint64_t now)
{
	const union nccl_state_args_v1 *sizes = args;
	struct ncs_proxy_op *op = ncs_proxy_op_find(comm, handle);
	uint64_t bytes;

	if (!op)
		return false;
	if (args && api_version < 4) {
		bytes = sizes->proxy_op.transferred_bytes;
		ncs_proxy_op_state(op, state, &bytes, now);
	} else {
		ncs_proxy_op_state(op, state, NULL, now);
	}
	return true;
}

static bool record_ctrl(struct ncs_comm *comm, const struct ncs_handle *handle,
			unsigned state, const void *args, uint64_t now)
{
	const union nccl_state_args_v4 *counts = args;
	struct ncs_lane_state *owner = ncs_ctrl_find(comm, handle);
	int appended = 0;

	if (!owner)
		return false;
	if (args && state == NCCL_STATE_CTRL_APPEND_END)
		appended = counts->proxy_ctrl.appended_ops;
	ncs_ctrl_state(comm, owner, state,
		       appended > 0 ? (uint64_t)appended : 0, now);
	return true;
}

static bool record_span(struct ncs_comm *comm, const struct ncs_handle *handle,
			unsigned state, const void *args, uint64_t now)
{
	const union nccl_state_args_v4 *timer = args;
	struct ncs_span *span = ncs_span_find(comm, handle);

	if (!span || span->record.event != states[state].event)
		return false;
	switch (state) {
	case NCCL_STATE_KERNEL_CH_STOP:
	case NCCL_STATE_KERNEL_PHASE_STOP:
		if (args)
			span->gpu_stop_ns = timer->kernel_ch.gpu_timer_ns;
		break;
	case NCCL_STATE_GROUP_START_API_STOP:
		span->record.delta[0] = now - span->record.start;
		break;
	case NCCL_STATE_GROUP_END_API_START:
		span->record.delta[1] = now - span->record.start;
		break;
	default:
		break;
	}
	return true;
}

/* True if a state of this number is one of a step, in this API version. */
static inline bool is_step_state(unsigned api_version, unsigned state)
{
	return state < STATE_COUNT && states[state].api <= api_version &&
	       states[state].event == NCS_EVENT_PROXY_STEP;
}

/* Apart, so that the run of a step's callback stays short. */
__attribute__((noinline)) static void record_other(unsigned api_version,
						   uint64_t value,
						   unsigned state,
						   const void *args)
{
	uint64_t now = ncs_now();
	struct ncs_handle decoded = ncs_handle_decode(value);
	const struct ncs_handle *handle = &decoded;
	struct ncs_comm *comm = comm_of(handle, now);
	struct ncs_lane_state *lane;
	unsigned event;
	bool good = false;

	if (!comm)
		return;
	lane = ncs_lane_enter(comm, now);
	if (state >= STATE_COUNT || states[state].api > api_version) {
		ncs_lane_lose(lane, NCS_LOSS_UNKNOWN);
		return;
	}
	event = states[state].event;
	if (handle->kind == NCS_HANDLE_PROXY_OP)
		good = event == NCS_EVENT_PROXY_OP &&
		       record_proxy_op(api_version, comm, handle, state, args,
				       now);
	else if (handle->kind == NCS_HANDLE_CTRL)
		good = event == NCS_EVENT_PROXY_CTRL &&
		       record_ctrl(comm, handle, state, args, now);
	else if (handle->kind == NCS_HANDLE_SPAN)
		good = record_span(comm, handle, state, args, now);
	if (!good)
		ncs_lane_lose(lane, NCS_LOSS_STALE);
}

void ncs_record_state(unsigned api_version, const void *pointer, unsigned state,
		      const void *args)
{
	struct ncs_handle handle =
		ncs_handle_decode((uint64_t)(uintptr_t)pointer);
	struct ncs_step *step;
	struct ncs_comm *comm;
	struct ncs_proxy_op *op = find_step(&handle, &comm, &step);

	if (__builtin_expect(op && is_step_state(api_version, state), 1))
		record_step(api_version, comm, op, step, state, args);
	else
		record_other(api_version, (uint64_t)(uintptr_t)pointer, state,
			     args);
}
