/* SPDX-License-Identifier: MIT */
/* The sentence on a whole job, and clauses on what was not checked; see
 * job_verdict.h. Must not call a job well of which nothing could be read. */
#include "tui/text/job_verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/base/value_names.h"
#include "analysis/diagnosis/wait_graph.h"
#include "analysis/model/communicators.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"
#include "analysis/records/operation_record.h"
#include "analysis/records/parts.h"
#include "tui/text/finding_text.h"
#include "tui/text/node_text.h"
#include "tui/text/words.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

size_t ncs_count_unreadable(const struct ncs_model *model)
{
	size_t count = 0;

	for (size_t i = 0; i < model->unreadable_count; i++)
		count += model->unreadable[i].attach != NCS_ATTACH_NOT_READY;
	return count;
}

uint64_t ncs_count_unpublished(const struct ncs_model *model)
{
	uint64_t count = 0;

	for (size_t i = 0; i < model->rank_count; i++)
		count += model->ranks[i]->now.losses[NCS_LOSS_UNPUBLISHED];
	return count;
}

/* Appends how many communicators have no segment. */
static void append_unpublished(const struct ncs_model *model, char *text,
			       size_t size)
{
	uint64_t count = ncs_count_unpublished(model);

	if (count > 0)
		ncs_append(
			text, size,
			"%" PRIu64 " communicator%s of the processes seen"
			" here: no room for a segment, see NCCLSTAT_SHM_BYTES"
			" in ncclstat-plugin(7)",
			count, count == 1 ? "" : "s");
}

/* Appends how many segments cannot be read, and why the first one cannot. */
static void append_unreadable(const struct ncs_model *model, char *text,
			      size_t size)
{
	const struct ncs_unreadable *first = model->unreadable;
	size_t count = ncs_count_unreadable(model);
	size_t owner_bytes = strlen(NCS_WHY_OWNER);
	const char *plural = count == 1 ? "" : "s";

	if (count == 0)
		return;
	while (first->attach == NCS_ATTACH_NOT_READY)
		first++;
	if (strncmp(first->why, NCS_WHY_OWNER, owner_bytes) == 0)
		ncs_append(text, size, "%zu segment%s belong%s to %s", count,
			   plural, count == 1 ? "s" : "",
			   first->why + owner_bytes);
	else
		ncs_append(text, size, "%zu segment%s cannot be read%s: %s",
			   count, plural, count == 1 ? "" : ", the first",
			   first->why);
}

/* Returns whether lateness in sends and receives is not known. */
static bool is_blind_in_transfers(const struct ncs_model *model)
{
	for (size_t i = 0; i < model->communicator_count; i++) {
		struct ncs_transfer_count count =
			ncs_communicator_transfers(&model->communicators[i]);

		if (ncs_transfers_are_blind(&count))
			return true;
	}
	return false;
}

/* Returns whether any rank has called something: else there is nothing to judge
 * the job by. */
static bool has_called(const struct ncs_model *model)
{
	for (size_t i = 0; i < model->rank_count; i++)
		if (ncs_rank_has_called(model->ranks[i]))
			return true;
	return false;
}

/* Returns whether calls of a function may be operations of others: NCCL makes some of
 * sends and receives, or by copy engines. */
static bool may_be_made_of_others(unsigned function,
				  const struct ncs_snapshot *now)
{
	return function == NCS_FUNCTION_ALL_TO_ALL ||
	       function == NCS_FUNCTION_GATHER ||
	       function == NCS_FUNCTION_SCATTER ||
	       (function == NCS_FUNCTION_ALL_GATHER &&
		now->events[NCS_EVENT_CE_COLL] > 0);
}

/* Returns whether NCCL reports calls of a function of a rank, but no operation of
 * them: of the first ones it may be about to. Captured calls are operations of their
 * replays; those of a communicator of one rank need none. */
static bool is_unreported(const struct ncs_rank *rank, unsigned function)
{
	const struct ncs_snapshot *now = &rank->now;

	return now->functions[function].operations == 0 &&
	       now->functions[function].calls >= NCS_FEW &&
	       now->identity.nranks != 1 && now->launches.captured == 0 &&
	       !may_be_made_of_others(function, now);
}

