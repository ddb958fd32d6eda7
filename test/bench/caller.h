/* SPDX-License-Identifier: MIT */
/* The profiler calls of a synthetic rank, for benchmarks: an AllReduce over
 * BENCH_CHANNELS channels, and the proxy's part of it. Only one thread may use a
 * caller. */
#ifndef NCS_TEST_BENCH_CALLER_H
#define NCS_TEST_BENCH_CALLER_H

#include <stdint.h>

#include "test/host/plugin_host.h"

#define BENCH_CHANNELS 32
#define BENCH_STEPS 8
/* Number of callbacks that bench_make_proxy_op() makes. */
#define BENCH_PROXY_OP_CALLBACKS (3 + 5 * BENCH_STEPS)

enum bench_start {
	BENCH_START_GROUP_API,
	BENCH_START_COLL_API,
	BENCH_START_GROUP,
	BENCH_START_COLL,
	BENCH_START_OP,
	BENCH_START_STEP, /* there are BENCH_STEPS of these */
	BENCH_START_COUNT = BENCH_START_STEP + BENCH_STEPS
};

enum bench_state {
	BENCH_STATE_IN_PROGRESS,
	BENCH_STATE_GPU_WAIT,
	BENCH_STATE_PEER_WAIT,
	BENCH_STATE_WAIT,
	BENCH_STATE_COUNT
};

/* The event descriptors of a thread; parents are filled in during the calls. */
struct bench_caller {
	struct host *host;
	void *context;
	union nccl_event_descr starts[BENCH_START_COUNT];
	union nccl_state_args args[BENCH_STATE_COUNT];
};

/* Prints an error and ends the program. */
__attribute__((noreturn)) void bench_fail(const char *what, const char *why);

/* Returns the value of an option, from 1 to `most`; ends the program if the text is
 * no such number. */
unsigned bench_number(const char *text, unsigned most);

/* Returns the processor time of all threads. */
uint64_t bench_processor_ns(void);

/* Sorts numbers, the least one first. */
void bench_sort(double *values, size_t count);

struct host *bench_open_plugin(const char *path);

/* Opens a rank's end of a communicator. */
void bench_open_comm(struct host *host, const struct host_comm *comm,
		     void **context);

void bench_prepare(struct bench_caller *caller, struct host *host,
		   void *context);

/* Makes the calls of the proxy thread for one operation. */
void bench_make_proxy_op(struct bench_caller *caller, void *coll,
			 uint8_t channel);

/* Makes the calls of the application's thread. Returns the handle of the
 * collective. */
void *bench_call_collective(struct bench_caller *caller);

#endif
