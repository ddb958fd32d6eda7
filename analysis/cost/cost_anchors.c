/* SPDX-License-Identifier: MIT */
/* The choice of one anchor; see cost_anchors.h. Only spreads within ranks count:
 * waiting makes ranks alike, so that with differences between ranks wrong anchors
 * would win. */
#include "analysis/cost/cost_anchors.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cost/cost_stats.h"

#define CANDIDATES (2u * NCS_COST_DEPTH_MOST + 2u)

/* The works of a rank since a candidate. */
struct candidate_works {
	uint32_t known, bounded; /* their number */
	double work_ns, spread_ns;
	double bound_ns; /* INFINITY unless it contradicts smaller works */
};

/* Work space of the choice. */
struct choice {
	struct ncs_cost_instances of;
	struct ncs_cost_score scores[CANDIDATES];
	size_t count;
	double *spreads_ns;           /* of all candidates */
	float *since_ns;              /* likewise */
	double *values, *more_values; /* of a rank, or one for each */
	struct candidate_works *ranks;   /* by rank: since the candidate */
	struct candidate_works *nearest; /* … and the nearest end */
	size_t instance_room;
	double step_ns; /* from one event of the kind to the next: the median */
};

/* --- The events of a kind ------------------------------------------------- */

/* Returns whether all launches between a launch and the same one a step before
 * are regular. */
static bool follows_a_step(const struct ncs_cost_window *window,
			   const struct ncs_cost_class *class,
			   const struct ncs_cost_rank *rank, uint32_t regular)
{
	const uint32_t *launches = &window->regular[rank->regular];

	return regular >= class->depth && regular >= class->period &&
	       launches[regular] - launches[regular - class->period] ==
		       class->period;
}

static uint32_t add_instances(struct ncs_cost_instances *of, uint32_t place,
			      uint32_t position)
{
	const struct ncs_cost_window *window = of->window;
	const struct ncs_cost_rank *rank =
		&window->ranks[of->class->ranks[place]];
	uint32_t period = of->class->period, fitting = 0, next = 0, kept = 0;
	uint32_t first = of->first[place];

	for (uint32_t pass = 0; pass < 2; pass++) {
		uint32_t seen = 0, ahead;
		double apart = fmax(1, (double)fitting / NCS_COST_LOOKED_AT);

		for (uint32_t i = 0; i < rank->regular_count; i += ahead) {
			const struct ncs_cost_launch *launch =
				&window->launches
					 [window->regular[rank->regular + i]];

			ahead = launch->position == position ? period : 1;
			if (ahead == 1 && period > 1)
				continue;
			if (!follows_a_step(window, of->class, rank, i))
				continue;
			fitting += pass == 0;
			if (pass == 0 || seen++ != next ||
			    kept == NCS_COST_LOOKED_AT)
				continue;
			of->instances[first + kept++] =
				(struct ncs_cost_instance){
					launch,
					ncs_cost_at_ns(launch, of->event),
					of->event == NCS_COST_READY &&
						launch->is_censored,
				};
			next = (uint32_t)(kept * apart);
		}
		if (fitting < NCS_COST_STEPS)
			return 0;
	}
	return kept;
}

/* Finds the events of a position that are looked at: of each rank as many, spread evenly
 * over the window. */
static void find_instances(struct ncs_cost_instances *of, uint32_t position)
{
	of->rank_count = of->known = 0;
	for (uint32_t i = 0; i < of->class->rank_count; i++) {
		uint32_t count = add_instances(of, i, position);

		of->first[i + 1] = of->first[i] + count;
		of->rank_count += count > 0;
	}
	for (uint32_t i = 0; i < of->first[of->class->rank_count]; i++)
		of->known += !of->instances[i].is_censored;
}

/* --- One candidate -------------------------------------------------------- */

/* Counts how often a candidate comes after the event. */
struct order_count {
	uint32_t all, early;
};

/* Finds the works of a rank. Returns false if the candidate comes too late too
 * often. */
static bool find_works(struct choice *choice, struct ncs_cost_score *score,
		       uint32_t place, struct order_count *order,
		       struct candidate_works *works)
{
	const struct ncs_cost_instances *of = &choice->of;
	bool may_hide = score->anchor.event == NCS_COST_READY;
	uint32_t first = of->first[place], end = of->first[place + 1];

