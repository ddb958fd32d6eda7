/* SPDX-License-Identifier: MIT */
/* The waits of the job over time as a graph; see report_parts.h. */
#include "tui/commands/report_parts.h"

#define WIDTH 960.0
#define HEIGHT 160.0
#define TICKS 6u

/* Draws a slice: kinds of waits above each other, the first at the bottom. */
static void draw_slice(FILE *file, const struct ncs_report *report, size_t place)
{
	const struct ncs_report_slice *slice = &report->slices[place];
	double width = WIDTH / (double)report->slice_count, y = HEIGHT;

	for (unsigned i = 0; i < NCS_WAIT_COUNT && slice->looks > 0; i++) {
		double height = HEIGHT * slice->share[i] / (double)slice->looks;

		y -= height;
		if (height > 0)
			ncs_html_print(file,
				       "<rect class=\"$s\" x=\"$f\" y=\"$f\""
				       " width=\"$f\" height=\"$f\"/>\n",
				       ncs_wait_name(i), (double)place * width, y,
				       width, height);
	}
}

int ncs_report_waits(FILE *file, const struct ncs_report *report)
{
	const struct ncs_replay *replay = report->replay;
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
		draw_slice(file, report, i);
	for (unsigned i = 0; i <= TICKS; i++)
		ncs_html_print(file,
			       "<text x=\"$f\" y=\"$f\" text-anchor=\"$s\">$t"
			       "</text>\n",
			       WIDTH * i / TICKS, HEIGHT + 17,
			       i == 0	  ? "start" :
			       i == TICKS ? "end" :
					    "middle",
			       report,
			       replay->from_ns +
				       (replay->until_ns - replay->from_ns) /
					       TICKS * i);
	fputs("</svg></div>\n<figcaption>Shares of the time of all ranks that live,"
	      " from the bottom up, and their means in percent:",
	      file);
	for (unsigned i = 0; i < NCS_WAIT_COUNT; i++)
		ncs_html_print(file, " <span class=\"key $s\"></span>$s $f",
			       ncs_wait_name(i), ncs_wait_name(i),
			       100 * sums[i] / looks);
	fputs("</figcaption></figure>\n", file);
	return 0;
}
