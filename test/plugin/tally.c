/* SPDX-License-Identifier: MIT */
/* Adds up a call log; see tally.h. */
#include "test/plugin/tally.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/nccl/nccl_abi.h"
#include "test/plugin/scenario.h"

#define SLOTS 8 /* NCCL_STEPS */
#define HOUR_NS UINT64_C(3600000000000)

/* A collective or point-to-point operation. */
struct operation {
	struct ncs_record record;
	uint64_t stream; /* as in records */
	uint64_t children_live;
	bool has_children;
	bool counted_done;
	bool was_timed;
	bool has_proxy_time;
	bool proxy_counted, kernel_counted;
	uint64_t kernel_start_ns, kernel_stop_ns, kernel_counted_ns;
};

struct proxy_op;

/* A step. Several handles can refer to it. */
struct step {
	struct proxy_op *op;
	struct ncs_record record;
	uint64_t number;
	bool open;
};

struct proxy_op {
	struct ncs_record record;
	struct operation *parent;
	size_t channel; /* an index, since the array moves */
	struct step *open[SLOTS];
	bool size_known;
	bool has_sample;
	uint64_t sample;
	bool open_itself;
};

enum kind {
	NOTHING,
	SPAN,
	OPERATION,
	PROXY_OP,
	STEP,
	CTRL,
	FOREIGN,
	UNTRACKED, /* the plugin returns a placeholder handle */
	NO_HANDLE, /* the plugin returns NULL */
};

/* The object that a handle of the log refers to. */
struct thing {
	enum kind kind;
	size_t context; /* index in the tally */
	uint64_t type;
	bool stopped;
	struct ncs_record record; /* SPAN, CTRL */
	struct operation *parent; /* KernelCh */
	uint64_t gpu_start_ns, gpu_stop_ns;
	struct operation *operation;
	struct proxy_op *proxy_op;
	struct step *step;
};

struct counter {
	const struct calllog *log;
	struct tally *tally;
	struct thing *things; /* by handle, in this life of the plugin */
	size_t *context_of;   /* by number in the log, in this life */
	void **memory;        /* all allocations, for tally_free() */
	size_t memory_count, memory_room;
};

static void *zeroed(struct counter *counter, size_t size)
{
	void *memory = calloc(1, size);

	if (counter->memory_count == counter->memory_room) {
		counter->memory_room = counter->memory_room * 2 + 64;
		counter->memory = realloc(counter->memory,
					  counter->memory_room *
						  sizeof(*counter->memory));
	}
	CHECK(memory && counter->memory, "out of memory");
	counter->memory[counter->memory_count++] = memory;
	return memory;
}

static uint64_t number(const struct calllog_call *call, enum calllog_key key)
{
	return calllog_number(call, key);
}

static struct tally_context *context_of(struct counter *counter,
					const struct thing *thing)
{
	return &counter->tally->contexts[thing->context];
}

static void lose(struct tally_context *context, enum ncs_loss loss)
{
	context->losses[loss]++;
}

static void publish(struct tally_context *context,
		    const struct ncs_record *record)
{
	struct tally_records *records = &context->records;

	if (records->count == records->room) {
		records->room = records->room * 2 + 64;
		records->all = realloc(records->all,
				       records->room * sizeof(*records->all));
		CHECK(records->all, "out of memory");
	}
	records->all[records->count++] = *record;
}

/* Tells whether a STREAM record must precede the next operation's record in a
 * ring. */
static bool tells_stream(struct tally_ring *ring, uint64_t stream)
{
	bool tells = stream != ring->stream || (stream != 0 && ring->age == 16);

	if (tells)
		ring->age = 0;
	ring->age++;
	ring->stream = stream;
	return tells;
}

static struct tally_ring *ring_of_caller(struct tally_context *context)
{
	for (size_t i = 0; i < context->ring_count; i++)
		if (context->rings[i].tid == context->tid)
			return &context->rings[i];
	CHECK(context->ring_count < TALLY_RINGS, "more threads than we expect");
	context->rings[context->ring_count].tid = context->tid;
	return &context->rings[context->ring_count++];
}

