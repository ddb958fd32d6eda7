/* SPDX-License-Identifier: MIT */
/* Collectives: one row for each function of a communicator. Must not
 * draw.
 */
#include "tui/views/view.h"

#include <inttypes.h>

#include "analysis/base/collective_waits.h"
#include "analysis/base/timings.h"
#include "analysis/base/value_names.h"
#include "analysis/model/moving.h"
#include "analysis/records/operation_record.h"
#include "tui/text/words.h"

static struct ncs_moving_view moving_of(const struct ncs_row *row)
{
	return ncs_communicator_moving(row->communicator, (unsigned)row->index,
				       NULL);
}

static struct ncs_row row_of_rank(const struct ncs_row *row, size_t i)
{
	return (struct ncs_row){
		.view = NCS_VIEW_FUNCTION,
		.rank = row->communicator->ranks[i],
		.index = row->index,
	};
}

/* Returns the highest severity of the ranks that use the function. */
static enum ncs_severity severity(const struct ncs_row *row)
{
	enum ncs_severity highest = NCS_QUIET;

	for (size_t i = 0; i < row->communicator->rank_count; i++) {
		struct ncs_row of_rank = row_of_rank(row, i);
		enum ncs_severity one;

		if (!ncs_function_is_used(
			    &of_rank.rank->now.functions[row->index]))
			continue;
		one = ncs_screen_functions.rules.severity(&of_rank);
		if (one > highest)
			highest = one;
	}
	return highest;
}

static void append_moving(const struct ncs_moving_view *view, char *text,
			  size_t size)
{
	ncs_append(text, size,
		   " MOVE is from the begin on the last rank to the end on the"
		   " last rank; median of the latest %" PRIu64 " launches",
		   view->launches);
	if (view->operations > view->launches)
		ncs_append(text, size, " with %" PRIu64 " operations",
			   view->operations);
	ncs_append(text, size, ", times from the %s.",
		   ncs_timing_name(view->timing));
	if (view->algbw < 0)
		ncs_append(text, size,
			   " No bandwidth: MOVE is within its error, or sizes"
			   " are not known.");
	if (view->is_stale)
		ncs_append(text, size, " The latest ended %s ago.",
			   ncs_duration(view->age_ns).text);
}

/* Appends that only some of the ranks are seen together. */
static void append_missing(const struct ncs_row *row,
			   const struct ncs_moving_view *view, char *text,
			   size_t size)
{
	const struct ncs_communicator *communicator = row->communicator;
	const struct ncs_identity *identity = communicator->identity;

	if (!(identity->known & NCS_KNOWN_NRANKS) ||
	    view->ranks >= ncs_moving_ranks((unsigned)row->index,
					    identity->nranks))
		return;
	ncs_append(text, size,
		   " Only %zu of %d ranks are seen %s: MOVE includes their wait"
		   " for others, so the true bandwidth is at least this.",
		   view->ranks, identity->nranks,
		   communicator->other_clocks > 0 ? "by comparable clocks" :
						    "here");
}

static void append_factor(const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_identity *identity = row->communicator->identity;
	double factor = ncs_bus_factor(
		(unsigned)row->index,
		identity->known & NCS_KNOWN_NRANKS ? identity->nranks : 0);

	if (factor > 0)
		ncs_append(text, size, " busbw is algbw x %.3g.", factor);
}

/* Appends why there is no bandwidth. */
static void append_unknown(const struct ncs_row *row, char *text, size_t size)
{
	if (ncs_is_transfer((unsigned)row->index))
		ncs_append(text, size,
			   " No bandwidth: no send and receive that belong"
			   " together are known with their times.");
	else if (ncs_wait_rule_of((unsigned)row->index) == NCS_WAIT_FOR_NONE)
		ncs_append(text, size,
			   " No bandwidth: no number says which of the ranks'"
			   " operations belong together.");
	else
		ncs_append(text, size,
			   " No bandwidth: no operation is known to have begun"
			   " and ended on several ranks.");
	ncs_append(text, size, " Enter: its ranks.");
}

static void explain(const struct ncs_row *row, char *text, size_t size)
{
	struct ncs_moving_view view = moving_of(row);

	ncs_append(text, size,
		   "%s of %s:", ncs_function_name((unsigned)row->index),
		   ncs_communicator_name(row->communicator).text);
	if (view.operations == 0) {
		append_unknown(row, text, size);
		return;
	}
	append_missing(row, &view, text, size);
	append_moving(&view, text, size);
	append_factor(row, text, size);
}

const struct ncs_screen_view ncs_screen_collectives = {
	.rules = {
		.severity = severity,
		.throughput = NCS_COLUMN_COLLECTIVE_BUSBW,
		.bytes = NCS_COLUMN_COLLECTIVE_BYTES,
		.time = NCS_COLUMN_COLLECTIVE_TIME,
		.above = &ncs_screen_communicators.rules,
	},
	.explain = explain,
};
