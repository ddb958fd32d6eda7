/* SPDX-License-Identifier: MIT */
/* Finding both ends of messages; see messages.h.
 *
 * A step waits twice: first, by its rank and operation, for the record that
 * identifies the operation, then, by its message's key, for the other end. Both
 * use one pool of a fixed size and one table of rows. The oldest step of a row
 * is its last.
 */
#include "analysis/records/messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/hash_table.h"
#include "shm/array.h"
#include "shm/clock.h"
#include "shm/hash.h"

#define STEPS_MAX ((size_t)1 << 18)
#define NONE UINT32_MAX

/* Operations of a rank whose identity is kept for later steps, and numbers of a
 * function that are kept to recognize repeats. */
#define OPERATIONS 1024
#define NUMBERS 64

/* Lanes that can be checked for completeness. */
#define LANES 64

enum waits_for {
	FOR_OPERATION, /* for the record that identifies its operation */
	FOR_PEER,      /* for the record of the message's other end */
};

struct waiting_step {
	struct ncs_record record;
	struct ncs_message_key key; /* if FOR_PEER */
	size_t owner;
	uint64_t hash;
	uint32_t next;          /* in its row; in the free list if it is free */
	uint32_t previous;      /* in its row; NONE if it is the first */
	uint32_t before, after; /* in order of arrival */
	uint8_t waits_for;      /* enum waits_for */
};

struct identified_operation {
	uint32_t operation; /* 0: none */
	uint32_t repeat;
	uint64_t number;
	uint8_t function;
};

struct reported_number {
	uint64_t number; /* plus 1; 0: none */
	uint32_t repeat;
	uint32_t operation;
};

/* The number of transfers on a channel in one direction with one peer. */
struct channel_transfers {
	struct ncs_hash_link link;
	struct channel_transfers *next; /* of the same rank */
	uint64_t key;                   /* NCS_CHANNEL_KEY */
	uint64_t operations;
};

struct message_rank {
	bool is_there;
	uint64_t comm_id;
	int32_t rank;
	struct ncs_clock clock;
	uint64_t lanes; /* one bit for each lane that has reported records */
	bool is_incomplete;
	/* The expected peer that was looked up last: of receives, of sends. */
	struct known_peer {
		bool is_there;
		int32_t rank;
	} peers[2];
	struct identified_operation operations[OPERATIONS];
	struct reported_number reported[NCS_FUNCTION_COUNT][NUMBERS];
	struct ncs_hash_table transfers_by_key;
	struct channel_transfers *transfers; /* list of all */
};

struct expected_rank {
	struct ncs_hash_link link;
	struct expected_rank *next;
	uint64_t comm_id;
	int32_t rank;
};

struct ncs_messages {
	ncs_message_visit *visit;
	void *context;
	struct message_rank **ranks; /* by owner */
	size_t rank_count, rank_capacity;
	struct ncs_hash_table expected_by_rank;
	struct expected_rank *expected; /* list of all */
	struct waiting_step *pool;
	uint32_t *rows;
	size_t row_count; /* a power of two */
	uint32_t free;
	uint32_t oldest, latest;
	struct ncs_messages_count count;
};

struct ncs_messages *ncs_messages_new(size_t steps_max,
				      ncs_message_visit *visit, void *context)
{
	struct ncs_messages *messages = calloc(1, sizeof(*messages));
	size_t rows = 1;

	if (!messages)
		return NULL;
	if (steps_max == 0 || steps_max >= NONE / 2)
		steps_max = STEPS_MAX;
	while (rows < steps_max)
		rows *= 2;
	messages->visit = visit;
	messages->context = context;
	steps_max++;
	messages->row_count = rows;
	messages->pool = malloc(steps_max * sizeof(*messages->pool));
	messages->rows = malloc(rows * sizeof(*messages->rows));
	if (!messages->pool || !messages->rows) {
		ncs_messages_free(messages);
		return NULL;
	}
	memset(messages->rows, 0xff, rows * sizeof(*messages->rows));
	for (size_t i = 0; i < steps_max; i++)
		messages->pool[i].next = i + 1 < steps_max ? (uint32_t)(i + 1) :
							     NONE;
	messages->oldest = messages->latest = NONE;
	return messages;
}

