/* SPDX-License-Identifier: MIT */
/* The text dump: one plain table for each view, from the table of columns, in a
 * width. The order of rows must be stable; there must be no boxes, no colours
 * and no cut cells. */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "analysis/base/utf8.h"
#include "analysis/model/stragglers.h"
#include "analysis/records/step_stats.h"
#include "shm/clock.h"
#include "tui/commands/dump_command.h"
#include "tui/term/layout.h"
#include "tui/term/wrap.h"
#include "tui/text/finding_text.h"
#include "tui/text/format.h"
#include "tui/text/job_text.h"
#include "tui/text/job_verdict.h"
#include "tui/text/node_text.h"
#include "tui/text/words.h"

#define GAP "  "

struct dump_table {
	const struct ncs_row *rows;
	size_t row_count;
	bool ascii;
	bool shown[NCS_COLUMN_COUNT];
	bool known[NCS_COLUMN_COUNT];   /* in one row at least */
	bool differs[NCS_COLUMN_COUNT]; /* not the same in all rows */
	unsigned widths[NCS_COLUMN_COUNT];
	size_t last; /* last column of this view */
};

/* Prints a sentence, cleaned, after a word that says of what it is, in lines of a
 * width (0: in one); all but the first are indented. */
static void print_sentence(FILE *file, const char *word, const char *raw,
			   unsigned width, bool ascii)
{
	char clean[NCS_SENTENCE_MAX + 64], *text = clean;
	int room = (int)width - (int)strlen(word);

	ncs_utf8_clean(clean, sizeof(clean), raw, ascii);
	fputs(word, file);
	while (width > 0 && *text) {
		size_t length = ncs_line_length(text, room > 1 ? room : 1);

		fprintf(file, "%.*s", (int)length, text);
		text += length;
		text += strspn(text, " ");
		if (*text)
			fputs("\n  ", file);
		room = (int)width - 2;
	}
	fprintf(file, "%s\n", text);
}

/* Chooses columns of a view: those that are asked for, or, if none is, all but
 * those that are not wanted. Returns whether some are asked for. */
static bool choose(struct dump_table *table, enum ncs_view view,
		   const enum ncs_column_choice *choices)
{
	bool some = false;

	for (size_t i = 0; i < ncs_column_count; i++)
		some = some || (ncs_columns[i].view == view && choices &&
				choices[i] == NCS_COLUMN_SHOWN);
	for (size_t i = 0; i < ncs_column_count; i++)
		table->shown[i] =
			ncs_columns[i].view == view &&
			(!choices || (some ? choices[i] == NCS_COLUMN_SHOWN :
					     choices[i] != NCS_COLUMN_HIDDEN));
	return some;
}

/* Returns a column's priority: the name of a communicator stays where there are
 * several, and a column of which nothing is known goes first. */
static unsigned priority_of(const struct dump_table *table, size_t i)
{
	if (table->differs[i] && strcmp(ncs_columns[i].title, "COMM") == 0)
		return 9;
	return table->known[i] ? ncs_columns[i].priority : 1;
}

/* Leaves out the columns for which there is no room, and returns how many. */
static size_t fit(struct dump_table *table, unsigned width)
{
	struct ncs_item items[NCS_COLUMN_COUNT];
	size_t count = 0, left_out = 0;

	for (size_t i = 0; i < ncs_column_count; i++)
		if (table->shown[i])
			items[count++] = (struct ncs_item){
				.width = (int)table->widths[i],
				.priority = priority_of(table, i),
			};
	ncs_layout_fit(items, count, (int)width, (int)strlen(GAP));
	count = 0;
	for (size_t i = 0; i < ncs_column_count; i++) {
		if (!table->shown[i])
			continue;
		table->shown[i] = items[count++].kept;
		left_out += !table->shown[i];
		if (table->shown[i])
			table->last = i;
	}
	return left_out;
}

static void measure(struct dump_table *table)
{
	char text[NCS_FORMAT_MAX], first[NCS_FORMAT_MAX];
	struct ncs_value value;

	for (size_t i = 0; i < ncs_column_count; i++) {
		const struct ncs_column *column = &ncs_columns[i];

		if (!table->shown[i])
			continue;
		table->last = i;
		table->widths[i] = column->width;
		for (size_t k = 0; k < table->row_count; k++) {
			unsigned width;

			ncs_column_get(column, &table->rows[k], &value);
			ncs_format_value(text, sizeof(text), &value, 0,
					 table->ascii);
			if (k == 0)
				memcpy(first, text, sizeof(first));
			table->known[i] |= strcmp(text, "-") != 0;
			table->differs[i] |= strcmp(text, first) != 0;
			width = ncs_format_columns(text);
			if (width > table->widths[i])
				table->widths[i] = width;
		}
	}
}

