/* SPDX-License-Identifier: MIT */
/* Channels of a segment. For all of the segment see abi.h. */
#ifndef NCCLSTAT_ABI_CHANNEL_H
#define NCCLSTAT_ABI_CHANNEL_H

#include <assert.h>
#include <stdint.h>

/* One channel × direction × peer, and the oldest unfinished step on it. When
 * the state changes, the time since `since` is added to the state being
 * exited. */
struct ncs_channel {
	uint64_t sequence;
	uint64_t key;       /* NCS_CHANNEL_KEY(); 0: not in use */
	uint64_t state;     /* enum ncs_channel_state */
	uint64_t since;     /* ticks at which the state was entered */
	uint64_t function;  /* of the operation in progress */
	uint64_t operation; /* number of the operation in progress; 0: none */
	uint64_t step;      /* number of the oldest unfinished step */
	uint64_t nsteps;    /* number of steps of its proxy operation */
	uint64_t operations_started; /* proxy operations */
	uint64_t operations_done;
	uint64_t steps_started;
	uint64_t steps_done;
	uint64_t bytes;        /* bytes moved */
	uint64_t size_unknown; /* steps whose size NCCL did not report */
	uint64_t reserved[2];
	uint64_t time[8]; /* ticks, by enum ncs_channel_state */
	uint64_t padding[8];
};

/* The key of a channel, never 0, and its parts. */
#define NCS_CHANNEL_KEY(channel, send, peer)                        \
	(UINT64_C(1) << 63 | (uint64_t)((send) != 0) << 48 |        \
	 (uint64_t)(uint8_t)(channel) << 32 | (uint64_t)(uint32_t)(peer))
#define NCS_CHANNEL_KEY_CHANNEL(key) ((uint8_t)((key) >> 32))
#define NCS_CHANNEL_KEY_SEND(key) ((key) >> 48 & 1)
#define NCS_CHANNEL_KEY_PEER(key) ((int32_t)(uint32_t)(key))

static_assert(sizeof(struct ncs_channel) == 256, "channel");

#endif
