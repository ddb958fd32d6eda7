/* SPDX-License-Identifier: MIT */
/* Text as a terminal shows it: characters, and the cells that each takes.
 *
 * Such a text contains no control sequences, and no character that joins its
 * neighbour or changes the direction of writing. Draws nothing; depends only on
 * the text and, through wcwidth(), on the locale.
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
	int width; /* number of cells of the whole text */
};

/* Converts UTF-8. Invalid bytes and characters that cannot be shown become '?'.
 * If `ascii` is true, non-ASCII characters are replaced by ASCII. */
void ncs_shown_text_set(struct ncs_shown_text *shown, const char *text,
			bool ascii);

/* Cuts the text to `width` cells if it is wider; a text that was cut ends with
 * `mark`. */
void ncs_shown_text_cut(struct ncs_shown_text *shown, int width,
			const char *mark, bool ascii);

#endif
