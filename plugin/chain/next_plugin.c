/* SPDX-License-Identifier: MIT */
/* Loading and calling the chained plugin; see next_plugin.h. */
#include "plugin/chain/next_plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plugin/mask/release_events.h"

#define LAST_VERSION 7u

/* From this version on, a table takes the descriptors of later versions. */
#define FIRST_ALIKE 4u

struct ncs_next ncs_next;

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
		ncs_next.table = find_table(library, --version);
	while (!ncs_next.table && version > oldest_usable(api_version));
	ncs_next.version = version;
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
	if (!ncs_next.table) {
		describe_misfit(library, api_version, why, why_size);
		dlclose(library);
		return -ENOSYS;
	}
	ncs_next.known_events = ncs_api_events(ncs_next.version);
	ncs_next.name = ncs_next.table->name ? ncs_next.table->name : "";
	if (strcmp(ncs_next.name, "ncclstat") == 0) {
		snprintf(why, why_size, "it is ncclstat itself");
		dlclose(library);
		return -ELOOP;
	}
	return 0;
}

enum nccl_result ncs_next_init(const struct ncs_init *init, void **context,
			       int *mask)
{
	if (ncs_next.version < 4)
		return ncs_next.table->init.v1(context, mask);
	if (ncs_next.version == 4)
		return ncs_next.table->init.v4(context, mask, init->comm_name,
					       init->comm_id, init->nnodes,
					       init->nranks, init->rank,
					       init->logger);
	return ncs_next.table->init.v5(context, init->comm_id, mask,
				       init->comm_name, init->nnodes,
				       init->nranks, init->rank, init->logger);
}
