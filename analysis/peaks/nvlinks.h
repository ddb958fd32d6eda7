/* SPDX-License-Identifier: MIT */
/* The NVLinks of this machine's GPUs, as NVIDIA's management library (NVML)
 * tells of them.
 *
 * Only reads, and loads the library only for the time of a call: a machine
 * without it has no NVLinks. Loading it may take a second; a call may hang in
 * the driver while a GPU does.
 */
#ifndef NCS_ANALYSIS_PEAKS_NVLINKS_H
#define NCS_ANALYSIS_PEAKS_NVLINKS_H

#include "analysis/base/machine_peaks.h"

#define NCS_NVML_LIBRARY "libnvidia-ml.so.1"

/* Sets the GPUs in *peaks to those of this machine, in NVML's order: none if the
 * library is missing, lacks a function or fails. The rest of *peaks stays.
 * `library` is the library's name, as for dlopen(3). */
void ncs_nvlinks_read(const char *library, struct ncs_machine_peaks *peaks);

#endif
