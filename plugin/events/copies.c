/* SPDX-License-Identifier: MIT */
/* Collectives by copy engines; see copies.h. */
#include "plugin/events/copies.h"

#include "plugin/events/capture.h"
#include "plugin/events/decode.h"
#include "plugin/events/launch.h"
#include "plugin/events/operation.h"
#include "plugin/state/lane.h"
#include "plugin/state/registry.h"

/* Returns the communicator for a communicator's copies, which is live; NULL if there
 * is none (yet). */
static struct ncs_comm *copies_of(const struct ncs_comm *comm)
{
	/* ORDER: pairs with make_copies() (plugin/life/lifecycle.c): it is
	 * complete. */
	struct ncs_comm *copies = (struct ncs_comm *)(uintptr_t)
		ncs_load_acquire(&comm->copies);

	return copies && ncs_comm_is_live(copies) ? copies : NULL;
}

/* Has the watch thread make the communicator for the copies, unless it could not. A
 * thread that is about to end may not do it: the next call asks again. */
static void want_copies(struct ncs_comm *comm)
{
	if (ncs_load_relaxed(&comm->copies) != 0 || !ncs_launches_of(comm) ||
	    ncs_load_relaxed(&comm->copies_wanted) == NCS_COPIES_REFUSED)
		return;
	ncs_store_relaxed(&comm->copies_wanted, NCS_COPIES_WANTED);
	ncs_launch_process.start_watch();
}

void ncs_copies_start(struct ncs_comm *comm, uint64_t handle, const void *body,
		      uint64_t now)
{
	struct ncs_comm *copies = copies_of(comm);
	struct ncs_operation_facts facts;
	struct ncs_lane_state *lane;
	struct ncs_kernel_launch launch = { .handle = handle, .now = now };

	launch.stream = ncs_decode_ce_coll(body, &facts);
	/* Each call counts, so that all ranks number them alike. */
	facts.sequence_number =
		ncs_add_relaxed(&comm->copied[facts.function], 1);
	if (!copies) {
		if (ncs_lane_of_caller(comm)->call.captured)
			ncs_store_relaxed(&comm->captures_missed, 1);
		want_copies(comm);
		return;
	}
	if (ncs_load_relaxed(&comm->captures_missed) != 0)
		ncs_store_relaxed(&copies->captures_missed, 1);
	lane = ncs_lane_enter(copies, now);
	if (lane->shared)
		return;
	ncs_store_relaxed(&lane->launched, now);
	ncs_launch_start(copies, lane, &launch);
	lane->copy = facts;
	lane->copy_handle = handle;
}

void ncs_copies_stop(struct ncs_comm *comm, uint64_t handle, uint64_t now)
{
	struct ncs_comm *copies = copies_of(comm);
	struct ncs_lane_state *lane = copies ? ncs_lane_enter(copies, now) : NULL;

	if (!lane || lane->shared || lane->copy_handle != handle)
		return;
	lane->copy_handle = 0;
	ncs_launch_stop(copies, lane, handle,
			(void *)(uintptr_t)NCS_RECORD_STREAM_HANDLE(
				lane->copy.stream));
	if (lane->is_captured)
		ncs_capture_operation(lane, &lane->copy);
	else
		ncs_operation_stop(copies,
				   ncs_operation_start(copies, lane,
						       &lane->copy, now),
				   now);
}
