/* SPDX-License-Identifier: MIT */
/* NCCL's descriptors after decoding: the same structs for all versions of the
 * API.
 *
 * plugin/events/decode.c fills them in; any floor above this one may read them.
 */
#ifndef NCS_PLUGIN_STATE_DECODED_H
#define NCS_PLUGIN_STATE_DECODED_H

#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/abi.h"
#include "plugin/nccl/nccl_names.h"
#include "plugin/state/comm.h"
#include "plugin/state/decoded_operation.h"

/* The communicator of an operation, which API 1-3 report with each one. */
struct ncs_decoded_comm {
	uint64_t id;      /* 0 if unknown */
	const char *name; /* NULL if unknown; NCCL's memory */
};

/* An API call of the application, from a CollApi or P2pApi event. */
struct ncs_decoded_call {
	uint64_t count;  /* number of elements */
	uint64_t stream; /* CUDA stream, as in records */
	int32_t root;    /* -1 if none */
	uint8_t function;
	uint8_t datatype;
	bool graph; /* true if the call was captured into a CUDA graph */
};

/* Stores the message size, as nccl-tests counts it, in *bytes. Returns false,
 * and stores 0, if the size depends on the number of ranks and that is
 * unknown. */
static inline bool ncs_message_bytes(const struct ncs_comm *comm,
				     uint8_t function, uint8_t datatype,
				     uint64_t count, uint64_t *bytes)
{
	*bytes = count * ncs_datatype_bytes(datatype);
	if (!ncs_function_size_has_ranks(function))
		return true;
	if (comm->nranks <= 0) {
		*bytes = 0;
		return false;
	}
	*bytes *= (uint64_t)comm->nranks;
	return true;
}

#endif