static void publish_operation(struct tally_context *context,
			      const struct operation *operation)
{
	const struct ncs_record stream = {
		.event = NCS_EVENT_STREAM,
		.function = NCS_FUNCTION_OTHER,
		.peer = -1,
		.value = operation->stream,
	};

	if (tells_stream(&context->ring, operation->stream)) {
		context->streams++;
		publish(context, &stream);
	}
	if (tells_stream(ring_of_caller(context), operation->stream))
		context->streams_of_threads++;
	publish(context, &operation->record);
}

/* --- Names and sizes --------------------------------------------------- */

static unsigned function_of(const struct counter *counter,
			    const struct calllog_call *call)
{
	static const char *const names[] = {
#define X(ID, name, size, numerator, denominator) [NCS_FUNCTION_##ID] = name,
		NCS_FUNCTIONS(X)
#undef X
	};
	static const char *const by_number[] = {
		"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
		"AllReduce", "SendRecv", "Send",      "Recv",
	};
	const char *name;

	if (counter->log->api == 1) {
		CHECK(number(call, CALLLOG_KEY_FUNC) < 8, "no such function");
		name = by_number[number(call, CALLLOG_KEY_FUNC)];
	} else {
		name = calllog_text(call, CALLLOG_KEY_FUNC);
	}
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		if (name && strcmp(names[i], name) == 0)
			return i;
	return NCS_FUNCTION_OTHER;
}

static unsigned element_bytes(const struct counter *counter,
			      const struct calllog_call *call)
{
	static const uint8_t by_number[] = {
		1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1
	};
	const char *name;

	if (counter->log->api == 1) {
		CHECK(number(call, CALLLOG_KEY_DATATYPE) < 12, "no such type");
		return by_number[number(call, CALLLOG_KEY_DATATYPE)];
	}
	name = calllog_text(call, CALLLOG_KEY_DATATYPE);
	if (!name)
		return 1;
	if (strstr(name, "64"))
		return 8;
	if (strstr(name, "32"))
		return 4;
	return strstr(name, "16") ? 2 : 1;
}

/* Returns false if the size depends on the number of ranks, which the API does
 * not report. */
static bool message_bytes(const struct counter *counter,
			  const struct tally_context *context,
			  const struct calllog_call *call, uint64_t *bytes)
{
	unsigned function = function_of(counter, call);

	*bytes = number(call, CALLLOG_KEY_COUNT) * element_bytes(counter, call);
	switch (function) {
	case NCS_FUNCTION_ALL_GATHER:
	case NCS_FUNCTION_REDUCE_SCATTER:
	case NCS_FUNCTION_ALL_TO_ALL:
	case NCS_FUNCTION_GATHER:
	case NCS_FUNCTION_SCATTER:
		if (context->nranks <= 0) {
			*bytes = 0;
			return false;
		}
		*bytes *= (uint64_t)context->nranks;
		return true;
	default:
		return true;
	}
}

/* --- Operations -------------------------------------------------------- */

/* Numbers a transfer on its connection. */
static void number_transfer(struct counter *counter,
			    struct tally_context *context,
			    const struct thing *parent,
			    struct ncs_record *record)
{
	bool send = record->function == NCS_FUNCTION_SEND;

	if (counter->log->api >= 5 && parent &&
	    parent->record.flags & NCS_RECORD_GRAPH)
		return;
	CHECK(record->peer >= 0 && record->peer < TALLY_PEERS, "a peer");
	record->number = context->transfers[record->peer][send]++;
	record->flags |= NCS_RECORD_NUMBERED;
}

