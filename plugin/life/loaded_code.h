/* SPDX-License-Identifier: MIT */
/* Code in the process that communicates outside NCCL
 * (ncclstat/tables/outside.def): libraries, and calls of functions of NCCL that
 * report nothing.
 *
 * Not for callbacks: walks through all libraries if some have come since the
 * latest call, which took 6 ms with 500 libraries that have 100,000 calls; else 1
 * us. Any thread; no lock of ours.
 */
#ifndef NCS_PLUGIN_LIFE_LOADED_CODE_H
#define NCS_PLUGIN_LIFE_LOADED_CODE_H

#include <stdint.h>

/* Returns bits, by enum ncs_outside_code, of what is loaded now. */
uint64_t ncs_loaded_code(void);

#endif
