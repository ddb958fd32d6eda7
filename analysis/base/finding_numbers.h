/* SPDX-License-Identifier: MIT */
/* The numbers of ncclstat/tables/findings.def as constants. */
#ifndef NCS_ANALYSIS_BASE_FINDING_NUMBERS_H
#define NCS_ANALYSIS_BASE_FINDING_NUMBERS_H

#include <stdint.h>

#include "ncclstat/tables/findings.def"

#define X(ID, ns, reason, source) static const uint64_t NCS_##ID##_NS = ns;
NCS_FINDING_TIMES(X)
#undef X

enum ncs_finding_number {
#define X(ID, value, unit, reason, source) NCS_##ID = value,
	NCS_FINDING_NUMBERS(X)
#undef X
};

#define X(...) +1
_Static_assert(NCS_FINDING_TIMES(X) NCS_FINDING_NUMBERS(X) <= 25,
	       "few numbers decide a conclusion: put one in place of another");
#undef X

#endif
