/* SPDX-License-Identifier: MIT */
/* The head of the screen below the title, in three lines that answer: is the job
 * well, how fast is it, what does it wait for; and where operations of several ranks
 * were compared, in a fourth one: how long is a step. Called for each frame.
 *
 * The place of a figure depends on the width of the screen alone, never on other
 * figures; what is unknown is "-". */
#include "tui/screen/screen_parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "analysis/model/moving.h"
#include "analysis/model/rank.h"
#include "analysis/model/stragglers.h"
#include "ncclstat/size_class.h"
#include "tui/term/sparkline.h"
#include "tui/term/wrap.h"
#include "tui/text/format.h"
#include "tui/text/job_text.h"
#include "tui/text/job_verdict.h"
#include "tui/text/words.h"
#include "tui/views/row_looks.h"

#define LINE_BYTES 512
/* Where the figures of a line begin, behind its word; "NO VERDICT" is the
 * longest. */
#define FIGURES_X 11
/* Room for "certain" or "possible" at the end of the verdict. */
#define CERTAINTY_WIDTH 9
#define VERDICT_LINES_MAX 3
/* From this width on there is room for all that the first screen answers, and
 * from the other on for more. */
#define USUAL_WIDTH 80
#define WIDE_WIDTH 100

/* Returns the role of a severity's word. */
static enum ncs_role role_of(enum ncs_verdict_severity severity)
{
	switch (severity) {
	case NCS_SEVERITY_STUCK:
		return NCS_ROLE_BAD;
	case NCS_SEVERITY_SLOW:
	case NCS_SEVERITY_UNSEEN:
		return NCS_ROLE_NOTE;
	default:
		return NCS_ROLE_STRONG;
	}
}

/* --- Parts of a line ------------------------------------------------------ */

/* Draws a text at a place of the line if all of the place is on the screen; to
 * the right of the place where `right` is true. */
static void put(const struct ncs_rect *line, int x, int width, bool right,
		enum ncs_role role, const char *text)
{
	int own = ncs_term_text_width(text);

	if (x + width > line->width)
		return;
	if (right && own < width)
		x += width - own;
	ncs_term_put(line->y, line->x + x, own < width ? own : width, role,
		     text);
}

/* Draws a bandwidth in GB/s, or in Gb/s, in 5 columns. */
static void put_bandwidth(const struct ncs_screen *screen,
			  const struct ncs_rect *line, int x,
			  const struct ncs_moving_view *view, enum ncs_role role)
{
	double number = view->busbw * (screen->options.units.bits ? 8 : 1);
	char text[32] = "-";

	if (view->operations > 0 && number >= 0)
		snprintf(text, sizeof(text), "%.*f",
			 number < 99.995 ? 2 : number < 999.95, number);
	put(line, x, 5, true, role, text);
}

static void put_value(const struct ncs_screen *screen,
		      const struct ncs_rect *line, int x, int width,
		      const struct ncs_value *value, const char *unit,
		      enum ncs_role role)
{
	char number[NCS_FORMAT_MAX], text[NCS_FORMAT_MAX + 8] = "";
	struct ncs_units units = screen->options.units;

	/* There is no room for all digits. */
	units.exact = false;
	ncs_format_in_units(number, sizeof(number), value, &units, 0);
	ncs_append(text, sizeof(text), "%s%s", number,
		   value->kind == NCS_VALUE_NONE ? "" : unit);
	put(line, x, width, true, role, text);
}

/* --- The verdict ---------------------------------------------------------- */

/* Prints the verdict on the job, and returns its severity. */
static enum ncs_verdict_severity verdict_text(const struct ncs_screen *screen,
					      char *text, size_t size)
{
	enum ncs_verdict_severity severity =
		ncs_job_severity(&screen->diagnosis, &screen->model);
	char sentence[NCS_EXPLAIN_MAX];

	text[0] = '\0';
	if (screen->model.error[0]) {
		severity = NCS_SEVERITY_UNSEEN;
		ncs_append(text, size, "cannot read: %s", screen->model.error);
	}
	ncs_job_sentence(&screen->diagnosis, &screen->model, sentence,
			 sizeof(sentence));
	ncs_append_clause(text, size, "%s", sentence);
	return severity;
}

