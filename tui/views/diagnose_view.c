/* SPDX-License-Identifier: MIT */
/* Diagnose: one row for each finding, and above the table the selected
 * finding: its verdict, its evidence, and what to do next.
 */
#include "tui/views/view.h"

#include <stdio.h>
#include <string.h>

#include "tui/term/wrap.h"
#include "tui/text/finding_text.h"
#include "tui/text/words.h"

static enum ncs_severity severity(const struct ncs_row *row)
{
	return row->finding->severity == NCS_SEVERITY_STUCK ? NCS_BAD :
							      NCS_NOTE;
}

/* Prints a piece of evidence, where the root is being the first. Returns false if
 * there is no more. */
static bool evidence_line(const struct ncs_finding *finding, size_t index,
			  char *line, size_t size)
{
	char text[NCS_SENTENCE_MAX];
	size_t place = ncs_party_where(&finding->root, text, sizeof(text));

	if (index >= place + finding->evidence_count)
		return false;
	if (index >= place)
		ncs_evidence_text(&finding->evidence[index - place], text,
				  sizeof(text));
	snprintf(line, size, " - %s", text);
	return true;
}

static int evidence_lines(const struct ncs_finding *finding, int width)
{
	char line[NCS_SENTENCE_MAX + 8];
	int lines = 0;

	for (size_t i = 0; evidence_line(finding, i, line, sizeof(line)); i++)
		lines += ncs_wrapped_lines(line, width);
	return lines;
}

/* Draws the evidence: a line for each, and more while those after it keep
 * theirs. */
static int draw_evidence(const struct ncs_finding *finding,
			 const struct ncs_rect *rect)
{
	char line[NCS_SENTENCE_MAX + 8];
	int y = 0, after = -1;

	while (evidence_line(finding, (size_t)(after + 1), line, sizeof(line)))
		after++;
	for (size_t i = 0; y < rect->height &&
			   evidence_line(finding, i, line, sizeof(line));
	     i++, after--) {
		struct ncs_rect one = ncs_rect_below(rect, y);

		one.height = one.height > after ? one.height - after : 1;
		y += ncs_draw_wrapped(&one, NCS_ROLE_TEXT, line);
	}
	return y;
}

/* Draws a line for each command, to be copied as a whole, as far as there is room;
 * none if there is no rectangle. Returns the number of commands. */
static int put_commands(const struct ncs_finding *finding,
			const struct ncs_rect *rect)
{
	char command[NCS_SENTENCE_MAX], line[NCS_SENTENCE_MAX + 8];
	int count = 0;

	for (; ncs_finding_command(finding, (size_t)count, command,
				   sizeof(command));
	     count++) {
		if (!rect || count >= rect->height)
			continue;
		snprintf(line, sizeof(line), "Try: %s", command);
		ncs_term_put(rect->y + count, rect->x, rect->width,
			     NCS_ROLE_LABEL, line);
	}
	return count;
}

static void advice(const struct ncs_finding *finding, char *text, size_t size)
{
	snprintf(text, size, "Next: %s", ncs_finding_next(finding));
}

int ncs_finding_lines(const struct ncs_finding *finding, int width)
{
	char text[NCS_EXPLAIN_MAX];

	advice(finding, text, sizeof(text));
	return evidence_lines(finding, width) + ncs_wrapped_lines(text, width) +
	       put_commands(finding, NULL);
}

void ncs_draw_finding(const struct ncs_finding *finding,
		      const struct ncs_rect *rect)
{
	const int commands = put_commands(finding, NULL);
	struct ncs_rect left = *rect, seen = *rect, next;
	char text[NCS_EXPLAIN_MAX];

	advice(finding, text, sizeof(text));
	seen.height -= ncs_wrapped_lines(text, rect->width) + commands;
	if (seen.height < 1)
		seen.height = 1;
	left = ncs_rect_below(&left, draw_evidence(finding, &seen));
	next = left;
	next.height -= commands;
	left = ncs_rect_below(&left,
			      ncs_draw_wrapped(&next, NCS_ROLE_LABEL, text));
	put_commands(finding, &left);
}

/* The verdict on the job, above, has the sentence of the first finding. */
static void draw_detail(const struct ncs_row *row, const struct ncs_rect *rect)
{
	struct ncs_rect left = *rect;
	char text[NCS_EXPLAIN_MAX];

	if (row->index > 0) {
		ncs_finding_sentence(row->finding, text, sizeof(text));
		left = ncs_rect_below(
			&left, ncs_draw_wrapped(rect,
						severity(row) == NCS_BAD ?
							NCS_ROLE_BAD :
							NCS_ROLE_NOTE,
						text));
	}
	if (left.height > 0)
		ncs_draw_finding(row->finding, &left);
}

static void explain(const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_finding *finding = row->finding;
	char certainty[NCS_SENTENCE_MAX];

	ncs_finding_certainty(finding, certainty, sizeof(certainty));
	snprintf(text, size, "%s: %s.",
		 ncs_confidence_name(finding->confidence), certainty);
	if (finding->alike > 0)
		ncs_append(text, size, " The same applies to %zu more.",
			   finding->alike);
	ncs_append(text, size, " Enter goes there.");
}

const struct ncs_screen_view ncs_screen_diagnose = {
	.rules = {
		.severity = severity,
		.throughput = NCS_COLUMN_FINDING_WAITING,
		.bytes = NCS_COLUMN_FINDING_WAITING,
		.time = NCS_COLUMN_FINDING_SINCE,
		.above = &ncs_screen_communicators.rules,
	},
	/* At first as much as the finding needs, by ncs_finding_lines(). */
	.detail = { 11, 9, 5, 2 },
	.detail_count = 4,
	.draw_detail = draw_detail,
	.explain = explain,
};
