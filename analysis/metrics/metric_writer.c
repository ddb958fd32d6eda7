/* SPDX-License-Identifier: MIT */
/* Metrics as text; see metric_writer.h, and the specification of OpenMetrics
 * 1.0. */
#include "analysis/metrics/metric_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/utf8.h"
#include "shm/array.h"

/* Room for the labels of a series: job labels and names are bounded. */
#define LABELS_BYTES 8192u

static_assert(1 + NCS_METRIC_EDGES + 1 <= NCS_COUNTER_VALUES_MAX,
	      "the values of a histogram fit a counter");

/* --- Text --------------------------------------------------------------- */

static const struct ncs_metric_row *row_of(const struct ncs_metric_writer *w)
{
	return &ncs_metric_rows[w->metric];
}

/* Appends a label's value, cleaned, with its escapes. Returns false if there is
 * no room. */
static bool append_value(char *text, size_t size, size_t *used, const char *raw)
{
	char clean[1024];

	ncs_utf8_clean(clean, sizeof(clean), raw, false);
	for (const char *at = clean; *at; at++) {
		if (*used + 3 > size)
			return false;
		if (*at == '\\' || *at == '"')
			text[(*used)++] = '\\';
		text[(*used)++] = *at;
	}
	text[*used] = '\0';
	return true;
}

static bool hides(const struct ncs_metric_writer *w, const char *label,
		  size_t length, const char *value)
{
	bool is_node = length == strlen("node") &&
		       memcmp(label, "node", length) == 0;

	return w->hides_names &&
	       (is_node ? strcmp(value, w->host) != 0 :
			  ncs_metric_label_is_name(label, length));
}

/* Makes `comm="…",rank="…"` of the family's labels. */
static bool make_labels(const struct ncs_metric_writer *w,
			const char *const *values, char *text, size_t size)
{
	const char *name = row_of(w)->labels;
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; *name; i++) {
		size_t length = strcspn(name, " ");
		bool hidden = hides(w, name, length, values[i]);

		if (used + length + 5 > size)
			return false;
		used += (size_t)sprintf(text + used, "%s%.*s=\"",
					i > 0 ? "," : "", (int)length, name);
		if (!append_value(text, size, &used, hidden ? "" : values[i]) ||
		    used + 2 > size)
			return false;
		text[used++] = '"';
		text[used] = '\0';
		name += length;
		name += *name == ' ';
	}
	return true;
}

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), bytes = strlen(end);

	return length > bytes && strcmp(name + length - bytes, end) == 0;
}

/* Returns the length of the family's name: in OpenMetrics it is without the
 * suffix of its samples. */
static int family_length(const struct ncs_metric_writer *w)
{
	const char *name = row_of(w)->name;
	size_t length = strlen(name);

	if (w->format == NCS_METRICS_OPENMETRICS && ends_with(name, "_total"))
		length -= strlen("_total");
	if (w->format == NCS_METRICS_OPENMETRICS && ends_with(name, "_info"))
		length -= strlen("_info");
	return (int)length;
}

static void write_head(struct ncs_metric_writer *w)
{
	const struct ncs_metric_row *row = row_of(w);
	bool open = w->format == NCS_METRICS_OPENMETRICS;
	int length = family_length(w);
	const char *type = !open && row->type == NCS_METRIC_TYPE_INFO ?
				   "gauge" :
				   ncs_metric_types[row->type];

	if (w->has_head)
		return;
	w->has_head = true;
	fprintf(w->file, "# TYPE " NCS_METRIC_PREFIX "%.*s %s\n", length,
		row->name, type);
	if (open && row->unit != NCS_METRIC_UNIT_NONE)
		fprintf(w->file, "# UNIT " NCS_METRIC_PREFIX "%.*s %s\n",
			length, row->name, ncs_metric_units[row->unit]);
	fprintf(w->file, "# HELP " NCS_METRIC_PREFIX "%.*s %s\n", length,
		row->name, row->help);
}

/* Writes a sample: `more` is another label, or NULL. */
static void write_sample(struct ncs_metric_writer *w, const char *suffix,
			 const char *labels, const char *more, uint64_t value,
			 bool is_scaled)
{
	const char *comma = labels[0] && more ? "," : "";
	bool has_labels = labels[0] || more;

	fprintf(w->file, NCS_METRIC_PREFIX "%s%s%s%s%s%s%s ", row_of(w)->name,
		suffix, has_labels ? "{" : "", labels, comma, more ? more : "",
		has_labels ? "}" : "");
	if (is_scaled)
		fprintf(w->file, "%" PRIu64 ".%09" PRIu64 "\n",
			value / UINT64_C(1000000000),
			value % UINT64_C(1000000000));
	else
		fprintf(w->file, "%" PRIu64 "\n", value);
}

