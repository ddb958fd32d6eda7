/* SPDX-License-Identifier: MIT */
/* The heartbeat: a thread writes the time into the segments of all
 * communicators that are not finalized, twice a second, so that the death of a
 * killed process has a date: without one nobody knows for how long the job had
 * hung. It also says which code that communicates outside NCCL is loaded by now
 * (loaded_code.h), after a beat, since that may take longer than usual. Must not
 * call the driver, which may block.
 *
 * A thread does it, since no callback comes in a job that hangs, and since the
 * kernel keeps no time of a process's end that outlives the process: but for
 * System V IPC, whose objects stay behind and are not seen in other containers.
 * A beat takes what a wake-up takes (0.1 ms of a core on a virtual machine,
 * where timers are slow), and nobody waits for it.
 *
 * One thread a process, started by the first communicator, gone half a second
 * after the last one at most. It has a small stack and the name
 * "ncclstat-alive". A forked child has none until its own first communicator. A
 * stopped process has no heartbeat.
 *
 * init, finalize and fork call in here under the lock of
 * plugin/life/lifecycle.c.
 */
#ifndef NCS_PLUGIN_LIFE_HEARTBEAT_H
#define NCS_PLUGIN_LIFE_HEARTBEAT_H

#include "plugin/state/comm.h"

/* Has the segment of a communicator say when the process was last alive. If
 * there can be no thread, the segment goes on saying that this is not known. */
void ncs_heartbeat_add(struct ncs_comm *comm);

/* Writes no more into the segment of a communicator; does nothing if the
 * communicator was not added. */
void ncs_heartbeat_remove(struct ncs_comm *comm);

/* For a forked child: forgets the parent's thread and segments. */
void ncs_heartbeat_forget(void);

#endif
