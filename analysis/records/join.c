/* SPDX-License-Identifier: MIT */
/* Joining parts; see join.h. What is told is not trusted: ranks, numbers and
 * times may be any. */
#include "analysis/records/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX (UINT32_C(1) << 20)

/* Ranks of a communicator that are believed. */
#define RANKS_MAX (UINT32_C(1) << 20)

/* An operation is given up once those that are missing told of one whose number
 * is so much larger: records of two lanes may be out of order, but not by so
 * many. */
#define MUCH_LATER 64u

/* … or did not tell of it so long after the first had ended. */
#define LATE_NS UINT64_C(10000000000)

/* A transfer whose other end does not come is given up once so many more wait on
 * its connection. */
#define WAITING_MAX 1024u

struct pending {
	struct ncs_joined joined; /* first: is cast to this struct */
	struct comm *comm;
	size_t expected; /* parts */
	struct ncs_part *parts;
	struct ncs_part_times *part_times; /* once it is finished */
	struct pending *previous, *next;   /* of those that are incomplete */
	struct pending *chain;             /* of the same hash */
	uint64_t order;                    /* in which they were completed */
};

/* What a rank told last, of one function. */
struct told {
	uint64_t number; /* plus 1; 0: nothing yet */
	uint32_t repeat;
};

struct comm {
	uint64_t id;
	size_t rank_count; /* room below for so many ranks */
	size_t expected;   /* of them */
	bool *is_expected; /* by rank */
	struct told *told[NCS_FUNCTION_COUNT]; /* by rank */
};

/* One end's transfers that wait for the other's. */
struct queue {
	struct ncs_part *parts; /* in the order in which they began */
	size_t first, count, capacity;
};

/* From one rank to another, which may be itself. */
struct connection {
	struct comm *comm;
	int32_t source, destination;
	uint64_t number;
	struct queue ends[2]; /* sends, receives */
	struct connection *chain;
};

struct ncs_join {
	size_t parts_max;
	size_t parts; /* that are kept */
	uint64_t until_ns;
	struct comm **comms;
	size_t comm_count;
	struct pending **hashed;
	size_t hash_count, pending_count;
	struct pending incomplete;       /* both ends of the list */
	struct connection **connections; /* by hash */
	size_t connection_hash_count, connection_count;
	struct pending **heap; /* completed: the one that ended first is on top */
	size_t heap_count, heap_capacity;
	uint64_t order;
	struct pending *given;
	struct ncs_join_count count;
};

struct ncs_join *ncs_join_new(size_t parts_max)
{
	struct ncs_join *join = calloc(1, sizeof(*join));

	if (!join)
		return NULL;
	join->parts_max = parts_max ? parts_max : PARTS_MAX;
	join->incomplete.next = join->incomplete.previous = &join->incomplete;
	return join;
}

static void pending_free(struct ncs_join *join, struct pending *pending)
{
	if (!pending)
		return;
	join->parts -= pending->joined.count;
	free(pending->parts);
	free(pending->part_times);
	free(pending);
}

void ncs_join_free(struct ncs_join *join)
{
	if (!join)
		return;
	while (join->incomplete.next != &join->incomplete) {
		struct pending *pending = join->incomplete.next;

		join->incomplete.next = pending->next;
		pending_free(join, pending);
	}
	for (size_t i = 0; i < join->heap_count; i++)
		pending_free(join, join->heap[i]);
	pending_free(join, join->given);
	for (size_t i = 0; i < join->connection_hash_count; i++) {
		struct connection *connection = join->connections[i];

		while (connection) {
			struct connection *chain = connection->chain;

			free(connection->ends[0].parts);
			free(connection->ends[1].parts);
			free(connection);
			connection = chain;
		}
	}
	for (size_t i = 0; i < join->comm_count; i++) {
		for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++)
			free(join->comms[i]->told[k]);
		free(join->comms[i]->is_expected);
		free(join->comms[i]);
	}
	free(join->comms);
	free(join->hashed);
	free(join->connections);
	free(join->heap);
	free(join);
}

/* --- Communicators -------------------------------------------------------- */

/* NULL: no memory. */
static struct comm *comm_of(struct ncs_join *join, uint64_t id)
{
	struct comm **comms, *comm;

