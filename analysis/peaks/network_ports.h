/* SPDX-License-Identifier: MIT */
/* Peak bandwidth of this machine's network ports, as the kernel tells it.
 *
 * Reads /sys only; nothing is asked of a device.
 */
#ifndef NCS_ANALYSIS_PEAKS_NETWORK_PORTS_H
#define NCS_ANALYSIS_PEAKS_NETWORK_PORTS_H

/* Returns what all active ports for RDMA send together, or, without any, what
 * the fastest wired port sends, in GB/s (10^9 bytes per second); 0 if the kernel
 * does not tell. `sys` is the folder where sysfs is mounted: "/sys". */
double ncs_network_peak(const char *sys);

#endif
