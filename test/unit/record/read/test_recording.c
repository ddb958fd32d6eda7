/* SPDX-License-Identifier: MIT */
/* Tests of reading recordings: the data that was written is found again at
 * every time, and files that are cut, damaged or not recordings are
 * distinguished from good ones. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "record/format/chunk.h"
#include "record/read/recording_internal.h"
#include "record/read/source_recording.h"
#include "shm/read/job.h"
#include "test/unit/support/recording_fixture.h"
#include "test/unit/support/unit.h"

#define MS_NS UINT64_C(1000000)
#define S_NS UINT64_C(1000000000)
#define BEGUN RECORDING_BEGUN_NS

static char why[400];

static struct ncs_recording *open_files(const char *const *paths, size_t count)
{
	struct ncs_recording *recording;

	if (ncs_recording_open(&recording, paths, count, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	return recording;
}

static struct ncs_recording *open_one(const char *path)
{
	return open_files(&path, 1);
}

/* Writes ten states of a rank one second apart, each with other channel
 * counters, and ten records per state on two lanes. */
static void write_ten(struct recording_fixture *fixture, size_t rank)
{
	struct ncs_channel *channel =
		segment_fixture_channel(fixture->segment, 2);

	for (unsigned i = 0; i < 10; i++) {
		channel->bytes = 100 + i;
		recording_fixture_state(fixture, rank, i * S_NS, 0);
		recording_fixture_records(fixture, rank, i % 2, 10 * (i / 2),
					  10, 0, i * S_NS + 100 * MS_NS);
	}
}

static void write_recording(struct recording_fixture *fixture, const char *name)
{
	recording_fixture_begin(fixture, name);
	write_ten(fixture, recording_fixture_add_rank(fixture, "/dev/shm/a"));
	recording_fixture_end(fixture);
}

/* Returns the channel's bytes in the state at a time. */
static uint64_t bytes_at(struct ncs_recording *recording, size_t rank,
			 uint64_t at_ns)
{
	struct ncs_snapshot snapshot;
	struct ncs_reader *reader;
	uint64_t taken_ns, bytes;

	assert_int_equal(ncs_recording_state(recording, rank, at_ns, &reader,
					     &taken_ns),
			 NCS_RECORDED_YES);
	assert_int_equal(ncs_snapshot_init(&snapshot, reader), 0);
	ncs_snapshot_take(&snapshot, reader, taken_ns);
	assert_int_equal(snapshot.channel_count, 1);
	bytes = snapshot.channels[0].bytes;
	ncs_snapshot_release(&snapshot);
	return bytes;
}

/* --- Facts and contents -------------------------------------------------- */

UNIT_FIXTURE(recording_fixture_setup, recording_fixture_teardown)

TEST(facts_match_what_was_written)
{
	struct recording_fixture *fixture = *state;
	const struct ncs_recording_facts *facts;
	const struct ncs_recorded_rank *rank;
	struct ncs_recording *recording;

	write_recording(fixture, "one");
	recording = open_one(fixture->path);
	facts = ncs_recording_facts(recording);
	assert_int_equal(facts->files, 1);
	assert_int_equal(facts->records, 100);
	assert_int_equal(facts->lost, 0);
	assert_int_equal(facts->damaged_chunks, 0);
	assert_int_equal(facts->skipped_bytes, 0);
	assert_int_equal(facts->cut_files, 0);
	assert_int_equal(facts->from_ns, BEGUN);
	assert_int_equal(facts->until_ns, BEGUN + 9 * S_NS);
	assert_int_equal(facts->interval_ns, S_NS);
	assert_int_equal(ncs_recording_rank_count(recording), 1);
	rank = ncs_recording_rank(recording, 0);
	assert_string_equal(rank->id, "/dev/shm/a");
	assert_int_equal(rank->records, 100);
	assert_int_equal(rank->header->pid, getpid());
	assert_int_equal(ncs_recording_host_count(recording), 1);
	assert_string_equal(ncs_recording_host(recording, 0)->name, "alpha");
	assert_int_equal(ncs_recording_host(recording, 0)->realtime_offset_ns,
			 RECORDING_REALTIME_NS - BEGUN);
	ncs_recording_close(recording);
}

/* A stream gives the number of a segment that has gone to another. */
TEST(number_may_be_of_one_rank_after_another)
{
	struct recording_fixture *fixture = *state;
	struct ncs_channel *channel =
		segment_fixture_channel(fixture->segment, 2);
	struct ncs_look look = { .flags = NCS_LOOK_KEY };
	struct ncs_recording *recording;
	char path[32];
	size_t rank;

	fixture->settings.is_stream = true;
	recording_fixture_begin(fixture, "one");
	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/dev/shm/%u", i);
		rank = recording_fixture_add_rank(fixture, path);
		assert_int_equal(rank, 0);
		channel->bytes = 100 + i;
		recording_fixture_state(fixture, rank, i * S_NS, 0);
		recording_fixture_records(fixture, rank, 0, 0, 10 + i, 0,
					  i * S_NS);
		ncs_recording_writer_look(fixture->writer, &look);
		ncs_recording_writer_end_rank(fixture->writer, rank);
	}
	recording_fixture_end(fixture);
	recording = open_one(fixture->path);
	assert_int_equal(ncs_recording_rank_count(recording), 3);
	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/dev/shm/%u", i);
		assert_string_equal(ncs_recording_rank(recording, i)->id, path);
		assert_int_equal(ncs_recording_rank(recording, i)->records,
				 10 + i);
		assert_int_equal(bytes_at(recording, i, BEGUN + i * S_NS),
				 100 + i);
	}
	ncs_recording_close(recording);
}

