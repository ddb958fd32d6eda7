/* SPDX-License-Identifier: MIT */
/* The critical path in words: the change that would gain most, the cause that took
 * most of the time, and the rank that it was on. Must not say more than the path
 * tells: where too much of it is not known there is no conclusion. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/base/append.h"
#include "analysis/base/value_names.h"
#include "tui/commands/critical_path_command.h"
#include "tui/text/format.h"

/* A rank is named if it has at least this part of the time. */
#define NAMED_LEAST 0.5

/* Goes on after "rank 3", or after "ranks". */
static const char *const clauses[] = {
	[NCS_PATH_HOST] = "had no operation in progress and had not called yet",
	[NCS_PATH_LAUNCH] = "had called, but the kernel had not begun",
	[NCS_PATH_QUEUE] = "had one operation after the other to do",
	[NCS_PATH_STREAM] = "had called, but the GPU was busy with other work",
	[NCS_PATH_TRANSFER] = "had come and moved data",
	[NCS_PATH_GPU] = "waited for its GPU to produce data",
	[NCS_PATH_PEER] = "waited for a buffer of its peer",
	[NCS_PATH_NETWORK] = "had data on the wire",
	[NCS_PATH_SENDER] = "waited for data from its peer",
	[NCS_PATH_FLUSH] = "waited for data to reach the memory of its GPU",
	[NCS_PATH_KERNEL] = "waited for its GPU to take data",
};

/* Returns the cause that took most of the time; what was before the first
 * operation is none. */
static unsigned largest_cause(const struct ncs_path_sum *sum)
{
	unsigned largest = 0;

	for (unsigned i = 1; i < sizeof(clauses) / sizeof(clauses[0]); i++)
		if (sum->cause_ns[i] > sum->cause_ns[largest])
			largest = i;
	return largest;
}

uint32_t ncs_path_most_of(const struct ncs_path_view *view, unsigned cause)
{
	const struct ncs_path_sum *sum = &view->report->sums[0];
	uint32_t most = 0;

	for (uint32_t i = 1; i < view->rank_count; i++)
		if (sum->rank_ns[i][cause] > sum->rank_ns[most][cause])
			most = i;
	return most;
}

/* Returns the scenario with the shortest known time; NULL if none is shorter
 * than the job was. */
static const struct ncs_path_sum *best_of(const struct ncs_path_report *report)
{
	const struct ncs_path_sum *best = NULL;

	for (size_t i = 1; i < report->sum_count; i++) {
		const struct ncs_path_sum *sum = &report->sums[i];

		if (sum->is_known &&
		    sum->elapsed_ns < report->sums[0].elapsed_ns &&
		    (!best || sum->elapsed_ns < best->elapsed_ns))
			best = sum;
	}
	return best;
}

void ncs_critical_path_conclusion(char *text, size_t size,
				  const struct ncs_path_view *view)
{
	const struct ncs_path_sum *sum = &view->report->sums[0];
	const struct ncs_path_sum *best = best_of(view->report);
	unsigned cause = largest_cause(sum);
	uint32_t rank = ncs_path_most_of(view, cause);
	char whole[NCS_FORMAT_MAX], after[NCS_FORMAT_MAX] = "", who[32];
	double ns = sum->cause_ns[cause];

	if (!sum->is_known || ns <= 0) {
		snprintf(text, size,
			 "No conclusion: %.1f %% of the path is not known.",
			 sum->elapsed_ns > 0 ?
				 100 * sum->unknown_ns / sum->elapsed_ns :
				 100);
		return;
	}
	snprintf(who, sizeof(who), "ranks in turn");
	if (sum->rank_ns[rank][cause] >= NAMED_LEAST * ns) {
		ns = sum->rank_ns[rank][cause];
		snprintf(who, sizeof(who), "rank %" PRIu32, rank);
	}
	ncs_format_duration(whole, sizeof(whole), (uint64_t)sum->elapsed_ns, 0);
	if (best)
		ncs_format_duration(after, sizeof(after),
				    (uint64_t)best->elapsed_ns, 0);
	text[0] = '\0';
	if (best)
		ncs_append(text, size, "%s would bring %s to %s, %.1f %% less. ",
			   best->scenario->text, whole, after,
			   100 - 100 * best->elapsed_ns / sum->elapsed_ns);
	ncs_append(text, size,
		   "On the path %s %s for %.1f %% of %s (%s), usual work"
		   " included.",
		   who, clauses[cause], 100 * ns / sum->elapsed_ns, whole,
		   ncs_path_cause_name(cause));
}
