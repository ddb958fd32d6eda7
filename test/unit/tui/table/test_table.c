/* SPDX-License-Identifier: MIT */
/* Tests of the scrolling table: the rows and columns that it shows, and their
 * order; and a selected row that moves stays selected. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/support/scripted_source.h"
#include "test/unit/support/source_synthetic.h"
#include "test/unit/support/unit.h"
#include "tui/table/column_layout.h"
#include "tui/table/row_query.h"
#include "tui/table/table.h"
#include "tui/views/view.h"

#define SECOND UINT64_C(1000000000)

static void init(struct ncs_grid *table, enum ncs_view view)
{
	ncs_grid_init(table, view, &ncs_screen_view_of(view)->rules);
}

static void build(struct ncs_grid *table, const struct scripted *scripted,
		  const char *filter)
{
	const struct ncs_grid_query query = { .model = &scripted->model,
					      .filter = filter };

	ncs_grid_build(table, &query);
}

static void act(struct ncs_grid *table, enum ncs_action action)
{
	assert_true(ncs_grid_act(table, action));
}

static int rank_at(const struct ncs_grid *table, size_t place)
{
	assert_true(place < table->count);
	assert_non_null(table->rows[place].row.rank);
	return table->rows[place].row.rank->now.identity.rank;
}

static int selected_rank(const struct ncs_grid *table)
{
	assert_non_null(ncs_grid_selected(table));
	return rank_at(table, table->selected);
}

/* Adds a rank with one channel that has waited since a given time. */
static struct scripted_rank *add_waiting(struct scripted *scripted, int rank,
					 uint64_t since_ns)
{
	struct scripted_rank *added = scripted_add(scripted, rank);
	struct ncs_channel_view *channel =
		scripted_channel(added, 0, true, rank + 1);

	channel->state = NCS_CHANNEL_SEND_PEER_WAIT;
	channel->since_ns = since_ns;
	return added;
}

/* --- Rows ----------------------------------------------------------------- */

UNIT_FIXTURE(scripted_setup, scripted_teardown)

