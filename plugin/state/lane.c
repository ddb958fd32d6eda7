/* SPDX-License-Identifier: MIT */
/* Claiming lanes, and publishing in their rings; see lane.h. */
#include "plugin/state/lane.h"

#include <string.h>

#include "plugin/state/threads.h"

/* pthread_self() of each thread with an index, in order of appearance. */
static uint64_t threads[NCS_THREAD_MAX];

__thread struct ncs_thread ncs_thread;

void ncs_lane_forget_threads(void)
{
	for (uint32_t i = 0; i < NCS_THREAD_MAX; i++)
		ncs_store_relaxed(&threads[i], 0);
	ncs_thread = (struct ncs_thread){ 0 };
}

/* Bits 32-63 of `lanes_claimed` are the life of the communicator's entry, bits
 * 0-31 the number of claims in it. */
#define LIFE_SHIFT 32

void ncs_lane_forget_claims(struct ncs_comm *comm)
{
	uint64_t life = ncs_load_relaxed(&comm->lanes_claimed) >> LIFE_SHIFT;

	/* ORDER: pairs with is_same_life() (plugin/state/lane.c): a thread that
	 * has stored its lane before is forgotten below. */
	ncs_exchange_acquire_release(&comm->lanes_claimed,
				     (life + 1) << LIFE_SHIFT);
	/* Threads without an index share a place, which never changes. */
	comm->lane_of_thread[NCS_THREAD_MAX + 1] = &comm->lanes[0];
	memset(comm->lane_of_thread, 0,
	       (NCS_THREAD_MAX + 1) * sizeof(comm->lane_of_thread[0]));
}

/* Returns true if the entry still has the life in which a lane was claimed. */
static bool is_same_life(struct ncs_comm *comm, uint64_t claimed)
{
	/* ORDER: pairs with ncs_lane_forget_claims() (plugin/state/lane.c): the
	 * lane that this thread has stored is forgotten, or this thread finds
	 * another life. */
	uint64_t now = ncs_add_acquire_release(&comm->lanes_claimed, 0);

	return now >> LIFE_SHIFT == claimed >> LIFE_SHIFT;
}

/* Another thread may give the communicator's entry to a new communicator at any
 * time: this thread makes a late callback then. The lane that it has claimed
 * must not stay its own, since a thread of the new communicator gets the same
 * one. Only a callback that has its lane already, and is held up until the entry
 * has a new life, may publish one record beside that lane's owner. The next
 * life of an entry begins 63 communicators later, or when shared memory is used
 * up. */
struct ncs_lane_state *ncs_lane_claim(struct ncs_comm *comm)
{
	struct ncs_lane_state *lane;
	uint64_t claimed, number;

	if (ncs_thread.index == 0)
		ncs_thread.index =
			ncs_thread_place(threads, NCS_THREAD_MAX) + 1;
	lane = comm->lane_of_thread[ncs_thread.index];
	if (lane)
		return lane;
	claimed = ncs_add_relaxed(&comm->lanes_claimed, 1);
	number = claimed & ((UINT64_C(1) << LIFE_SHIFT) - 1);
	lane = &comm->lanes[number < comm->lane_count - 1 ? number + 1 : 0];
	comm->lane_of_thread[ncs_thread.index] = lane;
	if (!is_same_life(comm, claimed)) {
		comm->lane_of_thread[ncs_thread.index] = NULL;
		return &comm->lanes[0];
	}
	if (!lane->shared)
		ncs_store_relaxed(&lane->published->owner, ncs_thread.index);
	if (lane->call_lane)
		ncs_store_relaxed(&lane->call_lane->owner, ncs_thread.index);
	return lane;
}

/* --- the shared lane's ring --------------------------------------------- */

/* Returns false, and counts a lost record, if another thread has the ring. */
static bool take_ring(struct ncs_lane_state *lane)
{
	/* ORDER: pairs with leave_ring() (plugin/state/lane.c): this thread
	 * sees the producer's position as the last one left it. */
	if (ncs_exchange_acquire_release(&lane->ring_busy, 1) == 0)
		return true;
	ncs_lane_lose(lane, NCS_LOSS_RING_BUSY);
	return false;
}

static void leave_ring(struct ncs_lane_state *lane)
{
	/* ORDER: pairs with take_ring() (plugin/state/lane.c). */
	ncs_store_release(&lane->ring_busy, 0);
}

void ncs_lane_publish_shared(struct ncs_lane_state *lane, const uint64_t *words)
{
	if (!take_ring(lane))
		return;
	ncs_ring_put_words(&lane->ring, words);
	leave_ring(lane);
}

/* --- operations and their streams --------------------------------------- */

/* The CUDA stream is repeated after this many operations, for readers that come
 * late or have lost records. */
#define STREAM_AGE_MAX 16u

/* Puts a record into the ring for it, and into the one for older readers. */
static void put_operation(struct ncs_lane_state *lane,
			  const struct ncs_record *record)
{
	ncs_ring_put(ncs_lane_calls(lane), record);
	if (lane->call_lane)
		ncs_ring_put(&lane->short_ring, record);
}

static void publish_stream(struct ncs_lane_state *lane, uint64_t stream,
			   uint64_t now)
{
	const struct ncs_record record = {
		.start = now,
		.event = NCS_EVENT_STREAM,
		.function = NCS_FUNCTION_OTHER,
		.peer = -1,
		.value = stream,
	};

	put_operation(lane, &record);
	lane->stream = stream;
	lane->stream_age = 0;
}

void ncs_lane_publish_operation(struct ncs_lane_state *lane,
				const struct ncs_record *record,
				uint64_t stream)
{
	if (lane->shared && !take_ring(lane))
		return;
	if (stream != lane->stream ||
	    (stream != 0 && lane->stream_age == STREAM_AGE_MAX))
		publish_stream(lane, stream, record->start + record->duration);
	put_operation(lane, record);
	lane->stream_age++;
	if (lane->shared)
		leave_ring(lane);
}