/* A recording has the communicators of months. */
TEST(recording_may_have_any_number_of_ranks)
{
	struct recording_fixture *fixture = *state;
	struct ncs_recording *recording;
	const size_t count = 16384 + 100;
	char path[32];
	size_t rank;

	recording_fixture_begin(fixture, "one");
	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/dev/shm/%zu", i);
		rank = recording_fixture_add_rank(fixture, path);
		recording_fixture_records(fixture, rank, 0, 0, 1, 0, S_NS);
		ncs_recording_writer_end_rank(fixture->writer, rank);
	}
	recording_fixture_end(fixture);
	recording = open_one(fixture->path);
	assert_int_equal(ncs_recording_rank_count(recording), count);
	assert_string_equal(ncs_recording_rank(recording, count - 1)->id, path);
	assert_int_equal(ncs_recording_facts(recording)->damaged_chunks, 0);
	ncs_recording_close(recording);
}

/* States that are not needed now make room for others. */
TEST(states_take_no_more_memory_than_there_is)
{
	struct recording_fixture *fixture = *state;
	struct ncs_recording *recording;
	struct ncs_source *source;
	struct ncs_sample sample;
	struct ncs_reader *reader;
	uint64_t one, taken_ns;
	char reason[100];

	recording_fixture_begin(fixture, "one");
	write_ten(fixture, recording_fixture_add_rank(fixture, "/dev/shm/a"));
	write_ten(fixture, recording_fixture_add_rank(fixture, "/dev/shm/b"));
	recording_fixture_end(fixture);
	recording = open_one(fixture->path);
	assert_int_equal(bytes_at(recording, 0, BEGUN + S_NS), 101);
	one = recording->budget.used;
	recording->budget.most = one * 3 / 2;
	for (unsigned i = 2; i < 6; i++)
		assert_int_equal(bytes_at(recording, i % 2, BEGUN + i * S_NS),
				 100 + i);
	assert_true(recording->budget.used <= recording->budget.most);
	recording->budget.most = one / 2;
	assert_int_equal(ncs_recording_state(recording, 0, BEGUN + 7 * S_NS,
					     &reader, &taken_ns),
			 -ENOMEM);
	/* One of them has room in a model; the other is told. */
	recording->budget.most = one * 6;
	source = ncs_source_open_recording(recording, 0);
	assert_non_null(source);
	assert_int_equal(source->begin(source, BEGUN + S_NS, reason,
				       sizeof(reason)),
			 0);
	assert_true(source->next(source, &sample));
	assert_int_equal(sample.attach, NCS_ATTACHED);
	assert_true(source->next(source, &sample));
	assert_int_equal(sample.attach, NCS_ATTACH_FAILED);
	assert_false(source->next(source, &sample));
	source->close(source);
	ncs_recording_close(recording);
}

TEST(state_at_a_time_is_the_latest_before_it)
{
	struct recording_fixture *fixture = *state;
	struct ncs_recording *recording;
	struct ncs_reader *reader;
	uint64_t taken_ns;

	fixture->settings.key_every_ns = 4 * S_NS;
	write_recording(fixture, "one");
	recording = open_one(fixture->path);
	assert_int_equal(ncs_recording_state(recording, 0, BEGUN - 1, &reader,
					     &taken_ns),
			 NCS_RECORDED_NOT_YET);
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(bytes_at(recording, 0, BEGUN + i * S_NS),
				 100 + i);
		assert_int_equal(bytes_at(recording, 0,
					  BEGUN + (i + 1) * S_NS - 1),
				 100 + i);
	}
	/* Read the states backwards, and in random order. */
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(bytes_at(recording, 0,
					  BEGUN + i * 7 % 10 * S_NS + 5),
				 100 + i * 7 % 10);
	assert_int_equal(ncs_recording_next_state_of(recording, 0, BEGUN),
			 BEGUN + S_NS);
	assert_int_equal(ncs_recording_next_state_of(recording, 0, 0), BEGUN);
	assert_int_equal(
		ncs_recording_next_state_of(recording, 0, BEGUN + 9 * S_NS), 0);
	ncs_recording_close(recording);
}

/* Compares the fields, not the memory: padding may have any value. */
static void assert_same_operation(const struct ncs_operation_view *a,
				  const struct ncs_operation_view *b)
{
	assert_int_equal(a->number, b->number);
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->sequence_number, b->sequence_number);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->event, b->event);
	assert_int_equal(a->function, b->function);
	assert_int_equal(a->datatype, b->datatype);
	assert_int_equal(a->algorithm, b->algorithm);
	assert_int_equal(a->protocol, b->protocol);
	assert_int_equal(a->nchannels, b->nchannels);
	assert_int_equal(a->peer, b->peer);
	assert_int_equal(a->user_tag, b->user_tag);
	assert_int_equal(a->range, b->range);
	assert_int_equal(a->launch, b->launch);
	assert_int_equal(a->enqueued_ns, b->enqueued_ns);
	assert_int_equal(a->children_started, b->children_started);
	assert_int_equal(a->children_done, b->children_done);
	assert_int_equal(a->first_child_ns, b->first_child_ns);
	assert_int_equal(a->last_child_done_ns, b->last_child_done_ns);
}

/* A block that was changed only by an earlier state must again be as in the
 * key. */
