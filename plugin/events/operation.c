/* SPDX-License-Identifier: MIT */
/* Operations in flight and their counters; see operation.h. */
#include "plugin/events/operation.h"

#include "plugin/state/class.h"
#include "plugin/state/lane.h"
#include "plugin/state/launches.h"
#include "plugin/state/registry.h"
#include "plugin/state/slots.h"
#include "plugin/state/transfers.h"
#include "plugin/events/range_stats.h"
#include "plugin/events/sampling.h"

/* Number of slots to try for a free one. The cursor goes round, so that a slot
 * is reused as late as possible: children may start long after their operation
 * was enqueued. */
#define CLAIM_TRIES 32

/* --- slots -------------------------------------------------------------- */

/* The tag of the operation after the one with this tag; tags of operations are
 * odd. */
static uint64_t next_tag(uint64_t tag)
{
	return tag & 1 ? tag + 2 : tag + 1;
}

/* Claims a slot that is free, or whose operation is enqueued and has no child
 * in progress; with `force` also if its enqueueing has never ended. Nobody else
 * claims it before it gets its tag, next_tag(). *launched is set if the former
 * operation was launched, and no child of it was ever seen. */
static bool claim_slot(struct ncs_operation_slot *op, bool force,
		       bool *launched)
{
	/* ORDER: pairs with child_done() (plugin/events/operation.c): the
	 * former operation's last child no longer uses the slot. */
	uint64_t children = ncs_load_acquire(&op->children);
	/* ORDER: pairs with ncs_operation_start()
	 * (plugin/events/operation.c): the operation is complete. */
	uint64_t tag = ncs_load_acquire(&op->tag);
	/* ORDER: pairs with ncs_operation_stop()
	 * (plugin/events/operation.c). */
	uint64_t enqueued = ncs_load_acquire(&op->enqueued);

	if (!ncs_children_are_of(children, tag))
		return false; /* another thread has claimed it */
	if (tag & 1 &&
	    (ncs_children_in_progress(children) || (enqueued == 0 && !force)))
		return false;
	/* ORDER: pairs with claim_slot() (plugin/events/operation.c): only one
	 * of two threads gets the slot. */
	if (!ncs_cas_acquire_release(&op->children, children,
				     ncs_children_none(next_tag(tag))))
		return false;
	*launched = tag & 1 && children == ncs_children_none(tag) &&
		    ncs_load_relaxed(&op->launch) != 0;
	ncs_store_relaxed(&op->enqueued, 0);
	return true;
}

/* Adds to one of a function's counters. */
static void add_to_function(struct ncs_lane_state *lane, unsigned index,
			    size_t counter_offset, uint64_t addend)
{
	struct ncs_function *function = ncs_lane_function_begin(lane, index);

	ncs_lane_function_add(
		lane, (uint64_t *)((char *)function + counter_offset), addend);
	ncs_lane_function_end(lane, function);
}

/* Claims a slot, and sets *number to its operation's: NULL if none is free. */
static struct ncs_operation_slot *claim(struct ncs_comm *comm,
					struct ncs_lane_state *lane,
					uint64_t *number)
{
	bool launched;

	for (unsigned force = 0; force < 2; force++) {
		for (unsigned tries = 0; tries < CLAIM_TRIES; tries++) {
			uint64_t cursor = ncs_add_relaxed(
				&comm->header->filled.operations, 1);
			struct ncs_operation_slot *op =
				&comm->ops[cursor & (comm->operation_count - 1)];

			if (!claim_slot(op, force, &launched))
				continue;
			*number = cursor + 1;
			/* Later operations have run since, so it has ended. */
			if (launched)
				add_to_function(lane, op->function,
						offsetof(struct ncs_function,
							 operations_done),
						1);
			if (force)
				ncs_lane_lose(lane, NCS_LOSS_FORGOTTEN);
			return op;
		}
	}
	ncs_lane_lose(lane, NCS_LOSS_POOL_FULL);
	return NULL;
}

