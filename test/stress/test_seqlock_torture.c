/* SPDX-License-Identifier: MIT */
/* Seqlocks under load: no reader ever accepts a mix of two updates.
 *
 * First a bare block, with a writer that stalls in the middle of updates and
 * three readers, as threads and as processes. Then a whole segment, written as
 * the plugin writes it and read through the public reader, whose blocks and
 * operation slots must be whole in every snapshot. Under ThreadSanitizer with
 * threads only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "shm/clock.h"
#include "shm/seqlock.h"
#include "shm/write/writer.h"
#include "test/stress/hunt.h"
#include "test/unit/support/unit.h"

#ifdef NCS_TSAN
#define UPDATES 100000
#define SEGMENT_UPDATES 20000
#else
#define UPDATES 1000000
#define SEGMENT_UPDATES 100000
#endif

/* Words of the largest block, a channel. */
#define WORDS (sizeof(struct ncs_channel) / sizeof(uint64_t))

/* --- A bare block ------------------------------------------------------ */

static void write_block(const struct hunt *hunt, void *shared)
{
	uint64_t *block = shared;

	(void)hunt;
	for (uint64_t update = 0; update < UPDATES; update++) {
		ncs_seqlock_begin(block);
		for (unsigned k = 1; k < WORDS; k++) {
			if (update % 16 == 0 && k == 1 + update / 16 % WORDS)
				hunt_stall();
			ncs_payload_store(&block[k], hunt_word(update, k));
		}
		ncs_seqlock_end(block);
		/* If the writer never rests, readers never succeed; on one
		 * processor it must also let other threads run. */
		if (update % 4 == 0)
			hunt_rest();
		if (update % (UPDATES / 500) == 0)
			hunt_idle();
	}
}

/* After n updates the sequence is 2 n. */
static bool is_whole(const uint64_t copy[WORDS])
{
	for (unsigned k = 1; k < WORDS; k++)
		if (copy[k] !=
		    (copy[0] == 0 ? 0 : hunt_word(copy[0] / 2 - 1, k)))
			return false;
	return true;
}

static void read_block(const struct hunt *hunt, const void *shared,
		       const struct hunt_control *control,
		       struct hunt_findings *findings)
{
	uint64_t copy[WORDS], before = 0;
	bool done;

	(void)hunt;
	do {
		done = hunt_is_done(control);
		if (!ncs_seqlock_read(copy, shared, WORDS)) {
			findings->lost++;
			/* The writer rests now, so reading must succeed. */
			findings->bad += done;
			hunt_idle();
			continue;
		}
		findings->accepted++;
		findings->rejected += copy[0] != before;
		if (!is_whole(copy) || copy[0] < before ||
		    (done && copy[0] != 2 * (uint64_t)UPDATES))
			findings->bad++;
		before = copy[0];
		if (findings->accepted % 8 == 0)
			hunt_idle();
	} while (!done);
}

static void no_mixed_block_is_accepted(void **state)
{
	struct hunt hunt = {
		.processes = *(bool *)*state,
		.shared_bytes = 4096,
		.write = write_block,
		.read = read_block,
	};
	struct hunt_findings findings[HUNT_READERS];
	uint64_t seen = 0;

	assert_true(hunt_run(&hunt, findings));
	for (unsigned i = 0; i < HUNT_READERS; i++) {
		assert_int_equal(findings[i].bad, 0);
		assert_true(findings[i].accepted > 0);
		/* In this hunt `rejected` is the number of different updates
		 * seen. */
		seen += findings[i].rejected;
	}
	print_message("%llu updates seen\n", (unsigned long long)seen);
	assert_true(seen > 100);
}

/* --- A whole segment --------------------------------------------------- */

#define CHANNELS 4
#define OPERATIONS 8

struct segment {
	char directory[64];
	struct ncs_writer writer;
};

/* All words of a block except the first are `value`, so that a mix is
 * noticed. */
