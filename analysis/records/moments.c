/* SPDX-License-Identifier: MIT */
/* Names of moments; see moments.h. */
#include "analysis/records/moments.h"

const char *ncs_moment_name(unsigned moment)
{
	static const char *const names[] = {
#define X(ID, name, help) name,
		NCS_MOMENTS(X)
#undef X
	};

	return moment < NCS_MOMENT_COUNT ? names[moment] : "unknown";
}
