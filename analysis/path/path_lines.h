/* SPDX-License-Identifier: MIT */
/* Ranks that send and receive: each is a line of work that stops in receives and
 * collectives until others are there, and may go on while it sends. Private to the pass.
 * Times are ns since its base.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_LINES_H
#define NCS_ANALYSIS_PATH_PATH_LINES_H

#include "analysis/path/path_state.h"

/* Fills in what a part is in the line of its rank. If it is a send beside which its
 * rank goes on, finds what it follows: what the rank had done before, and the send
 * that it is queued behind. */
void ncs_path_find_in_line(struct ncs_path *path, const struct ncs_part *part,
			   const struct ncs_part_times *times,
			   struct ncs_path_arrival *arrival);

/* Where a rank came to an operation and a send at once, both follow what was before
 * the send: makes that the predecessor. */
void ncs_path_skip_send(struct ncs_path *path,
			struct ncs_path_arrival *arrival);

#endif
