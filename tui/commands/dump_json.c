/* SPDX-License-Identifier: MIT */
/* The JSON dump: one object a sample, on one line.
 *
 * Keys are part of the interface: others parse them. Unknown is null, never 0.
 * Moments (*_ns) are CLOCK_MONOTONIC; lengths of time under time_ns are ns.
 * Strings from shared memory are cleaned, so they are valid UTF-8.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/busbw.h"
#include "analysis/base/class_names.h"
#include "analysis/base/percentile.h"
#include "analysis/model/class_stats.h"
#include "analysis/model/communicators.h"
#include "analysis/base/detail.h"
#include "analysis/base/value_names.h"
#include "analysis/model/range_totals.h"
#include "analysis/model/stragglers.h"
#include "tui/commands/dump_command.h"
#include "tui/text/json_values.h"
#include "tui/text/output.h"

#define SCHEMA 1

/* --- Parts of a rank ---------------------------------------------------- */

static json_t *version_of(const struct ncs_identity *identity)
{
	char version[32];

	if (!(identity->known & NCS_KNOWN_NCCL_VERSION))
		return json_null();
	ncs_nccl_version_text(identity->nccl_version, version, sizeof(version));
	return word(version);
}

/* Counts are of what NCCL reported, so that none is 0; times that it does not
 * report are unknown. */
static json_t *proxy_of(const struct ncs_rank *rank)
{
	json_t *object = json_object(), *time = json_object();
	json_t *count = json_object();
	const struct ncs_proxy_view *proxy = &rank->now.proxy;
	bool known = ncs_rank_proxy_known(rank);

	for (unsigned i = NCS_PROXY_UNKNOWN + 1; i < NCS_PROXY_STATE_COUNT; i++)
		put(time, ncs_proxy_state_name(i),
		    number_if(known, proxy->time_ns[i]));
	for (unsigned i = 0; i < NCS_TRANSITION_COUNT; i++)
		put(count, ncs_proxy_transition_name(i),
		    number(proxy->count[i]));
	put(object, "state", word(ncs_proxy_state_name(proxy->state)));
	put(object, "since_ns", moment(proxy->since_ns));
	put(object, "time_ns", time);
	put(object, "count", count);
	put(object, "appended_ops", number(proxy->appended_operations));
	return object;
}

static json_t *groups_of(const struct ncs_detail *detail)
{
	json_t *groups = json_array();

	for (unsigned i = 0; i < NCS_GROUP_COUNT; i++)
		if (detail->groups >> i & 1)
			json_array_append_new(groups,
					      word(ncs_event_group_name(i)));
	return groups;
}

static json_t *lease_of(const struct ncs_settings_view *settings,
			uint64_t now_ns)
{
	json_t *lease;

	if (ncs_lease_left_ns(settings, now_ns) == 0)
		return json_null();
	lease = json_object();
	put(lease, "pid", number(settings->lease_pid));
	put(lease, "until_ns", moment(settings->lease_until_ns));
	return lease;
}

static json_t *settings_of(const struct ncs_snapshot *snapshot)
{
	const struct ncs_settings_view *settings = &snapshot->settings;
	json_t *object;
	char kernel[32];

	if (!settings->known)
		return json_null();
	object = json_object();
	ncs_kernel_text(&settings->in_force, kernel, sizeof(kernel));
	put(object, "events", groups_of(&settings->in_force));
	put(object, "kernel", word(kernel));
	put(object, "sample", number(ncs_sample_period(&settings->in_force)));
	put(object, "changes", number(settings->changes));
	put(object, "changed_ns", moment(settings->changed_ns));
	put(object, "asked",
	    number_if(settings->asked != 0,
		      settings->asked >> NCS_CONTROL_SERIAL_SHIFT));
	put(object, "refused",
	    settings->refused == NCS_REFUSAL_NONE ?
		    json_null() :
		    word(ncs_refusal_name(settings->refused)));
	put(object, "lease", lease_of(settings, snapshot->taken_ns));
	return object;
}

static json_t *channel_times(const struct ncs_rank *rank,
			     const struct ncs_channel_view *channel)
{
	json_t *time = json_object();

	for (unsigned i = 0; i < NCS_CHANNEL_STATE_COUNT; i++) {
		bool known = i != NCS_CHANNEL_SEND_PEER_WAIT ||
			     ncs_channel_peer_wait_known(rank, channel);

		put(time, ncs_channel_state_name(i),
		    number_if(known, channel->time_ns[i]));
	}
	return time;
}

