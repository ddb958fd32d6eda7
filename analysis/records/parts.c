/* SPDX-License-Identifier: MIT */
/* Sorting a rank's records by operation; see parts.h. */
#include "analysis/records/parts.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/base/move_clock.h"
#include "analysis/records/call_history.h"
#include "analysis/records/children.h"
#include "analysis/records/first_data.h"
#include "analysis/records/gpu_readings.h"
#include "analysis/records/operation_record.h"
#include "analysis/records/operation_times.h"
#include "analysis/records/part_channels.h"
#include "analysis/records/part_links.h"
#include "analysis/records/size_algorithms.h"
#include "shm/clock.h"

/* Records of other lanes come at most this much later. */
#define SETTLES_AFTER_NS UINT64_C(10000000)

/* Number of operations that are in progress or wait to be settled. */
#define SLOTS 64u
#define SLOTS_MAX (UINT32_C(1) << 18)
/* An operation that has not ended by the time this many others came never
 * will. */
#define SLOTS_UNENDED 4096u

#define CALLS 64u
#define CALLS_MAX (UINT32_C(1) << 18)

/* The kind of a kernel launch in the call history, where the other kinds are
 * functions. */
#define KIND_LAUNCH NCS_FUNCTION_COUNT

struct part_slot {
	uint32_t operation; /* 0: none */
	bool has_ended;
	uint64_t drained_ns;              /* when its record was read */
	struct ncs_operation_ticks ticks; /* of its record */
	struct ncs_part part;
	struct ncs_children children;
	struct ncs_part_channels channels;
};

struct ended_operation {
	uint32_t operation;
	uint64_t drained_ns;
	uint64_t end_ns;
};

struct ncs_parts {
	struct ncs_clock clock; /* of all times in here */
	bool is_moved;          /* from it to the caller's, and back */
	struct ncs_clock_move move, move_back;
	struct ncs_gpu_readings gpu; /* of its clock */
	uint64_t stream_error_ns;    /* of times from the stream */
	uint64_t clock_error_ns;     /* against other clocks */
	uint32_t clock_number;       /* the caller's */
	uint64_t comm_id;
	int32_t rank;
	int32_t nranks;
	size_t owner;
	struct ncs_size_algorithms algorithms;
	struct part_slot *slots; /* by operation modulo slot_count */
	uint32_t slot_count;
	struct ended_operation *ended; /* a ring, in order of their records */
	uint32_t ended_capacity;
	uint64_t ended_first, ended_next;
	struct ncs_call_history calls;
	struct ncs_replaced_records *replaced; /* NULL if not known */
	/* Records that ended in this interval may be missing; none if
	 * lost_until_ns is 0. */
	uint64_t lost_from_ns, lost_until_ns;
	uint64_t latest_ns;        /* latest end of a record */
	uint64_t settled_ns;       /* see ncs_parts_settle() */
	uint64_t settled_ended_ns; /* see ncs_parts_settle_ended() */
	struct ncs_part given;
	struct ncs_parts_count count;
};

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
	parts->clock = header->clock;
	parts->owner = owner;
	parts->rank = parts->nranks = -1;
	identify(parts, &header->identity);
	parts->slot_count = SLOTS;
	parts->slots = calloc(SLOTS, sizeof(*parts->slots));
	parts->ended_capacity = SLOTS;
	parts->ended = calloc(SLOTS, sizeof(*parts->ended));
	if (parts->slots && parts->ended &&
	    ncs_call_history_init(&parts->calls, CALLS, CALLS_MAX) == 0) {
		parts->calls.needed_ns = 0; /* keep all calls at first */
		return parts;
	}
	ncs_parts_free(parts);
	return NULL;
}

void ncs_parts_free(struct ncs_parts *parts)
{
	if (!parts)
		return;
	for (uint32_t i = 0; parts->slots && i < parts->slot_count; i++)
		ncs_part_channels_release(&parts->slots[i].channels);
	free(parts->slots);
	free(parts->ended);
	ncs_call_history_release(&parts->calls);
	ncs_gpu_readings_release(&parts->gpu);
	free(parts);
}

