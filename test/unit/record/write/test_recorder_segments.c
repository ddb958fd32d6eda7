/* SPDX-License-Identifier: MIT */
/* Tests of following segments: each segment is recorded to its end, whether it
 * was removed, its process was killed, or its process exited normally between
 * two refreshes. Lost records are distinguished from records that were
 * overwritten before the recording began. */
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
#include "test/unit/support/unit.h"

struct followed_process {
	struct segment_fixture *fixture;
	struct ncs_recorder_settings settings;
	struct ncs_recording_writer *writer;
	struct ncs_recorder_segments followed;
	char path[300];
	/* A process with a segment of its own. */
	pid_t pid;
	int release_pipe; /* pipe; closing it lets the child continue */
};

static int setup(void **state)
{
	struct followed_process *test = calloc(1, sizeof(*test));
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
	struct followed_process *test = *state;
	void *fixture = test->fixture;

	if (test->pid > 0) {
		kill(test->pid, SIGKILL);
		waitpid(test->pid, NULL, 0);
		close(test->release_pipe);
	}
	ncs_recorder_segments_release(&test->followed);
	free(test);
	return segment_fixture_teardown(&fixture);
}

/* --- A followed process -------------------------------------------------- */

/* Runs in the child: creates a segment, waits until the parent lets it
 * continue, and removes the segment. */
static int live(struct segment_fixture *fixture, int ready, int release_pipe)
{
	struct ncs_process process;
	struct ncs_writer writer;
	char byte = 0;

	ncs_process_describe(&process);
	if (segment_fixture_create(fixture, &process, 1, &writer) != 0)
		return 1;
	ncs_writer_publish(&writer);
	if (write(ready, &byte, 1) != 1 || read(release_pipe, &byte, 1) != 0)
		return 1;
	ncs_writer_unlink(&writer);
	return 0;
}

static void start_process(struct followed_process *test)
{
	int ready[2], release_pipe[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(release_pipe), 0);
	fflush(NULL);
	test->pid = fork();
	assert_true(test->pid >= 0);
	if (test->pid == 0) {
		close(release_pipe[1]);
		_exit(live(test->fixture, ready[1], release_pipe[0]));
	}
	close(ready[1]);
	close(release_pipe[0]);
	test->release_pipe = release_pipe[1];
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
}

static void wait_for_process(struct followed_process *test)
{
	int status;

	assert_int_equal(waitpid(test->pid, &status, 0), test->pid);
	test->pid = 0;
}

static void let_it_end(struct followed_process *test)
{
	close(test->release_pipe);
	wait_for_process(test);
}

static void kill_it(struct followed_process *test)
{
	kill(test->pid, SIGKILL);
	wait_for_process(test);
	close(test->release_pipe);
}

/* --- Recording ----------------------------------------------------------- */

static void scan(struct followed_process *test)
{
	assert_int_equal(ncs_recorder_segments_scan(&test->followed), 0);
}

static void refresh(struct followed_process *test)
{
	assert_int_equal(ncs_recorder_segments_states(&test->followed,
						      ncs_clock_monotonic_ns()),
			 0);
}

static void end(struct followed_process *test, struct recorded_file *file)
{
	assert_int_equal(ncs_recording_writer_close(test->writer, NULL), 0);
	recorded_file_read(file, test->path);
}

/* Returns the flags of the latest state that describe the process. */
static unsigned latest_flags(const struct recorded_file *file)
{
	const struct recorded_chunk *chunk;
	struct ncs_state_head head = { 0 };
	size_t at = 0;

	while ((chunk = recorded_file_next(file, NCS_CHUNK_STATE, &at)))
		memcpy(&head, chunk->payload, sizeof(head));
	return head.flags & ~(unsigned)(NCS_STATE_KEY | NCS_STATE_LAST);
}

/* Returns the sums over all chunks of records. */
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

/* --- Ends of processes --------------------------------------------------- */

UNIT_FIXTURE(setup, teardown)

TEST(killed_process_is_recorded_as_gone)
{
	struct followed_process *test = *state;
	struct recorded_file file;

	start_process(test);
	scan(test);
	assert_false(ncs_recorder_segments_are_gone(&test->followed));
	kill_it(test);
	assert_false(ncs_recorder_segments_are_gone(
		&test->followed)); /* not everything was recorded */
	refresh(test);
	assert_true(ncs_recorder_segments_are_gone(&test->followed));
	end(test, &file);
	assert_int_equal(latest_flags(&file), NCS_STATE_GONE);
	recorded_file_release(&file);
}

