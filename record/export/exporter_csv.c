/* SPDX-License-Identifier: MIT */
/* Exports a table of each rank's operations by size. The table is made from the
 * counters in the states, which sampling and lost records do not affect. Rows that
 * are to be sorted are kept until all are there. RFC 4180. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/percentile.h"
#include "analysis/base/timings.h"
#include "analysis/base/utf8.h"
#include "analysis/base/value_names.h"
#include "analysis/model/class_stats.h"
#include "analysis/model/model.h"
#include "ncclstat/size_class.h"
#include "ncclstat/tables/csv.def"
#include "record/export/exporter.h"
#include "shm/array.h"
#include "shm/texts.h"

enum column {
#define X(ID, name, first, help) COLUMN_##ID,
	NCS_CSV_COLUMNS(X)
#undef X
		COLUMN_COUNT
};

static_assert(COLUMN_COUNT < 64, "a set of columns has a bit for each");

static const struct {
	const char *name;
	/* The cell that comes first if rows are sorted by the column. */
	enum {
		FIRST_TEXT /* by the alphabet */,
		FIRST_SMALLEST,
		FIRST_LARGEST
	} first;
} columns[] = {
#define X(ID, name, first, help) { name, FIRST_##first },
	NCS_CSV_COLUMNS(X)
#undef X
};

static const char *column_name(unsigned column)
{
	return column < COLUMN_COUNT ? columns[column].name : NULL;
}

/* A rank's classes at the beginning of the requested time. */
struct csv_baseline {
	struct ncs_class_view *classes;
	size_t class_count;
	uint64_t *buckets;
};

/* A row that is to be sorted. */
struct kept_row {
	size_t place; /* as it came */
	char cells[]; /* one behind the other */
};

struct csv_export {
	struct csv_baseline before;
	size_t rank; /* rank of the baseline */
	bool has_before;
	struct kept_row **rows;
	size_t row_count, row_capacity;
};

/* A row; empty cells are unknown. */
struct csv_row {
	char cells[COLUMN_COUNT][160];
};

/* --- The baseline -------------------------------------------------------- */

static void forget(struct csv_export *own)
{
	free(own->before.classes);
	free(own->before.buckets);
	own->before = (struct csv_baseline){ 0 };
	own->has_before = false;
}

static void *copy_of(const void *data, size_t bytes)
{
	void *copy = malloc(bytes ? bytes : 1);

	if (copy && bytes)
		memcpy(copy, data, bytes);
	return copy;
}

static int remember(struct csv_export *own, size_t rank,
		    const struct ncs_snapshot *snapshot)
{
	forget(own);
	own->rank = rank;
	own->has_before = true;
	own->before.class_count = snapshot->class_count;
	own->before.classes =
		copy_of(snapshot->classes,
			snapshot->class_count * sizeof(*snapshot->classes));
	own->before.buckets =
		copy_of(snapshot->class_buckets,
			snapshot->class_bucket_count * sizeof(uint64_t));
	return own->before.classes && own->before.buckets ? 0 : -ENOMEM;
}

static const struct ncs_class_view *
class_before(const struct csv_baseline *before,
	     const struct ncs_class_view *now)
{
	for (size_t i = 0; i < before->class_count; i++)
		if (ncs_class_identity(&before->classes[i]) ==
		    ncs_class_identity(now))
			return &before->classes[i];
	return NULL;
}

/* --- Writing and sorting rows -------------------------------------------- */

static void write_cell(FILE *file, const char *cell)
{
	if (!strpbrk(cell, ",\"\r\n")) {
		fputs(cell, file);
		return;
	}
	putc('"', file);
	for (; *cell; cell++) {
		if (*cell == '"')
			putc('"', file);
		putc(*cell, file);
	}
	putc('"', file);
}

