/* SPDX-License-Identifier: MIT */
/* The cost of ranks: replays, their bounds, and when no cost is told; see cost.h. */
#include "analysis/cost/cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/base/percentile.h"
#include "analysis/cost/cost_replay.h"
#include "shm/hash.h"

/* Draws of the window's moments, of which the outer twentieths are left out. */
#define DRAWS 300u

/* More that is known of a cost. */
struct clues {
	/* How long others waited for the rank, or for each one: in operations of several
	 * ranks; and at most, with messages, which may overlap, and unless data was
	 * late. */
	double waited_ns, most_waited_ns;
};

struct ncs_cost {
	struct ncs_cost_window window;
	struct ncs_cost_event_kind *kinds;
	size_t kind_count;
	struct ncs_cost_edges edges;
	struct ncs_cost_replay replay;
	/* By rank, and behind them of all at once, and of transfers. */
	struct ncs_cost_of_rank *ranks;
	struct clues *clues; /* likewise: more that is known */
	struct ncs_cost_step step;
	size_t step_rank; /* index of the rank that it is told by */
};

/* The setting of the cost, and those of its bounds. */
static const struct ncs_cost_setting settings[] = {
	{ false, NCS_COST_SLOW_BY_FACTOR, false },
	{ false, NCS_COST_SLOW_BY_DELAY, false },
	{ false, NCS_COST_SLOW_NOWHERE, false },
	{ true, NCS_COST_SLOW_BY_FACTOR, false },
	{ false, NCS_COST_SLOW_BY_FACTOR, true },
};

#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

static const struct {
	const char *name, *help;
} unknowns[] = {
#define X(ID, name, help) { name, help },
	NCS_COST_UNKNOWNS(X)
#undef X
};

const char *ncs_cost_unknown_name(enum ncs_cost_unknown unknown)
{
	return unknowns[unknown - 1].name;
}

const char *ncs_cost_unknown_help(enum ncs_cost_unknown unknown)
{
	return unknowns[unknown - 1].help;
}

/* The places of the costs behind those of ranks. */
static size_t at_once(const struct ncs_cost *cost)
{
	return cost->window.rank_count;
}

static size_t transfers(const struct ncs_cost *cost)
{
	return cost->window.rank_count + 1;
}

/* Returns whether operations are left out, as where only some launches are timed: the
 * others repeat after several steps only, and follow launches that are not known. */
static bool has_gaps(const struct ncs_cost_window *window)
{
	return 1000 * window->missing_count >
	       NCS_COST_MISFIT * window->whole_count;
}

/* Finds the step of the job. Ranks end a collective together, but call it apart. */
static struct ncs_cost_step find_step(const struct ncs_cost_window *window,
				      size_t *by)
{
	struct ncs_cost_step step = { 0 };
	bool is_timed = true;

	for (size_t i = 0; i < window->rank_count; i++) {
		const struct ncs_cost_rank *rank = &window->ranks[i];
		const uint32_t *regular = &window->regular[rank->regular];
		uint32_t period, count;
		double ns;

		is_timed &= 2 * rank->unknown <= rank->seen;
		if (rank->class_index == NCS_COST_NONE || rank->regular_count == 0)
			continue;
		period = window->classes[rank->class_index].period;
		count = (rank->regular_count - 1) / period;
		if (count == 0)
			continue;
		ns = (window->launches[regular[count * period]].end_ns -
		      window->launches[regular[0]].end_ns) /
		     count;
		if (ns <= step.ns)
			continue;
		step.launches = period;
		step.count = count;
		step.ns = ns;
		*by = i;
	}
	if (is_timed && !has_gaps(window) && step.count >= NCS_COST_STEPS)
		return step;
	return (struct ncs_cost_step){
		.unknown = !is_timed	     ? NCS_COST_NO_TIMES :
			   has_gaps(window)  ? NCS_COST_SOME_TIMES :
			   step.count == 0   ? NCS_COST_NO_STEP :
					       NCS_COST_FEW_STEPS,
	};
}

