/* SPDX-License-Identifier: MIT */
/* Why a rank came last to an operation, and how much of the wait for it is its
 * own. Private to analysis/model. Pure. Times are ns.
 */
#ifndef NCS_ANALYSIS_MODEL_LATE_CAUSES_H
#define NCS_ANALYSIS_MODEL_LATE_CAUSES_H

#include "analysis/model/comparison.h"

/* Splits the time for which all waited for the last part alone by cause. What
 * its process lost in operations that ended late is a peer's. Of the rest, a
 * launch counts if others were there before it, and if the last operation of
 * the process had ended before it: then the stream was empty, and all that
 * follows is later by as much as the launch was. What else follows the launch is
 * the stream's. */
void ncs_split_wait(const struct ncs_comparison *comparison,
		    uint64_t cause_ns[NCS_LATE_CAUSE_COUNT]);

/* Returns for how long all waited for the data of the last part although its kernel
 * could begin: beyond the time that the last part but one took for that. Its proxy
 * thread was late, or its GPU had no room for the kernel. */
uint64_t ncs_data_late_ns(const struct ncs_comparison *comparison);

/* Returns what the last rank but one did before: NCS_BEFORE_QUEUED if it began
 * as soon as the operation before of its process had ended. */
enum ncs_late_before ncs_work_before(const struct ncs_comparison *comparison);

#endif
