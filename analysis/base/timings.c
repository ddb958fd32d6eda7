/* SPDX-License-Identifier: MIT */
/* The times of functions and classes, and bandwidth; see timings.h and nccl-tests'
 * PERFORMANCE.md. */
#include "analysis/base/timings.h"

#include <assert.h>

#include "ncclstat/abi_class.h"
#include "ncclstat/tables/timings.def"

static const enum ncs_timing best_first[] = {
#define X(ID, name, help) NCS_TIMING_##ID,
	NCS_TIMINGS(X)
#undef X
};

static_assert(sizeof(best_first) / sizeof(*best_first) == NCS_TIMING_COUNT,
	      "the table has all sources");

static const struct {
	const char *name;
	const char *help;
} timings[NCS_TIMING_COUNT] = {
#define X(ID, name_, help_) \
	[NCS_TIMING_##ID] = { .name = name_, .help = help_ },
	NCS_TIMINGS(X)
#undef X
};

unsigned ncs_best_timing(const uint64_t timed[NCS_TIMING_COUNT])
{
	for (unsigned i = 0; i < NCS_TIMING_COUNT; i++)
		if (timed[best_first[i]] > 0)
			return best_first[i];
	return NCS_TIMING_COUNT;
}

const char *ncs_timing_name(unsigned timing)
{
	return timing < NCS_TIMING_COUNT ? timings[timing].name : "none";
}

const char *ncs_timing_help(unsigned timing)
{
	return timing < NCS_TIMING_COUNT ? timings[timing].help : "no time";
}

unsigned ncs_function_timing(const struct ncs_function_view *function)
{
	return ncs_best_timing(function->timed);
}

const uint64_t *ncs_function_histogram(const struct ncs_function_view *function)
{
	unsigned timing = ncs_function_timing(function);

	return timing < NCS_TIMING_COUNT ? function->histogram[timing] : NULL;
}

bool ncs_class_is_other(const struct ncs_class_view *view)
{
	return view->size_class == NCS_CLASS_OTHER;
}

uint64_t ncs_class_identity(const struct ncs_class_view *view)
{
	return NCS_CLASS_KEY(view->function, view->size_class, view->algorithm,
			     view->protocol);
}

unsigned ncs_class_timing(const struct ncs_class_view *view)
{
	uint64_t timed[NCS_TIMING_COUNT];

	for (unsigned i = 0; i < NCS_TIMING_COUNT; i++)
		timed[i] = view->times[i].timed;
	return ncs_best_timing(timed);
}

const struct ncs_class_times *
ncs_times_of_class(const struct ncs_class_view *view)
{
	unsigned timing = ncs_class_timing(view);

	return timing < NCS_TIMING_COUNT ? &view->times[timing] : NULL;
}

/* --- Bandwidth ------------------------------------------------------------ */

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
