/* SPDX-License-Identifier: MIT */
/* What is followed is recorded to its end, however it ends: removed, killed, or
 * ended in good order between two looks; and what is lost is told from what was
 * gone before anybody recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/write/recorder_segments.h"
#include "shm/clock.h"
#include "test/unit/support/recorded_file.h"
#include "test/unit/support/segment_fixture.h"

struct followed {
	struct segment_fixture *fixture;
	struct ncs_recorder_settings settings;
	struct ncs_recording_writer *writer;
	struct ncs_recorder_segments followed;
	char path[300];
	/* A process with a segment of its own. */
	pid_t pid;
	int gate; /* closed: it goes on */
};

static int setup(void **state)
{
	struct followed *test = calloc(1, sizeof(*test));
	struct ncs_recording_settings file = { .means = 0 };
	void *fixture;
	char why[100];

	if (!test || segment_fixture_setup_bare(&fixture) != 0)
		return -1;
	test->fixture = fixture;
	test->settings.directory = test->fixture->directory;
	snprintf(test->path, sizeof(test->path), "%s",
		 segment_fixture_path(fixture, "recording"));
	ncs_recording_head_here(&file.head);
	if (ncs_recording_writer_open(&test->writer, test->path, &file, why,
				      sizeof(why)) != 0)
		return -1;
	ncs_recorder_segments_init(&test->followed, &test->settings,
				   test->writer);
	*state = test;
	return 0;
}

static int teardown(void **state)
{
	struct followed *test = *state;
	void *fixture = test->fixture;

	if (test->pid > 0) {
		kill(test->pid, SIGKILL);
		waitpid(test->pid, NULL, 0);
		close(test->gate);
	}
	ncs_recorder_segments_release(&test->followed);
	free(test);
	return segment_fixture_teardown(&fixture);
}

/* --- A process that is followed ------------------------------------------- */

/* The child: its segment is there until it may go on. Then it removes it. */
static int live(struct segment_fixture *fixture, int ready, int gate)
{
	struct ncs_process process;
	struct ncs_writer writer;
	char byte = 0;

	ncs_process_describe(&process);
	if (segment_fixture_create(fixture, &process, 1, &writer) != 0)
		return 1;
	ncs_writer_publish(&writer);
	if (write(ready, &byte, 1) != 1 || read(gate, &byte, 1) != 0)
		return 1;
	ncs_writer_unlink(&writer);
	return 0;
}

static void start_process(struct followed *test)
{
	int ready[2], gate[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(gate), 0);
	fflush(NULL);
	test->pid = fork();
	assert_true(test->pid >= 0);
	if (test->pid == 0) {
		close(gate[1]);
		_exit(live(test->fixture, ready[1], gate[0]));
	}
	close(ready[1]);
	close(gate[0]);
	test->gate = gate[1];
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
}

static void wait_for_process(struct followed *test)
{
	int status;

	assert_int_equal(waitpid(test->pid, &status, 0), test->pid);
	test->pid = 0;
}

static void let_it_end(struct followed *test)
{
	close(test->gate);
	wait_for_process(test);
}

static void kill_it(struct followed *test)
{
	kill(test->pid, SIGKILL);
	wait_for_process(test);
	close(test->gate);
}

/* --- What is recorded ------------------------------------------------------ */

static void scan(struct followed *test)
{
	assert_int_equal(ncs_recorder_segments_scan(&test->followed), 0);
}

static void look(struct followed *test)
{
	assert_int_equal(ncs_recorder_segments_states(&test->followed,
						      ncs_clock_monotonic_ns()),
			 0);
}

static void end(struct followed *test, struct recorded_file *file)
{
	assert_int_equal(ncs_recording_writer_close(test->writer, NULL), 0);
	recorded_file_read(file, test->path);
}

/* The flags of the latest state, without those of how it is written. */
static unsigned latest_flags(const struct recorded_file *file)
{
	const struct recorded_chunk *chunk;
	struct ncs_state_head head = { 0 };
	size_t at = 0;

	while ((chunk = recorded_file_next(file, NCS_CHUNK_STATE, &at)))
		memcpy(&head, chunk->payload, sizeof(head));
	return head.flags & ~(unsigned)(NCS_STATE_KEY | NCS_STATE_LAST);
}

/* What all chunks of records say. */
static struct ncs_records_head sum_of_records(const struct recorded_file *file)
{
	struct ncs_records_head head, sum = { 0 };
	const struct recorded_chunk *chunk;
	size_t at = 0;

	while ((chunk = recorded_file_next(file, NCS_CHUNK_RECORDS, &at))) {
		memcpy(&head, chunk->payload, sizeof(head));
		sum.count += head.count;
		sum.lost += head.lost;
	}
	return sum;
}