/* Returns whether no operation is reported of most collectives that the job calls:
 * then the rest does not tell that it is well. */
static bool is_hidden(const struct ncs_model *model)
{
	uint64_t calls = 0, hidden = 0;

	for (size_t i = 0; i < model->rank_count; i++)
		for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++) {
			const struct ncs_rank *rank = model->ranks[i];
			uint64_t made = ncs_is_transfer(k) ?
						0 :
						rank->now.functions[k].calls;

			calls += made;
			hidden += is_unreported(rank, k) ? made : 0;
		}
	return 100 * hidden > NCS_MOST * calls;
}

/* Communication of a job outside NCCL, which NCCL does not report: by the names of
 * kernels where CUPTI tells them, and by the code that processes have. Sums over
 * all processes since they started. */
struct outside {
	uint64_t kernels; /* that communicate outside NCCL */
	double share; /* of the time in which the GPUs run kernels; 0: none */
	/* Code of processes of whose kernels nobody tells, and calls, which have
	 * no kernels of known names; by enum ncs_outside_code. */
	uint64_t code;
	bool cupti_would_tell; /* whether some of it is used */
};

/* Which code no name of a kernel tells, by enum ncs_outside_code. */
enum { PATH = 0, CALL = 1 };
#define X(ID, name, help, how, text) | (uint64_t)how << NCS_OUTSIDE_##ID
static const uint64_t code_of_calls = 0 NCS_OUTSIDE_CODE(X);
#undef X

/* Adds up what the model's ranks show. Returns false if none communicates, or
 * may communicate, outside NCCL as far as can be seen. */
static bool find_outside(const struct ncs_model *model, struct outside *outside)
{
	uint64_t outside_ns = 0, busy_ns = 0;

	*outside = (struct outside){ 0 };
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_snapshot *now = &model->ranks[i]->now;
		const struct ncs_cupti_view *cupti = &now->cupti;

		outside->kernels += cupti->outside_kernels;
		outside_ns += cupti->outside_busy_ns;
		busy_ns += cupti->busy_ns;
		outside->code |= cupti->known && cupti->status == NCS_CUPTI_ON ?
					 now->outside_code & code_of_calls :
					 now->outside_code;
	}
	outside->cupti_would_tell = outside->code & ~code_of_calls;
	if (busy_ns > 0)
		outside->share = (double)outside_ns / (double)busy_ns;
	return outside->kernels > 0 || outside->code != 0;
}

/* Appends by what communication outside NCCL is known. */
static void append_outside(const struct outside *outside, char *text,
			   size_t size)
{
	const char *separator = "";

	if (outside->kernels > 0 && outside->share < 0.01)
		ncs_append(text, size, "under 1 %% of the GPUs' time");
	else if (outside->kernels > 0)
		ncs_append(text, size, "%.0f %% of the GPUs' time",
			   100 * outside->share);
	if (outside->kernels > 0 && outside->code != 0)
		separator = "; ";
	for (unsigned i = 0; i < NCS_OUTSIDE_CODE_COUNT; i++) {
		if (!(outside->code >> i & 1))
			continue;
		ncs_append(text, size, "%s%s", separator,
			   ncs_outside_code_name(i));
		separator = ", ";
	}
}

/* --- By what a job is well ------------------------------------------------- */

/* Sums over the communicators that have a rank that lives, or over all once none
 * has. */
struct well_sums {
	size_t level;        /* ranks that live and are not behind */
	size_t uncalled;     /* ranks that live and have called nothing */
	size_t unnumbered;   /* ranks of which nobody can tell */
	size_t ranks;        /* all that there are, seen or not */
	uint64_t operations; /* begun, each counted once */
	uint64_t span_ns;    /* in this time; 0 if it is not known */
	uint64_t compared;   /* by how late its ranks came */
	uint64_t still_ns;   /* nothing has moved for so long; 0: not known */
};

/* Returns how many more there are; 0 if the counter makes no sense. */
static uint64_t grown(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

/* Returns how many operations a rank began since its counters were these. */
static uint64_t begun_since(const struct ncs_rank *rank,
			    const struct ncs_counters *base)
{
	uint64_t count = 0;

	for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++)
		count += grown(base->functions[k].operations,
			       rank->now.functions[k].operations);
	return count;
}