TEST(rows_match_the_model)
{
	struct scripted *scripted = *state;
	struct ncs_grid table;

	for (int i = 0; i < 4; i++)
		add_waiting(scripted, i, SECOND);
	scripted_pass(scripted, 2 * SECOND);
	init(&table, NCS_VIEW_RANK);
	build(&table, scripted, "");
	assert_int_equal(table.count, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(rank_at(&table, (size_t)i), i);
	ncs_grid_release(&table);
}

TEST(empty_table_survives_every_action)
{
	struct scripted *scripted = *state;
	struct ncs_grid table;
	scripted_pass(scripted, SECOND);
	for (unsigned view = 0; view < NCS_VIEW_COUNT; view++) {
		init(&table, (enum ncs_view)view);
		build(&table, scripted, "x|y");
		for (unsigned i = 0; i < NCS_ACTION_COUNT; i++)
			ncs_grid_act(&table, (enum ncs_action)i);
		build(&table, scripted, "");
		assert_null(ncs_grid_selected(&table));
		assert_false(ncs_grid_next_abnormal(&table));
		assert_false(ncs_grid_search(&table, "x", NCS_BACKWARD));
		ncs_grid_release(&table);
	}
}

TEST(unreadable_segment_is_a_row)
{
	struct scripted *scripted = *state;
	struct scripted_rank *other;
	struct ncs_grid table;

	add_waiting(scripted, 0, SECOND);
	other = scripted_add(scripted, 1);
	other->attach = NCS_ATTACH_OTHER_VERSION;
	other->why = "format 7.0";
	scripted_pass(scripted, SECOND);
	init(&table, NCS_VIEW_RANK);
	act(&table, NCS_ACTION_SORT_TIME);
	build(&table, scripted, "");
	assert_int_equal(table.count, 2);
	assert_string_equal(table.rows[1].unreadable->why, "format 7.0");
	act(&table, NCS_ACTION_SORT_INVERT);
	build(&table, scripted, "");
	assert_non_null(table.rows[1].unreadable);
	build(&table, scripted, "7.0");
	assert_int_equal(table.count, 1);
	ncs_grid_release(&table);
	/* Other views do not show the segment that cannot be read. */
	init(&table, NCS_VIEW_CHANNEL);
	build(&table, scripted, "");
	assert_int_equal(table.count, 1);
	ncs_grid_release(&table);
}

TEST(filter_matches_either_text)
{
	struct scripted *scripted = *state;
	static const char *const names[] = { "alpha", "beta", "gamma" };
	struct ncs_grid table;

	for (int i = 0; i < 3; i++) {
		struct ncs_identity *identity =
			&scripted_add(scripted, i)->snapshot.identity;

		identity->known |= NCS_KNOWN_COMM_NAME;
		snprintf(identity->comm_name, sizeof(identity->comm_name), "%s",
			 names[i]);
	}
	scripted_pass(scripted, SECOND);
	init(&table, NCS_VIEW_RANK);
	build(&table, scripted, "BETA|gam");
	assert_int_equal(table.count, 2);
	assert_int_equal(table.total, 3);
	build(&table, scripted, "|");
	assert_int_equal(table.count, 3);
	build(&table, scripted, "nothing has this");
	assert_int_equal(table.count, 0);
	ncs_grid_release(&table);
}

TEST(filter_compares_columns_with_values)
{
	static const struct {
		const char *filter;
		size_t ranks;
	} cases[] = {
		{ "rank 1", 1 },
		{ "Rank=1", 1 },
		{ "rank:1", 1 },
		{ "rank 1 world", 1 },
		{ "rank=10 world", 1 },
		{ "rank>=2 rank<11", 2 },
		{ "rank>9|rank 1", 3 },
		{ "host:node0", 5 },
		{ "host:node0 rank<2", 2 },
		{ "state=alive rank=2", 1 },
		{ "oldest>4ms", 1 },
		{ "oldest>5ms", 0 },
		{ "OLDEST<1s", 1 },
		{ "rank=", 5 },
		{ "rank=x", 0 },
		{ "nobody=1", 0 },
	};
	static const int ranks[] = { 0, 1, 2, 10, 11 };
	struct scripted *scripted = *state;
	struct ncs_grid table;
	char hint[128];

	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		struct scripted_rank *rank = add_waiting(
			scripted, ranks[i], 2 * SECOND - SECOND / 200);
		struct ncs_identity *identity = &rank->snapshot.identity;

		if (ranks[i] != 2)
			rank->snapshot.channel_count = 0;
		identity->known |= NCS_KNOWN_COMM_NAME;
		strcpy(identity->comm_name, "world");
		strcpy(rank->header.host, "node0001");
	}
	scripted_pass(scripted, 2 * SECOND);
	init(&table, NCS_VIEW_RANK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].filter);
		build(&table, scripted, cases[i].filter);
		assert_int_equal(table.count, cases[i].ranks);
	}
	ncs_row_query_hint(NCS_VIEW_RANK, "oldst>4ms", hint, sizeof(hint));
	assert_string_equal(hint, "no column 'oldst'; did you mean OLDEST?");
	ncs_row_query_hint(NCS_VIEW_RANK, "oldest>4h", hint, sizeof(hint));
	assert_string_equal(hint, "try " NCS_ROW_QUERY_EXAMPLES);
	ncs_grid_release(&table);
}

TEST(idle_rows_can_be_hidden)
{
	struct scripted *scripted = *state;
	struct ncs_grid table;
	const struct ncs_grid_query query = { .model = &scripted->model,
					      .filter = "",
					      .hide_idle = true };

	scripted_add(scripted, 0);
	add_waiting(scripted, 1, SECOND);
	scripted_pass(scripted, SECOND);
	scripted_pass(scripted, SECOND + SECOND / 2);
	init(&table, NCS_VIEW_RANK);
	ncs_grid_build(&table, &query);
	assert_int_equal(table.count, 1);
	assert_int_equal(rank_at(&table, 0), 1);
	assert_int_equal(table.total, 2);
	ncs_grid_release(&table);
}

TEST(focus_limits_rows_to_one_rank)
{
	struct scripted *scripted = *state;
	struct ncs_grid_query query = { .model = &scripted->model,
					.filter = "" };
	struct ncs_grid table;

	for (int i = 0; i < 3; i++)
		add_waiting(scripted, i, SECOND);
	scripted_pass(scripted, SECOND);
	query.focus = (struct ncs_focus){
		NCS_FOCUS_RANK, ncs_grid_id(scripted_rank(scripted, 1)->id), 0
	};
	init(&table, NCS_VIEW_CHANNEL);
	ncs_grid_build(&table, &query);
	assert_int_equal(table.count, 1);
	assert_int_equal(rank_at(&table, 0), 1);
	ncs_grid_release(&table);
}