TEST(state_equals_the_segment_when_it_was_taken)
{
	struct recording_fixture *fixture = *state;
	struct ncs_operation *operation =
		segment_fixture_operation(fixture->segment, 7);
	struct ncs_launch_progress *progress =
		&fixture->segment->header->launches;
	struct ncs_lane *lane = segment_fixture_lane(fixture->segment, 0);
	struct ncs_snapshot live[4], read;
	struct ncs_recording *recording;
	size_t rank;

	progress->status = NCS_STREAM_ALL;
	operation->launch = 100;
	recording_fixture_begin(fixture, "one");
	rank = recording_fixture_add_rank(fixture, "a");
	for (unsigned i = 0; i < 4; i++) {
		operation->number = i == 1 || i == 3 ? 20 + i : 0;
		progress->ended = 5 + i;
		progress->launched = 7 + i;
		lane->stream_times[2].timed = 9 + i;
		recording_fixture_state(fixture, rank, i * S_NS,
					i == 2 ? NCS_STATE_GONE : 0);
		assert_int_equal(ncs_snapshot_init(&live[i], fixture->reader),
				 0);
		ncs_snapshot_take(&live[i], fixture->reader, BEGUN + i * S_NS);
	}
	recording_fixture_end(fixture);
	recording = open_one(fixture->path);
	for (unsigned k = 0; k < 16; k++) {
		unsigned i = (k * 7 + k / 4) % 4;
		struct ncs_reader *reader;
		uint64_t taken_ns;

		assert_int_equal(ncs_recording_state(recording, 0,
						     BEGUN + i * S_NS, &reader,
						     &taken_ns),
				 NCS_RECORDED_YES);
		assert_int_equal(taken_ns, BEGUN + i * S_NS);
		assert_int_equal(ncs_snapshot_init(&read, reader), 0);
		ncs_snapshot_take(&read, reader, taken_ns);
		assert_int_equal(read.operation_count, live[i].operation_count);
		for (size_t n = 0; n < read.operation_count; n++)
			assert_same_operation(&read.operations[n],
					      &live[i].operations[n]);
		assert_int_equal(read.channel_count, live[i].channel_count);
		assert_int_equal(read.last_call_ns, live[i].last_call_ns);
		assert_int_equal(read.functions[2].calls, 11);
		assert_int_equal(read.functions[2].timed[NCS_TIMING_STREAM],
				 9 + i);
		assert_int_equal(read.launches.ended, 5 + i);
		assert_memory_equal(&read.launches, &live[i].launches,
				    sizeof(read.launches));
		assert_int_equal(read.process_gone, i == 2);
		ncs_snapshot_release(&read);
	}
	for (unsigned i = 0; i < 4; i++)
		ncs_snapshot_release(&live[i]);
	ncs_recording_close(recording);
}

TEST(rank_exists_from_its_first_state_until_removal)
{
	struct recording_fixture *fixture = *state;
	struct ncs_recording *recording;
	struct ncs_reader *reader;
	uint64_t taken_ns;
	size_t a, b;

	recording_fixture_begin(fixture, "one");
	a = recording_fixture_add_rank(fixture, "a");
	recording_fixture_state(fixture, a, 0, 0);
	b = recording_fixture_add_rank(fixture, "b");
	recording_fixture_state(fixture, b, S_NS, 0);
	recording_fixture_state(fixture, a, 2 * S_NS, NCS_STATE_REMOVED);
	recording_fixture_state(fixture, b, 9 * S_NS, 0);
	recording_fixture_end(fixture);
	recording = open_one(fixture->path);
	assert_int_equal(ncs_recording_state(recording, 1, BEGUN, &reader,
					     &taken_ns),
			 NCS_RECORDED_NOT_YET);
	assert_int_equal(ncs_recording_state(recording, 0, BEGUN + S_NS,
					     &reader, &taken_ns),
			 NCS_RECORDED_YES);
	assert_int_equal(ncs_recording_state(recording, 0, BEGUN + 3 * S_NS,
					     &reader, &taken_ns),
			 NCS_RECORDED_NO_MORE);
	assert_int_equal(ncs_recording_state(recording, 1, BEGUN + 9 * S_NS,
					     &reader, &taken_ns),
			 NCS_RECORDED_YES);
	/* The whole recording is over. */
	assert_int_equal(ncs_recording_state(recording, 1, BEGUN + 99 * S_NS,
					     &reader, &taken_ns),
			 NCS_RECORDED_NO_MORE);
	ncs_recording_close(recording);
}

/* Ranks without a label; of the third one the user was not recorded. */
TEST(ranks_of_another_user_are_left_out_of_a_job)
{
	static const uid_t owners[] = { 0, 1000, NCS_NO_OWNER };
	struct recording_fixture *fixture = *state;
	struct ncs_recording *recording;
	size_t ranks[3];

	recording_fixture_begin(fixture, "users");
	for (unsigned i = 0; i < 3; i++) {
		const char path[] = { '/', (char)('a' + i), '\0' };

		assert_int_equal(ncs_recording_writer_add_rank(
					 fixture->writer,
					 ncs_reader_header(fixture->reader),
					 owners[i], path, &ranks[i]),
				 0);
		recording_fixture_state(fixture, ranks[i], S_NS, 0);
	}
	recording_fixture_end(fixture);
	recording = open_one(fixture->path);
	for (unsigned i = 0; i < 3; i++)
		assert_true(ncs_recording_rank(recording, i)->owner ==
			    owners[i]);
	assert_int_equal(ncs_recording_keep_jobs(recording, "unnamed",
						 NCS_NO_OWNER, 0, 0),
			 0);
	assert_int_equal(ncs_recording_rank_count(recording), 3);
	assert_int_equal(
		ncs_recording_keep_jobs(recording, "unnamed", 1000, 0, 0), 0);
	assert_int_equal(ncs_recording_rank_count(recording), 2);
	assert_int_equal(ncs_recording_rank(recording, 0)->owner, 1000);
	assert_int_equal(
		ncs_recording_keep_jobs(recording, "unnamed", 1001, 0, 0), 0);
	assert_int_equal(ncs_recording_rank_count(recording), 1);
	ncs_recording_close(recording);
}