/* --- Ends ------------------------------------------------------------------ */

static void a_killed_process_is_gone(void **state)
{
	struct followed *test = *state;
	struct recorded_file file;

	start_process(test);
	scan(test);
	assert_false(ncs_recorder_segments_are_gone(&test->followed));
	kill_it(test);
	assert_false(ncs_recorder_segments_are_gone(
		&test->followed)); /* not all told */
	look(test);
	assert_true(ncs_recorder_segments_are_gone(&test->followed));
	end(test, &file);
	assert_int_equal(latest_flags(&file), NCS_STATE_GONE);
	recorded_file_release(&file);
}

static void a_removed_segment_has_its_last_state(void **state)
{
	struct followed *test = *state;
	struct recorded_file file;

	start_process(test);
	scan(test);
	let_it_end(test);
	scan(test);
	assert_true(ncs_recorder_segments_are_gone(&test->followed));
	end(test, &file);
	assert_int_equal(latest_flags(&file), NCS_STATE_REMOVED);
	recorded_file_release(&file);
}

static void an_end_in_good_order_is_no_crash_whoever_sees_it(void **state)
{
	struct followed *test = *state;
	struct recorded_file file;

	start_process(test);
	scan(test);
	let_it_end(test);
	look(test); /* before the scan that finds the file removed */
	scan(test);
	assert_true(ncs_recorder_segments_are_gone(&test->followed));
	end(test, &file);
	assert_int_equal(recorded_file_count(&file, NCS_CHUNK_STATE), 2);
	assert_int_equal(latest_flags(&file), NCS_STATE_REMOVED);
	recorded_file_release(&file);
}

/* --- Records --------------------------------------------------------------- */

static void begin_segment(struct followed *test)
{
	assert_int_equal(segment_fixture_create(test->fixture,
						&test->fixture->process, 0,
						&test->fixture->writer),
			 0);
	test->fixture->header = test->fixture->writer.header;
	ncs_writer_publish(&test->fixture->writer);
	segment_fixture_lane(test->fixture, 0);
}

/* More than its ring takes is put into a segment before it is looked at. */
static struct ncs_records_head record_too_late(struct followed *test)
{
	struct ncs_records_head sum;
	struct recorded_file file;

	begin_segment(test);
	segment_fixture_put(test->fixture, 0, 20);
	scan(test);
	end(test, &file);
	sum = sum_of_records(&file);
	recorded_file_release(&file);
	assert_in_range(sum.count, 1, 8);
	return sum;
}

static void what_was_overwritten_before_is_not_lost(void **state)
{
	struct ncs_records_head sum = record_too_late(*state);

	assert_int_equal(sum.lost, 0);
}

static void what_a_newcomer_overwrites_is_lost(void **state)
{
	struct ncs_records_head sum;

	scan(*state);
	sum = record_too_late(*state);
	assert_int_equal(sum.count + sum.lost, 20);
}

static void what_is_put_in_while_it_is_followed_is_there(void **state)
{
	struct followed *test = *state;
	struct ncs_records_head sum;
	struct recorded_file file;
	uint64_t fullest;

	begin_segment(test);
	scan(test);
	for (unsigned i = 0; i < 5; i++) {
		segment_fixture_put(test->fixture, 0, 4);
		assert_int_equal(ncs_recorder_segments_drain(&test->followed,
							     &fullest),
				 0);
		assert_int_equal(fullest, 512); /* 4 of 8 */
	}
	assert_int_equal(ncs_recorder_segments_drain(&test->followed, &fullest),
			 0);
	assert_int_equal(fullest, 0);
	end(test, &file);
	sum = sum_of_records(&file);
	assert_int_equal(sum.count, 20);
	assert_int_equal(sum.lost, 0);
	recorded_file_release(&file);
}

static void another_process_is_left_alone(void **state)
{
	struct followed *test = *state;
	struct recorded_file file;

	start_process(test);
	test->settings.pid = (uint32_t)getpid();
	scan(test);
	look(test);
	assert_false(ncs_recorder_segments_any(&test->followed));
	end(test, &file);
	assert_int_equal(recorded_file_count(&file, NCS_CHUNK_RANK), 0);
	recorded_file_release(&file);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_killed_process_is_gone),
		TEST(a_removed_segment_has_its_last_state),
		TEST(an_end_in_good_order_is_no_crash_whoever_sees_it),
		TEST(what_was_overwritten_before_is_not_lost),
		TEST(what_a_newcomer_overwrites_is_lost),
		TEST(what_is_put_in_while_it_is_followed_is_there),
		TEST(another_process_is_left_alone),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
