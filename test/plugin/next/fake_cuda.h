/* SPDX-License-Identifier: MIT */
/* Control of the fake CUDA driver in fake_cuda.c by a test: its symbol
 * fake_cuda.
 *
 * The library's SONAME is libcuda.so.1. Once a test has loaded it by its path,
 * the plugin finds it under that name. It has contexts, streams, events and
 * stream captures, but no GPU: a kernel is a time that its stream takes.
 *
 * The GPU's clock stands still until the test advances it, or follows
 * CLOCK_MONOTONIC. A kernel takes a given time by itself, or runs until the
 * test finishes it. An event with times holds up its stream by `gap_ns`, so that
 * two events with nothing between them are that far apart.
 *
 * Handles are checked: a call with one that is none is counted in bad_handles.
 * Like the real driver (580 on an H100), the library ends the process at a call
 * with a handle that went with its context: at once if that was made by
 * context_create(), for a primary one once it is in use again.
 * Of the legacy and the per-thread default stream each context has one, which
 * synchronizes with no other stream. Any thread may call any function; the
 * library's own lock orders nothing as far as ThreadSanitizer can see. In a
 * forked child all of CUDA's functions fail, as the driver's do. */
#ifndef NCS_TEST_PLUGIN_NEXT_FAKE_CUDA_H
#define NCS_TEST_PLUGIN_NEXT_FAKE_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CUDA's functions that the library has. */
#define FAKE_CUDA_CALLS(X) \
	X(CONTEXT_SET) \
	X(CONTEXT_ID) \
	X(PRIMARY_STATE) \
	X(PRIMARY_RETAIN) \
	X(PRIMARY_RELEASE) \
	X(EVENT_CREATE) \
	X(EVENT_DESTROY) \
	X(EVENT_RECORD) \
	X(EVENT_QUERY) \
	X(EVENT_ELAPSED) \
	X(STREAM_CREATE) \
	X(STREAM_DESTROY) \
	X(STREAM_IS_CAPTURING) \
	X(STREAM_CONTEXT) \
	X(EXCHANGE_CAPTURE_MODE) \
	/* The plugin's init calls these, for the GPU's name. */ \
	X(CONTEXT_DEVICE) \
	X(DEVICE_BUS_ID) \
	/* Only captured launches call these. */ \
	X(CAPTURE_INFO) \
	X(MODULE_LOAD) \
	X(MODULE_FUNCTION) \
	X(HOST_REGISTER) \
	X(LAUNCH_KERNEL)

enum fake_cuda_call {
#define X(name) FAKE_CUDA_##name,
	FAKE_CUDA_CALLS(X)
#undef X
	FAKE_CUDA_CALL_COUNT
};

/* Numbers of the driver's errors. */
enum {
	FAKE_CUDA_OUT_OF_MEMORY = 2,
	FAKE_CUDA_NOT_INITIALIZED = 3,
	FAKE_CUDA_INVALID_CONTEXT = 201,
	FAKE_CUDA_INVALID_HANDLE = 400,
	FAKE_CUDA_NOT_READY = 600,
	FAKE_CUDA_CONTEXT_IS_DESTROYED = 709,
	FAKE_CUDA_CAPTURE_UNSUPPORTED = 900,
	FAKE_CUDA_CAPTURE_INVALIDATED = 901,
	FAKE_CUDA_CAPTURE_IMPLICIT = 906,
	FAKE_CUDA_CAPTURED_EVENT = 907,
};

/* Modes of a capture, and of a thread. */
enum fake_cuda_mode {
	FAKE_CUDA_GLOBAL,
	FAKE_CUDA_THREAD_LOCAL,
	FAKE_CUDA_RELAXED,
};

/* A kernel whose fellows do not begin goes on without them after so long: their
 * process was stopped or killed. */
#define FAKE_CUDA_PATIENCE_NS UINT64_C(200000000)

/* The duration of a kernel that runs until it is finished. */
#define FAKE_CUDA_UNTIL_FINISHED UINT64_MAX

/* Kernels that run together, on GPUs of several processes. */
struct fake_cuda_meeting {
	uint64_t *begins;     /* when kernels began, in shared memory */
	size_t own;           /* where this one notes it */
	const size_t *others; /* that this one waits for */
	size_t other_count;
	uint64_t since_ns; /* what began before is of earlier kernels */
};

