/* SPDX-License-Identifier: MIT */
/* Tells by what a job is seen to be well; see well_text.h. */
#include "tui/text/well_text.h"

#include <inttypes.h>

#include "analysis/base/append.h"
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
};

/* Returns how many more there are; 0 if the counter makes no sense. */
static uint64_t grown(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
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
		uint64_t count = 0;

		if (!base || rank->now.taken_ns <= base->taken_ns)
			continue;
		for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++)
			count += grown(base->functions[k].operations,
				       rank->now.functions[k].operations);
		if (count > most)
			most = count;
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
	struct well_sums sums = { 0 };

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
	ncs_append(text, size, "%s%" PRIu64 " operation%s in ", separator,
		   sums.operations, sums.operations == 1 ? "" : "s");
	ncs_append_duration(text, size, sums.span_ns);
	if (sums.compared > 0)
		ncs_append(text, size, ", lateness compared in %" PRIu64,
			   sums.compared);
	else
		ncs_append(text, size, ", lateness not compared");
}
