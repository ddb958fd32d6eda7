/* SPDX-License-Identifier: MIT */
/* The JSON dump of one rank. Must not change the rank, nor compute a figure. */
#include "tui/commands/json_values.h"

#include <math.h>

#include "analysis/base/detail.h"
#include "analysis/base/percentile.h"
#include "analysis/base/timings.h"
#include "analysis/base/value_names.h"
#include "analysis/model/class_stats.h"
#include "analysis/model/range_totals.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"
#include "analysis/records/step_stats.h"
#include "analysis/views/columns.h"
#include "ncclstat/size_class.h"

/* --- Cells --------------------------------------------------------------- */

/* A column's value times `factor` is the member's, in the unit of its name. */
static const struct json_cell {
	const char *key;
	enum ncs_column_id column;
	double factor;
} cells[] = {
	{ "waits_for", NCS_COLUMN_RANK_WAIT, 1 },
	{ "busbw_gbs", NCS_COLUMN_RANK_BUSBW, 1 },
	{ "operations_per_s", NCS_COLUMN_RANK_OPERATIONS_RATE, 1 },
	{ "send_bytes_per_s", NCS_COLUMN_RANK_SEND_RATE, 1 },
	{ "recv_bytes_per_s", NCS_COLUMN_RANK_RECV_RATE, 1 },
	{ "kernel_age_ns", NCS_COLUMN_RANK_MOVED, 1 },
	{ "call_age_ns", NCS_COLUMN_RANK_LAST_CALL, 1 },
	{ "state_age_ns", NCS_COLUMN_CHANNEL_SINCE, 1 },
	{ "function", NCS_COLUMN_CHANNEL_FUNCTION, 1 },
	{ "bytes_per_s", NCS_COLUMN_CHANNEL_RATE, 1e6 },
	{ "gpu_wait_share", NCS_COLUMN_CHANNEL_GPU_SHARE, 1 },
	{ "peer_wait_share", NCS_COLUMN_CHANNEL_PEER_SHARE, 1 },
	{ "network_wait_share", NCS_COLUMN_CHANNEL_NET_SHARE, 1 },
	{ "idle_share", NCS_COLUMN_CHANNEL_IDLE_SHARE, 1 },
	{ "state_age_ns", NCS_COLUMN_PROXY_SINCE, 1 },
	{ "sleep_share", NCS_COLUMN_PROXY_SLEEP_SHARE, 1 },
	{ "idle_share", NCS_COLUMN_PROXY_IDLE_SHARE, 1 },
	{ "active_share", NCS_COLUMN_PROXY_ACTIVE_SHARE, 1 },
	{ "append_share", NCS_COLUMN_PROXY_APPEND_SHARE, 1 },
	{ "wakeup_per_s", NCS_COLUMN_PROXY_WAKEUP_RATE, 1 },
	{ "idle_per_s", NCS_COLUMN_PROXY_IDLE_RATE, 1 },
	{ "active_per_s", NCS_COLUMN_PROXY_ACTIVE_RATE, 1 },
	{ "append_per_s", NCS_COLUMN_PROXY_APPEND_RATE, 1 },
	{ "operations_per_s", NCS_COLUMN_FUNCTION_RATE, 1 },
	{ "operations_per_s", NCS_COLUMN_CLASS_RATE, 1 },
};

/* A duration that may be any longer one is unknown. */
static json_t *json_of(const struct ncs_value *value, double factor)
{
	if (value->is_least)
		return json_null();
	switch (value->kind) {
	case NCS_VALUE_NUMBER:
	case NCS_VALUE_BYTES:
	case NCS_VALUE_SIZE:
	case NCS_VALUE_DURATION:
		return json_integer((json_int_t)value->number);
	case NCS_VALUE_RATE:
	case NCS_VALUE_BYTES_RATE:
	case NCS_VALUE_REAL:
	case NCS_VALUE_SHARE:
		return json_real(value->real * factor);
	case NCS_VALUE_TEXT:
		return ncs_json_of_text(value->text);
	case NCS_VALUE_NONE:
	case NCS_VALUE_RECENT:
		break;
	}
	return json_null();
}

/* Adds the members that are cells of a view's row, whose `index` is that of struct
 * ncs_row: rates and shares of the window, ages, and what a rank waits for. They come
 * from the columns, so that a script gets what a screen shows. Returns the object. */
