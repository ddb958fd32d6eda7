/* SPDX-License-Identifier: MIT */
/* Sorting a rank's records by operation; see parts.h. */
#include "analysis/records/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "analysis/base/hash_table.h"
#include "analysis/base/move_clock.h"
#include "analysis/records/gpu_readings.h"
#include "analysis/records/operation_record.h"
#include "analysis/records/operation_times.h"
#include "analysis/records/part_channels.h"
#include "analysis/records/size_algorithms.h"
#include "ncclstat/abi_header.h"
#include "shm/clock.h"
#include "shm/hash.h"

/* Number of operations that are in progress or wait to be settled. */
#define SLOTS_MAX (UINT32_C(1) << 18)
/* An operation that has not ended when one comes that began this many later
 * never will: its own record was overwritten before it was read. */
#define SLOTS_UNENDED 4096

/* Calls of the application that are kept at first, and at most. */
#define CALLS 64u
#define CALLS_MAX (UINT32_C(1) << 18)

/* The kind of a kernel launch among calls, where the other kinds are functions. */
#define KIND_LAUNCH NCS_FUNCTION_COUNT

/* A call of the application. */
struct timed_call {
	uint64_t start_ns;
	uint64_t stream; /* as in records; 0 if not known */
	unsigned kind;
};

/* The application's latest calls, in order of time. They are kept to find the call
 * that began an operation, because records of calls name no operation. */
struct call_ring {
	struct timed_call *calls;
	size_t capacity;
	uint64_t count;     /* of all calls taken */
	uint64_t needed_ns; /* older calls need not be kept; 0: keep all */
};

/* The records of one operation, added up. */
struct part_slot {
	struct ncs_hash_link link; /* by operation */
	TAILQ_ENTRY(part_slot) entry;
	uint32_t operation;
	bool has_ended;
	uint64_t drained_ns;              /* when its record was read first */
	uint64_t end_ns;                  /* of that record */
	struct ncs_operation_ticks ticks; /* of its record */
	struct ncs_part part;
	struct ncs_children children;
	struct ncs_part_channels channels;
};

TAILQ_HEAD(slot_list, part_slot);

struct ncs_parts {
	struct ncs_clock clock; /* of all times in here */
	bool is_moved;          /* from it to the caller's, and back */
	struct ncs_clock_move move, move_back;
	struct ncs_gpu_readings gpu; /* of its clock */
	uint64_t stream_error_ns;    /* of times from the stream */
	uint64_t clock_error_ns;     /* against other clocks */
	uint32_t clock_number;       /* the caller's */
	bool clock_is_by_realtime;
	uint64_t comm_id;
	int32_t rank;
	int32_t nranks;
	size_t owner;
	struct ncs_size_algorithms algorithms;
	struct ncs_hash_table slots;
	/* Each slot is in one of these, in the order of the first records and in
	 * that of the ends, unless ended_unsorted. */
	struct slot_list unended, ended;
	bool ended_unsorted;
	struct call_ring calls;
	struct ncs_replaced_records *replaced; /* NULL if not known */
	/* Records that ended in this interval may be missing; none if
	 * lost_until_ns is 0. */
	uint64_t lost_from_ns, lost_until_ns;
	bool has_learned;
	uint64_t lost_before; /* of count.lost: before the first snapshot */
	uint64_t latest_ns;        /* latest end of a record */
	uint64_t settled_ns;       /* see ncs_parts_settle() */
	uint64_t settled_ended_ns; /* see ncs_parts_settle_ended() */
	struct ncs_part given;
	struct ncs_parts_count count;
};

/* --- Slots ---------------------------------------------------------------- */

static void free_slot(struct ncs_parts *parts, struct part_slot *slot)
{
	ncs_hash_table_remove(&parts->slots, &slot->link);
	TAILQ_REMOVE(slot->has_ended ? &parts->ended : &parts->unended, slot,
		     entry);
	ncs_part_channels_release(&slot->channels);
	free(slot);
}

/* Returns the slot that an operation that comes makes useless, or that there are
 * too many of. NULL if there is none. */
static struct part_slot *slot_to_drop(const struct ncs_parts *parts,
				      uint32_t operation)
{
	struct part_slot *oldest = TAILQ_FIRST(&parts->unended);

	/* Numbers wrap around. */
	if (oldest && (int32_t)(operation - oldest->operation) > SLOTS_UNENDED)
		return oldest;
	if (parts->slots.count < SLOTS_MAX)
		return NULL;
	return oldest ? oldest : TAILQ_FIRST(&parts->ended);
}

