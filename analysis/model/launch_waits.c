/* SPDX-License-Identifier: MIT */
/* Waits by the progress of launches; see launch_waits.h. Must not guess: where
 * a rank cannot be seen, what it does is not known. */
#include "analysis/model/launch_waits.h"

#include "analysis/base/collective_waits.h"
#include "analysis/model/communicators.h"
#include "analysis/model/waits.h"

static const struct {
	const char *name;
	const char *help;
} kinds[NCS_LAUNCH_WAIT_COUNT] = {
#define X(ID, name_, help_) \
	[NCS_LAUNCH_WAIT_##ID] = { .name = name_, .help = help_ },
	NCS_LAUNCH_WAITS(X)
#undef X
};

const char *ncs_launch_wait_name(unsigned kind)
{
	return kind < NCS_LAUNCH_WAIT_COUNT ? kinds[kind].name : "unknown";
}

const char *ncs_launch_wait_help(unsigned kind)
{
	return kind < NCS_LAUNCH_WAIT_COUNT ? kinds[kind].help : "unknown";
}

enum ncs_launch_phase
ncs_operation_phase(const struct ncs_rank *rank,
		    const struct ncs_operation_view *operation)
{
	return ncs_launch_phase(&rank->now.launches, operation->launch);
}

/* --- Other ranks ----------------------------------------------------------- */

/* Whether a rank's kernel of a collective has begun. */
enum kernel_begun { NOT_KNOWN, NOT_BEGUN, HAS_BEGUN };

static enum kernel_begun has_begun(const struct ncs_rank *rank,
				   const struct ncs_operation_view *operation)
{
	const struct ncs_snapshot *now = &rank->now;
	uint64_t number = operation->sequence_number;
	uint64_t last =
		now->functions[operation->function].last_sequence_number;

	if (last == NCS_NO_SEQUENCE_NUMBER || last < number)
		return NOT_BEGUN; /* not called yet */
	for (size_t i = 0; i < now->operation_count; i++) {
		const struct ncs_operation_view *own = &now->operations[i];

		if (own->function != operation->function ||
		    own->sequence_number != number)
			continue;
		switch (ncs_operation_phase(rank, own)) {
		case NCS_LAUNCH_PHASE_QUEUED:
			return NOT_BEGUN;
		case NCS_LAUNCH_PHASE_UNKNOWN:
			return NOT_KNOWN;
		default:
			return HAS_BEGUN;
		}
	}
	/* The launch of an operation that is not in flight is over, or was not
	 * followed. */
	return now->launches.status == NCS_STREAM_ALL ? HAS_BEGUN : NOT_KNOWN;
}

/* Finds out whether an operation that has begun waits for another rank. */
static enum ncs_launch_wait_kind
running_kind(const struct ncs_rank *rank,
	     const struct ncs_operation_view *operation)
{
	const struct ncs_communicator *communicator = rank->communicator;
	const struct ncs_identity *identity = &rank->now.identity;
	enum ncs_wait_rule rule =
		operation->event == NCS_EVENT_COLL ?
			ncs_wait_rule_of(operation->function) :
			NCS_WAIT_FOR_NONE;
	size_t begun = 0, awaited;

	if (!communicator || rule == NCS_WAIT_FOR_NONE ||
	    operation->sequence_number == NCS_NO_SEQUENCE_NUMBER ||
	    !ncs_is_waiting(rule, identity->rank == operation->peer))
		return NCS_LAUNCH_WAIT_RUNNING;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *other = communicator->ranks[i];

		if (other == rank ||
		    !ncs_is_awaited(rule, other->now.identity.rank ==
						  operation->peer))
			continue;
		switch (has_begun(other, operation)) {
		case NOT_BEGUN:
			return NCS_LAUNCH_WAIT_PEER;
		case HAS_BEGUN:
			begun++;
			break;
		case NOT_KNOWN:
			break;
		}
	}
	awaited = rule == NCS_WAIT_FOR_ROOT ? 1 : (size_t)identity->nranks - 1;
	return identity->known & NCS_KNOWN_NRANKS && begun == awaited ?
		       NCS_LAUNCH_WAIT_MOVING :
		       NCS_LAUNCH_WAIT_RUNNING;
}

/* --- A rank ---------------------------------------------------------------- */

struct ncs_launch_wait ncs_rank_launch_wait(const struct ncs_rank *rank)
{
	const struct ncs_snapshot *now = &rank->now;
	struct ncs_launch_wait wait = { .kind = NCS_LAUNCH_WAIT_COUNT };
	uint64_t end_ns = ncs_rank_end_ns(rank);

	for (size_t i = 0; i < now->operation_count && !wait.operation; i++) {
		const struct ncs_operation_view *operation =
			&now->operations[i];
		enum ncs_launch_phase phase =
			ncs_operation_phase(rank, operation);

		if (phase == NCS_LAUNCH_PHASE_QUEUED) {
			wait.kind = NCS_LAUNCH_WAIT_STREAM;
			wait.since_ns = operation->start_ns;
		} else if (phase == NCS_LAUNCH_PHASE_RUNNING) {
			wait.kind = running_kind(rank, operation);
			wait.since_ns = now->launches.begun_ns;
		} else {
			continue;
		}
		wait.operation = operation;
	}
	if (wait.operation && end_ns > wait.since_ns)
		wait.duration_ns = end_ns - wait.since_ns;
	return wait;
}

static bool is_followed(const struct ncs_launches_view *launches)
{
	return launches->status == NCS_STREAM_ALL ||
	       launches->status == NCS_STREAM_SOME;
}

int64_t ncs_rank_launches_ahead(const struct ncs_rank *rank)
{
	const struct ncs_launches_view *launches = &rank->now.launches;

	/* Once the last launch that is followed has ended, nothing is known of
	 * those after it. */
	if (!is_followed(launches) || (launches->followed == launches->ended &&
				       launches->launched > launches->followed))
		return -1;
	return (int64_t)(launches->launched - launches->begun);
}

/* --- A communicator -------------------------------------------------------- */

const struct ncs_rank *
ncs_communicator_last_launch(const struct ncs_communicator *communicator)
{
	const struct ncs_rank *last = NULL;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		const struct ncs_launches_view *launches = &rank->now.launches;

		if (!is_followed(launches) || !ncs_rank_is_live(rank))
			continue;
		if (!last || launches->begun < last->now.launches.begun ||
		    (launches->begun == last->now.launches.begun &&
		     launches->ended < last->now.launches.ended))
			last = rank;
	}
	return last;
}
