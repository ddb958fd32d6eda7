/* SPDX-License-Identifier: MIT */
/* Sorting a rank's records by operation; see arrivals.h. Must not trust
 * records: they come from shared memory and may have any value. */
#include "analysis/records/arrivals.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/records/call_history.h"
#include "analysis/records/children.h"
#include "shm/clock.h"

/* The table of arrivals has one row for each of the most used functions and one
 * for all others; a row has places for its latest operations. All ranks keep
 * the same operations. */
#define FUNCTIONS 4
#define OPERATIONS 256
#define ARRIVALS (FUNCTIONS * OPERATIONS)

/* Number of operations whose children are kept, and of calls that are kept. */
#define CHILDREN 1024
#define CALLS 512

/* A child's record may come a little after that of its operation. */
#define SETTLES_AFTER_NS UINT64_C(10000000)

struct operation_children {
	uint32_t operation; /* 0: none */
	struct ncs_children children;
};

struct ncs_arrivals {
	struct ncs_arrival arrivals[ARRIVALS];
	struct operation_children children[CHILDREN];
	struct ncs_call_history calls;
	uint16_t unsettled[ARRIVALS]; /* places in arrivals[], unique */
	size_t unsettled_count;
	struct ncs_arrivals_count count;
	uint32_t functions; /* one bit for each with an arrival */
	uint64_t endless;   /* latest operation taken without an end */
	bool has_begun;
	bool has_lost; /* in the latest refresh */
};

struct ncs_arrivals *ncs_arrivals_new(void)
{
	struct ncs_arrivals *arrivals = calloc(1, sizeof(*arrivals));

	if (arrivals &&
	    ncs_call_history_init(&arrivals->calls, CALLS, CALLS) == 0)
		return arrivals;
	free(arrivals);
	return NULL;
}

void ncs_arrivals_free(struct ncs_arrivals *arrivals)
{
	if (arrivals)
		ncs_call_history_release(&arrivals->calls);
	free(arrivals);
}

static bool is_collective(unsigned function)
{
	return function == NCS_FUNCTION_ALL_REDUCE ||
	       function == NCS_FUNCTION_ALL_GATHER ||
	       function == NCS_FUNCTION_REDUCE_SCATTER ||
	       function == NCS_FUNCTION_BROADCAST ||
	       function == NCS_FUNCTION_REDUCE;
}

/* --- Children of operations ----------------------------------------------- */

static struct ncs_children *children_of(struct ncs_arrivals *arrivals,
					uint32_t operation)
{
	struct operation_children *entry =
		&arrivals->children[operation % CHILDREN];

	if (entry->operation != operation)
		*entry = (struct operation_children){ .operation = operation };
	return &entry->children;
}

static void take_child(struct ncs_arrivals *arrivals,
		       const struct ncs_clock *clock,
		       const struct ncs_record *record)
{
	/* If an operation turned out to be slow, its first records are
	 * missing. */
	if (!is_collective(record->function) ||
	    NCS_RECORD_LEVEL(record->flags) == NCS_LEVEL_SLOW)
		return;
	if (record->event == NCS_EVENT_COLL_API)
		ncs_call_history_take(&arrivals->calls, record->function,
				      ncs_clock_ns(clock, record->start));
	else if (record->operation != 0)
		ncs_children_take(children_of(arrivals, record->operation),
				  clock, record);
}

/* --- Operations ----------------------------------------------------------- */

static size_t row_of(unsigned function)
{
	switch (function) {
	case NCS_FUNCTION_ALL_REDUCE:
		return 0;
	case NCS_FUNCTION_ALL_GATHER:
		return 1;
	case NCS_FUNCTION_REDUCE_SCATTER:
		return 2;
	default:
		return 3;
	}
}

static size_t place_of(unsigned function, uint64_t number)
{
	return row_of(function) * OPERATIONS + number % OPERATIONS;
}

