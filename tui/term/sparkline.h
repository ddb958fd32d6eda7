/* SPDX-License-Identifier: MIT */
/* A line of small bars that shows how a value went.
 *
 * It sweeps: each value keeps its place until the line comes round to it, and
 * a gap moves along behind which the oldest values stand. Little of it changes
 * with a look, which matters over a slow line. Pure.
 */
#ifndef NCS_TUI_TERM_SPARKLINE_H
#define NCS_TUI_TERM_SPARKLINE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/recent_values.h"
#include "tui/term/term.h"

/* Columns at most: each shows two values with braille dots. */
#define NCS_SPARKLINE_WIDTH (NCS_RECENT_LENGTH / 2)

/* Writes `width` columns of the latest of `count` values, the tallest bar being
 * the largest of those shown. What is unknown is blank; 0 is not. */
void ncs_sparkline(char *text, size_t size, const struct ncs_recent *trace,
		   uint64_t count, unsigned width, enum ncs_symbol_set symbols);

#endif