/* Returns for how long nothing of a rank has moved: no operation, launch or step; 0
 * if it moves, or if that is not known: operations that have ended show no time, so
 * that launches must be followed, or the time of the latest call must tell. */
static uint64_t still_ns(const struct ncs_rank *rank)
{
	const struct ncs_counters *base = ncs_history_base(
		&rank->history, NCS_WINDOW_10_S, rank->now.taken_ns);
	uint64_t moved_ns = ncs_rank_moved_ns(rank);

	return moved_ns == 0 ||
			       (rank->now.launches.followed == 0 &&
				ncs_rank_proxy_known(rank)) ||
			       !base || base->taken_ns >= rank->now.taken_ns ||
			       begun_since(rank, base) > 0 ?
		       0 :
		       ncs_age_ns(rank, moved_ns);
}

/* Adds the operations that the busiest rank of a communicator began in the
 * latest 100 s, or since it is seen. */
static void add_operations(struct well_sums *sums,
			   const struct ncs_communicator *communicator)
{
	uint64_t most = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		const struct ncs_counters *base =
			ncs_history_base(&rank->history, NCS_WINDOW_100_S,
					 rank->now.taken_ns);

		if (!base || rank->now.taken_ns <= base->taken_ns)
			continue;
		if (begun_since(rank, base) > most)
			most = begun_since(rank, base);
		if (rank->now.taken_ns - base->taken_ns > sums->span_ns)
			sums->span_ns = rank->now.taken_ns - base->taken_ns;
	}
	sums->operations += most;
}

/* Whether it can be told how far a rank is: sends and receives have no numbers
 * that all ranks count alike. */
static bool is_numbered(const struct ncs_rank *rank)
{
	return rank->communicator->function != NCS_FUNCTION_COUNT;
}

static void add(struct well_sums *sums,
		const struct ncs_communicator *communicator)
{
	const struct ncs_skew *skew = ncs_communicator_skew(communicator);

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];

		if (!ncs_rank_is_live(rank))
			continue;
		if (!ncs_rank_has_called(rank) && !ncs_rank_is_held_up(rank))
			sums->uncalled++;
		else if (!is_numbered(rank))
			sums->unnumbered++;
		else
			sums->level += !ncs_rank_is_held_up(rank);
		if (still_ns(rank) < sums->still_ns)
			sums->still_ns = still_ns(rank);
	}
	sums->ranks += communicator->live +
		       ncs_communicator_unseen(communicator);
	sums->compared += skew ? skew->all : 0;
	add_operations(sums, communicator);
}

/* Appends by what a job is taken to be well: how many of its ranks are seen and
 * level, of how many that is not known, how many operations they began lately,
 * and in how many of them it was compared how late they come. Appends nothing if
 * no rank lives. */
static void append_well(const struct ncs_model *model, char *text, size_t size)
{
	const bool is_over = ncs_job_end_ns(model) != 0;
	const char *separator = "";
	struct well_sums sums = { .still_ns = UINT64_MAX };

	for (size_t i = 0; i < model->communicator_count; i++)
		if (is_over || model->communicators[i].live > 0)
			add(&sums, &model->communicators[i]);
	if (sums.ranks > 0 && !is_over) {
		ncs_append(text, size, "%zu of %zu rank%s level", sums.level,
			   sums.ranks, sums.ranks == 1 ? "" : "s");
		separator = ", ";
	}
	if (sums.uncalled > 0)
		ncs_append(text, size, ", %zu %s called nothing yet",
			   sums.uncalled, sums.uncalled == 1 ? "has" : "have");
	if (sums.unnumbered > 0)
		ncs_append(text, size, ", not known of %zu", sums.unnumbered);
	if (sums.span_ns == 0)
		return;
	ncs_append(text, size, "%s%" PRIu64 " operation%s in %s", separator,
		   sums.operations, sums.operations == 1 ? "" : "s",
		   ncs_duration(sums.span_ns).text);
	if (sums.compared > 0)
		ncs_append(text, size, ", lateness compared in %" PRIu64,
			   sums.compared);
	else
		ncs_append(text, size, ", lateness not compared");
	if (!is_over && sums.still_ns >= NCS_STUCK_NS)
		ncs_append(text, size, ", nothing has moved for %s",
			   ncs_duration(sums.still_ns).text);
}

