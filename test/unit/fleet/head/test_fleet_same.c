/* SPDX-License-Identifier: MIT */
/* Tests that a model which takes only what is new of a fleet shows what one shows
 * that reads each state anew, and that ranks which wait say nothing new. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <string.h>

#include "analysis/base/source.h"
#include "analysis/model/model.h"
#include "fleet/head/fleet.h"
#include "test/unit/support/simulator/sim_stream.h"

#define S UINT64_C(1000000000)
#define NODES 3u
#define RANKS 2u
#define NOW_NS (1000 * S)

/* The job's age at the first look, and when rank 1 makes its last call. */
#define AGE_S 20u
#define MISSING_S 26u
#define LOOKS 48u

/* Looks after which all ranks have been told by a key since then, 10 s later at
 * most, said the same again, and were read once more. */
#define SETTLED (MISSING_S - AGE_S + 10u + 2u)

struct watched {
	struct ncs_fleet *fleet;
	struct ncs_model model;
};

static size_t same, others;
static bool (*next_of_fleet)(struct ncs_source *source,
			     struct ncs_sample *sample);

static bool next(struct ncs_source *source, struct ncs_sample *sample)
{
	bool found = next_of_fleet(source, sample);

	same += found && sample->is_same;
	others += found && !sample->is_same;
	return found;
}

static void begin(struct watched *watched, struct sim_stream *streams)
{
	size_t node;

	watched->fleet = ncs_fleet_new(NULL);
	assert_non_null(watched->fleet);
	for (unsigned i = 0; i < NODES; i++)
		assert_int_equal(ncs_fleet_add(watched->fleet,
					       sim_stream_name(streams, i), "",
					       &node),
				 0);
	ncs_model_init(&watched->model);
}

static void look(struct watched *watched, uint64_t now_ns)
{
	assert_int_equal(ncs_model_update(&watched->model,
					  ncs_fleet_source(watched->fleet),
					  now_ns),
			 0);
}

static void end(struct watched *watched)
{
	ncs_model_release(&watched->model);
	ncs_fleet_free(watched->fleet);
}

static void assert_alike(const struct ncs_rank *a, const struct ncs_rank *b)
{
	const struct ncs_snapshot *now = &a->now, *anew = &b->now;

	assert_string_equal(a->id, b->id);
	assert_true(now->taken_ns == anew->taken_ns);
	assert_true(now->last_call_ns == anew->last_call_ns);
	assert_true(now->alive_ns == anew->alive_ns);
	assert_int_equal(now->liveness, anew->liveness);
	assert_true(a->alive_ns == b->alive_ns);
	assert_memory_equal(&now->proxy, &anew->proxy, sizeof(now->proxy));
	assert_memory_equal(now->events, anew->events, sizeof(now->events));
	assert_true(now->channel_count == anew->channel_count &&
		    now->channel_count > 0);
	for (size_t i = 0; i < now->channel_count; i++) {
		const struct ncs_channel_view *channel = &now->channels[i];

		assert_int_equal(channel->state, anew->channels[i].state);
		assert_memory_equal(channel->time_ns, anew->channels[i].time_ns,
				    sizeof(channel->time_ns));
	}
	assert_true(now->operation_count == anew->operation_count);
	for (size_t i = 0; i < now->operation_count; i++)
		assert_true(now->operations[i].start_ns ==
			    anew->operations[i].start_ns);
}

/* Rank 1 makes its last call at a time of the job; UINT_MAX: it calls on. */
static struct sim_stream *new_streams(unsigned missing_s)
{
	return sim_stream_new(&(struct sim_stream_options){
		.seed = 1,
		.nodes = NODES,
		.ranks = RANKS,
		.group = RANKS,
		.channels = 2,
		.bytes = UINT64_C(1) << 20,
		.period_ns = S / 20,
		.missing_rank = missing_s == UINT_MAX ? UINT_MAX : 1,
		.missing_ns = missing_s * S,
		.begun_ns = NOW_NS - AGE_S * S,
		.realtime_ns = UINT64_C(1700000000) * S,
		.interval_ns = S,
		.is_packed = true,
	});
}

static void feed(struct watched *watched, size_t count, unsigned node,
		 const void *bytes, size_t size, uint64_t now_ns)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(ncs_fleet_feed(watched[i].fleet, node, bytes,
						size, now_ns),
				 0);
}