static void begin_operation(struct counter *counter,
			    struct tally_context *context, struct thing *thing,
			    const struct thing *parent,
			    const struct calllog_call *call)
{
	struct operation *operation = zeroed(counter, sizeof(*operation));
	struct ncs_record *record = &operation->record;
	struct tally_function *function;
	uint64_t sequence = NCS_NO_SEQUENCE_NUMBER;
	bool is_coll = thing->type == NCCL_EVENT_COLL;

	thing->kind = OPERATION;
	thing->operation = operation;
	if (counter->log->api >= 5 && parent)
		operation->stream = parent->record.delta[0];
	record->event = is_coll ? NCS_EVENT_COLL : NCS_EVENT_P2P;
	record->function = (uint8_t)function_of(counter, call);
	record->operation = (uint32_t)++context->operation_count;
	record->peer = calllog_int(call, is_coll ? CALLLOG_KEY_ROOT :
						   CALLLOG_KEY_PEER);
	if (is_coll)
		sequence = number(call, CALLLOG_KEY_SEQ_NUMBER);
	record->number = sequence;
	if (!is_coll)
		number_transfer(counter, context, parent, record);
	function = &context->functions[record->function];
	function->operations++;
	if (!message_bytes(counter, context, call, &record->value))
		function->size_unknown++;
	function->bytes += record->value;
	if (is_coll &&
	    (function->last_sequence_number == NCS_NO_SEQUENCE_NUMBER ||
	     function->last_sequence_number < sequence))
		function->last_sequence_number = sequence;
	if (counter->log->api >= 4 || context->known & NCS_KNOWN_RANK)
		return;
	context->known |= NCS_KNOWN_RANK;
	context->rank = calllog_int(call, CALLLOG_KEY_RANK);
	context->comm_id = number(call, CALLLOG_KEY_COMM);
	if (context->comm_id != 0)
		context->known |= NCS_KNOWN_COMM_ID;
	context->name = calllog_text(call, CALLLOG_KEY_COMM_NAME);
	if (context->name)
		context->known |= NCS_KNOWN_COMM_NAME;
}

static void child_started(struct tally_context *context,
			  struct operation *operation)
{
	struct tally_function *function =
		&context->functions[operation->record.function];

	if (!operation->has_children)
		function->with_children++;
	operation->has_children = true;
	operation->children_live++;
	if (operation->counted_done)
		function->operations_done--;
	operation->counted_done = false;
}

static void count_time(struct tally_function *function, enum ncs_timing timing,
		       bool *counted, uint64_t bytes)
{
	if (*counted)
		return;
	*counted = true;
	function->timed[timing]++;
	function->timed_bytes[timing] += bytes;
}

static void child_done(struct tally_context *context,
		       struct operation *operation)
{
	struct tally_function *function =
		&context->functions[operation->record.function];
	uint64_t kernel_ns =
		operation->kernel_stop_ns - operation->kernel_start_ns;

	if (--operation->children_live > 0)
		return;
	operation->counted_done = true;
	function->operations_done++;
	if (operation->was_timed)
		operation->record.flags |= NCS_RECORD_AGAIN;
	if (operation->has_proxy_time)
		count_time(function, NCS_TIMING_PROXY,
			   &operation->proxy_counted, operation->record.value);
	if (operation->kernel_stop_ns != 0) {
		count_time(function, NCS_TIMING_KERNEL,
			   &operation->kernel_counted, operation->record.value);
		function->kernel_ns += kernel_ns - operation->kernel_counted_ns;
		operation->kernel_counted_ns = kernel_ns;
	}
	operation->was_timed = operation->proxy_counted ||
			       operation->kernel_counted;
	publish_operation(context, operation);
}

/* --- Proxy operations and steps ---------------------------------------- */

static size_t find_channel(struct tally_context *context, unsigned channel,
			   bool send, int peer)
{
	struct tally_channel *found;

	for (size_t i = 0; i < context->channel_count; i++) {
		found = &context->channels[i];
		if (found->channel == channel && found->send == send &&
		    found->peer == peer)
			return i;
	}
	context->channels =
		realloc(context->channels, (context->channel_count + 1) *
						   sizeof(*context->channels));
	CHECK(context->channels, "out of memory");
	found = &context->channels[context->channel_count];
	memset(found, 0, sizeof(*found));
	found->channel = channel;
	found->send = send;
	found->peer = peer;
	return context->channel_count++;
}

