/* SPDX-License-Identifier: MIT */
/* The JSON dump of one rank: proxy thread, settings, channels, steps, lateness.
 * Its calls and operations are in dump_json_operations.c. Must not change the
 * rank. */
#include "tui/commands/dump_json_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/detail.h"
#include "analysis/base/value_names.h"
#include "analysis/model/launch_waits.h"
#include "analysis/model/stragglers.h"
#include "analysis/records/step_stats.h"
#include "analysis/views/columns.h"
#include "tui/commands/json_values.h"

static json_t *version_of(const struct ncs_identity *identity)
{
	char version[32];

	if (!(identity->known & NCS_KNOWN_NCCL_VERSION))
		return json_null();
	ncs_nccl_version_text(identity->nccl_version, version, sizeof(version));
	return json_string(version);
}

/* Returns the proxy thread. What NCCL does not report is unknown, and thus
 * null; the count of a transition that has not been seen yet is 0. */
static json_t *proxy_of(const struct ncs_rank *rank)
{
	json_t *object = json_object(), *time = json_object();
	json_t *count = json_object();
	const struct ncs_proxy_view *proxy = &rank->now.proxy;
	bool known = ncs_rank_proxy_known(rank);

	for (unsigned i = NCS_PROXY_UNKNOWN + 1; i < NCS_PROXY_STATE_COUNT; i++)
		ncs_json_add_number_if(time, ncs_proxy_state_name(i), known,
				       proxy->time_ns[i]);
	for (unsigned i = 0; i < NCS_TRANSITION_COUNT; i++)
		ncs_json_add_number_if(count, ncs_proxy_transition_name(i),
				       known, proxy->count[i]);
	ncs_json_add_word(object, "state", ncs_proxy_state_name(proxy->state));
	ncs_json_add_time(object, "since_ns", proxy->since_ns);
	ncs_json_add(object, "states_ns", time);
	ncs_json_add(object, "transitions", count);
	ncs_json_add_number_if(object, "appended_operations", known,
			       proxy->appended_operations);
	ncs_dump_json_cells(object, rank, NCS_VIEW_PROXY, 0);
	return object;
}

/* --- Settings ------------------------------------------------------------ */

static json_t *lease_of(const struct ncs_settings_view *settings,
			uint64_t now_ns)
{
	json_t *lease;

	if (ncs_lease_left_ns(settings, now_ns) == 0)
		return json_null();
	lease = json_object();
	ncs_json_add_number(lease, "pid", settings->lease_pid);
	ncs_json_add_time(lease, "until_ns", settings->lease_until_ns);
	return lease;
}

static json_t *settings_of(const struct ncs_rank *rank)
{
	const struct ncs_snapshot *snapshot = &rank->now;
	const struct ncs_settings_view *settings = &snapshot->settings;
	json_t *object;
	char kernel[32], timing[32];

	if (!settings->known)
		return json_null();
	object = json_object();
	ncs_kernel_text(&settings->in_force, kernel, sizeof(kernel));
	ncs_json_add(object, "events",
		     ncs_json_bits(ncs_event_group_name, NCS_GROUP_COUNT,
				   settings->in_force.groups));
	ncs_json_add_word(object, "kernel", kernel);
	ncs_json_add_number(object, "sample",
			    ncs_sample_period(&settings->in_force));
	ncs_timing_text(&settings->in_force, timing, sizeof(timing));
	if (settings->in_force.timing != NCS_TIMING_DETAIL_DEFAULT)
		ncs_json_add_word(object, "timing", timing);
	else
		ncs_json_add(object, "timing", json_null());
	ncs_json_add_number(object, "changes", settings->changes);
	ncs_json_add_time(object, "changed_ns", settings->changed_ns);
	ncs_json_add_number_if(object, "asked", settings->asked != 0,
			       settings->asked >> NCS_CONTROL_SERIAL_SHIFT);
	ncs_json_add(object, "refused",
		     settings->refused == NCS_REFUSAL_NONE ?
			     json_null() :
			     json_string(ncs_refusal_name(settings->refused)));
	ncs_json_add(object, "lease", lease_of(settings, snapshot->taken_ns));
	return object;
}

/* --- Channels ------------------------------------------------------------ */

static json_t *channel_times(const struct ncs_rank *rank,
			     const struct ncs_channel_view *channel)
{
	json_t *time = json_object();

	for (unsigned i = 0; i < NCS_CHANNEL_STATE_COUNT; i++) {
		bool known = i != NCS_CHANNEL_SEND_PEER_WAIT ||
			     ncs_channel_peer_wait_known(rank, channel);

		ncs_json_add_number_if(time, ncs_channel_state_name(i), known,
				       channel->time_ns[i]);
	}
	return time;
}

