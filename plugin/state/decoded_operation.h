/* SPDX-License-Identifier: MIT */
/* An operation as it starts, after decoding. */
#ifndef NCS_PLUGIN_STATE_DECODED_OPERATION_H
#define NCS_PLUGIN_STATE_DECODED_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/abi.h"

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

#endif
