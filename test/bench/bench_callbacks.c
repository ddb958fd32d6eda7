/* SPDX-License-Identifier: MIT */
/* Measures what a callback of a profiler plugin costs: of ncclstat's or any other
 * plugin, of one that does nothing, and of the floor (one read of the time stamp
 * counter, one store of 64 bytes), all interleaved in one run.
 *
 *	bench_callbacks [--plugin SO]... [--capture FILE] [--rounds N]
 *
 * Four loads, each driven by one thread on one processor through version 5 of
 * the API, with descriptors laid out as NCCL does:
 *  - a synthetic collective of 108 callbacks, in NCCL's order;
 *  - a call over NVLink, of twelve callbacks, with hot caches and with caches that
 *    other memory has filled since the call before, as a program's own work does;
 *  - starts of proxy operations while more are in progress than a plugin can
 *    follow, as in an all-to-all;
 *  - a recorded job, at full speed.
 * Every call is made whatever mask the plugin asked for; but as in NCCL, none is
 * made for an event without a handle.
 *
 * Must not know any plugin, and must not judge.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ncclstat/record.h"
#include "ncclstat/tables/states.def"
#include "shm/clock.h"
#include "test/host/calllog.h"
#include "test/host/plugin_host.h"
#include "test/host/call_player.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Collectives in a round; each is timed by itself. */
#define BATCH 1000
#define SUBJECTS_MAX 8
/* Ticks up to which the times of calls are counted by type. */
#define TICKS_MAX 1024

