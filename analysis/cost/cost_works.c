/* SPDX-License-Identifier: MIT */
/* Works of ranks, and what they become; see cost_works.h. */
#include "analysis/cost/cost_works.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cost/cost_stats.h"
#include "shm/array.h"

/* --- Kinds and buckets ---------------------------------------------------- */

static int add_kind(struct ncs_cost_works *works,
		    const struct ncs_cost_class *class,
		    enum ncs_cost_event event, bool is_regular)
{
	uint32_t ranks = class->rank_count;

	if (ncs_array_reserve(&works->kinds, &works->kind_capacity,
			      works->kind_count + 1,
			      sizeof(*works->kinds)) != 0 ||
	    ncs_array_reserve_zeroed(&works->buckets, &works->bucket_capacity,
				     works->bucket_count + 2 * ranks,
				     sizeof(*works->buckets)) != 0)
		return -ENOMEM;
	works->kinds[works->kind_count++] = (struct ncs_cost_work_kind){
		.class = class,
		.first = (uint32_t)works->bucket_count,
		.event = event,
		.anchors = { NCS_COST_END, NCS_COST_END },
		.is_regular = is_regular,
	};
	works->bucket_count += 2 * ranks;
	return 0;
}

int ncs_cost_works_init(struct ncs_cost_works *works,
			const struct ncs_cost_window *window)
{
	*works = (struct ncs_cost_works){ .window = window };
	works->paces = calloc(window->rank_count + 1, sizeof(*works->paces));
	works->scratch = calloc(2 * window->rank_count + 2, sizeof(double));
	if (!works->paces || !works->scratch)
		return -ENOMEM;
	for (uint32_t i = 0; i < window->class_count; i++)
		for (uint32_t k = 0; k < 2 * window->classes[i].period; k++)
			if (add_kind(works, &window->classes[i],
				     k % 2 ? NCS_COST_READY : NCS_COST_CALL,
				     true) != 0)
				return -ENOMEM;
	return 0;
}

void ncs_cost_works_release(struct ncs_cost_works *works)
{
	free(works->kinds);
	free(works->others);
	free(works->buckets);
	free(works->values);
	free(works->paces);
	free(works->scratch);
	*works = (struct ncs_cost_works){ 0 };
}

int ncs_cost_other_kind(struct ncs_cost_works *works,
			const struct ncs_cost_class *class, uint64_t key,
			enum ncs_cost_event event, uint32_t *kind)
{
	size_t low = 0, high = works->other_count;
	struct ncs_cost_other_kind *at;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (works->others[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < works->other_count && works->others[low].key == key) {
		*kind = works->others[low].kind;
		return 0;
	}
	if (ncs_array_reserve(&works->others, &works->other_capacity,
			      works->other_count + 1,
			      sizeof(*works->others)) != 0 ||
	    add_kind(works, class, event, false) != 0)
		return -ENOMEM;
	at = &works->others[low];
	memmove(at + 1, at, (works->other_count - low) * sizeof(*at));
	works->other_count++;
	*kind = (uint32_t)works->kind_count - 1;
	*at = (struct ncs_cost_other_kind){ key, *kind };
	return 0;
}

int ncs_cost_works_reserve(struct ncs_cost_works *works)
{
	size_t count = 0;

	for (size_t i = 0; i < works->bucket_count; i++) {
		struct ncs_cost_bucket *bucket = &works->buckets[i];

		bucket->seen = (uint32_t)count;
		bucket->less = bucket->seen + bucket->seen_count;
		count += bucket->seen_count + bucket->less_count;
		bucket->seen_count = bucket->less_count = 0;
	}
	return ncs_array_reserve(&works->values, &works->value_capacity, count,
				 sizeof(*works->values));
}

void ncs_cost_works_put(struct ncs_cost_works *works,
			struct ncs_cost_bucket *bucket, bool is_less, double ns)
{
	if (is_less)
		works->values[bucket->less + bucket->less_count++] =
			(float)fmax(0, ns);
	else
		works->values[bucket->seen + bucket->seen_count++] = (float)ns;
}

/* --- Sums ----------------------------------------------------------------- */

static void finish_bucket(struct ncs_cost_works *works,
			  struct ncs_cost_bucket *bucket)
{
	float *seen = &works->values[bucket->seen];
	const float *limits = &works->values[bucket->less];

	bucket->least_less_ns = INFINITY;
	bucket->median_ns = NAN;
	for (uint32_t i = 0; i < bucket->less_count; i++)
		bucket->least_less_ns = fminf(bucket->least_less_ns, limits[i]);
	if (bucket->seen_count > 0)
		ncs_cost_sort(seen, bucket->seen_count);
	if (bucket->seen_count >= NCS_COST_STEPS)
		bucket->median_ns = (float)ncs_cost_quantile(
			seen, bucket->seen_count, 0.5);
}

/* Returns the buckets of a kind's ranks. */
static struct ncs_cost_bucket *ranks_of(const struct ncs_cost_works *works,
					const struct ncs_cost_work_kind *kind,
					unsigned anchor)
{
	return &works->buckets[kind->first + anchor * kind->class->rank_count];
}

/* Returns the median of the ranks' medians, NAN if fewer than two are known. */
static double usual_of(struct ncs_cost_works *works,
		       const struct ncs_cost_bucket *ranks, uint32_t count)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < count; i++)
		if (!isnan(ranks[i].median_ns))
			works->scratch[known++] = ranks[i].median_ns;
	return known >= 2 ? ncs_cost_median(works->scratch, known) : NAN;
}