static void fill(uint64_t *block, size_t bytes, size_t from, uint64_t value)
{
	ncs_seqlock_begin(block);
	for (size_t k = from; k < bytes / sizeof(uint64_t); k++)
		ncs_payload_store(&block[k], value);
	ncs_seqlock_end(block);
}

static void publish_operation(struct ncs_operation *slot, uint64_t number)
{
	uint64_t *block = (uint64_t *)slot;
	struct ncs_operation content = {
		.number = number,
		.sequence_number = number,
		.bytes = number,
		.count = number,
		.peer = (int32_t)number,
		.children_started = number,
	};
	uint64_t words[sizeof(content) / sizeof(uint64_t)];

	memcpy(words, &content, sizeof(words));
	ncs_store_relaxed(&block[0], 0);
	ncs_fence_release();
	for (unsigned k = 1; k < sizeof(words) / sizeof(words[0]); k++)
		ncs_payload_store(&block[k], words[k]);
	ncs_store_release(&block[0], number);
}

static void write_segment(const struct hunt *hunt, void *shared)
{
	const struct segment *segment = hunt->argument;
	struct ncs_header *header = segment->writer.header;
	char *base = (char *)header;
	struct ncs_channel *channels =
		(struct ncs_channel *)(base + header->channels.offset);
	struct ncs_operation *operations =
		(struct ncs_operation *)(base + header->operations.offset);
	struct ncs_lane *lane =
		(struct ncs_lane *)(base + header->lanes.offset);

	(void)shared;
	for (uint64_t i = 1; i <= SEGMENT_UPDATES; i++) {
		fill((uint64_t *)&header->proxy, sizeof(header->proxy), 3, i);
		fill((uint64_t *)&channels[i % CHANNELS],
		     sizeof(struct ncs_channel), 6, i);
		fill((uint64_t *)&lane->functions[0],
		     sizeof(struct ncs_function), 1, i);
		publish_operation(&operations[i % OPERATIONS], i);
		hunt_rest();
		if (i % (SEGMENT_UPDATES / 500) == 0)
			hunt_idle();
	}
}

static bool proxy_is_whole(const struct ncs_proxy_view *view)
{
	uint64_t value = view->appended_operations;

	for (unsigned i = 1; i < NCS_PROXY_STATE_COUNT; i++)
		if (view->time_ns[i] != value)
			return false;
	for (unsigned i = 0; i < NCS_TRANSITION_COUNT; i++)
		if (view->count[i] != value)
			return false;
	return true;
}

static bool channel_is_whole(const struct ncs_channel_view *view)
{
	uint64_t value = view->step;

	for (unsigned i = 1; i < NCS_CHANNEL_STATE_COUNT; i++)
		if (view->time_ns[i] != value)
			return false;
	return view->nsteps == value && view->operations_started == value &&
	       view->steps_done == value && view->bytes == value;
}

static bool operation_is_whole(const struct ncs_operation_view *view)
{
	uint64_t value = view->number;

	return value != 0 && view->sequence_number == value &&
	       view->bytes == value && view->count == value &&
	       view->peer == (int32_t)value && view->children_started == value;
}

static bool function_is_whole(const struct ncs_function_view *view)
{
	uint64_t value = view->calls;

	return view->operations == value && view->operations_done == value &&
	       view->bytes == value && view->timed[0] == value &&
	       view->time_ns[1] == value &&
	       view->last_sequence_number ==
		       (value ? value - 1 : NCS_NO_SEQUENCE_NUMBER);
}

static bool snapshot_is_whole(const struct ncs_snapshot *snapshot)
{
	if (!proxy_is_whole(&snapshot->proxy) ||
	    !function_is_whole(&snapshot->functions[0]))
		return false;
	for (size_t i = 0; i < snapshot->channel_count; i++)
		if (!channel_is_whole(&snapshot->channels[i]))
			return false;
	for (size_t i = 0; i < snapshot->operation_count; i++)
		if (!operation_is_whole(&snapshot->operations[i]))
			return false;
	return true;
}

