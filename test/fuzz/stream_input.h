/* SPDX-License-Identifier: MIT */
/* The test of a hostile stream: feed it to a fleet in pieces, look at its ranks,
 * and pack the looks that are taken, as an agent of agents does. Shared by the
 * fuzzer and by the deterministic test of the unit tests. It aborts if a promise
 * of fleet/head/fleet.h is broken; sanitizers find the rest. */
#ifndef NCS_TEST_FUZZ_STREAM_INPUT_H
#define NCS_TEST_FUZZ_STREAM_INPUT_H

#include <stdlib.h>
#include <string.h>

#include "fleet/head/fleet.h"
#include "fleet/stream/look_pack.h"
#include "shm/array.h"
#include "test/fuzz/recording_input.h"

/* Makes the looks of damaged streams whole: sets the number of chunks and bytes
 * that each says. Call it before recording_input_seal(). */
static inline void stream_input_count(uint8_t *data, size_t size)
{
	struct ncs_chunk chunk;
	uint64_t chunks = 0;
	size_t begun = 0, at = 0;

	while (at + sizeof(chunk) <= size) {
		memcpy(&chunk, data + at, sizeof(chunk));
		if (chunk.magic != NCS_CHUNK_MAGIC ||
		    chunk.bytes > size - at - sizeof(chunk))
			return;
		if (chunk.type == NCS_CHUNK_LOOK &&
		    chunk.bytes >= sizeof(struct ncs_look)) {
			struct ncs_look look;

			memcpy(&look, data + at + sizeof(chunk), sizeof(look));
			look.chunks = chunks;
			look.bytes = at - begun;
			memcpy(data + at + sizeof(chunk), &look, sizeof(look));
			begun = at + ncs_chunk_file_bytes(&chunk);
			chunks = 0;
		} else {
			chunks++;
		}
		at += ncs_chunk_file_bytes(&chunk);
	}
}

static inline void stream_input_look(struct ncs_source *source, uint64_t now_ns)
{
	const struct ncs_node *nodes;
	struct ncs_sample sample;
	char why[64];

	SEGMENT_INPUT_MUST(source->begin(source, now_ns, why, sizeof(why)) ==
			   0);
	SEGMENT_INPUT_MUST(source->nodes(source, &nodes) == 1);
	SEGMENT_INPUT_MUST(nodes[0].state < NCS_NODE_STATE_COUNT);
	SEGMENT_INPUT_MUST(memchr(nodes[0].why, 0, sizeof(nodes[0].why)));
	while (source->next(source, &sample)) {
		SEGMENT_INPUT_MUST(sample.id != NULL);
		if (sample.attach != NCS_ATTACHED) {
			SEGMENT_INPUT_MUST(sample.why != NULL);
			continue;
		}
		if (sample.snapshot || source->complete(source, &sample))
			segment_input_check(sample.snapshot, sample.header);
	}
}

/* Packs the looks that a fleet passes on, as an agent of agents does. */
struct stream_input_relay {
	struct ncs_look_packer *packer;
	struct ncs_sink_memory packed;
};

static inline void stream_input_pass(void *context, size_t node,
				     const void *bytes, size_t size, size_t end)
{
	struct stream_input_relay *relay = context;
	struct ncs_chunk chunk;

	(void)node;
	SEGMENT_INPUT_MUST(end < size && size - end >= sizeof(chunk));
	memcpy(&chunk, (const char *)bytes + end, sizeof(chunk));
	SEGMENT_INPUT_MUST(chunk.type == NCS_CHUNK_LOOK);
	SEGMENT_INPUT_MUST(ncs_look_packer_pack(relay->packer, bytes, size,
						&relay->packed) == 0);
}

/* Returns the number of looks taken. */
static inline uint64_t stream_input_run(const uint8_t *data, size_t size)
{
	struct stream_input_relay relay = { ncs_look_packer_new(NULL), { 0 } };
	struct ncs_fleet *fleet = ncs_fleet_new(NULL);
	uint64_t now_ns = UINT64_C(1) << 40;
	struct ncs_node facts;
	size_t node, at = 0;

	SEGMENT_INPUT_MUST(fleet != NULL && relay.packer != NULL);
	SEGMENT_INPUT_MUST(ncs_fleet_add(fleet, NULL, "", &node) == 0);
	ncs_fleet_pass_on(fleet, stream_input_pass, &relay);
	while (at < size) {
		size_t part = size - at < 5000 ? size - at : 5000;

		SEGMENT_INPUT_MUST(ncs_fleet_feed(fleet, node, data + at, part,
						  now_ns) == 0);
		at += part;
		now_ns += 100000000;
		stream_input_look(ncs_fleet_source(fleet), now_ns);
	}
	ncs_fleet_gap(fleet, node);
	stream_input_look(ncs_fleet_source(fleet), now_ns);
	ncs_fleet_nodes(fleet, now_ns, &facts, 1);
	ncs_fleet_free(fleet);
	ncs_look_packer_free(relay.packer);
	free(relay.packed.bytes);
	return facts.looks;
}

#endif
