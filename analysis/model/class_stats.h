/* SPDX-License-Identifier: MIT */
/* Times and bandwidth of a class: a rank's operations of one function, size
 * class, algorithm and protocol; times of all operations of a function, which contain
 * the rank's wait for others. Pure.
 */
#ifndef NCS_ANALYSIS_MODEL_CLASS_STATS_H
#define NCS_ANALYSIS_MODEL_CLASS_STATS_H

#include "analysis/model/moving.h"
#include "analysis/model/rank.h"

/* Returns a percentile of the class's times since the start, in ns. `times` is
 * one of the class's; `fraction` is 0 to 1. */
uint64_t ncs_class_percentile(const struct ncs_rank *rank,
			      const struct ncs_class_times *times,
			      double fraction);

/* Returns the median time in ns since the start of a rank's operations of one
 * function, size class, algorithm and protocol, and sets *bytes to their mean
 * size. `algorithm` is NCS_CLASS_OTHER if it is not known. Returns 0 if fewer than
 * `least` were timed so, or if it is not known which class it is. */
uint64_t ncs_rank_class_time_ns(const struct ncs_rank *rank, unsigned function,
				const struct ncs_moving_class *class,
				enum ncs_timing timing, uint64_t least,
				double *bytes);

/* Returns whether the sizes of all timed operations of the class are known. */
bool ncs_class_bytes_known(const struct ncs_rank *rank,
			   const struct ncs_class_view *view);

/* Returns how the operations of this class moved on all ranks together. */
struct ncs_moving_view ncs_class_moving(const struct ncs_rank *rank,
					const struct ncs_class_view *view);

/* --- Functions ---------------------------------------------------------- */

/* Returns a percentile of the operations' times in ns, or 0 if none were timed.
 * `fraction` is 0 to 1. Covers the operations timed in the window; or all
 * operations if the window is the latest interval, which has too few. It is no more
 * than ncs_rank_longest_ns(), and for all operations 1 gives that. */
uint64_t ncs_rank_percentile(const struct ncs_rank *rank, unsigned function,
			     double fraction);

/* Returns the longest time of the operations since the start in ns, exactly where
 * their classes tell it; 0 if none was timed. */
uint64_t ncs_rank_longest_ns(const struct ncs_rank *rank, unsigned function);

/* Returns the median of the ranks' median times in ns; 0 if none were timed. */
uint64_t ncs_communicator_time_ns(const struct ncs_communicator *communicator,
				  unsigned function);

#endif