/* --- the published copy ------------------------------------------------- */

/* The words of an entry that are published with it; those after them are 0, and
 * change while it is in flight. */
#define FIXED_WORDS (offsetof(struct ncs_operation, enqueued) / 8)
#define USER_TAG_WORD (offsetof(struct ncs_operation, user_tag) / 8)
#define LAUNCH_WORD (offsetof(struct ncs_operation, launch) / 8)

static_assert(offsetof(struct ncs_operation, event) == 5 * 8 &&
		      offsetof(struct ncs_operation, nchannels) == 5 * 8 + 5 &&
		      offsetof(struct ncs_operation, peer) == 6 * 8 &&
		      offsetof(struct ncs_operation, range) == 6 * 8 + 4,
	      "words of small members");

/* Publishes an operation, word by word: reading back words that were put
 * together by smaller stores would have to wait for these. */
static void publish(const struct ncs_operation_slot *op,
		    const struct ncs_operation_facts *facts, uint64_t launch)
{
	uint64_t *block = (uint64_t *)op->published;
	const uint64_t words[FIXED_WORDS] = {
		op->number,
		op->start,
		facts->sequence_number,
		op->bytes,
		facts->count,
		(uint64_t)facts->event | (uint64_t)facts->function << 8 |
			(uint64_t)facts->datatype << 16 |
			(uint64_t)facts->algorithm << 24 |
			(uint64_t)facts->protocol << 32 |
			(uint64_t)facts->nchannels << 40,
		(uint32_t)facts->peer | (uint64_t)facts->range << 32,
	};

	ncs_store_relaxed(&block[0], 0);
	/* ORDER: pairs with read_operation() (shm/read/operation_reader.c): a
	 * reader that sees a word of this operation also sees that the former
	 * one is gone. */
	ncs_fence_release();
#pragma GCC unroll 16
	for (unsigned i = 1; i < FIXED_WORDS; i++)
		ncs_payload_store(&block[i], words[i]);
#pragma GCC unroll 16
	for (unsigned i = FIXED_WORDS; i < USER_TAG_WORD; i++)
		ncs_payload_store(&block[i], 0);
	ncs_payload_store(&block[USER_TAG_WORD], facts->user_tag);
	ncs_payload_store(&block[LAUNCH_WORD], launch);
	/* ORDER: pairs with read_operation() (shm/read/operation_reader.c): all
	 * words are visible before the number. */
	ncs_store_release(&block[0], words[0]);
}

/* --- start and stop ----------------------------------------------------- */

static void count_start(struct ncs_lane_state *lane,
			const struct ncs_operation_facts *facts,
			bool size_known, uint64_t bytes)
{
	struct ncs_function *function =
		ncs_lane_function_begin(lane, facts->function);
	uint64_t sequence = facts->sequence_number;

	ncs_lane_function_add(lane, &function->operations, 1);
	ncs_lane_function_add(lane, &function->bytes, bytes);
	if (!size_known)
		ncs_lane_function_add(lane, &function->size_unknown, 1);
	if (sequence != NCS_NO_SEQUENCE_NUMBER &&
	    sequence + 1 > ncs_load_relaxed(&function->last_sequence_number))
		ncs_payload_store(&function->last_sequence_number,
				  sequence + 1);
	ncs_lane_function_end(lane, function);
}

static void join_launch(struct ncs_comm *comm, struct ncs_lane_state *lane,
			struct ncs_operation_slot *op);

/* Counts a transfer, as ncs_transfers_count() does. */
static uint64_t count_transfer(struct ncs_comm *comm,
			       struct ncs_lane_state *lane,
			       const struct ncs_operation_facts *facts)
{
	uint64_t number;

	if (facts->event != NCS_EVENT_P2P ||
	    (facts->function != NCS_FUNCTION_SEND &&
	     facts->function != NCS_FUNCTION_RECV))
		return NCS_NO_SEQUENCE_NUMBER;
	number = ncs_transfers_count(comm, facts->peer,
				     facts->function == NCS_FUNCTION_SEND,
				     facts->captured);
	if (number == NCS_NO_SEQUENCE_NUMBER)
		ncs_lane_lose(lane, NCS_LOSS_TABLE_FULL);
	return number;
}

