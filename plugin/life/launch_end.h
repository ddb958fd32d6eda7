/* SPDX-License-Identifier: MIT */
/* Telling a communicator's segment, and its operations, that launches have begun
 * and ended.
 *
 * Never calls the driver. `ncs_watched_lock` is held while a communicator is
 * touched, and never during a call of the driver, which may take long: so
 * finalize never waits for the driver.
 */
#ifndef NCS_PLUGIN_LIFE_LAUNCH_END_H
#define NCS_PLUGIN_LIFE_LAUNCH_END_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugin/life/launch_clock.h"
#include "plugin/state/comm.h"
#include "plugin/state/launches.h"

/* A communicator's launches, as the watch thread knows them. */
struct ncs_watched {
	struct ncs_launches launches;
	/* Under the lock. */
	struct ncs_comm *comm; /* NULL once nothing is told of it any more */
	struct ncs_launch_clock *clock;
	bool leaving;         /* the communicator is finalized */
	bool closed;          /* nothing is left to do */
	uint64_t last_number; /* of its launches, at the latest look */
	uint64_t scanned;     /* operations up to this launch have been ended */
	/* The watch thread's. Pairs of events by kind: all, and those in use at
	 * once at most. */
	uint64_t made[NCS_LAUNCH_KINDS], used[NCS_LAUNCH_KINDS];
	uint64_t seen; /* launches published at the latest look */
	/* The driver's error. After one to a query the events are the
	 * driver's: their context may be gone. */
	uint64_t failure;
	bool events_lost;
	bool released; /* its events are gone */
};

extern pthread_mutex_t ncs_watched_lock;

/* Signalled, under the lock, when a communicator is detached. */
extern pthread_cond_t ncs_watched_detached;

/* Lets a communicator's memory be another's: nothing is told of it any more. The
 * lock is held. */
void ncs_watched_detach(struct ncs_watched *self);

/* Writes the state of timing to the communicator's segment. The lock is held,
 * and there is a communicator. */
void ncs_watched_publish(struct ncs_watched *self);

/* The kernel of a launch was seen to have begun, at the latest now. */
void ncs_watched_began(struct ncs_watched *self, struct ncs_launch_slot *slot);

/* A launch was seen to have ended, at the latest now: ends its operations with
 * the slot's times, and frees the slot, which is the oldest one. */
void ncs_watched_ended(struct ncs_watched *self, struct ncs_launch_slot *slot);

/* Ends operations of launches that were not followed, once a later launch has
 * ended. */
void ncs_watched_end_unfollowed(struct ncs_watched *self);

/* Gives up all launches, and ends their operations without a time. The lock is
 * held, and nobody launches. */
void ncs_watched_give_up(struct ncs_watched *self);

/* Ends the operations of launches that were not followed, and after an error
 * will not end with a later one. */
void ncs_watched_give_up_operations(struct ncs_watched *self);

#endif
