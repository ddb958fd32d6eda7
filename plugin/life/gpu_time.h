/* SPDX-License-Identifier: MIT */
/* What the GPU's kernels take, and how much of NCCL's is hidden behind others:
 * summed up for each range, kernel by kernel.
 *
 * Kernels may be told in any order. Each one counts at once with all that were
 * told before, so it makes no difference at which of two overlapping ones a
 * window of records ends, as long as the earlier one is still held
 * (INTERVALS_MAX in gpu_time.c). Not for callbacks: it allocates. One thread at
 * a time.
 */
#ifndef NCS_PLUGIN_LIFE_GPU_TIME_H
#define NCS_PLUGIN_LIFE_GPU_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/state/comm.h"

struct ncs_kernel_run {
	uint32_t device;
	uint32_t range; /* that it was launched in; 0: none */
	uint64_t start; /* ns */
	uint64_t end;
	bool communicates;
};

/* Counts a kernel, in the tables of this communicator. False: not, or not in
 * full: it is too late, there is no memory, or its device is none. */
bool ncs_gpu_time_add(struct ncs_comm *comm,
		      const struct ncs_kernel_run *kernel);

/* In a forked child: nothing has run yet. */
void ncs_gpu_time_forget(void);

#endif
