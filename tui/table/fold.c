/* SPDX-License-Identifier: MIT */
/* Folding of a long table; see fold.h. Must not distinguish views. */
#include "tui/table/fold.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model.h"
#include "shm/array.h"
#include "tui/table/rows.h"

void ncs_folds_release(struct ncs_folds *folds)
{
	free(folds->rows);
	free(folds->groups);
	memset(folds, 0, sizeof(*folds));
}

/* --- Groups --------------------------------------------------------------- */

/* Orders of the rows that belong to no group. */
#define OWN_FIRST 0
#define OWN_LAST (SIZE_MAX - 1)
#define UNREADABLE SIZE_MAX

static const char *place_of(const struct ncs_model *model,
			    const struct ncs_rank *rank)
{
	return rank->node < model->node_count ? model->nodes[rank->node].name :
						rank->process.host;
}

/* Returns the index of the group of rows that are alike at a place. Most rows are
 * of the group that was `found` last, or of the one behind it: those of each
 * communicator come place by place. */
static size_t group_of(struct ncs_folds *folds, enum ncs_alike alike,
		       const char *place, size_t found)
{
	for (size_t i = 0; i < folds->group_count; i++) {
		size_t at = (found + i) % folds->group_count;

		if (folds->groups[at].alike == alike &&
		    strcmp(folds->groups[at].place, place) == 0)
			return at;
	}
	folds->groups[folds->group_count] = (struct ncs_fold_group){
		.alike = alike, .place = place, .places = 1
	};
	return folds->group_count++;
}

static void add_to(struct ncs_fold_group *group, size_t place, int severity,
		   bool is_tagged)
{
	if (group->count++ == 0)
		group->first = place;
	if (severity > group->severity)
		group->severity = severity;
	group->is_tagged = group->is_tagged || is_tagged;
}

/* Sets the order of each row by its group: level ones first. */
static void sort_out(struct ncs_grid *table, const struct ncs_model *model)
{
	struct ncs_folds *folds = &table->folds;
	size_t found = 0;

	folds->group_count = 0;
	for (size_t i = 0; i < folds->count; i++) {
		struct ncs_grid_row *row = &folds->rows[i];
		enum ncs_alike alike;

		row->place = i;
		row->group = UNREADABLE;
		if (row->unreadable)
			continue;
		alike = table->rules->alike(&row->row, table->diagnosis);
		row->group = table->inverted ? OWN_LAST : OWN_FIRST;
		if (alike == NCS_ALIKE_NOT)
			continue;
		found = group_of(folds, alike, place_of(model, row->row.rank),
				 found);
		row->group = (size_t)alike * (folds->count + 1) + found;
	}
}

/* Notes which rows each group has. */
static void sum_up(struct ncs_grid *table)
{
	struct ncs_folds *folds = &table->folds;

	memset(folds->whole, 0, sizeof(folds->whole));
	for (size_t i = 0; i < folds->count; i++) {
		const struct ncs_grid_row *row = &folds->rows[i];
		struct ncs_fold_group *group, *whole;
		bool is_tagged;
		int severity;

		if (row->group == OWN_FIRST || row->group >= OWN_LAST)
			continue;
		group = &folds->groups[row->group % (folds->count + 1)];
		whole = &folds->whole[group->alike];
		severity = (int)ncs_grid_severity(table, row);
		is_tagged = ncs_grid_is_tagged(table, row);
		whole->alike = group->alike;
		whole->places += group->count == 0;
		add_to(group, i, severity, is_tagged);
		add_to(whole, i, severity, is_tagged);
	}
}

/* --- Rows ----------------------------------------------------------------- */

static struct ncs_grid_row *put(struct ncs_grid *table,
				const struct ncs_grid_row *from, unsigned depth)
{
	struct ncs_grid_row *row = &table->rows[table->count++];

	*row = *from;
	row->depth = depth;
	return row;
}

/* Puts the row of a group. Returns whether the group is open. */
static bool put_group(struct ncs_grid *table,
		      const struct ncs_fold_group *group, unsigned depth)
{
	struct ncs_grid_row *row =
		put(table, &table->folds.rows[group->first], depth);
	struct ncs_grid_key key;

	row->of = group;
	ncs_grid_row_key(row, &key);
	row->fold = ncs_tree_fold(&table->tree, &key);
	return row->fold == NCS_FOLD_OPEN;
}

