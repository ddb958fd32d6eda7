/* SPDX-License-Identifier: MIT */
/* Tells by what a job is seen to be well; see well_text.h. */
#include "tui/text/well_text.h"

#include <inttypes.h>

#include "analysis/base/append.h"
#include "analysis/base/finding_numbers.h"
#include "analysis/diagnosis/wait_graph.h"
#include "analysis/model/communicators.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"
#include "tui/text/words.h"

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

void ncs_append_well(const struct ncs_model *model, char *text, size_t size)
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
