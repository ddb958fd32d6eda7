/* SPDX-License-Identifier: MIT */
/* From the names that NCCL passes (numbers, in API 1) to our numbers. Pure but
 * for a cache of addresses; called by callbacks. What is not known becomes OTHER or UNKNOWN, 0. */
#ifndef NCS_PLUGIN_NCCL_NCCL_NAMES_H
#define NCS_PLUGIN_NCCL_NCCL_NAMES_H

#include <stdint.h>

#include "ncclstat/abi.h"
#include "ncclstat/names.h"

uint8_t ncs_function_from_name(const char *name);
uint8_t ncs_function_from_number(unsigned number);
uint8_t ncs_datatype_from_name(const char *name);
uint8_t ncs_datatype_from_number(unsigned number);
uint8_t ncs_algorithm_from_name(const char *name);
uint8_t ncs_algorithm_from_number(unsigned number);
uint8_t ncs_protocol_from_name(const char *name);
uint8_t ncs_protocol_from_number(unsigned number);

/* Before a communicator is made: NCCL may have been unloaded and loaded again,
 * and where its strings were may be others now, or nothing. */
void ncs_names_forget(void);

/* Bytes of one element. */
unsigned ncs_datatype_bytes(uint8_t datatype);

/* Whether the message size is count * element * nranks (nccl-tests). */
int ncs_function_size_has_ranks(uint8_t function);

#endif