static void fail(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

static void fail(const char *format, ...)
{
	va_list arguments;

	fputs("bench_callbacks: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count > 0 ? count : 1, size);

	if (!memory)
		fail("%s", strerror(ENOMEM));
	return memory;
}

/* --- Types of calls ----------------------------------------------------- */

enum { KIND_START = 0, KIND_STOP = 32, KIND_STATE = 64, KIND_COUNT = 96 };

static const char *const event_names[NCS_EVENT_COUNT] = {
#define X(ID, name, bit, api, help) name,
	NCS_EVENTS(X)
#undef X
};

static const char *const state_names[] = {
#define X(ID, value, api, event, name) [value] = name,
	NCS_STATES(X)
#undef X
};

static unsigned number_of_type(uint64_t type)
{
	unsigned number = type ? (unsigned)__builtin_ctzll(type) : 0;

	return number < NCS_EVENT_COUNT ? number : 0;
}

static void name_kind(unsigned kind, char *text, size_t size)
{
	if (kind < KIND_STOP)
		snprintf(text, size, "%s start", event_names[kind]);
	else if (kind < KIND_STATE)
		snprintf(text, size, "%s stop", event_names[kind - KIND_STOP]);
	else
		snprintf(text, size, "state %s",
			 state_names[kind - KIND_STATE]);
}

/* --- A load: calls to be made again and again --------------------------- */

enum verb { START, RECORD, STOP };

struct bench_call {
	uint8_t verb;
	uint8_t kind;
	bool without_args;
	int state;
	uint32_t handle; /* numbers; 0 for none */
	uint32_t parent;
	uint32_t group;
	uint32_t context;
	uint32_t content; /* index: for START in descrs, for RECORD in args */
};

struct load {
	const char *name;
	const char *unit; /* what one pass over the calls is, e.g. "collective" */
	struct bench_call *calls;
	size_t count;
	size_t once; /* the first of them, made only before the first pass */
	union nccl_event_descr *descrs;
	size_t descr_count;
	union nccl_state_args *args;
	size_t arg_count;
	size_t capacity; /* of each of the three arrays */
	uint8_t *types;  /* event type, by handle */
	uint32_t handle_max;
	uint64_t sequence_span;  /* added to sequence numbers in each pass */
	struct host_comm *comms; /* by context */
	uint32_t context_max;
	bool has_gpu; /* a GPU with a running clock; else times come from the recording */
	size_t walked_bytes; /* other memory that is read before each pass */
};

static void load_init(struct load *load, size_t calls, uint32_t handles,
		      uint32_t contexts)
{
	load->calls = allocate(calls, sizeof(*load->calls));
	load->descrs = allocate(calls, sizeof(*load->descrs));
	load->args = allocate(calls, sizeof(*load->args));
	load->types = allocate(handles + 1, sizeof(*load->types));
	load->comms = allocate(contexts + 1, sizeof(*load->comms));
	load->capacity = calls;
	load->handle_max = handles;
	load->context_max = contexts;
}

static void load_release(struct load *load)
{
	free(load->calls);
	free(load->descrs);
	free(load->args);
	free(load->types);
	free(load->comms);
}

static struct bench_call *add_call(struct load *load, enum verb verb,
				   uint32_t handle)
{
	struct bench_call *call = &load->calls[load->count++];

	if (load->count > load->capacity || handle > load->handle_max)
		fail("too many calls");
	call->verb = (uint8_t)verb;
	call->handle = handle;
	return call;
}

/* `host` may be any host of this API version. */
static void add_start(struct load *load, const struct host *host,
		      uint32_t handle, uint32_t parent, uint32_t group,
		      const struct host_event *event)
{
	struct bench_call *call = add_call(load, START, handle);

	load->types[handle] = (uint8_t)number_of_type(event->type);
	call->kind = (uint8_t)(KIND_START + load->types[handle]);
	call->parent = parent;
	call->group = group;
	call->context = 1;
	call->content = (uint32_t)load->descr_count;
	host_lay_out(host, event, &load->descrs[load->descr_count++]);
	if (event->type == NCCL_EVENT_COLL &&
	    event->seq_number >= load->sequence_span)
		load->sequence_span = event->seq_number + 1;
}

static void add_state(struct load *load, const struct host *host,
		      uint32_t handle, const struct host_state *state)
{
	struct bench_call *call = add_call(load, RECORD, handle);

	call->kind = (uint8_t)(KIND_STATE + state->state);
	call->state = state->state;
	call->without_args = state->without_args;
	call->content = (uint32_t)load->arg_count;
	host_lay_out_args(host, state, &load->args[load->arg_count++]);
}

static void add_stop(struct load *load, uint32_t handle)
{
	add_call(load, STOP, handle)->kind =
		(uint8_t)(KIND_STOP + load->types[handle]);
}

/* --- The synthetic collective ------------------------------------------- */

enum handle {
	GROUP_API = 1,
	COLL_API,
	LAUNCH,
	GROUP,
	COLL,
	CTRL,
	OP_SEND,
	OP_RECV,
	KERNEL_0,
	KERNEL_1,
	STEP_SEND, /* there are 8 of each */
	STEP_RECV = STEP_SEND + 8,
	HANDLE_END = STEP_RECV + 8
};

static void add_group_state(struct load *load, const struct host *host,
			    int state)
{
	add_state(load, host, GROUP_API,
		  &(struct host_state){ .state = state });
}

static void add_api_call(struct load *load, const struct host *host)
{
	add_start(load, host, GROUP_API, 0, 0,
		  &(struct host_event){ .type = NCCL_EVENT_GROUP_API,
					.depth = 1 });
	add_group_state(load, host, NCCL_STATE_GROUP_START_API_STOP);
	add_start(load, host, COLL_API, GROUP_API, 0,
		  &(struct host_event){ .type = NCCL_EVENT_COLL_API,
					.func = "AllReduce",
					.count = 1 << 20,
					.datatype = "ncclFloat32" });
	add_stop(load, COLL_API);
	add_group_state(load, host, NCCL_STATE_GROUP_END_API_START);
}

/* Adds the enqueueing of a call's operation, and the end of the call. */
static void add_enqueueing(struct load *load, const struct host *host)
{
	add_start(load, host, GROUP, 0, 0,
		  &(struct host_event){ .type = NCCL_EVENT_GROUP });
	add_start(load, host, COLL, COLL_API, GROUP,
		  &(struct host_event){ .type = NCCL_EVENT_COLL,
					.func = "AllReduce",
					.count = 1 << 20,
					.datatype = "ncclFloat32",
					.channels = 2,
					.warps = 16,
					.algorithm = "RING",
					.protocol = "SIMPLE" });
	add_stop(load, COLL);
	add_stop(load, GROUP);
	add_stop(load, GROUP_API);
}

static void add_ctrl(struct load *load, const struct host *host, int state)
{
	add_start(load, host, CTRL, 0, 0,
		  &(struct host_event){ .type = NCCL_EVENT_PROXY_CTRL });
	add_state(load, host, CTRL, &(struct host_state){ .state = state });
	add_stop(load, CTRL);
}

static void add_proxy_op(struct load *load, const struct host *host,
			 uint32_t handle, int is_send)
{
	add_start(load, host, handle, COLL, 0,
		  &(struct host_event){ .type = NCCL_EVENT_PROXY_OP,
					.pid = (int)getpid(),
					.channel = (uint8_t)!is_send,
					.peer = 1,
					.steps = 8,
					.chunk_bytes = 1 << 19,
					.is_send = is_send });
	add_state(load, host, handle,
		  &(struct host_state){ .state = NCCL_STATE_OP_IN_PROGRESS });
}

static void add_step_state(struct load *load, const struct host *host,
			   uint32_t handle, int state)
{
	add_state(load, host, handle,
		  &(struct host_state){ .state = state,
					.size_bytes = 1 << 19 });
}

static void add_step_start(struct load *load, const struct host *host,
			   uint32_t handle, uint32_t parent, int step,
			   int state)
{
	add_start(load, host, handle, parent, 0,
		  &(struct host_event){ .type = NCCL_EVENT_PROXY_STEP,
					.step = step });
	add_step_state(load, host, handle, state);
}

/* Adds one transfer in each direction. */
static void add_steps(struct load *load, const struct host *host,
		      uint32_t number)
{
	uint32_t send = STEP_SEND + number, recv = STEP_RECV + number;

	add_step_start(load, host, send, OP_SEND, (int)number,
		       NCCL_STATE_STEP_SEND_GPU_WAIT);
	add_step_start(load, host, recv, OP_RECV, (int)number,
		       NCCL_STATE_STEP_RECV_WAIT);
	add_step_state(load, host, send, NCCL_STATE_STEP_SEND_PEER_WAIT);
	add_step_state(load, host, send, NCCL_STATE_STEP_SEND_WAIT);
	add_step_state(load, host, recv, NCCL_STATE_STEP_RECV_FLUSH_WAIT);
	add_stop(load, send);
	add_step_state(load, host, recv, NCCL_STATE_STEP_RECV_GPU_WAIT);
	add_stop(load, recv);
}

static void add_kernel_start(struct load *load, const struct host *host,
			     uint32_t handle, uint8_t channel)
{
	add_start(load, host, handle, COLL, 0,
		  &(struct host_event){ .type = NCCL_EVENT_KERNEL_CH,
					.channel = channel });
}

static void add_kernel_stop(struct load *load, const struct host *host,
			    uint32_t handle)
{
	add_state(load, host, handle,
		  &(struct host_state){ .state = NCCL_STATE_KERNEL_CH_STOP });
	add_stop(load, handle);
}

static void make_synthetic(struct load *load, const struct host *host)
{
	memset(load, 0, sizeof(*load));
	load->name = "synthetic collective";
	load->unit = "collective";
	load->has_gpu = true;
	load_init(load, 108, HANDLE_END, 1);
	load->comms[1] = (struct host_comm){
		.id = 1,
		.name = "bench",
		.nnodes = 2,
		.nranks = 2,
	};
	add_api_call(load, host);
	add_enqueueing(load, host);
	add_ctrl(load, host, NCCL_STATE_CTRL_ACTIVE);
	add_proxy_op(load, host, OP_SEND, 1);
	add_proxy_op(load, host, OP_RECV, 0);
	add_kernel_start(load, host, KERNEL_0, 0);
	add_kernel_start(load, host, KERNEL_1, 1);
	for (uint32_t number = 0; number < 8; number++)
		add_steps(load, host, number);
	add_stop(load, OP_SEND);
	add_stop(load, OP_RECV);
	add_kernel_stop(load, host, KERNEL_0);
	add_kernel_stop(load, host, KERNEL_1);
	add_ctrl(load, host, NCCL_STATE_CTRL_IDLE);
	if (load->count != load->capacity)
		fail("the synthetic collective has %zu calls", load->count);
}

/* --- A call over NVLink -------------------------------------------------- */

static void make_nvlink(struct load *load, const struct host *host,
			size_t walked_bytes)
{
	static char name[64];

	memset(load, 0, sizeof(*load));
	snprintf(name, sizeof(name), "NVLink call, %zu MB walked before it",
		 walked_bytes >> 20);
	load->name = name;
	load->unit = "call";
	load->walked_bytes = walked_bytes;
	load_init(load, 12, HANDLE_END, 1);
	load->comms[1] = (struct host_comm){
		.id = 3,
		.name = "nvlink",
		.nnodes = 1,
		.nranks = 2,
	};
	add_api_call(load, host);
	add_start(load, host, LAUNCH, GROUP_API, 0,
		  &(struct host_event){ .type = NCCL_EVENT_KERNEL_LAUNCH });
	add_stop(load, LAUNCH);
	add_enqueueing(load, host);
	if (load->count != load->capacity)
		fail("the call over NVLink has %zu calls", load->count);
}

/* --- More proxy operations than can be followed -------------------------- */

/* In progress before the first pass, each with a step; started in a pass. */
#define OPS_BEFORE 2048
#define OPS_MORE 100

static void add_waiting_op(struct load *load, const struct host *host,
			   uint32_t handle)
{
	add_start(load, host, handle, 0, 0,
		  &(struct host_event){ .type = NCCL_EVENT_PROXY_OP,
					.pid = (int)getpid(),
					.channel = handle % 32,
					.peer = 1,
					.steps = 8,
					.is_send = 1 });
}

static void make_full(struct load *load, const struct host *host)
{
	uint32_t handle = 1;

	memset(load, 0, sizeof(*load));
	load->name = "proxy operations, no slot free";
	load->unit = "pass";
	load->once = 2 * OPS_BEFORE;
	load_init(load, load->once + OPS_MORE,
		  (uint32_t)load->once + OPS_MORE, 1);
	load->comms[1] = (struct host_comm){
		.id = 2,
		.name = "full",
		.nnodes = 2,
		.nranks = 2,
	};
	while (load->count < load->once) {
		add_waiting_op(load, host, handle);
		add_start(load, host, handle + 1, handle, 0,
			  &(struct host_event){
				  .type = NCCL_EVENT_PROXY_STEP });
		handle += 2;
	}
	while (load->count < load->capacity)
		add_waiting_op(load, host, handle++);
}

/* --- A recorded job ----------------------------------------------------- */

static uint32_t number_in(const struct calllog_call *call, enum calllog_key key)
{
	return (uint32_t)calllog_number(call, key);
}

static void add_recorded(struct load *load, const struct host *host,
			 const struct calllog *log,
			 const struct calllog_call *from)
{
	uint32_t handle = number_in(from, CALLLOG_KEY_HANDLE);
	struct host_event event;
	struct host_state state;

	switch (from->verb) {
	case CALLLOG_START:
		host_event_of_call(log->api, from, &event);
		if (event.pid == log->pid)
			event.pid = (int)getpid();
		add_start(load, host, handle,
			  number_in(from, CALLLOG_KEY_PARENT),
			  number_in(from, CALLLOG_KEY_PARENT_GROUP), &event);
		load->calls[load->count - 1].context =
			number_in(from, CALLLOG_KEY_CONTEXT);
		break;
	case CALLLOG_RECORD:
		host_state_of_call(from, &state);
		add_state(load, host, handle, &state);
		break;
	case CALLLOG_STOP:
		add_stop(load, handle);
		break;
	default: /* all communicators live for the whole run */
		break;
	}
}

static void note_comm(struct load *load, const struct calllog_call *call)
{
	uint32_t number = number_in(call, CALLLOG_KEY_CONTEXT);

	load->comms[number] = (struct host_comm){
		.id = calllog_number(call, CALLLOG_KEY_COMM),
		.name = calllog_text(call, CALLLOG_KEY_COMM_NAME),
		.nnodes = calllog_int(call, CALLLOG_KEY_NNODES),
		.nranks = calllog_int(call, CALLLOG_KEY_NRANKS),
		.rank = calllog_int(call, CALLLOG_KEY_RANK),
	};
}

static void make_recorded(struct load *load, const struct host *host,
			  const char *path)
{
	struct replay_body body;
	struct calllog *log;
	char message[512];

	if (calllog_read(path, &log, message, sizeof(message)) != 0)
		fail("%s", message);
	if (log->api != host_api(host))
		fail("%s is of API %d, %d is wanted", path, log->api,
		     host_api(host));
	memset(load, 0, sizeof(*load));
	load->name = path;
	load->unit = "pass";
	load_init(load, log->call_count, (uint32_t)log->handle_max,
		  (uint32_t)log->context_max);
	for (size_t i = 0; i < log->call_count; i++)
		if (log->calls[i].verb == CALLLOG_INIT)
			note_comm(load, &log->calls[i]);
	body = replay_find_body(log);
	for (size_t i = body.first; i < body.end; i++)
		add_recorded(load, host, log, &log->calls[i]);
	calllog_free(log);
}

/* --- Making the calls --------------------------------------------------- */

struct subject {
	struct host *host;
	char name[64];
	void **contexts;
	void **handles;
	uint64_t passes;
	uint64_t made; /* callbacks in the latest pass */
	/* Ticks of each pass; the middle of each round. */
	uint32_t *samples;
	size_t sample_count;
	double *middles;
	/* Number of calls by type and ticks. */
	uint32_t (*histogram)[TICKS_MAX];
};

static void set_parents(union nccl_event_descr *descr, const struct load *load,
			const struct bench_call *call,
			const struct subject *subject)
{
	descr->v5.parent = subject->handles[call->parent];
	if (call->kind == KIND_START + NCS_EVENT_COLL) {
		descr->v5.coll.parent_group = subject->handles[call->group];
		descr->v5.coll.seq_number +=
			subject->passes * load->sequence_span;
	} else if (call->kind == KIND_START + NCS_EVENT_P2P) {
		descr->v5.p2p.parent_group = subject->handles[call->group];
	}
}

/* Measures a call alone, without the work before it. */
#define TIMED(statement) \
	do { \
		uint64_t before = by_type ? ncs_clock_ticks(kind) : 0; \
		statement; \
		if (by_type) \
			note_call(subject, call->kind, \
				  ncs_clock_ticks(kind) - before); \
	} while (0)

static void note_call(struct subject *subject, unsigned kind, uint64_t ticks)
{
	subject->histogram[kind][ticks < TICKS_MAX ? ticks : TICKS_MAX - 1]++;
}

/* Makes one pass over the load. Compiled twice: with and without a clock around
 * each call. */
static inline __attribute__((always_inline)) void pass(struct subject *subject,
						       const struct load *load,
						       uint64_t kind,
						       bool by_type)
{
	uint64_t made = 0;

	for (size_t i = subject->passes ? load->once : 0; i < load->count;
	     i++) {
		const struct bench_call *call = &load->calls[i];
		void **handle = &subject->handles[call->handle];
		union nccl_event_descr descr;
		union nccl_state_args args;

		if (call->verb == START) {
			descr = load->descrs[call->content];
			set_parents(&descr, load, call, subject);
			*handle = HOST_GARBAGE_HANDLE;
			TIMED(host_start_descr(subject->host,
					       subject->contexts[call->context],
					       &descr, handle));
		} else if (!*handle) {
			continue;
		} else if (call->verb == STOP) {
			TIMED(host_stop(subject->host, *handle));
		} else {
			args = load->args[call->content];
			TIMED(host_record_args(
				subject->host, *handle, call->state,
				call->without_args ? NULL : &args));
		}
		made++;
	}
	subject->made = made;
	subject->passes++;
}

static __attribute__((noinline)) void pass_plain(struct subject *subject,
						 const struct load *load)
{
	pass(subject, load, 0, false);
}

static __attribute__((noinline)) void
pass_by_type(struct subject *subject, const struct load *load, uint64_t kind)
{
	pass(subject, load, kind, true);
}

/* --- The GPU's clock ---------------------------------------------------- */

/* Less than a pass takes on any machine. */
#define KERNEL_NS 100

/* Runs the kernels of the next pass, else the GPU's clock would stand still for the
 * plugin. */
static void run_kernels(const struct load *load)
{
	uint64_t now = ncs_clock_monotonic_ns();

	for (size_t i = 0; load->has_gpu && i < load->count; i++) {
		const struct bench_call *call = &load->calls[i];

		if (call->kind == KIND_START + NCS_EVENT_KERNEL_CH)
			load->descrs[call->content].v5.kernel_ch.gpu_timer_ns =
				now;
		else if (call->kind == KIND_STATE + NCCL_STATE_KERNEL_CH_STOP)
			load->args[call->content].v4.kernel_ch.gpu_timer_ns =
				now + KERNEL_NS;
	}
}

/* --- Cold caches -------------------------------------------------------- */

#define WALKED_MAX (32u << 20)

static const char *walked;

/* Pages are small, as most of a program's are. */
static void map_walked(void)
{
	void *memory = mmap(NULL, WALKED_MAX, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail("%s", strerror(errno));
	madvise(memory, WALKED_MAX, MADV_NOHUGEPAGE);
	memset(memory, 1, WALKED_MAX);
	walked = memory;
}

static void prepare_pass(const struct load *load)
{
	for (size_t i = 0; i < load->walked_bytes; i += 64)
		*(const volatile char *)&walked[i];
	run_kernels(load);
}

/* --- Rounds ------------------------------------------------------------- */

static int compare_samples(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static int compare_reals(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double real_at(const double *values, size_t count, double fraction)
{
	double *sorted = allocate(count, sizeof(*sorted)), value;

	memcpy(sorted, values, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_reals);
	value = sorted[(size_t)((double)(count - 1) * fraction)];
	free(sorted);
	return value;
}

/* Runs `batch` passes; returns the mean of the middle half of their ticks: some
 * processors count in steps of 10 ns, in which a median would be. */
static double run_batch(struct subject *subject, const struct load *load,
			size_t batch, uint64_t kind)
{
	uint32_t *samples = &subject->samples[subject->sample_count];
	uint32_t *sorted = allocate(batch, sizeof(*sorted));
	size_t first = batch / 4, end = batch - batch / 4;
	double sum = 0;

	for (size_t i = 0; i < batch; i++) {
		uint64_t before;

		prepare_pass(load);
		before = ncs_clock_ticks(kind);
		pass_plain(subject, load);
		samples[i] = (uint32_t)(ncs_clock_ticks(kind) - before);
	}
	memcpy(sorted, samples, batch * sizeof(*sorted));
	qsort(sorted, batch, sizeof(*sorted), compare_samples);
	for (size_t i = first; i < end; i++)
		sum += sorted[i];
	free(sorted);
	return sum / (double)(end - first);
}

static void enter(struct subject *subject, const struct load *load,
		  size_t samples, size_t rounds)
{
	subject->contexts =
		allocate(load->context_max + 1, sizeof(*subject->contexts));
	subject->handles =
		allocate(load->handle_max + 1, sizeof(*subject->handles));
	subject->samples = allocate(samples, sizeof(*subject->samples));
	subject->middles = allocate(rounds, sizeof(*subject->middles));
	subject->histogram = allocate(KIND_COUNT, sizeof(*subject->histogram));
	subject->sample_count = 0;
	subject->passes = 0;
	for (uint32_t i = 1; i <= load->context_max; i++)
		if (load->comms[i].nranks != 0)
			host_init(subject->host, &load->comms[i],
				  &subject->contexts[i]);
}

static void leave(struct subject *subject, const struct load *load)
{
	for (uint32_t i = 1; i <= load->context_max; i++)
		if (subject->contexts[i])
			host_finalize(subject->host, subject->contexts[i]);
	free(subject->contexts);
	free(subject->handles);
	free(subject->samples);
	free(subject->middles);
	free(subject->histogram);
}

/* Runs all plugins in each round, another one first each time, so that
 * disturbances of the machine affect them equally. */
static void measure(struct subject *subjects, size_t count,
		    const struct load *load, size_t batch, size_t rounds,
		    uint64_t kind)
{
	for (size_t i = 0; i < count; i++) {
		enter(&subjects[i], load, batch * rounds, rounds);
		run_batch(&subjects[i], load, batch, kind); /* to warm up */
		if (subjects[i].made == 0)
			fail("%s wants no calls", subjects[i].name);
	}
	for (size_t round = 0; round < rounds; round++) {
		for (size_t i = 0; i < count; i++) {
			struct subject *subject =
				&subjects[(round + i) % count];

			subject->middles[round] =
				run_batch(subject, load, batch, kind);
			subject->sample_count += batch;
		}
	}
	for (size_t round = 0; round < rounds; round++)
		for (size_t i = 0; i < count; i++)
			for (size_t k = 0; k < (batch + 9) / 10; k++) {
				prepare_pass(load);
				pass_by_type(&subjects[(round + i) % count],
					     load, kind);
			}
}

/* --- The tables --------------------------------------------------------- */

/* Returns the median, over the rounds, of the ratio to another plugin. */
static double ratio_to(const struct subject *subject,
		       const struct subject *other, size_t rounds)
{
	double *ratios = allocate(rounds, sizeof(*ratios)), ratio;

	for (size_t i = 0; i < rounds; i++)
		ratios[i] = subject->middles[i] / other->middles[i];
	ratio = real_at(ratios, rounds, 0.5);
	free(ratios);
	return ratio;
}

static double sample_at(struct subject *subject, double fraction)
{
	qsort(subject->samples, subject->sample_count,
	      sizeof(*subject->samples), compare_samples);
	return subject->samples[(size_t)((double)(subject->sample_count - 1) *
					 fraction)];
}

static void print_costs(struct subject *subjects, size_t count,
			const struct load *load, size_t batch, size_t rounds,
			double ns_per_tick)
{
	const struct subject *empty = &subjects[0], *floor = &subjects[1];

	printf("\n%s, medians of %zu rounds of %zu:\n\n", load->name, rounds,
	       batch);
	printf("| plugin | callbacks/%s | ns/%s | ns/callback | p10-p90 of"
	       " rounds | above empty | above empty/%s | p99.9/median |"
	       " to floor |\n",
	       load->unit, load->unit, load->unit);
	puts("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
	for (size_t i = 0; i < count; i++) {
		struct subject *subject = &subjects[i];
		double median = real_at(subject->middles, rounds, 0.5);
		double low = real_at(subject->middles, rounds, 0.1);
		double high = real_at(subject->middles, rounds, 0.9);
		double above = median - real_at(empty->middles, rounds, 0.5);
		double made = (double)subject->made;

		printf("| %s | %.0f | %.0f | %.1f | %.1f-%.1f | %.1f | %.0f |",
		       subject->name, made, median * ns_per_tick,
		       median * ns_per_tick / made, low * ns_per_tick / made,
		       high * ns_per_tick / made, above * ns_per_tick / made,
		       above * ns_per_tick);
		if (batch > 1)
			printf(" %.2f |", sample_at(subject, 0.999) /
						  sample_at(subject, 0.5));
		else
			printf(" - |");
		printf(" %.2f |\n", ratio_to(subject, floor, rounds));
	}
}

/* Returns the median ticks of a type of call; negative if there was none. */
static double median_of_kind(const struct subject *subject, unsigned kind)
{
	uint64_t total = 0, seen = 0;

	for (unsigned i = 0; i < TICKS_MAX; i++)
		total += subject->histogram[kind][i];
	for (unsigned i = 0; total > 0 && i < TICKS_MAX; i++) {
		uint64_t here = subject->histogram[kind][i];

		/* Interpolates between two ticks. */
		if (2 * (seen + here) >= total)
			return i + ((double)total / 2 - (double)seen) /
					   (double)here;
		seen += here;
	}
	return -1;
}

static void print_types(const struct subject *subjects, size_t count,
			const struct load *load, double ns_per_tick)
{
	char name[64];

	printf("\n%s, ns of a callback by type, above the empty plugin:\n\n|"
	       " call |",
	       load->name);
	for (size_t i = 1; i < count; i++)
		printf(" %s |", subjects[i].name);
	printf("\n|---|");
	for (size_t i = 1; i < count; i++)
		printf("---:|");
	putchar('\n');
	for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
		double empty = median_of_kind(&subjects[0], kind);

		if (empty < 0)
			continue;
		name_kind(kind, name, sizeof(name));
		printf("| %s |", name);
		for (size_t i = 1; i < count; i++) {
			double median = median_of_kind(&subjects[i], kind);

			if (median < 0)
				printf(" - |");
			else
				printf(" %.1f |",
				       (median - empty) * ns_per_tick);
		}
		putchar('\n');
	}
}

/* --- The program -------------------------------------------------------- */

/* A second thread makes glibc take its locks, as in every process that uses
 * NCCL. */
static void *wait_for_ever(void *argument)
{
	for (;;)
		pause();
	return argument;
}

static void start_idle_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
		fail("no thread could be started");
	pthread_detach(thread);
}

/* Pins the thread to the last processor it may use: interrupts prefer the
 * first. */
static int pin(void)
{
	cpu_set_t allowed, one;
	int chosen = -1;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return -1;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &allowed))
			chosen = i;
	CPU_ZERO(&one);
	CPU_SET(chosen, &one);
	return sched_setaffinity(0, sizeof(one), &one) == 0 ? chosen : -1;
}

static void print_machine(int cpu, uint64_t kind)
{
	static const char *const clocks[] = { "?", "CLOCK_MONOTONIC", "TSC",
					      "cntvct_el0" };
	char line[256], model[256] = "unknown processor";
	FILE *file = fopen("/proc/cpuinfo", "re");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "model name : %255[^\n]", model) == 1)
			break;
	if (file)
		fclose(file);
	printf("%s, %ld processors, pinned to %d, clock %s, compiler %s\n",
	       model, sysconf(_SC_NPROCESSORS_ONLN), cpu,
	       kind < COUNT(clocks) ? clocks[kind] : "?", __VERSION__);
	puts("A machine that does other things too, a virtual one above all,"
	     " moves all of\nthese numbers; compare within one run, and ratios"
	     " rather than ns.");
}

