/* SPDX-License-Identifier: MIT */
/* Checked calls; see check.h. Must not know ncclstat. */
#include "test/gpu/check.h"

#include <stdio.h>
#include <unistd.h>

#include <nccl.h>

int own_rank;

_Noreturn void give_up(int line, const char *what, const char *why)
{
	fprintf(stderr, "rank %d: line %d: %s: %s\n", own_rank, line, what,
		why);
	_exit(EXIT_FAILURE);
}

void say_versions(void)
{
	struct cudaDeviceProp properties;
	int version;

	NCCL(ncclGetVersion(&version));
	CUDA(cudaGetDeviceProperties(&properties, 0));
	printf("nccl %d.%d.%d on %s\n", version / 10000, version / 100 % 100,
	       version % 100, properties.name);
}

void pretend_two_nodes(void)
{
	setenv("NCCL_HOSTID", own_rank == 0 ? "host0" : "host1", 1);
	setenv("NCCL_SOCKET_IFNAME", "lo", 1);
	setenv("NCCL_NET", "Socket", 1);
	setenv("NCCL_IB_DISABLE", "1", 1);
}
