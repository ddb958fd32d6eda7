/* SPDX-License-Identifier: MIT */
/* The fast way to process parts, for those operations that it can handle: ranks
 * enter and leave lockstep, and the parts of an operation arrive and end in
 * lockstep. Connects the columns (analysis/path/path_lockstep.h) to the state
 * of the pass. Private to the pass.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_IN_LOCKSTEP_H
#define NCS_ANALYSIS_PATH_PATH_IN_LOCKSTEP_H

#include "analysis/path/path_state.h"

/* Copies the operations that only the columns have to the state of the
 * ranks. */
void ncs_path_save_lockstep(struct ncs_path *path,
			    struct ncs_lockstep *lockstep);

/* Releases a lockstep without saving it; its ranks are in none then. NULL is
 * allowed. */
void ncs_path_drop_lockstep(struct ncs_path *path,
			    struct ncs_lockstep *lockstep);

/* Returns the lockstep that these parts' owners are in from now on; NULL if
 * they can be in none. */
struct ncs_lockstep *
ncs_path_enter_lockstep(struct ncs_path *path,
			const struct ncs_part_times *part_times, size_t count);

/* Prepares to process these parts rank by rank: saves the locksteps of their
 * owners. All locksteps but `kept`, which may be NULL, forget their operations
 * and have to begin anew. */
void ncs_path_leave_locksteps(struct ncs_path *path,
			      const struct ncs_lockstep *kept,
			      const struct ncs_part_times *part_times,
			      size_t count);

/* Returns whether parts that arrived rank by rank did so in lockstep: the
 * predecessor of each is its rank's latest end, and its rank has as many places
 * as others. The lockstep then begins, or goes on, with these parts. */
bool ncs_path_arrived_in_lockstep(const struct ncs_path *path,
				  struct ncs_lockstep *lockstep);

/* Makes all parts arrive in lockstep: fills in *start in all runs and returns
 * true. Returns false, without any effect, if they do not arrive in
 * lockstep. */
bool ncs_path_arrive_in_lockstep(struct ncs_path *path,
				 struct ncs_lockstep *lockstep,
				 const struct ncs_part *parts,
				 const struct ncs_part_times *part_times,
				 size_t count, double latest_ns,
				 struct ncs_path_start *start);

/* Fills in the path's arrival of part i, which arrived in lockstep. */
void ncs_path_recall(struct ncs_path *path, const struct ncs_lockstep *lockstep,
		     const struct ncs_part_times *part_times, double latest_ns,
		     size_t i);

/* Makes all parts end, which have arrived in lockstep as *start says. Returns
 * the last end, as recorded. */
double ncs_path_end_in_lockstep(struct ncs_path *path,
				struct ncs_lockstep *lockstep,
				const struct ncs_path_pending *pending,
				const struct ncs_path_start *start,
				const struct ncs_part_times *part_times);

#endif
