/* SPDX-License-Identifier: MIT */
/* Tests of aligning clocks, on hosts whose clocks are known: a result is within
 * its reported error of the truth, and nothing is reported that cannot be
 * known. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/clocks/alignment.h"
#include "shm/hash.h"
#include "test/unit/support/unit.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)
#define HOSTS 8

/* A host's clock as a function of the true time. */
struct clock {
	uint64_t ahead_ns;
	double drift;
	/* From this time on the clock runs at another rate. */
	uint64_t changes_ns;
	double drift_then;
	double bends_ns; /* amplitude of three slow oscillations */
};

struct network {
	struct ncs_alignment *alignment;
	struct clock clocks[HOSTS];
	uint64_t random;
	uint64_t length_ns;
	uint64_t latency_ns;
	double byte_ns;
	bool is_socket;
	struct ncs_aligned aligned[HOSTS];
	struct ncs_alignment_quality quality;
};

static uint64_t next_random(struct network *network)
{
	uint64_t x = ncs_hash(network->random);

	network->random += UINT64_C(0x9e3779b97f4a7c15);
	return x;
}

/* Returns an exponentially distributed time with this mean. */
static uint64_t noise(struct network *network, double mean_ns)
{
	double uniform =
		((double)(next_random(network) >> 11) + 1) / 9007199254740993.0;

	return (uint64_t)(-mean_ns * log(uniform));
}

static uint64_t clock_at(const struct network *network, size_t host,
			 uint64_t true_ns)
{
	const struct clock *clock = &network->clocks[host];
	double moved = clock->drift * (double)true_ns;

	if (clock->changes_ns != 0 && true_ns > clock->changes_ns)
		moved += (clock->drift_then - clock->drift) *
			 (double)(true_ns - clock->changes_ns);
	moved += clock->bends_ns *
		 sin(6 * M_PI * (double)true_ns / (double)network->length_ns);
	return clock->ahead_ns + true_ns + (uint64_t)llround(moved);
}

static int setup(void **state)
{
	struct network *network = calloc(1, sizeof(*network));

	if (!network)
		return -1;
	network->alignment = ncs_alignment_new(HOSTS);
	network->length_ns = 30 * S;
	network->latency_ns = 2 * US;
	network->byte_ns = 1.0 / 50; /* 50 GB/s */
	for (size_t i = 0; i < HOSTS; i++)
		network->clocks[i] = (struct clock){
			.ahead_ns = S * 1000 + i * i * 17 * S + i * 12345,
			.drift = ((double)((i * 37) % 11) - 5) * 18e-6,
		};
	*state = network;
	return network->alignment ? 0 : -1;
}

static int teardown(void **state)
{
	struct network *network = *state;

	ncs_alignment_free(network->alignment);
	free(network);
	return 0;
}

static void add(struct network *network, enum ncs_fact fact, size_t host,
		uint64_t at_ns, size_t then_host, uint64_t then_ns)
{
	assert_int_equal(
		ncs_alignment_add(
			network->alignment,
			&(struct ncs_before){
				.fact = fact,
				.host = host,
				.then_host = then_host,
				.at_ns = clock_at(network, host, at_ns),
				.then_ns = clock_at(network, then_host,
						    then_ns) }),
		0);
}

/* A message, as the proxy threads of both sides see it. */
static void send_message(struct network *network, size_t from, size_t to,
			 uint64_t when_ns, uint64_t bytes)
{
	uint64_t posted_ns = when_ns + noise(network, 20e3);
	uint64_t ready_ns = when_ns + noise(network, 20e3);
	uint64_t credit_ns =
		posted_ns + network->latency_ns + noise(network, 3e3);
	bool waits = !network->is_socket && credit_ns > ready_ns;
	uint64_t sent_ns = (waits ? credit_ns : ready_ns) + noise(network, 300);
	uint64_t arrived_ns = sent_ns + network->latency_ns +
			      (uint64_t)(network->byte_ns * (double)bytes) +
			      noise(network, 5e3);

	if (next_random(network) % 50 == 0)
		arrived_ns += noise(network, 2e6); /* a queue in the network */
	if (arrived_ns < posted_ns)
		arrived_ns = posted_ns + US;
	add(network, waits ? NCS_FACT_AWAITED_CREDIT : NCS_FACT_CREDIT, to,
	    posted_ns, from, sent_ns);
	add(network, NCS_FACT_ORDER, from, sent_ns, to, arrived_ns);
}

/* Sends messages from each of `count` hosts to the next, over the whole
 * time. */
