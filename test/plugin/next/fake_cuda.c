/* SPDX-License-Identifier: MIT */
/* A fake CUDA driver without a GPU (fake_cuda.h). Built with BARE it lacks a
 * function; built with OLD, the newer of two versions of one.
 *
 * Built without ThreadSanitizer, and without the mutexes and the malloc() that
 * it would see all the same: the real driver promises no order either. */
#include "test/plugin/next/fake_cuda.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define DISABLE_TIMING 2u
#define PLACES 1024u

enum life { LIVES, DESTROYED, ORPHANED };

struct fake_context {
	uint64_t id; /* another one after each destruction */
	int device;
	bool primary;
	bool there;
	unsigned retained; /* of a primary one, by CUDA's function */
	bool used;         /* of a primary one, by the application */
};

#define DEVICES 4

/* Something in a stream: a kernel, or the record of an event if `event` is
 * not NULL. */
struct entry {
	struct entry *next;
	struct fake_event *event;
	uint64_t record; /* of the event */
	uint64_t queued_at;
	uint64_t duration; /* of a kernel */
	uint64_t until;    /* a kernel does not end before */
	uint64_t begin;    /* of a kernel; 0 before */
	struct fake_cuda_meeting meeting; /* no `begins`: of none */
	bool begun, finished;
};

struct fake_stream {
	struct fake_stream *next_of_all, *next_in_place;
	void *handle;
	struct fake_context *context;
	enum life life;
	bool counted;
	struct entry *first, **last;
	uint64_t free_at; /* when all that has left it was over */
	uint64_t kernels, timed_records;
	bool finishes_all;
	bool capturing, capture_valid;
	enum fake_cuda_mode capture_mode;
	pthread_t capturer;
	uint64_t capture; /* its ID */
	/* The kernels of the latest capture, and the next one to run. */
	struct node *nodes;
	size_t node_count, next_node;
};

/* A kernel in a graph, or one of the plugin's. */
struct node {
	uint64_t duration;
	const char *kernel; /* name of the plugin's; NULL for others */
	uint64_t arguments[2];
};

struct fake_event {
	struct fake_event *next_of_all;
	struct fake_context *context;
	enum life life;
	bool timed;
	bool captured;
	uint64_t records;           /* so far */
	struct fake_stream *stream; /* of the latest record */
	bool happened;
	uint64_t time;
};

static int lock;
static pid_t owner; /* of the library; another process is a forked child */
static struct fake_stream *streams, *stream_places[PLACES];
static struct fake_event *events;
static struct fake_cuda_counts counts;
static unsigned captures; /* going on */
static uint64_t latest_capture;
static struct {
	unsigned count;
	int error;
} failures[FAKE_CUDA_CALL_COUNT];
static int held[FAKE_CUDA_CALL_COUNT];
static pthread_t holder; /* not blocked itself */
static unsigned waiting[FAKE_CUDA_CALL_COUNT];
static unsigned passes[FAKE_CUDA_CALL_COUNT]; /* calls not blocked yet */
static unsigned places[FAKE_CUDA_CALL_COUNT]; /* threads to be blocked yet */
static bool follows_clock, plays_along;
static uint64_t clock_ns = UINT64_C(1000000000); /* or its offset */
static struct fake_context primaries[DEVICES];

static __thread struct fake_context *current;
static __thread int thread_mode; /* enum fake_cuda_mode */

extern struct fake_cuda fake_cuda;

