/* SPDX-License-Identifier: MIT */
/* Launches of NCCL's kernels that the plugin follows by CUDA events: the ones
 * in progress, and what all communicators share about them.
 *
 * The launching thread records an event before and one after the kernel
 * (plugin/events/launch.c); the watch thread asks whether they have happened
 * (plugin/life/launch_poll.c) and ends the launch's operations
 * (plugin/life/launch_end.c). Both meet here. Callbacks use these structures
 * without a lock.
 *
 * A communicator's launches are kept apart from the communicator: events that
 * are still pending when it is finalized outlive it.
 */
#ifndef NCS_PLUGIN_STATE_LAUNCHES_H
#define NCS_PLUGIN_STATE_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/control_object.h"
#include "plugin/nccl/cuda_driver.h"
#include "plugin/state/comm.h"
#include "shm/atomics.h"

/* Launches of a communicator that can be followed at once; a power of two. */
#define NCS_LAUNCH_MAX 512u

/* Slots that launches with times leave to those without: a burst must not use
 * all, or its last launches were not seen to end. */
#define NCS_LAUNCH_KEPT 64u

/* `state` of a slot is one word, so that it changes as a whole:
 *   bit  0      closed: the launch is over, or given up
 *   bits 1-15   number of operations that have joined
 *   bits 16-63  number of the launch, modulo 2^48
 * An operation joins a launch that is not closed; whoever closes it ends the
 * operations that have joined. */
#define NCS_LAUNCH_CLOSED UINT64_C(1)
#define NCS_LAUNCH_JOINED UINT64_C(2)
#define NCS_LAUNCH_JOINED_MASK UINT64_C(0xfffe)
#define NCS_LAUNCH_NUMBER_SHIFT 16

/* The first operations that join are known by their slots; others are searched
 * for when the launch ends. */
#define NCS_LAUNCH_KNOWN 4u

/* A pair of CUDA events. */
struct ncs_launch_events {
	void *begin, *end;
};

/* Whether events have times. */
enum ncs_launch_kind {
	NCS_LAUNCH_PLAIN,
	NCS_LAUNCH_TIMED,
	NCS_LAUNCH_KINDS
};

struct ncs_launch_slot {
	uint64_t state;
	/* Written by the launching thread before the launch is published. */
	uint64_t number;
	uint64_t called; /* ticks at the start of KernelLaunch */
	uint64_t kind;   /* enum ncs_launch_kind */
	struct ncs_launch_events events;
	/* Written by the watch thread before it closes the launch; 0 if they
	 * are not known. */
	uint64_t begin; /* ticks when the kernel began */
	uint64_t time_ns; /* from its begin to its end */
	uint64_t bytes; /* messages of the operations that have joined */
	uint32_t operations[NCS_LAUNCH_KNOWN]; /* indices of their slots */
	bool begun; /* seen by the watch thread */
};

enum ncs_launches_stage {
	NCS_LAUNCHES_FREE,    /* belongs to no communicator */
	NCS_LAUNCHES_IDLE,    /* nothing was launched yet */
	NCS_LAUNCHES_WANTED,  /* the watch thread does not know it yet */
	NCS_LAUNCHES_READY,   /* it does */
	NCS_LAUNCHES_CLOSING, /* ended by finalize, or by an error */
};

enum ncs_launches_use {
	NCS_LAUNCHES_UNUSED,
	NCS_LAUNCHES_USED, /* by a callback, or by the watch thread for good */
	/* A launch is between its two events, or was when NCCL gave it up. */
	NCS_LAUNCHES_BETWEEN,
};

struct ncs_launches {
	uint64_t stage;	 /* enum ncs_launches_stage */
	uint64_t use;    /* enum ncs_launches_use */
	uint64_t error;  /* the driver's to a launching thread; 0 if none */
	uint64_t head;	 /* launches published to the watch thread */
	uint64_t number; /* launches so far, captured ones left out */
	uint64_t last_followed; /* ticks when the latest one was followed */
	uint64_t open_handle;   /* KernelLaunch event of the one in between */
	uint64_t last_missed; /* the latest that was to be timed and was not */
	/* Pairs of events that published launches have taken, by kind. */
	uint64_t taken[NCS_LAUNCH_KINDS];
	/* The context of the first launch, if it is a device's primary one; until
	 * then its `context` is NULL. Others that launches were in: the
	 * latest. */
	struct ncs_cuda_primary primary;
	uint64_t other_context;
	/* The latest capture: its ID, and the graph's index plus 1 in
	 * captured.h, 0 before the first one. */
	unsigned long long capture;
	uint32_t graph;
	/* Written by the watch thread. */
	NCS_APART uint64_t tail; /* launches that it has closed */
	/* Pairs that it has made, or has put back. */
	uint64_t put[NCS_LAUNCH_KINDS];
	/* The free pairs of a kind are those from `taken` to `put`. There are
	 * at most so many of a kind, so that none is overwritten. */
	struct ncs_launch_events pairs[NCS_LAUNCH_KINDS][NCS_LAUNCH_MAX];
	struct ncs_launch_slot slots[NCS_LAUNCH_MAX];
};

