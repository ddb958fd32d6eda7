/* SPDX-License-Identifier: MIT */
/* How much shared memory communicators get: a node's limit is kept whatever its
 * ranks do, each of them has room for eight communicators, and where memory is
 * plentiful segments are large. */
#include "test/unit/support/unit.h"

/* The plugin's objects are not linked to unit tests. */
#include "plugin/life/profile.c"

#define MIB (UINT64_C(1) << 20)
#define RANGES 64

static struct ncs_room room_of(uint64_t node_bytes, uint32_t ranks)
{
	return (struct ncs_room){
		.process_bytes = 16 * MIB,
		.node_counts = true,
		.node_known = true,
		.node_bytes = node_bytes,
		.ranks = ranks,
	};
}

/* Makes a communicator of one of a node's processes. Returns its profile. */
static uint32_t take(struct ncs_room *own, uint64_t *held_bytes)
{
	uint32_t profile;

	own->held_bytes = *held_bytes;
	profile = ncs_profile_choose(own, RANGES);
	if (profile == NCS_PROFILE_COUNT)
		return profile;
	own->comms++;
	own->used_bytes += ncs_profile_bytes(profile, RANGES);
	*held_bytes += ncs_profile_bytes(profile, RANGES);
	return profile;
}

TEST(eight_ranks_with_eight_communicators_fit_into_64_mb)
{
	const uint64_t limit = 64 * MIB / 16, controls = 8 * 4096;
	struct ncs_room own[8];
	uint64_t held = controls;

	for (unsigned i = 0; i < 8; i++)
		own[i] = room_of(limit, 8);
	for (unsigned comm = 0; comm < 8; comm++)
		for (unsigned rank = 0; rank < 8; rank++)
			assert_true(take(&own[rank], &held) <
				    NCS_PROFILE_COUNT);
	assert_true(held <= limit);
	/* In another order: each makes all of its communicators at once. */
	held = controls;
	for (unsigned rank = 0; rank < 8; rank++) {
		own[rank] = room_of(limit, 8);
		for (unsigned comm = 0; comm < 8; comm++)
			assert_true(take(&own[rank], &held) <
				    NCS_PROFILE_COUNT);
	}
	assert_true(held <= limit);
	/* And there is an end. */
	for (unsigned i = 0; i < 64; i++)
		take(&own[0], &held);
	assert_true(held <= limit);
	assert_int_equal(take(&own[0], &held), NCS_PROFILE_COUNT);
}

TEST(rank_alone_gets_more_and_leaves_room_for_later_ones)
{
	struct ncs_room own = room_of(8 * MIB, 1);
	uint64_t held = 0;

	assert_int_equal(take(&own, &held), 0);
	for (unsigned i = 1; i < 8; i++)
		assert_true(take(&own, &held) < NCS_PROFILE_COUNT);
	assert_true(held <= 8 * MIB);
	/* One of eight, each of which gets less. */
	own = room_of(8 * MIB, 8);
	held = 0;
	assert_in_range(take(&own, &held), 2, 3);
}

TEST(plentiful_memory_is_limited_by_the_process_alone)
{
	struct ncs_room rich = room_of(1024 * MIB, 8), free_of_node = rich;
	uint64_t held = 0, other = 0;

	free_of_node.node_counts = false;
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(take(&rich, &held),
				 take(&free_of_node, &other));
	assert_true(held <= 16 * MIB && held > 15 * MIB);
}

TEST(user_may_take_what_the_node_would_not_give)
{
	struct ncs_room own = room_of(0, 8);
	uint64_t held = 0;

	assert_int_equal(take(&own, &held), NCS_PROFILE_COUNT);
	own.node_counts = false;
	assert_int_equal(take(&own, &held), 0);
	own.process_bytes = 1;
	assert_int_equal(take(&own, &held), NCS_PROFILE_COUNT);
}

TEST(where_the_node_is_unknown_the_smallest_is_tried)
{
	struct ncs_room own = room_of(0, 8);
	uint64_t held = 0;

	own.node_known = false;
	assert_int_equal(take(&own, &held), NCS_PROFILE_SMALLEST);
}

TEST(sizes_fall_and_hold_what_the_reader_accepts)
{
	static const uint32_t ranges[] = { 0, 1, 64, 1024, 65535 };

	for (unsigned k = 0; k < sizeof(ranges) / sizeof(ranges[0]); k++)
		for (uint32_t i = 0; i < NCS_PROFILE_COUNT; i++) {
			struct ncs_segment_size size =
				ncs_profile_size(i, ranges[k]);
			struct ncs_header header = {
				.magic = NCS_MAGIC,
				.byte_order = NCS_BYTE_ORDER,
				.header_bytes = sizeof(header),
				.record_bytes = sizeof(struct ncs_record),
			};
			uint32_t classes = size.classes - NCS_FUNCTION_MAX;

			ncs_segment_lay_out(&header, &size);
			assert_null(ncs_segment_check(&header,
						      header.segment_bytes));
			assert_int_equal(classes & (classes - 1), 0);
			assert_int_equal(size.channels & (size.channels - 1),
					 0);
			assert_in_range(size.lanes, 2, NCS_LANE_MAX);
			assert_int_equal(size.ranges == 0, ranges[k] == 0);
			if (i > 0)
				assert_true(
					ncs_profile_bytes(i, ranges[k]) <
					ncs_profile_bytes(i - 1, ranges[k]));
		}
}

TEST(ranks_are_those_of_nccl_or_those_that_are_there)
{
	assert_int_equal(ncs_profile_ranks(16, 2, 0), 8);
	assert_int_equal(ncs_profile_ranks(17, 2, 0), 9);
	assert_int_equal(ncs_profile_ranks(1, 1, 0), 1);
	assert_int_equal(ncs_profile_ranks(2, -1, 0), 2);
	assert_int_equal(ncs_profile_ranks(1024, -1, 0), 8);
	assert_int_equal(ncs_profile_ranks(-1, -1, 0), 8);
	assert_int_equal(ncs_profile_ranks(1, 1, 5), 5);
}
