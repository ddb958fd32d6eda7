/* SPDX-License-Identifier: MIT */
/* The activation mask: the event bits that NCCL reads to know which events to
 * report. NCCL has one for all communicators of a process; only this module
 * writes it. Its kernel bits are chosen while no communicator lives, and stay
 * until none does (mask.c says why). A mask that somebody else has set, as
 * NCCL's RAS client can, is shown and never written again. Callbacks do not
 * wait here. */
#ifndef NCS_PLUGIN_MASK_MASK_H
#define NCS_PLUGIN_MASK_MASK_H

#include "plugin/state/comm.h"

/* Forgets everything, at the first init of a process or a forked child. */
void ncs_mask_reset(enum ncs_kernel_timing timing);

/* Stores the events to ask for in `word`, which NCCL passed at the init of a
 * communicator (NULL: nothing is stored). `comm` is live; NULL if it is not
 * published. May wait. Under the lock of plugin/life/lifecycle.c. */
void ncs_mask_add_comm(struct ncs_comm *comm, uint32_t *word);

/* Events of ours, which a release may lack, and of a chained plugin, whose
 * kernel bits count where ours are chosen. Any thread. */
enum ncs_mask_part { NCS_MASK_OURS, NCS_MASK_CHAINED };
void ncs_mask_set_events(enum ncs_mask_part part, uint32_t events);

/* Stores the mask from the settings, and publishes what it is. */
void ncs_mask_store(void);

/* Looks whether somebody else has set the mask, in a callback. */
static inline void ncs_mask_check(const struct ncs_comm *comm)
{
	const uint32_t *word = (uint32_t *)ncs_load_relaxed(&comm->mask);

	if (word &&
	    ncs_load_relaxed32(word) != ncs_load_relaxed(&comm->event_mask))
		ncs_mask_store();
}

#endif
