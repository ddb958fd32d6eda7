/* SPDX-License-Identifier: MIT */
/* Tests of when looks are due that can be read by themselves
 * (fleet/stream/key_times.h), of a thousand agents that begin together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fleet/stream/key_times.h"
#include "shm/hash.h"

#define S UINT64_C(1000000000)
#define BEGUN_NS (12345 * S)
#define AGENTS 1000u

static struct ncs_key_times agents[AGENTS];

/* Begins agents whose first look stands alone. */
static int setup(void **state)
{
	(void)state;
	for (unsigned i = 0; i < AGENTS; i++) {
		agents[i] = (struct ncs_key_times){ .phase = ncs_hash(i) };
		assert_true(ncs_key_times_are_due(&agents[i], BEGUN_NS));
		agents[i].latest_ns = BEGUN_NS;
	}
	return 0;
}

/* Takes a look of all agents. Returns how many stand alone. */
static unsigned look(unsigned second)
{
	uint64_t now_ns = BEGUN_NS + second * S;
	unsigned count = 0;

	for (unsigned i = 0; i < AGENTS; i++) {
		if (!ncs_key_times_are_due(&agents[i], now_ns))
			continue;
		agents[i].latest_ns = now_ns;
		count++;
	}
	return count;
}

static void test_agents_that_began_together_take_turns(void **state)
{
	unsigned sum = 0;

	(void)state;
	for (unsigned i = 1; i <= 100; i++) {
		unsigned count = look(i);

		assert_in_range(count, 50, 160);
		sum += count;
	}
	assert_int_equal(sum, AGENTS * 10);
}

static void test_none_is_later_than_the_longest_time(void **state)
{
	(void)state;
	for (unsigned i = 1; i <= 100; i++) {
		look(i);
		for (unsigned k = 0; k < AGENTS; k++)
			assert_true(BEGUN_NS + i * S - agents[k].latest_ns <
				    NCS_KEY_EVERY_NS);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_agents_that_began_together_take_turns),
		TEST(test_none_is_later_than_the_longest_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