struct ncs_cost *ncs_cost_new(const struct ncs_cost_part *parts, size_t count)
{
	struct ncs_cost *cost = calloc(1, sizeof(*cost));

	if (!cost)
		return NULL;
	if (ncs_cost_window_make(&cost->window, parts, count) != 0 ||
	    ncs_cost_find_steps(&cost->window) != 0 ||
	    ncs_cost_choose_anchors(&cost->window, &cost->kinds,
				    &cost->kind_count) != 0 ||
	    ncs_cost_edges_init(&cost->edges, &cost->window, cost->kinds,
				cost->kind_count) != 0 ||
	    ncs_cost_replay_init(&cost->replay, &cost->edges) != 0)
		goto fail;
	cost->ranks = calloc(transfers(cost) + 1, sizeof(*cost->ranks));
	cost->clues = calloc(transfers(cost) + 1, sizeof(*cost->clues));
	if (!cost->ranks || !cost->clues)
		goto fail;
	cost->step = find_step(&cost->window, &cost->step_rank);
	for (size_t i = 0; i < cost->window.rank_count; i++)
		cost->ranks[i].rank = cost->window.ranks[i].number;
	cost->ranks[at_once(cost)].rank = cost->ranks[transfers(cost)].rank =
		UINT32_MAX;
	return cost;
fail:
	ncs_cost_free(cost);
	return NULL;
}

void ncs_cost_free(struct ncs_cost *cost)
{
	if (!cost)
		return;
	ncs_cost_replay_release(&cost->replay);
	ncs_cost_edges_release(&cost->edges);
	ncs_cost_kinds_free(cost->kinds, cost->kind_count);
	ncs_cost_window_release(&cost->window);
	free(cost->ranks);
	free(cost->clues);
	free(cost);
}

static double window_ns(const struct ncs_cost *cost)
{
	return fmax(1, cost->replay.until_ns - cost->replay.from_ns);
}

/* Kinds of a rank's own works. */
enum {
	BY_HOST = 1,
	BY_STREAM = 2,
	BY_DATA = 4,
	BY_ALL = BY_HOST | BY_STREAM | BY_DATA,
};

/* Runs the window without what is a rank's own, without what each does longer than the
 * others, or without transfers. Returns the share that the job gains. */
static double run_without(struct ncs_cost *cost, size_t i, unsigned works)
{
	struct ncs_cost_replay *replay = &cost->replay;
	bool is_all = i == at_once(cost);
	size_t first = is_all ? 0 : i, end = is_all ? i : i + 1;

	if (i == transfers(cost))
		first = end;
	replay->without_transfers = i == transfers(cost);
	for (size_t r = first; r < end; r++) {
		const struct ncs_cost_rank *rank = &cost->window.ranks[r];

		if (works & BY_HOST)
			ncs_cost_edges_map(&cost->edges, rank, NCS_COST_CALL,
					   is_all, replay->slack_ns);
		if (works & BY_STREAM)
			ncs_cost_edges_map(&cost->edges, rank, NCS_COST_READY,
					   is_all, replay->slack_ns);
	}
	if (works & BY_DATA && first < end)
		replay->in_time = is_all ? NCS_COST_ALL : (uint32_t)i;
	ncs_cost_replay_run(replay);
	for (size_t r = first; r < end; r++)
		ncs_cost_replay_reset(replay, cost->window.ranks[r].first,
				      cost->window.ranks[r].count);
	replay->in_time = NCS_COST_NONE;
	replay->without_transfers = false;
	return replay->gain_ns / window_ns(cost);
}

/* Sets the bounds of a cost to those of chance: what other moments of the window
 * would have given. One pause is no steady cost. */
static void draw_bounds(const struct ncs_cost *cost,
			struct ncs_cost_of_rank *view)
{
	const double *moments_ns = cost->replay.moments_ns;
	double sums[DRAWS];
	uint64_t chance = 7;

