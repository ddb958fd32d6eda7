/* SPDX-License-Identifier: MIT */
/* The latest values of what a rank, its channels and its functions do, one for
 * each look, for lines that show how they went.
 *
 * Memory: 128 bytes a channel and direction, 2 KiB a rank: about 5 MiB for 512
 * ranks of 32 channels both ways. Pure but for memory; a trace of zeros is
 * empty.
 */
#ifndef NCS_ANALYSIS_BASE_RECENT_VALUES_H
#define NCS_ANALYSIS_BASE_RECENT_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/reader.h"

#define NCS_RECENT_LENGTH 32

/* The value of look n is at n modulo the length. */
struct ncs_recent {
	float values[NCS_RECENT_LENGTH]; /* negative: unknown */
};

struct ncs_recent_channel {
	uint8_t channel;
	bool send;
	int32_t peer;
	struct ncs_recent rate; /* bytes per second */
};

struct ncs_recent_values {
	uint64_t count;        /* looks so far */
	struct ncs_recent rate; /* bytes per second, sent and received */
	struct ncs_recent busbw[NCS_FUNCTION_COUNT]; /* GB/s */
	struct ncs_recent_channel *channels; /* in the snapshot's order */
	size_t channel_count;
};

void ncs_recent_values_release(struct ncs_recent_values *traces);

/* Begins a look at these channels: all its values are unknown until they are
 * set. Channels that were there before keep theirs. 0 or -ENOMEM: the traces
 * are then empty. */
int ncs_recent_values_begin(struct ncs_recent_values *traces,
			    const struct ncs_snapshot *snapshot);

/* The value of the latest of `count` looks. */
void ncs_recent_set(struct ncs_recent *trace, uint64_t count, double value);
double ncs_recent_latest(const struct ncs_recent *trace, uint64_t count);

/* Whether any of its values is known. */
bool ncs_recent_is_known(const struct ncs_recent *trace, uint64_t count);

#endif
