/* SPDX-License-Identifier: MIT */
/* Rules for each release; see release_events.h. */
#include "plugin/mask/release_events.h"

#include <stddef.h>

#include "ncclstat/record.h"

static const struct {
	uint32_t bit;
	unsigned api_version;
} events[] = {
#define X(ID, name, bit, api, help) { bit, api },
	NCS_EVENTS(X)
#undef X
};

#define CTRL_FROM_API 4u
#define KERNEL_FROM_API 5u

/* From 2.31 on NCCL counts timed works only, while the GPU counts all works. */
#define SINGLE_CALLS_UNTIL_API 6u

#define ALLGATHERV_FROM_API 6u

bool ncs_release_allows_kernel(unsigned api_version)
{
	return api_version >= KERNEL_FROM_API;
}

bool ncs_release_allows_single_calls(unsigned api_version)
{
	return ncs_release_allows_kernel(api_version) &&
	       api_version <= SINGLE_CALLS_UNTIL_API;
}

bool ncs_release_makes_allgatherv(unsigned api_version)
{
	return api_version >= ALLGATHERV_FROM_API;
}

bool ncs_release_allows_ctrl(unsigned api_version)
{
	return api_version >= CTRL_FROM_API;
}

uint32_t ncs_release_mask(unsigned api_version,
			  enum ncs_kernel_timing kernel_timing)
{
	const uint32_t kernel = 1u << NCS_EVENT_KERNEL_CH |
				1u << NCS_EVENT_KERNEL_PHASE;
	uint32_t mask = 0;

	for (size_t i = 0; i < NCS_EVENT_COUNT; i++)
		if (events[i].api_version <= api_version)
			mask |= events[i].bit;
	if (!ncs_release_allows_ctrl(api_version))
		mask &= ~(1u << NCS_EVENT_PROXY_CTRL);
	if (kernel_timing == NCS_KERNEL_TIMING_OFF ||
	    !ncs_release_allows_kernel(api_version))
		mask &= ~kernel;
	return mask;
}