static void acquire(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void release(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	if (!follows_clock)
		return clock_ns;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec + clock_ns;
}

/* --- Memory ------------------------------------------------------------ */

#define CHUNK_BYTES ((size_t)1 << 20)

static struct entry *free_entries;

/* Returns zeroed memory for good. */
static void *allocate(size_t bytes)
{
	static char *chunk;
	static size_t used = CHUNK_BYTES;
	void *memory;

	bytes = (bytes + 15) & ~(size_t)15;
	if (used + bytes > CHUNK_BYTES) {
		chunk = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (chunk == MAP_FAILED)
			abort();
		used = 0;
	}
	memory = chunk + used;
	used += bytes;
	return memory;
}

static struct entry *allocate_entry(void)
{
	struct entry *entry = free_entries;

	if (!entry)
		return allocate(sizeof(*entry));
	free_entries = entry->next;
	return entry;
}

static void free_entry(struct entry *entry)
{
	entry->next = free_entries;
	free_entries = entry;
}

/* --- Contexts ---------------------------------------------------------- */

static struct fake_context *context_now(void)
{
	return current ? current : plays_along ? &primaries[0] : NULL;
}

static void bring_up(struct fake_context *context)
{
	static uint64_t ids;

	if (context->there)
		return;
	context->there = true;
	context->id = ++ids;
}

static void *primary_use(int device)
{
	struct fake_context *context = &primaries[device];

	acquire();
	context->primary = context->used = true;
	context->device = device;
	bring_up(context);
	release();
	return context;
}

static void *context_create(void)
{
	struct fake_context *context;

	acquire();
	context = allocate(sizeof(*context));
	bring_up(context);
	release();
	return context;
}

static void context_use(void *context)
{
	current = context;
}

/* The lock is held. */
static void tear_down(struct fake_context *context)
{
	context->there = false;
	for (struct fake_event *event = events; event;
	     event = event->next_of_all)
		if (event->context == context && event->life == LIVES) {
			event->life = ORPHANED;
			counts.events--;
		}
	for (struct fake_stream *stream = streams; stream;
	     stream = stream->next_of_all)
		if (stream->context == context && stream->life == LIVES) {
			stream->life = ORPHANED;
			counts.streams -= stream->counted;
		}
}

static void context_destroy(void *context)
{
	acquire();
	tear_down(context);
	release();
}

/* A reset releases nothing: references that are held stay. */
static void primary_reset(int device)
{
	acquire();
	primaries[device].used = false;
	tear_down(&primaries[device]);
	release();
}

/* --- Streams ----------------------------------------------------------- */

static struct fake_stream **place_of(const void *handle)
{
	return &stream_places[(uintptr_t)handle / 16 % PLACES];
}

/* `handle` is NULL for a new one. */
static struct fake_stream *make_stream(void *handle,
				       struct fake_context *context)
{
	struct fake_stream *stream = allocate(sizeof(*stream));
	struct fake_stream **place;

	stream->handle = handle;
	stream->context = context;
	stream->last = &stream->first;
	place = place_of(handle);
	stream->next_in_place = *place;
	*place = stream;
	stream->next_of_all = streams;
	streams = stream;
	return stream;
}

static struct fake_stream *make_new_stream(struct fake_context *context)
{
	static uintptr_t handles = 0x7000;

	handles += 16;
	return make_stream((void *)handles, context);
}

static bool is_default(const void *handle)
{
	return (uintptr_t)handle <= 2;
}

/* Returns the latest stream with this handle; NULL if there is none. */
static struct fake_stream *find_stream(void *handle)
{
	struct fake_context *context = context_now();

	for (struct fake_stream *stream = *place_of(handle); stream;
	     stream = stream->next_in_place)
		if (stream->handle == handle &&
		    (!is_default(handle) ||
		     (stream->context == context && stream->life == LIVES)))
			return stream;
	if (context && context->there &&
	    (plays_along || is_default(handle)))
		return make_stream(handle, context);
	return NULL;
}

/* Takes the lock for a test's function, whose stream must exist. */
static struct fake_stream *acquire_stream(void *handle)
{
	struct fake_stream *stream;

	acquire();
	stream = find_stream(handle);
	if (!stream)
		abort();
	return stream;
}

static void end_record(struct entry *entry, uint64_t time)
{
	struct fake_event *event = entry->event;

	if (event->records != entry->record)
		return;
	event->happened = true;
	event->time = time;
}

static void begin_kernel(struct entry *entry, uint64_t begin)
{
	const struct fake_cuda_meeting *meeting = &entry->meeting;

	entry->begun = true;
	entry->begin = begin;
	if (meeting->begins)
		__atomic_store_n(&meeting->begins[meeting->own], begin,
				 __ATOMIC_RELAXED);
}

/* Returns when a kernel ends, as far as that is known: not while another has
 * not begun with which it runs. */
static uint64_t end_of(const struct entry *entry, uint64_t now)
{
	const struct fake_cuda_meeting *meeting = &entry->meeting;
	uint64_t last = entry->begin, end;
	bool waits = entry->duration == FAKE_CUDA_UNTIL_FINISHED;

	for (size_t i = 0; meeting->begins && i < meeting->other_count; i++) {
		uint64_t begin = __atomic_load_n(
			&meeting->begins[meeting->others[i]],
			__ATOMIC_RELAXED);

		if (begin < meeting->since_ns &&
		    now < entry->until + FAKE_CUDA_PATIENCE_NS)
			waits = true;
		if (begin > last)
			last = begin;
	}
	end = last + entry->duration;
	return waits ? UINT64_MAX : end > entry->until ? end : entry->until;
}

/* Returns false if the entry is not over yet. */
static bool is_over(struct fake_stream *stream, struct entry *entry,
		    uint64_t now)
{
	uint64_t begin = stream->free_at > entry->queued_at ? stream->free_at :
							      entry->queued_at;

	if (begin > now)
		return false;
	if (entry->event) {
		end_record(entry, begin);
		stream->free_at =
			begin + (entry->event->timed ? fake_cuda.gap_ns : 0);
		return true;
	}
	if (!entry->begun)
		begin_kernel(entry, begin);
	if (entry->finished || stream->finishes_all) {
		stream->free_at = now;
	} else {
		uint64_t end = end_of(entry, now);

		if (end > now)
			return false;
		stream->free_at = end;
	}
	stream->kernels--;
	return true;
}

static void run_stream(struct fake_stream *stream)
{
	uint64_t now = now_ns();

	while (stream->first && is_over(stream, stream->first, now)) {
		struct entry *entry = stream->first;

		stream->first = entry->next;
		if (!stream->first)
			stream->last = &stream->first;
		free_entry(entry);
	}
}

static void append(struct fake_stream *stream, const struct entry *content)
{
	struct entry *entry = allocate_entry();

	*entry = *content;
	entry->queued_at = now_ns();
	*stream->last = entry;
	stream->last = &entry->next;
	run_stream(stream);
}

static void *stream_create(void)
{
	struct fake_stream *stream;

	acquire();
	stream = make_new_stream(context_now());
	release();
	return stream->handle;
}

#define NODES_MAX 4096u

static void add_node(struct fake_stream *stream, const struct node *node)
{
	if (!stream->nodes)
		stream->nodes = mmap(NULL, NODES_MAX * sizeof(*node),
				     PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stream->nodes == MAP_FAILED || stream->node_count == NODES_MAX)
		abort();
	stream->nodes[stream->node_count++] = *node;
}

static void launch_entry(void *handle, const struct entry *kernel)
{
	struct fake_stream *stream = acquire_stream(handle);

	if (stream->capturing) {
		counts.captured_kernels++;
		add_node(stream, &(struct node){
					 .duration = kernel->duration });
	} else {
		stream->kernels++;
		append(stream, kernel);
	}
	release();
}

static void launch_together(void *handle, uint64_t duration_ns, uint64_t until,
			    const struct fake_cuda_meeting *meeting)
{
	launch_entry(handle, &(struct entry){ .duration = duration_ns,
					      .until = until,
					      .meeting = *meeting });
}

static void launch_until(void *handle, uint64_t duration_ns, uint64_t until)
{
	launch_entry(handle, &(struct entry){ .duration = duration_ns,
					      .until = until });
}

static void launch(void *handle, uint64_t duration_ns)
{
	launch_until(handle, duration_ns, 0);
}

static bool finish(void *handle)
{
	struct fake_stream *stream;
	struct entry *entry;
	bool running;

	stream = acquire_stream(handle);
	run_stream(stream);
	entry = stream->first;
	running = entry && !entry->event && entry->begun &&
		  entry->duration == FAKE_CUDA_UNTIL_FINISHED;
	if (running) {
		entry->finished = true;
		run_stream(stream);
	}
	release();
	return running;
}

static void finish_all(void *handle)
{
	struct fake_stream *stream = acquire_stream(handle);

	stream->finishes_all = true;
	run_stream(stream);
	release();
}

static uint64_t pending(void *handle)
{
	struct fake_stream *stream;
	uint64_t kernels;

	stream = acquire_stream(handle);
	run_stream(stream);
	kernels = stream->kernels;
	release();
	return kernels;
}

static uint64_t timed_records(void *handle)
{
	struct fake_stream *stream;
	uint64_t records;

	acquire();
	stream = find_stream(handle);
	records = stream ? stream->timed_records : 0;
	release();
	return records;
}

/* --- Clock ------------------------------------------------------------- */

static void advance(uint64_t ns)
{
	acquire();
	clock_ns += ns;
	release();
}

static uint64_t now(void)
{
	uint64_t ns;

	acquire();
	ns = now_ns();
	release();
	return ns;
}

static void follow_clock(uint64_t offset_ns)
{
	acquire();
	follows_clock = true;
	clock_ns = offset_ns;
	release();
}

static void play_along(void)
{
	follow_clock(0);
	primary_use(0);
	acquire();
	plays_along = true;
	release();
}

/* --- Captures ---------------------------------------------------------- */

static void capture_begin(void *handle, enum fake_cuda_mode mode)
{
	struct fake_stream *stream;

	stream = acquire_stream(handle);
	if (stream->capturing)
		abort();
	stream->capturing = stream->capture_valid = true;
	stream->capture_mode = mode;
	stream->capturer = pthread_self();
	stream->capture = ++latest_capture;
	stream->node_count = stream->next_node = 0;
	captures++;
	release();
}

#define RING_STAMPS 262144u

/* Does what the kernels of plugin/nccl/stamps.c do. */
static void run_kernel(const struct node *node)
{
	static uint32_t stamps;
	uint64_t *place = (uint64_t *)(uintptr_t)node->arguments[0];

	if (strcmp(node->kernel, "ncclstat_clock") == 0) {
		__atomic_store_n(&place[0], now_ns(), __ATOMIC_RELAXED);
		__atomic_store_n(&place[1], node->arguments[1],
				 __ATOMIC_RELEASE);
		return;
	}
	stamps++;
	place += 2 * (stamps & (RING_STAMPS - 1));
	__atomic_store_n(&place[1], now_ns() << 16 | (stamps & 0xffff),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&place[0],
			 (uint64_t)stamps << 32 | (uint32_t)node->arguments[1],
			 __ATOMIC_RELEASE);
}

static size_t replay(void *handle, size_t count)
{
	struct fake_stream *stream = acquire_stream(handle);
	size_t all = stream->node_count;

	for (size_t i = 0; i < count && all > 0; i++) {
		const struct node *node = &stream->nodes[stream->next_node];

		stream->next_node = (stream->next_node + 1) % all;
		if (node->kernel)
			run_kernel(node);
		else if (!follows_clock)
			clock_ns += node->duration;
	}
	release();
	return all;
}

static bool capture_end(void *handle)
{
	struct fake_stream *stream;
	bool valid;

	stream = acquire_stream(handle);
	if (!stream->capturing)
		abort();
	stream->capturing = false;
	valid = stream->capture_valid;
	captures--;
	release();
	return valid;
}

/* Invalidates the captures that a call invalidates which is not safe during a
 * capture. Returns true if there are any: then the call fails. */
static bool spoils_captures(void)
{
	bool spoils = false;

	if (captures == 0 || thread_mode == FAKE_CUDA_RELAXED)
		return false;
	for (struct fake_stream *stream = streams; stream;
	     stream = stream->next_of_all) {
		bool own = pthread_equal(stream->capturer, pthread_self());

		if (!stream->capturing ||
		    stream->capture_mode == FAKE_CUDA_RELAXED)
			continue;
		if (!own && (stream->capture_mode != FAKE_CUDA_GLOBAL ||
			     thread_mode != FAKE_CUDA_GLOBAL))
			continue;
		stream->capture_valid = false;
		spoils = true;
	}
	counts.spoiled += spoils;
	return spoils;
}

/* --- Errors ------------------------------------------------------------ */

static void fail_next(enum fake_cuda_call call, unsigned count, int error)
{
	acquire();
	failures[call].count = count;
	failures[call].error = error;
	release();
}

static void hold_most(enum fake_cuda_call call, unsigned count, unsigned most)
{
	holder = pthread_self();
	__atomic_store_n(&passes[call], count, __ATOMIC_SEQ_CST);
	__atomic_store_n(&places[call], most, __ATOMIC_SEQ_CST);
	__atomic_store_n(&held[call], 1, __ATOMIC_SEQ_CST);
}

static void hold_after(enum fake_cuda_call call, unsigned count)
{
	hold_most(call, count, UINT_MAX);
}

static void hold(enum fake_cuda_call call)
{
	hold_after(call, 0);
}

static void hold_one(enum fake_cuda_call call)
{
	hold_most(call, 0, 1);
}

static void let_go(enum fake_cuda_call call)
{
	__atomic_store_n(&held[call], 0, __ATOMIC_SEQ_CST);
}

static unsigned threads_held(enum fake_cuda_call call)
{
	return __atomic_load_n(&waiting[call], __ATOMIC_SEQ_CST);
}

static struct fake_cuda_counts counts_now(void)
{
	struct fake_cuda_counts copy;

	acquire();
	copy = counts;
	release();
	return copy;
}

/* Takes one of a number. Returns false if none is left. */
static bool take_one(unsigned *number)
{
	unsigned left = __atomic_load_n(number, __ATOMIC_SEQ_CST);

	while (left > 0)
		if (__atomic_compare_exchange_n(number, &left, left - 1, false,
						__ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			return true;
	return false;
}

static void wait_while_held(enum fake_cuda_call call)
{
	const struct timespec pause = { .tv_nsec = 100000 };

	if (!__atomic_load_n(&held[call], __ATOMIC_SEQ_CST) ||
	    pthread_equal(holder, pthread_self()) || take_one(&passes[call]) ||
	    !take_one(&places[call]))
		return;
	__atomic_add_fetch(&waiting[call], 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&held[call], __ATOMIC_SEQ_CST))
		nanosleep(&pause, NULL);
	__atomic_sub_fetch(&waiting[call], 1, __ATOMIC_SEQ_CST);
}

/* Begins a call of CUDA. Returns an error, or 0 with the lock held. `unsafe` is
 * true for calls that a capture forbids. */
static int enter(enum fake_cuda_call call, bool unsafe)
{
	int error;

	if (owner != getpid()) {
		counts.calls_in_child++;
		return FAKE_CUDA_NOT_INITIALIZED;
	}
	wait_while_held(call);
	acquire();
	counts.calls[call]++;
	counts.calls_in_capture[call] += captures != 0;
	if (!follows_clock)
		clock_ns += fake_cuda.call_ns;
	error = unsafe && spoils_captures() ? FAKE_CUDA_CAPTURE_UNSUPPORTED : 0;
	if (!error && failures[call].count != 0) {
		failures[call].count--;
		error = failures[call].error;
	}
	if (error)
		release();
	return error;
}

static int leave(int result)
{
	release();
	return result;
}

/* Ends the process at a call with a handle of a context that is destroyed. */
_Noreturn static void crash(void)
{
	fputs("fake driver: a handle of a destroyed context\n", stderr);
	abort();
}

/* Returns the error of a call in a context; 0 if it is there. */
static int check_context(const struct fake_context *context)
{
	if (!context)
		return FAKE_CUDA_INVALID_CONTEXT;
	if (context->there)
		return 0;
	if (!context->primary)
		crash();
	return FAKE_CUDA_CONTEXT_IS_DESTROYED;
}

/* Returns the error of a call with a handle; 0 if the handle is good. */
static int check(enum life life, const struct fake_context *context)
{
	if (life == LIVES)
		return 0;
	if (life == DESTROYED) {
		counts.bad_handles++;
		return FAKE_CUDA_INVALID_HANDLE;
	}
	counts.orphan_handles++;
	if (!context->primary || context->there)
		crash();
	return FAKE_CUDA_CONTEXT_IS_DESTROYED;
}

static int check_event(const struct fake_event *event)
{
	if (!event) {
		counts.bad_handles++;
		return FAKE_CUDA_INVALID_HANDLE;
	}
	return check(event->life, event->context);
}

static int check_stream(const struct fake_stream *stream)
{
	if (!stream) {
		counts.bad_handles++;
		return FAKE_CUDA_INVALID_HANDLE;
	}
	return check(stream->life, stream->context);
}

/* --- The driver's functions -------------------------------------------- */

EXPORT int cuCtxSetCurrent(void *context);
EXPORT int cuCtxGetDevice(int *device);
EXPORT int cuCtxGetId(void *context, unsigned long long *id);
EXPORT int cuDeviceGetPCIBusId(char *text, int length, int device);
EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device);
EXPORT int cuDevicePrimaryCtxRelease(int device);
EXPORT int cuDevicePrimaryCtxRelease_v2(int device);
EXPORT int cuEventCreate(void **handle, unsigned flags);
EXPORT int cuEventDestroy_v2(void *handle);
EXPORT int cuEventRecord(void *handle, void *stream);
EXPORT int cuEventQuery(void *handle);
EXPORT int cuEventElapsedTime(float *ms, void *begin, void *end);
EXPORT int cuEventElapsedTime_v2(float *ms, void *begin, void *end);
EXPORT int cuStreamCreate(void **handle, unsigned flags);
EXPORT int cuStreamDestroy_v2(void *handle);
EXPORT int cuStreamIsCapturing(void *handle, int *status);
EXPORT int cuStreamGetCaptureInfo_v2(void *handle, int *status,
				     unsigned long long *id, void **graph,
				     void *const **nodes, size_t *node_count);
EXPORT int cuModuleLoadData(void **module, const void *image);
EXPORT int cuModuleUnload(void *module);
EXPORT int cuModuleGetFunction(void **function, void *module, const char *name);
EXPORT int cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags);
EXPORT int cuMemHostUnregister(void *memory);
EXPORT int cuMemHostGetDevicePointer_v2(unsigned long long *address,
					void *memory, unsigned flags);
