/* SPDX-License-Identifier: MIT */
/* The columns of every view and how each cell is computed. Pure: a getter
 * looks at one row of the model and at nothing else.
 *
 * A value starts as NCS_VALUE_NONE; a getter that does not know leaves it so.
 * Rates and shares are those of the window, from the rank's base to now.
 */
#include "analysis/views/columns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/append.h"
#include "analysis/base/busbw.h"
#include "analysis/base/class_names.h"
#include "analysis/model/class_stats.h"
#include "analysis/base/detail.h"
#include "analysis/diagnosis/diagnosis.h"
#include "analysis/base/value_names.h"
#include "analysis/model/range_totals.h"
#include "analysis/model/stragglers.h"
#include "analysis/views/timeline.h"

const char *const ncs_view_names[NCS_VIEW_COUNT] = {
	[NCS_VIEW_RANK] = "ranks",
	[NCS_VIEW_COMMUNICATOR] = "communicators",
	[NCS_VIEW_CHANNEL] = "channels",
	[NCS_VIEW_PROXY] = "proxy",
	[NCS_VIEW_FUNCTION] = "collectives",
	[NCS_VIEW_TIMELINE] = "timeline",
	[NCS_VIEW_FINDING] = "diagnose",
	[NCS_VIEW_RANGE] = "ranges",
	[NCS_VIEW_CLASS] = "sizes",
};

/* --- Setting a value ---------------------------------------------------- */

static void set_count(struct ncs_value *value, enum ncs_value_kind kind,
		      uint64_t number)
{
	value->kind = kind;
	value->number = number < INT64_MAX ? (int64_t)number : INT64_MAX;
}

/* A time between events of several clocks. */
static void set_apart(struct ncs_value *value, uint64_t duration_ns,
		      uint64_t error_ns)
{
	set_count(value, NCS_VALUE_DURATION, duration_ns);
	value->error_ns = error_ns;
}

static void set_number(struct ncs_value *value, uint64_t number)
{
	set_count(value, NCS_VALUE_NUMBER, number);
}

static void set_real(struct ncs_value *value, enum ncs_value_kind kind,
		     double real)
{
	value->kind = kind;
	value->real = real;
}

static void set_text(struct ncs_value *value, const char *text)
{
	if (!text[0])
		return;
	value->kind = NCS_VALUE_TEXT;
	snprintf(value->text, sizeof(value->text), "%s", text);
}

/* From a moment to another; unknown if either never was. */
static void set_span(struct ncs_value *value, uint64_t from_ns,
		     uint64_t until_ns)
{
	/* What began while the snapshot was being taken has just begun. */
	if (from_ns != 0)
		set_count(value, NCS_VALUE_DURATION,
			  until_ns > from_ns ? until_ns - from_ns : 0);
}

/* Negative: unknown. */
static void set_known(struct ncs_value *value, enum ncs_value_kind kind,
		      double real)
{
	if (real >= 0)
		set_real(value, kind, real);
}

/* Of a counter, per second of the window. */
static void set_rate(struct ncs_value *value, enum ncs_value_kind kind,
		     const struct ncs_rank *rank, uint64_t now, uint64_t base)
{
	set_known(value, kind, ncs_rank_rate(rank, now, base));
}

/* --- Parts of rows ------------------------------------------------------ */

static const struct ncs_channel_view *channel_of(const struct ncs_row *row)
{
	return &row->rank->now.channels[row->index];
}

static const struct ncs_function_view *function_of(const struct ncs_row *row)
{
	return &row->rank->now.functions[row->index];
}

/* The channel as the window began; NULL where it was not there. */
static const struct ncs_channel_counters *
channel_base(const struct ncs_row *row)
{
	const struct ncs_counters *base = row->rank->base;

	return base ? ncs_counters_channel(base, channel_of(row), row->index) :
		      NULL;
}

static bool is_busy(const struct ncs_channel_view *channel)
{
	return channel->state != NCS_CHANNEL_IDLE;
}

/* --- Shares of time ----------------------------------------------------- */

static uint64_t grown(uint64_t now, uint64_t base)
{
	return now > base ? now - base : 0;
}

/* The share of a state's time in that of all states from `first` on: over the
 * window; since the start if there is none or if its clock stood still, as that
 * of a rank which has ended does. */
static void set_share(struct ncs_value *value, const uint64_t *now,
		      const uint64_t *base, size_t first, size_t count,
		      size_t state)
{
	uint64_t part = 0, total = 0;

	for (size_t i = first; base && i < count; i++)
		total += grown(now[i], base[i]);
	if (total > 0) {
		part = grown(now[state], base[state]);
	} else {
		for (size_t i = first; i < count; i++)
			total += now[i];
		part = now[state];
	}
	if (total > 0)
		set_real(value, NCS_VALUE_SHARE, (double)part / (double)total);
}

/* A window that begins at this moment has no shares yet. */
static bool begins_now(const struct ncs_rank *rank)
{
	return rank->base && rank->base->taken_ns >= rank->now.taken_ns;
}

static void set_channel_share(struct ncs_value *value,
			      const struct ncs_row *row, size_t state)
{
	const struct ncs_channel_view *channel = channel_of(row);
	const struct ncs_channel_counters *base = channel_base(row);
	struct ncs_channel_counters now;

	if (begins_now(row->rank))
		return;
	ncs_channel_count(&now, channel);
	set_share(value, now.time_ns, base ? base->time_ns : NULL, 0,
		  NCS_CHANNEL_TIMES,
		  ncs_channel_time((enum ncs_channel_state)state));
}

/* Time in which the state was not told yet counts for nothing. */
static void set_proxy_share(struct ncs_value *value, const struct ncs_row *row,
			    size_t state)
{
	const struct ncs_rank *rank = row->rank;

	if (!begins_now(rank))
		set_share(value, rank->now.proxy.time_ns,
			  rank->base ? rank->base->proxy_time_ns : NULL,
			  NCS_PROXY_UNKNOWN + 1, NCS_PROXY_STATE_COUNT, state);
}

