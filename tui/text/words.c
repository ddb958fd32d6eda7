/* SPDX-License-Identifier: MIT */
/* Parts of sentences that more than one view uses; see words.h. Must not
 * draw. */
#include "tui/text/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/lookup.h"
#include "analysis/base/value_names.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"
#include "analysis/records/step_stats.h"
#include "analysis/views/timeline.h"
#include "tui/text/format.h"

const char *ncs_channel_state_help(unsigned state)
{
	return ncs_activities[NCS_ACTIVITY_CHANNEL + state].help;
}

#define LOSS_HELP(ID, name, what, help) help,

NCS_DEFINE_LOOKUP(ncs_loss_help, NCS_LOSSES, LOSS_HELP, "unknown")

/* --- Phrases ---------------------------------------------------------------- */

struct ncs_phrase ncs_phrase(const char *format, ...)
{
	struct ncs_phrase made;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(made.text, sizeof(made.text), format, arguments);
	va_end(arguments);
	return made;
}

struct ncs_phrase ncs_duration(uint64_t duration_ns)
{
	struct ncs_phrase made;

	ncs_format_duration(made.text, sizeof(made.text), duration_ns, 0);
	return made;
}

struct ncs_phrase ncs_local_time(time_t seconds)
{
	struct ncs_phrase made = { "" };
	struct tm local;

	if (localtime_r(&seconds, &local))
		strftime(made.text, sizeof(made.text), "%F %T", &local);
	return made;
}

struct ncs_phrase ncs_size(uint64_t bytes)
{
	struct ncs_value value = { 0 };
	struct ncs_phrase made;

	ncs_value_set(&value, NCS_VALUE_SIZE, bytes);
	ncs_format_value(made.text, sizeof(made.text), &value, 0, false);
	return made;
}

struct ncs_phrase ncs_lasting(const struct ncs_rank *rank, bool since_death,
			      uint64_t duration_ns)
{
	return ncs_phrase("%s%s",
			  !rank || ncs_rank_end_is_known(rank) ? "" :
			  since_death                          ? "at most " :
								 "at least ",
			  ncs_duration(duration_ns).text);
}

struct ncs_phrase ncs_rank_name(const struct ncs_rank *rank)
{
	const struct ncs_identity *identity = &rank->now.identity;

	if (identity->known & NCS_KNOWN_RANK)
		return ncs_phrase("rank %d", identity->rank);
	return ncs_phrase("pid %u", ncs_rank_pid(rank));
}

struct ncs_phrase ncs_of(const struct ncs_identity *identity,
			 const struct ncs_communicator *communicator)
{
	char name[sizeof(identity->comm_name)];

	if (communicator &&
	    (communicator->identity->known & NCS_KNOWN_COMM_NAME))
		identity = communicator->identity;
	else if (communicator && communicator->is_only)
		return (struct ncs_phrase){ "" };
	ncs_comm_text(identity, name, sizeof(name));
	return ncs_phrase("%s%s", name[0] ? " of " : "", name);
}

struct ncs_phrase ncs_rank_of(const struct ncs_rank *rank)
{
	return ncs_phrase("%s%s", ncs_rank_name(rank).text,
			  ncs_of(&rank->now.identity, rank->communicator).text);
}

struct ncs_phrase
ncs_communicator_name(const struct ncs_communicator *communicator)
{
	const struct ncs_identity *identity = communicator->identity;
	struct ncs_phrase name;

	if (communicator->is_only && !(identity->known & NCS_KNOWN_COMM_NAME))
		return ncs_phrase("the communicator");
	ncs_comm_text(identity, name.text, sizeof(identity->comm_name));
	return name.text[0] ?
		       name :
		       ncs_phrase("communicator of %s",
				  ncs_rank_name(communicator->ranks[0]).text);
}

struct ncs_phrase ncs_call_name(unsigned function, uint64_t number)
{
	const char *name = ncs_function_name(function);

	return number == NCS_NO_SEQUENCE_NUMBER ?
		       ncs_phrase("%s", name) :
		       ncs_phrase("%s #%" PRIu64, name, number);
}

struct ncs_phrase ncs_rank_life(const struct ncs_rank *rank)
{
	return ncs_rank_is_live(rank) ?
		       (struct ncs_phrase){ "" } :
		       ncs_phrase(" (%s)",
				  ncs_liveness_name(rank->now.liveness));
}

struct ncs_phrase ncs_channel_name(const struct ncs_channel_view *channel)
{
	return ncs_phrase("channel %u %s %d", channel->channel,
			  channel->send ? "send to" : "recv from",
			  channel->peer);
}

