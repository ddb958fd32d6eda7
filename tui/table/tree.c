/* SPDX-License-Identifier: MIT */
/* A table as a tree; see fold.h. Must not distinguish views: the view's rules
 * say what may be above and below its rows. */
#include "tui/table/rows.h"

#include <stdint.h>
#include <stdlib.h>

/* Group of rows without a communicator, which come last, in their own order. */
#define NO_GROUP SIZE_MAX

/* --- Folds ---------------------------------------------------------------- */

static bool is_usually_open(const struct ncs_tree *tree,
			    const struct ncs_grid_key *key)
{
	switch (tree->usual) {
	case NCS_TREE_COMMUNICATORS:
		return key->view == NCS_VIEW_COMMUNICATOR;
	case NCS_TREE_ALL:
		return true;
	case NCS_TREE_NONE:
		break;
	}
	return false;
}

enum ncs_fold ncs_tree_fold(const struct ncs_tree *tree,
			    const struct ncs_grid_key *key)
{
	return is_usually_open(tree, key) != ncs_marks_have(&tree->other, key) ?
		       NCS_FOLD_OPEN :
		       NCS_FOLD_CLOSED;
}

bool ncs_tree_set_open(struct ncs_tree *tree, const struct ncs_grid_key *key,
		       bool open)
{
	if (is_usually_open(tree, key) != open)
		return ncs_marks_add(&tree->other, key, false);
	ncs_marks_remove(&tree->other, key);
	return true;
}

void ncs_tree_set_all(struct ncs_tree *tree)
{
	tree->usual = tree->usual == NCS_TREE_ALL && tree->other.count == 0 ?
			      NCS_TREE_NONE :
			      NCS_TREE_ALL;
	ncs_marks_clear(&tree->other);
}

/* --- Groups --------------------------------------------------------------- */

/* Puts the rows of each communicator together, as a group. Returns the number
 * of communicators, or NO_GROUP if there is no memory. */
static size_t group_rows(struct ncs_grid *table, const struct ncs_model *model)
{
	size_t *groups = calloc(model->communicator_count + 1, sizeof(*groups));
	size_t count = 0;

	if (!groups)
		return NO_GROUP;
	for (size_t i = 0; i < table->count; i++) {
		struct ncs_grid_row *row = &table->rows[i];
		const struct ncs_communicator *communicator =
			ncs_row_communicator(&row->row);
		size_t *group;

		row->place = i;
		row->group = NO_GROUP;
		if (!communicator)
			continue;
		group = &groups[communicator - model->communicators];
		if (*group == 0)
			*group = ++count;
		row->group = *group;
	}
	free(groups);
	if (table->count > 0)
		qsort(table->rows, table->count, sizeof(*table->rows),
		      ncs_grid_row_compare);
	return count;
}

/* --- Rows ----------------------------------------------------------------- */

/* The rows of the tree, an array that is being filled. */
struct tree_rows {
	struct ncs_grid_row *row;
	size_t count;
};

static enum ncs_fold fold_of(const struct ncs_grid *table,
			     const struct ncs_row *row)
{
	struct ncs_grid_key key;

	ncs_grid_key_of(row, &key);
	return ncs_tree_fold(&table->tree, &key);
}

static struct ncs_grid_row *add_communicator(const struct ncs_grid *table,
					     struct tree_rows *rows,
					     const struct ncs_grid_row *first)
{
	struct ncs_grid_row *row = &rows->row[rows->count++];

	*row = (struct ncs_grid_row){
		.row = { .view = NCS_VIEW_COMMUNICATOR,
			 .communicator = ncs_row_communicator(&first->row) },
	};
	row->fold = fold_of(table, &row->row);
	return row;
}

static void add_channels(const struct ncs_grid *table, struct tree_rows *rows,
			 const struct ncs_rank *rank,
			 const struct ncs_grid_query *query)
{
	for (size_t i = 0; i < rank->now.channel_count; i++) {
		struct ncs_grid_row row = {
			.row = { .view = NCS_VIEW_CHANNEL,
				 .rank = rank,
				 .index = i },
			.depth = 2,
		};

		if (query->hide_idle &&
		    ncs_grid_severity(table, &row) == NCS_QUIET)
			continue;
		if (!query->only_tagged || ncs_grid_is_tagged(table, &row))
			rows->row[rows->count++] = row;
	}
}

static void add_row(const struct ncs_grid *table, struct tree_rows *rows,
		    const struct ncs_grid_row *from,
		    const struct ncs_grid_query *query)
{
	struct ncs_grid_row *row = &rows->row[rows->count++];

	*row = *from;
	row->depth = 1;
	if (!table->rules->below || row->row.rank->now.channel_count == 0)
		return;
	row->fold = fold_of(table, &row->row);
	if (row->fold == NCS_FOLD_OPEN)
		add_channels(table, rows, row->row.rank, query);
}

/* Returns the largest possible number of rows of a tree of `groups`
 * communicators. */
static size_t most_rows(const struct ncs_grid *table, size_t groups)
{
	size_t most = table->count + groups;

	for (size_t i = 0; table->rules->below && i < table->count; i++)
		if (table->rows[i].row.rank)
			most += table->rows[i].row.rank->now.channel_count;
	return most;
}

bool ncs_tree_arrange(struct ncs_grid *table,
		      const struct ncs_grid_query *query)
{
	size_t groups = group_rows(table, query->model), most, last = 0;
	enum ncs_fold fold = NCS_FOLD_OPEN;
	struct tree_rows rows = { 0 };

	if (groups == NO_GROUP)
		return false;
	most = most_rows(table, groups);
	rows.row = malloc((most > 0 ? most : 1) * sizeof(*rows.row));
	if (!rows.row)
		return false;
	for (size_t i = 0; i < table->count; i++) {
		const struct ncs_grid_row *row = &table->rows[i];

		if (row->group == NO_GROUP) {
			rows.row[rows.count++] = *row;
			continue;
		}
		if (row->group != last)
			fold = add_communicator(table, &rows, row)->fold;
		last = row->group;
		if (fold == NCS_FOLD_OPEN)
			add_row(table, &rows, row, query);
	}
	free(table->rows);
	table->rows = rows.row;
	table->count = rows.count;
	table->capacity = most;
	return true;
}

size_t ncs_tree_parent(const struct ncs_grid *table, size_t place)
{
	for (size_t i = place; i > 0; i--)
		if (table->rows[i - 1].depth < table->rows[place].depth)
			return i - 1;
	return place;
}