static json_t *add_cells(json_t *object, const struct ncs_rank *rank,
			 enum ncs_view view, size_t index)
{
	const struct ncs_row row = { .view = view,
				     .rank = rank,
				     .index = index };
	struct ncs_value value;

	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		const struct ncs_column *column = &ncs_columns[cells[i].column];

		if (column->view != view)
			continue;
		ncs_column_get(column, &row, &value);
		json_object_set_new(object, cells[i].key,
				    json_of(&value, cells[i].factor));
	}
	return object;
}

/* --- GPU times ----------------------------------------------------------- */

/* Returns GPU times by CUPTI; null if no kernel was recorded. */
static json_t *gpu_time_of(const struct ncs_gpu_time *time)
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
		uint64_t ns =
			histogram ? ncs_percentile(histogram, at->fraction) : 0;

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
	json_t *object = NCS_JSON_OBJECT(
		{ "function", NCS_JSON(ncs_function_name(id)) },
		{ "calls",
		  NCS_JSON_IF(ncs_rank_calls_known(rank), function->calls) },
		{ "operations", NCS_JSON(function->operations) },
		{ "operations_done",
		  NCS_JSON_IF(ncs_function_ends_known(function),
			      function->operations_done) },
		{ "bytes", NCS_JSON_IF(ncs_function_bytes_known(function),
				       function->bytes) },
		{ "last_sequence_number",
		  NCS_JSON_IF(last != NCS_NO_SEQUENCE_NUMBER, last) },
		{ "timing", NCS_JSON(ncs_timing_name(timing)) },
		{ "timed",
		  NCS_JSON(timing < NCS_TIMING_COUNT ? function->timed[timing] :
						       0) },
		{ "time_ns", times_of(rank, id) });

	return add_cells(object, rank, NCS_VIEW_FUNCTION, id);
}

NCS_JSON_ARRAY(static json_t *functions_of(const struct ncs_rank *rank),
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
	json_t *object = NCS_JSON_OBJECT(
		{ "function", NCS_JSON(ncs_function_name(view->function)) },
		{ "other", NCS_JSON(other) },
		{ "size_bytes",
		  NCS_JSON_IF(sized, ncs_size_class_low(view->size_class)) },
		{ "algorithm",
		  NCS_JSON_IF(algorithm, ncs_algorithm_name(view->algorithm)) },
		{ "protocol",
		  NCS_JSON_IF(protocol, ncs_protocol_name(view->protocol)) },
		{ "operations", NCS_JSON(view->operations) },
		{ "timing", NCS_JSON(ncs_timing_name(ncs_class_timing(view))) },
		{ "timed", NCS_JSON(times ? times->timed : 0) },
		{ "bytes", NCS_JSON_IF(ncs_class_bytes_known(rank, view),
				       times ? times->bytes : 0) },
		{ "time_ns", class_times_of(rank, times) },
		{ "algbw_gbs", NCS_JSON(moving.algbw) },
		{ "busbw_gbs", NCS_JSON(moving.busbw) });

	return add_cells(object, rank, NCS_VIEW_CLASS, index);
}

NCS_JSON_ARRAY(static json_t *classes_of(const struct ncs_rank *rank),
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

NCS_JSON_ARRAY(static json_t *operations_of(const struct ncs_rank *rank),
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
		{ "gpu", gpu_time_of(&sum->gpu) });
}

NCS_JSON_ARRAY(static json_t *ranges_of(const struct ncs_rank *rank),
	       rank->now.range_count, range_of(rank, &rank->ranges[i]))

/* --- Version, proxy thread ----------------------------------------------- */

NCS_JSON_MAP(static json_t *proxy_times(const struct ncs_proxy_view *proxy,
					bool known),
	     NCS_PROXY_UNKNOWN + 1, NCS_PROXY_STATE_COUNT, ncs_proxy_state_name,
	     NCS_JSON_IF(known, proxy->time_ns[i]))

NCS_JSON_MAP(static json_t *proxy_transitions(
		     const struct ncs_proxy_view *proxy, bool known),
	     0, NCS_TRANSITION_COUNT, ncs_proxy_transition_name,
	     NCS_JSON_IF(known, proxy->count[i]))

