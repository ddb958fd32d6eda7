/* SPDX-License-Identifier: MIT */
/* NVTX ranges: one row for each range of the application in which NCCL was
 * called, nested ranges below the range around them. Must not draw.
 */
#include "tui/views/view.h"

#include <inttypes.h>

#include "analysis/base/timings.h"
#include "analysis/model/range_totals.h"
#include "tui/text/words.h"
#include "tui/views/row_looks.h"

static const struct ncs_range_sum *sum_of(const struct ncs_row *row)
{
	return &row->rank->ranges[row->index];
}

static enum ncs_severity severity(const struct ncs_row *row)
{
	return ncs_part_severity(row->rank, sum_of(row)->range->busy == 0);
}

static void explain(const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_range_sum *sum = sum_of(row);
	unsigned timing = ncs_best_timing(sum->timed);

	ncs_append(text, size, "%s: ", ncs_rank_of(row->rank).text);
	/* The table shows the last component of the path only. */
	ncs_range_append_path(&row->rank->now, sum->range->number, text, size);
	ncs_append(text, size, ": %" PRIu64 " operations", sum->operations);
	if (sum->operations != sum->range->operations)
		ncs_append(text, size, ", %" PRIu64 " of them directly",
			   sum->range->operations);
	ncs_append(text, size, ".");
	if (sum->range->busy > 0)
		ncs_append(text, size, " %" PRIu64 " make progress now.",
			   sum->range->busy);
	if (timing < NCS_TIMING_COUNT)
		ncs_append(text, size, " %" PRIu64 " timed by the %s.",
			   sum->timed[timing], ncs_timing_name(timing));
	if (sum->range->number == NCS_RANGE_OTHER)
		ncs_append(text, size,
			   " These are all ranges for which there was no room;"
			   " see NCCLSTAT_RANGES.");
}

const struct ncs_screen_view ncs_screen_ranges = {
	.rules = {
		.severity = severity,
		.throughput = NCS_COLUMN_RANGE_BUSYBW,
		.bytes = NCS_COLUMN_RANGE_BYTES,
		.time = NCS_COLUMN_RANGE_BUSY,
		.above = &ncs_screen_communicators.rules,
	},
	.explain = explain,
};