/* --- Order ---------------------------------------------------------------- */

TEST(sorting_by_time_puts_the_longest_wait_first)
{
	struct scripted *scripted = *state;
	struct ncs_grid table;

	add_waiting(scripted, 0, 5 * SECOND);
	add_waiting(scripted, 1, 2 * SECOND);
	scripted_add(scripted, 2); /* does not wait */
	add_waiting(scripted, 3, 4 * SECOND);
	scripted_pass(scripted, 6 * SECOND);
	init(&table, NCS_VIEW_RANK);
	act(&table, NCS_ACTION_SORT_TIME);
	build(&table, scripted, "");
	assert_int_equal(rank_at(&table, 0), 1);
	assert_int_equal(rank_at(&table, 1), 3);
	assert_int_equal(rank_at(&table, 2), 0);
	assert_int_equal(rank_at(&table, 3), 2);
	act(&table, NCS_ACTION_SORT_INVERT);
	build(&table, scripted, "");
	assert_int_equal(rank_at(&table, 0), 0);
	/* Unknown values are last in any order. */
	assert_int_equal(rank_at(&table, 3), 2);
	ncs_grid_release(&table);
}

TEST(stepping_through_sort_columns_wraps_around)
{
	struct scripted *scripted = *state;
	struct ncs_grid table;

	for (unsigned view = 0; view < NCS_VIEW_COUNT; view++) {
		init(&table, (enum ncs_view)view);
		for (size_t i = 0; i < table.column_count; i++) {
			act(&table, NCS_ACTION_SORT_NEXT);
			assert_ptr_equal(table.sort, table.columns[i]);
			build(&table, scripted, "");
		}
		act(&table, NCS_ACTION_SORT_NEXT);
		assert_null(table.sort);
		act(&table, NCS_ACTION_SORT_PREVIOUS);
		assert_ptr_equal(table.sort,
				 table.columns[table.column_count - 1]);
		ncs_grid_release(&table);
	}
}

TEST(every_view_has_columns_for_P_M_T)
{
	for (unsigned view = 0; view < NCS_VIEW_COUNT; view++) {
		const struct ncs_grid_rules *rules =
			&ncs_screen_view_of((enum ncs_view)view)->rules;

		assert_int_equal(ncs_columns[rules->throughput].view, view);
		assert_int_equal(ncs_columns[rules->bytes].view, view);
		assert_int_equal(ncs_columns[rules->time].view, view);
	}
}

/* --- Selection ------------------------------------------------------------ */

TEST(selection_stays_with_its_rank)
{
	struct scripted *scripted = *state;
	struct scripted_rank *ranks[4];
	struct ncs_grid table;

	for (int i = 0; i < 4; i++)
		ranks[i] = add_waiting(scripted, i, (uint64_t)(i + 1) * SECOND);
	scripted_pass(scripted, 6 * SECOND);
	init(&table, NCS_VIEW_RANK);
	act(&table, NCS_ACTION_SORT_TIME);
	build(&table, scripted, "");
	act(&table, NCS_ACTION_DOWN);
	assert_int_equal(selected_rank(&table), 1);
	/* Now the selected rank has the shortest wait, and another rank is
	 * gone. */
	ranks[1]->channels[0].since_ns = 6 * SECOND;
	ranks[0]->is_there = false;
	scripted_pass(scripted, 7 * SECOND);
	build(&table, scripted, "");
	assert_int_equal(selected_rank(&table), 1);
	assert_int_equal(table.selected, 2);
	/* When the selected rank is gone, the row in its place is selected. */
	ranks[1]->is_there = false;
	scripted_pass(scripted, 8 * SECOND);
	build(&table, scripted, "");
	assert_int_equal(table.selected, 1);
	ncs_grid_release(&table);
}