/* Returns false if NCCL is not asked to report launches: then the lane's last
 * one is of another operation. */
static bool are_launches_reported(const struct ncs_comm *comm)
{
	uint64_t events = ncs_load_relaxed(&comm->event_mask);

	return events == 0 || events >> NCS_EVENT_KERNEL_LAUNCH & 1;
}

uint64_t ncs_operation_start(struct ncs_comm *comm, struct ncs_lane_state *lane,
			     const struct ncs_operation_facts *facts,
			     uint64_t now)
{
	uint64_t number, bytes, tag;
	struct ncs_operation_slot *op = claim(comm, lane, &number);
	uint64_t transfer = count_transfer(comm, lane, facts);
	uint64_t sampling = ncs_sampling_choose(comm, facts, transfer);
	bool reported = are_launches_reported(comm);
	bool size_known = ncs_message_bytes(comm->nranks, facts->function,
					    facts->datatype, facts->count,
					    &bytes);
	uint16_t class_index = ncs_class_count(comm, facts, size_known, bytes);

	if (!lane->shared)
		lane->class_index = class_index;
	count_start(lane, facts, size_known, bytes);
	if (__builtin_expect(facts->range != 0, 0))
		ncs_range_operation(comm, facts->range, size_known, bytes);
	if (__builtin_expect(!op, 0))
		return ncs_handle_encode(NCS_HANDLE_UNTRACKED, comm->index, 0,
					 0, 0);
	op->number = number;
	op->start = now;
	op->launched = lane->shared ? 0 : ncs_load_relaxed(&lane->launched);
	op->bytes = bytes;
	op->sequence_number =
		facts->event == NCS_EVENT_P2P && !facts->captured &&
				ncs_transfers_are_all(comm) ?
			transfer :
			facts->sequence_number;
	op->stream = facts->stream;
	op->event = (uint8_t)facts->event;
	op->function = facts->function;
	op->size_known = size_known;
	op->class_index = class_index;
	op->peer = facts->peer;
	op->range = facts->range;
	ncs_store_relaxed(&op->proxy_start, 0);
	ncs_store_relaxed(&op->proxy_stop, 0);
	ncs_store_relaxed(&op->kernel_start_ns, 0);
	ncs_store_relaxed(&op->kernel_stop_ns, 0);
	for (unsigned i = 0; i < NCS_TIMING_COUNT; i++)
		op->recorded_ns[i] = 0;
	ncs_store_relaxed(&op->stream_begin, 0);
	ncs_store_relaxed(&op->stream_ns, 0);
	/* If it is followed, join_launch() sets it. */
	ncs_store_relaxed(&op->launch, reported && !lane->launch_slot ?
					       lane->launch_number :
					       0);
	ncs_store_relaxed(&op->sampling, sampling);
	ncs_store_relaxed(&op->under_way, 0);
	publish(op, facts, reported ? lane->launch_number : 0);
	tag = next_tag(ncs_load_relaxed(&op->tag));
	/* ORDER: pairs with claim_slot() (plugin/events/operation.c) and with
	 * ncs_operation_end_unfollowed() (plugin/events/operation.c): a thread
	 * that finds the new tag finds the operation complete, and not
	 * enqueued. */
	ncs_store_release(&op->tag, tag);
	if (reported && lane->launch_slot)
		join_launch(comm, lane, op);
	return ncs_handle_encode(NCS_HANDLE_OPERATION, comm->index,
				 (unsigned)(op - comm->ops), 0, tag);
}

