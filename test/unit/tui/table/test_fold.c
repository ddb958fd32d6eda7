/* SPDX-License-Identifier: MIT */
/* Tests of a folded table, with a made-up job of 100 ranks on 13 nodes: rows
 * that are level are one, rows that need somebody's attention never are, and
 * all that finds, selects, tags and orders rows works on those that are hidden,
 * too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/model/waits.h"
#include "test/unit/support/source_synthetic.h"
#include "tui/table/column_layout.h"
#include "tui/table/table.h"
#include "tui/views/view.h"

#define SECOND UINT64_C(1000000000)
#define RANKS 100
/* Room for a row of each node, and for no more than that. */
#define ROOM 30
/* Room in which all nodes together are one row. */
#define LITTLE_ROOM 20

static struct ncs_source *source;
static struct ncs_model model;
static struct ncs_diagnosis diagnosis;
static struct ncs_marks tags;
static struct ncs_grid table;
static struct ncs_grid_query query;
static uint64_t now;

static void build(void)
{
	ncs_grid_build(&table, &query);
}

/* Looks at the job when it is so old. */
static void look(uint64_t age_ns)
{
	now = 1000 * SECOND + age_ns;
	assert_int_equal(ncs_model_update(&model, source, now), 0);
	assert_int_equal(ncs_diagnose(&diagnosis, &model), 0);
	build();
}

static int setup(void **state)
{
	(void)state;
	source = ncs_source_open_synthetic(1, RANKS, 2);
	assert_non_null(source);
	ncs_model_init(&model);
	ncs_diagnosis_init(&diagnosis);
	memset(&tags, 0, sizeof(tags));
	ncs_grid_init(&table, NCS_VIEW_RANK,
		      &ncs_screen_view_of(NCS_VIEW_RANK)->rules);
	query = (struct ncs_grid_query){ .model = &model,
					 .filter = "",
					 .tags = &tags,
					 .diagnosis = &diagnosis };
	table.folds.room = ROOM;
	look(0);
	look(SECOND);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ncs_grid_release(&table);
	ncs_marks_clear(&tags);
	ncs_diagnosis_release(&diagnosis);
	ncs_model_release(&model);
	source->close(source);
	return 0;
}

static void act(enum ncs_action action)
{
	assert_true(ncs_grid_act(&table, action));
	build();
}

/* Returns the place of a rank's row; the number of rows if it has none. */
static size_t place_of(int rank)
{
	size_t i = 0;

	while (i < table.count &&
	       (table.rows[i].of || table.rows[i].row.rank->now.identity.rank !=
					    rank ||
		table.rows[i].row.rank->now.identity.nranks != RANKS))
		i++;
	return i;
}

static bool is_shown(int rank)
{
	return place_of(rank) < table.count;
}

/* Selects the row of a node's group. */
static void select_node(const char *node)
{
	for (size_t i = 0; i < table.count; i++) {
		const struct ncs_fold_group *group = table.rows[i].of;

		if (!group || !group->place || strcmp(group->place, node) != 0)
			continue;
		ncs_grid_select(&table, i);
		return;
	}
	fail_msg("no row is selected of %s", node);
}

static const struct ncs_grid_row *selected(void)
{
	const struct ncs_grid_row *row = ncs_grid_selected(&table);

	assert_non_null(row);
	return row;
}

static void assert_selected(int rank)
{
	assert_null(selected()->of);
	assert_int_equal(selected()->row.rank->now.identity.rank, rank);
}

/* --- Which rows fold ------------------------------------------------------- */

static void rows_fold_only_if_they_do_not_fit(void **state)
{
	size_t all = table.passed;

	(void)state;
	assert_true(all > RANKS);
	assert_true(table.count < ROOM);
	table.folds.room = all;
	build();
	assert_int_equal(table.count, all);
	table.folds.room = all - 1;
	build();
	assert_true(table.count < ROOM);
	assert_int_equal(table.passed, all);
	/* On a screen of unknown size nothing folds. */
	table.folds.room = 0;
	build();
	assert_int_equal(table.count, all);
}

static void few_rows_never_fold(void **state)
{
	(void)state;
	query.filter = "node00";
	table.folds.room = 5;
	build();
	assert_true(table.folds.on);
	query.filter = "node001";
	build();
	assert_int_equal(table.count, 8);
}

