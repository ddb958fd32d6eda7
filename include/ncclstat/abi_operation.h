/* SPDX-License-Identifier: MIT */
/* Operations in flight in a segment. For all of the segment see abi.h. */
#ifndef NCCLSTAT_ABI_OPERATION_H
#define NCCLSTAT_ABI_OPERATION_H

#include <assert.h>
#include <stdint.h>

/* A slot for a collective or point-to-point operation in flight. `number` is
 * its lock: 0 while the slot is empty or being filled in, and never the same
 * value for two operations. Fields from `enqueued` on change while the number
 * stays. */
struct ncs_operation {
	uint64_t number;          /* in its communicator and process, from 1 */
	uint64_t start;           /* ticks */
	uint64_t sequence_number; /* of the function; NCS_NO_SEQUENCE_NUMBER */
	uint64_t bytes;           /* message size as nccl-tests counts it */
	uint64_t count;           /* elements, as NCCL passed it */
	uint8_t event;            /* NCS_EVENT_COLL or NCS_EVENT_P2P */
	uint8_t function;
	uint8_t datatype;
	uint8_t algorithm;
	uint8_t protocol;
	uint8_t nchannels;
	uint8_t flags; /* enum ncs_record_flag */
	uint8_t reserved_byte;
	int32_t peer; /* peer or root */
	uint32_t range;           /* in which it was called; 0: none */
	uint64_t enqueued;        /* ticks of NCCL's stopEvent; 0: not yet */
	uint64_t children_started; /* number of proxy operations and kernel
				      channels; at most 16777215 */
	uint64_t children_done;
	uint64_t first_child;     /* ticks at which the first child started */
	uint64_t last_child_done; /* ticks at which the latest child ended */
	uint64_t user_tag; /* set by the application, API 7 on; 0: none */
	uint64_t launch; /* number of its launch; 0: unknown, or captured */
	uint64_t reserved[2];
};

static_assert(sizeof(struct ncs_operation) == 128, "operation");

#endif
