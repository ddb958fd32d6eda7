/* SPDX-License-Identifier: MIT */
/* A hash table of ends of arrows; see open_flows.h. */
#include "record/export/open_flows.h"

#include <stdlib.h>
#include <string.h>

void ncs_open_flows_release(struct ncs_open_flows *ends)
{
	free(ends->slots);
	*ends = (struct ncs_open_flows){ 0 };
}

/* Flows are hashes already. */
static uint32_t home_of(const struct ncs_open_flows *ends, uint64_t flow)
{
	return (uint32_t)(flow >> 16) & (ends->slot_count - 1);
}

static struct ncs_open_flow *slot_of(const struct ncs_open_flows *ends,
				     uint64_t flow)
{
	uint32_t i = home_of(ends, flow);

	while (ends->slots[i].flow != 0 && ends->slots[i].flow != flow)
		i = (i + 1) & (ends->slot_count - 1);
	return &ends->slots[i];
}

static bool grow(struct ncs_open_flows *ends)
{
	struct ncs_open_flows more = {
		.slot_count = ends->slot_count ? 2 * ends->slot_count : 1024,
		.count = ends->count,
	};

	more.slots = calloc(more.slot_count, sizeof(*more.slots));
	if (!more.slots)
		return false;
	for (uint32_t i = 0; i < ends->slot_count; i++)
		if (ends->slots[i].flow != 0)
			*slot_of(&more, ends->slots[i].flow) = ends->slots[i];
	free(ends->slots);
	*ends = more;
	return true;
}

static bool make_room(struct ncs_open_flows *ends)
{
	if (ends->count >= NCS_OPEN_FLOWS_MAX) {
		memset(ends->slots, 0, ends->slot_count * sizeof(*ends->slots));
		ends->count = 0;
	}
	return 2 * ends->count < ends->slot_count || grow(ends);
}

/* Moves up what would not be found behind an empty slot. */
static void empty(struct ncs_open_flows *ends, struct ncs_open_flow *slot)
{
	uint32_t mask = ends->slot_count - 1;
	uint32_t hole = (uint32_t)(slot - ends->slots);

	for (uint32_t i = (hole + 1) & mask; ends->slots[i].flow != 0;
	     i = (i + 1) & mask) {
		uint32_t home = home_of(ends, ends->slots[i].flow);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		ends->slots[hole] = ends->slots[i];
		hole = i;
	}
	ends->slots[hole].flow = 0;
	ends->count--;
}

bool ncs_open_flows_join(struct ncs_open_flows *ends,
			 const struct ncs_open_flow *end,
			 struct ncs_open_flow *other)
{
	struct ncs_open_flow *slot;

	if (!make_room(ends))
		return false;
	slot = slot_of(ends, end->flow);
	if (slot->flow == 0) {
		*slot = *end;
		ends->count++;
		return false;
	}
	*other = *slot;
	empty(ends, slot);
	return true;
}
