/* SPDX-License-Identifier: MIT */
/* Lanes: each publishing thread's counters and rings in a communicator.
 *
 * Called by every callback. A thread is identified by its pthread_self()
 * (threads.h), so a thread that gets the stack of a dead one inherits its lane.
 * Few thread-local words, no destructor; no lock, no allocation, no system call.
 */
#ifndef NCS_PLUGIN_STATE_LANE_H
#define NCS_PLUGIN_STATE_LANE_H

#include <stdint.h>
#include <string.h>

#include "plugin/state/comm.h"
#include "shm/seqlock.h"

struct ncs_thread {
	/* From 1 in order of appearance; 0 before its first call;
	 * NCS_THREAD_MAX + 1 if all indices were taken. */
	uint32_t index;
	/* The callbacks that take the time of the latest one if one of them is the
	 * next: NCS_TAKER_*. */
	uint32_t takers;
	uint64_t latest; /* the time of the latest callback, for them */
};

/* The calling thread's. */
extern __thread struct ncs_thread ncs_thread
	__attribute__((visibility("hidden"), tls_model("initial-exec")));

/* Returns the calling thread's lane after giving the thread an index and a lane
 * if it has none. */
struct ncs_lane_state *ncs_lane_claim(struct ncs_comm *comm);

/* Takes all lanes from their threads: the communicator's entry begins another
 * life. Called at init. */
void ncs_lane_forget_claims(struct ncs_comm *comm);

/* Returns the calling thread's lane, claimed at first use; the shared lane if
 * all are taken. */
static inline struct ncs_lane_state *ncs_lane_of_caller(struct ncs_comm *comm)
{
	struct ncs_lane_state *lane = comm->lane_of_thread[ncs_thread.index];

	return __builtin_expect(lane != NULL, 1) ? lane : ncs_lane_claim(comm);
}

/* Stores the time of the thread's last callback. */
static inline void ncs_lane_note_call(struct ncs_lane_state *lane, uint64_t now)
{
	ncs_store_relaxed(&lane->published->last_call, now);
}

/* Returns the calling thread's lane and stores the time of the callback. */
static inline struct ncs_lane_state *ncs_lane_enter(struct ncs_comm *comm,
						    uint64_t now)
{
	struct ncs_lane_state *lane = ncs_lane_of_caller(comm);

	ncs_lane_note_call(lane, now);
	return lane;
}

/* Returns the names of the thread's latest call; NULL in the shared lane. */
static inline struct ncs_known_names *
ncs_lane_names(struct ncs_lane_state *lane)
{
	return __builtin_expect(lane->shared, 0) ? NULL : &lane->names;
}

/* For a forked child: forgets the parent's threads. */
void ncs_lane_forget_threads(void);

/* Adds to a counter of a lane. A load and a store suffice, since a lane has one
 * writer, unless it is the shared lane. */
static inline void ncs_lane_add(struct ncs_lane_state *lane, uint64_t *counter,
				uint64_t addend)
{
	if (__builtin_expect(lane->shared, 0))
		ncs_add_relaxed(counter, addend);
	else
		ncs_store_relaxed(counter, ncs_load_relaxed(counter) + addend);
}

/* Counts a lost event. */
static inline void ncs_lane_lose(struct ncs_lane_state *lane,
				 enum ncs_loss loss)
{
	ncs_lane_add(lane, &lane->published->losses[loss], 1);
}

/* Counts a received event. */
static inline void ncs_lane_count_event(struct ncs_lane_state *lane,
					enum ncs_event event)
{
	ncs_lane_add(lane, &lane->published->events[event], 1);
}

/* Publishes a record, given as its NCS_RECORD_WORDS words, in the shared lane's
 * ring. If another thread is publishing there, the record is lost and
 * counted. */
void ncs_lane_publish_shared(struct ncs_lane_state *lane,
			     const uint64_t *words);

/* Publishes a record, given as its NCS_RECORD_WORDS words, in a lane's ring. */
static inline void ncs_lane_publish_words(struct ncs_lane_state *lane,
					  const uint64_t *words)
{
	if (__builtin_expect(lane->shared, 0))
		ncs_lane_publish_shared(lane, words);
	else
		ncs_ring_put_words(&lane->ring, words);
}

