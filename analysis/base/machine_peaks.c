/* SPDX-License-Identifier: MIT */
/* Finds a rank's GPU among those of its machine; see machine_peaks.h. */
#include "analysis/base/machine_peaks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ncclstat/abi_identity.h"

uint64_t ncs_pci_address(unsigned domain, unsigned bus, unsigned device,
			 unsigned function)
{
	return (uint64_t)domain << 16 | (uint64_t)(bus & 0xff) << 8 |
	       (device & 0x1f) << 3 | (function & 7);
}

/* Reads "0000:8D:00.0", which is "00000000:8d:00.0", too. */
static uint64_t read_address(const char *text)
{
	unsigned domain, bus, device, function = 0;

	if (sscanf(text, "%8x:%2x:%2x.%1x", &domain, &bus, &device,
		   &function) < 3)
		return NCS_NO_PCI_ADDRESS;
	return ncs_pci_address(domain, bus, device, function);
}

struct ncs_rank_peaks
ncs_machine_peaks_of_rank(const struct ncs_machine_peaks *peaks,
			  const struct ncs_identity *identity)
{
	struct ncs_rank_peaks found = { 0 };
	uint64_t pci;

	if (!peaks)
		return found;
	found.network_mb_s = peaks->network_mb_s;
	found.ports = peaks->ports;
	pci = identity->known & NCS_KNOWN_GPU ? read_address(identity->gpu) :
						NCS_NO_PCI_ADDRESS;
	if (pci == NCS_NO_PCI_ADDRESS)
		return found;
	for (uint32_t i = 0; i < peaks->gpu_count; i++) {
		const struct ncs_gpu_peak *peak = &peaks->gpus[i];

		if (peak->pci != pci)
			continue;
		found.nvlink_mb_s = peak->nvlink_mb_s;
		found.own = UINT64_C(1) << i;
		found.reach = peak->reach;
		found.held_by = peak->held_by;
		found.clock_mhz = peak->clock_mhz;
		found.clock_most_mhz = peak->clock_most_mhz;
		memcpy(found.uuid, peak->uuid, sizeof(found.uuid));
	}
	return found;
}

void ncs_gpu_uuid_read(const char *text, uint64_t uuid[2])
{
	uint64_t part[5];

	uuid[0] = uuid[1] = 0;
	if (sscanf(text,
		   "GPU-%8" SCNx64 "-%4" SCNx64 "-%4" SCNx64 "-%4" SCNx64
		   "-%12" SCNx64,
		   &part[0], &part[1], &part[2], &part[3], &part[4]) != 5)
		return;
	uuid[0] = part[0] << 32 | part[1] << 16 | part[2];
	uuid[1] = part[3] << 48 | part[4];
}

void ncs_gpu_uuid_write(const uint64_t uuid[2], char text[NCS_GPU_UUID_BYTES])
{
	text[0] = '\0';
	if (uuid[0] == 0 && uuid[1] == 0)
		return;
	snprintf(text, NCS_GPU_UUID_BYTES,
		 "GPU-%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64
		 "-%012" PRIx64,
		 uuid[0] >> 32, uuid[0] >> 16 & 0xffff, uuid[0] & 0xffff,
		 uuid[1] >> 48, uuid[1] & 0xffffffffffff);
}