/* Returns the proxy thread. What NCCL does not report is unknown, and thus
 * null; the count of a transition that has not been seen yet is 0. */
static json_t *proxy_of(const struct ncs_rank *rank)
{
	const struct ncs_proxy_view *proxy = &rank->now.proxy;
	bool known = ncs_rank_proxy_known(rank);
	json_t *object = NCS_JSON_OBJECT(
		{ "state", NCS_JSON(ncs_proxy_state_name(proxy->state)) },
		{ "since_ns", ncs_json_known(proxy->since_ns) },
		{ "states_ns", proxy_times(proxy, known) },
		{ "transitions", proxy_transitions(proxy, known) },
		{ "appended_operations",
		  NCS_JSON_IF(known, proxy->appended_operations) });

	return add_cells(object, rank, NCS_VIEW_PROXY, 0);
}

/* --- Settings ------------------------------------------------------------ */

static json_t *lease_of(const struct ncs_settings_view *settings,
			uint64_t now_ns)
{
	if (ncs_lease_left_ns(settings, now_ns) == 0)
		return json_null();
	return NCS_JSON_OBJECT({ "pid", NCS_JSON(settings->lease_pid) },
			       { "until_ns",
				 ncs_json_known(settings->lease_until_ns) });
}

static json_t *settings_of(const struct ncs_rank *rank)
{
	const struct ncs_settings_view *settings = &rank->now.settings;
	const struct ncs_detail *detail = &settings->in_force;
	char kernel[32], timing[32];

	if (!settings->known)
		return json_null();
	ncs_kernel_text(detail, kernel, sizeof(kernel));
	ncs_timing_text(detail, timing, sizeof(timing));
	return NCS_JSON_OBJECT(
		{ "events", ncs_json_bits(ncs_event_group_name, NCS_GROUP_COUNT,
					  detail->groups) },
		{ "kernel", NCS_JSON(kernel) },
		{ "sample", NCS_JSON(ncs_sample_period(detail)) },
		{ "timing",
		  NCS_JSON_IF(detail->timing != NCS_TIMING_DETAIL_DEFAULT,
			      timing) },
		{ "changes", NCS_JSON(settings->changes) },
		{ "changed_ns", ncs_json_known(settings->changed_ns) },
		{ "asked",
		  NCS_JSON_IF(settings->asked != 0,
			      settings->asked >> NCS_CONTROL_SERIAL_SHIFT) },
		{ "refused", NCS_JSON_IF(settings->refused != NCS_REFUSAL_NONE,
					 ncs_refusal_name(settings->refused)) },
		{ "lease", lease_of(settings, rank->now.taken_ns) });
}

/* --- Channels ------------------------------------------------------------ */

NCS_JSON_MAP(
	static json_t *channel_times(const struct ncs_rank *rank,
				     const struct ncs_channel_view *channel),
	0, NCS_CHANNEL_STATE_COUNT, ncs_channel_state_name,
	NCS_JSON_IF(i != NCS_CHANNEL_SEND_PEER_WAIT ||
			    ncs_channel_peer_wait_known(rank, channel),
		    channel->time_ns[i]))

static json_t *gpu_clock_of(const struct ncs_gpu_clock_view *clock)
{
	if (!clock->known)
		return json_null();
	return NCS_JSON_OBJECT({ "offset_ns", NCS_JSON(clock->offset_ns) },
			       { "error_ns", NCS_JSON(clock->error_ns) },
			       { "quantum_ns", NCS_JSON(clock->quantum_ns) },
			       { "told_ns", ncs_json_known(clock->told_ns) });
}

static json_t *kernel_timing_of(const struct ncs_rank *rank)
{
	const struct ncs_kernel_view *kernel = &rank->now.kernel;
	bool told = kernel->status != NCS_KERNEL_UNKNOWN;
	bool known = told && kernel->counted && ncs_rank_calls_known(rank);

	return NCS_JSON_OBJECT(
		{ "status", NCS_JSON(ncs_kernel_status_name(kernel->status)) },
		{ "asked",
		  NCS_JSON_IF(told, ncs_kernel_timing_name(kernel->mode)) },
		{ "period", ncs_json_known(kernel->period) },
		{ "timed_calls", NCS_JSON_IF(known, kernel->timed_calls) },
		{ "captured_on", NCS_JSON_IF(known, kernel->captured_on) },
		{ "captured_off", NCS_JSON_IF(known, kernel->captured_off) },
		{ "gpu_clock", gpu_clock_of(&rank->now.gpu_clock) });
}

