/* SPDX-License-Identifier: MIT */
/* Asks NVML for NVLinks, clocks and UUIDs; see nvlinks.h. Must not change anything
 * of a GPU. */
#include "analysis/peaks/nvlinks.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* The most links of a GPU; NVLink 5 has 18. */
#define LINKS_MAX 64u

/* --- NVML's binary interface ---------------------------------------------- */

#define NVML_SUCCESS 0
#define NVML_LINK_ACTIVE 1
#define NVML_P2P_BY_NVLINK 2 /* a capability of two GPUs */
#define NVML_P2P_OK 0
#define NVML_CLOCK_SM 1
#define NVML_UUID_BYTES 96

/* Fields of nvmlDeviceGetFieldValues(). Speeds are in MBps: megabytes (10^6)
 * per second of one link in one direction, 26562 for one of an H200, which
 * "nvidia-smi nvlink -s" prints as 26.562 GB/s. */
enum nvml_field {
	NVML_NVLINK_SPEED_COMMON = 90, /* of each active link */
	NVML_NVLINK_COUNT = 91,
	NVML_NVLINK_SPEED = 164, /* of the link that is the field's scope */
};

enum nvml_value_type {
	NVML_UNSIGNED_INT = 1,
	NVML_UNSIGNED_LONG = 2,
	NVML_UNSIGNED_LONG_LONG = 3,
};

struct nvml_value {
	unsigned field; /* enum nvml_field */
	unsigned scope; /* the number of a link */
	long long timestamp;
	long long latency;
	int type;   /* enum nvml_value_type */
	int result; /* 0: the value is valid */
	union {
		unsigned of_int;
		unsigned long of_long;
		unsigned long long of_long_long;
		double of_double;
	} value;
};

static_assert(sizeof(struct nvml_value) == 40, "NVML's field value");

struct nvml_pci {
	char legacy_id[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char id[32];
	char reserved[64]; /* none today */
};

static_assert(offsetof(struct nvml_pci, id) == 36, "NVML's PCI info");

typedef void *nvml_device;

struct ncs_nvml {
	void *library;
	nvml_device devices[NCS_PEAK_GPUS_MAX]; /* NULL: does not answer */
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned *count);
	int (*device)(unsigned index, nvml_device *device);
	int (*pci)(nvml_device device, struct nvml_pci *pci);
	int (*link_state)(nvml_device device, unsigned link, int *is_active);
	int (*values)(nvml_device device, int count,
		      struct nvml_value *values);
	int (*p2p)(nvml_device one, nvml_device other, int capability,
		   int *status);
	/* These may be NULL, with older or later drivers. */
	int (*uuid)(nvml_device device, char *text, unsigned size);
	int (*clock)(nvml_device device, int type, unsigned *mhz);
	int (*clock_most)(nvml_device device, int type, unsigned *mhz);
	int (*held_by)(nvml_device device, unsigned long long *reasons);
};

struct ncs_nvml *ncs_nvml_open(const char *library)
{
	struct ncs_nvml *nvml = calloc(1, sizeof(*nvml));

	if (!nvml)
		return NULL;
	nvml->library = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
	if (!nvml->library) {
		free(nvml);
		return NULL;
	}
	*(void **)&nvml->init = dlsym(nvml->library, "nvmlInit_v2");
	*(void **)&nvml->shutdown = dlsym(nvml->library, "nvmlShutdown");
	*(void **)&nvml->count = dlsym(nvml->library, "nvmlDeviceGetCount_v2");
	*(void **)&nvml->device =
		dlsym(nvml->library, "nvmlDeviceGetHandleByIndex_v2");
	*(void **)&nvml->pci = dlsym(nvml->library, "nvmlDeviceGetPciInfo_v3");
	*(void **)&nvml->link_state =
		dlsym(nvml->library, "nvmlDeviceGetNvLinkState");
	*(void **)&nvml->values =
		dlsym(nvml->library, "nvmlDeviceGetFieldValues");
	*(void **)&nvml->p2p = dlsym(nvml->library, "nvmlDeviceGetP2PStatus");
	*(void **)&nvml->uuid = dlsym(nvml->library, "nvmlDeviceGetUUID");
	*(void **)&nvml->clock = dlsym(nvml->library, "nvmlDeviceGetClockInfo");
	*(void **)&nvml->clock_most =
		dlsym(nvml->library, "nvmlDeviceGetMaxClockInfo");
	*(void **)&nvml->held_by =
		dlsym(nvml->library,
		      "nvmlDeviceGetCurrentClocksThrottleReasons");
	if (nvml->init && nvml->shutdown && nvml->count && nvml->device &&
	    nvml->pci && nvml->link_state && nvml->values && nvml->p2p &&
	    nvml->init() == NVML_SUCCESS)
		return nvml;
	dlclose(nvml->library);
	free(nvml);
	return NULL;
}

void ncs_nvml_close(struct ncs_nvml *nvml)
{
	if (!nvml)
		return;
	nvml->shutdown();
	dlclose(nvml->library);
	free(nvml);
}