bool ncs_operation_stop(struct ncs_comm *comm, uint64_t handle, uint64_t now)
{
	struct ncs_operation_slot *op = ncs_operation_find(comm, handle);

	if (!op || ncs_load_relaxed(&op->enqueued) != 0)
		return false;
	ncs_store_relaxed(&op->published->enqueued, now);
	/* ORDER: pairs with claim_slot() (plugin/events/operation.c): from here
	 * on another operation may claim the slot. */
	ncs_store_release(&op->enqueued, now);
	return true;
}

/* --- counting ----------------------------------------------------------- */

/* Counts a finished operation that was reopened, except in recent slots:
 * readers look for operations in the slots that they saw in use and in recent
 * ones. */
static void note_revived(struct ncs_comm *comm,
			 const struct ncs_operation_slot *op)
{
	struct ncs_filled *filled = &comm->header->filled;
	uint64_t slot = (uint64_t)(op - comm->ops);
	uint64_t age = (ncs_load_relaxed(&filled->operations) - 1 - slot) %
		       comm->operation_count;

	if (age >= NCS_FILLED_RECENT)
		ncs_add_relaxed(&filled->revived, 1);
}

/* Undoes the end of an operation: another child has started. */
static void take_back(struct ncs_comm *comm, struct ncs_lane_state *lane,
		      struct ncs_operation_slot *op)
{
	add_to_function(lane, op->function,
			offsetof(struct ncs_function, operations_done),
			UINT64_MAX);
	/* ORDER: pairs with read_operation() (shm/read/operation_reader.c): in
	 * flight again, with the same words. */
	ncs_store_release(&op->published->number, op->number);
	note_revived(comm, op);
}

struct ncs_operation_slot *
ncs_operation_child_started(struct ncs_comm *comm, struct ncs_lane_state *lane,
			    uint64_t handle, uint64_t now)
{
	uint64_t tag = ncs_handle_decode(handle).tag;
	struct ncs_operation_slot *op = ncs_operation_find(comm, handle);
	uint64_t before, after;

	if (!op)
		return NULL;
	do {
		before = ncs_load_relaxed(&op->children);
		if (!ncs_children_are_of(before, tag))
			return NULL;
		after = ncs_children_with_another(before);
		/* ORDER: pairs with child_done() (plugin/events/operation.c):
		 * this thread sees what the other children did, and keeps the
		 * slot. */
	} while (!ncs_cas_acquire_release(&op->children, before, after));
	ncs_store_relaxed(&op->published->children_started,
			  ncs_children_started(after));
	if (ncs_children_started(before) == 0) {
		add_to_function(lane, op->function,
				offsetof(struct ncs_function, with_children),
				1);
		ncs_store_relaxed(&op->published->first_child, now);
		ncs_range_first_child(comm, op);
	}
	if (ncs_children_live(before) == 0)
		ncs_range_begin(comm, op->range, now);
	if (before & NCS_CHILDREN_COUNTED)
		take_back(comm, lane, op);
	return op;
}

/* Adds to a function's times from one source. */
static void add_function_time(struct ncs_lane_state *lane, unsigned index,
			      enum ncs_timing timing, uint64_t timed,
			      uint64_t ns, uint64_t bytes)
{
	struct ncs_function *function = ncs_lane_function_begin(lane, index);
	struct ncs_time_counters times =
		ncs_function_times(lane->published, index, timing);

	ncs_lane_function_add(lane, times.timed, timed);
	ncs_lane_function_add(lane, times.bytes, bytes);
	ncs_lane_function_add(lane, times.time_ns, ns);
	ncs_lane_function_end(lane, function);
}

/* Adds an operation's time; replaces the one that was added when the operation
 * seemed to be finished before. */