static void every_rank_is_in_one_row(void **state)
{
	size_t sum = 0;

	(void)state;
	for (size_t i = 0; i < table.count; i++)
		sum += table.rows[i].of ? table.rows[i].of->count : 1;
	assert_int_equal(sum, table.passed);
}

static void ranks_that_need_attention_stay_above(void **state)
{
	size_t own = 0, hidden = 0, waiting = 0;

	(void)state;
	/* Its channel has hung for some seconds. */
	look(11 * SECOND);
	look(12 * SECOND);
	while (own < table.count && !table.rows[own].of)
		own++;
	assert_true(place_of(RANKS - 1) < own);
	for (size_t i = 0; i < table.folds.count; i++) {
		const struct ncs_rank *rank = table.folds.rows[i].row.rank;
		bool waits = ncs_rank_oldest(rank).duration_ns >= SECOND;

		waiting += waits && ncs_rank_is_live(rank);
		if (!ncs_fold_hides(&table, i))
			continue;
		hidden++;
		assert_false(waits);
		assert_int_not_equal(rank->now.liveness, NCS_DEAD);
		assert_false(ncs_rank_is_held_up(rank));
	}
	assert_true(waiting > 0);
	assert_true(own > waiting);
	assert_true(hidden > RANKS / 2);
}

static void many_nodes_are_one_row(void **state)
{
	(void)state;
	table.folds.room = LITTLE_ROOM;
	build();
	assert_true(table.count < 10);
	for (size_t i = 0; i < table.count; i++)
		if (table.rows[i].of)
			assert_null(table.rows[i].of->place);
	for (size_t i = 0; i < table.count && !selected()->of; i++)
		ncs_grid_select(&table, i);
	act(NCS_ACTION_UNFOLD);
	select_node("node006");
	assert_true(selected()->of->count > 1);
	act(NCS_ACTION_UNFOLD);
	assert_true(is_shown(49) && is_shown(55));
	assert_false(is_shown(56));
}

/* --- Opening and closing ---------------------------------------------------- */

static void group_opens_and_closes(void **state)
{
	size_t before = table.count;

	(void)state;
	select_node("node006");
	assert_false(is_shown(49));
	act(NCS_ACTION_UNFOLD);
	assert_int_equal(table.count, before + selected()->of->count);
	assert_true(is_shown(49));
	/* It is open until it is closed, also from a row in it. */
	look(2 * SECOND);
	assert_true(is_shown(49));
	ncs_grid_select(&table, place_of(49));
	act(NCS_ACTION_FOLD);
	assert_false(is_shown(49));
	assert_string_equal(selected()->of->place, "node006");
	act(NCS_ACTION_FOLD_ALL);
	for (int i = 0; i < RANKS; i++)
		assert_true(is_shown(i));
	ncs_grid_select(&table, place_of(49));
	act(NCS_ACTION_FOLD_ALL);
	assert_false(is_shown(49));
}

static void click_on_the_sign_opens_and_closes(void **state)
{
	int y;

	(void)state;
	table.header_y = 0;
	table.rows_y = 1;
	table.page = (int)table.count;
	table.width = 80;
	select_node("node006");
	y = 1 + (int)table.selected;
	assert_true(ncs_grid_click(&table, y, 20));
	build();
	assert_false(is_shown(49));
	assert_true(ncs_grid_click(&table, y, ncs_grid_marks_width(80)));
	build();
	assert_true(is_shown(49));
	assert_true(ncs_grid_click(&table, y, ncs_grid_marks_width(80)));
	build();
	assert_false(is_shown(49));
}

/* --- The selection ---------------------------------------------------------- */

static void hidden_rank_can_be_selected(void **state)
{
	(void)state;
	for (size_t i = 0; i < model.rank_count; i++) {
		assert_true(ncs_grid_select_rank(&table, model.ranks[i]));
		assert_ptr_equal(selected()->row.rank, model.ranks[i]);
		assert_null(selected()->of);
	}
	/* It stays in sight as long as it is selected. */
	assert_true(ncs_grid_select_rank(&table, model.ranks[17]));
	look(2 * SECOND);
	assert_ptr_equal(selected()->row.rank, model.ranks[17]);
	ncs_grid_select(&table, 0);
	build();
	for (size_t i = 0; i < table.count; i++)
		assert_true(table.rows[i].of ||
			    table.rows[i].row.rank != model.ranks[17]);
}

