/* SPDX-License-Identifier: MIT */
/* Replays of CUDA graphs, on a fake GPU that runs their kernels: the operations
 * of a communicator of their own, their times and numbers, and the harm that
 * stamps must not do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/abi.h"
#include "plugin/nccl/stamps.h"
#include "test/plugin/cuda_job.h"
#include "test/unit/support/unit.h"

#define KERNEL_NS 5000u
#define LAUNCHES 3u
/* Kernels of a launch with stamps. */
#define STAMPED 3u

static const struct ncs_header *replays; /* their segment */

#define REPLAYS(word) ncs_load_relaxed(&replays->graphs.word)

/* Opens a job, and captures launches with an operation each. */
static void open_and_capture(const char *graphs)
{
	setenv("NCCLSTAT_GRAPHS", graphs, 1);
	cuda_job_come("all");
	cuda->capture_begin(job.stream, FAKE_CUDA_GLOBAL);
	for (unsigned i = 0; i < LAUNCHES; i++)
		cuda_job_call(KERNEL_NS);
	CHECK(cuda->capture_end(job.stream), "the capture is spoiled");
	CHECK_EQUAL(cuda->counts().spoiled, 0, "spoiled captures");
}

/* Runs kernels of the graph, and waits for the segment of the replays. */
static void replay(size_t kernels)
{
	cuda->replay(job.stream, kernels);
	replays = cuda_job_map_companion(1);
}

static void await_done(uint64_t operations)
{
	WAIT_UNTIL(cuda_job_done(replays) == operations,
		   "%llu operations done, not %llu",
		   (unsigned long long)cuda_job_done(replays),
		   (unsigned long long)operations);
}

SCENARIO(replayed_operations_have_numbers_and_times)
{
	struct view view;
	uint64_t done;

	open_and_capture("all");
	done = cuda_job_done(job.header);
	CHECK_EQUAL(cuda->counts().stamps, 2 * LAUNCHES, "stamps");
	CHECK_EQUAL(ncs_load_relaxed(&job.header->graphs.stamped), LAUNCHES,
		    "stamped");
	CHECK_EQUAL(ncs_load_relaxed(&job.header->graphs.graphs), 1, "graphs");
	replay(10 * LAUNCHES * STAMPED);
	await_done(10 * LAUNCHES);
	CHECK_EQUAL(REPLAYS(replays), 10, "replays");
	CHECK_EQUAL(REPLAYS(launches), 10 * LAUNCHES, "launches");
	CHECK_EQUAL(REPLAYS(timed), 10 * LAUNCHES, "timed");
	CHECK_EQUAL(cuda_job_times(replays).timed, 10 * LAUNCHES, "times");
	CHECK_EQUAL(cuda_job_times(replays).time_ns,
		    10 * LAUNCHES * KERNEL_NS, "their sum");
	CHECK_EQUAL(cuda_job_done(job.header), done,
		    "captured operations have not run");
	view_open(&view, 1);
	CHECK_EQUAL(view.now.graphs.are_replays, 1, "they are replays");
	CHECK_EQUAL(view.now.graphs.of, GUEST_COMM_ID, "of the communicator");
	CHECK_EQUAL(
		view.now.functions[COLL_FUNCTION].last_sequence_number,
		10 * LAUNCHES - 1, "numbers");
	CHECK(view.now.last_call_ns >= view.now.launches.begun_ns &&
		      view.now.launches.begun_ns > 0,
	      "its last call is not the latest report");
	CHECK(strstr(view.now.identity.comm_name, " graphs") != NULL,
	      "its name is %s", view.now.identity.comm_name);
	view_close(&view);
	cuda_job_close();
}

/* A kernel that has begun and does not end. */
SCENARIO(operation_that_hangs_in_a_replay_is_in_flight)
{
	const struct ncs_operation *op = NULL;

	open_and_capture("all");
	replay(LAUNCHES * STAMPED + STAMPED + 1);
	await_done(LAUNCHES + 1);
	WAIT_UNTIL(cuda_job_in_flight(replays) == 1, "in flight");
	op = cuda_job_find(replays, LAUNCHES + 2);
	CHECK(op, "it is another one");
	CHECK_EQUAL(op->sequence_number, LAUNCHES + 1, "its number");
	CHECK(op->first_child != 0, "it has begun");
	CHECK_EQUAL(PROGRESS(replays, begun), LAUNCHES + 2, "begun");
	CHECK_EQUAL(PROGRESS(replays, ended), LAUNCHES + 1, "ended");
	cuda->replay(job.stream, 2);
	await_done(LAUNCHES + 2);
	CHECK_EQUAL(cuda_job_in_flight(replays), 0, "it ends after all");
	cuda_job_close();
}