/* --- Clauses ---------------------------------------------------------------- */

void ncs_append_clause(char *text, size_t size, const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	if (length > 0)
		ncs_append(text, size, text[length - 1] == ':' ? " " : "; ");
	length = strlen(text);
	va_start(arguments, format);
	vsnprintf(text + length, size - length, format, arguments);
	va_end(arguments);
}

void ncs_append_losses(const struct ncs_rank *rank, char *text, size_t size)
{
	const char *separator = ": ";

	if (ncs_rank_lost(rank) == 0)
		return;
	ncs_append_clause(text, size, "lost %" PRIu64 " since start",
			  ncs_rank_lost(rank));
	for (unsigned i = 0; i < NCS_LOSS_COUNT; i++) {
		if (i == NCS_LOSS_OVERWRITTEN || rank->now.losses[i] == 0)
			continue;
		ncs_append(text, size, "%s%" PRIu64 " %s (%s)", separator,
			   rank->now.losses[i], ncs_loss_name(i),
			   ncs_loss_help(i));
		separator = ", ";
	}
}

void ncs_append_wait(const struct ncs_wait *wait, char *text, size_t size)
{
	unsigned state = wait->channel->state;

	ncs_append_clause(
		text, size, "%s, %s for %s: %s",
		ncs_channel_name(wait->channel).text,
		ncs_channel_state_label(state),
		ncs_lasting(wait->rank, false, wait->duration_ns).text,
		ncs_channel_state_help(state));
}

/* With fewer sampled operations, even the estimated errors are unreliable. */
#define FEW_OPERATIONS 30

/* Estimates may be of any size; a bound that is not known is negative. */
static struct ncs_phrase estimate(double ns)
{
	return ns < 0 ? ncs_phrase("?") :
			ncs_duration((uint64_t)(ns < 1e18 ? ns : 1e18));
}

/* Appends a mean with its error, unless it is exact. */
static void append_mean(struct ncs_estimate mean, char *text, size_t size)
{
	ncs_append(text, size, "mean %s", estimate(mean.value).text);
	if (mean.error > 0)
		ncs_append(text, size, " +-%s",
			   estimate(NCS_ERRORS_95 * mean.error).text);
	else if (mean.error < 0)
		ncs_append(text, size, " (error -)");
}

/* Appends a quantile with its bounds. Exact quantiles have none but those of
 * their histogram bucket, which are left out. */
static void append_quantile(const char *name, struct ncs_quantile quantile,
			    bool is_exact, char *text, size_t size)
{
	ncs_append(text, size, ", %s %s", name, estimate(quantile.value).text);
	if (!is_exact)
		ncs_append(text, size, " (%s to %s)",
			   estimate(quantile.low).text,
			   estimate(quantile.high).text);
}

static void append_shares(const struct ncs_rank *rank, bool send,
			  const struct ncs_steps_view *view, char *text,
			  size_t size)
{
	for (unsigned i = NCS_STEP_FIRST_WAIT; i < NCS_STEP_TIMES; i++) {
		enum ncs_channel_state state = ncs_step_state(send, i);
		struct ncs_estimate share = view->times[i].share;

		if (share.value < 0 || (state == NCS_CHANNEL_SEND_PEER_WAIT &&
					!ncs_rank_peer_wait_known(rank)))
			continue;
		ncs_append(text, size, ", %s %.1f",
			   ncs_channel_state_label(state), 100 * share.value);
		if (share.error > 0)
			ncs_append(text, size, "+-%.1f",
				   100 * NCS_ERRORS_95 * share.error);
		ncs_append(text, size, " %%");
	}
}

void ncs_append_steps(const struct ncs_rank *rank, bool send, char *text,
		      size_t size)
{
	const struct ncs_steps_view *view = ncs_steps_view(rank->steps, send);
	const struct ncs_step_estimate *time;

	if (!view || view->records == 0)
		return;
	time = &view->times[NCS_STEP_DURATION];
	append_mean(time->mean, text, size);
	append_quantile("p50", time->p50, time->mean.error == 0, text, size);
	append_quantile("p99", time->p99, time->mean.error == 0, text, size);
	append_shares(rank, send, view, text, size);
	ncs_append(text, size, "; from %s%" PRIu64 " operation%s",
		   view->level > 0 && view->operations < FEW_OPERATIONS ?
			   "only " :
			   "",
		   view->operations, view->operations == 1 ? "" : "s");
	if (view->level > 0)
		ncs_append(text, size, ", 1/%u kept", 1u << view->level);
	if (ncs_steps_lost(rank->steps) > 0)
		ncs_append(text, size, ", %" PRIu64 " records overwritten",
			   ncs_steps_lost(rank->steps));
}

