/* SPDX-License-Identifier: MIT */
/* What each release of NCCL may be asked for.
 *
 * The version of the API that NCCL chose tells its release, since the plugin
 * exports them all: 1 is 2.23; 2 is 2.24 and 2.25; 3 is 2.26; 4 is 2.27; 5 is
 * 2.28; 6 is 2.29 and 2.30; 7 is 2.31 and later. Pure.
 */
#ifndef NCS_PLUGIN_MASK_RELEASE_EVENTS_H
#define NCS_PLUGIN_MASK_RELEASE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/nccl/environment.h"

/* Kernel timing: on 2.26 and 2.27 it can end a job with "Proxy append out of
 * bounds" (nccl#2039), before that there is none. */
bool ncs_release_allows_kernel(unsigned api_version);

/* Proxy control: up to 2.26 NCCL reports one at every turn of the progress
 * loop, millions of times a second. */
bool ncs_release_allows_ctrl(unsigned api_version);

/* … of some calls and not of others: where NCCL and the GPU do not count alike
 * that hangs the job, see mask.c. */
bool ncs_release_allows_single_calls(unsigned api_version);

/* Whether NCCL makes an AllGatherV of Broadcasts, which it does not count. */
bool ncs_release_makes_allgatherv(unsigned api_version);

/* The activation mask for NCCL, without kernel timing (OFF) or with it. */
uint32_t ncs_release_mask(unsigned api_version,
			  enum ncs_kernel_timing kernel_timing);

#endif
