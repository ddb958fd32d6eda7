/* SPDX-License-Identifier: MIT */
/* Writes metrics as text: OpenMetrics 1.0, or Prometheus's text format 0.0.4.
 *
 * Families are written one after the other, each between ncs_metric_begin() and
 * ncs_metric_end(), with all its series in between. Counters, summaries and
 * histograms never fall (counter_store.h). Series beyond the limit are counted
 * and left out. Must not know where values come from.
 */
#ifndef NCS_ANALYSIS_METRICS_METRIC_WRITER_H
#define NCS_ANALYSIS_METRICS_METRIC_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/metrics/counter_store.h"
#include "analysis/metrics/metric_table.h"

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
