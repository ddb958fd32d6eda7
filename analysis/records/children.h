/* SPDX-License-Identifier: MIT */
/* The facts about an operation that its children's records show: when its
 * kernels ran, when its first data were ready, and whose data they were.
 *
 * Pure. Records come from shared memory and may have any value.
 */
#ifndef NCS_ANALYSIS_RECORDS_CHILDREN_H
#define NCS_ANALYSIS_RECORDS_CHILDREN_H

#include <stdbool.h>
#include <stdint.h>

struct ncs_clock;  /* ncclstat/abi_clock.h */
struct ncs_record; /* ncclstat/record.h */

/* All zeros if nothing is known yet. */
struct ncs_children {
	/* Start of the first kernel and end of the last one, by the GPU's own
	 * clock: the host only learns of them when the proxy thread polls. */
	uint64_t gpu_start_ns;
	uint64_t gpu_stop_ns;
	/* Start of the first proxy operation and end of the last one, by the
	 * host's clock. */
	uint64_t proxy_start_ns;
	uint64_t proxy_stop_ns;
	/* The end of a sender's first wait for its GPU, by the host's clock. */
	uint64_t data_ns;
	/* The latest time at which data came to the rank, as its proxy thread
	 * saw before its kernel could take them; and, where no step tells that,
	 * the end of the last proxy operation that received. */
	uint64_t came_ns;
	uint64_t receive_stop_ns;
	/* Hashes of the sets of channels and peers that it sends to and
	 * receives from. */
	uint64_t sends;
	uint64_t receives;
};

/* Takes the record of a child; ignores other records, and those of an operation
 * that turned out to be slow, whose first ones are missing. */
void ncs_children_take(struct ncs_children *children,
		       const struct ncs_clock *clock,
		       const struct ncs_record *record);

/* Returns whether the channels of the kernels stopped before data came, the last
 * of them at `stop_ns` by the host's clock, `error_ns` more or less: then they do
 * not tell when the kernels ended. With the TREE algorithm, NCCL's channels stop
 * one by one. */
bool ncs_children_came_later(const struct ncs_children *children,
			     uint64_t stop_ns, uint64_t error_ns);

/* Returns true if the first data that the rank sent were its own. This is so in
 * a ring, where a rank sends to one peer and receives from another. In a tree,
 * where a rank sends to and receives from each peer, it may have waited for the
 * data of others first. */
bool ncs_children_sent_own_data(const struct ncs_children *children);

#endif
