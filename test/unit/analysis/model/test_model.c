/* SPDX-License-Identifier: MIT */
/* The model: its set of ranks, and what it keeps of the latest two updates. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/model/waits.h"
#include "test/unit/support/scripted_source.h"

#define SECOND UINT64_C(1000000000)

static void set_comm(struct scripted_rank *rank, const char *name, uint64_t id)
{
	struct ncs_identity *identity = &rank->snapshot.identity;

	identity->known |= NCS_KNOWN_COMM_ID;
	identity->comm_id = id;
	if (name[0])
		identity->known |= NCS_KNOWN_COMM_NAME;
	snprintf(identity->comm_name, sizeof(identity->comm_name), "%s", name);
}

/* --- The set of ranks ----------------------------------------------------- */

static void ranks_are_sorted_by_host_communicator_rank(void **state)
{
	struct scripted *scripted = *state;
	static const int order[] = { 5, 2, 3, 0, 1, 4 };

	set_comm(scripted_add(scripted, 0), "", 1);
	set_comm(scripted_add(scripted, 1), "", 2);
	set_comm(scripted_add(scripted, 3), "beta", 9);
	set_comm(scripted_add(scripted, 2), "beta", 9);
	set_comm(scripted_add(scripted, 5), "alpha", 9);
	set_comm(scripted_add(scripted, 4), "alpha", 1);
	strcpy(scripted->ranks[5].header.host, "zulu");
	scripted_pass(scripted, SECOND);
	assert_int_equal(scripted->model.rank_count, 6);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(scripted->model.ranks[i]->now.identity.rank,
				 order[i]);
		assert_int_equal(scripted->model.ranks[i]->place, i);
	}
}

static void ranks_keep_their_address_while_others_come_and_go(void **state)
{
	struct scripted *scripted = *state;
	const struct ncs_rank *kept;

	scripted_add(scripted, 3);
	scripted_add(scripted, 4);
	scripted_pass(scripted, SECOND);
	kept = scripted_rank(scripted, 4);
	scripted->ranks[0].is_there = false;
	scripted_add(scripted, 1);
	scripted_pass(scripted, 2 * SECOND);
	assert_int_equal(scripted->model.rank_count, 2);
	assert_ptr_equal(scripted_rank(scripted, 4), kept);
	assert_ptr_equal(scripted->model.ranks[1], kept);
	assert_int_equal(kept->place, 1);
}

static void generation_changes_exactly_when_ranks_do(void **state)
{
	struct scripted *scripted = *state;
	uint64_t generation;

	scripted_add(scripted, 0);
	scripted_add(scripted, 1);
	scripted_pass(scripted, SECOND);
	generation = scripted->model.generation;
	scripted_pass(scripted, 2 * SECOND);
	assert_true(scripted->model.generation == generation);
	scripted->ranks[0].is_there = false;
	scripted_pass(scripted, 3 * SECOND);
	assert_true(scripted->model.generation != generation);
	generation = scripted->model.generation;
	scripted->ranks[0].is_there = true;
	scripted_pass(scripted, 4 * SECOND);
	assert_true(scripted->model.generation != generation);
}

static void rank_that_becomes_known_late_moves_to_its_place(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *late = scripted_add(scripted, 0);
	uint64_t generation;

	late->snapshot.identity.known = 0;
	scripted_add(scripted, 3);
	scripted_pass(scripted, SECOND);
	generation = scripted->model.generation;
	assert_string_equal(scripted->model.ranks[0]->id, late->id);
	late->snapshot.identity.known = NCS_KNOWN_RANK;
	late->snapshot.identity.rank = 7;
	scripted_pass(scripted, 2 * SECOND);
	assert_string_equal(scripted->model.ranks[1]->id, late->id);
	assert_true(scripted->model.generation != generation);
}

static void finished_ranks_are_dropped_with_their_process(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	scripted_pass(scripted, SECOND);
	rank->snapshot.liveness = NCS_FINISHED;
	scripted_pass(scripted, 2 * SECOND);
	assert_int_equal(scripted->model.rank_count, 1);
	rank->snapshot.process_gone = true;
	scripted_pass(scripted, 3 * SECOND);
	assert_int_equal(scripted->model.rank_count, 0);
}

static bool complete(struct ncs_source *source, struct ncs_sample *sample)
{
	struct scripted *scripted = (struct scripted *)source;

	sample->snapshot = &scripted->ranks[scripted->place - 1].snapshot;
	return true;
}

static bool (*next_of_script)(struct ncs_source *source,
			      struct ncs_sample *sample);