static json_t *graphs_of(const struct ncs_rank *rank)
{
	const struct ncs_graphs_view *graphs = &rank->now.graphs;

	if (graphs->graphs == 0 && !graphs->are_replays)
		return json_null();
	return NCS_JSON_OBJECT(
		{ "captured",
		  NCS_JSON_IF(!graphs->are_replays, graphs->graphs) },
		{ "reporting",
		  NCS_JSON_IF(!graphs->are_replays, graphs->stamped) },
		{ "failure", ncs_json_known(graphs->failure) },
		{ "replays",
		  NCS_JSON_IF(graphs->are_replays, graphs->replays) },
		{ "launches",
		  NCS_JSON_IF(graphs->are_replays, graphs->launches) },
		{ "reported", NCS_JSON_IF(graphs->are_replays, graphs->timed) },
		{ "lost", NCS_JSON_IF(graphs->are_replays, graphs->lost) });
}

static json_t *launches_of(const struct ncs_rank *rank)
{
	const struct ncs_launches_view *launches = &rank->now.launches;
	struct ncs_launch_wait wait = ncs_rank_launch_wait(rank);
	int64_t ahead = ncs_rank_launches_ahead(rank);
	bool follows = launches->status == NCS_STREAM_ALL ||
		       launches->status == NCS_STREAM_SOME;

	if (launches->status == NCS_STREAM_UNKNOWN)
		return json_null();
	return NCS_JSON_OBJECT(
		{ "status", NCS_JSON(ncs_stream_status_name(
				    ncs_launches_told(launches))) },
		{ "one_in",
		  NCS_JSON_IF(follows, UINT64_C(1) << launches->level) },
		{ "launched", NCS_JSON(launches->launched) },
		{ "launched_ns", ncs_json_known(launches->launched_ns) },
		{ "followed", NCS_JSON(launches->followed) },
		{ "begun", NCS_JSON_IF(follows, launches->begun) },
		{ "begun_ns", ncs_json_known(launches->begun_ns) },
		{ "ended", NCS_JSON_IF(follows, launches->ended) },
		{ "ended_ns", ncs_json_known(launches->ended_ns) },
		{ "ahead", NCS_JSON_IF(ahead >= 0, ahead) },
		{ "wait", NCS_JSON_IF(wait.operation,
				      ncs_launch_wait_name(wait.kind)) },
		{ "wait_since_ns",
		  ncs_json_known(wait.operation ? wait.since_ns : 0) },
		{ "timed", NCS_JSON(launches->timed) },
		{ "missed", NCS_JSON(launches->missed) },
		{ "captured", NCS_JSON(launches->captured) },
		{ "other_context", NCS_JSON(launches->other_context) },
		{ "bias_ns",
		  NCS_JSON_IF(launches->timed > 0, launches->bias_ns) },
		{ "error_ns", ncs_json_known(launches->error_ns) },
		{ "failure", ncs_json_known(launches->failure) },
		{ "driver_since_ns",
		  ncs_json_known(launches->watch_since_ns) });
}

static json_t *cupti_of(const struct ncs_rank *rank)
{
	const struct ncs_cupti_view *cupti = &rank->now.cupti;
	bool on = cupti->known && cupti->status == NCS_CUPTI_ON;
	bool ran = cupti->busy_ns > 0;

	if (!cupti->known)
		return json_null();
	return NCS_JSON_OBJECT(
		{ "status", NCS_JSON(ncs_cupti_status_name(cupti->status)) },
		{ "gpu", gpu_time_of(&cupti->total) },
		{ "unplaced", NCS_JSON_IF(on, cupti->unplaced) },
		{ "lost", NCS_JSON_IF(on, cupti->lost) },
		{ "outside_kernels", NCS_JSON_IF(ran, cupti->outside_kernels) },
		{ "outside_busy_ns", NCS_JSON_IF(ran, cupti->outside_busy_ns) },
		{ "busy_ns", NCS_JSON_IF(ran, cupti->busy_ns) });
}

