/* SPDX-License-Identifier: MIT */
/* Finding both ends of messages; see messages.h.
 *
 * A step waits twice: first by its rank and operation, for what tells which
 * operation that is, then by its message, for the other end. Both use one pool
 * and one table of rows, in which the oldest stands last.
 */
#include "analysis/records/messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/clock.h"

#define STEPS_MAX ((size_t)1 << 18)
#define NONE UINT32_MAX

/* Operations of a rank whose identity is kept for steps that come later, and
 * numbers of a function, to know them again. */
#define OPERATIONS 1024
#define NUMBERS 64

/* A thread's lane; those beyond are never complete. */
#define LANES 64

enum waits_for {
	FOR_OPERATION,
	FOR_PEER,
};

struct waiting {
	struct ncs_record record;
	struct ncs_message_key key; /* FOR_PEER */
	size_t owner;
	uint64_t hash;
	uint32_t next;          /* in its row; of free ones, in their list */
	uint32_t previous;      /* in its row; NONE: it is the first */
	uint32_t before, after; /* in the order in which they came */
	uint8_t waits_for;      /* enum waits_for */
};

struct identified {
	uint32_t operation; /* 0: none */
	uint32_t repeat;
	uint64_t number;
	uint8_t function;
};

struct told {
	uint64_t number; /* plus 1; 0: none */
	uint32_t repeat;
	uint32_t operation;
};

/* From a rank to another, or the other way. */
struct connection {
	uint64_t key; /* NCS_CHANNEL_KEY; 0: not in use */
	uint64_t operations;
};

struct rank {
	bool is_there;
	uint64_t comm_id;
	int32_t rank;
	struct ncs_clock clock;
	uint64_t lanes; /* bits: those of which records have come */
	bool is_incomplete;
	struct identified operations[OPERATIONS];
	struct told told[NCS_FUNCTION_COUNT][NUMBERS];
	struct connection *connections; /* hashed */
	size_t connection_count;
	size_t connection_room; /* a power of two */
};

struct expected {
	uint64_t comm_id;
	int32_t rank;
	bool is_there;
};

