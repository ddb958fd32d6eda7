/* SPDX-License-Identifier: MIT */
/* Size classes of messages. */
#include "ncclstat/size_class.h"
#include "test/unit/support/unit.h"

TEST(each_power_of_two_begins_a_class)
{
	for (unsigned i = 0; i < 64; i++) {
		uint64_t low = UINT64_C(1) << i;
		unsigned size_class = ncs_size_class(low);

		assert_int_equal(ncs_size_class_low(size_class), low);
		assert_int_equal(ncs_size_class(low + (low - 1)), size_class);
		assert_int_equal(ncs_size_class(low - 1), size_class - 1);
		assert_true(size_class < NCS_SIZE_CLASS_COUNT);
	}
	assert_int_equal(ncs_size_class(UINT64_MAX), NCS_SIZE_CLASS_COUNT - 1);
}

TEST(size_of_zero_is_a_class_of_its_own)
{
	assert_int_equal(ncs_size_class(0), NCS_SIZE_CLASS_EMPTY);
	assert_int_equal(ncs_size_class_low(NCS_SIZE_CLASS_EMPTY), 0);
	assert_int_not_equal(NCS_SIZE_CLASS_UNKNOWN, NCS_SIZE_CLASS_EMPTY);
}
