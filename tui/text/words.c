/* SPDX-License-Identifier: MIT */
/* Parts of sentences that more than one view uses; see words.h. Must not
 * draw. */
#include "tui/text/words.h"

#include <stdio.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"
#include "analysis/records/step_stats.h"
#include "tui/text/format.h"

/* Define functions that return a field of a row of a table of ncclstat/tables. */
#define DEFINE_LOOKUP(type, function, TABLE, FIELD) \
	type function(unsigned index) \
	{ \
		static type const values[] = { TABLE(FIELD) }; \
\
		return values[index]; \
	}

#define HELP(ID, name, help) help,
#define LOSS_HELP(ID, name, what, help) help,
#define CHANNEL_HELP(ID, name, letter, label, help) help,
#define CHANNEL_LETTER(ID, name, letter, label, help) letter,
#define PROXY_HELP(ID, name, letter, help) help,
#define PROXY_LETTER(ID, name, letter, help) letter,

DEFINE_LOOKUP(const char *, ncs_channel_state_help, NCS_CHANNEL_STATES,
	      CHANNEL_HELP)
DEFINE_LOOKUP(const char *, ncs_proxy_state_help, NCS_PROXY_STATES, PROXY_HELP)
DEFINE_LOOKUP(char, ncs_channel_state_letter, NCS_CHANNEL_STATES,
	      CHANNEL_LETTER)
DEFINE_LOOKUP(char, ncs_proxy_state_letter, NCS_PROXY_STATES, PROXY_LETTER)
DEFINE_LOOKUP(const char *, ncs_loss_help, NCS_LOSSES, LOSS_HELP)
static DEFINE_LOOKUP(const char *, kernel_status_help, NCS_KERNEL_STATUSES,
		     HELP)

	void ncs_append_duration(char *text, size_t size, uint64_t duration_ns)
{
	char duration[32];

	ncs_format_duration(duration, sizeof(duration), duration_ns, 0);
	ncs_append(text, size, "%s", duration);
}

void ncs_append_rank(const struct ncs_rank *rank, char *text, size_t size)
{
	const struct ncs_identity *identity = &rank->now.identity;

	if (identity->known & NCS_KNOWN_RANK)
		ncs_append(text, size, "rank %d", identity->rank);
	else
		ncs_append(text, size, "pid %u", ncs_rank_pid(rank));
}

void ncs_append_of(const struct ncs_identity *identity,
		   const struct ncs_communicator *communicator, char *text,
		   size_t size)
{
	char comm[sizeof(identity->comm_name)];

	if (communicator &&
	    (communicator->identity->known & NCS_KNOWN_COMM_NAME))
		identity = communicator->identity;
	else if (communicator && communicator->is_only)
		return;
	ncs_comm_text(identity, comm, sizeof(comm));
	if (comm[0])
		ncs_append(text, size, " of %s", comm);
}

void ncs_append_rank_of(const struct ncs_rank *rank, char *text, size_t size)
{
	ncs_append_rank(rank, text, size);
	ncs_append_of(&rank->now.identity, rank->communicator, text, size);
}

void ncs_append_communicator(const struct ncs_communicator *communicator,
			     char *text, size_t size)
{
	char name[sizeof(communicator->identity->comm_name)];

	ncs_comm_text(communicator->identity, name, sizeof(name));
	if (communicator->is_only &&
	    !(communicator->identity->known & NCS_KNOWN_COMM_NAME)) {
		ncs_append(text, size, "the communicator");
	} else if (name[0]) {
		ncs_append(text, size, "%s", name);
	} else {
		ncs_append(text, size, "communicator of ");
		ncs_append_rank(communicator->ranks[0], text, size);
	}
}

void ncs_append_channel(const struct ncs_channel_view *channel, char *text,
			size_t size)
{
	ncs_append(text, size, "channel %u %s %d", channel->channel,
		   channel->send ? "send to" : "recv from", channel->peer);
}

void ncs_append_liveness(const struct ncs_rank *rank, char *text, size_t size)
{
	if (!ncs_rank_is_live(rank))
		ncs_append(text, size, " (%s)",
			   ncs_liveness_name(rank->now.liveness));
}

/* Appends the accuracy with which the GPU's clock is related to the host's. */
static void append_gpu_clock(const struct ncs_gpu_clock_view *clock, char *text,
			     size_t size)
{
	if (!clock->known)
		return;
	ncs_append(text, size, " The GPU's clock is known within ");
	ncs_append_duration(text, size, clock->error_ns);
	ncs_append(text, size, ".");
}

