/* SPDX-License-Identifier: MIT */
/* The critical path as JSON: the whole report, times in ns, as one object on
 * one line. Must not compute anything of the path itself. */
#include "tui/commands/critical_path_command.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/base/value_names.h"
#include "tui/commands/json_values.h"

/* Returns a time in whole ns: fractions only result from dividing times among
 * causes, and have no meaning. */
static json_t *ns_of(double ns)
{
	return json_integer(llround(ns));
}

NCS_JSON_MAP(
	static json_t *causes_of(const double cause_ns[NCS_PATH_CAUSE_COUNT]),
	0, NCS_PATH_CAUSE_COUNT, ncs_path_cause_name, ns_of(cause_ns[i]))

/* Returns NULL for a rank that is not on the path. */
static json_t *rank_of(const double cause_ns[NCS_PATH_CAUSE_COUNT], size_t rank)
{
	double ns = 0;

	for (unsigned i = 0; i < NCS_PATH_CAUSE_COUNT; i++)
		ns += cause_ns[i];
	return ns > 0 ? NCS_JSON_OBJECT({ "rank", NCS_JSON(rank) },
					{ "time_ns", ns_of(ns) },
					{ "causes_ns", causes_of(cause_ns) }) :
			NULL;
}

NCS_JSON_ARRAY(static json_t *ranks_of(const struct ncs_path_view *view,
				       const struct ncs_path_sum *sum),
	       view->rank_count, rank_of(sum->rank_ns[i], i))

static json_t *channel_of(const struct ncs_path_channel *channel)
{
	char id[17];

	snprintf(id, sizeof(id), "%016" PRIx64, channel->comm_id);
	return NCS_JSON_OBJECT({ "rank", NCS_JSON(channel->rank) },
			       { "communicator_id", NCS_JSON(id) },
			       { "channel", NCS_JSON(channel->channel) },
			       { "direction",
				 NCS_JSON(channel->send ? "send" : "recv") },
			       { "peer", NCS_JSON(channel->peer) },
			       { "time_ns", ns_of(channel->ns) });
}

NCS_JSON_ARRAY(static json_t *channels_of(const struct ncs_path_report *report),
	       report->channel_count, channel_of(&report->channels[i]))

NCS_JSON_ARRAY(static json_t *ends_of(const struct ncs_path_step *step,
				      size_t count),
	       count, step->has_end ? ns_of(step->end_ns[i]) : json_null())

static json_t *step_of(const struct ncs_path_report *report, size_t index)
{
	const struct ncs_path_step *step = &report->steps[index];

	return NCS_JSON_OBJECT({ "step", NCS_JSON(index) },
			       { "ends_ns", ends_of(step, report->sum_count) },
			       { "causes_ns", causes_of(step->cause_ns) },
			       { "rank", NCS_JSON(step->rank) },
			       { "rank_ns", ns_of(step->rank_ns) });
}

NCS_JSON_ARRAY(static json_t *steps_of(const struct ncs_path_report *report),
	       report->step_count, step_of(report, i))

static json_t *scenario_of(const struct ncs_path_view *view, size_t index)
{
	const struct ncs_path_sum *sums = view->report->sums;
	const struct ncs_path_sum *sum = &sums[index];
	bool has_bounds = sum->is_known && sum->cost;
	bool is_unknown = sum->cost && sum->cost->unknown != NCS_COST_KNOWN;

	return NCS_JSON_OBJECT(
		{ "what_if", NCS_JSON(sum->scenario->text) },
		{ "before_ns", ns_of(sums[0].elapsed_ns) },
		{ "after_ns",
		  sum->is_known ? ns_of(sum->elapsed_ns) : json_null() },
		{ "after_at_least_ns",
		  has_bounds ? ns_of(sum->at_least_ns) : json_null() },
		{ "after_at_most_ns",
		  has_bounds ? ns_of(sum->at_most_ns) : json_null() },
		{ "cost_unknown",
		  NCS_JSON_IF(is_unknown,
			      ncs_cost_unknown_name(sum->cost->unknown)) },
		{ "unknown_ns", ns_of(sum->unknown_ns) },
		{ "elsewhere_ns", ns_of(sum->uncounted_ns) },
		{ "causes_ns", causes_of(sum->cause_ns) },
		{ "ranks", ranks_of(view, sum) });
}

/* The first sum is that of the job as it was. */
NCS_JSON_ARRAY(static json_t *scenarios_of(const struct ncs_path_view *view),
	       view->report->sum_count - 1, scenario_of(view, i + 1))

static json_t *trust_of(const struct ncs_path_view *view)
{
	const struct ncs_path_trust *trust = &view->report->trust;

	return NCS_JSON_OBJECT(
		{ "unknown_ns", ns_of(view->report->sums[0].unknown_ns) },
		{ "told_by",
		  ncs_json_counts(ncs_moment_name, trust->arrivals,
				  NCS_MOMENT_OPERATION, NCS_MOMENT_DATA + 1) },
		{ "endless", NCS_JSON(trust->endless) },
		{ "incomplete", NCS_JSON(trust->incomplete) },
		{ "unrecorded", NCS_JSON(trust->unrecorded) },
		{ "to_itself", NCS_JSON(trust->to_itself) },
		{ "unseen", NCS_JSON(trust->unseen) },
		{ "queued_parts", NCS_JSON(trust->queued_parts) },
		{ "again", NCS_JSON(view->count.join.again) },
		{ "unidentified", NCS_JSON(view->count.join.unidentified) },
		{ "records_lost", NCS_JSON(view->count.parts.lost) });
}

void ncs_critical_path_json(FILE *file, const struct ncs_path_view *view)
{
	const struct ncs_path_report *report = view->report;
	const struct ncs_path_sum *replayed = &report->sums[0];
	uint64_t error_ns = view->replay->error_ns;
	char conclusion[NCS_PATH_CONCLUSION_MAX];
	json_t *object = ncs_json_document();

	ncs_critical_path_conclusion(conclusion, sizeof(conclusion), view);
	NCS_JSON_ADD(object, { "schema", NCS_JSON(NCS_JSON_SCHEMA) },
		     { "conclusion", NCS_JSON(conclusion) },
		     { "operations", NCS_JSON(report->operations) },
		     { "trust", trust_of(view) },
		     { "clock_error_ns",
		       NCS_JSON_IF(error_ns != UINT64_MAX, error_ns) },
		     { "forgotten", NCS_JSON(report->forgotten) },
		     { "breaks", NCS_JSON(report->breaks) },
		     { "elapsed_ns", ns_of(report->measured_ns) },
		     { "replayed_ns", ns_of(replayed->elapsed_ns) },
		     { "elsewhere_ns", ns_of(replayed->uncounted_ns) },
		     { "causes_ns", causes_of(replayed->cause_ns) },
		     { "ranks", ranks_of(view, replayed) },
		     { "channels", channels_of(report) },
		     { "steps", steps_of(report) },
		     { "what_if", scenarios_of(view) });
	ncs_json_print(file, object, JSON_COMPACT);
}
