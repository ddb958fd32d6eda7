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

/* An operation, from a Coll, P2p or CeColl event. */
struct ncs_operation_facts {
	uint64_t sequence_number; /* NCS_NO_SEQUENCE_NUMBER if it has none */
	uint64_t count;           /* number of elements */
	enum ncs_event event;     /* COLL or P2P */
	uint8_t function;
	uint8_t datatype;
	uint8_t algorithm;
	uint8_t protocol;
	uint8_t nchannels;
	int32_t peer;      /* peer or root */
	uint64_t user_tag; /* 0 if the application set none */
	uint32_t range;    /* number of the range it was called in; 0 if none */
	uint64_t stream;   /* CUDA stream it was called on, as in records */
	bool captured;     /* its call was captured into a CUDA graph */
};

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
 * and stores 0, if the size depends on the number of ranks and that is unknown:
 * `nranks` is not positive. */
static inline bool ncs_message_bytes(int32_t nranks, uint8_t function,
				     uint8_t datatype, uint64_t count,
				     uint64_t *bytes)
{
	*bytes = count * ncs_datatype_bytes(datatype);
	if (!ncs_function_size_has_ranks(function))
		return true;
	if (nranks <= 0) {
		*bytes = 0;
		return false;
	}
	*bytes *= (uint64_t)nranks;
	return true;
}

#endif