static void append_kernel_status(const struct ncs_kernel_view *kernel,
				 char *text, size_t size)
{
	switch (kernel->status) {
	case NCS_KERNEL_UNKNOWN:
		return;
	case NCS_KERNEL_OFF:
	case NCS_KERNEL_ALWAYS:
		ncs_append(text, size, " Kernel timing: %s.",
			   ncs_kernel_status_name(kernel->status));
		return;
	case NCS_KERNEL_SAMPLED:
		ncs_append(text, size,
			   " Kernel timing: 1 group in %llu, so far %llu"
			   " calls.",
			   (unsigned long long)kernel->period,
			   (unsigned long long)kernel->timed_calls);
		return;
	default:
		ncs_append(text, size, " Kernel timing: %s: %s.",
			   ncs_kernel_status_name(kernel->status),
			   kernel_status_help(kernel->status));
		return;
	}
}

void ncs_append_kernel_timing(const struct ncs_rank *rank, char *text,
			      size_t size)
{
	append_kernel_status(&rank->now.kernel, text, size);
	append_gpu_clock(&rank->now.gpu_clock, text, size);
}

void ncs_append_separator(char *text, size_t size)
{
	size_t length = strlen(text);

	if (length > 0)
		ncs_append(text, size, text[length - 1] == ':' ? " " : "; ");
}

void ncs_append_losses(const struct ncs_rank *rank, char *text, size_t size)
{
	const char *separator = ": ";

	if (ncs_rank_lost(rank) == 0)
		return;
	ncs_append_separator(text, size);
	ncs_append(text, size, "lost %llu since start",
		   (unsigned long long)ncs_rank_lost(rank));
	for (unsigned i = 0; i < NCS_LOSS_COUNT; i++) {
		if (i == NCS_LOSS_OVERWRITTEN || rank->now.losses[i] == 0)
			continue;
		ncs_append(text, size, "%s%llu %s (%s)", separator,
			   (unsigned long long)rank->now.losses[i],
			   ncs_loss_name(i), ncs_loss_help(i));
		separator = ", ";
	}
}

void ncs_append_lasting(const struct ncs_rank *rank, bool since_death,
			uint64_t duration_ns, char *text, size_t size)
{
	if (rank && !ncs_rank_end_is_known(rank))
		ncs_append(text, size, since_death ? "at most " : "at least ");
	ncs_append_duration(text, size, duration_ns);
}

void ncs_append_wait(const struct ncs_wait *wait, char *text, size_t size)
{
	unsigned state = wait->channel->state;

	ncs_append_separator(text, size);
	ncs_append_channel(wait->channel, text, size);
	ncs_append(text, size, ", %s for ", ncs_channel_state_label(state));
	ncs_append_lasting(wait->rank, false, wait->duration_ns, text, size);
	ncs_append(text, size, ": %s", ncs_channel_state_help(state));
}

/* With fewer sampled operations, even the estimated errors are unreliable. */
#define FEW_OPERATIONS 30

static void append_ns(char *text, size_t size, double ns)
{
	ncs_append_duration(text, size, (uint64_t)(ns < 1e18 ? ns : 1e18));
}

/* Appends a mean with its error, unless it is exact. */
static void append_mean(struct ncs_estimate mean, char *text, size_t size)
{
	ncs_append(text, size, "mean ");
	append_ns(text, size, mean.value);
	if (mean.error > 0) {
		ncs_append(text, size, " +-");
		append_ns(text, size, NCS_ERRORS_95 * mean.error);
	} else if (mean.error < 0) {
		ncs_append(text, size, " (error -)");
	}
}

static void append_bound(char *text, size_t size, double ns)
{
	if (ns >= 0)
		append_ns(text, size, ns);
	else
		ncs_append(text, size, "?");
}

/* Appends a quantile with its bounds. Exact quantiles have none but those of
 * their histogram bucket, which are left out. */
