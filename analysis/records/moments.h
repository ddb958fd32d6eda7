/* SPDX-License-Identifier: MIT */
/* The moments of a rank's operation, from the application's call to its end.
 * Names only; analysis/records/parts.h finds them.
 */
#ifndef NCS_ANALYSIS_RECORDS_MOMENTS_H
#define NCS_ANALYSIS_RECORDS_MOMENTS_H

#include "ncclstat/tables/lateness.def"

enum ncs_moment {
#define X(ID, name, help) NCS_MOMENT_##ID,
	NCS_MOMENTS(X)
#undef X
		NCS_MOMENT_COUNT
};

#endif