/* Each look has a value, whatever the window. */
static void set_trace(struct ncs_value *value, const struct ncs_rank *rank,
		      const struct ncs_recent *trace)
{
	if (!ncs_recent_is_known(trace, rank->traces.count))
		return;
	value->kind = NCS_VALUE_TRACE;
	value->trace = trace;
	value->trace_count = rank->traces.count;
	value->real = ncs_recent_latest(trace, rank->traces.count);
}

/* --- Ranks -------------------------------------------------------------- */

static void set_rank(struct ncs_value *value, const struct ncs_rank *rank)
{
	if (rank->now.identity.known & NCS_KNOWN_RANK) {
		value->kind = NCS_VALUE_NUMBER;
		value->number = rank->now.identity.rank;
	}
}

static void set_comm(struct ncs_value *value,
		     const struct ncs_identity *identity)
{
	char text[sizeof(value->text)];

	ncs_comm_text(identity, text, sizeof(text));
	set_text(value, text);
}

static void set_nranks(struct ncs_value *value,
		       const struct ncs_identity *identity)
{
	if (identity->known & NCS_KNOWN_NRANKS) {
		value->kind = NCS_VALUE_NUMBER;
		value->number = identity->nranks;
	}
}

static void get_RANK_RANK(const struct ncs_row *row, struct ncs_value *value)
{
	set_rank(value, row->rank);
}

static void get_RANK_COMM(const struct ncs_row *row, struct ncs_value *value)
{
	set_comm(value, &row->rank->now.identity);
}

static void get_RANK_NRANKS(const struct ncs_row *row, struct ncs_value *value)
{
	set_nranks(value, &row->rank->now.identity);
}

static void get_RANK_PID(const struct ncs_row *row, struct ncs_value *value)
{
	set_number(value, row->rank->header.pid);
}

static void get_RANK_STATE(const struct ncs_row *row, struct ncs_value *value)
{
	set_text(value, ncs_liveness_name(row->rank->now.liveness));
}

static void get_RANK_PROXY(const struct ncs_row *row, struct ncs_value *value)
{
	if (ncs_rank_proxy_known(row->rank))
		set_text(value,
			 ncs_proxy_state_name(row->rank->now.proxy.state));
}

/* The busy channel that has been in its state for longest, of one state or
 * (IDLE) of all; NULL: none. */
static const struct ncs_channel_view *
oldest_channel(const struct ncs_snapshot *now, enum ncs_channel_state state)
{
	const struct ncs_channel_view *oldest = NULL;

	for (size_t i = 0; i < now->channel_count; i++) {
		const struct ncs_channel_view *channel = &now->channels[i];

		if (!is_busy(channel) ||
		    (state != NCS_CHANNEL_IDLE && channel->state != state))
			continue;
		if (!oldest || channel->since_ns < oldest->since_ns)
			oldest = channel;
	}
	return oldest;
}

/* The state most busy channels are in; of several the one that has lasted
 * longest; IDLE if no channel is busy. */
static enum ncs_channel_state usual_wait(const struct ncs_snapshot *now)
{
	size_t count[NCS_CHANNEL_STATE_COUNT] = { 0 };
	const struct ncs_channel_view *best = NULL, *oldest;

	for (size_t i = 0; i < now->channel_count; i++)
		count[now->channels[i].state]++;
	for (unsigned i = NCS_CHANNEL_IDLE + 1; i < NCS_CHANNEL_STATE_COUNT;
	     i++) {
		oldest = oldest_channel(now, (enum ncs_channel_state)i);
		if (!oldest || (best && count[i] < count[best->state]))
			continue;
		if (!best || count[i] > count[best->state] ||
		    oldest->since_ns < best->since_ns)
			best = oldest;
	}
	return best ? best->state : NCS_CHANNEL_IDLE;
}

static void get_RANK_WAIT(const struct ncs_row *row, struct ncs_value *value)
{
	const struct ncs_snapshot *now = &row->rank->now;

	if (now->channel_count > 0)
		set_text(value, ncs_channel_state_label(usual_wait(now)));
}

static void get_RANK_OLDEST(const struct ncs_row *row, struct ncs_value *value)
{
	const struct ncs_channel_view *oldest =
		oldest_channel(&row->rank->now, NCS_CHANNEL_IDLE);

	if (oldest)
		set_span(value, oldest->since_ns, ncs_rank_end_ns(row->rank));
}

static void get_RANK_OPERATION(const struct ncs_row *row,
			       struct ncs_value *value)
{
	const struct ncs_snapshot *now = &row->rank->now;

	if (now->operation_count > 0)
		set_text(value, ncs_function_name(now->operations[0].function));
}

static void get_RANK_SEQUENCE(const struct ncs_row *row,
			      struct ncs_value *value)
{
	const struct ncs_snapshot *now = &row->rank->now;

	if (now->operation_count > 0 &&
	    now->operations[0].sequence_number != NCS_NO_SEQUENCE_NUMBER)
		set_number(value, now->operations[0].sequence_number);
}

static void get_RANK_USER_TAG(const struct ncs_row *row,
			      struct ncs_value *value)
{
	const struct ncs_snapshot *now = &row->rank->now;
	char text[24];

	/* It is a name, whose digits all count. */
	if (now->operation_count == 0 || now->operations[0].user_tag == 0)
		return;
	snprintf(text, sizeof(text), "%" PRIu64, now->operations[0].user_tag);
	set_text(value, text);
}

static void get_RANK_OPERATIONS_RATE(const struct ncs_row *row,
				     struct ncs_value *value)
{
	set_known(value, NCS_VALUE_RATE, ncs_rank_operations_rate(row->rank));
}

static void get_RANK_SEND_RATE(const struct ncs_row *row,
			       struct ncs_value *value)
{
	set_known(value, NCS_VALUE_BYTES_RATE,
		  ncs_rank_bytes_rate(row->rank, true));
}

static void get_RANK_RECV_RATE(const struct ncs_row *row,
			       struct ncs_value *value)
{
	set_known(value, NCS_VALUE_BYTES_RATE,
		  ncs_rank_bytes_rate(row->rank, false));
}

static void get_RANK_TRACE(const struct ncs_row *row, struct ncs_value *value)
{
	set_trace(value, row->rank, &row->rank->traces.rate);
}