static json_t *gpu_clock_of(const struct ncs_gpu_clock_view *clock)
{
	json_t *object;

	if (!clock->known)
		return json_null();
	object = json_object();
	put(object, "offset_ns", whole(clock->offset_ns));
	put(object, "error_ns", number(clock->error_ns));
	put(object, "quantum_ns", number(clock->quantum_ns));
	put(object, "told_ns", moment(clock->told_ns));
	return object;
}

static json_t *kernel_timing_of(const struct ncs_rank *rank)
{
	const struct ncs_kernel_view *kernel = &rank->now.kernel;
	bool told = kernel->status != NCS_KERNEL_UNKNOWN;
	bool known = told && ncs_rank_calls_known(rank);
	json_t *object = json_object();

	put(object, "status", word(ncs_kernel_status_name(kernel->status)));
	put(object, "asked",
	    told ? word(ncs_kernel_timing_name(kernel->mode)) : json_null());
	put(object, "period", number_if(kernel->period > 0, kernel->period));
	put(object, "timed_calls", number_if(known, kernel->timed_calls));
	put(object, "captured_on", number_if(known, kernel->captured_on));
	put(object, "captured_off", number_if(known, kernel->captured_off));
	put(object, "gpu_clock", gpu_clock_of(&rank->now.gpu_clock));
	return object;
}

/* Null where nothing was recorded. */
static json_t *gpu_time_of(const struct ncs_gpu_time *time)
{
	bool computed = time->compute_kernels > 0;
	bool communicated = time->communication_kernels > 0;
	json_t *object;

	if (!computed && !communicated)
		return json_null();
	object = json_object();
	put(object, "compute_kernels", number(time->compute_kernels));
	put(object, "compute_ns", number(time->compute_ns));
	put(object, "compute_busy_ns", number(time->compute_busy_ns));
	put(object, "communication_kernels",
	    number(time->communication_kernels));
	put(object, "communication_ns", number(time->communication_ns));
	put(object, "hidden_ns", number_if(communicated, time->hidden_ns));
	return object;
}

static json_t *cupti_of(const struct ncs_cupti_view *cupti)
{
	bool on = cupti->known && cupti->status == NCS_CUPTI_ON;
	json_t *object;

	if (!cupti->known)
		return json_null();
	object = json_object();
	put(object, "status", word(ncs_cupti_status_name(cupti->status)));
	put(object, "gpu", gpu_time_of(&cupti->total));
	put(object, "unplaced", number_if(on, cupti->unplaced));
	put(object, "lost", number_if(on, cupti->lost));
	return object;
}

static json_t *channel_of(const struct ncs_rank *rank,
			  const struct ncs_channel_view *channel)
{
	json_t *object = json_object();

	put(object, "channel", whole(channel->channel));
	put(object, "direction", word(channel->send ? "send" : "recv"));
	put(object, "peer", whole(channel->peer));
	put(object, "state", word(ncs_channel_state_name(channel->state)));
	put(object, "since_ns", moment(channel->since_ns));
	put(object, "ops_started", number(channel->operations_started));
	put(object, "ops_done", number(channel->operations_done));
	put(object, "steps_started", number(channel->steps_started));
	put(object, "steps_done", number(channel->steps_done));
	put(object, "bytes",
	    number_if(ncs_channel_bytes_known(channel), channel->bytes));
	put(object, "time_ns", channel_times(rank, channel));
	return object;
}

static json_t *channels_of(const struct ncs_rank *rank)
{
	json_t *channels = json_array();

	for (size_t i = 0; i < rank->now.channel_count; i++)
		json_array_append_new(channels,
				      channel_of(rank, &rank->now.channels[i]));
	return channels;
}

/* --- Sampling and estimates --------------------------------------------- */

static json_t *sampling_of(const struct ncs_sampling_view *sampling)
{
	json_t *object = json_object();

	put(object, "one_in", number(UINT64_C(1) << sampling->level));
	put(object, "slow_ns", number(sampling->slow_ns));
	put(object, "ops_kept", number(sampling->kept));
	put(object, "ops_left_out", number(sampling->left_out));
	put(object, "ops_slow", number(sampling->slow));
	return object;
}