void ncs_parts_set_clock(struct ncs_parts *parts, uint32_t clock,
			 uint64_t error_ns)
{
	parts->clock_number = clock;
	parts->clock_error_ns = error_ns;
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

int ncs_parts_learn(struct ncs_parts *parts,
		    const struct ncs_snapshot *snapshot)
{
	struct ncs_gpu_clock_view gpu = snapshot->gpu_clock;

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

/* --- Slots ---------------------------------------------------------------- */

static struct part_slot *slot_at(const struct ncs_parts *parts,
				 uint32_t operation)
{
	return &parts->slots[operation & (parts->slot_count - 1)];
}

/* Empties a slot; the memory of its channels is kept for the next operation. */
static void clear(struct part_slot *slot)
{
	struct ncs_part_channels channels = slot->channels;

	ncs_part_channels_clear(&channels);
	*slot = (struct part_slot){ .channels = channels };
}

/* Doubles the slots. Operations that have a slot do not collide, because their
 * numbers differ in the lowest bits. Returns 0 or -ENOMEM. */
static int grow_slots(struct ncs_parts *parts)
{
	uint32_t before = parts->slot_count;
	struct part_slot *slots = calloc(2 * (size_t)before, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < before; i++) {
		const struct part_slot *slot = &parts->slots[i];

		if (slot->operation != 0)
			slots[slot->operation & (2 * before - 1)] = *slot;
		else
			ncs_part_channels_release(
				&parts->slots[i].channels);
	}
	free(parts->slots);
	parts->slots = slots;
	parts->slot_count = 2 * before;
	return 0;
}

/* Returns true if an operation must make room for another one, because it will
 * never end or there are too many slots. */
static bool makes_room(const struct ncs_parts *parts,
		       const struct part_slot *slot)
{
	return parts->slot_count >= SLOTS_MAX ||
	       (!slot->has_ended && parts->slot_count >= SLOTS_UNENDED);
}

/* Sets *slot to the slot of an operation. Returns 0 or -ENOMEM. */
static int slot_of(struct ncs_parts *parts, uint32_t operation,
		   struct part_slot **slot)
{
	*slot = slot_at(parts, operation);
	while ((*slot)->operation != 0 && (*slot)->operation != operation) {
		if (makes_room(parts, *slot)) {
			parts->count.dropped++;
			clear(*slot);
			break;
		}
		if (grow_slots(parts) != 0)
			return -ENOMEM;
		*slot = slot_at(parts, operation);
	}
	(*slot)->operation = operation;
	return 0;
}

/* --- Records -------------------------------------------------------------- */

static int take_child(struct ncs_parts *parts, const struct ncs_record *record)
{
	bool is_transfer = record->event == NCS_EVENT_PROXY_OP ||
			   record->event == NCS_EVENT_PROXY_STEP;
	struct part_slot *slot;
	int error;

	if (record->operation == 0 ||
	    (!is_transfer && record->event != NCS_EVENT_KERNEL_CH))
		return 0;
	error = slot_of(parts, record->operation, &slot);
	if (error)
		return error;
	ncs_children_take(&slot->children, &parts->clock, record);
	if (record->flags & NCS_RECORD_MISSING_STOP)
		slot->part.flags |= NCS_PART_MISSING_STOP;
	return is_transfer ? ncs_part_channels_take(&slot->channels,
						    &parts->clock, record) :
			     0;
}

static int queue_ended(struct ncs_parts *parts, const struct ncs_record *record,
		       uint64_t drained_ns)
{
	uint32_t before = parts->ended_capacity;

	if (parts->ended_next - parts->ended_first == before) {
		struct ended_operation *ended =
			calloc(2 * (size_t)before, sizeof(*ended));

		if (!ended)
			return -ENOMEM;
		for (uint64_t i = parts->ended_first; i < parts->ended_next;
		     i++)
			ended[i % (2 * before)] = parts->ended[i % before];
		free(parts->ended);
		parts->ended = ended;
		parts->ended_capacity = 2 * before;
	}
	parts->ended[parts->ended_next++ % parts->ended_capacity] =
		(struct ended_operation){
			record->operation, drained_ns,
			ncs_clock_ns(&parts->clock,
				     record->start + record->duration)
		};
	return 0;
}

static int take_operation(struct ncs_parts *parts,
			  const struct ncs_record *record, uint64_t drained_ns)
{
	struct part_slot *slot;
	int error;

	if (record->operation == 0 || record->function >= NCS_FUNCTION_COUNT)
		return 0;
	if (parts->replaced && ncs_replaced_records_take(parts->replaced,
							 parts->owner, record))
		return 0;
	error = slot_of(parts, record->operation, &slot);
	if (!error && !slot->has_ended && !parts->replaced &&
	    (record->flags & NCS_RECORD_AGAIN)) {
		/* The part that this record replaces has been given out; only
		 * later children are here. */
		parts->count.replaced++;
		clear(slot);
		return 0;
	}
	if (!error && !slot->has_ended)
		error = queue_ended(parts, record, drained_ns);
	if (error)
		return error;
	slot->has_ended = true;
	slot->drained_ns = drained_ns;
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

static void take_call(struct ncs_parts *parts, const struct ncs_record *record)
{
	const struct ncs_timed_call call = {
		.start_ns = ncs_clock_ns(&parts->clock, record->start),
		.stream = record->delta[0],
		.kind = record->event == NCS_EVENT_KERNEL_LAUNCH ?
				KIND_LAUNCH :
				record->function,
	};

	ncs_call_history_take(&parts->calls, &call);
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
	ncs_call_history_forget(&parts->calls);
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
	if (drained_ns > SETTLES_AFTER_NS)
		settle(parts, drained_ns - SETTLES_AFTER_NS);
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
	struct ncs_timed_call call = ncs_call_history_before(
		&parts->calls, part->function, begin_ns);
	struct ncs_timed_call launch = ncs_call_history_before(
		&parts->calls, KIND_LAUNCH, begin_ns);

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

	if (ncs_children_sent_own_data(&slot->children)) {
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
	ncs_part_links_make(slot->channels.all, slot->channels.count, part);
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

const struct ncs_part *ncs_parts_next(struct ncs_parts *parts)
{
	while (parts->ended_first < parts->ended_next) {
		const struct ended_operation *ended =
			&parts->ended[parts->ended_first %
				      parts->ended_capacity];
		struct part_slot *slot = slot_at(parts, ended->operation);

		if (ended->drained_ns > parts->settled_ns &&
		    ended->end_ns > parts->settled_ended_ns)
			break;
		parts->ended_first++;
		/* The operation may have had to make room for another. */
		if (slot->operation != ended->operation || !slot->has_ended)
			continue;
		finish(parts, slot, &parts->given);
		move_part(parts, &parts->given);
		clear(slot);
		parts->count.parts++;
		return &parts->given;
	}
	return NULL;
}

const struct ncs_parts_count *ncs_parts_count(const struct ncs_parts *parts)
{
	return &parts->count;
}
