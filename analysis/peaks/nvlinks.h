/* SPDX-License-Identifier: MIT */
/* The NVLinks, clocks and UUIDs of this machine's GPUs, as NVIDIA's management
 * library (NVML) tells of them.
 *
 * Only reads. Loading the library may take a second; a call may hang in the driver
 * while a GPU does.
 */
#ifndef NCS_ANALYSIS_PEAKS_NVLINKS_H
#define NCS_ANALYSIS_PEAKS_NVLINKS_H

#include "analysis/base/machine_peaks.h"

#define NCS_NVML_LIBRARY "libnvidia-ml.so.1"

struct ncs_nvml;

/* Loads and starts the library. Returns NULL if it is missing, lacks a function or
 * fails. `library` is its name, as for dlopen(3). ncs_nvml_close() accepts
 * NULL. */
struct ncs_nvml *ncs_nvml_open(const char *library);
void ncs_nvml_close(struct ncs_nvml *nvml);

/* Sets the GPUs in *peaks to those of this machine, in NVML's order: none if
 * `nvml` is NULL. The rest of *peaks stays. */
void ncs_nvlinks_read(struct ncs_nvml *nvml, struct ncs_machine_peaks *peaks);

/* Sets the clocks of these GPUs, which must be as ncs_nvlinks_read() has set
 * them. */
void ncs_clocks_read(const struct ncs_nvml *nvml,
		     struct ncs_machine_peaks *peaks);

#endif
