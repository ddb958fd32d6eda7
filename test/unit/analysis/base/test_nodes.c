/* SPDX-License-Identifier: MIT */
/* Tests of the states of nodes (analysis/base/nodes.h). */
#include <string.h>

#include "analysis/base/nodes.h"
#include "test/unit/support/unit.h"

TEST(test_each_state_has_a_word_of_its_own)
{
	for (unsigned i = 0; i < NCS_NODE_STATE_COUNT; i++) {
		assert_true(ncs_node_state_help(i)[0] != '\0');
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(ncs_node_state_name(i),
						ncs_node_state_name(k));
	}
}

TEST(test_a_state_that_is_none_shows_nothing)
{
	assert_int_equal(ncs_node_sight(NCS_NODE_STATE_COUNT), NCS_SIGHT_NONE);
	assert_non_null(ncs_node_state_name(NCS_NODE_STATE_COUNT));
}

TEST(test_a_silent_node_shows_the_past)
{
	assert_int_equal(ncs_node_sight(NCS_NODE_SILENT), NCS_SIGHT_PAST);
	assert_int_equal(ncs_node_sight(NCS_NODE_ENDED), NCS_SIGHT_PAST);
	assert_int_equal(ncs_node_sight(NCS_NODE_OVER_LIMIT), NCS_SIGHT_PART);
	assert_int_equal(ncs_node_sight(NCS_NODE_RUNNING), NCS_SIGHT_LIVE);
	assert_int_equal(ncs_node_sight(NCS_NODE_REFUSED), NCS_SIGHT_NONE);
}

TEST(test_the_age_of_no_look_is_not_known)
{
	struct ncs_node node = { 0 };

	assert_true(ncs_node_age_ns(&node, 7) == UINT64_MAX);
	node.look_ns = 5;
	assert_true(ncs_node_age_ns(&node, 7) == 2);
	/* A look that came while the others were read. */
	assert_true(ncs_node_age_ns(&node, 4) == 0);
}
