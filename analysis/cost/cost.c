/* SPDX-License-Identifier: MIT */
/* The cost of ranks: replays, their bounds, and when no cost is told; see cost.h. */
#include "analysis/cost/cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/cost/cost_replay.h"
#include "analysis/cost/cost_stats.h"
#include "shm/hash.h"

/* Draws of the window's moments, of which the outer twentieths are left out. */
#define DRAWS 300u

struct ncs_cost {
	struct ncs_cost_window window;
	struct ncs_cost_event_kind *kinds;
	size_t kind_count;
	struct ncs_cost_edges edges;
	struct ncs_cost_replay replay;
	struct ncs_cost_of_rank *ranks;
	bool *is_sure; /* it costs something, but for what times leave open */
};

/* The setting of the cost, and those of its bounds. */
#define FREE (NCS_COST_FREE / 100.)
static const struct ncs_cost_setting settings[] = {
	{ NCS_COST_EVENTS, 1, FREE, NCS_COST_SLOW_BY_FACTOR, false },
	{ NCS_COST_EVENTS, 1.1, 2 * FREE, NCS_COST_SLOW_BY_FACTOR, false },
	{ NCS_COST_EVENTS, 0.9, 0, NCS_COST_SLOW_BY_FACTOR, false },
	{ NCS_COST_EVENTS, 1, FREE, NCS_COST_SLOW_BY_DELAY, false },
	{ NCS_COST_EVENTS, 1, FREE, NCS_COST_SLOW_NOWHERE, false },
	{ NCS_COST_END, 1, FREE, NCS_COST_SLOW_BY_FACTOR, false },
	{ NCS_COST_READY, 1, FREE, NCS_COST_SLOW_BY_FACTOR, false },
	{ NCS_COST_CALL, 1, FREE, NCS_COST_SLOW_BY_FACTOR, false },
	{ NCS_COST_EVENTS, 1, FREE, NCS_COST_SLOW_BY_FACTOR, true },
};

#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

const char *ncs_cost_unknown_name(enum ncs_cost_unknown unknown)
{
	static const char *const names[] = {
#define X(ID, name, help) name,
		NCS_COST_UNKNOWNS(X)
#undef X
	};

	return names[unknown - 1];
}

