/* SPDX-License-Identifier: MIT */
/* Collectives, by size: one row for each size class, algorithm and
 * protocol of a function of a communicator's rank. Must not draw.
 */
#include "tui/views/view.h"

#include <inttypes.h>

#include "analysis/base/timings.h"
#include "analysis/base/value_names.h"
#include "ncclstat/size_class.h"
#include "tui/text/words.h"

static const struct ncs_class_view *class_of(const struct ncs_row *row)
{
	return &row->rank->now.classes[row->index];
}

static enum ncs_severity severity(const struct ncs_row *row)
{
	const struct ncs_rank *rank = row->rank;
	const struct ncs_counters *base = rank->base;

	if (rank->now.liveness == NCS_DEAD)
		return NCS_NOTE;
	if (rank->now.liveness == NCS_FINISHED ||
	    (base && ncs_counters_class(base, class_of(row)) ==
			     class_of(row)->operations))
		return NCS_QUIET;
	return NCS_NORMAL;
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

static void explain(const struct ncs_row *row, char *text, size_t size)
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
		.severity = severity,
		.throughput = NCS_COLUMN_CLASS_BUSBW,
		.bytes = NCS_COLUMN_CLASS_SIZE,
		.time = NCS_COLUMN_CLASS_P99,
	},
	.explain = explain,
};