	*works = (struct candidate_works){ .bound_ns = INFINITY };
	for (uint32_t i = first; i < end; i++) {
		const struct ncs_cost_instance *instance = &of->instances[i];
		const struct ncs_cost_launch *anchor =
			ncs_cost_anchor_of(of, instance, score->anchor);
		double since_ns = instance->at_ns -
				  ncs_cost_at_ns(anchor, score->anchor.event);

		order->all++;
		score->since_ns[i] = NAN;
		if (ncs_cost_is_early(since_ns) &&
		    ++order->early > 2 + NCS_COST_MISFIT / 1000. * order->all)
			return false;
		if (may_hide && anchor->is_censored)
			continue;
		if (instance->is_censored) {
			choice->more_values[works->bounded++] = since_ns;
		} else {
			choice->values[works->known++] = since_ns;
			score->since_ns[i] = (float)since_ns;
		}
	}
	if (works->bounded >= NCS_COST_STEPS)
		works->bound_ns =
			ncs_cost_median(choice->more_values, works->bounded);
	return true;
}

static void measure_spread(struct choice *choice, struct candidate_works *works)
{
	works->work_ns = ncs_cost_median(choice->values, works->known);
	for (uint32_t i = 0; i < works->known; i++)
		choice->values[i] = fabs(choice->values[i] - works->work_ns);
	works->spread_ns = ncs_cost_mean_of_least(choice->values, works->known,
						  NCS_COST_TRIM);
}

static void forget_times(const struct ncs_cost_instances *of,
			 struct ncs_cost_score *score, uint32_t place)
{
	for (uint32_t i = of->first[place]; i < of->first[place + 1]; i++)
		score->since_ns[i] = NAN;
}

/* Sets a score to by how much ranks contradict a candidate: they are known to
 * need far less than others seem to, which are slow or wait for something else. */
static void add_contradiction(struct ncs_cost_score *score,
			      const struct candidate_works *ranks,
			      uint32_t count, uint32_t with_some)
{
	double least_ns = INFINITY, least_of_all_ns = INFINITY, sum_ns = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (isnan(score->spreads_ns[i]))
			continue;
		least_of_all_ns = fmin(least_of_all_ns, ranks[i].work_ns);
		if (isinf(ranks[i].bound_ns))
			least_ns = fmin(least_ns, ranks[i].work_ns);
	}
	if (isinf(least_ns))
		least_ns = least_of_all_ns;
	for (uint32_t i = 0; i < count; i++)
		if (!isinf(ranks[i].bound_ns))
			sum_ns += fmax(0, NCS_COST_PAIR / 100. * least_ns -
						  ranks[i].bound_ns);
	score->score_ns = sum_ns / with_some;
}

/* Finds how long a step takes. */
static void find_step_ns(struct choice *choice)
{
	const struct ncs_cost_instances *of = &choice->of;
	uint32_t count = of->first[of->class->rank_count];

	for (uint32_t i = 0; i < count; i++) {
		const struct ncs_cost_instance *instance = &of->instances[i];

		uint32_t before = ncs_cost_back(of->window, instance->launch,
						of->class->period);

		choice->values[i] =
			instance->at_ns -
			ncs_cost_at_ns(&of->window->launches[before],
				       of->event);
	}
	choice->step_ns = ncs_cost_median(choice->values, count);
}

/* Returns whether a candidate is the call before, but some rank that is not awaited
 * follows the nearest end as well, as in ahead-first-late of test/recordings. Notes the
 * nearest ends. */
static bool is_pace_of_others(struct choice *choice,
			      const struct ncs_cost_score *score)
{
	const struct ncs_cost_instances *of = &choice->of;

	for (uint32_t i = 0; i < of->class->rank_count; i++) {
		const struct candidate_works *works = &choice->ranks[i];
		struct candidate_works *nearest = &choice->nearest[i];

		if (isnan(score->spreads_ns[i]))
			continue;
		if (score->anchor.event == NCS_COST_END &&
		    works->work_ns < nearest->work_ns)
			*nearest = *works;
		if (score->anchor.event == NCS_COST_CALL &&
		    of->event == NCS_COST_CALL &&
		    nearest->work_ns < works->work_ns &&
		    nearest->spread_ns < works->spread_ns &&
		    !ncs_cost_is_awaited(of, i))
			return true;
	}
	return false;
}

