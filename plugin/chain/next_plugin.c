/* SPDX-License-Identifier: MIT */
/* Loading and calling the chained plugin; see next_plugin.h. */
#include "plugin/chain/next_plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ncclstat/record.h"

#define LAST_VERSION 7u

/* From this version on, a table takes the descriptors of later versions. */
#define FIRST_ALIKE 4u

static struct {
	unsigned version;
	uint32_t known_events;
	const struct nccl_profiler *table;
} next;

/* --- loading -------------------------------------------------------------- */

static const void *find_table(void *library, unsigned version)
{
	char symbol[sizeof("ncclProfiler_v0")];

	snprintf(symbol, sizeof(symbol), "ncclProfiler_v%u", version % 10);
	return dlsym(library, symbol);
}

static unsigned oldest_usable(unsigned api_version)
{
	return api_version > FIRST_ALIKE ? FIRST_ALIKE : api_version;
}

static void choose_table(void *library, unsigned api_version)
{
	unsigned version = api_version + 1;

	do
		next.table = find_table(library, --version);
	while (!next.table && version > oldest_usable(api_version));
	next.version = version;
}

/* Says which versions the library has, and which ones are needed. */
static void describe_misfit(void *library, unsigned api_version, char *why,
			    size_t why_size)
{
	char offered[3 * LAST_VERSION + sizeof("none")] = "";
	char needed[32];
	size_t length = 0;

	for (unsigned i = 1; i <= LAST_VERSION; i++)
		if (find_table(library, i))
			length += (size_t)snprintf(offered + length,
						   sizeof(offered) - length,
						   "%s%u", length ? ", " : "",
						   i);
	snprintf(needed, sizeof(needed),
		 oldest_usable(api_version) < api_version ? "%u to %u" : "%u",
		 oldest_usable(api_version), api_version);
	snprintf(why, why_size,
		 "of the profiler API's versions it offers %s, and this NCCL"
		 " needs %s",
		 length ? offered : "none", needed);
}

static uint32_t events_of(unsigned version)
{
	uint32_t events = 0;

#define X(ID, name, bit, api, help) events |= (api) <= version ? (bit) : 0;
	NCS_EVENTS(X)
#undef X
	return events;
}

int ncs_next_load(const char *path, unsigned api_version, char *why,
		  size_t why_size)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const char *error;

	if (!library) {
		error = dlerror();
		snprintf(why, why_size, "it cannot be loaded: %s",
			 error ? error : "no reason is given");
		return -ENOENT;
	}
	choose_table(library, api_version);
	if (!next.table) {
		describe_misfit(library, api_version, why, why_size);
		dlclose(library);
		return -ENOSYS;
	}
	next.known_events = events_of(next.version);
	if (strcmp(ncs_next_name(), "ncclstat") == 0) {
		snprintf(why, why_size, "it is ncclstat itself");
		dlclose(library);
		return -ELOOP;
	}
	return 0;
}

unsigned ncs_next_version(void)
{
	return next.version;
}

const char *ncs_next_name(void)
{
	return next.table->name ? next.table->name : "";
}

uint32_t ncs_next_known_events(void)
{
	return next.known_events;
}

/* --- calling -------------------------------------------------------------- */

enum nccl_result ncs_next_init(const struct ncs_init *init, void **context,
			       int *mask)
{
	if (next.version < 4)
		return next.table->init.v1(context, mask);
	if (next.version == 4)
		return next.table->init.v4(context, mask, init->comm_name,
					   init->comm_id, init->nnodes,
					   init->nranks, init->rank,
					   init->logger);
	return next.table->init.v5(context, init->comm_id, mask,
				   init->comm_name, init->nnodes, init->nranks,
				   init->rank, init->logger);
}

void ncs_next_start_event(void *context, void **handle,
			  union nccl_event_descr *descr)
{
	next.table->start_event(context, handle, descr);
}

void ncs_next_stop_event(void *handle)
{
	next.table->stop_event(handle);
}

void ncs_next_record_state(void *handle, unsigned number, void *args)
{
	next.table->record_event_state(handle, (enum nccl_event_state)number,
				       args);
}

void ncs_next_finalize(void *context)
{
	next.table->finalize(context);
}
