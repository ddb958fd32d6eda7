/* SPDX-License-Identifier: MIT */
/* Algorithm and bus bandwidth; see busbw.h and nccl-tests' PERFORMANCE.md. */
#include "analysis/base/busbw.h"

#include "ncclstat/names.h"

/* The terms that the table of functions has for the numerator and denominator
 * of the bus factor: 1, the number of ranks n, n - 1, and 2 (n - 1). */
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
