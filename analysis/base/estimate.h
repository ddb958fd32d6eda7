/* SPDX-License-Identifier: MIT */
/* What a sample says of the whole, and how far it may be off.
 *
 * What is sampled are clusters: operations with all their records, each kept
 * with probability 1 / weight, independently of all others. The records of one
 * cluster are no independent observations, so all errors come from sums over
 * clusters: of Horvitz and Thompson for totals, of Hájek for means and ratios,
 * of Woodruff for quantiles. Where all weights are 1 nothing is missing, and
 * the errors are 0. No I/O; a stream is added up as it comes.
 */
#ifndef NCS_ANALYSIS_BASE_ESTIMATE_H
#define NCS_ANALYSIS_BASE_ESTIMATE_H

#include <stdint.h>

#include "ncclstat/histogram.h"

/* Standard errors on either side that make an interval of 95 %. */
#define NCS_ERRORS_95 1.959964

/* value < 0: unknown. error < 0: unknown; else the standard error. */
struct ncs_estimate {
	double value;
	double error;
};

/* value < 0: unknown. From low to high it is with 95 % certainty; low, high <
 * 0: the sample is too small to say. */
struct ncs_quantile {
	double value;
	double low;
	double high;
};

/* Of two totals of each cluster, y and x: all values and how many there are, a
 * part and the whole, bytes and the time they took. Start with {0}. */
struct ncs_sums {
	double wy, wx;        /* times the weight w */
	double vyy, vyx, vxx; /* squares, times w (w - 1) */
};

void ncs_sums_add(struct ncs_sums *sums, double weight, double y, double x);

/* Takes back a cluster that was added. */
void ncs_sums_remove(struct ncs_sums *sums, double weight, double y, double x);

/* The totals of all clusters, kept or not. */
struct ncs_estimate ncs_estimate_total_y(const struct ncs_sums *sums);
struct ncs_estimate ncs_estimate_total_x(const struct ncs_sums *sums);

/* All y over all x: a mean, a share, a bandwidth. */
struct ncs_estimate ncs_estimate_ratio(const struct ncs_sums *sums);

#define NCS_HISTOGRAM_OCTAVES (NCS_HISTOGRAM_BUCKETS / NCS_HISTOGRAM_SUB)

/* How values are distributed, in the buckets of ncclstat/histogram.h. Start
 * with {0}. Values lie close together, so only what is near them has memory:
 * there may be thousands of these. */
struct ncs_distribution {
	struct ncs_octave *octaves[NCS_HISTOGRAM_OCTAVES]; /* NULL: no value */
	double total;
	double total_square;
};

void ncs_distribution_release(struct ncs_distribution *distribution);

/* Adds a cluster: how many values it has in each bucket. Only those from
 * `first` to `last` are looked at. 0, or -ENOMEM: then nothing was added. */
int ncs_distribution_add(struct ncs_distribution *distribution, double weight,
			 const uint32_t *counts, unsigned first, unsigned last);
void ncs_distribution_remove(struct ncs_distribution *distribution,
			     double weight, const uint32_t *counts,
			     unsigned first, unsigned last);

/* Adds one value that was not sampled. 0 or -ENOMEM. */
int ncs_distribution_count(struct ncs_distribution *distribution,
			   unsigned bucket);

/* fraction: 0 to 1. The bounds are those of buckets, so they are at least as
 * far apart as a bucket is wide. */
struct ncs_quantile
ncs_estimate_quantile(const struct ncs_distribution *distribution,
		      double fraction);

#endif