	for (size_t i = 0; i < join->comm_count; i++)
		if (join->comms[i]->id == id)
			return join->comms[i];
	comms = realloc(join->comms,
			(join->comm_count + 1) * sizeof(struct comm *));
	if (!comms)
		return NULL;
	join->comms = comms;
	comm = calloc(1, sizeof(*comm));
	if (!comm)
		return NULL;
	comm->id = id;
	comms[join->comm_count++] = comm;
	return comm;
}

/* Makes room for a rank in all that is by rank. */
static int make_room(struct comm *comm, size_t rank)
{
	size_t before = comm->rank_count, after = before ? before : 8;
	bool *is_expected;

	if (rank < before)
		return 0;
	while (after <= rank)
		after *= 2;
	is_expected = realloc(comm->is_expected, after);
	if (!is_expected)
		return -ENOMEM;
	memset(is_expected + before, 0, after - before);
	comm->is_expected = is_expected;
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		struct told *told = comm->told[i];

		if (!told)
			continue;
		told = realloc(told, after * sizeof(*told));
		if (!told)
			return -ENOMEM;
		memset(told + before, 0, (after - before) * sizeof(*told));
		comm->told[i] = told;
	}
	comm->rank_count = after;
	return 0;
}

int ncs_join_expect(struct ncs_join *join, uint64_t comm_id, int32_t rank)
{
	struct comm *comm = comm_of(join, comm_id);

	if (!comm)
		return -ENOMEM;
	if (rank < 0 || (uint32_t)rank >= RANKS_MAX)
		return 0;
	if (make_room(comm, (size_t)rank) != 0)
		return -ENOMEM;
	comm->expected += !comm->is_expected[rank];
	comm->is_expected[rank] = true;
	return 0;
}

/* Which time it is that this rank tells this number. -ENOMEM. */
static int note_told(struct comm *comm, const struct ncs_part *part,
		     uint32_t *repeat)
{
	struct told *told = comm->told[part->function];

	if (!told)
		comm->told[part->function] = told =
			calloc(comm->rank_count, sizeof(*told));
	if (!told)
		return -ENOMEM;
	told += part->rank;
	if (told->number == part->number + 1)
		told->repeat++;
	else if (part->number + 1 > told->number)
		*told = (struct told){ .number = part->number + 1 };
	else {
		*repeat = 0; /* out of order */
		return 0;
	}
	*repeat = told->repeat;
	return 0;
}

/* --- Those that are complete, by their first end --------------------------- */

static bool is_before(const struct pending *a, const struct pending *b)
{
	if (a->joined.first_end_ns != b->joined.first_end_ns)
		return a->joined.first_end_ns < b->joined.first_end_ns;
	return a->order < b->order;
}

static int heap_reserve(struct ncs_join *join)
{
	size_t capacity = join->heap_capacity ? 2 * join->heap_capacity : 64;
	struct pending **heap;

	if (join->heap_count < join->heap_capacity)
		return 0;
	heap = realloc(join->heap, capacity * sizeof(struct pending *));
	if (!heap)
		return -ENOMEM;
	join->heap = heap;
	join->heap_capacity = capacity;
	return 0;
}

static void heap_push(struct ncs_join *join, struct pending *pending)
{
	size_t place = join->heap_count++;

	pending->order = join->order++;
	while (place > 0) {
		size_t parent = (place - 1) / 2;

		if (!is_before(pending, join->heap[parent]))
			break;
		join->heap[place] = join->heap[parent];
		place = parent;
	}
	join->heap[place] = pending;
}

static struct pending *heap_pop(struct ncs_join *join)
{
	struct pending *top = join->heap[0];
	struct pending *last = join->heap[--join->heap_count];
	size_t place = 0;

	for (;;) {
		size_t child = 2 * place + 1;

		if (child >= join->heap_count)
			break;
		if (child + 1 < join->heap_count &&
		    is_before(join->heap[child + 1], join->heap[child]))
			child++;
		if (!is_before(join->heap[child], last))
			break;
		join->heap[place] = join->heap[child];
		place = child;
	}
	if (join->heap_count > 0)
		join->heap[place] = last;
	return top;
}

/* --- Finishing one -------------------------------------------------------- */