static bool next_without_old(struct ncs_source *source,
			     struct ncs_sample *sample)
{
	bool found = next_of_script(source, sample);

	if (found && sample->is_old)
		sample->snapshot = NULL;
	return found;
}

static void a_model_asks_for_what_it_does_not_know(void **state)
{
	struct scripted *scripted = *state;

	next_of_script = scripted->source.next;
	scripted->source.next = next_without_old;
	scripted->source.complete = complete;
	scripted_add(scripted, 0);
	scripted_pass(scripted, SECOND);
	scripted->ranks[0].is_past = true;
	scripted_pass(scripted, 2 * SECOND);
	assert_int_equal(scripted->model.rank_count, 1);
	ncs_model_forget(&scripted->model);
	scripted_pass(scripted, 3 * SECOND);
	assert_int_equal(scripted->model.rank_count, 1);
	assert_true(scripted_rank(scripted, 0)->now.taken_ns == SECOND);
}

static void dead_ranks_stay(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	rank->snapshot.liveness = NCS_DEAD;
	rank->snapshot.process_gone = true;
	scripted_pass(scripted, SECOND);
	scripted_pass(scripted, 2 * SECOND);
	assert_int_equal(scripted->model.rank_count, 1);
}

static void unreadable_segment_is_listed_with_its_reason(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	char why[] = "it is too short";

	rank->attach = NCS_ATTACH_CORRUPT;
	rank->why = why;
	scripted_pass(scripted, SECOND);
	why[0] = 'X'; /* the model has its own copy */
	assert_int_equal(scripted->model.rank_count, 0);
	assert_int_equal(scripted->model.unreadable_count, 1);
	assert_string_equal(scripted->model.unreadable[0].id, rank->id);
	assert_string_equal(scripted->model.unreadable[0].why,
			    "it is too short");
	assert_int_equal(scripted->model.unreadable[0].attach,
			 NCS_ATTACH_CORRUPT);
	rank->attach = NCS_ATTACHED;
	scripted_pass(scripted, 2 * SECOND);
	assert_int_equal(scripted->model.unreadable_count, 0);
	assert_int_equal(scripted->model.rank_count, 1);
}

static void failed_update_keeps_ranks_and_says_why(void **state)
{
	struct scripted *scripted = *state;

	scripted_add(scripted, 0);
	scripted_pass(scripted, SECOND);
	scripted->begin_error = -EACCES;
	assert_int_equal(ncs_model_update(&scripted->model, &scripted->source,
					  2 * SECOND),
			 -EACCES);
	assert_string_equal(scripted->model.error, "no luck");
	assert_int_equal(scripted->model.rank_count, 1);
	scripted->begin_error = 0;
	scripted_pass(scripted, 3 * SECOND);
	assert_string_equal(scripted->model.error, "");
}

/* --- Now and before ------------------------------------------------------- */

static void counters_before_are_those_of_the_update_before(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_channel_view *channel = scripted_channel(rank, 2, true, 1);
	const struct ncs_counters *before;

	channel->bytes = 10;
	rank->snapshot.events[NCS_EVENT_COLL] = 1;
	scripted_pass(scripted, SECOND);
	assert_null(ncs_rank_before(scripted_rank(scripted, 0)));
	channel->bytes = 30;
	rank->snapshot.events[NCS_EVENT_COLL] = 4;
	scripted_pass(scripted, 2 * SECOND);
	channel->bytes = 99; /* not passed on yet */

	before = ncs_rank_before(scripted_rank(scripted, 0));
	assert_non_null(before);
	assert_int_equal(before->taken_ns, SECOND);
	assert_int_equal(before->channels[0].bytes, 10);
	assert_int_equal(scripted_rank(scripted, 0)->now.channels[0].bytes, 30);
	assert_int_equal(scripted_rank(scripted, 0)->now.events[NCS_EVENT_COLL],
			 4);
}

static void tables_may_grow_and_shrink_between_updates(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	static const size_t counts[] = { 0, SCRIPTED_CHANNELS, 1, 0, 3 };

	for (unsigned i = 0; i < SCRIPTED_CHANNELS; i++)
		scripted_channel(rank, i, false, 1);
	for (size_t i = 0; i < 5; i++) {
		rank->snapshot.channel_count = counts[i];
		rank->snapshot.operation_count = counts[i] / 2;
		scripted_pass(scripted, (i + 1) * SECOND);
		assert_int_equal(scripted_rank(scripted, 0)->now.channel_count,
				 counts[i]);
		for (size_t k = 0; k < counts[i]; k++)
			assert_int_equal(scripted_rank(scripted, 0)
						 ->now.channels[k]
						 .channel,
					 k);
	}
}

