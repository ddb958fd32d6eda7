/* SPDX-License-Identifier: MIT */
/* A hash table with open addressing and linear probing; see trace_format.h. */
#include "record/export/trace_format.h"

#include <stdlib.h>
#include <string.h>

void ncs_open_flows_release(struct ncs_open_flows *flows)
{
	free(flows->slots);
	*flows = (struct ncs_open_flows){ 0 };
}

/* Returns the first slot to search. The flow itself is a hash. */
static uint32_t home_of(const struct ncs_open_flows *flows, uint64_t flow)
{
	return (uint32_t)(flow >> 16) & (flows->slot_count - 1);
}

static struct ncs_open_flow *slot_of(const struct ncs_open_flows *flows,
				     uint64_t flow)
{
	uint32_t i = home_of(flows, flow);

	while (flows->slots[i].flow != 0 && flows->slots[i].flow != flow)
		i = (i + 1) & (flows->slot_count - 1);
	return &flows->slots[i];
}

static bool grow(struct ncs_open_flows *flows)
{
	struct ncs_open_flows more = {
		.slot_count = flows->slot_count ? 2 * flows->slot_count : 1024,
		.count = flows->count,
	};

	more.slots = calloc(more.slot_count, sizeof(*more.slots));
	if (!more.slots)
		return false;
	for (uint32_t i = 0; i < flows->slot_count; i++)
		if (flows->slots[i].flow != 0)
			*slot_of(&more, flows->slots[i].flow) = flows->slots[i];
	free(flows->slots);
	*flows = more;
	return true;
}

static bool make_room(struct ncs_open_flows *flows)
{
	if (flows->count >= NCS_OPEN_FLOWS_MAX) {
		memset(flows->slots, 0,
		       flows->slot_count * sizeof(*flows->slots));
		flows->count = 0;
	}
	return 2 * flows->count < flows->slot_count || grow(flows);
}

/* Frees a slot. Moves back those following ends that a search would no longer
 * find, since it stops at a free slot. */
static void empty(struct ncs_open_flows *flows, struct ncs_open_flow *slot)
{
	uint32_t mask = flows->slot_count - 1;
	uint32_t hole = (uint32_t)(slot - flows->slots);

	for (uint32_t i = (hole + 1) & mask; flows->slots[i].flow != 0;
	     i = (i + 1) & mask) {
		uint32_t home = home_of(flows, flows->slots[i].flow);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		flows->slots[hole] = flows->slots[i];
		hole = i;
	}
	flows->slots[hole].flow = 0;
	flows->count--;
}

bool ncs_open_flows_join(struct ncs_open_flows *flows,
			 const struct ncs_open_flow *end,
			 struct ncs_open_flow *other)
{
	struct ncs_open_flow *slot;

	if (!make_room(flows))
		return false;
	slot = slot_of(flows, end->flow);
	if (slot->flow == 0) {
		*slot = *end;
		flows->count++;
		return false;
	}
	*other = *slot;
	empty(flows, slot);
	return true;
}
