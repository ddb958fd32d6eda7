/* SPDX-License-Identifier: MIT */
/* Claiming lanes, and publishing in their rings; see lane.h. */
#include "plugin/state/lane.h"

#include "plugin/state/threads.h"

/* pthread_self() of each thread with an index, in order of appearance. */
static uint64_t threads[NCS_THREAD_MAX];

__thread uint32_t ncs_thread_index;

void ncs_lane_forget_threads(void)
{
	for (uint32_t i = 0; i < NCS_THREAD_MAX; i++)
		ncs_store_relaxed(&threads[i], 0);
	ncs_thread_index = 0;
}

struct ncs_lane_state *ncs_lane_claim(struct ncs_comm *comm)
{
	struct ncs_lane_state *lane;
	uint64_t claimed;

	if (ncs_thread_index == 0)
		ncs_thread_index =
			ncs_thread_place(threads, NCS_THREAD_MAX) + 1;
	lane = comm->lane_of_thread[ncs_thread_index];
	if (lane)
		return lane;
	claimed = ncs_add_relaxed(&comm->lanes_claimed, 1);
	lane = &comm->lanes[claimed < comm->lane_count - 1 ? claimed + 1 : 0];
	if (!lane->shared)
		ncs_store_relaxed(&lane->published->owner, ncs_thread_index);
	comm->lane_of_thread[ncs_thread_index] = lane;
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

	ncs_ring_put(&lane->ring, &record);
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
	ncs_ring_put(&lane->ring, record);
	lane->stream_age++;
	if (lane->shared)
		leave_ring(lane);
}
