/* SPDX-License-Identifier: MIT */
/* The waits of the job, and its steps, over time as graphs; see report_parts.h. */
#include "tui/commands/report_parts.h"

#include <math.h>

#define WIDTH 960.0
#define HEIGHT 160.0
#define TICKS 6u

/* Draws a slice: values above each other, the first at the bottom. */
static void draw_slice(FILE *file, const struct ncs_report *report, size_t place,
		       const double *values, const char *(*name)(unsigned),
		       unsigned count, double most)
{
	double width = WIDTH / (double)report->slice_count, y = HEIGHT;

	for (unsigned i = 0; i < count; i++) {
		double height = HEIGHT * values[i] / most;

		y -= height;
		if (height > 0)
			ncs_html_print(file,
				       "<rect class=\"$s\" x=\"$f\" y=\"$f\""
				       " width=\"$f\" height=\"$f\"/>\n",
				       name(i), (double)place * width, y, width,
				       height);
	}
}

static void draw_times(FILE *file, const struct ncs_report *report)
{
	const struct ncs_replay *replay = report->replay;

	for (unsigned i = 0; i <= TICKS; i++)
		ncs_html_print(file,
			       "<text x=\"$f\" y=\"$f\" text-anchor=\"$s\">$t"
			       "</text>\n",
			       WIDTH * i / TICKS, HEIGHT + 17,
			       i == 0     ? "start" :
			       i == TICKS ? "end" :
					    "middle",
			       replay,
			       replay->from_ns +
				       (replay->until_ns - replay->from_ns) /
					       TICKS * i);
	fputs("</svg></div>\n<figcaption>", file);
}

/* --- Waits ---------------------------------------------------------------- */

static const char *wait_name(unsigned i)
{
	return ncs_wait_name(i);
}

int ncs_report_waits(FILE *file, const struct ncs_report *report)
{
	double sums[NCS_WAIT_COUNT] = { 0 }, looks = 0;

	for (size_t i = 0; i < report->slice_count; i++) {
		looks += (double)report->slices[i].looks;
		for (unsigned k = 0; k < NCS_WAIT_COUNT; k++)
			sums[k] += report->slices[i].share[k];
	}
	if (looks - sums[NCS_WAIT_IDLE] < 1e-9) {
		fputs("<p>None was seen at a look: neither in channels of the"
		      " network nor in launches.</p>\n",
		      file);
		return 0;
	}
	ncs_html_print(file,
		       NCS_REPORT_GRAPH("waits", "Waits over time",
					"The shares of the time of all ranks that"
					" each kind of wait takes; their means are"
					" below."),
		       WIDTH, HEIGHT + 26);
	for (size_t i = 0; i < report->slice_count; i++)
		draw_slice(file, report, i, report->slices[i].share, wait_name,
			   NCS_WAIT_COUNT,
			   fmax((double)report->slices[i].looks, 1));
	draw_times(file, report);
	fputs("Shares of the time of all ranks that live, from the bottom up, and"
	      " their means in percent:",
	      file);
	for (unsigned i = 0; i < NCS_WAIT_COUNT; i++)
		ncs_html_print(file, " <span class=\"key $s\"></span>$s $f",
			       ncs_wait_name(i), ncs_wait_name(i),
			       100 * sums[i] / looks);
	fputs("</figcaption></figure>\n", file);
	return 0;
}

/* --- Steps ---------------------------------------------------------------- */

/* The colours are those of waits. */
static const char *step_name(unsigned i)
{
	static const char *const names[NCS_REPORT_STEP_PARTS] = {
		"peer", "network", "running"
	};

	return names[i];
}

int ncs_report_steps(FILE *file, const struct ncs_report *report)
{
	double most = 0;

	ncs_html_print(file, "<p>At $t: $s.</p>\n", report->replay,
		       report->step_at_ns, report->step);
	for (size_t i = 0; i < report->slice_count; i++)
		most = fmax(most, report->slices[i].step_ns);
	if (most <= 0)
		return 0;
	ncs_html_print(file,
		       NCS_REPORT_GRAPH("steps", "The time of a step, over time",
					"How long a step takes, and how much of it"
					" ranks wait for the one that costs most,"
					" and data moves that nothing hides."),
		       WIDTH, HEIGHT + 26);
	for (size_t i = 0; i < report->slice_count; i++)
		draw_slice(file, report, i, report->slices[i].steps, step_name,
			   NCS_REPORT_STEP_PARTS, most);
	draw_times(file, report);
	ncs_html_print(file,
		       "From the bottom up to $d at most: <span class=\"key peer\">"
		       "</span>waiting for the rank that costs most, <span"
		       " class=\"key network\"></span>exposed communication, <span"
		       " class=\"key running\"></span>the rest of a step."
		       "</figcaption></figure>\n",
		       (uint64_t)most);
	return 0;
}