/* Finds how slow each rank is: of the kinds that are not short, the one in which it
 * is most like all others tells. A delay in one kind is none in others. */
static void find_paces(struct ncs_cost_works *works)
{
	size_t rank_count = works->window->rank_count;
	double *longest_ns = &works->scratch[rank_count + 1];

	for (size_t i = 0; i < rank_count; i++) {
		works->paces[i] = (struct ncs_cost_pace){ NAN, 0 };
		longest_ns[i] = 0;
	}
	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t k = 0; k < 2 * works->kind_count; k++) {
			const struct ncs_cost_work_kind *kind =
				&works->kinds[k / 2];
			const struct ncs_cost_class *class = kind->class;
			const struct ncs_cost_bucket *ranks =
				ranks_of(works, kind, k % 2);
			double usual_ns;

			if (!kind->is_regular || kind->event != NCS_COST_READY)
				continue;
			usual_ns = usual_of(works, ranks, class->rank_count);
			if (isnan(usual_ns) ||
			    usual_ns <= (double)NCS_LAUNCH_NS)
				continue;
			for (uint32_t i = 0; i < class->rank_count; i++) {
				uint32_t rank = class->ranks[i];
				struct ncs_cost_pace *pace =
					&works->paces[rank];
				double own = ranks[i].median_ns / usual_ns;

				if (isnan(own))
					continue;
				if (pass == 0)
					longest_ns[rank] = fmax(
						longest_ns[rank], usual_ns);
				else if (usual_ns > longest_ns[rank] / 10 &&
					 !(fabs(own - 1) >=
					   fabs(pace->factor - 1)))
					*pace = (struct ncs_cost_pace){
						own,
						(own - 1) * usual_ns,
					};
			}
		}
}

/* Leaves only what an assumption takes of how slow ranks are. */
static void assume(struct ncs_cost_works *works, enum ncs_cost_slow slow)
{
	for (size_t i = 0; i < works->window->rank_count; i++) {
		struct ncs_cost_pace *pace = &works->paces[i];

		if (slow != NCS_COST_SLOW_BY_FACTOR || isnan(pace->factor))
			pace->factor = 1;
		if (slow != NCS_COST_SLOW_BY_DELAY)
			pace->delay_ns = 0;
	}
}

/* Returns how long hosts work from one call to the next, of which only `limit_ns` is
 * known, as they wait in between: as long as they work after the wait or, where that
 * is not known, half of MOST of the limit. By that half alone, ahead-host-late of
 * test/recordings is wrong. The rank at `place` of the class does not count. */
static double unseen_chain(struct ncs_cost_works *works,
			   const struct ncs_cost_work_kind *kind,
			   unsigned anchor, uint32_t place, double limit_ns)
{
	const struct ncs_cost_bucket *ranks = ranks_of(works, kind, 1 - anchor);
	double *after_ns = &works->scratch[works->window->rank_count + 1];
	uint32_t known = 0;

	for (uint32_t i = 0; i < kind->class->rank_count; i++)
		if (i != place && !isnan(ranks[i].median_ns))
			after_ns[known++] = ranks[i].median_ns;
	if (kind->anchors[1 - anchor] != NCS_COST_END || known == 0)
		return NCS_MOST / 200. * limit_ns;
	return fmin(ncs_cost_median(after_ns, known), limit_ns);
}

/* Finds what is expected of a rank in a kind of which it was not seen. */
static void expect(struct ncs_cost_works *works,
		   const struct ncs_cost_work_kind *kind, unsigned anchor)
{
	struct ncs_cost_bucket *ranks = ranks_of(works, kind, anchor);
	const uint32_t *numbers = kind->class->ranks;
	uint32_t count = kind->class->rank_count, known = 0;
	bool is_chain = kind->event == NCS_COST_CALL &&
			kind->anchors[anchor] == NCS_COST_CALL;
	double usual_ns = NAN;

	for (uint32_t i = 0; i < count; i++)
		if (!isnan(ranks[i].median_ns))
			works->scratch[known++] = ncs_cost_usual_ns(
				works->paces[numbers[i]], ranks[i].median_ns);
	if (known > 0)
		usual_ns = ncs_cost_median(works->scratch, known);
	for (uint32_t i = 0; i < count; i++) {
		const struct ncs_cost_pace *pace = &works->paces[numbers[i]];
		double ns = usual_ns * pace->factor + pace->delay_ns;

		/* Seen of one rank only, which may be the late one. */
		if (is_chain && known < 2 &&
		    ranks[i].less_count >= NCS_COST_STEPS)
			ns = fmin(ns,
				  unseen_chain(works, kind, anchor, UINT32_MAX,
					       ranks[i].least_less_ns));
		ranks[i].expected_ns = isnan(ranks[i].median_ns) ?
					       (float)ns :
					       ranks[i].median_ns;
	}
}

