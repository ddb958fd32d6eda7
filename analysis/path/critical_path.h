/* SPDX-License-Identifier: MIT */
/* Which way the elapsed time went through a job's collectives, and what it would
 * have been with changes: one pass over all operations, in the order in which
 * their first parts ended.
 *
 * A rank of the job is a GPU with the communicators that use it. Its time is
 * taken apart at its arrivals at operations and at their ends. What it did
 * before an arrival follows on the latest of its operations that had ended by
 * then; a call likewise; who waits for whom, analysis/base/collective_waits.h tells. The pass
 * replays this, all arrivals and ends anew, for each scenario and for none: that
 * one's error, and how often clocks told the impossible, tell how much the others
 * can be trusted. Nothing starts before
 * its call, nor before what its communicator did before.
 *
 * Memory is in the number of ranks, times the scenarios, but for the steps'
 * rows. Pure. Times are ns of the parts' clock.
 */
#ifndef NCS_ANALYSIS_PATH_CRITICAL_PATH_H
#define NCS_ANALYSIS_PATH_CRITICAL_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/path/path_types.h"

/* "host". */
const char *ncs_path_cause_name(unsigned cause);

struct ncs_path;

/* Borrows what the options point to. NULL: no memory. */
struct ncs_path *ncs_path_new(const struct ncs_path_options *options);
void ncs_path_free(struct ncs_path *path); /* NULL: nothing to do */

/* The next operation. Only what is counted goes into the tables and steps; all
 * goes into times. `step` is NCS_NO_STEP, or at least that of the one before,
 * from 0. 0 or -ENOMEM. */
int ncs_path_add(struct ncs_path *path, const struct ncs_joined *joined,
		 bool is_counted, uint32_t step);

/* After the last one. 0 or -ENOMEM. */
int ncs_path_end(struct ncs_path *path);

/* After the end; valid until it is freed. */
const struct ncs_path_report *ncs_path_report(const struct ncs_path *path);

#endif
