/* SPDX-License-Identifier: MIT */
/* The timeline: the records that are kept, their stretches on tracks, and the
 * cells of an axis at every zoom. */
#include <stdlib.h>
#include <string.h>

#include "analysis/records/latest_records.h"
#include "analysis/views/timeline.h"
#include "test/unit/support/scripted_source.h"
#include "test/unit/support/unit.h"

#define MS INT64_C(1000000)
#define NOW (10000 * MS)
#define WIDTH 100

static uint32_t seed;

static uint32_t any(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static int setup(void **state)
{
	static struct scripted job;

	seed = 1;
	scripted_init(&job);
	job.model.keeps_latest = true;
	*state = &job;
	return 0;
}

static int teardown(void **state)
{
	scripted_release(*state);
	return 0;
}

/* One tick is 1 ns. */
static struct scripted_rank *add(struct scripted *job, int number)
{
	struct scripted_rank *rank = scripted_add(job, number);

	rank->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
	rank->snapshot.identity.comm_id = 7;
	rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE].operations = 1;
	scripted_channel(rank, 2, true, 1);
	return rank;
}

static struct ncs_record *put(struct scripted_rank *rank, unsigned event,
			      int64_t start_ns, int64_t duration_ns)
{
	struct ncs_record *record = &rank->records[rank->record_count++];

	*record = (struct ncs_record){
		.event = (uint8_t)event,
		.flags = NCS_RECORD_SEND,
		.channel = 2,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.peer = 1,
		.start = (uint64_t)start_ns,
		.duration = (uint64_t)duration_ns,
	};
	return record;
}

static struct ncs_track track_of(const struct ncs_rank *rank,
				 enum ncs_track_kind kind)
{
	struct ncs_track track;

	for (size_t i = 0; i < ncs_track_count(rank); i++)
		if (ncs_track_at(rank, i, &track) && track.kind == kind)
			return track;
	fail_msg("there is no such track");
	return track;
}

static void letters(const struct ncs_rank *rank, enum ncs_track_kind kind,
		    int64_t end_ns, int64_t cell_ns, int width, char *text)
{
	const struct ncs_axis axis = { end_ns, cell_ns, width };
	struct ncs_track track = track_of(rank, kind);
	struct ncs_cell cells[NCS_CELLS_MAX];

	assert_int_equal(ncs_track_cells(rank, &track, &axis, NULL, cells), 0);
	for (int i = 0; i < width; i++)
		text[i] = ncs_activities[cells[i].activity].letter;
	text[width] = '\0';
}

/* --- Where it begins ------------------------------------------------------ */

UNIT_FIXTURE(setup, teardown)

TEST(the_latest_step_is_what_repeats_the_operations_before)
{
	static const uint64_t bytes[] = { 7, 1, 2, 3, 1, 2, 3, 1, 2, 3 };
	const size_t count = sizeof(bytes) / sizeof(bytes[0]);
	struct scripted *job = *state;
	struct scripted_rank *rank = add(job, 0);
	uint64_t from_ns, until_ns;

	scripted_pass(job, NOW);
	assert_false(ncs_latest_step(scripted_rank(job, 0), &from_ns,
				     &until_ns));
	for (size_t i = 0; i < count; i++)
		put(rank, NCS_EVENT_COLL, NOW - (int64_t)(20 - i) * MS, MS / 2)
			->value = bytes[i];
	scripted_pass(job, NOW + MS);
	assert_true(ncs_latest_step(scripted_rank(job, 0), &from_ns,
				    &until_ns));
	assert_int_equal(from_ns, NOW - 13 * MS);
	assert_int_equal(until_ns, NOW - 11 * MS + MS / 2);
}

/* --- What is kept -------------------------------------------------------- */

TEST(the_latest_records_are_kept)
{
	struct scripted *job = *state;
	struct scripted_rank *rank = add(job, 0);
	const struct ncs_latest_list *list;

	for (int pass = 0; pass < 50; pass++) {
		rank->record_count = 0;
		for (int i = 0; i < SCRIPTED_RECORDS; i++)
			put(rank, NCS_EVENT_PROXY_STEP,
			    (pass * SCRIPTED_RECORDS + i) * 10, 10);
		scripted_pass(job, (uint64_t)(NOW + pass * MS));
	}
	list = &scripted_rank(job, 0)->latest->lists[NCS_LATEST_WORK];
	assert_int_equal(list->count, 16384);
	assert_int_equal(list->records[list->count - 1].start,
			 (50 * SCRIPTED_RECORDS - 1) * 10);
	/* Every record that ended after the last dropped one is kept. */
	assert_int_equal(list->complete_from_ns, list->records[0].start);
}

