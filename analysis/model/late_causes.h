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

/* Returns what the last rank but one did before: NCS_BEFORE_QUEUED if it began
 * as soon as the operation before of its process had ended. */
enum ncs_late_before ncs_work_before(const struct ncs_comparison *comparison);

/* Returns how much of `own_ns`, the wait for what the last rank did by itself,
 * counts for sure although the last but one is queued: behind its operation it
 * may have hidden as much work of its own. No rank has more work than another; a
 * few of them are asked. Lateness of the host is nobody else's. */
uint64_t ncs_sure_wait_ns(const struct ncs_comparison *comparison,
			  uint64_t own_ns);

#endif
