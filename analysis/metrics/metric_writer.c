/* SPDX-License-Identifier: MIT */
/* Metrics as a table and as text, and counters that never fall; see metric_writer.h,
 * and the specification of OpenMetrics 1.0. */
#include "analysis/metrics/metric_writer.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/utf8.h"
#include "shm/array.h"
#include "shm/hash.h"

/* --- The table ------------------------------------------------------------ */

static_assert(NCS_METRIC_COUNT <= 64, "metrics fit the bits of a set");

#define PRESENCE_DEFAULT false
#define PRESENCE_OPT_IN true

const struct ncs_metric_row ncs_metric_rows[NCS_METRIC_COUNT] = {
#define X(ID, name, type, unit, labels, presence, help) \
	[NCS_METRIC_##ID] = { \
		name,   NCS_METRIC_TYPE_##type, NCS_METRIC_UNIT_##unit, \
		labels, PRESENCE_##presence,    help \
	},
	NCS_METRICS(X)
#undef X
};

static const char *const types[] = { "info", "gauge", "counter", "summary",
				     "histogram" };

const char *const ncs_metric_units[] = { "", "seconds", "bytes", "ratio" };

static const struct user_name {
	const char *name;
	bool is_key;
} names[] = {
#define X(name, is_key) { name, is_key },
	NCS_METRIC_NAMES(X)
#undef X
};

/* Returns the row of a label; NULL if users do not choose its values. */
static const struct user_name *find_name(const char *label, size_t length)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == length &&
		    memcmp(names[i].name, label, length) == 0)
			return &names[i];
	return NULL;
}

static bool has_key(const struct ncs_metric_row *row)
{
	const char *label = row->labels;

	while (*label) {
		size_t length = strcspn(label, " ");
		const struct user_name *name = find_name(label, length);

		if (name && name->is_key)
			return true;
		label += length;
		label += *label == ' ';
	}
	return false;
}

uint64_t ncs_metrics_by_name(void)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < NCS_METRIC_COUNT; i++)
		if (has_key(&ncs_metric_rows[i]))
			set |= NCS_METRIC_BIT(i);
	return set;
}

uint64_t ncs_metrics_default(void)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < NCS_METRIC_COUNT; i++)
		if (!ncs_metric_rows[i].is_opt_in)
			set |= NCS_METRIC_BIT(i);
	return set;
}

/* Returns the set that a name of `length` bytes stands for; 0 if none. */
static uint64_t find(const char *name, size_t length)
{
	size_t prefix = strlen(NCS_METRIC_PREFIX);

	if (length == 3 && memcmp(name, "all", length) == 0)
		return NCS_METRIC_BIT(NCS_METRIC_COUNT) - 1;
	if (length > prefix && memcmp(name, NCS_METRIC_PREFIX, prefix) == 0) {
		name += prefix;
		length -= prefix;
	}
	for (unsigned i = 0; i < NCS_METRIC_COUNT; i++)
		if (strlen(ncs_metric_rows[i].name) == length &&
		    memcmp(ncs_metric_rows[i].name, name, length) == 0)
			return NCS_METRIC_BIT(i);
	return 0;
}

bool ncs_metrics_parse(const char *text, uint64_t *set, char *wrong,
		       size_t size)
{
	uint64_t changed = *set;

	for (;;) {
		bool without = *text == '-';
		size_t length;
		uint64_t named;

		text += without;
		length = strcspn(text, ",");
		named = find(text, length);
		if (!named) {
			snprintf(wrong, size, "%.*s", (int)length, text);
			return false;
		}
		changed = without ? changed & ~named : changed | named;
		if (!text[length])
			break;
		text += length + 1;
	}
	*set = changed;
	return true;
}

/* --- Counters ------------------------------------------------------------- */

/* The most values of a counter: a histogram's buckets and the sum. */
#define NCS_COUNTER_VALUES_MAX 22u

struct ncs_counter {
	struct ncs_hash_link link;
	unsigned metric;        /* enum ncs_metric */
	uint64_t pass;          /* the latest in which something contributed */
	uint64_t left_out_pass; /* the latest in which it found no room */
	uint64_t values[NCS_COUNTER_VALUES_MAX];
	char labels[]; /* as in the exposition */
};

/* The contribution of one segment to a counter. */
struct ncs_counter_part {
	struct ncs_hash_link link;
	const struct ncs_counter *counter;
	uint32_t serial;
	uint64_t pass;
	uint64_t greatest[NCS_COUNTER_VALUES_MAX];
	uint64_t now[NCS_COUNTER_VALUES_MAX]; /* sums of this pass */
};

