/* SPDX-License-Identifier: MIT */
/* Text as a terminal shows it: characters, and the cells that each takes.
 *
 * Nothing in it can be a control sequence, join its neighbour or turn the
 * direction of writing. Pure but for wcwidth(), which asks the locale.
 */
#ifndef NCS_TUI_TERM_SHOWN_TEXT_H
#define NCS_TUI_TERM_SHOWN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#define NCS_SHOWN_TEXT_MAX 1024

struct ncs_shown_text {
	wchar_t text[NCS_SHOWN_TEXT_MAX];
	signed char cells[NCS_SHOWN_TEXT_MAX];
	size_t length;
	int width; /* sum of the cells */
};

/* Converts UTF-8; what is not valid, or cannot be shown, becomes '?'. If
 * `ascii`, other characters are replaced by ASCII. */
void ncs_shown_text_set(struct ncs_shown_text *shown, const char *text,
			bool ascii);

/* Cuts the text to `width` cells if it is wider; it then ends with `mark`. */
void ncs_shown_text_cut(struct ncs_shown_text *shown, int width,
			const char *mark, bool ascii);

#endif
