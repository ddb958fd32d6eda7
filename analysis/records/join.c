/* SPDX-License-Identifier: MIT */
/* Joining parts; see join.h. Must not trust parts: ranks, numbers and times may
 * be any value. */
#include "analysis/records/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/base/hash_table.h"
#include "analysis/base/heap.h"
#include "analysis/records/operation_record.h"
#include "shm/array.h"
#include "shm/hash.h"

/* An operation is given up this long after its first part ended. */
#define LATE_NS NCS_LOOK_BACK_NS

#define PARTS_MAX (UINT32_C(1) << 20)

/* Ranks from this number on are taken for damaged data. */
#define RANKS_MAX (UINT32_C(1) << 20)

/* A collective is given up once every missing rank has reported one whose
 * number is larger by this much. Records of two lanes may be out of order, but
 * not by so many operations. */
#define MUCH_LATER 64u

/* A transfer without its other end is given up once this many more transfers
 * wait on its connection. */
#define WAITING_MAX 1024u

/* A transfer's other end is lost once that end has reported one whose number is
 * larger by this much: those of a connection end nearly in order. */
#define OVERTAKEN 16u

/* Where two transfers of the same number cannot belong together, the two ends
 * have counted differently: so many more are distrusted. */
#define DISTRUSTED 256u

/* An operation that is incomplete, or that is finished but not given out
 * yet. */
struct pending {
	struct ncs_hash_link link; /* in ncs_join.collectives */
	struct ncs_joined joined;
	struct join_comm *comm;
	size_t expected; /* number of parts */
	struct ncs_part *parts;
	struct ncs_part_times *part_times; /* once it is finished */
	TAILQ_ENTRY(pending) entry;        /* among incomplete collectives */
	bool is_finished;
	uint64_t order; /* of completion */
};

/* The last number that a rank reported for a function. */
struct last_number {
	uint64_t number; /* plus 1; 0: none yet */
	uint32_t repeat;
};

struct join_comm {
	uint64_t id;
	size_t expected;   /* number of ranks */
	bool *is_expected; /* by rank */
	size_t rank_capacity;
	struct last_number *last[NCS_FUNCTION_COUNT]; /* by rank */
	size_t last_capacity[NCS_FUNCTION_COUNT];
};

/* Transfers reported by one end of a connection that wait for those of the
 * other end. */
struct transfer_queue {
	struct ncs_part *parts; /* in the order in which they began */
	size_t first, count, capacity;
};

/* The transfers from one rank to another or to itself. */
struct transfer_connection {
	struct ncs_hash_link link;
	struct join_comm *comm;
	int32_t source, destination;
	bool is_numbered;              /* its transfers have numbers */
	uint64_t number;               /* of the next transfer */
	uint64_t distrusted_until;     /* number; 0 if none is */
	struct transfer_queue ends[2]; /* sends, receives */
};

struct ncs_join {
	size_t parts_max;
	bool in_order;
	size_t parts;          /* number of parts that are kept … */
	size_t finished_parts; /* … and those of finished operations */
	uint64_t until_ns;     /* operations up to this time may be given out */
	struct join_comm **comms;
	size_t comm_count, comm_capacity;
	struct ncs_hash_table collectives; /* incomplete ones */
	TAILQ_HEAD(, pending) incomplete;
	struct transfer_connection **connections;
	size_t connection_count, connection_capacity;
	struct ncs_hash_table connections_by_key;
	struct ncs_heap finished; /* of struct pending, see is_before() */
	uint64_t order;
	struct pending *given; /* by the latest ncs_join_next() */
	struct ncs_join_count count;
};

/* --- Operations ----------------------------------------------------------- */

/* Releases an operation; accepts NULL. */
static void pending_free(struct ncs_join *join, struct pending *pending)
{
	if (!pending)
		return;
	join->parts -= pending->joined.count;
	if (pending->is_finished)
		join->finished_parts -= pending->joined.count;
	free(pending->parts);
	free(pending->part_times);
	free(pending);
}