static void write_row(const struct ncs_export_request *request,
		      const struct csv_row *row)
{
	bool is_first = true;

	for (unsigned i = 0; i < COLUMN_COUNT; i++) {
		if (!ncs_exporter_has_column(request->columns, i))
			continue;
		if (!is_first)
			putc(',', request->file);
		is_first = false;
		write_cell(request->file, row->cells[i]);
	}
	fputs("\r\n", request->file);
}

/* Keeps a copy of a row. */
static int keep_row(struct csv_export *own, const struct csv_row *row)
{
	size_t bytes = sizeof(struct kept_row);
	struct kept_row *kept;
	char *cell;

	if (ncs_array_reserve(&own->rows, &own->row_capacity,
			      own->row_count + 1, sizeof(*own->rows)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		bytes += strlen(row->cells[i]) + 1;
	kept = malloc(bytes);
	if (!kept)
		return -ENOMEM;
	kept->place = own->row_count;
	cell = kept->cells;
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		cell = stpcpy(cell, row->cells[i]) + 1;
	own->rows[own->row_count++] = kept;
	return 0;
}

/* Compares two cells that are known. */
static int compare_known(const char *a, const char *b,
			 const struct ncs_export_order *order)
{
	bool is_text = columns[order->column].first == FIRST_TEXT;
	bool is_largest = columns[order->column].first == FIRST_LARGEST;
	double x = strtod(a, NULL), y = strtod(b, NULL);
	int result = is_text ? strcmp(a, b) : (x > y) - (x < y);

	return is_largest != order->is_reversed ? -result : result;
}

static int compare(const void *left, const void *right, void *context)
{
	const struct ncs_export_request *request = context;
	const struct kept_row *a = *(struct kept_row *const *)left;
	const struct kept_row *b = *(struct kept_row *const *)right;

	for (size_t i = 0; i < request->order_count; i++) {
		const struct ncs_export_order *order = &request->order[i];
		const char *x = ncs_text_at(a->cells, order->column);
		const char *y = ncs_text_at(b->cells, order->column);
		int result = !*x - !*y;

		if (result == 0 && *x)
			result = compare_known(x, y, order);
		if (result != 0)
			return result;
	}
	return (a->place > b->place) - (a->place < b->place);
}

/* Writes the rows that were kept; those that are equal in the order of the request
 * stay in the order in which they came. */
static void write_kept(const struct csv_export *own,
		       const struct ncs_export_request *request)
{
	struct csv_row row;

	if (own->row_count > 0)
		qsort_r(own->rows, own->row_count, sizeof(*own->rows), compare,
			(void *)(uintptr_t)request);
	for (size_t i = 0; i < own->row_count; i++) {
		for (unsigned k = 0; k < COLUMN_COUNT; k++)
			strcpy(row.cells[k],
			       ncs_text_at(own->rows[i]->cells, k));
		write_row(request, &row);
	}
}

/* --- Rows ---------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void
set(struct csv_row *row, enum column column, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(row->cells[column], sizeof(row->cells[column]), format,
		  arguments);
	va_end(arguments);
}

/* Sets a name that a job has chosen. A spreadsheet would compute one that looks
 * like a formula; an apostrophe makes it text. */
static void set_text(struct csv_row *row, enum column column, const char *raw)
{
	char *cell = row->cells[column];
	size_t size = sizeof(row->cells[column]);

	if (*raw && strchr("=+-@", *raw)) {
		*cell++ = '\'';
		size--;
	}
	ncs_utf8_clean(cell, size, raw, false);
}

static void set_us(struct csv_row *row, enum column column, double value_ns)
{
	set(row, column, "%.3f", value_ns / 1e3);
}

static void set_rank(struct csv_row *row, const struct ncs_export_rank *rank)
{
	const struct ncs_identity *identity = &rank->identity;
	uint64_t known = identity->known;

	if (known & NCS_KNOWN_COMM_NAME)
		set_text(row, COLUMN_COMMUNICATOR, identity->comm_name);
	set(row, COLUMN_COMMUNICATOR_ID, "%s", rank->communicator_id);
	if (known & NCS_KNOWN_NRANKS)
		set(row, COLUMN_NRANKS, "%d", identity->nranks);
	if (known & NCS_KNOWN_RANK)
		set(row, COLUMN_RANK, "%d", identity->rank);
	set_text(row, COLUMN_HOST, rank->host);
	set(row, COLUMN_PID, "%u", rank->pid);
}

static void set_class(struct csv_row *row, const struct ncs_class_view *view)
{
	set(row, COLUMN_FUNCTION, "%s", ncs_function_name(view->function));
	if (!ncs_class_is_other(view)) {
		if (view->size_class != NCS_SIZE_CLASS_UNKNOWN)
			set(row, COLUMN_SIZE, "%" PRIu64,
			    ncs_size_class_low(view->size_class));
		if (view->algorithm != NCS_ALGORITHM_UNKNOWN)
			set(row, COLUMN_ALGORITHM, "%s",
			    ncs_algorithm_name(view->algorithm));
		if (view->protocol != NCS_PROTOCOL_UNKNOWN)
			set(row, COLUMN_PROTOCOL, "%s",
			    ncs_protocol_name(view->protocol));
	}
}

/* Subtracts the baseline from the current times. Does not change the places of
 * the buckets in *times. */
static void take_away(struct ncs_class_times *times, uint64_t *histogram,
		      const struct ncs_class_times *before,
		      const uint64_t *buckets)
{
	times->timed -= before->timed;
	times->time_ns -= before->time_ns;
	times->bytes -= before->bytes;
	for (unsigned i = 0; i < before->count; i++)
		histogram[before->first + i] -= buckets[before->place + i];
}

static void set_times(struct csv_row *row, const struct ncs_class_times *times,
		      const uint64_t *histogram, bool bytes_known)
{
	static const struct {
		enum column column;
		double fraction;
	} percentiles[] = { { COLUMN_P50, 0.50 }, { COLUMN_P99, 0.99 } };

	set_us(row, COLUMN_AVERAGE,
	       (double)times->time_ns / (double)times->timed);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t ns =
			ncs_percentile(histogram, percentiles[i].fraction);

		/* The middle of the last bucket may be longer than the longest
		 * operation. */
		if (times->longest_ns > 0 && ns > times->longest_ns)
			ns = times->longest_ns;
		set_us(row, percentiles[i].column, (double)ns);
	}
	if (times->longest_ns > 0)
		set_us(row, COLUMN_LONGEST, (double)times->longest_ns);
	if (bytes_known)
		set(row, COLUMN_BYTES, "%.0f",
		    (double)times->bytes / (double)times->timed);
}

static bool bytes_known(const struct ncs_snapshot *snapshot,
			const struct ncs_class_view *view)
{
	if (ncs_class_is_other(view))
		return snapshot->functions[view->function].size_unknown == 0;
	return view->size_class != NCS_SIZE_CLASS_UNKNOWN;
}

/* Returns the model's rank; NULL if it has none. */
static const struct ncs_rank *rank_of(const struct ncs_model *model,
				      const struct ncs_export_rank *exported)
{
	const struct ncs_identity *wanted = &exported->identity;

	for (size_t i = 0; model && i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];
		const struct ncs_identity *identity = &rank->now.identity;

		if (rank->process.pid == exported->pid &&
		    strcmp(rank->process.host, exported->host) == 0 &&
		    identity->known == wanted->known &&
		    identity->comm_id == wanted->comm_id &&
		    identity->rank == wanted->rank)
			return rank;
	}
	return NULL;
}