/* --- A GPU ---------------------------------------------------------------- */

/* Returns the value of a field; 0 if NVML does not tell it. */
static uint64_t value_of(const struct ncs_nvml *nvml, nvml_device device,
			 enum nvml_field field, unsigned scope)
{
	struct nvml_value value = { .field = field, .scope = scope };

	if (nvml->values(device, 1, &value) != NVML_SUCCESS ||
	    value.result != NVML_SUCCESS)
		return 0;
	switch (value.type) {
	case NVML_UNSIGNED_INT:
		return value.value.of_int;
	case NVML_UNSIGNED_LONG:
		return value.value.of_long;
	case NVML_UNSIGNED_LONG_LONG:
		return value.value.of_long_long;
	default:
		return 0;
	}
}

/* Returns the speeds of all active links of a GPU together. */
static uint64_t nvlink_mb_s(const struct ncs_nvml *nvml, nvml_device device)
{
	uint64_t links = value_of(nvml, device, NVML_NVLINK_COUNT, 0), sum = 0;

	for (unsigned i = 0; i < links && i < LINKS_MAX; i++) {
		int state = 0;
		uint64_t speed;

		if (nvml->link_state(device, i, &state) != NVML_SUCCESS ||
		    state != NVML_LINK_ACTIVE)
			continue;
		speed = value_of(nvml, device, NVML_NVLINK_SPEED, i);
		/* Drivers that do not know that field have links of one speed. */
		if (speed == 0)
			speed = value_of(nvml, device,
					 NVML_NVLINK_SPEED_COMMON, 0);
		sum += speed;
	}
	return sum;
}

/* Returns the GPUs, of `count`, that a GPU reaches by NVLink. */
static uint64_t reach_of(const struct ncs_nvml *nvml, nvml_device device,
			 const nvml_device *devices, unsigned count)
{
	uint64_t reach = 0;

	for (unsigned i = 0; i < count; i++) {
		int status = !NVML_P2P_OK;

		if (devices[i] && devices[i] != device &&
		    nvml->p2p(device, devices[i], NVML_P2P_BY_NVLINK,
			      &status) == NVML_SUCCESS &&
		    status == NVML_P2P_OK)
			reach |= UINT64_C(1) << i;
	}
	return reach;
}

void ncs_nvlinks_read(struct ncs_nvml *nvml, struct ncs_machine_peaks *peaks)
{
	nvml_device *devices = nvml ? nvml->devices : NULL;
	unsigned count = 0;

	peaks->gpu_count = 0;
	if (!nvml || nvml->count(&count) != NVML_SUCCESS)
		return;
	if (count > NCS_PEAK_GPUS_MAX)
		count = NCS_PEAK_GPUS_MAX;
	for (unsigned i = 0; i < count; i++)
		if (nvml->device(i, &devices[i]) != NVML_SUCCESS)
			devices[i] = NULL;
	/* A GPU that does not answer keeps its place, without a name. */
	for (unsigned i = 0; i < count; i++) {
		struct ncs_gpu_peak *peak = &peaks->gpus[i];
		struct nvml_pci pci = { .domain = 0 };
		char uuid[NVML_UUID_BYTES];

		*peak = (struct ncs_gpu_peak){ .pci = NCS_NO_PCI_ADDRESS };
		if (!devices[i] || nvml->pci(devices[i], &pci) != NVML_SUCCESS)
			continue;
		peak->pci = ncs_pci_address(pci.domain, pci.bus, pci.device, 0);
		if (nvml->uuid &&
		    nvml->uuid(devices[i], uuid, sizeof(uuid)) == NVML_SUCCESS)
			ncs_gpu_uuid_read(uuid, peak->uuid);
		peak->nvlink_mb_s = nvlink_mb_s(nvml, devices[i]);
		if (peak->nvlink_mb_s > 0)
			peak->reach = reach_of(nvml, devices[i], devices,
					       count);
	}
	peaks->gpu_count = count;
}

void ncs_clocks_read(const struct ncs_nvml *nvml,
		     struct ncs_machine_peaks *peaks)
{
	for (uint32_t i = 0; nvml && i < peaks->gpu_count; i++) {
		struct ncs_gpu_peak *peak = &peaks->gpus[i];
		nvml_device device = nvml->devices[i];
		unsigned long long reasons = 0;
		unsigned now = 0, most = 0;

		if (!device || !nvml->clock || !nvml->clock_most ||
		    !nvml->held_by ||
		    nvml->clock(device, NVML_CLOCK_SM, &now) != NVML_SUCCESS ||
		    nvml->clock_most(device, NVML_CLOCK_SM, &most) !=
			    NVML_SUCCESS ||
		    nvml->held_by(device, &reasons) != NVML_SUCCESS)
			now = most = 0;
		peak->clock_mhz = now;
		peak->clock_most_mhz = most;
		peak->held_by = most > 0 ? reasons : 0;
	}
}
