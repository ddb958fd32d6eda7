/* SPDX-License-Identifier: MIT */
/* Checked calls of CUDA, NCCL and the C library, and what else the ranks of the
 * programs on a GPU do alike. A rank that fails leaves at once. A source that uses
 * the macros includes nccl.h. Must not know ncclstat.
 */
#ifndef NCS_TEST_GPU_CHECK_H
#define NCS_TEST_GPU_CHECK_H

#include <stdlib.h>
#include <string.h>

/* This process's rank, for messages. */
extern int own_rank;

/* Prints where and why a call failed, and ends the process without any clean-up,
 * which could hang; the parent ends the other rank. */
_Noreturn void give_up(int line, const char *what, const char *why);

/* Prints NCCL's version and the GPU's name, which the tables of results have. */
void say_versions(void);

/* Makes NCCL take two processes on one GPU for two nodes, as it refuses them
 * otherwise; every byte then goes through a socket. */
void pretend_two_nodes(void);

#define CUDA(call) \
	do { \
		cudaError_t error_ = (call); \
		if (error_ != cudaSuccess) \
			give_up(__LINE__, #call, cudaGetErrorString(error_)); \
	} while (0)

#define NCCL(call) \
	do { \
		ncclResult_t error_ = (call); \
		if (error_ != ncclSuccess) \
			give_up(__LINE__, #call, ncclGetErrorString(error_)); \
	} while (0)

#define LIBC(call) \
	do { \
		int error_ = (call); \
		if (error_ != 0) \
			give_up(__LINE__, #call, strerror(abs(error_))); \
	} while (0)

#endif