/* Scores a candidate. Returns false if it is none. */
static bool score_candidate(struct choice *choice, struct ncs_cost_score *score)
{
	const struct ncs_cost_instances *of = &choice->of;
	struct candidate_works *ranks = choice->ranks;
	struct order_count order = { 0, 0 };
	uint32_t count = of->class->rank_count, known = 0, with_works = 0;
	double least_ns = INFINITY;

	for (uint32_t i = 0; i < count; i++) {
		score->spreads_ns[i] = NAN;
		if (!find_works(choice, score, i, &order, &ranks[i]))
			return false;
		if (ranks[i].known < NCS_COST_STEPS) {
			forget_times(of, score, i);
			continue;
		}
		measure_spread(choice, &ranks[i]);
		score->spreads_ns[i] = ranks[i].spread_ns;
		known += ranks[i].known;
		least_ns = fmin(least_ns, ranks[i].work_ns);
	}
	/* The spread of a few events is small by chance. */
	if (known < NCS_COST_STEPS || known * 100 < NCS_MOST * of->known)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!isnan(score->spreads_ns[i]))
			choice->values[with_works++] = ranks[i].work_ns;
	score->work_ns = ncs_cost_median(choice->values, with_works);
	if (score->anchor.event == NCS_COST_END && least_ns >= choice->step_ns)
		return false;
	if (is_pace_of_others(choice, score))
		return false;
	add_contradiction(score, ranks, count, of->rank_count);
	return true;
}

/* --- All candidates ------------------------------------------------------- */

static void add_candidate(struct choice *choice, enum ncs_cost_event event,
			  uint32_t back)
{
	const struct ncs_cost_instances *of = &choice->of;
	uint32_t rank_count = of->class->rank_count;
	struct ncs_cost_score *score = &choice->scores[choice->count];

	score->anchor =
		(struct ncs_cost_anchor){ (uint8_t)event, (uint8_t)back };
	score->spreads_ns = &choice->spreads_ns[choice->count * rank_count];
	score->since_ns =
		&choice->since_ns[choice->count * choice->instance_room];
	choice->count += score_candidate(choice, score);
}

/* Adds the median spread of other candidates for each rank that a candidate does
 * not know. */
static void sum_spreads(struct choice *choice)
{
	uint32_t rank_count = choice->of.class->rank_count, ranks = 0;

	for (uint32_t r = 0; r < rank_count; r++) {
		size_t known = 0;
		double median_ns;

		for (size_t i = 0; i < choice->count; i++)
			if (!isnan(choice->scores[i].spreads_ns[r]))
				choice->values[known++] =
					choice->scores[i].spreads_ns[r];
		ranks += known > 0;
		median_ns = known ? ncs_cost_median(choice->values, known) : 0;
		for (size_t i = 0; i < choice->count; i++) {
			double own_ns = choice->scores[i].spreads_ns[r];

			choice->more_values[i] =
				r == 0 ? 0 : choice->more_values[i];
			choice->more_values[i] += isnan(own_ns) ? median_ns :
								  own_ns;
		}
	}
	for (size_t i = 0; i < choice->count; i++)
		choice->scores[i].score_ns += choice->more_values[i] / ranks;
}

static int compare_scores(const void *a, const void *b)
{
	const struct ncs_cost_score *x = a, *y = b;

	if (x->score_ns != y->score_ns)
		return x->score_ns < y->score_ns ? -1 : 1;
	if (x->anchor.back != y->anchor.back)
		return x->anchor.back < y->anchor.back ? -1 : 1;
	return (int)y->anchor.event - (int)x->anchor.event;
}

/* Returns how many launches back what readiness depends on may be. */
static uint32_t near_of(const struct ncs_cost_class *class)
{
	uint32_t near = 2 * class->period + 2;

	return near < NCS_COST_DEPTH_MOST ? near : NCS_COST_DEPTH_MOST;
}

/* Returns the number of candidates of a class at most. */
static size_t candidates_of(const struct ncs_cost_class *class)
{
	uint32_t near = near_of(class);
	uint32_t ends = near > class->depth ? near : class->depth;
	uint32_t ready = near < class->period ? near : class->period - 1;

	return ends + ready + 1;
}