TEST(ended_rank_is_kept_on_request)
{
	struct recording_fixture *fixture = *state;
	struct ncs_recording *recording;
	struct ncs_snapshot snapshot;
	struct ncs_reader *reader;
	uint64_t taken_ns;
	size_t rank;

	recording_fixture_begin(fixture, "one");
	rank = recording_fixture_add_rank(fixture, "a");
	recording_fixture_state(fixture, rank, 0, 0);
	recording_fixture_state(fixture, rank, 2 * S_NS,
				NCS_STATE_REMOVED | NCS_STATE_GONE);
	recording_fixture_end(fixture);
	recording = open_one(fixture->path);
	ncs_recording_keep_ended(recording);
	assert_int_equal(ncs_recording_state(recording, 0, BEGUN + 99 * S_NS,
					     &reader, &taken_ns),
			 NCS_RECORDED_YES);
	assert_int_equal(taken_ns, BEGUN + 2 * S_NS);
	assert_int_equal(ncs_snapshot_init(&snapshot, reader), 0);
	ncs_snapshot_take(&snapshot, reader, taken_ns);
	assert_false(snapshot.process_gone);
	ncs_snapshot_release(&snapshot);
	ncs_recording_close(recording);
}

/* --- Records ------------------------------------------------------------- */

#define ALL_RANKS SIZE_MAX

static size_t count_records(struct ncs_recording *recording, size_t rank,
			    uint64_t from_ns, uint64_t until_ns, uint64_t *lost)
{
	struct ncs_recording_pass *pass =
		ncs_recording_pass_open(recording, from_ns, until_ns);
	uint64_t next[2] = { 0, 0 }, drained_ns = 0;
	struct ncs_batch batch;
	size_t count = 0;
	int result;

	assert_non_null(pass);
	*lost = 0;
	while ((result = ncs_recording_pass_next(pass, &batch)) == 1) {
		if (rank != ALL_RANKS && batch.rank != rank)
			continue;
		assert_true(batch.lane < 2);
		assert_true(batch.drained_ns >= drained_ns);
		drained_ns = batch.drained_ns;
		for (size_t i = 0; i < batch.count; i++)
			assert_int_equal(batch.records[i].value,
					 batch.first + i);
		assert_true(batch.first >= next[batch.lane]);
		next[batch.lane] = batch.first + batch.count;
		count += batch.count;
		*lost += batch.lost;
	}
	assert_int_equal(result, 0);
	ncs_recording_pass_close(pass);
	return count;
}

TEST(pass_returns_records_in_order)
{
	struct recording_fixture *fixture = *state;
	struct ncs_recording *recording;
	uint64_t lost;

	write_recording(fixture, "one");
	recording = open_one(fixture->path);
	assert_int_equal(
		count_records(recording, ALL_RANKS, 0, UINT64_MAX, &lost), 100);
	assert_int_equal(lost, 0);
	assert_int_equal(count_records(recording, 0, 0, UINT64_MAX, &lost),
			 100);
	/* In this time are the second ten records of both lanes. */
	assert_int_equal(count_records(recording, 0, BEGUN + 120 * MS_NS,
				       BEGUN + 180 * MS_NS, &lost),
			 20);
	assert_int_equal(count_records(recording, 0, BEGUN + 5 * S_NS,
				       UINT64_MAX, &lost),
			 0);
	ncs_recording_close(recording);
}

TEST(lost_records_are_reported)
{
	struct recording_fixture *fixture = *state;
	struct ncs_recording *recording;
	uint64_t lost;
	size_t rank;

	recording_fixture_begin(fixture, "one");
	rank = recording_fixture_add_rank(fixture, "a");
	recording_fixture_records(fixture, rank, 0, 5, 5, 5, S_NS);
	recording_fixture_records(fixture, rank, 0, 17, 3, 7, 2 * S_NS);
	recording_fixture_end(fixture);
	recording = open_one(fixture->path);
	assert_int_equal(count_records(recording, 0, 0, UINT64_MAX, &lost), 8);
	assert_int_equal(lost, 12);
	assert_int_equal(ncs_recording_rank(recording, 0)->lost, 12);
	/* Without a state, the recording begins with its records. */
	assert_int_equal(ncs_recording_facts(recording)->from_ns,
			 BEGUN + 50 * MS_NS);
	ncs_recording_close(recording);
}

TEST(packed_chunks_are_unpacked)
{
	struct recording_fixture *fixture = *state;
	struct ncs_recording *recording;
	uint64_t lost;

	fixture->settings.is_packed = true;
	fixture->settings.pack_level = 1;
	write_recording(fixture, "one");
	recording = open_one(fixture->path);
	assert_int_equal(ncs_recording_facts(recording)->records, 100);
	assert_int_equal(ncs_recording_facts(recording)->damaged_chunks, 0);
	assert_int_equal(
		count_records(recording, ALL_RANKS, 0, UINT64_MAX, &lost), 100);
	assert_int_equal(bytes_at(recording, 0, BEGUN + 7 * S_NS), 107);
	assert_int_equal(bytes_at(recording, 0, BEGUN + 3 * S_NS), 103);
	ncs_recording_close(recording);
}

/* --- Several files ------------------------------------------------------- */

