/* SPDX-License-Identifier: MIT */
/* Communicators: one row for each communicator, across the processes of
 * its ranks. Must not draw.
 */
#include "tui/views/view.h"

#include <inttypes.h>

#include "analysis/base/value_names.h"
#include "tui/text/words.h"
#include "tui/views/row_looks.h"

/* Returns the severity of the worst rank, and at least NCS_NOTE if the ranks
 * are held up. */
static enum ncs_severity severity(const struct ncs_row *row)
{
	const struct ncs_communicator *communicator = row->communicator;
	enum ncs_severity worst = NCS_QUIET;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		enum ncs_severity one =
			ncs_rank_severity(communicator->ranks[i]);

		if (one > worst)
			worst = one;
	}
	if (worst < NCS_NOTE && communicator->live > 0 &&
	    ncs_progress_is_held_up(&communicator->progress,
				    communicator->function))
		worst = NCS_NOTE;
	return worst;
}

/* "rank 2 and 3 more" */
static struct ncs_phrase ranks(const struct ncs_rank *first, size_t count)
{
	return count > 1 ? ncs_phrase("%s and %zu more",
				      ncs_rank_name(first).text, count - 1) :
			   ncs_rank_name(first);
}

static void append_behind(const struct ncs_communicator *communicator,
			  char *text, size_t size)
{
	const struct ncs_progress *progress = &communicator->progress;
	uint64_t behind = ncs_progress_behind(progress);

	ncs_append_clause(
		text, size,
		"%s %s %" PRIu64 " call%s behind %s in %s: at #%" PRIu64
		" of #%" PRIu64,
		ranks(progress->slowest, progress->slowest_count).text,
		progress->slowest_count > 1 ? "are" : "is", behind,
		behind == 1 ? "" : "s",
		ranks(progress->fastest, progress->fastest_count).text,
		ncs_function_name(communicator->function), progress->least,
		progress->most);
	if (communicator->live > 0 &&
	    ncs_progress_is_held_up(progress, communicator->function))
		ncs_append(text, size, ", and not moving");
}

static void append_level(const struct ncs_communicator *communicator,
			 char *text, size_t size)
{
	const struct ncs_progress *progress = &communicator->progress;
	struct ncs_phrase call =
		ncs_call_name(communicator->function, progress->most);

	if (progress->known > 1)
		ncs_append_clause(text, size, "%zu ranks are level, at %s",
				  progress->known, call.text);
	else
		ncs_append_clause(text, size, "%s is at %s",
				  ncs_rank_name(progress->slowest).text,
				  call.text);
}

static void append_progress(const struct ncs_communicator *communicator,
			    char *text, size_t size)
{
	const struct ncs_progress *progress = &communicator->progress;
	size_t expected = communicator->live > 0 ? communicator->live :
						   communicator->rank_count;

	if (progress->known == 0) {
		ncs_append_clause(text, size, "no sequence number is known");
		return;
	}
	if (ncs_progress_behind(progress) > 0)
		append_behind(communicator, text, size);
	else
		append_level(communicator, text, size);
	if (progress->known < expected)
		ncs_append(text, size, "; the numbers of %zu more are unknown",
			   expected - progress->known);
}

/* Appends the first dead rank and the last operation that it called. */
static void append_dead(const struct ncs_communicator *communicator, char *text,
			size_t size)
{
	const struct ncs_rank *first = NULL;
	uint64_t number;

	for (size_t i = 0; !first && i < communicator->rank_count; i++)
		if (communicator->ranks[i]->now.liveness == NCS_DEAD)
			first = communicator->ranks[i];
	if (!first)
		return;
	ncs_append_clause(text, size, "dead: %s",
			  ranks(first, communicator->dead).text);
	if (communicator->progress.known == 0 || communicator->live == 0)
		return;
	number = first->now.functions[communicator->function]
			 .last_sequence_number;
	if (number != NCS_NO_SEQUENCE_NUMBER)
		ncs_append(text, size, ", at %" PRIu64, number);
}

static void append_oldest(const struct ncs_communicator *communicator,
			  char *text, size_t size)
{
	const struct ncs_oldest *oldest = &communicator->oldest;

	if (oldest->duration_ns < NCS_LONG_WAIT_NS)
		return;
	ncs_append_clause(text, size, "%s:", ncs_rank_name(oldest->rank).text);
	ncs_append_oldest(oldest->rank, text, size);
}

static void append_counts(const struct ncs_communicator *communicator,
			  char *text, size_t size)
{
	if (communicator->silent > 0)
		ncs_append_clause(text, size, "%zu silent",
				  communicator->silent);
	if (communicator->finished > 0)
		ncs_append_clause(text, size, "%zu finished",
				  communicator->finished);
	if (communicator->lost > 0)
		ncs_append_clause(text, size, "lost %" PRIu64,
				  communicator->lost);
}

/* Appends the progress of the rank that is at the earliest launch. */
static void append_launches(const struct ncs_communicator *communicator,
			    char *text, size_t size)
{
	const struct ncs_rank *last =
		ncs_communicator_last_launch(communicator);

	if (!last || last->now.launches.launched == 0)
		return;
	ncs_append_clause(text, size, "%s:", ncs_rank_name(last).text);
	ncs_append_launch_progress(last, text, size);
	ncs_append_launch_timing(last, text, size);
}

static void explain(const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_communicator *communicator = row->communicator;

	ncs_append(text, size, "%s:", ncs_communicator_name(communicator).text);
	append_progress(communicator, text, size);
	append_dead(communicator, text, size);
	append_counts(communicator, text, size);
	append_oldest(communicator, text, size);
	ncs_append_skew(communicator, text, size);
	append_launches(communicator, text, size);
	ncs_append(text, size, ".");
}

static void append_count(size_t count, const char *word, char *text,
			 size_t size)
{
	if (count > 0)
		ncs_append(text, size, ", %zu %s", count, word);
}

static void title(const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_communicator *communicator = row->communicator;
	size_t count = communicator->rank_count;

	ncs_append(text, size, "%s: %zu rank%s",
		   ncs_communicator_name(communicator).text, count,
		   count == 1 ? "" : "s");
	append_count(communicator->dead, "dead", text, size);
	append_count(communicator->finished, "finished", text, size);
	append_count(communicator->silent, "silent", text, size);
	if (communicator->oldest.rank)
		ncs_append(text, size, ", oldest wait %s",
			   ncs_duration(communicator->oldest.duration_ns).text);
}

const struct ncs_screen_view ncs_screen_communicators = {
	.rules = {
		.severity = severity,
		.throughput = NCS_COLUMN_COMMUNICATOR_SEND_RATE,
		.bytes = NCS_COLUMN_COMMUNICATOR_RECV_RATE,
		.time = NCS_COLUMN_COMMUNICATOR_OLDEST,
		.title = title,
	},
	.explain = explain,
};
