/* SPDX-License-Identifier: MIT */
/* Peak bandwidth of this machine's network ports, and what goes wrong on them, as
 * the kernel tells it.
 *
 * Reads /sys and /proc only; nothing is asked of a device.
 */
#ifndef NCS_ANALYSIS_PEAKS_NETWORK_PORTS_H
#define NCS_ANALYSIS_PEAKS_NETWORK_PORTS_H

#include "analysis/base/machine_peaks.h"

/* Returns what all active ports for RDMA send together, or, without any, what
 * the fastest wired port sends, in GB/s (10^9 bytes per second); 0 if the kernel
 * does not tell. `sys` is the folder where sysfs is mounted: "/sys". */
double ncs_network_peak(const char *sys);

/* Reads the counters of the machine's network, since its start; those that the
 * kernel does not tell are 0. `proc` is the folder where procfs is mounted. */
void ncs_network_count(const char *sys, const char *proc,
		       struct ncs_ports *counters);

#endif
