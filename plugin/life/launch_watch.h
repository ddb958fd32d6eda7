/* SPDX-License-Identifier: MIT */
/* The watch thread: asks CUDA whether followed launches have begun and ended,
 * also when the application never calls again, and ends their operations.
 *
 * A thread asks, rather than words that the GPU writes into the segment
 * (cuStreamWriteValue): the driver would have to pin the segment's page for as
 * long as a write may be pending, which outlives the communicator, and a time
 * needs a thread or a callback to fetch it anyway. Asking for an event takes
 * 0.14 us and costs the stream nothing.
 *
 * One thread a process, started by the first launch, gone when no communicator
 * is left. The launch takes no lock for that; pthread_create() is the one call
 * of a callback that may wait, once a process as a rule. It is not made at init,
 * where many processes have communicators and never launch. The thread has a
 * small stack and the name "ncclstat-watch"; nobody waits for it. A forked child
 * has none until its own first launch.
 *
 * init, finalize and fork call in here under the lock of
 * plugin/life/lifecycle.c.
 */
#ifndef NCS_PLUGIN_LIFE_LAUNCH_WATCH_H
#define NCS_PLUGIN_LIFE_LAUNCH_WATCH_H

#include "plugin/nccl/environment.h"
#include "plugin/state/comm.h"

/* Sets up following for a process whose clock is known: at its first init, and
 * in a forked child again. `make_copies` makes the communicator for another one's
 * copies, on the watch thread. */
void ncs_launch_watch_reset(const struct ncs_environment *environment,
			    void (*make_copies)(struct ncs_comm *comm));

/* Lets the launches of a new communicator be followed, if the release reports
 * them and the driver is there; its segment says why not otherwise. */
void ncs_launch_watch_add(struct ncs_comm *comm);

/* Stops following a communicator that is finalized: the thread looks once more,
 * ends what has ended, and gives up the rest. Waits for nothing. */
void ncs_launch_watch_remove(struct ncs_comm *comm);

/* Waits for that last look for some milliseconds at most, since the process may
 * end next. Not under the lock of plugin/life/lifecycle.c: the driver may hold
 * the thread up. */
void ncs_launch_watch_await(const struct ncs_comm *comm);

/* A finalized communicator's memory is about to be another's: nothing is told of
 * it any more. */
void ncs_launch_watch_detach(const struct ncs_comm *comm);

/* At exit: makes the thread call the driver no more. Does not wait for it. */
void ncs_launch_watch_stop(void);

/* For a forked child: forgets the parent's thread and launches. */
void ncs_launch_watch_forget(void);

#endif
