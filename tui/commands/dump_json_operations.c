/* SPDX-License-Identifier: MIT */
/* The JSON dump of a rank's calls and operations: functions, classes, ranges,
 * operations in flight. Must not change the rank. */
#include "tui/commands/dump_json_parts.h"

#include "analysis/base/busbw.h"
#include "analysis/base/class_names.h"
#include "analysis/base/percentile.h"
#include "analysis/base/timings.h"
#include "analysis/base/value_names.h"
#include "analysis/model/class_stats.h"
#include "analysis/model/launch_waits.h"
#include "analysis/model/range_totals.h"
#include "ncclstat/size_class.h"
#include "tui/commands/json_values.h"

/* --- GPU times ----------------------------------------------------------- */

json_t *ncs_dump_json_gpu_time(const struct ncs_gpu_time *time)
{
	bool computed = time->compute_kernels > 0;
	bool communicated = time->communication_kernels > 0;
	json_t *object;

	if (!computed && !communicated)
		return json_null();
	object = json_object();
	ncs_json_add_number(object, "compute_kernels", time->compute_kernels);
	ncs_json_add_number(object, "compute_ns", time->compute_ns);
	ncs_json_add_number(object, "compute_busy_ns", time->compute_busy_ns);
	ncs_json_add_number(object, "communication_kernels",
			    time->communication_kernels);
	ncs_json_add_number(object, "communication_ns", time->communication_ns);
	ncs_json_add_number_if(object, "hidden_ns", communicated,
			       time->hidden_ns);
	return object;
}

/* --- Functions ----------------------------------------------------------- */

struct json_percentile {
	const char *key;
	double fraction;
};

/* The percentiles of functions and of classes. */
static const struct json_percentile percentiles[] = {
	{ "min", 0 },    { "p50", 0.50 }, { "p90", 0.90 },
	{ "p95", 0.95 }, { "p99", 0.99 }, { NULL, 0 },
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
	json_t *times = json_object();

	ncs_json_add_number_if(times, "sum", timed,
			       timed ? function->time_ns[timing] : 0);
	for (const struct json_percentile *at = percentiles; at->key; at++) {
		uint64_t ns = histogram ?
				      ncs_percentile(histogram, at->fraction) :
				      0;

		ncs_json_add_number_if(times, at->key, histogram != NULL,
				       ns < longest_ns ? ns : longest_ns);
	}
	ncs_json_add_number_if(times, "max", histogram != NULL, longest_ns);
	return times;
}

static json_t *function_of(const struct ncs_rank *rank, unsigned id)
{
	const struct ncs_function_view *function = &rank->now.functions[id];
	unsigned timing = ncs_function_timing(function);
	uint64_t last = function->last_sequence_number;
	json_t *object = json_object();

	ncs_json_add_word(object, "function", ncs_function_name(id));
	ncs_json_add_number_if(object, "calls", ncs_rank_calls_known(rank),
			       function->calls);
	ncs_json_add_number(object, "operations", function->operations);
	ncs_json_add_number_if(object, "operations_done",
			       ncs_function_ends_known(function),
			       function->operations_done);
	ncs_json_add_number_if(object, "bytes",
			       ncs_function_bytes_known(function),
			       function->bytes);
	ncs_json_add_number_if(object, "last_sequence_number",
			       last != NCS_NO_SEQUENCE_NUMBER, last);
	ncs_json_add_word(object, "timing", ncs_timing_name(timing));
	ncs_json_add_number(
		object, "timed",
		timing < NCS_TIMING_COUNT ? function->timed[timing] : 0);
	ncs_json_add(object, "time_ns", times_of(rank, id));
	ncs_dump_json_cells(object, rank, NCS_VIEW_FUNCTION, id);
	return object;
}

json_t *ncs_dump_json_functions(const struct ncs_rank *rank)
{
	json_t *functions = json_array();

	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		if (ncs_function_is_used(&rank->now.functions[i]))
			ncs_json_append(functions, function_of(rank, i));
	return functions;
}

/* --- Classes ------------------------------------------------------------- */

/* Returns a class's times in ns: percentiles from the histogram, and the exact
 * sum and maximum; null each if none was timed. */