TEST(untouched_selection_stays_on_the_first_row)
{
	struct scripted *scripted = *state;
	struct scripted_rank *ranks[2];
	struct ncs_grid table;

	for (int i = 0; i < 2; i++)
		ranks[i] = add_waiting(scripted, i, SECOND);
	ranks[1]->channels[0].since_ns = 2 * SECOND;
	scripted_pass(scripted, 3 * SECOND);
	init(&table, NCS_VIEW_RANK);
	act(&table, NCS_ACTION_SORT_TIME);
	build(&table, scripted, "");
	assert_int_equal(selected_rank(&table), 0);
	ranks[0]->channels[0].since_ns = 3 * SECOND;
	scripted_pass(scripted, 4 * SECOND);
	build(&table, scripted, "");
	assert_int_equal(selected_rank(&table), 1);
	/* Home selects the first row and unpins the selection. */
	act(&table, NCS_ACTION_DOWN);
	act(&table, NCS_ACTION_FIRST);
	assert_false(table.pinned);
	ncs_grid_release(&table);
}

TEST(channels_are_distinguished_by_direction_and_peer)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_grid table;

	scripted_channel(rank, 0, false, 1);
	scripted_channel(rank, 0, true, 1);
	scripted_channel(rank, 1, true, 1);
	scripted_pass(scripted, SECOND);
	init(&table, NCS_VIEW_CHANNEL);
	build(&table, scripted, "");
	assert_true(ncs_grid_select_channel(&table, 0, true, 1));
	assert_int_equal(table.selected, 1);
	assert_false(ncs_grid_select_channel(&table, 1, false, 1));
	build(&table, scripted, "");
	assert_int_equal(table.selected, 1);
	ncs_grid_release(&table);
}

TEST(search_wraps_around)
{
	struct scripted *scripted = *state;
	struct ncs_grid table;

	for (int i = 0; i < 5; i++)
		add_waiting(scripted, i, SECOND);
	scripted_pass(scripted, SECOND);
	init(&table, NCS_VIEW_RANK);
	build(&table, scripted, "");
	/* Pids begin at 100. */
	assert_true(ncs_grid_search(&table, "103", NCS_HERE));
	assert_int_equal(selected_rank(&table), 3);
	assert_true(ncs_grid_search(&table, "10", NCS_FORWARD));
	assert_int_equal(selected_rank(&table), 4);
	assert_true(ncs_grid_search(&table, "10", NCS_FORWARD));
	assert_int_equal(selected_rank(&table), 0);
	assert_true(ncs_grid_search(&table, "10", NCS_BACKWARD));
	assert_int_equal(selected_rank(&table), 4);
	assert_false(ncs_grid_search(&table, "nobody", NCS_FORWARD));
	assert_int_equal(selected_rank(&table), 4);
	ncs_grid_release(&table);
}

TEST(next_abnormal_row_is_found)
{
	struct scripted *scripted = *state;
	struct ncs_grid table;

	scripted_add(scripted, 0);
	add_waiting(scripted, 1, SECOND);
	scripted_add(scripted, 2);
	scripted_add(scripted, 3)->snapshot.liveness = NCS_DEAD;
	scripted_add(scripted, 4)->snapshot.losses[NCS_LOSS_STALE] = 1;
	scripted_add(scripted, 5)->snapshot.liveness = NCS_SILENT;
	scripted_pass(scripted, 3 * SECOND);
	init(&table, NCS_VIEW_RANK);
	build(&table, scripted, "");
	for (int i = 0; i < 2; i++) {
		static const int abnormal[] = { 5, 1, 4, 3 };

		for (size_t k = 0; k < 4; k++) {
			assert_true(ncs_grid_next_abnormal(&table));
			assert_int_equal(selected_rank(&table), abnormal[k]);
		}
	}
	ncs_grid_release(&table);
}

/* Dead ranks come first, then silent ones, then the others by rank; those that
 * have finished come last. A sort column has its own order. */
TEST(rows_that_need_somebody_come_first)
{
	static const int usual[] = { 3, 2, 1, 4, 0 };
	static const int by_rank[] = { 0, 1, 2, 3, 4 };
	struct scripted *scripted = *state;
	struct ncs_grid table;

	scripted_add(scripted, 0)->snapshot.liveness = NCS_FINISHED;
	scripted_add(scripted, 1);
	scripted_add(scripted, 2)->snapshot.liveness = NCS_SILENT;
	scripted_add(scripted, 3)->snapshot.liveness = NCS_DEAD;
	scripted_add(scripted, 4);
	scripted_pass(scripted, 3 * SECOND);
	init(&table, NCS_VIEW_RANK);
	build(&table, scripted, "");
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(table.rows[i].row.rank->now.identity.rank,
				 usual[i]);
	ncs_grid_set_sort(&table, &ncs_columns[NCS_COLUMN_RANK_RANK], false);
	build(&table, scripted, "");
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(table.rows[i].row.rank->now.identity.rank,
				 by_rank[i]);
	ncs_grid_release(&table);
}

