/* SPDX-License-Identifier: MIT */
/* View 7, Diagnose: one row for each finding, and above the table the selected
 * finding: its verdict, its evidence, and what to do next.
 */
#include "tui/views/view.h"

#include <stdio.h>
#include <string.h>

#include "tui/term/wrap.h"
#include "tui/text/evidence_text.h"
#include "tui/text/finding_text.h"
#include "tui/text/words.h"

/* Lines for the advice on what to do next, without its commands. */
#define ADVICE_LINES 2

/* With so few lines below the verdict there is no advice. */
#define LINES_MIN 3

static enum ncs_severity severity(const struct ncs_row *row)
{
	return row->finding->severity == NCS_SEVERITY_STUCK ? NCS_BAD :
							      NCS_NOTE;
}

/* Returns the rest of a rectangle below some lines. */
static struct ncs_rect below(const struct ncs_rect *rect, int lines)
{
	struct ncs_rect left = *rect;

	left.y += lines;
	left.height -= lines;
	return left;
}

static int draw_evidence(const struct ncs_finding *finding,
			 const struct ncs_rect *rect)
{
	char text[NCS_SENTENCE_MAX], line[NCS_SENTENCE_MAX + 8];
	int y = 0;

	if (rect->height > 1 &&
	    ncs_party_where(&finding->root, text, sizeof(text))) {
		struct ncs_rect one = *rect;

		one.height = 1;
		snprintf(line, sizeof(line), " - %s", text);
		y += ncs_draw_wrapped(&one, NCS_ROLE_TEXT, line);
	}
	for (size_t i = 0; i < finding->evidence_count && y < rect->height;
	     i++) {
		struct ncs_rect one = below(rect, y);

		one.height = 1;
		ncs_evidence_text(&finding->evidence[i], text, sizeof(text));
		snprintf(line, sizeof(line), " - %s", text);
		y += ncs_draw_wrapped(&one, NCS_ROLE_TEXT, line);
	}
	return y;
}

/* Draws a line for each command, to be copied as a whole. */
static void draw_commands(const struct ncs_finding *finding,
			  const struct ncs_rect *rect)
{
	char command[NCS_SENTENCE_MAX], line[NCS_SENTENCE_MAX + 8];

	for (int i = 0;
	     i < rect->height &&
	     ncs_finding_command(finding, (size_t)i, command, sizeof(command));
	     i++) {
		struct ncs_rect one = below(rect, i);

		one.height = 1;
		snprintf(line, sizeof(line), "Try: %s", command);
		ncs_draw_wrapped(&one, NCS_ROLE_LABEL, line);
	}
}

static int count_commands(const struct ncs_finding *finding)
{
	char command[NCS_SENTENCE_MAX];
	int count = 0;

	while (ncs_finding_command(finding, (size_t)count, command,
				   sizeof(command)))
		count++;
	return count;
}

static void draw_detail(const struct ncs_row *row, const struct ncs_rect *rect)
{
	const struct ncs_finding *finding = row->finding;
	const int commands = count_commands(finding);
	struct ncs_rect left, seen, advice;
	char text[NCS_EXPLAIN_MAX];
	int lines;

	ncs_finding_sentence(finding, text, sizeof(text));
	lines = ncs_draw_wrapped(
		rect, severity(row) == NCS_BAD ? NCS_ROLE_BAD : NCS_ROLE_NOTE,
		text);
	left = below(rect, lines);
	if (left.height <= LINES_MIN)
		return;
	seen = left;
	seen.height -= ADVICE_LINES + commands;
	if (seen.height < 1)
		seen.height = 1;
	left = below(&left, draw_evidence(finding, &seen));
	advice = left;
	advice.height -= commands;
	snprintf(text, sizeof(text), "Next: %s",
		 ncs_finding_next(finding));
	left = below(&left, ncs_draw_wrapped(&advice, NCS_ROLE_LABEL, text));
	draw_commands(finding, &left);
}

static void explain(const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_finding *finding = row->finding;

	char certainty[NCS_SENTENCE_MAX];

	ncs_finding_certainty(finding, certainty, sizeof(certainty));
	snprintf(text, size, "%s: %s.",
		 ncs_confidence_name(finding->confidence), certainty);
	if (finding->waiting > 0)
		ncs_append(text, size, " %zu %s for it.", finding->waiting,
			   finding->waiting == 1 ? "rank waits" : "ranks wait");
	if (finding->alike > 0)
		ncs_append(text, size, " The same applies to %zu more.",
			   finding->alike);
	ncs_append(text, size, " Enter goes there.");
}

const struct ncs_screen_view ncs_screen_diagnose = {
	.view = NCS_VIEW_FINDING,
	.name = "Diagnose",
	.short_name = "Diag",
	.rules = {
		.severity = severity,
		.throughput = "FINDING_WAITING",
		.bytes = "FINDING_WAITING",
		.time = "FINDING_SINCE",
		.above = &ncs_screen_communicators.rules,
	},
	.detail = { 11, 9, 5, 2 },
	.detail_count = 4,
	.draw_detail = draw_detail,
	.explain = explain,
};