static void find_arrival(struct ncs_joined *joined)
{
	static const enum ncs_part_stage moments[] = { NCS_PART_DATA,
						       NCS_PART_KERNEL,
						       NCS_PART_PROXY };

	joined->arrival = NCS_PART_BEGIN;
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		size_t known = 0;

		/* Where only some wait for the others, the data that a rank
		 * sends may be others'. */
		if (moments[i] == NCS_PART_DATA &&
		    joined->wait_rule != NCS_WAIT_FOR_ALL)
			continue;
		while (known < joined->count &&
		       joined->parts[known].at_ns[moments[i]] != 0)
			known++;
		if (known == joined->count) {
			joined->arrival = moments[i];
			return;
		}
	}
}

double ncs_joined_transfer_ns(const struct ncs_joined *joined)
{
	uint64_t ready_ns = 0, end_ns = 0;

	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_part *part = &joined->parts[i];
		bool is_root = ncs_joined_is_root(joined, part);

		if (ncs_is_awaited(joined->wait_rule, is_root) &&
		    part->at_ns[joined->arrival] > ready_ns)
			ready_ns = part->at_ns[joined->arrival];
		if (part->at_ns[NCS_PART_END] > end_ns)
			end_ns = part->at_ns[NCS_PART_END];
	}
	return (double)end_ns - (double)ready_ns;
}

/* A sender that was done before the receiver came did not wait for it. */
static enum ncs_wait_rule rule_of_transfer(const struct ncs_joined *joined)
{
	const struct ncs_part *send = &joined->parts[0];
	const struct ncs_part *receive = &joined->parts[1];

	if (joined->count < 2)
		return NCS_WAIT_FOR_NONE;
	return send->at_ns[NCS_PART_END] < receive->at_ns[NCS_PART_BEGIN] ?
		       NCS_WAIT_FOR_ROOT :
		       NCS_WAIT_FOR_ALL;
}

void ncs_part_times_make(struct ncs_part_times *times,
			 const struct ncs_part *part,
			 enum ncs_part_stage arrival)
{
	const struct ncs_part_channel *slowest = &part->slowest;
	const uint64_t *wait_ns =
		&slowest->wait_ns[slowest->send ? NCS_CHANNEL_SEND_GPU_WAIT :
						  NCS_CHANNEL_RECV_WAIT];

	times->begin_ns = part->at_ns[NCS_PART_BEGIN];
	times->call_ns = part->at_ns[NCS_PART_CALL] != 0 ?
				 part->at_ns[NCS_PART_CALL] :
				 times->begin_ns;
	times->arrival_ns = part->at_ns[arrival];
	times->end_ns = part->at_ns[NCS_PART_END];
	times->owner = (uint32_t)part->owner;
	times->last_channel.is_known = slowest->steps > 0;
	times->last_channel.send = slowest->send;
	times->last_channel.channel = slowest->channel;
	times->last_channel.peer = slowest->peer;
	for (unsigned i = 0; i < 3; i++)
		times->last_channel.wait_ns[i] = (float)(int64_t)wait_ns[i];
}

/* Without memory they are made by those who want them. */
static void make_part_times(struct pending *pending)
{
	struct ncs_joined *joined = &pending->joined;

	pending->part_times =
		malloc(joined->count * sizeof(*pending->part_times));
	for (size_t i = 0; pending->part_times && i < joined->count; i++)
		ncs_part_times_make(&pending->part_times[i], &joined->parts[i],
				    joined->arrival);
	joined->part_times = pending->part_times;
}

/* There is room for it in the heap. */
static void finish(struct ncs_join *join, struct pending *pending)
{
	struct ncs_joined *joined = &pending->joined;

	joined->is_complete = joined->count == pending->expected;
	joined->is_whole = joined->is_complete &&
			   joined->parts[0].nranks >= 0 &&
			   (joined->function == NCS_FUNCTION_SEND_RECV ||
			    joined->count == (size_t)joined->parts[0].nranks);
	joined->wait_rule = joined->function == NCS_FUNCTION_SEND_RECV ?
				    rule_of_transfer(joined) :
				    ncs_wait_rule_of(joined->function);
	find_arrival(joined);
	make_part_times(pending);
	if (joined->is_complete)
		join->count.complete++;
	else
		join->count.incomplete++;
	heap_push(join, pending);
}

