/* SPDX-License-Identifier: MIT */
/* Computed cells of ranks and communicators. */
#include "analysis/model/rank.h"
#include "analysis/views/getters.h"

#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/append.h"
#include "analysis/base/detail.h"
#include "analysis/base/value_names.h"
#include "analysis/model/communicators.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"
#include "shm/read/job.h"

/* --- Any row -------------------------------------------------------------- */

NCS_GETTER(comm)
{
	char text[sizeof(value->text)];

	ncs_comm_text(ncs_row_identity(row), text, sizeof(text));
	ncs_value_set_text(value, text);
}

NCS_GETTER(nccl_version)
{
	const struct ncs_identity *identity = ncs_row_identity(row);

	if (!(identity->known & NCS_KNOWN_NCCL_VERSION))
		return;
	value->kind = NCS_VALUE_TEXT;
	ncs_nccl_version_text(identity->nccl_version, value->text,
			      sizeof(value->text));
}

NCS_GETTER(job)
{
	const struct ncs_rank *rank =
		row->communicator ? row->communicator->ranks[0] : row->rank;
	const char *name;

	if (ncs_job_of(rank->labels, &name) != NCS_JOB_NONE)
		ncs_value_set_text(value, name);
}

void ncs_value_set_recent(struct ncs_value *value,
			  const struct ncs_recent *recent, uint64_t count)
{
	if (!ncs_recent_is_known(recent, count))
		return;
	value->kind = NCS_VALUE_RECENT;
	value->recent = recent;
	value->recent_count = count;
	value->real = ncs_recent_latest(recent, count);
}

static void set_rank(struct ncs_value *value, const struct ncs_rank *rank)
{
	if (!(rank->now.identity.known & NCS_KNOWN_RANK))
		return;
	value->kind = NCS_VALUE_NUMBER;
	value->number = rank->now.identity.rank;
}

NCS_GETTER(rank_pid)
{
	value->kind = NCS_VALUE_NUMBER;
	value->number = ncs_rank_pid(row->rank);
}

/* Sets "1b:00" for "0000:1b:00.0": most machines have one domain, and a GPU has
 * one function. */
NCS_GETTER(rank_gpu)
{
	const struct ncs_identity *identity = &row->rank->now.identity;
	const char *text = identity->gpu;
	size_t length;

	if (!(identity->known & NCS_KNOWN_GPU))
		return;
	length = strspn(text, "0");
	if (text[length] == ':' && strchr(text + length + 1, ':'))
		text += length + 1;
	ncs_value_set_text(value, text);
	length = strlen(value->text);
	if (length > 2 && strcmp(value->text + length - 2, ".0") == 0)
		value->text[length - 2] = '\0';
}

NCS_GETTER(rank_state)
{
	if (row->rank->is_past)
		ncs_value_set_text(value, "past");
	else
		ncs_value_set_text(value,
				   ncs_liveness_name(row->rank->now.liveness));
	value->is_stale = row->rank->is_past;
}

void ncs_value_set_lasting(struct ncs_value *value, const struct ncs_rank *rank,
			   uint64_t since_ns)
{
	ncs_value_set_span(value, since_ns, ncs_rank_end_ns(rank));
	if (ncs_rank_end_is_known(rank))
		return;
	value->is_least = true;
	if (value->number == 0)
		value->kind = NCS_VALUE_NONE;
}

/* --- Ranks ---------------------------------------------------------------- */

/* Returns the channel that has been in a state longest; NULL if there is
 * none. */
static const struct ncs_channel_view *
oldest_channel(const struct ncs_snapshot *now, enum ncs_channel_state state)
{
	const struct ncs_channel_view *oldest = NULL;

	for (size_t i = 0; i < now->channel_count; i++) {
		const struct ncs_channel_view *channel = &now->channels[i];

		if (channel->state == state &&
		    (!oldest || channel->since_ns < oldest->since_ns))
			oldest = channel;
	}
	return oldest;
}

