/* SPDX-License-Identifier: MIT */
/* Facts from records; see traffic.h. */
#include "analysis/clocks/traffic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/records/operation_record.h"
#include "ncclstat/names.h"
#include "shm/array.h"
#include "shm/clock.h"
#include "shm/hash.h"

/* Number of collectives that are kept until a later one takes their place. */
#define KEPT ((size_t)1024)

/* With more hosts than this, not every pair of them gets a fact. */
#define HOSTS_ALL 16

/* The times of a collective on one host; 0 if it was not seen there. */
struct ncs_seen_collective {
	uint64_t begin_ns; /* the latest */
	uint64_t end_ns;   /* the earliest; 0 or UINT64_MAX if unusable */
};

struct ncs_kept_collective {
	uint64_t comm_id;
	uint64_t number; /* plus 1; 0: none */
	uint8_t function;
	bool is_spoiled; /* a rank reported its number repeatedly */
	bool has_news;   /* since its facts were added */
};

/* --- Messages ------------------------------------------------------------- */

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

	traffic->message_count++;
	traffic->error |= add_message(traffic->alignment, message,
				      traffic->ranks[message->sender]->host,
				      traffic->ranks[message->receiver]->host);
}

/* --- Ranks ---------------------------------------------------------------- */

int ncs_traffic_init(struct ncs_traffic *traffic, size_t hosts,
		     size_t collectives, size_t steps)
{
	size_t kept = collectives ? collectives : KEPT;

	*traffic = (struct ncs_traffic){
		.alignment = ncs_alignment_new(hosts),
		.host_count = hosts,
		.kept_count = kept,
		.kept = calloc(kept, sizeof(*traffic->kept)),
		.seen = calloc(kept * hosts + 1, sizeof(*traffic->seen)),
	};
	if (steps > 0)
		traffic->messages =
			ncs_messages_new(steps, take_message, traffic);
	return traffic->alignment && traffic->kept && traffic->seen &&
			       (traffic->messages || steps == 0) ?
		       0 :
		       -ENOMEM;
}

void ncs_traffic_release(struct ncs_traffic *traffic)
{
	for (size_t i = 0; i < traffic->owner_count; i++)
		free(traffic->ranks[i]);
	free(traffic->ranks);
	free(traffic->kept);
	free(traffic->seen);
	ncs_messages_free(traffic->messages);
	ncs_alignment_free(traffic->alignment);
	*traffic = (struct ncs_traffic){ 0 };
}

void ncs_traffic_learn(struct ncs_traffic_facts *rank,
		       const struct ncs_snapshot *snapshot)
{
	rank->identity = snapshot->identity;
	rank->stream_error_ns = snapshot->launches.error_ns;
	ncs_size_algorithms_learn(&rank->algorithms, snapshot);
}

int ncs_traffic_expect(struct ncs_traffic *traffic, size_t owner,
		       const struct ncs_traffic_facts *announced)
{
	struct ncs_traffic_facts *rank;

	if (ncs_array_reserve_zeroed(&traffic->ranks, &traffic->owner_capacity,
				     owner + 1, sizeof(*traffic->ranks)) != 0)
		return -ENOMEM;
	if (owner >= traffic->owner_count)
		traffic->owner_count = owner + 1;
	rank = traffic->ranks[owner];
	if (!rank)
		traffic->ranks[owner] = rank = calloc(1, sizeof(*rank));
	if (!rank)
		return -ENOMEM;
	*rank = *announced;
	return traffic->messages ?
		       ncs_messages_expect(traffic->messages, owner,
					   &rank->identity, &rank->clock) :
		       0;
}

/* --- One collective ------------------------------------------------------- */

/* Adds the fact of one pair of hosts, if both have seen the collective. Returns
 * 0 or -ENOMEM. */
static int add_pair(struct ncs_traffic *traffic,
		    const struct ncs_seen_collective *seen, size_t host,
		    size_t then_host)
{
	uint64_t begin_ns = seen[host].begin_ns;
	uint64_t end_ns = seen[then_host].end_ns;

	if (host == then_host || begin_ns == 0 || end_ns == 0 ||
	    end_ns == UINT64_MAX)
		return 0;
	return ncs_alignment_add(traffic->alignment,
				 &(struct ncs_before){
					 .fact = NCS_FACT_ORDER,
					 .host = host,
					 .then_host = then_host,
					 .at_ns = begin_ns,
					 .then_ns = end_ns,
				 });
}

/* Adds the facts of a collective, if there are new ones. With many hosts, only
 * these pairs get facts: each host that has seen the collective with the next
 * such host and with the first one. Returns 0 or -ENOMEM. */
static int add_facts(struct ncs_traffic *traffic, size_t place)
{
	struct ncs_kept_collective *kept = &traffic->kept[place];
	struct ncs_seen_collective *seen =
		&traffic->seen[place * traffic->host_count];
	size_t first = traffic->host_count, last = traffic->host_count;
	int error = 0;

	for (size_t i = 0;
	     kept->has_news && !kept->is_spoiled && i < traffic->host_count;
	     i++) {
		if (seen[i].begin_ns == 0)
			continue;
		if (first == traffic->host_count)
			first = i;
		else
			traffic->collectives += last == first;
		for (size_t k = 0; traffic->host_count <= HOSTS_ALL && k < i;
		     k++) {
			error |= add_pair(traffic, seen, k, i);
			error |= add_pair(traffic, seen, i, k);
		}
		if (traffic->host_count > HOSTS_ALL && i != first) {
			error |= add_pair(traffic, seen, first, i);
			error |= add_pair(traffic, seen, i, first);
			error |= add_pair(traffic, seen, last, i);
			error |= add_pair(traffic, seen, i, last);
		}
		last = i;
	}
	kept->has_news = false;
	return error;
}

