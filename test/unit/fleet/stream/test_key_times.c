/* SPDX-License-Identifier: MIT */
/* Tests of when looks are due that can be read by themselves
 * (fleet/stream/key_times.h), of a thousand agents that begin together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "fleet/stream/key_times.h"
#include "shm/hash.h"

#define S UINT64_C(1000000000)
#define BEGUN_NS (12345 * S)
#define AGENTS 1000u

static struct ncs_key_times agents[AGENTS];

static const struct ncs_key_ranks all_level = { true, 8, 8, 8 };
static const struct ncs_key_ranks none_level = { true, 8, 0, 0 };
static const struct ncs_key_ranks without_digests = { true, 8, 8, 0 };
static const struct ncs_key_ranks full = { false, 8, 0, 0 };

/* Begins agents whose first look stands alone. */
static int setup(void **state)
{
	(void)state;
	for (unsigned i = 0; i < AGENTS; i++) {
		agents[i] = (struct ncs_key_times){ .phase = ncs_hash(i) };
		assert_true(ncs_key_times_are_due(&agents[i], BEGUN_NS, &full));
		ncs_key_times_note(&agents[i], BEGUN_NS, &all_level);
	}
	return 0;
}

/* Takes a look of all agents. Returns how many stand alone. */
static unsigned look(unsigned second, const struct ncs_key_ranks *ranks)
{
	uint64_t now_ns = BEGUN_NS + second * S;
	unsigned count = 0;

	for (unsigned i = 0; i < AGENTS; i++) {
		if (!ncs_key_times_are_due(&agents[i], now_ns, ranks))
			continue;
		ncs_key_times_note(&agents[i], now_ns, ranks);
		count++;
	}
	return count;
}

static void test_agents_that_began_together_take_turns(void **state)
{
	unsigned sum = 0;

	(void)state;
	for (unsigned i = 1; i <= 300; i++) {
		unsigned count = look(i, &all_level);

		assert_in_range(count, 10, 70);
		sum += count;
	}
	assert_int_equal(sum, AGENTS * 10);
}

static void test_none_is_later_than_the_longest_time(void **state)
{
	(void)state;
	for (unsigned i = 1; i <= 100; i++) {
		look(i, &full);
		for (unsigned k = 0; k < AGENTS; k++)
			assert_true(BEGUN_NS + i * S - agents[k].latest_ns <
				    NCS_KEY_EVERY_NS);
	}
	for (unsigned i = 101; i <= 300; i++) {
		look(i, &none_level);
		for (unsigned k = 0; k < AGENTS; k++)
			assert_true(BEGUN_NS + i * S - agents[k].latest_ns <
				    NCS_KEY_SETTLED_EVERY_NS);
	}
}

static void test_a_change_of_all_ranks_is_followed_soon_and_once(void **state)
{
	unsigned sum = 0;

	(void)state;
	for (unsigned i = 1; i <= 45; i++)
		look(i, &all_level);
	/* All hang. */
	for (unsigned i = 46; i < 56; i++)
		sum += look(i, &none_level);
	assert_true(sum >= AGENTS);
	for (unsigned i = 56; i < 76; i++) {
		unsigned count = look(i, &none_level);

		assert_in_range(count, 10, 70);
	}
	/* They get on. */
	sum = 0;
	for (unsigned i = 76; i < 86; i++)
		sum += look(i, &without_digests);
	assert_true(sum >= AGENTS);
}

static void test_ranks_without_the_digests_that_they_could_have_get_them(
	void **state)
{
	unsigned sum = 0;

	(void)state;
	for (unsigned i = 1; i <= 10; i++)
		sum += look(i, &without_digests);
	assert_int_equal(sum, AGENTS);
}

static void test_a_node_without_ranks_is_settled(void **state)
{
	const struct ncs_key_ranks none = { .has_digests = true };
	unsigned sum = 0;

	(void)state;
	for (unsigned k = 0; k < AGENTS; k++)
		ncs_key_times_note(&agents[k], BEGUN_NS, &none);
	for (unsigned i = 1; i <= 300; i++)
		sum += look(i, &none);
	assert_int_equal(sum, AGENTS * 10);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_agents_that_began_together_take_turns),
		TEST(test_none_is_later_than_the_longest_time),
		TEST(test_a_change_of_all_ranks_is_followed_soon_and_once),
		TEST(test_ranks_without_the_digests_that_they_could_have_get_them),
		TEST(test_a_node_without_ranks_is_settled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
