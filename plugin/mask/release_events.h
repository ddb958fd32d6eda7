/* SPDX-License-Identifier: MIT */
/* The events that each release of NCCL may safely be asked for.
 *
 * The plugin exports all versions of the API, so the version that NCCL has
 * chosen identifies its release: 1 is 2.23; 2 is 2.24 and 2.25; 3 is 2.26; 4 is
 * 2.27; 5 is 2.28; 6 is 2.29 and 2.30; 7 is 2.31 and later. Pure functions.
 */
#ifndef NCS_PLUGIN_MASK_RELEASE_EVENTS_H
#define NCS_PLUGIN_MASK_RELEASE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/nccl/environment.h"

/* Returns true if kernels may be timed. On 2.26 and 2.27 that can end a job
 * with "Proxy append out of bounds" (nccl#2039); earlier releases cannot. */
bool ncs_release_allows_kernel(unsigned api_version);

/* Returns true if proxy control events may be asked for. Up to 2.26 NCCL
 * reports one in every iteration of its progress loop, millions of times a
 * second. */
bool ncs_release_allows_ctrl(unsigned api_version);

/* Returns true if the kernels of some calls may be timed and those of others
 * not. If NCCL and the GPU count differently, timing only some calls hangs the
 * job; see mask.c. */
bool ncs_release_allows_single_calls(unsigned api_version);

/* Returns true if NCCL may turn Broadcasts into an AllGatherV, which it does
 * not count. */
bool ncs_release_makes_allgatherv(unsigned api_version);

/* Returns the activation mask for NCCL, without kernel timing (OFF) or with
 * it. */
uint32_t ncs_release_mask(unsigned api_version,
			  enum ncs_kernel_timing kernel_timing);

#endif
