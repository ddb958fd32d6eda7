/* SPDX-License-Identifier: MIT */
/* The calls of a synthetic rank; see caller.h. Must not know any plugin. */
#include "test/bench/caller.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void bench_fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		why);
	exit(EXIT_FAILURE);
}

unsigned bench_number(const char *text, unsigned most)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || value < 1 || value > most)
		bench_fail(text, "a number is expected");
	return (unsigned)value;
}

uint64_t bench_processor_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)time.tv_nsec;
}

static int compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

void bench_sort(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
}

void bench_open_comm(struct host *host, const struct host_comm *comm,
		     void **context)
{
	host_init(host, comm, context);
	if (!*context)
		bench_fail("init", "no context");
}

struct host *bench_open_plugin(const char *path)
{
	char message[512];
	struct host *host;

	if (host_open(&host, path, 5, message, sizeof(message)) != 0)
		bench_fail(path, message);
	return host;
}

static const int state_numbers[BENCH_STATE_COUNT] = {
	[BENCH_STATE_IN_PROGRESS] = NCCL_STATE_OP_IN_PROGRESS,
	[BENCH_STATE_GPU_WAIT] = NCCL_STATE_STEP_SEND_GPU_WAIT,
	[BENCH_STATE_PEER_WAIT] = NCCL_STATE_STEP_SEND_PEER_WAIT,
	[BENCH_STATE_WAIT] = NCCL_STATE_STEP_SEND_WAIT,
};

void bench_prepare(struct bench_caller *caller, struct host *host,
		   void *context)
{
	const struct host_event events[BENCH_START_STEP] = {
		[BENCH_START_GROUP_API] = { .type = NCCL_EVENT_GROUP_API,
					    .depth = 1 },
		[BENCH_START_COLL_API] = { .type = NCCL_EVENT_COLL_API,
					   .func = "AllReduce",
					   .count = 1 << 20,
					   .datatype = "ncclFloat32" },
		[BENCH_START_GROUP] = { .type = NCCL_EVENT_GROUP },
		[BENCH_START_COLL] = { .type = NCCL_EVENT_COLL,
				       .func = "AllReduce",
				       .count = 1 << 20,
				       .datatype = "ncclFloat32",
				       .channels = BENCH_CHANNELS,
				       .algorithm = "RING",
				       .protocol = "SIMPLE" },
		[BENCH_START_OP] = { .type = NCCL_EVENT_PROXY_OP,
				     .pid = (int)getpid(),
				     .peer = 1,
				     .steps = BENCH_STEPS,
				     .is_send = 1 },
	};

	caller->host = host;
	caller->context = context;
	for (unsigned i = 0; i < BENCH_START_STEP; i++)
		host_lay_out(host, &events[i], &caller->starts[i]);
	for (int i = 0; i < BENCH_STEPS; i++)
		host_lay_out(host,
			     &(struct host_event){
				     .type = NCCL_EVENT_PROXY_STEP, .step = i },
			     &caller->starts[BENCH_START_STEP + i]);
	for (unsigned i = 0; i < BENCH_STATE_COUNT; i++)
		host_lay_out_args(
			host,
			&(struct host_state){ .state = state_numbers[i],
					      .size_bytes = 1 << 19 },
			&caller->args[i]);
}

static void *start(struct bench_caller *caller, unsigned which, void *parent)
{
	void *handle = NULL;

	caller->starts[which].v5.parent = parent;
	host_start_descr(caller->host, caller->context, &caller->starts[which],
			 &handle);
	return handle;
}

static void enter(struct bench_caller *caller, void *handle,
		  enum bench_state state)
{
	host_record_args(caller->host, handle, state_numbers[state],
			 &caller->args[state]);
}

void bench_make_proxy_op(struct bench_caller *caller, void *coll,
			 uint8_t channel)
{
	void *op, *step;

	caller->starts[BENCH_START_OP].v5.proxy_op.channel = channel;
	op = start(caller, BENCH_START_OP, coll);
	enter(caller, op, BENCH_STATE_IN_PROGRESS);
	for (unsigned i = 0; i < BENCH_STEPS; i++) {
		step = start(caller, BENCH_START_STEP + i, op);
		enter(caller, step, BENCH_STATE_GPU_WAIT);
		enter(caller, step, BENCH_STATE_PEER_WAIT);
		enter(caller, step, BENCH_STATE_WAIT);
		host_stop(caller->host, step);
	}
	host_stop(caller->host, op);
}

void *bench_call_collective(struct bench_caller *caller)
{
	void *group_api = start(caller, BENCH_START_GROUP_API, NULL);
	void *coll_api = start(caller, BENCH_START_COLL_API, group_api);
	void *group, *coll;

	host_stop(caller->host, coll_api);
	group = start(caller, BENCH_START_GROUP, NULL);
	coll = start(caller, BENCH_START_COLL, coll_api);
	host_stop(caller->host, coll);
	host_stop(caller->host, group);
	host_stop(caller->host, group_api);
	caller->starts[BENCH_START_COLL].v5.coll.seq_number++;
	return coll;
}
