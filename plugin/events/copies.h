/* SPDX-License-Identifier: MIT */
/* Collectives that NCCL makes by copy engines (CeColl, from NCCL 2.29 on). They
 * launch no kernel, but NCCL says on which stream it submits their copies, before
 * and after, so that they are followed as kernels are.
 *
 * They are the operations of another communicator, which has a segment of its own:
 * NCCL numbers them apart from the kernels of the same function, in a count of all
 * that copy engines synchronize. Here each function's are numbered from 0, in the
 * order of the calls, which is the same on all ranks. Until the watch thread has
 * made that communicator, they are counted only.
 *
 * Called by callbacks: no lock, no allocation, no system call but the first start of
 * the watch thread.
 */
#ifndef NCS_PLUGIN_EVENTS_COPIES_H
#define NCS_PLUGIN_EVENTS_COPIES_H

#include <stdint.h>

#include "plugin/state/comm.h"

/* CeColl starts: `body` is its descriptor, of API 6 or later; `handle` the event's,
 * 0 if it will not stop. */
void ncs_copies_start(struct ncs_comm *comm, uint64_t handle, const void *body,
		      uint64_t now);

/* CeColl stops. */
void ncs_copies_stop(struct ncs_comm *comm, uint64_t handle, uint64_t now);

#endif