TEST(loss_marks_a_row_while_it_is_in_the_window)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank;
	struct ncs_grid table;

	scripted_add(scripted, 0);
	rank = scripted_add(scripted, 1);
	rank->snapshot.losses[NCS_LOSS_BAD_PTIMER] = 1;
	for (uint64_t at = 1; at <= 6; at++) {
		/* One at first, one at the fourth look. */
		bool marked = at == 1 || at == 4;

		if (at == 4)
			rank->snapshot.losses[NCS_LOSS_BAD_PTIMER] = 2;
		scripted_pass(scripted, at * SECOND);
		init(&table, NCS_VIEW_RANK);
		build(&table, scripted, "");
		assert_int_equal(ncs_grid_next_abnormal(&table), marked);
		ncs_grid_release(&table);
	}
}

/* --- Columns -------------------------------------------------------------- */

static void check_places(const struct ncs_grid *table, int width)
{
	struct ncs_grid_place places[NCS_GRID_COLUMNS_MAX];
	size_t count = ncs_grid_places(table, width, places);
	int x = 0;

	for (size_t i = 0; i < count; i++) {
		assert_true(places[i].x > x || i == 0);
		assert_true(places[i].width >= (int)places[i].column->width);
		assert_ptr_equal(table->columns[places[i].index],
				 places[i].column);
		x = places[i].x + places[i].width;
		assert_true(x <= width);
	}
	/* Even the narrowest table shows a column. */
	assert_true(count > 0);
}

TEST(columns_fit_every_width)
{
	struct ncs_grid table;

	for (unsigned view = 0; view < NCS_VIEW_COUNT; view++) {
		init(&table, (enum ncs_view)view);
		for (int width = NCS_LAYOUT_MIN_WIDTH; width <= 300; width++) {
			table.width = width;
			for (table.skip = 0; table.skip < 20; table.skip++)
				check_places(&table, width);
		}
		ncs_grid_release(&table);
	}
}

static bool is_shown(const struct ncs_grid *table, int width, const char *id)
{
	struct ncs_grid_place places[NCS_GRID_COLUMNS_MAX];
	size_t count = ncs_grid_places(table, width, places);

	for (size_t i = 0; i < count; i++)
		if (strcmp(places[i].column->id, id) == 0)
			return true;
	return false;
}

/* The smallest usual terminal shows the columns that explain a stuck job. */
TEST(eighty_columns_show_the_important_columns)
{
	static enum ncs_column_id ids[] = {
		NCS_COLUMN_RANK_RANK,           NCS_COLUMN_RANK_STATE,
		NCS_COLUMN_RANK_WAIT,           NCS_COLUMN_RANK_OLDEST,
		NCS_COLUMN_RANK_LATE,           NCS_COLUMN_RANK_LATE_COST,
		NCS_COLUMN_RANK_BUSBW,          NCS_COLUMN_RANK_RANK,
		NCS_COLUMN_CHANNEL_STATE,       NCS_COLUMN_CHANNEL_SINCE,
		NCS_COLUMN_CHANNEL_STEP,        NCS_COLUMN_CHANNEL_RATE,
		NCS_COLUMN_CHANNEL_GPU_SHARE,   NCS_COLUMN_CHANNEL_PEER_SHARE,
		NCS_COLUMN_CHANNEL_NET_SHARE,   NCS_COLUMN_CHANNEL_PEER,
		NCS_COLUMN_PROXY_STATE,         NCS_COLUMN_PROXY_SINCE,
		NCS_COLUMN_PROXY_SLEEP_SHARE,   NCS_COLUMN_PROXY_WAKEUP_RATE,
		NCS_COLUMN_COLLECTIVE_BUSBW,    NCS_COLUMN_COLLECTIVE_ALGBW,
		NCS_COLUMN_COLLECTIVE_MOVING,   NCS_COLUMN_COLLECTIVE_TIME,
		NCS_COLUMN_FUNCTION_P50,        NCS_COLUMN_FUNCTION_P99,
		NCS_COLUMN_FUNCTION_OPERATIONS,
	};
	struct ncs_grid table;

	for (unsigned view = 0; view < NCS_VIEW_COUNT; view++) {
		init(&table, (enum ncs_view)view);
		for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
			const struct ncs_column *column = &ncs_columns[ids[i]];

			if (column->view == view)
				assert_true(is_shown(&table, 80, column->id));
		}
		ncs_grid_release(&table);
	}
}

