/* SPDX-License-Identifier: MIT */
/* Finding CUDA's driver; see cuda_driver.h. */
#include "plugin/nccl/cuda_driver.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct ncs_cuda_driver ncs_cuda;

static void *find_symbol(void *library, const char *symbol,
			 const char *older_symbol)
{
	void *address = dlsym(library, symbol);

	return address || !older_symbol ? address :
					  dlsym(library, older_symbol);
}

/* Returns true if the library has all functions. */
static bool find_functions(void *library)
{
	bool has_all = true;

#define X(name, symbol, older_symbol, parameters)                          \
	*(void **)&ncs_cuda.name = find_symbol(library, symbol, older_symbol); \
	has_all = has_all && ncs_cuda.name;
	NCS_CUDA_FUNCTIONS(X)
#undef X
	ncs_cuda.has_graphs = has_all;
#define X(name, symbol, older_symbol, parameters)                          \
	*(void **)&ncs_cuda.name = find_symbol(library, symbol, older_symbol); \
	ncs_cuda.has_graphs = ncs_cuda.has_graphs && ncs_cuda.name;
	NCS_CUDA_GRAPH_FUNCTIONS(X)
#undef X
	return has_all;
}

bool ncs_cuda_driver_find(void)
{
	static bool has_looked, is_complete;
	void *library;

	if (has_looked)
		return is_complete;
	/* The reference is kept, so that the library stays loaded. */
	library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	is_complete = library && find_functions(library);
	has_looked = true;
	return is_complete;
}

bool ncs_cuda_retain_primary(void *context, struct ncs_cuda_primary *primary)
{
	struct ncs_cuda_primary own;
	unsigned flags;
	int active = 0;

	/* Retaining a context that is not active would make it. */
	if (ncs_cuda.context_device(&own.device) != 0 ||
	    ncs_cuda.primary_state(own.device, &flags, &active) != 0 ||
	    !active || ncs_cuda.primary_retain(&own.context, own.device) != 0)
		return false;
	if (own.context != context ||
	    ncs_cuda.context_id(context, &own.id) != 0) {
		ncs_cuda.primary_release(own.device);
		return false;
	}
	*primary = own;
	return true;
}

int ncs_cuda_make_events(void **first, void **second, unsigned flags)
{
	int error;

	*first = *second = NULL;
	error = ncs_cuda.event_create(first, flags);
	if (!error)
		error = ncs_cuda.event_create(second, flags);
	if (error)
		ncs_cuda_drop_event(first);
	return error;
}

void ncs_cuda_device_name(char *name, size_t size)
{
	int device;

	/* An older driver may lack others. */
	if (ncs_cuda.context_device && ncs_cuda.device_bus_id &&
	    ncs_cuda.context_device(&device) == 0 &&
	    ncs_cuda.device_bus_id(name, (int)size, device) == 0)
		name[size - 1] = '\0';
	else
		memset(name, 0, size);
}