EXPORT int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
			  unsigned grid_z, unsigned block_x, unsigned block_y,
			  unsigned block_z, unsigned shared_bytes, void *handle,
			  void **arguments, void **extra);
EXPORT int cuStreamGetCtx(void *handle, void **context);
EXPORT int cuThreadExchangeStreamCaptureMode(int *mode);

int cuCtxSetCurrent(void *context)
{
	int error = enter(FAKE_CUDA_CONTEXT_SET, false);

	if (error)
		return error;
	/* A primary one can be current though nothing is in it. */
	if (context)
		check_context(context);
	current = context;
	return leave(0);
}

int cuCtxGetDevice(int *device)
{
	int error = enter(FAKE_CUDA_CONTEXT_DEVICE, false);
	struct fake_context *context = context_now();

	if (error)
		return error;
	if (!context && fake_cuda.gpu == 0)
		return leave(FAKE_CUDA_INVALID_CONTEXT);
	*device = context ? context->device : 0;
	return leave(0);
}

int cuCtxGetId(void *context, unsigned long long *id)
{
	int error = enter(FAKE_CUDA_CONTEXT_ID, false);

	if (error)
		return error;
	error = check_context(context);
	if (!error)
		*id = ((struct fake_context *)context)->id;
	return leave(error);
}

