/* SPDX-License-Identifier: MIT */
/* The plugin as NVTX's injection library; see nvtx.c. */
#ifndef NCS_PLUGIN_LIFE_NVTX_H
#define NCS_PLUGIN_LIFE_NVTX_H

#include "plugin/nccl/nvtx_abi.h"

/* Called by each copy of NVTX in the process if NVTX_INJECTION64_PATH names the
 * plugin. Returns 1 if NVTX is to keep the library, else 0. */
int InitializeInjectionNvtx2(nvtx_get_export_table get_table);

#endif
