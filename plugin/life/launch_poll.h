/* SPDX-License-Identifier: MIT */
/* Asking CUDA's driver about a communicator's launches: makes their events, asks
 * whether they have happened, destroys them.
 *
 * The driver is asked by the watch thread alone, without a lock, about slots that
 * nobody else changes before they are closed. The callers are between
 * ncs_cuda_begin() and ncs_cuda_end().
 */
#ifndef NCS_PLUGIN_LIFE_LAUNCH_POLL_H
#define NCS_PLUGIN_LIFE_LAUNCH_POLL_H

#include "plugin/life/launch_end.h"

/* Does what there is to do for a communicator: makes events, ends what has
 * ended, or closes it. Makes its context current. Returns how much that was:
 * pairs of events that were made, launches that were followed since the last
 * time, and launches that have ended. */
unsigned ncs_watched_serve(struct ncs_watched *self);

#endif