/* Returns whether a rank of a communicator was announced. */
static bool is_expected(const struct join_comm *comm, int32_t rank)
{
	return rank >= 0 && (size_t)rank < comm->rank_capacity &&
	       comm->is_expected[rank];
}

/* Returns whether a finished operation's turn is before another one's. */
static bool is_before(const void *left, const void *right)
{
	const struct pending *a = left, *b = right;

	if (a->joined.turn_ns != b->joined.turn_ns)
		return a->joined.turn_ns < b->joined.turn_ns;
	return a->order < b->order;
}

/* Moves an operation to the finished ones. Returns 0, or -ENOMEM; then it is lost. */
static int finish(struct ncs_join *join, struct pending *pending)
{
	struct ncs_joined *joined = &pending->joined;

	joined->is_complete = joined->count == pending->expected;
	joined->is_whole = joined->is_complete &&
			   joined->parts[0].nranks >= 0 &&
			   (ncs_joined_is_transfer(joined) ||
			    joined->count == (size_t)joined->parts[0].nranks);
	ncs_joined_finish(joined);
	pending->order = join->order;
	if (ncs_heap_push(&join->finished, pending, is_before) != 0) {
		pending_free(join, pending);
		return -ENOMEM;
	}
	join->order++;
	if (joined->is_complete)
		join->count.complete++;
	else
		join->count.incomplete++;
	/* Without memory for them, readers compute the times. */
	pending->part_times =
		malloc(joined->count * sizeof(*pending->part_times));
	for (size_t i = 0; pending->part_times && i < joined->count; i++)
		ncs_part_times_make(&pending->part_times[i], joined,
				    &joined->parts[i]);
	joined->part_times = pending->part_times;
	pending->is_finished = true;
	join->finished_parts += joined->count;
	return 0;
}

/* Creates an incomplete operation with room for `parts` parts. Returns NULL if
 * there is no memory. */
static struct pending *pending_new(struct join_comm *comm,
				   const struct ncs_joined *joined,
				   size_t parts)
{
	struct pending *pending = calloc(1, sizeof(*pending));

	if (!pending)
		return NULL;
	pending->parts = malloc(parts * sizeof(*pending->parts));
	if (!pending->parts) {
		free(pending);
		return NULL;
	}
	pending->joined = *joined;
	pending->joined.parts = pending->parts;
	pending->joined.first_end_ns = UINT64_MAX;
	pending->comm = comm;
	pending->expected = parts;
	return pending;
}

/* --- Communicators -------------------------------------------------------- */

/* Returns a communicator, adding it if it is new. Returns NULL if there is no
 * memory. */
static struct join_comm *comm_of(struct ncs_join *join, uint64_t id)
{
	struct join_comm *comm;

	for (size_t i = 0; i < join->comm_count; i++)
		if (join->comms[i]->id == id)
			return join->comms[i];
	if (ncs_array_reserve(&join->comms, &join->comm_capacity,
			      join->comm_count + 1, sizeof(*join->comms)) != 0)
		return NULL;
	comm = calloc(1, sizeof(*comm));
	if (!comm)
		return NULL;
	comm->id = id;
	join->comms[join->comm_count++] = comm;
	return comm;
}

static int expect(struct join_comm *comm, int32_t rank)
{
	if (ncs_array_reserve_zeroed(&comm->is_expected, &comm->rank_capacity,
				     (size_t)rank + 1, sizeof(bool)) != 0)
		return -ENOMEM;
	comm->expected += !comm->is_expected[rank];
	comm->is_expected[rank] = true;
	return 0;
}

int ncs_join_expect(struct ncs_join *join, uint64_t comm_id, int32_t rank)
{
	struct join_comm *comm = comm_of(join, comm_id);

	if (!comm)
		return -ENOMEM;
	if (rank < 0 || (uint32_t)rank >= RANKS_MAX)
		return 0;
	return expect(comm, rank);
}

/* Notes the number that a part reports, and sets `repeat` to how often its rank
 * had reported it before. Returns 0 or -ENOMEM. */
