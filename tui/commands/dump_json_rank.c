/* SPDX-License-Identifier: MIT */
/* The JSON dump of one rank: proxy thread, settings, channels, steps, lateness.
 * Its calls and operations are in dump_json_operations.c. Must not change the
 * rank. */
#include "tui/commands/dump_json_parts.h"

#include <math.h>

#include "analysis/base/detail.h"
#include "analysis/base/value_names.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"
#include "analysis/records/step_stats.h"
#include "analysis/views/columns.h"
#include "tui/commands/json_values.h"

static json_t *version_of(const struct ncs_identity *identity)
{
	char version[32];

	ncs_nccl_version_text(identity->nccl_version, version, sizeof(version));
	return NCS_JSON_IF(identity->known & NCS_KNOWN_NCCL_VERSION, version);
}

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

	return ncs_dump_json_cells(
		NCS_JSON_OBJECT(
			{ "state",
			  NCS_JSON(ncs_proxy_state_name(proxy->state)) },
			{ "since_ns", ncs_json_known(proxy->since_ns) },
			{ "states_ns", proxy_times(proxy, known) },
			{ "transitions", proxy_transitions(proxy, known) },
			{ "appended_operations",
			  NCS_JSON_IF(known, proxy->appended_operations) }),
		rank, NCS_VIEW_PROXY, 0);
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
		{ "gpu", ncs_dump_json_gpu_time(&cupti->total) },
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

	return ncs_dump_json_cells(
		NCS_JSON_OBJECT(
			{ "channel", NCS_JSON(channel->channel) },
			{ "direction",
			  NCS_JSON(channel->send ? "send" : "recv") },
			{ "peer", NCS_JSON(channel->peer) },
			{ "state",
			  NCS_JSON(ncs_channel_state_name(channel->state)) },
			{ "since_ns", ncs_json_known(channel->since_ns) },
			{ "operations_started",
			  NCS_JSON(channel->operations_started) },
			{ "operations_done",
			  NCS_JSON(channel->operations_done) },
			{ "steps_started", NCS_JSON(channel->steps_started) },
			{ "steps_done", NCS_JSON(channel->steps_done) },
			{ "bytes", NCS_JSON_IF(ncs_channel_bytes_known(channel),
					       channel->bytes) },
			{ "states_ns", channel_times(rank, channel) },
			{ "step", NCS_JSON_IF(is_busy, channel->step) },
			{ "nsteps", NCS_JSON_IF(is_busy && channel->nsteps > 0,
						channel->nsteps) }),
		rank, NCS_VIEW_CHANNEL, index);
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

json_t *ncs_dump_json_identity(const struct ncs_rank *rank)
{
	const struct ncs_identity *identity = &rank->now.identity;

	return NCS_JSON_OBJECT({ "pid", NCS_JSON(rank->process.pid) },
			       { "rank",
				 NCS_JSON_IF(identity->known & NCS_KNOWN_RANK,
					     identity->rank) });
}

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
	json_t *object = NCS_JSON_ADD(
		ncs_dump_json_identity(rank),
		{ "host_pid", NCS_JSON(ncs_rank_pid(rank)) },
		{ "host", ncs_json_name(rank->process.host) },
		{ "gpu_pci_id", ncs_json_name(identity->known & NCS_KNOWN_GPU ?
						      identity->gpu :
						      NULL) },
		{ "state", NCS_JSON(ncs_liveness_name(now->liveness)) },
		{ "past", NCS_JSON(rank->is_past) },
		{ "api_version", NCS_JSON(rank->api_version) },
		{ "nccl_version", version_of(identity) },
		{ "communicator", ncs_json_comm(identity) });

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].views & views)
			json_object_set_new(object, parts[i].key,
					    parts[i].make(rank));
	if (views & VIEW(RANK))
		ncs_dump_json_cells(object, rank, NCS_VIEW_RANK, 0);
	return NCS_JSON_ADD(object, { "torn", NCS_JSON(now->torn) });
}
#undef VIEW
