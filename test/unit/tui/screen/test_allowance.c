/* SPDX-License-Identifier: MIT */
/* Tests of how much of a processor a view of many nodes takes
 * (tui/screen/allowance.h), by made-up times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/screen/allowance.h"

#define MS UINT64_C(1000000)
#define BEGUN_NS (UINT64_C(12345) * 1000 * MS)
#define TICKS 1000u

/* Looks every second, each of which takes so long. Returns how many there are of
 * a thousand, and in *first of the first five. */
static unsigned count_looks(uint64_t each_ns, unsigned *first)
{
	struct ncs_allowance allowance = { 0 };
	uint64_t used_ns = 0;
	unsigned looks = 0;

	for (unsigned i = 0; i < TICKS; i++) {
		if (i == 5)
			*first = looks;
		if (!ncs_allowance_permits(&allowance, BEGUN_NS + i * 1000 * MS,
					   used_ns))
			continue;
		used_ns += each_ns;
		looks++;
	}
	return looks;
}

static void test_what_takes_less_than_the_share_is_not_left_out(void **state)
{
	unsigned first;

	(void)state;
	assert_int_equal(count_looks(150 * MS, &first), TICKS);
}

static void test_what_takes_more_has_the_share(void **state)
{
	unsigned first;

	(void)state;
	assert_in_range(count_looks(400 * MS, &first), 415, 425);
	assert_int_equal(first, 5);
	assert_in_range(count_looks(1000 * MS, &first), 166, 172);
	assert_int_equal(first, 2);
}

static void test_some_looks_come_whatever_they_take(void **state)
{
	unsigned first;

	(void)state;
	assert_in_range(count_looks(60000 * MS, &first), TICKS / 10,
			TICKS / 10 + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_what_takes_less_than_the_share_is_not_left_out),
		cmocka_unit_test(test_what_takes_more_has_the_share),
		cmocka_unit_test(test_some_looks_come_whatever_they_take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
