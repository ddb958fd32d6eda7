/* SPDX-License-Identifier: MIT */
/* Lateness of generated operations: how much, of which rank, how often, and
 * where it began; and operations that must not be compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"
#include "test/unit/support/scripted_source.h"
#include "test/unit/support/unit.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

#define RANKS 4
#define PERIOD_NS (10 * MS)
#define START_NS (100 * SECOND)
/* Time from a launch to its begin on an idle stream. */
#define LAUNCH_NS (3 * US)

struct late_job {
	struct scripted scripted;
	struct scripted_rank *ranks[RANKS];
	uint64_t now_ns;
	uint64_t delay_ns; /* of all operations */
};

static int setup(void **state)
{
	static struct late_job fixture;

	memset(&fixture, 0, sizeof(fixture));
	scripted_init(&fixture.scripted);
	for (int i = 0; i < RANKS; i++) {
		fixture.ranks[i] = scripted_add(&fixture.scripted, i);
		fixture.ranks[i]->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
		fixture.ranks[i]->snapshot.identity.comm_id = 7;
	}
	fixture.now_ns = START_NS;
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct late_job *fixture = *state;

	scripted_release(&fixture->scripted);
	return 0;
}

static struct ncs_record *put(struct scripted_rank *rank, unsigned event,
			      uint64_t start_ns)
{
	struct ncs_record *record = &rank->records[rank->record_count++];

	assert_true(rank->record_count <= SCRIPTED_RECORDS);
	*record = (struct ncs_record){
		.start = start_ns,
		.event = (uint8_t)event,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.peer = -1,
	};
	return record;
}

/* Returns when the n-th operation begins if no rank is late. */
static uint64_t due_ns(const struct late_job *fixture, uint64_t number)
{
	return START_NS + fixture->delay_ns + number * PERIOD_NS;
}

/* Adds the n-th operation of a rank. It is launched on an idle stream, begins
 * there `late_ns` late, and ends 5 ms after it was due. */
static struct ncs_record *operation(struct late_job *fixture, int rank,
				    uint64_t number, uint64_t late_ns)
{
	struct ncs_record *record = put(fixture->ranks[rank], NCS_EVENT_COLL,
					due_ns(fixture, number) + late_ns);

	record->operation = (uint32_t)number + 1;
	record->number = number;
	record->start -= LAUNCH_NS;
	record->flags = NCS_RECORD_ON_STREAM;
	record->delta[0] = 1;
	record->delta[1] = LAUNCH_NS;
	record->duration = LAUNCH_NS + 5 * MS - late_ns;
	return record;
}

/* Updates the model with all records added since the update before. */
static void refresh(struct late_job *fixture)
{
	fixture->now_ns += 10 * SECOND;
	scripted_pass(&fixture->scripted, fixture->now_ns);
	for (int i = 0; i < RANKS; i++) {
		fixture->ranks[i]->record_count = 0;
		fixture->ranks[i]->records_lost = 0;
	}
}

static const struct ncs_lateness_view *view_of(const struct late_job *fixture,
					       int rank)
{
	return ncs_rank_lateness(scripted_rank(&fixture->scripted, rank));
}

static const struct ncs_communicator *
communicator_of(const struct late_job *fixture)
{
	return scripted_rank(&fixture->scripted, 0)->communicator;
}

static void assert_near(uint64_t got, uint64_t wanted)
{
	if (got > wanted + wanted / 50 || got < wanted - wanted / 50)
		fail_msg("%llu, not %llu", (unsigned long long)got,
			 (unsigned long long)wanted);
}

/* Adds 100 operations: rank 3 is late by 1 to 100 us, rank k by k ns. */
static void put_hundred(struct late_job *fixture)
{
	for (uint64_t i = 0; i < 100; i++) {
		for (int k = 0; k < 3; k++)
			operation(fixture, k, i, (uint64_t)k);
		operation(fixture, 3, i, (i + 1) * US);
	}
}

UNIT_FIXTURE(setup, teardown)

TEST(known_lateness_gives_exact_figures)
{
	struct late_job *fixture = *state;
	const struct ncs_lateness_view *view;
	const struct ncs_skew *skew;

	put_hundred(fixture);
	refresh(fixture);
	view = view_of(fixture, 3);
	assert_non_null(view);
	assert_int_equal(view->recent.operations, 100);
	assert_int_equal(view->recent.last, 100);
	assert_int_equal(view->recent.median_ns, 50 * US);
	assert_int_equal(view->recent.p99_ns, 99 * US);
	assert_int_equal(view->recent.exclusive_ns, 50 * US - 2);
	assert_int_equal(view->all.operations, 100);
	assert_near(view->all.median_ns, 50 * US);
	assert_near(view->all.p99_ns, 99 * US);
	assert_near(view->all.exclusive_ns, 50 * US);
	assert_int_equal(view->count.seen, 100);
	assert_int_equal(view->by_moment[NCS_MOMENT_STREAM], 100);
	view = view_of(fixture, 2);
	assert_int_equal(view->recent.operations, 100);
	assert_int_equal(view->recent.last, 0);
	assert_int_equal(view->recent.median_ns, 2);
	assert_int_equal(view->recent.exclusive_ns, 0);
	assert_int_equal(ncs_lateness_cause(&view->recent),
			 NCS_LATE_CAUSE_COUNT);
	skew = ncs_communicator_skew(communicator_of(fixture));
	assert_int_equal(skew->operations, 100);
	assert_int_equal(skew->ranks, RANKS);
	assert_int_equal(skew->median_ns, 50 * US);
	assert_int_equal(skew->p99_ns, 99 * US);
	assert_int_equal(skew->moving_ns, 5 * MS - 51 * US);
}

/* Findings point to communicators and are not made again for another window. */
TEST(another_window_leaves_communicators_in_place)
{
	struct late_job *fixture = *state;
	const struct ncs_communicator *before;
	struct ncs_communicator copy;

	put_hundred(fixture);
	refresh(fixture);
	before = communicator_of(fixture);
	copy = *before;
	assert_non_null(copy.skew);
	ncs_model_set_window(&fixture->scripted.model, NCS_WINDOW_START);
	assert_int_equal(ncs_model_mark(&fixture->scripted.model), 0);
	ncs_model_set_window(&fixture->scripted.model, NCS_WINDOW_NOW);
	assert_ptr_equal(communicator_of(fixture), before);
	assert_ptr_equal(before->skew, copy.skew);
	assert_memory_equal(before, &copy, sizeof(copy));
}