static void get_RANK_LATE(const struct ncs_row *row, struct ncs_value *value)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(row->rank);

	if (view)
		set_apart(value, view->recent.median_ns, view->recent.error_ns);
}

static void get_RANK_LAST_SHARE(const struct ncs_row *row,
				struct ncs_value *value)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(row->rank);

	if (view)
		set_real(value, NCS_VALUE_SHARE,
			 (double)view->recent.last /
				 (double)view->recent.operations);
}

static void get_RANK_LATE_CAUSE(const struct ncs_row *row,
				struct ncs_value *value)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(row->rank);

	if (view && view->recent.last > 0)
		set_text(value, ncs_late_cause_name(
					ncs_lateness_cause(&view->recent)));
}

static void get_RANK_LATE_P99(const struct ncs_row *row,
			      struct ncs_value *value)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(row->rank);

	if (view)
		set_apart(value, view->recent.p99_ns, view->recent.error_ns);
}

static void get_RANK_EXCLUSIVE(const struct ncs_row *row,
			       struct ncs_value *value)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(row->rank);

	if (view && view->recent.last > 0)
		set_apart(value, view->recent.exclusive_ns,
			  view->recent.error_ns);
}

static void get_RANK_LATE_COST(const struct ncs_row *row,
			       struct ncs_value *value)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(row->rank);

	if (view)
		set_known(value, NCS_VALUE_SHARE, view->cost);
}

static void get_RANK_LOST(const struct ncs_row *row, struct ncs_value *value)
{
	set_number(value, ncs_rank_lost(row->rank));
}

static void get_RANK_API(const struct ncs_row *row, struct ncs_value *value)
{
	set_number(value, row->rank->header.api_version);
}

static void get_RANK_NCCL(const struct ncs_row *row, struct ncs_value *value)
{
	const struct ncs_identity *identity = &row->rank->now.identity;

	if (!(identity->known & NCS_KNOWN_NCCL_VERSION))
		return;
	value->kind = NCS_VALUE_TEXT;
	ncs_nccl_version_text(identity->nccl_version, value->text,
			      sizeof(value->text));
}

static void get_RANK_GPU(const struct ncs_row *row, struct ncs_value *value)
{
	if (row->rank->now.identity.known & NCS_KNOWN_GPU)
		set_text(value, row->rank->now.identity.gpu);
}

static void get_RANK_KERNEL(const struct ncs_row *row, struct ncs_value *value)
{
	unsigned status = row->rank->now.kernel.status;

	if (status != NCS_KERNEL_UNKNOWN)
		set_text(value, ncs_kernel_status_name(status));
}

static void get_RANK_LAST_CALL(const struct ncs_row *row,
			       struct ncs_value *value)
{
	set_span(value, row->rank->now.last_call_ns, row->rank->now.taken_ns);
}

static void get_RANK_SETTINGS(const struct ncs_row *row,
			      struct ncs_value *value)
{
	const struct ncs_settings_view *settings = &row->rank->now.settings;

	if (!settings->known)
		return;
	value->kind = NCS_VALUE_TEXT;
	ncs_detail_text(&settings->in_force, value->text, sizeof(value->text));
	if (ncs_lease_left_ns(settings, row->rank->now.taken_ns) > 0)
		strncat(value->text, ",lease",
			sizeof(value->text) - strlen(value->text) - 1);
}

/* --- Communicators ------------------------------------------------------ */

static void get_COMMUNICATOR_COMM(const struct ncs_row *row,
				  struct ncs_value *value)
{
	set_comm(value, row->communicator->identity);
}

static void get_COMMUNICATOR_NRANKS(const struct ncs_row *row,
				    struct ncs_value *value)
{
	set_nranks(value, row->communicator->identity);
}

static void get_COMMUNICATOR_SEEN(const struct ncs_row *row,
				  struct ncs_value *value)
{
	set_number(value, row->communicator->rank_count);
}

static void get_COMMUNICATOR_LIVE(const struct ncs_row *row,
				  struct ncs_value *value)
{
	set_number(value, row->communicator->live);
}

static void get_COMMUNICATOR_SILENT(const struct ncs_row *row,
				    struct ncs_value *value)
{
	set_number(value, row->communicator->silent);
}

static void get_COMMUNICATOR_DEAD(const struct ncs_row *row,
				  struct ncs_value *value)
{
	set_number(value, row->communicator->dead);
}

static void get_COMMUNICATOR_FUNCTION(const struct ncs_row *row,
				      struct ncs_value *value)
{
	if (row->communicator->progress.known > 0)
		set_text(value, ncs_function_name(row->communicator->function));
}

static void get_COMMUNICATOR_SEQUENCE(const struct ncs_row *row,
				      struct ncs_value *value)
{
	if (row->communicator->progress.known > 0)
		set_number(value, row->communicator->progress.most);
}

/* Who is alone is neither behind nor level. */
static void get_COMMUNICATOR_BEHIND(const struct ncs_row *row,
				    struct ncs_value *value)
{
	const struct ncs_progress *progress = &row->communicator->progress;

	if (progress->known > 1)
		set_number(value, ncs_progress_behind(progress));
}

static void get_COMMUNICATOR_SLOWEST(const struct ncs_row *row,
				     struct ncs_value *value)
{
	const struct ncs_progress *progress = &row->communicator->progress;

	if (ncs_progress_behind(progress) > 0)
		set_rank(value, progress->slowest);
}

static void get_COMMUNICATOR_OLDEST(const struct ncs_row *row,
				    struct ncs_value *value)
{
	const struct ncs_wait *oldest = &row->communicator->oldest;

	if (oldest->channel)
		set_count(value, NCS_VALUE_DURATION, oldest->duration_ns);
}

static void get_COMMUNICATOR_OPERATIONS_RATE(const struct ncs_row *row,
					     struct ncs_value *value)
{
	set_known(value, NCS_VALUE_RATE, row->communicator->operations_rate);
}

static void get_COMMUNICATOR_SEND_RATE(const struct ncs_row *row,
				       struct ncs_value *value)
{
	set_known(value, NCS_VALUE_BYTES_RATE, row->communicator->send_rate);
}

