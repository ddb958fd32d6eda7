/* SPDX-License-Identifier: MIT */
/* Asking loaded libraries for facts; see nccl_facts.h. */
#include "plugin/nccl/nccl_facts.h"

#include <dlfcn.h>
#include <string.h>

#include "plugin/nccl/cuda_driver.h"

static int32_t ask_for_version(const void *caller)
{
	int (*get_version)(int *version);
	int version = 0;
	Dl_info found;
	void *library;

	if (!caller || !dladdr(caller, &found) || !found.dli_fname)
		return 0;
	library = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return 0;
	*(void **)&get_version = dlsym(library, "ncclGetVersion");
	if (get_version && get_version(&version) != 0)
		version = 0;
	dlclose(library);
	return version;
}

int32_t ncs_nccl_version(const void *caller)
{
	static const void *latest_caller;
	static int32_t latest_version;

	if (caller != latest_caller)
		latest_version = ask_for_version(caller);
	latest_caller = caller;
	return latest_version;
}

bool ncs_gpu_name(char *name, size_t size)
{
	bool known = false;
	int device;

	/* An older driver may lack others. */
	if (ncs_cuda.context_device && ncs_cuda.device_bus_id &&
	    ncs_cuda.context_device(&device) == 0 &&
	    ncs_cuda.device_bus_id(name, (int)size, device) == 0) {
		name[size - 1] = '\0';
		known = true;
	}
	if (!known)
		memset(name, 0, size);
	return known;
}