/* Returns the width for the sentence of the verdict. */
static int verdict_width(const struct ncs_screen *screen, int width)
{
	bool has_certainty =
		width >= USUAL_WIDTH && screen->diagnosis.count > 0;

	return width - FIGURES_X - (has_certainty ? CERTAINTY_WIDTH + 1 : 0);
}

/* Returns the number of lines behind the verdict. Where no step ends, no line is
 * spent on one that is not known. */
static int lines_behind(const struct ncs_screen *screen)
{
	struct ncs_job_step step;
	bool has_step = ncs_busiest_step(&screen->model, &step) &&
			(step.step.unknown == NCS_COST_KNOWN ||
			 ncs_diagnosis_severity(&screen->diagnosis) !=
				 NCS_SEVERITY_STUCK);

	return 2 + has_step;
}

int ncs_summary_lines(const struct ncs_screen *screen, int width)
{
	char text[NCS_EXPLAIN_MAX];
	int lines;

	if (width <= FIGURES_X)
		return 1 + lines_behind(screen);
	verdict_text(screen, text, sizeof(text));
	lines = ncs_wrapped_lines(text, verdict_width(screen, width));
	if (lines > VERDICT_LINES_MAX)
		lines = VERDICT_LINES_MAX;
	return lines_behind(screen) + (lines > 1 ? lines : 1);
}

