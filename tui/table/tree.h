/* SPDX-License-Identifier: MIT */
/* A table as a tree: communicators, their rows, and below a rank its channels.
 *
 * Rows of one communicator are put together, in their order; communicators
 * stand in the order of their first rows. What is folded is kept by name.
 * Pure but for memory.
 */
#ifndef NCS_TUI_TABLE_TREE_H
#define NCS_TUI_TABLE_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/table/marks.h"

struct ncs_grid;
struct ncs_grid_query;
struct ncs_grid_row;

/* What a row shows below it. */
enum ncs_fold {
	NCS_FOLD_LEAF, /* there is nothing below it */
	NCS_FOLD_OPEN,
	NCS_FOLD_CLOSED,
};

/* What is open unless it was folded or unfolded by itself. */
enum ncs_tree_usual {
	NCS_TREE_COMMUNICATORS, /* they are, ranks are not */
	NCS_TREE_ALL,
	NCS_TREE_NONE,
};

struct ncs_tree {
	bool on;
	enum ncs_tree_usual usual;
	struct ncs_marks other; /* whose fold is not the usual one */
};

bool ncs_tree_is_open(const struct ncs_tree *tree,
		      const struct ncs_grid_key *key);

/* Folds or unfolds. False: there is no memory. */
bool ncs_tree_set_open(struct ncs_tree *tree, const struct ncs_grid_key *key,
		       bool open);

/* Unfolds everything, folds everything where that is how it is. */
void ncs_tree_set_all(struct ncs_tree *tree);

/* Arranges the table's rows, which are in their order, as a tree. False: there
 * is no memory, and they stay as they are. */
bool ncs_tree_arrange(struct ncs_grid *table,
		      const struct ncs_grid_query *query);

/* The place of the row that this one is below; its own: it is below none. */
size_t ncs_tree_parent(const struct ncs_grid *table, size_t place);

#endif