static json_t *estimate_of(struct ncs_estimate estimate)
{
	json_t *object = json_object();

	put(object, "value", real(estimate.value));
	put(object, "error", real(estimate.error));
	return object;
}

static json_t *quantile_of(struct ncs_quantile quantile)
{
	json_t *object = json_object();

	put(object, "value", real(quantile.value));
	put(object, "low", real(quantile.low));
	put(object, "high", real(quantile.high));
	return object;
}

static json_t *step_time_of(const struct ncs_step_estimate *time, bool is_wait)
{
	json_t *object = json_object();

	put(object, "total", estimate_of(time->total));
	put(object, "mean", estimate_of(time->mean));
	if (is_wait)
		put(object, "share", estimate_of(time->share));
	put(object, "p50", quantile_of(time->p50));
	put(object, "p99", quantile_of(time->p99));
	return object;
}

static json_t *steps_of_direction(const struct ncs_rank *rank, bool send,
				  const struct ncs_steps_view *view)
{
	json_t *object = json_object(), *time = json_object();

	put(time, "duration",
	    step_time_of(&view->times[NCS_STEP_DURATION], false));
	for (unsigned i = NCS_STEP_FIRST_WAIT; i < NCS_STEP_TIMES; i++) {
		enum ncs_channel_state state = ncs_step_state(send, i);
		bool known = state != NCS_CHANNEL_SEND_PEER_WAIT ||
			     ncs_rank_peer_wait_known(rank);

		put(time, ncs_channel_state_name(state),
		    known ? step_time_of(&view->times[i], true) : json_null());
	}
	put(object, "direction", word(send ? "send" : "recv"));
	put(object, "one_in", number(UINT64_C(1) << view->level));
	put(object, "ops", number(view->operations));
	put(object, "records", number(view->records));
	put(object, "records_slow", number(view->slow));
	put(object, "records_lost", number(ncs_steps_lost(rank->steps)));
	put(object, "steps", estimate_of(view->steps));
	put(object, "time_ns", time);
	return object;
}

static json_t *steps_of(const struct ncs_rank *rank)
{
	json_t *steps = json_array();

	for (int send = 1; send >= 0; send--) {
		const struct ncs_steps_view *view =
			ncs_steps_view(rank->steps, send);

		if (view)
			json_array_append_new(
				steps, steps_of_direction(rank, send, view));
	}
	return steps;
}

/* --- Functions and operations ------------------------------------------- */

/* In microseconds, of the histogram's buckets. */
static json_t *times_of(const struct ncs_function_view *function)
{
	static const struct {
		const char *name;
		double fraction;
	} percentiles[] = {
		{ "min", 0 },    { "p50", 0.50 }, { "p90", 0.90 },
		{ "p99", 0.99 }, { "max", 1 },
	};
	const uint64_t *histogram = ncs_function_histogram(function);
	json_t *times = json_object();

	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]);
	     i++) {
		double time_ns = -1;

		if (histogram)
			time_ns = (double)ncs_percentile(
				histogram, percentiles[i].fraction);
		put(times, percentiles[i].name, real(time_ns / 1000));
	}
	return times;
}

static json_t *function_of(const struct ncs_rank *rank, unsigned id)
{
	const struct ncs_function_view *function = &rank->now.functions[id];
	unsigned timing = ncs_function_timing(function);
	uint64_t last = function->last_sequence_number;
	json_t *object = json_object();

	put(object, "func", word(ncs_function_name(id)));
	put(object, "calls",
	    number_if(ncs_rank_calls_known(rank), function->calls));
	put(object, "ops", number(function->operations));
	put(object, "ops_done",
	    number_if(function->with_children > 0, function->operations_done));
	put(object, "bytes",
	    number_if(ncs_function_bytes_known(function), function->bytes));
	put(object, "last_seq",
	    number_if(last != NCS_NO_SEQUENCE_NUMBER, last));
	put(object, "timing", word(ncs_timing_name(timing)));
	put(object, "timed",
	    number(timing < NCS_TIMING_COUNT ? function->timed[timing] : 0));
	put(object, "time_us", times_of(function));
	put(object, "algbw_gbs", real(ncs_rank_algorithm_bandwidth(rank, id)));
	put(object, "busbw_gbs", real(ncs_rank_bus_bandwidth(rank, id)));
	return object;
}

