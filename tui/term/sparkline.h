/* SPDX-License-Identifier: MIT */
/* A sparkline: a line of small bars that shows the recent values of a quantity.
 *
 * It sweeps like an oscilloscope: each value keeps its place until the line
 * comes round to it, and a gap moves along between the newest and the oldest
 * values. Little changes with each sample, which matters over a slow
 * connection. Pure.
 */
#ifndef NCS_TUI_TERM_SPARKLINE_H
#define NCS_TUI_TERM_SPARKLINE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/recent_values.h"
#include "tui/term/term.h"

/* Maximum number of columns: with braille dots, each shows two values. */
#define NCS_SPARKLINE_WIDTH (NCS_RECENT_LENGTH / 2)

/* Prints `width` columns of the latest of `count` values, scaled to the largest
 * of these. An unknown value is blank; 0 is not. */
void ncs_sparkline(char *text, size_t size, const struct ncs_recent *trace,
		   uint64_t count, unsigned width, enum ncs_symbol_set symbols);

#endif
