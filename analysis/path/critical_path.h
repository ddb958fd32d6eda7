/* SPDX-License-Identifier: MIT */
/* The critical path of a job's collectives: where the elapsed time went, and
 * how long the job would have taken with changes. One pass over all operations,
 * in the order in which their first parts ended.
 *
 * A rank of the job is a GPU with the communicators that use it. Its time is
 * split at its arrivals at operations and at their ends:
 *   - the predecessor of an arrival is the operation of its communicator that
 *     it was launched behind and came straight from, or else the latest
 *     operation of the rank that had ended by then;
 *   - a call follows the host's call before it, or the latest operation of the
 *     rank that had ended since then;
 *   - where an end is recorded too late, what came a little before it may have
 *     followed on it all the same (least_end_ns in analysis/records/join.h);
 *   - analysis/base/collective_waits.h says which ranks wait for which;
 *   - no part starts before its call, or before the previous operation of its
 *     communicator has ended.
 * The pass computes all arrivals and ends anew, once without changes (the
 * replay) and once for each scenario.
 *
 * A rank that goes on while it sends follows the arrivals at its sends, not their
 * ends (path_lines.h).
 *
 * Without a rank, arrivals and ends come as much earlier as the replay of analysis/cost
 * tells (without.h), and the elapsed time is shorter by what the rank costs. The path
 * of such a run is that of these times, scaled to it.
 *
 * Memory grows with ranks times scenarios, and with the number of steps. Pure.
 * Times are ns of the parts' clock. Functions are not thread-safe for one pass.
 */
#ifndef NCS_ANALYSIS_PATH_CRITICAL_PATH_H
#define NCS_ANALYSIS_PATH_CRITICAL_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/path/path_types.h"

struct ncs_path;

/* Creates a pass. Returns NULL if there is no memory. Release it with
 * ncs_path_free(). The pass borrows all that the options point to. */
struct ncs_path *ncs_path_new(const struct ncs_path_options *options);

/* Releases a pass; NULL is allowed. */
void ncs_path_free(struct ncs_path *path);

/* Takes the next operation. Only operations with `is_counted` go into the
 * tables and steps; all of them go into the times. `step` is NCS_NO_STEP, or a
 * number from 0 that never decreases from one operation to the next. Returns 0
 * or -ENOMEM. */
int ncs_path_add(struct ncs_path *path, const struct ncs_joined *joined,
		 bool is_counted, uint32_t step);

/* Ends the pass after the last operation. Returns 0 or -ENOMEM. */
int ncs_path_end(struct ncs_path *path);

/* Returns the report of a pass that has ended; valid until it is released. */
const struct ncs_path_report *ncs_path_report(const struct ncs_path *path);

#endif
