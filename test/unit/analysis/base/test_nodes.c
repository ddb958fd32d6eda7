/* SPDX-License-Identifier: MIT */
/* Tests of the states of nodes (analysis/base/nodes.h). */
#include <string.h>

#include "analysis/base/nodes.h"
#include "test/unit/support/unit.h"

static void test_each_state_has_a_word_of_its_own(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NCS_NODE_STATE_COUNT; i++) {
		assert_true(ncs_node_state_help(i)[0] != '\0');
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(ncs_node_state_name(i),
						ncs_node_state_name(k));
	}
}

static void test_a_state_that_is_none_shows_nothing(void **state)
{
	(void)state;
	assert_int_equal(ncs_node_sight(NCS_NODE_STATE_COUNT), NCS_SIGHT_NONE);
	assert_non_null(ncs_node_state_name(NCS_NODE_STATE_COUNT));
}

static void test_a_silent_node_shows_the_past(void **state)
{
	(void)state;
	assert_int_equal(ncs_node_sight(NCS_NODE_SILENT), NCS_SIGHT_PAST);
	assert_int_equal(ncs_node_sight(NCS_NODE_ENDED), NCS_SIGHT_PAST);
	assert_int_equal(ncs_node_sight(NCS_NODE_OVER_LIMIT), NCS_SIGHT_PART);
	assert_int_equal(ncs_node_sight(NCS_NODE_RUNNING), NCS_SIGHT_LIVE);
	assert_int_equal(ncs_node_sight(NCS_NODE_REFUSED), NCS_SIGHT_NONE);
}

static void test_the_age_of_no_look_is_not_known(void **state)
{
	struct ncs_node node = { 0 };

	(void)state;
	assert_true(ncs_node_age_ns(&node, 7) == UINT64_MAX);
	node.look_ns = 5;
	assert_true(ncs_node_age_ns(&node, 7) == 2);
	/* A look that came while the others were read. */
	assert_true(ncs_node_age_ns(&node, 4) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_state_has_a_word_of_its_own),
		cmocka_unit_test(test_a_state_that_is_none_shows_nothing),
		cmocka_unit_test(test_a_silent_node_shows_the_past),
		cmocka_unit_test(test_the_age_of_no_look_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
