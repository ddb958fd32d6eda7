/* SPDX-License-Identifier: MIT */
/* The payload of a chunk NCS_CHUNK_PEAKS: a machine's peaks as bytes, and back.
 * Pure. */
#ifndef NCS_RECORD_FORMAT_PEAKS_CHUNK_H
#define NCS_RECORD_FORMAT_PEAKS_CHUNK_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/base/machine_peaks.h"
#include "record/format/file_format.h"

#define NCS_PEAKS_BYTES_MAX \
	(sizeof(struct ncs_peaks_head) + sizeof(struct ncs_ports) + \
	 NCS_PEAK_GPUS_MAX * sizeof(struct ncs_gpu_peak))

/* Writes the payload, NCS_PEAKS_BYTES_MAX at most; returns its length. */
size_t ncs_peaks_pack(const struct ncs_machine_peaks *peaks, char *payload);

/* Reads a payload, which may be anybody's. Returns false, and leaves *peaks as it
 * is, if it makes no sense. */
bool ncs_peaks_unpack(const char *payload, size_t size,
		      struct ncs_machine_peaks *peaks);

#endif
