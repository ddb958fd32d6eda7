/* SPDX-License-Identifier: MIT */
/* An NVTX tool for tests, chained to the plugin. It handles some of NVTX's
 * functions, returns handles and numbers of its own, and counts calls. */
#include <string.h>

#include "plugin/nccl/nvtx_abi.h"
#include "test/plugin/next/nvtx_tool.h"

#define EXPORT __attribute__((visibility("default")))

extern struct nvtx_tool_counts nvtx_tool_counts;
EXPORT struct nvtx_tool_counts nvtx_tool_counts;

int InitializeInjectionNvtx2(nvtx_get_export_table get_table);

static int level;
static uint64_t next_id = UINT64_C(1) << 40;
static char handles[2][4096];
static unsigned given[2];

static int push(const char *name)
{
	nvtx_tool_counts.pushes++;
	strncpy(nvtx_tool_counts.latest, name,
		sizeof(nvtx_tool_counts.latest) - 1);
	return 1000 + level++;
}

static int pop(void)
{
	nvtx_tool_counts.pops++;
	return 1000 + --level;
}

static uint64_t start(const char *name)
{
	(void)name;
	nvtx_tool_counts.starts++;
	return ++next_id;
}

static void end(uint64_t id)
{
	nvtx_tool_counts.ended = id;
}

static const struct nvtx_domain *create_domain(const char *name)
{
	(void)name;
	return (const struct nvtx_domain *)&handles[0][given[0]++];
}

static const struct nvtx_string *
register_string(const struct nvtx_domain *domain, const char *text)
{
	(void)domain;
	(void)text;
	return (const struct nvtx_string *)&handles[1][given[1]++];
}

static int domain_push(const struct nvtx_domain *domain,
		       const struct nvtx_attributes *attributes)
{
	nvtx_tool_counts.domain = domain;
	nvtx_tool_counts.message = attributes->message.registered;
	return 7;
}

EXPORT int InitializeInjectionNvtx2(nvtx_get_export_table get_table)
{
	const struct nvtx_callbacks *table = get_table(NVTX_TABLE_CALLBACKS);
	nvtx_function **words;
	unsigned count;

	table->get_words(NVTX_MODULE_CORE, &words, &count);
	*words[NVTX_RANGE_PUSH_A] = (nvtx_function)push;
	*words[NVTX_RANGE_POP] = (nvtx_function)pop;
	*words[NVTX_RANGE_START_A] = (nvtx_function)start;
	*words[NVTX_RANGE_END] = (nvtx_function)end;
	table->get_words(NVTX_MODULE_CORE2, &words, &count);
	*words[NVTX_DOMAIN_CREATE_A] = (nvtx_function)create_domain;
	*words[NVTX_DOMAIN_REGISTER_STRING_A] = (nvtx_function)register_string;
	*words[NVTX_DOMAIN_RANGE_PUSH_EX] = (nvtx_function)domain_push;
	return 1;
}