/* The first version of the API that reports launches. */
#define NCS_LAUNCH_API 5u

/* The word of what was asked for (enum ncs_timing_detail) and a level: one launch in
 * 2^level is timed. */
#define NCS_LAUNCH_TIMING(detail, level) ((uint64_t)(detail) << 8 | (level))
#define NCS_LAUNCH_DETAIL(timing) ((timing) >> 8)
#define NCS_LAUNCH_LEVEL(timing) ((timing)&0xff)

/* State that all launches of the process share. */
struct ncs_launch_process {
	/* Which launches are timed, in one word: NCS_LAUNCH_TIMING(). In
	 * NCS_TIMING_DETAIL_AUTO the watch thread chooses the level. */
	uint64_t timing;
	uint64_t timed;
	/* Launches of all communicators; only the watch thread uses them. */
	uint64_t launches;
	/* In NCS_TIMING_DETAIL_AUTO, the level outside of the stretches of which all
	 * launches are timed; 0: all are timed. */
	uint64_t sparse_level;
	/* The first launch of each captured graph is stamped, and one in so
	 * many after it; 0: chosen for each graph (stamp_choice.h). */
	uint64_t stamp_period;
	bool stamps; /* whether captured launches are stamped at all */
	uint64_t spacing_ticks; /* least time between launches that are followed
				 * without being timed */
	/* Starts the watch thread if there is none; never waits for it, and
	 * takes no lock. Returns false if there is none. Called by launches of
	 * communicators that it does not know yet. Set by
	 * plugin/life/launch_watch.c. */
	bool (*start_watch)(void);
};

extern struct ncs_launch_process ncs_launch_process;

/* Has launches timed as was asked for. */
static inline void ncs_launch_time(uint8_t detail)
{
	uint64_t level = detail > NCS_TIMING_DETAIL_EVERY ?
				 detail - NCS_TIMING_DETAIL_EVERY :
				 0;

	ncs_store_relaxed(&ncs_launch_process.timing,
			  NCS_LAUNCH_TIMING(detail, level));
}

/* Returns the launches of a communicator; NULL if they are not followed. */
static inline struct ncs_launches *ncs_launches_of(const struct ncs_comm *comm)
{
	return (struct ncs_launches *)(uintptr_t)ncs_load_relaxed(
		&comm->launches);
}

/* Puts a pair of events with the free ones. For the watch thread; for a first
 * launch before that knows the communicator. */
static inline void ncs_launch_put(struct ncs_launches *launches, uint64_t kind,
				  struct ncs_launch_events events)
{
	uint64_t put = ncs_load_relaxed(&launches->put[kind]);

	launches->pairs[kind][put % NCS_LAUNCH_MAX] = events;
	/* ORDER: pairs with free_events() (plugin/events/launch.c): the pair is
	 * complete. */
	ncs_store_release(&launches->put[kind], put + 1);
}

/* Takes the launches, for a callback or for the watch thread, which keeps them:
 * only the thread that gets a true result may use them. A launch that is still
 * between its two events will never stop: NCCL launches one at a time, so that it
 * has failed. */
static inline bool ncs_launches_take(struct ncs_launches *launches)
{
	/* ORDER: pairs with leave() (plugin/events/launch.c): one thread at a
	 * time uses the launches. */
	return ncs_cas_acquire_release(&launches->use, NCS_LAUNCHES_UNUSED,
				       NCS_LAUNCHES_USED) ||
	       ncs_cas_acquire_release(&launches->use, NCS_LAUNCHES_BETWEEN,
				       NCS_LAUNCHES_USED);
}

/* The word of a new launch's slot. */
static inline uint64_t ncs_launch_state(uint64_t number)
{
	return number << NCS_LAUNCH_NUMBER_SHIFT;
}

/* Returns true if a slot's word is that of this launch, closed or not. */
static inline bool ncs_launch_is(uint64_t state, uint64_t number)
{
	return state >> NCS_LAUNCH_NUMBER_SHIFT ==
	       ncs_launch_state(number) >> NCS_LAUNCH_NUMBER_SHIFT;
}

/* Returns the number of operations that have joined. */
static inline unsigned ncs_launch_joined(uint64_t state)
{
	return (unsigned)((state & NCS_LAUNCH_JOINED_MASK) / NCS_LAUNCH_JOINED);
}

#endif
