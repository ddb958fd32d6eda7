/* SPDX-License-Identifier: MIT */
/* Writes metrics as text: OpenMetrics 1.0, or Prometheus's text format 0.0.4.
 *
 * Families are written one after the other, each between ncs_metric_begin() and
 * ncs_metric_end(), with all its series in between. Counters, summaries and
 * histograms never fall. Series beyond the limit are counted
 * and left out. Must not know where values come from.
 */
#ifndef NCS_ANALYSIS_METRICS_METRIC_WRITER_H
#define NCS_ANALYSIS_METRICS_METRIC_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/base/hash_table.h"
#include "ncclstat/tables/metrics.def"

/* --- The table of metrics as data; sets as users name them ---------------- */

#define NCS_METRIC_PREFIX "ncclstat_"

enum ncs_metric {
#define X(ID, ...) NCS_METRIC_##ID,
	NCS_METRICS(X)
#undef X
		NCS_METRIC_COUNT
};

enum ncs_metric_type {
	NCS_METRIC_TYPE_INFO,
	NCS_METRIC_TYPE_GAUGE,
	NCS_METRIC_TYPE_COUNTER,
	NCS_METRIC_TYPE_SUMMARY,
	NCS_METRIC_TYPE_HISTOGRAM,
};

/* Units of metrics. Values of SECONDS are given to the writer in ns, and of
 * RATIO in 10^-9. */
enum ncs_metric_unit {
	NCS_METRIC_UNIT_NONE,
	NCS_METRIC_UNIT_SECONDS,
	NCS_METRIC_UNIT_BYTES,
	NCS_METRIC_UNIT_RATIO,
};

struct ncs_metric_row {
	const char *name; /* without NCS_METRIC_PREFIX */
	enum ncs_metric_type type;
	enum ncs_metric_unit unit;
	const char *labels; /* names, separated by blanks */
	bool is_opt_in;
	const char *help;
};

/* The rows by enum ncs_metric. */
extern const struct ncs_metric_row ncs_metric_rows[NCS_METRIC_COUNT];

/* The words of units in the exposition; "" for no unit. */
extern const char *const ncs_metric_units[];

/* Returns the set of metrics whose series differ by a label alone whose values users
 * choose: of others only the label is left out. */
uint64_t ncs_metrics_by_name(void);

/* A set of metrics: a bit for each enum ncs_metric. */
#define NCS_METRIC_BIT(metric) (UINT64_C(1) << (metric))

/* Returns the set of those that are not opt-in. */
uint64_t ncs_metrics_default(void);

/* Changes the set by "NAME,-NAME,...": adds metrics, or takes them out; "all"
 * is all of them. Names may have the prefix. Returns false, with the name that
 * is none in `wrong`, of `size` bytes, and the set unchanged. */
bool ncs_metrics_parse(const char *text, uint64_t *set, char *wrong,
		       size_t size);

/* --- Values that counters have had ---------------------------------------- */

/* The values that counters have had, so that none ever falls: Prometheus takes a
 * fall for a restart and adds the whole value again.
 *
 * A counter is a metric with its labels, the sum of what segments contribute.
 * A segment may contribute less than before, since sums in segments may be taken
 * back by a few, and a segment may vanish: then the counter stays as it is. A
 * counter to which nothing contributes in a pass is forgotten.
 *
 * Pure. Not thread-safe.
 */

/* All zeros is an empty store. */
struct ncs_counter_store {
	struct ncs_hash_table counters;
	struct ncs_hash_table parts; /* what each segment contributes */
	uint64_t pass;
};

/* Begins a pass over all segments. */
void ncs_counters_begin(struct ncs_counter_store *store);

/* Ends the pass: forgets what no segment contributed to. */
void ncs_counters_end(struct ncs_counter_store *store);

/* Releases all memory; the store is then empty. */
void ncs_counters_release(struct ncs_counter_store *store);

/* --- Writing -------------------------------------------------------------- */

enum ncs_metric_format {
	NCS_METRICS_OPENMETRICS,
	NCS_METRICS_PROMETHEUS,
};

/* Upper edges of a histogram's buckets: 16 us to 8.6 s, 2^(14+k) ns, then
 * infinity. */
#define NCS_METRIC_EDGES 20u
#define NCS_METRIC_EDGE_NS(k) (UINT64_C(1) << (14 + (k)))

struct ncs_metric_writer {
	FILE *file;
	enum ncs_metric_format format;
	struct ncs_counter_store *store;
	uint64_t series_max;
	/* Labels that users choose are left empty, and nodes with another name
	 * than `host`: users choose that of a container. */
	bool hides_names;
	const char *host;
	uint64_t series;   /* written so far */
	uint64_t left_out; /* not written, for the limit */
	bool no_memory;    /* something is missing since there is no memory */
	/* Private: the family that is being written. */
	enum ncs_metric metric;
	bool has_head;
	struct ncs_counter **touched; /* its counters, in their order */
	size_t touched_count, touched_capacity;
};

/* Begins a family. Its heading is written with its first series. */
void ncs_metric_begin(struct ncs_metric_writer *writer, enum ncs_metric metric);

/* Adds a series to a family of gauges or infos. `labels` are the values of the
 * metric's labels in the order of the table; "" is one that is not known. Any
 * bytes may be in them. */
void ncs_metric_put(struct ncs_metric_writer *writer,
		    const char *const *labels, uint64_t value);

/* Adds to counters what a segment, which `serial` names, has counted: one value
 * for a counter; the sum and the number for a summary; for a histogram the sum,
 * and the number in each of NCS_METRIC_EDGES + 1 buckets. */
void ncs_metric_count(struct ncs_metric_writer *writer,
		      const char *const *labels, uint32_t serial,
		      const uint64_t *values);

/* Ends a family: writes its counters. */
void ncs_metric_end(struct ncs_metric_writer *writer);

/* Writes the end of the text, and releases what the writer has allocated. */
void ncs_metric_finish(struct ncs_metric_writer *writer);

#endif