static void histograms_are_copied_one_by_one(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	uint64_t *histogram =
		scripted_histogram(rank, NCS_FUNCTION_REDUCE, NCS_TIMING_PROXY);
	const struct ncs_function_view *function;

	histogram[7] = 1;
	scripted_pass(scripted, SECOND);
	histogram[7] = 2;
	scripted_pass(scripted, 2 * SECOND);
	function =
		&scripted_rank(scripted, 0)->now.functions[NCS_FUNCTION_REDUCE];
	assert_int_equal(function->histogram[NCS_TIMING_PROXY][7], 2);
	assert_null(function->histogram[NCS_TIMING_KERNEL]);
}

static void classes_are_copied_with_their_buckets(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	const struct ncs_rank *seen;

	scripted_class_times(rank,
			     scripted_class(rank, NCS_FUNCTION_SEND, 8, 0, 0),
			     NCS_TIMING_PROXY, 5, 100, 40);
	scripted_pass(scripted, SECOND);
	scripted_class_times(
		rank, scripted_class(rank, NCS_FUNCTION_SEND, 9000, 0, 0),
		NCS_TIMING_PROXY, 6, 200, 54000);
	rank->class_buckets[0] = 7;
	scripted_pass(scripted, 2 * SECOND);
	seen = scripted_rank(scripted, 0);
	assert_int_equal(seen->now.class_count, 2);
	assert_ptr_not_equal(seen->now.classes, rank->classes);
	assert_int_equal(seen->now.class_buckets[0], 7);
	assert_int_equal(
		seen->now.class_buckets
			[seen->now.classes[1].times[NCS_TIMING_PROXY].place],
		6);
	scripted_pass(scripted, 3 * SECOND);
	assert_int_equal(ncs_rank_before(seen)->class_count, 2);
	assert_int_equal(ncs_counters_class(ncs_rank_before(seen),
					    &seen->now.classes[1]),
			 seen->now.classes[1].operations);
}

static void another_process_at_the_same_path_has_no_past(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	uint64_t generation;

	scripted_pass(scripted, SECOND);
	scripted_pass(scripted, 2 * SECOND);
	assert_non_null(ncs_rank_before(scripted_rank(scripted, 0)));
	generation = scripted->model.generation;
	rank->header.process_start++;
	scripted_pass(scripted, 3 * SECOND);
	assert_null(ncs_rank_before(scripted_rank(scripted, 0)));
	assert_true(scripted->model.generation != generation);
	scripted_pass(scripted, 4 * SECOND);
	assert_non_null(ncs_rank_before(scripted_rank(scripted, 0)));
}

/* --- Facts of a rank ------------------------------------------------------ */

static void clock_of_a_rank_ends_with_it(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	rank->snapshot.last_call_ns = 5;
	rank->snapshot.finished_ns = 7;
	rank->snapshot.liveness = NCS_SILENT;
	scripted_pass(scripted, SECOND);
	assert_int_equal(ncs_rank_end_ns(scripted_rank(scripted, 0)), SECOND);
	/* It was last seen alive at the update before. */
	rank->snapshot.liveness = NCS_DEAD;
	scripted_pass(scripted, 2 * SECOND);
	assert_int_equal(ncs_rank_end_ns(scripted_rank(scripted, 0)), SECOND);
	scripted_pass(scripted, 3 * SECOND);
	assert_int_equal(ncs_rank_end_ns(scripted_rank(scripted, 0)), SECOND);
	/* A process that was never seen alive ended no earlier than its last
	 * call. */
	rank->header.process_start++;
	scripted_pass(scripted, 4 * SECOND);
	assert_int_equal(ncs_rank_end_ns(scripted_rank(scripted, 0)), 5);
	/* Its watch thread was awake after that. */
	rank->header.process_start++;
	rank->snapshot.alive_ns = 6;
	scripted_pass(scripted, 5 * SECOND);
	assert_int_equal(ncs_rank_end_ns(scripted_rank(scripted, 0)), 6);
	rank->snapshot.liveness = NCS_FINISHED;
	scripted_pass(scripted, 6 * SECOND);
	assert_int_equal(ncs_rank_end_ns(scripted_rank(scripted, 0)), 7);
}

