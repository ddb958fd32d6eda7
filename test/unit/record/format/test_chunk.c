/* SPDX-License-Identifier: MIT */
/* Tests of a chunk: a sealed chunk is good, a chunk with any bit changed or a
 * length out of bounds is not, and a packed payload unpacks to the original. */
#include <stdlib.h>
#include <string.h>

#include "record/format/chunk.h"
#include "test/unit/support/unit.h"

static void sealed(struct ncs_chunk *chunk, char *payload, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		payload[i] = (char)(i * 7);
	*chunk = (struct ncs_chunk){
		.type = NCS_CHUNK_STATE,
		.rank = 3,
		.bytes = bytes,
		.unpacked_bytes = bytes,
		.from_ns = 5,
		.until_ns = 6,
	};
	ncs_chunk_seal(chunk, payload);
}

TEST(sealed_chunk_is_good)
{
	struct ncs_chunk chunk;
	char payload[200];

	sealed(&chunk, payload, sizeof(payload));
	assert_true(chunk.magic == NCS_CHUNK_MAGIC);
	assert_memory_equal(&chunk, "NCSchunk", 8);
	assert_true(ncs_chunk_is_good(&chunk));
	assert_true(ncs_chunk_payload_is_good(&chunk, payload));
	assert_false(ncs_chunk_is_packed(&chunk));
	sealed(&chunk, payload, 0);
	assert_true(ncs_chunk_is_good(&chunk));
	assert_true(ncs_chunk_payload_is_good(&chunk, payload));
}

/* Compares the checksum of zero bytes with the value in XXH3's
 * specification. */
TEST(checksum_is_xxh3)
{
	struct ncs_chunk chunk;

	sealed(&chunk, NULL, 0);
	assert_true(chunk.payload_checksum == UINT64_C(0x2d06800538d394c2));
}

TEST(any_changed_bit_is_noticed)
{
	struct ncs_chunk chunk;
	char payload[200];

	sealed(&chunk, payload, sizeof(payload));
	for (size_t i = 0; i < sizeof(chunk) * 8; i++) {
		struct ncs_chunk changed = chunk;

		((unsigned char *)&changed)[i / 8] ^= 1 << (i % 8);
		assert_false(ncs_chunk_is_good(&changed));
	}
	for (size_t i = 0; i < sizeof(payload) * 8; i++) {
		payload[i / 8] = (char)(payload[i / 8] ^ 1 << (i % 8));
		assert_false(ncs_chunk_payload_is_good(&chunk, payload));
		payload[i / 8] = (char)(payload[i / 8] ^ 1 << (i % 8));
	}
}

/* Seals headers whose lengths would lead out of the file or out of memory. */
TEST(lengths_out_of_bounds_are_refused)
{
	static const uint64_t lengths[][2] = {
		{ NCS_PAYLOAD_BYTES_MAX + 1, NCS_PAYLOAD_BYTES_MAX + 1 },
		{ 100, NCS_PAYLOAD_BYTES_MAX + 1 },
		{ UINT64_MAX, UINT64_MAX },
		{ 101, 100 }, /* packed, and longer than unpacked */
	};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct ncs_chunk chunk = {
			.bytes = lengths[i][0],
			.unpacked_bytes = lengths[i][1],
		};

		ncs_chunk_seal_checksum(&chunk, 0);
		assert_false(ncs_chunk_is_good(&chunk));
	}
}

TEST(chunk_ends_at_the_alignment)
{
	struct ncs_chunk chunk = { .bytes = 0 };

	assert_int_equal(ncs_chunk_file_bytes(&chunk), 64);
	chunk.bytes = 1;
	assert_int_equal(ncs_chunk_file_bytes(&chunk), 128);
	chunk.bytes = 64;
	assert_int_equal(ncs_chunk_file_bytes(&chunk), 128);
	chunk.bytes = 65;
	assert_int_equal(ncs_chunk_file_bytes(&chunk), 192);
	chunk.bytes = NCS_PAYLOAD_BYTES_MAX;
	assert_int_equal(ncs_chunk_file_bytes(&chunk), NCS_CHUNK_BYTES_MAX);
}

TEST(packed_payload_unpacks_to_the_same)
{
	struct ncs_packer *packer = ncs_packer_create(1);
	char payload[5000] = "zeros", packed[5000], unpacked[5000];
	struct ncs_chunk chunk = { .unpacked_bytes = sizeof(payload) };

	chunk.bytes = ncs_packer_pack(packer, payload, sizeof(payload), packed,
				      sizeof(packed));
	assert_in_range(chunk.bytes, 1, 100);
	ncs_chunk_seal(&chunk, packed);
	assert_true(ncs_chunk_is_good(&chunk));
	assert_true(ncs_chunk_is_packed(&chunk));
	assert_true(ncs_chunk_unpack(&chunk, packed, unpacked));
	assert_memory_equal(unpacked, payload, sizeof(payload));

	/* Too long, too short, not packed at all. */
	chunk.unpacked_bytes--;
	assert_false(ncs_chunk_unpack(&chunk, packed, unpacked));
	chunk.unpacked_bytes = sizeof(payload);
	chunk.bytes--;
	assert_false(ncs_chunk_unpack(&chunk, packed, unpacked));
	chunk.bytes = 100;
	assert_false(ncs_chunk_unpack(&chunk, payload, unpacked));
	ncs_packer_free(packer);
}

TEST(payload_that_does_not_shrink_is_not_packed)
{
	struct ncs_packer *packer = ncs_packer_create(1);
	char payload[64], packed[1000], zeros[1000] = "";

	srand(1);
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (char)(rand() >> 7);
	assert_int_equal(ncs_packer_pack(packer, payload, sizeof(payload),
					 packed, sizeof(packed)),
			 0);
	assert_int_equal(
		ncs_packer_pack(packer, payload, 0, packed, sizeof(packed)), 0);
	/* The packed payload does not fit. */
	assert_int_equal(
		ncs_packer_pack(packer, zeros, sizeof(zeros), packed, 3), 0);
	ncs_packer_free(packer);
}
