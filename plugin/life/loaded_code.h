/* SPDX-License-Identifier: MIT */
/* Code in the process that communicates outside NCCL
 * (ncclstat/tables/outside.def): libraries, and calls of functions of NCCL that
 * report nothing.
 *
 * Not for callbacks: walks through all libraries if some have come since the
 * latest call, which took 10 ms with 440 libraries that refer to 240,000
 * symbols; else 1 us. Any thread; no lock of ours.
 */
#ifndef NCS_PLUGIN_LIFE_LOADED_CODE_H
#define NCS_PLUGIN_LIFE_LOADED_CODE_H

#include <stdint.h>

/* Returns bits, by enum ncs_outside_code, of what is loaded now. */
uint64_t ncs_loaded_code(void);

#endif