TEST(ranks_share_the_memory_for_records)
{
	struct scripted *job = *state;
	struct scripted_rank *rank = add(job, 0);
	struct ncs_sample sample = { .header = &rank->header,
				     .snapshot = &rank->snapshot,
				     .records = rank->records };
	struct ncs_latest *trace = ncs_latest_new();
	struct ncs_latest_list *list = &trace->lists[NCS_LATEST_WORK];

	for (int i = 0; i < SCRIPTED_RECORDS; i++)
		put(rank, NCS_EVENT_PROXY_OP, i * MS, MS);
	sample.record_count = rank->record_count;
	rank->snapshot.taken_ns = NOW;
	for (int i = 0; i < 4; i++)
		assert_int_equal(ncs_latest_take(trace, &sample, 8), 0);
	assert_int_equal(list->count, 4 * SCRIPTED_RECORDS);
	/* More ranks share the memory from now on. */
	sample.record_count = 0;
	assert_int_equal(ncs_latest_take(trace, &sample, 10000), 0);
	assert_int_equal(list->count, 128);
	assert_int_equal(list->records[127].start, (SCRIPTED_RECORDS - 1) * MS);
	ncs_latest_free(trace);
}

TEST(no_record_is_kept_unless_wanted)
{
	struct scripted *job = *state;

	job->model.keeps_latest = false;
	put(add(job, 0), NCS_EVENT_PROXY_STEP, NOW - MS, MS);
	scripted_pass(job, NOW);
	assert_null(scripted_rank(job, 0)->latest);
}

/* Updates the model, and checks the cells of 1 ms of a track of rank 0 up to
 * NOW. */
static void assert_cells(struct scripted *job, enum ncs_track_kind kind,
			 const char *cells)
{
	char text[WIDTH + 1];

	scripted_pass(job, NOW);
	letters(scripted_rank(job, 0), kind, NOW, MS, (int)strlen(cells), text);
	assert_string_equal(text, cells);
}

/* --- Tracks -------------------------------------------------------------- */

TEST(a_step_becomes_three_stretches)
{
	struct scripted *job = *state;
	struct ncs_record *step =
		put(add(job, 0), NCS_EVENT_PROXY_STEP, NOW - 8 * MS, 6 * MS);

	step->delta[0] = 1 * MS;
	step->delta[1] = 3 * MS;
	assert_cells(job, NCS_TRACK_CHANNEL, "..GPPNNN..");
}

TEST(an_operation_is_queued_and_then_runs)
{
	struct scripted *job = *state;
	struct scripted_rank *rank = add(job, 0);
	struct ncs_operation_view *open = &rank->operations[0];

	put(rank, NCS_EVENT_COLL, NOW - 9 * MS, 4 * MS)->delta[1] = MS;
	*open = (struct ncs_operation_view){
		.number = 5,
		.event = NCS_EVENT_COLL,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.start_ns = NOW - 4 * MS,
		.first_child_ns = NOW - 2 * MS,
	};
	rank->snapshot.operation_count = 1;
	assert_cells(job, NCS_TRACK_FUNCTION, ".qrrr.qqrr");
}

/* Without a child its launch tells. */
TEST(an_operation_runs_once_its_launch_has_begun)
{
	struct scripted *job = *state;
	struct scripted_rank *rank = add(job, 0);
	struct ncs_launches_view *launches = &rank->snapshot.launches;

	rank->operations[0] = (struct ncs_operation_view){
		.number = 5,
		.event = NCS_EVENT_COLL,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.start_ns = NOW - 4 * MS,
		.launch = 8,
	};
	rank->snapshot.operation_count = 1;
	*launches = (struct ncs_launches_view){
		.status = NCS_STREAM_ALL,
		.ended = 7,
		.begun = 7,
		.begun_ns = NOW - 6 * MS,
		.followed = 8,
		.launched = 8,
	};
	assert_cells(job, NCS_TRACK_FUNCTION, "..qqqq");
	launches->begun = 8;
	launches->begun_ns = NOW - MS;
	assert_cells(job, NCS_TRACK_FUNCTION, "..qqqr");
}

