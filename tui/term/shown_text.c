/* SPDX-License-Identifier: MIT */
/* Text as a terminal shows it; see shown_text.h. */
#include "tui/term/shown_text.h"

#include <stdint.h>

#include "shm/characters.h"

#define REPLACEMENT 0xfffd

/* Decodes one character and moves *text behind it. Returns REPLACEMENT for a
 * byte that is not valid UTF-8. */
static uint32_t next_character(const char **text)
{
	uint32_t character = REPLACEMENT;
	size_t length = ncs_utf8_decode(*text, &character);

	*text += length > 0 ? length : 1;
	return character;
}

/* Returns an ASCII replacement for each character that the program's own texts
 * use, and "?" for any other. */
static const char *ascii_for(uint32_t code)
{
	static const struct {
		uint32_t code;
		const char *ascii;
	} table[] = {
		{ 0x2026, "..." }, { 0x00d7, "x" },  { 0x00b5, "u" },
		{ 0x2013, "-" },   { 0x2192, "->" }, { 0x2190, "<-" },
		{ 0x2264, "<=" },  { 0x2265, ">=" }, { 0x00b7, "." },
		{ 0x2019, "'" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].code == code)
			return table[i].ascii;
	return "?";
}

static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

static void show_one(struct ncs_shown_text *shown, wchar_t character, int cells)
{
	if (shown->length == NCS_SHOWN_TEXT_MAX)
		return;
	shown->text[shown->length] = character;
	shown->cells[shown->length] = (signed char)cells;
	shown->length++;
	shown->width += cells;
}

void ncs_shown_text_set(struct ncs_shown_text *shown, const char *text,
			bool ascii)
{
	shown->length = 0;
	shown->width = 0;
	while (*text && shown->length < NCS_SHOWN_TEXT_MAX) {
		uint32_t code = next_character(&text);
		int cells;

		if (is_control(code)) {
			show_one(shown, L'?', 1);
		} else if (code < 0x80) {
			show_one(shown, (wchar_t)code, 1);
		} else if (ascii) {
			for (const char *c = ascii_for(code); *c; c++)
				show_one(shown, (wchar_t)*c, 1);
		} else {
			/* A character without a column of its own could join,
			 * hide or reverse its neighbours. */
			cells = wcwidth((wchar_t)code);
			if (cells > 0)
				show_one(shown, (wchar_t)code, cells);
			else
				show_one(shown, L'?', 1);
		}
	}
}

void ncs_shown_text_cut(struct ncs_shown_text *shown, int width,
			const char *mark, bool ascii)
{
	struct ncs_shown_text end;

	if (shown->width <= width)
		return;
	ncs_shown_text_set(&end, mark, ascii);
	if (end.width > width)
		end.length = 0, end.width = 0;
	while (shown->length > 0 && shown->width + end.width > width)
		shown->width -= shown->cells[--shown->length];
	for (size_t i = 0; i < end.length; i++)
		show_one(shown, end.text[i], end.cells[i]);
}