static void rank_free(struct message_rank *rank)
{
	if (!rank)
		return;
	while (rank->transfers) {
		struct channel_transfers *transfers = rank->transfers;

		rank->transfers = transfers->next;
		free(transfers);
	}
	ncs_hash_table_release(&rank->transfers_by_key);
	free(rank);
}

void ncs_messages_free(struct ncs_messages *messages)
{
	if (!messages)
		return;
	for (size_t i = 0; i < messages->rank_count; i++)
		rank_free(messages->ranks[i]);
	while (messages->expected) {
		struct expected_rank *expected = messages->expected;

		messages->expected = expected->next;
		free(expected);
	}
	ncs_hash_table_release(&messages->expected_by_rank);
	free(messages->ranks);
	free(messages->pool);
	free(messages->rows);
	free(messages);
}

const struct ncs_messages_count *
ncs_messages_count(const struct ncs_messages *messages)
{
	return &messages->count;
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
	       a->function == b->function && a->channel == b->channel;
}

static bool is_transfer(unsigned function)
{
	return function == NCS_FUNCTION_SEND || function == NCS_FUNCTION_RECV ||
	       function == NCS_FUNCTION_SEND_RECV;
}

static uint64_t channel_key(const struct ncs_record *record)
{
	return NCS_CHANNEL_KEY(record->channel, record->flags & NCS_RECORD_SEND,
			       record->peer);
}

/* Returns a hash that is equal for all steps of a rank's collective, or for all
 * steps of one channel of a rank's transfer. */
static uint64_t hash_of_operation(size_t owner, const struct ncs_record *record)
{
	uint64_t hash = ncs_hash((uint64_t)owner << 32 | record->operation);

	return is_transfer(record->function) ?
		       ncs_hash_add(hash, channel_key(record)) :
		       hash;
}

static bool is_same_operation(const struct ncs_record *a,
			      const struct ncs_record *b)
{
	return a->operation == b->operation &&
	       is_transfer(a->function) == is_transfer(b->function) &&
	       (!is_transfer(a->function) || channel_key(a) == channel_key(b));
}

/* --- The pool ------------------------------------------------------------- */

static uint32_t *row_of(struct ncs_messages *messages, uint64_t hash)
{
	return &messages->rows[hash & (messages->row_count - 1)];
}

static void unlink_row(struct ncs_messages *messages, uint32_t index)
{
	const struct waiting_step *waiting = &messages->pool[index];

	if (waiting->previous == NONE)
		*row_of(messages, waiting->hash) = waiting->next;
	else
		messages->pool[waiting->previous].next = waiting->next;
	if (waiting->next != NONE)
		messages->pool[waiting->next].previous = waiting->previous;
}

static void link_row(struct ncs_messages *messages, uint32_t index,
		     uint64_t hash)
{
	struct waiting_step *waiting = &messages->pool[index];
	uint32_t *row = row_of(messages, hash);

	waiting->hash = hash;
	waiting->previous = NONE;
	waiting->next = *row;
	if (*row != NONE)
		messages->pool[*row].previous = index;
	*row = index;
}

/* Returns a step to the pool. It must not be in a row. */
static void free_step(struct ncs_messages *messages, uint32_t index)
{
	struct waiting_step *waiting = &messages->pool[index];

	if (waiting->before == NONE)
		messages->oldest = waiting->after;
	else
		messages->pool[waiting->before].after = waiting->after;
	if (waiting->after == NONE)
		messages->latest = waiting->before;
	else
		messages->pool[waiting->after].before = waiting->before;
	waiting->next = messages->free;
	messages->free = index;
}

static void drop_oldest(struct ncs_messages *messages)
{
	uint32_t index = messages->oldest;
	const struct waiting_step *waiting = &messages->pool[index];
	enum ncs_unmatched why = NCS_UNMATCHED_PEER;

	if (waiting->waits_for == FOR_OPERATION)
		why = is_transfer(waiting->record.function) ?
			      NCS_UNMATCHED_PLACE :
			      NCS_UNMATCHED_OPERATION;
	messages->count.unmatched[why]++;
	unlink_row(messages, index);
	free_step(messages, index);
}

/* Takes a step from the pool. The pool is never empty, because it has one more
 * step than may wait. */
static uint32_t allocate_step(struct ncs_messages *messages)
{
	uint32_t index = messages->free;
	struct waiting_step *waiting = &messages->pool[index];

	messages->free = waiting->next;
	waiting->before = messages->latest;
	waiting->after = NONE;
	if (messages->latest == NONE)
		messages->oldest = index;
	else
		messages->pool[messages->latest].after = index;
	messages->latest = index;
	return index;
}