/* --- The sentence ----------------------------------------------------------- */

enum ncs_verdict_severity
ncs_job_severity(const struct ncs_diagnosis *diagnosis,
		 const struct ncs_model *model)
{
	struct outside outside;

	if (diagnosis->count == 0 &&
	    (ncs_count_unreadable(model) > 0 || !has_called(model) ||
	     is_hidden(model) || find_outside(model, &outside)))
		return NCS_SEVERITY_UNSEEN;
	return ncs_diagnosis_severity(diagnosis);
}

void ncs_job_sentence(const struct ncs_diagnosis *diagnosis,
		      const struct ncs_model *model, char *text, size_t size)
{
	char seen[NCS_SENTENCE_MAX / 2] = "";
	struct outside outside;

	text[0] = '\0';
	if (diagnosis->count > 0) {
		ncs_finding_sentence(&diagnosis->findings[0], text, size);
		if (diagnosis->count > 1)
			ncs_append(text, size, "; and %zu more",
				   diagnosis->count - 1);
		return;
	}
	append_unreadable(model, text, size);
	if (text[0])
		return;
	if (model->rank_count == 0 || !has_called(model) || is_hidden(model)) {
		ncs_append(text, size, "%s",
			   model->rank_count == 0 ?
				   "no rank is seen" :
			   !has_called(model) ?
				   "no rank has called anything yet" :
				   "NCCL reports no operation of most calls:"
				   " whether they end is not seen");
		return;
	}
	if (find_outside(model, &outside)) {
		ncs_append(text, size, "communication outside NCCL (");
		append_outside(&outside, text, size);
		ncs_append(text, size, ") is not seen; else ");
	}
	append_well(model, seen, sizeof(seen));
	ncs_append(text, size, "%s%s%s%s%s",
		   seen[0] ? "nothing is wrong" :
			     ncs_severity_help(NCS_SEVERITY_WELL),
		   diagnosis->graph.is_over && diagnosis->graph.node_count > 0 ?
			   "; its processes have ended" :
			   "",
		   seen[0] ? ": " : "", seen,
		   is_blind_in_transfers(model) ?
			   "; the lateness of sends and receives is"
			   " unknown" :
			   "");
	if (ncs_count_unpublished(model) > 0)
		ncs_append(text, size,
			   "; communicators that have no room for a segment"
			   " are not seen");
}

void ncs_verdict_line(const struct ncs_diagnosis *diagnosis,
		      const struct ncs_model *model, char *text, size_t size)
{
	char sentence[NCS_SENTENCE_MAX];

	ncs_job_sentence(diagnosis, model, sentence, sizeof(sentence));
	snprintf(text, size, "%s: %s",
		 ncs_severity_name(ncs_job_severity(diagnosis, model)),
		 sentence);
}

/* --- What is not checked --------------------------------------------------- */

/* Each function appends a clause on something that is not checked; nothing if it
 * is. */

/* Communication outside NCCL, as far as it is known. */
static void append_outside_clause(const struct ncs_model *model, char *text,
				  size_t size)
{
	struct outside outside;

	if (!find_outside(model, &outside))
		return;
	ncs_append(text, size, "communication outside NCCL: ");
	append_outside(&outside, text, size);
	if (outside.cupti_would_tell)
		ncs_append(text, size,
			   "; NCCLSTAT_CUPTI=1 tells how much there is");
}

/* Which ranks of a communicator were not seen. */
static void append_unseen(const struct ncs_communicator *communicator,
			  char *text, size_t size)
{
	if (communicator->live > 0 && ncs_communicator_unseen(communicator) > 0)
		ncs_append(text, size,
			   "%s: only %zu of its %d ranks are seen here",
			   ncs_communicator_name(communicator).text,
			   communicator->rank_count,
			   communicator->identity->nranks);
}

