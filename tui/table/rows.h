/* SPDX-License-Identifier: MIT */
/* The state of a table and of its rows, shared by all files of this folder, and
 * questions about one row or one column: name, severity, text of a cell.
 *
 * The type is called a grid because elsewhere "table" means a table in a
 * segment. Functions here must not choose, order, move or draw rows, and have
 * no side effects.
 */
#ifndef NCS_TUI_TABLE_ROWS_H
#define NCS_TUI_TABLE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/diagnosis/diagnosis.h"
#include "analysis/views/columns.h"
#include "tui/table/fold.h"
#include "tui/term/term.h"
#include "tui/text/format.h"

#define NCS_GRID_COLUMNS_MAX 48

/* How much attention a row deserves, in rising order. */
enum ncs_severity {
	NCS_QUIET,  /* no activity */
	NCS_VICTIM, /* waits for the rank that is NCS_SUSPECT */
	NCS_NORMAL,
	NCS_NOTE,    /* '*': unusual */
	NCS_BAD,     /* '!': a long wait, or a dead process */
	NCS_SUSPECT, /* '>': other ranks wait for this one */
};

struct ncs_grid_row;

/* Rules of a view for its rows. */
struct ncs_grid_rules {
	enum ncs_severity (*severity)(const struct ncs_row *row);
	/* Returns how much a row needs somebody's attention: in the usual order
	 * the largest come first, and rows that need it alike are in the
	 * model's order. NULL: the model's order is the usual one. */
	double (*need)(const struct ncs_row *row);
	/* Says in which way a row is like others, so that they may be one; NULL:
	 * rows are never folded. */
	enum ncs_alike (*alike)(const struct ncs_row *row,
				const struct ncs_diagnosis *diagnosis);
	/* Prints one line on a group, whose rows begin at `rows`. */
	void (*group_title)(const struct ncs_fold_group *group,
			    const struct ncs_grid_row *rows, char *text,
			    size_t size);
	/* Returns the role of a cell in a row that has no role of its own; NULL:
	 * all are text. */
	enum ncs_role (*cell_role)(const struct ncs_column *column,
				   const struct ncs_row *row);
	/* The columns that the keys P, M and T sort by. */
	enum ncs_column_id throughput, bytes, time;
	/* Prints one line that names a row and describes its state, for a row
	 * in the tree of another view. */
	void (*title)(const struct ncs_row *row, char *text, size_t size);
	/* In a tree: the rules of the communicators above these rows and of
	 * the channels below them; NULL if there are none. */
	const struct ncs_grid_rules *above;
	const struct ncs_grid_rules *below;
};

/* A row of a view, or a segment that cannot be read; `row` is then empty. */
struct ncs_grid_row {
	struct ncs_row row;
	const struct ncs_unreadable *unreadable; /* NULL for a row of a view */
	size_t order;           /* index in the model's order */
	struct ncs_value value; /* value of the sort column */
	double need;            /* of its rules */
	/* The group that the row stands for, of which `row` is the first; NULL
	 * for any other row. */
	const struct ncs_fold_group *of;
	/* In a tree, or if rows are folded. */
	unsigned depth;
	enum ncs_fold fold;
	size_t group; /* scratch values of tree.c and fold.c, like the next */
	size_t place;
};

struct ncs_grid {
	enum ncs_view view;
	const struct ncs_grid_rules *rules;
	enum ncs_column_level level;
	enum ncs_column_choice choices[NCS_COLUMN_COUNT];
	const struct ncs_column *columns[NCS_GRID_COLUMNS_MAX];
	struct ncs_units units;
	int widths[NCS_GRID_COLUMNS_MAX]; /* widest contents drawn so far */
	size_t column_count;
	size_t skip; /* 0 = fit columns by priority, n = begin with the n-th */
	const struct ncs_column *sort; /* NULL = the usual order */
	bool inverted;

	struct ncs_grid_row *rows;
	size_t count;
	size_t passed; /* rows that passed the filters, folded or not */
	size_t total;  /* rows in the focus, before any filter */
	size_t capacity;
	struct ncs_row *scratch;
	size_t scratch_capacity;