static void get_COMMUNICATOR_RECV_RATE(const struct ncs_row *row,
				       struct ncs_value *value)
{
	set_known(value, NCS_VALUE_BYTES_RATE, row->communicator->recv_rate);
}

static void get_COMMUNICATOR_SKEW(const struct ncs_row *row,
				  struct ncs_value *value)
{
	const struct ncs_skew *skew = ncs_communicator_skew(row->communicator);

	if (skew)
		set_apart(value, skew->median_ns, skew->error_ns);
}

static void get_COMMUNICATOR_TRANSFER(const struct ncs_row *row,
				      struct ncs_value *value)
{
	const struct ncs_skew *skew = ncs_communicator_skew(row->communicator);

	if (skew && skew->transfers > 0)
		set_apart(value, skew->transfer_ns, skew->error_ns);
}

static void get_COMMUNICATOR_STRAGGLER(const struct ncs_row *row,
				       struct ncs_value *value)
{
	const struct ncs_rank *straggler =
		ncs_communicator_straggler(row->communicator);

	if (straggler)
		set_rank(value, straggler);
}

static void get_COMMUNICATOR_LOST(const struct ncs_row *row,
				  struct ncs_value *value)
{
	set_number(value, row->communicator->lost);
}

static void get_COMMUNICATOR_ID(const struct ncs_row *row,
				struct ncs_value *value)
{
	const struct ncs_identity *identity = row->communicator->identity;

	if (!(identity->known & NCS_KNOWN_COMM_ID))
		return;
	value->kind = NCS_VALUE_TEXT;
	snprintf(value->text, sizeof(value->text), "%016" PRIx64,
		 identity->comm_id);
}

/* --- Channels ----------------------------------------------------------- */

#define get_CHANNEL_RANK get_RANK_RANK
#define get_CHANNEL_COMM get_RANK_COMM

static void get_CHANNEL_CHANNEL(const struct ncs_row *row,
				struct ncs_value *value)
{
	set_number(value, channel_of(row)->channel);
}

static void get_CHANNEL_DIRECTION(const struct ncs_row *row,
				  struct ncs_value *value)
{
	set_text(value, channel_of(row)->send ? "send" : "recv");
}

static void get_CHANNEL_PEER(const struct ncs_row *row, struct ncs_value *value)
{
	value->kind = NCS_VALUE_NUMBER;
	value->number = channel_of(row)->peer;
}

static void get_CHANNEL_STATE(const struct ncs_row *row,
			      struct ncs_value *value)
{
	set_text(value, ncs_channel_state_label(channel_of(row)->state));
}

static void get_CHANNEL_SINCE(const struct ncs_row *row,
			      struct ncs_value *value)
{
	set_span(value, channel_of(row)->since_ns, ncs_rank_end_ns(row->rank));
}

static void get_CHANNEL_STEP(const struct ncs_row *row, struct ncs_value *value)
{
	const struct ncs_channel_view *channel = channel_of(row);

	if (!is_busy(channel))
		return;
	value->kind = NCS_VALUE_TEXT;
	if (channel->nsteps > 0)
		snprintf(value->text, sizeof(value->text),
			 "%" PRIu64 "/%" PRIu64, channel->step,
			 channel->nsteps);
	else
		snprintf(value->text, sizeof(value->text), "%" PRIu64,
			 channel->step);
}

static void get_CHANNEL_FUNCTION(const struct ncs_row *row,
				 struct ncs_value *value)
{
	const struct ncs_channel_view *channel = channel_of(row);

	if (channel->operation != 0)
		set_text(value, ncs_function_name(channel->function));
}

static void get_CHANNEL_RATE(const struct ncs_row *row, struct ncs_value *value)
{
	const struct ncs_channel_view *channel = channel_of(row);
	const struct ncs_channel_counters *base = channel_base(row);

	if (!ncs_channel_bytes_known(channel))
		return;
	set_rate(value, NCS_VALUE_REAL, row->rank, channel->bytes,
		 base ? base->bytes : 0);
	value->real /= 1e6;
}

static void get_CHANNEL_TRACE(const struct ncs_row *row,
			      struct ncs_value *value)
{
	const struct ncs_recent_values *traces = &row->rank->traces;

	if (row->index < traces->channel_count)
		set_trace(value, row->rank, &traces->channels[row->index].rate);
}

static void get_CHANNEL_BYTES(const struct ncs_row *row,
			      struct ncs_value *value)
{
	const struct ncs_channel_view *channel = channel_of(row);

	if (ncs_channel_bytes_known(channel))
		set_count(value, NCS_VALUE_BYTES, channel->bytes);
}

static void get_CHANNEL_GPU_SHARE(const struct ncs_row *row,
				  struct ncs_value *value)
{
	set_channel_share(value, row,
			  channel_of(row)->send ? NCS_CHANNEL_SEND_GPU_WAIT :
						  NCS_CHANNEL_RECV_GPU_WAIT);
}

static void get_CHANNEL_PEER_SHARE(const struct ncs_row *row,
				   struct ncs_value *value)
{
	const struct ncs_channel_view *channel = channel_of(row);

	if (ncs_channel_peer_wait_known(row->rank, channel))
		set_channel_share(value, row,
				  channel->send ? NCS_CHANNEL_SEND_PEER_WAIT :
						  NCS_CHANNEL_RECV_WAIT);
}

static void get_CHANNEL_NET_SHARE(const struct ncs_row *row,
				  struct ncs_value *value)
{
	set_channel_share(value, row,
			  channel_of(row)->send ? NCS_CHANNEL_SEND_WAIT :
						  NCS_CHANNEL_RECV_FLUSH_WAIT);
}

static void get_CHANNEL_IDLE_SHARE(const struct ncs_row *row,
				   struct ncs_value *value)
{
	set_channel_share(value, row, NCS_CHANNEL_IDLE);
}

static void get_CHANNEL_OPERATIONS(const struct ncs_row *row,
				   struct ncs_value *value)
{
	set_number(value, channel_of(row)->operations_started);
}

static void get_CHANNEL_STEPS(const struct ncs_row *row,
			      struct ncs_value *value)
{
	set_number(value, channel_of(row)->steps_done);
}

