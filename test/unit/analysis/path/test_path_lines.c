/* SPDX-License-Identifier: MIT */
/* Tests of ranks that send and receive, whose times may be any value. */
#include "analysis/path/critical_path.h"
#include "test/unit/support/unit.h"

#define MS UINT64_C(1000000)

/* This many ns after the first operation, a time in a double has no room for a
 * single ns. */
#define FAR_NS (UINT64_C(1) << 56)

/* A transfer from one of two ranks to the other. Both ends arrive and end
 * together. */
static void add_transfer(struct ncs_path *path, unsigned sender,
			 uint32_t operation, uint64_t arrival_ns,
			 uint64_t end_ns)
{
	struct ncs_part parts[2];
	struct ncs_joined joined = {
		.comm_id = 1,
		.function = NCS_FUNCTION_SEND_RECV,
		.number = operation,
		.is_complete = true,
		.is_whole = true,
		.wait_rule = NCS_WAIT_FOR_ALL,
		.arrival = NCS_MOMENT_STREAM,
		.end = NCS_MOMENT_STREAM_END,
		.end_is_trusted = true,
		.first_end_ns = end_ns,
		.turn_ns = end_ns,
		.count = 2,
		.parts = parts,
	};

	for (unsigned i = 0; i < 2; i++) {
		unsigned rank = i == 0 ? sender : 1 - sender;

		parts[i] = (struct ncs_part){
			.comm_id = 1,
			.rank = (int32_t)rank,
			.nranks = 2,
			.owner = rank,
			.peer = 1 - (int32_t)rank,
			.function = i == 0 ? NCS_FUNCTION_SEND :
					     NCS_FUNCTION_RECV,
			.flags = NCS_PART_P2P,
			.operation = operation,
			.bytes = 1 << 20,
		};
		parts[i].at_ns[NCS_MOMENT_OPERATION] = arrival_ns;
		parts[i].at_ns[NCS_MOMENT_STREAM] = arrival_ns;
		parts[i].at_ns[NCS_MOMENT_STREAM_END] = end_ns;
		parts[i].at_ns[NCS_MOMENT_LAST_END] = end_ns;
	}
	assert_int_equal(ncs_path_add(path, &joined, true, NCS_NO_STEP), 0);
}

TEST(sends_that_are_skipped_come_to_an_end_at_any_time)
{
	static const struct ncs_path_owner owners[] = { { 0, 0 }, { 1, 1 } };
	struct ncs_path_line ranks[2] = { { 0 } };
	struct ncs_path_lines lines = { .ranks = ranks };
	struct ncs_path *path = ncs_path_new(&(struct ncs_path_options){
		.owners = owners,
		.owner_count = 2,
		.rank_count = 2,
		.lines = &lines,
		.learns = true,
	});

	assert_non_null(path);
	add_transfer(path, 0, 1, MS, 2 * MS);
	/* A receive while a send goes on: ranks go on while they send. */
	add_transfer(path, 1, 3, FAR_NS + 1 * MS, FAR_NS + 2 * MS);
	add_transfer(path, 0, 2, FAR_NS, FAR_NS + 10 * MS);
	assert_true(lines.sends_overlap);
	/* A send and a receive at once: both follow what was before. */
	add_transfer(path, 0, 4, FAR_NS + 20 * MS, FAR_NS + 40 * MS);
	add_transfer(path, 1, 5, FAR_NS + 20 * MS, FAR_NS + 50 * MS);
	assert_int_equal(ncs_path_end(path), 0);
	assert_int_equal(ncs_path_report(path)->operations, 5);
	ncs_path_free(path);
}
