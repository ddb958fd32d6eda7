/* SPDX-License-Identifier: MIT */
/* A sparkline: a line of small bars that shows the recent values of a quantity.
 * The newest value is at the right. Draws nothing, and has no state.
 */
#ifndef NCS_TUI_TERM_SPARKLINE_H
#define NCS_TUI_TERM_SPARKLINE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/recent_values.h"
#include "tui/term/term.h"

/* Maximum number of columns. With braille dots, each column shows two
 * values. */
#define NCS_SPARKLINE_WIDTH (NCS_RECENT_LENGTH / 2)

/* Returns a bar in one cell, of 0 to NCS_BAR_LEVELS equal parts of its height. */
#define NCS_BAR_LEVELS 8
const char *ncs_bar(unsigned level, bool ascii);

/* Prints the latest of `count` values in `width` columns, scaled to the largest
 * value shown. An unknown value is blank; 0 is not. */
void ncs_sparkline(char *text, size_t size, const struct ncs_recent *trace,
		   uint64_t count, unsigned width, enum ncs_symbol_set symbols);

#endif