static int note_number(struct join_comm *comm, const struct ncs_part *part,
		       uint32_t *repeat)
{
	unsigned function = part->function;
	struct last_number *last;

	if (ncs_array_reserve_zeroed(
		    &comm->last[function], &comm->last_capacity[function],
		    (size_t)part->rank + 1, sizeof(*last)) != 0)
		return -ENOMEM;
	last = &comm->last[function][part->rank];
	*repeat = 0;
	if (last->number == part->number + 1)
		*repeat = ++last->repeat;
	else if (part->number + 1 > last->number)
		*last = (struct last_number){ .number = part->number + 1 };
	return 0; /* a smaller number is out of order */
}

/* --- Transfers ------------------------------------------------------------ */

/* Returns a connection, adding it if it is new. Returns NULL if there is no
 * memory. */
static struct transfer_connection *
connection_of(struct ncs_join *join, struct join_comm *comm, int32_t source,
	      int32_t destination, bool is_numbered)
{
	uint64_t hash = ncs_hash_add(ncs_hash(comm->id + is_numbered),
				     (uint64_t)(uint32_t)source << 32 |
					     (uint32_t)destination);
	struct transfer_connection *connection =
		ncs_hash_table_first(&join->connections_by_key, hash);

	for (; connection; connection = ncs_hash_table_next(connection))
		if (connection->comm == comm && connection->source == source &&
		    connection->destination == destination &&
		    connection->is_numbered == is_numbered)
			return connection;
	if (ncs_array_reserve(&join->connections, &join->connection_capacity,
			      join->connection_count + 1,
			      sizeof(*join->connections)) != 0)
		return NULL;
	connection = ncs_hash_table_add(&join->connections_by_key,
					sizeof(*connection), hash);
	if (!connection)
		return NULL;
	connection->comm = comm;
	connection->is_numbered = is_numbered;
	connection->source = source;
	connection->destination = destination;
	join->connections[join->connection_count++] = connection;
	return connection;
}

/* Returns whether a transfer came after another one of its connection. */
static bool is_after(const struct ncs_part *a, const struct ncs_part *b)
{
	if (a->flags & NCS_PART_NUMBERED)
		return a->number > b->number;
	/* Numbers of operations may wrap around. */
	return (int32_t)(a->operation - b->operation) > 0;
}

static int queue_add(struct transfer_queue *queue, const struct ncs_part *part)
{
	size_t place;

	if (queue->first > 0 &&
	    queue->first + queue->count == queue->capacity) {
		memmove(queue->parts, queue->parts + queue->first,
			queue->count * sizeof(*part));
		queue->first = 0;
	}
	if (ncs_array_reserve(&queue->parts, &queue->capacity,
			      queue->first + queue->count + 1,
			      sizeof(*part)) != 0)
		return -ENOMEM;
	place = queue->first + queue->count++;
	while (place > queue->first &&
	       is_after(&queue->parts[place - 1], part)) {
		queue->parts[place] = queue->parts[place - 1];
		place--;
	}
	queue->parts[place] = *part;
	return 0;
}

/* Adds a part of a transfer. Returns 0 or -ENOMEM. */
static int add_transfer(struct ncs_join *join, struct join_comm *comm,
			const struct ncs_part *part)
{
	bool is_send = part->function == NCS_FUNCTION_SEND;
	struct transfer_connection *connection;

	if (part->peer < 0 ||
	    (!is_send && part->function != NCS_FUNCTION_RECV)) {
		join->count.unidentified++;
		return 0;
	}
	connection = connection_of(join, comm,
				   is_send ? part->rank : part->peer,
				   is_send ? part->peer : part->rank,
				   part->flags & NCS_PART_NUMBERED);
	if (!connection || queue_add(&connection->ends[!is_send], part) != 0)
		return -ENOMEM;
	join->parts++;
	return 0;
}

static const struct ncs_part *head(const struct transfer_queue *queue)
{
	return queue->count > 0 ? &queue->parts[queue->first] : NULL;
}

