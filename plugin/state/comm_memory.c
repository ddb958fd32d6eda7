/* SPDX-License-Identifier: MIT */
/* Private memory of communicators; see comm_memory.h. */
#include "plugin/state/comm_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "plugin/state/channel.h"
#include "plugin/state/handle.h"
#include "plugin/state/lane.h"
#include "plugin/state/range_stack.h"
#include "plugin/state/registry.h"
#include "plugin/state/slots.h"
#include "plugin/state/transfers.h"

/* Offsets of the private arrays in one piece of memory, and its size. */
struct private_layout {
	size_t steps, ops, proxy_ops, queues, places, charged, spans;
	size_t transfers, bytes;
};

/* Adds an array; returns its offset. */
static size_t add(size_t *bytes, size_t count, size_t size)
{
	size_t offset = *bytes;

	*bytes += count * size;
	return offset;
}

static struct private_layout private_layout(const struct ncs_segment_size *size)
{
	struct private_layout layout = { 0 };
	size_t *bytes = &layout.bytes;

	layout.steps = add(bytes, NCS_PROXY_OP_MAX * NCS_STEP_MAX,
			   sizeof(struct ncs_step_slot));
	/* Steps are whole cache lines. */
	layout.ops =
		add(bytes, size->operations, sizeof(struct ncs_operation_slot));
	layout.proxy_ops =
		add(bytes, NCS_PROXY_OP_MAX, sizeof(struct ncs_proxy_op_slot));
	layout.queues =
		add(bytes, size->channels, sizeof(struct ncs_channel_queue));
	layout.places = add(bytes, ncs_channel_places(size->channels),
			    sizeof(uint64_t));
	layout.charged = add(bytes, size->channels, sizeof(uint64_t[8]));
	*bytes = (*bytes + 63) & ~(size_t)63;
	layout.spans = add(bytes, (size_t)NCS_LANE_MAX * NCS_SPAN_MAX,
			   sizeof(struct ncs_span_slot));
	layout.transfers = add(bytes, NCS_TRANSFER_PLACES,
			       sizeof(struct ncs_transfer_place));
	return layout;
}

static void *at(void *memory, uint64_t offset)
{
	return (char *)memory + offset;
}

