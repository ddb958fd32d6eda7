/* SPDX-License-Identifier: MIT */
/* Numbers of sends and receives on their connections.
 *
 * NCCL gives them none, but matches them in order: the n-th Send of a rank to a
 * peer in a communicator belongs to the peer's n-th Recv from that rank. So both
 * ends count from the communicator's init, whatever becomes of the records. A
 * captured transfer is counted apart and gets no number: of a CUDA graph, one end
 * may report each replay and the other end the capture alone.
 *
 * Called by callbacks on several threads at the same time: no lock, no
 * allocation, no system call.
 */
#ifndef NCS_PLUGIN_STATE_TRANSFERS_H
#define NCS_PLUGIN_STATE_TRANSFERS_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/state/comm.h"

/* Places for connections, by peer and direction: for about 4,000 ranks of which
 * each sends to each. Communicators of fewer ranks use fewer. */
#define NCS_TRANSFER_PLACES 8192u

struct ncs_transfer_place {
	uint64_t key;   /* 0 if free; never changes once it is set */
	uint64_t count; /* transfers so far */
};

/* Prepares the counts of a communicator; `nranks` is not positive if it is not
 * known. At init, before it is published. */
void ncs_transfers_reset(struct ncs_comm *comm, int32_t nranks);

/* Counts a transfer and returns how many came before it on its connection;
 * NCS_NO_SEQUENCE_NUMBER if the connection has found no place. One that finds
 * none never will. */
uint64_t ncs_transfers_count(struct ncs_comm *comm, int32_t peer, bool send,
			     bool captured);

/* From now on transfers have no number: NCCL was not asked to report all. */
static inline void ncs_transfers_missed(struct ncs_comm *comm)
{
	ncs_store_relaxed(&comm->transfers_missed, 1);
}

/* Returns false if some of the communicator's transfers were not reported. */
static inline bool ncs_transfers_are_all(const struct ncs_comm *comm)
{
	return ncs_load_relaxed(&comm->transfers_missed) == 0;
}

#endif
