/* SPDX-License-Identifier: MIT */
/* Buckets of histograms of durations: 32 per power of two.
 *
 * Part of the shared-memory ABI: the plugin counts into these buckets, readers
 * compute percentiles from them. The middle of a bucket differs by at most 1.6
 * % from any value in it; values under 32 ns are exact. Histograms can be
 * merged by adding their buckets, and compared over time by subtracting them.
 * All functions are pure.
 */
#ifndef NCCLSTAT_HISTOGRAM_H
#define NCCLSTAT_HISTOGRAM_H

#include <stdint.h>

#define NCS_HISTOGRAM_BITS 5
#define NCS_HISTOGRAM_SUB (1u << NCS_HISTOGRAM_BITS)

/* Buckets reach up to 2^41 ns (36 minutes); the last one also counts longer
 * durations. */
#define NCS_HISTOGRAM_BUCKETS (NCS_HISTOGRAM_SUB * (41 - NCS_HISTOGRAM_BITS + 1))

/* Returns the bucket of a value in ns. */
static inline unsigned ncs_histogram_bucket(uint64_t value_ns)
{
	unsigned exponent, bucket;

	if (value_ns < NCS_HISTOGRAM_SUB)
		return (unsigned)value_ns;
	exponent = 63u - (unsigned)__builtin_clzll(value_ns);
	if (exponent > 40)
		return NCS_HISTOGRAM_BUCKETS - 1;
	bucket = (exponent - NCS_HISTOGRAM_BITS + 1) << NCS_HISTOGRAM_BITS;
	return bucket + (unsigned)((value_ns >>
				    (exponent - NCS_HISTOGRAM_BITS)) -
				   NCS_HISTOGRAM_SUB);
}

/* Returns the least value of a bucket, in ns. */
static inline uint64_t ncs_histogram_low(unsigned bucket)
{
	unsigned exponent;

	if (bucket < NCS_HISTOGRAM_SUB)
		return bucket;
	exponent = (bucket >> NCS_HISTOGRAM_BITS) - 1;
	return (uint64_t)((bucket & (NCS_HISTOGRAM_SUB - 1)) +
			  NCS_HISTOGRAM_SUB) << exponent;
}

/* Returns the middle of a bucket, in ns: the value that represents it. */
static inline uint64_t ncs_histogram_middle(unsigned bucket)
{
	uint64_t low = ncs_histogram_low(bucket);

	return low + (ncs_histogram_low(bucket + 1) - low) / 2;
}

/* Histograms of ranges have one bucket for four of these. */
#define NCS_RANGE_BUCKETS (NCS_HISTOGRAM_BUCKETS / 4)

/* Returns the bucket of a value in ns in a range's histogram. */
static inline unsigned ncs_range_bucket(uint64_t value_ns)
{
	return ncs_histogram_bucket(value_ns) / 4;
}

/* Returns the bucket of full resolution that represents a bucket of a range's
 * histogram: its middle differs by at most 8 % from any value counted there. */
static inline unsigned ncs_range_bucket_middle(unsigned bucket)
{
	return bucket * 4 + 2;
}

#endif
