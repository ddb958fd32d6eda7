/* SPDX-License-Identifier: MIT */
/* The critical path in words: what is avoidable. Most work on the path is usual work, so
 * that a cause on it is no loss. Must not say more than the path tells: where too much of
 * it is not known there is no conclusion. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/base/utf8.h"
#include "ncclstat/abi_header.h"
#include "tui/commands/critical_path_command.h"
#include "tui/text/format.h"
#include "tui/text/words.h"

void ncs_path_rank_name(const struct ncs_recording *recording,
			const struct ncs_path_owner *owners, uint32_t rank,
			uint64_t comm_id, char *text, size_t size)
{
	const struct ncs_identity *found = NULL;
	bool is_only = true;
	char raw[300];

	for (size_t i = 0; i < ncs_recording_rank_count(recording); i++) {
		const struct ncs_identity *identity =
			&ncs_recording_rank(recording, i)->header->identity;

		is_only &= identity->comm_id ==
			   ncs_recording_rank(recording, 0)->header->identity.comm_id;
		if (owners[i].rank == rank &&
		    (comm_id != 0 ? identity->comm_id == comm_id :
				    !found || identity->nranks > found->nranks))
			found = identity;
	}
	snprintf(raw, sizeof(raw), "rank %" PRIu32,
		 found && comm_id != 0 ? (uint32_t)found->rank : rank);
	if (found && (!is_only || found->known & NCS_KNOWN_COMM_NAME))
		ncs_append(raw, sizeof(raw), "%s", ncs_of(found, NULL).text);
	ncs_utf8_clean(text, size, raw, false);
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
	const struct ncs_path_report *report = view->report;
	const struct ncs_path_sum *sum = &report->sums[0];
	const struct ncs_path_sum *best = best_of(report);
	const struct ncs_cost_of_rank *cost =
		report->sum_count > 1 ? report->sums[1].cost : NULL;
	char whole[NCS_FORMAT_MAX], after[NCS_FORMAT_MAX];

	text[0] = '\0';
	ncs_format_duration(whole, sizeof(whole), (uint64_t)sum->elapsed_ns, 0);
	if (!sum->is_known) {
		ncs_append(text, size,
			   "No conclusion: %.1f %% of the path is not known.",
			   sum->elapsed_ns > 0 ?
				   100 * sum->unknown_ns / sum->elapsed_ns :
				   100);
	} else if (best) {
		ncs_format_duration(after, sizeof(after),
				    (uint64_t)best->elapsed_ns, 0);
		ncs_append(text, size, "%.1f %% of %s is avoidable: %s by --what-if=%s.",
			   100 - 100 * best->elapsed_ns / sum->elapsed_ns,
			   whole, after, best->scenario->text);
	} else if (cost && cost->unknown != NCS_COST_KNOWN) {
		ncs_append(text, size,
			   "How much of %s is avoidable is not known: %s.", whole,
			   ncs_cost_unknown_help(cost->unknown));
	} else if (report->sum_count > 1) {
		ncs_append(text, size, "Nothing of %s is avoidable so.", whole);
	} else {
		ncs_append(text, size,
			   "How much of %s is avoidable: --what-if=without:stragglers tells.",
			   whole);
	}
}
