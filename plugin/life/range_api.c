/* SPDX-License-Identifier: MIT */
/* The functions behind the stubs of ncclstat/range.h, which let a program name
 * its own ranges. Any thread, any time: no lock, no allocation, no system call.
 * That header is not included here, because its stubs have the same names. */
#include "plugin/state/range_stack.h"
#include "plugin/events/range_stats.h"

#define EXPORT __attribute__((visibility("default")))

int ncclstat_range_push(const char *name);
int ncclstat_range_pop(void);
uint64_t ncclstat_range_start(const char *name);
void ncclstat_range_end(uint64_t range);
void ncclstat_range_mark(const char *name);

EXPORT int ncclstat_range_push(const char *text)
{
	struct ncs_range_name name;

	ncs_range_name_set(&name, text);
	return ncs_range_push(NCS_RANGE_DOMAIN_OWN, &name);
}

EXPORT int ncclstat_range_pop(void)
{
	return ncs_range_pop(NCS_RANGE_DOMAIN_OWN);
}

EXPORT uint64_t ncclstat_range_start(const char *text)
{
	struct ncs_range_name name;
	uint64_t id = 0;

	ncs_range_name_set(&name, text);
	if (!ncs_range_start(&name, &id))
		ncs_range_lose();
	return id;
}

EXPORT void ncclstat_range_end(uint64_t range)
{
	ncs_range_end(range);
}

EXPORT void ncclstat_range_mark(const char *text)
{
	struct ncs_range_name name;

	ncs_range_name_set(&name, text);
	ncs_range_mark(&name);
}
