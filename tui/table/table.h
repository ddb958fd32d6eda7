/* SPDX-License-Identifier: MIT */
/* A scrolling table over the model: which rows, in which order, which columns,
 * and which row is selected.
 *
 * Everything but ncs_grid_draw() works without a terminal. A table points
 * into the model between one ncs_grid_build() and the next update of the
 * model; what has to last longer (the selected row) is kept by name. The type
 * is called a grid because a table is, elsewhere, one within a segment.
 */
#ifndef NCS_TUI_TABLE_TABLE_H
#define NCS_TUI_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/views/columns.h"
#include "tui/text/format.h"
#include "tui/term/keys.h"
#include "tui/term/layout.h"
#include "tui/table/marks.h"
#include "tui/table/tree.h"

#define NCS_GRID_COLUMNS_MAX 32

enum ncs_severity {
	NCS_QUIET, /* nothing happens in it */
	NCS_NORMAL,
	NCS_NOTE,    /* '*': worth a look */
	NCS_BAD,     /* '!' */
	NCS_SUSPECT, /* '>': others wait for it */
};

/* What a view knows about its rows. */
struct ncs_grid_rules {
	char (*letter)(const struct ncs_row *row);
	enum ncs_severity (*severity)(const struct ncs_row *row);
	/* Columns that P, M and T sort by. */
	const char *throughput;
	const char *bytes;
	const char *time;
	/* One line that says what a row is and does, for where it stands in
	 * another view's tree. */
	void (*title)(const struct ncs_row *row, char *text, size_t size);
	/* As a tree: the rules of communicators and of a rank's channels; NULL:
	 * there are none above or below this view's rows. */
	const struct ncs_grid_rules *above;
	const struct ncs_grid_rules *below;
};

/* A row of a view, or a segment that cannot be read (row has nothing). */
struct ncs_grid_row {
	struct ncs_row row;
	const struct ncs_unreadable *unreadable;
	size_t order;           /* in the model */
	struct ncs_value value; /* to sort by */
	/* As a tree. */
	unsigned depth;
	enum ncs_fold fold;
	size_t group; /* tree.c's, as is the next */
	size_t place;
};

struct ncs_grid {
	enum ncs_view view;
	const struct ncs_grid_rules *rules;
	enum ncs_column_level level;
	enum ncs_column_choice choices[NCS_COLUMN_COUNT];
	const struct ncs_column *columns[NCS_GRID_COLUMNS_MAX];
	struct ncs_units units;
	int widths[NCS_GRID_COLUMNS_MAX]; /* of the contents so far */
	size_t column_count;
	size_t skip; /* 0: columns by priority; n: from the n-th on */
	const struct ncs_column *sort; /* NULL: the model's order */
	bool inverted;

	struct ncs_grid_row *rows;
	size_t count;
	size_t passed; /* rows of this view, with what is folded */
	size_t total;  /* without the filter, with idle rows */
	size_t capacity;
	struct ncs_row *scratch;
	size_t scratch_capacity;

	const struct ncs_rank *suspect;
	const struct ncs_marks *tags; /* NULL: there are none */
	struct ncs_tree tree;

	/* While nobody has moved, the first row is selected, whichever row
	 * that is. After that it is this one, wherever it goes. */
	size_t selected;
	bool pinned;
	bool following; /* whatever the order; if it is gone, until it is back */
	struct ncs_grid_key key;
	char *key_id; /* the memory of key.id */
	size_t top;
	/* Of the latest drawing. */
	int header_y;
	int rows_y;
	int page;
	int width;
	size_t shown_columns;
};

/* What rows are limited to. */
enum ncs_focus_kind {
	NCS_FOCUS_ALL,
	NCS_FOCUS_COMMUNICATOR,
	NCS_FOCUS_RANK,
	NCS_FOCUS_FUNCTION
};

struct ncs_focus {
	enum ncs_focus_kind kind;
	char *name; /* the communicator's key or the rank's id; NULL: of all */
	unsigned function; /* of the rank; for NCS_FOCUS_FUNCTION */
};

/* Which rows of the model a table is to show. */
struct ncs_grid_query {
	const struct ncs_model *model;
	struct ncs_focus focus;
	const char *filter; /* texts separated by '|'; "": all rows */
	bool hide_idle;
	const struct ncs_marks *tags; /* outlasts the table; NULL: none */
	bool only_tagged;
	const struct ncs_rank *suspect; /* whom others wait for; NULL: nobody */
};

void ncs_grid_init(struct ncs_grid *table, enum ncs_view view,
		   const struct ncs_grid_rules *rules);