TEST(the_proxy_is_awake_between_its_records)
{
	struct scripted *job = *state;
	struct scripted_rank *rank = add(job, 0);

	put(rank, NCS_EVENT_PROXY_CTRL, NOW - 8 * MS, 2 * MS)->number =
		NCS_PROXY_SLEEP;
	put(rank, NCS_EVENT_PROXY_CTRL, NOW - 6 * MS, MS)->number =
		NCS_PROXY_APPEND;
	rank->snapshot.proxy.state = NCS_PROXY_ACTIVE;
	rank->snapshot.proxy.since_ns = NOW - 2 * MS;
	assert_cells(job, NCS_TRACK_PROXY, "wwzztwwwaa");
}

TEST(calls_are_shown_before_their_group)
{
	struct scripted *job = *state;
	struct scripted_rank *rank = add(job, 0);

	rank->snapshot.events[NCS_EVENT_GROUP_API] = 1;
	put(rank, NCS_EVENT_GROUP_API, NOW - 8 * MS, 6 * MS);
	put(rank, NCS_EVENT_COLL_API, NOW - 7 * MS, MS);
	put(rank, NCS_EVENT_KERNEL_LAUNCH, NOW - 3 * MS, 2 * MS);
	assert_cells(job, NCS_TRACK_CALLS, "..bcbbbll.");
}

/* The GPU's clock is 5 s ahead, which is reported later. */
TEST(kernels_are_shown_when_they_ran)
{
	struct scripted *job = *state;
	struct scripted_rank *rank = add(job, 0);
	struct ncs_record *kernel =
		put(rank, NCS_EVENT_KERNEL_CH, NOW - MS, MS);

	rank->snapshot.events[NCS_EVENT_KERNEL_CH] = 1;
	kernel->value = (uint64_t)(NOW - 6 * MS + 5000 * MS);
	kernel->number = 2 * MS;
	rank->snapshot.gpu_clock.known = true;
	rank->snapshot.gpu_clock.offset_ns = 5000 * MS;
	assert_cells(job, NCS_TRACK_KERNELS, "....xx....");
}

/* A job over NVLink: of its launches the first two are over, the third one has
 * begun, the fourth one is queued. */
static struct scripted_rank *launch(struct scripted *job, int number)
{
	struct scripted_rank *rank = add(job, number);

	rank->snapshot.launches = (struct ncs_launches_view){
		.status = NCS_STREAM_ALL,
		.ended = 2,
		.begun = 3,
		.followed = 4,
		.launched = 4,
		.begun_ns = NOW - 3 * MS,
		.ended_ns = NOW - 4 * MS,
	};
	for (unsigned i = 0; i < 4; i++) {
		int64_t start = NOW - (9 - (int64_t)i) * MS;
		struct ncs_record *record;

		if (i >= 2) {
			rank->operations[rank->snapshot.operation_count++] =
				(struct ncs_operation_view){
					.number = i + 1,
					.start_ns = (uint64_t)start,
					.sequence_number = i,
					.event = NCS_EVENT_COLL,
					.function = NCS_FUNCTION_ALL_REDUCE,
					.launch = i + 1,
				};
			continue;
		}
		record = put(rank, NCS_EVENT_COLL, start, (3 + i) * MS);
		record->operation = i + 1;
		record->number = i;
		record->flags = NCS_RECORD_ON_STREAM;
		record->delta[1] = (uint64_t)((2 + i) * MS);
	}
	return rank;
}

TEST(launches_are_shown_on_their_stream)
{
	struct scripted *job = *state;

	launch(job, 0);
	assert_cells(job, NCS_TRACK_KERNELS, ".qqxqxqxxx");
}

TEST(launches_that_have_not_begun_are_queued)
{
	struct scripted *job = *state;
	struct scripted_rank *rank = launch(job, 0);
	const struct ncs_rank *shown;
	struct ncs_stretch now;
	struct ncs_track track;

	rank->snapshot.launches.begun = 2;
	scripted_pass(job, NOW);
	shown = scripted_rank(job, 0);
	track = track_of(shown, NCS_TRACK_KERNELS);
	assert_true(ncs_track_now(shown, &track, &now));
	assert_int_equal(now.activity, NCS_ACTIVITY_QUEUED);
	rank->snapshot.launches.begun = rank->snapshot.launches.ended = 4;
	scripted_pass(job, NOW);
	shown = scripted_rank(job, 0);
	assert_false(ncs_track_now(shown, &track, &now));
	assert_false(ncs_track_is_empty(shown, &track));
}

