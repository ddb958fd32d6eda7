/* SPDX-License-Identifier: MIT */
/* Two processes that work together under a watchdog.
 *
 * They are forked before either has touched a GPU, as CUDA demands. A hang ends
 * as PAIR_HUNG, not as a job that somebody has to find and kill. Knows nothing
 * of CUDA, NCCL or ncclstat.
 */
#ifndef NCS_TEST_GPU_PAIR_H
#define NCS_TEST_GPU_PAIR_H

#include <stddef.h>

#define PAIR_SIZE 2
/* The status by which timeout(1) says the same. */
#define PAIR_HUNG 124

/* Runs work(rank) in one process for each rank, for at most `patience_s`
 * seconds, and gives the status for the program to exit with: 0 when both
 * returned 0, PAIR_HUNG when the time was up, else 1. Whatever happens, both
 * are gone when it returns. Once both are in pair_meet(), `at_end` (may be
 * NULL) is run by the shell, and also before a pair that hangs is killed: what
 * it leaves then tells where. Its time counts, but it is not interrupted.
 */
int pair_run(int (*work)(int rank), unsigned patience_s, const char *at_end);

/* In a rank, once: copies `size` bytes (at most PIPE_BUF) from rank 0 to rank
 * 1. Gives 0, or -EPIPE when the other one is gone.
 */
int pair_share(void *data, size_t size);

/* In a rank, once: waits until both ranks are here and `at_end` has run. Gives
 * 0, or -EPIPE when nobody waits for it.
 */
int pair_meet(void);

#endif