void ncs_grid_release(struct ncs_grid *table);

/* Collects, filters and sorts the rows. Where memory is short the table is
 * empty. */
void ncs_grid_build(struct ncs_grid *table, const struct ncs_grid_query *query);

/* NULL: the table is empty. */
const struct ncs_grid_row *ncs_grid_selected(const struct ncs_grid *table);

/* Moves, scrolls, sorts, folds, shows more columns. False if this is none of the
 * table's actions; true with a notice, which may be empty. After a change of
 * order the table has to be built again. */
bool ncs_grid_act(struct ncs_grid *table, enum ncs_action action, char *notice,
		  size_t notice_size);

/* A click at a place of the screen, as it was drawn last: selects a row, or
 * sorts by a column, the other way round if it is that already. False if there
 * is nothing; true with a notice, which may be empty. The table has to be built
 * again. */
bool ncs_grid_click(struct ncs_grid *table, int y, int x, char *notice,
		    size_t notice_size);

/* Which columns there are: `choices` is indexed as ncs_columns is. A column that
 * goes is no longer sorted by; the table has to be built again. */
void ncs_grid_set_columns(struct ncs_grid *table, enum ncs_column_level level,
			  const enum ncs_column_choice *choices);

bool ncs_column_is_shown(const struct ncs_column *column,
			 enum ncs_column_level level,
			 const enum ncs_column_choice *choices);

/* How numbers are shown. */
void ncs_grid_set_units(struct ncs_grid *table, const struct ncs_units *units);

/* NULL: the model's order. The table has to be built again. */
void ncs_grid_set_sort(struct ncs_grid *table, const struct ncs_column *column,
		       bool inverted);

/* The row after (or before, or at) the selected one that has the text; goes
 * round. False if there is none; the selection is then where it was. */
enum ncs_grid_direction { NCS_HERE, NCS_FORWARD, NCS_BACKWARD };
bool ncs_grid_search(struct ncs_grid *table, const char *text,
		     enum ncs_grid_direction direction);

/* Selects a row by place, a channel of a rank by its name, or the first row of
 * a rank. False: there is none. */
void ncs_grid_select(struct ncs_grid *table, size_t place);
bool ncs_grid_select_channel(struct ncs_grid *table, int channel, bool send,
			     int peer);
bool ncs_grid_select_rank(struct ncs_grid *table, const struct ncs_rank *rank);

/* Selects the first row of the same rank and channel, or of the rank and no
 * channel, as a row of another table. */
bool ncs_grid_select_like(struct ncs_grid *table,
			  const struct ncs_grid_row *like);

/* The channel that a row is about; NULL: none. */
const struct ncs_channel_view *ncs_grid_channel(const struct ncs_grid_row *row);

/* The next row that is worth a look. */
bool ncs_grid_next_abnormal(struct ncs_grid *table);

/* The rules of a row, which may be another view's. */
const struct ncs_grid_rules *ncs_grid_rules_of(const struct ncs_grid *table,
					       const struct ncs_grid_row *row);

/* How bad a row is, and the marks in front of it. */
enum ncs_severity ncs_grid_severity(const struct ncs_grid *table,
				    const struct ncs_grid_row *row);

/* What a column shows of a row, and what it is called then. */
void ncs_grid_cell(const struct ncs_grid *table,
		   const struct ncs_column *column, const struct ncs_row *row,
		   char *text, size_t size);
const char *ncs_grid_title(const struct ncs_grid *table,
			   const struct ncs_column *column);

/* By its id; NULL: there is none. */
const struct ncs_column *ncs_grid_column(const char *id);

/* Whether a row is tagged, or belongs to what is tagged as a whole. */
bool ncs_grid_is_tagged(const struct ncs_grid *table,
			const struct ncs_grid_row *row);

/* A column that is shown, and where. */
struct ncs_grid_place {
	const struct ncs_column *column;
	size_t index; /* in table->columns */
	int x;
	int width;
};

/* Which columns are shown in `width`, and where: pure, but that it reads the
 * widths of contents. Returns how many. */
size_t ncs_grid_places(const struct ncs_grid *table, int width,
		       struct ncs_grid_place *places);

/* Whether a column stays when columns are scrolled: it says who a row is. */
bool ncs_grid_is_frozen(const struct ncs_column *column);

/* Whether it is sorted from the largest on. */
bool ncs_grid_is_downwards(const struct ncs_grid *table);

void ncs_grid_draw(struct ncs_grid *table, const struct ncs_rect *header,
		   const struct ncs_rect *rows);

#endif
