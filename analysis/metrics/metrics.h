/* SPDX-License-Identifier: MIT */
/* Metrics of a node, for Prometheus: takes a model with its diagnosis and writes
 * what ncclstat/tables/metrics.def lists. Values come from the functions that
 * views and dumps use.
 *
 * What has been counted is kept from one text to the next, so that counters
 * never fall, and a peer keeps its name. Pure, but for writing to the caller's
 * file. Not thread-safe.
 */
#ifndef NCS_ANALYSIS_METRICS_METRICS_H
#define NCS_ANALYSIS_METRICS_METRICS_H

#include "analysis/diagnosis/diagnosis.h"
#include "analysis/metrics/metric_jobs.h"
#include "analysis/metrics/metric_peers.h"
#include "analysis/metrics/metric_ranks.h"
#include "analysis/metrics/metric_writer.h"

#define NCS_METRICS_SERIES_MIN 100u
#define NCS_METRICS_SERIES_DEFAULT 2000u
#define NCS_METRICS_SERIES_MAX 1000000u

struct ncs_metrics {
	uint64_t wanted;     /* set of metrics; see metric_table.h */
	uint64_t series_max; /* the most series of a text */
	/* Leaves out what users choose: labels, metrics whose series differ by
	 * such a label, and names of hosts but this one's. */
	bool hides_names;
	char host[64]; /* the name of this host, if hides_names */
	/* Private: */
	struct ncs_counter_store store;
	struct ncs_metric_ranks ranks;
	struct ncs_named_peers peers;
	struct ncs_metric_jobs jobs;
};

/* When and how long the model was updated. */
struct ncs_metrics_look {
	uint64_t realtime_ns; /* the model's now_ns, since 1970 */
	uint64_t took_ns;
};

/* Makes metrics without a past; ncs_metrics_release() releases all memory. */
void ncs_metrics_init(struct ncs_metrics *metrics);
void ncs_metrics_release(struct ncs_metrics *metrics);

/* Whether the wanted metrics need records; states are enough for others. */
bool ncs_metrics_need_records(const struct ncs_metrics *metrics);

/* Writes all metrics of the model to `file`; the caller checks for write errors.
 * Returns 0, or -ENOMEM if some are missing. */
int ncs_metrics_write(struct ncs_metrics *metrics, FILE *file,
		      enum ncs_metric_format format,
		      const struct ncs_model *model,
		      const struct ncs_diagnosis *diagnosis,
		      const struct ncs_metrics_look *look);

#endif