static void begin_proxy_op(struct counter *counter,
			   struct tally_context *context, struct thing *thing,
			   const struct thing *parent,
			   const struct calllog_call *call)
{
	struct proxy_op *op = zeroed(counter, sizeof(*op));
	unsigned channel = (unsigned)number(call, CALLLOG_KEY_CHANNEL);
	bool send = number(call, CALLLOG_KEY_IS_SEND) != 0;

	thing->kind = PROXY_OP;
	thing->proxy_op = op;
	op->open_itself = true;
	op->record.event = NCS_EVENT_PROXY_OP;
	op->record.flags = send ? NCS_RECORD_SEND : 0;
	op->record.channel = (uint8_t)channel;
	op->record.function = NCS_FUNCTION_OTHER;
	op->record.peer = calllog_int(call, CALLLOG_KEY_PEER);
	if (parent && parent->kind == OPERATION) {
		op->parent = parent->operation;
		op->record.function = op->parent->record.function;
		op->record.operation = op->parent->record.operation;
		child_started(context, op->parent);
	} else if (parent) {
		lose(context, NCS_LOSS_ORPHAN);
	}
	op->channel = find_channel(context, channel, send, op->record.peer);
	context->channels[op->channel].operations_started++;
}

static void end_step(struct tally_context *context, struct step *step,
		     bool stopped)
{
	struct proxy_op *op = step->op;
	struct tally_channel *channel = &context->channels[op->channel];

	if (!stopped) {
		lose(context, NCS_LOSS_MISSING_STOP);
		step->record.flags |= NCS_RECORD_MISSING_STOP;
	}
	step->open = false;
	op->open[step->number % SLOTS] = NULL;
	op->record.number++;
	channel->steps_done++;
	if (!op->size_known)
		channel->size_unknown++;
	publish(context, &step->record);
}

static void begin_step(struct counter *counter, struct tally_context *context,
		       struct thing *thing, const struct thing *parent,
		       const struct calllog_call *call)
{
	struct proxy_op *op =
		parent && parent->kind == PROXY_OP ? parent->proxy_op : NULL;
	uint64_t step_number = number(call, CALLLOG_KEY_STEP);
	struct step **place, *step;

	if (!op || !op->open_itself) {
		lose(context, NCS_LOSS_ORPHAN);
		thing->kind = UNTRACKED;
		return;
	}
	thing->kind = STEP;
	place = &op->open[step_number % SLOTS];
	if (*place && (*place)->number == step_number) {
		thing->step = *place;
		return;
	}
	if (*place)
		end_step(context, *place, false);
	step = zeroed(counter, sizeof(*step));
	step->op = op;
	step->number = step_number;
	step->open = true;
	step->record = op->record;
	step->record.event = NCS_EVENT_PROXY_STEP;
	step->record.value = 0;
	step->record.number = step_number;
	*place = thing->step = step;
	context->channels[op->channel].steps_started++;
}

static void stop_proxy_op(struct tally_context *context, struct proxy_op *op)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (op->open[i])
			end_step(context, op->open[i], false);
	op->open_itself = false;
	publish(context, &op->record);
	context->channels[op->channel].operations_done++;
	if (op->parent) {
		op->parent->has_proxy_time = true;
		child_done(context, op->parent);
	}
}

static void record_step(const struct counter *counter,
			struct tally_context *context, struct step *step,
			const struct calllog_call *call)
{
	int state = calllog_int(call, CALLLOG_KEY_STATE);
	uint64_t bytes = number(call, CALLLOG_KEY_SIZE);

	if (!step->open) {
		lose(context, NCS_LOSS_STALE);
		return;
	}
	if (counter->log->api < 4 || !calllog_find(call, CALLLOG_KEY_SIZE) ||
	    (state != NCCL_STATE_STEP_SEND_WAIT &&
	     state != NCCL_STATE_STEP_RECV_FLUSH_WAIT))
		return;
	step->record.value = bytes;
	step->op->record.value += bytes;
	step->op->size_known = true;
	context->channels[step->op->channel].bytes += bytes;
}

static void record_proxy_op(const struct counter *counter,
			    struct tally_context *context, struct proxy_op *op,
			    const struct calllog_call *call)
{
	uint64_t sample = number(call, CALLLOG_KEY_SIZE);

	if (!op->open_itself) {
		lose(context, NCS_LOSS_STALE);
		return;
	}
	if (counter->log->api >= 4)
		return;
	if (op->has_sample) {
		CHECK(sample >= op->sample, "a size that shrinks");
		op->record.value += sample - op->sample;
		context->channels[op->channel].bytes += sample - op->sample;
	}
	op->size_known = op->has_sample = true;
	op->sample = sample;
}

