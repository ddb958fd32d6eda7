/* SPDX-License-Identifier: MIT */
/* Finding both ends of messages; see messages.h.
 *
 * Steps wait for their other end in a table, by their message's key, and in a
 * queue, in the order in which they came. */
#include "analysis/records/messages.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "analysis/base/hash_table.h"
#include "analysis/records/step_record.h"
#include "shm/array.h"
#include "shm/clock.h"
#include "shm/hash.h"

struct waiting_step {
	struct ncs_hash_link link; /* by message */
	TAILQ_ENTRY(waiting_step) entry;
	struct ncs_record record;
	struct ncs_message_key key;
	size_t owner;
};

/* A rank that was announced. */
struct message_rank {
	struct ncs_hash_link link; /* by communicator and rank */
	uint64_t comm_id;
	int32_t rank;
	struct ncs_clock clock;
};

struct ncs_messages {
	ncs_message_visit *visit;
	void *context;
	struct ncs_hash_table by_rank; /* of struct message_rank */
	struct message_rank **ranks;   /* the same by owner; NULL: none */
	size_t rank_capacity;
	size_t steps_max;
	struct ncs_hash_table by_message;
	TAILQ_HEAD(waiting_queue, waiting_step) waiting;
};

struct ncs_messages *ncs_messages_new(size_t steps_max,
				      ncs_message_visit *visit, void *context)
{
	struct ncs_messages *messages = calloc(1, sizeof(*messages));

	if (!messages)
		return NULL;
	messages->visit = visit;
	messages->context = context;
	messages->steps_max = steps_max;
	TAILQ_INIT(&messages->waiting);
	return messages;
}

void ncs_messages_free(struct ncs_messages *messages)
{
	if (!messages)
		return;
	ncs_hash_table_sweep(&messages->by_rank, NULL, 0);
	ncs_hash_table_sweep(&messages->by_message, NULL, 0);
	ncs_hash_table_release(&messages->by_rank);
	ncs_hash_table_release(&messages->by_message);
	free(messages->ranks);
	free(messages);
}

/* --- Hashes --------------------------------------------------------------- */

/* Words are combined into one round of the hash where this keeps them distinct:
 * two hashes are computed for each step. */
static uint64_t hash_of_message(const struct ncs_message_key *key)
{
	uint64_t ranks = (uint64_t)(uint32_t)key->source << 32 |
			 (uint32_t)key->destination;
	uint64_t hash = ncs_hash(key->comm_id ^ ranks);

	hash = ncs_hash_add(hash, key->number ^ (uint64_t)key->repeat << 32);
	return ncs_hash_add(hash, key->step ^ (uint64_t)key->function << 56 ^
					  (uint64_t)key->channel << 48);
}

static bool is_same(const struct ncs_message_key *a,
		    const struct ncs_message_key *b)
{
	return a->comm_id == b->comm_id && a->number == b->number &&
	       a->step == b->step && a->repeat == b->repeat &&
	       a->source == b->source && a->destination == b->destination &&
	       a->function == b->function && a->channel == b->channel &&
	       a->is_by_place == b->is_by_place;
}

/* --- Steps that wait ------------------------------------------------------ */

static void free_step(struct ncs_messages *messages, struct waiting_step *step)
{
	ncs_hash_table_remove(&messages->by_message, &step->link);
	TAILQ_REMOVE(&messages->waiting, step, entry);
	free(step);
}

/* Keeps a copy of a step until its other end comes; the oldest step makes room.
 * One for which there is no memory is as one that was dropped. */
static void wait_for_other(struct ncs_messages *messages,
			   const struct waiting_step *step, uint64_t hash)
{
	struct waiting_step *waiting = malloc(sizeof(*waiting));

	if (waiting)
		*waiting = *step;
	if (!waiting || ncs_hash_table_insert(&messages->by_message,
					      &waiting->link, hash) != 0) {
		free(waiting);
		return;
	}
	TAILQ_INSERT_TAIL(&messages->waiting, waiting, entry);
	if (messages->by_message.count > messages->steps_max)
		free_step(messages, TAILQ_FIRST(&messages->waiting));
}

void ncs_messages_flush(struct ncs_messages *messages)
{
	while (!TAILQ_EMPTY(&messages->waiting))
		free_step(messages, TAILQ_FIRST(&messages->waiting));
}

/* --- Ranks ---------------------------------------------------------------- */

static uint64_t hash_of_rank(uint64_t comm_id, int32_t rank)
{
	return ncs_hash(comm_id ^ (uint32_t)rank);
}

