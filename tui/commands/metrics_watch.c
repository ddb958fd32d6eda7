/* SPDX-License-Identifier: MIT */
/* Looks and prints metrics; see metrics_watch.h. */
#include "tui/commands/metrics_watch.h"

#include <errno.h>
#include <string.h>

#include "shm/clock.h"
#include "tui/commands/dump_command.h"
#include "tui/text/output.h"

static bool wants_none(const void *context, const char *id)
{
	(void)context;
	(void)id;
	return false;
}

void ncs_metrics_watch_init(struct ncs_metrics_watch *watch,
			    const struct ncs_command_input *input)
{
	memset(watch, 0, sizeof(*watch));
	watch->source = input->source;
	ncs_model_init(&watch->model);
	ncs_diagnosis_init(&watch->diagnosis);
	watch->model.diagnosis = &watch->diagnosis;
	ncs_metrics_init(&watch->metrics);
	watch->metrics.wanted = input->options->metrics;
	watch->metrics.series_max = input->options->series_max;
	watch->source->shows_denied = true;
	/* The UUID of a GPU comes with its peaks. */
	watch->source->wants_peaks = watch->metrics.wanted &
				     NCS_METRIC_BIT(NCS_METRIC_RANK_INFO);
	if (!ncs_metrics_need_records(&watch->metrics))
		watch->source->wants_records = wants_none;
}

void ncs_metrics_watch_release(struct ncs_metrics_watch *watch)
{
	watch->source->wants_records = NULL;
	watch->source->shows_denied = false;
	watch->source->wants_peaks = false;
	ncs_metrics_release(&watch->metrics);
	ncs_diagnosis_release(&watch->diagnosis);
	ncs_model_release(&watch->model);
}

static int complain_of_memory(void)
{
	ncs_complain("%s", strerror(ENOMEM));
	return -ENOMEM;
}

/* Prints an error of the source, unless it was the one before. */
static void say(struct ncs_metrics_watch *watch)
{
	if (strcmp(watch->said, watch->model.error) == 0)
		return;
	snprintf(watch->said, sizeof(watch->said), "%s", watch->model.error);
	if (watch->said[0])
		ncs_complain("%s", watch->said);
}

int ncs_metrics_watch_look(struct ncs_metrics_watch *watch,
			   const struct ncs_stamp *stamp)
{
	uint64_t began_ns = ncs_clock_monotonic_ns();
	int error = ncs_model_update(&watch->model, watch->source,
				     stamp->monotonic_ns);

	if (error == -ENOMEM && !watch->keeps_ranks)
		return complain_of_memory();
	say(watch);
	if (error && !watch->keeps_ranks) {
		/* The ranks that it showed before are no longer known. */
		ncs_model_forget(&watch->model);
		watch->model.now_ns = stamp->monotonic_ns;
	}
	if (ncs_diagnose(&watch->diagnosis, &watch->model) != 0)
		return complain_of_memory();
	watch->look.realtime_ns = stamp->realtime_ns;
	watch->look.took_ns = ncs_clock_monotonic_ns() - began_ns;
	return 0;
}

int ncs_metrics_watch_print(struct ncs_metrics_watch *watch, FILE *file,
			    enum ncs_metric_format format)
{
	if (ncs_metrics_write(&watch->metrics, file, format, &watch->model,
			      &watch->diagnosis, &watch->look) != 0)
		return complain_of_memory();
	return 0;
}
