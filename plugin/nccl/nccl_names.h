/* SPDX-License-Identifier: MIT */
/* Names of functions, data types, algorithms and protocols: from NCCL's strings
 * (numbers, in API 1) to the numbers of include/ncclstat/names.h.
 *
 * Called by callbacks on any thread: no lock, no allocation. The only state is
 * a cache of the strings' addresses. An unknown or NULL name yields OTHER or
 * UNKNOWN, which are 0.
 */
#ifndef NCS_PLUGIN_NCCL_NCCL_NAMES_H
#define NCS_PLUGIN_NCCL_NCCL_NAMES_H

#include <stdint.h>

#include "ncclstat/abi.h"
#include "ncclstat/names.h"

/* Return our number for NCCL's string, or for NCCL's own number in API 1. */
uint8_t ncs_function_from_name(const char *name);
uint8_t ncs_function_from_number(unsigned number);
uint8_t ncs_datatype_from_name(const char *name);
uint8_t ncs_datatype_from_number(unsigned number);
uint8_t ncs_algorithm_from_name(const char *name);
uint8_t ncs_algorithm_from_number(unsigned number);
uint8_t ncs_protocol_from_name(const char *name);
uint8_t ncs_protocol_from_number(unsigned number);

/* Empties the cache. Call it before each communicator is initialised: NCCL may
 * have been unloaded and loaded again since, which leaves other strings, or
 * none, at the cached addresses. */
void ncs_names_forget(void);

/* Returns the number of bytes of one element; 1 for an unknown data type. */
unsigned ncs_datatype_bytes(uint8_t datatype);

/* Returns nonzero if the message size, as nccl-tests counts it, is count times
 * element size times number of ranks. */
int ncs_function_size_has_ranks(uint8_t function);

#endif
