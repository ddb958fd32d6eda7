/* SPDX-License-Identifier: MIT */
/* The word that counts an operation's children: whatever their number, it never
 * changes the flags and the owner beside it. */
#include "plugin/state/slots.h"
#include "test/unit/support/unit.h"

#define TAG UINT64_C(0x2468b)
#define COUNT_MAX UINT64_C(16777215)

static void children_are_counted_one_by_one(void **state)
{
	uint64_t word = ncs_children_none(TAG);

	(void)state;
	for (uint64_t i = 1; i <= 2000; i++) {
		word = ncs_children_with_another(word);
		assert_int_equal(ncs_children_started(word), i);
		assert_int_equal(ncs_children_live(word), i);
	}
	for (uint64_t i = 1; i <= 2000; i++) {
		assert_true(ncs_children_in_progress(word));
		word -= NCS_CHILD_LIVE;
		assert_int_equal(ncs_children_started(word), 2000);
		assert_int_equal(ncs_children_live(word), 2000 - i);
	}
	assert_false(ncs_children_in_progress(word));
}

/* An operation whose slot is never used again may have any number of them. */
static void number_of_children_stays_at_its_greatest_value(void **state)
{
	uint64_t word = ncs_children_none(TAG) | NCS_LAUNCH_PENDING;

	(void)state;
	for (uint64_t i = 1; i <= COUNT_MAX + 100; i++) {
		word = ncs_children_with_another(word);
		if (ncs_children_started(word) !=
			    (i < COUNT_MAX ? i : COUNT_MAX) ||
		    ncs_children_live(word) != 1 ||
		    !ncs_children_are_of(word, TAG) ||
		    (word & NCS_CHILDREN_COUNTED) ||
		    !(word & NCS_LAUNCH_PENDING))
			fail_msg("child %llu: %llx", (unsigned long long)i,
				 (unsigned long long)word);
		word -= NCS_CHILD_LIVE;
	}
}

static void another_child_reopens_the_operation(void **state)
{
	uint64_t word = ncs_children_none(TAG) | NCS_CHILDREN_COUNTED;

	(void)state;
	word = ncs_children_with_another(word);
	assert_int_equal(word & NCS_CHILDREN_COUNTED, 0);
	assert_true(ncs_children_are_of(word, TAG));
	assert_false(ncs_children_are_of(word, TAG + 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_are_counted_one_by_one),
		cmocka_unit_test(
			number_of_children_stays_at_its_greatest_value),
		cmocka_unit_test(another_child_reopens_the_operation),
	};

	return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