static json_t *gpu_clock_of(const struct ncs_gpu_clock_view *clock)
{
	json_t *object;

	if (!clock->known)
		return json_null();
	object = json_object();
	ncs_json_add_signed(object, "offset_ns", clock->offset_ns);
	ncs_json_add_number(object, "error_ns", clock->error_ns);
	ncs_json_add_number(object, "quantum_ns", clock->quantum_ns);
	ncs_json_add_time(object, "told_ns", clock->told_ns);
	return object;
}

static json_t *kernel_timing_of(const struct ncs_rank *rank)
{
	const struct ncs_kernel_view *kernel = &rank->now.kernel;
	bool told = kernel->status != NCS_KERNEL_UNKNOWN;
	bool known = told && kernel->counted && ncs_rank_calls_known(rank);
	json_t *object = json_object();

	ncs_json_add_word(object, "status",
			  ncs_kernel_status_name(kernel->status));
	ncs_json_add_word_if(object, "asked", told,
			     ncs_kernel_timing_name(kernel->mode));
	ncs_json_add_number_if(object, "period", kernel->period > 0,
			       kernel->period);
	ncs_json_add_number_if(object, "timed_calls", known,
			       kernel->timed_calls);
	ncs_json_add_number_if(object, "captured_on", known,
			       kernel->captured_on);
	ncs_json_add_number_if(object, "captured_off", known,
			       kernel->captured_off);
	ncs_json_add(object, "gpu_clock", gpu_clock_of(&rank->now.gpu_clock));
	return object;
}

static json_t *graphs_of(const struct ncs_rank *rank)
{
	const struct ncs_graphs_view *graphs = &rank->now.graphs;
	json_t *object;

	if (graphs->graphs == 0 && !graphs->are_replays)
		return json_null();
	object = json_object();
	ncs_json_add_number_if(object, "captured", !graphs->are_replays,
			       graphs->graphs);
	ncs_json_add_number_if(object, "reporting", !graphs->are_replays,
			       graphs->stamped);
	ncs_json_add_number_if(object, "failure", graphs->failure > 0,
			       graphs->failure);
	ncs_json_add_number_if(object, "replays", graphs->are_replays,
			       graphs->replays);
	ncs_json_add_number_if(object, "launches", graphs->are_replays,
			       graphs->launches);
	ncs_json_add_number_if(object, "reported", graphs->are_replays,
			       graphs->timed);
	ncs_json_add_number_if(object, "lost", graphs->are_replays,
			       graphs->lost);
	return object;
}

static json_t *launches_of(const struct ncs_rank *rank)
{
	const struct ncs_launches_view *launches = &rank->now.launches;
	struct ncs_launch_wait wait = ncs_rank_launch_wait(rank);
	int64_t ahead = ncs_rank_launches_ahead(rank);
	bool follows = launches->status == NCS_STREAM_ALL ||
		       launches->status == NCS_STREAM_SOME;
	json_t *object;

	if (launches->status == NCS_STREAM_UNKNOWN)
		return json_null();
	object = json_object();
	ncs_json_add_word(object, "status",
			  ncs_stream_status_name(ncs_launches_told(launches)));
	ncs_json_add_number_if(object, "one_in", follows,
			       UINT64_C(1) << launches->level);
	ncs_json_add_number(object, "launched", launches->launched);
	ncs_json_add_time(object, "launched_ns", launches->launched_ns);
	ncs_json_add_number(object, "followed", launches->followed);
	ncs_json_add_number_if(object, "begun", follows, launches->begun);
	ncs_json_add_time(object, "begun_ns", launches->begun_ns);
	ncs_json_add_number_if(object, "ended", follows, launches->ended);
	ncs_json_add_time(object, "ended_ns", launches->ended_ns);
	ncs_json_add_signed_if(object, "ahead", ahead >= 0, ahead);
	ncs_json_add_word_if(object, "wait", wait.operation,
			     ncs_launch_wait_name(wait.kind));
	ncs_json_add_time(object, "wait_since_ns",
			  wait.operation ? wait.since_ns : 0);
	ncs_json_add_number(object, "timed", launches->timed);
	ncs_json_add_number(object, "missed", launches->missed);
	ncs_json_add_number(object, "captured", launches->captured);
	ncs_json_add_number(object, "other_context", launches->other_context);
	ncs_json_add_number_if(object, "bias_ns", launches->timed > 0,
			       launches->bias_ns);
	ncs_json_add_number_if(object, "error_ns", launches->error_ns > 0,
			       launches->error_ns);
	ncs_json_add_number_if(object, "failure", launches->failure > 0,
			       launches->failure);
	ncs_json_add_time(object, "driver_since_ns", launches->watch_since_ns);
	return object;
}

