/* SPDX-License-Identifier: MIT */
/* Finding CUDA's driver; see cuda_driver.h. */
#include "plugin/nccl/cuda_driver.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/atomics.h"

struct ncs_cuda_driver ncs_cuda;

/* A library's handle is an address. */
#define NOT_LOADED UINT64_C(1)

void *ncs_cuda_library(void)
{
	static uint64_t handle; /* 0 before the first look */
	uint64_t found = ncs_load_relaxed(&handle);

	if (found == 0) {
		/* Two threads may look at once: both find the same. The reference
		 * is kept, so that the library stays loaded. */
		found = (uintptr_t)dlopen("libcuda.so.1",
					  RTLD_NOW | RTLD_NOLOAD);
		if (found == 0)
			found = NOT_LOADED;
		ncs_store_relaxed(&handle, found);
	}
	return found == NOT_LOADED ? NULL : (void *)(uintptr_t)found;
}

static void *find_symbol(void *library, const char *symbol,
			 const char *older_symbol)
{
	void *address = dlsym(library, symbol);

	return address || !older_symbol ? address :
					  dlsym(library, older_symbol);
}

bool ncs_cuda_driver_find(const char **missing)
{
	static bool found;
	void *library;

	*missing = NULL;
	/* Other threads may be calling it already. */
	if (found)
		return true;
	library = ncs_cuda_library();
	if (!library)
		return false;
#define X(name, symbol, older_symbol, parameters)                          \
	*(void **)&ncs_cuda.name = find_symbol(library, symbol, older_symbol); \
	if (!ncs_cuda.name && !*missing)                                       \
		*missing = symbol;
	NCS_CUDA_FUNCTIONS(X)
#undef X
	found = *missing == NULL;
	return found;
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