int ncs_comm_map(struct ncs_comm *comm)
{
	struct private_layout layout = private_layout(&comm->size);
	void *memory = mmap(NULL, layout.bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	/* A fork meanwhile unmaps it. */
	comm->private_bytes = layout.bytes;
	comm->private_memory = memory;
	comm->steps = at(memory, layout.steps);
	comm->ops = at(memory, layout.ops);
	comm->proxy_ops = at(memory, layout.proxy_ops);
	comm->queues = at(memory, layout.queues);
	comm->channel_places = at(memory, layout.places);
	comm->charged = at(memory, layout.charged);
	comm->transfers = at(memory, layout.transfers);
	comm->transfer_places = 0;
	for (unsigned i = 0; i < NCS_LANE_MAX; i++)
		comm->lanes[i].spans =
			(struct ncs_span_slot *)at(memory, layout.spans) +
			(size_t)i * NCS_SPAN_MAX;
	return 0;
}

void ncs_comm_unmap(struct ncs_comm *comm)
{
	if (comm->private_memory)
		munmap(comm->private_memory, comm->private_bytes);
	comm->private_memory = NULL;
}

void ncs_comm_free_slots(struct ncs_comm *comm)
{
	for (uint32_t i = 0; i < comm->operation_count; i++) {
		comm->ops[i].tag += comm->ops[i].tag & 1;
		comm->ops[i].children = ncs_children_none(comm->ops[i].tag);
	}
	for (uint32_t i = 0; i < NCS_PROXY_OP_MAX; i++) {
		struct ncs_proxy_op_slot *op = &comm->proxy_ops[i];

		op->handle = ncs_handle_freed(op->handle);
		for (unsigned k = 0; op->steps && k < NCS_STEP_MAX; k++)
			op->steps[k].handle =
				ncs_handle_freed(op->steps[k].handle);
	}
	for (unsigned i = 0; i < NCS_LANE_MAX; i++) {
		struct ncs_lane_state *lane = &comm->lanes[i];

		for (unsigned k = 0; k < NCS_SPAN_MAX; k++)
			lane->spans[k].tag += lane->spans[k].tag & 1;
		lane->ctrl_tag += lane->ctrl_tag & 1;
	}
}

void ncs_comm_reset(struct ncs_comm *comm)
{
	for (uint32_t i = 0; i < comm->operation_count; i++)
		comm->ops[i].published = &comm->operations[i];
	for (uint32_t i = 0; i < comm->channel_count; i++)
		comm->queues[i] = (struct ncs_channel_queue){
			.channel = &comm->channels[i],
			.first = NCS_NONE,
			.last = NCS_NONE,
		};
	memset(comm->channel_places, 0,
	       ncs_channel_places(comm->channel_count) * sizeof(uint64_t));
	/* Before the first range the array is not used, and its memory stays
	 * untouched. */
	if (ncs_range_is_used())
		memset(comm->charged, 0,
		       comm->channel_count * sizeof(*comm->charged));
	comm->overflow_queue = (struct ncs_channel_queue){
		.channel = &comm->overflow_channel,
		.first = NCS_NONE,
		.last = NCS_NONE,
	};
	ncs_store_relaxed(&comm->mask, 0);
	ncs_store_relaxed(&comm->event_mask, 0);
	for (unsigned i = 0; i < NCS_PROXY_OP_FREE_WORDS; i++)
		comm->proxy_ops_free[i] = UINT64_MAX;
	comm->proxy_op_number = 0;
	comm->proxy_op_cursor = 0;
	comm->proxy_resting = NCS_PROXY_UNKNOWN;
	comm->identified = 0;
	memset(&comm->gpu, 0, sizeof(comm->gpu));
	comm->gpu_busy = 0;
	for (unsigned i = 0; i < NCS_FUNCTION_MAX; i++)
		comm->classes[i].key = NCS_CLASS_KEY(
			i, NCS_CLASS_OTHER, NCS_CLASS_OTHER, NCS_CLASS_OTHER);
	memset(comm->histogram_of, 0, sizeof(comm->histogram_of));
	ncs_lane_forget_claims(comm);
}

/* Returns an entry of a table of the segment. */
static void *entry_of(const struct ncs_comm *comm,
		      const struct ncs_table *table, uint32_t place)
{
	return at(comm->header, table->offset + (size_t)place * table->stride);
}

static struct ncs_ring_producer ring_of(const struct ncs_comm *comm,
					const struct ncs_table *rings,
					uint32_t place, uint64_t records)
{
	struct ncs_ring *ring = entry_of(comm, rings, place);

	return (struct ncs_ring_producer){
		.ring = ring,
		.records = (struct ncs_record *)(ring + 1),
		.mask = records - 1,
	};
}

/* Points a lane to its call lane, if it has one. */
static void bind_calls(struct ncs_comm *comm, uint32_t index,
		       const struct ncs_header *layout)
{
	struct ncs_lane_state *lane = &comm->lanes[index];
	uint32_t place = comm->lane_count + index - 1;

	lane->call_lane = NULL;
	lane->calls.ring = NULL;
	if (index == 0 || index > layout->call_rings.count)
		return;
	lane->call_lane = entry_of(comm, &layout->lanes, place);
	lane->calls = ring_of(comm, &layout->call_rings, index - 1,
			      layout->call_ring_records);
	lane->short_ring =
		ring_of(comm, &layout->rings, place, layout->ring_records);
}

/* Points a lane to its counters and its ring. A lane that the segment has no
 * room for stands for the shared one. */
static void bind_lane(struct ncs_comm *comm, uint32_t index,
		      const struct ncs_header *layout)
{
	struct ncs_lane_state *lane = &comm->lanes[index];
	uint32_t place = index < comm->lane_count ? index : 0;

	lane->published = entry_of(comm, &layout->lanes, place);
	lane->ring = ring_of(comm, &layout->rings, place, layout->ring_records);
	bind_calls(comm, index, layout);
	lane->ring_busy = 0;
	lane->stream = 0;
	lane->stream_age = 0;
	lane->class_index = 0;
	lane->span_hint = 0;
	lane->index = (uint16_t)place;
	lane->span_handle = (uint32_t)ncs_handle_encode(
		NCS_HANDLE_SPAN, (unsigned)(comm - ncs_registry.comms), 0,
		place, 0);
	lane->launched = 0;
	lane->launch_number = 0;
	lane->launch_slot = NULL;
	lane->call_handle = lane->call_group = 0;
	lane->names = (struct ncs_known_names){ 0 };
	lane->shared = place == 0;
}

void ncs_comm_bind(struct ncs_comm *comm)
{
	const struct ncs_segment_size *size = &comm->size;
	struct ncs_header layout = { 0 };

	ncs_segment_lay_out(&layout, size);
	comm->channels = entry_of(comm, &layout.channels, 0);
	comm->operations = entry_of(comm, &layout.operations, 0);
	comm->classes = entry_of(comm, &layout.classes, 0);
	comm->histograms = entry_of(comm, &layout.histograms, 0);
	comm->ranges = entry_of(comm, &layout.ranges, 0);
	comm->range_histograms = entry_of(comm, &layout.range_histograms, 0);
	comm->range_count = size->ranges;
	comm->range_histogram_count = size->range_histograms;
	comm->channel_count = size->channels;
	comm->operation_count = size->operations;
	comm->class_count = size->classes;
	comm->histogram_count = size->histograms;
	comm->lane_count = size->lanes;
	for (uint32_t i = 0; i < NCS_LANE_MAX; i++)
		bind_lane(comm, i, &layout);
}
