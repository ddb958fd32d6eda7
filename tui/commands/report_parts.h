/* SPDX-License-Identifier: MIT */
/* The parts of a report, for report_command.c, which puts them into the template.
 * Parts print what the model, the episodes and the records tell, and must not
 * judge. All they print goes through ncs_html_print(). */
#ifndef NCS_TUI_COMMANDS_REPORT_PARTS_H
#define NCS_TUI_COMMANDS_REPORT_PARTS_H

#include <stdio.h>

#include "tui/commands/dump_command.h"
#include "tui/commands/print_values.h"
#include "tui/text/finding_text.h"

/* The most slices of a graph of waits over time. */
#define NCS_REPORT_SLICES 240u

/* The parts of a step: waiting for a rank, exposed communication, the rest. */
#define NCS_REPORT_STEP_PARTS 3u

/* The waits in a slice of time: sums of shares over so many looks; and the step at the
 * latest look that knew it, 0 if none did. */
struct ncs_report_slice {
	double share[NCS_WAIT_COUNT];
	size_t looks;
	double step_ns, steps[NCS_REPORT_STEP_PARTS];
};

struct ncs_report;

/* Prints a part. Returns 0, or -errno if it cannot be made. */
typedef int ncs_report_part(FILE *file, const struct ncs_report *report);

struct ncs_report {
	const struct ncs_options *options;
	const struct ncs_replay *replay;
	const struct ncs_model *model; /* at the end */
	struct ncs_diagnosis *diagnosis; /* of the model */
	const struct ncs_stamp *stamp; /* with the episodes, the worst first */
	struct ncs_report_slice slices[NCS_REPORT_SLICES];
	size_t slice_count;
	/* The step at the latest look that knew it, else at the end. */
	bool knows_step;
	uint64_t step_at_ns;
	char step[NCS_SENTENCE_MAX];
	/* The differences to another recording; NULL: there is none. */
	const struct ncs_compared *compared;
	ncs_report_part *print_compared;
};

/* tui/share/report/report.html, as the build has made it a string of. The place of
 * a part is its name between two '@'. */
extern const char ncs_report_template[];

ncs_report_part ncs_report_title, ncs_report_verdict, ncs_report_episodes;
ncs_report_part ncs_report_stacks;
ncs_report_part ncs_report_lanes, ncs_report_waits, ncs_report_links;
ncs_report_part ncs_report_unseen, ncs_report_made, ncs_report_steps;
ncs_report_part ncs_report_gain;
/* Prints a part that is the table of a view. */
int ncs_report_view(FILE *file, const struct ncs_report *report,
		    enum ncs_view view);

/* Makes the report on the recordings of the input, and on what differs from another one,
 * which a part prints, unless that is NULL. Returns the program's exit status. */
int ncs_report_write(const struct ncs_command_input *input,
		     const struct ncs_compared *compared,
		     ncs_report_part *print_compared);

/* Begins a table that scrolls by itself where it is too wide. */
#define NCS_REPORT_TABLE(name) \
	"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" name \
	"\"><table>\n<thead><tr>"

/* Begins a graph that scrolls by itself where it is too wide: its name, and what is
 * to be said in place of it; $f and $f are its width and height. */
#define NCS_REPORT_GRAPH(id, name, description) \
	"<figure><div class=\"scroll\" tabindex=\"0\" role=\"region\"" \
	" aria-label=\"" name "\"><svg role=\"img\" viewBox=\"0 -4 $f $f\"" \
	" aria-labelledby=\"" id "-title " id "-desc\">\n<title id=\"" id \
	"-title\">" name "</title>\n<desc id=\"" id "-desc\">" description \
	"</desc>\n"

#endif
