/* SPDX-License-Identifier: MIT */
/* Where things go on the screen: rectangles from a size, and what falls away
 * as the size shrinks.
 *
 * Pure functions of their arguments: no curses, no model.
 */
#ifndef NCS_TUI_TERM_LAYOUT_H
#define NCS_TUI_TERM_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#define NCS_LAYOUT_MIN_HEIGHT 4
#define NCS_LAYOUT_MIN_WIDTH 20
/* Rows of the table that nothing else may take. */
#define NCS_LAYOUT_MIN_ROWS 3

/* From top to bottom. */
enum ncs_screen_part {
	NCS_PART_TITLE,
	NCS_PART_SUMMARY,
	NCS_PART_TABS,
	NCS_PART_DETAIL, /* the view's own, above its table */
	NCS_PART_HEADER,
	NCS_PART_ROWS,
	NCS_PART_INFO,
	NCS_PART_BAR,
	NCS_PART_COUNT
};

/* A part that is not shown has no height. */
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
	int summary;       /* lines at most */
	const int *detail; /* heights of its forms, the largest first */
	size_t detail_count;
	int info; /* lines at most */
};

struct ncs_layout {
	bool too_small; /* for anything but a message */
	struct ncs_rect part[NCS_PART_COUNT];
};

/* As height shrinks there fall away: the info lines, the summary, the larger
 * forms of the detail, the tabs, the bar, the detail, the title. */
void ncs_layout_compute(struct ncs_layout *layout,
			const struct ncs_layout_request *request);

/* Something that takes a place in a line: a column, a part of the title. */
struct ncs_item {
	int width;
	unsigned priority; /* the higher, the longer it stays */
	bool kept;         /* the result */
};

/* Chooses which items stay in `width`, with `gap` between two. Of those with
 * the lowest priority goes the rightmost that makes room enough, else the
 * widest: as few as possible are lost. What then fits comes back, the highest
 * priority first, but for what is for wide screens only (priority 1 and 2).
 * Returns the width that is used. */
int ncs_layout_fit(struct ncs_item *items, size_t count, int width, int gap);

#endif