static void open_subject(struct subject *subjects, size_t *count,
			 const char *path)
{
	struct subject *subject = &subjects[*count];
	const char *name = strrchr(path, '/');
	char message[512];

	if (*count == SUBJECTS_MAX)
		fail("too many plugins");
	if (host_open(&subject->host, path, 5, message, sizeof(message)) != 0)
		fail("%s", message);
	name = name ? name + 1 : path;
	snprintf(subject->name, sizeof(subject->name), "%s",
		 host_plugin_name(subject->host) ?
			 host_plugin_name(subject->host) :
			 name);
	(*count)++;
}

/* Opens a plugin that was built with this program. */
static void open_built(struct subject *subjects, size_t *count,
		       const char *name)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (length < 0)
		fail("/proc/self/exe: %s", strerror(errno));
	path[length] = '\0';
	slash = strrchr(path, '/');
	if (!slash ||
	    (size_t)(slash + 1 - path) + strlen(name) + 1 > sizeof(path))
		fail("%s: too long", path);
	strcpy(slash + 1, name);
	open_subject(subjects, count, path);
}

static void run(struct subject *subjects, size_t count, struct load *load,
		size_t batch, size_t rounds, const struct ncs_clock *clock)
{
	double ns_per_tick = (double)clock->multiplier / 4294967296.0;

	measure(subjects, count, load, batch, rounds, clock->kind);
	print_costs(subjects, count, load, batch, rounds, ns_per_tick);
	print_types(subjects, count, load, ns_per_tick);
	fflush(stdout);
	for (size_t i = 0; i < count; i++)
		leave(&subjects[i], load);
	load_release(load);
}