struct fake_cuda_counts {
	uint64_t events;  /* not destroyed yet */
	uint64_t streams; /* made by CUDA's function, not destroyed yet */
	uint64_t calls[FAKE_CUDA_CALL_COUNT];
	/* Calls while a capture was on, by any thread. */
	uint64_t calls_in_capture[FAKE_CUDA_CALL_COUNT];
	uint64_t spoiled; /* calls that invalidated a capture */
	uint64_t captured_events; /* event records that went into a capture */
	uint64_t captured_kernels;
	uint64_t stamps; /* kernels of the plugin that went into captures */
	uint64_t bad_handles; /* calls with a handle that is none any more */
	/* Calls with a handle of a primary context that was reset. */
	uint64_t orphan_handles;
	uint64_t retained; /* primary contexts, not released yet */
	uint64_t primaries_made; /* primary contexts that retaining has made */
	uint64_t timed_records; /* records of events with times */
	uint64_t plain_records; /* records of events without */
	uint64_t calls_in_child; /* valid in a forked child */
};

struct fake_cuda {
	/* Time that an event with times takes on its stream. */
	uint64_t gap_ns;
	/* Times between two events are multiples of this. */
	uint64_t resolution_ns;
	/* The number in the GPU's PCI bus ID; 0: it has none. */
	int gpu;
	/* Each call of CUDA's functions advances a clock that stands still. */
	uint64_t call_ns;

	/* Contexts. primary_use() returns the primary one of a device, which is
	 * in use from then on; primary_reset() destroys what is in it until
	 * the next use. context_create() makes another one, on device 0.
	 * context_use() makes one the calling thread's; NULL for none. */
	void *(*primary_use)(int device);
	void (*primary_reset)(int device);
	void *(*context_create)(void);
	void (*context_use)(void *context);
	void (*context_destroy)(void *context);

	/* Makes a stream of the application's, which is not counted, in the
	 * calling thread's context. */
	void *(*stream_create)(void);
	/* Puts a kernel into a stream; captures it if the stream is
	 * captured. */
	void (*launch)(void *stream, uint64_t duration_ns);
	/* Does the same with a kernel that does not end before the GPU's clock
	 * shows `until_ns`. */
	void (*launch_until)(void *stream, uint64_t duration_ns,
			     uint64_t until_ns);
	/* Does the same with a kernel that ends `duration_ns` after the last
	 * of those has begun with which it runs. It waits for them until
	 * `until_ns` and FAKE_CUDA_PATIENCE_NS. The meeting is copied, its
	 * arrays are not. */
	void (*launch_together)(void *stream, uint64_t duration_ns,
				uint64_t until_ns,
				const struct fake_cuda_meeting *meeting);
	/* Ends the running kernel of a stream that runs until it is finished.
	 * Returns false if none is running. */
	bool (*finish)(void *stream);
	/* Ends all that a stream has, also what comes later. */
	void (*finish_all)(void *stream);
	/* Returns the number of kernels in a stream, the running one
	 * included. */
	uint64_t (*pending)(void *stream);
	/* Returns the number of records of events with times in a stream. */
	uint64_t (*timed_records)(void *stream);

	void (*advance)(uint64_t ns);
	/* Returns the GPU's clock. */
	uint64_t (*now)(void);
	/* Lets the GPU's clock follow CLOCK_MONOTONIC, ahead by `offset_ns`. */
	void (*follow_clock)(uint64_t offset_ns);
	/* Follows CLOCK_MONOTONIC, gives all threads one context, and accepts
	 * any value as a stream: for players of captured jobs. */
	void (*play_along)(void);

	/* Captures of a stream by the calling thread. capture_end() returns
	 * false if the capture was invalidated. */
	void (*capture_begin)(void *stream, enum fake_cuda_mode mode);
	bool (*capture_end)(void *stream);
	/* Runs the next `count` kernels of the graph that was captured last on a
	 * stream, from its first one after the last; those of the plugin write
	 * what the real ones write. The GPU's clock stands still, but for the
	 * duration of each kernel. Returns how many the graph has. */
	size_t (*replay)(void *stream, size_t count);

	/* Lets the next `count` calls of a function fail. */
	void (*fail_next)(enum fake_cuda_call call, unsigned count, int error);
	/* Blocks all other threads that call a function until let_go(); of
	 * hold_after(), once they have called it so often; of hold_one(), the
	 * first of them only. */
	void (*hold)(enum fake_cuda_call call);
	void (*hold_one)(enum fake_cuda_call call);
	void (*hold_after)(enum fake_cuda_call call, unsigned count);
	void (*let_go)(enum fake_cuda_call call);
	/* Returns the number of threads that are blocked so. */
	unsigned (*held)(enum fake_cuda_call call);

	struct fake_cuda_counts (*counts)(void);
};

#endif