/* Returns a difference between two clocks, with its error if that matters. */
static struct ncs_phrase difference(uint64_t ns, uint64_t error_ns)
{
	if (error_ns == 0 || !ncs_error_matters(error_ns, (int64_t)ns))
		return ncs_duration(ns);
	return ncs_phrase("%s+-%s", ncs_duration(ns).text,
			  ncs_duration(error_ns).text);
}

/* Appends "comes last at 93 % of 512 AllReduce, 4.1ms after the others,
 * host-late"; nothing for a rank that is never last. */
static void append_last(const struct ncs_rank *rank, char *text, size_t size)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(rank);
	struct ncs_lateness lateness;
	unsigned function = ncs_rank_late_function(rank, &lateness);

	if (function == NCS_FUNCTION_COUNT)
		return;
	ncs_append_clause(
		text, size,
		"arrives last at %.0f %% of %" PRIu64 " %s, %s after the"
		" others, %s-late",
		100 * (double)lateness.last / (double)lateness.operations,
		lateness.operations, ncs_function_name(function),
		difference(lateness.exclusive_ns, lateness.error_ns).text,
		ncs_late_cause_name(ncs_lateness_cause(&lateness)));
	if (view->is_straggler)
		ncs_append(text, size, ", which costs %.1f %% of the time",
			   100 * view->cost.share);
}

/* Appends the number of collectives that could not be compared. */
static void append_unseen(const struct ncs_lateness_view *view, char *text,
			  size_t size)
{
	const struct ncs_lateness_count *count = &view->count;

	if (count->compared < count->seen)
		ncs_append(text, size,
			   " (%" PRIu64 " of %" PRIu64 " seen were compared",
			   count->compared, count->seen);
	else if (count->records_lost > 0)
		ncs_append(text, size, " (of what was seen");
	else
		return;
	if (count->records_lost > 0)
		ncs_append(text, size, ", %" PRIu64 " records overwritten",
			   count->records_lost);
	ncs_append(text, size, ")");
}

bool ncs_rank_is_apart(const struct ncs_rank *rank)
{
	return !rank->clock_is_aligned && rank->communicator &&
	       rank->communicator->other_clocks > 0;
}

void ncs_append_lateness(const struct ncs_rank *rank, char *text, size_t size)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(rank);

	if (!view && ncs_rank_is_apart(rank))
		ncs_append_clause(text, size,
				  "lateness not known: clocks are not aligned");
	if (!view)
		return;
	append_last(rank, text, size);
	ncs_append_clause(
		text, size, "late by %s (p99 %s) at %" PRIu64 " collectives",
		difference(view->recent.median_ns, view->recent.error_ns).text,
		ncs_duration(view->recent.p99_ns).text,
		view->recent.operations);
	if (view->recent.last == 0)
		ncs_append(text, size, ", never last");
	if (ncs_rank_is_apart(rank))
		ncs_append(text, size,
			   ", on its own host: clocks are not aligned");
	append_unseen(view, text, size);
}

void ncs_append_late_now(const struct ncs_rank *rank, char *text, size_t size)
{
	struct ncs_late_now now;

	ncs_rank_late_now(rank, &now);
	if (now.late_ns == 0)
		return;
	ncs_append_clause(text, size, "%zu rank%s for it in %s, for %s",
			  now.waiting, now.waiting == 1 ? " waits" : "s wait",
			  ncs_call_name(now.function, now.number).text,
			  ncs_duration(now.late_ns).text);
}

void ncs_append_skew(const struct ncs_communicator *communicator, char *text,
		     size_t size)
{
	const struct ncs_skew *skew = ncs_communicator_skew(communicator);
	const struct ncs_rank *straggler =
		ncs_communicator_straggler(communicator);

	if (!skew)
		return;
	ncs_append_clause(text, size, "ranks arrive %s apart",
			  difference(skew->median_ns, skew->error_ns).text);
	if (skew->moved > 0)
		ncs_append(
			text, size, ", then data moves for %s",
			difference(skew->moving_ns, skew->moving_error_ns).text);
	ncs_append(text, size,
		   " (medians of %" PRIu64 " collectives of %zu ranks)",
		   skew->operations, skew->ranks);
	if (communicator->other_clocks > 0)
		ncs_append(text, size,
			   ", not compared with %zu that ha%s a different"
			   " clock",
			   communicator->other_clocks,
			   communicator->other_clocks == 1 ? "s" : "ve");
	if (!straggler)
		return;
	ncs_append_clause(text, size, "%s:", ncs_rank_name(straggler).text);
	append_last(straggler, text, size);
}