static void append_quantile(const char *name, struct ncs_quantile quantile,
			    bool is_exact, char *text, size_t size)
{
	ncs_append(text, size, ", %s ", name);
	append_ns(text, size, quantile.value);
	if (is_exact)
		return;
	ncs_append(text, size, " (");
	append_bound(text, size, quantile.low);
	ncs_append(text, size, " to ");
	append_bound(text, size, quantile.high);
	ncs_append(text, size, ")");
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
	ncs_append(text, size, "; from %s%llu operation%s",
		   view->level > 0 && view->operations < FEW_OPERATIONS ?
			   "only " :
			   "",
		   (unsigned long long)view->operations,
		   view->operations == 1 ? "" : "s");
	if (view->level > 0)
		ncs_append(text, size, ", 1/%u kept", 1u << view->level);
	if (ncs_steps_lost(rank->steps) > 0)
		ncs_append(text, size, ", %llu records overwritten",
			   (unsigned long long)ncs_steps_lost(rank->steps));
}

/* Appends the error of a difference between two clocks, if it matters. */
static void append_error(uint64_t error_ns, uint64_t of_ns, char *text,
			 size_t size)
{
	if (error_ns == 0 || !ncs_error_matters(error_ns, (int64_t)of_ns))
		return;
	ncs_append(text, size, "+-");
	ncs_append_duration(text, size, error_ns);
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
	ncs_append_separator(text, size);
	ncs_append(text, size, "arrives last at %.0f %% of %llu %s, ",
		   100 * (double)lateness.last / (double)lateness.operations,
		   (unsigned long long)lateness.operations,
		   ncs_function_name(function));
	ncs_append_duration(text, size, lateness.exclusive_ns);
	append_error(lateness.error_ns, lateness.exclusive_ns, text, size);
	ncs_append(text, size, " after the others, %s-late",
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
		ncs_append(text, size, " (%llu of %llu seen were compared",
			   (unsigned long long)count->compared,
			   (unsigned long long)count->seen);
	else if (count->records_lost > 0)
		ncs_append(text, size, " (of what was seen");
	else
		return;
	if (count->records_lost > 0)
		ncs_append(text, size, ", %llu records overwritten",
			   (unsigned long long)count->records_lost);
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

	if (!view && ncs_rank_is_apart(rank)) {
		ncs_append_separator(text, size);
		ncs_append(text, size,
			   "lateness not known: clocks are not aligned");
	}
	if (!view)
		return;
	append_last(rank, text, size);
	ncs_append_separator(text, size);
	ncs_append(text, size, "late by ");
	ncs_append_duration(text, size, view->recent.median_ns);
	append_error(view->recent.error_ns, view->recent.median_ns, text, size);
	ncs_append(text, size, " (p99 ");
	ncs_append_duration(text, size, view->recent.p99_ns);
	ncs_append(text, size, ") at %llu collectives",
		   (unsigned long long)view->recent.operations);
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
	ncs_append_separator(text, size);
	ncs_append(text, size, "%zu rank%s wait%s for it in ", now.waiting,
		   now.waiting == 1 ? "" : "s", now.waiting == 1 ? "s" : "");
	ncs_append_numbered(text, size, now.function, now.number);
	ncs_append(text, size, ", for ");
	ncs_append_duration(text, size, now.late_ns);
}

void ncs_append_skew(const struct ncs_communicator *communicator, char *text,
		     size_t size)
{
	const struct ncs_skew *skew = ncs_communicator_skew(communicator);
	const struct ncs_rank *straggler =
		ncs_communicator_straggler(communicator);

	if (!skew)
		return;
	ncs_append_separator(text, size);
	ncs_append(text, size, "ranks arrive ");
	ncs_append_duration(text, size, skew->median_ns);
	append_error(skew->error_ns, skew->median_ns, text, size);
	ncs_append(text, size, " apart");
	if (skew->moved > 0) {
		ncs_append(text, size, ", then data moves for ");
		ncs_append_duration(text, size, skew->moving_ns);
		append_error(skew->moving_error_ns, skew->moving_ns, text,
			     size);
	}
	ncs_append(text, size, " (medians of %llu collectives of %zu ranks)",
		   (unsigned long long)skew->operations, skew->ranks);
	if (communicator->other_clocks > 0)
		ncs_append(text, size,
			   ", not compared with %zu that ha%s a different"
			   " clock",
			   communicator->other_clocks,
			   communicator->other_clocks == 1 ? "s" : "ve");
	if (!straggler)
		return;
	ncs_append_separator(text, size);
	ncs_append_rank(straggler, text, size);
	ncs_append(text, size, ":");
	append_last(straggler, text, size);
}
