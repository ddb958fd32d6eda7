/* SPDX-License-Identifier: MIT */
/* Communicators: which ranks belong to one, how far they are, and which are
 * behind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/communicators.h"
#include "test/unit/support/scripted_source.h"
#include "test/unit/support/unit.h"

#define SECOND UINT64_C(1000000000)
#define NOW (100 * SECOND)

static void set_id(struct scripted_rank *rank, uint64_t id)
{
	rank->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
	rank->snapshot.identity.comm_id = id;
}

static void set_name(struct scripted_rank *rank, const char *name)
{
	struct ncs_identity *identity = &rank->snapshot.identity;

	identity->known |= NCS_KNOWN_COMM_NAME;
	snprintf(identity->comm_name, sizeof(identity->comm_name), "%s", name);
}

/* Adds a rank of communicator 7. */
static struct scripted_rank *add(struct scripted *scripted, int number)
{
	struct scripted_rank *rank = scripted_add(scripted, number);

	set_id(rank, 7);
	rank->snapshot.last_call_ns = NOW;
	return rank;
}

static void at(struct scripted_rank *rank, unsigned function, uint64_t sequence)
{
	rank->snapshot.functions[function].operations = sequence + 1;
	rank->snapshot.functions[function].last_sequence_number = sequence;
}

/* Updates the model and returns its only communicator. */
static const struct ncs_communicator *refresh(struct scripted *scripted)
{
	scripted_pass(scripted, NOW);
	assert_int_equal(scripted->model.communicator_count, 1);
	return &scripted->model.communicators[0];
}

/* --- Ranks of one communicator -------------------------------------------- */

UNIT_FIXTURE(scripted_setup, scripted_teardown)

TEST(no_ranks_give_no_communicator)
{
	struct scripted *scripted = *state;

	scripted_pass(scripted, NOW);
	assert_int_equal(scripted->model.communicator_count, 0);
	assert_null(ncs_communicator_of_key(&scripted->model, "id 7"));
}

/* Hosts are not in the order of their ranks; one rank's number is not known. */
TEST(ranks_are_found_by_their_number)
{
	static const int numbers[] = { 4, 0, 3, 1, 6 };
	struct scripted *scripted = *state;
	const struct ncs_communicator *communicator;
	const struct ncs_rank *first = NULL;

	for (size_t i = 0; i < 5; i++)
		snprintf(add(scripted, numbers[i])->header.host,
			 sizeof(scripted->ranks[i].header.host), "host %zu", i);
	add(scripted, 2)->snapshot.identity.known &= ~(uint64_t)NCS_KNOWN_RANK;
	communicator = refresh(scripted);
	assert_int_equal(communicator->numbered_count, 5);
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i]->now.identity.rank == 4)
			first = communicator->ranks[i];
	assert_non_null(first);
	for (int number = -1; number < 8; number++) {
		const struct ncs_rank *peer = ncs_peer_rank(first, number);

		if (number == 0 || number == 1 || number == 3 || number == 6)
			assert_int_equal(peer->now.identity.rank, number);
		else
			assert_null(peer);
	}
}

TEST(same_name_with_two_ids_gives_two_communicators)
{
	struct scripted *scripted = *state;
	const struct ncs_model *model = &scripted->model;

	for (int i = 0; i < 6; i++) {
		struct scripted_rank *rank = scripted_add(scripted, i / 2);

		set_id(rank, i % 2 ? 9 : 5);
		set_name(rank, "world");
	}
	scripted_pass(scripted, NOW);
	assert_int_equal(model->communicator_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct ncs_communicator *one = &model->communicators[i];

		assert_int_equal(one->rank_count, 3);
		assert_int_equal(one->identity->comm_id, i ? 9 : 5);
		assert_ptr_equal(ncs_communicator_of_key(model, one->key), one);
		for (int k = 0; k < 3; k++) {
			assert_int_equal(one->ranks[k]->now.identity.rank, k);
			assert_ptr_equal(one->ranks[k]->communicator, one);
		}
	}
}

TEST(ranks_without_id_are_joined_by_name)
{
	struct scripted *scripted = *state;

	set_name(scripted_add(scripted, 0), "a");
	set_name(scripted_add(scripted, 1), "b");
	set_name(scripted_add(scripted, 2), "a");
	scripted_pass(scripted, NOW);
	assert_int_equal(scripted->model.communicator_count, 2);
	assert_ptr_equal(scripted_rank(scripted, 0)->communicator,
			 scripted_rank(scripted, 2)->communicator);
}

