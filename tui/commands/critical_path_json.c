/* SPDX-License-Identifier: MIT */
/* The critical path as JSON: the whole report, times in ns, as one object on
 * one line. Must not compute anything of the path itself. */
#include "tui/commands/critical_path_command.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/base/value_names.h"
#include "tui/commands/json_values.h"

/* Adds a time, rounded to whole ns: fractions only result from dividing times
 * among causes, and have no meaning. */
static void put_ns(json_t *object, const char *key, double ns)
{
	ncs_json_add_signed(object, key, llround(ns));
}

static json_t *causes_of(const double cause_ns[NCS_PATH_CAUSE_COUNT])
{
	json_t *object = json_object();

	for (unsigned i = 0; i < NCS_PATH_CAUSE_COUNT; i++)
		put_ns(object, ncs_path_cause_name(i), cause_ns[i]);
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
		ncs_json_add_number(object, "rank", i);
		put_ns(object, "time_ns", ns);
		ncs_json_add(object, "causes_ns", causes_of(sum->rank_ns[i]));
		ncs_json_append(array, object);
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
		ncs_json_add_number(object, "rank", channel->rank);
		ncs_json_add(object, "communicator_id", json_string(id));
		ncs_json_add_number(object, "channel", channel->channel);
		ncs_json_add_word(object, "direction",
				  channel->send ? "send" : "recv");
		ncs_json_add_signed(object, "peer", channel->peer);
		put_ns(object, "time_ns", channel->ns);
		ncs_json_append(array, object);
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
			ncs_json_append(
				ends,
				step->has_end ?
					json_integer(llround(step->end_ns[k])) :
					json_null());
		ncs_json_add_number(object, "step", i);
		ncs_json_add(object, "ends_ns", ends);
		ncs_json_add(object, "causes_ns", causes_of(step->cause_ns));
		ncs_json_add_number(object, "rank", step->rank);
		put_ns(object, "rank_ns", step->rank_ns);
		ncs_json_append(array, object);
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
		bool has_bounds = sum->is_known && sum->cost;
		bool is_unknown = sum->cost &&
				  sum->cost->unknown != NCS_COST_KNOWN;

		ncs_json_add_text(object, "what_if", sum->scenario->text);
		put_ns(object, "before_ns", report->sums[0].elapsed_ns);
		ncs_json_add_signed_if(object, "after_ns", sum->is_known,
				       llround(sum->elapsed_ns));
		ncs_json_add_signed_if(object, "after_at_least_ns", has_bounds,
				       llround(sum->at_least_ns));
		ncs_json_add_signed_if(object, "after_at_most_ns", has_bounds,
				       llround(sum->at_most_ns));
		ncs_json_add(object, "cost_unknown",
			     is_unknown ? json_string(ncs_cost_unknown_name(
						  sum->cost->unknown)) :
					  json_null());
		put_ns(object, "unknown_ns", sum->unknown_ns);
		put_ns(object, "elsewhere_ns", sum->uncounted_ns);
		ncs_json_add(object, "causes_ns", causes_of(sum->cause_ns));
		ncs_json_add(object, "ranks", ranks_of(view, sum));
		ncs_json_append(array, object);
	}
	return array;
}

static json_t *trust_of(const struct ncs_path_view *view)
{
	const struct ncs_path_report *report = view->report;
	const struct ncs_path_trust *trust = &report->trust;
	json_t *object = json_object();

	put_ns(object, "unknown_ns", report->sums[0].unknown_ns);
	ncs_json_add(object, "told_by",
		     ncs_json_counts(ncs_moment_name, trust->arrivals,
				     NCS_MOMENT_OPERATION,
				     NCS_MOMENT_DATA + 1));
	ncs_json_add_number(object, "endless", trust->endless);
	ncs_json_add_number(object, "incomplete", trust->incomplete);
	ncs_json_add_number(object, "unrecorded", trust->unrecorded);
	ncs_json_add_number(object, "to_itself", trust->to_itself);
	ncs_json_add_number(object, "unseen", trust->unseen);
	ncs_json_add_number(object, "queued_parts", trust->queued_parts);
	ncs_json_add_number(object, "again", view->count.join.again);
	ncs_json_add_number(object, "unidentified",
			    view->count.join.unidentified);
	ncs_json_add_number(object, "records_lost", view->count.parts.lost);
	return object;
}

void ncs_critical_path_json(FILE *file, const struct ncs_path_view *view)
{
	const struct ncs_path_report *report = view->report;
	const struct ncs_path_sum *replayed = &report->sums[0];
	uint64_t error_ns = view->replay->error_ns;
	char conclusion[NCS_PATH_CONCLUSION_MAX];
	json_t *object = ncs_json_document();

	ncs_json_add_number(object, "schema", NCS_JSON_SCHEMA);
	ncs_critical_path_conclusion(conclusion, sizeof(conclusion), view);
	ncs_json_add_text(object, "conclusion", conclusion);
	ncs_json_add_number(object, "operations", report->operations);
	ncs_json_add(object, "trust", trust_of(view));
	ncs_json_add_number_if(object, "clock_error_ns", error_ns != UINT64_MAX,
			       error_ns);
	ncs_json_add_number(object, "forgotten", report->forgotten);
	ncs_json_add_number(object, "breaks", report->breaks);
	put_ns(object, "elapsed_ns", report->measured_ns);
	put_ns(object, "replayed_ns", replayed->elapsed_ns);
	put_ns(object, "elsewhere_ns", replayed->uncounted_ns);
	ncs_json_add(object, "causes_ns", causes_of(replayed->cause_ns));
	ncs_json_add(object, "ranks", ranks_of(view, replayed));
	ncs_json_add(object, "channels", channels_of(report));
	ncs_json_add(object, "steps", steps_of(report));
	ncs_json_add(object, "what_if", scenarios_of(view));
	ncs_json_print(file, object, JSON_COMPACT);
}