	/* The diagnosis of the query: whom others wait for, and who waits. */
	const struct ncs_diagnosis *diagnosis;
	const struct ncs_marks *tags; /* NULL if there are none */
	/* The rows are of one communicator at most: columns need not name it. */
	bool one_communicator;
	bool is_stuck; /* by the diagnosis of the query */
	/* There are several jobs: a rank's is worth a column. */
	bool several_jobs;
	struct ncs_tree tree; /* also has the folds of groups */
	struct ncs_folds folds;

	/* Until the user moves the selection, the first row is selected, even
	 * if the rows are reordered. Afterwards the selection is pinned to a
	 * row and moves with it. */
	size_t selected;
	bool pinned;
	bool following; /* keep the pinned row selected even while it is gone */
	struct ncs_grid_key key; /* name of the pinned row */
	size_t top;              /* first row on the screen */
	/* Set when the table was last drawn: lines of the screen. */
	int header_y;
	int rows_y;
	int page; /* number of lines for rows */
	int width;
	size_t shown_columns;
	char notice[192]; /* on the latest key or click, for the user; or "" */
};

/* Limits the rows of a table to a communicator, to a rank, to a function of
 * either, or to a node. */
enum ncs_focus_kind {
	NCS_FOCUS_ALL,
	NCS_FOCUS_COMMUNICATOR,
	NCS_FOCUS_COLLECTIVE, /* a function of a communicator */
	NCS_FOCUS_RANK,
	NCS_FOCUS_FUNCTION, /* a function of a rank */
	NCS_FOCUS_NODE
};

struct ncs_focus {
	enum ncs_focus_kind kind;
	/* ncs_grid_id() of the communicator's key, the rank's id or the node's
	 * name; 0 for all. */
	uint64_t id;
	/* Only for NCS_FOCUS_COLLECTIVE and NCS_FOCUS_FUNCTION. */
	unsigned function;
};

/* Selects the rows of the model that a table shows. */
struct ncs_grid_query {
	const struct ncs_model *model;
	struct ncs_focus focus;
	const char *filter; /* see row_query.h; "" passes all rows */
	bool hide_idle;
	const struct ncs_marks *tags; /* must outlive the table; NULL if none */
	bool only_tagged;
	/* The diagnosis of the same model; NULL if there is none. */
	const struct ncs_diagnosis *diagnosis;
};

/* Whether a column is shown at a level, given the user's choices, which are
 * indexed like ncs_columns. */
bool ncs_column_is_shown(const struct ncs_column *column,
			 enum ncs_column_level level,
			 const enum ncs_column_choice *choices);

/* Print the text of a cell, and return the title of a column. Both are in the
 * table's units. ncs_grid_cell() returns whether the value is stale. */
bool ncs_grid_cell(const struct ncs_grid *table,
		   const struct ncs_column *column, const struct ncs_row *row,
		   char *text, size_t size);
const char *ncs_grid_title(const struct ncs_grid *table,
			   const struct ncs_column *column);

/* Whether the table is sorted from the largest value down. */
bool ncs_grid_is_downwards(const struct ncs_grid *table);

/* Gets the name of a row, readable or not. */
void ncs_grid_row_key(const struct ncs_grid_row *row, struct ncs_grid_key *key);

/* Whether a row has this name. */
bool ncs_grid_row_is(const struct ncs_grid_row *row,
		     const struct ncs_grid_key *key);

/* Orders rows by their group and place, for qsort(). */
int ncs_grid_row_compare(const void *left, const void *right);

/* Returns the rules of a row; in a tree, they may be those of another view. */
const struct ncs_grid_rules *ncs_grid_rules_of(const struct ncs_grid *table,
					       const struct ncs_grid_row *row);

/* Returns the severity of a row: that of its rules, NCS_NOTE if it cannot be
 * read, NCS_SUSPECT for the rank that others wait for, NCS_VICTIM for those of
 * the others that have waited for long. */
enum ncs_severity ncs_grid_severity(const struct ncs_grid *table,
				    const struct ncs_grid_row *row);

/* Whether a row is tagged, or belongs to a row that was tagged as a whole. */
bool ncs_grid_is_tagged(const struct ncs_grid *table,
			const struct ncs_grid_row *row);

#endif