static json_t *outside_of(const struct ncs_rank *rank)
{
	return ncs_json_bits(ncs_outside_code_name, NCS_OUTSIDE_CODE_COUNT,
			     rank->now.outside_code);
}

static json_t *channel_of(const struct ncs_rank *rank, size_t index)
{
	const struct ncs_channel_view *channel = &rank->now.channels[index];
	bool is_busy = channel->state != NCS_CHANNEL_IDLE;
	json_t *object = NCS_JSON_OBJECT(
		{ "channel", NCS_JSON(channel->channel) },
		{ "direction", NCS_JSON(channel->send ? "send" : "recv") },
		{ "peer", NCS_JSON(channel->peer) },
		{ "state", NCS_JSON(ncs_channel_state_name(channel->state)) },
		{ "since_ns", ncs_json_known(channel->since_ns) },
		{ "operations_started", NCS_JSON(channel->operations_started) },
		{ "operations_done", NCS_JSON(channel->operations_done) },
		{ "steps_started", NCS_JSON(channel->steps_started) },
		{ "steps_done", NCS_JSON(channel->steps_done) },
		{ "bytes", NCS_JSON_IF(ncs_channel_bytes_known(channel),
				       channel->bytes) },
		{ "states_ns", channel_times(rank, channel) },
		{ "step", NCS_JSON_IF(is_busy, channel->step) },
		{ "nsteps", NCS_JSON_IF(is_busy && channel->nsteps > 0,
					channel->nsteps) });

	return add_cells(object, rank, NCS_VIEW_CHANNEL, index);
}

NCS_JSON_ARRAY(static json_t *channels_of(const struct ncs_rank *rank),
	       rank->now.channel_count, channel_of(rank, i))

/* --- Sampling and estimates ---------------------------------------------- */

static json_t *sampling_of(const struct ncs_rank *rank)
{
	const struct ncs_sampling_view *sampling = &rank->now.sampling;

	return NCS_JSON_OBJECT(
		{ "one_in", NCS_JSON(UINT64_C(1) << sampling->level) },
		{ "slow_ns", NCS_JSON(sampling->slow_ns) },
		{ "operations_kept", NCS_JSON(sampling->kept) },
		{ "operations_left_out", NCS_JSON(sampling->left_out) },
		{ "operations_slow", NCS_JSON(sampling->slow) });
}

static json_t *estimate_of(struct ncs_estimate estimate)
{
	return NCS_JSON_OBJECT({ "value", NCS_JSON(estimate.value) },
			       { "error", NCS_JSON(estimate.error) });
}

static json_t *quantile_of(struct ncs_quantile quantile)
{
	return NCS_JSON_OBJECT({ "value", NCS_JSON(quantile.value) },
			       { "low", NCS_JSON(quantile.low) },
			       { "high", NCS_JSON(quantile.high) });
}

static json_t *step_time_of(const struct ncs_step_estimate *time, bool is_wait)
{
	return NCS_JSON_OBJECT({ "total", estimate_of(time->total) },
			       { "mean", estimate_of(time->mean) },
			       { "share",
				 is_wait ? estimate_of(time->share) : NULL },
			       { "p50", quantile_of(time->p50) },
			       { "p99", quantile_of(time->p99) });
}

/* Returns NULL if no step was recorded. */
static json_t *steps_of_direction(const struct ncs_rank *rank, bool send)
{
	const struct ncs_steps_view *view = ncs_steps_view(rank->steps, send);
	json_t *time;

	if (!view)
		return NULL;
	time = NCS_JSON_OBJECT(
		{ "duration",
		  step_time_of(&view->times[NCS_STEP_DURATION], false) });

	for (unsigned i = NCS_STEP_FIRST_WAIT; i < NCS_STEP_TIMES; i++) {
		enum ncs_channel_state state = ncs_step_state(send, i);
		bool known = state != NCS_CHANNEL_SEND_PEER_WAIT ||
			     ncs_rank_peer_wait_known(rank);

		json_object_set_new(time, ncs_channel_state_name(state),
				    known ? step_time_of(&view->times[i],
							 true) :
					    json_null());
	}
	return NCS_JSON_OBJECT(
		{ "direction", NCS_JSON(send ? "send" : "recv") },
		{ "one_in", NCS_JSON(UINT64_C(1) << view->level) },
		{ "operations", NCS_JSON(view->operations) },
		{ "records", NCS_JSON(view->records) },
		{ "records_slow", NCS_JSON(view->slow) },
		{ "records_lost", NCS_JSON(ncs_steps_lost(rank->steps)) },
		{ "steps", estimate_of(view->steps) }, { "time_ns", time });
}