/* Prints a row, or the titles if `row` is NULL. Lines have no trailing
 * blanks. */
static void print_line(FILE *file, const struct dump_table *table,
		       const struct ncs_row *row)
{
	char text[NCS_FORMAT_MAX], padded[NCS_FORMAT_MAX];
	const char *gap = "";
	struct ncs_value value;

	for (size_t i = 0; i < ncs_column_count; i++) {
		const struct ncs_column *column = &ncs_columns[i];

		if (!table->shown[i])
			continue;
		if (row) {
			ncs_column_get(column, row, &value);
			ncs_format_value(text, sizeof(text), &value, 0,
					 table->ascii);
		} else {
			ncs_utf8_clean(text, sizeof(text), column->title,
				       table->ascii);
		}
		ncs_format_pad(padded, sizeof(padded), text, table->widths[i],
			       column->align);
		fprintf(file, "%s%s", gap,
			i == table->last && column->align == NCS_ALIGN_LEFT ?
				text :
				padded);
		gap = GAP;
	}
	fputc('\n', file);
}

size_t ncs_dump_rows(FILE *file, enum ncs_view view, const struct ncs_row *rows,
		     size_t row_count, const enum ncs_column_choice *choices,
		     unsigned width, bool ascii)
{
	struct dump_table table = {
		.rows = rows,
		.row_count = row_count,
		.ascii = ascii,
	};
	bool some = choose(&table, view, choices);
	size_t left_out = 0;

	measure(&table);
	if (width > 0 && !some)
		left_out = fit(&table, width);
	print_line(file, &table, NULL);
	for (size_t i = 0; i < row_count; i++)
		print_line(file, &table, &rows[i]);
	return left_out;
}

/* --- Order --------------------------------------------------------------- */

struct sorted_row {
	struct ncs_row row;
	struct ncs_value value;
	size_t place; /* in the model's order */
};

static int compare_sorted(const void *left, const void *right, void *downwards)
{
	const struct sorted_row *a = left, *b = right;
	int order =
		ncs_value_order(&a->value, &b->value, *(const bool *)downwards);

	return order ? order : (a->place > b->place) - (a->place < b->place);
}

/* Puts rows in order, as the live view's tables are. Returns false if there is no
 * memory. */
static bool sort_rows(const struct ncs_sort *sort, struct ncs_row *rows,
		      size_t count)
{
	struct sorted_row *sorted;
	bool downwards;

	if (!sort->column && !sort->inverted)
		return true;
	sorted = calloc(count + 1, sizeof(*sorted));
	if (!sorted)
		return false;
	for (size_t i = 0; i < count; i++) {
		sorted[i].row = rows[i];
		sorted[i].place = sort->column ? i : count - i;
		if (sort->column)
			ncs_column_get(sort->column, &rows[i],
				       &sorted[i].value);
	}
	downwards = sort->column &&
		    ncs_column_sorts_up(sort->column) == sort->inverted;
	qsort_r(sorted, count, sizeof(*sorted), compare_sorted, &downwards);
	for (size_t i = 0; i < count; i++)
		rows[i] = sorted[i].row;
	free(sorted);
	return true;
}

/* --- Around the tables --------------------------------------------------- */

/* Prints that the dump is from a recording, and the position in it. */
static void print_position(FILE *file, const struct ncs_replay *replay)
{
	char at[32], length[32];

	ncs_instant_print(ncs_replay_since_ns(replay), at, sizeof(at));
	ncs_instant_print(replay->all.until_ns - replay->all.from_ns, length,
			  sizeof(length));
	fprintf(file, ", recorded, at %s of %s", at, length);
	if (replay->error_ns == 0)
		return;
	fprintf(file, ", clocks of hosts within %s",
		replay->error_ns != UINT64_MAX ?
			ncs_duration(replay->error_ns).text :
			"-");
}

struct ncs_stamp ncs_dump_stamp(const struct ncs_replay *replay)
{
	static struct utsname system;