/* Returns the channel that has been longest in the state that most busy channels are
 * in, of several the one that has lasted longest; NULL if no channel is busy. */
static const struct ncs_channel_view *usual_wait(const struct ncs_snapshot *now)
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
	return best;
}

/* Whether others wait in a call that the rank has not made: it is in none, and
 * those of its communicator that are ahead do not get on. */
static bool has_not_called(const struct ncs_rank *rank)
{
	const struct ncs_communicator *communicator = rank->communicator;
	uint64_t number;

	if (!communicator || rank->now.operation_count > 0 ||
	    !ncs_rank_is_live(rank) || communicator->progress.known == 0 ||
	    !ncs_progress_is_held_up(&communicator->progress,
				     communicator->function))
		return false;
	number =
		rank->now.functions[communicator->function].last_sequence_number;
	return number == communicator->progress.least;
}

/* Whether a wait in this state is for the rank at the other end. */
static bool has_peer(enum ncs_channel_state state)
{
	return state == NCS_CHANNEL_SEND_PEER_WAIT ||
	       state == NCS_CHANNEL_SEND_WAIT || state == NCS_CHANNEL_RECV_WAIT;
}

/* One word, as all cells: lines of a dump are split at blanks. */
NCS_GETTER(rank_wait)
{
	const struct ncs_snapshot *now = &row->rank->now;
	const struct ncs_channel_view *channel = usual_wait(now);
	struct ncs_launch_wait wait = ncs_rank_launch_wait(row->rank);

	if (channel) {
		ncs_value_set_text(value,
				   ncs_channel_state_label(channel->state));
		if (has_peer(channel->state))
			ncs_append(value->text, sizeof(value->text), ":%d",
				   channel->peer);
	} else if (wait.operation) {
		ncs_value_set_text(value, ncs_launch_wait_name(wait.kind));
	} else if (has_not_called(row->rank)) {
		ncs_value_set_text(value, "host:no-call");
	} else if (now->channel_count > 0) {
		ncs_value_set_text(value,
				   ncs_channel_state_label(NCS_CHANNEL_IDLE));
	}
}

NCS_GETTER(rank_oldest)
{
	struct ncs_oldest oldest = ncs_rank_oldest(row->rank);

	if (ncs_rank_end_is_known(row->rank) && oldest.since_ns != 0)
		ncs_value_set(value, NCS_VALUE_DURATION, oldest.duration_ns);
	else
		ncs_value_set_lasting(value, row->rank, oldest.since_ns);
}

NCS_GETTER(rank_operation)
{
	const struct ncs_snapshot *now = &row->rank->now;

	if (now->operation_count > 0)
		ncs_value_set_call(value, now->operations[0].function,
				   now->operations[0].sequence_number);
}

NCS_GETTER(rank_user_tag)
{
	const struct ncs_snapshot *now = &row->rank->now;

	if (now->operation_count == 0 || now->operations[0].user_tag == 0)
		return;
	/* A text, since a tag is a name: all its digits count. */
	value->kind = NCS_VALUE_TEXT;
	snprintf(value->text, sizeof(value->text), "%" PRIu64,
		 now->operations[0].user_tag);
}

NCS_GETTER(rank_operations_rate)
{
	ncs_value_set_real(value, NCS_VALUE_RATE,
			   ncs_rank_operations_rate(row->rank));
}

NCS_GETTER(rank_bytes_rate)
{
	ncs_value_set_real(value, NCS_VALUE_BYTES_RATE,
			   ncs_rank_bytes_rate(row->rank, argument != 0));
}

NCS_GETTER(rank_busbw)
{
	const struct ncs_communicator *communicator = row->rank->communicator;

	if (!communicator || communicator->busiest.view.operations == 0)
		return;
	ncs_value_set_real(value, NCS_VALUE_REAL,
			   communicator->busiest.view.busbw);
	value->is_stale = communicator->busiest.view.is_stale;
}

NCS_GETTER(rank_recent)
{
	uint64_t count;
	const struct ncs_recent *recent =
		ncs_busiest_recent(row->rank->communicator, &count);

	if (recent)
		ncs_value_set_recent(value, recent, count);
}

