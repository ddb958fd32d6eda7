/* SPDX-License-Identifier: MIT */
/* The critical path for programs: all of it, in ns. */
#include "tui/commands/critical_path_command.h"

#include <math.h>

#include "tui/text/json_values.h"

/* Parts of a ns come from sharing out, and mean nothing. */
static json_t *whole_ns(double ns)
{
	return json_integer(llround(ns));
}

static json_t *causes_of(const double cause_ns[NCS_PATH_CAUSE_COUNT])
{
	json_t *object = json_object();

	for (unsigned i = 0; i < NCS_PATH_CAUSE_COUNT; i++)
		put(object, ncs_path_cause_name(i), whole_ns(cause_ns[i]));
	return object;
}

static json_t *ranks_of(const struct ncs_path_view *view,
			const struct ncs_path_sum *sum)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < view->rank_count; i++) {
		double ns = 0;
		json_t *object;

		for (unsigned k = 0; k < NCS_PATH_CAUSE_COUNT; k++)
			ns += sum->rank_ns[i][k];
		if (ns <= 0)
			continue;
		object = json_object();
		put(object, "rank", number(i));
		put(object, "time_ns", whole_ns(ns));
		put(object, "causes_ns", causes_of(sum->rank_ns[i]));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *channels_of(const struct ncs_path_report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->channel_count; i++) {
		const struct ncs_path_channel *channel = &report->channels[i];
		json_t *object = json_object();
		char id[17];

		snprintf(id, sizeof(id), "%016" PRIx64, channel->comm_id);
		put(object, "rank", number(channel->rank));
		put(object, "comm", json_string(id));
		put(object, "channel", number(channel->channel));
		put(object, "dir", word(channel->send ? "send" : "recv"));
		put(object, "peer", whole(channel->peer));
		put(object, "time_ns", whole_ns(channel->ns));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *steps_of(const struct ncs_path_report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->step_count; i++) {
		const struct ncs_path_step *step = &report->steps[i];
		json_t *object = json_object(), *ends = json_array();

		for (size_t k = 0; k < report->sum_count; k++)
			json_array_append_new(
				ends, step->has_end ?
					      whole_ns(step->end_ns[k]) :
					      json_null());
		put(object, "step", number(i));
		put(object, "ends_ns", ends);
		put(object, "causes_ns", causes_of(step->cause_ns));
		put(object, "rank", number(step->rank));
		put(object, "rank_ns", whole_ns(step->rank_ns));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *scenarios_of(const struct ncs_path_view *view)
{
	const struct ncs_path_report *report = view->report;
	json_t *array = json_array();

	for (size_t i = 1; i < report->sum_count; i++) {
		const struct ncs_path_sum *sum = &report->sums[i];
		json_t *object = json_object();

		put(object, "what_if", text(sum->scenario->text));
		put(object, "before_ns", whole_ns(report->sums[0].elapsed_ns));
		put(object, "after_ns", whole_ns(sum->elapsed_ns));
		put(object, "unknown_ns", whole_ns(sum->unknown_ns));
		put(object, "elsewhere_ns", whole_ns(sum->uncounted_ns));
		put(object, "causes_ns", causes_of(sum->cause_ns));
		put(object, "ranks", ranks_of(view, sum));
		json_array_append_new(array, object);
	}
	return array;
}

void ncs_critical_path_json(FILE *file, const struct ncs_path_view *view)
{
	const struct ncs_path_report *report = view->report;
	const struct ncs_path_sum *replayed = &report->sums[0];
	uint64_t error_ns = view->replay->error_ns;
	json_t *object = json_object();

	put(object, "operations", number(report->operations));
	put(object, "incomplete", number(report->incomplete));
	put(object, "unidentified", number(view->count.join.unidentified));
	put(object, "records_lost", number(view->count.parts.lost));
	put(object, "clock_error_ns",
	    number_if(error_ns != UINT64_MAX, error_ns));
	put(object, "violations", number(report->violations));
	put(object, "forgotten", number(report->forgotten));
	put(object, "breaks", number(report->breaks));
	put(object, "elapsed_ns", whole_ns(report->measured_ns));
	put(object, "replayed_ns", whole_ns(replayed->elapsed_ns));
	put(object, "elsewhere_ns", whole_ns(replayed->uncounted_ns));
	put(object, "causes_ns", causes_of(replayed->cause_ns));
	put(object, "ranks", ranks_of(view, replayed));
	put(object, "channels", channels_of(report));
	put(object, "steps", steps_of(report));
	put(object, "what_if", scenarios_of(view));
	if (json_dumpf(object, file, JSON_COMPACT) != 0) {
		fprintf(stderr, "ncclstat: %s\n", strerror(ENOMEM));
		exit(NCS_EXIT_NOTHING);
	}
	fputc('\n', file);
	json_decref(object);
}
