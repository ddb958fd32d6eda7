/* SPDX-License-Identifier: MIT */
/* The calling thread's place in a communicator: its counters and its ring.
 *
 * Called by every callback. A thread is told by its pthread_self(); one that
 * gets a dead thread's stack inherits its lane, which is what keeps short-lived
 * launcher threads from using up all lanes. No thread-local memory but one
 * word, no destructor, no lock.
 */
#ifndef NCS_PLUGIN_STATE_LANE_H
#define NCS_PLUGIN_STATE_LANE_H

#include <stdint.h>
#include <string.h>

#include "plugin/state/comm.h"
#include "shm/seqlock.h"

/* From 1 in order of appearance; 0: has not called yet; NCS_THREAD_MAX + 1:
 * came too late to be told apart. */
extern __thread uint32_t ncs_thread_index
	__attribute__((visibility("hidden"), tls_model("initial-exec")));

/* Finds the thread's index, and claims a lane. */
struct ncs_lane_state *ncs_lane_claim(struct ncs_comm *comm);

/* The lane of the calling thread, claimed at first use; the shared one where
 * all are taken. */
static inline struct ncs_lane_state *ncs_lane_of_caller(struct ncs_comm *comm)
{
	struct ncs_lane_state *lane = comm->lane_of_thread[ncs_thread_index];

	return __builtin_expect(lane != NULL, 1) ? lane : ncs_lane_claim(comm);
}

static inline void ncs_lane_note_call(struct ncs_lane_state *lane, uint64_t now)
{
	ncs_store_relaxed(&lane->published->last_call, now);
}

/* The lane of the calling thread; notes the time of the call. */
static inline struct ncs_lane_state *ncs_lane_enter(struct ncs_comm *comm,
						    uint64_t now)
{
	struct ncs_lane_state *lane = ncs_lane_of_caller(comm);

	ncs_lane_note_call(lane, now);
	return lane;
}

/* In a forked child: its only thread starts anew. */
void ncs_lane_forget_threads(void);

/* Adds to a counter of a lane. A lane of its own has one writer: a load and a
 * store. */
static inline void ncs_lane_add(struct ncs_lane_state *lane, uint64_t *counter,
				uint64_t addend)
{
	if (__builtin_expect(lane->shared, 0))
		ncs_add_relaxed(counter, addend);
	else
		ncs_store_relaxed(counter, ncs_load_relaxed(counter) + addend);
}

static inline void ncs_lane_lose(struct ncs_lane_state *lane,
				 enum ncs_loss loss)
{
	ncs_lane_add(lane, &lane->published->losses[loss], 1);
}

static inline void ncs_lane_count_event(struct ncs_lane_state *lane,
					enum ncs_event event)
{
	ncs_lane_add(lane, &lane->published->events[event], 1);
}

/* Publishes a record, given as its NCS_RECORD_WORDS words, in the shared lane's
 * ring. */
void ncs_lane_publish_shared(struct ncs_lane_state *lane,
			     const uint64_t *words);

/* … in the lane's. */
static inline void ncs_lane_publish_words(struct ncs_lane_state *lane,
					  const uint64_t *words)
{
	if (__builtin_expect(lane->shared, 0))
		ncs_lane_publish_shared(lane, words);
	else
		ncs_ring_put_words(&lane->ring, words);
}

/* Words 1 and 2 of a record. */
static inline uint64_t ncs_record_word1(unsigned event, unsigned flags,
					unsigned channel, unsigned function)
{
	return (uint64_t)event << 32 | (uint64_t)flags << 40 |
	       (uint64_t)channel << 48 | (uint64_t)function << 56;
}

static inline uint64_t ncs_record_word2(uint64_t operation, int32_t peer)
{
	return (uint32_t)operation | (uint64_t)(uint32_t)peer << 32;
}

static inline void ncs_lane_publish(struct ncs_lane_state *lane,
				    const struct ncs_record *record)
{
	uint64_t words[NCS_RECORD_WORDS];

	memcpy(words, record, sizeof(words));
	ncs_lane_publish_words(lane, words);
}

/* Publishes an operation's own record, and before it, where the ring does not
 * say so, the stream that it was called on, as in records; 0: not known. */
void ncs_lane_publish_operation(struct ncs_lane_state *lane,
				const struct ncs_record *record,
				uint64_t stream);

/* Between begin and end, change the function's counters with
 * ncs_lane_function_add(). */
static inline struct ncs_function *
ncs_lane_function_begin(struct ncs_lane_state *lane, unsigned function)
{
	struct ncs_function *entry = &lane->published->functions[function];

	if (!lane->shared)
		ncs_seqlock_begin(&entry->sequence);
	return entry;
}

static inline void ncs_lane_function_end(struct ncs_lane_state *lane,
					 struct ncs_function *function)
{
	if (!lane->shared)
		ncs_seqlock_end(&function->sequence);
}

static inline void ncs_lane_function_add(struct ncs_lane_state *lane,
					 uint64_t *counter, uint64_t addend)
{
	if (__builtin_expect(lane->shared, 0))
		ncs_add_relaxed(counter, addend);
	else
		ncs_payload_store(counter, ncs_load_relaxed(counter) + addend);
}

#endif