TEST(rank_without_id_and_name_is_alone)
{
	struct scripted *scripted = *state;
	const struct ncs_model *model = &scripted->model;

	scripted_add(scripted, 0);
	scripted_add(scripted, 1);
	add(scripted, 2);
	scripted_pass(scripted, NOW);
	assert_int_equal(model->communicator_count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_ptr_equal(ncs_communicator_of_key(
					 model, model->communicators[i].key),
				 &model->communicators[i]);
}

/* A rank may learn its name later than its id. */
TEST(identity_is_that_of_the_rank_that_knows_most)
{
	struct scripted *scripted = *state;

	add(scripted, 0);
	set_name(add(scripted, 1), "world");
	assert_string_equal(refresh(scripted)->identity->comm_name, "world");
}

/* --- Ranks behind --------------------------------------------------------- */

TEST(level_ranks_have_no_rank_behind)
{
	struct scripted *scripted = *state;
	const struct ncs_communicator *found;

	for (int i = 0; i < 4; i++)
		at(add(scripted, i), NCS_FUNCTION_ALL_REDUCE, 88);
	found = refresh(scripted);
	assert_int_equal(found->function, NCS_FUNCTION_ALL_REDUCE);
	assert_int_equal(found->progress.known, 4);
	assert_int_equal(found->progress.most, 88);
	assert_int_equal(ncs_progress_behind(&found->progress), 0);
}

TEST(slowest_rank_is_found_with_its_distance)
{
	struct scripted *scripted = *state;
	const struct ncs_communicator *found;

	for (int i = 0; i < 5; i++)
		at(add(scripted, i), NCS_FUNCTION_ALL_REDUCE,
		   i == 2 || i == 4 ? 85 : 86 + (uint64_t)i);
	found = refresh(scripted);
	assert_int_equal(found->progress.most, 89);
	assert_int_equal(ncs_progress_behind(&found->progress), 4);
	assert_int_equal(found->progress.slowest->now.identity.rank, 2);
	assert_int_equal(found->progress.slowest_count, 2);
	assert_int_equal(found->progress.fastest->now.identity.rank, 3);
	assert_int_equal(found->progress.fastest_count, 1);
}

TEST(function_with_largest_distance_is_chosen)
{
	struct scripted *scripted = *state;
	struct scripted_rank *fast = add(scripted, 0);
	struct scripted_rank *slow = add(scripted, 1);

	at(fast, NCS_FUNCTION_ALL_REDUCE, 900);
	at(slow, NCS_FUNCTION_ALL_REDUCE, 899);
	at(fast, NCS_FUNCTION_ALL_GATHER, 9);
	at(slow, NCS_FUNCTION_ALL_GATHER, 5);
	assert_int_equal(refresh(scripted)->function, NCS_FUNCTION_ALL_GATHER);
}

TEST(level_ranks_choose_the_function_they_are_in)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0);

	at(rank, NCS_FUNCTION_ALL_REDUCE, 900);
	at(rank, NCS_FUNCTION_BROADCAST, 3);
	assert_int_equal(refresh(scripted)->function, NCS_FUNCTION_ALL_REDUCE);
	rank->snapshot.operation_count = 1;
	rank->operations[0].function = NCS_FUNCTION_BROADCAST;
	assert_int_equal(refresh(scripted)->function, NCS_FUNCTION_BROADCAST);
}

TEST(rank_without_number_is_neither_behind_nor_level)
{
	struct scripted *scripted = *state;
	const struct ncs_communicator *found;

	add(scripted, 0);
	add(scripted, 1);
	found = refresh(scripted);
	assert_int_equal(found->function, NCS_FUNCTION_COUNT);
	assert_int_equal(found->progress.known, 0);
	/* The first call of a job has number 0. */
	at(&scripted->ranks[1], NCS_FUNCTION_REDUCE, 0);
	found = refresh(scripted);
	assert_int_equal(found->function, NCS_FUNCTION_REDUCE);
	assert_int_equal(found->progress.known, 1);
	assert_int_equal(ncs_progress_behind(&found->progress), 0);
}