NCS_GETTER(rank_last_share)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(row->rank);

	if (view)
		ncs_value_set_real(value, NCS_VALUE_SHARE,
				   (double)view->recent.last /
					   (double)view->recent.operations);
}

NCS_GETTER(rank_late_cost)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(row->rank);

	if (view && view->cost.unknown == NCS_COST_KNOWN)
		ncs_value_set_real(value, NCS_VALUE_SHARE,
				   fmax(view->cost.share, 0));
}

NCS_GETTER(rank_late_cause)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(row->rank);

	if (view && view->recent.last > 0)
		ncs_value_set_text(
			value,
			ncs_late_cause_name(ncs_lateness_cause(&view->recent)));
}

NCS_GETTER(rank_lost)
{
	ncs_value_set_number(value, ncs_rank_lost(row->rank));
}

NCS_GETTER(rank_last_call)
{
	ncs_value_set_span(value, row->rank->now.last_call_ns,
			   row->rank->now.taken_ns);
}

NCS_GETTER(rank_ahead)
{
	int64_t ahead = ncs_rank_launches_ahead(row->rank);

	if (ahead >= 0)
		ncs_value_set_number(value, (uint64_t)ahead);
}

NCS_GETTER(rank_moved)
{
	uint64_t moved_ns = ncs_launches_moved_ns(&row->rank->now.launches);

	if (moved_ns != 0)
		ncs_value_set_span(value, moved_ns, row->rank->now.taken_ns);
}

NCS_GETTER(rank_stream)
{
	const struct ncs_launches_view *launches = &row->rank->now.launches;

	if (launches->status == NCS_STREAM_UNKNOWN)
		return;
	ncs_value_set_text(value,
			   ncs_stream_status_name(ncs_launches_told(launches)));
	if (ncs_launches_told(launches) == NCS_STREAM_SOME &&
	    launches->launched > 0)
		snprintf(value->text, sizeof(value->text), "%.0f %%",
			 100 * (double)launches->timed /
				 (double)launches->launched);
}

NCS_GETTER(rank_settings)
{
	const struct ncs_settings_view *settings = &row->rank->now.settings;

	if (!settings->known)
		return;
	value->kind = NCS_VALUE_TEXT;
	ncs_detail_text(&settings->in_force, value->text, sizeof(value->text));
	if (ncs_lease_left_ns(settings, row->rank->now.taken_ns) > 0)
		ncs_append(value->text, sizeof(value->text), ",lease");
}

/* --- Communicators -------------------------------------------------------- */

/* A rank that is alone is neither behind nor level. */
NCS_GETTER(communicator_behind)
{
	const struct ncs_progress *progress = &row->communicator->progress;

	if (progress->known > 1)
		ncs_value_set_number(value, ncs_progress_behind(progress));
}

NCS_GETTER(communicator_slowest)
{
	const struct ncs_progress *progress = &row->communicator->progress;

	if (ncs_progress_behind(progress) > 0)
		set_rank(value, progress->slowest);
}

NCS_GETTER(communicator_ahead)
{
	const struct ncs_communicator *communicator = row->communicator;
	int64_t most = -1;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		int64_t ahead = ncs_rank_launches_ahead(communicator->ranks[i]);

		if (ahead > most)
			most = ahead;
	}
	if (most >= 0)
		ncs_value_set_number(value, (uint64_t)most);
}

NCS_GETTER(communicator_straggler)
{
	const struct ncs_rank *straggler =
		ncs_communicator_straggler(row->communicator);

	if (straggler)
		set_rank(value, straggler);
}

NCS_GETTER(communicator_id)
{
	const struct ncs_identity *identity = row->communicator->identity;

	if (!(identity->known & NCS_KNOWN_COMM_ID))
		return;
	value->kind = NCS_VALUE_TEXT;
	snprintf(value->text, sizeof(value->text), "%016" PRIx64,
		 identity->comm_id);
}
