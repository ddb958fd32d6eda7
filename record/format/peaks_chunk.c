/* SPDX-License-Identifier: MIT */
/* Peaks as the payload of a chunk; see peaks_chunk.h. */
#include "record/format/peaks_chunk.h"

#include <string.h>

size_t ncs_peaks_pack(const struct ncs_machine_peaks *peaks, char *payload)
{
	struct ncs_peaks_head head = {
		.network_mb_s = peaks->network_mb_s,
		.gpus = peaks->gpu_count,
		.gpu_bytes = sizeof(struct ncs_peaks_gpu),
	};
	size_t size = sizeof(head);

	memcpy(payload, &head, sizeof(head));
	for (uint32_t i = 0; i < peaks->gpu_count; i++) {
		struct ncs_peaks_gpu gpu = {
			.pci = peaks->gpus[i].pci,
			.nvlink_mb_s = peaks->gpus[i].nvlink_mb_s,
			.nvlink_reach = peaks->gpus[i].reach,
		};

		memcpy(payload + size, &gpu, sizeof(gpu));
		size += sizeof(gpu);
	}
	return size;
}

bool ncs_peaks_unpack(const char *payload, size_t size,
		      struct ncs_machine_peaks *peaks)
{
	struct ncs_peaks_head head;
	struct ncs_peaks_gpu gpu;

	if (size < sizeof(head))
		return false;
	memcpy(&head, payload, sizeof(head));
	size -= sizeof(head);
	if (head.gpus > NCS_PEAK_GPUS_MAX || head.gpu_bytes < sizeof(gpu) ||
	    (head.gpus > 0 && head.gpu_bytes > size / head.gpus))
		return false;
	*peaks = (struct ncs_machine_peaks){
		.network_mb_s = head.network_mb_s,
		.gpu_count = head.gpus,
	};
	payload += sizeof(head);
	for (uint32_t i = 0; i < head.gpus; i++) {
		memcpy(&gpu, payload, sizeof(gpu));
		payload += head.gpu_bytes;
		peaks->gpus[i] = (struct ncs_gpu_peak){
			.pci = gpu.pci,
			.nvlink_mb_s = gpu.nvlink_mb_s,
			.reach = gpu.nvlink_reach,
		};
	}
	return true;
}
