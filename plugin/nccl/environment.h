/* SPDX-License-Identifier: MIT */
/* What the environment asks of the plugin; read once a process, at the first
 * init. The variables are those of ncclstat/tables/environment.def. */
#ifndef NCS_PLUGIN_NCCL_ENVIRONMENT_H
#define NCS_PLUGIN_NCCL_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi.h"
#include "ncclstat/control_object.h"

/* Periods are powers of two. */
#define NCS_KERNEL_PERIOD_MAX (UINT32_C(1) << NCS_KERNEL_DETAIL_LOG2_MAX)
#define NCS_KERNEL_PERIOD_DEFAULT \
	(UINT32_C(1) << NCS_KERNEL_DETAIL_LOG2_DEFAULT)

/* The greatest number of ranges; numbers of ranges have 16 bits in places. */
#define NCS_RANGE_MAX 65535u

struct ncs_environment {
	bool disabled;
	char directory[256];
	enum ncs_kernel_timing kernel_timing;
	uint32_t kernel_period;
	bool no_graphs;        /* promised */
	bool no_allgatherv;    /* NCCL makes no AllGatherV of Broadcasts */
	unsigned sample_level; /* one operation in 2^sample_level */
	uint64_t sample_slow_ns;
	uint64_t shm_bytes;
	char chain[1024];      /* "": no other plugin */
	uint32_t ranges;       /* that are told apart; 0: none */
	char nvtx_chain[1024]; /* "": no other NVTX tool */
	char cupti[1024];      /* "": off; "1": wherever it is; else a file */
};

/* Fills in the configuration. Returns 0, or -EINVAL where a variable makes no
 * sense: its default holds then, and `problem` says which and what is
 * expected. */
int ncs_environment_read(struct ncs_environment *config, char *problem,
			 size_t problem_size);

#endif
