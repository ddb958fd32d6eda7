/* SPDX-License-Identifier: MIT */
/* The views of the live view: the ways in which they differ. The screen draws
 * them all alike.
 *
 * Views must not know the screen: they describe rows of the model, and draw a
 * detail into a rectangle that they are given.
 */
#ifndef NCS_TUI_VIEWS_VIEW_H
#define NCS_TUI_VIEWS_VIEW_H

#include <stddef.h>

#include "analysis/views/timeline.h"
#include "tui/table/rows.h"
#include "tui/term/layout.h"

#define NCS_DETAIL_FORMS_MAX 4

/* Room for the sentence that explains a row. */
#define NCS_EXPLAIN_MAX 1024

struct ncs_screen_view {
	struct ncs_grid_rules rules;
	/* Heights of the forms of the detail above the table, the largest
	 * first, and the width that the first form needs. */
	int detail[NCS_DETAIL_FORMS_MAX];
	size_t detail_count;
	int detail_width;
	/* Draws the detail of the selected row; NULL if detail_count is 0. */
	void (*draw_detail)(const struct ncs_row *row,
			    const struct ncs_rect *rect);
	/* Prints one sentence on a row's state; NULL in the timeline, whose
	 * sentence depends on the cursor. */
	void (*explain)(const struct ncs_row *row, char *text, size_t size);
};

extern const struct ncs_screen_view ncs_screen_ranks;
extern const struct ncs_screen_view ncs_screen_diagnose;
extern const struct ncs_screen_view ncs_screen_communicators;
extern const struct ncs_screen_view ncs_screen_collectives;
extern const struct ncs_screen_view ncs_screen_timeline;
extern const struct ncs_screen_view ncs_screen_channels;
extern const struct ncs_screen_view ncs_screen_proxy;
extern const struct ncs_screen_view ncs_screen_ranges;
extern const struct ncs_screen_view ncs_screen_nodes;
extern const struct ncs_screen_view ncs_screen_functions;
extern const struct ncs_screen_view ncs_screen_sizes;

/* Returns the description of a view. */
const struct ncs_screen_view *ncs_screen_view_of(enum ncs_view view);

/* Returns the view whose tab is highlighted while a view is shown. */
enum ncs_view ncs_screen_tab_of(enum ncs_view view);

/* Return how many lines the evidence of a finding takes, with what to do next;
 * draw them, cut if there are fewer. */
int ncs_finding_lines(const struct ncs_finding *finding, int width);
void ncs_draw_finding(const struct ncs_finding *finding,
		      const struct ncs_rect *rect);

/* Returns the track that a row of the timeline is about. */
struct ncs_track ncs_timeline_track(const struct ncs_row *row);

#endif