/* --- The proxy thread --------------------------------------------------- */

#define get_PROXY_RANK get_RANK_RANK
#define get_PROXY_COMM get_RANK_COMM
#define get_PROXY_PID get_RANK_PID
#define get_PROXY_STATE get_RANK_PROXY

static void get_PROXY_SINCE(const struct ncs_row *row, struct ncs_value *value)
{
	if (ncs_rank_proxy_known(row->rank))
		set_span(value, row->rank->now.proxy.since_ns,
			 ncs_rank_end_ns(row->rank));
}

static void get_PROXY_SLEEP_SHARE(const struct ncs_row *row,
				  struct ncs_value *value)
{
	set_proxy_share(value, row, NCS_PROXY_SLEEP);
}

static void get_PROXY_IDLE_SHARE(const struct ncs_row *row,
				 struct ncs_value *value)
{
	set_proxy_share(value, row, NCS_PROXY_IDLE);
}

static void get_PROXY_ACTIVE_SHARE(const struct ncs_row *row,
				   struct ncs_value *value)
{
	set_proxy_share(value, row, NCS_PROXY_ACTIVE);
}

static void get_PROXY_APPEND_SHARE(const struct ncs_row *row,
				   struct ncs_value *value)
{
	set_proxy_share(value, row, NCS_PROXY_APPEND);
}

static void set_transition_rate(struct ncs_value *value,
				const struct ncs_row *row,
				enum ncs_proxy_transition transition)
{
	const struct ncs_rank *rank = row->rank;

	if (ncs_rank_proxy_known(rank) && rank->base)
		set_rate(value, NCS_VALUE_RATE, rank,
			 rank->now.proxy.count[transition],
			 rank->base->proxy_count[transition]);
}

static void get_PROXY_WAKEUP_RATE(const struct ncs_row *row,
				  struct ncs_value *value)
{
	set_transition_rate(value, row, NCS_TRANSITION_WAKEUP);
}

static void get_PROXY_IDLE_RATE(const struct ncs_row *row,
				struct ncs_value *value)
{
	set_transition_rate(value, row, NCS_TRANSITION_IDLE);
}

static void get_PROXY_ACTIVE_RATE(const struct ncs_row *row,
				  struct ncs_value *value)
{
	set_transition_rate(value, row, NCS_TRANSITION_ACTIVE);
}

static void get_PROXY_APPEND_RATE(const struct ncs_row *row,
				  struct ncs_value *value)
{
	set_transition_rate(value, row, NCS_TRANSITION_APPEND);
}

static void get_PROXY_APPENDED(const struct ncs_row *row,
			       struct ncs_value *value)
{
	if (ncs_rank_proxy_known(row->rank))
		set_number(value, row->rank->now.proxy.appended_operations);
}

/* --- Functions ---------------------------------------------------------- */

#define get_FUNCTION_RANK get_RANK_RANK
#define get_FUNCTION_COMM get_RANK_COMM

static void get_FUNCTION_FUNCTION(const struct ncs_row *row,
				  struct ncs_value *value)
{
	set_text(value, ncs_function_name((unsigned)row->index));
}

static void get_FUNCTION_CALLS(const struct ncs_row *row,
			       struct ncs_value *value)
{
	if (ncs_rank_calls_known(row->rank))
		set_number(value, function_of(row)->calls);
}

static void get_FUNCTION_OPERATIONS(const struct ncs_row *row,
				    struct ncs_value *value)
{
	set_number(value, function_of(row)->operations);
}

static void get_FUNCTION_DONE(const struct ncs_row *row,
			      struct ncs_value *value)
{
	if (function_of(row)->with_children > 0)
		set_number(value, function_of(row)->operations_done);
}

static void get_FUNCTION_RATE(const struct ncs_row *row,
			      struct ncs_value *value)
{
	const struct ncs_counters *base = row->rank->base;

	if (base)
		set_rate(value, NCS_VALUE_RATE, row->rank,
			 function_of(row)->operations,
			 base->functions[row->index].operations);
}

static void get_FUNCTION_BYTES(const struct ncs_row *row,
			       struct ncs_value *value)
{
	if (ncs_function_bytes_known(function_of(row)))
		set_count(value, NCS_VALUE_BYTES, function_of(row)->bytes);
}

static void get_FUNCTION_ALGBW(const struct ncs_row *row,
			       struct ncs_value *value)
{
	set_known(value, NCS_VALUE_REAL,
		  ncs_rank_algorithm_bandwidth(row->rank,
					       (unsigned)row->index));
}

static void get_FUNCTION_BUSBW(const struct ncs_row *row,
			       struct ncs_value *value)
{
	set_known(value, NCS_VALUE_REAL,
		  ncs_rank_bus_bandwidth(row->rank, (unsigned)row->index));
}

static void get_FUNCTION_TRACE(const struct ncs_row *row,
			       struct ncs_value *value)
{
	set_trace(value, row->rank, &row->rank->traces.busbw[row->index]);
}

static void set_percentile(struct ncs_value *value, const struct ncs_row *row,
			   double fraction)
{
	uint64_t time_ns =
		ncs_rank_percentile(row->rank, (unsigned)row->index, fraction);

	if (time_ns > 0)
		set_count(value, NCS_VALUE_DURATION, time_ns);
}

static void get_FUNCTION_P50(const struct ncs_row *row, struct ncs_value *value)
{
	set_percentile(value, row, 0.50);
}

static void get_FUNCTION_P95(const struct ncs_row *row, struct ncs_value *value)
{
	set_percentile(value, row, 0.95);
}

static void get_FUNCTION_P99(const struct ncs_row *row, struct ncs_value *value)
{
	set_percentile(value, row, 0.99);
}

static void get_FUNCTION_MAX(const struct ncs_row *row, struct ncs_value *value)
{
	set_percentile(value, row, 1);
}

static void get_FUNCTION_TIMING(const struct ncs_row *row,
				struct ncs_value *value)
{
	set_text(value, ncs_timing_name(ncs_function_timing(function_of(row))));
}

