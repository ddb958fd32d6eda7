/* SPDX-License-Identifier: MIT */
/* Collectives, by rank: one row for each function of a communicator's
 * rank. Must not draw.
 */
#include "tui/views/view.h"

#include <inttypes.h>

#include "analysis/base/timings.h"
#include "analysis/base/value_names.h"
#include "tui/text/words.h"

static const struct ncs_function_view *function_of(const struct ncs_row *row)
{
	return &row->rank->now.functions[row->index];
}

/* Returns the oldest operation of the function that is in flight and whose end
 * will be reported, or NULL. */
static const struct ncs_operation_view *oldest_of(const struct ncs_row *row)
{
	const struct ncs_snapshot *now = &row->rank->now;

	for (size_t i = 0; i < now->operation_count; i++)
		if (now->operations[i].function == row->index &&
		    (now->operations[i].children_started >
			     now->operations[i].children_done ||
		     ncs_operation_phase(row->rank, &now->operations[i]) !=
			     NCS_LAUNCH_PHASE_UNKNOWN))
			return &now->operations[i];
	return NULL;
}

static uint64_t age_ns(const struct ncs_row *row,
		       const struct ncs_operation_view *operation)
{
	return operation ? ncs_age_ns(row->rank, operation->start_ns) : 0;
}

static enum ncs_severity severity(const struct ncs_row *row)
{
	const struct ncs_rank *rank = row->rank;

	if (rank->now.liveness == NCS_DEAD)
		return NCS_NOTE;
	if (rank->now.liveness == NCS_FINISHED)
		return NCS_QUIET;
	if (age_ns(row, oldest_of(row)) >= NCS_LONG_WAIT_NS)
		return NCS_BAD;
	if (rank->base && function_of(row)->operations ==
				  rank->base->functions[row->index].operations)
		return NCS_QUIET;
	return NCS_NORMAL;
}

static void append_times(const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_function_view *function = function_of(row);
	unsigned timing = ncs_function_timing(function);

	if (timing == NCS_TIMING_COUNT) {
		ncs_append(text, size, " No operation was timed.");
		return;
	}
	ncs_append(text, size,
		   " Times from the %s (%s), of %" PRIu64 " of %" PRIu64
		   " operations.",
		   ncs_timing_name(timing), ncs_timing_help(timing),
		   function->timed[timing], function->operations);
}

static void append_in_flight(const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_operation_view *oldest = oldest_of(row);

	if (!oldest || age_ns(row, oldest) < NCS_LONG_WAIT_NS)
		return;
	ncs_append(text, size, " In flight for %s",
		   ncs_duration(age_ns(row, oldest)).text);
	if (oldest->sequence_number != NCS_NO_SEQUENCE_NUMBER)
		ncs_append(text, size, ": number %" PRIu64,
			   oldest->sequence_number);
	if (oldest->children_started > 0)
		ncs_append(text, size,
			   ", %" PRIu64 " of %" PRIu64 " parts done.",
			   oldest->children_done, oldest->children_started);
	else
		ncs_append(text, size, ", its launch is %s.",
			   ncs_launch_phase_name(
				   ncs_operation_phase(row->rank, oldest)));
}

static void append_launches(const struct ncs_rank *rank, char *text,
			    size_t size)
{
	char clause[256] = "";

	ncs_append_launch_timing(rank, clause, sizeof(clause));
	if (clause[0])
		ncs_append(text, size, " Launches: %s.", clause);
}

static void explain(const struct ncs_row *row, char *text, size_t size)
{
	ncs_append(text, size,
		   "%s, %s%s:", ncs_function_name((unsigned)row->index),
		   ncs_rank_of(row->rank).text, ncs_rank_life(row->rank).text);
	append_in_flight(row, text, size);
	append_times(row, text, size);
	append_launches(row->rank, text, size);
	ncs_append_kernel_timing(row->rank, text, size);
}

const struct ncs_screen_view ncs_screen_functions = {
	.rules = {
		.severity = severity,
		.throughput = NCS_COLUMN_FUNCTION_RATE,
		.bytes = NCS_COLUMN_FUNCTION_BYTES,
		.time = NCS_COLUMN_FUNCTION_P99,
		.above = &ncs_screen_communicators.rules,
	},
	.explain = explain,
};