static void take_arrival(struct ncs_arrivals *arrivals,
			 const struct ncs_arrival *taken)
{
	size_t place = place_of(taken->function, taken->number);
	struct ncs_arrival *arrival = &arrivals->arrivals[place];
	bool again = arrival->state != NCS_ARRIVAL_NONE &&
		     arrival->function == taken->function &&
		     arrival->number == taken->number;

	if (again && arrival->state == NCS_ARRIVAL_COMPARED)
		return;
	if (arrival->state != NCS_ARRIVAL_NEW)
		arrivals->unsettled[arrivals->unsettled_count++] =
			(uint16_t)place;
	*arrival = *taken;
	arrivals->count.seen += !again;
	arrivals->functions |= UINT32_C(1) << taken->function;
}

static void take_record(struct ncs_arrivals *arrivals,
			const struct ncs_clock *clock,
			const struct ncs_record *record)
{
	struct ncs_arrival arrival = {
		.number = record->number,
		.operation = record->operation,
		.function = record->function,
		.state = NCS_ARRIVAL_NEW,
		.root = record->peer,
		.end_ns = ncs_clock_ns(clock, record->start + record->duration),
		.has_end = true,
	};

	if (record->event != NCS_EVENT_COLL ||
	    !is_collective(record->function) ||
	    record->number == NCS_NO_SEQUENCE_NUMBER)
		return;
	arrival.at_ns[NCS_AT_OPERATION] = ncs_clock_ns(clock, record->start);
	if (record->delta[1] != 0)
		arrival.at_ns[NCS_AT_PROXY] =
			ncs_clock_ns(clock, record->start + record->delta[1]);
	take_arrival(arrivals, &arrival);
}

static void take_endless(struct ncs_arrivals *arrivals,
			 const struct ncs_operation_view *operation)
{
	struct ncs_arrival arrival = {
		.number = operation->sequence_number,
		.operation = (uint32_t)operation->number,
		.function = (uint8_t)operation->function,
		.state = NCS_ARRIVAL_NEW,
		.root = operation->peer,
		.end_ns = operation->enqueued_ns,
	};
	const struct ncs_arrival *kept;

	if (operation->event != NCS_EVENT_COLL ||
	    !is_collective(operation->function) ||
	    operation->sequence_number == NCS_NO_SEQUENCE_NUMBER)
		return;
	arrival.at_ns[NCS_AT_OPERATION] = operation->start_ns;
	kept = &arrivals->arrivals[place_of(arrival.function, arrival.number)];
	if (kept->state != NCS_ARRIVAL_NONE &&
	    (int32_t)(kept->operation - arrival.operation) > 0)
		arrivals->count.seen++;
	else
		take_arrival(arrivals, &arrival);
}

/* Takes the operations whose end NCCL does not report. The snapshot has them,
 * in no order, until their slots are reused: takes each only once, and lets
 * none replace a later one. */
static void take_all_endless(struct ncs_arrivals *arrivals,
			     const struct ncs_snapshot *snapshot)
{
	uint64_t latest = arrivals->endless;

	for (size_t i = 0; i < snapshot->endless_count; i++) {
		const struct ncs_operation_view *operation =
			&snapshot->endless[i];

		if (operation->number <= arrivals->endless)
			continue;
		take_endless(arrivals, operation);
		if (operation->number > latest)
			latest = operation->number;
	}
	arrivals->endless = latest;
}

/* Limits a time to the duration of the operation, because a GPU's clock is not
 * known to the nanosecond. Returns 0 (not known) if the time is 0 or after the
 * end. */
static uint64_t within(const struct ncs_arrival *arrival, uint64_t time_ns)
{
	uint64_t start_ns = arrival->at_ns[NCS_AT_OPERATION];

	if (time_ns == 0 || time_ns > arrival->end_ns)
		return 0;
	return time_ns > start_ns ? time_ns : start_ns;
}

static void settle(struct ncs_arrivals *arrivals,
		   const struct ncs_gpu_clock_view *gpu_clock,
		   struct ncs_arrival *arrival, bool all_there)
{
	const struct operation_children *entry =
		&arrivals->children[arrival->operation % CHILDREN];
	const struct ncs_children *children = &entry->children;
	uint64_t *at_ns = arrival->at_ns;