void ncs_cost_works_finish(struct ncs_cost_works *works,
			   enum ncs_cost_slow slow)
{
	for (size_t i = 0; i < works->bucket_count; i++)
		finish_bucket(works, &works->buckets[i]);
	find_paces(works);
	assume(works, slow);
	for (size_t k = 0; k < 2 * works->kind_count; k++)
		expect(works, &works->kinds[k / 2], k % 2);
}

/* --- What works become ---------------------------------------------------- */

/* Returns whether enough works of a rank are known for `count` of another one. */
static bool is_seen(const struct ncs_cost_bucket *bucket, uint32_t count)
{
	uint32_t seen = bucket->seen_count, all = seen + bucket->less_count;

	return (seen > 0 && seen >= count / 4) ||
	       (seen >= NCS_COST_STEPS && all >= count / 4);
}

/* Returns the share of the values of a bucket that are below a value; half of those
 * that are equal. */
static double share_of(const struct ncs_cost_works *works,
		       const struct ncs_cost_bucket *bucket, double ns)
{
	const float *values = &works->values[bucket->seen];
	uint32_t ends[2];

	if (bucket->seen_count < 2)
		return 0.5;
	for (unsigned k = 0; k < 2; k++) {
		uint32_t low = 0, high = bucket->seen_count;

		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (k == 0 ? values[middle] < (float)ns :
				     values[middle] <= (float)ns)
				low = middle + 1;
			else
				high = middle;
		}
		ends[k] = low;
	}
	return fmin(1, fmax(0, ((double)ends[0] + ends[1] - 1) / 2 /
				       (bucket->seen_count - 1)));
}

/* Returns what a work becomes at the usual pace of the other ranks of a class. */
static double at_others_pace(struct ncs_cost_works *works,
			     const struct ncs_cost_class *class, uint32_t place,
			     double ns)
{
	double usual_ns =
		ncs_cost_usual_ns(works->paces[class->ranks[place]], ns);
	double *factors = works->scratch;
	double *delays_ns = &works->scratch[works->window->rank_count + 1];
	uint32_t others = 0;

	for (uint32_t i = 0; i < class->rank_count; i++) {
		if (i == place)
			continue;
		factors[others] = works->paces[class->ranks[i]].factor;
		delays_ns[others++] = works->paces[class->ranks[i]].delay_ns;
	}
	if (others == 0)
		return fmax(usual_ns, 0);
	return fmax(usual_ns, 0) * ncs_cost_median(factors, others) +
	       ncs_cost_median(delays_ns, others);
}

/* Returns how long the other ranks work at most, none of which is ever the later one;
 * INFINITY if it is not known. */
static double others_most(struct ncs_cost_works *works,
			  const struct ncs_cost_work_kind *kind,
			  unsigned anchor, uint32_t place)
{
	const struct ncs_cost_bucket *ranks = ranks_of(works, kind, anchor);
	uint32_t count = kind->class->rank_count, limits = 0;
	double most_ns;

	for (uint32_t i = 0; i < count; i++)
		if (i != place && ranks[i].less_count >= NCS_COST_STEPS)
			works->scratch[limits++] = ranks[i].least_less_ns;
	if (limits == 0 || 2 * limits + 1 < count)
		return INFINITY;
	most_ns = ncs_cost_median(works->scratch, limits);
	return kind->event == NCS_COST_CALL ?
		       unseen_chain(works, kind, anchor, place, most_ns) :
		       most_ns;
}

double ncs_cost_mapped_ns(struct ncs_cost_works *works,
			  const struct ncs_cost_rank *rank, uint32_t index,
			  unsigned anchor, double ns)
{
	const struct ncs_cost_work_kind *kind = &works->kinds[index];
	const struct ncs_cost_bucket *ranks = ranks_of(works, kind, anchor);
	uint32_t count = kind->class->rank_count, place = rank->class_place;
	const struct ncs_cost_bucket *own = &ranks[place];
	double share = share_of(works, own, ns);
	uint32_t seen = 0;

	for (uint32_t i = 0; i < count; i++)
		if (i != place && is_seen(&ranks[i], own->seen_count))
			works->scratch[seen++] =
				ncs_cost_quantile(&works->values[ranks[i].seen],
						  ranks[i].seen_count, share);
	if (own->seen_count > 0 && seen > 0 && 2 * seen + 1 >= count)
		return ncs_cost_median(works->scratch, seen);
	ns = kind->event == NCS_COST_READY ?
		     fmin(ns, at_others_pace(works, kind->class, place, ns)) :
		     fmax(ns, 0);
	return own->seen_count > 0 ?
		       fmin(ns, others_most(works, kind, anchor, place)) :
		       ns;
}
