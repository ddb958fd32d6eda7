/* SPDX-License-Identifier: MIT */
/* The recent rates of a rank's channels, one value for each refresh: for
 * sparklines.
 *
 * Memory: 128 bytes for each channel and direction, or about 4 MiB for
 * 512 ranks of 32 channels. Pure except for memory. Start with
 * zeros.
 */
#ifndef NCS_ANALYSIS_BASE_RECENT_VALUES_H
#define NCS_ANALYSIS_BASE_RECENT_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/snapshot.h"

#define NCS_RECENT_LENGTH 32

/* The value of refresh n is at n modulo the length. */
struct ncs_recent {
	float values[NCS_RECENT_LENGTH]; /* negative if unknown */
};

struct ncs_recent_channel {
	uint8_t channel;
	bool send;
	int32_t peer;
	struct ncs_recent rate; /* bytes per second */
};

struct ncs_recent_values {
	uint64_t count; /* number of refreshes */
	struct ncs_recent_channel *channels; /* in the snapshot's order */
	size_t channel_count;
};

/* Frees the memory of the values, which are then empty. */
void ncs_recent_values_release(struct ncs_recent_values *traces);

/* Begins a refresh for the channels of a snapshot: all its values are unknown
 * until they are set. Channels that were there before keep their values.
 * Returns 0 or -ENOMEM; then the values are empty. */
int ncs_recent_values_begin(struct ncs_recent_values *traces,
			    const struct ncs_snapshot *snapshot);

/* Set and return the value of the latest of `count` refreshes. */
void ncs_recent_set(struct ncs_recent *trace, uint64_t count, double value);
double ncs_recent_latest(const struct ncs_recent *trace, uint64_t count);

/* Returns true if any value is known. */
bool ncs_recent_is_known(const struct ncs_recent *trace, uint64_t count);

#endif
