/* SPDX-License-Identifier: MIT */
/* Ends of arrows that wait for their other end. Bounded: if there are too many,
 * all waiting ends are dropped and get no arrow. Not thread-safe. */
#ifndef NCS_RECORD_EXPORT_OPEN_FLOWS_H
#define NCS_RECORD_EXPORT_OPEN_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Largest number of waiting ends. */
#define NCS_OPEN_FLOWS_MAX (UINT32_C(1) << 22)

struct ncs_open_flow {
	uint64_t flow; /* the arrow's number, a hash; 0 if the slot is free */
	uint64_t at_ns;
	uint32_t track;
};

/* A struct of zeros is empty.
 *
 * Deliberately a hash table of its own, with open addressing, rather than
 * ncs_hash_table: an export of a large recording inserts and removes more than
 * 100 million ends, and this needs neither an allocation nor a pointer for
 * each.
 */
struct ncs_open_flows {
	struct ncs_open_flow *slots;
	uint32_t slot_count; /* 0, or a power of two */
	uint32_t count;
};

/* Returns true if the other end of the arrow was waiting, and moves it into
 * *other. Otherwise this end waits, or is dropped if there is no memory. */
bool ncs_open_flows_join(struct ncs_open_flows *flows,
			 const struct ncs_open_flow *end,
			 struct ncs_open_flow *other);

/* Drops all waiting ends, and frees their memory. */
void ncs_open_flows_release(struct ncs_open_flows *flows);

#endif