static void ring(struct network *network, size_t count, unsigned messages,
		 uint64_t bytes)
{
	for (unsigned i = 0; i < messages; i++) {
		uint64_t when_ns = i * (network->length_ns / messages);

		for (size_t k = 0; k < count; k++)
			send_message(network, k, (k + 1) % count, when_ns,
				     bytes);
	}
}

/* Adds a collective in which all hosts wait. */
static void collective(struct network *network, size_t count, uint64_t when_ns)
{
	uint64_t arrive_ns[HOSTS], end_ns[HOSTS], all_ns = 0;

	for (size_t i = 0; i < count; i++) {
		arrive_ns[i] = when_ns + noise(network, 50e3);
		if (arrive_ns[i] > all_ns)
			all_ns = arrive_ns[i];
	}
	for (size_t i = 0; i < count; i++)
		end_ns[i] = all_ns + 30 * US + noise(network, 50e3);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++)
			add(network, NCS_FACT_ORDER, i, arrive_ns[i], k,
			    end_ns[k]);
}

static void solve(struct network *network)
{
	assert_int_equal(ncs_alignment_solve(
				 network->alignment, 0, clock_at(network, 0, 0),
				 clock_at(network, 0, network->length_ns),
				 network->aligned, &network->quality),
			 0);
}

static int64_t common_at(const struct network *network, size_t host,
			 uint64_t true_ns)
{
	const struct ncs_aligned *aligned = &network->aligned[host];
	uint64_t own_ns = clock_at(network, host, true_ns);
	double moved =
		aligned->drift * (double)(int64_t)(own_ns - aligned->at_ns);

	return (int64_t)(own_ns + (uint64_t)aligned->offset_ns +
			 (uint64_t)(int64_t)llround(moved));
}

/* Returns how far a host's aligned clock is from the reference at worst. */
static uint64_t true_error(const struct network *network, size_t host)
{
	uint64_t worst_ns = 0;

	for (unsigned i = 0; i <= 64; i++) {
		uint64_t true_ns = network->length_ns / 64 * i;
		int64_t off_ns = common_at(network, host, true_ns) -
				 (int64_t)clock_at(network, 0, true_ns);

		if ((uint64_t)llabs(off_ns) > worst_ns)
			worst_ns = (uint64_t)llabs(off_ns);
	}
	return worst_ns;
}

static void assert_aligned(const struct network *network, size_t count,
			   uint64_t error_at_most_ns)
{
	for (size_t i = 0; i < count; i++) {
		const struct ncs_aligned *aligned = &network->aligned[i];

		if (true_error(network, i) > aligned->error_ns ||
		    aligned->error_ns > error_at_most_ns)
			print_message(
				"host %zu: off by %llu, reported %llu\n", i,
				(unsigned long long)true_error(network, i),
				(unsigned long long)aligned->error_ns);
		assert_int_equal(aligned->by, NCS_ALIGNED_BY_TRAFFIC);
		assert_true(true_error(network, i) <= aligned->error_ns);
		assert_true(aligned->error_ns <= error_at_most_ns);
		assert_int_equal(aligned->violations, 0);
		assert_false(aligned->is_uneven);
	}
}

UNIT_FIXTURE(setup, teardown)

TEST(two_hosts_with_waiting_senders_are_aligned)
{
	struct network *network = *state;

	ring(network, 2, 20000, 512 << 10);
	solve(network);
	assert_aligned(network, 2, 15 * US);
	assert_true(true_error(network, 1) < 2 * US);
	assert_true(fabs(network->aligned[1].drift -
			 (1 + network->clocks[0].drift) /
				 (1 + network->clocks[1].drift) +
			 1) < 1e-7);
}

/* Data go in one direction only: credits bound the other one, and small messages tell
 * the time that data take. */
TEST(small_messages_bound_the_clock)
{
	struct network *network = *state;

	for (unsigned i = 0; i < 20000; i++)
		send_message(network, 0, 1, i * (network->length_ns / 20000),
			     i % 4 == 0 ? 1024 : 512 << 10);
	solve(network);
	assert_aligned(network, 2, 4 * US);
	assert_true(true_error(network, 1) < 1 * US);
}

/* Without small messages the time of bytes cannot be told from the clocks. */
TEST(bytes_of_large_messages_are_part_of_the_error)
{
	struct network *network = *state;

	for (unsigned i = 0; i < 20000; i++)
		send_message(network, 0, 1, i * (network->length_ns / 20000),
			     512 << 10);
	solve(network);
	assert_aligned(network, 2, 10 * US);
	assert_true(true_error(network, 1) > 3 * US);
}