/* Between the launches that are timed there may have been others. */
TEST(launches_that_are_not_timed_are_unknown)
{
	struct scripted *job = *state;
	struct scripted_rank *rank = launch(job, 0);

	rank->snapshot.operation_count = 0;
	rank->snapshot.launches.status = NCS_STREAM_SOME;
	assert_cells(job, NCS_TRACK_KERNELS, " qqxqx    ");
}

TEST(kernels_of_a_collective_are_lit_in_all_ranks)
{
	struct scripted *job = *state;
	struct ncs_collective collective = { 7, NCS_FUNCTION_ALL_REDUCE, 1 };

	for (int i = 0; i < 2; i++)
		launch(job, i);
	scripted_pass(job, NOW);
	for (int i = 0; i < 2; i++) {
		const struct ncs_rank *rank = scripted_rank(job, i);
		const struct ncs_axis axis = { NOW, MS, 10 };
		struct ncs_track track = track_of(rank, NCS_TRACK_KERNELS);
		struct ncs_cell cells[NCS_CELLS_MAX];

		assert_int_equal(ncs_track_cells(rank, &track, &axis,
						 &collective, cells),
				 0);
		for (int k = 0; k < 10; k++)
			assert_int_equal(cells[k].lit, k >= 2 && k <= 5);
	}
}

TEST(unknown_time_is_not_shown_as_idle)
{
	struct scripted *job = *state;
	struct scripted_rank *rank = add(job, 0);

	/* The ring was overwritten before the first pass. */
	rank->snapshot.losses[NCS_LOSS_OVERWRITTEN] = 1;
	put(rank, NCS_EVENT_PROXY_STEP, NOW - 8 * MS, MS);
	scripted_pass(job, NOW - 6 * MS);
	rank->record_count = 0;
	scripted_pass(job, NOW - 5 * MS);
	rank->records_lost = 3;
	put(rank, NCS_EVENT_PROXY_STEP, NOW - 3 * MS, MS);
	scripted_pass(job, NOW - 2 * MS);
	rank->records_lost = 0;
	rank->record_count = 0;
	rank->snapshot.liveness = NCS_FINISHED;
	rank->snapshot.finished_ns = NOW - MS;
	assert_cells(job, NCS_TRACK_CHANNEL, "  G..??G. ");
	assert_int_equal(scripted_rank(job, 0)->latest->lost, 3);
}

/* Overwritten records are older than all records that a full ring holds. */
TEST(a_gap_ends_where_a_full_ring_begins)
{
	struct scripted *job = *state;
	struct scripted_rank *rank = add(job, 0);
	char text[WIDTH + 1];

	rank->header.ring_records = 16;
	put(rank, NCS_EVENT_PROXY_STEP, NOW - 20 * MS, MS);
	scripted_pass(job, NOW - 9 * MS);
	rank->record_count = 0;
	rank->records_lost = 5;
	/* Another thread has lost no record. */
	put(rank, NCS_EVENT_COLL, NOW - 8 * MS, MS)->position = 70;
	for (uint32_t i = 0; i < 4; i++)
		put(rank, NCS_EVENT_PROXY_STEP, NOW - (5 - i) * MS, MS / 2)
			->position = 100 + i;
	scripted_pass(job, NOW);
	letters(scripted_rank(job, 0), NCS_TRACK_CHANNEL, NOW, MS / 2, 20,
		text);
	assert_string_equal(text, "..????????G.G.G.G...");
	/* Without a full ring the loss may have been at any time. */
	rank->records[3].position = 0;
	scripted_pass(job, NOW + 5 * MS);
	assert_int_equal(scripted_rank(job, 0)->latest->lost_until_ns,
			 NOW + 5 * MS);
}

/* --- One collective ------------------------------------------------------ */