static void search_finds_hidden_ranks_one_after_the_other(void **state)
{
	(void)state;
	/* The process numbers of ranks 50 to 59. */
	assert_true(ncs_grid_search(&table, "105", NCS_HERE));
	assert_selected(50);
	assert_true(ncs_grid_search(&table, "105", NCS_FORWARD));
	assert_selected(51);
	build();
	assert_selected(51);
	assert_false(is_shown(50));
	assert_true(ncs_grid_search(&table, "105", NCS_BACKWARD));
	assert_selected(50);
	assert_true(ncs_grid_search(&table, "105", NCS_BACKWARD));
	assert_selected(59);
	assert_false(ncs_grid_search(&table, "no such rank", NCS_HERE));
	assert_selected(59);
}

static void search_for_a_node_selects_its_row(void **state)
{
	(void)state;
	assert_true(ncs_grid_search(&table, "node005", NCS_HERE));
	assert_string_equal(selected()->of->place, "node005");
	assert_true(ncs_grid_search(&table, "node00", NCS_FORWARD));
	assert_string_equal(selected()->of->place, "node006");
	assert_true(ncs_grid_search(&table, "node00", NCS_BACKWARD));
	assert_string_equal(selected()->of->place, "node005");
}

static void row_is_selected_again_by_its_name(void **state)
{
	struct ncs_grid_key key;

	(void)state;
	select_node("node002");
	ncs_grid_row_key(selected(), &key);
	assert_true(ncs_grid_search(&table, "105", NCS_HERE));
	ncs_grid_select_key(&table, &key);
	assert_string_equal(selected()->of->place, "node002");
	assert_false(is_shown(50));
}

/* --- Orders, filters, tags --------------------------------------------------- */

static void order_by_a_column_is_of_single_ranks(void **state)
{
	size_t folded = table.count;

	(void)state;
	ncs_grid_set_sort(&table, &ncs_columns[NCS_COLUMN_RANK_PID], true);
	build();
	assert_int_equal(table.count, table.passed);
	ncs_grid_set_sort(&table, NULL, false);
	build();
	assert_int_equal(table.count, folded);
	/* Upside down the worst are last. */
	ncs_grid_set_sort(&table, NULL, true);
	build();
	assert_int_equal(table.count, folded);
	assert_true(place_of(RANKS - 1) == table.count - 1);
}

static void filter_leaves_groups_of_what_passes(void **state)
{
	(void)state;
	query.filter = "node00";
	table.folds.room = ROOM;
	build();
	assert_int_equal(table.passed, 80);
	select_node("node009");
	assert_int_equal(selected()->of->count, 8);
	for (size_t i = 0; i < table.count; i++)
		if (table.rows[i].of)
			assert_non_null(strstr(table.rows[i].of->place,
					       "node00"));
}

static void tag_of_a_hidden_rank_is_seen(void **state)
{
	const struct ncs_row row = { .view = NCS_VIEW_RANK,
				     .rank = model.ranks[17] };
	struct ncs_grid_key key;
	size_t tagged = 0;

	(void)state;
	ncs_grid_key_of(&row, &key);
	assert_true(ncs_marks_add(&tags, &key, false));
	build();
	for (size_t i = 0; i < table.count; i++)
		tagged += ncs_grid_is_tagged(&table, &table.rows[i]);
	assert_int_equal(tagged, 1);
	query.only_tagged = true;
	build();
	assert_int_equal(table.count, 1);
	assert_ptr_equal(table.rows[0].row.rank, model.ranks[17]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(rows_fold_only_if_they_do_not_fit),
		TEST(few_rows_never_fold),
		TEST(every_rank_is_in_one_row),
		TEST(ranks_that_need_attention_stay_above),
		TEST(many_nodes_are_one_row),
		TEST(group_opens_and_closes),
		TEST(click_on_the_sign_opens_and_closes),
		TEST(hidden_rank_can_be_selected),
		TEST(search_finds_hidden_ranks_one_after_the_other),
		TEST(search_for_a_node_selects_its_row),
		TEST(row_is_selected_again_by_its_name),
		TEST(order_by_a_column_is_of_single_ranks),
		TEST(filter_leaves_groups_of_what_passes),
		TEST(tag_of_a_hidden_rank_is_seen),
	};

	return cmocka_run_group_tests_name("fold", tests, NULL, NULL);
}