static json_t *cupti_of(const struct ncs_rank *rank)
{
	const struct ncs_cupti_view *cupti = &rank->now.cupti;
	bool on = cupti->known && cupti->status == NCS_CUPTI_ON;
	bool ran = cupti->busy_ns > 0;
	json_t *object;

	if (!cupti->known)
		return json_null();
	object = json_object();
	ncs_json_add_word(object, "status",
			  ncs_cupti_status_name(cupti->status));
	ncs_json_add(object, "gpu", ncs_dump_json_gpu_time(&cupti->total));
	ncs_json_add_number_if(object, "unplaced", on, cupti->unplaced);
	ncs_json_add_number_if(object, "lost", on, cupti->lost);
	ncs_json_add_number_if(object, "outside_kernels", ran,
			       cupti->outside_kernels);
	ncs_json_add_number_if(object, "outside_busy_ns", ran,
			       cupti->outside_busy_ns);
	ncs_json_add_number_if(object, "busy_ns", ran, cupti->busy_ns);
	return object;
}

static json_t *outside_of(const struct ncs_rank *rank)
{
	return ncs_json_bits(ncs_outside_code_name, NCS_OUTSIDE_CODE_COUNT,
			     rank->now.outside_code);
}

static json_t *channel_of(const struct ncs_rank *rank, size_t index)
{
	const struct ncs_channel_view *channel = &rank->now.channels[index];
	json_t *object = json_object();
	bool is_busy = channel->state != NCS_CHANNEL_IDLE;

	ncs_json_add_signed(object, "channel", channel->channel);
	ncs_json_add_word(object, "direction", channel->send ? "send" : "recv");
	ncs_json_add_signed(object, "peer", channel->peer);
	ncs_json_add_word(object, "state",
			  ncs_channel_state_name(channel->state));
	ncs_json_add_time(object, "since_ns", channel->since_ns);
	ncs_json_add_number(object, "operations_started",
			    channel->operations_started);
	ncs_json_add_number(object, "operations_done",
			    channel->operations_done);
	ncs_json_add_number(object, "steps_started", channel->steps_started);
	ncs_json_add_number(object, "steps_done", channel->steps_done);
	ncs_json_add_number_if(object, "bytes",
			       ncs_channel_bytes_known(channel),
			       channel->bytes);
	ncs_json_add(object, "states_ns", channel_times(rank, channel));
	ncs_json_add_number_if(object, "step", is_busy, channel->step);
	ncs_json_add_number_if(object, "nsteps", is_busy && channel->nsteps > 0,
			       channel->nsteps);
	ncs_dump_json_cells(object, rank, NCS_VIEW_CHANNEL, index);
	return object;
}

NCS_JSON_ARRAY(static json_t *channels_of(const struct ncs_rank *rank),
	       rank->now.channel_count, channel_of(rank, i))

/* --- Sampling and estimates ---------------------------------------------- */

static json_t *sampling_of(const struct ncs_rank *rank)
{
	const struct ncs_sampling_view *sampling = &rank->now.sampling;
	json_t *object = json_object();

	ncs_json_add_number(object, "one_in", UINT64_C(1) << sampling->level);
	ncs_json_add_number(object, "slow_ns", sampling->slow_ns);
	ncs_json_add_number(object, "operations_kept", sampling->kept);
	ncs_json_add_number(object, "operations_left_out", sampling->left_out);
	ncs_json_add_number(object, "operations_slow", sampling->slow);
	return object;
}

static json_t *estimate_of(struct ncs_estimate estimate)
{
	json_t *object = json_object();

	ncs_json_add_real(object, "value", estimate.value);
	ncs_json_add_real(object, "error", estimate.error);
	return object;
}

static json_t *quantile_of(struct ncs_quantile quantile)
{
	json_t *object = json_object();

	ncs_json_add_real(object, "value", quantile.value);
	ncs_json_add_real(object, "low", quantile.low);
	ncs_json_add_real(object, "high", quantile.high);
	return object;
}