static void get_FUNCTION_TIMED(const struct ncs_row *row,
			       struct ncs_value *value)
{
	unsigned timing = ncs_function_timing(function_of(row));

	set_number(value, timing < NCS_TIMING_COUNT ?
				  function_of(row)->timed[timing] :
				  0);
}

static void get_FUNCTION_SEQUENCE(const struct ncs_row *row,
				  struct ncs_value *value)
{
	uint64_t last = function_of(row)->last_sequence_number;

	if (last != NCS_NO_SEQUENCE_NUMBER)
		set_number(value, last);
}

/* --- Classes of operations ---------------------------------------------- */

static const struct ncs_class_view *class_of(const struct ncs_row *row)
{
	return &row->rank->now.classes[row->index];
}

#define get_CLASS_RANK get_RANK_RANK
#define get_CLASS_COMM get_RANK_COMM

static void get_CLASS_FUNCTION(const struct ncs_row *row,
			       struct ncs_value *value)
{
	set_text(value, ncs_function_name(class_of(row)->function));
}

static void get_CLASS_SIZE(const struct ncs_row *row, struct ncs_value *value)
{
	const struct ncs_class_view *view = class_of(row);

	if (ncs_class_is_other(view))
		set_text(value, "other");
	else if (view->size_class != NCS_SIZE_CLASS_UNKNOWN)
		set_count(value, NCS_VALUE_SIZE,
			  ncs_size_class_low(view->size_class));
}

static void get_CLASS_ALGORITHM(const struct ncs_row *row,
				struct ncs_value *value)
{
	unsigned algorithm = class_of(row)->algorithm;

	if (ncs_class_is_other(class_of(row)))
		set_text(value, "other");
	else if (algorithm != NCS_ALGORITHM_UNKNOWN)
		set_text(value, ncs_algorithm_name(algorithm));
}

static void get_CLASS_PROTOCOL(const struct ncs_row *row,
			       struct ncs_value *value)
{
	unsigned protocol = class_of(row)->protocol;

	if (ncs_class_is_other(class_of(row)))
		set_text(value, "other");
	else if (protocol != NCS_PROTOCOL_UNKNOWN)
		set_text(value, ncs_protocol_name(protocol));
}

static void get_CLASS_OPERATIONS(const struct ncs_row *row,
				 struct ncs_value *value)
{
	set_number(value, class_of(row)->operations);
}

static void get_CLASS_RATE(const struct ncs_row *row, struct ncs_value *value)
{
	const struct ncs_counters *base = row->rank->base;

	if (base)
		set_rate(value, NCS_VALUE_RATE, row->rank,
			 class_of(row)->operations,
			 ncs_counters_class(base, class_of(row)));
}

static void get_CLASS_TIMED(const struct ncs_row *row, struct ncs_value *value)
{
	const struct ncs_class_times *times = ncs_times_of_class(class_of(row));

	set_number(value, times ? times->timed : 0);
}

static void get_CLASS_TIME(const struct ncs_row *row, struct ncs_value *value)
{
	const struct ncs_class_times *times = ncs_times_of_class(class_of(row));

	if (times)
		set_count(value, NCS_VALUE_DURATION,
			  times->time_ns / times->timed);
}

static void get_CLASS_ALGBW(const struct ncs_row *row, struct ncs_value *value)
{
	double bandwidth =
		ncs_class_algorithm_bandwidth(row->rank, class_of(row));

	if (bandwidth >= 0)
		set_real(value, NCS_VALUE_REAL, bandwidth);
}

static void get_CLASS_BUSBW(const struct ncs_row *row, struct ncs_value *value)
{
	double bandwidth = ncs_class_bus_bandwidth(row->rank, class_of(row));

	if (bandwidth >= 0)
		set_real(value, NCS_VALUE_REAL, bandwidth);
}

static void set_class_percentile(struct ncs_value *value,
				 const struct ncs_row *row, double fraction)
{
	const struct ncs_class_times *times = ncs_times_of_class(class_of(row));

	if (times)
		set_count(value, NCS_VALUE_DURATION,
			  ncs_class_percentile(row->rank, times, fraction));
}

static void get_CLASS_P50(const struct ncs_row *row, struct ncs_value *value)
{
	set_class_percentile(value, row, 0.50);
}

static void get_CLASS_P95(const struct ncs_row *row, struct ncs_value *value)
{
	set_class_percentile(value, row, 0.95);
}

static void get_CLASS_P99(const struct ncs_row *row, struct ncs_value *value)
{
	set_class_percentile(value, row, 0.99);
}

static void get_CLASS_MAX(const struct ncs_row *row, struct ncs_value *value)
{
	const struct ncs_class_times *times = ncs_times_of_class(class_of(row));

	if (times && times->longest_ns > 0)
		set_count(value, NCS_VALUE_DURATION, times->longest_ns);
}

static void get_CLASS_TIMING(const struct ncs_row *row, struct ncs_value *value)
{
	set_text(value, ncs_timing_name(ncs_class_timing(class_of(row))));
}

/* --- Tracks ------------------------------------------------------------- */

#define get_TIMELINE_RANK get_RANK_RANK
#define get_TIMELINE_COMM get_RANK_COMM

static void get_TIMELINE_LANE(const struct ncs_row *row,
			      struct ncs_value *value)
{
	unsigned level = row->rank->now.sampling.level;
	struct ncs_track track;

	if (!ncs_track_at(row->rank, row->index, &track))
		return;
	value->kind = NCS_VALUE_TEXT;
	ncs_track_name(&track, value->text, sizeof(value->text));
	if (track.kind == NCS_TRACK_CHANNEL && level > 0)
		ncs_append(value->text, sizeof(value->text), " 1/%u",
			   1u << level);
}

static void get_TIMELINE_NOW(const struct ncs_row *row, struct ncs_value *value)
{
	struct ncs_stretch now;
	struct ncs_track track;

	if (ncs_track_at(row->rank, row->index, &track) &&
	    ncs_track_now(row->rank, &track, &now))
		set_text(value, ncs_activity_label(now.activity));
}

static void get_TIMELINE_SINCE(const struct ncs_row *row,
			       struct ncs_value *value)
{
	struct ncs_stretch now;
	struct ncs_track track;

