/* SPDX-License-Identifier: MIT */
/* Tests of the latest records of a rank: which are kept where there are more
 * than there is room for, and from when on none is missing. */
#include <stdlib.h>

#include "analysis/records/latest_records.h"

#include "ncclstat/abi_header.h"
#include "test/unit/support/unit.h"

/* Each of so many ranks has room for ROOM calls. */
#define RANKS 4096
#define ROOM 32

struct job {
	struct ncs_header header;
	struct ncs_snapshot snapshot;
	struct ncs_record records[256];
	struct ncs_sample sample;
	struct ncs_latest *latest;
};

static int set_up(void **state)
{
	struct job *job = calloc(1, sizeof(*job));

	assert_non_null(job);
	job->header.clock.multiplier = 1ull << 32; /* a tick is 1 ns */
	job->header.ring_records = 1024;
	job->snapshot.taken_ns = 1000000;
	job->sample.header = &job->header;
	job->sample.snapshot = &job->snapshot;
	job->sample.records = job->records;
	job->latest = ncs_latest_new();
	assert_non_null(job->latest);
	*state = job;
	return 0;
}

static int tear_down(void **state)
{
	struct job *job = *state;

	ncs_latest_free(job->latest);
	free(job);
	return 0;
}

/* Adds the records of a thread to the sample: `count` collectives, the first of
 * which ends at `end` and has this number, one each tick. */
static void add_thread(struct job *job, uint64_t position, unsigned count,
		       uint64_t end, uint64_t number)
{
	for (unsigned i = 0; i < count; i++)
		job->records[job->sample.record_count++] = (struct ncs_record){
			.position = position + i,
			.event = NCS_EVENT_COLL,
			.start = end + i - 1,
			.duration = 1,
			.number = number + i,
		};
}

static const struct ncs_latest_list *take(struct job *job)
{
	assert_int_equal(ncs_latest_take(job->latest, &job->sample, RANKS), 0);
	job->sample.record_count = 0;
	return &job->latest->lists[NCS_LATEST_CALLS];
}

UNIT_FIXTURE(set_up, tear_down)

TEST(record_of_first_thread_is_kept_if_it_ended_last)
{
	struct job *job = *state;
	const struct ncs_latest_list *list;

	add_thread(job, 0, 1, 5000, 77);
	add_thread(job, 50, 2 * ROOM, 100, 0);
	list = take(job);
	assert_int_equal(list->count, ROOM);
	assert_int_equal(list->records[ROOM - 1].number, 77);
	assert_int_equal(list->records[0].number, ROOM + 1);
}

TEST(kept_records_are_in_the_order_of_their_ends)
{
	struct job *job = *state;
	const struct ncs_latest_list *list;

	add_thread(job, 0, ROOM, 1000, 0);
	add_thread(job, 500, ROOM, 1016, 100);
	list = take(job);
	for (unsigned i = 1; i < list->count; i++)
		assert_true(list->records[i].start >=
			    list->records[i - 1].start);
}

TEST(all_later_records_are_there)
{
	struct job *job = *state;
	uint64_t from_ns;

	/* 100 to 163 and 1000 to 1015: the last 32 are from 148 on. */
	add_thread(job, 0, 2 * ROOM, 100, 0);
	add_thread(job, 500, ROOM / 2, 1000, 100);
	from_ns = take(job)->complete_from_ns;
	assert_int_equal(from_ns, 148);
}

TEST(later_refresh_drops_the_oldest)
{
	struct job *job = *state;
	const struct ncs_latest_list *list;

	add_thread(job, 0, ROOM, 100, 0);
	take(job);
	add_thread(job, ROOM, 1, 400, 99);
	list = take(job);
	assert_int_equal(list->count, ROOM);
	assert_int_equal(list->records[0].number, 1);
	assert_int_equal(list->records[ROOM - 1].number, 99);
	assert_int_equal(list->complete_from_ns, 100);
}