static void times_of_a_dead_rank_stand_still(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_channel_view *channel = scripted_channel(rank, 0, true, 1);
	const struct ncs_rank *found;

	channel->state = NCS_CHANNEL_SEND_WAIT;
	channel->since_ns = SECOND;
	rank->snapshot.last_call_ns = SECOND;
	for (uint64_t i = 1; i <= 9; i++) {
		/* The segment of a dead process tells what it last did. */
		rank->snapshot.liveness = i > 6 ? NCS_DEAD : NCS_ALIVE;
		channel->time_ns[NCS_CHANNEL_SEND_WAIT] =
			i > 6 ? 0 : (i - 1) * SECOND;
		scripted_pass(scripted, i * SECOND);
	}
	found = scripted_rank(scripted, 0);
	assert_int_equal(found->now.channels[0].time_ns[NCS_CHANNEL_SEND_WAIT],
			 5 * SECOND);
	assert_int_equal(ncs_wait_ns(found, &found->now.channels[0]),
			 5 * SECOND);
	assert_int_equal(found->now.taken_ns, 7 * SECOND);
}

static void overwritten_records_do_not_count_as_lost(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	rank->snapshot.losses[NCS_LOSS_OVERWRITTEN] = 1000;
	rank->snapshot.losses[NCS_LOSS_STALE] = 2;
	rank->snapshot.losses[NCS_LOSS_MISSING_STOP] = 3;
	scripted_pass(scripted, SECOND);
	assert_int_equal(ncs_rank_lost(scripted_rank(scripted, 0)), 5);
}

static void losses_that_are_over_leave_the_window(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	const struct ncs_rank *found;

	scripted->model.window = NCS_WINDOW_10_S;
	scripted_pass(scripted, SECOND);
	rank->snapshot.losses[NCS_LOSS_BAD_PTIMER] = 6;
	for (uint64_t i = 2; i <= 11; i++)
		scripted_pass(scripted, i * SECOND);
	found = scripted_rank(scripted, 0);
	assert_int_equal(ncs_rank_lost_in_window(found), 6);
	/* The window is up to a quarter longer. */
	for (uint64_t i = 12; i <= 15; i++)
		scripted_pass(scripted, i * SECOND);
	found = scripted_rank(scripted, 0);
	assert_int_equal(ncs_rank_lost_in_window(found), 0);
	assert_int_equal(ncs_rank_lost(found), 6);
	/* Losses from before the first look never count as recent. */
	scripted_add(scripted, 1)->snapshot.losses[NCS_LOSS_BAD_PTIMER] = 6;
	scripted_pass(scripted, 16 * SECOND);
	scripted_pass(scripted, 17 * SECOND);
	assert_int_equal(ncs_rank_lost_in_window(scripted_rank(scripted, 1)),
			 0);
}

static void bytes_are_unknown_without_a_size(void **state)
{
	struct ncs_channel_view channel = { 0 };
	struct ncs_function_view function = { 0 };

	(void)state;
	assert_true(ncs_channel_bytes_known(&channel));
	channel.size_unknown = 3;
	assert_false(ncs_channel_bytes_known(&channel));
	channel.bytes = 1;
	assert_true(ncs_channel_bytes_known(&channel));

	assert_false(ncs_function_bytes_known(&function));
	function.operations = 1;
	assert_true(ncs_function_bytes_known(&function));
	function.size_unknown = 1;
	assert_false(ncs_function_bytes_known(&function));
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, scripted_setup, scripted_teardown)
	const struct CMUnitTest tests[] = {
		TEST(ranks_are_sorted_by_host_communicator_rank),
		TEST(ranks_keep_their_address_while_others_come_and_go),
		TEST(generation_changes_exactly_when_ranks_do),
		TEST(rank_that_becomes_known_late_moves_to_its_place),
		TEST(finished_ranks_are_dropped_with_their_process),
		TEST(a_model_asks_for_what_it_does_not_know),
		TEST(dead_ranks_stay),
		TEST(unreadable_segment_is_listed_with_its_reason),
		TEST(failed_update_keeps_ranks_and_says_why),
		TEST(counters_before_are_those_of_the_update_before),
		TEST(tables_may_grow_and_shrink_between_updates),
		TEST(histograms_are_copied_one_by_one),
		TEST(classes_are_copied_with_their_buckets),
		TEST(another_process_at_the_same_path_has_no_past),
		TEST(clock_of_a_rank_ends_with_it),
		TEST(times_of_a_dead_rank_stand_still),
		TEST(overwritten_records_do_not_count_as_lost),
		TEST(losses_that_are_over_leave_the_window),
		TEST(bytes_are_unknown_without_a_size),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
