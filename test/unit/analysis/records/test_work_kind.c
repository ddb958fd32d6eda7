/* SPDX-License-Identifier: MIT */
/* Tests of the kinds of operations by which the work of stages is compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/records/work_kind.h"

static unsigned kind_of_send(int32_t rank, int32_t peer, int32_t nranks)
{
	return ncs_work_kind_of(&(struct ncs_part){
		.rank = rank,
		.peer = peer,
		.nranks = nranks,
		.function = NCS_FUNCTION_SEND,
		.flags = NCS_PART_P2P,
	});
}

static void neighbours_are_told_apart_around_the_ring(void **state)
{
	(void)state;
	assert_int_equal(kind_of_send(1, 2, 4), NCS_WORK_SEND_NEXT);
	assert_int_equal(kind_of_send(3, 0, 4), NCS_WORK_SEND_NEXT);
	assert_int_equal(kind_of_send(2, 1, 4), NCS_WORK_SEND_BEFORE);
	assert_int_equal(kind_of_send(0, 3, 4), NCS_WORK_SEND_BEFORE);
	assert_int_equal(kind_of_send(0, 2, 4), NCS_WORK_SEND_FAR);
}

static void two_ranks_are_first_and_last(void **state)
{
	(void)state;
	assert_int_equal(kind_of_send(0, 1, 2), NCS_WORK_SEND_NEXT);
	assert_int_equal(kind_of_send(1, 0, 2), NCS_WORK_SEND_BEFORE);
}

static void ranks_that_make_no_sense_are_far(void **state)
{
	(void)state;
	assert_int_equal(kind_of_send(INT32_MIN, INT32_MAX, 2),
			 NCS_WORK_SEND_FAR);
	assert_int_equal(kind_of_send(INT32_MAX, INT32_MIN, -1),
			 NCS_WORK_SEND_FAR);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_are_told_apart_around_the_ring),
		cmocka_unit_test(two_ranks_are_first_and_last),
		cmocka_unit_test(ranks_that_make_no_sense_are_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
