/* SPDX-License-Identifier: MIT */
/* Sparklines; see sparkline.h. */
#include "tui/term/sparkline.h"

#include <string.h>

#include "analysis/base/append.h"

#define DOTS 4

const char *ncs_bar(unsigned level, bool ascii)
{
	static const char *const bars[2][NCS_BAR_LEVELS + 1] = {
		{ " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" },
		{ " ", "_", ".", "-", "=", "+", "*", "%", "#" },
	};

	return bars[ascii][level];
}

struct sparkline {
	const struct ncs_recent *trace;
	uint64_t count; /* number of all values up to now */
	unsigned width;
	unsigned per_column;
	double most; /* largest value that is shown */
};

/* Returns the value in a part of a column (with braille dots, a column has two
 * parts); negative if no value is shown there. */
static double value_at(const struct sparkline *line, unsigned column,
		       unsigned part)
{
	unsigned age = (line->width - column) * line->per_column - 1 - part;

	if (age >= line->count)
		return -1;
	return line->trace->values[(line->count - 1 - age) % NCS_RECENT_LENGTH];
}

static double most_of(const struct sparkline *line)
{
	double most = 0;

	for (unsigned i = 0; i < line->width; i++) {
		for (unsigned k = 0; k < line->per_column; k++) {
			double value = value_at(line, i, k);

			if (value > most)
				most = value;
		}
	}
	return most;
}

/* Returns the height of a bar, 1 to `levels`, or 0 if the value is unknown. */
static unsigned level_at(const struct sparkline *line, unsigned column,
			 unsigned part, unsigned levels)
{
	double value = value_at(line, column, part);
	unsigned level;

	if (value < 0)
		return 0;
	if (value == 0)
		return 1;
	level = 1 + (unsigned)(value / line->most * levels);
	return level < levels ? level : levels;
}

static void append_braille(const struct sparkline *line, unsigned column,
			   char *text, size_t size)
{
	/* The dots of the left and the right half of a cell, by height. */
	static const unsigned char left[DOTS + 1] = { 0, 0x40, 0x44, 0x46,
						      0x47 };
	static const unsigned char right[DOTS + 1] = { 0, 0x80, 0xa0, 0xb0,
						       0xb8 };
	unsigned dots = left[level_at(line, column, 0, DOTS)] |
			right[level_at(line, column, 1, DOTS)];

	/* The character is U+2800 plus the dots, here in UTF-8. */
	if (dots == 0)
		ncs_append(text, size, " ");
	else
		ncs_append(text, size, "\xe2%c%c", (char)(0xa0 | dots >> 6),
			   (char)(0x80 | (dots & 0x3f)));
}

void ncs_sparkline(char *text, size_t size, const struct ncs_recent *trace,
		   uint64_t count, unsigned width, enum ncs_symbol_set symbols)
{
	struct sparkline line = {
		.trace = trace,
		.count = count,
		.width = width < NCS_SPARKLINE_WIDTH ? width :
						       NCS_SPARKLINE_WIDTH,
		.per_column = symbols == NCS_SYMBOLS_BRAILLE ? 2 : 1,
	};

	text[0] = '\0';
	if (count == 0 || width == 0)
		return;
	line.most = most_of(&line);
	for (unsigned i = 0; i < line.width; i++) {
		if (symbols == NCS_SYMBOLS_BRAILLE)
			append_braille(&line, i, text, size);
		else
			ncs_append(
				text, size, "%s",
				ncs_bar(level_at(&line, i, 0, NCS_BAR_LEVELS),
					symbols == NCS_SYMBOLS_ASCII));
	}
}