static json_t *functions_of(const struct ncs_rank *rank)
{
	json_t *functions = json_array();

	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		if (ncs_function_is_used(&rank->now.functions[i]))
			json_array_append_new(functions, function_of(rank, i));
	return functions;
}

/* In microseconds; all but the longest are of the histogram's buckets. */
static json_t *class_times_of(const struct ncs_rank *rank,
			      const struct ncs_class_times *times)
{
	static const struct {
		const char *name;
		double fraction;
	} percentiles[] = {
		{ "min", 0 },    { "p50", 0.50 }, { "p90", 0.90 },
		{ "p95", 0.95 }, { "p99", 0.99 },
	};
	double longest_ns = -1;
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]);
	     i++) {
		double time_ns = -1;

		if (times)
			time_ns = (double)ncs_class_percentile(
				rank, times, percentiles[i].fraction);
		put(object, percentiles[i].name, real(time_ns / 1000));
	}
	if (times && times->longest_ns > 0)
		longest_ns = (double)times->longest_ns;
	put(object, "max", real(longest_ns / 1000));
	return object;
}

static json_t *class_of(const struct ncs_rank *rank,
			const struct ncs_class_view *view)
{
	const struct ncs_class_times *times = ncs_times_of_class(view);
	bool other = ncs_class_is_other(view);
	bool sized = view->size_class != NCS_SIZE_CLASS_UNKNOWN && !other;
	bool algorithm = view->algorithm != NCS_ALGORITHM_UNKNOWN && !other;
	bool protocol = view->protocol != NCS_PROTOCOL_UNKNOWN && !other;
	json_t *object = json_object();

	put(object, "func", word(ncs_function_name(view->function)));
	put(object, "other", json_boolean(other));
	put(object, "size",
	    sized ? number(ncs_size_class_low(view->size_class)) : json_null());
	put(object, "algo",
	    algorithm ? word(ncs_algorithm_name(view->algorithm)) :
			json_null());
	put(object, "proto",
	    protocol ? word(ncs_protocol_name(view->protocol)) : json_null());
	put(object, "ops", number(view->operations));
	put(object, "timing", word(ncs_timing_name(ncs_class_timing(view))));
	put(object, "timed", number(times ? times->timed : 0));
	put(object, "time_ns", number(times ? times->time_ns : 0));
	put(object, "bytes",
	    number_if(ncs_class_bytes_known(rank, view),
		      times ? times->bytes : 0));
	put(object, "time_us", class_times_of(rank, times));
	put(object, "algbw_gbs",
	    real(ncs_class_algorithm_bandwidth(rank, view)));
	put(object, "busbw_gbs", real(ncs_class_bus_bandwidth(rank, view)));
	return object;
}

static json_t *classes_of(const struct ncs_rank *rank)
{
	json_t *classes = json_array();

	for (size_t i = 0; i < rank->now.class_count; i++)
		json_array_append_new(classes,
				      class_of(rank, &rank->now.classes[i]));
	return classes;
}

/* NCCL passes a root for every collective, also where none plays a part. */
static bool has_peer(const struct ncs_operation_view *operation)
{
	return operation->peer >= 0 &&
	       (operation->event == NCS_EVENT_P2P ||
		operation->function == NCS_FUNCTION_BROADCAST ||
		operation->function == NCS_FUNCTION_REDUCE ||
		operation->function == NCS_FUNCTION_GATHER ||
		operation->function == NCS_FUNCTION_SCATTER);
}

static json_t *operation_of(const struct ncs_operation_view *operation)
{
	uint64_t sequence = operation->sequence_number;
	bool sized = operation->bytes > 0 || operation->count == 0;
	json_t *object = json_object();

	put(object, "func", word(ncs_function_name(operation->function)));
	put(object, "seq",
	    number_if(sequence != NCS_NO_SEQUENCE_NUMBER, sequence));
	put(object, "start_ns", moment(operation->start_ns));
	put(object, "bytes", number_if(sized, operation->bytes));
	put(object, "peer", whole_if(has_peer(operation), operation->peer));
	put(object, "user_tag",
	    number_if(operation->user_tag != 0, operation->user_tag));
	put(object, "range",
	    number_if(operation->range != 0, operation->range));
	put(object, "children_started", number(operation->children_started));
	put(object, "children_done", number(operation->children_done));
	return object;
}