static void record_time(struct ncs_comm *comm, struct ncs_lane_state *lane,
			struct ncs_operation_slot *op, enum ncs_timing timing,
			uint64_t ns, uint64_t bytes)
{
	struct ncs_histogram *histogram = ncs_class_histogram(
		comm, op->class_index, op->function, timing);
	uint64_t before = op->recorded_ns[timing];

	ncs_range_time(comm, lane, op, timing, ns, bytes, before);
	op->recorded_ns[timing] = ns + 1;
	add_function_time(lane, op->function, timing, before == 0 ? 1 : 0,
			  before == 0 ? ns : ns - (before - 1),
			  before == 0 ? bytes : 0);
	if (!histogram)
		ncs_lane_lose(lane, NCS_LOSS_TABLE_FULL);
	else if (before == 0)
		ncs_class_add_time(histogram, ns, bytes);
	else
		ncs_class_change_time(histogram, before - 1, ns);
}

static void publish_record(struct ncs_lane_state *lane,
			   const struct ncs_operation_slot *op, bool again,
			   uint64_t now)
{
	struct ncs_record record = {
		.start = op->start,
		.event = op->event,
		.flags = (uint8_t)((again ? NCS_RECORD_AGAIN : 0) |
				   ncs_load_relaxed(&op->sampling)),
		.channel = (uint8_t)(op->range < NCS_RECORD_RANGE_MAX ?
					     op->range :
					     NCS_RECORD_RANGE_MAX),
		.function = op->function,
		.operation = (uint32_t)op->number,
		.peer = op->peer,
		.value = op->bytes,
		.number = op->sequence_number,
		.duration = now - op->start,
	};
	uint64_t enqueued = ncs_load_relaxed(&op->enqueued);
	uint64_t proxy_start = ncs_load_relaxed(&op->proxy_start);
	uint64_t stream_begin = ncs_load_relaxed(&op->stream_begin);

	if (op->event == NCS_EVENT_P2P &&
	    op->sequence_number != NCS_NO_SEQUENCE_NUMBER)
		record.flags |= NCS_RECORD_NUMBERED;
	if (proxy_start > op->start)
		record.delta[1] = proxy_start - op->start;
	if (stream_begin != 0) {
		/* NCCL reports the operation after its launch, so that its
		 * kernel may have begun before that. */
		if (stream_begin <= op->start)
			record.start = stream_begin - 1;
		record.flags |= NCS_RECORD_ON_STREAM;
		record.delta[1] = stream_begin - record.start;
		record.duration =
			record.delta[1] +
			ncs_ticks_of_ns(ncs_load_relaxed(&op->stream_ns));
	}
	if (enqueued)
		record.delta[0] = enqueued - record.start;
	ncs_lane_publish_operation(lane, &record, op->stream);
}

/* Counts a finished operation and its times. */
static void count_done(struct ncs_comm *comm, struct ncs_lane_state *lane,
		       struct ncs_operation_slot *op, uint64_t now)
{
	uint64_t proxy_start = ncs_load_relaxed(&op->proxy_start);
	uint64_t proxy_stop = ncs_load_relaxed(&op->proxy_stop);
	uint64_t kernel_start_ns = ncs_load_relaxed(&op->kernel_start_ns);
	uint64_t kernel_stop_ns = ncs_load_relaxed(&op->kernel_stop_ns);
	uint64_t stream_ns = ncs_load_relaxed(&op->stream_ns);
	bool again = op->recorded_ns[NCS_TIMING_KERNEL] != 0 ||
		     op->recorded_ns[NCS_TIMING_PROXY] != 0 ||
		     op->recorded_ns[NCS_TIMING_STREAM] != 0;