/* The others are known to be over when the next replay begins. */
SCENARIO(first_launch_reports_replays_by_default)
{
	open_and_capture("auto");
	CHECK_EQUAL(cuda->counts().stamps, 2, "stamps");
	replay(STAMPED + LAUNCHES - 1);
	await_done(1);
	cuda->replay(job.stream, 9 * (STAMPED + LAUNCHES - 1));
	await_done(9 * LAUNCHES + 1);
	CHECK_EQUAL(REPLAYS(replays), 10, "replays");
	CHECK_EQUAL(REPLAYS(timed), 10, "timed");
	CHECK_EQUAL(cuda_job_times(replays).timed, 10, "times");
	cuda_job_close();
}

SCENARIO(nothing_is_stamped_if_it_is_off)
{
	open_and_capture("off");
	CHECK_EQUAL(cuda->counts().stamps, 0, "stamps");
	CHECK_EQUAL(cuda->counts().calls[FAKE_CUDA_MODULE_LOAD], 0, "loads");
	CHECK_EQUAL(JOB_PROGRESS(captured), LAUNCHES, "captured");
	cuda_job_close();
}

/* A graph outlives its communicator. */
SCENARIO(graph_that_outlives_its_communicator_does_no_harm)
{
	size_t kernels;

	open_and_capture("all");
	replay(LAUNCHES * STAMPED);
	await_done(LAUNCHES);
	cuda_job_finalize();
	WAIT_UNTIL(ncs_load_relaxed(&replays->life) == NCS_LIFE_FINISHED,
		   "the replays end with their communicator");
	kernels = cuda->replay(job.stream, 100);
	CHECK_EQUAL(kernels, LAUNCHES * STAMPED, "kernels");
	cuda_job_come_next();
	cuda_job_settle(true);
	cuda->replay(job.stream, 100);
	cuda_job_settle(true);
	CHECK_EQUAL(cuda_job_done(replays), LAUNCHES, "nothing is added");
	CHECK_EQUAL(ncs_load_relaxed(&job.header->graphs.graphs), 0,
		    "the next communicator has no graph");
	cuda_job_close();
}

/* The GPU writes more than the ring holds while nobody reads. */
SCENARIO(reports_that_are_overwritten_are_counted)
{
	const size_t ring = NCS_STAMP_RING / 2 * STAMPED;

	open_and_capture("all");
	replay(LAUNCHES * STAMPED);
	await_done(LAUNCHES);
	cuda->hold(FAKE_CUDA_EXCHANGE_CAPTURE_MODE);
	WAIT_UNTIL(cuda->held(FAKE_CUDA_EXCHANGE_CAPTURE_MODE) == 1,
		   "it looks no more");
	cuda->replay(job.stream, ring + ring / 2);
	cuda->let_go(FAKE_CUDA_EXCHANGE_CAPTURE_MODE);
	WAIT_UNTIL(REPLAYS(lost) > 0, "nothing is lost");
	WAIT_UNTIL(cuda_job_in_flight(replays) == 0, "in flight");
	cuda->replay(job.stream, 1);
	WAIT_UNTIL(cuda_job_in_flight(replays) == 1, "in flight");
	for (uint32_t i = 0; i < replays->operations.count; i++) {
		const struct ncs_operation *op =
			(const void *)((const char *)replays +
				       replays->operations.offset +
				       (size_t)i * replays->operations.stride);

		if (ncs_load_relaxed(&op->number) != 0)
			CHECK_EQUAL(op->sequence_number, NCS_NO_SEQUENCE_NUMBER,
				    "its number is not known");
	}
	cuda_job_close();
}

static void refuse(void *argument)
{
	const enum fake_cuda_call call = *(const enum fake_cuda_call *)argument;

	setenv("NCCLSTAT_GRAPHS", "all", 1);
	cuda_job_come("all");
	cuda->fail_next(call, 1, FAKE_CUDA_OUT_OF_MEMORY);
	cuda->capture_begin(job.stream, FAKE_CUDA_GLOBAL);
	for (unsigned i = 0; i < LAUNCHES; i++)
		cuda_job_call(KERNEL_NS);
	CHECK(cuda->capture_end(job.stream), "the capture is spoiled");
	CHECK(ncs_load_relaxed(&job.header->graphs.failure) != 0, "failure");
	CHECK(ncs_load_relaxed(&job.header->graphs.stamped) < LAUNCHES,
	      "stamped");
	cuda->replay(job.stream, 100);
	cuda_job_settle(true);
	cuda_job_close();
}

