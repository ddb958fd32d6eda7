/* SPDX-License-Identifier: MIT */
/* Times of GPUs' kernels, in the header of a segment and in ranges. For all of the
 * segment see abi.h. */
#ifndef NCCLSTAT_ABI_GPU_TIME_H
#define NCCLSTAT_ABI_GPU_TIME_H

#include <assert.h>
#include <stdint.h>

/* Times of a GPU's kernels, from CUPTI, summed over the GPUs of the process.
 * Kernels of NCCL are communication, all others compute, but for those that
 * communicate outside NCCL: from minor version 12 on, they are neither. Each word
 * is valid by itself. */
struct ncs_gpu_time {
	uint64_t compute_kernels;
	uint64_t compute_ns;      /* sum of their durations */
	uint64_t compute_busy_ns; /* time in which at least one of them ran */
	uint64_t communication_kernels;
	uint64_t communication_ns;
	/* The part of communication_ns during which the GPU also computed, in
	 * any range. */
	uint64_t hidden_ns;
};

static_assert(sizeof(struct ncs_gpu_time) == 48, "GPU time");

#endif
