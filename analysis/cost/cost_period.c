/* SPDX-License-Identifier: MIT */
/* The length of the step in which launches repeat; see cost_window.h. It is found by
 * the kinds of launches and by the gaps between them, since equal launches may do
 * different work. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/cost/cost_stats.h"
#include "analysis/cost/cost_window.h"

/* A step has so many launches at most. */
#define PERIOD_MOST 400u
/* These launches of these ranks, at most, tell the length of a step. */
#define TOLD_BY_LAUNCHES 1500u
#define TOLD_BY_RANKS 8u
/* Logarithms of gaps that differ by more differ as if by this. */
#define GAP_MOST 2.f

/* Work space. */
struct period_search {
	const struct ncs_cost_window *window;
	/* Logarithms of the gaps of calls and begins, by rank. */
	float gaps[2 * TOLD_BY_RANKS * TOLD_BY_LAUNCHES];
	/* By length: how far apart gaps are in one step and the next, where launches are
	 * of the same kind, and with GAP_MOST for each of another kind. */
	double unevenness[PERIOD_MOST + 1];
	double unlikeness[PERIOD_MOST + 1];
	/* The ranks that tell, and how many launches of each. */
	uint32_t rank_count, counts[TOLD_BY_RANKS], least_count;
};

static float log_of(double ns)
{
	return logf(fmaxf((float)ns, NCS_LAUNCH_NS));
}

/* Compares the launches of a rank with those `period` before. */
static void compare_steps(const struct ncs_cost_launch *launches,
			  const float *gaps, uint32_t count, uint32_t period,
			  double sums[3])
{
	for (uint32_t i = period + 1; i < count; i++) {
		const float *gap = &gaps[2 * i];
		const float *before = &gaps[2 * (i - period)];

		sums[0]++;
		if (launches[i].token != launches[i - period].token)
			sums[1]++;
		else
			sums[2] += fminf(GAP_MOST, fabsf(gap[0] - before[0])) +
				   fminf(GAP_MOST, fabsf(gap[1] - before[1]));
	}
}

static void find_gaps(struct period_search *search, const uint32_t *ranks,
		      uint32_t rank_count)
{
	float *gap = search->gaps;

	for (uint32_t r = 0; r < rank_count; r++) {
		const struct ncs_cost_rank *rank =
			&search->window->ranks[ranks[r]];
		const struct ncs_cost_launch *launches =
			&search->window->launches[rank->first];

		for (uint32_t i = 0; i < TOLD_BY_LAUNCHES; i++, gap += 2) {
			gap[0] = gap[1] = 0;
			if (i == 0 || i >= rank->count)
				continue;
			gap[0] = log_of(launches[i].call_ns -
					launches[i - 1].call_ns);
			gap[1] = log_of(fabs(launches[i].begin_ns -
					     launches[i - 1].begin_ns));
		}
	}
}

/* Returns how far apart the gaps at the places of a step are, by the medians of each
 * place; of a few steps, chance puts them apart. Without it, the cost of layers-host-late
 * of test/recordings is wrong. */
static double contrast_of(const struct period_search *search, uint32_t period)
{
	double values[TOLD_BY_LAUNCHES], most = 0;

	for (uint32_t r = 0; r < search->rank_count; r++) {
		const float *gaps = &search->gaps[2 * r * TOLD_BY_LAUNCHES];
		double low[2] = { INFINITY, INFINITY };
		double high[2] = { -INFINITY, -INFINITY };

		for (uint32_t place = 0; place < 2 * period; place++) {
			unsigned k = place % 2;
			size_t count = 0;

			for (uint32_t i = 1 + place / 2; i < search->counts[r];
			     i += period)
				values[count++] = gaps[2 * i + k];
			low[k] = fmin(low[k], ncs_cost_median(values, count));
			high[k] = fmax(high[k], ncs_cost_median(values, count));
		}
		most = fmax(most, fmax(high[0] - low[0], high[1] - low[1]));
	}
	return most;
}

/* Returns the shortest of the lengths up to `most` that fit about as well as the best;
 * but none that misses how gaps differ within a step, unless they are about as even. */
static uint32_t choose_period(const struct period_search *search, uint32_t most)
{
	const double *unlikeness = search->unlikeness;
	double best = INFINITY, evenest = INFINITY, limit, contrast;
	double values[PERIOD_MOST];
	uint32_t longest = most;

	for (uint32_t p = 1; p <= most; p++) {
		best = fmin(best, unlikeness[p]);
		values[p - 1] = unlikeness[p];
	}
	limit = best + NCS_COST_GAP_SHARE / 100. *
			       (ncs_cost_median(values, most) - best);
	/* A little unlikeness is chance. */
	limit = fmax(limit, 1.25 * best + 0.05);
	for (uint32_t p = 1; p <= most; p++) {
		if (unlikeness[p] > limit || search->unevenness[p] >= evenest)
			continue;
		evenest = search->unevenness[p];
		longest = p;
	}
	contrast = longest * NCS_COST_STEPS_WANTED <= search->least_count ?
			   contrast_of(search, longest) :
			   0;
	for (uint32_t p = 1; p < longest; p++)
		if (unlikeness[p] <= limit &&
		    (contrast < GAP_MOST / 2 ||
		     search->unevenness[p] <= 1.25 * evenest ||
		     contrast_of(search, p) >= contrast / 2))
			return p;
	return longest;
}

/* Returns the length of a step; 0 if there is none. */
static uint32_t find_period(struct period_search *search, const uint32_t *ranks,
			    uint32_t rank_count)
{
	uint32_t least = UINT32_MAX, p;

	if (rank_count > TOLD_BY_RANKS)
		rank_count = TOLD_BY_RANKS;
	for (uint32_t r = 0; r < rank_count; r++) {
		uint32_t count = search->window->ranks[ranks[r]].count;

		least = count < least ? count : least;
		search->counts[r] = count < TOLD_BY_LAUNCHES ? count :
							       TOLD_BY_LAUNCHES;
	}
	if (least < 3)
		return 0;
	search->rank_count = rank_count;
	search->least_count = least < TOLD_BY_LAUNCHES ? least : TOLD_BY_LAUNCHES;
	find_gaps(search, ranks, rank_count);
	for (p = 1; p <= PERIOD_MOST && p <= least / 3; p++) {
		double sums[3] = { 0, 0, 0 };

		for (uint32_t r = 0; r < rank_count; r++) {
			const struct ncs_cost_rank *rank =
				&search->window->ranks[ranks[r]];

			compare_steps(&search->window->launches[rank->first],
				      &search->gaps[2 * r * TOLD_BY_LAUNCHES],
				      search->counts[r], p, sums);
		}
		search->unevenness[p] = sums[2] / fmax(1, sums[0] - sums[1]);
		search->unlikeness[p] = (sums[2] + sums[1] * (double)GAP_MOST) /
					fmax(1, sums[0]);
	}
	return choose_period(search, p - 1);
}

int ncs_cost_find_period(const struct ncs_cost_window *window,
			 const uint32_t *ranks, uint32_t rank_count,
			 uint32_t *period)
{
	struct period_search *search = calloc(1, sizeof(*search));

	if (!search)
		return -ENOMEM;
	search->window = window;
	*period = find_period(search, ranks, rank_count);
	free(search);
	return 0;
}