void ncs_messages_flush(struct ncs_messages *messages)
{
	while (messages->oldest != NONE)
		drop_oldest(messages);
}

/* --- Ranks ---------------------------------------------------------------- */

static uint64_t hash_of_rank(uint64_t comm_id, int32_t rank)
{
	return ncs_hash(comm_id ^ (uint32_t)rank);
}

static bool is_expected(const struct ncs_messages *messages, uint64_t comm_id,
			int32_t rank)
{
	struct ncs_hash_link *link = ncs_hash_table_first(
		&messages->expected_by_rank, hash_of_rank(comm_id, rank));

	for (; link; link = ncs_hash_table_next(link)) {
		const struct expected_rank *expected =
			NCS_HASH_ITEM(link, struct expected_rank, link);

		if (expected->comm_id == comm_id && expected->rank == rank)
			return true;
	}
	return false;
}

/* Returns true if the peer of a step is expected. */
static bool is_peer_expected(const struct ncs_messages *messages,
			     struct message_rank *rank,
			     const struct ncs_record *record)
{
	bool send = record->flags & NCS_RECORD_SEND;
	struct known_peer *peer = &rank->peers[send];

	if (peer->is_there && peer->rank == record->peer)
		return true;
	if (!is_expected(messages, rank->comm_id, record->peer))
		return false;
	*peer = (struct known_peer){ true, record->peer };
	return true;
}

/* Announces a rank of a communicator. Returns 0 or -ENOMEM. */
static int expect(struct ncs_messages *messages, uint64_t comm_id, int32_t rank)
{
	struct expected_rank *expected;

	if (is_expected(messages, comm_id, rank))
		return 0;
	expected = malloc(sizeof(*expected));
	if (!expected)
		return -ENOMEM;
	if (ncs_hash_table_insert(&messages->expected_by_rank, &expected->link,
				  hash_of_rank(comm_id, rank)) != 0) {
		free(expected);
		return -ENOMEM;
	}
	expected->comm_id = comm_id;
	expected->rank = rank;
	expected->next = messages->expected;
	messages->expected = expected;
	return 0;
}

int ncs_messages_expect(struct ncs_messages *messages, size_t owner,
			const struct ncs_identity *identity,
			const struct ncs_clock *clock)
{
	const uint64_t needed = NCS_KNOWN_COMM_ID | NCS_KNOWN_RANK;
	struct message_rank *rank;

	if (ncs_array_reserve_zeroed(&messages->ranks, &messages->rank_capacity,
				     owner + 1, sizeof(*messages->ranks)) != 0)
		return -ENOMEM;
	if (owner >= messages->rank_count)
		messages->rank_count = owner + 1;
	if (!messages->ranks[owner])
		messages->ranks[owner] = calloc(1, sizeof(*rank));
	rank = messages->ranks[owner];
	if (!rank)
		return -ENOMEM;
	if ((identity->known & needed) != needed)
		return 0;
	rank->is_there = true;
	rank->comm_id = identity->comm_id;
	rank->rank = identity->rank;
	rank->clock = *clock;
	return expect(messages, rank->comm_id, rank->rank);
}

/* Returns the transfers on a channel, adding the channel if it is new. Returns
 * NULL if there is no memory. */
static struct channel_transfers *transfers_of(struct message_rank *rank,
					      uint64_t key)
{
	uint64_t hash = ncs_hash(key);
	struct ncs_hash_link *link =
		ncs_hash_table_first(&rank->transfers_by_key, hash);
	struct channel_transfers *transfers;

	for (; link; link = ncs_hash_table_next(link)) {
		transfers = NCS_HASH_ITEM(link, struct channel_transfers, link);
		if (transfers->key == key)
			return transfers;
	}
	transfers = calloc(1, sizeof(*transfers));
	if (!transfers)
		return NULL;
	if (ncs_hash_table_insert(&rank->transfers_by_key, &transfers->link,
				  hash) != 0) {
		free(transfers);
		return NULL;
	}
	transfers->key = key;
	transfers->next = rank->transfers;
	rank->transfers = transfers;
	return transfers;
}

/* --- The other end -------------------------------------------------------- */

