/* SPDX-License-Identifier: MIT */
/* Ends of arrows that wait for their other end. Bounded: when there are too
 * many, those that wait get no arrow. */
#ifndef NCS_RECORD_EXPORT_OPEN_FLOWS_H
#define NCS_RECORD_EXPORT_OPEN_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NCS_OPEN_FLOWS_MAX (UINT32_C(1) << 22)

struct ncs_open_flow {
	uint64_t flow; /* 0: none */
	uint64_t at_ns;
	uint32_t track;
};

/* All zeros: none waits. */
struct ncs_open_flows {
	struct ncs_open_flow *slots; /* a hash table */
	uint32_t slot_count;
	uint32_t count;
};

/* True: the other end was there; it is taken out, into *other. Else this one
 * waits, or there is no memory for that. */
bool ncs_open_flows_join(struct ncs_open_flows *ends,
			 const struct ncs_open_flow *end,
			 struct ncs_open_flow *other);

void ncs_open_flows_release(struct ncs_open_flows *ends);

#endif