	add_to_function(lane, op->function,
			offsetof(struct ncs_function, operations_done), 1);
	if (stream_ns != 0)
		record_time(comm, lane, op, NCS_TIMING_STREAM, stream_ns,
			    ncs_load_relaxed(&op->stream_bytes));
	if (proxy_stop != 0 && proxy_stop >= proxy_start)
		record_time(comm, lane, op, NCS_TIMING_PROXY,
			    ncs_ns_of_ticks(proxy_stop - proxy_start),
			    op->bytes);
	if (kernel_stop_ns > kernel_start_ns)
		record_time(comm, lane, op, NCS_TIMING_KERNEL,
			    kernel_stop_ns - kernel_start_ns, op->bytes);
	/* Without a child and without a time its end is known to the nearest
	 * look of the watch thread only. */
	if (proxy_stop != 0 || kernel_stop_ns != 0 || stream_ns != 0 ||
	    ncs_children_started(ncs_load_relaxed(&op->children)) != 0)
		publish_record(lane, op, again, now);
	if (op->number > ncs_load_relaxed(&comm->header->latest_done))
		ncs_store_relaxed(&comm->header->latest_done, op->number);
	ncs_store_relaxed(&op->published->number, 0);
}

/* Ends a child (`ended` is NCS_CHILD_LIVE) or the launch (NCS_LAUNCH_PENDING)
 * of an operation; the last one to end counts the operation. */
static void child_done(struct ncs_comm *comm, struct ncs_lane_state *lane,
		       struct ncs_operation_slot *op, uint64_t ended,
		       uint64_t now)
{
	uint64_t before, after;
	uint32_t range = op->range; /* the slot may change owners below */
	bool counted = false;

	ncs_store_relaxed(&op->published->last_child_done, now);
	do {
		if (counted)
			take_back(comm, lane, op);
		/* ORDER: pairs with child_done() (plugin/events/operation.c):
		 * the last child sees what the others did. */
		before = ncs_load_acquire(&op->children);
		after = before - ended;
		counted = !ncs_children_in_progress(after);
		ncs_store_relaxed(&op->published->children_done,
				  ncs_children_started(after) -
					  ncs_children_live(after));
		if (counted) {
			count_done(comm, lane, op, now);
			after |= NCS_CHILDREN_COUNTED;
		}
		/* ORDER: pairs with ncs_operation_child_started()
		 * (plugin/events/operation.c): that thread undoes the end, or
		 * this one sees its child. */
	} while (!ncs_cas_acquire_release(&op->children, before, after));
	if (ended == NCS_CHILD_LIVE && ncs_children_live(after) == 0)
		ncs_range_end_busy(comm, range, now);
}

/* Widens the span from *start to *stop, which are 0 at first. Only one thread
 * does so for each of the two clocks. */
static void widen(uint64_t *start, uint64_t *stop, uint64_t child_start,
		  uint64_t child_stop)
{
	uint64_t first = ncs_load_relaxed(start);

	if (child_start != 0 && (first == 0 || child_start < first))
		ncs_store_relaxed(start, child_start);
	if (child_stop > ncs_load_relaxed(stop))
		ncs_store_relaxed(stop, child_stop);
}

void ncs_operation_proxy_done(struct ncs_comm *comm,
			      struct ncs_lane_state *lane, uint64_t handle,
			      uint64_t start, uint64_t now)
{
	struct ncs_operation_slot *op =
		handle ? ncs_operation_find(comm, handle) : NULL;

	if (!op)
		return;
	widen(&op->proxy_start, &op->proxy_stop, start, now);
	child_done(comm, lane, op, NCS_CHILD_LIVE, now);
}

void ncs_operation_kernel_done(struct ncs_comm *comm,
			       struct ncs_lane_state *lane, uint64_t handle,
			       uint64_t gpu_start_ns, uint64_t gpu_stop_ns,
			       uint64_t now)
{
	struct ncs_operation_slot *op =
		handle ? ncs_operation_find(comm, handle) : NULL;

	if (!op)
		return;
	widen(&op->kernel_start_ns, &op->kernel_stop_ns, gpu_start_ns,
	      gpu_stop_ns);
	child_done(comm, lane, op, NCS_CHILD_LIVE, now);
}

