/* SPDX-License-Identifier: MIT */
/* Breaks text into lines at blanks; see wrap.h. */
#include "tui/term/wrap.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "shm/characters.h"

#define LINE_BYTES 512

size_t ncs_line_length(const char *text, int width)
{
	size_t length = 0, blank = 0;
	int used = 0;

	while (text[length] && length + 1 < LINE_BYTES) {
		char character[8] = "";
		uint32_t code;
		size_t bytes = ncs_utf8_decode(&text[length], &code);

		bytes = bytes > 0 ? bytes : 1;
		memcpy(character, &text[length], bytes);
		used += ncs_term_text_width(character);
		if (used > width || length + bytes >= LINE_BYTES)
			return blank > 0 ? blank : length > 0 ? length : bytes;
		length += bytes;
		if (text[length] == ' ')
			blank = length;
	}
	return length;
}

int ncs_wrapped_lines(const char *text, int width)
{
	int lines = 0;

	for (; *text; lines++) {
		text += ncs_line_length(text, width);
		text += strspn(text, " ");
	}
	return lines;
}

int ncs_draw_wrapped(const struct ncs_rect *rect, enum ncs_role role,
		     const char *text)
{
	char line[LINE_BYTES];
	int y = 0;

	while (*text && y < rect->height) {
		size_t length = ncs_line_length(text, rect->width);

		/* The last line takes the rest of the text, and shows that it
		 * is cut. */
		if (y + 1 == rect->height)
			length = strlen(text);
		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		ncs_term_put(rect->y + y, rect->x, rect->width, role, line);
		y++;
		text += length;
		text += strspn(text, " ");
	}
	return y;
}