	for (unsigned i = 0; i < DRAWS; i++) {
		sums[i] = 0;
		for (unsigned k = 0; k <= NCS_COST_MOMENTS; k++) {
			unsigned at;

			chance = ncs_hash(chance);
			at = (unsigned)(chance % (NCS_COST_MOMENTS + 1));
			sums[i] += moments_ns[at] -
				   (at > 0 ? moments_ns[at - 1] : 0);
		}
	}
	view->least = ncs_select(sums, DRAWS, DRAWS / 20) / window_ns(cost);
	view->most = ncs_select(sums, DRAWS, DRAWS - 1 - DRAWS / 20) /
		     window_ns(cost);
}

/* Returns the time of all steps, from their first call on. */
static double steps_ns(const struct ncs_cost *cost)
{
	const struct ncs_cost_window *window = &cost->window;
	double first_ns = cost->replay.from_ns;

	for (size_t i = 0; i < window->rank_count; i++) {
		const struct ncs_cost_rank *rank = &window->ranks[i];

		if (rank->class_index != NCS_COST_NONE &&
		    rank->regular_count > 0)
			first_ns = fmin(
				first_ns,
				window->launches[window->regular[rank->regular]]
					.call_ns);
	}
	return fmax(1, cost->replay.until_ns - first_ns);
}

/* Returns in how many steps of a rank, or of each one, the anchors are known. */
static uint32_t steps_of(const struct ncs_cost *cost, size_t i)
{
	const struct ncs_cost_rank *rank = &cost->window.ranks[i];
	const struct ncs_cost_class *class;
	uint32_t least = UINT32_MAX;

	if (i >= at_once(cost)) {
		for (size_t r = 0; r < at_once(cost); r++)
			least = steps_of(cost, r) < least ? steps_of(cost, r) :
							    least;
		return at_once(cost) > 0 ? least : 0;
	}
	if (rank->class_index == NCS_COST_NONE)
		return 0;
	class = &cost->window.classes[rank->class_index];
	return rank->regular_count > class->depth ?
		       (rank->regular_count - class->depth) / class->period :
		       0;
}

/* Returns why nothing can be told of a rank, or of some of all, before anything is
 * computed. Transfers need no other rank that does the same, but all that take part:
 * else waiting for one that is not seen would be theirs. */
static enum ncs_cost_unknown unknown_of(const struct ncs_cost *cost, size_t i,
					bool needs_peer)
{
	const struct ncs_cost_rank *rank = &cost->window.ranks[i];
	const struct ncs_cost_class *class;
	enum ncs_cost_unknown unknown = NCS_COST_KNOWN;

	if (i == transfers(cost) &&
	    1000 * cost->window.partial_count >
		    NCS_COST_MISFIT * cost->window.item_count)
		return NCS_COST_UNSEEN;
	if (i >= at_once(cost)) {
		for (size_t r = 0; r < at_once(cost) && unknown == NCS_COST_KNOWN;
		     r++)
			unknown = unknown_of(cost, r, i == at_once(cost));
		return unknown;
	}
	if (2 * rank->unknown > rank->seen)
		return NCS_COST_NO_TIMES;
	if (has_gaps(&cost->window))
		return NCS_COST_SOME_TIMES;
	if (rank->class_index == NCS_COST_NONE)
		return NCS_COST_NO_STEP;
	class = &cost->window.classes[rank->class_index];
	if (needs_peer && (class->rank_count < 2 || class->is_chain))
		return NCS_COST_NO_PEER;
	if (steps_of(cost, i) < NCS_COST_STEPS)
		return NCS_COST_FEW_STEPS;
	return NCS_COST_KNOWN;
}

/* Adds how long others waited in an operation: for the rank that began last, until the
 * next one had begun, and for each one, until all had. */
