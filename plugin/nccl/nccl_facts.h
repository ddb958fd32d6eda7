/* SPDX-License-Identifier: MIT */
/* Facts about the process that loaded the plugin: NCCL's version, the GPU.
 *
 * The functions ask libraries that the process has already loaded, and load
 * none themselves. Called from init only.
 */
#ifndef NCS_PLUGIN_NCCL_NCCL_FACTS_H
#define NCS_PLUGIN_NCCL_NCCL_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns ncclGetVersion()'s number for the library that contains `caller`, an
 * address in NCCL; 0 if it is unknown. Asks the dynamic linker once for each new
 * caller: it may be held up while another library is being loaded. One thread at a
 * time. */
int32_t ncs_nccl_version(const void *caller);

/* Stores the PCI bus id of the calling thread's current CUDA device in `name`, by
 * the functions that ncs_cuda_driver_find() has found.
 * Returns false, and stores an empty string, if the thread has no device. */
bool ncs_gpu_name(char *name, size_t size);

#endif
