/* SPDX-License-Identifier: MIT */
/* Estimators for samples of clusters; see estimate.h. Must do no I/O. */
#include "analysis/base/estimate.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* --- Few clusters -------------------------------------------------------- */

/* Returns the quantile of Student's t on whose sides 2.5 % lie each, by its
 * expansion around the normal distribution's; `freedom` is at least 1. */
static double student_95(double freedom)
{
	static const double first[] = { 12.706205, 4.302653 };
	static const double terms[] = { NCS_ERRORS_95, 2.372269, 2.822494,
					2.555846, 1.589541 };
	double t = 0;

	if (freedom < 2.5)
		return first[freedom > 1.5];
	for (unsigned i = sizeof(terms) / sizeof(terms[0]); i > 0; i--)
		t = t / freedom + terms[i - 1];
	return t;
}

/* Returns the factor by which an error grows if it is from so many clusters; 0
 * if they tell none. */
static double growth(double sampled)
{
	return sampled > 1.5 ? student_95(sampled - 1) / NCS_ERRORS_95 : 0;
}

/* Returns the same for an error around a value of the sample itself. */
static double growth_around_mean(double sampled)
{
	return growth(sampled) *
	       (sampled > 1.5 ? sqrt(sampled / (sampled - 1)) : 0);
}

/* Returns the error. A variance is negative only by rounding. */
static double error_of(double variance, double sampled, double grown)
{
	if (sampled < 0.5)
		return 0;
	if (grown == 0)
		return -1;
	return variance > 0 ? grown * sqrt(variance) : 0;
}

/* --- Sums --------------------------------------------------------------- */

void ncs_sums_change(struct ncs_sums *sums, double sign, double weight,
		     double y, double x)
{
	double v = sign * weight * (weight - 1);

	sums->wy += sign * weight * y;
	sums->wx += sign * weight * x;
	sums->vyy += v * y * y;
	sums->vyx += v * y * x;
	sums->vxx += v * x * x;
	if (weight > 1)
		sums->sampled += sign;
}

struct ncs_estimate ncs_estimate_total_y(const struct ncs_sums *sums)
{
	return (struct ncs_estimate){ sums->wy,
				      error_of(sums->vyy, sums->sampled,
					       growth(sums->sampled)) };
}

struct ncs_estimate ncs_estimate_total_x(const struct ncs_sums *sums)
{
	return (struct ncs_estimate){ sums->wx,
				      error_of(sums->vxx, sums->sampled,
					       growth(sums->sampled)) };
}

struct ncs_estimate ncs_estimate_ratio(const struct ncs_sums *sums)
{
	double ratio, variance, error;

	if (!(sums->wx > 0))
		return (struct ncs_estimate){ -1, -1 };
	ratio = sums->wy / sums->wx;
	variance =
		sums->vyy - 2 * ratio * sums->vyx + ratio * ratio * sums->vxx;
	error = error_of(variance, sums->sampled,
			 growth_around_mean(sums->sampled));
	return (struct ncs_estimate){ ratio,
				      error > 0 ? error / sums->wx : error };
}

/* --- Distributions ------------------------------------------------------ */

/* The sums of each bucket of an octave. */
struct ncs_octave {
	double weighted[NCS_HISTOGRAM_SUB]; /* number of values, weighted */
	struct ncs_clustered *clustered;    /* NULL if none is sampled */
};

struct ncs_clustered {
	double square[NCS_HISTOGRAM_SUB]; /* number of values, squared */
	double cross[NCS_HISTOGRAM_SUB];  /* this number times that of all */
};

void ncs_distribution_release(struct ncs_distribution *distribution)
{
	for (unsigned i = 0; i < NCS_HISTOGRAM_OCTAVES; i++) {
		if (distribution->octaves[i])
			free(distribution->octaves[i]->clustered);
		free(distribution->octaves[i]);
	}
	*distribution = (struct ncs_distribution){ 0 };
}

/* Returns the octave of a bucket, or NULL if there is no memory. */
static struct ncs_octave *octave_of(struct ncs_distribution *distribution,
				    unsigned bucket)
{
	struct ncs_octave **octave =
		&distribution->octaves[bucket / NCS_HISTOGRAM_SUB];

	if (!*octave)
		*octave = calloc(1, sizeof(**octave));
	return *octave;
}