static json_t *operations_of(const struct ncs_snapshot *snapshot)
{
	json_t *operations = json_array();

	for (size_t i = 0; i < snapshot->operation_count; i++)
		json_array_append_new(operations,
				      operation_of(&snapshot->operations[i]));
	return operations;
}

/* --- Ranges ------------------------------------------------------------- */

static json_t *range_times_of(const struct ncs_snapshot *snapshot,
			      const struct ncs_range_sum *sum)
{
	static const struct {
		const char *name;
		double fraction;
	} percentiles[] = { { "p50", 0.50 }, { "p90", 0.90 }, { "p99", 0.99 } };
	unsigned timing = ncs_range_timing(sum);
	json_t *times = json_object();

	put(times, "sum",
	    real(timing < NCS_TIMING_COUNT ?
			 (double)sum->time_ns[timing] / 1000 :
			 -1));
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]);
	     i++) {
		uint64_t time_ns = ncs_range_percentile(
			snapshot, sum, percentiles[i].fraction);

		put(times, percentiles[i].name,
		    real(time_ns > 0 ? (double)time_ns / 1000 : -1));
	}
	return times;
}

static json_t *range_waits_of(const struct ncs_range_sum *sum)
{
	json_t *waits = json_object();

	for (unsigned i = NCS_CHANNEL_IDLE + 1; i < NCS_CHANNEL_STATE_COUNT;
	     i++)
		put(waits, ncs_channel_state_name(i),
		    number(sum->channel_time_ns[i]));
	return waits;
}

static json_t *range_of(const struct ncs_snapshot *snapshot,
			const struct ncs_range_sum *sum)
{
	const struct ncs_range_view *range = sum->range;
	unsigned timing = ncs_range_timing(sum);
	json_t *object = json_object();

	put(object, "range", number(range->number));
	put(object, "parent", number_if(range->parent != 0, range->parent));
	put(object, "depth", number(sum->depth));
	put(object, "name", text(range->name));
	put(object, "calls", number(sum->calls));
	put(object, "ops", number(sum->operations));
	put(object, "bytes", number_if(sum->size_unknown == 0, sum->bytes));
	put(object, "own_calls", number(range->calls));
	put(object, "own_ops", number(range->operations));
	put(object, "busy", number(range->busy));
	put(object, "busy_us",
	    real(sum->with_children > 0 ? (double)range->busy_ns / 1000 : -1));
	put(object, "timing", word(ncs_timing_name(timing)));
	put(object, "timed",
	    number(timing < NCS_TIMING_COUNT ? sum->timed[timing] : 0));
	put(object, "time_us", range_times_of(snapshot, sum));
	put(object, "algbw_gbs", real(ncs_range_bandwidth(sum)));
	put(object, "busy_algbw_gbs", real(ncs_range_busy_bandwidth(sum)));
	put(object, "time_ns", range_waits_of(sum));
	put(object, "gpu", gpu_time_of(&sum->gpu));
	return object;
}

static json_t *ranges_of(const struct ncs_rank *rank)
{
	json_t *ranges = json_array();

	for (size_t i = 0; i < rank->now.range_count; i++)
		json_array_append_new(ranges,
				      range_of(&rank->now, &rank->ranges[i]));
	return ranges;
}

static json_t *events_of(const struct ncs_snapshot *snapshot)
{
	json_t *events = json_object();

	for (unsigned i = 0; i < NCS_EVENT_COUNT; i++)
		if (snapshot->events[i] > 0)
			put(events, ncs_event_name(i),
			    number(snapshot->events[i]));
	return events;
}

static json_t *loss_of(const struct ncs_snapshot *snapshot)
{
	json_t *loss = json_object();

	for (unsigned i = 0; i < NCS_LOSS_COUNT; i++)
		put(loss, ncs_loss_name(i), number(snapshot->losses[i]));
	return loss;
}

/* --- Lateness ----------------------------------------------------------- */

