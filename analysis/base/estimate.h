/* SPDX-License-Identifier: MIT */
/* Estimates of totals, ratios and quantiles from samples of clusters, with
 * their errors.
 *
 * A cluster is an operation with all its records. Each is kept with probability
 * 1 / weight, independently of all others. As the records of one cluster are
 * not independent observations, all errors come from sums over clusters: after
 * Horvitz and Thompson for totals, Hajek for means and ratios, and Woodruff for
 * quantiles. If all weights are 1, nothing is missing and errors are 0. Streams
 * are added up as they come. Must do no I/O.
 */
#ifndef NCS_ANALYSIS_BASE_ESTIMATE_H
#define NCS_ANALYSIS_BASE_ESTIMATE_H

#include <stdint.h>

#include "ncclstat/histogram.h"

/* Number of errors on either side that make an interval of 95 %. */
#define NCS_ERRORS_95 1.959964

/* A value and its error, each unknown if negative. The error is the standard
 * error, widened for few clusters: by Student's t in place of the normal
 * distribution, and by what the values lose to their own mean. One cluster
 * tells no error. */
struct ncs_estimate {
	double value;
	double error;
};

/* A value that is unknown if negative, and the bounds between which it is with
 * 95 % certainty; they are negative if the sample is too small to say. */
struct ncs_quantile {
	double value;
	double low;
	double high;
};

/* Sums over clusters of two totals y and x: all values and their number, a part
 * and the whole, or bytes and the time they took. Start with {0}. */
struct ncs_sums {
	double wy, wx;        /* sums of w y and w x, w being the weight */
	double vyy, vyx, vxx; /* sums of squares times w (w - 1) */
	double sampled;       /* clusters whose weight is not 1 */
};

/* Adds a cluster if `sign` is 1; removes one that was added if it is -1. */
void ncs_sums_change(struct ncs_sums *sums, double sign, double weight,
		     double y, double x);

/* Estimate the total of y or x over all clusters, kept or not. */
struct ncs_estimate ncs_estimate_total_y(const struct ncs_sums *sums);
struct ncs_estimate ncs_estimate_total_x(const struct ncs_sums *sums);

/* Estimates all y over all x: a mean, a share, a bandwidth. */
struct ncs_estimate ncs_estimate_ratio(const struct ncs_sums *sums);

#define NCS_HISTOGRAM_OCTAVES (NCS_HISTOGRAM_BUCKETS / NCS_HISTOGRAM_SUB)

/* The distribution of values, in the buckets of ncclstat/histogram.h. Start
 * with {0}. As values lie close together, memory is only allocated near them:
 * there may be thousands of distributions. */
struct ncs_distribution {
	struct ncs_octave *octaves[NCS_HISTOGRAM_OCTAVES]; /* NULL: no value */
	double total;
	double total_square;
	double sampled; /* clusters whose weight is not 1 */
};

/* Frees the memory of a distribution, which is then empty. */
void ncs_distribution_release(struct ncs_distribution *distribution);

/* Makes room for a cluster, given by the number of its values in each bucket,
 * of which only those from `first` to `last` are read. Returns 0 or -ENOMEM. */
int ncs_distribution_reserve(struct ncs_distribution *distribution,
			     const uint32_t *counts, unsigned first,
			     unsigned last);

/* Adds a cluster, for which there is room, if `sign` is 1; removes one that was
 * added if it is -1. */
void ncs_distribution_change(struct ncs_distribution *distribution, double sign,
			     double weight, const uint32_t *counts,
			     unsigned first, unsigned last);

/* Adds one value that was not sampled. Returns 0 or -ENOMEM. */
int ncs_distribution_count(struct ncs_distribution *distribution,
			   unsigned bucket);

/* Estimates a quantile; `fraction` is 0 to 1. Its bounds are those of buckets,
 * so they are at least as far apart as a bucket is wide. */
struct ncs_quantile
ncs_estimate_quantile(const struct ncs_distribution *distribution,
		      double fraction);

#endif
