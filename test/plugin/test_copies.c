/* SPDX-License-Identifier: MIT */
/* Collectives by copy engines, on a fake GPU: the operations of a communicator of
 * their own, their times and numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/plugin/cuda_job.h"

#include "ncclstat/abi.h"
#include "test/unit/support/unit.h"

#define COPY_NS 5000u

static const struct ncs_header *copies; /* their segment */
static struct view seen;

/* A collective as NCCL reports it: its number is of all that copy engines do. */
static void copy_in(void *context, const char *function, uint64_t duration_ns)
{
	static uint64_t number;
	struct host_event event = {
		.type = NCCL_EVENT_CE_COLL,
		.seq_number = number += 2,
		.func = function,
		.datatype = "ncclFloat32",
		.count = 100,
		.stream = job.stream,
	};
	void *coll = start_in(&job.guest, context, &event);

	cuda->launch(job.stream, duration_ns);
	stop(&job.guest, coll);
	if (duration_ns != FAKE_CUDA_UNTIL_FINISHED)
		cuda->advance(10 * COPY_NS);
}

static void copy(const char *function, uint64_t duration_ns)
{
	copy_in(job.guest.context, function, duration_ns);
}

/* Opens a job, and makes one AllGather, so that the communicator for copies is
 * there. */
static void open_and_copy(const char *timing)
{
	cuda_job_open("cuda.so", timing, CUDA_JOB_API);
	CHECK(!cuda_job_is_watched(), "a thread without a launch");
	copy("AllGather", COPY_NS);
	copies = cuda_job_map_companion(1);
	view_open(&seen, 1);
}

static void close_job(void)
{
	view_close(&seen);
	cuda_job_close();
}

static const struct ncs_function_view *function_of(enum ncs_function_id function)
{
	view_take(&seen);
	return &seen.now.functions[function];
}

static void await_done(enum ncs_function_id function, uint64_t operations)
{
	WAIT_UNTIL(function_of(function)->operations_done == operations,
		   "%llu of %llu operations of function %d have ended",
		   (unsigned long long)seen.now.functions[function].operations_done,
		   (unsigned long long)operations, (int)function);
}

SCENARIO(copies_have_numbers_and_times)
{
	const struct ncs_function_view *gathers;

	open_and_copy("all");
	for (unsigned i = 1; i <= 3; i++) {
		copy("AllGather", COPY_NS);
		await_done(NCS_FUNCTION_ALL_GATHER, i);
		copy("AlltoAll", 2 * COPY_NS);
		await_done(NCS_FUNCTION_ALL_TO_ALL, i);
	}
	CHECK_EQUAL(function_of(NCS_FUNCTION_ALL_TO_ALL)->last_sequence_number,
		    2, "numbers of AlltoAll");
	gathers = function_of(NCS_FUNCTION_ALL_GATHER);
	/* The first one was counted before there was a communicator for it. */
	CHECK_EQUAL(gathers->last_sequence_number, 3, "numbers of AllGather");
	CHECK_EQUAL(gathers->timed[NCS_TIMING_STREAM], 3, "times");
	CHECK(gathers->time_ns[NCS_TIMING_STREAM] >= 3 * COPY_NS, "their sum");
	CHECK(strstr(seen.now.identity.comm_name, " copies") != NULL,
	      "its name is %s", seen.now.identity.comm_name);
	CHECK_EQUAL(seen.now.launches.launched, 6, "launched");
	close_job();
}

SCENARIO(copy_that_hangs_is_in_flight)
{
	const struct ncs_operation *op;

	open_and_copy("auto");
	copy("AllGather", FAKE_CUDA_UNTIL_FINISHED);
	WAIT_UNTIL(PROGRESS(copies, begun) == 1, "begun");
	CHECK_EQUAL(cuda_job_in_flight(copies), 1, "in flight");
	op = cuda_job_find(copies, 1);
	CHECK(op && op->sequence_number == 1, "its number");
	CHECK(cuda->finish(job.stream), "no copy runs");
	await_done(NCS_FUNCTION_ALL_GATHER, 1);
	CHECK_EQUAL(cuda_job_in_flight(copies), 0, "it ends after all");
	close_job();
}

/* The second one is the communicator of the copies: it ends with the first. */
SCENARIO(copies_end_with_their_communicator)
{
	open_and_copy("all");
	copy("AllGather", 0);
	await_done(NCS_FUNCTION_ALL_GATHER, 1);
	copy("AllGather", FAKE_CUDA_UNTIL_FINISHED);
	cuda_job_finalize();
	CHECK_EQUAL(ncs_load_relaxed(&copies->life), NCS_LIFE_FINISHED,
		    "its life");
	CHECK(cuda->finish(job.stream), "no copy runs");
	job.guest.context = init_comm(job.guest.host, "next", 0);
	copy("AllGather", 0);
	close_job();
}

static const struct ncs_operation *replay_one(void)
{
	const struct ncs_header *replays;

	CHECK(cuda->capture_end(job.stream), "the capture is spoiled");
	cuda->replay(job.stream, 2); /* the stamp, and the copies */
	replays = cuda_job_map_companion(2);
	WAIT_UNTIL(cuda_job_in_flight(replays) == 1, "nothing is replayed");
	return cuda_job_find(replays, 1);
}

static void replay_copies(void *argument)
{
	const bool *is_early = argument;
	const struct ncs_operation *op;
	struct host_event event = {
		.type = NCCL_EVENT_COLL_API,
		.func = "AllGather",
		.datatype = "ncclFloat32",
		.graph_captured = true,
	};

	cuda_job_open("cuda.so", "all", CUDA_JOB_API);
	if (*is_early) {
		stop(&job.guest, start(&job.guest, &event));
		cuda->capture_begin(job.stream, FAKE_CUDA_RELAXED);
		copy("AllGather", COPY_NS);
		CHECK(cuda->capture_end(job.stream), "the capture is spoiled");
	} else {
		copy("AllGather", COPY_NS);
	}
	copies = cuda_job_map_companion(1);
	view_open(&seen, 1);
	cuda->capture_begin(job.stream, FAKE_CUDA_RELAXED);
	copy("AllGather", COPY_NS);
	op = replay_one();
	CHECK(op, "it is another one");
	CHECK_EQUAL(op->sequence_number,
		    *is_early ? NCS_NO_SEQUENCE_NUMBER : 0, "its number");
	close_job();
}

TEST(captured_copies_are_replayed_with_numbers)
{
	bool is_early = false;

	scenario_play(replay_copies, &is_early);
}

/* Other ranks may have had the communicator when they captured. */
TEST(capture_that_was_missed_leaves_replays_without_numbers)
{
	bool is_early = true;

	scenario_play(replay_copies, &is_early);
}

SCENARIO(copies_without_a_driver_are_counted)
{
	guest_open(&job.guest, CUDA_JOB_API);
	job.stream = &job;
	{
		struct host_event event = {
			.type = NCCL_EVENT_CE_COLL,
			.func = "AllGather",
			.datatype = "ncclFloat32",
			.count = 100,
		};

		for (unsigned i = 0; i < 3; i++)
			stop(&job.guest, start(&job.guest, &event));
	}
	view_take(&job.guest.view);
	CHECK_EQUAL(job.guest.view.now.events[NCS_EVENT_CE_COLL], 3, "events");
	CHECK_EQUAL(count_objects(), 1, "nobody tells when they end");
	guest_close(&job.guest);
}
