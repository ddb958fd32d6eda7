/* SPDX-License-Identifier: MIT */
/* Tests of playing a recording: the part that is played, the speed, jumps, and
 * the search ahead. */
#include <errno.h>
#include <string.h>

#include "analysis/model/rank.h"
#include "record/replay/replay_search.h"
#include "test/unit/support/recording_fixture.h"
#include "test/unit/support/unit.h"

#define MS_NS UINT64_C(1000000)
#define S_NS UINT64_C(1000000000)
#define BEGUN RECORDING_BEGUN_NS

static char why[400];

/* Writes states of two ranks each second for a minute. From second 30 to 50 the
 * process of the first rank is gone. */
static void write_minute(struct recording_fixture *fixture)
{
	struct ncs_header *header = fixture->segment->header;
	struct ncs_channel *channel =
		segment_fixture_channel(fixture->segment, 2);
	size_t ranks[2];

	header->identity.known |= NCS_KNOWN_COMM_ID;
	recording_fixture_begin(fixture, "one");
	ranks[0] = recording_fixture_add_rank(fixture, "a");
	ranks[1] = recording_fixture_add_rank(fixture, "b");
	for (unsigned i = 0; i <= 60; i++) {
		channel->bytes = 1000 * i;
		/* A process that is gone does nothing. */
		channel->since = BEGUN + (i < 30 || i >= 50 ? i : 29) * S_NS;
		header->identity.rank = 0;
		recording_fixture_state(fixture, ranks[0], i * S_NS,
					i >= 30 && i < 50 ? NCS_STATE_GONE : 0);
		channel->since = BEGUN + i * S_NS;
		header->identity.rank = 1;
		recording_fixture_state(fixture, ranks[1], i * S_NS, 0);
	}
	recording_fixture_end(fixture);
}

static int open_part(struct recording_fixture *fixture,
		     struct ncs_replay *replay, const char *since,
		     const char *until, const char *at)
{
	const char *path = fixture->path;
	struct ncs_replay_part part = { .pid = 0 };

	if (since)
		assert_true(ncs_instant_parse(since, &part.since));
	if (until)
		assert_true(ncs_instant_parse(until, &part.until));
	if (at)
		assert_true(ncs_instant_parse(at, &part.at));
	return ncs_replay_open(replay, &path, 1, &part, why, sizeof(why));
}

UNIT_FIXTURE(recording_fixture_setup, recording_fixture_teardown)

TEST(since_until_and_at_select_a_part)
{
	struct recording_fixture *fixture = *state;
	struct ncs_replay replay;

	write_minute(fixture);
	assert_int_equal(open_part(fixture, &replay, NULL, NULL, NULL), 0);
	assert_int_equal(replay.from_ns, BEGUN);
	assert_int_equal(replay.until_ns, BEGUN + 60 * S_NS);
	assert_int_equal(replay.at_ns, BEGUN);
	assert_int_equal(ncs_replay_realtime_ns(&replay, BEGUN + 5),
			 RECORDING_REALTIME_NS + 5);
	assert_string_equal(replay.hosts, "alpha");
	assert_int_equal(replay.error_ns, 0);
	ncs_replay_close(&replay);
	assert_int_equal(open_part(fixture, &replay, "10", "-10", "0:20.5"), 0);
	assert_int_equal(replay.from_ns, BEGUN + 10 * S_NS);
	assert_int_equal(replay.until_ns, BEGUN + 50 * S_NS);
	assert_int_equal(ncs_replay_since_ns(&replay), 20500 * MS_NS);
	ncs_replay_close(&replay);
}

TEST(wall_clock_time_is_found_in_the_recording)
{
	struct recording_fixture *fixture = *state;
	struct ncs_replay replay;

	write_minute(fixture);
	/* The recording begins at 22:13:20 on that day. */
	assert_int_equal(open_part(fixture, &replay, NULL, NULL,
				   "2023-11-14T22:13:25Z"),
			 0);
	assert_int_equal(replay.at_ns, BEGUN + 5 * S_NS);
	ncs_replay_close(&replay);
	assert_int_equal(open_part(fixture, &replay, NULL, NULL, "T22:14Z"), 0);
	assert_int_equal(replay.at_ns, BEGUN + 40 * S_NS);
	ncs_replay_close(&replay);
	/* The first such time after the beginning is on the next day. */
	assert_int_equal(open_part(fixture, &replay, NULL, NULL, "T22:13Z"),
			 -ERANGE);
	assert_non_null(strstr(why, "after the recording"));
	ncs_replay_close(&replay);
}