/* Returns true if records of this type are kept in the call lane, like those of
 * operations. */
static inline bool ncs_lane_is_call(unsigned event)
{
	return event == NCS_EVENT_KERNEL_LAUNCH ||
	       event == NCS_EVENT_COLL_API || event == NCS_EVENT_P2P_API ||
	       event == NCS_EVENT_CE_COLL;
}

/* Returns the ring for records of operations and calls. */
static inline struct ncs_ring_producer *
ncs_lane_calls(struct ncs_lane_state *lane)
{
	return lane->calls.ring ? &lane->calls : &lane->ring;
}

/* Returns word 1 of a record. */
static inline uint64_t ncs_record_word1(unsigned event, unsigned flags,
					unsigned channel, unsigned function)
{
	return (uint64_t)event << 32 | (uint64_t)flags << 40 |
	       (uint64_t)channel << 48 | (uint64_t)function << 56;
}

/* Returns word 2 of a record. */
static inline uint64_t ncs_record_word2(uint64_t operation, int32_t peer)
{
	return (uint32_t)operation | (uint64_t)(uint32_t)peer << 32;
}

/* Publishes a record in a lane's ring. */
static inline void ncs_lane_publish(struct ncs_lane_state *lane,
				    const struct ncs_record *record)
{
	uint64_t words[NCS_RECORD_WORDS];

	memcpy(words, record, sizeof(words));
	ncs_lane_publish_words(lane, words);
}

/* Publishes an operation's own record, and before it a STREAM record if the
 * ring does not say yet on which CUDA stream the operation was called. `stream`
 * is as in records; 0 if unknown. */
void ncs_lane_publish_operation(struct ncs_lane_state *lane,
				const struct ncs_record *record,
				uint64_t stream);

/* Where a lane counts a function's times from one source. */
struct ncs_time_counters {
	uint64_t *timed, *time_ns, *bytes;
};

/* Returns the counters of a function's times in a lane. */
static inline struct ncs_time_counters
ncs_function_times(struct ncs_lane *lane, unsigned function,
		   enum ncs_timing timing)
{
	struct ncs_function *entry = &lane->functions[function];
	struct ncs_stream_times *stream = &lane->stream_times[function];

	if (timing == NCS_TIMING_STREAM)
		return (struct ncs_time_counters){ &stream->timed,
						   &stream->time_ns,
						   &stream->timed_bytes };
	return (struct ncs_time_counters){ &entry->timed[timing],
					   &entry->time_ns[timing],
					   &entry->timed_bytes[timing] };
}

/* Returns the counters of a range's times. */
static inline struct ncs_time_counters ncs_range_times(struct ncs_range *range,
						       enum ncs_timing timing)
{
	struct ncs_stream_times *stream = &range->stream_times;

	if (timing == NCS_TIMING_STREAM)
		return (struct ncs_time_counters){ &stream->timed,
						   &stream->time_ns,
						   &stream->timed_bytes };
	return (struct ncs_time_counters){ &range->timed[timing],
					   &range->time_ns[timing],
					   &range->timed_bytes[timing] };
}

/* Begins a change of a function's counters; ncs_lane_function_end() ends it. */
static inline struct ncs_function *
ncs_lane_function_begin(struct ncs_lane_state *lane, unsigned function)
{
	struct ncs_function *entry = &lane->published->functions[function];

	if (__builtin_expect(!lane->shared, 1))
		ncs_seqlock_begin(&entry->sequence);
	return entry;
}

/* Ends a change of a function's counters. */
static inline void ncs_lane_function_end(struct ncs_lane_state *lane,
					 struct ncs_function *function)
{
	if (__builtin_expect(!lane->shared, 1))
		ncs_seqlock_end(&function->sequence);
}

/* Adds to a counter of a function, between begin and end. */
static inline void ncs_lane_function_add(struct ncs_lane_state *lane,
					 uint64_t *counter, uint64_t addend)
{
	if (__builtin_expect(lane->shared, 0))
		ncs_add_relaxed(counter, addend);
	else
		ncs_payload_store(counter, ncs_load_relaxed(counter) + addend);
}

#endif
