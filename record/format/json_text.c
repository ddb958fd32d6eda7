/* SPDX-License-Identifier: MIT */
/* Writes JSON values as text; see json_text.h. */
#include "record/format/json_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void ncs_json_raw(FILE *file, const char *json)
{
	fputs_unlocked(json, file);
}

static bool needs_escape(unsigned char byte)
{
	return byte < 0x20 || byte == '"' || byte == '\\';
}

void ncs_json_text(FILE *file, const char *text)
{
	putc_unlocked('"', file);
	while (*text) {
		size_t plain = 0;

		while (text[plain] && !needs_escape((unsigned char)text[plain]))
			plain++;
		fwrite_unlocked(text, 1, plain, file);
		text += plain;
		if (*text && (unsigned char)*text < 0x20)
			fprintf(file, "\\u%04x", (unsigned char)*text++);
		else if (*text)
			fprintf(file, "\\%c", *text++);
	}
	putc_unlocked('"', file);
}

/* Writes the digits of a number to the end of `text`. Returns a pointer to the
 * first digit. */
static char *digits(char text[20], uint64_t value)
{
	char *digit = text + 20;

	do
		*--digit = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	return digit;
}

static void put_digits(FILE *file, uint64_t value)
{
	char text[20], *first = digits(text, value);

	fwrite_unlocked(first, 1, (size_t)(text + sizeof(text) - first), file);
}

void ncs_json_number(FILE *file, uint64_t value)
{
	bool quoted = value > INT64_MAX;

	if (quoted)
		putc_unlocked('"', file);
	put_digits(file, value);
	if (quoted)
		putc_unlocked('"', file);
}

void ncs_json_whole(FILE *file, int64_t value)
{
	if (value < 0)
		putc_unlocked('-', file);
	put_digits(file, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void ncs_json_flag(FILE *file, bool value)
{
	ncs_json_raw(file, value ? "true" : "false");
}

void ncs_json_real(FILE *file, double value)
{
	if (isfinite(value))
		fprintf(file, "%.9g", value);
	else
		ncs_json_raw(file, "null");
}

void ncs_json_us(FILE *file, uint64_t value_ns)
{
	char fraction[4] = { '.', (char)('0' + value_ns / 100 % 10),
			     (char)('0' + value_ns / 10 % 10),
			     (char)('0' + value_ns % 10) };

	ncs_json_number(file, value_ns / 1000);
	fwrite_unlocked(fraction, 1, sizeof(fraction), file);
}

void ncs_json_id(FILE *file, uint64_t value)
{
	fprintf(file, "\"0x%016" PRIx64 "\"", value);
}