static void set_bandwidth(struct csv_row *row,
			  const struct ncs_exporter *exporter, size_t index,
			  const struct ncs_class_view *view)
{
	const struct ncs_rank *rank = rank_of(exporter->request->model,
					      &exporter->ranks[index]);
	struct ncs_moving_view moving;

	if (!rank)
		return;
	moving = ncs_class_moving(rank, view);
	if (moving.algbw >= 0)
		set(row, COLUMN_ALGBW, "%.6g", moving.algbw);
	if (moving.busbw >= 0)
		set(row, COLUMN_BUSBW, "%.6g", moving.busbw);
}

/* Writes a row, or keeps it if rows are to be sorted. */
static int put_row(const struct ncs_exporter *exporter,
		   const struct csv_row *row)
{
	if (exporter->request->order_count > 0)
		return keep_row(exporter->own, row);
	write_row(exporter->request, row);
	return 0;
}

static int put_class(const struct ncs_exporter *exporter, size_t rank,
		      const struct ncs_snapshot *snapshot,
		      const struct ncs_class_view *view)
{
	const struct csv_export *own = exporter->own;
	const struct ncs_class_view *before =
		own->has_before ? class_before(&own->before, view) : NULL;
	unsigned timing = ncs_class_timing(view);
	uint64_t histogram[NCS_HISTOGRAM_BUCKETS] = { 0 };
	uint64_t operations =
		view->operations - (before ? before->operations : 0);
	struct ncs_class_times times = { 0 };
	struct csv_row row = { 0 };

	if (timing < NCS_TIMING_COUNT) {
		times = view->times[timing];
		for (unsigned i = 0; i < times.count; i++)
			histogram[times.first + i] =
				snapshot->class_buckets[times.place + i];
		if (before)
			take_away(&times, histogram, &before->times[timing],
				  own->before.buckets);
	}
	if (operations == 0 && times.timed == 0)
		return 0;
	set_rank(&row, &exporter->ranks[rank]);
	set_class(&row, view);
	set(&row, COLUMN_OPERATIONS, "%" PRIu64, operations);
	set(&row, COLUMN_TIMED, "%" PRIu64, times.timed);
	if (times.timed > 0) {
		set(&row, COLUMN_TIMING, "%s", ncs_timing_name(timing));
		set_times(&row, &times, histogram, bytes_known(snapshot, view));
	}
	set_bandwidth(&row, exporter, rank, view);
	return put_row(exporter, &row);
}