/* --- Collectives ---------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static size_t hash_of(const struct ncs_joined *joined)
{
	return mix(joined->comm_id + joined->function +
		   UINT64_C(0x9e3779b97f4a7c15) *
			   (joined->number + ((uint64_t)joined->repeat << 40)));
}

static bool is_same(const struct ncs_joined *a, const struct ncs_joined *b)
{
	return a->comm_id == b->comm_id && a->function == b->function &&
	       a->number == b->number && a->repeat == b->repeat;
}

static struct pending **find(const struct ncs_join *join,
			     const struct ncs_joined *joined)
{
	struct pending **place =
		&join->hashed[hash_of(joined) & (join->hash_count - 1)];

	while (*place && !is_same(&(*place)->joined, joined))
		place = &(*place)->chain;
	return place;
}

static int rehash(struct ncs_join *join)
{
	size_t count = join->hash_count ? 2 * join->hash_count : 64;
	struct pending **hashed;

	if (join->pending_count < join->hash_count)
		return 0;
	hashed = calloc(count, sizeof(struct pending *));
	if (!hashed)
		return -ENOMEM;
	free(join->hashed);
	join->hashed = hashed;
	join->hash_count = count;
	for (struct pending *pending = join->incomplete.next;
	     pending != &join->incomplete; pending = pending->next) {
		struct pending **place = find(join, &pending->joined);

		pending->chain = NULL;
		*place = pending;
	}
	return 0;
}

static void take_out(struct ncs_join *join, struct pending *pending)
{
	struct pending **place = find(join, &pending->joined);

	*place = pending->chain;
	pending->previous->next = pending->next;
	pending->next->previous = pending->previous;
	join->pending_count--;
}

/* NULL: no memory. */
static struct pending *pending_new(struct ncs_join *join, struct comm *comm,
				   const struct ncs_joined *joined,
				   size_t parts)
{
	struct pending *pending;

	if (heap_reserve(join) != 0)
		return NULL;
	pending = calloc(1, sizeof(*pending));
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

/* Ranks come in any order; that the latest is the last is most likely. */
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
	if (part->at_ns[NCS_PART_END] < pending->joined.first_end_ns)
		pending->joined.first_end_ns = part->at_ns[NCS_PART_END];
	return true;
}

/* One of those that are incomplete. */
static void give_up(struct ncs_join *join, struct pending *pending)
{
	take_out(join, pending);
	/* There was room for each of them, but they may have taken that of
	 * others since: then this one is lost. */
	if (heap_reserve(join) == 0) {
		finish(join, pending);
		return;
	}
	join->count.incomplete++;
	pending_free(join, pending);
}

static int add_collective(struct ncs_join *join, struct comm *comm,
			  const struct ncs_part *part)
{
	struct ncs_joined joined = {
		.comm_id = comm->id,
		.number = part->number,
		.function = part->function,
	};
	struct pending *pending, **place;

	if (note_told(comm, part, &joined.repeat) != 0 || rehash(join) != 0 ||
	    heap_reserve(join) != 0)
		return -ENOMEM;
	place = find(join, &joined);
	pending = *place;
	if (!pending) {
		pending = pending_new(join, comm, &joined, comm->expected);
		if (!pending)
			return -ENOMEM;
		*place = pending;
		pending->previous = join->incomplete.previous;
		pending->next = &join->incomplete;
		pending->previous->next = pending->next->previous = pending;
		join->pending_count++;
	}
	if (!insert(pending, part)) {
		join->count.again++;
		return 0;
	}
	join->parts++;
	if (pending->joined.count == pending->expected) {
		take_out(join, pending);
		finish(join, pending);
	}
	return 0;
}

/* --- Transfers ------------------------------------------------------------ */

static struct connection *connection_of(struct ncs_join *join,
					struct comm *comm, int32_t source,
					int32_t destination)
{
	uint64_t key = mix(comm->id ^ mix((uint64_t)(uint32_t)source << 32 |
					  (uint32_t)destination));
	struct connection *connection;

	if (join->connection_count >= join->connection_hash_count) {
		size_t before = join->connection_hash_count;
		size_t count = before ? 2 * before : 64;
		struct connection **hashed =
			calloc(count, sizeof(struct connection *));

		if (!hashed)
			return NULL;
		for (size_t i = 0; i < before; i++) {
			while ((connection = join->connections[i])) {
				uint64_t ends =
					(uint64_t)(uint32_t)connection->source
						<< 32 |
					(uint32_t)connection->destination;
				struct connection **place =
					&hashed[mix(connection->comm->id ^
						    mix(ends)) &
						(count - 1)];

				join->connections[i] = connection->chain;
				connection->chain = *place;
				*place = connection;
			}
		}
		free(join->connections);
		join->connections = hashed;
		join->connection_hash_count = count;
	}
	key &= join->connection_hash_count - 1;
	for (connection = join->connections[key]; connection;
	     connection = connection->chain)
		if (connection->comm == comm && connection->source == source &&
		    connection->destination == destination)
			return connection;
	connection = calloc(1, sizeof(*connection));
	if (!connection)
		return NULL;
	connection->comm = comm;
	connection->source = source;
	connection->destination = destination;
	connection->chain = join->connections[key];
	join->connections[key] = connection;
	join->connection_count++;
	return connection;
}