/* Returns the slot of an operation, or NULL if there is no memory. */
static struct part_slot *slot_of(struct ncs_parts *parts, uint32_t operation)
{
	/* ncs_hash() is a bijection: equal hashes have equal numbers. */
	struct part_slot *slot =
		ncs_hash_table_first(&parts->slots, ncs_hash(operation));

	if (slot)
		return slot;
	while ((slot = slot_to_drop(parts, operation))) {
		parts->count.dropped++;
		free_slot(parts, slot);
	}
	slot = ncs_hash_table_add(&parts->slots, sizeof(*slot),
				  ncs_hash(operation));
	if (!slot)
		return NULL;
	slot->operation = operation;
	TAILQ_INSERT_TAIL(&parts->unended, slot, entry);
	return slot;
}

/* --- The rank ------------------------------------------------------------- */

static void identify(struct ncs_parts *parts,
		     const struct ncs_identity *identity)
{
	if (identity->known & NCS_KNOWN_COMM_ID)
		parts->comm_id = identity->comm_id;
	if (identity->known & NCS_KNOWN_RANK)
		parts->rank = identity->rank;
	if (identity->known & NCS_KNOWN_NRANKS)
		parts->nranks = identity->nranks;
}

struct ncs_parts *ncs_parts_new(const struct ncs_header *header, size_t owner)
{
	struct ncs_parts *parts = calloc(1, sizeof(*parts));

	if (!parts)
		return NULL;
	TAILQ_INIT(&parts->unended);
	TAILQ_INIT(&parts->ended);
	parts->clock = header->clock;
	parts->owner = owner;
	parts->rank = parts->nranks = -1;
	identify(parts, &header->identity);
	parts->calls.capacity = CALLS;
	parts->calls.calls = calloc(CALLS, sizeof(*parts->calls.calls));
	if (parts->calls.calls)
		return parts;
	ncs_parts_free(parts);
	return NULL;
}

void ncs_parts_free(struct ncs_parts *parts)
{
	if (!parts)
		return;
	while (!TAILQ_EMPTY(&parts->unended))
		free_slot(parts, TAILQ_FIRST(&parts->unended));
	while (!TAILQ_EMPTY(&parts->ended))
		free_slot(parts, TAILQ_FIRST(&parts->ended));
	ncs_hash_table_release(&parts->slots);
	free(parts->calls.calls);
	ncs_gpu_readings_release(&parts->gpu);
	free(parts);
}

void ncs_parts_set_clock(struct ncs_parts *parts, uint32_t clock,
			 uint64_t error_ns, bool is_by_realtime)
{
	parts->clock_number = clock;
	parts->clock_error_ns = error_ns;
	parts->clock_is_by_realtime = is_by_realtime;
}

void ncs_parts_move(struct ncs_parts *parts, const struct ncs_clock *clock)
{
	parts->move = ncs_clock_move_between(&parts->clock, clock);
	parts->move_back = ncs_clock_move_back(&parts->move);
	parts->is_moved = parts->move.offset_ns != 0 || parts->move.drift != 0;
}

/* Returns a time of the caller's by the clock of the times in here. */
static uint64_t own_ns(const struct ncs_parts *parts, uint64_t ns)
{
	return parts->is_moved && ns != 0 && ns != UINT64_MAX ?
		       ncs_clock_moved_ns(&parts->move_back, ns) :
		       ns;
}

/* Returns a time in here by the caller's clock. */
static uint64_t given_ns(const struct ncs_parts *parts, uint64_t ns)
{
	return parts->is_moved && ns != 0 ?
		       ncs_clock_moved_ns(&parts->move, ns) :
		       ns;
}

/* Learns from the first snapshot which records cannot be had any more. */
static void learn_reach(struct ncs_parts *parts,
			const struct ncs_snapshot *snapshot)
{
	const struct ncs_reach *calls = &snapshot->calls_reach;

	parts->has_learned = true;
	parts->lost_until_ns = own_ns(parts, snapshot->children_reach.from_ns);
	if (calls->from_ns == 0 ||
	    calls->from_ns + NCS_LOOK_BACK_NS <= snapshot->taken_ns)
		return;
	parts->lost_before = calls->overwritten;
	parts->count.lost += parts->lost_before;
	parts->count.from_ns = calls->from_ns;
}

