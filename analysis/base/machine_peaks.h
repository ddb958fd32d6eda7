/* SPDX-License-Identifier: MIT */
/* The most that the links of a machine carry: its network ports together, and
 * the NVLinks of each of its GPUs; and what holds its GPUs and ports below what
 * they can do. Types, and what one rank has of them. Pure.
 */
#ifndef NCS_ANALYSIS_BASE_MACHINE_PEAKS_H
#define NCS_ANALYSIS_BASE_MACHINE_PEAKS_H

#include <stddef.h>
#include <stdint.h>

#include "ncclstat/tables/clock_reasons.def"

struct ncs_identity; /* ncclstat/abi_identity.h */

/* All reasons for which a clock is held down. */
enum {
#define X(ID, bit, words) +bit
	NCS_CLOCK_HELD = 0 NCS_CLOCK_REASONS(X)
#undef X
};

/* The most GPUs of a machine: one for each bit of a set. */
#define NCS_PEAK_GPUS_MAX 64u

#define NCS_NO_PCI_ADDRESS UINT64_MAX

/* The network of a machine, since the reading before. It is in recordings as it is
 * here, as is a GPU: members are only added. */
struct ncs_ports {
	uint64_t sent, resent; /* TCP segments; those that were sent again */
	uint64_t errors;       /* of ports for RDMA */
	uint64_t ports, down;  /* for RDMA; those that are not active */
};

struct ncs_gpu_peak {
	uint64_t pci; /* as of ncs_pci_address(); NCS_NO_PCI_ADDRESS: unknown */
	/* Megabytes (10^6) per second that its active NVLinks send together,
	 * and as many receive; 0: it has none. */
	uint64_t nvlink_mb_s;
	/* The GPUs that it reaches by NVLink, as bits by their place in this
	 * list. */
	uint64_t reach;
	/* Why its clock is held down, a set of bits of clock_reasons.def. */
	uint64_t held_by;
	uint32_t clock_mhz, clock_most_mhz; /* 0: not known */
	uint64_t uuid[2]; /* the first digits first; zeros: not known */
};

/* All zeros: nothing is known. */
struct ncs_machine_peaks {
	/* Megabytes per second that its network ports send together; 0: not
	 * known. */
	uint64_t network_mb_s;
	struct ncs_ports ports;
	uint32_t gpu_count;
	struct ncs_gpu_peak gpus[NCS_PEAK_GPUS_MAX];
};

/* The peaks of a rank, taken from those of its machine. */
struct ncs_rank_peaks {
	uint64_t network_mb_s; /* 0: not known */
	uint64_t nvlink_mb_s;  /* of its GPU; 0: none, or not known */
	uint64_t own;   /* its GPU's bit; 0: not known */
	uint64_t reach; /* the GPUs that its GPU reaches by NVLink */
	uint64_t held_by; /* as of its GPU */
	uint32_t clock_mhz, clock_most_mhz;
	uint64_t uuid[2];
	struct ncs_ports ports;
};

/* Returns the number of a PCI function: domain, bus (8 bits), device (5 bits),
 * function (3 bits). */
uint64_t ncs_pci_address(unsigned domain, unsigned bus, unsigned device,
			 unsigned function);

/* Returns what a rank has. `peaks` may be NULL: nothing is known. */
struct ncs_rank_peaks
ncs_machine_peaks_of_rank(const struct ncs_machine_peaks *peaks,
			  const struct ncs_identity *identity);

/* The longest text of a UUID, with its end. */
#define NCS_GPU_UUID_BYTES 41u

/* Reads "GPU-01234567-89ab-cdef-0123-456789abcdef"; anything else is zeros. */
void ncs_gpu_uuid_read(const char *text, uint64_t uuid[2]);

/* Writes a UUID as NVML has it; "" if it is not known. */
void ncs_gpu_uuid_write(const uint64_t uuid[2], char text[NCS_GPU_UUID_BYTES]);

#endif