TEST(time_outside_the_recording_is_refused)
{
	struct recording_fixture *fixture = *state;
	struct ncs_replay replay;

	write_minute(fixture);
	assert_int_equal(open_part(fixture, &replay, NULL, NULL, "61"),
			 -ERANGE);
	assert_non_null(strstr(why, "--at"));
	assert_non_null(strstr(why, "1:00.000 long"));
	ncs_replay_close(&replay);
	assert_int_equal(open_part(fixture, &replay, "-61", NULL, NULL),
			 -ERANGE);
	assert_non_null(strstr(why, "--since"));
	ncs_replay_close(&replay);
	assert_int_equal(open_part(fixture, &replay, "20", "10", NULL),
			 -ERANGE);
	ncs_replay_close(&replay);
	assert_int_equal(open_part(fixture, &replay, "20", "30", "10"),
			 -ERANGE);
	ncs_replay_close(&replay);
}

TEST(playing_follows_the_speed)
{
	struct recording_fixture *fixture = *state;
	struct ncs_replay replay;

	write_minute(fixture);
	assert_int_equal(open_part(fixture, &replay, NULL, NULL, NULL), 0);
	ncs_replay_advance(&replay, 5 * S_NS);
	assert_int_equal(replay.at_ns, BEGUN);
	ncs_replay_play(&replay, true, 10 * S_NS);
	ncs_replay_advance(&replay, 12 * S_NS);
	assert_int_equal(replay.at_ns, BEGUN + 2 * S_NS);
	/* The two seconds before the change were at the old speed. */
	ncs_replay_change_speed(&replay, true, 14 * S_NS);
	assert_true(replay.speed > 1.99 && replay.speed < 2.01);
	ncs_replay_advance(&replay, 15 * S_NS);
	assert_in_range(replay.at_ns, BEGUN + 6 * S_NS - 9,
			BEGUN + 6 * S_NS + 9);
	ncs_replay_play(&replay, false, 15 * S_NS);
	ncs_replay_advance(&replay, 100 * S_NS);
	assert_in_range(replay.at_ns, BEGUN + 6 * S_NS - 9,
			BEGUN + 6 * S_NS + 9);
	/* Playing stops at the end. */
	ncs_replay_play(&replay, true, 100 * S_NS);
	ncs_replay_advance(&replay, 1000 * S_NS);
	assert_int_equal(replay.at_ns, replay.until_ns);
	assert_false(replay.playing);
	ncs_replay_close(&replay);
}

TEST_WITH(speed_ranges_from_a_hundredth_to_a_thousand, NULL, NULL)
{
	static const double expected[] = {
		0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1,   2,
		5,    10,   20,   50,  100, 200, 500, 1000,
	};
	struct ncs_replay replay = { .speed = 1 };

	for (int i = 0; i < 20; i++)
		ncs_replay_change_speed(&replay, false, 0);
	for (size_t i = 0; i < 16; i++) {
		assert_true(replay.speed > expected[i] * 0.999 &&
			    replay.speed < expected[i] * 1.001);
		ncs_replay_change_speed(&replay, true, 0);
	}
	assert_true(replay.speed < 1000.1);
	for (size_t i = 16; i-- > 0;) {
		assert_true(replay.speed > expected[i] * 0.999 &&
			    replay.speed < expected[i] * 1.001);
		ncs_replay_change_speed(&replay, false, 0);
	}
}