/* Several communicators need their names; one makes room for more figures. */
TEST(one_communicator_needs_no_name_at_eighty_columns)
{
	static const char *const instead[] = { "RANK_GPU", "RANK_PID",
					       "RANK_TRACE" };
	struct ncs_grid table;

	init(&table, NCS_VIEW_RANK);
	assert_true(is_shown(&table, 80, "RANK_COMM"));
	table.one_communicator = true;
	assert_false(is_shown(&table, 80, "RANK_COMM"));
	for (size_t i = 0; i < sizeof(instead) / sizeof(*instead); i++)
		assert_true(is_shown(&table, 80, instead[i]));
	assert_true(is_shown(&table, 200, "RANK_COMM"));
	ncs_grid_release(&table);
	init(&table, NCS_VIEW_CHANNEL);
	table.one_communicator = true;
	assert_false(is_shown(&table, 80, "CHANNEL_COMM"));
	assert_true(is_shown(&table, 80, "CHANNEL_IDLE_SHARE"));
	ncs_grid_release(&table);
}

/* Ranks of several communicators have the same numbers. */
TEST(a_rank_has_its_communicator_beside_it_at_eighty_columns)
{
	struct ncs_grid table;
	char rank[64], comm[64];

	for (size_t i = 0; i < ncs_column_count; i++) {
		const struct ncs_column *column = &ncs_columns[i];

		if (strcmp(column->title, "RANK") != 0)
			continue;
		snprintf(rank, sizeof(rank), "%s", column->id);
		snprintf(comm, sizeof(comm), "%.*sCOMM",
			 (int)(strlen(rank) - strlen("RANK")), rank);
		init(&table, column->view);
		assert_true(is_shown(&table, 80, rank));
		if (!is_shown(&table, 80, comm))
			fail_msg("%s is not beside %s", comm, rank);
		ncs_grid_release(&table);
	}
}

TEST(every_column_can_be_scrolled_to)
{
	struct ncs_grid table;

	for (unsigned view = 0; view < NCS_VIEW_COUNT; view++) {
		bool seen[NCS_GRID_COLUMNS_MAX] = { false };

		init(&table, (enum ncs_view)view);
		table.width = 40;
		for (int step = 0; step < 20; step++) {
			for (size_t i = 0; i < table.column_count; i++)
				if (is_shown(&table, 40, table.columns[i]->id))
					seen[i] = true;
			act(&table, NCS_ACTION_RIGHT);
		}
		for (size_t i = 0; i < table.column_count; i++)
			assert_true(seen[i]);
		act(&table, NCS_ACTION_COLUMN_FIRST);
		assert_int_equal(table.skip, 0);
		act(&table, NCS_ACTION_COLUMN_LAST);
		assert_true(is_shown(
			&table, 40, table.columns[table.column_count - 1]->id));
		ncs_grid_release(&table);
	}
}

TEST(sort_column_is_always_shown)
{
	struct ncs_grid table;

	for (unsigned view = 0; view < NCS_VIEW_COUNT; view++) {
		init(&table, (enum ncs_view)view);
		for (size_t i = 0; i < table.column_count; i++) {
			act(&table, NCS_ACTION_SORT_NEXT);
			assert_true(is_shown(&table, 60, table.sort->id));
		}
		ncs_grid_release(&table);
	}
}

TEST(levels_add_columns)
{
	struct ncs_grid table;
	size_t info;

	init(&table, NCS_VIEW_RANK);
	info = table.column_count;
	act(&table, NCS_ACTION_LEVEL_MORE);
	assert_true(table.column_count > info);
	for (int i = 0; i < 5; i++)
		act(&table, NCS_ACTION_LEVEL_MORE);
	for (int i = 0; i < 9; i++)
		act(&table, NCS_ACTION_LEVEL_LESS);
	assert_int_equal(table.column_count, info);
	ncs_grid_release(&table);
}

/* --- Scrolling ------------------------------------------------------------ */

