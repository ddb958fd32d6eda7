/* SPDX-License-Identifier: MIT */
/* NVTX: the plugin as its injection library. See nvtx.c. */
#ifndef NCS_PLUGIN_LIFE_NVTX_H
#define NCS_PLUGIN_LIFE_NVTX_H

#include "plugin/nccl/nvtx_abi.h"

/* Called by each copy of NVTX in the process, with NVTX_INJECTION64_PATH. */
int InitializeInjectionNvtx2(nvtx_get_export_table get_table);

#endif
