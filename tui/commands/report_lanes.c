/* SPDX-License-Identifier: MIT */
/* The operations of all ranks in the time in which ranks waited most for each
 * other, as lanes; see report_parts.h. Times are those of the joined operations
 * (analysis/records/joined.h), as everywhere. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "record/read/recorded_operations.h"
#include "shm/array.h"
#include "tui/commands/report_parts.h"
#include "tui/text/words.h"

/* The time that is drawn: two bins, of which each sums up the waits in it. */
#define BIN_NS UINT64_C(100000000)
#define DRAWN_NS (2 * BIN_NS)

#define BARS_MOST ((size_t)2000)
/* Shorter waits have no arrow. */
#define ARROW_LEAST_NS (DRAWN_NS / 200)

#define LANE 20.0
#define TICKS 8u

/* The part of a rank in an operation. */
struct bar {
	size_t owner, late; /* its rank in the recording, that of the last one */
	uint64_t arrival_ns, last_ns, end_ns; /* last_ns: 0 if it does not wait */
	size_t number;
	unsigned function;
};

struct lane {
	const struct ncs_rank *rank; /* NULL: not in the model */
	double y;
	bool used;
};

struct lanes {
	const struct ncs_report *report;
	struct ncs_recorded_operations *operations;
	uint64_t *bins;
	size_t bin_count;
	uint64_t from_ns;
	struct bar *bars;
	size_t count, capacity;
	struct lane *lanes; /* by rank of the recording */
	size_t rank_count;
	double height;
};

/* Whether the waits in an operation are known: not of the host's times only. */
static bool is_known(const struct ncs_joined *joined)
{
	return joined->last_awaited && joined->end_is_trusted &&
	       ncs_joined_doubt(joined, joined->last_awaited) < NCS_DOUBT_HOST;
}

/* Returns for how long a part waits for the last rank. */
static uint64_t wait_of(const struct ncs_joined *joined,
			const struct ncs_part *part)
{
	uint64_t arrival_ns = ncs_joined_arrival_ns(joined, part);

	return part != joined->last_awaited &&
			       arrival_ns < joined->not_before_ns &&
			       ncs_is_waiting(joined->wait_rule,
					      ncs_joined_is_root(joined, part)) ?
		       joined->not_before_ns - arrival_ns :
		       0;
}

/* Finds the time to draw. Returns 1 if there is one, 0 or -errno. */
static int find_time(struct lanes *lanes)
{
	const struct ncs_replay *replay = lanes->report->replay;
	const struct ncs_joined *joined;
	uint64_t most = 0;
	int result;

	lanes->bin_count =
		(size_t)((replay->until_ns - replay->from_ns) / BIN_NS) + 2;
	lanes->bins = calloc(lanes->bin_count, sizeof(*lanes->bins));
	if (!lanes->bins)
		return -ENOMEM;
	while ((result = ncs_recorded_operations_next(lanes->operations,
						      &joined)) == 1) {
		uint64_t bin = (joined->not_before_ns - replay->from_ns) / BIN_NS;

		for (size_t i = 0; i < joined->count && is_known(joined) &&
				   bin < lanes->bin_count;
		     i++)
			lanes->bins[bin] += wait_of(joined, &joined->parts[i]);
	}
	for (size_t i = 0; i + 1 < lanes->bin_count; i++) {
		uint64_t sum = lanes->bins[i] + lanes->bins[i + 1];

		if (sum <= most)
			continue;
		most = sum;
		lanes->from_ns = replay->from_ns + i * BIN_NS;
	}
	return result ? result : most > 0;
}

