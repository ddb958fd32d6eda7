/* SPDX-License-Identifier: MIT */
/* The choice of two anchors; see cost_anchors.h. Each rank has its own works since
 * both, and some may only know one: a late host follows its own call, the others
 * an end. */
#include "analysis/cost/cost_anchors.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/collective_waits.h"
#include "analysis/cost/cost_stats.h"

/* Rounds in which instances and works are assigned to each other. */
#define ROUNDS 4u
/* Spread of a fit: all but the outer twentieth. With COST_TRIM, the cost of
 * ahead-host-late of test/recordings is not known. */
#define FIT_TRIM 5u

/* The times since both anchors, of the instances of a rank that know them. */
struct pair_times {
	double since_ns[NCS_COST_LOOKED_AT][2];
	bool is_censored[NCS_COST_LOOKED_AT];
	uint32_t count, known;
};

/* Work space. */
struct pair_search {
	const struct ncs_cost_instances *of;
	struct ncs_cost_chosen pair; /* the one that is tried … */
	double score_ns;             /* … and its score */
	/* Some rank follows the first anchor alone, which is much nearer to its
	 * events than the second one. */
	bool is_nearer;
	double *spreads_ns;    /* by rank; NAN */
	double *rank_works_ns; /* of ranks that know one */
	struct pair_times times;
	double values[NCS_COST_LOOKED_AT], more_values[NCS_COST_LOOKED_AT];
};

double ncs_cost_limit_ns(double best_ns, uint32_t known)
{
	return best_ns * (1 + 1.5 / sqrt(known)) + NCS_COST_ALIKE_NS;
}

bool ncs_cost_is_awaited(const struct ncs_cost_instances *of, uint32_t place)
{
	const struct ncs_cost_window *window = of->window;
	uint32_t count = of->first[place + 1] - of->first[place], last = 0;

	for (uint32_t i = of->first[place]; i < of->first[place + 1]; i++) {
		const struct ncs_cost_launch *launch = of->instances[i].launch;
		uint32_t operation =
			window->launch_operations[launch->operations];

		last += launch->wait_rule != NCS_WAIT_FOR_ALL ||
			window->operations[operation].last_begin_ns -
					launch->begin_ns <
				(double)NCS_LAUNCH_NS +
					(double)launch->clocks_apart_ns;
	}
	/* Where many ranks are alike, each is last in few operations. */
	return (uint64_t)100 * last * of->class->rank_count >=
	       (uint64_t)NCS_COST_SHARE * count;
}

static void find_times(struct pair_search *search,
		       const struct ncs_cost_anchor anchors[2], uint32_t place)
{
	const struct ncs_cost_instances *of = search->of;
	struct pair_times *times = &search->times;

	times->count = times->known = 0;
	for (uint32_t i = of->first[place]; i < of->first[place + 1]; i++) {
		const struct ncs_cost_instance *instance = &of->instances[i];
		bool is_known = true;

		for (unsigned k = 0; k < 2; k++) {
			const struct ncs_cost_launch *launch =
				ncs_cost_anchor_of(of, instance, anchors[k]);
			double since_ns =
				instance->at_ns -
				ncs_cost_at_ns(launch, anchors[k].event);

			is_known &= !(anchors[k].event == NCS_COST_READY &&
				      launch->is_censored) &&
				    !ncs_cost_is_early(since_ns);
			times->since_ns[times->count][k] = since_ns;
		}
		if (!is_known)
			continue;
		times->is_censored[times->count++] = instance->is_censored;
		times->known += !instance->is_censored;
	}
}

/* Returns the k-th times of instances that are known. */
static uint32_t list_known(struct pair_search *search, unsigned k,
			   double *values)
{
	const struct pair_times *times = &search->times;
	uint32_t count = 0;

	for (uint32_t i = 0; i < times->count; i++)
		if (!times->is_censored[i])
			values[count++] = times->since_ns[i][k];
	return count;
}

/* Returns the distance from the times that works would give; a work that is
 * negative is of an anchor that is not there. */
static double distance_ns(struct pair_search *search, const double works_ns[2],
			  unsigned trim)
{
	const struct pair_times *times = &search->times;

	for (uint32_t i = 0; i < times->count; i++) {
		double later_ns = INFINITY;

		for (unsigned k = 0; k < 2; k++)
			if (works_ns[k] >= 0)
				later_ns =
					fmin(later_ns, times->since_ns[i][k] -
							       works_ns[k]);
		search->values[i] = times->is_censored[i] ? fmax(0, -later_ns) :
							    fabs(later_ns);
	}
	return ncs_cost_mean_of_least(search->values, times->count, trim);
}

/* Finds works since two anchors: each instance belongs to the anchor that is the
 * later one with its work. Begins with works at these places of the sorted times.
 * Returns false if one of them is hardly ever the later one. */
