/* SPDX-License-Identifier: MIT */
/* Finding the operations of children; see rank_operations.h. */
#include "analysis/records/rank_operations.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "analysis/base/hash_table.h"
#include "analysis/records/operation_record.h"
#include "ncclstat/abi_channel.h"
#include "shm/array.h"
#include "shm/hash.h"

/* Operations that are remembered for children that come later, and sequence
 * numbers that are remembered to recognize repeats; powers of two. */
#define KNOWN 1024u
#define NUMBERS 1024u

/* Transfers that a connection has in progress at the same time, at most. */
#define PLACES 16u

/* Lanes that can be checked for completeness. */
#define LANES 64u

/* The children of one operation, in the order in which they came. */
struct waiting_children {
	struct ncs_hash_link link; /* by operation */
	uint32_t operation;
	size_t count, capacity;
	struct ncs_record *records;
	TAILQ_ENTRY(waiting_children) entry;
};

TAILQ_HEAD(children_list, waiting_children);

/* The latest operation with a sequence number. */
struct repeated_number {
	uint32_t operation; /* 0: none */
	uint32_t repeat;
	uint64_t number;
	uint8_t function;
};

/* The transfers of one channel, direction and peer. */
struct counted_connection {
	struct ncs_hash_link link; /* by key */
	uint64_t count;
	struct {
		uint32_t operation; /* 0: none */
		uint64_t place;
	} latest[PLACES];
};

struct ncs_rank_operations {
	struct ncs_hash_table waiting;
	struct children_list in_order;  /* those that wait, oldest first */
	size_t children, children_max;  /* number of records that wait */
	struct ncs_hash_table connections;
	bool has_lost;
	bool has_begun_late; /* a lane's first record is not its first one */
	uint64_t lanes;      /* bit of each lane that has begun */
	struct ncs_known_operation known[KNOWN]; /* by number */
	struct repeated_number numbers[NUMBERS]; /* hashed */
};

struct ncs_rank_operations *ncs_rank_operations_new(size_t children_max)
{
	struct ncs_rank_operations *operations = calloc(1, sizeof(*operations));

	if (!operations)
		return NULL;
	TAILQ_INIT(&operations->in_order);
	operations->children_max = children_max ? children_max :
						  NCS_CHILDREN_MAX;
	return operations;
}

void ncs_rank_operations_lose(struct ncs_rank_operations *operations)
{
	operations->has_lost = true;
}

void ncs_rank_operations_begin(struct ncs_rank_operations *operations,
			       unsigned lane, const struct ncs_record *first)
{
	if (lane < LANES && operations->lanes >> lane & 1)
		return;
	if (lane >= LANES || first->position != 0)
		operations->has_begun_late = true;
	else
		operations->lanes |= UINT64_C(1) << lane;
}

bool ncs_rank_operations_are_whole(const struct ncs_rank_operations *operations)
{
	return !operations->has_lost && !operations->has_begun_late;
}

/* --- Children that wait -------------------------------------------------- */

static struct waiting_children *
find_waiting(const struct ncs_rank_operations *operations, uint32_t operation)
{
	struct waiting_children *newest =
		TAILQ_LAST(&operations->in_order, children_list);

	/* Most children are of the operation whose children came last. */
	if (newest && newest->operation == operation)
		return newest;
	/* ncs_hash() is a bijection: equal hashes have equal numbers. */
	return ncs_hash_table_first(&operations->waiting, ncs_hash(operation));
}

/* Returns NULL if there is no memory. */
static struct waiting_children *
add_waiting(struct ncs_rank_operations *operations, uint32_t operation)
{
	struct waiting_children *waiting = ncs_hash_table_add(
		&operations->waiting, sizeof(*waiting), ncs_hash(operation));

	if (!waiting)
		return NULL;
	waiting->operation = operation;
	TAILQ_INSERT_TAIL(&operations->in_order, waiting, entry);
	return waiting;
}

static void take_out(struct ncs_rank_operations *operations,
		     struct waiting_children *waiting)
{
	ncs_hash_table_remove(&operations->waiting, &waiting->link);
	TAILQ_REMOVE(&operations->in_order, waiting, entry);
	operations->children -= waiting->count;
}

static void free_waiting(struct waiting_children *waiting)
{
	free(waiting->records);
	free(waiting);
}