	if (replay)
		return (struct ncs_stamp){
			.host = replay->hosts,
			.monotonic_ns = replay->at_ns,
			.realtime_ns =
				ncs_replay_realtime_ns(replay, replay->at_ns),
			.replay = replay,
		};
	uname(&system);
	return (struct ncs_stamp){
		.host = system.nodename,
		.monotonic_ns = ncs_clock_monotonic_ns(),
		.realtime_ns = ncs_clock_realtime_ns(),
	};
}

struct ncs_phrase ncs_dump_time(uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / UINT64_C(1000000000));
	struct ncs_phrase made = { "" };
	struct tm local;

	if (localtime_r(&seconds, &local))
		strftime(made.text, sizeof(made.text), "%FT%T%z", &local);
	return made;
}

void ncs_dump_head(FILE *file, const struct ncs_model *model,
		   const struct ncs_stamp *stamp, bool ascii)
{
	char host[NCS_FORMAT_MAX], jobs[64] = "";
	struct ncs_node_counts node_counts;
	struct ncs_job_counts counts;
	char nodes[64] = "";

	ncs_utf8_clean(host, sizeof(host), stamp->host, ascii);
	ncs_jobs_count(model, &counts);
	ncs_append_jobs(&counts, jobs, sizeof(jobs));
	ncs_count_nodes(model, &node_counts);
	ncs_append_nodes(&node_counts, model->rank_count, nodes, sizeof(nodes));
	fprintf(file, "ncclstat: host %s, %zu rank%s%s%s%s, time %s", host,
		model->rank_count, model->rank_count == 1 ? "" : "s",
		jobs[0] ? " of " : "", jobs, nodes,
		ncs_dump_time(stamp->realtime_ns).text);
	if (stamp->replay)
		print_position(file, stamp->replay);
	fputc('\n', file);
}

void ncs_dump_verdict(FILE *file, const struct ncs_model *model, unsigned width,
		      bool ascii)
{
	char text[NCS_SENTENCE_MAX + 64];

	ncs_verdict_line(model->diagnosis, model, text, sizeof(text));
	print_sentence(file, "", text, width, ascii);
}

void ncs_dump_step(FILE *file, const struct ncs_model *model, unsigned width,
		   bool ascii)
{
	char text[NCS_SENTENCE_MAX] = "";
	struct ncs_job_step step;

	if (!ncs_busiest_step(model, &step))
		return;
	fputc('\n', file);
	ncs_append_step(model, text, sizeof(text));
	print_sentence(file, "step: ", text, width, ascii);
}

/* Prints the estimates from the records of steps: a line for each rank and
 * direction. */
static void print_steps(FILE *file, const struct ncs_model *model,
			unsigned width, bool ascii)
{
	char text[NCS_FORMAT_MAX];
	const char *gap = "\n";

	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];

		for (int send = 1; send >= 0; send--) {
			if (!ncs_steps_view(rank->steps, send))
				continue;
			snprintf(text, sizeof(text),
				 "%s, %s: ", ncs_rank_of(rank).text,
				 send ? "sends" : "receives");
			ncs_append_steps(rank, send, text, sizeof(text));
			fputs(gap, file);
			print_sentence(file, "steps: ", text, width, ascii);
			gap = "";
		}
	}
}

/* Prints a line for each rank whose plugin says something about launches. */
static void print_launches(FILE *file, const struct ncs_model *model,
			   unsigned width, bool ascii)
{
	char text[NCS_FORMAT_MAX];
	const char *gap = "\n";

	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];

		if (rank->now.launches.status == NCS_STREAM_UNKNOWN)
			continue;
		snprintf(text, sizeof(text), "%s%s:", ncs_rank_of(rank).text,
			 ncs_rank_life(rank).text);
		ncs_append_launch_progress(rank, text, sizeof(text));
		ncs_append_launch_timing(rank, text, sizeof(text));
		fputs(gap, file);
		print_sentence(file, "launches: ", text, width, ascii);
		gap = "";
	}
}

static double cost_of(const struct ncs_rank *rank)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(rank);

	return view && view->cost.unknown == NCS_COST_KNOWN ? view->cost.share :
							      -1;
}

/* Orders ranks by communicator, then by the cost of their lateness. */
static int compare_lateness(const void *left, const void *right)
{
	const struct ncs_rank *const *a = left, *const *b = right;
	double of_a = cost_of(*a);
	double of_b = cost_of(*b);

	if ((*a)->communicator != (*b)->communicator)
		return (*a)->communicator < (*b)->communicator ? -1 : 1;
	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return ncs_rank_compare(*a, *b);
}

