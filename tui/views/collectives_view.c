/* SPDX-License-Identifier: MIT */
/* Collectives: one row for each function of a communicator; by rank, one for each
 * function of a communicator's rank; by size, one for each size class, algorithm and
 * protocol of such a function. Must not draw.
 */
#include "tui/views/view.h"

#include <inttypes.h>

#include "analysis/base/timings.h"
#include "analysis/base/collective_waits.h"
#include "analysis/base/lookup.h"
#include "analysis/base/value_names.h"
#include "analysis/model/moving.h"
#include "analysis/records/operation_record.h"
#include "ncclstat/size_class.h"
#include "tui/text/words.h"
#include "tui/views/row_looks.h"

/* --- By size -------------------------------------------------------------- */

static const struct ncs_class_view *class_of(const struct ncs_row *row)
{
	return &row->rank->now.classes[row->index];
}

static enum ncs_severity class_severity(const struct ncs_row *row)
{
	const struct ncs_rank *rank = row->rank;
	const struct ncs_counters *base = rank->base;

	return ncs_part_severity(
		rank, base && ncs_counters_class(base, class_of(row)) ==
				      class_of(row)->operations);
}

/* Appends the size, algorithm and protocol of a class. */
static void append_class(const struct ncs_class_view *view, char *text,
			 size_t size)
{
	if (ncs_class_is_other(view)) {
		ncs_append(text, size,
			   " in classes without a row of their"
			   " own");
		return;
	}
	if (view->size_class == NCS_SIZE_CLASS_UNKNOWN) {
		ncs_append(text, size, " of unknown size");
	} else if (view->size_class == NCS_SIZE_CLASS_EMPTY) {
		ncs_append(text, size, " of zero bytes");
	} else {
		ncs_append(text, size, " of %s to under twice as many bytes",
			   ncs_size(ncs_size_class_low(view->size_class)).text);
	}
	if (view->algorithm != NCS_ALGORITHM_UNKNOWN)
		ncs_append(text, size, ", %s",
			   ncs_algorithm_name(view->algorithm));
	if (view->protocol != NCS_PROTOCOL_UNKNOWN)
		ncs_append(text, size, ", %s",
			   ncs_protocol_name(view->protocol));
}

static void explain_class(const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_class_view *view = class_of(row);
	const struct ncs_class_times *times = ncs_times_of_class(view);

	ncs_append(text, size, "%s, %s", ncs_function_name(view->function),
		   ncs_rank_of(row->rank).text);
	append_class(view, text, size);
	if (!times) {
		ncs_append(text, size, ": no operation was timed.");
		return;
	}
	ncs_append(text, size,
		   ": %" PRIu64 " of %" PRIu64 " operations timed by the %s, %s"
		   " bytes each on average.",
		   times->timed, view->operations,
		   ncs_timing_name(ncs_class_timing(view)),
		   ncs_size(times->bytes / times->timed).text);
}

const struct ncs_screen_view ncs_screen_sizes = {
	.rules = {
		.severity = class_severity,
		.throughput = NCS_COLUMN_CLASS_BUSBW,
		.bytes = NCS_COLUMN_CLASS_SIZE,
		.time = NCS_COLUMN_CLASS_P99,
	},
	.explain = explain_class,
};

/* --- By rank -------------------------------------------------------------- */

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

static enum ncs_severity function_severity(const struct ncs_row *row)
{
	const struct ncs_rank *rank = row->rank;

	if (ncs_rank_is_live(rank) &&
	    age_ns(row, oldest_of(row)) >= NCS_LONG_WAIT_NS)
		return NCS_BAD;
	return ncs_part_severity(
		rank,
		rank->base &&
			function_of(row)->operations ==
				rank->base->functions[row->index].operations);
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

/* clang-format off */
static NCS_DEFINE_LOOKUP(kernel_status_help, NCS_KERNEL_STATUSES, NCS_HELP,
			 "unknown")
/* clang-format on */

/* Appends sentences on kernel timing and on the GPU's clock, if these are known. */
static void append_kernel_timing(const struct ncs_rank *rank, char *text,
				 size_t size)
{
	const struct ncs_gpu_clock_view *clock = &rank->now.gpu_clock;
	const struct ncs_kernel_view *kernel = &rank->now.kernel;
	bool needs_help = kernel->status != NCS_KERNEL_OFF &&
			  kernel->status != NCS_KERNEL_ALWAYS;

	if (kernel->status == NCS_KERNEL_SAMPLED)
		ncs_append(text, size,
			   " Kernel timing: 1 group in %" PRIu64 ", so far"
			   " %" PRIu64 " calls.",
			   kernel->period, kernel->timed_calls);
	else if (kernel->status != NCS_KERNEL_UNKNOWN)
		ncs_append(text, size, " Kernel timing: %s%s%s.",
			   ncs_kernel_status_name(kernel->status),
			   needs_help ? ": " : "",
			   needs_help ? kernel_status_help(kernel->status) :
					"");
	if (clock->known)
		ncs_append(text, size, " The GPU's clock is known within %s.",
			   ncs_duration(clock->error_ns).text);
}

static void explain_function(const struct ncs_row *row, char *text, size_t size)
{
	ncs_append(text, size,
		   "%s, %s%s:", ncs_function_name((unsigned)row->index),
		   ncs_rank_of(row->rank).text, ncs_rank_life(row->rank).text);
	append_in_flight(row, text, size);
	append_times(row, text, size);
	append_launches(row->rank, text, size);
	append_kernel_timing(row->rank, text, size);
}

const struct ncs_screen_view ncs_screen_functions = {
	.rules = {
		.severity = function_severity,
		.throughput = NCS_COLUMN_FUNCTION_RATE,
		.bytes = NCS_COLUMN_FUNCTION_BYTES,
		.time = NCS_COLUMN_FUNCTION_P99,
		.above = &ncs_screen_communicators.rules,
	},
	.explain = explain_function,
};

/* --- Of a communicator ---------------------------------------------------- */

static struct ncs_row row_of_rank(const struct ncs_row *row, size_t i)
{
	return (struct ncs_row){
		.view = NCS_VIEW_FUNCTION,
		.rank = row->communicator->ranks[i],
		.index = row->index,
	};
}

/* Returns the highest severity of the ranks that use the function. */
static enum ncs_severity collective_severity(const struct ncs_row *row)
{
	enum ncs_severity highest = NCS_QUIET;

	for (size_t i = 0; i < row->communicator->rank_count; i++) {
		struct ncs_row of_rank = row_of_rank(row, i);
		enum ncs_severity one;

		if (!ncs_function_is_used(
			    &of_rank.rank->now.functions[row->index]))
			continue;
		one = function_severity(&of_rank);
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

static void explain_collective(const struct ncs_row *row, char *text,
			       size_t size)
{
	struct ncs_moving_view view = ncs_communicator_moving(
		row->communicator, (unsigned)row->index, NULL);

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
		.severity = collective_severity,
		.throughput = NCS_COLUMN_COLLECTIVE_BUSBW,
		.bytes = NCS_COLUMN_COLLECTIVE_BYTES,
		.time = NCS_COLUMN_COLLECTIVE_TIME,
		.above = &ncs_screen_communicators.rules,
	},
	.explain = explain_collective,
};