static json_t *step_time_of(const struct ncs_step_estimate *time, bool is_wait)
{
	json_t *object = json_object();

	ncs_json_add(object, "total", estimate_of(time->total));
	ncs_json_add(object, "mean", estimate_of(time->mean));
	if (is_wait)
		ncs_json_add(object, "share", estimate_of(time->share));
	ncs_json_add(object, "p50", quantile_of(time->p50));
	ncs_json_add(object, "p99", quantile_of(time->p99));
	return object;
}

static json_t *steps_of_direction(const struct ncs_rank *rank, bool send,
				  const struct ncs_steps_view *view)
{
	json_t *object = json_object(), *time = json_object();

	ncs_json_add(time, "duration",
		     step_time_of(&view->times[NCS_STEP_DURATION], false));
	for (unsigned i = NCS_STEP_FIRST_WAIT; i < NCS_STEP_TIMES; i++) {
		enum ncs_channel_state state = ncs_step_state(send, i);
		bool known = state != NCS_CHANNEL_SEND_PEER_WAIT ||
			     ncs_rank_peer_wait_known(rank);

		ncs_json_add(time, ncs_channel_state_name(state),
			     known ? step_time_of(&view->times[i], true) :
				     json_null());
	}
	ncs_json_add_word(object, "direction", send ? "send" : "recv");
	ncs_json_add_number(object, "one_in", UINT64_C(1) << view->level);
	ncs_json_add_number(object, "operations", view->operations);
	ncs_json_add_number(object, "records", view->records);
	ncs_json_add_number(object, "records_slow", view->slow);
	ncs_json_add_number(object, "records_lost",
			    ncs_steps_lost(rank->steps));
	ncs_json_add(object, "steps", estimate_of(view->steps));
	ncs_json_add(object, "time_ns", time);
	return object;
}

static json_t *steps_of(const struct ncs_rank *rank)
{
	json_t *steps = json_array();

	for (int send = 1; send >= 0; send--) {
		const struct ncs_steps_view *view =
			ncs_steps_view(rank->steps, send);

		if (view)
			ncs_json_append(steps,
					steps_of_direction(rank, send, view));
	}
	return steps;
}

/* --- Events -------------------------------------------------------------- */

static json_t *events_of(const struct ncs_rank *rank)
{
	const struct ncs_snapshot *snapshot = &rank->now;
	json_t *events = json_object();

	for (unsigned i = 0; i < NCS_EVENT_COUNT; i++)
		if (snapshot->events[i] > 0)
			ncs_json_add_number(events, ncs_event_name(i),
					    snapshot->events[i]);
	return events;
}

/* --- Lateness ------------------------------------------------------------ */

static json_t *lateness_figures(const struct ncs_lateness *lateness)
{
	bool known = lateness->operations > 0;
	json_t *object = json_object();

	ncs_json_add_number(object, "operations", lateness->operations);
	ncs_json_add_number(object, "last", lateness->last);
	ncs_json_add_number(object, "queued", lateness->queued);
	ncs_json_add_number_if(object, "median_ns", known, lateness->median_ns);
	ncs_json_add_number_if(object, "p99_ns", known, lateness->p99_ns);
	ncs_json_add_number_if(object, "exclusive_ns", lateness->last > 0,
			       lateness->exclusive_ns);
	ncs_json_add_number_if(object, "error_ns", known, lateness->error_ns);
	ncs_json_add_word_if(object, "cause", lateness->last > 0,
			     ncs_late_cause_name(ncs_lateness_cause(lateness)));
	ncs_json_add(object, "causes_ns",
		     ncs_json_counts(ncs_late_cause_name, lateness->cause_ns, 0,
				     NCS_LATE_CAUSE_COUNT));
	return object;
}

static json_t *lateness_of_functions(const struct ncs_rank *rank)
{
	json_t *functions = json_object();
	struct ncs_lateness lateness;

	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		ncs_rank_function_lateness(rank, i, &lateness);
		if (lateness.operations > 0)
			ncs_json_add(functions, ncs_function_name(i),
				     lateness_figures(&lateness));
	}
	return functions;
}

/* Adds a cost, or why it is not known. */
static void add_cost(json_t *object, const struct ncs_cost_of_rank *cost)
{
	bool is_known = cost->unknown == NCS_COST_KNOWN;

	ncs_json_add_real(object, "cost_share",
			  is_known ? fmax(cost->share, 0) : -1);
	ncs_json_add_real(object, "cost_share_least",
			  is_known ? fmax(cost->least, 0) : -1);
	ncs_json_add_real(object, "cost_share_most",
			  is_known ? fmax(cost->most, 0) : -1);
	ncs_json_add(object, "cost_unknown",
		     is_known ?
			     json_null() :
			     json_string(ncs_cost_unknown_name(cost->unknown)));
}

