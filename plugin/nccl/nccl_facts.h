/* SPDX-License-Identifier: MIT */
/* Facts about the process that loaded us: NCCL's version, the current GPU.
 *
 * Found through the libraries that the process already has; nothing is loaded
 * for it. From init only.
 */
#ifndef NCS_PLUGIN_NCCL_NCCL_FACTS_H
#define NCS_PLUGIN_NCCL_NCCL_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ncclGetVersion()'s number of the library that holds `caller`, an address in
 * NCCL; 0 if it cannot be told. */
int32_t ncs_nccl_version(const void *caller);

/* PCI bus id of the calling thread's current device. False without CUDA. */
bool ncs_gpu_name(char *name, size_t size);

#endif
