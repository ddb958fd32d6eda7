/* SPDX-License-Identifier: MIT */
/* What the records of an operation's children tell of it: when its kernels ran,
 * when its first data were there, and whose data they are.
 *
 * Pure. Records come from shared memory and are not trusted: any value may be
 * in them.
 */
#ifndef NCS_ANALYSIS_RECORDS_CHILDREN_H
#define NCS_ANALYSIS_RECORDS_CHILDREN_H

#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/abi.h"

/* Zeros: nothing is known yet. */
struct ncs_children {
	/* The first kernel's start and the last one's end, by the GPU's own
	 * clock: the host is told of them when the proxy thread looks. */
	uint64_t gpu_start_ns;
	uint64_t gpu_stop_ns;
	/* When a sender first stopped to wait for its GPU, by the host's. */
	uint64_t data_ns;
	/* Of the channels and peers that it sends to, and receives from. */
	uint64_t sends;
	uint64_t receives;
};

/* Takes in the record of a child; leaves others alone. */
void ncs_children_take(struct ncs_children *children,
		       const struct ncs_clock *clock,
		       const struct ncs_record *record);

/* A rank's first data are its own in a ring, where it has a peer to send to and
 * another to receive from. In a tree, where it has both directions with each
 * peer, they may have waited for others'. */
bool ncs_children_sent_own_data(const struct ncs_children *children);

#endif