/* Prints a line for each rank that was compared with others, or cannot be as
 * clocks are not aligned. Returns false if
 * there is no memory. */
static bool print_lateness(FILE *file, const struct ncs_model *model,
			   unsigned width, bool ascii)
{
	struct ncs_rank **ranks;
	size_t count = 0;

	ranks = calloc(model->rank_count + 1, sizeof(struct ncs_rank *));
	if (!ranks)
		return false;
	for (size_t i = 0; i < model->rank_count; i++)
		if (ncs_rank_lateness(model->ranks[i]) ||
		    ncs_rank_is_apart(model->ranks[i]))
			ranks[count++] = model->ranks[i];
	if (count > 0) {
		qsort(ranks, count, sizeof(struct ncs_rank *),
		      compare_lateness);
		fputc('\n', file);
	}
	for (size_t i = 0; i < count; i++) {
		char text[NCS_FORMAT_MAX];

		snprintf(text, sizeof(text), "%s:", ncs_rank_of(ranks[i]).text);
		ncs_append_lateness(ranks[i], text, sizeof(text));
		ncs_append_late_now(ranks[i], text, sizeof(text));
		print_sentence(file, "late: ", text, width, ascii);
	}
	free(ranks);
	return true;
}

void ncs_dump_unreadable(FILE *file, const struct ncs_model *model, bool ascii)
{
	char path[4096 + 1], why[NCS_FORMAT_MAX];

	for (size_t i = 0; i < model->unreadable_count; i++) {
		const struct ncs_unreadable *unreadable = &model->unreadable[i];

		ncs_utf8_clean(path, sizeof(path), unreadable->id, ascii);
		ncs_utf8_clean(why, sizeof(why), unreadable->why, ascii);
		fprintf(file, "%snot readable: %s: %s\n", i ? "" : "\n", path,
			why);
	}
}

/* Whether a view is printed. By default the timeline is not, because the other
 * tables show the same data, and findings are not, because --diagnose prints
 * more; nodes are where there are some. */
static bool is_wanted(const struct ncs_options *options,
		      const struct ncs_model *model, enum ncs_view view)
{
	if (options->view == NCS_VIEW_COUNT && model->node_count > 0 &&
	    (view == NCS_VIEW_NODE || model->rank_count == 0))
		return view == NCS_VIEW_NODE;
	if (options->view == NCS_VIEW_COUNT)
		return view != NCS_VIEW_TIMELINE && view != NCS_VIEW_FINDING &&
		       view != NCS_VIEW_NODE;
	return options->view == view;
}

bool ncs_dump_text(FILE *file, const struct ncs_model *model,
		   const struct ncs_options *options,
		   const struct ncs_stamp *stamp, unsigned width)
{
	struct ncs_row *rows = NULL;
	size_t capacity = 0, left_out = 0;

	ncs_dump_head(file, model, stamp, options->ascii);
	ncs_dump_verdict(file, model, width, options->ascii);
	for (unsigned i = 0; i < NCS_VIEW_COUNT; i++) {
		enum ncs_view view = (enum ncs_view)i;
		int count;

		if (!is_wanted(options, model, view))
			continue;
		count = ncs_rows(model, view, &rows, &capacity);
		if (count < 0 ||
		    !sort_rows(&options->sort[view], rows, (size_t)count)) {
			free(rows);
			return false;
		}
		fprintf(file, "\n%s:\n", ncs_views[view].option);
		left_out += ncs_dump_rows(file, view, rows, (size_t)count,
					  options->columns, width,
					  options->ascii);
	}
	free(rows);
	if (options->view == NCS_VIEW_COUNT || options->view == NCS_VIEW_RANK)
		print_launches(file, model, width, options->ascii);
	if (options->view == NCS_VIEW_COUNT ||
	    options->view == NCS_VIEW_CHANNEL)
		print_steps(file, model, width, options->ascii);
	if (options->view == NCS_VIEW_COUNT || options->view == NCS_VIEW_RANK) {
		ncs_dump_step(file, model, width, options->ascii);
		if (!print_lateness(file, model, width, options->ascii))
			return false;
	}
	ncs_dump_unreadable(file, model, options->ascii);
	if (left_out > 0)
		fprintf(file,
			"\n%zu columns do not fit: COLUMNS=999 has all of"
			" them, --columns=... some\n",
			left_out);
	return true;
}
