/* SPDX-License-Identifier: MIT */
/* The word that counts an operation's children: whatever their number, it never
 * changes the flags and the owner beside it. */
#include "plugin/state/slots.h"
#include "test/unit/support/unit.h"

#define TAG UINT64_C(0x2468b)
#define COUNT_MAX UINT64_C(16777215)

TEST(children_are_counted_one_by_one)
{
	uint64_t word = ncs_children_none(TAG);

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
TEST(number_of_children_stays_at_its_greatest_value)
{
	uint64_t word = ncs_children_none(TAG) | NCS_LAUNCH_PENDING;

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

TEST(another_child_reopens_the_operation)
{
	uint64_t word = ncs_children_none(TAG) | NCS_CHILDREN_COUNTED;

	word = ncs_children_with_another(word);
	assert_int_equal(word & NCS_CHILDREN_COUNTED, 0);
	assert_true(ncs_children_are_of(word, TAG));
	assert_false(ncs_children_are_of(word, TAG + 2));
}
