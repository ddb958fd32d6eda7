/* SPDX-License-Identifier: MIT */
/* Replays of CUDA graphs: reads the stamps that the GPU has written, and starts
 * and ends the operations of the launches that they tell of.
 *
 * A communicator's replayed operations are those of another communicator, which
 * has a segment of its own: their order is the GPU's, not that of the host's
 * calls. All ranks count them alike: an operation's number is that of the replay's
 * first one of its function, plus its place in the graph.
 *
 * For the watch thread, between ncs_cuda_begin() and ncs_cuda_end(). Nothing here
 * calls the driver or the kernel under `ncs_watched_lock`.
 */
#ifndef NCS_PLUGIN_LIFE_REPLAYS_H
#define NCS_PLUGIN_LIFE_REPLAYS_H

#include <stdbool.h>

#include "plugin/nccl/cuda_driver.h"
#include "plugin/state/comm.h"

/* Sets the function that makes the communicator for another one's replays: it
 * calls ncs_replays_add() unless that one is finalized. */
void ncs_replays_reset(void (*make)(const struct ncs_comm *comm));

/* Gives a communicator the one for its replays, NULL if none could be made.
 * Neither is finalized meanwhile. */
void ncs_replays_add(const struct ncs_comm *comm, struct ncs_comm *replays);

/* Compares the GPU's clock with the host's if that is due, by a kernel on this
 * stream. The context, in which there may be stamps, is current. */
void ncs_replays_renew_clock(const struct ncs_cuda_primary *primary,
			     void *stream);

/* Reads what there is. Returns the number of stamps. */
unsigned ncs_replays_serve(void);

/* Returns true if the GPU may write more stamps. */
bool ncs_replays_may_come(void);

/* A communicator is finalized, or its memory is about to be another's: returns
 * the one for its replays, if it has one, of which nothing is told any more. */
struct ncs_comm *ncs_replays_remove(const struct ncs_comm *comm);

/* For a forked child: forgets the parent's. */
void ncs_replays_forget(void);

#endif
