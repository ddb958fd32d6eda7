/* SPDX-License-Identifier: MIT */
/* Tests of a table as a tree, of folds, tags, and a row that is followed: rows
 * are in order, and folds, tags and the selection are remembered by name. */
#include <stdio.h>
#include <string.h>

#include "test/unit/support/scripted_source.h"
#include "test/unit/support/unit.h"
#include "tui/table/column_layout.h"
#include "tui/table/table.h"
#include "tui/views/view.h"

#define SECOND UINT64_C(1000000000)

static struct scripted scripted;
static struct ncs_grid table;
static struct ncs_marks tags;
static struct ncs_grid_query query;
static uint64_t now;

static void pass(void)
{
	now += SECOND;
	scripted_pass(&scripted, now);
	ncs_grid_build(&table, &query);
}

/* Opens ranks 0 to 3; odd ranks belong to another communicator and have two
 * channels. */
static int setup(void **state)
{
	(void)state;
	now = 10 * SECOND;
	scripted_init(&scripted);
	for (int i = 0; i < 4; i++) {
		struct scripted_rank *rank = scripted_add(&scripted, i);

		rank->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
		rank->snapshot.identity.comm_id = 7 + (uint64_t)i % 2;
		for (unsigned k = 0; i % 2 && k < 2; k++)
			scripted_channel(rank, k, true, 9);
	}
	memset(&tags, 0, sizeof(tags));
	ncs_grid_init(&table, NCS_VIEW_RANK,
		      &ncs_screen_view_of(NCS_VIEW_RANK)->rules);
	query = (struct ncs_grid_query){ .model = &scripted.model,
					 .filter = "",
					 .tags = &tags };
	pass();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ncs_grid_release(&table);
	ncs_marks_clear(&tags);
	scripted_release(&scripted);
	return 0;
}

static void act(enum ncs_action action)
{
	assert_true(ncs_grid_act(&table, action));
	ncs_grid_build(&table, &query);
}

/* Compares the rows with one letter for each: C for a communicator, a digit for
 * a rank, c for a channel. */
static void assert_rows(const char *wanted)
{
	char is[64] = "";

	assert_true(table.count < sizeof(is));
	for (size_t i = 0; i < table.count; i++) {
		const struct ncs_row *row = &table.rows[i].row;

		is[i] = row->communicator ?
				'C' :
			row->view == NCS_VIEW_CHANNEL ?
				'c' :
				(char)('0' + row->rank->now.identity.rank);
	}
	assert_string_equal(is, wanted);
}

static void select_rank(int rank)
{
	assert_true(
		ncs_grid_select_rank(&table, scripted_rank(&scripted, rank)));
}

static char selected(void)
{
	const struct ncs_grid_row *row = ncs_grid_selected(&table);

	assert_non_null(row);
	return row->row.communicator ?
		       'C' :
		       (char)('0' + row->row.rank->now.identity.rank);
}

/* --- The tree ------------------------------------------------------------- */

UNIT_FIXTURE(setup, teardown)

TEST(ranks_are_below_their_communicator)
{
	assert_rows("0213");
	act(NCS_ACTION_TREE);
	assert_rows("C02C13");
	assert_int_equal(table.passed, 4);
	assert_int_equal(table.rows[0].fold, NCS_FOLD_OPEN);
	assert_int_equal(table.rows[1].fold, NCS_FOLD_LEAF);
	assert_int_equal(table.rows[4].fold, NCS_FOLD_CLOSED);
	act(NCS_ACTION_TREE);
	assert_rows("0213");
}

TEST(rank_unfolds_into_its_channels)
{
	act(NCS_ACTION_TREE);
	select_rank(1);
	act(NCS_ACTION_UNFOLD);
	assert_rows("C02C1cc3");
	assert_int_equal(table.rows[5].depth, 2);
	/* The fold is kept by name and survives the next sample. */
	pass();
	assert_rows("C02C1cc3");
	act(NCS_ACTION_FOLD);
	assert_rows("C02C13");
}

