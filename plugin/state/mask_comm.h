/* SPDX-License-Identifier: MIT */
/* A communicator's share of the activation mask (plugin/mask/mask.h), which is
 * part of struct ncs_comm. */
#ifndef NCS_PLUGIN_STATE_MASK_COMM_H
#define NCS_PLUGIN_STATE_MASK_COMM_H

#include <stdint.h>

/* Only API calls on the communicator change it, one after the other. */
struct ncs_mask_comm {
	uint64_t word;  /* address of NCCL's mask; 0 if not ours to change */
	uint64_t seed;  /* of the choice of calls; the same on all ranks */
	uint64_t calls; /* number of CollApi and P2pApi events */
	uint64_t windows_from; /* number of the first call that may be timed */
	/* Binary logarithm of the period, for sampled:auto. */
	uint64_t shift;
	uint64_t rated; /* ticks when the rate of calls was last measured */
	uint64_t rated_calls; /* `calls` at that time */
};

#endif