static void forget_reach(struct ncs_parts *parts)
{
	parts->count.lost -= parts->lost_before;
	parts->count.from_ns = parts->lost_before = 0;
}

int ncs_parts_learn(struct ncs_parts *parts,
		    const struct ncs_snapshot *snapshot)
{
	struct ncs_gpu_clock_view gpu = snapshot->gpu_clock;

	if (!parts->has_learned)
		learn_reach(parts, snapshot);
	else if (parts->count.from_ns + NCS_LOOK_BACK_NS <= snapshot->taken_ns)
		forget_reach(parts);
	identify(parts, &snapshot->identity);
	/* Its offset is from the time told. */
	gpu.offset_ns += (int64_t)(gpu.told_ns - own_ns(parts, gpu.told_ns));
	gpu.told_ns = own_ns(parts, gpu.told_ns);
	if (ncs_gpu_readings_add(&parts->gpu, &gpu) != 0)
		return -ENOMEM;
	if (snapshot->launches.error_ns > 0)
		parts->stream_error_ns = snapshot->launches.error_ns;
	ncs_size_algorithms_learn(&parts->algorithms, snapshot);
	return 0;
}

/* --- Calls ---------------------------------------------------------------- */

static struct timed_call *call_at(const struct call_ring *ring, uint64_t index)
{
	return &ring->calls[index % ring->capacity];
}

static uint64_t oldest_call(const struct call_ring *ring)
{
	return ring->count > ring->capacity ? ring->count - ring->capacity : 0;
}

/* Doubles the capacity. If there is no memory, the oldest calls are lost, as
 * they are where there are too many. */
static void grow(struct call_ring *ring)
{
	struct call_ring grown = *ring;

	grown.capacity *= 2;
	grown.calls = calloc(grown.capacity, sizeof(*grown.calls));
	if (!grown.calls)
		return;
	for (uint64_t i = oldest_call(ring); i < ring->count; i++)
		*call_at(&grown, i) = *call_at(ring, i);
	free(ring->calls);
	*ring = grown;
}

/* Adds a call. The calls of one thread come in order, those of several threads
 * nearly so. */
static void take_call(struct ncs_parts *parts, const struct ncs_record *record)
{
	const struct timed_call call = {
		.start_ns = ncs_clock_ns(&parts->clock, record->start),
		.stream = record->delta[0],
		.kind = record->event == NCS_EVENT_KERNEL_LAUNCH ?
				KIND_LAUNCH :
				record->function,
	};
	struct call_ring *ring = &parts->calls;
	uint64_t place = ring->count;

	if (place >= ring->capacity && ring->capacity < CALLS_MAX &&
	    call_at(ring, oldest_call(ring))->start_ns >= ring->needed_ns)
		grow(ring);
	ring->count++;
	for (; place > oldest_call(ring) &&
	       call_at(ring, place - 1)->start_ns > call.start_ns;
	     place--)
		*call_at(ring, place) = *call_at(ring, place - 1);
	*call_at(ring, place) = call;
}

/* Returns the latest call of a kind up to `time_ns`, or one of zeros if none is
 * known. For the begin of an operation, this is the call that began it, or the
 * last call before its group was launched. */
static struct timed_call call_before(const struct call_ring *ring,
				     unsigned kind, uint64_t time_ns)
{
	uint64_t low = oldest_call(ring), high = ring->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (call_at(ring, middle)->start_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > oldest_call(ring))
		if (call_at(ring, low)->kind == kind)
			return *call_at(ring, low);
	return (struct timed_call){ 0 };
}

/* --- Records -------------------------------------------------------------- */

static int take_child(struct ncs_parts *parts, const struct ncs_record *record)
{
	bool is_transfer = record->event == NCS_EVENT_PROXY_OP ||
			   record->event == NCS_EVENT_PROXY_STEP;
	struct part_slot *slot;

	if (record->operation == 0 ||
	    (!is_transfer && record->event != NCS_EVENT_KERNEL_CH))
		return 0;
	slot = slot_of(parts, record->operation);
	if (!slot)
		return -ENOMEM;
	ncs_children_take(&slot->children, &parts->clock, record);
	if (record->flags & NCS_RECORD_MISSING_STOP)
		slot->part.flags |= NCS_PART_MISSING_STOP;
	return is_transfer ? ncs_part_channels_take(&slot->channels,
						    &parts->clock, record) :
			     0;
}