/* --- Proxy control ----------------------------------------------------- */

static void record_ctrl(struct tally_context *context, struct thing *thing,
			const struct calllog_call *call)
{
	static const enum ncs_proxy_transition transitions[] = {
		NCS_TRANSITION_IDLE,   NCS_TRANSITION_ACTIVE,
		NCS_TRANSITION_SLEEP,  NCS_TRANSITION_WAKEUP,
		NCS_TRANSITION_APPEND, NCS_TRANSITION_APPEND_END,
	};
	int state = calllog_int(call, CALLLOG_KEY_STATE);
	uint64_t appended = number(call, CALLLOG_KEY_APPENDED);

	CHECK(state >= NCCL_STATE_CTRL_IDLE &&
		      state <= NCCL_STATE_CTRL_APPEND_END,
	      "a state of something else");
	context->transitions[transitions[state - NCCL_STATE_CTRL_IDLE]]++;
	if (state == NCCL_STATE_CTRL_SLEEP)
		thing->record.number = NCS_PROXY_SLEEP;
	if (state == NCCL_STATE_CTRL_APPEND)
		thing->record.number = NCS_PROXY_APPEND;
	if (state == NCCL_STATE_CTRL_APPEND_END) {
		thing->record.value = appended;
		context->appended_operations += appended;
	}
}

/* --- Other values ------------------------------------------------------ */

static void begin_span(struct counter *counter, struct tally_context *context,
		       struct thing *thing, const struct thing *parent,
		       const struct calllog_call *call)
{
	struct ncs_record *record = &thing->record;

	thing->kind = SPAN;
	switch (thing->type) {
	case NCCL_EVENT_KERNEL_LAUNCH:
		record->delta[0] = number(call, CALLLOG_KEY_STREAM) + 1;
		break;
	case NCCL_EVENT_COLL_API:
	case NCCL_EVENT_P2P_API:
		record->delta[0] = number(call, CALLLOG_KEY_STREAM) + 1;
		record->function = (uint8_t)function_of(counter, call);
		context->functions[record->function].calls++;
		message_bytes(counter, context, call, &record->value);
		if (thing->type == NCCL_EVENT_COLL_API)
			record->peer = calllog_int(call, CALLLOG_KEY_ROOT);
		break;
	case NCCL_EVENT_GROUP_API:
		record->number = number(call, CALLLOG_KEY_DEPTH);
		break;
	case NCCL_EVENT_KERNEL_CH:
		record->channel = (uint8_t)number(call, CALLLOG_KEY_CHANNEL);
		record->function = NCS_FUNCTION_OTHER;
		thing->gpu_start_ns = number(call, CALLLOG_KEY_GPU_TIMER);
		if (parent && parent->kind == OPERATION) {
			thing->parent = parent->operation;
			record->function = thing->parent->record.function;
			record->operation = thing->parent->record.operation;
			child_started(context, thing->parent);
		} else if (parent) {
			lose(context, NCS_LOSS_ORPHAN);
		}
		break;
	default:
		break;
	}
	if (calllog_find(call, CALLLOG_KEY_GRAPH) &&
	    number(call, CALLLOG_KEY_GRAPH) != 0)
		record->flags |= NCS_RECORD_GRAPH;
}

static bool gpu_times_are_good(const struct thing *thing)
{
	return thing->gpu_start_ns != 0 &&
	       thing->gpu_stop_ns > thing->gpu_start_ns &&
	       thing->gpu_stop_ns - thing->gpu_start_ns <= HOUR_NS;
}

