/* SPDX-License-Identifier: MIT */
/* Lookups in the table of timing sources; see timings.h. */
#include "analysis/base/timings.h"

#include <assert.h>

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
