/* SPDX-License-Identifier: MIT */
/* Two processes that work together under a watchdog.
 *
 * They are forked before either has used a GPU, as CUDA demands. A pair that
 * hangs is killed, and the result is PAIR_HUNG. Must not know CUDA, NCCL or
 * ncclstat.
 */
#ifndef NCS_TEST_GPU_PAIR_H
#define NCS_TEST_GPU_PAIR_H

#include <stddef.h>

#define PAIR_SIZE 2
/* The result for a pair that hangs: timeout(1) has the same exit status. */
#define PAIR_HUNG 124

/* Runs work(rank) in one process for each rank, for at most `patience_s`
 * seconds. Returns the program's exit status: 0 if both returned 0, PAIR_HUNG if
 * the time was up, else 1. Both processes have ended when it returns. The shell
 * runs `at_end`, which may be NULL, once both are in pair_meet(), and also before
 * a pair that hangs is killed, so that its output shows where. The time of
 * `at_end` counts, but it is not interrupted.
 */
int pair_run(int (*work)(int rank), unsigned patience_s, const char *at_end);

/* Copies `size` bytes (at most PIPE_BUF) from rank 0 to rank 1; both ranks call it
 * once. Returns 0, or -EPIPE if the other rank is gone.
 */
int pair_share(void *data, size_t size);

/* Waits until both ranks are here and `at_end` has run; both ranks call it once.
 * Returns 0, or -EPIPE if the parent is gone.
 */
int pair_meet(void);

#endif