static void add_waits(struct ncs_cost *cost, size_t index)
{
	const struct ncs_cost_window *window = &cost->window;
	const struct ncs_cost_operation *operation = &window->operations[index];
	double last_ns = operation->last_begin_ns, before_ns = -INFINITY;
	double first_ns = INFINITY;
	uint32_t last = NCS_COST_NONE, waiting = 0;

	if (operation->waits_less)
		return;
	for (uint32_t k = 0; k < operation->count; k++) {
		const struct ncs_cost_launch *launch =
			&window->launches[window->members[operation->first + k]];
		bool ends_with = ncs_cost_ends_with(window, launch, index);

		if (last == NCS_COST_NONE && launch->begin_ns == last_ns) {
			last = launch->rank;
			continue;
		}
		before_ns = fmax(before_ns, launch->begin_ns);
		waiting += ends_with;
		if (ends_with)
			first_ns = fmin(first_ns, launch->begin_ns);
	}
	if (last_ns < cost->replay.from_ns || waiting == 0)
		return;
	if (operation->data_late_ns > 0) {
		cost->clues[at_once(cost)].most_waited_ns = INFINITY;
		if (operation->late_rank < at_once(cost))
			cost->clues[operation->late_rank].most_waited_ns =
				INFINITY;
	}
	for (unsigned k = 0; k < 2; k++) {
		struct clues *clues = &cost->clues[k ? at_once(cost) : last];
		double waited_ns = last_ns - (k ? first_ns : before_ns);

		clues->most_waited_ns += waited_ns;
		if (!operation->is_transfer && !operation->is_separate)
			clues->waited_ns += waited_ns;
	}
}

static void find_waits(struct ncs_cost *cost)
{
	for (size_t i = 0; i <= at_once(cost); i++)
		cost->clues[i].waited_ns = cost->clues[i].most_waited_ns = 0;
	for (size_t i = 0; i < cost->window.operation_count; i++)
		add_waits(cost, i);
}

/* Returns for which share of the time others waited for a rank at most. */
static double most_waited(const struct ncs_cost *cost, size_t i)
{
	return cost->clues[i].most_waited_ns / window_ns(cost);
}

/* Returns whether others waited for a rank for much of the time, and next to nothing of
 * that goes away if the job is without a share of its time. */
static bool is_wait_unexplained(const struct ncs_cost *cost, size_t i,
				double share)
{
	double waited_ns = cost->clues[i].waited_ns;

	return waited_ns >= NCS_COST_SHARE / 100. * window_ns(cost) &&
	       share * window_ns(cost) < NCS_COST_WAITED / 100. * waited_ns;
}

/* Returns whether what seems to be little leaves a wait for a rank unexplained, although
 * the upper bound, which is much, explains it. */
static bool is_too_little(const struct ncs_cost *cost, size_t i)
{
	const struct ncs_cost_of_rank *view = &cost->ranks[i];

	if (view->share >= NCS_COST_SHARE / 100. ||
	    !is_wait_unexplained(cost, i, view->share))
		return false;
	return view->most >= NCS_COST_SHARE / 100. &&
	       !is_wait_unexplained(cost, i, view->most);
}

/* Returns whether a cost contradicts how long others waited: it is more, or next to
 * nothing although they waited for much of the time. */
static bool is_contradicted(const struct ncs_cost *cost, size_t i)
{
	const struct ncs_cost_of_rank *view = &cost->ranks[i];

	return view->share > most_waited(cost, i) + NCS_COST_LEAST / 100. ||
	       is_too_little(cost, i) ||
	       is_wait_unexplained(cost, i, view->most_here);
}

/* Tells the cost of a rank by the first setting. */
static void tell(struct ncs_cost *cost, size_t i)
{
	struct ncs_cost_of_rank *view = &cost->ranks[i];

	view->unknown = unknown_of(cost, i, i < transfers(cost));
	view->steps = steps_of(cost, i);
	if (view->unknown != NCS_COST_KNOWN)
		return;
	view->share = run_without(cost, i, BY_ALL);
	view->window_ns = window_ns(cost);
	view->steps_ns = steps_ns(cost);
	draw_bounds(cost, view);
	view->least = fmin(view->least, view->share);
	view->most = fmax(view->most, view->share);
	view->least_here = view->most_here = view->share;
	if (view->share < NCS_COST_SHARE / 100. || i == transfers(cost))
		return;
	view->host = run_without(cost, i, BY_HOST);
	view->stream = run_without(cost, i, BY_STREAM);
	view->data = run_without(cost, i, BY_DATA);
}

