/* SPDX-License-Identifier: MIT */
/* When ncclreplay's fake GPU runs the launches of a job: by what the call logs
 * tell, and otherwise so that streams and ranks are kept in order. */
#include <stdio.h>
#include <string.h>

#include "test/host/calllog.h"
#include "test/host/launch_plan.h"
#include "test/unit/support/unit.h"

#define RANKS 2
#define MS UINT64_C(1000000)

/* The GPU's clock is ahead by so much, and NCCL reads it so late. */
#define GPU_AHEAD_NS UINT64_C(500000000)
#define LATE_NS UINT64_C(2000)

/* The logs of a job, written call by call. */
struct job {
	char text[RANKS][16384];
	struct calllog *logs[RANKS];
	struct launch_plans plans[RANKS];
	unsigned handle;
};

static struct job job;

__attribute__((format(printf, 3, 4))) static void
add(unsigned rank, uint64_t at_ns, const char *format, ...)
{
	size_t length = strlen(job.text[rank]);
	va_list list;

	length += (size_t)snprintf(job.text[rank] + length,
				   sizeof(job.text[rank]) - length, "%llu 7 ",
				   (unsigned long long)at_ns);
	va_start(list, format);
	length += (size_t)vsnprintf(job.text[rank] + length,
				    sizeof(job.text[rank]) - length, format,
				    list);
	va_end(list);
	snprintf(job.text[rank] + length, sizeof(job.text[rank]) - length,
		 "\n");
}

static int begin(void **state)
{
	(void)state;
	memset(&job, 0, sizeof(job));
	for (unsigned i = 0; i < RANKS; i++) {
		snprintf(job.text[i], sizeof(job.text[i]),
			 "# calllog 1 api=5 pid=7 realtime_ns=9 "
			 "monotonic_ns=1\n");
		add(i, 1,
		    "I ctx=1 comm=c name=world nnodes=1 nranks=2 rank=%u "
		    "mask=4095",
		    i);
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RANKS; i++) {
		launch_plans_free(&job.plans[i]);
		calllog_free(job.logs[i]);
	}
	return 0;
}

UNIT_FIXTURE(begin, end)

/* A launch on stream 16, and an AllReduce in it; returns the AllReduce. */
static unsigned launch(unsigned rank, uint64_t at_ns, uint64_t number,
		       bool graph)
{
	unsigned group = ++job.handle;

	add(rank, at_ns, "S h=%u ctx=1 type=256 parent=0 rank=%u graph=%d "
	    "depth=1", group, rank, graph);
	add(rank, at_ns, "S h=%u ctx=1 type=2048 parent=%u rank=%u stream=10",
	    ++job.handle, group, rank);
	add(rank, at_ns, "E h=%u", job.handle);
	add(rank, at_ns, "S h=%u ctx=1 type=2 parent=%u rank=%u seq=%llu "
	    "func=AllReduce sb=1 rb=1 count=1000 root=0 dt=ncclFloat32 nch=1 "
	    "nwarps=1 algo=RING proto=LL pgroup=0",
	    ++job.handle, group, rank, (unsigned long long)number);
	add(rank, at_ns, "E h=%u", job.handle);
	return job.handle;
}

/* A kernel of an operation, by the GPU's clock; 0: it does not end. */
static void kernel(unsigned rank, unsigned operation, uint64_t begin_ns,
		   uint64_t end_ns)
{
	add(rank, begin_ns + LATE_NS,
	    "S h=%u ctx=1 type=64 parent=%u rank=%u ch=0 ptimer=%llu",
	    ++job.handle, operation, rank,
	    (unsigned long long)(begin_ns + GPU_AHEAD_NS));
	if (end_ns == 0)
		return;
	add(rank, end_ns + LATE_NS, "R h=%u state=22 ptimer=%llu", job.handle,
	    (unsigned long long)(end_ns + GPU_AHEAD_NS));
	add(rank, end_ns + LATE_NS, "E h=%u", job.handle);
}

static void plan_job(void)
{
	char message[256] = "";

	for (unsigned i = 0; i < RANKS; i++)
		if (calllog_parse("log", job.text[i], strlen(job.text[i]),
				  &job.logs[i], message, sizeof(message)) != 0)
			fail_msg("%s", message);
	assert_int_equal(
		launch_plans_make((const struct calllog *const *)job.logs,
				  RANKS, job.plans),
		0);
}

TEST(kernels_run_when_their_log_says)
{
	for (unsigned i = 0; i < RANKS; i++)
		kernel(i, launch(i, 10 * MS, 0, false), 12 * MS, 15 * MS);
	plan_job();
	assert_int_equal(job.plans[0].count, 1);
	assert_ptr_equal(job.plans[0].all[0].stream, (void *)0x10);
	assert_int_equal(job.plans[0].all[0].begin_ns, 12 * MS + LATE_NS);
	assert_int_equal(job.plans[0].all[0].end_ns, 15 * MS + LATE_NS);
	assert_int_equal(job.plans[0].all[0].least_ns, 3 * MS);
}

TEST(no_kernel_begins_before_its_launch)
{
	kernel(0, launch(0, 10 * MS, 0, false), 9 * MS, 15 * MS);
	plan_job();
	assert_int_equal(job.plans[0].all[0].begin_ns, 10 * MS);
}

TEST(collectives_end_after_the_last_rank_begins)
{
	launch(0, 10 * MS, 0, false);
	launch(1, 30 * MS, 0, false);
	plan_job();
	assert_int_equal(job.plans[0].all[0].begin_ns, 10 * MS);
	assert_int_equal(job.plans[1].all[0].begin_ns, 30 * MS);
	assert_true(job.plans[0].all[0].end_ns > 30 * MS);
	assert_int_equal(job.plans[0].all[0].end_ns,
			 job.plans[1].all[0].end_ns);
	assert_int_equal(job.plans[0].all[0].least_ns,
			 job.plans[0].all[0].end_ns - 30 * MS);
}