static void draw_verdict(const struct ncs_screen *screen,
			 const struct ncs_rect *line)
{
	const struct ncs_diagnosis *diagnosis = &screen->diagnosis;
	char word[16] = "", text[NCS_EXPLAIN_MAX];
	enum ncs_verdict_severity severity =
		verdict_text(screen, text, sizeof(text));
	const struct ncs_rect sentence = {
		.y = line->y,
		.x = line->x + FIGURES_X,
		.height = line->height,
		.width = verdict_width(screen, line->width),
	};

	snprintf(word, sizeof(word), "%s", ncs_severity_name(severity));
	for (char *c = word; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	ncs_term_put(line->y, line->x, FIGURES_X - 1,
		     role_of(severity), word);
	if (line->width >= USUAL_WIDTH && diagnosis->count > 0)
		put(line, line->width - CERTAINTY_WIDTH, CERTAINTY_WIDTH, true,
		    NCS_ROLE_LABEL,
		    ncs_confidence_name(diagnosis->findings[0].confidence));
	ncs_draw_wrapped(&sentence,
			 severity == NCS_SEVERITY_STUCK ? NCS_ROLE_BAD :
							  NCS_ROLE_TEXT,
			 text);
}

/* --- The speed ------------------------------------------------------------ */

static void draw_history(const struct ncs_screen *screen,
			 const struct ncs_rect *line)
{
	char text[4 * NCS_SPARKLINE_WIDTH];
	uint64_t count;
	const struct ncs_recent *recent = ncs_busiest_recent(
		ncs_busiest_communicator(&screen->model), &count);

	if (!recent)
		return;
	ncs_sparkline(text, sizeof(text), recent, count, NCS_SPARKLINE_WIDTH,
		      ncs_term_shown_symbols());
	put(line, FIGURES_X, NCS_SPARKLINE_WIDTH, false, NCS_ROLE_TEXT, text);
}

/* Returns the peak of the links under a bandwidth that is of now. */
static struct ncs_peak peak_of(const struct ncs_communicator *communicator,
			       const struct ncs_moving_view *view)
{
	if (!communicator || view->is_stale || view->operations == 0)
		return (struct ncs_peak){ .link = NCS_PEAK_UNKNOWN };
	return ncs_communicator_peak(communicator);
}

/* Writes "of 12.5 GB/s NIC", or the unit alone where no peak is known. Where
 * there is not enough room, NVLink is NVL. */
static void describe_peak(const struct ncs_screen *screen,
			  const struct ncs_peak *peak, int room, char *text,
			  size_t size)
{
	bool bits = screen->options.units.bits;
	double number = peak->gigabytes * (bits ? 8 : 1);

	if (peak->link != NCS_PEAK_UNKNOWN)
		ncs_append(text, size, "of %.*f ", number < 100, number);
	ncs_append(text, size, "%s", bits ? "Gb/s" : "GB/s");
	if (peak->link == NCS_PEAK_NETWORK)
		ncs_append(text, size, " NIC");
	else if (peak->link == NCS_PEAK_NVLINK)
		ncs_append(text, size, " %s",
			   (int)strlen(text) + 7 <= room ? "NVLink" : "NVL");
}

/* Draws the busiest function, its size and its bandwidth. */
static void draw_busiest(const struct ncs_screen *screen,
			 const struct ncs_rect *line, int x)
{
	static const struct ncs_busiest none = { .function =
							 NCS_FUNCTION_COUNT };
	const struct ncs_communicator *communicator =
		ncs_busiest_communicator(&screen->model);
	const struct ncs_busiest *busiest =
		communicator ? &communicator->busiest : &none;
	const struct ncs_moving_view *view = &busiest->view;
	struct ncs_peak peak = peak_of(communicator, view);
	enum ncs_role role = view->is_stale ? NCS_ROLE_QUIET : NCS_ROLE_STRONG;
	struct ncs_value size = { 0 };
	char text[LINE_BYTES] = "";

	put(line, x, 13, false, NCS_ROLE_TEXT,
	    communicator ? ncs_function_name(busiest->function) : "-");
	if (communicator &&
	    busiest->which.size_class > NCS_SIZE_CLASS_EMPTY &&
	    busiest->which.size_class < NCS_SIZE_CLASS_COUNT)
		ncs_value_set(&size, NCS_VALUE_SIZE,
			      ncs_size_class_low(busiest->which.size_class));
	put_value(screen, line, x + 14, 5, &size, "", NCS_ROLE_TEXT);
	if (line->width >= USUAL_WIDTH) {
		put(line, x + 20, 5, false, NCS_ROLE_LABEL, "busbw");
		x += 6;
	}
	put_bandwidth(screen, line, x + 20, view, role);
	describe_peak(screen, &peak, line->width - x - 26, text, sizeof(text));
	if (view->is_stale)
		ncs_append(text, sizeof(text), " %s ago",
			   ncs_duration(view->age_ns).text);
	ncs_term_put(line->y, line->x + x + 26, line->width - x - 26,
		     view->is_stale ? NCS_ROLE_QUIET : NCS_ROLE_LABEL, text);
}

static void draw_operations(const struct ncs_screen *screen,
			    const struct ncs_rect *line)
{
	const struct ncs_communicator *communicator =
		ncs_busiest_communicator(&screen->model);
	struct ncs_value value = { 0 };

	ncs_value_set_real(&value, NCS_VALUE_RATE,
			   communicator ? communicator->most_operations_rate :
					  -1);
	put_value(screen, line, 82, 12, &value, " op/s", NCS_ROLE_TEXT);
}

static void draw_speed(const struct ncs_screen *screen,
		       const struct ncs_rect *line)
{
	ncs_term_put(line->y, line->x, FIGURES_X - 1, NCS_ROLE_LABEL, "SPEED");
	if (line->width < USUAL_WIDTH) {
		draw_busiest(screen, line, FIGURES_X);
		return;
	}
	draw_history(screen, line);
	draw_busiest(screen, line, 30);
	if (line->width >= WIDE_WIDTH)
		draw_operations(screen, line);
}

/* --- The waits ------------------------------------------------------------ */

/* Returns the width of the bars, so that all kinds fit. */
static int bar_width(const struct ncs_rect *line)
{
	/* The last one needs no gap behind it. */
	int room = line->width - FIGURES_X + 1;

	for (unsigned i = 0; i < NCS_WAIT_COUNT; i++)
		room -= (int)strlen(ncs_wait_name(i)) + 7;
	return room > 0 ? room / NCS_WAIT_COUNT : 0;
}

static void draw_waits(const struct ncs_screen *screen,
		       const struct ncs_rect *line)
{
	const struct ncs_job_waits *waits = &screen->model.waits;
	int x = FIGURES_X, bar = bar_width(line);
	char text[LINE_BYTES];

	ncs_term_put(line->y, line->x, FIGURES_X - 1, NCS_ROLE_LABEL, "WAITS");
	for (unsigned i = 0; i < NCS_WAIT_COUNT; i++) {
		int width = (int)strlen(ncs_wait_name(i)) + 5;
		double share = waits->ranks > 0 ? waits->share[i] : 0;

		if (x + width > line->width)
			return;
		if (waits->ranks > 0)
			snprintf(text, sizeof(text), "%s%4.0f%%",
				 ncs_wait_name(i), 100 * share);
		else
			snprintf(text, sizeof(text), "%s    -",
				 ncs_wait_name(i));
		put(line, x, width, false, NCS_ROLE_TEXT, text);
		x += width + 1;
		ncs_term_repeat(line->y, line->x + x,
				(int)lround(share * bar), ncs_wait_role(i),
				NCS_SYMBOL_FULL);
		x += bar + 1;
	}
}

/* --- The step ------------------------------------------------------------- */

/* Draws how long a step takes and by how many calls that is told, and of that the
 * exposed communication and the waiting for a rank; or why it is not known. There are
 * operations that were compared. */
static void draw_step(const struct ncs_screen *screen, const struct ncs_rect *line)
{
	struct ncs_job_step step;
	char text[LINE_BYTES];

	ncs_busiest_step(&screen->model, &step);
	ncs_term_put(line->y, line->x, FIGURES_X - 1, NCS_ROLE_LABEL, "STEP");
	if (step.step.unknown != NCS_COST_KNOWN) {
		put(line, FIGURES_X, 7, true, NCS_ROLE_TEXT, "-");
		ncs_term_put(line->y, line->x + 20, line->width - 20,
			     NCS_ROLE_LABEL,
			     ncs_cost_unknown_help(step.step.unknown));
		return;
	}
	put(line, FIGURES_X, 7, true, NCS_ROLE_STRONG,
	    ncs_duration((uint64_t)step.step.ns).text);
	snprintf(text, sizeof(text), "of %" PRIu32 " call%s",
		 step.step.launches, step.step.launches == 1 ? "" : "s");
	put(line, 20, 12, false, NCS_ROLE_LABEL, text);
	snprintf(text, sizeof(text), "exposed %s",
		 step.exposed_unknown != NCS_COST_KNOWN ?
			 "-" :
			 ncs_bounded(step.exposed_ns, step.exposed_least_ns,
				     step.exposed_most_ns)
				 .text);
	put(line, 33, 24, false, NCS_ROLE_TEXT, text);
	if (!step.latest)
		return;
	snprintf(text, sizeof(text), "%s for %s",
		 ncs_duration((uint64_t)step.waiting_ns).text,
		 ncs_rank_of(step.latest).text);
	ncs_term_put(line->y, line->x + 58, line->width - 58, NCS_ROLE_NOTE,
		     text);
}

void ncs_draw_summary(const struct ncs_screen *screen,
		      const struct ncs_rect *rect)
{
	static void (*const draw[])(const struct ncs_screen *,
				    const struct ncs_rect *) = {
		draw_verdict, draw_speed, draw_waits, draw_step
	};
	const int behind = lines_behind(screen);
	struct ncs_rect line = *rect;

	/* The verdict takes the lines that the others leave. */
	line.height = rect->height > behind ? rect->height - behind : 1;
	for (int i = 0; i <= behind && line.y < rect->y + rect->height; i++) {
		draw[i](screen, &line);
		line.y += line.height;
		line.height = 1;
	}
}
