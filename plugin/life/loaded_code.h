/* SPDX-License-Identifier: MIT */
/* Code in the process that communicates outside NCCL
 * (ncclstat/tables/outside.def): libraries, and calls of functions of NCCL that
 * report nothing.
 *
 * Not for callbacks: walks through all libraries if some have come since the
 * latest call, which took 10 ms with 440 libraries that refer to 240,000
 * symbols; else 1 us. A walk takes the loader's lock of the list of libraries,
 * which is not held while constructors run, and no other lock of the application.
 * In a child that is forked meanwhile it would stay locked, and dlopen() would
 * hang: so a fork waits for the walk.
 */
#ifndef NCS_PLUGIN_LIFE_LOADED_CODE_H
#define NCS_PLUGIN_LIFE_LOADED_CODE_H

#include <stdint.h>

/* Returns bits, by enum ncs_outside_code, of what is loaded now; or was at the
 * latest walk if another thread walks or forks. Any thread. */
uint64_t ncs_loaded_code(void);

/* In the parent, around a fork: no thread walks meanwhile. */
void ncs_loaded_code_before_fork(void);
void ncs_loaded_code_after_fork(void);

/* For a forked child. */
void ncs_loaded_code_forget(void);

#endif
