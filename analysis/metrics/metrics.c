/* SPDX-License-Identifier: MIT */
/* Metrics of a node; see metrics.h. Values are found in the other files of this
 * folder. */
#include "analysis/metrics/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics/metric_fill.h"

/* The exporter's own series, which always find room. */
#define OWN_SERIES (NCS_LOSS_COUNT - 1 + 2)

static ncs_metric_fill *const fills[NCS_METRIC_COUNT] = {
#define X(ID, ...) [NCS_METRIC_##ID] = ncs_metric_fill_##ID,
	NCS_METRICS(X)
#undef X
};

void ncs_metrics_init(struct ncs_metrics *metrics)
{
	memset(metrics, 0, sizeof(*metrics));
	metrics->wanted = ncs_metrics_default();
	metrics->series_max = NCS_METRICS_SERIES_DEFAULT;
}

void ncs_metrics_release(struct ncs_metrics *metrics)
{
	ncs_counters_release(&metrics->store);
	free(metrics->ranks.ranks);
	free(metrics->peers.ranks);
	free(metrics->jobs.jobs);
	memset(metrics, 0, sizeof(*metrics));
}

bool ncs_metrics_need_records(const struct ncs_metrics *metrics)
{
	return metrics->wanted & (NCS_METRIC_BIT(NCS_METRIC_LATE_RATIO) |
				  NCS_METRIC_BIT(NCS_METRIC_LATE_RATIO_LEAST) |
				  NCS_METRIC_BIT(NCS_METRIC_LATE_RATIO_MOST));
}

int ncs_metrics_write(struct ncs_metrics *metrics, FILE *file,
		      enum ncs_metric_format format,
		      const struct ncs_model *model,
		      const struct ncs_diagnosis *diagnosis,
		      const struct ncs_metrics_look *look)
{
	struct ncs_metric_writer writer = {
		.file = file,
		.format = format,
		.store = &metrics->store,
		.series_max = metrics->series_max > OWN_SERIES ?
				      metrics->series_max - OWN_SERIES :
				      0,
		.hides_names = metrics->hides_names,
		.host = metrics->host,
	};
	uint64_t wanted = metrics->wanted;
	const struct ncs_metric_input input = {
		.metrics = metrics,
		.writer = &writer,
		.model = model,
		.diagnosis = diagnosis,
		.look = look,
	};

	if (metrics->hides_names)
		wanted &= ~ncs_metrics_by_name();
	if (ncs_metric_ranks_find(&metrics->ranks, model) != 0 ||
	    ncs_metric_jobs_look(&metrics->jobs, model, diagnosis,
				 metrics->hides_names) != 0)
		writer.no_memory = true;
	ncs_counters_begin(&metrics->store);
	for (unsigned i = 0; i < NCS_METRIC_COUNT; i++) {
		if (i == NCS_METRIC_LOST)
			writer.series_max = metrics->series_max;
		if (!(wanted & NCS_METRIC_BIT(i)))
			continue;
		ncs_metric_begin(&writer, (enum ncs_metric)i);
		fills[i](&input);
		ncs_metric_end(&writer);
	}
	ncs_counters_end(&metrics->store);
	ncs_peers_forget(&metrics->peers);
	ncs_metric_finish(&writer);
	return writer.no_memory ? -ENOMEM : 0;
}