struct ncs_messages {
	ncs_message_visit *visit;
	void *context;
	struct rank **ranks; /* by owner */
	size_t rank_count;
	struct expected *expected; /* hashed */
	size_t expected_count;
	size_t expected_room; /* a power of two */
	struct waiting *pool;
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

void ncs_messages_free(struct ncs_messages *messages)
{
	if (!messages)
		return;
	for (size_t i = 0; i < messages->rank_count; i++) {
		if (messages->ranks[i])
			free(messages->ranks[i]->connections);
		free(messages->ranks[i]);
	}
	free(messages->ranks);
	free(messages->expected);
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

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ hash >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
	return hash ^ hash >> 29;
}

uint64_t ncs_message_hash(const struct ncs_message_key *key)
{
	uint64_t hash = mix(UINT64_C(0x6d657373616765), key->comm_id);

	hash = mix(hash, key->number);
	hash = mix(hash, key->step);
	hash = mix(hash, (uint64_t)(uint32_t)key->source << 32 |
				 (uint32_t)key->destination);
	return mix(hash, (uint64_t)key->repeat << 16 |
				 (uint64_t)key->function << 8 | key->channel);
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

/* Steps of one collective of a rank, or of one channel of a transfer. */
static uint64_t operation_hash(size_t owner, const struct ncs_record *record)
{
	uint64_t hash = mix(owner, record->operation);

	return is_transfer(record->function) ? mix(hash, channel_key(record)) :
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
	const struct waiting *waiting = &messages->pool[index];

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
	struct waiting *waiting = &messages->pool[index];
	uint32_t *row = row_of(messages, hash);

	waiting->hash = hash;
	waiting->previous = NONE;
	waiting->next = *row;
	if (*row != NONE)
		messages->pool[*row].previous = index;
	*row = index;
}

/* It is in no row any more. */
static void give_back(struct ncs_messages *messages, uint32_t index)
{
	struct waiting *waiting = &messages->pool[index];

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
	const struct waiting *waiting = &messages->pool[index];
	enum ncs_unmatched why = NCS_UNMATCHED_PEER;

	if (waiting->waits_for == FOR_OPERATION)
		why = is_transfer(waiting->record.function) ?
			      NCS_UNMATCHED_PLACE :
			      NCS_UNMATCHED_OPERATION;
	messages->count.unmatched[why]++;
	unlink_row(messages, index);
	give_back(messages, index);
}

/* There is always one: the one beyond those that may wait. */
static uint32_t take_free(struct ncs_messages *messages)
{
	uint32_t index;
	struct waiting *waiting;

	index = messages->free;
	waiting = &messages->pool[index];
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

static struct expected *expected_place(const struct ncs_messages *messages,
				       uint64_t comm_id, int32_t rank)
{
	size_t last = messages->expected_room - 1;
	size_t place = mix(comm_id, (uint32_t)rank) & last;

	while (messages->expected[place].is_there &&
	       (messages->expected[place].comm_id != comm_id ||
		messages->expected[place].rank != rank))
		place = (place + 1) & last;
	return &messages->expected[place];
}

static bool is_expected(const struct ncs_messages *messages, uint64_t comm_id,
			int32_t rank)
{
	return messages->expected_room > 0 &&
	       expected_place(messages, comm_id, rank)->is_there;
}

/* 0 or -ENOMEM. */
static int expect(struct ncs_messages *messages, uint64_t comm_id, int32_t rank)
{
	struct expected *old = messages->expected;
	size_t room = messages->expected_room;

	if (2 * (messages->expected_count + 1) > room) {
		messages->expected_room = room ? 2 * room : 64;
		messages->expected =
			calloc(messages->expected_room, sizeof(*old));
		if (!messages->expected) {
			messages->expected = old;
			messages->expected_room = room;
			return -ENOMEM;
		}
		for (size_t i = 0; i < room; i++)
			if (old[i].is_there)
				*expected_place(messages, old[i].comm_id,
						old[i].rank) = old[i];
		free(old);
	}
	messages->expected_count += !is_expected(messages, comm_id, rank);
	*expected_place(messages, comm_id, rank) =
		(struct expected){ comm_id, rank, true };
	return 0;
}

int ncs_messages_expect(struct ncs_messages *messages, size_t owner,
			const struct ncs_identity *identity,
			const struct ncs_clock *clock)
{
	const uint64_t needed = NCS_KNOWN_COMM_ID | NCS_KNOWN_RANK;
	struct rank *rank;

	if (owner >= messages->rank_count) {
		struct rank **ranks =
			realloc(messages->ranks, (owner + 1) * sizeof(*ranks));

		if (!ranks)
			return -ENOMEM;
		memset(&ranks[messages->rank_count], 0,
		       (owner + 1 - messages->rank_count) * sizeof(*ranks));
		messages->ranks = ranks;
		messages->rank_count = owner + 1;
	}
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

/* NULL: no memory. */
static struct connection *connection_of(struct rank *rank, uint64_t key)
{
	size_t room = rank->connection_room;
	struct connection *old = rank->connections;
	size_t place;

	if (2 * rank->connection_count >= room) {
		size_t larger = room ? 2 * room : 16;
		struct connection *connections =
			calloc(larger, sizeof(*connections));

		if (!connections)
			return NULL;
		for (size_t i = 0; i < room; i++) {
			if (old[i].key == 0)
				continue;
			place = mix(1, old[i].key) & (larger - 1);
			while (connections[place].key != 0)
				place = (place + 1) & (larger - 1);
			connections[place] = old[i];
		}
		free(old);
		rank->connections = connections;
		rank->connection_room = room = larger;
	}
	place = mix(1, key) & (room - 1);
	while (rank->connections[place].key != 0 &&
	       rank->connections[place].key != key)
		place = (place + 1) & (room - 1);
	if (rank->connections[place].key == 0) {
		rank->connections[place].key = key;
		rank->connection_count++;
	}
	return &rank->connections[place];
}

/* --- The other end -------------------------------------------------------- */

static bool is_send(const struct waiting *waiting)
{
	return waiting->record.flags & NCS_RECORD_SEND;
}

/* A moment of a step by its delta; 0: not told. */
static uint64_t moment_ns(const struct rank *rank,
			  const struct ncs_record *record, uint64_t delta)
{
	return delta ? ncs_clock_ns(&rank->clock, record->start + delta) : 0;
}

static void tell(struct ncs_messages *messages, const struct waiting *send,
		 const struct waiting *receive)
{
	const struct rank *sender = messages->ranks[send->owner];
	const struct rank *receiver = messages->ranks[receive->owner];
	const struct ncs_record *in = &receive->record;
	struct ncs_message message = {
		.key = send->key,
		.sender = send->owner,
		.receiver = receive->owner,
		.send = &send->record,
		.receive = in,
		.ready_ns =
			moment_ns(sender, &send->record, send->record.delta[0]),
		.sent_ns =
			moment_ns(sender, &send->record, send->record.delta[1]),
		.posted_ns = ncs_clock_ns(&receiver->clock, in->start),
		.arrived_ns =
			moment_ns(receiver, in,
				  in->delta[0] ? in->delta[0] : in->duration),
		.bytes = send->record.value ? send->record.value : in->value,
	};

	messages->count.messages++;
	messages->visit(messages->context, &message);
}

/* The one that came first, as records of one key come in their order. */
static uint32_t find_other(struct ncs_messages *messages,
			   const struct waiting *waiting, uint64_t hash)
{
	uint32_t found = NONE;

	for (uint32_t i = *row_of(messages, hash); i != NONE;
	     i = messages->pool[i].next) {
		const struct waiting *other = &messages->pool[i];

		if (other->waits_for == FOR_PEER && other->hash == hash &&
		    is_send(other) != is_send(waiting) &&
		    is_same(&other->key, &waiting->key))
			found = i;
	}
	return found;
}

/* One that is in no row, and whose operation is known. */
static void look_for_other(struct ncs_messages *messages, uint32_t index,
			   const struct identified *identified)
{
	struct waiting *waiting = &messages->pool[index];
	const struct rank *rank = messages->ranks[waiting->owner];
	const struct ncs_record *record = &waiting->record;
	uint64_t hash;
	uint32_t other;

	if (!is_expected(messages, rank->comm_id, record->peer)) {
		messages->count.unmatched[NCS_UNMATCHED_UNKNOWN_PEER]++;
		give_back(messages, index);
		return;
	}
	waiting->waits_for = FOR_PEER;
	waiting->key = (struct ncs_message_key){
		.comm_id = rank->comm_id,
		.number = identified->number,
		.step = record->number,
		.repeat = identified->repeat,
		.source = is_send(waiting) ? rank->rank : record->peer,
		.destination = is_send(waiting) ? record->peer : rank->rank,
		.function = identified->function,
		.channel = record->channel,
	};
	hash = ncs_message_hash(&waiting->key);
	other = find_other(messages, waiting, hash);
	if (other == NONE) {
		link_row(messages, index, hash);
		return;
	}
	if (is_send(waiting))
		tell(messages, waiting, &messages->pool[other]);
	else
		tell(messages, &messages->pool[other], waiting);
	unlink_row(messages, other);
	give_back(messages, other);
	give_back(messages, index);
}

/* --- Operations ----------------------------------------------------------- */

/* Steps that waited for what a record tells of their operation. */
static void identify(struct ncs_messages *messages, size_t owner,
		     const struct ncs_record *record,
		     const struct identified *identified)
{
	uint64_t hash = operation_hash(owner, record);
	uint32_t found = NONE, next;

	/* Those that came first, first. */
	for (uint32_t i = *row_of(messages, hash); i != NONE; i = next) {
		struct waiting *waiting = &messages->pool[i];

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
		look_for_other(messages, found, identified);
	}
}

static void take_collective(struct ncs_messages *messages, size_t owner,
			    const struct ncs_record *record)
{
	struct rank *rank = messages->ranks[owner];
	struct identified *identified;
	struct told *told;

	if (record->number == NCS_NO_SEQUENCE_NUMBER ||
	    record->function >= NCS_FUNCTION_COUNT || record->operation == 0)
		return;
	identified = &rank->operations[record->operation % OPERATIONS];
	told = &rank->told[record->function][record->number % NUMBERS];
	if (told->number != record->number + 1)
		*told = (struct told){ record->number + 1, 0,
				       record->operation };
	else if (told->operation != record->operation)
		*told = (struct told){ told->number, told->repeat + 1,
				       record->operation };
	*identified = (struct identified){ record->operation, told->repeat,
					   record->number, record->function };
	identify(messages, owner, record, identified);
}

static int take_transfer(struct ncs_messages *messages, size_t owner,
			 const struct ncs_record *record)
{
	struct rank *rank = messages->ranks[owner];
	struct identified identified = { .operation = record->operation,
					 .function = NCS_FUNCTION_SEND_RECV };
	struct connection *connection;

	if (NCS_RECORD_LEVEL(record->flags) != 0)
		rank->is_incomplete = true;
	if (rank->is_incomplete)
		return 0;
	connection = connection_of(rank, channel_key(record));
	if (!connection)
		return -ENOMEM;
	identified.number = connection->operations++;
	identify(messages, owner, record, &identified);
	return 0;
}

static void take_step(struct ncs_messages *messages, size_t owner,
		      const struct ncs_record *record)
{
	struct rank *rank = messages->ranks[owner];
	const struct identified *identified =
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
	index = take_free(messages);
	messages->pool[index].record = *record;
	messages->pool[index].owner = owner;
	if (!transfer && identified->operation == record->operation) {
		look_for_other(messages, index, identified);
	} else {
		messages->pool[index].waits_for = FOR_OPERATION;
		link_row(messages, index, operation_hash(owner, record));
	}
	if (messages->free == NONE)
		drop_oldest(messages);
}

/* Places are counted from the first record on. */
static void check_complete(struct rank *rank, unsigned lane,
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
	struct rank *rank =
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
