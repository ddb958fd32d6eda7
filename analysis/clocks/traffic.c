/* SPDX-License-Identifier: MIT */
/* Facts from records; see traffic.h. */
#include "analysis/clocks/traffic.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/records/operation_record.h"
#include "shm/array.h"

/* Adds what a message from one host to another tells. Returns 0 or -ENOMEM. */
static int add_message(struct ncs_alignment *alignment,
		       const struct ncs_message *message, size_t sender,
		       size_t receiver)
{
	struct ncs_before before = {
		.fact = NCS_FACT_ORDER,
		.host = sender,
		.then_host = receiver,
		.at_ns = message->sent_ns ? message->sent_ns :
					    message->ready_ns,
		.then_ns = message->arrived_ns,
	};
	int error = 0;

	if (sender == receiver)
		return 0;
	if (before.at_ns != 0 && before.then_ns != 0)
		error = ncs_alignment_add(alignment, &before);
	/* If the order of these two is not known, the sender need not have
	 * waited for the receiver. */
	if (message->ready_ns == 0 || message->sent_ns < message->ready_ns)
		return error;
	/* A sender waited for its receiver if sending took longer than a call does, even
	 * one that is delayed a little. */
	before.fact = message->sent_ns - message->ready_ns >= NCS_LAUNCH_NS ?
			      NCS_FACT_AWAITED_CREDIT :
			      NCS_FACT_CREDIT;
	before.then_host = sender;
	before.host = receiver;
	before.at_ns = message->posted_ns;
	before.then_ns = message->sent_ns;
	return error | ncs_alignment_add(alignment, &before);
}

static void take_message(void *context, const struct ncs_message *message)
{
	struct ncs_traffic *traffic = context;

	traffic->error |= add_message(traffic->alignment, message,
				      traffic->hosts[message->sender],
				      traffic->hosts[message->receiver]);
}

int ncs_traffic_init(struct ncs_traffic *traffic, size_t hosts,
		     size_t collectives, size_t steps)
{
	*traffic = (struct ncs_traffic){
		.alignment = ncs_alignment_new(hosts),
	};
	if (!traffic->alignment)
		return -ENOMEM;
	traffic->barriers =
		ncs_barriers_new(traffic->alignment, hosts, collectives);
	if (steps > 0)
		traffic->messages =
			ncs_messages_new(steps, take_message, traffic);
	return traffic->barriers && (traffic->messages || steps == 0) ? 0 :
									-ENOMEM;
}

void ncs_traffic_release(struct ncs_traffic *traffic)
{
	ncs_barriers_free(traffic->barriers);
	ncs_messages_free(traffic->messages);
	ncs_alignment_free(traffic->alignment);
	free(traffic->hosts);
	*traffic = (struct ncs_traffic){ 0 };
}

int ncs_traffic_expect(struct ncs_traffic *traffic, size_t owner,
		       const struct ncs_barrier_rank *rank)
{
	int error;

	if (ncs_array_reserve(&traffic->hosts, &traffic->owner_capacity,
			      owner + 1, sizeof(*traffic->hosts)) != 0)
		return -ENOMEM;
	traffic->hosts[owner] = rank->host;
	if (owner >= traffic->owner_count)
		traffic->owner_count = owner + 1;
	error = ncs_barriers_expect(traffic->barriers, owner, rank);
	if (!error && traffic->messages)
		error = ncs_messages_expect(traffic->messages, owner,
					    &rank->identity, &rank->clock);
	return error;
}

static int take_child(void *context, const struct ncs_child *child)
{
	const struct ncs_traffic_rank *rank = context;
	int error = 0;

	if (child->record->event != NCS_EVENT_PROXY_STEP ||
	    (rank->is_wanted && !rank->is_wanted(rank->context, child)))
		return 0;
	for (unsigned i = 0; i < rank->count && !error; i++) {
		struct ncs_traffic *traffic = rank->traffics[i];

		ncs_messages_take(traffic->messages, rank->owners[i],
				  rank->operations, child);
		error = traffic->error;
	}
	return error;
}

int ncs_traffic_take(struct ncs_traffic_rank *rank,
		     const struct ncs_record *record,
		     const struct ncs_known_operation **known)
{
	const struct ncs_child_visitor visitor = { take_child, rank };
	int error;

	*known = NULL;
	if (record->event == NCS_EVENT_PROXY_STEP ||
	    record->event == NCS_EVENT_PROXY_OP)
		return ncs_rank_operations_take_child(rank->operations, record,
						      &visitor);
	if (!ncs_record_is_operation(record))
		return 0;
	error = ncs_rank_operations_take(rank->operations, record, &visitor,
					 known);
	for (unsigned i = 0; i < rank->count && !error; i++)
		error = ncs_barriers_take(rank->traffics[i]->barriers,
					  rank->owners[i], record, *known);
	return error;
}

int ncs_traffic_give_up(struct ncs_traffic_rank *rank)
{
	return ncs_rank_operations_flush(
		rank->operations,
		&(struct ncs_child_visitor){ take_child, rank });
}