TEST(folding_a_leaf_folds_its_parent)
{
	act(NCS_ACTION_TREE);
	select_rank(2);
	act(NCS_ACTION_FOLD);
	assert_rows("CC13");
	assert_int_equal(table.selected, 0);
	/* There is nothing above a communicator. */
	act(NCS_ACTION_FOLD);
	assert_rows("CC13");
}

TEST(all_rows_unfold_and_fold_at_once)
{
	act(NCS_ACTION_TREE);
	act(NCS_ACTION_FOLD_ALL);
	assert_rows("C02C1cc3cc");
	act(NCS_ACTION_FOLD_ALL);
	assert_rows("CC");
	act(NCS_ACTION_UNFOLD);
	assert_rows("C02C");
	act(NCS_ACTION_FOLD_ALL);
	assert_rows("C02C1cc3cc");
}

TEST(fold_keys_need_a_tree)
{
	act(NCS_ACTION_FOLD);
	act(NCS_ACTION_UNFOLD);
	act(NCS_ACTION_FOLD_ALL);
	assert_rows("0213");
}

TEST(tree_keeps_the_order_within_and_among_communicators)
{
	act(NCS_ACTION_TREE);
	table.sort = &ncs_columns[NCS_COLUMN_RANK_PID];
	table.inverted = true;
	ncs_grid_build(&table, &query);
	assert_rows("C31C20");
}

TEST(filter_leaves_no_communicator_without_rows)
{
	act(NCS_ACTION_TREE);
	query.filter = "103";
	ncs_grid_build(&table, &query);
	assert_rows("C3");
	query.filter = "nothing";
	ncs_grid_build(&table, &query);
	assert_rows("");
}

TEST(idle_channels_can_be_hidden)
{
	scripted.ranks[1].channels[1].state = NCS_CHANNEL_SEND_WAIT;
	scripted.ranks[1].channels[1].since_ns = now;
	act(NCS_ACTION_TREE);
	act(NCS_ACTION_FOLD_ALL);
	query.hide_idle = true;
	pass();
	assert_rows("C1c");
}

TEST(communicators_view_has_no_tree)
{
	ncs_grid_release(&table);
	ncs_grid_init(&table, NCS_VIEW_COMMUNICATOR,
		      &ncs_screen_view_of(NCS_VIEW_COMMUNICATOR)->rules);
	act(NCS_ACTION_TREE);
	assert_false(table.tree.on);
	assert_rows("CC");
}

/* --- Tags ----------------------------------------------------------------- */

static struct ncs_row row_of(enum ncs_view view, int rank, size_t index)
{
	return (struct ncs_row){ .view = view,
				 .rank = scripted_rank(&scripted, rank),
				 .index = index };
}

static void tag(struct ncs_row row, bool whole)
{
	struct ncs_grid_key key;

	ncs_grid_key_of(&row, &key);
	assert_true(ncs_marks_add(&tags, &key, whole));
}

static void assert_tagged(struct ncs_row row, bool wanted)
{
	assert_int_equal(ncs_marks_cover(&tags, &row), wanted);
}

TEST(tag_marks_one_row)
{
	struct ncs_row row;
	struct ncs_grid_key key;

	tag(row_of(NCS_VIEW_CHANNEL, 1, 0), false);
	tag(row_of(NCS_VIEW_RANK, 3, 0), false);
	assert_tagged(row_of(NCS_VIEW_CHANNEL, 1, 0), true);
	assert_tagged(row_of(NCS_VIEW_CHANNEL, 1, 1), false);
	assert_tagged(row_of(NCS_VIEW_CHANNEL, 3, 0), false);
	assert_tagged(row_of(NCS_VIEW_RANK, 1, 0), false);
	assert_tagged(row_of(NCS_VIEW_RANK, 3, 0), true);
	/* A proxy thread shares the tag of its rank; a function does not. */
	assert_tagged(row_of(NCS_VIEW_PROXY, 3, 0), true);
	assert_tagged(row_of(NCS_VIEW_FUNCTION, 3, 0), false);
	row = row_of(NCS_VIEW_RANK, 3, 0);
	ncs_grid_key_of(&row, &key);
	assert_true(ncs_marks_remove(&tags, &key));
	assert_false(ncs_marks_remove(&tags, &key));
	assert_tagged(row, false);
	assert_tagged(row_of(NCS_VIEW_CHANNEL, 1, 0), true);
}