TEST(dead_ranks_count_as_behind_only_if_all_are_dead)
{
	struct scripted *scripted = *state;
	const struct ncs_communicator *found;

	for (int i = 0; i < 3; i++)
		at(add(scripted, i), NCS_FUNCTION_ALL_REDUCE, i == 1 ? 4 : 9);
	scripted->ranks[1].snapshot.liveness = NCS_DEAD;
	found = refresh(scripted);
	assert_int_equal(found->live, 2);
	assert_int_equal(found->dead, 1);
	assert_int_equal(ncs_progress_behind(&found->progress), 0);
	scripted->ranks[0].snapshot.liveness = NCS_DEAD;
	scripted->ranks[2].snapshot.liveness = NCS_DEAD;
	found = refresh(scripted);
	assert_int_equal(found->live, 0);
	assert_int_equal(ncs_progress_behind(&found->progress), 5);
	assert_int_equal(found->progress.slowest->now.identity.rank, 1);
}

TEST(rank_that_does_not_move_is_held_up)
{
	struct scripted *scripted = *state;
	struct scripted_rank *slow = add(scripted, 1);
	const struct ncs_communicator *found;

	at(add(scripted, 0), NCS_FUNCTION_ALL_REDUCE, 9);
	at(slow, NCS_FUNCTION_ALL_REDUCE, 4);
	found = refresh(scripted); /* one snapshot: it may be moving */
	assert_false(
		ncs_progress_is_held_up(&found->progress, found->function));
	found = refresh(scripted);
	assert_true(ncs_progress_is_held_up(&found->progress, found->function));
	assert_true(ncs_rank_is_held_up(scripted_rank(scripted, 1)));
	assert_false(ncs_rank_is_held_up(scripted_rank(scripted, 0)));
	at(slow, NCS_FUNCTION_ALL_REDUCE, 5);
	found = refresh(scripted);
	assert_false(
		ncs_progress_is_held_up(&found->progress, found->function));
	assert_false(ncs_rank_is_held_up(scripted_rank(scripted, 1)));
}

/* --- Sums ----------------------------------------------------------------- */

TEST(ranks_are_counted_and_summed)
{
	struct scripted *scripted = *state;
	struct ncs_channel_view *channels[4];
	const struct ncs_communicator *found;

	for (int i = 0; i < 4; i++) {
		struct scripted_rank *rank = add(scripted, i);

		at(rank, NCS_FUNCTION_ALL_REDUCE, 1);
		rank->snapshot.losses[NCS_LOSS_STALE] = 2;
		channels[i] = scripted_channel(rank, 0, true, 0);
		channels[i]->bytes = 100;
		channels[i]->state = NCS_CHANNEL_SEND_WAIT;
		channels[i]->since_ns = NOW - (uint64_t)(i + 1) * SECOND;
	}
	scripted->ranks[1].snapshot.liveness = NCS_SILENT;
	scripted->ranks[2].snapshot.liveness = NCS_FINISHED;
	scripted->ranks[3].snapshot.liveness = NCS_DEAD;
	scripted_pass(scripted, NOW - 2 * SECOND);
	found = &scripted->model.communicators[0];
	assert_true(found->operations_rate < 0);
	assert_true(found->send_rate < 0);
	for (int i = 0; i < 2; i++) {
		at(&scripted->ranks[i], NCS_FUNCTION_ALL_REDUCE, 5);
		channels[i]->bytes = 500;
	}
	found = refresh(scripted);
	assert_int_equal(found->rank_count, 4);
	assert_int_equal(found->live, 2);
	assert_int_equal(found->silent, 1);
	assert_int_equal(found->finished, 1);
	assert_int_equal(found->dead, 1);
	assert_int_equal(found->lost, 8);
	assert_true(found->operations_rate == 4);
	assert_true(found->most_operations_rate == 2);
	assert_true(found->send_rate == 400);
	assert_true(found->recv_rate == 0);
	/* A dead rank does not wait any more. */
	assert_int_equal(found->oldest.rank->now.identity.rank, 1);
	assert_true(found->oldest.duration_ns == 2 * SECOND);
}