static json_t *lateness_figures(const struct ncs_lateness *lateness)
{
	bool known = lateness->operations > 0;
	json_t *object = json_object(), *causes = json_object();

	for (unsigned i = 0; i < NCS_LATE_CAUSE_COUNT; i++)
		put(causes, ncs_late_cause_name(i),
		    number(lateness->cause_ns[i]));
	put(object, "ops", number(lateness->operations));
	put(object, "last", number(lateness->last));
	put(object, "median_ns", number_if(known, lateness->median_ns));
	put(object, "p99_ns", number_if(known, lateness->p99_ns));
	put(object, "exclusive_ns",
	    number_if(lateness->last > 0, lateness->exclusive_ns));
	put(object, "error_ns", number_if(known, lateness->error_ns));
	put(object, "cause_ns", causes);
	return object;
}

static json_t *lateness_of_functions(const struct ncs_rank *rank)
{
	json_t *functions = json_object();
	struct ncs_lateness lateness;

	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		ncs_rank_function_lateness(rank, i, &lateness);
		if (lateness.operations > 0)
			put(functions, ncs_function_name(i),
			    lateness_figures(&lateness));
	}
	return functions;
}

static json_t *lateness_of(const struct ncs_rank *rank)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(rank);
	json_t *object, *told_by;

	if (!view)
		return json_null();
	object = json_object();
	told_by = json_object();
	for (unsigned i = NCS_AT_OPERATION; i < NCS_MOMENTS; i++)
		put(told_by, ncs_moment_name(i), number(view->told_by[i]));
	put(object, "recent", lateness_figures(&view->recent));
	put(object, "functions", lateness_of_functions(rank));
	put(object, "all", lateness_figures(&view->all));
	put(object, "told_by", told_by);
	put(object, "cost", real(view->cost));
	put(object, "straggler", json_boolean(view->is_straggler));
	put(object, "ops_seen", number(view->count.seen));
	put(object, "ops_compared", number(view->count.compared));
	put(object, "records_lost", number(view->count.records_lost));
	return object;
}

static json_t *late_now_of(const struct ncs_rank *rank)
{
	struct ncs_late_now now;
	json_t *object;

	ncs_rank_late_now(rank, &now);
	if (now.late_ns == 0)
		return json_null();
	object = json_object();
	put(object, "func", word(ncs_function_name(now.function)));
	put(object, "seq", number(now.number));
	put(object, "late_ns", number(now.late_ns));
	put(object, "waiting", number(now.waiting));
	return object;
}

static json_t *skew_of(const struct ncs_communicator *communicator)
{
	const struct ncs_skew *skew = ncs_communicator_skew(communicator);
	json_t *object;

	if (!skew)
		return json_null();
	object = json_object();
	put(object, "ops", number(skew->operations));
	put(object, "ops_all", number(skew->all));
	put(object, "ranks", number(skew->ranks));
	put(object, "median_ns", number(skew->median_ns));
	put(object, "p99_ns", number(skew->p99_ns));
	put(object, "transfer_ns",
	    number_if(skew->transfers > 0, skew->transfer_ns));
	put(object, "error_ns", number(skew->error_ns));
	put(object, "other_clocks", number(communicator->other_clocks));
	return object;
}

static json_t *straggler_of(const struct ncs_communicator *communicator)
{
	const struct ncs_rank *rank = ncs_communicator_straggler(communicator);
	const struct ncs_identity *identity;
	json_t *object;

	if (!rank)
		return json_null();
	identity = &rank->now.identity;
	object = json_object();
	put(object, "pid", number(rank->header.pid));
	put(object, "rank",
	    whole_if(identity->known & NCS_KNOWN_RANK, identity->rank));
	return object;
}

/* --- Communicators ------------------------------------------------------ */

/* The first of those that are behind; null where all are level. */
static json_t *slowest_of(const struct ncs_progress *progress)
{
	const struct ncs_rank *rank = progress->slowest;
	const struct ncs_identity *identity;
	json_t *object;

	if (ncs_progress_behind(progress) == 0)
		return json_null();
	identity = &rank->now.identity;
	object = json_object();
	put(object, "pid", number(rank->header.pid));
	put(object, "rank",
	    whole_if(identity->known & NCS_KNOWN_RANK, identity->rank));
	put(object, "seq", number(progress->least));
	put(object, "count", number(progress->slowest_count));
	return object;
}