int ncs_distribution_reserve(struct ncs_distribution *distribution,
			     const uint32_t *counts, unsigned first,
			     unsigned last)
{
	for (unsigned i = first; i <= last; i++) {
		struct ncs_octave *octave;

		if (counts[i] == 0)
			continue;
		octave = octave_of(distribution, i);
		if (octave && !octave->clustered)
			octave->clustered =
				calloc(1, sizeof(*octave->clustered));
		if (!octave || !octave->clustered)
			return -ENOMEM;
	}
	return 0;
}

void ncs_distribution_change(struct ncs_distribution *distribution, double sign,
			     double weight, const uint32_t *counts,
			     unsigned first, unsigned last)
{
	double v = sign * weight * (weight - 1);
	double before = 0, all = 0;

	for (unsigned i = first; i <= last; i++)
		all += counts[i];
	for (unsigned i = first; i <= last; i++) {
		struct ncs_octave *octave =
			distribution->octaves[i / NCS_HISTOGRAM_SUB];
		unsigned place = i % NCS_HISTOGRAM_SUB;
		double count = counts[i];

		if (count == 0)
			continue;
		octave->weighted[place] += sign * weight * count;
		octave->clustered->square[place] +=
			v * count * (2 * before + count);
		octave->clustered->cross[place] += v * count * all;
		before += count;
	}
	distribution->total += sign * weight * all;
	distribution->total_square += v * all * all;
	if (weight > 1)
		distribution->sampled += sign;
}

int ncs_distribution_count(struct ncs_distribution *distribution,
			   unsigned bucket)
{
	struct ncs_octave *octave = octave_of(distribution, bucket);

	if (!octave)
		return -ENOMEM;
	octave->weighted[bucket % NCS_HISTOGRAM_SUB]++;
	distribution->total++;
	return 0;
}

static double share_error(const struct ncs_distribution *distribution,
			  double variance)
{
	double error =
		error_of(variance, distribution->sampled,
			 growth_around_mean(distribution->sampled));

	return error > 0 ? error / distribution->total : error;
}

/* Finds the bucket in which the values reach a fraction of all. Sets *error to
 * the error of the share of values up to the end of that bucket, or up to its
 * beginning if that is larger. */
static unsigned find_bucket(const struct ncs_distribution *distribution,
			    double fraction, double *error)
{
	double total = distribution->total;
	double values = 0, square = 0, cross = 0, variance = 0, before;
	unsigned last = 0;

	for (unsigned i = 0; i < NCS_HISTOGRAM_BUCKETS; i++) {
		const struct ncs_octave *octave =
			distribution->octaves[i / NCS_HISTOGRAM_SUB];
		unsigned place = i % NCS_HISTOGRAM_SUB;
		double share;

		if (!octave || !(octave->weighted[place] > 0))
			continue;
		last = i;
		before = variance;
		values += octave->weighted[place];
		if (octave->clustered) {
			square += octave->clustered->square[place];
			cross += octave->clustered->cross[place];
		}
		share = values / total;
		variance = square - 2 * share * cross +
			   share * share * distribution->total_square;
		/* A sum of rounded values may just fail to reach it. */
		if (values >= fraction * total * (1 - 1e-12)) {
			*error = share_error(distribution, variance > before ?
								   variance :
								   before);
			return i;
		}
	}
	*error = 0;
	return last;
}

/* Returns true if there are enough clusters that some would be beyond the
 * quantile on either side: clusters that are all alike show no error, however
 * few they are. */
static bool are_enough(const struct ncs_distribution *distribution,
		       double fraction)
{
	double clusters = distribution->total * distribution->total /
			  distribution->total_square;
	double beyond = fraction < 0.5 ? fraction : 1 - fraction;

	return distribution->total_square == 0 || clusters * beyond >= 2;
}

struct ncs_quantile
ncs_estimate_quantile(const struct ncs_distribution *distribution,
		      double fraction)
{
	struct ncs_quantile quantile = { -1, -1, -1 };
	double error, ignored, upper;
	unsigned bucket;

	if (!(distribution->total > 0))
		return quantile;
	bucket = find_bucket(distribution, fraction, &error);
	quantile.value = (double)ncs_histogram_middle(bucket);
	if (error < 0 || (error == 0 && !are_enough(distribution, fraction)))
		return quantile;
	bucket = find_bucket(distribution, fraction - NCS_ERRORS_95 * error,
			     &ignored);
	quantile.low = (double)ncs_histogram_low(bucket);
	upper = fraction + NCS_ERRORS_95 * error;
	if (upper < 1 || error == 0) {
		bucket = find_bucket(distribution, upper, &ignored);
		quantile.high = (double)ncs_histogram_low(bucket + 1);
	}
	return quantile;
}