TEST(files_of_one_recording_are_joined)
{
	struct recording_fixture *fixture = *state;
	struct ncs_recording *recording;
	char first[300], second[300];
	const char *paths[] = { second, first, second };
	uint64_t lost;
	size_t rank;

	recording_fixture_begin(fixture, "one");
	strcpy(first, fixture->path);
	rank = recording_fixture_add_rank(fixture, "a");
	recording_fixture_state(fixture, rank, 0, 0);
	recording_fixture_records(fixture, rank, 0, 0, 10, 0, S_NS);
	strcpy(second, segment_fixture_path(fixture->segment, "two"));
	assert_int_equal(ncs_recording_writer_rotate(
				 fixture->writer, second, BEGUN + 2 * S_NS,
				 RECORDING_REALTIME_NS + 2 * S_NS, why,
				 sizeof(why)),
			 0);
	segment_fixture_channel(fixture->segment, 2)->bytes = 77;
	recording_fixture_state(fixture, rank, 2 * S_NS, 0);
	recording_fixture_records(fixture, rank, 0, 10, 10, 0, 3 * S_NS);
	recording_fixture_end(fixture);

	recording = open_files(paths, 2);
	assert_int_equal(ncs_recording_rank_count(recording), 1);
	assert_int_equal(ncs_recording_facts(recording)->files, 2);
	assert_int_equal(bytes_at(recording, 0, BEGUN + S_NS), 12);
	assert_int_equal(bytes_at(recording, 0, BEGUN + 3 * S_NS), 77);
	assert_int_equal(bytes_at(recording, 0, BEGUN), 12);
	assert_int_equal(count_records(recording, 0, 0, UINT64_MAX, &lost), 20);
	ncs_recording_close(recording);
	/* Each file can be read alone … */
	recording = open_one(second);
	assert_int_equal(bytes_at(recording, 0, BEGUN + 3 * S_NS), 77);
	ncs_recording_close(recording);
	/* … and the same file twice is refused. */
	assert_int_equal(ncs_recording_open(&recording, paths, 3, why,
					    sizeof(why)),
			 -EEXIST);
	assert_null(recording);
	assert_non_null(strstr(why, "same file"));
}

/* Makes the fixture record as another host, whose CLOCK_MONOTONIC is 500 s
 * behind and whose CLOCK_REALTIME is the same. */
static void become_host(struct recording_fixture *fixture, const char *name)
{
	struct ncs_file_head *head = &fixture->settings.head;

	head->recording[0]++;
	strcpy(head->host, name);
	memset(head->boot_id, 'b', 36);
	head->begun_realtime_ns += 500 * S_NS;
}

TEST(hosts_share_a_common_time)
{
	struct recording_fixture *fixture = *state;
	struct ncs_clock_reading reading = {
		.before_ns = BEGUN,
		.realtime_ns = RECORDING_REALTIME_NS + 50,
		.after_ns = BEGUN + 100,
		.maximum_error_ns = 2000000,
		.synchronized = 1,
	};
	const struct ncs_recorded_host *host;
	struct ncs_recording *recording;
	char alpha[300], beta[300];
	const char *paths[] = { alpha, beta };
	uint64_t lost;
	size_t rank;

	recording_fixture_begin(fixture, "alpha");
	strcpy(alpha, fixture->path);
	assert_int_equal(ncs_recording_writer_clock(fixture->writer, &reading),
			 0);
	rank = recording_fixture_add_rank(fixture, "a");
	recording_fixture_state(fixture, rank, 500 * S_NS, 0);
	recording_fixture_records(fixture, rank, 0, 0, 10, 0, 500 * S_NS);
	recording_fixture_end(fixture);
	become_host(fixture, "beta");
	recording_fixture_begin(fixture, "beta");
	strcpy(beta, fixture->path);
	reading.realtime_ns += 500 * S_NS;
	reading.maximum_error_ns = 3000000;
	assert_int_equal(ncs_recording_writer_clock(fixture->writer, &reading),
			 0);
	rank = recording_fixture_add_rank(fixture, "a");
	recording_fixture_state(fixture, rank, 0, 0);
	recording_fixture_records(fixture, rank, 1, 0, 10, 0, 100 * MS_NS);
	recording_fixture_end(fixture);

	recording = open_files(paths, 2);
	assert_int_equal(ncs_recording_host_count(recording), 2);
	host = ncs_recording_host(recording, 0);
	assert_int_equal(host->offset_ns, 0);
	assert_int_equal(host->error_ns, 0);
	host = ncs_recording_host(recording, 1);
	assert_string_equal(host->name, "beta");
	assert_int_equal(host->offset_ns, 500 * S_NS);
	/* The errors that NTP reports on both, and the duration of the
	 * readings. */
	assert_in_range(host->error_ns, 5000000, 5000200);
	assert_string_equal(ncs_recording_rank(recording, 0)->id, "alpha:a");
	assert_string_equal(ncs_recording_rank(recording, 1)->id, "beta:a");
	assert_int_equal(ncs_recording_facts(recording)->from_ns,
			 BEGUN + 500 * S_NS);
	/* The header's clock gives the common time. */
	assert_int_equal(ncs_recording_rank(recording, 1)
				 ->header->clock.base_monotonic_ns,
			 BEGUN + 500 * S_NS);
	assert_int_equal(bytes_at(recording, 1, BEGUN + 500 * S_NS), 12);
	assert_int_equal(
		count_records(recording, ALL_RANKS, 0, UINT64_MAX, &lost), 20);

	ncs_recording_align(recording, 1, 500 * S_NS - 1000, 1e-6, 77);
	host = ncs_recording_host(recording, 1);
	assert_int_equal(host->error_ns, 77);
	assert_int_equal(ncs_recording_rank(recording, 1)->from_ns,
			 BEGUN + 500 * S_NS - 1000);
	assert_int_equal(ncs_recording_next_state_of(recording, 1, BEGUN),
			 BEGUN + 500 * S_NS - 1000);
	ncs_recording_close(recording);
}

/* Writes a recording of two states of a rank, and two batches of its lane 0. */
static void write_later(struct recording_fixture *fixture, const char *name,
			uint64_t after_ns, uint64_t bytes, uint64_t first)
{
	size_t rank;

	fixture->settings.head.recording[0]++;
	recording_fixture_begin(fixture, name);
	rank = recording_fixture_add_rank(fixture, "/dev/shm/a");
	segment_fixture_channel(fixture->segment, 2)->bytes = bytes;
	recording_fixture_state(fixture, rank, after_ns, 0);
	recording_fixture_records(fixture, rank, 0, first, 6, 0, after_ns);
	recording_fixture_records(fixture, rank, 0, first + 6, 4, 0,
				  after_ns + S_NS / 2);
	recording_fixture_state(fixture, rank, after_ns + S_NS, 0);
	recording_fixture_end(fixture);
}

