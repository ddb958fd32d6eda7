/* SPDX-License-Identifier: MIT */
/* Readings of a GPU's clock, and the conversion of its times to the host's.
 *
 * Some snapshots have a new reading: a GPU time between two times of the host
 * (ncclstat/abi_header.h). Between two readings the clock is assumed to run evenly;
 * before the first and after the last one it runs as it did next to them.
 * Memory is bounded. Pure.
 */
#ifndef NCS_ANALYSIS_RECORDS_GPU_READINGS_H
#define NCS_ANALYSIS_RECORDS_GPU_READINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/snapshot.h"

/* The largest number of readings. When it is reached, every second one is
 * dropped. */
#define NCS_GPU_READINGS_MAX 4096u

/* The time of one event by both clocks. */
struct ncs_gpu_reading {
	uint64_t gpu_ns;   /* time by the GPU's clock */
	uint64_t host_ns;  /* the same time by the host's clock */
	uint64_t error_ns; /* largest error of host_ns */
};

/* The readings of one GPU. A struct of zeros is empty. */
struct ncs_gpu_readings {
	struct ncs_gpu_reading *readings; /* by time of both clocks */
	size_t count, capacity;
};

/* Adds the reading of a snapshot, in order of time; ignores it if it is unknown
 * or not newer than the last one. If the clock has jumped, drops all earlier
 * readings first. Returns 0 or -ENOMEM. */
int ncs_gpu_readings_add(struct ncs_gpu_readings *readings,
			 const struct ncs_gpu_clock_view *clock);

/* Releases all readings; the struct is then empty. */
void ncs_gpu_readings_release(struct ncs_gpu_readings *readings);

/* Converts a time of the GPU's clock to the host's clock. *error_ns is the
 * largest error of the result. Returns false if there is no reading. */
bool ncs_gpu_readings_find(const struct ncs_gpu_readings *readings,
			   uint64_t gpu_ns, uint64_t *host_ns,
			   uint64_t *error_ns);

#endif