TEST(a_collective_is_found_in_every_rank)
{
	struct scripted *job = *state;
	struct ncs_collective collective;
	struct ncs_stretch stretch;
	struct ncs_presence part;
	struct ncs_track track;
	size_t count;

	for (int i = 0; i < 3; i++) {
		struct scripted_rank *rank = add(job, i);

		for (uint64_t k = 0; k < 4; k++) {
			struct ncs_record *record =
				put(rank, NCS_EVENT_COLL,
				    NOW - (10 - 2 * (int64_t)k) * MS, MS);

			/* Each rank numbers its operations by itself. */
			record->operation = (uint32_t)(10 * i + 1) + k;
			record->number = 80 + k + (i == 2);
		}
		put(rank, NCS_EVENT_PROXY_STEP, NOW - 6 * MS, MS)->operation =
			(uint32_t)(10 * i + 3);
	}
	scripted_pass(job, NOW);
	/* Start from a step of the collective. */
	track = track_of(scripted_rank(job, 0), NCS_TRACK_CHANNEL);
	assert_true(ncs_track_find(scripted_rank(job, 0), &track, NOW - 6 * MS,
				   NOW - 5 * MS, &stretch, &count));
	assert_true(ncs_stretch_collective(scripted_rank(job, 0), &stretch,
					   &collective));
	assert_int_equal(collective.sequence_number, 82);
	assert_int_equal(collective.function, NCS_FUNCTION_ALL_REDUCE);
	for (int i = 0; i < 3; i++) {
		const struct ncs_rank *rank = scripted_rank(job, i);

		assert_true(ncs_collective_find(rank, &collective, &part));
		assert_int_equal(part.operation, 10 * i + (i == 2 ? 2 : 3));
		track = track_of(rank, NCS_TRACK_CHANNEL);
		assert_true(ncs_track_find(rank, &track, NOW - 6 * MS,
					   NOW - 5 * MS, &stretch, &count));
		assert_true(ncs_presence_has(&part, &collective, &track,
					     &stretch) == (i != 2));
	}
	collective.sequence_number = 90;
	assert_false(
		ncs_collective_find(scripted_rank(job, 0), &collective, &part));
}

/* --- The axis ------------------------------------------------------------ */

TEST(zooming_keeps_the_time_under_the_cursor)
{
	for (int i = 0; i < 10000; i++) {
		struct ncs_axis axis = { NOW, MS, 1 + (int)any(300) };
		int column = (int)any((uint32_t)axis.width);
		int64_t at_ns, cell_ns;

		for (int k = (int)any(10); k > 0; k--)
			ncs_axis_zoom(&axis, column, any(2));
		at_ns = ncs_axis_ns(&axis, column);
		cell_ns = axis.cell_ns;
		ncs_axis_zoom(&axis, column, true);
		assert_true(axis.cell_ns < cell_ns);
		assert_true(ncs_axis_ns(&axis, column) == at_ns);
		ncs_axis_zoom(&axis, column, false);
		assert_true(axis.cell_ns == cell_ns);
		assert_true(ncs_axis_ns(&axis, column) == at_ns);
	}
}

TEST(zooming_stops_at_the_shortest_and_longest_cell)
{
	struct ncs_axis axis = { NOW, MS, 80 };

	for (int i = 0; i < 100; i++)
		ncs_axis_zoom(&axis, 40, true);
	assert_true(axis.cell_ns == NCS_CELL_SHORTEST_NS);
	for (int i = 0; i < 100; i++)
		ncs_axis_zoom(&axis, 40, false);
	assert_true(axis.cell_ns == NCS_CELL_LONGEST_NS);
}

TEST(panning_moves_half_a_screen_and_not_into_the_future)
{
	struct ncs_axis axis = { NOW, MS, 80 };

	ncs_axis_pan(&axis, true, NOW);
	assert_true(axis.end_ns == NOW - 40 * MS);
	ncs_axis_pan(&axis, true, NOW);
	ncs_axis_pan(&axis, false, NOW);
	assert_true(axis.end_ns == NOW - 40 * MS);
	ncs_axis_pan(&axis, false, NOW);
	ncs_axis_pan(&axis, false, NOW);
	assert_true(axis.end_ns == NOW);
}

/* --- Cells --------------------------------------------------------------- */

/* Adds steps of many lengths, one after another. */
static int put_steps(struct scripted_rank *rank, int64_t *starts,
		     int64_t *lengths)
{
	int64_t at_ns = NOW;
	int count = 0;

	while (count < 100) {
		lengths[count] = 1 + any(1u << any(24));
		at_ns -= lengths[count] + any(1000);
		starts[count] = at_ns;
		put(rank, NCS_EVENT_PROXY_STEP, at_ns, lengths[count]);
		count++;
	}
	return count;
}