TEST(rank_in_successive_recordings_is_one)
{
	struct recording_fixture *fixture = *state;
	struct ncs_recording *recording;
	char first[300], second[300], third[300];
	/* Given in any order. */
	const char *paths[] = { second, third, first };
	struct ncs_reader *reader;
	uint64_t lost, taken_ns;

	write_later(fixture, "one", 0, 77, 0);
	strcpy(first, fixture->path);
	/* The rings still had four of the records when this one began. */
	write_later(fixture, "two", 20 * S_NS, 88, 6);
	strcpy(second, fixture->path);
	write_later(fixture, "three", 40 * S_NS, 99, 500);
	strcpy(third, fixture->path);
	recording = open_files(paths, 3);
	assert_int_equal(ncs_recording_rank_count(recording), 1);
	assert_int_equal(bytes_at(recording, 0, BEGUN + 21 * S_NS), 88);
	assert_int_equal(bytes_at(recording, 0, BEGUN + S_NS), 77);
	assert_int_equal(bytes_at(recording, 0, BEGUN + 41 * S_NS), 99);
	/* Between them it is not seen, and nothing is lost. */
	assert_int_equal(ncs_recording_state(recording, 0, BEGUN + 10 * S_NS,
					     &reader, &taken_ns),
			 NCS_RECORDED_NO_MORE);
	assert_int_equal(count_records(recording, 0, 0, UINT64_MAX, &lost),
			 10 + 6 + 10);
	assert_int_equal(lost, 0);
	/* Nor if all ranks are read, and all recordings side by side. */
	assert_int_equal(count_records(recording, ALL_RANKS, 0, UINT64_MAX,
				       &lost),
			 10 + 6 + 10);
	assert_int_equal(lost, 0);
	ncs_recording_close(recording);
}

/* A recording that was cut, or that was made without states, is not the last one. */
TEST(recording_of_records_alone_has_its_place_in_time)
{
	struct recording_fixture *fixture = *state;
	struct ncs_recording *recording;
	char first[300], second[300];
	const char *paths[] = { second, first };
	uint64_t lost;
	size_t rank;

	recording_fixture_begin(fixture, "one");
	rank = recording_fixture_add_rank(fixture, "/dev/shm/a");
	recording_fixture_records(fixture, rank, 0, 0, 10, 0, S_NS);
	recording_fixture_end(fixture);
	strcpy(first, fixture->path);
	/* The rings still had four of the records when this one began. */
	write_later(fixture, "two", 20 * S_NS, 88, 6);
	strcpy(second, fixture->path);
	recording = open_files(paths, 2);
	assert_int_equal(ncs_recording_rank_count(recording), 1);
	assert_int_equal(count_records(recording, 0, 0, UINT64_MAX, &lost),
			 10 + 6);
	assert_int_equal(lost, 0);
	ncs_recording_close(recording);
}

/* The second run has not seen the second host, of which a file of the first is
 * left. */
TEST(runs_of_a_head_are_never_shown_at_one_time)
{
	struct recording_fixture *fixture = *state;
	char alpha[300], beta[300], again[300];
	const char *paths[] = { alpha, beta };
	const char *mixed[] = { beta, again };
	struct ncs_recorded_file_facts facts;
	struct ncs_recording *recording;
	struct ncs_reader *reader;
	uint64_t taken_ns;

	fixture->settings.head.run = 5;
	write_later(fixture, "alpha", 0, 77, 0);
	strcpy(alpha, fixture->path);
	become_host(fixture, "beta");
	write_later(fixture, "beta", 0, 88, 0);
	strcpy(beta, fixture->path);

	/* In one run, a rank that ended before another one is shown to the end. */
	recording = open_files(paths, 2);
	assert_int_equal(ncs_recording_facts(recording)->runs, 1);
	ncs_recording_keep_ended(recording);
	assert_int_equal(bytes_at(recording, 0, BEGUN + 900 * S_NS), 77);
	assert_int_equal(bytes_at(recording, 1, BEGUN + 900 * S_NS), 88);
	ncs_recording_close(recording);

	fixture->settings.head.run = 6;
	fixture->settings.head.begun_realtime_ns = RECORDING_REALTIME_NS;
	memset(fixture->settings.head.boot_id, 'a', 36);
	strcpy(fixture->settings.head.host, "alpha");
	write_later(fixture, "again", 600 * S_NS, 99, 500);
	strcpy(again, fixture->path);
	recording = open_files(mixed, 2);
	assert_int_equal(ncs_recording_host_count(recording), 2);
	assert_int_equal(ncs_recording_facts(recording)->runs, 2);
	ncs_recording_file(recording, 1, &facts);
	assert_int_equal(facts.run, 6);
	ncs_recording_keep_ended(recording);
	assert_int_equal(bytes_at(recording, 0, BEGUN + S_NS), 88);
	assert_int_equal(ncs_recording_state(recording, 1, BEGUN + S_NS, &reader,
					     &taken_ns),
			 NCS_RECORDED_NOT_YET);
	assert_int_equal(ncs_recording_state(recording, 0, BEGUN + 900 * S_NS,
					     &reader, &taken_ns),
			 NCS_RECORDED_NO_MORE);
	assert_int_equal(bytes_at(recording, 1, BEGUN + 900 * S_NS), 99);
	ncs_recording_close(recording);
}

TEST(rank_recorded_twice_at_once_is_refused)
{
	struct recording_fixture *fixture = *state;
	struct ncs_recording *recording;
	char first[300], second[300];
	const char *paths[] = { first, second };

	write_recording(fixture, "one");
	strcpy(first, fixture->path);
	fixture->settings.head.recording[0]++;
	write_recording(fixture, "two");
	strcpy(second, fixture->path);
	assert_int_equal(ncs_recording_open(&recording, paths, 2, why,
					    sizeof(why)),
			 -EEXIST);
	assert_non_null(strstr(why, "same rank"));
	assert_non_null(strstr(why, first));
}