TEST(whole_rank_is_tagged_in_every_view)
{
	tag(row_of(NCS_VIEW_RANK, 1, 0), true);
	assert_tagged(row_of(NCS_VIEW_CHANNEL, 1, 1), true);
	assert_tagged(row_of(NCS_VIEW_FUNCTION, 1, 2), true);
	assert_tagged(row_of(NCS_VIEW_CHANNEL, 3, 1), false);
}

TEST(whole_communicator_is_tagged_with_its_ranks)
{
	const struct ncs_row row = {
		.view = NCS_VIEW_COMMUNICATOR,
		.communicator = scripted_rank(&scripted, 3)->communicator,
	};
	struct ncs_row collective = row;

	collective.view = NCS_VIEW_COLLECTIVE;
	collective.index = NCS_FUNCTION_REDUCE;
	tag(row, false);
	assert_tagged(row_of(NCS_VIEW_RANK, 1, 0), false);
	assert_tagged(collective, false);
	tag(row, true);
	assert_tagged(collective, true);
	assert_int_equal(tags.count, 1);
	assert_tagged(row_of(NCS_VIEW_RANK, 1, 0), true);
	assert_tagged(row_of(NCS_VIEW_CHANNEL, 3, 1), true);
	assert_tagged(row_of(NCS_VIEW_RANK, 2, 0), false);
}

TEST(only_tagged_rows_are_shown)
{
	tag(row_of(NCS_VIEW_RANK, 3, 0), false);
	query.only_tagged = true;
	ncs_grid_build(&table, &query);
	assert_rows("3");
	assert_int_equal(table.total, 4);
	scripted.ranks[3].is_there = false;
	pass();
	assert_rows("");
	scripted.ranks[3].is_there = true;
	pass();
	assert_rows("3");
}

TEST(tree_keeps_ranks_of_tagged_channels)
{
	tag(row_of(NCS_VIEW_CHANNEL, 1, 1), false);
	query.only_tagged = true;
	ncs_grid_build(&table, &query);
	assert_rows("");
	act(NCS_ACTION_TREE);
	act(NCS_ACTION_FOLD_ALL);
	assert_rows("C1c");
	assert_int_equal(table.rows[2].row.index, 1);
}

/* --- Following ------------------------------------------------------------ */

TEST(followed_row_stays_selected_when_sorted)
{
	select_rank(2);
	act(NCS_ACTION_SORT_NEXT);
	assert_int_equal(table.selected, 0);
	select_rank(2);
	act(NCS_ACTION_FOLLOW);
	act(NCS_ACTION_SORT_INVERT);
	assert_int_equal(selected(), '2');
	act(NCS_ACTION_SORT_NEXT);
	assert_int_equal(selected(), '2');
}

TEST(followed_row_is_selected_when_it_returns)
{
	select_rank(3);
	act(NCS_ACTION_FOLLOW);
	scripted.ranks[3].is_there = false;
	pass();
	assert_int_not_equal(selected(), '3');
	scripted.ranks[3].is_there = true;
	pass();
	assert_int_equal(selected(), '3');
}

TEST(moving_the_selection_ends_following)
{
	select_rank(2);
	act(NCS_ACTION_FOLLOW);
	act(NCS_ACTION_DOWN);
	assert_false(table.following);
	assert_int_equal(selected(), '1');
	act(NCS_ACTION_FOLLOW);
	act(NCS_ACTION_FOLLOW);
	assert_false(table.following);
}