static void stop_kernel(struct tally_context *context, struct thing *thing)
{
	struct operation *parent = thing->parent;

	if (gpu_times_are_good(thing)) {
		thing->record.value = thing->gpu_start_ns;
		thing->record.number = thing->gpu_stop_ns - thing->gpu_start_ns;
		if (parent && (parent->kernel_start_ns == 0 ||
			       thing->gpu_start_ns < parent->kernel_start_ns))
			parent->kernel_start_ns = thing->gpu_start_ns;
		if (parent && thing->gpu_stop_ns > parent->kernel_stop_ns)
			parent->kernel_stop_ns = thing->gpu_stop_ns;
	} else if (thing->gpu_start_ns != 0 || thing->gpu_stop_ns != 0) {
		lose(context, NCS_LOSS_BAD_PTIMER);
	}
	if (parent)
		child_done(context, parent);
}

/* --- Calls ------------------------------------------------------------- */

static void call_init(struct counter *counter, const struct calllog_call *call)
{
	struct tally *tally = counter->tally;
	struct tally_context *context;

	tally->contexts =
		realloc(tally->contexts,
			(tally->context_count + 1) * sizeof(*tally->contexts));
	CHECK(tally->contexts, "out of memory");
	context = &tally->contexts[tally->context_count];
	memset(context, 0, sizeof(*context));
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		context->functions[i].last_sequence_number =
			NCS_NO_SEQUENCE_NUMBER;
	context->number = number(call, CALLLOG_KEY_CONTEXT);
	context->rank = context->nranks = context->nnodes = -1;
	counter->context_of[context->number] = tally->context_count++;
	if (counter->log->api < 4)
		return;
	context->known = NCS_KNOWN_COMM_ID | NCS_KNOWN_RANK | NCS_KNOWN_NRANKS |
			 NCS_KNOWN_NNODES;
	context->comm_id = number(call, CALLLOG_KEY_COMM);
	context->name = calllog_text(call, CALLLOG_KEY_COMM_NAME);
	if (context->name)
		context->known |= NCS_KNOWN_COMM_NAME;
	context->rank = calllog_int(call, CALLLOG_KEY_RANK);
	context->nranks = calllog_int(call, CALLLOG_KEY_NRANKS);
	context->nnodes = calllog_int(call, CALLLOG_KEY_NNODES);
}

static void count_start(struct counter *counter, struct thing *thing,
			const struct thing *parent,
			const struct calllog_call *call)
{
	struct tally_context *context = context_of(counter, thing);
	bool is_op = thing->type == NCCL_EVENT_PROXY_OP;
	bool is_step = thing->type == NCCL_EVENT_PROXY_STEP;

	if ((is_op &&
	     calllog_int(call, CALLLOG_KEY_PID) != counter->log->pid) ||
	    (is_step && parent && parent->kind == FOREIGN)) {
		thing->kind = FOREIGN;
		lose(context, NCS_LOSS_FOREIGN);
		return;
	}
	if (context->finished) {
		thing->kind = NO_HANDLE;
		lose(context, NCS_LOSS_LATE);
		return;
	}
	context->events[thing->record.event]++;
	if (is_op)
		begin_proxy_op(counter, context, thing, parent, call);
	else if (is_step)
		begin_step(counter, context, thing, parent, call);
	else if (thing->type == NCCL_EVENT_PROXY_CTRL)
		thing->kind = CTRL;
	else if (thing->type == NCCL_EVENT_COLL ||
		 thing->type == NCCL_EVENT_P2P)
		begin_operation(counter, context, thing, parent, call);
	else
		begin_span(counter, context, thing, parent, call);
}

static void call_start(struct counter *counter, const struct calllog_call *call)
{
	uint64_t parent = number(call, CALLLOG_KEY_PARENT);
	struct thing *thing =
		&counter->things[number(call, CALLLOG_KEY_HANDLE)];

	memset(thing, 0, sizeof(*thing));
	thing->context = counter->context_of[number(call, CALLLOG_KEY_CONTEXT)];
	thing->type = number(call, CALLLOG_KEY_TYPE);
	thing->record.event = (uint8_t)__builtin_ctzll(thing->type);
	thing->record.peer = -1;
	count_start(counter, thing, parent ? &counter->things[parent] : NULL,
		    call);
}

/* Returns the object of a record or stop, or NULL if the plugin is not to
 * follow it. */