static int let_wait(struct ncs_rank_operations *operations,
		    const struct ncs_record *record)
{
	struct waiting_children *waiting =
		find_waiting(operations, record->operation);

	if (!waiting)
		waiting = add_waiting(operations, record->operation);
	if (!waiting || ncs_array_reserve(&waiting->records, &waiting->capacity,
					  waiting->count + 1,
					  sizeof(*waiting->records)) != 0)
		return -ENOMEM;
	waiting->records[waiting->count++] = *record;
	operations->children++;
	return 0;
}

void ncs_rank_operations_free(struct ncs_rank_operations *operations)
{
	struct waiting_children *waiting;

	if (!operations)
		return;
	while ((waiting = TAILQ_FIRST(&operations->in_order))) {
		take_out(operations, waiting);
		free_waiting(waiting);
	}
	ncs_hash_table_sweep(&operations->connections, NULL, 0);
	ncs_hash_table_release(&operations->waiting);
	ncs_hash_table_release(&operations->connections);
	free(operations);
}

const struct ncs_record *
ncs_rank_operations_waiting(const struct ncs_rank_operations *operations,
			    uint32_t operation, size_t *count)
{
	const struct waiting_children *waiting =
		find_waiting(operations, operation);

	*count = waiting ? waiting->count : 0;
	return waiting ? waiting->records : NULL;
}

/* --- Places -------------------------------------------------------------- */

static uint64_t hash_of_connection(const struct ncs_record *record)
{
	return ncs_hash(NCS_CHANNEL_KEY(record->channel,
					record->flags & NCS_RECORD_SEND,
					record->peer));
}

/* Returns an operation's place on a connection; 0 if it is not known. */
static uint64_t place_on(const struct counted_connection *connection,
			 uint32_t operation)
{
	for (unsigned i = 0; connection && i < PLACES; i++)
		if (connection->latest[i].operation == operation)
			return connection->latest[i].place;
	return 0;
}

/* Counts a transfer when its first child on a connection comes: both ends begin
 * transfers in the same order. Returns 0 or -ENOMEM. */
static int count_transfer(struct ncs_rank_operations *operations,
			  const struct ncs_record *record)
{
	uint64_t hash = hash_of_connection(record);
	struct counted_connection *connection =
		ncs_hash_table_first(&operations->connections, hash);
	unsigned next;

	/* Sampling leaves transfers out. */
	if (NCS_RECORD_LEVEL(record->flags) != 0)
		operations->has_lost = true;
	if (place_on(connection, record->operation) != 0)
		return 0;
	if (!connection)
		connection = ncs_hash_table_add(&operations->connections,
						sizeof(*connection), hash);
	if (!connection)
		return -ENOMEM;
	next = connection->count++ % PLACES;
	connection->latest[next].operation = record->operation;
	connection->latest[next].place = connection->count;
	return 0;
}

/* --- Handing out --------------------------------------------------------- */

static bool has_connection(const struct ncs_record *record)
{
	return record->event == NCS_EVENT_PROXY_OP ||
	       record->event == NCS_EVENT_PROXY_STEP ||
	       record->event == NCS_EVENT_NET_PLUGIN;
}

static bool is_counted(const struct ncs_record *record)
{
	return record->operation != 0 && has_connection(record) &&
	       ncs_is_transfer(record->function);
}

static int hand_out(const struct ncs_rank_operations *operations,
		    const struct ncs_record *record,
		    const struct ncs_known_operation *known,
		    const struct ncs_child_visitor *visitor)
{
	struct ncs_child child = { .record = record, .operation = known };

	if (known && !operations->has_lost && is_counted(record))
		child.place = place_on(
			ncs_hash_table_first(&operations->connections,
					     hash_of_connection(record)),
			record->operation);
	return visitor->visit(visitor->context, &child);
}

/* Hands out the children of an operation; `known` is NULL if it never came. */
static int hand_out_all(struct ncs_rank_operations *operations,
			struct waiting_children *waiting,
			const struct ncs_known_operation *known,
			const struct ncs_child_visitor *visitor)
{
	int error = 0;

	take_out(operations, waiting);
	for (size_t i = 0; i < waiting->count; i++)
		error |= hand_out(operations, &waiting->records[i], known,
				  visitor);
	free_waiting(waiting);
	return error ? -ENOMEM : 0;
}

int ncs_rank_operations_flush(struct ncs_rank_operations *operations,
			      const struct ncs_child_visitor *visitor)
{
	int error = 0;

	while (!TAILQ_EMPTY(&operations->in_order))
		error |= hand_out_all(operations,
				      TAILQ_FIRST(&operations->in_order), NULL,
				      visitor);
	return error ? -ENOMEM : 0;
}

