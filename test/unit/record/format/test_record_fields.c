/* SPDX-License-Identifier: MIT */
/* Tests of the streams of records: a stream is named by the record itself or by
 * an earlier record of the ring, and is unknown once a STREAM record may have
 * been missed. */
#include "ncclstat/record.h"
#include "record/format/record_fields.h"
#include "test/unit/support/unit.h"

#define A NCS_RECORD_STREAM(0x7f0012345678)
#define B NCS_RECORD_STREAM(NULL)

struct streams_fixture {
	struct ncs_cuda_streams streams;
	uint32_t position[8]; /* position of each lane's next record */
};

static struct streams_fixture fixture;

static int setup(void **state)
{
	(void)state;
	fixture = (struct streams_fixture){ 0 };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ncs_cuda_streams_release(&fixture.streams);
	return 0;
}

static uint64_t take(unsigned lane, struct ncs_record record)
{
	uint64_t stream = 99;

	record.position = fixture.position[lane]++;
	assert_int_equal(ncs_cuda_streams_take(&fixture.streams, lane, &record,
					       &stream),
			 0);
	return stream;
}

static void tell(unsigned lane, uint64_t stream)
{
	const struct ncs_record record = { .event = NCS_EVENT_STREAM,
					   .value = stream };

	assert_int_equal(take(lane, record), 0);
}

static uint64_t take_operation(unsigned lane)
{
	return take(lane, (struct ncs_record){ .event = NCS_EVENT_COLL,
					       .value = 4096,
					       .delta = { 100, 200 } });
}

UNIT_FIXTURE(setup, teardown)

TEST(operations_are_on_the_stream_named_last)
{
	const struct ncs_record step = { .event = NCS_EVENT_PROXY_STEP,
					 .delta = { 100, 200 } };
	const struct ncs_record p2p = { .event = NCS_EVENT_P2P };

	assert_int_equal(take_operation(1), 0);
	tell(1, A);
	assert_int_equal(take_operation(1), A);
	/* Children of operations have no stream. */
	assert_int_equal(take(1, step), 0);
	assert_int_equal(take(1, p2p), A);
	tell(1, B);
	assert_int_equal(take_operation(1), B);
	tell(1, 0);
	assert_int_equal(take_operation(1), 0);
}

TEST(every_ring_names_its_own_stream)
{
	tell(5, A);
	tell(0, B);
	assert_int_equal(take_operation(5), A);
	assert_int_equal(take_operation(0), B);
	assert_int_equal(take_operation(3), 0);
}

TEST(calls_launches_and_copies_name_their_own_stream)
{
	static const uint8_t events[] = { NCS_EVENT_COLL_API, NCS_EVENT_P2P_API,
					  NCS_EVENT_KERNEL_LAUNCH,
					  NCS_EVENT_CE_COLL };

	tell(1, A);
	for (unsigned i = 0; i < sizeof(events); i++) {
		struct ncs_record record = { .event = events[i],
					     .delta = { B, 7 } };

		assert_int_equal(take(1, record), B);
		/* Older plugins leave the stream 0. */
		record.delta[0] = 0;
		assert_int_equal(take(1, record), 0);
	}
	assert_int_equal(take_operation(1), A);
}

TEST(stream_is_unknown_after_lost_records)
{
	tell(1, A);
	tell(2, B);
	fixture.position[1] += 3;
	assert_int_equal(take_operation(1), 0);
	assert_int_equal(take_operation(1), 0);
	assert_int_equal(take_operation(2), B);
	tell(1, A);
	assert_int_equal(take_operation(1), A);
	/* A loss right before the STREAM record has no effect. */
	fixture.position[1]++;
	tell(1, B);
	assert_int_equal(take_operation(1), B);
}

TEST(wrapped_positions_are_consecutive)
{
	fixture.position[1] = UINT32_MAX;
	tell(1, A);
	assert_int_equal(fixture.position[1], 0);
	assert_int_equal(take_operation(1), A);
}

TEST(handle_is_printed_as_debuggers_do)
{
	char text[NCS_CUDA_STREAM_TEXT_BYTES];

	ncs_cuda_stream_text(0x7f0012345678, text);
	assert_string_equal(text, "0x7f0012345678");
	ncs_cuda_stream_text(0, text);
	assert_string_equal(text, "0x0");
	ncs_cuda_stream_text(UINT64_MAX, text);
	assert_string_equal(text, "0xffffffffffffffff");
}