	arrival->state = NCS_ARRIVAL_SETTLED;
	at_ns[NCS_AT_PROXY] = within(arrival, at_ns[NCS_AT_PROXY]);
	at_ns[NCS_AT_CALL] = ncs_call_history_before_ns(
		&arrivals->calls, arrival->function, at_ns[NCS_AT_OPERATION]);
	if (arrival->operation == 0 || entry->operation != arrival->operation)
		return;
	if (gpu_clock->known && children->gpu_start_ns != 0)
		at_ns[NCS_AT_KERNEL] =
			within(arrival, children->gpu_start_ns -
						(uint64_t)gpu_clock->offset_ns);
	/* A lost record may have belonged to this operation. */
	if (all_there && ncs_children_sent_own_data(children))
		at_ns[NCS_AT_DATA] = within(arrival, children->data_ns);
}

static void settle_all(struct ncs_arrivals *arrivals,
		       const struct ncs_snapshot *snapshot, bool all_there)
{
	bool ended = snapshot->liveness == NCS_DEAD ||
		     snapshot->liveness == NCS_FINISHED;
	size_t kept = 0;

	for (size_t i = 0; i < arrivals->unsettled_count; i++) {
		uint16_t place = arrivals->unsettled[i];
		struct ncs_arrival *arrival = &arrivals->arrivals[place];

		if (ended ||
		    arrival->end_ns + SETTLES_AFTER_NS <= snapshot->taken_ns)
			settle(arrivals, &snapshot->gpu_clock, arrival,
			       all_there);
		else
			arrivals->unsettled[kept++] = place;
	}
	arrivals->unsettled_count = kept;
}

void ncs_arrivals_take(struct ncs_arrivals *arrivals,
		       const struct ncs_clock *clock,
		       const struct ncs_snapshot *snapshot,
		       const struct ncs_record *records, size_t count,
		       uint64_t lost)
{
	bool had_lost = arrivals->has_lost;

	/* Records lost before the first refresh do not count. */
	if (!arrivals->has_begun)
		lost = 0;
	arrivals->has_begun = true;
	arrivals->count.records_lost += lost;
	arrivals->has_lost = lost > 0;
	/* The right call may be among the lost ones; an older one would then be
	 * found instead. */
	if (lost > 0)
		ncs_call_history_forget(&arrivals->calls);
	for (size_t i = 0; i < count; i++)
		take_child(arrivals, clock, &records[i]);
	for (size_t i = 0; i < count; i++)
		take_record(arrivals, clock, &records[i]);
	take_all_endless(arrivals, snapshot);
	settle_all(arrivals, snapshot, lost == 0 && !had_lost);
}

/* --- Reading -------------------------------------------------------------- */

struct ncs_arrival *ncs_arrivals_find(struct ncs_arrivals *arrivals,
				      unsigned function, uint64_t number)
{
	struct ncs_arrival *arrival =
		&arrivals->arrivals[place_of(function, number)];

	return arrival->state == NCS_ARRIVAL_SETTLED &&
			       arrival->function == function &&
			       arrival->number == number ?
		       arrival :
		       NULL;
}

struct ncs_arrival *ncs_arrivals_next(struct ncs_arrivals *arrivals,
				      unsigned function, size_t *place)
{
	struct ncs_arrival *row = &arrivals->arrivals[place_of(function, 0)];

	while (*place < OPERATIONS) {
		struct ncs_arrival *arrival = &row[(*place)++];

		if (arrival->state == NCS_ARRIVAL_SETTLED &&
		    arrival->function == function)
			return arrival;
	}
	return NULL;
}

void ncs_arrivals_compared(struct ncs_arrivals *arrivals,
			   struct ncs_arrival *arrival)
{
	arrival->state = NCS_ARRIVAL_COMPARED;
	arrivals->count.compared++;
}

bool ncs_arrivals_has(const struct ncs_arrivals *arrivals, unsigned function)
{
	return arrivals->functions >> function & 1;
}

const struct ncs_arrivals_count *
ncs_arrivals_count(const struct ncs_arrivals *arrivals)
{
	return &arrivals->count;
}
