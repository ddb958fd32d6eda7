/* SPDX-License-Identifier: MIT */
/* The times of functions and classes; see timings.h. */
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