/* Functions of which a communicator's calls are reported, but no operation. */
static void append_unreported(const struct ncs_communicator *communicator,
			      char *text, size_t size)
{
	const struct ncs_rank *rank =
		communicator->rank_count > 0 ? communicator->ranks[0] : NULL;
	const char *separator = ": ";
	uint64_t calls = 0;

	for (unsigned k = 0; rank && k < NCS_FUNCTION_COUNT; k++) {
		if (!is_unreported(rank, k))
			continue;
		if (calls == 0)
			ncs_append(text, size, "%s",
				   ncs_communicator_name(communicator).text);
		ncs_append(text, size, "%s%s", separator, ncs_function_name(k));
		separator = ", ";
		calls += rank->now.functions[k].calls;
	}
	if (calls > 0)
		ncs_append(text, size,
			   ": NCCL reports %" PRIu64
			   " calls of rank %d, but no operation: symmetric"
			   " kernels, for one, are not seen",
			   calls, rank->now.identity.rank);
}

/* That nobody tells when a communicator's operations begin and end. */
static void append_blind(const struct ncs_communicator *communicator,
			 char *text, size_t size)
{
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];

		for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++)
			if (ncs_function_ends_known(&rank->now.functions[k]))
				return;
		if (!ncs_rank_is_live(rank) ||
		    rank->now.launches.status == NCS_STREAM_ALL ||
		    rank->now.launches.status == NCS_STREAM_SOME)
			return;
	}
	ncs_append(text, size,
		   "%s: only calls are known, not when their kernels begin and"
		   " end",
		   ncs_communicator_name(communicator).text);
}

/* Which launches of a communicator's graphs report nothing, so that a wait in them
 * is not seen. */
static void append_graphs(const struct ncs_communicator *communicator,
			  char *text, size_t size)
{
	for (size_t i = 0; i < communicator->rank_count && !text[0]; i++) {
		const struct ncs_snapshot *now = &communicator->ranks[i]->now;
		const struct ncs_graphs_view *graphs = &now->graphs;

		if (graphs->are_replays && graphs->lost > 0)
			ncs_append(
				text, size,
				"%s: %" PRIu64
				" reports of replays were overwritten unread:"
				" later operations are not compared",
				ncs_communicator_name(communicator).text,
				graphs->lost);
		else if (graphs->are_replays &&
			 graphs->timed + 1 < graphs->launches)
			ncs_append(text, size,
				   "%s: %" PRIu64 " of %" PRIu64
				   " launches in replays report when they begin"
				   " and end; a wait in the others is not seen"
				   " (NCCLSTAT_GRAPHS=all)",
				   ncs_communicator_name(communicator).text,
				   graphs->timed, graphs->launches);
		else if (!graphs->are_replays && now->launches.captured > 0 &&
			 graphs->stamped == 0)
			ncs_append(text, size,
				   "%s: %" PRIu64
				   " launches captured into CUDA graphs do not"
				   " report their replays: these are not seen",
				   ncs_communicator_name(communicator).text,
				   now->launches.captured);
	}
}

/* That operations of a communicator are known for less time than a look is to tell
 * of. */
static void append_short_reach(const struct ncs_communicator *communicator,
			       char *text, size_t size)
{
	const struct ncs_rank *shortest = NULL;
	uint64_t from_ns = 0, lost = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		const struct ncs_parts_count *count =
			rank->parts ? ncs_parts_count(rank->parts) : NULL;

		if (!count || count->from_ns <= from_ns)
			continue;
		shortest = rank;
		from_ns = count->from_ns;
		lost = count->lost;
	}
	if (shortest)
		ncs_append(text, size,
			   "%s: only operations of the last %s are known:"
			   " %" PRIu64 " records of rank %d were overwritten"
			   " before this look",
			   ncs_communicator_name(communicator).text,
			   ncs_duration(ncs_age_ns(shortest, from_ns)).text,
			   lost, shortest->now.identity.rank);
}

/* Which sends and receives of a communicator were not compared. */
static void append_unpaired(const struct ncs_communicator *communicator,
			    char *text, size_t size)
{
	struct ncs_transfer_count count =
		ncs_communicator_transfers(communicator);

	if (count.unnumbered == 0 && count.distrusted == 0)
		return;
	ncs_append(text, size, "%s:", ncs_communicator_name(communicator).text);
	if (count.unnumbered > 0)
		ncs_append_clause(text, size,
				  "%" PRIu64 " of %" PRIu64
				  " sends and receives cannot be paired",
				  count.unnumbered, count.seen);
	if (count.distrusted > 0)
		ncs_append_clause(text, size, "%" PRIu64 " pairs do not match",
				  count.distrusted);
	ncs_append(text, size, ": the lateness of these%s is unknown",
		   count.distrusted > 0 ? ", and of later pairs," : "");
}

