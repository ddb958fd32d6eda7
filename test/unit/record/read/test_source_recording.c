/* SPDX-License-Identifier: MIT */
/* Tests of a recording as a source: a pass brings the samples that a live
 * source would have brought at that time. */
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model.h"
#include "analysis/model/rank.h"
#include "record/read/source_recording.h"
#include "test/unit/support/recording_fixture.h"
#include "test/unit/support/unit.h"

#define MS_NS UINT64_C(1000000)
#define S_NS UINT64_C(1000000000)
#define BEGUN RECORDING_BEGUN_NS

struct played_recording {
	struct ncs_recording *recording;
	struct ncs_source *source;
};

static struct played_recording play(const struct recording_fixture *fixture)
{
	const char *path = fixture->path;
	struct played_recording played;
	char why[300];

	if (ncs_recording_open(&played.recording, &path, 1, why, sizeof(why)))
		fail_msg("%s", why);
	played.source = ncs_source_open_recording(played.recording, 0);
	assert_non_null(played.source);
	return played;
}

static void end(struct played_recording *played)
{
	played->source->close(played->source);
	ncs_recording_close(played->recording);
}

/* Counts the ranks that a pass finds, and keeps the first one's sample. */
static size_t pass(struct played_recording *played, uint64_t after_ns,
		   struct ncs_sample *first)
{
	struct ncs_sample sample;
	size_t count = 0;
	char why[100];

	assert_int_equal(played->source->begin(played->source, BEGUN + after_ns,
					       why, sizeof(why)),
			 0);
	memset(first, 0, sizeof(*first));
	while (played->source->next(played->source, &sample)) {
		assert_int_equal(sample.attach, NCS_ATTACHED);
		if (count++ == 0)
			*first = sample;
	}
	return count;
}

/* Expects that a pass brings the records with values in a given span, each
 * lane's in the order of their positions. */
static void expect_records(struct played_recording *played, uint64_t after_ns,
			   uint64_t from, uint64_t until)
{
	struct ncs_sample sample;
	char why[100];

	assert_int_equal(played->source->begin(played->source, BEGUN + after_ns,
					       why, sizeof(why)),
			 0);
	assert_true(played->source->next(played->source, &sample));
	assert_int_equal(sample.record_count, until - from);
	assert_int_equal(sample.records_lost, 0);
	for (size_t i = 0; i < sample.record_count; i++)
		assert_int_equal(sample.records[i].value, from + i);
}

/* Writes a state each second, and records that end every 10 ms and are drained
 * every second. */
static void write_records(struct recording_fixture *fixture)
{
	size_t rank;

	recording_fixture_begin(fixture, "one");
	rank = recording_fixture_add_rank(fixture, "a");
	for (unsigned i = 0; i < 5; i++) {
		recording_fixture_state(fixture, rank, i * S_NS, 0);
		recording_fixture_records(fixture, rank, 1, 100 * i, 100, 0,
					  (i + 1) * S_NS + 5 * MS_NS);
	}
	recording_fixture_end(fixture);
}

UNIT_FIXTURE(recording_fixture_setup, recording_fixture_teardown)

TEST(pass_brings_the_state_as_of_its_recorded_time)
{
	struct recording_fixture *fixture = *state;
	struct ncs_snapshot live;
	struct ncs_sample sample;
	struct played_recording played;
	uint64_t taken_ns;

	write_records(fixture);
	assert_int_equal(ncs_snapshot_init(&live, fixture->reader), 0);
	ncs_snapshot_take(&live, fixture->reader, BEGUN + 2 * S_NS);
	played = play(fixture);
	assert_int_equal(played.source->begin(played.source,
					      BEGUN + 2 * S_NS + 300 * MS_NS,
					      NULL, 0),
			 0);
	assert_true(played.source->next(played.source, &sample));
	taken_ns = sample.snapshot->taken_ns;
	assert_int_equal(taken_ns, BEGUN + 2 * S_NS);
	assert_string_equal(sample.id, "a");
	assert_int_equal(sample.header->pid, fixture->segment->process.pid);
	assert_int_equal(sample.snapshot->liveness, live.liveness);
	assert_int_equal(sample.snapshot->last_call_ns, live.last_call_ns);
	assert_int_equal(sample.snapshot->channel_count, 1);
	assert_int_equal(sample.snapshot->channels[0].bytes,
			 live.channels[0].bytes);
	assert_memory_equal(sample.snapshot->channels[0].time_ns,
			    live.channels[0].time_ns,
			    sizeof(live.channels[0].time_ns));
	assert_int_equal(sample.snapshot->operation_count, 1);
	assert_int_equal(sample.snapshot->operations[0].start_ns,
			 live.operations[0].start_ns);
	assert_memory_equal(&sample.snapshot->identity, &live.identity,
			    sizeof(live.identity));
	ncs_snapshot_release(&live);
	end(&played);
}