static int begin(struct ncs_exporter *exporter)
{
	struct csv_row names;

	exporter->own = calloc(1, sizeof(struct csv_export));
	if (!exporter->own)
		return -ENOMEM;
	for (unsigned i = 0; i < COLUMN_COUNT; i++)
		set(&names, i, "%s", columns[i].name);
	write_row(exporter->request, &names);
	return 0;
}

/* Takes a state: the first one becomes the baseline, the last one gives the
 * rows. Without a baseline, rows count from the communicator's beginning. */
static int take_state(struct ncs_exporter *exporter, size_t rank,
		      const struct ncs_snapshot *snapshot, bool is_last)
{
	struct csv_export *own = exporter->own;
	bool is_first = !own->has_before || own->rank != rank;
	int error = 0;

	if (is_first)
		forget(own);
	if (is_last)
		for (size_t i = 0; i < snapshot->class_count && !error; i++)
			error = put_class(exporter, rank, snapshot,
					  &snapshot->classes[i]);
	else if (is_first && exporter->request->from_ns > 0 &&
		 snapshot->taken_ns <= exporter->request->from_ns)
		error = remember(own, rank, snapshot);
	return error;
}

static int end(struct ncs_exporter *exporter)
{
	struct csv_export *own = exporter->own;

	if (own) {
		write_kept(own, exporter->request);
		for (size_t i = 0; i < own->row_count; i++)
			free(own->rows[i]);
		free(own->rows);
		forget(own);
	}
	free(own);
	return ncs_exporter_flush(exporter);
}

const struct ncs_exporter_functions ncs_exporter_csv = {
	.column = column_name,
	.begin = begin,
	.state = take_state,
	.end = end,
};