	if (ncs_track_at(row->rank, row->index, &track) &&
	    ncs_track_now(row->rank, &track, &now))
		set_span(value, now.start_ns, now.end_ns);
}

/* --- Findings ----------------------------------------------------------- */

static void get_FINDING_SEVERITY(const struct ncs_row *row,
				 struct ncs_value *value)
{
	set_text(value, ncs_severity_name(row->finding->severity));
}

static void get_FINDING_VERDICT(const struct ncs_row *row,
				struct ncs_value *value)
{
	set_text(value, ncs_verdict_name(row->finding->verdict));
}

static void set_party(struct ncs_value *value, const struct ncs_party *party)
{
	if (party->number >= 0)
		set_number(value, (uint64_t)party->number);
}

static void get_FINDING_RANK(const struct ncs_row *row, struct ncs_value *value)
{
	set_party(value, &row->finding->root);
}

static void get_FINDING_COMM(const struct ncs_row *row, struct ncs_value *value)
{
	const struct ncs_communicator *communicator =
		row->finding->root.communicator;
	char text[sizeof(value->text)] = "";

	if (communicator)
		ncs_comm_text(communicator->identity, text, sizeof(text));
	set_text(value, text);
}

static void get_FINDING_PEER(const struct ncs_row *row, struct ncs_value *value)
{
	set_party(value, &row->finding->peer);
}

static void get_FINDING_CHANNEL(const struct ncs_row *row,
				struct ncs_value *value)
{
	if (row->finding->channel)
		set_number(value, row->finding->channel->channel);
}

static void get_FINDING_CALL(const struct ncs_row *row, struct ncs_value *value)
{
	const struct ncs_call *call = &row->finding->call;

	if (call->function >= NCS_FUNCTION_COUNT)
		return;
	set_text(value, ncs_function_name(call->function));
	if (call->sequence_number != NCS_NO_SEQUENCE_NUMBER)
		ncs_append(value->text, sizeof(value->text), " %" PRIu64,
			   call->sequence_number);
}

static void get_FINDING_SINCE(const struct ncs_row *row,
			      struct ncs_value *value)
{
	if (row->finding->duration_ns > 0)
		set_count(value, NCS_VALUE_DURATION, row->finding->duration_ns);
}

static void get_FINDING_WAITING(const struct ncs_row *row,
				struct ncs_value *value)
{
	set_number(value, row->finding->waiting);
}

static void get_FINDING_CONFIDENCE(const struct ncs_row *row,
				   struct ncs_value *value)
{
	set_text(value, ncs_confidence_name(row->finding->confidence));
}

/* --- Ranges ------------------------------------------------------------- */

static const struct ncs_range_sum *sum_of(const struct ncs_row *row)
{
	return &row->rank->ranges[row->index];
}

#define get_RANGE_RANK get_RANK_RANK
#define get_RANGE_COMM get_RANK_COMM

/* Deeper ones stand further to the right, up to a point. */
#define INDENT_MAX 12u

static void get_RANGE_NAME(const struct ncs_row *row, struct ncs_value *value)
{
	const struct ncs_range_sum *sum = sum_of(row);
	const char *name = sum->range->name;

	value->kind = NCS_VALUE_TEXT;
	for (unsigned i = 0; i < sum->depth && i < INDENT_MAX; i++)
		ncs_append(value->text, sizeof(value->text), "  ");
	ncs_append(value->text, sizeof(value->text), "%s",
		   name[0] ? name : "(no name)");
}

static void get_RANGE_CALLS(const struct ncs_row *row, struct ncs_value *value)
{
	if (ncs_rank_calls_known(row->rank))
		set_number(value, sum_of(row)->calls);
}

static void get_RANGE_OPERATIONS(const struct ncs_row *row,
				 struct ncs_value *value)
{
	set_number(value, sum_of(row)->operations);
}

static void get_RANGE_BYTES(const struct ncs_row *row, struct ncs_value *value)
{
	if (sum_of(row)->size_unknown == 0)
		set_count(value, NCS_VALUE_BYTES, sum_of(row)->bytes);
}

static void get_RANGE_TIME(const struct ncs_row *row, struct ncs_value *value)
{
	unsigned timing = ncs_range_timing(sum_of(row));

	if (timing < NCS_TIMING_COUNT)
		set_count(value, NCS_VALUE_DURATION,
			  sum_of(row)->time_ns[timing]);
}

static void get_RANGE_BUSY(const struct ncs_row *row, struct ncs_value *value)
{
	if (sum_of(row)->with_children > 0)
		set_count(value, NCS_VALUE_DURATION,
			  sum_of(row)->range->busy_ns);
}

static void get_RANGE_ALGBW(const struct ncs_row *row, struct ncs_value *value)
{
	double bandwidth = ncs_range_bandwidth(sum_of(row));

	if (bandwidth >= 0)
		set_real(value, NCS_VALUE_REAL, bandwidth);
}

static void get_RANGE_BUSYBW(const struct ncs_row *row, struct ncs_value *value)
{
	double bandwidth = ncs_range_busy_bandwidth(sum_of(row));

	if (bandwidth >= 0)
		set_real(value, NCS_VALUE_REAL, bandwidth);
}

static void get_RANGE_WAIT(const struct ncs_row *row, struct ncs_value *value)
{
	double share;
	enum ncs_channel_state wait = ncs_range_wait(sum_of(row), &share);

	if (wait != NCS_CHANNEL_IDLE)
		set_text(value, ncs_channel_state_label(wait));
}

static void get_RANGE_SHARE(const struct ncs_row *row, struct ncs_value *value)
{
	double share;

	if (ncs_range_wait(sum_of(row), &share) != NCS_CHANNEL_IDLE)
		set_real(value, NCS_VALUE_SHARE, share);
}

static void get_RANGE_COMPUTE(const struct ncs_row *row,
			      struct ncs_value *value)
{
	const struct ncs_gpu_time *gpu = &sum_of(row)->gpu;

	if (gpu->compute_kernels > 0)
		set_count(value, NCS_VALUE_DURATION, gpu->compute_busy_ns);
}