int cuDeviceGetPCIBusId(char *text, int length, int device)
{
	int error = enter(FAKE_CUDA_DEVICE_BUS_ID, false);

	(void)device;
	if (error)
		return error;
	if (fake_cuda.gpu == 0)
		return leave(FAKE_CUDA_INVALID_CONTEXT);
	snprintf(text, (size_t)length, "0000:%02X:00.0",
		 (unsigned)fake_cuda.gpu);
	return leave(0);
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
	int error = enter(FAKE_CUDA_PRIMARY_STATE, false);

	if (error)
		return error;
	*flags = 0;
	*active = primaries[device].there;
	return leave(0);
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
	int error = enter(FAKE_CUDA_PRIMARY_RETAIN, false);
	struct fake_context *primary = &primaries[device];

	if (error)
		return error;
	counts.primaries_made += !primary->there;
	counts.retained++;
	primary->primary = true;
	primary->device = device;
	primary->retained++;
	bring_up(primary);
	*context = primary;
	return leave(0);
}

static int release_primary(int device)
{
	int error = enter(FAKE_CUDA_PRIMARY_RELEASE, false);
	struct fake_context *primary = &primaries[device];

	if (error)
		return error;
	if (primary->retained == 0)
		crash();
	counts.retained--;
	primary->retained--;
	if (primary->retained == 0 && !primary->used)
		tear_down(primary);
	return leave(0);
}

