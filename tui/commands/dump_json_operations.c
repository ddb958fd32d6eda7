/* SPDX-License-Identifier: MIT */
/* The JSON dump of a rank's calls and operations: functions, classes, ranges,
 * operations in flight. Must not change the rank. */
#include "tui/commands/dump_json_parts.h"

#include "analysis/base/percentile.h"
#include "analysis/base/timings.h"
#include "analysis/base/value_names.h"
#include "analysis/model/class_stats.h"
#include "analysis/model/range_totals.h"
#include "analysis/model/waits.h"
#include "ncclstat/size_class.h"
#include "tui/commands/json_values.h"

/* --- GPU times ----------------------------------------------------------- */

json_t *ncs_dump_json_gpu_time(const struct ncs_gpu_time *time)
{
	bool computed = time->compute_kernels > 0;
	bool communicated = time->communication_kernels > 0;

	if (!computed && !communicated)
		return json_null();
	return NCS_JSON_OBJECT(
		{ "compute_kernels", NCS_JSON(time->compute_kernels) },
		{ "compute_ns", NCS_JSON(time->compute_ns) },
		{ "compute_busy_ns", NCS_JSON(time->compute_busy_ns) },
		{ "communication_kernels",
		  NCS_JSON(time->communication_kernels) },
		{ "communication_ns", NCS_JSON(time->communication_ns) },
		{ "hidden_ns", NCS_JSON_IF(communicated, time->hidden_ns) });
}

/* --- Functions ----------------------------------------------------------- */

/* The percentiles of functions and classes; the histogram of ranges is too coarse
 * for those that are fine. */
static const struct json_percentile {
	const char *key;
	double fraction;
	bool is_fine;
} percentiles[] = {
	{ "min", 0, true },    { "p50", 0.50, false }, { "p90", 0.90, false },
	{ "p95", 0.95, true }, { "p99", 0.99, false }, { NULL, 0, false },
};

/* Returns the times in ns that a function's operations took; null each if none
 * was timed. */
static json_t *times_of(const struct ncs_rank *rank, unsigned id)
{
	const struct ncs_function_view *function = &rank->now.functions[id];
	uint64_t longest_ns = ncs_rank_longest_ns(rank, id);
	const uint64_t *histogram = ncs_function_histogram(function);
	unsigned timing = ncs_function_timing(function);
	bool timed = histogram && timing < NCS_TIMING_COUNT;
	json_t *times = NCS_JSON_OBJECT(
		{ "sum", NCS_JSON_IF(timed, function->time_ns[timing]) });

	for (const struct json_percentile *at = percentiles; at->key; at++) {
		uint64_t ns = histogram ?
				      ncs_percentile(histogram, at->fraction) :
				      0;

		ns = ns < longest_ns ? ns : longest_ns;
		json_object_set_new(times, at->key, NCS_JSON_IF(histogram, ns));
	}
	return NCS_JSON_ADD(times,
			    { "max", NCS_JSON_IF(histogram, longest_ns) });
}

static json_t *function_of(const struct ncs_rank *rank, unsigned id)
{
	const struct ncs_function_view *function = &rank->now.functions[id];
	unsigned timing = ncs_function_timing(function);
	uint64_t last = function->last_sequence_number;

	return ncs_dump_json_cells(
		NCS_JSON_OBJECT(
			{ "function", NCS_JSON(ncs_function_name(id)) },
			{ "calls", NCS_JSON_IF(ncs_rank_calls_known(rank),
					       function->calls) },
			{ "operations", NCS_JSON(function->operations) },
			{ "operations_done",
			  NCS_JSON_IF(ncs_function_ends_known(function),
				      function->operations_done) },
			{ "bytes",
			  NCS_JSON_IF(ncs_function_bytes_known(function),
				      function->bytes) },
			{ "last_sequence_number",
			  NCS_JSON_IF(last != NCS_NO_SEQUENCE_NUMBER, last) },
			{ "timing", NCS_JSON(ncs_timing_name(timing)) },
			{ "timed", NCS_JSON(timing < NCS_TIMING_COUNT ?
						    function->timed[timing] :
						    0) },
			{ "time_ns", times_of(rank, id) }),
		rank, NCS_VIEW_FUNCTION, id);
}