void ncs_operation_child_forgotten(struct ncs_comm *comm, uint64_t handle)
{
	struct ncs_operation_slot *op =
		handle ? ncs_operation_find(comm, handle) : NULL;
	uint32_t range = op ? op->range : 0;
	uint64_t before;

	if (!op)
		return;
	do {
		before = ncs_load_relaxed(&op->children);
		/* NCCL will never report its end. */
		ncs_store_relaxed(
			&op->published->number,
			ncs_children_in_progress(before - NCS_CHILD_LIVE) ?
				op->number :
				0);
		/* ORDER: pairs with ncs_operation_child_started()
		 * (plugin/events/operation.c). */
	} while (!ncs_cas_acquire_release(&op->children, before,
					  before - NCS_CHILD_LIVE));
	if (ncs_children_live(before) == 1)
		ncs_range_end_busy(comm, range, ncs_now());
}

/* --- Launches ----------------------------------------------------------- */

/* Sets NCS_LAUNCH_PENDING, so that the operation keeps its slot. Returns false
 * if another operation has the slot. */
static bool await_launch(struct ncs_operation_slot *op)
{
	uint64_t tag = ncs_load_relaxed(&op->tag), before;

	do {
		before = ncs_load_relaxed(&op->children);
		if (!ncs_children_are_of(before, tag))
			return false;
		/* ORDER: pairs with child_done() (plugin/events/operation.c):
		 * the slot is kept until the launch is over. */
	} while (!ncs_cas_acquire_release(&op->children, before,
					  before | NCS_LAUNCH_PENDING));
	return true;
}

/* Ends the operation with a launch that was over before it joined. */
static void join_closed(struct ncs_comm *comm, struct ncs_lane_state *lane,
			struct ncs_operation_slot *op, uint64_t state)
{
	const struct ncs_launch_slot *slot = lane->launch_slot;
	struct ncs_launch_end end = {
		.begin = ncs_payload_load(&slot->begin),
		.time_ns = ncs_payload_load(&slot->time_ns),
		.bytes = op->bytes,
	};

	/* ORDER: pairs with open_slot() (plugin/events/launch.c): the times are
	 * this launch's, unless the slot is another's by now. */
	ncs_fence_acquire();
	if (!ncs_launch_is(ncs_load_relaxed(&slot->state),
			   lane->launch_number) ||
	    !ncs_launch_is(state, lane->launch_number))
		end.begin = end.time_ns = 0;
	ncs_operation_launch_done(comm, lane, op, lane->launch_number, &end,
				  ncs_now());
}

/* Joins the launch that the operation belongs to, so that it is in progress
 * until the launch is over. */
static void join_launch(struct ncs_comm *comm, struct ncs_lane_state *lane,
			struct ncs_operation_slot *op)
{
	struct ncs_launch_slot *slot = lane->launch_slot;
	uint64_t number = lane->launch_number, before;
	unsigned joined;

	if (!await_launch(op))
		return;
	/* ORDER: pairs with ncs_operation_launch_done()
	 * (plugin/events/operation.c): the operation waits for its launch
	 * before it can be ended. */
	ncs_store_release(&op->launch, number);
	ncs_add_relaxed(&slot->bytes, op->bytes);
	do {
		/* ORDER: pairs with close_launch() (plugin/life/launch_end.c)
		 * and with ncs_launch_stop_followed() (plugin/events/launch.c):
		 * the times of a launch that is closed are known. */
		before = ncs_load_acquire(&slot->state);
		if (!ncs_launch_is(before, number) ||
		    before & NCS_LAUNCH_CLOSED) {
			join_closed(comm, lane, op, before);
			return;
		}
		/* One thread starts the operations of a launch, so that the
		 * place is this operation's even if the exchange fails. */
		joined = ncs_launch_joined(before);
		if (joined < NCS_LAUNCH_KNOWN)
			ncs_store_relaxed32(&slot->operations[joined],
					    (uint32_t)(op - comm->ops));
		/* ORDER: pairs with close_launch()
		 * (plugin/life/launch_end.c): the operation is in its slot
		 * before the launch ends it. */
	} while ((before & NCS_LAUNCH_JOINED_MASK) != NCS_LAUNCH_JOINED_MASK &&
		 !ncs_cas_acquire_release(&slot->state, before,
					  before + NCS_LAUNCH_JOINED));
}