TEST(driver_that_refuses_stamps_is_told)
{
	for (int i = FAKE_CUDA_CAPTURE_INFO; i < FAKE_CUDA_CALL_COUNT; i++) {
		enum fake_cuda_call call = (enum fake_cuda_call)i;

		scenario_play(refuse, &call);
	}
}

/* Each graph has its own numbers of a replay, the function goes on counting. */
SCENARIO(graphs_that_are_replayed_in_turn_count_on)
{
	void *second;

	open_and_capture("all");
	second = cuda->stream_create();
	cuda->capture_begin(second, FAKE_CUDA_THREAD_LOCAL);
	cuda_job_call_in(job.guest.context, second, KERNEL_NS);
	CHECK(cuda->capture_end(second), "the capture is spoiled");
	CHECK_EQUAL(ncs_load_relaxed(&job.header->graphs.graphs), 2, "graphs");
	replay(LAUNCHES * STAMPED);
	cuda->replay(second, 2 * STAMPED);
	cuda->replay(job.stream, LAUNCHES * STAMPED);
	await_done(2 * LAUNCHES + 2);
	CHECK_EQUAL(REPLAYS(replays), 4, "replays");
	cuda->replay(second, 1);
	WAIT_UNTIL(cuda_job_in_flight(replays) == 1, "in flight");
	CHECK_EQUAL(cuda_job_find(replays, 2 * LAUNCHES + 3)->sequence_number,
		    2 * LAUNCHES + 2, "its number");
	cuda_job_close();
}

/* --- Which launches report by default ------------------------------------ */

/* Times are learned from so many replays; one more begins. */
#define LEARNED 8u

/* Captures launches on a stream, and returns how many of them have stamps. */
static uint64_t capture_in(void *context, void *stream, unsigned launches,
			   uint64_t kernel_ns)
{
	uint64_t stamps = cuda->counts().stamps;

	cuda->capture_begin(stream, FAKE_CUDA_GLOBAL);
	for (unsigned i = 0; i < launches; i++)
		cuda_job_call_in(context, stream, kernel_ns);
	CHECK(cuda->capture_end(stream), "the capture is spoiled");
	stamps = cuda->counts().stamps - stamps;
	CHECK_EQUAL(stamps % 2, 0, "a launch has one stamp only");
	return stamps / 2;
}

static uint64_t capture(unsigned launches, uint64_t kernel_ns)
{
	return capture_in(job.guest.context, job.stream, launches, kernel_ns);
}

/* Replays the graph that was captured last, `stamped` of whose launches report, until
 * times can be learned from it and have been read. */
static void learn(unsigned launches, uint64_t stamped)
{
	static uint64_t reported;
	unsigned kernels = launches + 2 * (unsigned)stamped;

	replay(LEARNED * kernels + 1);
	reported += LEARNED * stamped;
	WAIT_UNTIL(REPLAYS(timed) == reported, "%llu are reported, not %llu",
		   (unsigned long long)REPLAYS(timed),
		   (unsigned long long)reported);
	/* The one that has begun ends, so that the next graph begins anew. */
	cuda->replay(job.stream, kernels - 1);
	reported += stamped;
	WAIT_UNTIL(REPLAYS(timed) == reported, "the last replay is reported");
}

SCENARIO(all_launches_report_where_replays_are_long)
{
	setenv("NCCLSTAT_GRAPHS", "auto", 1);
	cuda_job_come("all");
	CHECK_EQUAL(capture(LAUNCHES, 5000000), 1, "nothing is known");
	CHECK_EQUAL(capture(LAUNCHES, 5000000), 1, "nothing was replayed");
	learn(LAUNCHES, 1);
	CHECK_EQUAL(capture(LAUNCHES, 5000000), LAUNCHES, "it is long enough");
	CHECK_EQUAL(ncs_load_relaxed(&job.header->graphs.stamped), 2 + LAUNCHES,
		    "the segment tells how many report");
	learn(LAUNCHES, LAUNCHES);
	CHECK_EQUAL(capture(LAUNCHES, 5000000), LAUNCHES, "it still is");
	cuda_job_close();
}