#ifdef OLD
int cuDevicePrimaryCtxRelease(int device)
#else
int cuDevicePrimaryCtxRelease_v2(int device)
#endif
{
	return release_primary(device);
}

int cuEventCreate(void **handle, unsigned flags)
{
	int error = enter(FAKE_CUDA_EVENT_CREATE, true);
	struct fake_context *context = context_now();
	struct fake_event *event;

	if (error)
		return error;
	error = check_context(context);
	if (error)
		return leave(error);
	event = allocate(sizeof(*event));
	event->context = context;
	event->timed = !(flags & DISABLE_TIMING);
	event->next_of_all = events;
	events = event;
	counts.events++;
	*handle = event;
	return leave(0);
}

int cuEventDestroy_v2(void *handle)
{
	struct fake_event *event = handle;
	int error = enter(FAKE_CUDA_EVENT_DESTROY, true);

	if (error)
		return error;
	error = check_event(event);
	if (error)
		return leave(error);
	event->life = DESTROYED;
	counts.events--;
	return leave(0);
}

/* A capture of another stream forbids work on the legacy stream. */
static bool is_implicit(const void *handle)
{
	return !handle && captures != 0;
}

static int record_event(struct fake_event *event, void *handle)
{
	struct fake_stream *stream = find_stream(handle);
	struct entry entry = { .event = event };
	int error = check_stream(stream);

	if (error)
		return error;
	if (stream->context != event->context)
		return FAKE_CUDA_INVALID_HANDLE;
	if (stream->capturing) {
		counts.captured_events++;
		event->captured = true;
		return stream->capture_valid ? 0 :
					       FAKE_CUDA_CAPTURE_INVALIDATED;
	}
	if (is_implicit(handle)) {
		counts.spoiled++;
		for (struct fake_stream *other = streams; other;
		     other = other->next_of_all)
			other->capture_valid = false;
		return FAKE_CUDA_CAPTURE_IMPLICIT;
	}
	entry.record = ++event->records;
	event->captured = event->happened = false;
	event->stream = stream;
	counts.timed_records += event->timed;
	counts.plain_records += !event->timed;
	stream->timed_records += event->timed;
	append(stream, &entry);
	return 0;
}

