/* SPDX-License-Identifier: MIT */
/* Clauses on launches; see launch_text.h. Must not draw. */
#include "tui/text/launch_text.h"

#include <inttypes.h>

#include "analysis/base/value_names.h"
#include "analysis/model/waits.h"
#include "tui/text/words.h"

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
			runs ? "began" : "ended",
			ncs_duration(now_ns > since_ns ? now_ns - since_ns : 0)
				.text);
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

	ncs_append_clause(text, size, "%s, %s for %s: %s",
			  ncs_call_name(operation->function,
					operation->sequence_number)
				  .text,
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