NCS_JSON_ARRAY(static json_t *steps_of(const struct ncs_rank *rank), 2,
	       steps_of_direction(rank, i == 0))

/* --- Events -------------------------------------------------------------- */

NCS_JSON_MAP(static json_t *events_of(const struct ncs_rank *rank), 0,
	     NCS_EVENT_COUNT, ncs_event_name,
	     rank->now.events[i] > 0 ? NCS_JSON(rank->now.events[i]) : NULL)

/* --- Lateness ------------------------------------------------------------ */

static json_t *lateness_figures(const struct ncs_lateness *lateness)
{
	bool known = lateness->operations > 0;

	return NCS_JSON_OBJECT(
		{ "operations", NCS_JSON(lateness->operations) },
		{ "last", NCS_JSON(lateness->last) },
		{ "queued", NCS_JSON(lateness->queued) },
		{ "median_ns", NCS_JSON_IF(known, lateness->median_ns) },
		{ "p99_ns", NCS_JSON_IF(known, lateness->p99_ns) },
		{ "exclusive_ns",
		  NCS_JSON_IF(lateness->last > 0, lateness->exclusive_ns) },
		{ "error_ns", NCS_JSON_IF(known, lateness->error_ns) },
		{ "cause", NCS_JSON_IF(lateness->last > 0,
				       ncs_late_cause_name(
					       ncs_lateness_cause(lateness))) },
		{ "causes_ns",
		  ncs_json_counts(ncs_late_cause_name, lateness->cause_ns, 0,
				  NCS_LATE_CAUSE_COUNT) });
}

/* Returns NULL if no operation was compared. */
static json_t *lateness_of_function(const struct ncs_rank *rank,
				    unsigned function)
{
	struct ncs_lateness lateness;

	ncs_rank_function_lateness(rank, function, &lateness);
	return lateness.operations > 0 ? lateness_figures(&lateness) : NULL;
}

NCS_JSON_MAP(static json_t *lateness_of_functions(const struct ncs_rank *rank),
	     0, NCS_FUNCTION_COUNT, ncs_function_name,
	     lateness_of_function(rank, i))

/* Returns a share that a rank costs; null if it is not known. */
static json_t *share_of(const struct ncs_cost_of_rank *cost, double share)
{
	return NCS_JSON_IF(cost->unknown == NCS_COST_KNOWN, fmax(share, 0));
}

static json_t *lateness_of(const struct ncs_rank *rank)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(rank);
	const struct ncs_cost_of_rank *cost;

	if (!view)
		return json_null();
	cost = &view->cost;
	return NCS_JSON_OBJECT(
		{ "recent", lateness_figures(&view->recent) },
		{ "functions", lateness_of_functions(rank) },
		{ "all", lateness_figures(&view->all) },
		{ "told_by",
		  ncs_json_counts(ncs_moment_name, view->by_moment,
				  NCS_MOMENT_PROXY, NCS_MOMENT_DATA + 1) },
		{ "cost_share", share_of(cost, cost->share) },
		{ "cost_share_least", share_of(cost, cost->least) },
		{ "cost_share_most", share_of(cost, cost->most) },
		{ "cost_unknown",
		  NCS_JSON_IF(cost->unknown != NCS_COST_KNOWN,
			      ncs_cost_unknown_name(cost->unknown)) },
		{ "straggler", NCS_JSON(view->is_straggler) },
		{ "operations_seen", NCS_JSON(view->count.seen) },
		{ "operations_compared", NCS_JSON(view->count.compared) },
		{ "operations_unknown", NCS_JSON(view->count.unknown) },
		{ "records_lost", NCS_JSON(view->count.records_lost) });
}

