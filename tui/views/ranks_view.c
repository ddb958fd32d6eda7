/* SPDX-License-Identifier: MIT */
/* Ranks: one row for each rank of each communicator. Must not draw. */
#include "tui/views/view.h"

#include <inttypes.h>

#include "analysis/base/value_names.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"
#include "tui/text/finding_text.h"
#include "tui/text/job_text.h"
#include "tui/text/words.h"
#include "tui/views/row_looks.h"

static enum ncs_severity severity(const struct ncs_row *row)
{
	return ncs_rank_severity(row->rank);
}

/* Dead ranks come first, then silent ones, then those that cost time by coming
 * late, by their cost; ranks that have finished come last. */
static double need(const struct ncs_row *row)
{
	const struct ncs_rank *rank = row->rank;
	const struct ncs_lateness_view *late;

	switch (rank->now.liveness) {
	case NCS_DEAD:
		return 3;
	case NCS_SILENT:
		return 2;
	case NCS_FINISHED:
		return -1;
	case NCS_ALIVE:
		break;
	}
	late = ncs_rank_lateness(rank);
	return late && late->is_straggler ? late->cost.share : 0;
}

/* Ranks that somebody may have to look at are never one with others: those that
 * are dead, behind, late, waiting, or found to be the root of something; and
 * those that are silent, unless their whole communicator is. */
static enum ncs_alike alike(const struct ncs_row *row,
			    const struct ncs_diagnosis *diagnosis)
{
	const struct ncs_rank *rank = row->rank;
	const struct ncs_communicator *communicator = rank->communicator;
	const struct ncs_lateness_view *late = ncs_rank_lateness(rank);

	if (rank->now.liveness == NCS_FINISHED)
		return NCS_ALIKE_FINISHED;
	if (!ncs_rank_is_live(rank) || rank->is_past ||
	    ncs_rank_waits_long(rank) || ncs_rank_is_held_up(rank) ||
	    (late && late->is_straggler) ||
	    (diagnosis && (ncs_is_root(diagnosis, rank) ||
			   rank == ncs_diagnosis_suspect(diagnosis))))
		return NCS_ALIKE_NOT;
	if (rank->now.liveness == NCS_ALIVE)
		return NCS_ALIKE_LEVEL;
	return communicator && communicator->silent == communicator->live ?
		       NCS_ALIKE_SILENT :
		       NCS_ALIKE_NOT;
}

/* "node07: 8 ranks, level; the oldest wait is 8.42ms". */
static void group_title(const struct ncs_fold_group *group,
			const struct ncs_grid_row *rows, char *text,
			size_t size)
{
	static const char *const names[NCS_ALIKE_COUNT] = {
		[NCS_ALIKE_LEVEL] = "level",
		[NCS_ALIKE_SILENT] = "silent, like all ranks they work with",
		[NCS_ALIKE_FINISHED] = "finished",
	};
	struct ncs_oldest oldest = { 0 };
	uint64_t lost = 0;

	if (group->place)
		ncs_append(text, size, "%s", group->place);
	else
		ncs_append(text, size, "%zu nodes", group->places);
	ncs_append(text, size, ": %zu ranks, %s", group->count,
		   names[group->alike]);
	for (size_t i = 0; i < group->count; i++) {
		ncs_oldest_add(&oldest, rows[i].row.rank);
		lost += ncs_rank_lost_in_window(rows[i].row.rank);
	}
	if (oldest.rank)
		ncs_append(text, size, "; the oldest wait is %s",
			   ncs_duration(oldest.duration_ns).text);
	if (lost > 0)
		ncs_append(text, size, "; lost %" PRIu64, lost);
}

static void append_life(const struct ncs_rank *rank, char *text, size_t size)
{
	const struct ncs_snapshot *now = &rank->now;

	switch (now->liveness) {
	case NCS_DEAD:
		ncs_append_clause(
			text, size,
			"dead: process %u is gone; its last state is shown",
			ncs_rank_pid(rank));
		break;
	case NCS_FINISHED:
		ncs_append_clause(text, size,
				  "finished: the communicator was finalized");
		break;
	case NCS_SILENT:
		ncs_append_clause(
			text, size, "silent: NCCL has reported nothing for %s",
			ncs_duration(now->taken_ns - now->last_call_ns).text);
		break;
	case NCS_ALIVE:
		ncs_append_clause(text, size, "alive");
		break;
	}
}

static void append_waiting(const struct ncs_rank *rank, char *text, size_t size)
{
	if (ncs_rank_oldest(rank).rank)
		ncs_append_oldest(rank, text, size);
	else
		ncs_append_clause(text, size, "%s",
				  ncs_rank_is_idle(rank) ?
					  "no operation is in progress" :
					  "no channel waits");
}

/* Appends how late the rank is. An operation that others began only a moment
 * ago is not mentioned. */
static void append_lateness(const struct ncs_rank *rank, char *text,
			    size_t size)
{
	struct ncs_late_now now;

	ncs_rank_late_now(rank, &now);
	if (now.late_ns >= NCS_LONG_WAIT_NS)
		ncs_append_late_now(rank, text, size);
	ncs_append_lateness(rank, text, size);
}

static void append_refusal(const struct ncs_rank *rank, char *text, size_t size)
{
	if (rank->now.settings.refused != NCS_REFUSAL_NONE)
		ncs_append_clause(
			text, size,
			"it was asked to collect something else, but %s",
			ncs_refusal_help(rank->now.settings.refused));
}

static void explain(const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_rank *rank = row->rank;
	bool waits = ncs_rank_oldest(rank).duration_ns >= NCS_LONG_WAIT_NS;

	ncs_append(text, size, "%s:", ncs_rank_of(rank).text);
	if (rank->is_past)
		ncs_append(text, size,
			   " its node is not seen now; this is its last known"
			   " state;");
	append_life(rank, text, size);
	ncs_append_job(rank, text, size);
	/* The reason for the row's mark comes first. How late a rank was tells
	 * nothing of one that waits. */
	if (!waits) {
		ncs_append_losses(rank, text, size);
		append_lateness(rank, text, size);
	}
	if (ncs_rank_is_live(rank))
		append_waiting(rank, text, size);
	if (waits)
		ncs_append_losses(rank, text, size);
	append_refusal(rank, text, size);
	ncs_append_launch_progress(rank, text, size);
	if (!waits)
		ncs_append_launch_timing(rank, text, size);
	ncs_append(text, size, ".");
}

const struct ncs_screen_view ncs_screen_ranks = {
	.rules = {
		.severity = severity,
		.cell_role = ncs_wait_cell_role,
		.need = need,
		.alike = alike,
		.group_title = group_title,
		.throughput = NCS_COLUMN_RANK_SEND_RATE,
		.bytes = NCS_COLUMN_RANK_RECV_RATE,
		.time = NCS_COLUMN_RANK_OLDEST,
		.above = &ncs_screen_communicators.rules,
		.below = &ncs_screen_channels.rules,
	},
	.explain = explain,
};