TEST(removed_segment_has_its_last_state)
{
	struct followed_process *test = *state;
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

TEST(orderly_end_is_not_recorded_as_a_crash)
{
	struct followed_process *test = *state;
	struct recorded_file file;

	start_process(test);
	scan(test);
	let_it_end(test);
	refresh(test); /* must precede the scan that finds the file removed */
	scan(test);
	assert_true(ncs_recorder_segments_are_gone(&test->followed));
	end(test, &file);
	assert_int_equal(recorded_file_count(&file, NCS_CHUNK_STATE), 2);
	assert_int_equal(latest_flags(&file), NCS_STATE_REMOVED);
	recorded_file_release(&file);
}

/* --- Segments that come and go -------------------------------------------- */

/* Makes the segments of a process with serial numbers from `from` to `until`. */
static void make_segments(struct followed_process *test, uint32_t from,
			  uint32_t until)
{
	for (uint32_t i = from; i <= until; i++) {
		struct ncs_writer writer;

		segment_fixture_make(test->fixture, &test->fixture->process,
				     ncs_writer_number(i), &writer);
		segment_fixture_let_go(&writer);
	}
}

static uint64_t missed_at_end(struct followed_process *test)
{
	assert_int_equal(ncs_recording_writer_close(test->writer, NULL), 0);
	return ncs_recorder_segments_missed(&test->followed);
}

TEST(segments_that_were_not_seen_are_counted)
{
	struct followed_process *test = *state;

	scan(test);
	make_segments(test, 3, 5);
	scan(test);
	assert_int_equal(ncs_recorder_segments_missed(&test->followed), 0);
	make_segments(test, 9, 10);
	scan(test);
	make_segments(test, 12, 12);
	scan(test);
	assert_int_equal(missed_at_end(test), 3 + 1);
}

TEST(segments_that_went_before_the_start_are_not_missed)
{
	struct followed_process *test = *state;

	make_segments(test, 0, 1);
	make_segments(test, 9, 10);
	scan(test);
	make_segments(test, 11, 11);
	scan(test);
	assert_int_equal(missed_at_end(test), 0);
}

/* exec() keeps the process, and the plugin begins anew. */
TEST(process_that_counts_anew_misses_nothing)
{
	struct followed_process *test = *state;

	make_segments(test, 0, 5);
	scan(test);
	make_segments(test, 0, 3);
	scan(test);
	assert_int_equal(missed_at_end(test), 0);
}

TEST(serial_numbers_of_earlier_plugins_tell_nothing)
{
	struct followed_process *test = *state;
	struct ncs_writer writer;

	for (uint64_t number = 0; number < 9; number += 4) {
		segment_fixture_make(test->fixture, &test->fixture->process,
				     number, &writer);
		segment_fixture_let_go(&writer);
		scan(test);
	}
	assert_int_equal(missed_at_end(test), 0);
}

/* --- Records ------------------------------------------------------------- */

static void begin_segment(struct followed_process *test)
{
	segment_fixture_make(test->fixture, &test->fixture->process, 0,
			     &test->fixture->writer);
	test->fixture->header = test->fixture->writer.header;
	segment_fixture_lane(test->fixture, 0);
}

/* Publishes more records than the ring holds, and only then reads the
 * segment. */
static struct ncs_records_head record_too_late(struct followed_process *test)
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

TEST(records_overwritten_before_the_start_are_not_lost)
{
	struct ncs_records_head sum = record_too_late(*state);

	assert_int_equal(sum.lost, 0);
}

TEST(records_overwritten_in_a_new_segment_are_lost)
{
	struct ncs_records_head sum;

	scan(*state);
	sum = record_too_late(*state);
	assert_int_equal(sum.count + sum.lost, 20);
}

TEST(records_published_while_followed_are_recorded)
{
	struct followed_process *test = *state;
	struct ncs_records_head sum;
	struct recorded_file file;
	uint64_t fullest;

	begin_segment(test);
	scan(test);
	for (unsigned i = 0; i < 5; i++) {
		segment_fixture_put(test->fixture, 0, 4);
		/* 4 of 8, which are left first. */
		for (uint64_t least = 513; least > 511; least--) {
			assert_int_equal(
				ncs_recorder_segments_drain(&test->followed,
							    least, &fullest),
				0);
			assert_int_equal(fullest, 512);
		}
	}
	assert_int_equal(
		ncs_recorder_segments_drain(&test->followed, 0, &fullest), 0);
	assert_int_equal(fullest, 0);
	end(test, &file);
	sum = sum_of_records(&file);
	assert_int_equal(sum.count, 20);
	assert_int_equal(sum.lost, 0);
	recorded_file_release(&file);
}

/* Time is up between two rings or segments, and what is left can still be read
 * when there is more of it. */
TEST(reading_stops_when_time_is_up)
{
	struct followed_process *test = *state;
	volatile sig_atomic_t stop = 0;
	struct ncs_records_head sum;
	struct recorded_file file;
	uint64_t fullest;

	begin_segment(test);
	start_process(test);
	scan(test);
	segment_fixture_put(test->fixture, 0, 4);
	segment_fixture_put(test->fixture, 1, 4);
	let_it_end(test);
	test->followed.until_ns = 1;
	assert_int_equal(
		ncs_recorder_segments_drain(&test->followed, 0, &fullest), 0);
	refresh(test);
	scan(test);
	test->followed.until_ns = 0;
	test->followed.stop = &stop;
	stop = 1;
	refresh(test);
	scan(test);
	stop = 0;
	refresh(test);
	scan(test);
	end(test, &file);
	sum = sum_of_records(&file);
	assert_int_equal(sum.count, 8);
	assert_int_equal(sum.lost, 0);
	/* At the beginning and at the end, for each of two segments. */
	assert_int_equal(recorded_file_count(&file, NCS_CHUNK_STATE), 4);
	assert_int_equal(latest_flags(&file), NCS_STATE_REMOVED);
	recorded_file_release(&file);
}

TEST(other_processes_are_not_recorded)
{
	struct followed_process *test = *state;
	struct recorded_file file;

	start_process(test);
	test->settings.choice.pid = (uint32_t)getpid();
	scan(test);
	refresh(test);
	assert_false(ncs_recorder_segments_any(&test->followed));
	end(test, &file);
	assert_int_equal(recorded_file_count(&file, NCS_CHUNK_RANK), 0);
	recorded_file_release(&file);
}