static int compare_values(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* For any number of operations, with lateness in any order. */
TEST(percentiles_match_sorted_values)
{
	struct late_job *fixture = *state;
	uint64_t values[120], x = 1;

	for (size_t count = 1; count <= 120; count++) {
		const struct ncs_lateness *recent;

		teardown(state);
		setup(state);
		for (size_t i = 0; i < count; i++) {
			x = x * UINT64_C(6364136223846793005) + 1;
			/* Small values occur more than once. */
			values[i] = 1 + (x >> 33) % (1 + count / 2);
			for (int k = 0; k < RANKS; k++)
				operation(fixture, k, i, k ? 0 : values[i]);
		}
		refresh(fixture);
		qsort(values, count, sizeof(*values), compare_values);
		recent = &view_of(fixture, 0)->recent;
		assert_int_equal(recent->median_ns,
				 values[(count * 50 + 99) / 100 - 1]);
		assert_int_equal(recent->p99_ns,
				 values[(count * 99 + 99) / 100 - 1]);
		assert_int_equal(recent->exclusive_ns, recent->median_ns);
	}
}

TEST(common_delay_of_all_ranks_changes_nothing)
{
	struct late_job *fixture = *state;
	struct ncs_lateness_view before;
	struct ncs_skew skew;

	put_hundred(fixture);
	refresh(fixture);
	before = *view_of(fixture, 3);
	skew = *ncs_communicator_skew(communicator_of(fixture));
	teardown(state);
	setup(state);
	fixture->delay_ns = 123456789;
	put_hundred(fixture);
	refresh(fixture);
	before.latest_ns += fixture->delay_ns;
	assert_memory_equal(view_of(fixture, 3), &before, sizeof(before));
	assert_memory_equal(ncs_communicator_skew(communicator_of(fixture)),
			    &skew, sizeof(skew));
}

/* For lateness from 3 ns to 4 ms. */
TEST(figures_since_start_are_exact_within_a_bucket)
{
	struct late_job *fixture = *state;

	for (uint64_t late_ns = 3; late_ns < 4 * MS; late_ns *= 3) {
		teardown(state);
		setup(state);
		for (uint64_t i = 0; i < 40; i++)
			for (int k = 0; k < RANKS; k++)
				operation(fixture, k, i, k == 2 ? late_ns : 0);
		refresh(fixture);
		assert_int_equal(view_of(fixture, 2)->recent.median_ns,
				 late_ns);
		assert_near(view_of(fixture, 2)->all.median_ns, late_ns);
		assert_int_equal(view_of(fixture, 2)->all.last, 40);
		assert_int_equal(view_of(fixture, 0)->all.last, 0);
	}
}

TEST(two_latest_ranks_at_once_leave_no_rank_last)
{
	struct late_job *fixture = *state;

	for (uint64_t i = 0; i < 10; i++)
		for (int k = 0; k < RANKS; k++)
			operation(fixture, k, i, k >= 2 ? MS : 0);
	refresh(fixture);
	for (int k = 0; k < RANKS; k++)
		assert_int_equal(view_of(fixture, k)->recent.last, 0);
	assert_int_equal(view_of(fixture, 3)->recent.median_ns, MS);
}

TEST(recent_figures_forget_old_operations)
{
	struct late_job *fixture = *state;

	for (uint64_t i = 0; i < 4 * NCS_LATENESS_RECENT; i++) {
		bool old = i < 3 * NCS_LATENESS_RECENT;

		for (int k = 0; k < RANKS; k++)
			operation(fixture, k, i, k == (old ? 1 : 2) ? MS : 0);
		if (i % 256 == 255)
			refresh(fixture);
	}
	assert_int_equal(view_of(fixture, 1)->recent.last, 0);
	assert_int_equal(view_of(fixture, 1)->recent.operations,
			 NCS_LATENESS_RECENT);
	assert_int_equal(view_of(fixture, 1)->all.last,
			 3 * NCS_LATENESS_RECENT);
	assert_int_equal(view_of(fixture, 2)->recent.last, NCS_LATENESS_RECENT);
}

/* --- Which ranks wait ----------------------------------------------------- */

static void put_rooted(struct late_job *fixture, unsigned function,
		       uint64_t number, const uint64_t late_ns[RANKS])
{
	for (int k = 0; k < RANKS; k++) {
		struct ncs_record *record =
			operation(fixture, k, number, late_ns[k]);

		record->function = (uint8_t)function;
		record->peer = 1; /* the root */
	}
}

TEST(broadcast_waits_for_its_root_only)
{
	static const uint64_t late_root[RANKS] = { 10 * US, 90 * US, 0,
						   30 * US };
	static const uint64_t late_leaf[RANKS] = { 0, 20 * US, 5 * US,
						   70 * US };
	struct late_job *fixture = *state;
	const struct ncs_lateness_view *view;

	put_rooted(fixture, NCS_FUNCTION_BROADCAST, 0, late_root);
	put_rooted(fixture, NCS_FUNCTION_BROADCAST, 1, late_leaf);
	refresh(fixture);
	view = view_of(fixture, 1);
	assert_int_equal(view->recent.operations, 2);
	assert_int_equal(view->recent.last, 1);
	assert_int_equal(view->recent.exclusive_ns, 60 * US);
	assert_int_equal(view->recent.median_ns, 20 * US);
	assert_int_equal(view->recent.p99_ns, 90 * US);
	assert_int_equal(view->count.compared, 2);
	assert_null(view_of(fixture, 0));
	assert_null(view_of(fixture, 3));
}

TEST(root_of_reduce_waits_for_all_others)
{
	static const uint64_t late_leaf[RANKS] = { 0, 20 * US, 10 * US,
						   70 * US };
	static const uint64_t late_root[RANKS] = { 0, 90 * US, 10 * US,
						   70 * US };
	struct late_job *fixture = *state;

	put_rooted(fixture, NCS_FUNCTION_REDUCE, 0, late_leaf);
	refresh(fixture);
	assert_null(view_of(fixture, 1));
	assert_int_equal(view_of(fixture, 3)->recent.median_ns, 50 * US);
	assert_int_equal(view_of(fixture, 3)->recent.exclusive_ns, 50 * US);
	/* It arrived before the root. */
	assert_int_equal(view_of(fixture, 0)->recent.median_ns, 0);
	put_rooted(fixture, NCS_FUNCTION_REDUCE, 1, late_root);
	refresh(fixture);
	assert_null(view_of(fixture, 1));
	assert_int_equal(view_of(fixture, 3)->recent.operations, 2);
	assert_int_equal(view_of(fixture, 3)->recent.last, 1);
	/* If all wait for all, the root counts, too. */
	for (int k = 0; k < RANKS; k++)
		operation(fixture, k, 2, 0);
	refresh(fixture);
	assert_int_equal(view_of(fixture, 1)->recent.operations, 1);
	assert_int_equal(view_of(fixture, 1)->count.compared, 3);
}

TEST(operation_without_its_root_is_not_compared)
{
	static const uint64_t late_ns[RANKS] = { 0, 0, 0, MS };
	struct late_job *fixture = *state;

	fixture->ranks[1]->snapshot.identity.rank = 6;
	put_rooted(fixture, NCS_FUNCTION_REDUCE, 0, late_ns);
	put_rooted(fixture, NCS_FUNCTION_BROADCAST, 0, late_ns);
	refresh(fixture);
	assert_null(view_of(fixture, 0));
	assert_null(view_of(fixture, 3));
}

TEST(send_and_recv_without_number_are_left_out_and_counted)
{
	struct late_job *fixture = *state;
	struct ncs_transfer_count count;

	for (int k = 0; k < RANKS; k++) {
		struct ncs_record *record =
			operation(fixture, k, 0, (uint64_t)k * MS);

		record->event = NCS_EVENT_P2P;
		record->function = NCS_FUNCTION_SEND;
		record->number = NCS_NO_SEQUENCE_NUMBER;
	}
	refresh(fixture);
	assert_null(view_of(fixture, 0));
	assert_null(ncs_communicator_skew(communicator_of(fixture)));
	count = ncs_communicator_transfers(communicator_of(fixture));
	assert_int_equal(count.seen, RANKS);
	assert_int_equal(count.unnumbered, RANKS);
	assert_true(ncs_transfers_are_blind(&count));
}

/* --- Where lateness began ------------------------------------------------- */

/* Times of the stages of an operation, after it was due. */
struct stages {
	uint64_t call_ns;
	uint64_t operation_ns;
	uint64_t proxy_ns;
	uint64_t data_ns;
};

static void put_stages(struct late_job *fixture, int rank, uint64_t number,
		       const struct stages *stages)
{
	struct scripted_rank *of = fixture->ranks[rank];
	uint64_t due = due_ns(fixture, number);
	struct ncs_record *record;

	record = put(of, NCS_EVENT_COLL_API, due + stages->call_ns);
	record->duration = 10;
	record = operation(fixture, rank, number, stages->operation_ns);
	record->start += LAUNCH_NS;
	record->duration -= LAUNCH_NS;
	record->flags = 0;
	record->delta[1] = stages->proxy_ns - stages->operation_ns;
	for (unsigned send = 0; send < 2; send++) {
		record = put(of, NCS_EVENT_PROXY_OP, due + stages->proxy_ns);
		record->operation = (uint32_t)number + 1;
		record->flags = send ? NCS_RECORD_SEND : 0;
		record->peer = (rank + (send ? 1 : RANKS - 1)) % RANKS;
	}
	record = put(of, NCS_EVENT_PROXY_STEP, due + stages->proxy_ns);
	record->operation = (uint32_t)number + 1;
	record->flags = NCS_RECORD_SEND;
	record->delta[0] = stages->data_ns - stages->proxy_ns;
}

static const struct stages usual = { 10 * US, 20 * US, 30 * US, 50 * US };

static void put_late(struct late_job *fixture, const struct stages *stages)
{
	for (uint64_t i = 0; i < 40; i++)
		for (int k = 0; k < RANKS; k++)
			put_stages(fixture, k, i, k == 2 ? stages : &usual);
	refresh(fixture);
}

/* Checks rank 2's lateness, and the part of it that each cause has. */
static void assert_causes(const struct late_job *fixture, uint64_t late_ns,
			  uint64_t host_ns, uint64_t stream_ns)
{
	const struct ncs_lateness *recent = &view_of(fixture, 2)->recent;

	assert_int_equal(recent->median_ns, late_ns);
	assert_int_equal(recent->exclusive_ns, late_ns);
	assert_int_equal(recent->cause_ns[NCS_LATE_HOST], 40 * host_ns);
	assert_int_equal(recent->cause_ns[NCS_LATE_STREAM], 40 * stream_ns);
	assert_int_equal(recent->cause_ns[NCS_LATE_PEER], 0);
	assert_int_equal(view_of(fixture, 2)->by_moment[NCS_MOMENT_DATA], 40);
}

TEST(late_launch_is_caused_by_host)
{
	struct late_job *fixture = *state;

	put_late(fixture, &(struct stages){ 1010 * US, 1020 * US, 1030 * US,
					    1050 * US });
	assert_causes(fixture, MS, MS, 0);
	assert_int_equal(ncs_lateness_cause(&view_of(fixture, 2)->recent),
			 NCS_LATE_HOST);
}

TEST(late_data_are_caused_by_the_stream)
{
	struct late_job *fixture = *state;

	put_late(fixture,
		 &(struct stages){ 10 * US, 20 * US, 30 * US, 1050 * US });
	assert_causes(fixture, MS, 0, MS);
}

/* Makes the operations of a rank from one on ReduceScatters. */
static void scatter_from(struct scripted_rank *rank, uint32_t operation)
{
	for (size_t i = 0; i < rank->record_count; i++)
		if (rank->records[i].operation > operation)
			rank->records[i].function = NCS_FUNCTION_REDUCE_SCATTER;
}

TEST(kernels_that_are_not_known_are_counted_by_function)
{
	const struct stages late = { 10 * US, 20 * US, 30 * US, 1050 * US };
	struct late_job *fixture = *state;
	struct ncs_lateness lateness;

	for (uint64_t i = 0; i < 20; i++)
		for (int k = 0; k < RANKS; k++)
			put_stages(fixture, k, i, k == 2 ? &late : &usual);
	for (int k = 0; k < RANKS; k++)
		scatter_from(fixture->ranks[k], 12);
	refresh(fixture);
	ncs_rank_function_lateness(scripted_rank(&fixture->scripted, 2),
				   NCS_FUNCTION_ALL_REDUCE, &lateness);
	assert_int_equal(lateness.last, 12);
	assert_int_equal(lateness.kernels_unknown, 12);
	ncs_rank_function_lateness(scripted_rank(&fixture->scripted, 2),
				   NCS_FUNCTION_REDUCE_SCATTER, &lateness);
	assert_int_equal(lateness.last, 8);
	assert_int_equal(lateness.kernels_unknown, 8);
}

/* The others could begin at 50 us. */
TEST(launch_before_the_others_began_made_nothing_late)
{
	struct late_job *fixture = *state;

	put_late(fixture,
		 &(struct stages){ 35 * US, 45 * US, 46 * US, 550 * US });
	assert_causes(fixture, 500 * US, 0, 500 * US);
	teardown(state);
	setup(state);
	put_late(fixture,
		 &(struct stages){ 310 * US, 320 * US, 330 * US, 550 * US });
	assert_causes(fixture, 500 * US, 300 * US, 200 * US);
}

/* Adds rank `rank` of another communicator, in the process of a rank of the
 * job. */
static struct scripted_rank *add_sibling(struct late_job *fixture, int rank,
					 const struct scripted_rank *of)
{
	struct scripted_rank *sibling = scripted_add(&fixture->scripted, rank);

	sibling->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
	sibling->snapshot.identity.comm_id = 8;
	sibling->header.pid = of->header.pid;
	sibling->header.process_start = of->header.process_start;
	return sibling;
}

/* Adds an operation of a sibling on its stream. */
static void put_of_sibling(struct scripted_rank *sibling, uint64_t number,
			   uint64_t begin_ns, uint64_t end_ns)
{
	struct ncs_record *record =
		put(sibling, NCS_EVENT_COLL, begin_ns - 10 * US);

	record->operation = (uint32_t)number + 1;
	record->number = number;
	record->flags = NCS_RECORD_ON_STREAM;
	record->delta[1] = 10 * US;
	record->duration = end_ns - record->start;
}

/* Adds the n-th operation of all ranks: rank 2 begins 1 ms late, though it was
 * launched with the others. */
static void put_behind(struct late_job *fixture, uint64_t number)
{
	for (int k = 0; k < RANKS; k++) {
		struct ncs_record *record =
			operation(fixture, k, number, k == 2 ? MS : 0);

		if (k != 2)
			continue;
		record->start -= MS;
		record->delta[1] += MS;
		record->duration += MS;
	}
}

/* A kernel that ran before it kept the stream of rank 2 busy: of NCCL, in
 * another communicator of its process, until 700 us. Its own work since then took
 * less than that of the others since their last operation. */
TEST(wait_behind_another_operation_is_caused_by_its_peer)
{
	struct late_job *fixture = *state;
	struct scripted_rank *other =
		add_sibling(fixture, 0, fixture->ranks[2]);
	const struct ncs_lateness *recent;

	for (uint64_t i = 0; i < 40; i++) {
		put_of_sibling(other, i, due_ns(fixture, i) - 80 * US,
			       due_ns(fixture, i) + 700 * US);
		put_behind(fixture, i);
	}
	refresh(fixture);
	recent = &view_of(fixture, 2)->recent;
	assert_int_equal(recent->exclusive_ns, MS);
	assert_int_equal(recent->cause_ns[NCS_LATE_HOST], 0);
	assert_int_equal(recent->cause_ns[NCS_LATE_PEER], 39 * MS + 700 * US);
	assert_int_equal(recent->cause_ns[NCS_LATE_STREAM], 300 * US);
	assert_false(view_of(fixture, 2)->is_straggler);
}

/* Rank 2 comes to a Broadcast late, which it does not have to wait for, and for which none
 * waits, and by as much to the AllReduce behind it: that is its own fault. */
TEST(lateness_since_a_broadcast_that_did_not_wait_is_its_own)
{
	static const uint64_t late_ns[RANKS] = { 0, 0, 3 * MS, 0 };
	struct late_job *fixture = *state;
	const struct ncs_lateness *recent;

	for (uint64_t i = 0; i < 40; i++) {
		struct scripted_rank *rank = fixture->ranks[2];

		put_rooted(fixture, NCS_FUNCTION_BROADCAST, 2 * i, late_ns);
		rank->records[rank->record_count - 1].duration += 3 * MS;
		for (int k = 0; k < RANKS; k++)
			operation(fixture, k, 2 * i + 1, late_ns[k]);
	}
	refresh(fixture);
	recent = &view_of(fixture, 2)->recent;
	assert_int_equal(recent->operations, 40);
	assert_int_equal(recent->exclusive_ns, 3 * MS);
	assert_int_equal(recent->cause_ns[NCS_LATE_PEER], 0);
	assert_int_equal(recent->cause_ns[NCS_LATE_HOST], 40 * 3 * MS);
}

/* The records of a communicator that is used often are overwritten first. Whether
 * rank 2 waited for that one is not known as long as its records are missing. */
TEST(nothing_is_compared_before_the_first_record_of_a_sibling)
{
	struct late_job *fixture = *state;
	struct scripted_rank *other =
		add_sibling(fixture, 0, fixture->ranks[2]);

	for (uint64_t i = 0; i < 40; i++) {
		if (i >= 20)
			put_of_sibling(other, i, due_ns(fixture, i) - 80 * US,
				       due_ns(fixture, i) + 700 * US);
		put_behind(fixture, i);
	}
	refresh(fixture);
	assert_int_equal(view_of(fixture, 2)->recent.operations, 20);
	assert_int_equal(view_of(fixture, 2)->count.seen, 40);
	assert_int_equal(view_of(fixture, 2)->count.compared, 20);
	assert_int_equal(view_of(fixture, 2)->recent.cause_ns[NCS_LATE_PEER],
			 20 * MS);
	assert_false(view_of(fixture, 2)->is_straggler);
}

/* The other communicator's operations 10 to 29 are lost, and may have begun before the
 * ninth of the job did. */
TEST(nothing_is_compared_where_a_siblings_records_were_lost)
{
	struct late_job *fixture = *state;
	struct scripted_rank *other =
		add_sibling(fixture, 0, fixture->ranks[2]);

	for (uint64_t i = 0; i < 40; i++) {
		if (i == 10) {
			scripted_pass(&fixture->scripted,
				      due_ns(fixture, i) - MS);
			for (int k = 0; k < RANKS; k++)
				fixture->ranks[k]->record_count = 0;
			other->record_count = 0;
			other->records_lost = 20;
		}
		if (i < 10 || i >= 30)
			put_of_sibling(other, i, due_ns(fixture, i) - 80 * US,
				       due_ns(fixture, i) + 700 * US);
		put_behind(fixture, i);
	}
	refresh(fixture);
	assert_int_equal(view_of(fixture, 2)->recent.operations, 19);
	assert_int_equal(
		view_of(fixture, 2)->recent.cause_ns[NCS_LATE_HOST] +
			view_of(fixture, 2)->recent.cause_ns[NCS_LATE_STREAM],
		300 * US);
	assert_false(view_of(fixture, 2)->is_straggler);
}

/* One update has many more operations of the other communicator than are kept. */
TEST(all_operations_of_a_busy_sibling_are_known)
{
	struct late_job *fixture = *state;
	struct scripted_rank *others[2] = {
		add_sibling(fixture, 0, fixture->ranks[2]),
		add_sibling(fixture, 1, fixture->ranks[2]),
	};
	const struct ncs_lateness *recent;

	others[1]->header.pid = 999; /* in that communicator only */
	for (uint64_t i = 0; i < 8; i++) {
		for (uint64_t n = 0; n < 100; n++)
			for (int k = 0; k < 2; k++)
				put_of_sibling(
					others[k], i * 100 + n,
					due_ns(fixture, i) -
						(99 - n) * 80 * US - 70 * US,
					due_ns(fixture, i) -
						(99 - n) * 80 * US +
						(n == 99 ? 700 * US : 0));
		put_behind(fixture, i);
	}
	refresh(fixture);
	recent = &view_of(fixture, 2)->recent;
	assert_int_equal(recent->operations, 8);
	assert_int_equal(recent->cause_ns[NCS_LATE_PEER], 7 * MS + 700 * US);
	assert_int_equal(recent->cause_ns[NCS_LATE_STREAM], 300 * US);
	for (size_t i = 0; i < fixture->scripted.model.rank_count; i++) {
		const struct ncs_rank *rank = fixture->scripted.model.ranks[i];

		if (rank->process.pid == 999)
			assert_int_equal(
				ncs_rank_lateness(rank)->count.compared, 800);
	}
}

/* It says nothing about when the GPU could begin. */
TEST(host_times_alone_tell_no_lateness)
{
	struct late_job *fixture = *state;

	for (uint64_t i = 0; i < 40; i++)
		for (int k = 0; k < RANKS; k++) {
			struct ncs_record *record =
				operation(fixture, k, i, k == 2 ? MS : 0);

			record->flags = 0;
			record->delta[1] = 0;
		}
	refresh(fixture);
	assert_null(view_of(fixture, 2));
	assert_null(ncs_communicator_skew(communicator_of(fixture)));
}

TEST(error_of_gpu_clocks_leaves_the_last_open)
{
	struct late_job *fixture = *state;

	for (int k = 0; k < RANKS; k++)
		fixture->ranks[k]->snapshot.launches.error_ns = 10 * US;
	for (uint64_t i = 0; i < 80; i++)
		for (int k = 0; k < RANKS; k++)
			operation(fixture, k, i,
				  k == 2 ? (i < 40 ? 15 * US : 30 * US) : 0);
	refresh(fixture);
	assert_int_equal(view_of(fixture, 2)->recent.last, 40);
	assert_int_equal(view_of(fixture, 2)->recent.exclusive_ns, 30 * US);
	assert_int_equal(view_of(fixture, 2)->recent.error_ns, 20 * US);
}

TEST(kernel_start_is_taken_from_gpu_time)
{
	struct late_job *fixture = *state;

	for (int k = 0; k < RANKS; k++) {
		struct ncs_snapshot *snapshot = &fixture->ranks[k]->snapshot;
		int64_t offset = 1000 * (int64_t)SECOND * (k + 1);

		snapshot->gpu_clock.known = true;
		snapshot->gpu_clock.told_ns = START_NS;
		snapshot->gpu_clock.offset_ns = offset;
		for (uint64_t i = 0; i < 40; i++) {
			struct ncs_record *record =
				put(fixture->ranks[k], NCS_EVENT_KERNEL_CH,
				    due_ns(fixture, i) + 2 * MS);

			record->operation = (uint32_t)i + 1;
			record->value = due_ns(fixture, i) + 100 * US +
					(k == 2 ? MS : 0) + (uint64_t)offset;
			record->number = 10 * US;
			operation(fixture, k, i, 0)->flags = 0;
		}
	}
	refresh(fixture);
	assert_int_equal(view_of(fixture, 2)->recent.median_ns, MS);
	assert_int_equal(view_of(fixture, 2)->by_moment[NCS_MOMENT_KERNEL], 40);
	assert_int_equal(ncs_lateness_cause(&view_of(fixture, 2)->recent),
			 NCS_LATE_STREAM);
}

/* Puts an operation in which each rank receives from the one it sends to, and
 * rank 2 has its first data to send 1 ms after the others. Its buffer waited until
 * `came_ns` for data. */
static void put_both_ways(struct late_job *fixture, uint64_t came_ns)
{
	const struct stages late = { 10 * US, 20 * US, 30 * US, 1050 * US };
	struct ncs_record *record;

	for (int k = 0; k < RANKS; k++)
		put_stages(fixture, k, 0, k == 2 ? &late : &usual);
	for (int k = 0; k < RANKS; k++)
		for (size_t i = 0; i < fixture->ranks[k]->record_count; i++)
			if (fixture->ranks[k]->records[i].event ==
			    NCS_EVENT_PROXY_OP)
				fixture->ranks[k]->records[i].peer = 0;
	record = put(fixture->ranks[2], NCS_EVENT_PROXY_STEP,
		     due_ns(fixture, 0) + 30 * US);
	record->operation = 1;
	record->delta[0] = came_ns - 30 * US;
	refresh(fixture);
}

TEST(data_stage_that_waited_for_others_is_not_late)
{
	struct late_job *fixture = *state;

	put_both_ways(fixture, 1000 * US);
	assert_int_equal(view_of(fixture, 2)->recent.median_ns, 0);
	assert_int_equal(view_of(fixture, 2)->by_moment[NCS_MOMENT_PROXY], 1);
}

TEST(data_stage_is_late_although_data_of_others_came_before)
{
	struct late_job *fixture = *state;

	put_both_ways(fixture, 130 * US);
	assert_int_equal(view_of(fixture, 2)->recent.median_ns, 900 * US);
	assert_int_equal(view_of(fixture, 2)->by_moment[NCS_MOMENT_DATA], 1);
}

TEST(stage_missing_at_one_rank_is_not_compared)
{
	struct late_job *fixture = *state;
	struct scripted_rank *rank = fixture->ranks[0];

	for (int k = 0; k < RANKS; k++)
		put_stages(fixture, k, 0, &usual);
	/* Its step and its call were not recorded. */
	rank->records[0].event = NCS_EVENT_GROUP;
	rank->records[rank->record_count - 1].event = NCS_EVENT_GROUP;
	refresh(fixture);
	assert_int_equal(view_of(fixture, 2)->by_moment[NCS_MOMENT_PROXY], 1);
	assert_int_equal(view_of(fixture, 2)->recent.median_ns, 0);
}

/* --- What is missing ------------------------------------------------------ */

TEST(new_rank_is_compared_from_its_first_operation)
{
	struct late_job *fixture = *state;

	fixture->ranks[3]->is_there = false;
	for (uint64_t i = 0; i < 10; i++)
		for (int k = 0; k < 3; k++)
			operation(fixture, k, i, (uint64_t)k * US);
	refresh(fixture);
	assert_int_equal(view_of(fixture, 2)->recent.last, 10);
	fixture->ranks[3]->is_there = true;
	for (uint64_t i = 10; i < 20; i++)
		for (int k = 0; k < RANKS; k++)
			if (k < 3 || i >= 15)
				operation(fixture, k, i, (uint64_t)k * US);
	refresh(fixture);
	assert_int_equal(view_of(fixture, 3)->recent.operations, 5);
	assert_int_equal(view_of(fixture, 3)->recent.last, 5);
	assert_int_equal(view_of(fixture, 2)->recent.operations, 15);
	assert_int_equal(view_of(fixture, 2)->count.seen, 20);
}

TEST(operation_lost_at_one_rank_counts_for_none)
{
	struct late_job *fixture = *state;

	for (uint64_t i = 0; i < 20; i++)
		for (int k = 0; k < RANKS; k++)
			if (k != 1 || i % 2)
				operation(fixture, k, i, (uint64_t)k * US);
	fixture->ranks[1]->records_lost = 1000; /* before the first update */
	refresh(fixture);
	assert_int_equal(view_of(fixture, 3)->recent.operations, 10);
	assert_int_equal(view_of(fixture, 3)->count.seen, 20);
	assert_int_equal(view_of(fixture, 1)->count.seen, 10);
	assert_int_equal(view_of(fixture, 1)->count.records_lost, 0);
	fixture->ranks[1]->records_lost = 7;
	refresh(fixture);
	assert_int_equal(view_of(fixture, 1)->count.records_lost, 7);
}

TEST(record_of_the_next_update_completes_operation)
{
	struct late_job *fixture = *state;
	const struct stages late = { 10 * US, 20 * US, 30 * US, 1050 * US };

	for (int k = 0; k < RANKS; k++) {
		put_stages(fixture, k, 0, k == 2 ? &late : &usual);
		/* Hold back the last record, that of the step. */
		fixture->ranks[k]->record_count--;
	}
	scripted_pass(&fixture->scripted, due_ns(fixture, 0) + 6 * MS);
	assert_null(view_of(fixture, 2));
	for (int k = 0; k < RANKS; k++) {
		struct scripted_rank *rank = fixture->ranks[k];

		rank->records[0] = rank->records[rank->record_count];
		rank->record_count = 1;
	}
	refresh(fixture);
	assert_int_equal(view_of(fixture, 2)->recent.median_ns, MS);
	assert_int_equal(view_of(fixture, 2)->by_moment[NCS_MOMENT_DATA], 1);
}

TEST(dead_rank_is_compared_until_its_last_operation)
{
	struct late_job *fixture = *state;

	for (uint64_t i = 0; i < 20; i++)
		for (int k = 0; k < RANKS; k++)
			if (k != 1 || i < 10)
				operation(fixture, k, i, (uint64_t)k * US);
	fixture->ranks[1]->snapshot.liveness = NCS_DEAD;
	refresh(fixture);
	assert_int_equal(view_of(fixture, 1)->recent.operations, 10);
	assert_int_equal(view_of(fixture, 3)->recent.operations, 20);
}

TEST(ranks_of_different_clocks_are_not_compared)
{
	struct late_job *fixture = *state;

	snprintf(fixture->ranks[2]->header.boot_id,
		 sizeof(fixture->ranks[2]->header.boot_id), "another");
	snprintf(fixture->ranks[3]->header.boot_id,
		 sizeof(fixture->ranks[3]->header.boot_id), "another");
	for (uint64_t i = 0; i < 10; i++) {
		operation(fixture, 0, i, 0);
		operation(fixture, 1, i, 10 * US);
		operation(fixture, 2, i, 2 * MS);
		operation(fixture, 3, i, 2 * MS + 30 * US);
	}
	refresh(fixture);
	assert_int_equal(view_of(fixture, 1)->recent.median_ns, 10 * US);
	assert_int_equal(view_of(fixture, 3)->recent.median_ns, 30 * US);
	assert_int_equal(view_of(fixture, 2)->recent.last, 0);
	assert_int_equal(communicator_of(fixture)->other_clocks, 2);
	assert_int_equal(
		ncs_communicator_skew(communicator_of(fixture))->operations,
		20);
}

/* Moves ranks 2 and 3 to another host, whose clock is aligned within
 * `error_ns`. */
static void move_to_another_host(struct late_job *fixture, uint64_t error_ns)
{
	for (int i = 0; i < RANKS; i++) {
		fixture->ranks[i]->clock_is_aligned = true;
		if (i < 2)
			continue;
		fixture->ranks[i]->clock_error_ns = error_ns;
		snprintf(fixture->ranks[i]->header.boot_id,
			 sizeof(fixture->ranks[i]->header.boot_id), "another");
	}
}

TEST(ranks_of_aligned_clocks_are_compared)
{
	struct late_job *fixture = *state;

	move_to_another_host(fixture, 5 * US);
	for (uint64_t i = 0; i < 40; i++)
		for (int k = 0; k < RANKS; k++)
			operation(fixture, k, i,
				  k == 3 ? 2 * MS : (uint64_t)k * US);
	refresh(fixture);
	assert_int_equal(communicator_of(fixture)->other_clocks, 0);
	assert_int_equal(view_of(fixture, 3)->recent.median_ns, 2 * MS);
	assert_int_equal(view_of(fixture, 3)->recent.last, 40);
	assert_int_equal(view_of(fixture, 3)->recent.error_ns, 5 * US);
	assert_int_equal(view_of(fixture, 3)->all.error_ns, 5 * US);
	assert_true(view_of(fixture, 3)->is_straggler);
	assert_int_equal(
		ncs_communicator_skew(communicator_of(fixture))->error_ns,
		5 * US);
}

/* Within the error of the clocks, the other host may have been first. */
TEST(lateness_within_clock_error_marks_no_rank)
{
	struct late_job *fixture = *state;

	move_to_another_host(fixture, 3 * MS);
	for (uint64_t i = 0; i < 40; i++)
		for (int k = 0; k < RANKS; k++)
			operation(fixture, k, i,
				  k == 3 ? 2 * MS : (uint64_t)k * US);
	refresh(fixture);
	assert_int_equal(view_of(fixture, 3)->recent.last, 0);
	assert_false(view_of(fixture, 3)->is_straggler);
	assert_int_equal(view_of(fixture, 3)->recent.error_ns, 3 * MS);
	assert_null(ncs_communicator_straggler(communicator_of(fixture)));
}

/* The other host's clock is ahead by 3 ms and runs faster and faster. */
#define BEND 0.4e-6 /* per second */

static uint64_t ahead_ns(uint64_t true_ns)
{
	double s = (double)(int64_t)(true_ns - START_NS) / 1e9;

	return 3 * MS + (uint64_t)(BEND * s * s * 1e9);
}

/* Gives the records of the other host's ranks that wait its times. */
static void put_on_other_clock(struct late_job *fixture)
{
	for (int i = 2; i < RANKS; i++)
		for (size_t k = 0; k < fixture->ranks[i]->record_count; k++) {
			struct ncs_record *record =
				&fixture->ranks[i]->records[k];

			record->start += ahead_ns(record->start);
		}
}

/* Moves clocks, as they are known at a true time, to that of the first or of the
 * other host. */
static void move_clocks(struct late_job *fixture, uint64_t true_ns,
			bool to_other)
{
	double s = (double)(int64_t)(true_ns - START_NS) / 1e9;
	uint64_t own_ns = true_ns + ahead_ns(true_ns);

	for (int i = 0; i < RANKS; i++) {
		struct ncs_clock *clock = &fixture->ranks[i]->header.clock;

		*clock = (struct ncs_clock){
			.base_ticks = i < 2 ? true_ns : own_ns,
			.base_monotonic_ns = to_other ? own_ns : true_ns,
			.multiplier = UINT64_C(1) << 32,
		};
		if (i >= 2 && !to_other)
			clock->multiplier -= (uint64_t)(2 * BEND * s * 0x1p32);
	}
}

/* Adds operations to which rank 1 comes 200 us late. */
static void put_late_ones(struct late_job *fixture, uint64_t from,
			  uint64_t until)
{
	for (uint64_t i = from; i < until; i++)
		for (int k = 0; k < RANKS; k++)
			operation(fixture, k, i, k == 1 ? 200 * US : 0);
	put_on_other_clock(fixture);
}

/* In a job of minutes the clocks drift apart by more than the rank is late, and
 * the alignment follows. */
TEST(lateness_is_told_by_clocks_as_they_are_known_now)
{
	struct late_job *fixture = *state;
	const struct ncs_lateness *recent;

	move_to_another_host(fixture, 100 * US);
	for (uint64_t pass = 0; pass < 12; pass++) {
		fixture->delay_ns = pass * 10 * SECOND;
		move_clocks(fixture, START_NS + fixture->delay_ns, false);
		put_late_ones(fixture, 20 * pass, 20 * pass + 20);
		refresh(fixture);
	}
	recent = &view_of(fixture, 1)->recent;
	assert_int_equal(recent->operations, 240);
	assert_int_equal(recent->last, 240);
	assert_in_range(recent->median_ns, 199 * US, 201 * US);
	assert_int_equal(view_of(fixture, 3)->all.last, 0);
}

/* At first a clock is known by the arrival of looks alone. */
TEST(times_before_a_clock_is_aligned_are_not_compared)
{
	struct late_job *fixture = *state;
	const struct ncs_lateness_view *view;

	move_to_another_host(fixture, 0);
	for (int i = 2; i < RANKS; i++)
		fixture->ranks[i]->clock_is_aligned = false;
	put_late_ones(fixture, 0, 20);
	refresh(fixture);
	assert_int_equal(view_of(fixture, 3)->recent.operations, 20);
	for (int i = 2; i < RANKS; i++) {
		fixture->ranks[i]->clock_is_aligned = true;
		fixture->ranks[i]->clock_error_ns = 5 * US;
	}
	move_clocks(fixture, START_NS, false);
	put_late_ones(fixture, 20, 40);
	refresh(fixture);
	view = view_of(fixture, 1);
	assert_int_equal(view->recent.operations, 40);
	assert_int_equal(view->recent.last, 40);
	assert_in_range(view->recent.median_ns, 199 * US, 201 * US);
	assert_int_equal(view_of(fixture, 3)->recent.operations, 40);
	assert_int_equal(view_of(fixture, 3)->recent.last, 0);
}

/* The clock that all others are aligned to may become another one. */
TEST(times_of_two_alignments_are_not_compared)
{
	struct late_job *fixture = *state;

	move_to_another_host(fixture, 5 * US);
	move_clocks(fixture, START_NS, true);
	put_late_ones(fixture, 0, 20);
	/* The latest operation is told by the first host only. */
	for (int i = 2; i < RANKS; i++)
		fixture->ranks[i]->record_count--;
	refresh(fixture);
	assert_int_equal(view_of(fixture, 1)->recent.last, 19);
	move_clocks(fixture, START_NS, false);
	for (int i = 2; i < RANKS; i++)
		operation(fixture, i, 19, 0);
	put_late_ones(fixture, 20, 40);
	refresh(fixture);
	assert_int_equal(view_of(fixture, 1)->recent.operations, 39);
	assert_int_equal(view_of(fixture, 1)->recent.last, 39);
	assert_in_range(view_of(fixture, 1)->recent.p99_ns, 199 * US, 201 * US);
}

TEST(ranks_of_other_communicators_are_not_compared)
{
	struct late_job *fixture = *state;

	fixture->ranks[3]->snapshot.identity.comm_id = 8;
	for (int k = 0; k < RANKS; k++)
		operation(fixture, k, 0, (uint64_t)k * US);
	refresh(fixture);
	assert_int_equal(view_of(fixture, 2)->recent.last, 1);
	assert_null(view_of(fixture, 3));
}

TEST(rank_without_records_has_no_figures)
{
	struct late_job *fixture = *state;

	refresh(fixture);
	assert_null(view_of(fixture, 0));
	assert_null(ncs_communicator_skew(communicator_of(fixture)));
	assert_null(ncs_communicator_straggler(communicator_of(fixture)));
}

/* --- Garbage -------------------------------------------------------------- */

TEST(random_records_do_no_harm)
{
	struct late_job *fixture = *state;
	uint64_t x = 1;

	for (int round = 0; round < 50; round++) {
		for (int k = 0; k < RANKS; k++) {
			struct scripted_rank *rank = fixture->ranks[k];

			for (size_t i = 0; i < SCRIPTED_RECORDS; i++) {
				uint64_t *words = (uint64_t *)&rank->records[i];

				for (int w = 0; w < NCS_RECORD_WORDS; w++) {
					x = x * UINT64_C(6364136223846793005) +
					    1442695040888963407u;
					words[w] = x >> (x >> 59);
				}
				rank->records[i].event =
					(uint8_t)(x >> 40) % 12;
				rank->records[i].function =
					(uint8_t)(x >> 50) % 6;
				if (x >> 63)
					rank->records[i].number = x >> 20 & 7;
			}
			rank->record_count = SCRIPTED_RECORDS;
		}
		refresh(fixture);
		for (int k = 0; k < RANKS; k++)
			view_of(fixture, k);
		ncs_communicator_skew(communicator_of(fixture));
	}
}

/* Adds an operation that was launched, begun and over at these times. */
static void put_on_stream(struct late_job *fixture, int rank, uint64_t number,
			  uint64_t launched_ns, uint64_t begun_ns,
			  uint64_t ended_ns)
{
	struct ncs_record *record =
		put(fixture->ranks[rank], NCS_EVENT_COLL, launched_ns);

	record->operation = (uint32_t)number + 1;
	record->number = number;
	record->flags = NCS_RECORD_ON_STREAM;
	record->delta[1] = begun_ns - launched_ns;
	record->duration = ended_ns - launched_ns;
}

#define BUCKETS 8
#define STEPS 20

/* When buckets are computed, from the begin of the step. */
static const uint64_t even_ns[BUCKETS] = {
	3 * MS, 6 * MS, 9 * MS, 12 * MS, 15 * MS, 18 * MS, 21 * MS, 24 * MS,
};
static const uint64_t uneven_ns[BUCKETS] = {
	4 * MS,     8 * MS,  9500 * US, 13500 * US,
	17500 * US, 19 * MS, 23 * MS,   27 * MS,
};

/* Adds the steps of a job that reduces gradients bucket by bucket, each in 1 ms.
 * The host of rank 2 begins each step `late_ns` late.
 * Returns the length of a step. */
static uint64_t put_steps(struct late_job *fixture,
			  const uint64_t bucket_ns[BUCKETS], uint64_t late_ns)
{
	uint64_t step_ns = START_NS;

	for (uint64_t step = 0; step < STEPS; step++) {
		uint64_t free_ns = 0;

		for (uint64_t i = 0; i < BUCKETS; i++) {
			uint64_t ready_ns = step_ns + late_ns + bucket_ns[i];
			uint64_t ended_ns =
				(ready_ns > free_ns ? ready_ns : free_ns) + MS;

			for (int k = 0; k < RANKS; k++) {
				uint64_t own_ns = k == 2 ? late_ns : 0;
				uint64_t begun_ns =
					step_ns + own_ns + bucket_ns[i];

				put_on_stream(fixture, k, step * BUCKETS + i,
					      step_ns + i * 100 * US + own_ns,
					      begun_ns > free_ns ? begun_ns :
								   free_ns,
					      ended_ns);
			}
			free_ns = ended_ns;
		}
		step_ns = free_ns;
	}
	refresh(fixture);
	return (step_ns - START_NS) / STEPS;
}

/* Checks that rank 2 costs 20 ms a step, and not what the others wait for its
 * buckets. */
static void assert_cost_of_steps(const struct late_job *fixture,
				 uint64_t step_ns)
{
	const struct ncs_lateness_view *view = view_of(fixture, 2);
	double cost = 20e6 / (double)step_ns;

	assert_true(view->is_straggler);
	assert_false(view_of(fixture, 3)->is_straggler);
	assert_ptr_equal(ncs_communicator_straggler(communicator_of(fixture)),
			 scripted_rank(&fixture->scripted, 2));
	assert_true(view->cost.share > 0.95 * cost &&
		    view->cost.share < 1.05 * cost);
}

/* All others come straight from one operation to the next while rank 2 still
 * computes what they computed while they waited. */
TEST(wait_for_buckets_counts_once_a_step)
{
	struct late_job *fixture = *state;
	const struct ncs_lateness_view *view;
	uint64_t step_ns;

	step_ns = put_steps(fixture, even_ns, 20 * MS);
	view = view_of(fixture, 2);
	assert_int_equal(view->recent.last, STEPS * BUCKETS);
	assert_cost_of_steps(fixture, step_ns);
	assert_int_equal(ncs_lateness_cause(&view->recent), NCS_LATE_HOST);
}

/* The others may have computed a long bucket before a short operation began. */
TEST(wait_for_uneven_buckets_counts_once_a_step)
{
	struct late_job *fixture = *state;
	uint64_t step_ns = put_steps(fixture, uneven_ns, 20 * MS);

	assert_cost_of_steps(fixture, step_ns);
}

/* A job that sends something when it begins is no pipeline. */
TEST(one_transfer_leaves_the_cost_of_collectives)
{
	struct late_job *fixture = *state;
	uint64_t step_ns;

	for (int k = 2; k < 4; k++) {
		struct ncs_record *record = put(
			fixture->ranks[k], NCS_EVENT_P2P, START_NS - 2 * MS);

		record->function = k == 2 ? NCS_FUNCTION_SEND :
					    NCS_FUNCTION_RECV;
		record->peer = k == 2 ? 3 : 2;
		record->operation = 10000;
		record->flags = NCS_RECORD_ON_STREAM | NCS_RECORD_NUMBERED;
		record->value = 4;
		record->delta[1] = LAUNCH_NS;
		record->duration = MS;
	}
	step_ns = put_steps(fixture, even_ns, 20 * MS);
	assert_cost_of_steps(fixture, step_ns);
}

/* A rank cannot begin an operation while the one before it goes on there. */
TEST(lateness_by_the_operation_before_costs_nothing)
{
	struct late_job *fixture = *state;

	for (uint64_t i = 0; i < 100; i++)
		for (int k = 0; k < RANKS; k++) {
			uint64_t own_ns = k == 2 ? 2 * MS : (uint64_t)k * US;
			uint64_t due = due_ns(fixture, i);

			put_on_stream(fixture, k, i, due - MS, due + own_ns,
				      due + own_ns + 3 * MS);
		}
	refresh(fixture);
	assert_int_equal(view_of(fixture, 2)->recent.last, 100);
	assert_true(view_of(fixture, 2)->waited_share < 0.003);
}

TEST(rank_of_no_cost_is_not_marked)
{
	struct late_job *fixture = *state;

	/* Always last, but by 50 us. */
	for (uint64_t i = 0; i < 40; i++)
		for (int k = 0; k < RANKS; k++)
			operation(fixture, k, i, k == 2 ? 50 * US : 0);
	refresh(fixture);
	assert_false(view_of(fixture, 2)->is_straggler);
	teardown(state);
	setup(state);
	/* Often late, but not for 5 % of the time. */
	for (uint64_t i = 0; i < 40; i++)
		for (int k = 0; k < RANKS; k++)
			operation(fixture, k, i, k == 2 ? 450 * US : 0);
	refresh(fixture);
	assert_false(view_of(fixture, 2)->is_straggler);
	teardown(state);
	setup(state);
	/* Too few operations. */
	for (uint64_t i = 0; i < NCS_FEW - 1; i++)
		for (int k = 0; k < RANKS; k++)
			operation(fixture, k, i, k == 2 ? 2 * MS : 0);
	refresh(fixture);
	assert_false(view_of(fixture, 2)->is_straggler);
}

/* --- Late at present ------------------------------------------------ */

static void put_in_flight(struct late_job *fixture, int rank, uint64_t number,
			  uint64_t since_ns)
{
	struct scripted_rank *of = fixture->ranks[rank];

	of->operations[of->snapshot.operation_count++] =
		(struct ncs_operation_view){
			.start_ns = since_ns,
			.sequence_number = number,
			.event = NCS_EVENT_COLL,
			.function = NCS_FUNCTION_ALL_REDUCE,
			.peer = 0,
		};
	of->snapshot.functions[NCS_FUNCTION_ALL_REDUCE].last_sequence_number =
		number;
}

TEST(rank_that_others_wait_for_is_late_now)
{
	struct late_job *fixture = *state;
	struct ncs_late_now now;

	put_in_flight(fixture, 0, 9, fixture->now_ns + 9 * SECOND);
	put_in_flight(fixture, 2, 9, fixture->now_ns + 8 * SECOND);
	put_in_flight(fixture, 3, 9, fixture->now_ns + 11 * SECOND);
	fixture->ranks[1]
		->snapshot.functions[NCS_FUNCTION_ALL_REDUCE]
		.last_sequence_number = 8;
	refresh(fixture);
	ncs_rank_late_now(scripted_rank(&fixture->scripted, 1), &now);
	assert_int_equal(now.late_ns, 2 * SECOND);
	assert_int_equal(now.function, NCS_FUNCTION_ALL_REDUCE);
	assert_int_equal(now.number, 9);
	/* Rank 3 began after the snapshot of rank 1: it does not count. */
	assert_int_equal(now.waiting, 2);
	ncs_rank_late_now(scripted_rank(&fixture->scripted, 0), &now);
	assert_int_equal(now.late_ns, 0);
	/* A rank further behind is not late for this operation. */
	fixture->ranks[1]
		->snapshot.functions[NCS_FUNCTION_ALL_REDUCE]
		.last_sequence_number = 5;
	refresh(fixture);
	ncs_rank_late_now(scripted_rank(&fixture->scripted, 1), &now);
	assert_int_equal(now.late_ns, 0);
}