/* Returns NCCL's number of an operation. The number of a transfer is none. */
static uint64_t sequence_number_of(const struct ncs_record *record)
{
	return record->event == NCS_EVENT_COLL ? record->number :
						 NCS_NO_SEQUENCE_NUMBER;
}

/* Counts how often an operation's sequence number has come before. A second
 * record of the same operation does not count. */
static uint32_t count_repeat(struct ncs_rank_operations *operations,
			     const struct ncs_record *record)
{
	struct repeated_number *latest =
		&operations->numbers[(record->number + record->function * 67u) %
				     NUMBERS];
	bool is_same = latest->operation != 0 &&
		       latest->number == record->number &&
		       latest->function == record->function;

	if (sequence_number_of(record) == NCS_NO_SEQUENCE_NUMBER)
		return 0;
	if (!is_same || latest->operation != record->operation)
		*latest = (struct repeated_number){
			.operation = record->operation,
			.repeat = is_same ? latest->repeat + 1 : 0,
			.number = record->number,
			.function = record->function,
		};
	return latest->repeat;
}

int ncs_rank_operations_take(struct ncs_rank_operations *operations,
			     const struct ncs_record *record,
			     const struct ncs_child_visitor *visitor,
			     const struct ncs_known_operation **known)
{
	struct ncs_known_operation *own =
		&operations->known[record->operation % KNOWN];
	struct waiting_children *waiting;

	*known = NULL;
	if (record->flags & NCS_RECORD_LEFT_OUT &&
	    sequence_number_of(record) == NCS_NO_SEQUENCE_NUMBER)
		operations->has_lost = true;
	if (record->operation == 0)
		return 0;
	*own = (struct ncs_known_operation){
		.operation = record->operation,
		.repeat = count_repeat(operations, record),
		.number = sequence_number_of(record),
		.transfer = record->event == NCS_EVENT_P2P &&
					    record->flags &
						    NCS_RECORD_NUMBERED ?
				    record->number :
				    NCS_NO_SEQUENCE_NUMBER,
		.event = record->event,
		.function = record->function,
	};
	*known = own;
	waiting = find_waiting(operations, record->operation);
	return waiting ? hand_out_all(operations, waiting, own, visitor) : 0;
}

int ncs_rank_operations_take_child(struct ncs_rank_operations *operations,
				   const struct ncs_record *record,
				   const struct ncs_child_visitor *visitor)
{
	const struct ncs_known_operation *known =
		&operations->known[record->operation % KNOWN];

	if (is_counted(record) && count_transfer(operations, record) != 0)
		return -ENOMEM;
	if (record->operation == 0)
		return hand_out(operations, record, NULL, visitor);
	if (known->operation == record->operation)
		return hand_out(operations, record, known, visitor);
	if (let_wait(operations, record) != 0)
		return -ENOMEM;
	return operations->children > operations->children_max ?
		       hand_out_all(operations,
				    TAILQ_FIRST(&operations->in_order), NULL,
				    visitor) :
		       0;
}

/* --- Messages ------------------------------------------------------------ */

bool ncs_message_key_of(const struct ncs_rank_operations *operations,
			const struct ncs_child *step, uint64_t comm_id,
			int32_t rank, struct ncs_message_key *key)
{
	const struct ncs_known_operation *known = step->operation;
	const struct ncs_record *record = step->record;
	bool send = record->flags & NCS_RECORD_SEND;
	uint64_t number = NCS_NO_SEQUENCE_NUMBER;
	bool is_by_place;

	if (known)
		number = known->event == NCS_EVENT_P2P ? known->transfer :
							 known->number;
	is_by_place = number == NCS_NO_SEQUENCE_NUMBER;
	if (!known || (is_by_place && step->place == 0) ||
	    (operations->has_lost && known->repeat > 0))
		return false;
	*key = (struct ncs_message_key){
		.comm_id = comm_id,
		.number = is_by_place ? step->place : number,
		.step = record->number,
		.repeat = known->repeat,
		.source = send ? rank : record->peer,
		.destination = send ? record->peer : rank,
		/* The ends of a transfer have different functions. */
		.function = ncs_is_transfer(known->function) ?
				    NCS_FUNCTION_SEND_RECV :
				    known->function,
		.channel = record->channel,
		.is_by_place = is_by_place,
	};
	return true;
}