static struct thing *followed(struct counter *counter,
			      const struct calllog_call *call)
{
	struct thing *thing =
		&counter->things[number(call, CALLLOG_KEY_HANDLE)];
	struct tally_context *context = context_of(counter, thing);

	context->tid = call->tid;
	CHECK(thing->kind != NOTHING, "line %u: no such handle", call->line);
	if (thing->kind == NO_HANDLE) {
		CHECK(thing->type != NCCL_EVENT_NET_PLUGIN &&
			      thing->type != NCCL_EVENT_COLL,
		      "a NULL that NCCL stops");
		return NULL;
	}
	if (context->finished) {
		lose(context, NCS_LOSS_LATE);
		return NULL;
	}
	return thing->kind == FOREIGN || thing->kind == UNTRACKED ? NULL :
								    thing;
}

static void call_record(struct counter *counter,
			const struct calllog_call *call)
{
	struct thing *thing = followed(counter, call);
	struct tally_context *context;
	int state = calllog_int(call, CALLLOG_KEY_STATE);

	if (!thing)
		return;
	context = context_of(counter, thing);
	if (thing->kind == STEP)
		record_step(counter, context, thing->step, call);
	else if (thing->kind == PROXY_OP)
		record_proxy_op(counter, context, thing->proxy_op, call);
	else if (thing->stopped)
		lose(context, NCS_LOSS_STALE);
	else if (thing->kind == CTRL)
		record_ctrl(context, thing, call);
	else if (state == NCCL_STATE_KERNEL_CH_STOP)
		thing->gpu_stop_ns = number(call, CALLLOG_KEY_GPU_TIMER);
	else
		CHECK(state == NCCL_STATE_GROUP_START_API_STOP ||
			      state == NCCL_STATE_GROUP_END_API_START,
		      "line %u: an unexpected state", call->line);
}

static void call_stop(struct counter *counter, const struct calllog_call *call)
{
	struct thing *thing = followed(counter, call);
	struct tally_context *context;

	if (!thing)
		return;
	context = context_of(counter, thing);
	if (thing->stopped || (thing->kind == STEP && !thing->step->open)) {
		lose(context, NCS_LOSS_STALE);
		return;
	}
	thing->stopped = true;
	switch ((int)thing->kind) {
	case STEP:
		end_step(context, thing->step, true);
		break;
	case PROXY_OP:
		stop_proxy_op(context, thing->proxy_op);
		break;
	case CTRL:
		if (thing->record.number != 0)
			publish(context, &thing->record);
		break;
	case SPAN:
		if (thing->type == NCCL_EVENT_KERNEL_CH)
			stop_kernel(context, thing);
		publish(context, &thing->record);
		break;
	default: /* for an operation, stop only means the end of enqueueing */
		break;
	}
}

struct tally *tally_make(const struct calllog *log)
{
	struct counter counter = { .log = log };
	struct tally *tally = calloc(1, sizeof(*tally));
	uint64_t context;

	counter.tally = tally;
	counter.things = zeroed(&counter, ((size_t)log->handle_max + 1) *
						  sizeof(*counter.things));
	counter.context_of =
		zeroed(&counter, ((size_t)log->context_max + 1) *
					 sizeof(*counter.context_of));
	for (size_t i = 0; i < log->call_count; i++) {
		const struct calllog_call *call = &log->calls[i];

		switch (call->verb) {
		case CALLLOG_INIT:
			call_init(&counter, call);
			break;
		case CALLLOG_START:
			call_start(&counter, call);
			break;
		case CALLLOG_RECORD:
			call_record(&counter, call);
			break;
		case CALLLOG_STOP:
			call_stop(&counter, call);
			break;
		case CALLLOG_FINALIZE:
			context = number(call, CALLLOG_KEY_CONTEXT);
			tally->contexts[counter.context_of[context]].finished =
				true;
			break;
		}
	}
	for (size_t i = 0; i < counter.memory_count; i++)
		free(counter.memory[i]);
	free(counter.memory);
	return tally;
}

void tally_free(struct tally *tally)
{
	for (size_t i = 0; i < tally->context_count; i++) {
		free(tally->contexts[i].channels);
		free(tally->contexts[i].records.all);
	}
	free(tally->contexts);
	free(tally);
}