static bool find_both(struct pair_search *search, double first_share,
		      double second_share, double works_ns[2])
{
	const struct pair_times *times = &search->times;
	const double shares[2] = { first_share, second_share };
	double *lists[2] = { search->values, search->more_values };

	if (times->known < NCS_COST_STEPS)
		return false;
	for (unsigned k = 0; k < 2; k++) {
		uint32_t count = list_known(search, k, search->values);

		works_ns[k] =
			ncs_cost_at_share(search->values, count, shares[k]);
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint32_t counts[2] = { 0, 0 };

		for (uint32_t i = 0; i < times->count; i++) {
			const double *since_ns = times->since_ns[i];
			unsigned k = since_ns[0] - works_ns[0] >
				     since_ns[1] - works_ns[1];

			if (!times->is_censored[i])
				lists[k][counts[k]++] = since_ns[k];
		}
		for (unsigned k = 0; k < 2; k++)
			if (counts[k] < 2 ||
			    counts[k] * 100 < NCS_COST_SHARE * times->known)
				return false;
		for (unsigned k = 0; k < 2; k++)
			works_ns[k] =
				fmax(0, ncs_cost_median(lists[k], counts[k]));
	}
	return true;
}

static bool is_same(struct ncs_cost_anchor a, struct ncs_cost_anchor b)
{
	return a.event == b.event && a.back == b.back;
}

/* Finds the works of a rank since one or both anchors, whichever fits best.
 * Returns the spread. */
static double fit_rank(struct pair_search *search, uint32_t place,
		       double works_ns[2])
{
	static const double begins[2][2] = { { 0.5, 0.25 }, { 0.1, 0.5 } };
	const struct ncs_cost_instances *of = search->of;
	double best_ns = INFINITY, works_alone_ns[2];
	bool is_near_only;
	unsigned near;

	for (unsigned k = 0; k < 2; k++) {
		uint32_t count = list_known(search, k, search->values);

		works_alone_ns[k] =
			fmax(0, ncs_cost_median(search->values, count));
	}
	/* The farther one alone is taken only where it explains much more. */
	near = works_alone_ns[1] < works_alone_ns[0];
	/* A farther call before is not taken where nobody waits for the rank: see
	 * ncs_cost_is_awaited(). Else broadcast-host-late of test/recordings is
	 * wrong. */
	is_near_only = near == 1 && of->event == NCS_COST_CALL &&
		       search->pair.anchors[0].event == NCS_COST_CALL &&
		       !ncs_cost_is_awaited(of, place);
	for (unsigned i = 0; i < (is_near_only ? 1 : 2); i++) {
		unsigned k = i == 0 ? near : 1 - near;
		double alone_ns[2] = { -1, -1 }, ns;

		alone_ns[k] = works_alone_ns[k];
		ns = distance_ns(search, alone_ns, FIT_TRIM);
		if (i == 0 || ns < NCS_COST_PAIR / 100. * best_ns) {
			best_ns = ns;
			memcpy(works_ns, alone_ns, sizeof(alone_ns));
		}
	}
	for (unsigned i = 0; !is_near_only && i < 2; i++) {
		double both_ns[2], ns;

		if (!find_both(search, begins[i][0], begins[i][1], both_ns))
			continue;
		ns = distance_ns(search, both_ns, FIT_TRIM);
		if (ns < NCS_COST_PAIR / 100. * best_ns) {
			best_ns = ns;
			memcpy(works_ns, both_ns, sizeof(both_ns));
		}
	}
	search->is_nearer |= works_ns[1] < 0 &&
			     works_ns[0] <
				     NCS_COST_PAIR / 100. * works_alone_ns[1];
	return distance_ns(search, works_ns, NCS_COST_TRIM);
}

/* Scores the pair that is tried. Returns false if it explains too little. */
static bool score_pair(struct pair_search *search)
{
	const struct ncs_cost_instances *of = search->of;
	struct ncs_cost_chosen *pair = &search->pair;
	uint32_t ranks = 0, known = 0;
	bool binds[2] = { false, false };

	search->score_ns = 0;
	search->is_nearer = false;
	for (uint32_t r = 0; r < of->class->rank_count; r++) {
		double *works_ns = pair->works_ns[r];

		search->spreads_ns[r] = NAN;
		works_ns[0] = works_ns[1] = NAN;
		find_times(search, pair->anchors, r);
		known += search->times.known;
		if (search->times.known < NCS_COST_STEPS)
			continue;
		search->spreads_ns[r] = fit_rank(search, r, works_ns);
		search->score_ns += search->spreads_ns[r];
		binds[0] |= works_ns[0] >= 0;
		binds[1] |= works_ns[1] >= 0;
		ranks++;
	}
	if (ranks == 0 || known * 100 < NCS_COST_PAIR * of->known ||
	    2 * ranks <= of->rank_count)
		return false;
	search->score_ns /= ranks;
	return binds[0] && binds[1];
}

/* Returns whether a pair explains much better than one anchor: in all, or on some
 * rank; or some rank's own call is what it waits for, as fit_rank() has found: the
 * one anchor, which is farther, does not explain much more there. Else the cost of
 * ahead-host-late of test/recordings is not known. */