NCS_JSON_ARRAY(json_t *ncs_dump_json_functions(const struct ncs_rank *rank),
	       NCS_FUNCTION_COUNT,
	       ncs_function_is_used(&rank->now.functions[i]) ?
		       function_of(rank, (unsigned)i) :
		       NULL)

/* --- Classes ------------------------------------------------------------- */

/* Returns a class's times in ns: percentiles from the histogram, and the exact
 * sum and maximum; null each if none was timed. */
static json_t *class_times_of(const struct ncs_rank *rank,
			      const struct ncs_class_times *times)
{
	bool timed = times && times->longest_ns > 0;
	json_t *object =
		NCS_JSON_OBJECT({ "sum", NCS_JSON_IF(timed, times->time_ns) });

	for (const struct json_percentile *at = percentiles; at->key; at++)
		json_object_set_new(
			object, at->key,
			NCS_JSON_IF(times, ncs_class_percentile(rank, times,
								at->fraction)));
	return NCS_JSON_ADD(object,
			    { "max", NCS_JSON_IF(timed, times->longest_ns) });
}

static json_t *class_of(const struct ncs_rank *rank, size_t index)
{
	const struct ncs_class_view *view = &rank->now.classes[index];
	const struct ncs_class_times *times = ncs_times_of_class(view);
	struct ncs_moving_view moving = ncs_class_moving(rank, view);
	bool other = ncs_class_is_other(view);
	bool sized = view->size_class != NCS_SIZE_CLASS_UNKNOWN && !other;
	bool algorithm = view->algorithm != NCS_ALGORITHM_UNKNOWN && !other;
	bool protocol = view->protocol != NCS_PROTOCOL_UNKNOWN && !other;

	return ncs_dump_json_cells(
		NCS_JSON_OBJECT(
			{ "function",
			  NCS_JSON(ncs_function_name(view->function)) },
			{ "other", NCS_JSON(other) },
			{ "size_bytes",
			  NCS_JSON_IF(sized,
				      ncs_size_class_low(view->size_class)) },
			{ "algorithm",
			  NCS_JSON_IF(algorithm,
				      ncs_algorithm_name(view->algorithm)) },
			{ "protocol",
			  NCS_JSON_IF(protocol,
				      ncs_protocol_name(view->protocol)) },
			{ "operations", NCS_JSON(view->operations) },
			{ "timing",
			  NCS_JSON(ncs_timing_name(ncs_class_timing(view))) },
			{ "timed", NCS_JSON(times ? times->timed : 0) },
			{ "bytes",
			  NCS_JSON_IF(ncs_class_bytes_known(rank, view),
				      times ? times->bytes : 0) },
			{ "time_ns", class_times_of(rank, times) },
			{ "algbw_gbs", NCS_JSON(moving.algbw) },
			{ "busbw_gbs", NCS_JSON(moving.busbw) }),
		rank, NCS_VIEW_CLASS, index);
}

NCS_JSON_ARRAY(json_t *ncs_dump_json_classes(const struct ncs_rank *rank),
	       rank->now.class_count, class_of(rank, i))

/* --- Operations in flight ------------------------------------------------ */

/* Whether the peer of an operation has a meaning: NCCL passes a root for every
 * collective, even for those without a root. */
static bool has_peer(const struct ncs_operation_view *operation)
{
	return operation->peer >= 0 &&
	       (operation->event == NCS_EVENT_P2P ||
		operation->function == NCS_FUNCTION_BROADCAST ||
		operation->function == NCS_FUNCTION_REDUCE ||
		operation->function == NCS_FUNCTION_GATHER ||
		operation->function == NCS_FUNCTION_SCATTER);
}

