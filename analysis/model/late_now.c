/* SPDX-License-Identifier: MIT */
/* Ranks that others wait for now; see late_now.h. Read from tables of
 * operations: an operation that hangs has no records. */
#include "analysis/model/late_now.h"

#include "analysis/base/collective_waits.h"
#include "analysis/model/communicators.h"
#include "analysis/model/launch_waits.h"
#include "analysis/model/lateness_state.h"
#include "analysis/model/waits.h"

/* Returns the sequence number of a rank's next operation of a function. */
static uint64_t next_number(const struct ncs_rank *rank, unsigned function)
{
	uint64_t last = rank->now.functions[function].last_sequence_number;

	return last == NCS_NO_SEQUENCE_NUMBER ? 0 : last + 1;
}

/* Returns since when an operation waits for other ranks: not before its kernel
 * has begun, where that is known. Returns 0 if it does not wait yet. */
static uint64_t waiting_since_ns(const struct ncs_rank *rank,
				 const struct ncs_operation_view *operation)
{
	switch (ncs_operation_phase(rank, operation)) {
	case NCS_LAUNCH_PHASE_QUEUED:
		return 0;
	case NCS_LAUNCH_PHASE_RUNNING:
		return rank->now.launches.begun_ns;
	default:
		return operation->start_ns;
	}
}

/* Notes for how long another rank's operation has waited for a rank. */
static void note_waiting(struct ncs_late_now *now, const struct ncs_rank *rank,
			 const struct ncs_rank *other,
			 const struct ncs_operation_view *operation)
{
	enum ncs_wait_rule rule =
		operation->event == NCS_EVENT_COLL &&
				operation->function < NCS_FUNCTION_COUNT ?
			ncs_wait_rule_of(operation->function) :
			NCS_WAIT_FOR_NONE;
	uint64_t since_ns = waiting_since_ns(other, operation);
	uint64_t late_ns;

	if (rule == NCS_WAIT_FOR_NONE || since_ns == 0 ||
	    operation->sequence_number == NCS_NO_SEQUENCE_NUMBER ||
	    operation->sequence_number !=
		    next_number(rank, operation->function) ||
	    !ncs_is_awaited(rule, rank->now.identity.rank == operation->peer) ||
	    !ncs_is_waiting(rule, other->now.identity.rank == operation->peer))
		return;
	/* Both snapshots were taken after the start. */
	late_ns = ncs_time_since(since_ns + ncs_error_between(rank, other),
				 rank->now.taken_ns);
	if (late_ns == 0)
		return;
	if (now->late_ns > 0 && (now->function != operation->function ||
				 now->number != operation->sequence_number)) {
		if (late_ns <= now->late_ns)
			return;
		now->waiting = 0;
	}
	now->function = operation->function;
	now->number = operation->sequence_number;
	now->waiting++;
	if (late_ns > now->late_ns)
		now->late_ns = late_ns;
}

static struct ncs_late_now late_now(const struct ncs_communicator *communicator,
				    const struct ncs_rank *rank)
{
	struct ncs_late_now now = { 0 };

	if (!ncs_rank_is_live(rank) ||
	    !(rank->now.identity.known & NCS_KNOWN_RANK))
		return now;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *other = communicator->ranks[i];

		if (other == rank || !ncs_is_comparable(rank, other) ||
		    !ncs_rank_is_live(other))
			continue;
		for (size_t k = 0; k < other->now.operation_count; k++)
			note_waiting(&now, rank, other,
				     &other->now.operations[k]);
	}
	return now;
}

void ncs_rank_late_now(const struct ncs_rank *rank, struct ncs_late_now *now)
{
	*now = rank->communicator ? late_now(rank->communicator, rank) :
				    (struct ncs_late_now){ 0 };
}