static bool is_scaled(const struct ncs_metric_writer *w)
{
	return row_of(w)->unit == NCS_METRIC_UNIT_SECONDS ||
	       row_of(w)->unit == NCS_METRIC_UNIT_RATIO;
}

/* --- Series ------------------------------------------------------------- */

/* Returns the number of values of a counter: a sum and a number; a sum and
 * those of the buckets, of which the last one has no edge. */
static size_t values_of(const struct ncs_metric_writer *w)
{
	switch (row_of(w)->type) {
	case NCS_METRIC_TYPE_SUMMARY:
		return 2;
	case NCS_METRIC_TYPE_HISTOGRAM:
		return 1 + NCS_METRIC_EDGES + 1;
	default:
		return 1;
	}
}

/* Returns the number of series of a set of labels: a histogram has its count,
 * too. */
static size_t series_of(const struct ncs_metric_writer *w)
{
	return values_of(w) + (row_of(w)->type == NCS_METRIC_TYPE_HISTOGRAM);
}

/* Whether the series of another set of labels still have room. */
static bool admit(struct ncs_metric_writer *w)
{
	size_t series = series_of(w);

	if (w->series + series > w->series_max) {
		w->left_out += series;
		return false;
	}
	w->series += series;
	return true;
}

void ncs_metric_begin(struct ncs_metric_writer *w, enum ncs_metric metric)
{
	w->metric = metric;
	w->has_head = false;
	w->touched_count = 0;
}

void ncs_metric_put(struct ncs_metric_writer *w, const char *const *labels,
		    uint64_t value)
{
	char text[LABELS_BYTES];

	if (!make_labels(w, labels, text, sizeof(text))) {
		w->left_out++;
		return;
	}
	if (!admit(w))
		return;
	write_head(w);
	write_sample(w, "", text, NULL, value, is_scaled(w));
}

/* Returns the family's counter with these labels; NULL if it has no room. */
static struct ncs_counter *touch(struct ncs_metric_writer *w,
				 const char *labels)
{
	struct ncs_counter *counter =
		ncs_counter_of(w->store, w->metric, labels);

	if (!counter || ncs_array_reserve(&w->touched, &w->touched_capacity,
					  w->touched_count + 1,
					  sizeof(struct ncs_counter *)) != 0) {
		w->no_memory = true;
		return NULL;
	}
	if (counter->pass == w->store->pass)
		return counter;
	if (counter->left_out_pass == w->store->pass)
		return NULL;
	if (!admit(w)) {
		counter->left_out_pass = w->store->pass;
		return NULL;
	}
	w->touched[w->touched_count++] = counter;
	return counter;
}

void ncs_metric_count(struct ncs_metric_writer *w, const char *const *labels,
		      uint32_t serial, const uint64_t *values)
{
	struct ncs_counter *counter;
	char text[LABELS_BYTES];

	if (!make_labels(w, labels, text, sizeof(text))) {
		w->left_out += series_of(w);
		return;
	}
	counter = touch(w, text);
	if (counter && ncs_counter_contribute(w->store, counter, serial, values,
					      values_of(w)) != 0)
		w->no_memory = true;
}

/* Writes the buckets of a histogram. Returns the sum of all. */
static uint64_t write_buckets(struct ncs_metric_writer *w,
			      const struct ncs_counter *counter)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i <= NCS_METRIC_EDGES; i++) {
		char edge[32] = "le=\"+Inf\"";

		if (i < NCS_METRIC_EDGES)
			snprintf(edge, sizeof(edge), "le=\"%.10g\"",
				 (double)NCS_METRIC_EDGE_NS(i) / 1e9);
		sum += counter->values[1 + i];
		write_sample(w, "_bucket", counter->labels, edge, sum, false);
	}
	return sum;
}

void ncs_metric_end(struct ncs_metric_writer *w)
{
	enum ncs_metric_type type = row_of(w)->type;

	for (size_t i = 0; i < w->touched_count; i++) {
		const struct ncs_counter *counter = w->touched[i];
		uint64_t count = counter->values[1];

		write_head(w);
		if (type == NCS_METRIC_TYPE_COUNTER) {
			write_sample(w, "", counter->labels, NULL,
				     counter->values[0], is_scaled(w));
			continue;
		}
		if (type == NCS_METRIC_TYPE_HISTOGRAM)
			count = write_buckets(w, counter);
		write_sample(w, "_count", counter->labels, NULL, count, false);
		write_sample(w, "_sum", counter->labels, NULL,
			     counter->values[0], true);
	}
	w->touched_count = 0;
}

void ncs_metric_finish(struct ncs_metric_writer *w)
{
	if (w->format == NCS_METRICS_OPENMETRICS)
		fputs("# EOF\n", w->file);
	free(w->touched);
}