TEST(order_of_five_hundred_ranks_does_not_matter)
{
	enum { RANKS = 512, COMMUNICATORS = 16 };
	struct ncs_rank *ranks = calloc(RANKS, sizeof(*ranks));
	struct ncs_rank **order = calloc(RANKS, sizeof(struct ncs_rank *));
	struct ncs_model model = { .ranks = order, .rank_count = RANKS };
	char id[] = "rank";

	assert_non_null(ranks);
	assert_non_null(order);
	for (int i = 0; i < RANKS; i++) {
		struct ncs_snapshot *now = &ranks[i].now;

		ranks[i].id = id;
		now->identity.known = NCS_KNOWN_COMM_ID | NCS_KNOWN_RANK;
		now->identity.comm_id = 1 + (uint64_t)i % COMMUNICATORS;
		now->identity.rank = i / COMMUNICATORS;
		for (size_t k = 0; k < NCS_FUNCTION_COUNT; k++)
			now->functions[k].last_sequence_number =
				NCS_NO_SEQUENCE_NUMBER;
		now->functions[0].last_sequence_number = i == 300 ? 1 : 2;
		ranks[i].functions = 1;
		order[i * 77 % RANKS] = &ranks[i];
	}
	assert_int_equal(ncs_communicators_find(&model), 0);
	assert_int_equal(model.communicator_count, COMMUNICATORS);
	for (size_t i = 0; i < COMMUNICATORS; i++) {
		const struct ncs_communicator *one = &model.communicators[i];

		assert_int_equal(one->identity->comm_id, i + 1);
		assert_int_equal(one->rank_count, RANKS / COMMUNICATORS);
		assert_int_equal(ncs_progress_behind(&one->progress),
				 i == 300 % COMMUNICATORS);
		for (int k = 0; k < RANKS / COMMUNICATORS; k++)
			assert_int_equal(one->ranks[k]->now.identity.rank, k);
	}
	ncs_communicators_release(&model);
	free(order);
	free(ranks);
}

/* Ranks of two jobs, whose processes began so many seconds after the start. */
static void add_job(struct scripted *scripted, unsigned count, int ranks,
		    uint64_t since)
{
	for (unsigned i = 0; i < count; i++) {
		struct scripted_rank *rank = add(scripted, (int)i);

		snprintf(rank->id, sizeof(rank->id), "%d.%u", (int)since, i);
		rank->header.pid += (uint32_t)(10 * since);
		rank->header.created = since * SECOND + i;
		rank->snapshot.identity.nranks = ranks;
	}
}

TEST(jobs_with_the_same_id_are_told_apart)
{
	struct scripted *scripted = *state;
	const struct ncs_model *model = &scripted->model;
	char key[sizeof(model->communicators[0].key)];

	add_job(scripted, 2, 4, 1);
	add_job(scripted, 4, 4, 3);
	/* Ranks 0 and 3 are left of the first job. */
	scripted->ranks[1].snapshot.identity.rank = 3;
	scripted_pass(scripted, NOW);
	assert_int_equal(model->communicator_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct ncs_communicator *one = &model->communicators[i];
		uint64_t since = one->ranks[0]->created / SECOND;

		assert_int_equal(one->rank_count, since == 1 ? 2 : 4);
		for (size_t k = 0; k < one->rank_count; k++) {
			assert_int_equal(one->ranks[k]->created / SECOND,
					 since);
			assert_ptr_equal(one->ranks[k]->communicator, one);
		}
	}
	assert_string_not_equal(model->communicators[0].key,
				model->communicators[1].key);
	strcpy(key, model->communicators[1].key);
	scripted_pass(scripted, NOW);
	assert_string_equal(model->communicators[1].key, key);
}

/* Their processes began in turns: no pause tells them apart. */
TEST(keys_of_mixed_jobs_with_the_same_id_differ)
{
	static const uint64_t began_s[] = { 5, 1, 3, 2 };
	struct scripted *scripted = *state;
	const struct ncs_model *model = &scripted->model;

	add_job(scripted, 2, 2, 1);
	add_job(scripted, 2, 2, 2);
	for (size_t i = 0; i < 4; i++)
		scripted->ranks[i].header.created = began_s[i] * SECOND;
	scripted_pass(scripted, NOW);
	assert_int_equal(model->communicator_count, 3);
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(model->communicators[i].key,
						model->communicators[k].key);
}

TEST(jobs_of_different_sizes_are_told_apart)
{
	struct scripted *scripted = *state;

	add_job(scripted, 1, 4, 1);
	add_job(scripted, 2, 2, 3);
	scripted->ranks[0].snapshot.identity.rank = 3;
	scripted_pass(scripted, NOW);
	assert_int_equal(scripted->model.communicator_count, 2);
}