/* --- Launches ---------------------------------------------------------------- */

/* The watch thread asks the driver many times a second. */
static void append_driver(const struct ncs_rank *rank, char *text, size_t size)
{
	uint64_t held_ns =
		ncs_age_ns(rank, rank->now.launches.watch_since_ns);

	if (held_ns >= NCS_LONG_WAIT_NS)
		ncs_append_clause(
			text, size,
			"the CUDA driver has not answered the plugin for %s",
			ncs_lasting(rank, false, held_ns).text);
}

void ncs_append_launch_progress(const struct ncs_rank *rank, char *text,
				size_t size)
{
	const struct ncs_launches_view *launches = &rank->now.launches;
	int64_t ahead = ncs_rank_launches_ahead(rank);
	uint64_t now_ns = rank->now.taken_ns;
	bool runs = launches->begun > launches->ended;
	uint64_t since_ns = runs ? launches->begun_ns : launches->ended_ns;
	uint64_t age_ns = now_ns > since_ns ? now_ns - since_ns : 0;

	if (launches->launched == 0)
		return;
	if (launches->begun == 0)
		ncs_append_clause(text, size,
				  "no launch of %" PRIu64 " has begun",
				  launches->launched);
	else
		ncs_append_clause(
			text, size,
			"launch %" PRIu64 " of %" PRIu64 " %s %s ago",
			launches->begun, launches->launched,
			runs ? "began" : "ended", ncs_duration(age_ns).text);
	if (ahead > 0)
		ncs_append(text, size, ", %" PRId64 " %s ahead on the host",
			   ahead, ahead == 1 ? "is" : "are");
	append_driver(rank, text, size);
}

void ncs_append_launch_timing(const struct ncs_rank *rank, char *text,
			      size_t size)
{
	const struct ncs_launches_view *launches = &rank->now.launches;
	enum ncs_stream_status told = ncs_launches_told(launches);
	const char *help = ncs_stream_status_help(told);
	bool some = told == NCS_STREAM_SOME;

	if (told == NCS_STREAM_UNKNOWN)
		return;
	if (some || told == NCS_STREAM_MOST)
		ncs_append_clause(text, size,
				  "%" PRIu64 " of %" PRIu64 " launches timed",
				  launches->timed, launches->launched);
	else
		ncs_append_clause(text, size, "%s", help);
	if (launches->failure != 0)
		ncs_append(text, size, " (%" PRIu64 ")", launches->failure);
	if (!some && told != NCS_STREAM_MOST && launches->timed > 0)
		ncs_append(text, size, ", %" PRIu64 " so far", launches->timed);
	if (launches->captured > 0)
		ncs_append(text, size,
			   ", none of %" PRIu64 " captured into graphs",
			   launches->captured);
	if (rank->now.graphs.stamped > 0 && !rank->now.graphs.are_replays)
		ncs_append(text, size,
			   ", of which %" PRIu64 " report their replays",
			   rank->now.graphs.stamped);
	if (launches->other_context > 0)
		ncs_append(text, size,
			   ", none of %" PRIu64
			   " in a CUDA context of the application's own",
			   launches->other_context);
	if (some)
		ncs_append(text, size, ": %s", help);
	if (launches->missed > 0)
		ncs_append(text, size,
			   "; %" PRIu64
			   " could not be followed, because no events or"
			   " no lane was free",
			   launches->missed);
}

static void append_launch_wait(const struct ncs_rank *rank,
			       const struct ncs_launch_wait *wait, char *text,
			       size_t size)
{
	const struct ncs_operation_view *operation = wait->operation;
	struct ncs_phrase call = ncs_call_name(operation->function,
					       operation->sequence_number);

	ncs_append_clause(text, size, "%s, %s for %s: %s", call.text,
			  ncs_launch_wait_name(wait->kind),
			  ncs_lasting(rank, false, wait->duration_ns).text,
			  ncs_launch_wait_help(wait->kind));
}

void ncs_append_oldest(const struct ncs_rank *rank, char *text, size_t size)
{
	struct ncs_wait channels = ncs_oldest_wait(rank);
	struct ncs_launch_wait launch = ncs_rank_launch_wait(rank);

	if (channels.channel)
		ncs_append_wait(&channels, text, size);
	else if (launch.operation)
		append_launch_wait(rank, &launch, text, size);
}
