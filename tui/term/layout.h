/* SPDX-License-Identifier: MIT */
/* Layout of the screen: a rectangle for each part, fewer parts as the screen
 * shrinks, and the items that fit into a line.
 *
 * Pure functions of their arguments: no curses, no model.
 */
#ifndef NCS_TUI_TERM_LAYOUT_H
#define NCS_TUI_TERM_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#define NCS_LAYOUT_MIN_HEIGHT 4
#define NCS_LAYOUT_MIN_WIDTH 20
/* Rows of the table that no other part may take. */
#define NCS_LAYOUT_MIN_ROWS 3
/* Lines below which a graph says nothing. */
#define NCS_LAYOUT_MIN_GRAPH 4

/* Parts of the screen, from top to bottom. */
enum ncs_screen_part {
	NCS_PART_TITLE,
	NCS_PART_SUMMARY,
	NCS_PART_TABS,
	NCS_PART_DETAIL, /* the view's own part, above its table */
	NCS_PART_HEADER,
	NCS_PART_ROWS,
	NCS_PART_GRAPH, /* in lines that the rows leave free */
	NCS_PART_INFO,
	NCS_PART_BAR,
	NCS_PART_COUNT
};

/* A rectangle on the screen. A part that is not shown has height 0. */
struct ncs_rect {
	int y;
	int x;
	int height;
	int width;
};

struct ncs_layout_request {
	int height;
	int width;
	bool title;
	int summary;       /* maximum number of lines */
	const int *detail; /* heights of its forms, the largest first */
	size_t detail_count;
	int info; /* maximum number of lines */
	/* Lines that the rows need, if what they leave free may be a graph; 0 if
	 * it may not. */
	int rows;
	/* Lines that no other part may take from the rows; 0 for
	 * NCS_LAYOUT_MIN_ROWS. */
	int least_rows;
};

struct ncs_layout {
	bool too_small; /* there is only room for a message */
	struct ncs_rect part[NCS_PART_COUNT];
};

/* Computes the layout. As the height shrinks, these are dropped in turn: the
 * info lines, the summary, the larger forms of the detail, the tabs, the bar,
 * the detail, the title. A graph gets what the rows leave free, if that is
 * enough, and leaves one line to them. */
void ncs_layout_compute(struct ncs_layout *layout,
			const struct ncs_layout_request *request);

/* Returns the rest of a rectangle below some lines. */
struct ncs_rect ncs_rect_below(const struct ncs_rect *rect, int lines);

/* An item in a line: a column, or a part of the title. */
struct ncs_item {
	int width;
	unsigned priority; /* 1 to 9; the lowest is dropped first */
	bool kept;         /* result: the item has room */
};

/* Chooses the items that are kept in `width` columns, with `gap` columns
 * between two items. Items of the lowest priority are dropped first. Among
 * these, the rightmost one that makes enough room is dropped, or else the
 * widest one, so that few are lost. Then dropped items that fit after all are
 * restored, the highest priority first, except those for wide screens
 * (priorities 1 and 2). Returns the width in use. */
int ncs_layout_fit(struct ncs_item *items, size_t count, int width, int gap);

#endif