/* Widens the bounds of a rank by what it would cost otherwise. */
static void widen(struct ncs_cost_of_rank *view, double share)
{
	view->least = fmin(view->least, share);
	view->most = fmax(view->most, share);
	view->least_here = fmin(view->least_here, share);
	view->most_here = fmax(view->most_here, share);
}

/* Makes the edges of a setting, and their replay. */
static int set_up(struct ncs_cost *cost, const struct ncs_cost_setting *setting)
{
	return ncs_cost_edges_make(&cost->edges, setting) != 0 ||
			       ncs_cost_replay_begin(&cost->replay) != 0 ?
		       -ENOMEM :
		       0;
}

static bool is_asked(const struct ncs_cost *cost, size_t i, int64_t rank)
{
	if (i == at_once(cost))
		return rank == NCS_COST_AT_ONCE;
	if (i == transfers(cost) && rank != NCS_COST_EACH)
		return rank == NCS_COST_TRANSFERS;
	return rank == NCS_COST_EACH || cost->ranks[i].rank == rank;
}

/* Returns whether the bounds of a rank are worth more than those of chance. */
static bool is_bounded(const struct ncs_cost_of_rank *view)
{
	return view->unknown == NCS_COST_KNOWN &&
	       fmax(fabs(view->share), view->most) >= NCS_COST_LEAST / 100.;
}

/* Returns whether bounds of a rank tell no cost. */
static bool is_open(const struct ncs_cost *cost, size_t i)
{
	const struct ncs_cost_of_rank *view = &cost->ranks[i];

	return (i < at_once(cost) && is_too_little(cost, i)) ||
	       (view->most >= NCS_COST_SHARE / 100. &&
		view->most - view->least >= NCS_MOST / 100.);
}

/* Decides by the bounds of a rank; if they tell no cost, that is for this reason. */
static void judge(struct ncs_cost *cost, size_t i, enum ncs_cost_unknown reason)
{
	struct ncs_cost_of_rank *view = &cost->ranks[i];

	if (view->unknown == NCS_COST_KNOWN && is_open(cost, i))
		view->unknown = reason;
	view->is_too_much = view->unknown == NCS_COST_KNOWN &&
			    view->share >= NCS_COST_SHARE / 100. &&
			    view->least >= NCS_COST_LEAST / 100.;
}

/* Returns by how much all launches of a rank together may seem to begin earlier or later
 * than those of other ranks, as clocks are apart. */
static double apart_ns(const struct ncs_cost *cost, size_t rank)
{
	const struct ncs_cost_window *window = &cost->window;
	const struct ncs_cost_rank *of = &window->ranks[rank];
	double sum_ns = 0;

	for (uint32_t k = of->first; k < of->first + of->count; k++)
		if (window->launches[k].begin_ns >= cost->replay.from_ns)
			sum_ns += (double)window->launches[k].clocks_apart_ns;
	return sum_ns;
}

/* Widens the bounds of a rank by what clocks can make of them; those of all ranks by
 * the most of any. */
static void widen_by_clocks(struct ncs_cost *cost, size_t i)
{
	struct ncs_cost_of_rank *view = &cost->ranks[i];
	double most_ns = 0, share;

	for (size_t rank = 0; rank < at_once(cost); rank++)
		if (i >= at_once(cost) || rank == i)
			most_ns = fmax(most_ns, apart_ns(cost, rank));
	share = most_ns / window_ns(cost);
	if (share < NCS_COST_LEAST / 100.)
		return;
	view->least -= share;
	view->most += share;
	judge(cost, i, NCS_COST_CLOCKS);
}

/* Returns whether a rank costs most by late data. GPUs may have work of their own while
 * they wait for it that is never seen. */
static bool is_by_data(const struct ncs_cost_of_rank *view)
{
	return view->data > fmax(view->host, view->stream);
}