static bool is_selected(const struct ncs_grid *table,
			const struct ncs_grid_row *row)
{
	return table->pinned && ncs_grid_row_is(row, &table->key);
}

/* Puts the rows of a group; of a closed one, the one that is selected. */
static void put_rows(struct ncs_grid *table, const struct ncs_fold_group *group,
		     bool is_open, unsigned depth)
{
	for (size_t i = 0; i < group->count; i++) {
		const struct ncs_grid_row *row =
			&table->folds.rows[group->first + i];

		if (is_open || is_selected(table, row))
			put(table, row, depth);
	}
}

/* Puts a group's row, and what is open below it. A row that is alone needs no
 * group. */
static void put_place(struct ncs_grid *table,
		      const struct ncs_fold_group *group, unsigned depth)
{
	if (group->count == 1)
		put_rows(table, group, true, depth);
	else
		put_rows(table, group, put_group(table, group, depth),
			 depth + 1);
}

/* Puts all that is alike in one way: a row for each node, or one for all of
 * them if they are many. */
static void put_alike(struct ncs_grid *table,
		      const struct ncs_fold_group *whole)
{
	const struct ncs_folds *folds = &table->folds;
	unsigned depth = whole->places > folds->room / 2;

	if (depth > 0 && !put_group(table, whole, 0)) {
		put_rows(table, whole, false, 1);
		return;
	}
	for (size_t i = 0; i < folds->group_count; i++)
		if (folds->groups[i].alike == whole->alike)
			put_place(table, &folds->groups[i], depth);
}

void ncs_fold_arrange(struct ncs_grid *table)
{
	const struct ncs_folds *folds = &table->folds;
	size_t i = 0;

	if (!folds->on)
		return;
	table->count = 0;
	while (i < folds->count) {
		const struct ncs_grid_row *row = &folds->rows[i];
		const struct ncs_fold_group *whole;

		if (row->group == OWN_FIRST || row->group >= OWN_LAST) {
			put(table, row, 0);
			i++;
			continue;
		}
		whole = &folds->whole[row->group / (folds->count + 1)];
		put_alike(table, whole);
		i += whole->count;
	}
}

/* Whether the rows are many, and in an order in which they may be folded. */
static bool is_of_use(const struct ncs_grid *table)
{
	return table->rules->alike && !table->tree.on && !table->sort &&
	       table->folds.room > 0 && table->count > table->folds.room &&
	       table->count > NCS_FOLD_LEAST;
}

void ncs_fold(struct ncs_grid *table, const struct ncs_grid_query *query)
{
	struct ncs_folds *folds = &table->folds;
	size_t count = table->count;

	folds->on = false;
	/* Each row may be put with a row of its own above it. */
	if (!is_of_use(table) ||
	    ncs_array_reserve(&folds->rows, &folds->capacity, count,
			      sizeof(*folds->rows)) != 0 ||
	    ncs_array_reserve(&folds->groups, &folds->group_capacity, count,
			      sizeof(*folds->groups)) != 0 ||
	    ncs_array_reserve(&table->rows, &table->capacity,
			      2 * count + NCS_ALIKE_COUNT,
			      sizeof(*table->rows)) != 0)
		return;
	memcpy(folds->rows, table->rows, count * sizeof(*folds->rows));
	folds->count = count;
	sort_out(table, query->model);
	qsort(folds->rows, count, sizeof(*folds->rows), ncs_grid_row_compare);
	sum_up(table);
	folds->on = true;
	ncs_fold_arrange(table);
}

const struct ncs_grid_row *ncs_fold_rows(const struct ncs_grid *table,
					 size_t *count)
{
	*count = table->folds.on ? table->folds.count : table->count;
	return table->folds.on ? table->folds.rows : table->rows;
}

const struct ncs_fold_group *ncs_fold_hides(const struct ncs_grid *table,
					    size_t place)
{
	for (size_t i = 0; table->folds.on && i < table->count; i++) {
		const struct ncs_grid_row *row = &table->rows[i];

		if (row->of && row->fold == NCS_FOLD_CLOSED &&
		    place >= row->of->first &&
		    place < row->of->first + row->of->count)
			return row->of;
	}
	return NULL;
}