static bool is_expected(const struct ncs_messages *messages, uint64_t comm_id,
			int32_t rank)
{
	const struct message_rank *expected = ncs_hash_table_first(
		&messages->by_rank, hash_of_rank(comm_id, rank));

	while (expected &&
	       (expected->comm_id != comm_id || expected->rank != rank))
		expected = ncs_hash_table_next(expected);
	return expected;
}

int ncs_messages_expect(struct ncs_messages *messages, size_t owner,
			const struct ncs_identity *identity,
			const struct ncs_clock *clock)
{
	const uint64_t needed = NCS_KNOWN_COMM_ID | NCS_KNOWN_RANK;
	struct message_rank *rank, *before;

	if ((identity->known & needed) != needed)
		return 0;
	if (ncs_array_reserve_zeroed(&messages->ranks, &messages->rank_capacity,
				     owner + 1, sizeof(*messages->ranks)) != 0)
		return -ENOMEM;
	rank = ncs_hash_table_add(&messages->by_rank, sizeof(*rank),
				  hash_of_rank(identity->comm_id,
					       identity->rank));
	if (!rank)
		return -ENOMEM;
	rank->comm_id = identity->comm_id;
	rank->rank = identity->rank;
	rank->clock = *clock;
	before = messages->ranks[owner];
	if (before)
		ncs_hash_table_remove(&messages->by_rank, &before->link);
	free(before);
	messages->ranks[owner] = rank;
	return 0;
}

/* --- The other end -------------------------------------------------------- */

static bool is_send(const struct waiting_step *waiting)
{
	return ncs_step_sends(&waiting->record);
}

static void visit(struct ncs_messages *messages,
		  const struct waiting_step *send,
		  const struct waiting_step *receive)
{
	const struct message_rank *sender = messages->ranks[send->owner];
	const struct message_rank *receiver = messages->ranks[receive->owner];
	const struct ncs_record *out = &send->record, *in = &receive->record;
	uint64_t came = ncs_step_moved_ticks(in);
	struct ncs_message message = {
		.key = send->key,
		.sender = send->owner,
		.receiver = receive->owner,
		.send = out,
		.receive = in,
		.ready_ns =
			ncs_clock_ns(&sender->clock, ncs_step_data_ticks(out)),
		.sent_ns =
			ncs_clock_ns(&sender->clock, ncs_step_moved_ticks(out)),
		.posted_ns = ncs_clock_ns(&receiver->clock, in->start),
		.arrived_ns = ncs_clock_ns(&receiver->clock,
					   came ? came :
						  in->start + in->duration),
	};

	messages->visit(messages->context, &message);
}

/* Returns the waiting step at the other end of a message, or NULL. Of several,
 * returns the one that came first, because records with the same key come in
 * order: the table has the latest first. */
static struct waiting_step *find_other(const struct ncs_messages *messages,
				       const struct waiting_step *step,
				       uint64_t hash)
{
	struct waiting_step *other =
		ncs_hash_table_first(&messages->by_message, hash);
	struct waiting_step *found = NULL;

	for (; other; other = ncs_hash_table_next(other))
		if (is_send(other) != is_send(step) &&
		    is_same(&other->key, &step->key))
			found = other;
	return found;
}

/* Matches a step, or lets it wait for the other end. */
static void match_step(struct ncs_messages *messages, size_t owner,
		       const struct ncs_record *record,
		       const struct ncs_message_key *key)
{
	struct waiting_step step = { .record = *record,
				     .key = *key,
				     .owner = owner };
	uint64_t hash = hash_of_message(key);
	struct waiting_step *other = find_other(messages, &step, hash);

	if (!other) {
		wait_for_other(messages, &step, hash);
		return;
	}
	if (is_send(&step))
		visit(messages, &step, other);
	else
		visit(messages, other, &step);
	free_step(messages, other);
}

void ncs_messages_take(struct ncs_messages *messages, size_t owner,
		       const struct ncs_rank_operations *operations,
		       const struct ncs_child *child)
{
	const struct message_rank *rank =
		owner < messages->rank_capacity ? messages->ranks[owner] : NULL;
	struct ncs_message_key key;

	if (rank && child->record->event == NCS_EVENT_PROXY_STEP &&
	    ncs_message_key_of(operations, child, rank->comm_id, rank->rank,
			       &key) &&
	    (!key.is_by_place || ncs_rank_operations_are_whole(operations)) &&
	    is_expected(messages, rank->comm_id, child->record->peer))
		match_step(messages, owner, child->record, &key);
}