static json_t *class_times_of(const struct ncs_rank *rank,
			      const struct ncs_class_times *times)
{
	bool timed = times && times->longest_ns > 0;
	json_t *object = json_object();

	ncs_json_add_number_if(object, "sum", timed,
			       timed ? times->time_ns : 0);
	for (const struct json_percentile *at = percentiles; at->key; at++)
		ncs_json_add_number_if(
			object, at->key, times != NULL,
			times ? ncs_class_percentile(rank, times,
						     at->fraction) :
				0);
	ncs_json_add_number_if(object, "max", timed,
			       timed ? times->longest_ns : 0);
	return object;
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
	json_t *object = json_object();

	ncs_json_add_word(object, "function",
			  ncs_function_name(view->function));
	ncs_json_add_bool(object, "other", other);
	ncs_json_add_number_if(object, "size_bytes", sized,
			       sized ? ncs_size_class_low(view->size_class) :
				       0);
	ncs_json_add_word_if(object, "algorithm", algorithm,
			     ncs_algorithm_name(view->algorithm));
	ncs_json_add_word_if(object, "protocol", protocol,
			     ncs_protocol_name(view->protocol));
	ncs_json_add_number(object, "operations", view->operations);
	ncs_json_add_word(object, "timing",
			  ncs_timing_name(ncs_class_timing(view)));
	ncs_json_add_number(object, "timed", times ? times->timed : 0);
	ncs_json_add_number_if(object, "bytes",
			       ncs_class_bytes_known(rank, view),
			       times ? times->bytes : 0);
	ncs_json_add(object, "time_ns", class_times_of(rank, times));
	ncs_json_add_real(object, "algbw_gbs", moving.algbw);
	ncs_json_add_real(object, "busbw_gbs", moving.busbw);
	ncs_dump_json_cells(object, rank, NCS_VIEW_CLASS, index);
	return object;
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
	json_t *object = json_object();

	ncs_json_add_word(object, "function",
			  ncs_function_name(operation->function));
	ncs_json_add_number_if(object, "sequence_number",
			       sequence != NCS_NO_SEQUENCE_NUMBER, sequence);
	ncs_json_add_time(object, "start_ns", operation->start_ns);
	ncs_json_add_number_if(object, "bytes", sized, operation->bytes);
	ncs_json_add_signed_if(object, "peer", has_peer(operation),
			       operation->peer);
	ncs_json_add_number_if(object, "user_tag", operation->user_tag != 0,
			       operation->user_tag);
	ncs_json_add_number_if(object, "range", operation->range != 0,
			       operation->range);
	ncs_json_add_number_if(object, "launch", operation->launch != 0,
			       operation->launch);
	ncs_json_add_word_if(object, "phase", phase != NCS_LAUNCH_PHASE_UNKNOWN,
			     ncs_launch_phase_name(phase));
	ncs_json_add_number(object, "children_started",
			    operation->children_started);
	ncs_json_add_number(object, "children_done", operation->children_done);
	return object;
}

NCS_JSON_ARRAY(json_t *ncs_dump_json_operations(const struct ncs_rank *rank),
	       rank->now.operation_count,
	       operation_of(rank, &rank->now.operations[i]))

/* --- Ranges -------------------------------------------------------------- */

/* Returns the times in ns of a range's operations; null each if not known. */
static json_t *range_times_of(const struct ncs_snapshot *snapshot,
			      const struct ncs_range_sum *sum)
{
	unsigned timing = ncs_range_timing(sum);
	bool timed = timing < NCS_TIMING_COUNT;
	json_t *times = json_object();

	ncs_json_add_number_if(times, "sum", timed,
			       timed ? sum->time_ns[timing] : 0);
	/* Its histogram is too coarse for more. */
	for (const struct json_percentile *at = percentiles; at->key; at++)
		if (at->fraction == 0.50 || at->fraction == 0.90 ||
		    at->fraction == 0.99)
			ncs_json_add_time(times, at->key,
					  ncs_range_percentile(snapshot, sum,
							       at->fraction));
	return times;
}

static json_t *range_of(const struct ncs_rank *rank,
			const struct ncs_range_sum *sum)
{
	bool has_calls = ncs_rank_calls_known(rank);
	const struct ncs_range_view *range = sum->range;
	unsigned timing = ncs_range_timing(sum);
	json_t *object = json_object();

	ncs_json_add_number(object, "range", range->number);
	ncs_json_add_number_if(object, "parent", range->parent != 0,
			       range->parent);
	ncs_json_add_number(object, "depth", sum->depth);
	ncs_json_add_text(object, "name", range->name);
	ncs_json_add_number_if(object, "calls", has_calls, sum->calls);
	ncs_json_add_number(object, "operations", sum->operations);
	ncs_json_add_number_if(object, "bytes", sum->size_unknown == 0,
			       sum->bytes);
	ncs_json_add_number_if(object, "own_calls", has_calls, range->calls);
	ncs_json_add_number(object, "own_operations", range->operations);
	ncs_json_add_number(object, "operations_busy", range->busy);
	ncs_json_add_number_if(object, "busy_ns", sum->with_children > 0,
			       range->busy_ns);
	ncs_json_add_word(object, "timing", ncs_timing_name(timing));
	ncs_json_add_number(object, "timed",
			    timing < NCS_TIMING_COUNT ? sum->timed[timing] : 0);
	ncs_json_add(object, "time_ns", range_times_of(&rank->now, sum));
	ncs_json_add_real(object, "busy_algbw_gbs",
			  ncs_range_busy_bandwidth(sum));
	ncs_json_add(object, "waits_ns",
		     ncs_json_counts(ncs_channel_state_name,
				     sum->channel_time_ns, NCS_CHANNEL_IDLE + 1,
				     NCS_CHANNEL_STATE_COUNT));
	ncs_json_add(object, "gpu", ncs_dump_json_gpu_time(&sum->gpu));
	return object;
}

NCS_JSON_ARRAY(json_t *ncs_dump_json_ranges(const struct ncs_rank *rank),
	       rank->now.range_count, range_of(rank, &rank->ranges[i]))
