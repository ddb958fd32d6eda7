/* SPDX-License-Identifier: MIT */
/* GPU time: how long kernels run, and how much of NCCL's time is hidden behind
 * kernels that compute, summed up for each range; and for how long kernels
 * communicate outside NCCL.
 *
 * Kernels may be added in any order. Each one is compared with all that were
 * added before, so the order of two overlapping kernels makes no difference as
 * long as the earlier one is still kept (INTERVALS_MAX in gpu_time.c). Not for
 * callbacks: allocates. One thread at a time.
 */
#ifndef NCS_PLUGIN_LIFE_GPU_TIME_H
#define NCS_PLUGIN_LIFE_GPU_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/life/kernel_kind.h"
#include "plugin/state/comm.h"

/* A kernel that has run. */
struct ncs_kernel_run {
	uint32_t device;
	uint32_t range; /* number of the range it was launched in; 0 if none */
	uint64_t start; /* ns */
	uint64_t end;
	enum ncs_kernel_kind kind;
};

/* Counts a kernel in the tables of a communicator. Returns false if it was not
 * counted, or not completely: it came too late, there is no memory, or its
 * device is invalid. */
bool ncs_gpu_time_add(struct ncs_comm *comm,
		      const struct ncs_kernel_run *kernel);

/* For a forked child: forgets all kernels. */
void ncs_gpu_time_forget(void);

#endif
