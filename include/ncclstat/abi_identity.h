/* SPDX-License-Identifier: MIT */
/* The publishing rank of a segment. For all of the segment see abi.h. */
#ifndef NCCLSTAT_ABI_IDENTITY_H
#define NCCLSTAT_ABI_IDENTITY_H

#include <assert.h>
#include <stdint.h>

/* The publishing rank. Under a seqlock, since versions 1 to 3 of the profiler
 * API report it no earlier than the first operation. */
struct ncs_identity {
	uint64_t sequence;
	uint64_t known;   /* valid fields: bits of enum ncs_known */
	uint64_t comm_id; /* NCCL's communicator hash */
	int32_t rank;
	int32_t nranks;
	int32_t nnodes;
	int32_t nccl_version; /* as of ncclGetVersion: 22809 is 2.28.9 */
	char comm_name[128];  /* truncated, always terminated */
	char gpu[32];         /* PCI bus ID of the process's current device */
};

/* Bits of struct ncs_identity's known. */
enum ncs_known {
	NCS_KNOWN_COMM_ID = 1,
	NCS_KNOWN_COMM_NAME = 2,
	NCS_KNOWN_RANK = 4,
	NCS_KNOWN_NRANKS = 8,
	NCS_KNOWN_NNODES = 16,
	NCS_KNOWN_NCCL_VERSION = 32,
	NCS_KNOWN_GPU = 64,
};

static_assert(sizeof(struct ncs_identity) == 200, "identity");

#endif