static void check_scrolling(struct ncs_grid *table, int page, uint32_t seed)
{
	static const enum ncs_action moves[] = {
		NCS_ACTION_UP,        NCS_ACTION_DOWN,  NCS_ACTION_PAGE_UP,
		NCS_ACTION_PAGE_DOWN, NCS_ACTION_FIRST, NCS_ACTION_LAST,
	};
	const struct ncs_rect header = { 0, 0, 1, 80 };
	const struct ncs_rect rows = { 1, 0, page, 80 };

	for (int i = 0; i < 12; i++) {
		size_t end;

		seed = seed * 1664525u + 1013904223u;
		act(table, moves[(seed >> 16) % 6]);
		ncs_grid_draw(table, &header, &rows);
		end = table->top + (size_t)page;
		if (table->count == 0)
			continue;
		assert_true(table->selected < table->count);
		assert_true(table->selected >= table->top);
		assert_true(table->selected < end);
		/* No line is left blank. */
		assert_true(table->top == 0 || end <= table->count);
	}
}

TEST(hidden_column_is_no_longer_the_sort_column)
{
	enum ncs_column_choice choices[NCS_COLUMN_COUNT] = { 0 };
	struct ncs_grid table;
	size_t count;

	init(&table, NCS_VIEW_CHANNEL);
	count = table.column_count;
	ncs_grid_set_sort(&table, &ncs_columns[NCS_COLUMN_CHANNEL_SINCE], true);
	choices[NCS_COLUMN_CHANNEL_BYTES] = NCS_COLUMN_HIDDEN;
	ncs_grid_set_columns(&table, NCS_COLUMN_INFO, choices);
	assert_int_equal(table.column_count, count - 1);
	assert_non_null(table.sort);
	choices[NCS_COLUMN_CHANNEL_SINCE] = NCS_COLUMN_HIDDEN;
	ncs_grid_set_columns(&table, NCS_COLUMN_INFO, choices);
	assert_int_equal(table.column_count, count - 2);
	assert_null(table.sort);
	ncs_grid_release(&table);
}

/* A table without columns survives every action. */
TEST(all_columns_can_be_hidden)
{
	enum ncs_column_choice choices[NCS_COLUMN_COUNT];
	struct scripted *scripted = *state;
	struct ncs_grid_place places[NCS_GRID_COLUMNS_MAX];
	struct ncs_grid table;
	for (size_t i = 0; i < NCS_COLUMN_COUNT; i++)
		choices[i] = NCS_COLUMN_HIDDEN;
	add_waiting(scripted, 0, SECOND);
	scripted_pass(scripted, SECOND);
	for (unsigned view = 0; view < NCS_VIEW_COUNT; view++) {
		init(&table, (enum ncs_view)view);
		ncs_grid_set_columns(&table, NCS_COLUMN_DEBUG, choices);
		build(&table, scripted, "");
		for (unsigned i = 0; i < NCS_ACTION_COUNT; i++)
			ncs_grid_act(&table, (enum ncs_action)i);
		assert_int_equal(ncs_grid_places(&table, 80, places), 0);
		ncs_grid_release(&table);
	}
}

/* Tries 0 to 4096 rows, on pages of any size, without a terminal. The ranks are
 * idle: each cell of one that waits looks at all others. */
TEST(selected_row_is_always_on_the_page)
{
	struct ncs_source *source = ncs_source_open_synthetic(1, 4092, 1);
	struct ncs_grid_query query;
	struct ncs_model model;
	struct ncs_grid table;

	assert_non_null(source);
	ncs_model_init(&model);
	assert_int_equal(ncs_model_update(&model, source, SECOND * 1000), 0);
	for (size_t i = 0; i < model.rank_count; i++)
		model.ranks[i]->now.operation_count = 0;
	query = (struct ncs_grid_query){ .model = &model, .filter = "" };
	init(&table, NCS_VIEW_RANK);
	ncs_grid_build(&table, &query);
	assert_int_equal(table.count, 4096);
	for (size_t rows = 4096;; rows = rows * 2 / 3) {
		table.count = rows;
		for (int page = 3; page <= 100; page += 19)
			check_scrolling(&table, page,
					(uint32_t)rows * 7 + (uint32_t)page);
		if (rows == 0)
			break;
	}
	ncs_grid_release(&table);
	ncs_model_release(&model);
	source->close(source);
}
