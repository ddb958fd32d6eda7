/* SPDX-License-Identifier: MIT */
/* The activation mask: the one word that NCCL reads, who may change it, when.
 *
 * Owns that word, and with it the question which calls the GPU times
 * (NCCLSTAT_KERNEL_TIMING). The argument why no change of it can hang a job is
 * at the top of mask.c. Must not block in a callback: only
 * ncs_mask_add_comm() and ncs_mask_remove_comm() may wait.
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

/* What the environment asks for. At the first init of a process; in a forked
 * child anew. */
void ncs_mask_reset(const struct ncs_environment *config,
		    const struct ncs_clock *clock);

/* A communicator has been made, and NCCL's init has not returned yet; `word` is
 * what NCCL passed. Stores what NCCL is asked for. May wait some 20 ms. Under
 * the lock of lifecycle.c, like the next two. */
void ncs_mask_add_comm(struct ncs_comm *comm, uint32_t *word);

/* One has been made whose calls will not be seen. */
void ncs_mask_add_unseen(uint32_t *word);

/* A communicator has been finalized. */
void ncs_mask_remove_comm(struct ncs_comm *comm);

/* --- Callbacks, any thread ---------------------------------------------- */

/* An API call begins. NCCL has read the mask for it just before. `context` is
 * what NCCL passed: the communicator's entry may be another's by now. */
void ncs_mask_call(struct ncs_comm *comm, uint64_t context,
		   enum ncs_event event, const struct ncs_decoded_call *call);

/* The outermost group of a thread's calls has ended: where the mask is
 * switched, if at all. `context`: of the communicator of its GroupApi event. */
void ncs_mask_group_end(struct ncs_comm *comm, uint64_t context, uint64_t now);

/* Asks for another kernel timing from now on. `period` counts for SAMPLED
 * only. It comes into force at the end of a group, where that is allowed; the
 * status says what has come of it. */
void ncs_mask_set_timing(enum ncs_kernel_timing mode, uint32_t period);

/* Which of the events that are asked for anyway are still wanted; bits of
 * kernel timing do not count. Without those of all API calls kernel timing has
 * ended for good. */
void ncs_mask_set_events(uint32_t events);

/* What a chained plugin wants, in place of what it wanted before; bits of kernel
 * timing as if `always` were asked for, and by the same rules. At init before
 * ncs_mask_add_comm(), and where the other plugin changes its mind. One thread
 * at a time. */
void ncs_mask_add_events(uint32_t events);

#endif