static void run_nvlink(struct subject *subjects, size_t count, size_t rounds,
		       const struct ncs_clock *clock)
{
	/* A pass costs more with more memory. */
	static const struct {
		size_t walked_bytes, batch;
	} steps[] = { { 0, BATCH }, { 2u << 20, 100 }, { WALKED_MAX, 10 } };
	struct load load;

	for (size_t i = 0; i < COUNT(steps); i++) {
		make_nvlink(&load, subjects[0].host, steps[i].walked_bytes);
		run(subjects, count, &load, steps[i].batch, rounds, clock);
	}
}

int main(int argc, char **argv)
{
	const char *capture = NCS_CAPTURES "/net-v5-ddp8/rank0.calllog.xz";
	struct subject subjects[SUBJECTS_MAX] = { 0 };
	size_t count = 0, rounds = 100;
	struct ncs_clock clock;
	struct load load;

	open_built(subjects, &count, "bench/libnccl-profiler-empty.so");
	open_built(subjects, &count, "bench/libnccl-profiler-floor.so");
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--plugin") == 0)
			open_subject(subjects, &count, argv[i + 1]);
		else if (strcmp(argv[i], "--capture") == 0)
			capture = argv[i + 1];
		else if (strcmp(argv[i], "--rounds") == 0 &&
			 atoi(argv[i + 1]) > 0)
			rounds = (size_t)atoi(argv[i + 1]);
		else
			argc = 0;
	}
	if (argc % 2 == 0) {
		fputs("usage: bench_callbacks [--plugin SO]... [--capture"
		      " FILE] [--rounds N]\n",
		      stderr);
		return 2;
	}
	if (count == 2)
		open_built(subjects, &count, "libnccl-profiler-ncclstat.so");
	ncs_clock_calibrate(&clock, ncs_clock_choose());
	map_walked();
	start_idle_thread();
	print_machine(pin(), clock.kind);
	make_synthetic(&load, subjects[0].host);
	run(subjects, count, &load, BATCH, rounds, &clock);
	run_nvlink(subjects, count, rounds, &clock);
	make_full(&load, subjects[0].host);
	run(subjects, count, &load, BATCH, rounds, &clock);
	make_recorded(&load, subjects[0].host, capture);
	run(subjects, count, &load, 1, rounds, &clock);
	for (size_t i = 0; i < count; i++)
		host_close(subjects[i].host);
	return 0;
}