const char *ncs_cost_unknown_help(enum ncs_cost_unknown unknown)
{
	static const char *const helps[] = {
#define X(ID, name, help) help,
		NCS_COST_UNKNOWNS(X)
#undef X
	};

	return helps[unknown - 1];
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
	cost->ranks = calloc(cost->window.rank_count + 1, sizeof(*cost->ranks));
	cost->is_sure =
		calloc(cost->window.rank_count + 1, sizeof(*cost->is_sure));
	if (!cost->ranks || !cost->is_sure)
		goto fail;
	for (size_t i = 0; i < cost->window.rank_count; i++)
		cost->ranks[i].rank = cost->window.ranks[i].number;
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
	free(cost->is_sure);
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

/* Runs the window without what is a rank's own. Returns the share that the job
 * gains. */
static double run_without(struct ncs_cost *cost,
			  const struct ncs_cost_rank *rank, unsigned works)
{
	struct ncs_cost_replay *replay = &cost->replay;

	if (works & BY_HOST)
		ncs_cost_edges_map(&cost->edges, rank, NCS_COST_CALL,
				   replay->slack_ns);
	if (works & BY_STREAM)
		ncs_cost_edges_map(&cost->edges, rank, NCS_COST_READY,
				   replay->slack_ns);
	if (works & BY_DATA)
		replay->in_time = (uint32_t)(rank - cost->window.ranks);
	ncs_cost_replay_run(replay);
	ncs_cost_replay_reset(replay, rank->first, rank->count);
	replay->in_time = NCS_COST_NONE;
	return replay->gain_ns / window_ns(cost);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
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
	qsort(sums, DRAWS, sizeof(*sums), compare_doubles);
	view->least = sums[DRAWS / 20] / window_ns(cost);
	view->most = sums[DRAWS - 1 - DRAWS / 20] / window_ns(cost);
}

/* Returns in how many steps of a rank the anchors are known. */
static uint32_t steps_of(const struct ncs_cost *cost,
			 const struct ncs_cost_rank *rank)
{
	const struct ncs_cost_class *class;

	if (rank->class_index == NCS_COST_NONE)
		return 0;
	class = &cost->window.classes[rank->class_index];
	return rank->regular_count > class->depth ?
		       (rank->regular_count - class->depth) / class->period :
		       0;
}

/* Returns why nothing can be told of a rank before anything is computed. */
static enum ncs_cost_unknown unknown_of(const struct ncs_cost *cost,
					const struct ncs_cost_rank *rank)
{
	const struct ncs_cost_class *class;

	if (2 * rank->unknown > rank->seen)
		return NCS_COST_NO_TIMES;
	if (rank->class_index == NCS_COST_NONE)
		return NCS_COST_NO_STEP;
	class = &cost->window.classes[rank->class_index];
	if (class->rank_count < 2 || class->is_chain)
		return NCS_COST_NO_PEER;
	if (steps_of(cost, rank) < NCS_COST_STEPS)
		return NCS_COST_FEW_STEPS;
	return NCS_COST_KNOWN;
}

/* Tells the cost of a rank by the first setting. */
static void tell(struct ncs_cost *cost, size_t i, double change)
{
	struct ncs_cost_of_rank *view = &cost->ranks[i];

	view->unknown = unknown_of(cost, &cost->window.ranks[i]);
	view->steps = steps_of(cost, &cost->window.ranks[i]);
	if (view->unknown != NCS_COST_KNOWN)
		return;
	if (fabs(change) > NCS_COST_CHECK / 100.)
		view->unknown = NCS_COST_VARIES;
	view->share = run_without(cost, &cost->window.ranks[i], BY_ALL);
	view->gain_ns = view->share * window_ns(cost);
	draw_bounds(cost, view);
	cost->is_sure[i] = view->least >= NCS_COST_LEAST / 100.;
	view->least = fmin(view->least, view->share);
	view->most = fmax(view->most, view->share);
	if (view->share < NCS_COST_SHARE / 100.)
		return;
	view->host = run_without(cost, &cost->window.ranks[i], BY_HOST);
	view->stream = run_without(cost, &cost->window.ranks[i], BY_STREAM);
	view->data = run_without(cost, &cost->window.ranks[i], BY_DATA);
}

/* Widens the bounds of a rank by another setting. */
static void widen(struct ncs_cost *cost, size_t i)
{
	struct ncs_cost_of_rank *view = &cost->ranks[i];
	double share = run_without(cost, &cost->window.ranks[i], BY_ALL);

	view->least = fmin(view->least, share);
	view->most = fmax(view->most, share);
}

/* Makes the edges of a setting, and their replay. */
static int set_up(struct ncs_cost *cost, const struct ncs_cost_setting *setting)
{
	return ncs_cost_edges_make(&cost->edges, setting) != 0 ||
			       ncs_cost_replay_begin(&cost->replay) != 0 ?
		       -ENOMEM :
		       0;
}

/* Returns the share by which the window changes with works from other steps. */
static double check(struct ncs_cost *cost)
{
	ncs_cost_edges_shuffle(&cost->edges, cost->replay.slack_ns);
	ncs_cost_replay_run(&cost->replay);
	ncs_cost_replay_reset(&cost->replay, 0,
			      (uint32_t)cost->window.launch_count);
	return cost->replay.gain_ns / window_ns(cost);
}

static bool is_asked(const struct ncs_cost *cost, size_t i, int64_t rank)
{
	return rank < 0 || cost->ranks[i].rank == rank;
}

/* Returns whether the bounds of a rank are worth more than those of chance. */
static bool is_bounded(const struct ncs_cost_of_rank *view)
{
	return view->unknown == NCS_COST_KNOWN &&
	       fmax(fabs(view->share), view->most) >= NCS_COST_LEAST / 100.;
}

/* Decides by the bounds of all ranks. */
static void judge(struct ncs_cost *cost)
{
	for (size_t i = 0; i < cost->window.rank_count; i++) {
		struct ncs_cost_of_rank *view = &cost->ranks[i];

		if (view->unknown == NCS_COST_KNOWN &&
		    view->most >= NCS_COST_SHARE / 100. &&
		    (view->most - view->least >= NCS_COST_WIDE / 100. ||
		     (view->least < NCS_COST_LEAST / 100. &&
		      (cost->is_sure[i] ||
		       view->least < -NCS_COST_SHARE / 100.))))
			view->unknown = NCS_COST_AMBIGUOUS;
		view->is_too_much = view->unknown == NCS_COST_KNOWN &&
				    view->share >= NCS_COST_SHARE / 100. &&
				    view->least >= NCS_COST_LEAST / 100.;
	}
}

/* Returns whether a rank costs most by late data. GPUs may have work of their own while
 * they wait for it that is never seen. */
static bool is_by_data(const struct ncs_cost_of_rank *view)
{
	return view->data > fmax(view->host, view->stream);
}

int ncs_cost_compute(struct ncs_cost *cost, int64_t rank)
{
	size_t count = cost->window.rank_count;
	bool any = false;
	double change;

	if (set_up(cost, &settings[0]) != 0)
		return -ENOMEM;
	change = check(cost);
	for (size_t i = 0; i < count; i++) {
		if (!is_asked(cost, i, rank))
			continue;
		tell(cost, i, change);
		any |= is_bounded(&cost->ranks[i]);
	}
	for (size_t k = 1; any && k < SETTINGS; k++) {
		/* The last one leaves a bound from above alone. */
		if (k == SETTINGS - 1)
			judge(cost);
		if (set_up(cost, &settings[k]) != 0)
			return -ENOMEM;
		for (size_t i = 0; i < count; i++)
			if (is_asked(cost, i, rank) &&
			    is_bounded(&cost->ranks[i]) &&
			    (k < SETTINGS - 1 || is_by_data(&cost->ranks[i])))
				widen(cost, i);
	}
	return 0;
}

const struct ncs_cost_of_rank *ncs_cost_ranks(const struct ncs_cost *cost,
					      size_t *count)
{
	*count = cost->window.rank_count;
	return cost->ranks;
}