/* Finishes the oldest send (gives[0]), the oldest receive (gives[1]), or both as one
 * operation. Returns 0 or -ENOMEM. */
static int give_transfer(struct ncs_join *join,
			 struct transfer_connection *connection,
			 const bool gives[2])
{
	struct ncs_joined joined = {
		.comm_id = connection->comm->id,
		.number = connection->number,
		.function = NCS_FUNCTION_SEND_RECV,
	};
	struct pending *pending = pending_new(connection->comm, &joined, 2);

	if (!pending)
		return -ENOMEM;
	connection->number++;
	for (unsigned i = 0; i < 2; i++) {
		struct transfer_queue *queue = &connection->ends[i];
		const struct ncs_part *part = head(queue);

		if (!gives[i])
			continue;
		if (connection->is_numbered)
			pending->joined.number = part->number;
		pending->parts[pending->joined.count++] = *part;
		queue->first++;
		queue->count--;
	}
	return finish(join, pending);
}

/* Returns when a send began at the earliest, as far as it is known. */
static uint64_t earliest_begin_ns(const struct ncs_part *send)
{
	enum ncs_moment moment = send->at_ns[NCS_MOMENT_STREAM] != 0 ?
					 NCS_MOMENT_STREAM :
					 NCS_MOMENT_OPERATION;
	uint64_t begin_ns = send->at_ns[moment];
	uint64_t error_ns = ncs_part_error_ns(send, moment);

	return begin_ns > error_ns ? begin_ns - error_ns : 0;
}

/* Returns whether a send and a receive may belong together: they are of one
 * size, and the receive did not end before the send began. */
static bool may_be_pair(const struct ncs_part *send,
			const struct ncs_part *receive)
{
	uint64_t error_ns = send->clock != receive->clock ?
				    (uint64_t)send->clock_error_ns +
					    receive->clock_error_ns :
				    0;

	return send->bytes == receive->bytes &&
	       receive->at_ns[NCS_MOMENT_LAST_END] + error_ns >=
		       earliest_begin_ns(send);
}

/* Decides which of the oldest transfers of a connection are given out: by their
 * numbers. Returns false if both are, but not as one. */
static bool choose_by_number(struct ncs_join *join,
			     struct transfer_connection *connection,
			     bool gives[2])
{
	const struct transfer_queue *ends = connection->ends;
	const struct ncs_part *send = head(&ends[0]), *receive = head(&ends[1]);
	bool receive_first = receive->number < send->number;
	uint64_t first = receive_first ? receive->number : send->number;

	if (send->number != receive->number) {
		const struct transfer_queue *later = &ends[!receive_first];
		const struct ncs_part *last =
			&later->parts[later->first + later->count - 1];

		/* The other end of the first one may still come. */
		gives[0] = gives[1] = false;
		gives[receive_first] = last->number >= first + OVERTAKEN;
		return true;
	}
	if (!may_be_pair(send, receive)) {
		connection->distrusted_until = first + DISTRUSTED;
		join->count.distrusted++;
	}
	return first >= connection->distrusted_until;
}

/* Decides the same for transfers without numbers. Both ends are FIFOs: their
 * oldest transfers belong together. If they cannot, one end lacks a transfer,
 * and the transfer that ended first is given out alone. */
static void choose_by_order(const struct transfer_connection *connection,
			    bool gives[2])
{
	const struct ncs_part *send = head(&connection->ends[0]);
	const struct ncs_part *receive = head(&connection->ends[1]);
	bool is_pair = send->bytes == receive->bytes &&
		       receive->at_ns[NCS_MOMENT_LAST_END] >=
			       send->at_ns[NCS_MOMENT_OPERATION];
	bool send_first = send->at_ns[NCS_MOMENT_LAST_END] <
			  receive->at_ns[NCS_MOMENT_LAST_END];

	gives[0] = is_pair || send_first;
	gives[1] = is_pair || !send_first;
}

static bool is_full(const struct transfer_connection *connection)
{
	return connection->ends[0].count + connection->ends[1].count >=
	       WAITING_MAX;
}