/* Its ranks call without end in smaller communicators until it hangs, too: of
 * the ranks of a hung job all say the same. */
static void test_what_is_the_same_is_shown_as_if_it_were_read(void **state)
{
	struct sim_stream *streams = new_streams(MISSING_S);
	struct watched watched[2];
	size_t told = 0;

	(void)state;
	assert_non_null(streams);
	for (size_t i = 0; i < 2; i++)
		begin(&watched[i], streams);
	next_of_fleet = ncs_fleet_source(watched[0].fleet)->next;
	ncs_fleet_source(watched[0].fleet)->next = next;
	for (unsigned i = 0; i < LOOKS; i++) {
		uint64_t now_ns = NOW_NS + i * S;

		for (unsigned node = 0; node < NODES; node++) {
			const void *bytes;
			size_t size;

			assert_int_equal(sim_stream_look(streams, node,
							 (AGE_S + i) * S,
							 &bytes, &size),
					 0);
			feed(watched, 2, node, bytes, size, now_ns);
		}
		same = others = 0;
		look(&watched[0], now_ns);
		ncs_model_forget(&watched[1].model);
		look(&watched[1], now_ns);
		assert_int_equal(watched[0].model.rank_count,
				 2 * NODES * RANKS);
		assert_int_equal(watched[1].model.rank_count,
				 2 * NODES * RANKS);
		for (size_t k = 0; k < watched[0].model.rank_count; k++)
			assert_alike(watched[0].model.ranks[k],
				     watched[1].model.ranks[k]);
		if (i < MISSING_S - AGE_S)
			assert_int_equal(same, 0);
		if (i >= SETTLED)
			assert_int_equal(others, 0);
		told += same;
	}
	assert_true(told > 0);
	for (size_t i = 0; i < 2; i++)
		end(&watched[i]);
	sim_stream_free(streams);
}

/* Feeds the first `nodes` nodes a look at a time of the job, and takes it. */
static void step(struct watched *watched, struct sim_stream *streams,
		 unsigned nodes, unsigned at_s)
{
	uint64_t now_ns = NOW_NS + (at_s - AGE_S) * S;

	for (unsigned node = 0; node < nodes; node++) {
		const void *bytes;
		size_t size;

		assert_int_equal(sim_stream_look(streams, node, at_s * S,
						 &bytes, &size),
				 0);
		feed(watched, 1, node, bytes, size, now_ns);
	}
	same = others = 0;
	look(watched, now_ns);
}

/* Returns the calls of a node's ranks in all communicators. */
static uint64_t calls_of(const struct ncs_model *model, size_t node)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < model->rank_count; i++)
		for (size_t k = 0; k < NCS_FUNCTION_COUNT; k++)
			if (model->ranks[i]->node == node)
				calls += model->ranks[i]
						 ->now.functions[k]
						 .operations;
	return calls;
}

static void
test_what_hung_before_is_read_once_and_what_goes_on_at_once(void **state)
{
	struct sim_stream *hung = new_streams(AGE_S - 10);
	struct sim_stream *works = new_streams(UINT_MAX);
	const size_t ranks = 2 * NODES * RANKS;
	struct watched watched;
	uint64_t before[2];

	(void)state;
	assert_true(hung && works);
	begin(&watched, hung);
	next_of_fleet = ncs_fleet_source(watched.fleet)->next;
	ncs_fleet_source(watched.fleet)->next = next;
	step(&watched, hung, NODES, AGE_S);
	assert_int_equal(others, ranks);
	for (unsigned i = 1; i < 30; i++) {
		step(&watched, hung, NODES, AGE_S + i);
		assert_int_equal(same, ranks);
		assert_int_equal(others, 0);
	}
	for (size_t i = 0; i < 2; i++)
		before[i] = calls_of(&watched.model, i);
	/* The ranks of node 0 go on, in the stream of another agent. */
	step(&watched, works, 1, AGE_S + 30);
	assert_int_equal(watched.model.rank_count, ranks);
	assert_true(calls_of(&watched.model, 0) > before[0]);
	assert_true(calls_of(&watched.model, 1) == before[1]);
	end(&watched);
	sim_stream_free(hung);
	sim_stream_free(works);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_what_is_the_same_is_shown_as_if_it_were_read),
		cmocka_unit_test(
			test_what_hung_before_is_read_once_and_what_goes_on_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
