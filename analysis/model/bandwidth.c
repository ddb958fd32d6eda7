/* SPDX-License-Identifier: MIT */
/* Algorithm and bus bandwidth as nccl-tests computes them (its
 * PERFORMANCE.md), and over which time. Pure. */
#include "analysis/model/model.h"

/* What the numerators and denominators of the table of functions stand for. */
enum term { ONE, RANKS, RING, RING2 };

static const struct {
	enum term numerator, denominator;
} factors[NCS_FUNCTION_COUNT] = {
#define X(ID, name, size, numerator, denominator) \
	[NCS_FUNCTION_##ID] = { numerator, denominator },
	NCS_FUNCTIONS(X)
#undef X
};

static double term_value(enum term term, int nranks)
{
	switch (term) {
	case RANKS:
		return nranks;
	case RING:
		return nranks - 1.0;
	case RING2:
		return 2 * (nranks - 1.0);
	case ONE:
		break;
	}
	return 1;
}

double ncs_algorithm_bandwidth(uint64_t bytes, uint64_t time_ns)
{
	return time_ns > 0 ? (double)bytes / (double)time_ns : -1;
}

double ncs_bus_factor(unsigned function, int nranks)
{
	if (function >= NCS_FUNCTION_COUNT)
		return -1;
	if (nranks < 1 && factors[function].denominator != ONE)
		return -1;
	return term_value(factors[function].numerator, nranks) /
	       term_value(factors[function].denominator, nranks);
}

unsigned ncs_function_timing(const struct ncs_function_view *function)
{
	for (unsigned i = 0; i < NCS_TIMING_COUNT; i++)
		if (function->timed[i] > 0)
			return i;
	return NCS_TIMING_COUNT;
}

const uint64_t *ncs_function_histogram(const struct ncs_function_view *function)
{
	unsigned timing = ncs_function_timing(function);

	return timing < NCS_TIMING_COUNT ? function->histogram[timing] : NULL;
}

/* Of the operations that were timed since; negative: unknown. */
static double algorithm_bandwidth_since(const struct ncs_function_view *view,
					unsigned timing,
					const struct ncs_timed *base)
{
	/* Bytes of unknown size are missing from the sum. */
	if (view->size_unknown != base->size_unknown ||
	    view->timed_bytes[timing] < base->bytes ||
	    view->time_ns[timing] < base->time_ns)
		return -1;
	return ncs_algorithm_bandwidth(view->timed_bytes[timing] - base->bytes,
				       view->time_ns[timing] - base->time_ns);
}

static double bus_bandwidth(const struct ncs_rank *rank, unsigned function,
			    double bandwidth)
{
	const struct ncs_identity *identity = &rank->now.identity;
	int nranks = identity->known & NCS_KNOWN_NRANKS ? identity->nranks : 0;
	double factor = ncs_bus_factor(function, nranks);

	return bandwidth >= 0 && factor >= 0 ? bandwidth * factor : -1;
}

double ncs_bus_bandwidth_since(const struct ncs_rank *rank, unsigned function,
			       const struct ncs_counters *base)
{
	const struct ncs_function_view *view = &rank->now.functions[function];
	unsigned timing = ncs_function_timing(view);

	if (timing == NCS_TIMING_COUNT)
		return -1;
	return bus_bandwidth(rank, function,
			     algorithm_bandwidth_since(
				     view, timing,
				     &base->functions[function].timed[timing]));
}

double ncs_rank_algorithm_bandwidth(const struct ncs_rank *rank,
				    unsigned function)
{
	const struct ncs_function_view *view = &rank->now.functions[function];
	unsigned timing = ncs_function_timing(view);
	const struct ncs_timed *base;

	if (timing == NCS_TIMING_COUNT)
		return -1;
	base = &rank->timed_before[function][timing];
	if (rank->base &&
	    view->time_ns[timing] >
		    rank->base->functions[function].timed[timing].time_ns)
		base = &rank->base->functions[function].timed[timing];
	return algorithm_bandwidth_since(view, timing, base);
}

double ncs_rank_bus_bandwidth(const struct ncs_rank *rank, unsigned function)
{
	return bus_bandwidth(rank, function,
			     ncs_rank_algorithm_bandwidth(rank, function));
}
