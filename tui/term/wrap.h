/* SPDX-License-Identifier: MIT */
/* Breaks text into lines at blanks. */
#ifndef NCS_TUI_TERM_WRAP_H
#define NCS_TUI_TERM_WRAP_H

#include <stddef.h>

#include "tui/term/layout.h"
#include "tui/term/term.h"

/* Returns the length in bytes of the next line of a text: up to the last blank
 * that keeps it within `width` columns, or else as many characters as fit, at
 * least one byte unless the text is empty. */
size_t ncs_line_length(const char *text, int width);

/* Returns the number of lines of a text that is broken so. */
int ncs_wrapped_lines(const char *text, int width);

/* Draws a text in as many lines of the rectangle as it needs; the last line is
 * cut. Returns the number of lines. */
int ncs_draw_wrapped(const struct ncs_rect *rect, enum ncs_role role,
		     const char *text);

#endif