TEST(pass_brings_the_latest_stack_before_its_time)
{
	struct recording_fixture *fixture = *state;
	struct played_recording played;
	struct ncs_sample sample;
	size_t rank;

	recording_fixture_begin(fixture, "one");
	rank = recording_fixture_add_rank(fixture, "a");
	recording_fixture_state(fixture, rank, 0, 0);
	ncs_recording_writer_stack(fixture->writer, rank, "first\n",
				   BEGUN + S_NS);
	ncs_recording_writer_stack(fixture->writer, rank, "second\n",
				   BEGUN + 2 * S_NS);
	recording_fixture_state(fixture, rank, 3 * S_NS, 0);
	recording_fixture_end(fixture);
	played = play(fixture);
	pass(&played, 0, &sample);
	assert_null(sample.stack);
	played.source->begin(played.source, BEGUN + S_NS, NULL, 0);
	assert_true(played.source->next(played.source, &sample));
	assert_string_equal(sample.stack, "first\n");
	assert_int_equal(sample.stack_ns, BEGUN + S_NS);
	played.source->begin(played.source, BEGUN + 3 * S_NS, NULL, 0);
	assert_true(played.source->next(played.source, &sample));
	assert_string_equal(sample.stack, "second\n");
	end(&played);
}

TEST(pass_brings_the_records_that_ended_since)
{
	struct recording_fixture *fixture = *state;
	struct played_recording played;

	write_records(fixture);
	played = play(fixture);
	expect_records(&played, 0, 0, 0);
	expect_records(&played, S_NS, 0, 100);
	/* The rank has no newer state yet. */
	expect_records(&played, S_NS + 500 * MS_NS, 100, 100);
	expect_records(&played, 3 * S_NS, 100, 300);
	expect_records(&played, 4 * S_NS, 300, 400);
	end(&played);
}

TEST(going_back_in_time_starts_a_first_pass)
{
	struct recording_fixture *fixture = *state;
	struct played_recording played;

	write_records(fixture);
	played = play(fixture);
	expect_records(&played, 4 * S_NS, 0, 400);
	expect_records(&played, 2 * S_NS, 0, 200);
	expect_records(&played, 3 * S_NS, 200, 300);
	ncs_source_recording_restart(played.source);
	expect_records(&played, 4 * S_NS, 0, 400);
	end(&played);
}

/* Two chunks of a lane begin before the time of a pass, because the second has
 * a long record. The remaining records of the first must not be lost. */
TEST(record_that_ends_later_waits_for_its_pass)
{
	struct recording_fixture *fixture = *state;
	struct ncs_record late = {
		.start = BEGUN + 500 * MS_NS,
		.duration = 2500 * MS_NS,
		.value = 200,
	};
	struct played_recording played;
	size_t rank;

	recording_fixture_begin(fixture, "one");
	rank = recording_fixture_add_rank(fixture, "a");
	for (unsigned i = 0; i < 4; i++)
		recording_fixture_state(fixture, rank, i * S_NS, 0);
	recording_fixture_records(fixture, rank, 1, 0, 200, 0, 4 * S_NS);
	assert_int_equal(ncs_recording_writer_records(fixture->writer, rank, 1,
						      &late, 1, 200, 0,
						      BEGUN + 5 * S_NS),
			 0);
	recording_fixture_end(fixture);
	played = play(fixture);
	expect_records(&played, S_NS, 0, 100);
	expect_records(&played, 2 * S_NS, 100, 200);
	expect_records(&played, 3 * S_NS, 200, 201);
	end(&played);
}

/* A recorder that goes on with the recording of another one reads what is still in the
 * rings, in several batches. */