/* An anchor may be any event of the rank's latest launches. Readiness a step or more
 * before is left out, and an end after which work would take longer than a step: all
 * ranks have one period, so they would always fit. */
static void score_candidates(struct choice *choice)
{
	const struct ncs_cost_class *class = choice->of.class;
	uint32_t near = near_of(class);
	bool is_call = choice->of.event == NCS_COST_CALL;

	choice->count = 0;
	for (uint32_t r = 0; r < class->rank_count; r++)
		choice->nearest[r].work_ns = INFINITY;
	for (uint32_t k = 1; k <= (is_call ? class->depth : near); k++)
		add_candidate(choice, NCS_COST_END, k);
	for (uint32_t k = 1; k <= near && k < class->period; k++)
		add_candidate(choice, NCS_COST_READY, k);
	add_candidate(choice, NCS_COST_CALL, is_call ? 1 : 0);
	if (choice->count == 0)
		return;
	sum_spreads(choice);
	qsort(choice->scores, choice->count, sizeof(*choice->scores),
	      compare_scores);
}

/* --- The choice ----------------------------------------------------------- */

/* Returns the median of the times since a candidate, of those events of a rank of which
 * another one knows them too. */
static double shared_median(struct choice *choice, const float *since_ns,
			    const float *others_ns, uint32_t place)
{
	uint32_t count = 0;

	for (uint32_t i = choice->of.first[place];
	     i < choice->of.first[place + 1]; i++)
		if (!isnan(since_ns[i]) && !isnan(others_ns[i]))
			choice->more_values[count++] = since_ns[i];
	return count > 0 ? ncs_cost_median(choice->more_values, count) : NAN;
}

/* Adds the differences of the distances from two candidates' works on the events of a
 * rank that know both. The works are those of these events: by all of its own, the one
 * that knows fewer would fit them better. */
static void compare_on_rank(struct choice *choice,
			    const struct ncs_cost_score *best,
			    const struct ncs_cost_score *other, uint32_t place,
			    uint32_t *all, uint32_t *both)
{
	double best_work_ns =
		shared_median(choice, best->since_ns, other->since_ns, place);
	double other_work_ns =
		shared_median(choice, other->since_ns, best->since_ns, place);

	for (uint32_t i = choice->of.first[place];
	     i < choice->of.first[place + 1]; i++) {
		double apart_ns = fabs(best->since_ns[i] - best_work_ns);
		double others_ns = fabs(other->since_ns[i] - other_work_ns);

		*all += !isnan(best->since_ns[i]);
		if (isnan(best->since_ns[i]) || isnan(other->since_ns[i]))
			continue;
		choice->values[(*both)++] = others_ns - apart_ns;
	}
}

/* Returns whether a candidate explains no worse than the best, as far as is known:
 * by the differences of their distances on the same events. */
static bool is_alike(struct choice *choice, const struct ncs_cost_score *best,
		     const struct ncs_cost_score *other, double limit_ns)
{
	uint32_t all = 0, both = 0;
	double mean_ns = 0, square = 0, *differences = choice->values;

	if (other->score_ns > 1.5 * limit_ns)
		return false;
	for (uint32_t r = 0; r < choice->of.class->rank_count; r++)
		compare_on_rank(choice, best, other, r, &all, &both);
	if (2 * both < all)
		return false;
	if (both < 2 * NCS_COST_STEPS)
		return other->score_ns <= limit_ns;
	/* Without the outer twentieths. */
	both = (uint32_t)ncs_cost_cut_outer(differences, both, both / 20);
	for (uint32_t i = 0; i < both; i++)
		mean_ns += differences[i] / both;
	for (uint32_t i = 0; i < both; i++)
		square +=
			(differences[i] - mean_ns) * (differences[i] - mean_ns);
	return mean_ns <= NCS_COST_ALIKE_NS + 2 * sqrt(square) / both;
}

/* Chooses, of the candidates that are like the best, the one with the least work:
 * the latest event. */
static size_t choose_one(struct choice *choice,
			 struct ncs_cost_event_kind *kind)
{
	const struct ncs_cost_score *scores = choice->scores;
	double limit_ns =
		ncs_cost_limit_ns(scores[0].score_ns, choice->of.known);
	size_t chosen = 0;