/* Returns true if a numbered transfer has waited for its other end for too
 * long. */
static bool has_expired(const struct transfer_connection *connection,
			uint64_t until_ns)
{
	for (unsigned i = 0; i < 2 && connection->is_numbered; i++) {
		const struct ncs_part *part = head(&connection->ends[i]);

		if (part && until_ns > ncs_part_first_end_ns(part) + LATE_NS)
			return true;
	}
	return false;
}

/* Gives out the transfers of a connection. A transfer waits for the other end
 * unless no more parts will come, that end is not expected, or too many
 * transfers wait. */
static void match(struct ncs_join *join, struct transfer_connection *connection,
		  uint64_t until_ns)
{
	const bool only_send[2] = { true, false };
	int error = 0;

	while (!error) {
		const struct ncs_part *send = head(&connection->ends[0]);
		const struct ncs_part *receive = head(&connection->ends[1]);
		bool gives[2] = { send, receive };

		if (!send && !receive)
			return;
		if (!send || !receive) {
			int32_t other = send ? connection->destination :
					       connection->source;

			if (is_expected(connection->comm, other))
				gives[0] = gives[1] = false;
		} else if (!connection->is_numbered) {
			choose_by_order(connection, gives);
		} else if (!choose_by_number(join, connection, gives)) {
			error = give_transfer(join, connection, only_send);
			gives[0] = false;
		}
		if (!gives[0] && !gives[1]) {
			if (until_ns != UINT64_MAX && !is_full(connection) &&
			    !has_expired(connection, until_ns))
				return;
			gives[0] = send &&
				   (!receive || send->number < receive->number);
			gives[1] = !gives[0];
		}
		error |= give_transfer(join, connection, gives);
	}
}

/* Finishes the transfers that have both ends, or of which no other end will
 * come, as ncs_join_advance() says. */
static void match_all(struct ncs_join *join, uint64_t until_ns)
{
	for (size_t i = 0; i < join->connection_count; i++)
		match(join, join->connections[i], until_ns);
}

/* Returns the first end of all transfers that wait for their other ends, or
 * UINT64_MAX. */
static uint64_t first_transfer_ns(const struct ncs_join *join)
{
	uint64_t first_ns = UINT64_MAX;

	for (size_t i = 0; i < join->connection_count; i++)
		for (unsigned k = 0; k < 2; k++) {
			const struct ncs_part *part =
				head(&join->connections[i]->ends[k]);

			if (part && ncs_part_first_end_ns(part) < first_ns)
				first_ns = ncs_part_first_end_ns(part);
		}
	return first_ns;
}

/* Releases all connections. */
static void free_transfers(struct ncs_join *join)
{
	for (size_t i = 0; i < join->connection_count; i++) {
		free(join->connections[i]->ends[0].parts);
		free(join->connections[i]->ends[1].parts);
		free(join->connections[i]);
	}
	free(join->connections);
	ncs_hash_table_release(&join->connections_by_key);
}

/* --- Collectives ---------------------------------------------------------- */

static uint64_t hash_of(const struct ncs_joined *joined)
{
	return ncs_hash_add(ncs_hash(joined->comm_id + joined->function),
			    joined->number + ((uint64_t)joined->repeat << 40));
}

static bool is_same(const struct ncs_joined *a, const struct ncs_joined *b)
{
	return a->comm_id == b->comm_id && a->function == b->function &&
	       a->number == b->number && a->repeat == b->repeat;
}

static struct pending *find(const struct ncs_join *join,
			    const struct ncs_joined *joined, uint64_t hash)
{
	struct pending *pending =
		ncs_hash_table_first(&join->collectives, hash);

	for (; pending; pending = ncs_hash_table_next(pending))
		if (is_same(&pending->joined, joined))
			return pending;
	return NULL;
}

/* Finishes a collective that is complete, or that is given up. Returns 0, or -ENOMEM;
 * then it is lost. */
