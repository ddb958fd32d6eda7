/* SPDX-License-Identifier: MIT */
/* Copies the operations in flight; see reader_internal.h. */
#include "shm/read/reader_internal.h"

#include <stdlib.h>
#include <string.h>

#include "shm/atomics.h"
#include "shm/clock.h"

/* One reading in this many reads all slots: a slot that was given out long ago
 * may be filled in late. */
#define READ_ALL_EVERY 16

/* Copies a slot, whose number is its lock. Returns false if it is empty or was
 * being written. */
static bool read_operation(struct ncs_operation *copy,
			   const struct ncs_operation *slot)
{
	uint64_t words[sizeof(*copy) / sizeof(uint64_t)];
	const uint64_t *block = (const uint64_t *)slot;

	/* ORDER: pairs with publish()
	 * (plugin/events/operation.c): the words are at least as new as the
	 * number. */
	words[0] = ncs_load_acquire(&block[0]);
	if (words[0] == 0)
		return false;
	for (size_t i = 1; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = ncs_payload_load(&block[i]);
	/* ORDER: pairs with publish()
	 * (plugin/events/operation.c): the number is read again after all
	 * words. */
	ncs_fence_acquire();
	memcpy(copy, words, sizeof(words));
	return ncs_load_relaxed(&block[0]) == words[0];
}

/* A launch ends all before it, and so does one that begins: NCCL runs a
 * communicator's launches one after the other. Of launches between two that are
 * followed nothing is known until the later one begins. */
enum ncs_launch_phase ncs_launch_phase(const struct ncs_launches_view *launches,
				       uint64_t launch)
{
	bool waits = launches->begun > launches->ended;

	if (launch == 0)
		return NCS_LAUNCH_PHASE_UNKNOWN;
	if (launch <= launches->ended || launch < launches->begun)
		return NCS_LAUNCH_PHASE_OVER;
	if (launches->status != NCS_STREAM_ALL &&
	    launches->status != NCS_STREAM_SOME)
		return NCS_LAUNCH_PHASE_UNKNOWN;
	if (launch == launches->begun)
		return NCS_LAUNCH_PHASE_RUNNING;
	if (waits || (launches->followed > launches->begun &&
		      (launch >= launches->followed ||
		       launches->status == NCS_STREAM_ALL)))
		return NCS_LAUNCH_PHASE_QUEUED;
	return NCS_LAUNCH_PHASE_UNKNOWN;
}

static int compare_operations(const void *left, const void *right)
{
	const struct ncs_operation_view *a = left, *b = right;

	return (a->number > b->number) - (a->number < b->number);
}

/* Tells whether an operation has not ended. It ends with its last child, and not
 * before its launch does, where that is known. An operation that was enqueued,
 * has no child, and is of an unknown launch is in flight as long as it may still
 * get a child: not if its function never has children, and not once a later
 * operation of the communicator has finished. */
static bool is_in_flight(const struct ncs_snapshot *snapshot,
			 const struct ncs_operation *copy, uint64_t latest_done)
{
	enum ncs_launch_phase phase =
		ncs_launch_phase(&snapshot->launches, copy->launch);

	if (snapshot->liveness == NCS_FINISHED)
		return false;
	if (phase == NCS_LAUNCH_PHASE_OVER)
		return copy->children_started > copy->children_done;
	if (copy->children_started != 0 || copy->enqueued == 0 ||
	    phase != NCS_LAUNCH_PHASE_UNKNOWN)
		return true;
	return copy->function < NCS_FUNCTION_COUNT &&
	       snapshot->functions[copy->function].with_children != 0 &&
	       copy->number > latest_done;
}

static void fill_operation(struct ncs_operation_view *view,
			   const struct ncs_clock *clock,
			   const struct ncs_operation *copy)
{
	view->number = copy->number;
	view->start_ns = ncs_clock_ns(clock, copy->start);
	view->sequence_number = copy->sequence_number;
	view->bytes = copy->bytes;
	view->count = copy->count;
	view->event = copy->event;
	view->function = copy->function < NCS_FUNCTION_COUNT ?
				 copy->function :
				 NCS_FUNCTION_OTHER;
	view->datatype = copy->datatype;
	view->algorithm = copy->algorithm;
	view->protocol = copy->protocol;
	view->nchannels = copy->nchannels;
	view->peer = copy->peer;
	view->user_tag = copy->user_tag;
	view->range = copy->range;
	view->launch = copy->launch;
	view->enqueued_ns = ncs_clock_ns(clock, copy->enqueued);
	view->children_started = copy->children_started;
	view->children_done = copy->children_done;
	view->first_child_ns = ncs_clock_ns(clock, copy->first_child);
	view->last_child_done_ns = ncs_clock_ns(clock, copy->last_child_done);
}

void ncs_operation_slots_mark(struct ncs_reader *reader)
{
	size_t count = reader->header.operations.count;
	const struct ncs_filled *filled =
		&ncs_reader_mapped_header(reader)->filled;
	uint64_t revived = ncs_load_relaxed(&filled->revived);
	uint64_t given = ncs_load_relaxed(&filled->operations);
	/* A slot may be filled in some time after it was given out, so begin
	 * before the slots of the latest two readings. */
	uint64_t from = reader->given[1] - NCS_FILLED_RECENT;
	bool all = reader->readings++ % READ_ALL_EVERY == 0 ||
		   given - from >= count || revived != reader->revived ||
		   !NCS_SEGMENT_HAS(&reader->header, filled);

	if (all)
		memset(reader->marked, 0xff,
		       (count + 63) / 64 * sizeof(*reader->marked));
	for (uint64_t n = from; !all && n != given; n++)
		reader->marked[n % count / 64] |= UINT64_C(1)
						  << (n % count % 64);
	reader->given[1] = reader->given[0];
	reader->given[0] = given;
	reader->revived = revived;
}

bool ncs_operation_slot_copy(struct ncs_reader *reader, size_t index,
			     struct ncs_operation *copy)
{
	if (read_operation(copy,
			   ncs_reader_entry(reader, &reader->header.operations,
					    index)))
		return true;
	reader->marked[index / 64] &= ~(UINT64_C(1) << (index % 64));
	return false;
}

void ncs_operations_take(struct ncs_snapshot *snapshot,
			 struct ncs_reader *reader)
{
	size_t count = reader->header.operations.count;
	uint64_t latest_done = ncs_load_relaxed(
		&ncs_reader_mapped_header(reader)->latest_done);
	struct ncs_operation copy;

	snapshot->operation_count = 0;
	ncs_operation_slots_mark(reader);
	for (size_t i = ncs_operation_slot_next(reader, 0); i < count;
	     i = ncs_operation_slot_next(reader, i + 1))
		if (ncs_operation_slot_copy(reader, i, &copy) &&
		    is_in_flight(snapshot, &copy, latest_done))
			fill_operation(&snapshot->operations
						[snapshot->operation_count++],
				       &reader->header.clock, &copy);
	qsort(snapshot->operations, snapshot->operation_count,
	      sizeof(*snapshot->operations), compare_operations);
}