	for (size_t i = 0; i < choice->count; i++) {
		if (!is_alike(choice, &scores[0], &scores[i], limit_ns))
			continue;
		if (scores[i].work_ns < scores[chosen].work_ns)
			chosen = i;
		/* A host may have worked for longer than since the last end that
		 * explains its call: take the first that does. */
		if (scores[i].anchor.event == NCS_COST_END &&
		    (!kind->end.is_known ||
		     (scores[i].work_ns < kind->end.work_ns) !=
			     (choice->of.event == NCS_COST_CALL)))
			kind->end = (struct ncs_cost_choice){
				true, scores[i].anchor, scores[i].work_ns
			};
	}
	return chosen;
}

static int choose(struct choice *choice, struct ncs_cost_event_kind *kind)
{
	size_t chosen;
	int error = 0;

	if (choice->of.known < NCS_COST_STEPS)
		return 0;
	find_step_ns(choice);
	score_candidates(choice);
	if (choice->count == 0)
		return 0;
	chosen = choose_one(choice, kind);
	kind->chosen.count = 1;
	kind->chosen.anchors[0] = choice->scores[chosen].anchor;
	kind->chosen.usual_ns[0] = choice->scores[chosen].work_ns;
	/* In a few steps, chance tells two anchors apart. */
	if (choice->of.known >= NCS_COST_STEPS_WANTED * choice->of.rank_count)
		error = ncs_cost_find_pair(&choice->of, choice->scores,
					   choice->count, chosen,
					   &kind->chosen);
	if (kind->chosen.count == 2)
		kind->end.is_known = false;
	return error;
}

/* Chooses the anchors of all kinds of a class. */
static int choose_class(struct choice *choice,
			struct ncs_cost_event_kind *kinds)
{
	struct ncs_cost_instances *of = &choice->of;
	const struct ncs_cost_class *class = of->class;
	size_t ranks = class->rank_count;
	size_t room = choice->instance_room = ranks * NCS_COST_LOOKED_AT;
	size_t candidates = candidates_of(class);
	size_t values = room > candidates ? room : candidates;
	int error = -ENOMEM;

	of->instances = calloc(room, sizeof(*of->instances));
	of->first = calloc(ranks + 1, sizeof(*of->first));
	choice->spreads_ns =
		calloc(candidates * ranks, sizeof(*choice->spreads_ns));
	choice->since_ns = calloc(candidates * room, sizeof(*choice->since_ns));
	choice->values = calloc(values, sizeof(*choice->values));
	choice->more_values = calloc(values, sizeof(*choice->more_values));
	choice->ranks = calloc(2 * ranks, sizeof(*choice->ranks));
	if (of->instances && of->first && choice->spreads_ns &&
	    choice->since_ns && choice->values && choice->more_values &&
	    choice->ranks) {
		choice->nearest = choice->ranks + ranks;
		error = 0;
	}
	for (uint32_t i = 0; !error && i < 2 * class->period; i++) {
		of->event = i % 2 ? NCS_COST_READY : NCS_COST_CALL;
		find_instances(of, i / 2);
		error = choose(choice, &kinds[class->first_kind + i]);
	}
	free(of->instances);
	free(of->first);
	free(choice->spreads_ns);
	free(choice->since_ns);
	free(choice->values);
	free(choice->more_values);
	free(choice->ranks);
	return error;
}

int ncs_cost_choose_anchors(struct ncs_cost_window *window,
			    struct ncs_cost_event_kind **kinds, size_t *count)
{
	struct choice *choice = calloc(1, sizeof(*choice));
	int error = 0;

	*count = 0;
	for (size_t i = 0; i < window->class_count; i++) {
		window->classes[i].first_kind = (uint32_t)*count;
		*count += 2 * window->classes[i].period;
	}
	*kinds = calloc(*count + 1, sizeof(**kinds));
	if (!choice || !*kinds)
		error = -ENOMEM;
	for (size_t i = 0; !error && i < window->class_count; i++) {
		choice->of.window = window;
		choice->of.class = &window->classes[i];
		error = choose_class(choice, *kinds);
	}
	free(choice);
	return error;
}

void ncs_cost_kinds_free(struct ncs_cost_event_kind *kinds, size_t count)
{
	for (size_t i = 0; kinds && i < count; i++)
		free(kinds[i].chosen.works_ns);
	free(kinds);
}