static int finish_collective(struct ncs_join *join, struct pending *pending)
{
	ncs_hash_table_remove(&join->collectives, &pending->link);
	TAILQ_REMOVE(&join->incomplete, pending, entry);
	return finish(join, pending);
}

/* Inserts a part in the order of ranks. Searches from the end, because ranks
 * mostly come in this order. Returns false if the rank has a part already. */
static bool insert(struct pending *pending, const struct ncs_part *part)
{
	size_t place = pending->joined.count;

	while (place > 0 && pending->parts[place - 1].rank > part->rank)
		place--;
	if (place > 0 && pending->parts[place - 1].rank == part->rank)
		return false;
	memmove(&pending->parts[place + 1], &pending->parts[place],
		(pending->joined.count - place) * sizeof(*part));
	pending->parts[place] = *part;
	pending->joined.count++;
	if (ncs_part_first_end_ns(part) < pending->joined.first_end_ns)
		pending->joined.first_end_ns = ncs_part_first_end_ns(part);
	return true;
}

static int add_collective(struct ncs_join *join, struct join_comm *comm,
			  const struct ncs_part *part)
{
	struct ncs_joined joined = {
		.comm_id = comm->id,
		.number = part->number,
		.function = part->function,
	};
	struct pending *pending;
	uint64_t hash;

	if (note_number(comm, part, &joined.repeat) != 0)
		return -ENOMEM;
	hash = hash_of(&joined);
	pending = find(join, &joined, hash);
	if (!pending) {
		pending = pending_new(comm, &joined, comm->expected);
		if (!pending)
			return -ENOMEM;
		if (ncs_hash_table_insert(&join->collectives, &pending->link,
					  hash) != 0) {
			pending_free(join, pending);
			return -ENOMEM;
		}
		TAILQ_INSERT_TAIL(&join->incomplete, pending, entry);
	}
	if (!insert(pending, part)) {
		join->count.again++;
		return 0;
	}
	join->parts++;
	return pending->joined.count == pending->expected ?
		       finish_collective(join, pending) :
		       0;
}

/* --- A join --------------------------------------------------------------- */

struct ncs_join *ncs_join_new(size_t parts_max, bool in_order)
{
	struct ncs_join *join = calloc(1, sizeof(*join));

	if (!join)
		return NULL;
	join->parts_max = parts_max ? parts_max : PARTS_MAX;
	join->in_order = in_order;
	join->until_ns = in_order ? 0 : UINT64_MAX;
	TAILQ_INIT(&join->incomplete);
	return join;
}

void ncs_join_free(struct ncs_join *join)
{
	struct pending *pending;

	if (!join)
		return;
	while ((pending = TAILQ_FIRST(&join->incomplete))) {
		TAILQ_REMOVE(&join->incomplete, pending, entry);
		pending_free(join, pending);
	}
	for (size_t i = 0; i < join->finished.count; i++)
		pending_free(join, join->finished.items[i]);
	pending_free(join, join->given);
	free_transfers(join);
	for (size_t i = 0; i < join->comm_count; i++) {
		for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++)
			free(join->comms[i]->last[k]);
		free(join->comms[i]->is_expected);
		free(join->comms[i]);
	}
	free(join->comms);
	ncs_hash_table_release(&join->collectives);
	ncs_heap_release(&join->finished);
	free(join);
}

int ncs_join_add(struct ncs_join *join, const struct ncs_part *part)
{
	bool is_transfer = part->flags & NCS_PART_P2P;
	struct join_comm *comm;

	if (part->rank < 0 || (uint32_t)part->rank >= RANKS_MAX ||
	    part->comm_id == 0 || part->function >= NCS_FUNCTION_COUNT ||
	    (!is_transfer && part->number == NCS_NO_SEQUENCE_NUMBER)) {
		join->count.unidentified++;
		return 0;
	}
	comm = comm_of(join, part->comm_id);
	if (!comm || expect(comm, part->rank) != 0)
		return -ENOMEM;
	return is_transfer ? add_transfer(join, comm, part) :
			     add_collective(join, comm, part);
}

