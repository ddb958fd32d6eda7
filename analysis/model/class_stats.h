/* SPDX-License-Identifier: MIT */
/* What the numbers of a class of operations mean: a rank's operations of one
 * function, size class, algorithm and protocol. Pure. */
#ifndef NCS_ANALYSIS_MODEL_CLASS_STATS_H
#define NCS_ANALYSIS_MODEL_CLASS_STATS_H

#include "analysis/model/model.h"

/* Of the rank's times as of now, in ns. */
uint64_t ncs_class_percentile(const struct ncs_rank *rank,
			      const struct ncs_class_times *times,
			      double fraction);

/* Whether the bytes of its times are those of all of them. */
bool ncs_class_bytes_known(const struct ncs_rank *rank,
			   const struct ncs_class_view *view);

/* GB/s of its timed operations since the start. Negative: unknown. */
double ncs_class_algorithm_bandwidth(const struct ncs_rank *rank,
				     const struct ncs_class_view *view);
double ncs_class_bus_bandwidth(const struct ncs_rank *rank,
			       const struct ncs_class_view *view);

#endif