/* Notes that an operation's own record has come. */
static void end_slot(struct ncs_parts *parts, struct part_slot *slot,
		     const struct ncs_record *record, uint64_t drained_ns)
{
	const struct part_slot *before = TAILQ_LAST(&parts->ended, slot_list);

	TAILQ_REMOVE(&parts->unended, slot, entry);
	TAILQ_INSERT_TAIL(&parts->ended, slot, entry);
	slot->has_ended = true;
	slot->drained_ns = drained_ns;
	slot->end_ns = ncs_clock_ns(&parts->clock,
				    record->start + record->duration);
	if (before && slot->end_ns < before->end_ns)
		parts->ended_unsorted = true;
}

static int take_operation(struct ncs_parts *parts,
			  const struct ncs_record *record, uint64_t drained_ns)
{
	struct part_slot *slot;

	if (record->operation == 0 || record->function >= NCS_FUNCTION_COUNT)
		return 0;
	if (parts->replaced && ncs_replaced_records_take(parts->replaced,
							 parts->owner, record))
		return 0;
	slot = slot_of(parts, record->operation);
	if (!slot)
		return -ENOMEM;
	if (!slot->has_ended && !parts->replaced &&
	    (record->flags & NCS_RECORD_AGAIN)) {
		/* The part that this record replaces has been given out; only
		 * later children are here. */
		free_slot(parts, slot);
		return 0;
	}
	if (!slot->has_ended)
		end_slot(parts, slot, record, drained_ns);
	slot->ticks = ncs_operation_ticks(record);
	slot->part.function = record->function;
	slot->part.peer = record->peer;
	slot->part.bytes = record->value;
	slot->part.number = record->number;
	slot->part.range =
		record->channel < NCS_RECORD_RANGE_MAX ? record->channel : 0;
	if (record->event == NCS_EVENT_P2P)
		slot->part.flags |= NCS_PART_P2P;
	if (record->event == NCS_EVENT_P2P &&
	    record->flags & NCS_RECORD_NUMBERED)
		slot->part.flags |= NCS_PART_NUMBERED;
	/* One that turned out to be slow lacks the children before that. */
	if (record->flags & NCS_RECORD_LEFT_OUT ||
	    NCS_RECORD_LEVEL(record->flags) == NCS_LEVEL_SLOW)
		slot->part.flags |= NCS_PART_LEFT_OUT;
	return 0;
}

static int take(struct ncs_parts *parts, const struct ncs_record *record,
		uint64_t drained_ns)
{
	switch (record->event) {
	case NCS_EVENT_COLL:
	case NCS_EVENT_P2P:
		return take_operation(parts, record, drained_ns);
	case NCS_EVENT_COLL_API:
	case NCS_EVENT_P2P_API:
	case NCS_EVENT_KERNEL_LAUNCH:
		take_call(parts, record);
		return 0;
	default:
		return take_child(parts, record);
	}
}

/* Notes a loss: the lost records ended between the records before and after. */
static void note_loss(struct ncs_parts *parts, const struct ncs_record *next,
		      uint64_t lost, uint64_t drained_ns)
{
	parts->count.lost += lost;
	if (parts->lost_until_ns <= parts->settled_ns)
		parts->lost_from_ns = parts->latest_ns;
	parts->lost_until_ns =
		next ? ncs_clock_ns(&parts->clock,
				    next->start + next->duration) :
		       drained_ns;
	/* The right call may be among them, and an older one would be found. */
	parts->calls.count = 0;
}

static void settle(struct ncs_parts *parts, uint64_t drained_ns)
{
	if (drained_ns > parts->settled_ns)
		parts->settled_ns = drained_ns;
}

void ncs_parts_look_ahead(struct ncs_parts *parts,
			  struct ncs_replaced_records *replaced)
{
	parts->replaced = replaced;
}

int ncs_parts_take(struct ncs_parts *parts, const struct ncs_record *records,
		   size_t count, uint64_t lost, uint64_t drained_ns)
{
	int error = 0;

	drained_ns = own_ns(parts, drained_ns);
	if (lost > 0)
		note_loss(parts, count > 0 ? records : NULL, lost, drained_ns);
	for (size_t i = 0; i < count; i++) {
		uint64_t end_ns = ncs_clock_ns(
			&parts->clock, records[i].start + records[i].duration);
		int failed = take(parts, &records[i], drained_ns);

		if (failed)
			error = failed;
		if (end_ns > parts->latest_ns)
			parts->latest_ns = end_ns;
	}
	if (drained_ns > NCS_SETTLES_AFTER_NS)
		settle(parts, drained_ns - NCS_SETTLES_AFTER_NS);
	return error;
}