TEST(one_way_traffic_without_credits_gives_no_line)
{
	struct network *network = *state;

	network->is_socket = true;
	for (unsigned i = 0; i < 2000; i++)
		send_message(network, 0, 1, i * (network->length_ns / 2000),
			     512 << 10);
	solve(network);
	assert_int_equal(network->aligned[1].by, NCS_ALIGNED_BY_NOTHING);
	assert_int_equal(network->quality.one_way, 1);
	assert_int_equal(network->quality.pairs, 0);
}

TEST(collectives_bound_both_directions)
{
	struct network *network = *state;

	network->is_socket = true;
	ring(network, 3, 2000, 512 << 10);
	for (unsigned i = 0; i < 2000; i++)
		collective(network, 3, i * (network->length_ns / 2000));
	solve(network);
	assert_aligned(network, 3, 60 * US);
}

TEST(hosts_are_aligned_through_other_hosts)
{
	struct network *network = *state;

	ring(network, HOSTS, 5000, 512 << 10);
	solve(network);
	assert_aligned(network, HOSTS, 60 * US);
	assert_int_equal(network->quality.pairs, HOSTS);
	assert_int_equal(network->quality.loop_ns, 0);
	/* The tree alone, whose lines need not agree, is off by some 12 us. */
	for (size_t i = 0; i < HOSTS; i++)
		assert_true(true_error(network, i) < 2 * US);
}

/* Awaited credits tell nothing where they contradict the order of messages. */
TEST(wrong_credits_are_ignored)
{
	struct network *network = *state;

	network->is_socket = true;
	ring(network, 2, 2000, 4096);
	for (unsigned i = 0; i < 2000; i++) {
		uint64_t at_ns = MS + i * ((network->length_ns - MS) / 2000);

		add(network, NCS_FACT_AWAITED_CREDIT, 1, at_ns, 0, at_ns - MS);
	}
	solve(network);
	assert_aligned(network, 2, 60 * US);
}

/* Each pair is consistent, but the three are not: facts are wrong. */
TEST(loops_that_do_not_close_are_reported)
{
	struct network *network = *state;

	for (uint64_t i = 0; i < 100; i++)
		for (size_t k = 0; k < 3; k++) {
			uint64_t at_ns = i * 300 * MS;
			uint64_t late_ns = k == 2 ? 5 * MS : 0;
			size_t then = (k + 1) % 3;

			add(network, NCS_FACT_ORDER, k, at_ns, then,
			    at_ns + late_ns + 10 * US);
			add(network, NCS_FACT_ORDER, then, at_ns + late_ns, k,
			    at_ns + 10 * US);
		}
	solve(network);
	assert_true(network->quality.loop_ns > 4 * MS);
	assert_true(network->quality.loop_ns < 6 * MS);
}

/* With aligned clocks no message arrives before it was sent. */
TEST(causality_holds_afterwards)
{
	struct network *network = *state;
	unsigned violations = 0;

	ring(network, 4, 5000, 512 << 10);
	solve(network);
	for (unsigned i = 0; i < 2000; i++) {
		uint64_t sent_ns = next_random(network) % network->length_ns;
		size_t from = next_random(network) % 4;
		uint64_t arrived_ns =
			sent_ns + network->latency_ns +
			(uint64_t)(network->byte_ns * (512 << 10));

		violations += common_at(network, (from + 1) % 4, arrived_ns) <
			      common_at(network, from, sent_ns);
	}
	assert_int_equal(violations, 0);
}

static void add_realtime(struct network *network, size_t host,
			 uint64_t error_ns, uint64_t step_at_ns)
{
	for (uint64_t at_ns = 0; at_ns < network->length_ns; at_ns += S) {
		uint64_t own_ns = clock_at(network, host, at_ns);
		uint64_t wrong_ns = error_ns / 2;

		if (at_ns < step_at_ns)
			wrong_ns += 3 * S;
		assert_int_equal(
			ncs_alignment_add_realtime(
				network->alignment, host, own_ns,
				UINT64_C(1700000000) * S + at_ns + wrong_ns,
				own_ns + 60, error_ns),
			0);
	}
}

