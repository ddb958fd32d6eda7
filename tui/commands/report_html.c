/* SPDX-License-Identifier: MIT */
/* Prints HTML with values in it; see report_parts.h. */
#include <stdarg.h>

#include "analysis/base/utf8.h"
#include "tui/commands/report_parts.h"
#include "tui/text/format.h"

static void print_text(FILE *file, const char *raw)
{
	char clean[4096 + 1];

	ncs_utf8_clean(clean, sizeof(clean), raw, false);
	for (const char *at = clean; *at; at++)
		if (*at == '&' || *at == '<' || *at == '>' || *at == '"' ||
		    *at == '\'')
			fprintf(file, "&#%d;", *at);
		else
			fputc(*at, file);
}

void ncs_html_print(FILE *file, const char *html, ...)
{
	char text[NCS_FORMAT_MAX];
	const struct ncs_report *report;
	va_list list;

	va_start(list, html);
	for (; *html; html++) {
		if (*html != '$') {
			fputc(*html, file);
			continue;
		}
		switch (*++html) {
		case 's':
			print_text(file, va_arg(list, const char *));
			break;
		case 'v':
			ncs_format_value(text, sizeof(text),
					 va_arg(list, const struct ncs_value *),
					 0, false);
			print_text(file, text);
			break;
		case 'd':
			ncs_format_duration(text, sizeof(text),
					    va_arg(list, uint64_t), 0);
			fputs(text, file);
			break;
		case 't':
			report = va_arg(list, const struct ncs_report *);
			ncs_replay_print_time(report->replay,
					      va_arg(list, uint64_t), text,
					      sizeof(text));
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
		}
	}
	va_end(list);
}
