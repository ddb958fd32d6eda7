/* SPDX-License-Identifier: MIT */
/* What a GPU's clock showed at several moments, and which moment one of its
 * times was, from that.
 *
 * States tell it now and then, each between two bounds (ncclstat/abi.h).
 * Between two such readings the clock runs evenly; before the first and after
 * the last as it did next to them. Memory is bounded. Pure.
 */
#ifndef NCS_ANALYSIS_RECORDS_GPU_READINGS_H
#define NCS_ANALYSIS_RECORDS_GPU_READINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/reader.h"

/* Of more than so many every second one is dropped. */
#define NCS_GPU_READINGS_MAX 4096u

struct ncs_gpu_reading {
	uint64_t gpu_ns;  /* it showed this … */
	uint64_t told_ns; /* … at that moment of the host */
	uint64_t error_ns;
};

/* Start with {0}. */
struct ncs_gpu_readings {
	struct ncs_gpu_reading *readings; /* by time, of both clocks */
	size_t count;
	size_t room;
};

/* Takes in what a state tells, in the order of time; nothing if it tells none,
 * or what was told before. A clock that has jumped begins anew. 0 or
 * -ENOMEM. */
int ncs_gpu_readings_add(struct ncs_gpu_readings *readings,
			 const struct ncs_gpu_clock_view *clock);
void ncs_gpu_readings_release(struct ncs_gpu_readings *readings);

/* When a GPU's time was, by the host's clock, and what that is off at most.
 * False: nothing is known. */
bool ncs_gpu_readings_find(const struct ncs_gpu_readings *readings,
			   uint64_t gpu_ns, uint64_t *host_ns,
			   uint64_t *error_ns);

#endif