void ncs_parts_settle(struct ncs_parts *parts, uint64_t drained_ns)
{
	settle(parts, own_ns(parts, drained_ns));
}

void ncs_parts_settle_ended(struct ncs_parts *parts, uint64_t ended_ns)
{
	ended_ns = own_ns(parts, ended_ns);
	if (ended_ns > parts->settled_ended_ns)
		parts->settled_ended_ns = ended_ns;
}

/* --- Parts ---------------------------------------------------------------- */

static void find_calls(struct ncs_parts *parts, struct ncs_part *part)
{
	uint64_t begin_ns = part->at_ns[NCS_MOMENT_OPERATION];
	struct timed_call call =
		call_before(&parts->calls, part->function, begin_ns);
	struct timed_call launch =
		call_before(&parts->calls, KIND_LAUNCH, begin_ns);

	part->at_ns[NCS_MOMENT_CALL] = call.start_ns;
	part->stream = call.stream;
	/* A launch before the call belongs to another operation. */
	if (call.start_ns != 0 && launch.start_ns >= call.start_ns) {
		part->at_ns[NCS_MOMENT_LAUNCH] = launch.start_ns;
		part->stream = launch.stream;
	}
	parts->calls.needed_ns = call.start_ns != 0 ? call.start_ns : begin_ns;
}

/* Returns an error as a part keeps it. */
static uint32_t error_of(uint64_t error_ns)
{
	return error_ns < UINT32_MAX ? (uint32_t)error_ns : UINT32_MAX;
}

/* Finds when the rank had data of its own to send. */
static void find_data(const struct part_slot *slot, struct ncs_part *part)
{
	static const enum ncs_moment begins[] = { NCS_MOMENT_OPERATION,
						  NCS_MOMENT_PROXY,
						  NCS_MOMENT_STREAM,
						  NCS_MOMENT_KERNEL };
	uint64_t *at_ns = part->at_ns, begin_ns = 0;

	/* The first data that it sent were its own in a ring, where a rank sends to
	 * one peer and receives from another. In a tree, where it sends to and
	 * receives from each peer, it may have waited for those of others first. */
	if (slot->children.sends != slot->children.receives) {
		at_ns[NCS_MOMENT_DATA] = ncs_operation_times_within(
			at_ns, slot->children.data_ns);
		return;
	}
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (at_ns[begins[i]] != 0)
			begin_ns = at_ns[begins[i]];
	part->flags |= NCS_PART_DATA_COMPUTED;
	at_ns[NCS_MOMENT_DATA] = ncs_operation_times_within(
		at_ns, ncs_first_data_ns(slot->channels.all,
					 slot->channels.count, begin_ns));
}

static void finish(struct ncs_parts *parts, const struct part_slot *slot,
		   struct ncs_part *part)
{
	const struct ncs_operation_clocks clocks = { &parts->clock,
						     &parts->gpu };
	struct ncs_size_algorithm known = ncs_size_algorithms_find(
		&parts->algorithms, slot->part.function, slot->part.bytes);
	struct ncs_kernel_trust kernel;
	uint64_t *at_ns = part->at_ns;

	*part = slot->part;
	part->comm_id = parts->comm_id;
	part->rank = parts->rank;
	part->nranks = parts->nranks;
	part->owner = parts->owner;
	part->clock = parts->clock_number;
	part->clock_error_ns = error_of(parts->clock_error_ns);
	if (parts->clock_is_by_realtime)
		part->flags |= NCS_PART_BY_REALTIME;
	part->operation = slot->operation;
	part->algorithm = known.algorithm;
	part->protocol = known.protocol;
	ncs_operation_times_take(at_ns, &clocks, &slot->ticks, &slot->children);
	if (slot->ticks.is_on_stream)
		part->stream_error_ns = error_of(parts->stream_error_ns);
	if (at_ns[NCS_MOMENT_OPERATION] <= parts->lost_until_ns &&
	    at_ns[NCS_MOMENT_LAST_END] >= parts->lost_from_ns)
		part->flags |= NCS_PART_LEFT_OUT;
	find_calls(parts, part);
	ncs_part_channels_sum(&slot->channels, part);
	if (part->flags & NCS_PART_LEFT_OUT)
		return;
	ncs_part_channels_link(&slot->channels, part);
	kernel = ncs_operation_times_take_kernel(at_ns, &clocks,
						 &slot->children);
	part->kernel_error_ns = error_of(kernel.error_ns);
	if (kernel.is_early)
		part->flags |= NCS_PART_KERNEL_END_EARLY;
	find_data(slot, part);
}