SCENARIO(first_launch_reports_where_replays_are_short)
{
	setenv("NCCLSTAT_GRAPHS", "auto", 1);
	cuda_job_come("all");
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQUAL(capture(LAUNCHES, KERNEL_NS), 1, "it is short");
		learn(LAUNCHES, 1);
	}
	cuda_job_close();
}

/* 6.4 ms: the stamps of 6 launches are within 0.5 % of them. */
SCENARIO(launches_between_report_as_far_as_they_are_cheap)
{
	setenv("NCCLSTAT_GRAPHS", "auto", 1);
	cuda_job_come("all");
	CHECK_EQUAL(capture(8, 800000), 1, "nothing is known");
	learn(8, 1);
	CHECK_EQUAL(capture(8, 800000), 2, "the last one tells the time");
	learn(8, 2);
	CHECK_EQUAL(capture(8, 800000), 4, "one in two");
	learn(8, 4);
	/* A graph that was short counts, whatever comes after it. */
	CHECK_EQUAL(capture(8, 80000), 4, "one in two");
	learn(8, 4);
	CHECK_EQUAL(capture(8, 800000), 1, "one was short");
	cuda_job_close();
}

/* Returns the sequence number of the only operation in flight. */
static uint64_t number_in_flight(const struct ncs_header *header)
{
	WAIT_UNTIL(cuda_job_in_flight(header) == 1, "in flight");
	for (uint64_t number = 1;; number++)
		if (cuda_job_find(header, number))
			return cuda_job_find(header, number)->sequence_number;
}

/* The second launch of one rank runs, and the first one of the other. */
SCENARIO(ranks_that_choose_differently_number_operations_alike)
{
	const struct ncs_header *headers[2];
	struct {
		void *context, *stream;
		uint64_t kernel_ns;
		unsigned stamped;
	} ranks[2];

	setenv("NCCLSTAT_GRAPHS", "auto", 1);
	cuda_job_come("all");
	ranks[0].context = job.guest.context;
	ranks[0].stream = job.stream;
	ranks[0].kernel_ns = 5000000;
	ranks[0].stamped = LAUNCHES;
	ranks[1].context = init_comm(job.guest.host, "guest", GUEST_RANK + 1);
	ranks[1].stream = cuda->stream_create();
	ranks[1].kernel_ns = KERNEL_NS;
	ranks[1].stamped = 1;
	for (unsigned i = 0; i < 2; i++)
		cuda_job_call_in(ranks[i].context, ranks[i].stream, 0);
	for (unsigned i = 0; i < 2; i++) {
		unsigned kernels = LAUNCHES + 2;

		CHECK_EQUAL(capture_in(ranks[i].context, ranks[i].stream,
				       LAUNCHES, ranks[i].kernel_ns),
			    1, "nothing is known");
		cuda->replay(ranks[i].stream, LEARNED * kernels);
		headers[i] = cuda_job_map_companion(2 + i);
		WAIT_UNTIL(ncs_load_relaxed(&headers[i]->graphs.timed) ==
				   LEARNED,
			   "they are read");
	}
	for (unsigned i = 0; i < 2; i++) {
		unsigned kernels = LAUNCHES + 2 * ranks[i].stamped;

		CHECK_EQUAL(capture_in(ranks[i].context, ranks[i].stream,
				       LAUNCHES, ranks[i].kernel_ns),
			    ranks[i].stamped, "each has its own times");
		cuda->replay(ranks[i].stream, kernels);
		/* The next replay begins. */
		cuda->replay(ranks[i].stream, i == 0 ? STAMPED + 1 : 1);
	}
	CHECK_EQUAL(number_in_flight(headers[0]), (LEARNED + 1) * LAUNCHES + 1,
		    "the second of the replay");
	CHECK_EQUAL(number_in_flight(headers[1]), (LEARNED + 1) * LAUNCHES,
		    "the first of the replay");
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQUAL(ncs_load_relaxed(&headers[i]->graphs.replays),
			    LEARNED + 2, "replays");
		CHECK_EQUAL(ncs_load_relaxed(&headers[i]->graphs.stamped),
			    ranks[i].stamped == 1 ? UINT64_C(1) << 31 : 1,
			    "which ones report is told");
	}
	cuda_job_finalize_in(ranks[1].context);
	cuda_job_close();
}