static uint64_t hash_of(unsigned metric, const char *labels)
{
	size_t length = strlen(labels);
	uint64_t hash = ncs_hash(metric), word;

	for (; length >= sizeof(word); length -= sizeof(word)) {
		memcpy(&word, labels, sizeof(word));
		hash = ncs_hash_add(hash, word);
		labels += sizeof(word);
	}
	word = length;
	memcpy(&word, labels, length);
	return ncs_hash_add(hash, word);
}

void ncs_counters_begin(struct ncs_counter_store *store)
{
	store->pass++;
}

/* Returns the counter with these labels, adding one of zeros if it is new; NULL
 * if there is no memory. */
static struct ncs_counter *counter_of(struct ncs_counter_store *store,
				      unsigned metric, const char *labels)
{
	uint64_t hash = hash_of(metric, labels);
	struct ncs_counter *counter =
		ncs_hash_table_first(&store->counters, hash);
	size_t bytes = strlen(labels) + 1;

	for (; counter; counter = ncs_hash_table_next(counter))
		if (counter->metric == metric &&
		    strcmp(counter->labels, labels) == 0)
			return counter;
	counter = ncs_hash_table_add(&store->counters, sizeof(*counter) + bytes,
				     hash);
	if (!counter)
		return NULL;
	counter->metric = metric;
	memcpy(counter->labels, labels, bytes);
	return counter;
}

/* Returns the part of a segment, adding it if it is new; NULL if there is no
 * memory. */
static struct ncs_counter_part *part_of(struct ncs_counter_store *store,
					const struct ncs_counter *counter,
					uint32_t serial)
{
	uint64_t hash = ncs_hash_add(counter->link.hash, serial);
	struct ncs_counter_part *part =
		ncs_hash_table_first(&store->parts, hash);

	for (; part; part = ncs_hash_table_next(part))
		if (part->counter == counter && part->serial == serial)
			return part;
	part = ncs_hash_table_add(&store->parts, sizeof(*part), hash);
	if (!part)
		return NULL;
	part->counter = counter;
	part->serial = serial;
	return part;
}

/* Adds `count` values of a segment to a counter of this pass: what they are more
 * than the greatest that the segment showed before. `serial` names the segment.
 * Values of one segment and pass are added up. Returns 0, or -ENOMEM with
 * nothing added. */
static int contribute(struct ncs_counter_store *store,
		      struct ncs_counter *counter, uint32_t serial,
		      const uint64_t *values, size_t count)
{
	struct ncs_counter_part *part = part_of(store, counter, serial);

	if (!part)
		return -ENOMEM;
	if (part->pass != store->pass)
		memset(part->now, 0, sizeof(part->now));
	part->pass = store->pass;
	counter->pass = store->pass;
	for (size_t i = 0; i < count; i++) {
		part->now[i] += values[i];
		if (part->now[i] <= part->greatest[i])
			continue;
		counter->values[i] += part->now[i] - part->greatest[i];
		part->greatest[i] = part->now[i];
	}
	return 0;
}

static bool is_part_of(const void *item, uint64_t pass)
{
	const struct ncs_counter_part *part = item;

	return part->pass == pass;
}

static bool is_counted_in(const void *item, uint64_t pass)
{
	const struct ncs_counter *counter = item;

	return counter->pass == pass;
}

void ncs_counters_end(struct ncs_counter_store *store)
{
	ncs_hash_table_sweep(&store->parts, is_part_of, store->pass);
	ncs_hash_table_sweep(&store->counters, is_counted_in, store->pass);
}

void ncs_counters_release(struct ncs_counter_store *store)
{
	ncs_hash_table_sweep(&store->parts, NULL, 0);
	ncs_hash_table_sweep(&store->counters, NULL, 0);
	ncs_hash_table_release(&store->parts);
	ncs_hash_table_release(&store->counters);
	memset(store, 0, sizeof(*store));
}

/* --- Text ----------------------------------------------------------------- */

/* Room for the labels of a series: job labels and names are bounded. */
#define LABELS_BYTES 8192u

static_assert(1 + NCS_METRIC_EDGES + 1 <= NCS_COUNTER_VALUES_MAX,
	      "the values of a histogram fit a counter");

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

	return w->hides_names && (is_node ? strcmp(value, w->host) != 0 :
					    find_name(label, length) != NULL);
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
				   types[row->type];

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
	struct ncs_counter *counter = counter_of(w->store, w->metric, labels);

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
	if (counter &&
	    contribute(w->store, counter, serial, values, values_of(w)) != 0)
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