static bool has_part(const struct pending *pending, int32_t rank)
{
	for (size_t i = 0; i < pending->joined.count; i++)
		if (pending->parts[i].rank == rank)
			return true;
	return false;
}

int ncs_join_forget(struct ncs_join *join, uint64_t comm_id, int32_t rank)
{
	struct join_comm *comm = comm_of(join, comm_id);
	struct pending *pending, *next;
	int error = 0;

	if (!comm)
		return -ENOMEM;
	if (!is_expected(comm, rank))
		return 0;
	comm->is_expected[rank] = false;
	comm->expected--;
	for (pending = TAILQ_FIRST(&join->incomplete); pending;
	     pending = next) {
		next = TAILQ_NEXT(pending, entry);
		if (pending->comm != comm || has_part(pending, rank))
			continue;
		pending->expected--;
		if (pending->joined.count >= pending->expected)
			error |= finish_collective(join, pending);
	}
	return error;
}

/* Returns true if all missing ranks have reported a much later operation. */
static bool is_hopeless(const struct pending *pending)
{
	const struct ncs_joined *joined = &pending->joined;
	const struct join_comm *comm = pending->comm;
	const struct last_number *last = comm->last[joined->function];
	size_t known = comm->last_capacity[joined->function], next = 0;

	for (size_t rank = 0; rank < comm->rank_capacity; rank++) {
		uint64_t number = rank < known ? last[rank].number : 0;

		if (next < joined->count &&
		    (size_t)joined->parts[next].rank == rank) {
			next++;
			continue;
		}
		if (comm->is_expected[rank] &&
		    number < joined->number + 1 + MUCH_LATER)
			return false;
	}
	return true;
}

/* Returns the incomplete collective whose first part ended first, or NULL. */
static struct pending *oldest(const struct ncs_join *join)
{
	struct pending *found = NULL, *pending;

	TAILQ_FOREACH (pending, &join->incomplete, entry)
		if (!found ||
		    pending->joined.first_end_ns < found->joined.first_end_ns)
			found = pending;
	return found;
}

/* Returns the number of parts that count against the limit, for which incomplete
 * operations are given up. Without an order, finished operations are given out at
 * once, so that theirs do not count. */
static size_t waiting_parts(const struct ncs_join *join)
{
	return join->in_order ? join->parts :
				join->parts - join->finished_parts;
}

void ncs_join_advance(struct ncs_join *join, uint64_t until_ns)
{
	bool is_end = until_ns == UINT64_MAX;
	struct pending *pending, *next;

	match_all(join, until_ns);
	for (pending = TAILQ_FIRST(&join->incomplete); pending;
	     pending = next) {
		next = TAILQ_NEXT(pending, entry);
		if (is_end || is_hopeless(pending) ||
		    until_ns > pending->joined.first_end_ns + LATE_NS)
			finish_collective(join, pending);
	}
	while (waiting_parts(join) > join->parts_max &&
	       (pending = oldest(join)))
		finish_collective(join, pending);
	if (!join->in_order)
		return;
	pending = oldest(join);
	if (pending && pending->joined.first_end_ns < until_ns)
		until_ns = pending->joined.first_end_ns;
	if (first_transfer_ns(join) < until_ns)
		until_ns = first_transfer_ns(join);
	if (until_ns > join->until_ns)
		join->until_ns = until_ns;
}

const struct ncs_joined *ncs_join_next(struct ncs_join *join)
{
	const struct pending *first;

	pending_free(join, join->given);
	join->given = NULL;
	first = join->finished.count > 0 ? join->finished.items[0] : NULL;
	/* The promise is about ends, which turns may be before. */
	if (!first || (first->joined.turn_ns + NCS_TAIL_NS > join->until_ns &&
		       join->parts <= join->parts_max))
		return NULL;
	join->given = ncs_heap_pop(&join->finished, is_before);
	return &join->given->joined;
}

const struct ncs_join_count *ncs_join_count(const struct ncs_join *join)
{
	return &join->count;
}