static int queue_add(struct queue *queue, const struct ncs_part *part)
{
	size_t place;

	if (queue->first > 0 &&
	    queue->first + queue->count == queue->capacity) {
		memmove(queue->parts, queue->parts + queue->first,
			queue->count * sizeof(*part));
		queue->first = 0;
	}
	if (queue->count == queue->capacity) {
		size_t capacity = queue->capacity ? 2 * queue->capacity : 4;
		struct ncs_part *parts =
			realloc(queue->parts, capacity * sizeof(*part));

		if (!parts)
			return -ENOMEM;
		queue->parts = parts;
		queue->capacity = capacity;
	}
	place = queue->first + queue->count++;
	/* Numbers of operations may wrap around. */
	while (place > queue->first &&
	       (int32_t)(queue->parts[place - 1].operation - part->operation) >
		       0) {
		queue->parts[place] = queue->parts[place - 1];
		place--;
	}
	queue->parts[place] = *part;
	return 0;
}

static int add_transfer(struct ncs_join *join, struct comm *comm,
			const struct ncs_part *part)
{
	bool is_send = part->function == NCS_FUNCTION_SEND;
	struct connection *connection;

	if (part->peer < 0 ||
	    (!is_send && part->function != NCS_FUNCTION_RECV)) {
		join->count.unidentified++;
		return 0;
	}
	connection = connection_of(join, comm,
				   is_send ? part->rank : part->peer,
				   is_send ? part->peer : part->rank);
	if (!connection || queue_add(&connection->ends[!is_send], part) != 0)
		return -ENOMEM;
	join->parts++;
	return 0;
}

static const struct ncs_part *head(const struct queue *queue)
{
	return queue->count > 0 ? &queue->parts[queue->first] : NULL;
}

/* Gives out the oldest send, the oldest receive, or both as one. */
static int give_transfer(struct ncs_join *join, struct connection *connection,
			 bool send, bool receive)
{
	const bool gives[2] = { send, receive };
	struct ncs_joined joined = {
		.comm_id = connection->comm->id,
		.number = connection->number,
		.function = NCS_FUNCTION_SEND_RECV,
	};
	struct pending *pending =
		pending_new(join, connection->comm, &joined, 2);

	if (!pending)
		return -ENOMEM;
	connection->number++;
	for (unsigned i = 0; i < 2; i++) {
		struct queue *queue = &connection->ends[i];
		const struct ncs_part *part = head(queue);

		if (!gives[i])
			continue;
		pending->parts[pending->joined.count++] = *part;
		if (part->at_ns[NCS_PART_END] < pending->joined.first_end_ns)
			pending->joined.first_end_ns =
				part->at_ns[NCS_PART_END];
		queue->first++;
		queue->count--;
	}
	finish(join, pending);
	return 0;
}

static bool is_expected(const struct comm *comm, int32_t rank)
{
	return rank >= 0 && (size_t)rank < comm->rank_count &&
	       comm->is_expected[rank];
}

/* Joins what can be joined of a connection: both ends are FIFOs. Where one lacks
 * a transfer, their sizes differ, or a receive ended before its send began. */
