/* SPDX-License-Identifier: MIT */
/* Asking loaded libraries for facts; see nccl_facts.h. */
#include "plugin/nccl/nccl_facts.h"

#include <dlfcn.h>
#include <string.h>

#include "plugin/nccl/cuda_driver.h"

int32_t ncs_nccl_version(const void *caller)
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

bool ncs_gpu_name(char *name, size_t size)
{
	void *library = ncs_cuda_library();
	int (*get_device)(int *device);
	int (*get_bus_id)(char *text, int length, int device);
	bool known = false;
	int device;

	if (!library)
		return false;
	*(void **)&get_device = dlsym(library, "cuCtxGetDevice");
	*(void **)&get_bus_id = dlsym(library, "cuDeviceGetPCIBusId");
	if (get_device && get_bus_id && get_device(&device) == 0 &&
	    get_bus_id(name, (int)size, device) == 0) {
		name[size - 1] = '\0';
		known = true;
	}
	if (!known)
		memset(name, 0, size);
	return known;
}
