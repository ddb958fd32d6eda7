/* SPDX-License-Identifier: MIT */
/* Ranks that send and receive: each is a line of work that stops in receives and
 * collectives until others are there, and may go on while it sends. Its work is
 * learned and compared by the kinds of operations that it lies between
 * (path_works.h). Private to the pass. Times are ns since its base.
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

/* Learns the work before an arrival, which began at `from_ns`, or finds what
 * others do. Returns when it began: for a send that was queued, as late as the
 * usual work of its rank lets it. */
double ncs_path_note_work(struct ncs_path *path,
			  struct ncs_path_arrival *arrival, double from_ns);

/* Returns how much more of a straggler's work is cut in run k than it works longer
 * in all than the other ranks that send and receive, which goes into *longer_ns;
 * negative if it is less, 0 if it does not send and receive. */
double ncs_path_overcut_ns(struct ncs_path *path, size_t k, double *longer_ns);

/* Returns how much of a straggler's work is cut too much or too little in run k,
 * beyond what such a cut may be wrong by. */
double ncs_path_miscut_ns(struct ncs_path *path, size_t k);

/* Compares collectives by the kinds of operations before them where the ranks come
 * from different ones. */
void ncs_path_compare_kinds(struct ncs_path *path, size_t count);

/* Makes a node of the arrival at a send beside which its rank goes on, if there is
 * one among the parts at hand. Returns its part, or `count`. */
size_t ncs_path_explain_beside(struct ncs_path *path,
			       const struct ncs_path_pending *pending,
			       const struct ncs_path_start *start,
			       const struct ncs_part *parts, size_t count);

/* Remembers that arrival as what its rank has done. */
void ncs_path_keep_beside(struct ncs_path *path,
			  const struct ncs_path_arrival *arrival);

#endif