/* Gives a part's times by the caller's clock. */
static void move_part(const struct ncs_parts *parts, struct ncs_part *part)
{
	for (unsigned i = 0; i < NCS_MOMENT_COUNT; i++)
		part->at_ns[i] = given_ns(parts, part->at_ns[i]);
	part->last_data_ns = given_ns(parts, part->last_data_ns);
	part->slowest.end_ns = given_ns(parts, part->slowest.end_ns);
	part->wire.end_ns = given_ns(parts, part->wire.end_ns);
	for (uint32_t i = 0; i < part->link_count; i++)
		part->links[i].mean_ns =
			given_ns(parts, part->links[i].mean_ns);
}

uint64_t ncs_part_error_ns(const struct ncs_part *part, enum ncs_moment moment)
{
	switch (moment) {
	case NCS_MOMENT_STREAM:
	case NCS_MOMENT_STREAM_END:
		return part->stream_error_ns;
	case NCS_MOMENT_KERNEL:
	case NCS_MOMENT_KERNEL_END:
		return part->kernel_error_ns;
	default:
		return 0;
	}
}

uint64_t ncs_parts_error_ns(const struct ncs_part *a, enum ncs_moment a_moment,
			    const struct ncs_part *b, enum ncs_moment b_moment)
{
	uint64_t error_ns =
		ncs_part_error_ns(a, a_moment) + ncs_part_error_ns(b, b_moment);

	if (a->clock != b->clock)
		error_ns += (uint64_t)a->clock_error_ns + b->clock_error_ns;
	return error_ns;
}

uint64_t ncs_part_first_end_ns(const struct ncs_part *part)
{
	uint64_t first_ns = part->at_ns[NCS_MOMENT_LAST_END];

	for (unsigned i = NCS_MOMENT_KERNEL_END; i < NCS_MOMENT_LAST_END; i++)
		if (part->at_ns[i] != 0 && part->at_ns[i] < first_ns)
			first_ns = part->at_ns[i];
	return first_ns;
}

static int compare_ends(const void *a, const void *b)
{
	const struct part_slot *const *x = a, *const *y = b;

	if ((*x)->end_ns != (*y)->end_ns)
		return (*x)->end_ns < (*y)->end_ns ? -1 : 1;
	return ((*x)->operation > (*y)->operation) -
	       ((*x)->operation < (*y)->operation);
}

/* Sorts the slots that have ended. Lanes are taken one after the other, and each
 * may have the operations of many seconds. Without memory they stay as they
 * are. */
static void sort_ended(struct ncs_parts *parts)
{
	struct part_slot **slots =
		malloc(parts->slots.count * sizeof(struct part_slot *));
	struct part_slot *slot;
	size_t count = 0;

	if (!slots)
		return;
	TAILQ_FOREACH (slot, &parts->ended, entry)
		slots[count++] = slot;
	qsort(slots, count, sizeof(slots[0]), compare_ends);
	TAILQ_INIT(&parts->ended);
	for (size_t i = 0; i < count; i++)
		TAILQ_INSERT_TAIL(&parts->ended, slots[i], entry);
	parts->ended_unsorted = false;
	free(slots);
}

const struct ncs_part *ncs_parts_next(struct ncs_parts *parts)
{
	struct part_slot *slot;

	if (parts->ended_unsorted)
		sort_ended(parts);
	slot = TAILQ_FIRST(&parts->ended);
	if (!slot || (slot->drained_ns > parts->settled_ns &&
		      slot->end_ns > parts->settled_ended_ns))
		return NULL;
	finish(parts, slot, &parts->given);
	move_part(parts, &parts->given);
	free_slot(parts, slot);
	return &parts->given;
}

const struct ncs_parts_count *ncs_parts_count(const struct ncs_parts *parts)
{
	return &parts->count;
}