/* A send to the other rank, or a receive from it, on stream 16; returns it. */
static unsigned transfer(unsigned rank, uint64_t at_ns, const char *func)
{
	unsigned group = ++job.handle;

	add(rank, at_ns, "S h=%u ctx=1 type=256 parent=0 rank=%u graph=0 "
	    "depth=1", group, rank);
	add(rank, at_ns, "S h=%u ctx=1 type=2048 parent=%u rank=%u stream=10",
	    ++job.handle, group, rank);
	add(rank, at_ns, "E h=%u", job.handle);
	add(rank, at_ns, "S h=%u ctx=1 type=4 parent=%u rank=%u func=%s buf=1 "
	    "dt=ncclFloat32 count=1000 peer=%u nch=1 pgroup=0",
	    ++job.handle, group, rank, func, 1 - rank);
	add(rank, at_ns, "E h=%u", job.handle);
	return job.handle;
}

TEST(a_receive_ends_after_its_send_begins)
{
	kernel(0, transfer(0, 5 * MS, "Send"), 5 * MS, 6 * MS);
	kernel(0, transfer(0, 30 * MS, "Send"), 30 * MS, 31 * MS);
	kernel(1, transfer(1, 9 * MS, "Recv"), 9 * MS, 10 * MS);
	kernel(1, transfer(1, 20 * MS, "Recv"), 20 * MS, 25 * MS);
	plan_job();
	assert_int_equal(job.plans[0].all[1].end_ns, 31 * MS + LATE_NS);
	assert_int_equal(job.plans[1].all[0].end_ns, 10 * MS + LATE_NS);
	assert_true(job.plans[1].all[1].end_ns > 30 * MS);
}

TEST(launches_know_those_they_run_with)
{
	launch(0, 10 * MS, 0, false);
	launch(1, 10 * MS, 0, false);
	transfer(0, 20 * MS, "Send");
	transfer(1, 20 * MS, "Recv");
	plan_job();
	assert_int_equal(job.plans[0].job_count, 4);
	for (unsigned i = 0; i < RANKS; i++) {
		assert_int_equal(job.plans[i].all[0].other_count, 1);
		assert_int_equal(job.plans[i].all[0].others[0],
				 job.plans[1 - i].all[0].number);
	}
	assert_int_equal(job.plans[0].all[1].other_count, 0);
	assert_int_equal(job.plans[1].all[1].other_count, 1);
	assert_int_equal(job.plans[1].all[1].others[0],
			 job.plans[0].all[1].number);
}

TEST(launches_wait_for_their_stream)
{
	for (unsigned i = 0; i < RANKS; i++) {
		launch(i, (i == 0 ? 10 : 30) * MS, 0, false);
		launch(i, (i == 0 ? 11 : 31) * MS, 1, false);
	}
	plan_job();
	assert_int_equal(job.plans[0].all[1].begin_ns,
			 job.plans[0].all[0].end_ns);
	assert_int_equal(job.plans[1].all[1].begin_ns, 31 * MS);
}

TEST(a_collective_that_a_rank_never_calls_never_ends)
{
	launch(0, 10 * MS, 0, false);
	launch(0, 11 * MS, 1, false);
	plan_job();
	assert_int_equal(job.plans[0].all[0].begin_ns, 10 * MS);
	assert_true(job.plans[0].all[0].end_ns == LAUNCH_NEVER);
	assert_true(job.plans[0].all[1].begin_ns == LAUNCH_NEVER);
}

TEST(a_kernel_that_does_not_end_in_its_log_never_ends)
{
	for (unsigned i = 0; i < RANKS; i++)
		kernel(i, launch(i, 10 * MS, 0, false), 12 * MS,
		       i == 0 ? 15 * MS : 0);
	plan_job();
	assert_true(job.plans[1].all[0].end_ns == LAUNCH_NEVER);
	assert_int_equal(job.plans[1].all[0].begin_ns, 12 * MS + LATE_NS);
}

/* Both kernels would need the other one's stream. */
TEST(collectives_in_different_order_never_end)
{
	for (unsigned i = 0; i < RANKS; i++) {
		launch(i, 10 * MS, i, false);
		launch(i, 11 * MS, 1 - i, false);
	}
	plan_job();
	for (unsigned i = 0; i < RANKS; i++) {
		assert_true(job.plans[i].all[0].end_ns == LAUNCH_NEVER);
		assert_true(job.plans[i].all[1].end_ns == LAUNCH_NEVER);
	}
}

TEST(a_captured_launch_runs_nothing)
{
	for (unsigned i = 0; i < RANKS; i++) {
		launch(i, 10 * MS, 0, true);
		launch(i, 11 * MS, 1, false);
	}
	plan_job();
	assert_true(job.plans[0].all[0].captured);
	assert_false(job.plans[0].all[1].captured);
	assert_int_equal(job.plans[0].all[1].begin_ns, 11 * MS);
}

TEST(plans_are_found_by_their_calls)
{
	launch(0, 10 * MS, 0, false);
	launch(0, 11 * MS, 1, false);
	plan_job();
	for (size_t i = 0; i < job.logs[0]->call_count; i++) {
		const struct launch_plan *plan =
			launch_plan_of(&job.plans[0], i);

		assert_int_equal(plan != NULL,
				 job.plans[0].all[0].call == i ||
					 job.plans[0].all[1].call == i);
	}
}
