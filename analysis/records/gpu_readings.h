/* SPDX-License-Identifier: MIT */
/* Readings of a GPU's clock, and the conversion of its times to the host's.
 *
 * Snapshots have a reading now and then, each between two bounds
 * (ncclstat/abi.h). Between two readings the clock is taken to run evenly;
 * before the first and after the last one it runs as it did next to them.
 * Memory is bounded. Pure.
 */
#ifndef NCS_ANALYSIS_RECORDS_GPU_READINGS_H
#define NCS_ANALYSIS_RECORDS_GPU_READINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/reader.h"

/* The most readings: then every second one is dropped. */
#define NCS_GPU_READINGS_MAX 4096u

struct ncs_gpu_reading {
	uint64_t gpu_ns;   /* time by the GPU's clock */
	uint64_t host_ns;  /* the same time by the host's clock */
	uint64_t error_ns; /* how far this is off at most */
};

/* Start with {0}. */
struct ncs_gpu_readings {
	struct ncs_gpu_reading *readings; /* by time of both clocks */
	size_t count, capacity;
};

/* Adds the reading of a snapshot, in order of time; ignores it if it is unknown
 * or not newer than the last one. Begins anew if the clock has jumped. Returns
 * 0 or -ENOMEM. */
int ncs_gpu_readings_add(struct ncs_gpu_readings *readings,
			 const struct ncs_gpu_clock_view *clock);

/* Frees the memory of the readings, of which none are left. */
void ncs_gpu_readings_release(struct ncs_gpu_readings *readings);

/* Converts a time of the GPU's clock to the host's clock, and says how far it
 * is off at most. Returns false if there is no reading. */
bool ncs_gpu_readings_find(const struct ncs_gpu_readings *readings,
			   uint64_t gpu_ns, uint64_t *host_ns,
			   uint64_t *error_ns);

#endif
