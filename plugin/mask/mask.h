/* SPDX-License-Identifier: MIT */
/* The activation mask: the event bits that NCCL reads to know which events to
 * report.
 *
 * This module alone writes the mask. Its kernel bits decide which calls the GPU
 * times (NCCLSTAT_KERNEL_TIMING). Changing them at the wrong time can hang a
 * job; the top of mask.c explains the rules and argues why they are safe. Must
 * not block in a callback: only ncs_mask_add_comm(), ncs_mask_add_unseen() and
 * ncs_mask_remove_comm() may wait.
 */
#ifndef NCS_PLUGIN_MASK_MASK_H
#define NCS_PLUGIN_MASK_MASK_H

#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/abi.h"
#include "plugin/nccl/environment.h"
#include "plugin/state/comm.h"
#include "plugin/state/decoded.h"
#include "shm/clock.h"

/* Resets everything to the environment's settings. Called at the first init of
 * a process, and of a forked child. */
void ncs_mask_reset(const struct ncs_environment *config,
		    const struct ncs_clock *clock);

/* --- Init and finalize, under the lock of plugin/life/lifecycle.c --------- */

/* Adds a new communicator before NCCL's init returns, and stores the events to
 * ask for in `word`, the mask that NCCL passed (NULL if it passed none). May
 * wait for about 20 ms. */
void ncs_mask_add_comm(struct ncs_comm *comm, uint32_t *word);

/* Adds a communicator whose calls will not be seen; `word` may be NULL. */
void ncs_mask_add_unseen(uint32_t *word);

/* Removes a communicator that is being finalized. */
void ncs_mask_remove_comm(struct ncs_comm *comm);

/* --- Callbacks, any thread ---------------------------------------------- */

/* Handles the start of an API call, for which NCCL has just read the mask.
 * `context` is the one that NCCL passed: the communicator's entry may have been
 * reused since. */
void ncs_mask_call(struct ncs_comm *comm, uint64_t context,
		   enum ncs_event event, const struct ncs_decoded_call *call);

/* Handles the end of the outermost group of a thread's calls, where the mask is
 * switched if at all. `context` is that of the group's communicator. */
void ncs_mask_group_end(struct ncs_comm *comm, uint64_t context, uint64_t now);

/* Sets the kernel timing to apply from now on; `period` is used for SAMPLED
 * only. It takes effect at the end of a group if the rules allow that; the
 * published status says if it did. */
void ncs_mask_set_timing(enum ncs_kernel_timing mode, uint32_t period);

/* Restricts the events to ask for to these bits; bits of kernel timing are
 * ignored. Taking away the events of any API call ends kernel timing for
 * good. */
void ncs_mask_set_events(uint32_t events);

/* Replaces the events that a chained plugin asks for. Kernel bits count as a
 * request for `always`, under the same rules. Call it at init before
 * ncs_mask_add_comm(), and when the chained plugin changes its mask; one thread
 * at a time. */
void ncs_mask_add_events(uint32_t events);

#endif
