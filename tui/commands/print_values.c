/* SPDX-License-Identifier: MIT */
/* Prints texts with values in them; see print_values.h. */
#include "tui/commands/print_values.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/utf8.h"
#include "record/replay/replay.h"
#include "tui/text/format.h"
#include "tui/text/output.h"

static void print_text(FILE *file, bool is_html, const char *raw,
		       unsigned columns)
{
	char clean[2 * 4096];

	ncs_utf8_clean(clean, sizeof(clean), raw,
		       !is_html && ncs_complains_in_ascii());
	for (const char *at = clean; *at; at++)
		if (is_html && strchr("&<>\"'", *at))
			fprintf(file, "&#%d;", *at);
		else
			fputc(*at, file);
	for (unsigned i = ncs_format_columns(clean); i < columns; i++)
		fputc(' ', file);
}

static void print(FILE *file, bool is_html, const char *format, va_list list)
{
	char text[NCS_FORMAT_MAX];
	const struct ncs_replay *replay;
	unsigned columns;
	char *end;

	for (; *format; format++) {
		if (*format != '$') {
			fputc(*format, file);
			continue;
		}
		columns = (unsigned)strtoul(++format, &end, 10);
		format = end;
		switch (*format) {
		case 's':
			print_text(file, is_html, va_arg(list, const char *),
				   columns);
			break;
		case 'v':
			ncs_format_value(text, sizeof(text),
					 va_arg(list, const struct ncs_value *),
					 0, false);
			print_text(file, is_html, text, 0);
			break;
		case 'd':
			ncs_format_duration(text, sizeof(text),
					    va_arg(list, uint64_t), 0);
			fputs(text, file);
			break;
		case 'b':
			ncs_format_scaled(text, sizeof(text),
					  (double)va_arg(list, uint64_t), 0);
			fprintf(file, "%sB", text);
			break;
		case 't':
			replay = va_arg(list, const struct ncs_replay *);
			ncs_replay_print_time(replay, va_arg(list, uint64_t),
					      text, sizeof(text));
			fputs(text, file);
			break;
		case 'f':
			fprintf(file, "%.2f", va_arg(list, double));
			break;
		case 'x':
			fprintf(file, "%.3f", va_arg(list, double));
			break;
		case 'n':
			fprintf(file, "%zu", va_arg(list, size_t));
			break;
		case 'u':
			fprintf(file, "%" PRIu64, va_arg(list, uint64_t));
			break;
		}
	}
}

void ncs_print(FILE *file, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	print(file, false, format, list);
	va_end(list);
}

void ncs_html_print(FILE *file, const char *html, ...)
{
	va_list list;

	va_start(list, html);
	print(file, true, html, list);
	va_end(list);
}