static bool is_send(const struct waiting_step *waiting)
{
	return waiting->record.flags & NCS_RECORD_SEND;
}

/* Returns the time that is `delta` after the start of a step, or 0 if `delta`
 * is 0: not reported. */
static uint64_t time_ns(const struct message_rank *rank,
			const struct ncs_record *record, uint64_t delta)
{
	return delta ? ncs_clock_ns(&rank->clock, record->start + delta) : 0;
}

static void visit(struct ncs_messages *messages,
		  const struct waiting_step *send,
		  const struct waiting_step *receive)
{
	const struct message_rank *sender = messages->ranks[send->owner];
	const struct message_rank *receiver = messages->ranks[receive->owner];
	const struct ncs_record *in = &receive->record;
	struct ncs_message message = {
		.key = send->key,
		.sender = send->owner,
		.receiver = receive->owner,
		.send = &send->record,
		.receive = in,
		.ready_ns =
			time_ns(sender, &send->record, send->record.delta[0]),
		.sent_ns =
			time_ns(sender, &send->record, send->record.delta[1]),
		.posted_ns = ncs_clock_ns(&receiver->clock, in->start),
		.arrived_ns =
			time_ns(receiver, in,
				in->delta[0] ? in->delta[0] : in->duration),
		.bytes = send->record.value ? send->record.value : in->value,
	};

	messages->count.messages++;
	messages->visit(messages->context, &message);
}

/* Returns the waiting step at the other end of a message, or NONE. Of several,
 * returns the one that came first, because records with the same key come in
 * order. */
static uint32_t find_other(struct ncs_messages *messages,
			   const struct waiting_step *waiting, uint64_t hash)
{
	uint32_t found = NONE;

	for (uint32_t i = *row_of(messages, hash); i != NONE;
	     i = messages->pool[i].next) {
		const struct waiting_step *other = &messages->pool[i];

		if (other->waits_for == FOR_PEER && other->hash == hash &&
		    is_send(other) != is_send(waiting) &&
		    is_same(&other->key, &waiting->key))
			found = i;
	}
	return found;
}

/* Matches a step whose operation is known, or lets it wait for the other end.
 * The step must not be in a row. */
static void match_step(struct ncs_messages *messages, uint32_t index,
		       const struct identified_operation *identified)
{
	struct waiting_step *waiting = &messages->pool[index];
	struct message_rank *rank = messages->ranks[waiting->owner];
	const struct ncs_record *record = &waiting->record;
	struct ncs_message_key key;
	uint64_t hash;
	uint32_t other;

	if (!is_peer_expected(messages, rank, record)) {
		messages->count.unmatched[NCS_UNMATCHED_UNKNOWN_PEER]++;
		free_step(messages, index);
		return;
	}
	key = (struct ncs_message_key){
		.comm_id = rank->comm_id,
		.number = identified->number,
		.step = record->number,
		.repeat = identified->repeat,
		.source = is_send(waiting) ? rank->rank : record->peer,
		.destination = is_send(waiting) ? record->peer : rank->rank,
		.function = identified->function,
		.channel = record->channel,
	};
	hash = hash_of_message(&key);
	waiting->waits_for = FOR_PEER;
	waiting->key = key;
	other = find_other(messages, waiting, hash);
	if (other == NONE) {
		link_row(messages, index, hash);
		return;
	}
	if (is_send(waiting))
		visit(messages, waiting, &messages->pool[other]);
	else
		visit(messages, &messages->pool[other], waiting);
	unlink_row(messages, other);
	free_step(messages, other);
	free_step(messages, index);
}

/* --- Operations ----------------------------------------------------------- */

/* Matches the steps that waited for this record of their operation. */
static void identify(struct ncs_messages *messages, size_t owner,
		     const struct ncs_record *record,
		     const struct identified_operation *identified)
{
	uint64_t hash = hash_of_operation(owner, record);
	uint32_t found = NONE, next;

	/* Move the steps to a list of their own. The row begins with the
	 * latest, so the list begins with the oldest: steps are matched in
	 * their order. */
	for (uint32_t i = *row_of(messages, hash); i != NONE; i = next) {
		struct waiting_step *waiting = &messages->pool[i];

		next = waiting->next;
		if (waiting->waits_for != FOR_OPERATION ||
		    waiting->hash != hash || waiting->owner != owner ||
		    !is_same_operation(&waiting->record, record))
			continue;
		unlink_row(messages, i);
		waiting->next = found;
		found = i;
	}
	for (; found != NONE; found = next) {
		next = messages->pool[found].next;
		match_step(messages, found, identified);
	}
}

