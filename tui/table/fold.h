/* SPDX-License-Identifier: MIT */
/* Rows below rows: a table as a tree (tree.c), and folding of a long table.
 *
 * A tree has communicators, below them their rows, and below a rank its channels.
 * The rows of a communicator stay in their order; communicators are in the order of
 * their first rows.
 *
 * In a folded table, rows that are alike on one node are one row, and so are the
 * nodes if there are many. The rules of the view say which rows are alike; all
 * others stay rows of their own, above them. Only in the usual order: an order by a
 * column is one of single rows.
 *
 * Folds of both are remembered by the names of rows, in the table's tree. Draws
 * nothing, and reads no keys.
 */
#ifndef NCS_TUI_TABLE_FOLD_H
#define NCS_TUI_TABLE_FOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/table/marks.h"

struct ncs_grid;
struct ncs_grid_query;
struct ncs_grid_row;

/* --- A tree ----------------------------------------------------------------- */

/* Whether the rows below a row are shown. */
enum ncs_fold {
	NCS_FOLD_LEAF, /* there are no rows below */
	NCS_FOLD_OPEN,
	NCS_FOLD_CLOSED,
};

/* Default fold of rows that the user neither folded nor unfolded. */
enum ncs_tree_usual {
	NCS_TREE_COMMUNICATORS, /* communicators, but not ranks */
	NCS_TREE_ALL,
	NCS_TREE_NONE,
};

struct ncs_tree {
	bool on;
	enum ncs_tree_usual usual;
	struct ncs_marks other; /* rows whose fold differs from the default */
};

/* Returns whether what is below the row of this name is shown. */
enum ncs_fold ncs_tree_fold(const struct ncs_tree *tree,
			    const struct ncs_grid_key *key);

/* Folds or unfolds a row. Returns false if there is no memory. */
bool ncs_tree_set_open(struct ncs_tree *tree, const struct ncs_grid_key *key,
		       bool open);

/* Unfolds all rows, or folds all if they are all unfolded. */
void ncs_tree_set_all(struct ncs_tree *tree);

/* Arranges the table's sorted rows as a tree. Returns false, and leaves the
 * rows as they are, if there is no memory. */
bool ncs_tree_arrange(struct ncs_grid *table,
		      const struct ncs_grid_query *query);

/* Returns the index of a row's parent, or the row's own index if it has no
 * parent. */
size_t ncs_tree_parent(const struct ncs_grid *table, size_t place);

/* --- Folds ------------------------------------------------------------------ */

/* Rows that fit into so many lines are never folded, however low the screen
 * is. */
#define NCS_FOLD_LEAST 32

/* In which way rows are alike. */
enum ncs_alike {
	NCS_ALIKE_NOT, /* the row stays one of its own */
	NCS_ALIKE_LEVEL,
	NCS_ALIKE_SILENT,
	NCS_ALIKE_FINISHED,
	NCS_ALIKE_COUNT
};

/* Rows that may be one: those of one node, or those of all nodes. */
struct ncs_fold_group {
	enum ncs_alike alike;
	const char *place; /* the node, of the model; NULL: all nodes */
	size_t places;     /* number of nodes */
	size_t first;      /* the first of them in the rows of ncs_folds */
	size_t count;
	int severity; /* the largest of them, an enum ncs_severity */
	bool is_tagged; /* one of them is */
};

struct ncs_folds {
	/* Lines that rows may have on the screen; 0: not known, and nothing is
	 * folded. */
	size_t room;
	bool on; /* rows are folded; the rest is set only then */
	/* All rows: those that stay, then those of each group. */
	struct ncs_grid_row *rows;
	size_t count, capacity;
	struct ncs_fold_group *groups;
	size_t group_count, group_capacity;
	struct ncs_fold_group whole[NCS_ALIKE_COUNT];
};

/* Frees the memory of folds, and empties them. */
void ncs_folds_release(struct ncs_folds *folds);

/* Folds the table's sorted rows, if that is of use. Without memory the rows
 * stay as they are. */
void ncs_fold(struct ncs_grid *table, const struct ncs_grid_query *query);

/* Makes the rows of a folded table anew, after a change of its folds or of the
 * row that is selected: of a group that is closed, that row stays. */
void ncs_fold_arrange(struct ncs_grid *table);

/* Returns all rows of a table, folded or not, and their number. */
const struct ncs_grid_row *ncs_fold_rows(const struct ncs_grid *table,
					 size_t *count);

/* Returns the group with a row, an index of ncs_fold_rows(), if the row is
 * hidden in it; NULL if the row is not. */
const struct ncs_fold_group *ncs_fold_hides(const struct ncs_grid *table,
					    size_t place);

#endif
