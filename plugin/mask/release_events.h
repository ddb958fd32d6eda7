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

#include "ncclstat/record.h"

/* The events of kernel timing. */
#define NCS_KERNEL_EVENTS \
	(1u << NCS_EVENT_KERNEL_CH | 1u << NCS_EVENT_KERNEL_PHASE)

/* Returns true if kernels may be timed. On 2.26 and 2.27 that can end a job
 * with "Proxy append out of bounds" (nccl#2039); earlier releases cannot. */
static inline bool ncs_release_allows_kernel(unsigned api_version)
{
	return api_version >= 5;
}

/* Returns true if proxy control events may be asked for. Up to 2.26 NCCL
 * reports one in every iteration of its progress loop, millions of times a
 * second. */
static inline bool ncs_release_allows_ctrl(unsigned api_version)
{
	return api_version >= 4;
}

/* Returns the events that a version of the API has, as bits of NCCL's mask. */
static inline uint32_t ncs_api_events(unsigned api_version)
{
	uint32_t events = 0;

#define X(ID, name, bit, api, help) events |= api_version >= (api) ? (bit) : 0u;
	NCS_EVENTS(X)
#undef X
	return events;
}

/* Returns those that NCCL may be asked for. */
static inline uint32_t ncs_release_events(unsigned api_version)
{
	uint32_t events = ncs_api_events(api_version);

	if (!ncs_release_allows_ctrl(api_version))
		events &= ~(1u << NCS_EVENT_PROXY_CTRL);
	if (!ncs_release_allows_kernel(api_version))
		events &= ~NCS_KERNEL_EVENTS;
	return events;
}

#endif
