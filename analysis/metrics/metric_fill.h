/* SPDX-License-Identifier: MIT */
/* The functions that fill in the metrics, one for each row of the table: each
 * adds its metric's series to the writer. Private to analysis/metrics. */
#ifndef NCS_ANALYSIS_METRICS_METRIC_FILL_H
#define NCS_ANALYSIS_METRICS_METRIC_FILL_H

#include "analysis/metrics/metrics.h"

struct ncs_metric_input {
	struct ncs_metrics *metrics;
	struct ncs_metric_writer *writer;
	const struct ncs_model *model;
	const struct ncs_diagnosis *diagnosis;
	const struct ncs_metrics_look *look;
};

typedef void ncs_metric_fill(const struct ncs_metric_input *input);

#define X(ID, ...) ncs_metric_fill ncs_metric_fill_##ID;
NCS_METRICS(X)
#undef X

/* Defines the function of a metric. */
#define NCS_METRIC_FILL(ID) \
	void ncs_metric_fill_##ID(const struct ncs_metric_input *input)

/* For each rank that has metrics: `entry` is its struct ncs_metric_rank. */
#define NCS_FOR_METRIC_RANKS(entry, input) \
	for (const struct ncs_metric_rank *entry = \
		     (input)->metrics->ranks.ranks; \
	     entry < (input)->metrics->ranks.ranks + \
			     (input)->metrics->ranks.count; \
	     entry++)

#endif