static json_t *communicator_of(const struct ncs_communicator *communicator)
{
	const struct ncs_progress *progress = &communicator->progress;
	const struct ncs_channel_view *oldest = communicator->oldest.channel;
	bool known = progress->known > 0;
	json_t *object = json_object();

	put(object, "comm", comm_of(communicator->identity));
	put(object, "ranks_seen", number(communicator->rank_count));
	put(object, "ranks_live", number(communicator->live));
	put(object, "ranks_silent", number(communicator->silent));
	put(object, "ranks_finished", number(communicator->finished));
	put(object, "ranks_dead", number(communicator->dead));
	put(object, "func",
	    known ? word(ncs_function_name(communicator->function)) :
		    json_null());
	put(object, "seq", number_if(known, progress->most));
	put(object, "seq_known", number(progress->known));
	put(object, "behind",
	    number_if(progress->known > 1, ncs_progress_behind(progress)));
	put(object, "slowest", slowest_of(progress));
	put(object, "skew", skew_of(communicator));
	put(object, "straggler", straggler_of(communicator));
	put(object, "oldest_since_ns", moment(oldest ? oldest->since_ns : 0));
	put(object, "ops_per_s", real(communicator->operations_rate));
	put(object, "send_per_s", real(communicator->send_rate));
	put(object, "recv_per_s", real(communicator->recv_rate));
	put(object, "lost", number(communicator->lost));
	return object;
}

static json_t *communicators_of(const struct ncs_model *model)
{
	json_t *communicators = json_array();

	for (size_t i = 0; i < model->communicator_count; i++)
		json_array_append_new(
			communicators,
			communicator_of(&model->communicators[i]));
	return communicators;
}

/* --- The sample --------------------------------------------------------- */

static json_t *rank_of(const struct ncs_rank *rank)
{
	const struct ncs_snapshot *now = &rank->now;
	const struct ncs_identity *identity = &now->identity;
	json_t *object = json_object();

	put(object, "pid", number(rank->header.pid));
	put(object, "rank",
	    whole_if(identity->known & NCS_KNOWN_RANK, identity->rank));
	put(object, "state", word(ncs_liveness_name(now->liveness)));
	put(object, "api_version", number(rank->header.api_version));
	put(object, "nccl_version", version_of(identity));
	put(object, "comm", comm_of(identity));
	put(object, "settings", settings_of(now));
	put(object, "proxy", proxy_of(rank));
	put(object, "kernel_timing", kernel_timing_of(rank));
	put(object, "cupti", cupti_of(&now->cupti));
	put(object, "channels", channels_of(rank));
	put(object, "sampling", sampling_of(&now->sampling));
	put(object, "steps", steps_of(rank));
	put(object, "functions", functions_of(rank));
	put(object, "classes", classes_of(rank));
	put(object, "lateness", lateness_of(rank));
	put(object, "late_now", late_now_of(rank));
	put(object, "ranges", ranges_of(rank));
	put(object, "operations", operations_of(now));
	put(object, "events", events_of(now));
	put(object, "loss", loss_of(now));
	put(object, "torn", json_boolean(now->torn));
	return object;
}

static json_t *unreadable_of(const struct ncs_unreadable *unreadable)
{
	json_t *object = json_object();

	put(object, "path", text(unreadable->id));
	put(object, "reason", text(unreadable->why));
	return object;
}

void ncs_dump_json(FILE *file, const struct ncs_model *model,
		   const struct ncs_stamp *stamp)
{
	json_t *sample, *ranks, *unreadable;

	json_set_alloc_funcs(allocate, free);
	sample = json_object();
	ranks = json_array();
	unreadable = json_array();
	for (size_t i = 0; i < model->rank_count; i++)
		json_array_append_new(ranks, rank_of(model->ranks[i]));
	for (size_t i = 0; i < model->unreadable_count; i++)
		json_array_append_new(unreadable,
				      unreadable_of(&model->unreadable[i]));
	put(sample, "schema", whole(SCHEMA));
	put(sample, "host", text(stamp->host));
	put(sample, "time_ns", number(stamp->monotonic_ns));
	put(sample, "realtime_ns", number(stamp->realtime_ns));
	put(sample, "recording", recording_of(stamp));
	put(sample, "ranks", ranks);
	put(sample, "communicators", communicators_of(model));
	put(sample, "unreadable", unreadable);
	/* Nine digits: a second to the ns. */
	json_dumpf(sample, file, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(sample);
	fputc('\n', file);
}