static void take_collective(struct ncs_messages *messages, size_t owner,
			    const struct ncs_record *record)
{
	struct message_rank *rank = messages->ranks[owner];
	struct identified_operation *identified;
	struct reported_number *reported;

	if (record->number == NCS_NO_SEQUENCE_NUMBER ||
	    record->function >= NCS_FUNCTION_COUNT || record->operation == 0)
		return;
	identified = &rank->operations[record->operation % OPERATIONS];
	reported = &rank->reported[record->function][record->number % NUMBERS];
	if (reported->number != record->number + 1)
		*reported = (struct reported_number){ record->number + 1, 0,
						      record->operation };
	else if (reported->operation != record->operation)
		*reported = (struct reported_number){ reported->number,
						      reported->repeat + 1,
						      record->operation };
	*identified = (struct identified_operation){ record->operation,
						     reported->repeat,
						     record->number,
						     record->function };
	identify(messages, owner, record, identified);
}

static int take_transfer(struct ncs_messages *messages, size_t owner,
			 const struct ncs_record *record)
{
	struct message_rank *rank = messages->ranks[owner];
	struct identified_operation identified = {
		.operation = record->operation,
		.function = NCS_FUNCTION_SEND_RECV
	};
	struct channel_transfers *transfers;

	if (NCS_RECORD_LEVEL(record->flags) != 0)
		rank->is_incomplete = true;
	if (rank->is_incomplete)
		return 0;
	transfers = transfers_of(rank, channel_key(record));
	if (!transfers)
		return -ENOMEM;
	identified.number = transfers->operations++;
	identify(messages, owner, record, &identified);
	return 0;
}

static void take_step(struct ncs_messages *messages, size_t owner,
		      const struct ncs_record *record)
{
	struct message_rank *rank = messages->ranks[owner];
	const struct identified_operation *identified =
		&rank->operations[record->operation % OPERATIONS];
	bool transfer = is_transfer(record->function);
	uint32_t index;

	messages->count.steps++;
	if (record->operation == 0) {
		messages->count.unmatched[NCS_UNMATCHED_OPERATION]++;
		return;
	}
	if (transfer && rank->is_incomplete) {
		messages->count.unmatched[NCS_UNMATCHED_PLACE]++;
		return;
	}
	index = allocate_step(messages);
	messages->pool[index].record = *record;
	messages->pool[index].owner = owner;
	if (!transfer && identified->operation == record->operation) {
		match_step(messages, index, identified);
	} else {
		messages->pool[index].waits_for = FOR_OPERATION;
		link_row(messages, index, hash_of_operation(owner, record));
	}
	if (messages->free == NONE)
		drop_oldest(messages);
}

/* Notes whether records of the rank are missing. Transfers can be counted only
 * if all records are there, from the first one on. */
static void check_complete(struct message_rank *rank, unsigned lane,
			   const struct ncs_record *records, size_t count,
			   uint64_t lost)
{
	if (lane >= LANES || lost > 0)
		rank->is_incomplete = true;
	if (count == 0 || lane >= LANES || rank->lanes >> lane & 1)
		return;
	rank->lanes |= UINT64_C(1) << lane;
	if (records[0].position != 0)
		rank->is_incomplete = true;
}

int ncs_messages_take(struct ncs_messages *messages, size_t owner,
		      unsigned lane, const struct ncs_record *records,
		      size_t count, uint64_t lost)
{
	struct message_rank *rank =
		owner < messages->rank_count ? messages->ranks[owner] : NULL;
	int error = 0;

	if (!rank || !rank->is_there)
		return 0;
	check_complete(rank, lane, records, count, lost);
	for (size_t i = 0; i < count; i++) {
		const struct ncs_record *record = &records[i];

		if (record->event == NCS_EVENT_PROXY_STEP)
			take_step(messages, owner, record);
		else if (record->event == NCS_EVENT_COLL)
			take_collective(messages, owner, record);
		else if (record->event == NCS_EVENT_PROXY_OP &&
			 is_transfer(record->function))
			error |= take_transfer(messages, owner, record);
	}
	return error;
}
