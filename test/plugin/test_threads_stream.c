/* SPDX-License-Identifier: MIT */
/* CUDA streams of operations that several threads end at the same time: a ring
 * must not attribute one operation's stream to another. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "plugin/state/comm.h"
#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define LAST_API 7

#define HANDLE(number) ((void *)(uintptr_t)(0x7f0012340000 + 0x10 * (number)))
#define STREAM(number) NCS_RECORD_STREAM(HANDLE(number))

static struct guest guest;

enum { THREADS = NCS_LANE_MAX + 4, EACH = 300 };

static pthread_barrier_t together;

/* The size of each operation is its stream's number. */
static void *play_many(void *argument)
{
	unsigned number = (unsigned)(uintptr_t)argument;
	struct host_event event = {
		.type = NCCL_EVENT_COLL_API,
		.func = "AllReduce",
		.datatype = "ncclFloat32",
		.count = number,
		.stream = HANDLE(number),
	};

	pthread_barrier_wait(&together);
	for (unsigned i = 0; i < EACH; i++) {
		struct host_event coll = event;
		void *operation;

		coll.type = NCCL_EVENT_COLL;
		coll.parent = start(&guest, &event);
		coll.algorithm = "RING";
		coll.protocol = "SIMPLE";
		stop(&guest, coll.parent);
		operation = start(&guest, &coll);
		stop(&guest, operation);
		stop(&guest, start_kernel(&guest, operation, 0, 0));
		sched_yield();
	}
	pthread_barrier_wait(&together);
	return NULL;
}

/* view_records() returns the records of the shared lane first, in order. */
static size_t shared_records(struct ncs_record *records, size_t size)
{
	uint64_t lost = 0;
	size_t count = view_records(&guest.view, records, size, &lost), i = 1;

	while (i < count && records[i].position == records[i - 1].position + 1)
		i++;
	return i;
}

SCENARIO(threads_sharing_a_ring_do_not_mix_up_streams)
{
	static struct ncs_record records[1 << 17];
	pthread_t threads[THREADS];
	uint64_t stream = 0;
	unsigned changes = 0, operations = 0;
	size_t count;

	guest_open(&guest, LAST_API);
	pthread_barrier_init(&together, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, play_many,
				     (void *)(i + 1)) == 0,
		      "no thread");
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	count = shared_records(records, sizeof(records) / sizeof(*records));
	for (size_t i = 0; i < count; i++) {
		const struct ncs_record *record = &records[i];

		if (record->event == NCS_EVENT_STREAM) {
			changes += record->value != stream;
			stream = record->value;
		}
		if (record->event != NCS_EVENT_COLL || stream == 0)
			continue;
		CHECK_EQUAL(stream, STREAM(record->value / 4), "its stream");
		operations++;
	}
	CHECK(operations > 0, "of several threads");
	CHECK(changes > 1, "they came one after another");
	guest_close(&guest);
}
