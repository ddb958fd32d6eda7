/* SPDX-License-Identifier: MIT */
/* Tables of ranges; see range_stats.h. */
#include "plugin/events/range_stats.h"

#include "ncclstat/tables/functions.def"
#include "shm/hash.h"
#include "plugin/state/lane.h"
#include "plugin/state/registry.h"
#include "plugin/state/range_stack.h"

/* --- the table ---------------------------------------------------------- */

/* Raises the greatest number in use, which spares readers the rest of the
 * table. If another thread stores a smaller number first, the next call makes
 * up for it. */
static void raise_filled(struct ncs_comm *comm, uint32_t number)
{
	uint64_t *filled = &comm->header->ranges_filled;
	uint64_t before = ncs_load_relaxed(filled);

	if (before < number)
		/* ORDER: pairs with raise_filled()
		 * (plugin/events/range_stats.c): the number never decreases. */
		ncs_cas_acquire_release(filled, before, number);
}

/* Publishes the names of a range and of the ranges around it. They never
 * change, so threads that publish it at the same time write the same values. */
static void ncs_range_publish(struct ncs_comm *comm, uint32_t number)
{
	while (number != 0) {
		struct ncs_range *range = &comm->ranges[number - 1];
		uint32_t parent = ncs_range_parent(number);
		struct ncs_range_name name;

		if (ncs_load_relaxed(&range->key) != 0)
			break;
		ncs_range_name_get(number, &name);
		for (unsigned i = 0; i < NCS_RANGE_NAME_WORDS; i++)
			ncs_store_relaxed((uint64_t *)range->name + i,
					  name.words[i]);
		/* ORDER: pairs with ncs_ranges_take()
		 * (shm/read/range_reader.c): the name is visible before the
		 * key. */
		ncs_store_release(&range->key, NCS_RANGE_KEY(parent));
		number = parent;
	}
}

/* Returns the number under which this communicator counts a range. */
static uint32_t fit(struct ncs_comm *comm, struct ncs_lane_state *lane,
		    struct ncs_range_place place)
{
	if (place.folded || place.number > comm->range_count)
		ncs_lane_lose(lane, NCS_LOSS_RANGE);
	if (place.number > comm->range_count)
		place.number = NCS_RANGE_OTHER;
	if (place.number != 0) {
		ncs_range_publish(comm, place.number);
		raise_filled(comm, place.number);
	}
	return place.number;
}

static struct ncs_range *range_of(struct ncs_comm *comm, uint32_t number)
{
	return &comm->ranges[number - 1];
}

static bool is_off(const struct ncs_comm *comm)
{
	return comm->range_count == 0 || !ncs_range_is_used();
}

/* --- calls and operations ----------------------------------------------- */

static const char *const functions[NCS_FUNCTION_COUNT] = {
#define X(ID, name, size, numerator, denominator) name,
	NCS_FUNCTIONS(X)
#undef X
};

uint32_t ncs_range_call(struct ncs_comm *comm, struct ncs_lane_state *lane,
			unsigned function)
{
	uint32_t number;

	if (is_off(comm))
		return 0;
	number = fit(comm, lane, ncs_range_now(functions[function]));
	if (number != 0)
		ncs_add_relaxed(&range_of(comm, number)->calls, 1);
	return number;
}

uint32_t ncs_range_of_operation(struct ncs_comm *comm,
				struct ncs_lane_state *lane, uint64_t parent,
				const struct ncs_noted_call *call)
{
	if (is_off(comm))
		return 0;
	if (!ncs_handle_is(parent, NCS_HANDLE_SPAN))
		return fit(comm, lane, ncs_range_now(NULL));
	if (call && call->range <= comm->range_count)
		return call->range;
	ncs_lane_lose(lane, NCS_LOSS_RANGE);
	return 0;
}

static_assert(NCS_RANGE_MAX <= NCS_CALL_RANGE_MAX, "a number can be noted");

/* --- counting ----------------------------------------------------------- */

void ncs_range_operation(struct ncs_comm *comm, uint32_t number,
			 bool size_known, uint64_t bytes)
{
	struct ncs_range *range = range_of(comm, number);

	ncs_add_relaxed(&range->operations, 1);
	ncs_add_relaxed(&range->bytes, bytes);
	if (!size_known)
		ncs_add_relaxed(&range->size_unknown, 1);
}

void ncs_range_first_child(struct ncs_comm *comm,
			   const struct ncs_operation_slot *op)
{
	struct ncs_range *range;

	if (op->range == 0)
		return;
	range = range_of(comm, op->range);
	ncs_add_relaxed(&range->with_children, 1);
	ncs_add_relaxed(&range->with_children_bytes, op->bytes);
}

/* `busy` changes as a whole: the number of operations with children in progress
 * in bits 0-15, and above them the low 48 bits of the ticks since when there
 * have been any. A begin comes before its end, so there are never more ends
 * than begins. */
#define BUSY_SHIFT 16

static void begin(struct ncs_range *range, uint64_t now)
{
	uint64_t before, after;

	do {
		before = ncs_load_relaxed(&range->busy);
		after = NCS_RANGE_BUSY(before) ? before + 1 :
						 now << BUSY_SHIFT | 1;
		/* ORDER: pairs with end() (plugin/events/range_stats.c): no
		 * begin and no end is lost. */
	} while (!ncs_cas_acquire_release(&range->busy, before, after));
	if (NCS_RANGE_BUSY(before) == 0)
		ncs_store_relaxed(&range->busy_since, now);
}