static void get_RANGE_HIDDEN(const struct ncs_row *row, struct ncs_value *value)
{
	const struct ncs_gpu_time *gpu = &sum_of(row)->gpu;

	if (gpu->communication_ns > 0)
		set_real(value, NCS_VALUE_SHARE,
			 (double)gpu->hidden_ns /
				 (double)gpu->communication_ns);
}

static void set_range_percentile(struct ncs_value *value,
				 const struct ncs_row *row, double fraction)
{
	uint64_t time_ns =
		ncs_range_percentile(&row->rank->now, sum_of(row), fraction);

	if (time_ns > 0)
		set_count(value, NCS_VALUE_DURATION, time_ns);
}

static void get_RANGE_P50(const struct ncs_row *row, struct ncs_value *value)
{
	set_range_percentile(value, row, 0.50);
}

static void get_RANGE_P99(const struct ncs_row *row, struct ncs_value *value)
{
	set_range_percentile(value, row, 0.99);
}

/* --- The table ---------------------------------------------------------- */

#define X(VIEW, ID, title, width, align, priority, level, help) \
	static void start_##VIEW##_##ID(const struct ncs_row *row, \
					struct ncs_value *value) \
	{ \
		memset(value, 0, sizeof(*value)); \
		get_##VIEW##_##ID(row, value); \
	}
NCS_COLUMNS(X)
#undef X

const struct ncs_column ncs_columns[] = {
#define X(VIEW, ID, title_, width_, align_, priority_, level_, help_) \
	{ \
		.view = NCS_VIEW_##VIEW, \
		.id = #VIEW "_" #ID, \
		.title = title_, \
		.width = width_, \
		.align = NCS_ALIGN_##align_, \
		.priority = priority_, \
		.level = NCS_COLUMN_##level_, \
		.help = help_, \
		.get = start_##VIEW##_##ID, \
	},
	NCS_COLUMNS(X)
#undef X
};

const size_t ncs_column_count = sizeof(ncs_columns) / sizeof(ncs_columns[0]);

/* --- Rows --------------------------------------------------------------- */

static size_t entries(const struct ncs_rank *rank, enum ncs_view view)
{
	if (view == NCS_VIEW_CHANNEL)
		return rank->now.channel_count;
	if (view == NCS_VIEW_CLASS)
		return rank->now.class_count;
	if (view == NCS_VIEW_TIMELINE)
		return ncs_track_count(rank);
	if (view == NCS_VIEW_RANGE)
		return rank->now.range_count;
	return view == NCS_VIEW_FUNCTION ? NCS_FUNCTION_COUNT : 1;
}

static bool is_shown(const struct ncs_rank *rank, enum ncs_view view,
		     size_t index)
{
	struct ncs_track track;

	if (view == NCS_VIEW_TIMELINE)
		return ncs_track_at(rank, index, &track);
	return view != NCS_VIEW_FUNCTION ||
	       ncs_function_is_used(&rank->now.functions[index]);
}

static int reserve_rows(struct ncs_row **rows, size_t *capacity, size_t count)
{
	struct ncs_row *grown_rows;

	if (count <= *capacity)
		return 0;
	grown_rows = realloc(*rows, count * sizeof(**rows));
	if (!grown_rows)
		return -ENOMEM;
	*rows = grown_rows;
	*capacity = count;
	return 0;
}

static int communicator_rows(const struct ncs_model *model,
			     struct ncs_row **rows, size_t *capacity)
{
	size_t count = model->communicator_count;

	if (reserve_rows(rows, capacity, count) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		(*rows)[i] = (struct ncs_row){
			.view = NCS_VIEW_COMMUNICATOR,
			.communicator = &model->communicators[i],
		};
	return (int)count;
}

static int finding_rows(const struct ncs_model *model, struct ncs_row **rows,
			size_t *capacity)
{
	const struct ncs_diagnosis *diagnosis = model->diagnosis;
	size_t most = diagnosis ? diagnosis->count : 0, count = 0;

	if (reserve_rows(rows, capacity, most) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < most; i++) {
		const struct ncs_finding *finding = &diagnosis->findings[i];
		const struct ncs_party *root = &finding->root;
		const struct ncs_rank *rank = root->rank;

		if (!rank && root->communicator)
			rank = root->communicator->ranks[0];
		if (rank)
			(*rows)[count++] = (struct ncs_row){
				.view = NCS_VIEW_FINDING,
				.finding = finding,
				.rank = rank,
				.index = i,
			};
	}
	return (int)count;
}

int ncs_rows(const struct ncs_model *model, enum ncs_view view,
	     struct ncs_row **rows, size_t *capacity)
{
	size_t most = 0, count = 0;

	if (view == NCS_VIEW_FINDING)
		return finding_rows(model, rows, capacity);

	if (view == NCS_VIEW_COMMUNICATOR)
		return communicator_rows(model, rows, capacity);
	for (size_t i = 0; i < model->rank_count; i++)
		most += entries(model->ranks[i], view);
	if (reserve_rows(rows, capacity, most) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];

		for (size_t k = 0; k < entries(rank, view); k++)
			if (is_shown(rank, view, k))
				(*rows)[count++] = (struct ncs_row){
					.view = view,
					.rank = rank,
					.index = k,
				};
	}
	return (int)count;
}

/* --- Order -------------------------------------------------------------- */

static bool is_real(enum ncs_value_kind kind)
{
	return kind == NCS_VALUE_RATE || kind == NCS_VALUE_BYTES_RATE ||
	       kind == NCS_VALUE_REAL || kind == NCS_VALUE_SHARE ||
	       kind == NCS_VALUE_TRACE;
}

int ncs_value_compare(const struct ncs_value *a, const struct ncs_value *b)
{
	if (a->kind == NCS_VALUE_NONE || b->kind == NCS_VALUE_NONE)
		return (a->kind == NCS_VALUE_NONE) -
		       (b->kind == NCS_VALUE_NONE);
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->kind == NCS_VALUE_TEXT)
		return strverscmp(a->text, b->text);
	if (is_real(a->kind))
		return (a->real > b->real) - (a->real < b->real);
	return (a->number > b->number) - (a->number < b->number);
}