static void read_segment(const struct hunt *hunt, const void *shared,
			 const struct hunt_control *control,
			 struct hunt_findings *findings)
{
	const struct segment *segment = hunt->argument;
	struct ncs_snapshot snapshot;
	struct ncs_reader *reader;
	uint64_t before = 0;
	bool done;

	(void)shared;
	if (ncs_reader_open(segment->writer.path, &reader, NULL, 0) !=
		    NCS_ATTACHED ||
	    ncs_snapshot_init(&snapshot, reader) != 0) {
		findings->bad++;
		return;
	}
	do {
		done = hunt_is_done(control);
		ncs_snapshot_take(&snapshot, reader, ncs_clock_monotonic_ns());
		if (snapshot.torn) {
			findings->lost++;
			findings->bad += done;
			continue;
		}
		findings->accepted++;
		findings->bad += !snapshot_is_whole(&snapshot);
		findings->rejected += snapshot.proxy.appended_operations !=
				      before;
		before = snapshot.proxy.appended_operations;
		if (done && (before != SEGMENT_UPDATES ||
			     snapshot.operation_count != OPERATIONS))
			findings->bad++;
	} while (!done);
	ncs_snapshot_release(&snapshot);
	ncs_reader_close(reader);
}

static int make_segment(struct segment *segment)
{
	const struct ncs_segment_size size = {
		.lanes = 2,
		.channels = CHANNELS,
		.operations = OPERATIONS,
		.classes = 1,
		.histograms = 1,
		.ring_records = 8,
	};
	struct ncs_process process;
	struct ncs_header *header;
	struct ncs_channel *channels;
	int error;

	snprintf(segment->directory, sizeof(segment->directory),
		 "/dev/shm/test-ncclstat.XXXXXX");
	if (!mkdtemp(segment->directory))
		return -1;
	ncs_process_describe(&process);
	error = ncs_writer_create(&segment->writer, segment->directory,
				  &process, 0, &size, NULL);
	if (error)
		return error;
	header = segment->writer.header;
	header->clock.kind = NCS_CLOCK_MONOTONIC;
	header->clock.multiplier = UINT64_C(1) << 32;
	channels = (struct ncs_channel *)((char *)header +
					  header->channels.offset);
	for (unsigned i = 0; i < CHANNELS; i++)
		channels[i].key = NCS_CHANNEL_KEY(i, 0, 1);
	ncs_writer_publish(&segment->writer);
	return 0;
}

static void every_block_of_a_snapshot_is_whole(void **state)
{
	struct segment segment;
	struct hunt hunt = {
		.processes = *(bool *)*state,
		.shared_bytes = 4096,
		.write = write_segment,
		.read = read_segment,
		.argument = &segment,
	};
	struct hunt_findings findings[HUNT_READERS];
	uint64_t seen = 0;

	assert_int_equal(make_segment(&segment), 0);
	assert_true(hunt_run(&hunt, findings));
	ncs_writer_unlink(&segment.writer);
	munmap(segment.writer.header, segment.writer.mapped_bytes);
	assert_int_equal(rmdir(segment.directory), 0);
	for (unsigned i = 0; i < HUNT_READERS; i++) {
		assert_int_equal(findings[i].bad, 0);
		assert_true(findings[i].accepted > 0);
		seen += findings[i].rejected;
	}
	print_message("%llu updates seen\n", (unsigned long long)seen);
	assert_true(seen > 100);
}

#define HUNT(title, function, forked) \
	{ \
		title, function, NULL, NULL, &(bool) \
		{ \
			forked \
		} \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HUNT("no mixed block is accepted: threads",
		     no_mixed_block_is_accepted, false),
		HUNT("every block of a snapshot is whole: threads",
		     every_block_of_a_snapshot_is_whole, false),
#ifndef NCS_TSAN
		HUNT("no mixed block is accepted: processes",
		     no_mixed_block_is_accepted, true),
		HUNT("every block of a snapshot is whole: processes",
		     every_block_of_a_snapshot_is_whole, true),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
