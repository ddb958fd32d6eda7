/* SPDX-License-Identifier: MIT */
/* A fake of NVIDIA's management library, which tells of NVLinks without a GPU.
 *
 * Its GPUs are those of FAKE_NVML in the environment, six numbers: GPUs, links of
 * each, megabytes per second of a link, links that are down, the GPU (from 1)
 * that no other reaches, and ms that the start takes. FAKE_CLOCKS are four numbers:
 * the GPU (from 1) whose clock is held down, its MHz, the MHz that all can have, and
 * the reasons; without it there are no clocks. A UUID ends with the GPU's number,
 * from 1. Built with BARE it lacks a
 * function, as old drivers do. Functions that change something it does not have,
 * as nobody may call them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

#define SUCCESS 0
#define UNINITIALIZED 1
#define INVALID_ARGUMENT 2
#define NOT_SUPPORTED 3
#define P2P_NVLINK 2
#define P2P_NOT_SUPPORTED 5
#define UNSIGNED_INT 1
#define FIELD_LINKS 91
#define CLOCK_SM 1
#define FIELD_SPEED 164

struct field_value {
	unsigned field, scope;
	long long timestamp, latency;
	int type, result;
	union {
		unsigned number;
		unsigned long long room;
	} value;
};

struct pci {
	char legacy_id[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char id[32];
};

static struct {
	unsigned gpus, links, speed, down, apart, start_ms;
} fake;
static int started;
/* A device's handle is the address of its byte. */
static char devices[64];

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT int nvmlDeviceGetCount_v2(unsigned *count);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
EXPORT int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci);
EXPORT int nvmlDeviceGetNvLinkState(void *device, unsigned link, int *state);
EXPORT int nvmlDeviceGetFieldValues(void *device, int count,
				    struct field_value *values);
EXPORT int nvmlDeviceGetP2PStatus(void *one, void *other, int capability,
				  int *status);

EXPORT int nvmlDeviceGetUUID(void *device, char *text, unsigned size);
EXPORT int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz);
EXPORT int nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned *mhz);
EXPORT int
nvmlDeviceGetCurrentClocksThrottleReasons(void *device,
					  unsigned long long *reasons);

/* Returns the number of a device, from 1; 0 if it is none. */
static unsigned number_of(const void *device)
{
	const char *place = device;

	if (!started || place < devices || place >= devices + fake.gpus)
		return 0;
	return (unsigned)(place - devices) + 1;
}

int nvmlInit_v2(void)
{
	const char *text = getenv("FAKE_NVML");
	struct timespec time;

	if (!text || sscanf(text, "%u %u %u %u %u %u", &fake.gpus, &fake.links,
			    &fake.speed, &fake.down, &fake.apart,
			    &fake.start_ms) != 6 ||
	    fake.gpus > sizeof(devices))
		return UNINITIALIZED;
	time.tv_sec = fake.start_ms / 1000;
	time.tv_nsec = fake.start_ms % 1000 * 1000000L;
	nanosleep(&time, NULL);
	started = 1;
	return SUCCESS;
}

int nvmlShutdown(void)
{
	started = 0;
	return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = fake.gpus;
	return started ? SUCCESS : UNINITIALIZED;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	if (!started || index >= fake.gpus)
		return INVALID_ARGUMENT;
	*device = &devices[index];
	return SUCCESS;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci)
{
	unsigned number = number_of(device);

	if (number == 0)
		return INVALID_ARGUMENT;
	memset(pci, 0, sizeof(*pci));
	pci->bus = number;
	snprintf(pci->id, sizeof(pci->id), "00000000:%02X:00.0", number);
	return SUCCESS;
}

int nvmlDeviceGetUUID(void *device, char *text, unsigned size)
{
	unsigned number = number_of(device);

	if (number == 0)
		return INVALID_ARGUMENT;
	snprintf(text, size, "GPU-01234567-89ab-cdef-fedc-ba98765432%02x",
		 number);
	return SUCCESS;
}

int nvmlDeviceGetNvLinkState(void *device, unsigned link, int *state)
{
	if (number_of(device) == 0 || link >= fake.links)
		return INVALID_ARGUMENT;
	*state = link >= fake.down;
	return SUCCESS;
}

#ifndef BARE
int nvmlDeviceGetFieldValues(void *device, int count,
			     struct field_value *values)
{
	if (number_of(device) == 0)
		return INVALID_ARGUMENT;
	for (int i = 0; i < count; i++) {
		struct field_value *value = &values[i];

		value->type = UNSIGNED_INT;
		value->value.room = ~0ull;
		value->result = SUCCESS;
		if (value->field == FIELD_LINKS)
			value->value.number = fake.links;
		else if (value->field == FIELD_SPEED &&
			 value->scope < fake.links)
			value->value.number = fake.speed;
		else
			value->result = NOT_SUPPORTED;
	}
	return SUCCESS;
}
#endif

int nvmlDeviceGetP2PStatus(void *one, void *other, int capability, int *status)
{
	unsigned a = number_of(one), b = number_of(other);

	if (a == 0 || b == 0 || capability != P2P_NVLINK)
		return INVALID_ARGUMENT;
	*status = a == b || a == fake.apart || b == fake.apart ||
				  fake.links == 0 ?
			  P2P_NOT_SUPPORTED :
			  0;
	return SUCCESS;
}

struct clocks {
	unsigned held, mhz, most;
	unsigned long long reasons;
};

static int read_clocks(const void *device, struct clocks *clocks)
{
	const char *text = getenv("FAKE_CLOCKS");

	if (number_of(device) == 0)
		return INVALID_ARGUMENT;
	return text && sscanf(text, "%u %u %u %llu", &clocks->held, &clocks->mhz,
			      &clocks->most, &clocks->reasons) == 4 ?
		       SUCCESS :
		       NOT_SUPPORTED;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz)
{
	struct clocks clocks;
	int error = type == CLOCK_SM ? read_clocks(device, &clocks) :
				       INVALID_ARGUMENT;

	if (!error)
		*mhz = number_of(device) == clocks.held ? clocks.mhz :
							  clocks.most;
	return error;
}

int nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned *mhz)
{
	struct clocks clocks;
	int error = type == CLOCK_SM ? read_clocks(device, &clocks) :
				       INVALID_ARGUMENT;

	if (!error)
		*mhz = clocks.most;
	return error;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device,
					      unsigned long long *reasons)
{
	struct clocks clocks;
	int error = read_clocks(device, &clocks);

	if (!error)
		*reasons = number_of(device) == clocks.held ? clocks.reasons :
							      0;
	return error;
}