TEST(realtime_is_used_without_traffic)
{
	struct network *network = *state;

	network->clocks[0].drift = network->clocks[1].drift = 0;
	add_realtime(network, 0, 2 * MS, 0);
	add_realtime(network, 1, 5 * MS, 0);
	solve(network);
	assert_int_equal(network->aligned[1].by, NCS_ALIGNED_BY_REALTIME);
	assert_true(true_error(network, 1) <= network->aligned[1].error_ns);
	assert_true(network->aligned[1].error_ns < 60 * MS);
	assert_int_equal(network->aligned[2].by, NCS_ALIGNED_BY_NOTHING);
}

TEST(traffic_is_preferred_to_realtime)
{
	struct network *network = *state;

	add_realtime(network, 0, 2 * MS, 0);
	add_realtime(network, 1, 2 * MS, 0);
	ring(network, 2, 5000, 512 << 10);
	solve(network);
	assert_aligned(network, 2, 15 * US);
}

/* CLOCK_REALTIME is set in the middle: earlier readings are not used. */
TEST(clock_that_is_set_is_noticed)
{
	struct network *network = *state;

	network->clocks[0].drift = network->clocks[1].drift = 0;
	add_realtime(network, 0, 2 * MS, 0);
	add_realtime(network, 1, 2 * MS, 15 * S);
	solve(network);
	assert_int_equal(network->aligned[0].realtime_steps, 0);
	assert_int_equal(network->aligned[1].realtime_steps, 1);
	assert_true(true_error(network, 1) <= network->aligned[1].error_ns);
}

/* If the rate of a clock changes, no line fits, and the error is larger. */
TEST(uneven_clock_has_a_larger_error)
{
	struct network *network = *state;

	network->clocks[1].changes_ns = 10 * S;
	network->clocks[1].drift_then = network->clocks[1].drift + 50e-6;
	ring(network, 2, 10000, 512 << 10);
	solve(network);
	assert_true(network->aligned[1].is_uneven);
	assert_true(network->aligned[1].violations > 0);
	assert_true(true_error(network, 1) <= network->aligned[1].error_ns);
	assert_true(network->aligned[1].error_ns < 2 * MS);
}

/* Clocks are corrected all the time by a little: a line may still fit. */
TEST(bent_clock_is_within_the_error)
{
	static const double bends_ns[] = { 500,  1000, 2000, 3000,
					   5000, 8000, 20000 };
	struct network *network = *state;

	for (size_t i = 0; i < sizeof(bends_ns) / sizeof(*bends_ns); i++) {
		ncs_alignment_free(network->alignment);
		network->alignment = ncs_alignment_new(HOSTS);
		network->clocks[1].bends_ns = bends_ns[i];
		ring(network, 2, 20000, 64 << 10);
		solve(network);
		assert_true(true_error(network, 1) <=
			    network->aligned[1].error_ns);
		assert_true((double)network->aligned[1].error_ns <
			    8e3 + 3 * bends_ns[i]);
	}
}

TEST(few_wrong_facts_do_no_harm)
{
	struct network *network = *state;

	ring(network, 2, 5000, 512 << 10);
	for (unsigned i = 0; i < 5; i++)
		add(network, NCS_FACT_ORDER, 0, i * 5 * S + 2 * MS, 1,
		    i * 5 * S);
	solve(network);
	assert_true(network->aligned[1].violations > 0);
	assert_false(network->aligned[1].is_uneven);
	assert_true(true_error(network, 1) <= network->aligned[1].error_ns);
	assert_true(network->aligned[1].error_ns <= 20 * US);
}

/* Random times must cause no crash and no endless loop. */
TEST(hostile_facts_do_no_harm)
{
	struct network *network = *state;

	for (unsigned i = 0; i < 20000; i++) {
		unsigned shift = i % 64;
		struct ncs_before before = {
			.fact = (enum ncs_fact)(next_random(network) % 3),
			.host = next_random(network) % (HOSTS + 1),
			.then_host = next_random(network) % (HOSTS + 1),
			.at_ns = next_random(network) >> shift,
			.then_ns = next_random(network) >> shift,
		};
		uint64_t error_ns = next_random(network) >> shift;
		uint64_t took_ns = next_random(network) >> shift;

		assert_int_equal(ncs_alignment_add(network->alignment, &before),
				 0);
		assert_int_equal(ncs_alignment_add_realtime(
					 network->alignment, before.host,
					 before.at_ns, before.then_ns,
					 before.at_ns + took_ns, error_ns),
				 0);
	}
	solve(network);
	assert_int_equal(ncs_alignment_solve(network->alignment, 0, 5, 5,
					     network->aligned,
					     &network->quality),
			 0);
}