/* --- Damage -------------------------------------------------------------- */

/* Opens bytes as a recording. Returns NULL if they are refused; there must then
 * be a reason. */
static struct ncs_recording *open_bytes(const char *bytes, size_t size)
{
	struct ncs_recording *recording;

	why[0] = '\0';
	if (ncs_recording_open_memory(&recording, bytes, size, why,
				      sizeof(why)) == 0)
		return recording;
	assert_true(why[0]);
	assert_null(recording);
	return NULL;
}

/* Reads all facts, states and records. Returns the number of records. */
static size_t read_all(struct ncs_recording *recording)
{
	const struct ncs_recording_facts *facts =
		ncs_recording_facts(recording);
	uint64_t from_ns = facts->from_ns;
	struct ncs_recording_pass *pass;
	struct ncs_batch batch;
	size_t count = 0;

	for (size_t i = 0; i < ncs_recording_rank_count(recording); i++)
		for (unsigned k = 0; k < 3; k++) {
			struct ncs_snapshot snapshot;
			struct ncs_reader *reader;
			uint64_t taken_ns;

			if (ncs_recording_state(recording, i,
						from_ns + k * 4 * S_NS, &reader,
						&taken_ns) != NCS_RECORDED_YES)
				continue;
			if (ncs_snapshot_init(&snapshot, reader) != 0)
				continue;
			ncs_snapshot_take(&snapshot, reader, taken_ns);
			ncs_snapshot_release(&snapshot);
		}
	pass = ncs_recording_pass_open(recording, 0, UINT64_MAX);
	assert_non_null(pass);
	while (ncs_recording_pass_next(pass, &batch) == 1)
		count += batch.count;
	ncs_recording_pass_close(pass);
	return count;
}

/* Counts the chunks that a reader uses and that end before an offset, and the
 * records in them. */
static size_t whole_chunks(const char *bytes, size_t size, size_t *records)
{
	size_t count = 0, offset = 0;

	*records = 0;
	while (offset + sizeof(struct ncs_chunk) <= size) {
		const struct ncs_chunk *chunk =
			(const struct ncs_chunk *)(bytes + offset);

		if (offset + sizeof(*chunk) + chunk->bytes > size)
			break;
		if (chunk->type == NCS_CHUNK_RECORDS)
			*records += (chunk->bytes - 64) / 64;
		count += chunk->type != NCS_CHUNK_INDEX &&
			 chunk->type != NCS_CHUNK_END &&
			 chunk->type != NCS_CHUNK_PADDING;
		offset += ncs_chunk_file_bytes(chunk);
	}
	return count;
}

TEST(every_whole_chunk_survives_a_cut_at_any_byte)
{
	struct recording_fixture *fixture = *state;
	size_t size, records;
	char *bytes;

	write_recording(fixture, "one");
	bytes = recording_fixture_read(fixture->path, &size);
	for (size_t cut = 1; cut < size; cut++) {
		size_t expected = whole_chunks(bytes, cut, &records);
		struct ncs_recording *recording = open_bytes(bytes, cut);
		const struct ncs_recording_facts *facts;

		if (!recording) {
			assert_int_equal(expected, 0);
			continue;
		}
		facts = ncs_recording_facts(recording);
		if (facts->chunks != expected || facts->records != records ||
		    facts->damaged_chunks != 0 || facts->cut_files != 1)
			fail_msg("cut at %zu: %llu chunks of %zu", cut,
				 (unsigned long long)facts->chunks, expected);
		if (cut % 64 == 0)
			assert_int_equal(read_all(recording), records);
		ncs_recording_close(recording);
	}
	free(bytes);
}

/* At most one chunk is lost, wherever the bit is. Indexes, ends and the first
 * chunk are not necessary. Without the chunk of a rank, its states and records
 * belong to no rank. */
TEST(flipped_bit_costs_at_most_one_chunk)
{
	struct recording_fixture *fixture = *state;
	size_t size, all, records;
	char *bytes;

	write_recording(fixture, "one");
	bytes = recording_fixture_read(fixture->path, &size);
	all = whole_chunks(bytes, size, &records);
	for (size_t at = 0; at < size; at += 3) {
		struct ncs_recording *recording;
		const struct ncs_recording_facts *facts;
		size_t lost;

		bytes[at] ^= (char)(1 << at % 8);
		recording = open_bytes(bytes, size);
		if (!recording)
			fail_msg("flipped at %zu: %s", at, why);
		read_all(recording);
		ncs_recording_check(recording);
		facts = ncs_recording_facts(recording);
		lost = all - facts->chunks + facts->damaged_chunks;
		if (lost > 3 || facts->damaged_chunks > 2)
			fail_msg("flipped at %zu: %llu chunks of %zu, %llu"
				 " damaged",
				 at, (unsigned long long)facts->chunks, all,
				 (unsigned long long)facts->damaged_chunks);
		ncs_recording_close(recording);
		bytes[at] ^= (char)(1 << at % 8);
	}
	free(bytes);
}

TEST(damaged_state_is_replaced_by_an_earlier_one)
{
	struct recording_fixture *fixture = *state;
	struct ncs_recording *recording;
	size_t size, offset = 0, seen = 0;
	char *bytes;

	write_recording(fixture, "one");
	bytes = recording_fixture_read(fixture->path, &size);
	/* The sixth state. */
	for (;;) {
		struct ncs_chunk *chunk = (struct ncs_chunk *)(bytes + offset);

		if (chunk->type == NCS_CHUNK_STATE && ++seen == 6)
			break;
		offset += ncs_chunk_file_bytes(chunk);
	}
	bytes[offset + 100] ^= 1;
	recording = open_bytes(bytes, size);
	assert_non_null(recording);
	assert_int_equal(bytes_at(recording, 0, BEGUN + 4 * S_NS), 104);
	assert_int_equal(bytes_at(recording, 0, BEGUN + 5 * S_NS), 104);
	assert_int_equal(bytes_at(recording, 0, BEGUN + 6 * S_NS), 106);
	assert_int_equal(ncs_recording_facts(recording)->damaged_chunks, 1);
	ncs_recording_close(recording);
	free(bytes);
}

