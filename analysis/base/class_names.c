/* SPDX-License-Identifier: MIT */
/* Identity and times of a class; see class_names.h. */
#include "analysis/base/class_names.h"

#include "analysis/base/timings.h"
#include "ncclstat/abi_class.h"

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