int cuEventRecord(void *handle, void *stream)
{
	int error = enter(FAKE_CUDA_EVENT_RECORD, false);

	if (error)
		return error;
	error = check_event(handle);
	return leave(error ? error : record_event(handle, stream));
}

int cuEventQuery(void *handle)
{
	struct fake_event *event = handle;
	int error = enter(FAKE_CUDA_EVENT_QUERY, true);

	if (error)
		return error;
	error = check_event(event);
	if (error)
		return leave(error);
	if (event->captured)
		return leave(FAKE_CUDA_CAPTURED_EVENT);
	if (event->stream)
		run_stream(event->stream);
	return leave(event->records == 0 || event->happened ?
			     0 :
			     FAKE_CUDA_NOT_READY);
}

static int elapsed(float *ms, struct fake_event *begin, struct fake_event *end)
{
	int64_t ns, step = (int64_t)fake_cuda.resolution_ns;
	int error = check_event(begin);

	if (!error)
		error = check_event(end);
	if (error)
		return error;
	if (!begin->timed || !end->timed || begin->context != end->context ||
	    begin->records == 0 || end->records == 0)
		return FAKE_CUDA_INVALID_HANDLE;
	if (begin->captured || end->captured)
		return FAKE_CUDA_CAPTURED_EVENT;
	run_stream(begin->stream);
	run_stream(end->stream);
	if (!begin->happened || !end->happened)
		return FAKE_CUDA_NOT_READY;
	ns = (int64_t)(end->time - begin->time);
	*ms = (float)((double)((ns + (ns < 0 ? -step : step) / 2) / step *
			       step) /
		      1e6);
	return 0;
}