static json_t *late_now_of(const struct ncs_rank *rank)
{
	struct ncs_late_now now;

	ncs_rank_late_now(rank, &now);
	if (now.late_ns == 0)
		return json_null();
	return NCS_JSON_OBJECT({ "function",
				 NCS_JSON(ncs_function_name(now.function)) },
			       { "sequence_number", NCS_JSON(now.number) },
			       { "late_ns", NCS_JSON(now.late_ns) },
			       { "ranks_waiting", NCS_JSON(now.waiting) });
}

/* --- The job ------------------------------------------------------------- */

static json_t *job_of(const struct ncs_rank *rank)
{
	return ncs_json_job(rank->labels);
}

/* --- The rank ------------------------------------------------------------ */

/* Returns what the oldest wait of a rank has lasted; null if it waits for
 * nothing, or for an unknown time, since nobody knows when its process died. */
static json_t *oldest_wait_of(const struct ncs_rank *rank)
{
	struct ncs_oldest oldest = ncs_rank_oldest(rank);

	return NCS_JSON_IF(oldest.since_ns != 0 && ncs_rank_end_is_known(rank),
			   oldest.duration_ns);
}

static json_t *lost_of(const struct ncs_rank *rank)
{
	return ncs_json_counts(ncs_loss_name, rank->now.losses, 0,
			       NCS_LOSS_COUNT);
}

/* The parts of a rank beside those that say which it is, each with the views
 * that show it. */
#define VIEW(name) (1u << NCS_VIEW_##name)
#define COLLECTIVES (VIEW(COLLECTIVE) | VIEW(FUNCTION))
static const struct json_part {
	const char *key;
	unsigned views;
	json_t *(*make)(const struct ncs_rank *rank);
} parts[] = {
	{ "job", VIEW(RANK), job_of },
	{ "settings", VIEW(RANK), settings_of },
	{ "proxy", VIEW(RANK) | VIEW(PROXY), proxy_of },
	{ "kernel_timing", VIEW(RANK), kernel_timing_of },
	{ "launches", VIEW(RANK), launches_of },
	{ "graphs", VIEW(RANK), graphs_of },
	{ "cupti", VIEW(RANK) | VIEW(RANGE), cupti_of },
	{ "outside_code", VIEW(RANK), outside_of },
	{ "channels", VIEW(CHANNEL), channels_of },
	{ "sampling", VIEW(CHANNEL), sampling_of },
	{ "step_estimates", VIEW(CHANNEL), steps_of },
	{ "functions", COLLECTIVES, functions_of },
	{ "classes", VIEW(CLASS), classes_of },
	{ "lateness", VIEW(RANK) | COLLECTIVES, lateness_of },
	{ "late_now", VIEW(RANK), late_now_of },
	{ "oldest_wait_ns", VIEW(RANK), oldest_wait_of },
	{ "ranges", VIEW(RANGE), ranges_of },
	{ "in_flight", VIEW(RANK) | VIEW(TIMELINE), operations_of },
	{ "events", VIEW(RANK), events_of },
	{ "lost", VIEW(RANK), lost_of },
};
#undef COLLECTIVES

json_t *ncs_json_rank(const struct ncs_rank *rank, unsigned views)
{
	const struct ncs_snapshot *now = &rank->now;
	const struct ncs_identity *identity = &now->identity;
	char version[32];
	json_t *object;

	ncs_nccl_version_text(identity->nccl_version, version, sizeof(version));
	object = NCS_JSON_ADD(
		ncs_json_identity(rank),
		{ "host_pid", NCS_JSON(ncs_rank_pid(rank)) },
		{ "host", ncs_json_name(rank->process.host) },
		{ "gpu_pci_id", ncs_json_name(identity->known & NCS_KNOWN_GPU ?
						      identity->gpu :
						      NULL) },
		{ "state", NCS_JSON(ncs_liveness_name(now->liveness)) },
		{ "past", NCS_JSON(rank->is_past) },
		{ "api_version", NCS_JSON(rank->api_version) },
		{ "nccl_version",
		  NCS_JSON_IF(identity->known & NCS_KNOWN_NCCL_VERSION,
			      version) },
		{ "communicator", ncs_json_comm(identity) });

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].views & views)
			json_object_set_new(object, parts[i].key,
					    parts[i].make(rank));
	if (views & VIEW(RANK))
		add_cells(object, rank, NCS_VIEW_RANK, 0);
	return NCS_JSON_ADD(object, { "torn", NCS_JSON(now->torn) });
}
#undef VIEW
