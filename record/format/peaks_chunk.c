/* SPDX-License-Identifier: MIT */
/* Peaks as the payload of a chunk; see peaks_chunk.h. */
#include "record/format/peaks_chunk.h"

#include <string.h>

size_t ncs_peaks_pack(const struct ncs_machine_peaks *peaks, char *payload)
{
	struct ncs_peaks_head head = {
		.network_mb_s = peaks->network_mb_s,
		.gpus = peaks->gpu_count,
		.gpu_bytes = sizeof(struct ncs_gpu_peak),
	};
	size_t gpus = head.gpus * sizeof(*peaks->gpus);

	memcpy(payload, &head, sizeof(head));
	memcpy(payload + sizeof(head), peaks->gpus, gpus);
	memcpy(payload + sizeof(head) + gpus, &peaks->ports,
	       sizeof(peaks->ports));
	return sizeof(head) + gpus + sizeof(peaks->ports);
}

bool ncs_peaks_unpack(const char *payload, size_t size,
		      struct ncs_machine_peaks *peaks)
{
	struct ncs_peaks_head head;
	size_t gpu_bytes;

	if (size < sizeof(head))
		return false;
	memcpy(&head, payload, sizeof(head));
	size -= sizeof(head);
	if (head.gpus > NCS_PEAK_GPUS_MAX ||
	    head.gpu_bytes < offsetof(struct ncs_gpu_peak, held_by) ||
	    (head.gpus > 0 && head.gpu_bytes > size / head.gpus))
		return false;
	*peaks = (struct ncs_machine_peaks){
		.network_mb_s = head.network_mb_s,
		.gpu_count = head.gpus,
	};
	payload += sizeof(head);
	gpu_bytes = head.gpu_bytes < sizeof(*peaks->gpus) ?
			    head.gpu_bytes :
			    sizeof(*peaks->gpus);
	for (uint32_t i = 0; i < head.gpus; i++) {
		memcpy(&peaks->gpus[i], payload, gpu_bytes);
		payload += head.gpu_bytes;
	}
	if (size - head.gpus * (size_t)head.gpu_bytes >= sizeof(peaks->ports))
		memcpy(&peaks->ports, payload, sizeof(peaks->ports));
	return true;
}