static void end(struct ncs_range *range, uint64_t now)
{
	uint64_t before;

	do {
		before = ncs_load_relaxed(&range->busy);
		if (NCS_RANGE_BUSY(before) == 0)
			return;
		/* ORDER: pairs with begin() (plugin/events/range_stats.c). */
	} while (!ncs_cas_acquire_release(&range->busy, before, before - 1));
	if (NCS_RANGE_BUSY(before) == 1)
		ncs_add_relaxed(&range->busy_time,
				((now << BUSY_SHIFT) - (before - 1)) >>
					BUSY_SHIFT);
}

void ncs_range_begin(struct ncs_comm *comm, uint32_t number, uint64_t now)
{
	for (; number != 0; number = ncs_range_parent(number))
		begin(range_of(comm, number), now);
}

void ncs_range_end_busy(struct ncs_comm *comm, uint32_t number, uint64_t now)
{
	for (; number != 0; number = ncs_range_parent(number))
		end(range_of(comm, number), now);
}

#define HISTOGRAM_PROBE 8u

/* Returns the histogram of a range and timing; NULL if there is no room. */
static struct ncs_range_histogram *
claim_histogram(struct ncs_comm *comm, uint32_t number, unsigned timing)
{
	uint64_t key = NCS_RANGE_HISTOGRAM_KEY(number, timing);
	uint64_t hash = ncs_hash(key);

	for (unsigned i = 0; i < HISTOGRAM_PROBE; i++) {
		struct ncs_range_histogram *histogram =
			&comm->range_histograms[(hash + i) %
						comm->range_histogram_count];
		uint64_t found = ncs_load_relaxed(&histogram->key);

		/* ORDER: pairs with take_range_histogram()
		 * (shm/read/range_reader.c). */
		if (found == key ||
		    (found == 0 &&
		     ncs_cas_acquire_release(&histogram->key, 0, key)))
			return histogram;
		if (found == 0 && ncs_load_relaxed(&histogram->key) == key)
			return histogram;
	}
	return NULL;
}

void ncs_range_time(struct ncs_comm *comm, struct ncs_lane_state *lane,
		    const struct ncs_operation_slot *op, enum ncs_timing timing,
		    uint64_t ns, uint64_t bytes, uint64_t before)
{
	struct ncs_time_counters times;
	struct ncs_range_histogram *histogram;
	struct ncs_range *range;

	if (op->range == 0)
		return;
	range = range_of(comm, op->range);
	times = ncs_range_times(range, timing);
	histogram = claim_histogram(comm, op->range, timing);
	if (!histogram)
		ncs_lane_lose(lane, NCS_LOSS_TABLE_FULL);
	if (before == 0) {
		ncs_add_relaxed(times.timed, 1);
		ncs_add_relaxed(times.bytes, bytes);
		ncs_add_relaxed(times.time_ns, ns);
	} else {
		ncs_add_relaxed(times.time_ns, ns - (before - 1));
		if (histogram)
			ncs_add_relaxed(&histogram->buckets[ncs_range_bucket(
						before - 1)],
					UINT64_MAX);
	}
	if (histogram)
		ncs_add_relaxed(&histogram->buckets[ncs_range_bucket(ns)], 1);
}

void ncs_range_channel(struct ncs_comm *comm,
		       const struct ncs_channel_queue *queue,
		       const struct ncs_operation_slot *op)
{
	struct ncs_range *range;
	uint64_t *charged;
	bool is_known;

	if (is_off(comm) || queue == &comm->overflow_queue)
		return;
	charged = comm->charged[queue - comm->queues];
	is_known = charged[7] != 0 ||
		   ncs_load_relaxed(&queue->channel->operations_done) == 0;
	range = op && op->range && is_known ? range_of(comm, op->range) : NULL;
	for (unsigned i = NCS_CHANNEL_IDLE + 1; i < NCS_CHANNEL_STATE_COUNT;
	     i++) {
		uint64_t time = ncs_load_relaxed(&queue->channel->time[i]);

		if (range && time != charged[i])
			ncs_add_relaxed(&range->time[i], time - charged[i]);
		charged[i] = time;
	}
	charged[7] = 1;
}

static_assert((int)NCS_CHANNEL_STATE_COUNT <= 7, "a word is left for the mark");

struct ncs_gpu_time *ncs_range_gpu_time(struct ncs_comm *comm, uint32_t number)
{
	if (number == 0 || number > comm->range_count)
		return NULL;
	ncs_range_publish(comm, number);
	raise_filled(comm, number);
	return &range_of(comm, number)->gpu;
}

/* --- independent of calls ----------------------------------------------- */

/* Uses lane 0: a thread of the program that never calls NCCL has no lane. */
void ncs_range_lose(void)
{
	struct ncs_comm *comm = ncs_comm_for_unattributed();

	if (comm)
		ncs_lane_lose(&comm->lanes[0], NCS_LOSS_RANGE);
}

void ncs_range_mark(const struct ncs_range_name *name)
{
	struct ncs_comm *comm = ncs_comm_for_unattributed();
	struct ncs_record record = {
		.event = NCS_EVENT_MARK,
		.function = NCS_FUNCTION_OTHER,
		.peer = -1,
	};

	if (!comm || !ncs_comm_is_live(comm) || comm->range_count == 0)
		return;
	record.start = ncs_now();
	record.value = fit(comm, &comm->lanes[0], ncs_range_in_now(name));
	if (record.value != 0)
		ncs_lane_publish(&comm->lanes[0], &record);
}