/* Keeps the parts of an operation that are in the time. */
static int keep(struct lanes *lanes, const struct ncs_joined *joined)
{
	if (ncs_array_reserve(&lanes->bars, &lanes->capacity,
			      lanes->count + joined->count,
			      sizeof(*lanes->bars)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_part *part = &joined->parts[i];
		struct bar bar = {
			.owner = part->owner,
			.late = joined->last_awaited->owner,
			.arrival_ns = ncs_joined_arrival_ns(joined, part),
			.last_ns = wait_of(joined, part) > 0 ?
					   joined->not_before_ns :
					   0,
			.end_ns = ncs_joined_end_ns(joined, part),
			.number = (size_t)joined->number,
			.function = part->function,
		};

		if (bar.end_ns > lanes->from_ns && bar.end_ns >= bar.arrival_ns &&
		    bar.arrival_ns < lanes->from_ns + DRAWN_NS &&
		    lanes->lanes[bar.owner].rank && lanes->lanes[bar.late].rank)
			lanes->bars[lanes->count++] = bar;
	}
	return 0;
}

static int compare_bars(const void *left, const void *right)
{
	const struct bar *a = left, *b = right;
	uint64_t of_a = a->end_ns - a->arrival_ns;
	uint64_t of_b = b->end_ns - b->arrival_ns;

	return (of_a < of_b) - (of_a > of_b);
}

/* Keeps the bars of the time, the longest first, and gives each rank that has one
 * a lane, in the model's order. */
static int take_bars(struct lanes *lanes)
{
	const struct ncs_model *model = lanes->report->model;
	const struct ncs_joined *joined;
	int result = ncs_recorded_operations_rewind(lanes->operations);

	while (!result && (result = ncs_recorded_operations_next(
				   lanes->operations, &joined)) == 1)
		result = is_known(joined) ? keep(lanes, joined) : 0;
	if (lanes->count > 0)
		qsort(lanes->bars, lanes->count, sizeof(*lanes->bars),
		      compare_bars);
	for (size_t i = 0; i < lanes->count && i < BARS_MOST; i++)
		lanes->lanes[lanes->bars[i].owner].used =
			lanes->lanes[lanes->bars[i].late].used = true;
	for (size_t i = 0; i < model->rank_count; i++)
		for (size_t k = 0; k < lanes->rank_count; k++)
			if (lanes->lanes[k].used &&
			    lanes->lanes[k].rank == model->ranks[i]) {
				lanes->lanes[k].y = lanes->height;
				lanes->height += LANE;
			}
	return result;
}

/* --- Drawing --------------------------------------------------------------- */

/* Returns the place of a time, in per cent of the width: it can be zoomed so that texts
 * keep their form. */
static double x_of(const struct lanes *lanes, uint64_t time_ns)
{
	uint64_t since_ns = time_ns > lanes->from_ns ? time_ns - lanes->from_ns : 0;

	if (since_ns > DRAWN_NS)
		since_ns = DRAWN_NS;
	return 100 * (double)since_ns / (double)DRAWN_NS;
}

static void draw_rectangle(FILE *file, const struct lanes *lanes, double y,
			   const char *class, uint64_t from_ns, uint64_t until_ns)
{
	double x = x_of(lanes, from_ns), width = x_of(lanes, until_ns) - x;

	if (until_ns > lanes->from_ns && until_ns > from_ns)
		ncs_html_print(file,
			       "<rect class=\"$s\" x=\"$x%\" y=\"$f\""
			       " width=\"$x%\" height=\"$f\"/>",
			       class, x, y + 3, width > 0.05 ? width : 0.05,
			       LANE - 6);
}

/* Draws the part of a rank, and an arrow from it to the rank that it waits for. */
static void draw_bar(FILE *file, const struct lanes *lanes, const struct bar *bar)
{
	const struct lane *lane = &lanes->lanes[bar->owner];
	const struct lane *late = &lanes->lanes[bar->late];
	uint64_t wait_ns = bar->last_ns ? bar->last_ns - bar->arrival_ns : 0;
	uint64_t rest_ns = bar->end_ns - bar->arrival_ns;
	double x = x_of(lanes, bar->last_ns);

	rest_ns = rest_ns > wait_ns ? rest_ns - wait_ns : 0;
	ncs_html_print(file, "<g><title>$s #$n: ", ncs_function_name(bar->function),
		       bar->number);
	if (wait_ns > 0)
		ncs_html_print(file, "waits $d for $s, then ", wait_ns,
			       ncs_rank_of(late->rank).text);
	ncs_html_print(file, "takes $d</title>", rest_ns);
	draw_rectangle(file, lanes, lane->y, "peer", bar->arrival_ns, bar->last_ns);
	draw_rectangle(file, lanes, lane->y, "running", bar->arrival_ns + wait_ns,
		       bar->end_ns);
	if (wait_ns >= ARROW_LEAST_NS && bar->last_ns >= lanes->from_ns &&
	    bar->last_ns <= lanes->from_ns + DRAWN_NS)
		ncs_html_print(file,
			       "<line class=\"arrow\" x1=\"$x%\" y1=\"$f\""
			       " x2=\"$x%\" y2=\"$f\" marker-end=\"url(#tip)\"/>",
			       x, lane->y + LANE / 2, x, late->y + LANE / 2);
	fputs("</g>\n", file);
}

static void draw_line(FILE *file, double x1, double y1, double x2, double y2)
{
	ncs_html_print(file,
		       "<line class=\"axis\" x1=\"$x%\" y1=\"$f\" x2=\"$x%\""
		       " y2=\"$f\"/>",
		       x1, y1, x2, y2);
}

static void draw_frame(FILE *file, const struct lanes *lanes)
{
	fputs("<figure>\nZoom:", file);
	for (size_t zoom = 1; zoom <= 16; zoom *= 4)
		ncs_html_print(file,
			       " <input type=\"radio\" name=\"zoom\" id=\"zoom-$n\""
			       "$s><label for=\"zoom-$n\">x$n</label>",
			       zoom, zoom == 1 ? " checked" : "", zoom, zoom);
	fputs("\n<div class=\"lanes\"><ul>", file);
	for (double y = 0; y < lanes->height; y += LANE)
		for (size_t i = 0; i < lanes->rank_count; i++) {
			if (!lanes->lanes[i].used || lanes->lanes[i].y != y)
				continue;
			ncs_html_print(file, "<li>$s</li>\n",
				       ncs_rank_of(lanes->lanes[i].rank).text);
		}
	ncs_html_print(file,
		       "</ul><div class=\"scroll\" tabindex=\"0\" role=\"region\""
		       " aria-label=\"Operations of all ranks\"><svg role=\"img\""
		       " height=\"$f\" aria-labelledby=\"lanes-title lanes-desc\">\n"
		       "<title id=\"lanes-title\">Operations of all ranks</title>\n"
		       "<desc id=\"lanes-desc\">A lane for each rank; bars are"
		       " operations, with the wait for other ranks first; arrows go"
		       " to the rank that came last.</desc>\n<defs><marker"
		       " id=\"tip\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\""
		       " markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\"><path"
		       " class=\"tip\" d=\"M0 0L6 3 0 6z\"/></marker></defs>\n",
		       lanes->height + 20);
	for (double y = LANE; y <= lanes->height; y += LANE)
		draw_line(file, 0, y, 100, y);
	for (unsigned i = 0; i < TICKS; i++) {
		double x = 100.0 * i / TICKS;

		draw_line(file, x, 0, x, lanes->height + 4);
		ncs_html_print(file, "<text x=\"$x%\" y=\"$f\">$t</text>\n", x,
			       lanes->height + 16, lanes->report->replay,
			       lanes->from_ns + DRAWN_NS / TICKS * i);
	}
}

static void draw(FILE *file, const struct lanes *lanes)
{
	size_t count = lanes->count < BARS_MOST ? lanes->count : BARS_MOST;

	draw_frame(file, lanes);
	for (size_t i = 0; i < count; i++)
		draw_bar(file, lanes, &lanes->bars[i]);
	ncs_html_print(file,
		       "</svg></div></div>\n<figcaption><span class=\"key peer\">"
		       "</span>waits for another rank, <span class=\"key running\">"
		       "</span>the rest of the operation; an arrow goes from a rank"
		       " that waits to the one that came last. Only operations that"
		       " ended, and of which more than the host's times is known:"
		       " the longest $n of $n.</figcaption></figure>\n",
		       count, lanes->count);
}

int ncs_report_lanes(FILE *file, const struct ncs_report *report)
{
	const struct ncs_replay *replay = report->replay;
	const struct ncs_model *model = report->model;
	struct lanes lanes = {
		.report = report,
		.rank_count = ncs_recording_rank_count(replay->recording),
		.operations = ncs_recorded_operations_open(
			replay->recording, replay->records_from_ns,
			replay->records_until_ns),
	};
	int result = -ENOMEM;

	lanes.lanes = calloc(lanes.rank_count + 1, sizeof(*lanes.lanes));
	for (size_t i = 0; lanes.lanes && i < lanes.rank_count; i++)
		for (size_t k = 0; k < model->rank_count; k++)
			if (strcmp(ncs_recording_rank(replay->recording, i)->id,
				   model->ranks[k]->id) == 0)
				lanes.lanes[i].rank = model->ranks[k];
	if (lanes.operations && lanes.lanes)
		result = find_time(&lanes);
	if (result == 0)
		fputs("<p>It is not known: no operation ended in which a rank"
		      " waited and of which more than the host's times is"
		      " known.</p>\n",
		      file);
	if (result == 1)
		result = take_bars(&lanes);
	if (result == 0 && lanes.height > 0)
		draw(file, &lanes);
	if (lanes.operations)
		ncs_recorded_operations_close(lanes.operations);
	free(lanes.bins);
	free(lanes.bars);
	free(lanes.lanes);
	return result;
}
