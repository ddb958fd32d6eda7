/* SPDX-License-Identifier: MIT */
/* A table as a tree: communicators, below them their rows, and below a rank its
 * channels.
 *
 * The rows of a communicator stay in their order; communicators are in the
 * order of their first rows. Folds are remembered by the names of rows. Draws
 * nothing, and reads no keys.
 */
#ifndef NCS_TUI_TABLE_TREE_H
#define NCS_TUI_TABLE_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/table/marks.h"

struct ncs_grid;
struct ncs_grid_query;
struct ncs_grid_row;

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

#endif