/* Puts a number of records into each chunk of records, or into each entry of
 * each index, that no chunk has room for. */
static void exaggerate(char *bytes, size_t size, enum ncs_chunk_type type)
{
	for (size_t offset = 0; offset < size;) {
		struct ncs_chunk *chunk = (struct ncs_chunk *)(bytes + offset);
		char *payload = (char *)(chunk + 1);
		struct ncs_records_head *records = (void *)payload;
		struct ncs_index_head *index = (void *)payload;

		if (chunk->type == type && type == NCS_CHUNK_RECORDS)
			records->count = UINT64_C(1) << 62;
		for (uint32_t i = 0; chunk->type == type &&
				     type == NCS_CHUNK_INDEX && i < index->count;
		     i++)
			((struct ncs_index_entry *)(index + 1))[i].records =
				UINT64_C(1) << 62;
		ncs_chunk_seal(chunk, payload);
		offset += ncs_chunk_file_bytes(chunk);
	}
}

TEST(count_beyond_its_chunk_is_damage)
{
	struct recording_fixture *fixture = *state;
	struct ncs_recording *recording;
	size_t size, all;
	char *bytes;

	write_recording(fixture, "one");
	bytes = recording_fixture_read(fixture->path, &size);
	whole_chunks(bytes, size, &all);
	exaggerate(bytes, size, NCS_CHUNK_INDEX);
	recording = open_bytes(bytes, size);
	assert_non_null(recording);
	assert_true(ncs_recording_facts(recording)->records <= all);
	assert_true(ncs_recording_facts(recording)->damaged_chunks > 0);
	ncs_recording_close(recording);
	/* Without its end the file is searched for chunks. */
	exaggerate(bytes, size, NCS_CHUNK_RECORDS);
	recording = open_bytes(bytes, size - 1);
	assert_non_null(recording);
	assert_int_equal(ncs_recording_facts(recording)->records, 0);
	assert_true(ncs_recording_facts(recording)->damaged_chunks > 0);
	ncs_recording_close(recording);
	free(bytes);
}

/* --- Other files --------------------------------------------------------- */

static void expect_refused(const char *path, int error, const char *reason)
{
	struct ncs_recording *recording;

	assert_int_equal(ncs_recording_open(&recording, &path, 1, why,
					    sizeof(why)),
			 error);
	assert_null(recording);
	if (!strstr(why, path) || !strstr(why, reason))
		fail_msg("\"%s\" does not have %s and %s", why, path, reason);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

TEST(other_files_are_refused_with_a_reason)
{
	struct recording_fixture *fixture = *state;
	uint64_t swapped = __builtin_bswap64(NCS_CHUNK_MAGIC);
	char path[300];

	strcpy(path, segment_fixture_path(fixture->segment, "wrong"));
	expect_refused(path, -ENOENT, "No such file");
	write_file(path, "", 0);
	expect_refused(path, -EINVAL, "empty");
	write_file(path, "Lorem ipsum\n", 12);
	expect_refused(path, -EINVAL, "no recording");
	write_file(path, &swapped, sizeof(swapped));
	expect_refused(path, -EINVAL, "byte order");
	write_file(path, "\x28\xb5\x2f\xfd....", 8);
	expect_refused(path, -EINVAL, "compressed");
	assert_int_equal(remove(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_refused(path, -ESPIPE, "pipe");
	expect_refused(fixture->segment->directory, -ENOENT, "no recording in");
	expect_refused(fixture->segment->writer.path, -EINVAL, "segment");
}

TEST(folder_stands_for_the_recordings_in_it)
{
	struct recording_fixture *fixture = *state;
	const char *folder = fixture->segment->directory;
	struct ncs_recorded_file_facts facts;
	struct ncs_recording *recording;

	recording_fixture_begin(fixture, "job.10");
	recording_fixture_end(fixture);
	fixture->settings.head.recording[0]++;
	recording_fixture_begin(fixture, "job.9");
	recording_fixture_end(fixture);
	write_file(segment_fixture_path(fixture->segment, "notes"), "NCS", 3);
	assert_int_equal(
		mkdir(segment_fixture_path(fixture->segment, "below"), 0700),
		0);
	recording = open_files(&folder, 1);
	/* Not the notes, nor the segment. */
	assert_int_equal(ncs_recording_facts(recording)->files, 2);
	ncs_recording_file(recording, 0, &facts);
	assert_string_equal(facts.path, segment_fixture_path(fixture->segment,
							     "job.9"));
	ncs_recording_close(recording);
}

TEST(other_major_version_is_refused_with_its_number)
{
	struct recording_fixture *fixture = *state;
	struct ncs_file_head *head;
	struct ncs_chunk *chunk;
	size_t size;
	char *bytes;

	write_recording(fixture, "one");
	bytes = recording_fixture_read(fixture->path, &size);
	chunk = (struct ncs_chunk *)bytes;
	head = (struct ncs_file_head *)(chunk + 1);
	head->version += 1;
	ncs_chunk_seal(chunk, head);
	ncs_recording_close(open_bytes(bytes, size));
	assert_string_equal(why, "");
	head->version = 7u << 16 | 2;
	ncs_chunk_seal(chunk, head);
	assert_null(open_bytes(bytes, size));
	assert_non_null(strstr(why, "7.2"));
	free(bytes);
}