/* Adds the facts of a collective and forgets it. Returns 0 or -ENOMEM. */
static int end_collective(struct ncs_traffic *traffic, size_t place)
{
	int error = add_facts(traffic, place);

	traffic->kept[place] = (struct ncs_kept_collective){ 0 };
	memset(&traffic->seen[place * traffic->host_count], 0,
	       traffic->host_count * sizeof(*traffic->seen));
	return error;
}

int ncs_traffic_note(struct ncs_traffic *traffic)
{
	int error = 0;

	for (size_t i = 0; i < traffic->kept_count; i++)
		error |= add_facts(traffic, i);
	return error;
}

int ncs_traffic_flush(struct ncs_traffic *traffic)
{
	int error = 0;

	for (size_t i = 0; i < traffic->kept_count; i++)
		error |= end_collective(traffic, i);
	if (traffic->messages)
		ncs_messages_flush(traffic->messages);
	return error;
}

/* --- Records -------------------------------------------------------------- */

static bool is_barrier(unsigned function)
{
	return function == NCS_FUNCTION_ALL_REDUCE ||
	       function == NCS_FUNCTION_ALL_GATHER ||
	       function == NCS_FUNCTION_REDUCE_SCATTER;
}

/* Returns whether all data had moved by the end that a record tells. */
static bool is_end(const struct ncs_traffic_facts *rank,
		   const struct ncs_record *record,
		   const struct ncs_operation_ticks *ticks)
{
	if (ticks->is_on_stream)
		return rank->stream_error_ns > 0;
	/* Without proxy operations, it is that of a kernel's channel. */
	return ticks->begin != 0 ||
	       ncs_size_algorithms_find(&rank->algorithms, record->function,
					record->value)
			       .algorithm == NCS_ALGORITHM_RING;
}

/* Returns the latest time before which the rank surely had not arrived. */
static uint64_t begin_ns(const struct ncs_traffic_facts *rank,
			 const struct ncs_operation_ticks *ticks)
{
	uint64_t start_ns = ncs_clock_ns(&rank->clock, ticks->start);
	uint64_t stream_ns = ncs_clock_ns(&rank->clock, ticks->begin);

	/* A record that starts just before its kernel began has its start from
	 * the stream. */
	bool is_start_seen = !ticks->is_on_stream ||
			     ticks->begin - ticks->start > 1;

	stream_ns = ticks->is_on_stream && rank->stream_error_ns > 0 &&
				    stream_ns > rank->stream_error_ns ?
			    stream_ns - rank->stream_error_ns :
			    0;
	return is_start_seen && start_ns > stream_ns ? start_ns : stream_ns;
}

static size_t place_of(const struct ncs_traffic *traffic, uint64_t comm_id,
		       const struct ncs_record *record)
{
	uint64_t hash = ncs_hash_add(ncs_hash(comm_id), record->function);

	/* Numbers that follow each other have different places. */
	return (size_t)((hash >> 32) + record->number) % traffic->kept_count;
}

static int take_collective(struct ncs_traffic *traffic,
			   const struct ncs_traffic_facts *rank,
			   const struct ncs_record *record, bool is_repeated)
{
	uint64_t comm_id = rank->identity.comm_id;
	size_t place = place_of(traffic, comm_id, record);
	struct ncs_kept_collective *kept = &traffic->kept[place];
	struct ncs_seen_collective *seen =
		&traffic->seen[place * traffic->host_count + rank->host];
	struct ncs_operation_ticks ticks = ncs_operation_ticks(record);
	uint64_t begun_ns = begin_ns(rank, &ticks);
	uint64_t end_ns = ncs_clock_ns(&rank->clock, ticks.end);
	int error = 0;

	if (kept->number != record->number + 1 || kept->comm_id != comm_id ||
	    kept->function != record->function) {
		error = end_collective(traffic, place);
		*kept = (struct ncs_kept_collective){
			.comm_id = comm_id,
			.number = record->number + 1,
			.function = record->function,
		};
	}
	kept->is_spoiled |= is_repeated;
	kept->has_news = true;
	if (begun_ns > seen->begin_ns)
		seen->begin_ns = begun_ns;
	if (ticks.is_on_stream)
		end_ns += rank->stream_error_ns;
	/* The end that was reported before was wrong. */
	if (record->flags & NCS_RECORD_AGAIN)
		seen->end_ns = UINT64_MAX;
	else if (is_end(rank, record, &ticks) &&
		 (seen->end_ns == 0 || end_ns < seen->end_ns))
		seen->end_ns = end_ns;
	return error;
}

/* Takes the own record of an operation of a rank, with what is known of it. Returns
 * 0 or -ENOMEM. */
static int take_own(struct ncs_traffic *traffic, size_t owner,
		    const struct ncs_record *record,
		    const struct ncs_known_operation *known)
{
	const struct ncs_traffic_facts *rank =
		owner < traffic->owner_count ? traffic->ranks[owner] : NULL;

	if (!rank || rank->host >= traffic->host_count ||
	    !(rank->identity.known & NCS_KNOWN_COMM_ID) ||
	    record->event != NCS_EVENT_COLL || !is_barrier(record->function) ||
	    record->number == NCS_NO_SEQUENCE_NUMBER)
		return 0;
	return take_collective(traffic, rank, record,
			       known && known->repeat > 0);
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
		error = take_own(rank->traffics[i], rank->owners[i], record,
				 *known);
	return error;
}

int ncs_traffic_give_up(struct ncs_traffic_rank *rank)
{
	return ncs_rank_operations_flush(
		rank->operations,
		&(struct ncs_child_visitor){ take_child, rank });
}