int cuEventElapsedTime(float *ms, void *begin, void *end)
{
	int error = enter(FAKE_CUDA_EVENT_ELAPSED, true);

	return error ? error : leave(elapsed(ms, begin, end));
}

#ifndef OLD
int cuEventElapsedTime_v2(float *ms, void *begin, void *end)
{
	return cuEventElapsedTime(ms, begin, end);
}
#endif

int cuStreamCreate(void **handle, unsigned flags)
{
	int error = enter(FAKE_CUDA_STREAM_CREATE, true);
	struct fake_context *context = context_now();
	struct fake_stream *stream;

	(void)flags;
	if (error)
		return error;
	error = check_context(context);
	if (error)
		return leave(error);
	stream = make_new_stream(context);
	stream->counted = true;
	counts.streams++;
	*handle = stream->handle;
	return leave(0);
}

int cuStreamDestroy_v2(void *handle)
{
	int error = enter(FAKE_CUDA_STREAM_DESTROY, true);
	struct fake_stream *stream;

	if (error)
		return error;
	stream = find_stream(handle);
	error = check_stream(stream);
	if (error)
		return leave(error);
	stream->life = DESTROYED;
	counts.streams -= stream->counted;
	return leave(0);
}

#ifndef BARE
int cuStreamIsCapturing(void *handle, int *status)
{
	int error = enter(FAKE_CUDA_STREAM_IS_CAPTURING, false);
	struct fake_stream *stream;

	if (error)
		return error;
	stream = find_stream(handle);
	error = check_stream(stream);
	if (error)
		return leave(error);
	if (!stream->capturing && is_implicit(handle))
		return leave(FAKE_CUDA_CAPTURE_IMPLICIT);
	*status = !stream->capturing ? 0 : stream->capture_valid ? 1 : 2;
	return leave(0);
}
#endif