void ncs_operation_launch_began(struct ncs_operation_slot *op, uint64_t now)
{
	if (ncs_load_relaxed(&op->published->first_child) == 0)
		ncs_store_relaxed(&op->published->first_child, now);
}

/* Returns when an operation's launch ended: if that is not known, when its last
 * child did, else `now`, when the watch thread noticed. */
static uint64_t end_of_launch(const struct ncs_operation_slot *op,
			      const struct ncs_launch_end *end, uint64_t now)
{
	uint64_t last = ncs_load_relaxed(&op->published->last_child_done);

	if (end->begin != 0)
		return end->begin + ncs_ticks_of_ns(end->time_ns);
	return last != 0 ? last : now;
}

void ncs_operation_launch_done(struct ncs_comm *comm,
			       struct ncs_lane_state *lane,
			       struct ncs_operation_slot *op, uint64_t launch,
			       const struct ncs_launch_end *end, uint64_t now)
{
	/* ORDER: pairs with join_launch() (plugin/events/operation.c): of the
	 * thread that starts the operation and the watch thread one ends it. */
	if (!ncs_cas_acquire_release(&op->launch, launch, 0))
		return;
	ncs_store_relaxed(&op->stream_begin, end->begin);
	ncs_store_relaxed(&op->stream_bytes, end->bytes);
	ncs_store_relaxed(&op->stream_ns, end->time_ns);
	child_done(comm, lane, op, NCS_LAUNCH_PENDING,
		   end_of_launch(op, end, now));
}

uint64_t ncs_operation_replay_began(struct ncs_comm *comm,
				    struct ncs_lane_state *lane,
				    const struct ncs_operation_facts *facts,
				    uint64_t begin)
{
	uint64_t handle = ncs_operation_start(comm, lane, facts, begin);
	struct ncs_operation_slot *op = ncs_operation_find(comm, handle);

	if (op && await_launch(op)) {
		ncs_operation_launch_began(op, begin);
		ncs_operation_stop(comm, handle, begin);
	}
	return handle;
}

void ncs_operation_replay_ended(struct ncs_comm *comm,
				struct ncs_lane_state *lane, uint64_t handle,
				const struct ncs_launch_end *end, uint64_t now)
{
	struct ncs_operation_slot *op = ncs_operation_find(comm, handle);
	uint64_t launch = op ? ncs_load_relaxed(&op->launch) : 0;

	if (launch != 0)
		ncs_operation_launch_done(comm, lane, op, launch, end, now);
}

void ncs_operation_end_unfollowed(struct ncs_comm *comm,
				  struct ncs_lane_state *lane,
				  struct ncs_operation_slot *op,
				  uint64_t launch, uint64_t now)
{
	/* ORDER: pairs with ncs_operation_start()
	 * (plugin/events/operation.c): what follows is this operation's. */
	uint64_t tag = ncs_load_acquire(&op->tag);

	/* ORDER: pairs with ncs_operation_stop()
	 * (plugin/events/operation.c). */
	if (!(tag & 1) || ncs_load_acquire(&op->enqueued) == 0 ||
	    ncs_load_relaxed(&op->launch) == 0 ||
	    ncs_load_relaxed(&op->launch) > launch)
		return;
	/* ORDER: pairs with claim_slot() (plugin/events/operation.c): only an
	 * operation without children, and from here on it keeps its slot. */
	if (!ncs_cas_acquire_release(&op->children, ncs_children_none(tag),
				     ncs_children_none(tag) |
					     NCS_LAUNCH_PENDING))
		return;
	child_done(comm, lane, op, NCS_LAUNCH_PENDING, now);
}
