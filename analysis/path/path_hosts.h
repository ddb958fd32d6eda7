/* SPDX-License-Identifier: MIT */
/* When the host of a rank calls in each run that leaves a straggler out.
 *
 * A host calls one operation after another. Between two calls it works, and may
 * wait for parts to end. If no part of its rank ended in between, it has only
 * worked. If some did, it has worked at least since the last of these ends; and if
 * it waited at all, at most since the first of them. A host that gets further
 * ahead of its GPU does not wait.
 *
 * Private to the pass. Must not decide who is a straggler. Ranks that send and
 * receive are left alone: their work is compared by kind. Times are ns since the
 * pass's base.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_HOSTS_H
#define NCS_ANALYSIS_PATH_PATH_HOSTS_H

#include "analysis/path/path_state.h"

/* Prepares to follow a rank's host. Returns false if there is no memory. */
bool ncs_path_hosts_init(const struct ncs_path *path,
			 struct ncs_path_rank *rank);
void ncs_path_hosts_release(struct ncs_path_rank *rank);

/* Finds what a host did between the call before and the call of an arrival, as
 * recorded; a pass that learns notes it (host_waits.h). Call this once for each
 * arrival. */
void ncs_path_find_pace(const struct ncs_path *path,
			const struct ncs_part_times *times,
			struct ncs_path_arrival *arrival);

/* Returns when a host calls in run k, if it works no less than is known between
 * its calls, or in a run at worst, as much as may be; -INFINITY if nothing is
 * known. */
double ncs_path_paced_call_ns(const struct ncs_path *path, size_t k,
			      const struct ncs_path_arrival *arrival);

/* Returns when a part arrives by that call: its GPU works as long after it as it
 * did. */
double ncs_path_paced_ns(const struct ncs_path *path, size_t k,
			 const struct ncs_path_arrival *arrival);

/* Keeps the call and the end of a part, as the newest of its rank. `calls_ns` are
 * its calls by run. */
void ncs_path_keep_call(const struct ncs_path *path,
			const struct ncs_path_arrival *arrival,
			const struct ncs_path_ready *ready,
			const struct ncs_part_times *times,
			const double *calls_ns);

#endif