static json_t *lateness_of(const struct ncs_rank *rank)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(rank);
	json_t *object;

	if (!view)
		return json_null();
	object = json_object();
	ncs_json_add(object, "recent", lateness_figures(&view->recent));
	ncs_json_add(object, "functions", lateness_of_functions(rank));
	ncs_json_add(object, "all", lateness_figures(&view->all));
	ncs_json_add(object, "told_by",
		     ncs_json_counts(ncs_moment_name, view->by_moment,
				     NCS_MOMENT_PROXY, NCS_MOMENT_DATA + 1));
	add_cost(object, &view->cost);
	ncs_json_add_bool(object, "straggler", view->is_straggler);
	ncs_json_add_number(object, "operations_seen", view->count.seen);
	ncs_json_add_number(object, "operations_compared",
			    view->count.compared);
	ncs_json_add_number(object, "operations_unknown", view->count.unknown);
	ncs_json_add_number(object, "records_lost", view->count.records_lost);
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
	ncs_json_add_word(object, "function", ncs_function_name(now.function));
	ncs_json_add_number(object, "sequence_number", now.number);
	ncs_json_add_number(object, "late_ns", now.late_ns);
	ncs_json_add_number(object, "ranks_waiting", now.waiting);
	return object;
}

/* --- The job ------------------------------------------------------------- */

static json_t *job_of(const struct ncs_rank *rank)
{
	return ncs_json_job(rank->labels);
}

/* --- The rank ------------------------------------------------------------ */

void ncs_dump_json_identify(json_t *object, const struct ncs_rank *rank)
{
	const struct ncs_identity *identity = &rank->now.identity;

	ncs_json_add_number(object, "pid", rank->process.pid);
	ncs_json_add_signed_if(object, "rank", identity->known & NCS_KNOWN_RANK,
			       identity->rank);
}

/* Returns what the oldest wait of a rank has lasted; null if it waits for
 * nothing, or for an unknown time, since nobody knows when its process died. */
static json_t *oldest_wait_of(const struct ncs_rank *rank)
{
	struct ncs_oldest oldest = ncs_rank_oldest(rank);

	return oldest.since_ns != 0 && ncs_rank_end_is_known(rank) ?
		       json_integer((json_int_t)oldest.duration_ns) :
		       json_null();
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
	{ "functions", COLLECTIVES, ncs_dump_json_functions },
	{ "classes", VIEW(CLASS), ncs_dump_json_classes },
	{ "lateness", VIEW(RANK) | COLLECTIVES, lateness_of },
	{ "late_now", VIEW(RANK), late_now_of },
	{ "oldest_wait_ns", VIEW(RANK), oldest_wait_of },
	{ "ranges", VIEW(RANGE), ncs_dump_json_ranges },
	{ "in_flight", VIEW(RANK) | VIEW(TIMELINE), ncs_dump_json_operations },
	{ "events", VIEW(RANK), events_of },
	{ "lost", VIEW(RANK), lost_of },
};
#undef COLLECTIVES

json_t *ncs_dump_json_rank(const struct ncs_rank *rank, unsigned views)
{
	const struct ncs_snapshot *now = &rank->now;
	const struct ncs_identity *identity = &now->identity;
	json_t *object = json_object();

	ncs_dump_json_identify(object, rank);
	ncs_json_add_number(object, "host_pid", ncs_rank_pid(rank));
	ncs_json_add_text_if(object, "host", true, rank->process.host);
	ncs_json_add_text_if(object, "gpu_pci_id",
			     identity->known & NCS_KNOWN_GPU, identity->gpu);
	ncs_json_add_word(object, "state", ncs_liveness_name(now->liveness));
	ncs_json_add_bool(object, "past", rank->is_past);
	ncs_json_add_number(object, "api_version", rank->api_version);
	ncs_json_add(object, "nccl_version", version_of(identity));
	ncs_json_add(object, "communicator", ncs_json_comm(identity));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].views & views)
			ncs_json_add(object, parts[i].key, parts[i].make(rank));
	if (views & VIEW(RANK))
		ncs_dump_json_cells(object, rank, NCS_VIEW_RANK, 0);
	ncs_json_add_bool(object, "torn", now->torn);
	return object;
}
#undef VIEW