static int match(struct ncs_join *join, struct connection *connection,
		 bool is_end)
{
	const struct ncs_part *send, *receive;
	int error = 0;

	for (;;) {
		bool give_send = true, give_receive = true;

		send = head(&connection->ends[0]);
		receive = head(&connection->ends[1]);
		if (error || (!send && !receive))
			return error;
		if (send && receive) {
			bool is_pair = send->bytes == receive->bytes &&
				       receive->at_ns[NCS_PART_END] >=
					       send->at_ns[NCS_PART_BEGIN];
			bool send_first = send->at_ns[NCS_PART_END] <
					  receive->at_ns[NCS_PART_END];

			give_send = is_pair || send_first;
			give_receive = is_pair || !send_first;
		} else {
			size_t count = connection->ends[0].count +
				       connection->ends[1].count;
			int32_t other = send ? connection->destination :
					       connection->source;

			if (!is_end && count < WAITING_MAX &&
			    is_expected(connection->comm, other))
				return 0;
			give_send = send;
			give_receive = receive;
		}
		error = give_transfer(join, connection, give_send,
				      give_receive);
	}
}

/* --- From outside --------------------------------------------------------- */

int ncs_join_add(struct ncs_join *join, const struct ncs_part *part)
{
	bool is_transfer = part->flags & NCS_PART_P2P;
	struct comm *comm;

	if (part->rank < 0 || (uint32_t)part->rank >= RANKS_MAX ||
	    part->comm_id == 0 || part->function >= NCS_FUNCTION_COUNT ||
	    (!is_transfer && part->number == NCS_NO_SEQUENCE_NUMBER)) {
		join->count.unidentified++;
		return 0;
	}
	comm = comm_of(join, part->comm_id);
	if (!comm || ncs_join_expect(join, part->comm_id, part->rank) != 0)
		return -ENOMEM;
	return is_transfer ? add_transfer(join, comm, part) :
			     add_collective(join, comm, part);
}

/* Whether all that are missing have told of much later ones. */
static bool is_hopeless(const struct pending *pending)
{
	const struct ncs_joined *joined = &pending->joined;
	const struct told *told = pending->comm->told[joined->function];
	size_t next = 0;

	for (size_t rank = 0; rank < pending->comm->rank_count; rank++) {
		if (next < joined->count &&
		    (size_t)joined->parts[next].rank == rank) {
			next++;
			continue;
		}
		if (pending->comm->is_expected[rank] &&
		    told[rank].number < joined->number + 1 + MUCH_LATER)
			return false;
	}
	return true;
}

static struct pending *oldest(struct ncs_join *join)
{
	struct pending *found = NULL;

	for (struct pending *pending = join->incomplete.next;
	     pending != &join->incomplete; pending = pending->next)
		if (!found ||
		    pending->joined.first_end_ns < found->joined.first_end_ns)
			found = pending;
	return found;
}

void ncs_join_advance(struct ncs_join *join, uint64_t until_ns)
{
	bool is_end = until_ns == UINT64_MAX;
	struct pending *pending, *next;

	for (size_t i = 0; i < join->connection_hash_count; i++)
		for (struct connection *connection = join->connections[i];
		     connection; connection = connection->chain)
			match(join, connection, is_end);
	for (pending = join->incomplete.next; pending != &join->incomplete;
	     pending = next) {
		next = pending->next;
		if (is_end || is_hopeless(pending) ||
		    until_ns > pending->joined.first_end_ns + LATE_NS)
			give_up(join, pending);
	}
	while (join->parts > join->parts_max && (pending = oldest(join)))
		give_up(join, pending);
	pending = oldest(join);
	if (pending && pending->joined.first_end_ns < until_ns)
		until_ns = pending->joined.first_end_ns;
	for (size_t i = 0; i < join->connection_hash_count; i++)
		for (const struct connection *connection = join->connections[i];
		     connection; connection = connection->chain)
			for (unsigned k = 0; k < 2; k++) {
				const struct ncs_part *part =
					head(&connection->ends[k]);

				if (part &&
				    part->at_ns[NCS_PART_END] < until_ns)
					until_ns = part->at_ns[NCS_PART_END];
			}
	if (until_ns > join->until_ns)
		join->until_ns = until_ns;
}

const struct ncs_joined *ncs_join_next(struct ncs_join *join)
{
	pending_free(join, join->given);
	join->given = NULL;
	if (join->heap_count == 0 ||
	    (join->heap[0]->joined.first_end_ns > join->until_ns &&
	     join->parts <= join->parts_max))
		return NULL;
	join->given = heap_pop(join);
	return &join->given->joined;
}

const struct ncs_join_count *ncs_join_count(const struct ncs_join *join)
{
	return &join->count;
}
