/* Finding, claiming and using lanes. Called by callbacks: no lock, no
 * allocation, no system call. */
#include "plugin/lane.h"

#include <pthread.h>

#include "shm/seqlock.h"

/* pthread_self() of each thread that has called, in order of appearance. Never
 * cleared: see lane.h. */
static uint64_t threads[NCS_THREAD_MAX];

/* Index in `threads` plus 1; 0: not known yet. */
static __thread uint32_t thread_index;

#define THREAD_SHARED (NCS_THREAD_MAX + 1)

static uint32_t find_thread(void)
{
	uint64_t self = (uint64_t)pthread_self();

	for (uint32_t i = 0; i < NCS_THREAD_MAX; i++) {
		uint64_t found = ncs_load_relaxed(&threads[i]);

		/* ORDER: pairs with find_thread() (plugin/lane.c): two threads
		 * that claim at once do not both win. */
		if (found == 0 &&
		    ncs_cas_acquire_release(&threads[i], 0, self))
			return i + 1;
		if (ncs_load_relaxed(&threads[i]) == self)
			return i + 1;
	}
	return THREAD_SHARED;
}

void ncs_lane_forget_threads(void)
{
	for (uint32_t i = 0; i < NCS_THREAD_MAX; i++)
		ncs_store_relaxed(&threads[i], 0);
	thread_index = 0;
}

/* Gives the thread a lane of its own while there are any. */
static unsigned claim_lane(struct ncs_comm *comm, uint32_t thread)
{
	uint64_t claimed = ncs_add_relaxed(&comm->lanes_claimed, 1);
	unsigned index = claimed < NCS_LANE_MAX - 1 ? (unsigned)claimed + 1 : 0;
	struct ncs_lane_state *lane = &comm->lanes[index];

	ncs_store_relaxed(&lane->published->owner, (uint64_t)thread + 1);
	comm->lane_of_thread[thread - 1] = (uint8_t)(index + 1);
	return index;
}

struct ncs_lane_state *ncs_lane_enter(struct ncs_comm *comm, uint64_t now)
{
	uint32_t thread = thread_index;
	struct ncs_lane_state *lane = &comm->lanes[0];

	if (__builtin_expect(thread == 0, 0))
		thread_index = thread = find_thread();
	if (__builtin_expect(thread != THREAD_SHARED, 1)) {
		unsigned index = comm->lane_of_thread[thread - 1];

		if (__builtin_expect(index == 0, 0))
			index = claim_lane(comm, thread) + 1;
		lane = &comm->lanes[index - 1];
	}
	ncs_store_relaxed(&lane->published->last_call, now);
	return lane;
}

void ncs_lane_publish(struct ncs_lane_state *lane, struct ncs_record *record)
{
	if (__builtin_expect(!lane->shared, 1)) {
		ncs_ring_put(&lane->ring, record);
		return;
	}
	/* ORDER: pairs with ncs_lane_publish() (plugin/lane.c): the next
	 * thread sees the producer's position as this one left it. */
	if (ncs_exchange_acquire_release(&lane->ring_busy, 1) != 0) {
		ncs_lane_lose(lane, NCS_LOSS_RING_BUSY);
		return;
	}
	ncs_ring_put(&lane->ring, record);
	/* ORDER: pairs with ncs_lane_publish() (plugin/lane.c). */
	ncs_store_release(&lane->ring_busy, 0);
}

struct ncs_function *ncs_lane_function_begin(struct ncs_lane_state *lane,
					     unsigned function)
{
	struct ncs_function *entry = &lane->published->functions[function];

	if (!lane->shared)
		ncs_seqlock_begin(&entry->sequence);
	return entry;
}

void ncs_lane_function_end(struct ncs_lane_state *lane,
			   struct ncs_function *function)
{
	if (!lane->shared)
		ncs_seqlock_end(&function->sequence);
}