static bool is_much_better(const struct pair_search *search,
			   const struct ncs_cost_score *one)
{
	const struct ncs_cost_anchor *anchors = search->pair.anchors;
	const double *spreads_ns = search->spreads_ns;
	double share = NCS_COST_PAIR / 100.;

	if ((one->score_ns > (double)NCS_ERROR_NS &&
	     search->score_ns < share * one->score_ns) ||
	    (search->is_nearer && anchors[0].event == NCS_COST_CALL &&
	     is_same(anchors[1], one->anchor)))
		return true;
	if (search->score_ns >= one->score_ns)
		return false;
	for (uint32_t r = 0; r < search->of->class->rank_count; r++)
		if (spreads_ns[r] <
		    share * one->spreads_ns[r] - (double)NCS_ERROR_NS)
			return true;
	return false;
}

/* Returns the usual work since one of the anchors. */
static double usual_ns(struct pair_search *search, unsigned k)
{
	uint32_t count = 0;

	for (uint32_t r = 0; r < search->of->class->rank_count; r++)
		if (search->pair.works_ns[r][k] >= 0)
			search->rank_works_ns[count++] =
				search->pair.works_ns[r][k];
	return count > 0 ? ncs_cost_median(search->rank_works_ns, count) :
			   INFINITY;
}

/* A pair that was tried. */
struct tried {
	struct ncs_cost_anchor anchors[2];
	double score_ns, second_ns;
};

/* Tries an anchor with each candidate as the other one. */
static void try_with(struct pair_search *search,
		     const struct ncs_cost_score *scores, size_t count,
		     size_t chosen, struct ncs_cost_anchor first,
		     struct tried *tried, size_t *tried_count)
{
	for (size_t i = 0; i < count; i++) {
		/* The host's chain is the first one or none. */
		if (scores[i].anchor.event == NCS_COST_CALL ||
		    is_same(scores[i].anchor, first))
			continue;
		search->pair.anchors[0] = first;
		search->pair.anchors[1] = scores[i].anchor;
		if (!score_pair(search) ||
		    !is_much_better(search, &scores[chosen]))
			continue;
		tried[(*tried_count)++] = (struct tried){
			{ first, scores[i].anchor },
			search->score_ns,
			usual_ns(search, 1),
		};
	}
}

/* Takes, of the pairs that were tried, the one with the least work since the second
 * anchor of those that are as good as the best. */
static void take_best(struct pair_search *search, const struct tried *tried,
		      size_t count)
{
	const struct tried *taken = NULL;
	double best_ns = INFINITY, limit_ns;

	for (size_t i = 0; i < count; i++)
		best_ns = fmin(best_ns, tried[i].score_ns);
	limit_ns = ncs_cost_limit_ns(best_ns, search->of->known);
	for (size_t i = 0; i < count; i++)
		if (tried[i].score_ns <= limit_ns &&
		    (!taken || tried[i].second_ns < taken->second_ns))
			taken = &tried[i];
	memcpy(search->pair.anchors, taken->anchors, sizeof(taken->anchors));
	score_pair(search);
	for (unsigned k = 0; k < 2; k++)
		search->pair.usual_ns[k] = usual_ns(search, k);
}

int ncs_cost_find_pair(const struct ncs_cost_instances *instances,
		       const struct ncs_cost_score *scores, size_t count,
		       size_t chosen, struct ncs_cost_chosen *pair)
{
	const struct ncs_cost_anchor chain = {
		NCS_COST_CALL, instances->event == NCS_COST_CALL ? 1 : 0
	};
	struct pair_search *search = calloc(1, sizeof(*search));
	struct tried *tried = calloc(2 * count, sizeof(*tried));
	size_t ranks = instances->class->rank_count, tried_count = 0;
	struct ncs_cost_anchor one = scores[chosen].anchor;
	int error = -ENOMEM;

	if (search) {
		search->of = instances;
		search->pair.count = 2;
		search->spreads_ns = calloc(ranks, sizeof(double));
		search->rank_works_ns = calloc(ranks, sizeof(double));
		search->pair.works_ns =
			calloc(ranks, sizeof(*search->pair.works_ns));
	}
	if (search && tried && search->spreads_ns && search->rank_works_ns &&
	    search->pair.works_ns) {
		error = 0;
		try_with(search, scores, count, chosen, chain, tried,
			 &tried_count);
		if (one.event != NCS_COST_CALL)
			try_with(search, scores, count, chosen, one, tried,
				 &tried_count);
	}
	if (tried_count > 0) {
		take_best(search, tried, tried_count);
		*pair = search->pair;
		search->pair.works_ns = NULL;
	}
	if (search) {
		free(search->spreads_ns);
		free(search->rank_works_ns);
		free(search->pair.works_ns);
	}
	free(search);
	free(tried);
	return error;
}
