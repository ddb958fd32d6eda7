/* SPDX-License-Identifier: MIT */
/* The counts of nvtx_tool.c, which exports them as the symbol
 * nvtx_tool_counts. */
#ifndef NCS_TEST_PLUGIN_NEXT_NVTX_TOOL_H
#define NCS_TEST_PLUGIN_NEXT_NVTX_TOOL_H

#include <stdint.h>

struct nvtx_tool_counts {
	unsigned pushes;
	unsigned pops;
	unsigned starts;
	uint64_t ended;
	const void *domain; /* of the latest domain_push() */
	const void *message;
	char latest[64]; /* name of the latest push() */
};

#endif
