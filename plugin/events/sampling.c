/* SPDX-License-Identifier: MIT */
/* Counting and choosing operations; see sampling.h. */
#include "plugin/events/sampling.h"

#include "plugin/state/registry.h"
#include "plugin/state/sample_choice.h"
#include "plugin/state/slots.h"
#include "plugin/state/transfers.h"

void ncs_sampling_set_level(unsigned level)
{
	ncs_store_relaxed(&ncs_registry.sample_level, level);
	for (unsigned i = 0; i < NCS_COMM_MAX; i++) {
		struct ncs_comm *comm = &ncs_registry.comms[i];

		if (ncs_comm_is_live(comm))
			ncs_store_relaxed(&comm->header->sampling.level, level);
	}
}

void ncs_sampling_init(struct ncs_comm *comm, uint64_t comm_id, int rank,
		       uint64_t slow_ns)
{
	struct ncs_sampling *published = &comm->header->sampling;

	comm->counted = (struct ncs_counted){ 0 };
	ncs_sampling_identify(comm, comm_id, rank);
	published->level = ncs_load_relaxed(&ncs_registry.sample_level);
	published->slow_ns = slow_ns;
}

void ncs_sampling_identify(struct ncs_comm *comm, uint64_t comm_id, int rank)
{
	ncs_store_relaxed(&comm->counted.comm_id, comm_id);
	ncs_store_relaxed(&comm->counted.rank, (uint64_t)(uint32_t)rank);
}

/* --- counting operations ------------------------------------------------- */

static uint64_t next(uint64_t *counter)
{
	uint64_t count = ncs_load_relaxed(counter);

	ncs_store_relaxed(counter, count + 1);
	return count;
}

/* Returns the repeat count of a collective's sequence number. A number that is
 * not the greatest so far counts as repeated as well: it may be from the
 * capture. */
static uint64_t count_collective(struct ncs_comm *comm,
				 const struct ncs_operation_facts *facts)
{
	struct ncs_counted_function *function =
		&comm->counted.functions[facts->function];
	uint64_t numbers = facts->sequence_number + 1;

	if (numbers > ncs_load_relaxed(&function->numbers)) {
		ncs_store_relaxed(&function->numbers, numbers);
		ncs_store_relaxed(&function->repeats, 0);
		return 0;
	}
	return next(&function->repeats) + 1;
}


/* --- choosing ------------------------------------------------------------ */

/* Returns an operation's hash; `count` is the result of counting it. */
static uint64_t hash(const struct ncs_comm *comm,
		     const struct ncs_operation_facts *facts, uint64_t count)
{
	uint64_t comm_id = ncs_load_relaxed(&comm->counted.comm_id);
	int32_t rank = (int32_t)ncs_load_relaxed(&comm->counted.rank);

	if (facts->event == NCS_EVENT_COLL)
		return ncs_sample_hash(
			comm_id, facts->function,
			ncs_sample_collective(facts->sequence_number, count));
	return ncs_sample_hash(
		comm_id, NCS_FUNCTION_SEND_RECV,
		facts->function == NCS_FUNCTION_SEND ?
			ncs_sample_transfer(rank, facts->peer, count) :
			ncs_sample_transfer(facts->peer, rank, count));
}

uint64_t ncs_sampling_choose(struct ncs_comm *comm,
			     const struct ncs_operation_facts *facts,
			     uint64_t transfer)
{
	uint64_t level = ncs_load_relaxed(&ncs_registry.sample_level);
	uint64_t count = facts->event == NCS_EVENT_COLL ?
				 count_collective(comm, facts) :
				 transfer;

	if (count == NCS_NO_SEQUENCE_NUMBER)
		count = next(&comm->counted.unplaced);

	if (__builtin_expect(level == 0, 1))
		return 0;
	if (ncs_sample_is_kept(hash(comm, facts, count), (unsigned)level)) {
		ncs_add_relaxed(&comm->header->sampling.kept, 1);
		return NCS_RECORD_AT_LEVEL(level);
	}
	ncs_add_relaxed(&comm->header->sampling.left_out, 1);
	return NCS_RECORD_AT_LEVEL(level) | NCS_RECORD_LEFT_OUT;
}

/* --- children ------------------------------------------------------------ */

/* Returns the ticks since when an operation has been in progress; sets them to
 * `now` if no child has been in progress before. */
static uint64_t under_way(struct ncs_operation_slot *operation, uint64_t now)
{
	uint64_t since = ncs_load_relaxed(&operation->under_way);

	if (since == 0) {
		since = now;
		ncs_store_relaxed(&operation->under_way, now);
	}
	return since;
}

void ncs_sampling_inherit(struct ncs_sampled *child,
			  struct ncs_operation_slot *operation,
			  bool is_under_way, uint64_t now)
{
	uint64_t flags = ncs_load_relaxed(&operation->sampling);
	uint64_t since = 0;

	if (flags & NCS_RECORD_LEFT_OUT)
		since = is_under_way ? under_way(operation, now) : now;
	ncs_store_relaxed(&child->flags,
			  flags & ~(uint64_t)NCS_RECORD_LEFT_OUT);
	ncs_store_relaxed(&child->left_out_since, since);
}

/* Finds the operation of a handle that was once valid, and its communicator. */
static struct ncs_operation_slot *find(uint64_t operation_handle,
				       struct ncs_comm **comm)
{
	struct ncs_handle handle = ncs_handle_decode(operation_handle);

	*comm = &ncs_registry.comms[handle.comm];
	return ncs_operation_find(*comm, operation_handle);
}

void ncs_sampling_in_progress(struct ncs_sampled *child,
			      uint64_t operation_handle, uint64_t now)
{
	struct ncs_comm *comm;
	struct ncs_operation_slot *operation = find(operation_handle, &comm);

	if (operation)
		ncs_store_relaxed(&child->left_out_since,
				  under_way(operation, now));
}

bool ncs_sampling_is_slow(struct ncs_sampled *child, uint64_t operation_handle,
			  uint64_t now)
{
	const uint64_t slow = NCS_RECORD_AT_LEVEL(NCS_LEVEL_SLOW);
	uint64_t since = ncs_load_relaxed(&child->left_out_since);
	struct ncs_operation_slot *operation;
	struct ncs_comm *comm;

	/* Clocks of two processors may differ by a little. */
	if ((int64_t)(now - since) <= (int64_t)ncs_registry.slow_ticks)
		return false;
	ncs_store_relaxed(&child->flags, slow);
	ncs_store_relaxed(&child->left_out_since, 0);
	operation = find(operation_handle, &comm);
	if (operation && ncs_load_relaxed(&operation->sampling) != slow) {
		ncs_store_relaxed(&operation->sampling, slow);
		ncs_add_relaxed(&comm->header->sampling.slow, 1);
	}
	return true;
}