/* After a jump, the model is as if it had been refreshed all the time. */
TEST(jump_fills_the_past_of_the_model)
{
	struct recording_fixture *fixture = *state;
	struct ncs_replay replay;
	struct ncs_model model;

	write_minute(fixture);
	assert_int_equal(open_part(fixture, &replay, NULL, NULL, NULL), 0);
	ncs_model_init(&model);
	model.keeps_latest = true;
	ncs_model_set_window(&model, NCS_WINDOW_10_S);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t at_ns = BEGUN + (i == 0 ? 55 : 25) * S_NS;

		assert_int_equal(ncs_replay_fill(replay.source, &model, NULL,
						 replay.from_ns, at_ns, S_NS),
				 0);
		assert_int_equal(ncs_model_update(&model, replay.source, at_ns),
				 0);
		assert_int_equal(model.window, NCS_WINDOW_10_S);
		assert_int_equal(model.rank_count, 2);
		assert_true(ncs_rank_window_ns(model.ranks[0]) >= 10 * S_NS);
		assert_int_equal((int)ncs_rank_bytes_rate(model.ranks[0], true),
				 1000);
	}
	/* At the beginning there is no past. */
	assert_int_equal(ncs_replay_fill(replay.source, &model, NULL,
					 replay.from_ns, replay.from_ns, S_NS),
			 0);
	assert_int_equal(model.rank_count, 0);
	ncs_model_release(&model);
	ncs_replay_close(&replay);
}

TEST(search_finds_episodes)
{
	struct recording_fixture *fixture = *state;
	static struct ncs_replay_search search;
	const struct ncs_episode *found;
	struct ncs_replay replay;

	write_minute(fixture);
	assert_int_equal(open_part(fixture, &replay, NULL, NULL, NULL), 0);
	assert_int_equal(ncs_replay_search_begin(&search, &replay, 0, NULL), 0);
	assert_null(ncs_replay_search_next(&search, BEGUN, true));
	for (int i = 0; i < 1000 && !search.done; i++)
		assert_int_equal(ncs_replay_search_step(&search), 0);
	assert_true(search.done);
	/* The process dies, which is told at once. */
	assert_int_equal(search.found.count, 1);
	found = ncs_replay_search_next(&search, BEGUN, true);
	assert_non_null(found);
	assert_int_equal(found->seen_ns, BEGUN + 30 * S_NS);
	assert_int_equal(found->verdict, NCS_VERDICT_RANK_DIED);
	assert_null(ncs_replay_search_next(&search, BEGUN + 30 * S_NS, false));
	assert_ptr_equal(ncs_replay_search_next(&search, BEGUN + 31 * S_NS,
						false),
			 found);
	assert_null(ncs_replay_search_next(&search, BEGUN + 30 * S_NS, true));
	ncs_replay_search_end(&search);
	ncs_replay_close(&replay);
}

/* The recorder of one rank is held up from 2 to 10.4 s, and what its next look sees is
 * over within the second; that of the other rank is not. */
TEST(search_sees_a_look_that_came_late)
{
	struct recording_fixture *fixture = *state;
	struct ncs_header *header = fixture->segment->header;
	static struct ncs_replay_search search;
	struct ncs_replay replay;
	uint64_t seen_ns = 0;
	size_t ranks[2];

	header->identity.known |= NCS_KNOWN_COMM_ID;
	recording_fixture_begin(fixture, "one");
	ranks[0] = recording_fixture_add_rank(fixture, "a");
	ranks[1] = recording_fixture_add_rank(fixture, "b");
	for (uint64_t ms = 0; ms <= 12000; ms += 200) {
		header->identity.rank = 0;
		if (ms == 10400 || ms == 10800 ||
		    (ms % 1000 == 0 && (ms <= 2000 || ms > 10800)))
			recording_fixture_state(
				fixture, ranks[0], ms * MS_NS,
				ms == 10400 ? NCS_STATE_GONE : 0);
		header->identity.rank = 1;
		if (ms % 1000 == 0)
			recording_fixture_state(fixture, ranks[1], ms * MS_NS,
						0);
	}
	recording_fixture_end(fixture);
	assert_int_equal(open_part(fixture, &replay, NULL, NULL, NULL), 0);
	assert_int_equal(ncs_replay_search_begin(&search, &replay, 0, NULL), 0);
	for (int i = 0; i < 1000 && !search.done; i++)
		assert_int_equal(ncs_replay_search_step(&search), 0);
	assert_true(search.done);
	for (size_t i = 0; i < search.found.count; i++)
		if (search.found.all[i].verdict == NCS_VERDICT_RANK_DIED)
			seen_ns = search.found.all[i].seen_ns;
	assert_int_equal(seen_ns, BEGUN + 10400 * MS_NS);
	ncs_replay_search_end(&search);
	ncs_replay_close(&replay);
}