TEST(records_that_two_recorders_have_read_come_once)
{
	struct recording_fixture *fixture = *state;
	struct played_recording played;
	size_t rank;

	recording_fixture_begin(fixture, "one");
	rank = recording_fixture_add_rank(fixture, "a");
	recording_fixture_state(fixture, rank, 0, 0);
	for (unsigned i = 0; i < 3; i++) {
		recording_fixture_records(fixture, rank, 1, 100 * i, 100, 0,
					  (i + 1) * S_NS);
		recording_fixture_state(fixture, rank, (i + 1) * S_NS, 0);
	}
	for (unsigned i = 0; i < 4; i++)
		recording_fixture_records(fixture, rank, 1, 50 + 90 * i, 90, 50,
					  5 * S_NS);
	recording_fixture_state(fixture, rank, 5 * S_NS, 0);
	recording_fixture_end(fixture);
	played = play(fixture);
	expect_records(&played, 6 * S_NS, 0, 410);
	ncs_source_recording_restart(played.source);
	expect_records(&played, 2 * S_NS, 0, 200);
	expect_records(&played, 6 * S_NS, 200, 410);
	end(&played);
}

static bool wants_none(const void *context, const char *id)
{
	(void)context;
	(void)id;
	return false;
}

/* Records may be wanted only after a pass without them has shown the last
 * state. */
TEST(records_of_a_rank_that_has_ended_make_its_state_new)
{
	struct recording_fixture *fixture = *state;
	struct played_recording played;
	struct ncs_sample sample;

	write_records(fixture);
	played = play(fixture);
	ncs_recording_keep_ended(played.recording);
	played.source->wants_records = wants_none;
	assert_int_equal(pass(&played, 6 * S_NS, &sample), 1);
	assert_int_equal(sample.record_count, 0);
	assert_false(sample.is_old);
	played.source->wants_records = NULL;
	assert_int_equal(pass(&played, 7 * S_NS, &sample), 1);
	assert_int_equal(sample.record_count, 400);
	assert_false(sample.is_old);
	assert_int_equal(pass(&played, 8 * S_NS, &sample), 1);
	assert_true(sample.is_old);
	end(&played);
}

TEST(ranks_appear_and_end_as_recorded)
{
	struct recording_fixture *fixture = *state;
	struct ncs_sample sample;
	struct played_recording played;
	size_t a, b;

	recording_fixture_begin(fixture, "one");
	a = recording_fixture_add_rank(fixture, "a");
	b = recording_fixture_add_rank(fixture, "b");
	recording_fixture_state(fixture, a, 0, 0);
	recording_fixture_state(fixture, b, 2 * S_NS, NCS_STATE_GONE);
	recording_fixture_state(fixture, a, 3 * S_NS, NCS_STATE_REMOVED);
	recording_fixture_state(fixture, b, 9 * S_NS, NCS_STATE_GONE);
	recording_fixture_end(fixture);
	played = play(fixture);
	assert_int_equal(pass(&played, S_NS, &sample), 1);
	assert_int_equal(pass(&played, 2 * S_NS, &sample), 2);
	assert_int_equal(pass(&played, 4 * S_NS, &sample), 1);
	assert_string_equal(sample.id, "b");
	assert_int_equal(pass(&played, S_NS, &sample), 1);
	assert_string_equal(sample.id, "a");
	end(&played);
}

/* A model that is refreshed more often than states were recorded has constant
 * rates, none of them zero. */
TEST(refreshes_between_states_leave_rates_unchanged)
{
	struct recording_fixture *fixture = *state;
	struct ncs_channel *channel =
		segment_fixture_channel(fixture->segment, 2);
	struct ncs_model model;
	struct played_recording played;
	size_t rank;

	recording_fixture_begin(fixture, "one");
	rank = recording_fixture_add_rank(fixture, "a");
	for (unsigned i = 0; i < 6; i++) {
		channel->bytes = 1000 * i;
		recording_fixture_state(fixture, rank, i * S_NS, 0);
	}
	recording_fixture_end(fixture);
	played = play(fixture);
	ncs_model_init(&model);
	for (unsigned i = 0; i < 23; i++) {
		assert_int_equal(ncs_model_update(&model, played.source,
						  BEGUN + i * 200 * MS_NS),
				 0);
		assert_int_equal(model.rank_count, 1);
		if (i >= 5)
			assert_int_equal(
				(int)ncs_rank_bytes_rate(model.ranks[0], true),
				1000);
	}
	ncs_model_release(&model);
	end(&played);
}