int cuStreamGetCaptureInfo_v2(void *handle, int *status,
			      unsigned long long *id, void **graph,
			      void *const **nodes, size_t *node_count)
{
	int error = enter(FAKE_CUDA_CAPTURE_INFO, false);
	struct fake_stream *stream;

	if (error)
		return error;
	if (graph || nodes || node_count)
		abort();
	stream = find_stream(handle);
	error = check_stream(stream);
	if (error)
		return leave(error);
	*status = !stream->capturing ? 0 : stream->capture_valid ? 1 : 2;
	*id = stream->capture;
	return leave(0);
}

int cuModuleLoadData(void **module, const void *image)
{
	int error = enter(FAKE_CUDA_MODULE_LOAD, true);

	if (error)
		return error;
	if (strncmp(image, ".version", 8) != 0)
		abort();
	*module = current;
	return leave(current ? 0 : FAKE_CUDA_INVALID_CONTEXT);
}

int cuModuleUnload(void *module)
{
	(void)module;
	return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
	int error = enter(FAKE_CUDA_MODULE_FUNCTION, false);

	(void)module;
	if (error)
		return error;
	*function = (void *)(uintptr_t)name;
	return leave(0);
}

int cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags)
{
	int error = enter(FAKE_CUDA_HOST_REGISTER, true);

	if (error)
		return error;
	if (!memory || bytes == 0 || flags != 2)
		abort();
	return leave(0);
}

int cuMemHostUnregister(void *memory)
{
	(void)memory;
	return 0;
}

int cuMemHostGetDevicePointer_v2(unsigned long long *address, void *memory,
				 unsigned flags)
{
	(void)flags;
	*address = (uintptr_t)memory;
	return 0;
}

/* Only kernels of the plugin come here: one thread, two arguments. */
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
		   unsigned grid_z, unsigned block_x, unsigned block_y,
		   unsigned block_z, unsigned shared_bytes, void *handle,
		   void **arguments, void **extra)
{
	int error = enter(FAKE_CUDA_LAUNCH_KERNEL, false);
	struct fake_stream *stream;
	struct node node = { .kernel = function };

	if (error)
		return error;
	if (grid_x * grid_y * grid_z * block_x * block_y * block_z != 1 ||
	    shared_bytes != 0 || extra)
		abort();
	node.arguments[0] = *(const uint64_t *)arguments[0];
	node.arguments[1] = strcmp(node.kernel, "ncclstat_clock") == 0 ?
				    *(const uint64_t *)arguments[1] :
				    *(const uint32_t *)arguments[1];
	stream = find_stream(handle);
	error = check_stream(stream);
	if (error)
		return leave(error);
	counts.stamps += stream->capturing;
	if (stream->capturing)
		add_node(stream, &node);
	else
		run_kernel(&node);
	return leave(0);
}

int cuStreamGetCtx(void *handle, void **context)
{
	int error = enter(FAKE_CUDA_STREAM_CONTEXT, false);
	struct fake_stream *stream;

	if (error)
		return error;
	stream = find_stream(handle);
	error = check_stream(stream);
	if (!error)
		*context = stream->context;
	return leave(error);
}

int cuThreadExchangeStreamCaptureMode(int *mode)
{
	int error = enter(FAKE_CUDA_EXCHANGE_CAPTURE_MODE, false);
	int before = thread_mode;

	if (error)
		return error;
	thread_mode = *mode;
	*mode = before;
	return leave(0);
}

EXPORT struct fake_cuda fake_cuda = {
	.resolution_ns = 500,
	.primary_use = primary_use,
	.primary_reset = primary_reset,
	.context_create = context_create,
	.context_use = context_use,
	.context_destroy = context_destroy,
	.stream_create = stream_create,
	.launch = launch,
	.launch_until = launch_until,
	.launch_together = launch_together,
	.finish = finish,
	.finish_all = finish_all,
	.pending = pending,
	.timed_records = timed_records,
	.advance = advance,
	.now = now,
	.follow_clock = follow_clock,
	.play_along = play_along,
	.capture_begin = capture_begin,
	.capture_end = capture_end,
	.replay = replay,
	.fail_next = fail_next,
	.hold = hold,
	.hold_one = hold_one,
	.hold_after = hold_after,
	.let_go = let_go,
	.held = threads_held,
	.counts = counts_now,
};

__attribute__((constructor)) static void note_owner(void)
{
	owner = getpid();
	/* A child gets the lock as it is: no other thread may hold it then. */
	pthread_atfork(acquire, release, release);
}