int ncs_cost_compute(struct ncs_cost *cost, int64_t rank)
{
	size_t last = transfers(cost);
	bool any = false;
	double most;

	if (set_up(cost, &settings[0]) != 0)
		return -ENOMEM;
	find_waits(cost);
	for (size_t i = 0; i <= last; i++) {
		if (!is_asked(cost, i, rank))
			continue;
		tell(cost, i);
		any |= is_bounded(&cost->ranks[i]);
	}
	/* Others may wait where they seem to work: at most, none works longer than the
	 * others without the rank, and nobody waits for it. */
	most = any ? run_without(cost, at_once(cost), BY_ALL) : 0;
	for (size_t i = 0; i < at_once(cost); i++)
		if (is_asked(cost, i, rank) && is_bounded(&cost->ranks[i]))
			widen(&cost->ranks[i],
			      fmax(cost->ranks[i].share,
				   fmin(most, most_waited(cost, i))));
	for (size_t k = 1; any && k < SETTINGS; k++) {
		/* The last one leaves a bound from above alone. */
		for (size_t i = 0; k == SETTINGS - 1 && i <= last; i++)
			if (is_asked(cost, i, rank))
				judge(cost, i, NCS_COST_AMBIGUOUS);
		if (set_up(cost, &settings[k]) != 0)
			return -ENOMEM;
		for (size_t i = 0; i <= last; i++)
			if (is_asked(cost, i, rank) &&
			    is_bounded(&cost->ranks[i]) &&
			    (k < SETTINGS - 1 || i == last ||
			     is_by_data(&cost->ranks[i])))
				widen(&cost->ranks[i],
				      run_without(cost, i, BY_ALL));
	}
	for (size_t i = 0; i < last; i++)
		if (is_asked(cost, i, rank))
			cost->ranks[i].is_contradicted =
				is_contradicted(cost, i);
	for (size_t i = 0; i <= last; i++)
		if (is_asked(cost, i, rank))
			widen_by_clocks(cost, i);
	return 0;
}

const struct ncs_cost_of_rank *ncs_cost_ranks(const struct ncs_cost *cost,
					      size_t *count)
{
	*count = cost->window.rank_count;
	return cost->ranks;
}

const struct ncs_cost_of_rank *ncs_cost_find(const struct ncs_cost *cost,
					     int64_t rank)
{
	for (size_t i = 0; i <= transfers(cost); i++)
		if (is_asked(cost, i, rank))
			return &cost->ranks[i];
	return NULL;
}

const struct ncs_cost_step *ncs_cost_step(const struct ncs_cost *cost)
{
	return &cost->step;
}

size_t ncs_cost_step_begins(const struct ncs_cost *cost, uint64_t *begins_ns)
{
	const struct ncs_cost_window *window = &cost->window;
	const struct ncs_cost_rank *rank = &window->ranks[cost->step_rank];
	const uint32_t *regular;
	size_t count = 0;

	if (cost->step.unknown != NCS_COST_KNOWN)
		return 0;
	regular = &window->regular[rank->regular];
	for (uint32_t i = 0; i < rank->regular_count; i++) {
		const struct ncs_cost_launch *launch =
			&window->launches[regular[i]];

		if (launch->position != window->launches[regular[0]].position)
			continue;
		if (begins_ns)
			begins_ns[count] =
				window->base_ns + (uint64_t)launch->begin_ns;
		count++;
	}
	return count;
}

int ncs_cost_moves(struct ncs_cost *cost, int64_t rank,
		   struct ncs_cost_move *moves)
{
	if (set_up(cost, &settings[0]) != 0)
		return -ENOMEM;
	for (size_t i = 0; i <= transfers(cost); i++)
		if (is_asked(cost, i, rank))
			run_without(cost, i, BY_ALL);
	for (size_t i = 0; i < cost->window.part_count; i++) {
		uint32_t launch = cost->window.part_launches[i];

		moves[i] = launch != NCS_COST_NONE ?
				   ncs_cost_replay_move(&cost->replay, launch) :
				   (struct ncs_cost_move){ NAN, NAN, NAN };
	}
	return 0;
}