/* Which rank others wait for although its cost is not known, and why, unless it is
 * found for that; or how many ranks have no other to be compared with, or clocks that
 * are too far from those of others. */
static void append_maybe_late(const struct ncs_communicator *communicator,
			      char *text, size_t size)
{
	const struct ncs_lateness_view *found = NULL;
	const struct ncs_rank *late = NULL;
	enum ncs_cost_unknown why = NCS_COST_NO_PEER;
	size_t alone = 0, apart = 0;

	if (ncs_communicator_straggler(communicator))
		return;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		const struct ncs_lateness_view *view = ncs_rank_lateness(rank);

		alone += view && view->cost.unknown == NCS_COST_NO_PEER;
		apart += view && view->cost.unknown == NCS_COST_CLOCKS;
		if (!view || !ncs_may_straggle(view) ||
		    ncs_is_late_for_sure(view) ||
		    (found && view->waited_share <= found->waited_share))
			continue;
		late = rank;
		found = view;
	}
	if (apart > alone)
		why = NCS_COST_CLOCKS;
	if (found)
		ncs_append(text, size,
			   "%s: the others wait for it %.0f %% of the time; its"
			   " cost is not known: %s",
			   ncs_rank_of(late).text, 100 * found->waited_share,
			   ncs_cost_unknown_help(found->cost.unknown));
	else if (alone + apart > 0)
		ncs_append(text, size,
			   "%s: what lateness of %zu of %zu ranks costs is not"
			   " known: %s",
			   ncs_communicator_name(communicator).text,
			   why == NCS_COST_CLOCKS ? apart : alone,
			   communicator->rank_count,
			   ncs_cost_unknown_help(why));
}

/* Which links can be found slow only so, and why. */
static void append_links(const struct ncs_model *model,
			 enum ncs_link_check check, const char *why, char *text,
			 size_t size)
{
	const struct ncs_communicator *first = NULL;
	size_t count = 0;

	for (size_t i = 0; model->diagnosis && i < model->communicator_count;
	     i++)
		if (ncs_diagnosis_links(model->diagnosis,
					&model->communicators[i]) == check &&
		    count++ == 0)
			first = &model->communicators[i];
	if (count == 1)
		ncs_append(text, size, "%s: links: %s",
			   ncs_communicator_name(first).text, why);
	else if (count > 1)
		ncs_append(text, size, "links of %zu communicators: %s", count,
			   why);
}

bool ncs_unchecked_text(const struct ncs_model *model, size_t index, char *text,
			size_t size)
{
	static void (*const of_job[])(const struct ncs_model *, char *,
				      size_t) = { append_unreadable,
						  append_unpublished,
						  append_outside_clause };
	static void (*const of_one[])(const struct ncs_communicator *, char *,
				      size_t) = {
		append_unseen,     append_unreported,  append_blind,
		append_graphs,     append_short_reach, append_unpaired,
		append_maybe_late,
	};
	static const struct {
		enum ncs_link_check check;
		const char *why;
	} links[] = {
		{ NCS_LINKS_UNCHECKED,
		  "there is no earlier look to compare with" },
		{ NCS_LINKS_BY_SENDER,
		  "only the senders' waits are known, not how long data is in"
		  " transit" },
	};
	size_t place = 0, ones = COUNT(of_one);

	for (size_t i = 0; i < COUNT(of_job); i++) {
		text[0] = '\0';
		of_job[i](model, text, size);
		if (text[0] && place++ == index)
			return true;
	}
	for (size_t i = 0; i < ones * model->communicator_count; i++) {
		text[0] = '\0';
		of_one[i % ones](&model->communicators[i / ones], text, size);
		if (text[0] && place++ == index)
			return true;
	}
	for (size_t i = 0; i < COUNT(links); i++) {
		text[0] = '\0';
		append_links(model, links[i].check, links[i].why, text, size);
		if (text[0] && place++ == index)
			return true;
	}
	return ncs_unchecked_nodes_text(model, index - place, text, size);
}