static json_t *operation_of(const struct ncs_rank *rank,
			    const struct ncs_operation_view *operation)
{
	enum ncs_launch_phase phase = ncs_operation_phase(rank, operation);
	uint64_t sequence = operation->sequence_number;
	bool sized = operation->bytes > 0 || operation->count == 0;

	return NCS_JSON_OBJECT(
		{ "function",
		  NCS_JSON(ncs_function_name(operation->function)) },
		{ "sequence_number",
		  NCS_JSON_IF(sequence != NCS_NO_SEQUENCE_NUMBER, sequence) },
		{ "start_ns", ncs_json_known(operation->start_ns) },
		{ "bytes", NCS_JSON_IF(sized, operation->bytes) },
		{ "peer", NCS_JSON_IF(has_peer(operation), operation->peer) },
		{ "user_tag", ncs_json_known(operation->user_tag) },
		{ "range", ncs_json_known(operation->range) },
		{ "launch", ncs_json_known(operation->launch) },
		{ "phase", NCS_JSON_IF(phase != NCS_LAUNCH_PHASE_UNKNOWN,
				       ncs_launch_phase_name(phase)) },
		{ "children_started", NCS_JSON(operation->children_started) },
		{ "children_done", NCS_JSON(operation->children_done) });
}

NCS_JSON_ARRAY(json_t *ncs_dump_json_operations(const struct ncs_rank *rank),
	       rank->now.operation_count,
	       operation_of(rank, &rank->now.operations[i]))

/* --- Ranges -------------------------------------------------------------- */

/* Returns the times in ns of a range's operations; null each if not known. */
static json_t *range_times_of(const struct ncs_snapshot *snapshot,
			      const struct ncs_range_sum *sum)
{
	unsigned timing = ncs_best_timing(sum->timed);
	bool timed = timing < NCS_TIMING_COUNT;
	json_t *times = NCS_JSON_OBJECT(
		{ "sum", NCS_JSON_IF(timed, sum->time_ns[timing]) });

	for (const struct json_percentile *at = percentiles; at->key; at++)
		if (!at->is_fine)
			json_object_set_new(
				times, at->key,
				ncs_json_known(ncs_range_percentile(
					snapshot, sum, at->fraction)));
	return times;
}

static json_t *range_of(const struct ncs_rank *rank,
			const struct ncs_range_sum *sum)
{
	bool has_calls = ncs_rank_calls_known(rank);
	const struct ncs_range_view *range = sum->range;
	unsigned timing = ncs_best_timing(sum->timed);

	return NCS_JSON_OBJECT(
		{ "range", NCS_JSON(range->number) },
		{ "parent", ncs_json_known(range->parent) },
		{ "depth", NCS_JSON(sum->depth) },
		{ "name", NCS_JSON(range->name) },
		{ "calls", NCS_JSON_IF(has_calls, sum->calls) },
		{ "operations", NCS_JSON(sum->operations) },
		{ "bytes", NCS_JSON_IF(sum->size_unknown == 0, sum->bytes) },
		{ "own_calls", NCS_JSON_IF(has_calls, range->calls) },
		{ "own_operations", NCS_JSON(range->operations) },
		{ "operations_busy", NCS_JSON(range->busy) },
		{ "busy_ns",
		  NCS_JSON_IF(sum->with_children > 0, range->busy_ns) },
		{ "timing", NCS_JSON(ncs_timing_name(timing)) },
		{ "timed",
		  NCS_JSON(timing < NCS_TIMING_COUNT ? sum->timed[timing] :
						       0) },
		{ "time_ns", range_times_of(&rank->now, sum) },
		{ "busy_algbw_gbs", NCS_JSON(ncs_range_busy_bandwidth(sum)) },
		{ "waits_ns",
		  ncs_json_counts(ncs_channel_state_name, sum->channel_time_ns,
				  NCS_CHANNEL_IDLE + 1,
				  NCS_CHANNEL_STATE_COUNT) },
		{ "gpu", ncs_dump_json_gpu_time(&sum->gpu) });
}

NCS_JSON_ARRAY(json_t *ncs_dump_json_ranges(const struct ncs_rank *rank),
	       rank->now.range_count, range_of(rank, &rank->ranges[i]))