TEST(every_stretch_is_visible_at_every_zoom)
{
	struct scripted *job = *state;
	int64_t starts[100], lengths[100];
	int count = put_steps(add(job, 0), starts, lengths);
	struct ncs_cell cells[NCS_CELLS_MAX];
	const struct ncs_rank *rank;
	struct ncs_track track;

	scripted_pass(job, NOW);
	rank = scripted_rank(job, 0);
	track = track_of(rank, NCS_TRACK_CHANNEL);
	for (int i = 0; i < count; i++) {
		struct ncs_axis axis = { starts[i] + 50 * MS, MS, WIDTH };

		/* Every zoom shows some stretch, the closest this one. */
		for (;;) {
			int64_t cell_ns = axis.cell_ns;

			assert_int_equal(ncs_track_cells(rank, &track, &axis,
							 NULL, cells),
					 0);
			assert_int_equal(cells[WIDTH / 2].activity,
					 NCS_ACTIVITY_CHANNEL +
						 NCS_CHANNEL_SEND_GPU_WAIT);
			ncs_axis_zoom(&axis, WIDTH / 2, true);
			if (axis.cell_ns == cell_ns)
				break;
		}
		if (lengths[i] >= axis.cell_ns)
			assert_false(cells[WIDTH / 2].several);
	}
}

/* For any records in shared memory, and any axis. */
TEST(no_cell_is_written_outside_the_line)
{
	struct scripted *job = *state;
	struct scripted_rank *rank = add(job, 0);
	struct ncs_cell cells[NCS_CELLS_MAX + 1];
	const struct ncs_rank *seen;
	struct ncs_track track;

	for (int i = 0; i < SCRIPTED_RECORDS; i++) {
		struct ncs_record *record = put(rank, any(40), 0, 0);
		uint64_t *words = (uint64_t *)record;

		record->start = (uint64_t)NOW - any(1u << 30);
		record->duration = any(1u << 24);
		for (unsigned k = 0; k < 8 && any(2); k++)
			if (k != 1)
				words[k] = (uint64_t)any(1u << 24) << 40 |
					   any(1u << 24);
		if (any(8) == 0)
			record->duration = UINT64_MAX;
	}
	for (unsigned i = 0; i < NCS_EVENT_COUNT; i++)
		rank->snapshot.events[i] = 1;
	rank->snapshot.proxy.state = NCS_PROXY_IDLE;
	scripted_pass(job, NOW);
	seen = scripted_rank(job, 0);
	for (int i = 0; i < 2000; i++) {
		struct ncs_axis axis = { (int64_t)any(1u << 24) * 1000, 10,
					 1 + (int)any(NCS_CELLS_MAX) };

		for (int k = (int)any(30); k > 0; k--)
			ncs_axis_zoom(&axis, (int)any((uint32_t)axis.width),
				      false);
		memset(&cells[axis.width], 0x5a, sizeof(*cells));
		if (!ncs_track_at(seen, any((uint32_t)ncs_track_count(seen)),
				  &track))
			continue;
		assert_int_equal(
			ncs_track_cells(seen, &track, &axis, NULL, cells), 0);
		for (int k = 0; k < axis.width; k++)
			assert_true(cells[k].activity < NCS_ACTIVITY_COUNT);
		for (size_t k = 0; k < sizeof(*cells); k++)
			assert_int_equal(
				((unsigned char *)&cells[axis.width])[k], 0x5a);
	}
}

TEST(a_cell_shows_the_activity_that_takes_most_of_it)
{
	struct scripted *job = *state;
	struct scripted_rank *rank = add(job, 0);
	const struct ncs_axis axis = { NOW, MS, 3 };
	struct ncs_cell cells[3];
	struct ncs_track track;

	/* 0.6 ms of waiting for the GPU, then 0.4 ms for the network. */
	put(rank, NCS_EVENT_PROXY_STEP, NOW - 2 * MS, MS)->delta[1] =
		6 * MS / 10;
	rank->records[0].delta[0] = 6 * MS / 10 - 1;
	put(rank, NCS_EVENT_PROXY_OP, NOW - 3 * MS, 3 * MS);
	scripted_pass(job, NOW);
	track = track_of(scripted_rank(job, 0), NCS_TRACK_CHANNEL);
	assert_int_equal(ncs_track_cells(scripted_rank(job, 0), &track, &axis,
					 NULL, cells),
			 0);
	assert_int_equal(cells[0].activity, NCS_ACTIVITY_OPERATION);
	assert_int_equal(cells[1].activity,
			 NCS_ACTIVITY_CHANNEL + NCS_CHANNEL_SEND_GPU_WAIT);
	assert_true(cells[1].several);
	assert_false(cells[0].several);
	assert_int_equal(cells[2].activity, NCS_ACTIVITY_OPERATION);
}
