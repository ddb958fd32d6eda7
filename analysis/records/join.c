/* SPDX-License-Identifier: MIT */
/* Joining parts; see join.h. Must not trust parts: ranks, numbers and times may
 * be any value. */
#include "analysis/records/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/hash_table.h"
#include "analysis/base/heap.h"
#include "shm/array.h"
#include "shm/hash.h"

#define PARTS_MAX (UINT32_C(1) << 20)

/* Ranks from this number on are taken for damaged data. */
#define RANKS_MAX (UINT32_C(1) << 20)

/* A collective is given up once every missing rank has reported one whose
 * number is larger by this much. Records of two lanes may be out of order, but
 * not by so many operations. */
#define MUCH_LATER 64u

/* A collective is also given up this long after its first part ended. */
#define LATE_NS UINT64_C(10000000000)

/* A transfer without its other end is given up once this many more transfers
 * wait on its connection. */
#define WAITING_MAX 1024u

/* A transfer's other end is lost once that end has reported one whose number is
 * larger by this much: those of a connection end nearly in order. */
#define OVERTAKEN 16u

/* Where two transfers of the same number cannot belong together, the two ends
 * have counted differently: so many more are distrusted. */
#define DISTRUSTED 256u

/* The last proxy operation, by which LAST_END goes if nothing better is known,
 * ends at most this long after the kernel. */
#define TAIL_NS UINT64_C(500000)

/* The next operation may begin this much before the end of the one before it
 * even by one clock: the two are measured apart from each other. */
#define NEAR_NS UINT64_C(20000)

/* An operation that is incomplete, or that is finished but not given out
 * yet. */
struct pending {
	struct ncs_joined joined;
	struct join_comm *comm;
	size_t expected; /* number of parts */
	struct ncs_part *parts;
	struct ncs_part_times *part_times; /* once it is finished */
	struct pending *previous, *next;   /* among incomplete collectives */
	struct ncs_hash_link link;         /* in ncs_join.collectives */
	uint64_t order;                    /* of completion */
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
	size_t parts;      /* number of parts that are kept */
	uint64_t until_ns; /* operations up to this time may be given out */
	struct join_comm **comms;
	size_t comm_count, comm_capacity;
	struct ncs_hash_table collectives; /* incomplete ones */
	struct pending incomplete;         /* head of their list */
	struct transfer_connection **connections;
	size_t connection_count, connection_capacity;
	struct ncs_hash_table connections_by_key;
	struct ncs_heap finished; /* of struct pending, see is_before() */
	uint64_t order;
	struct pending *given; /* by the latest ncs_join_next() */
	struct ncs_join_count count;
};

struct ncs_join *ncs_join_new(size_t parts_max)
{
	struct ncs_join *join = calloc(1, sizeof(*join));

	if (!join)
		return NULL;
	join->parts_max = parts_max ? parts_max : PARTS_MAX;
	join->in_order = true;
	join->incomplete.next = join->incomplete.previous = &join->incomplete;
	return join;
}

struct ncs_join *ncs_join_new_unordered(size_t parts_max)
{
	struct ncs_join *join = ncs_join_new(parts_max);

	if (join) {
		join->in_order = false;
		join->until_ns = UINT64_MAX;
	}
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
	for (size_t i = 0; i < join->finished.count; i++)
		pending_free(join, join->finished.items[i]);
	pending_free(join, join->given);
	for (size_t i = 0; i < join->connection_count; i++) {
		free(join->connections[i]->ends[0].parts);
		free(join->connections[i]->ends[1].parts);
		free(join->connections[i]);
	}
	for (size_t i = 0; i < join->comm_count; i++) {
		for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++)
			free(join->comms[i]->last[k]);
		free(join->comms[i]->is_expected);
		free(join->comms[i]);
	}
	free(join->comms);
	free(join->connections);
	ncs_hash_table_release(&join->collectives);
	ncs_hash_table_release(&join->connections_by_key);
	ncs_heap_release(&join->finished);
	free(join);
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

static bool is_expected(const struct join_comm *comm, int32_t rank)
{
	return rank >= 0 && (size_t)rank < comm->rank_capacity &&
	       comm->is_expected[rank];
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

/* --- Finished operations, by their turns ---------------------------------- */

static bool is_before(const void *left, const void *right)
{
	const struct pending *a = left, *b = right;

	if (a->joined.turn_ns != b->joined.turn_ns)
		return a->joined.turn_ns < b->joined.turn_ns;
	return a->order < b->order;
}

/* Makes room for one more finished operation. Returns 0 or -ENOMEM. */
static int reserve_finished(struct ncs_join *join)
{
	return ncs_array_reserve(&join->finished.items,
				 &join->finished.capacity,
				 join->finished.count + 1,
				 sizeof(*join->finished.items));
}

/* Returns whether a moment is known of all parts. */
static bool all_know(const struct ncs_joined *joined, enum ncs_moment moment)
{
	for (size_t i = 0; i < joined->count; i++)
		if (joined->parts[i].at_ns[moment] == 0)
			return false;
	return true;
}

static void find_arrival(struct ncs_joined *joined)
{
	static const enum ncs_moment moments[] = { NCS_MOMENT_STREAM,
						   NCS_MOMENT_DATA,
						   NCS_MOMENT_KERNEL,
						   NCS_MOMENT_PROXY };

	joined->arrival = NCS_MOMENT_OPERATION;
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		/* If not all ranks wait for all, a rank may send the data of
		 * others: then DATA does not show its own arrival. */
		if (moments[i] == NCS_MOMENT_DATA &&
		    joined->wait_rule != NCS_WAIT_FOR_ALL)
			continue;
		if (all_know(joined, moments[i])) {
			joined->arrival = moments[i];
			return;
		}
	}
}

/* Returns the part that arrived last of those that others wait for; NULL if
 * none waits for another. */
static const struct ncs_part *last_awaited(const struct ncs_joined *joined)
{
	const struct ncs_part *last = NULL;

	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_part *part = &joined->parts[i];

		if (ncs_is_awaited(joined->wait_rule,
				   ncs_joined_is_root(joined, part)) &&
		    (!last || ncs_joined_arrival_ns(joined, part) >
				      ncs_joined_arrival_ns(joined, last)))
			last = part;
	}
	return last;
}

/* Returns whether a moment may be the end of all parts that wait for another
 * one: it is not before the last arrival. */
static bool may_be_end(const struct ncs_joined *joined,
		       const struct ncs_part *last, enum ncs_moment moment)
{
	uint64_t last_ns = last ? ncs_joined_arrival_ns(joined, last) : 0;

	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_part *part = &joined->parts[i];
		uint64_t error_ns;

		if (!last || part == last ||
		    !ncs_is_waiting(joined->wait_rule,
				    ncs_joined_is_root(joined, part)))
			continue;
		error_ns =
			ncs_parts_error_ns(part, moment, last, joined->arrival);
		if (part->at_ns[moment] + error_ns < last_ns)
			return false;
	}
	return true;
}

/* Finds the moment that counts as the end. KERNEL_END of a rank may come long
 * before its kernel ends: with the TREE algorithm, NCCL's channels stop one by
 * one. */
static void find_end(struct ncs_joined *joined)
{
	static const enum ncs_moment moments[] = { NCS_MOMENT_STREAM_END,
						   NCS_MOMENT_KERNEL_END,
						   NCS_MOMENT_LAST_END };
	const struct ncs_part *last = last_awaited(joined);

	joined->end = NCS_MOMENT_LAST_END;
	joined->not_before_ns = last ? ncs_joined_arrival_ns(joined, last) : 0;
	joined->end_is_trusted = true;
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		if (!all_know(joined, moments[i]) ||
		    !may_be_end(joined, last, moments[i]))
			continue;
		joined->end = moments[i];
		return;
	}
	joined->end_is_trusted = false;
}

uint64_t ncs_joined_end_ns(const struct ncs_joined *joined,
			   const struct ncs_part *part)
{
	uint64_t end_ns = part->at_ns[joined->end];

	if (end_ns < joined->not_before_ns &&
	    ncs_is_waiting(joined->wait_rule, ncs_joined_is_root(joined, part)))
		return joined->not_before_ns;
	return end_ns;
}

static uint64_t first_end_ns(const struct ncs_joined *joined)
{
	uint64_t first_ns = UINT64_MAX;

	for (size_t i = 0; i < joined->count; i++) {
		uint64_t end_ns = ncs_joined_end_ns(joined, &joined->parts[i]);

		if (end_ns < first_ns)
			first_ns = end_ns;
	}
	return first_ns;
}

double ncs_joined_transfer_ns(const struct ncs_joined *joined)
{
	const struct ncs_part *last = last_awaited(joined);
	uint64_t end_ns = 0;

	for (size_t i = 0; i < joined->count; i++) {
		uint64_t part_ns = ncs_joined_end_ns(joined, &joined->parts[i]);

		if (part_ns > end_ns)
			end_ns = part_ns;
	}
	return (double)end_ns -
	       (last ? (double)ncs_joined_arrival_ns(joined, last) : 0);
}

/* A sender that ended before the receiver began did not wait for it. */
static enum ncs_wait_rule rule_of_transfer(const struct ncs_joined *joined)
{
	const struct ncs_part *send = &joined->parts[0];
	const struct ncs_part *receive = &joined->parts[1];

	if (joined->count < 2)
		return NCS_WAIT_FOR_NONE;
	return send->at_ns[NCS_MOMENT_LAST_END] <
			       receive->at_ns[NCS_MOMENT_OPERATION] ?
		       NCS_WAIT_FOR_ROOT :
		       NCS_WAIT_FOR_ALL;
}

/* Returns whether the sender of a transfer had surely ended before its receiver
 * arrived: what is small or goes over the network is buffered. */
static bool has_not_waited(const struct ncs_joined *joined)
{
	const struct ncs_part *send = &joined->parts[0];
	enum ncs_moment end = send->at_ns[NCS_MOMENT_STREAM_END] != 0 ?
				      NCS_MOMENT_STREAM_END :
				      NCS_MOMENT_LAST_END;

	return joined->count == 2 && joined->arrival != NCS_MOMENT_OPERATION &&
	       send->at_ns[end] + ncs_parts_error_ns(send, end,
						     &joined->parts[1],
						     joined->arrival) <
		       ncs_joined_arrival_ns(joined, &joined->parts[1]);
}

/* Returns the earliest time at which a part can have ended. */
static uint64_t least_end_ns(const struct ncs_joined *joined,
			     const struct ncs_part *part, uint64_t end_ns)
{
	uint64_t early_ns = joined->end == NCS_MOMENT_LAST_END ?
				    TAIL_NS :
				    ncs_part_error_ns(part, joined->end) +
					    NEAR_NS;
	uint64_t least_ns = ncs_joined_arrival_ns(joined, part);

	if (least_ns < joined->not_before_ns &&
	    ncs_is_waiting(joined->wait_rule, ncs_joined_is_root(joined, part)))
		least_ns = joined->not_before_ns;
	if (end_ns - least_ns > early_ns)
		least_ns = end_ns - early_ns;
	return least_ns < end_ns ? least_ns : end_ns;
}

uint64_t ncs_joined_turn_ns(const struct ncs_joined *joined,
			    const struct ncs_part *part)
{
	uint64_t end_ns = ncs_joined_end_ns(joined, part);

	return joined->end == NCS_MOMENT_LAST_END ?
		       least_end_ns(joined, part, end_ns) :
		       end_ns;
}

static uint64_t first_turn_ns(const struct ncs_joined *joined)
{
	uint64_t first_ns = UINT64_MAX;

	for (size_t i = 0; i < joined->count; i++) {
		uint64_t turn_ns =
			ncs_joined_turn_ns(joined, &joined->parts[i]);

		if (turn_ns < first_ns)
			first_ns = turn_ns;
	}
	return first_ns;
}

void ncs_part_times_make(struct ncs_part_times *times,
			 const struct ncs_joined *joined,
			 const struct ncs_part *part)
{
	const struct ncs_part_channel *slowest = &part->slowest;
	const uint64_t *wait_ns =
		&slowest->wait_ns[slowest->send ? NCS_CHANNEL_SEND_GPU_WAIT :
						  NCS_CHANNEL_RECV_WAIT];

	times->begin_ns = part->at_ns[NCS_MOMENT_OPERATION];
	times->call_ns = part->at_ns[NCS_MOMENT_CALL] != 0 ?
				 part->at_ns[NCS_MOMENT_CALL] :
				 times->begin_ns;
	times->arrival_ns = ncs_joined_arrival_ns(joined, part);
	times->end_ns = ncs_joined_end_ns(joined, part);
	times->least_end_ns = least_end_ns(joined, part, times->end_ns);
	times->owner = (uint32_t)part->owner;
	times->last_channel.is_known = slowest->steps > 0;
	times->last_channel.send = slowest->send;
	times->last_channel.channel = slowest->channel;
	times->last_channel.peer = slowest->peer;
	for (unsigned i = 0; i < 3; i++)
		times->last_channel.wait_ns[i] = (float)(int64_t)wait_ns[i];
}

/* Computes the times of an operation's parts. If there is no memory, readers of
 * the operation compute the times themselves. */
static void make_part_times(struct pending *pending)
{
	struct ncs_joined *joined = &pending->joined;

	pending->part_times =
		malloc(joined->count * sizeof(*pending->part_times));
	for (size_t i = 0; pending->part_times && i < joined->count; i++)
		ncs_part_times_make(&pending->part_times[i], joined,
				    &joined->parts[i]);
	joined->part_times = pending->part_times;
}

/* Moves an operation to the finished ones, where there must be room. */
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
	if (joined->function == NCS_FUNCTION_SEND_RECV &&
	    has_not_waited(joined))
		joined->wait_rule = NCS_WAIT_FOR_ROOT;
	find_end(joined);
	joined->first_end_ns = first_end_ns(joined);
	joined->turn_ns = first_turn_ns(joined);
	make_part_times(pending);
	if (joined->is_complete)
		join->count.complete++;
	else
		join->count.incomplete++;
	pending->order = join->order++;
	(void)ncs_heap_push(&join->finished, pending, is_before);
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
	struct ncs_hash_link *link =
		ncs_hash_table_first(&join->collectives, hash);

	for (; link; link = ncs_hash_table_next(link)) {
		struct pending *pending =
			NCS_HASH_ITEM(link, struct pending, link);

		if (is_same(&pending->joined, joined))
			return pending;
	}
	return NULL;
}

static void take_out(struct ncs_join *join, struct pending *pending)
{
	ncs_hash_table_remove(&join->collectives, &pending->link);
	pending->previous->next = pending->next;
	pending->next->previous = pending->previous;
}

/* Creates an incomplete collective with room for `parts` parts. Returns NULL if
 * there is no memory for it or for finishing it. */
static struct pending *pending_new(struct ncs_join *join,
				   struct join_comm *comm,
				   const struct ncs_joined *joined,
				   size_t parts)
{
	struct pending *pending;

	if (reserve_finished(join) != 0)
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

/* Finishes a collective that is incomplete. */
static void give_up(struct ncs_join *join, struct pending *pending)
{
	take_out(join, pending);
	/* Other operations may have used the room that was reserved for this
	 * one. If there is no memory, the operation is lost. */
	if (reserve_finished(join) == 0) {
		finish(join, pending);
		return;
	}
	join->count.incomplete++;
	pending_free(join, pending);
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

	if (note_number(comm, part, &joined.repeat) != 0 ||
	    reserve_finished(join) != 0)
		return -ENOMEM;
	hash = hash_of(&joined);
	pending = find(join, &joined, hash);
	if (!pending) {
		pending = pending_new(join, comm, &joined, comm->expected);
		if (!pending)
			return -ENOMEM;
		if (ncs_hash_table_insert(&join->collectives, &pending->link,
					  hash) != 0) {
			pending_free(join, pending);
			return -ENOMEM;
		}
		pending->previous = join->incomplete.previous;
		pending->next = &join->incomplete;
		pending->previous->next = pending->next->previous = pending;
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

/* Returns a connection, adding it if it is new. Returns NULL if there is no
 * memory. */
static struct transfer_connection *connection_of(struct ncs_join *join,
						 struct join_comm *comm,
						 int32_t source,
						 int32_t destination,
						 bool is_numbered)
{
	uint64_t hash = ncs_hash_add(ncs_hash(comm->id + is_numbered),
				     (uint64_t)(uint32_t)source << 32 |
					     (uint32_t)destination);
	struct ncs_hash_link *link =
		ncs_hash_table_first(&join->connections_by_key, hash);
	struct transfer_connection *connection;

	for (; link; link = ncs_hash_table_next(link)) {
		connection =
			NCS_HASH_ITEM(link, struct transfer_connection, link);
		if (connection->comm == comm && connection->source == source &&
		    connection->destination == destination &&
		    connection->is_numbered == is_numbered)
			return connection;
	}
	if (ncs_array_reserve(&join->connections, &join->connection_capacity,
			      join->connection_count + 1,
			      sizeof(*join->connections)) != 0)
		return NULL;
	connection = calloc(1, sizeof(*connection));
	if (!connection)
		return NULL;
	if (ncs_hash_table_insert(&join->connections_by_key, &connection->link,
				  hash) != 0) {
		free(connection);
		return NULL;
	}
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

/* Finishes the oldest send, the oldest receive, or both as one operation.
 * Returns 0 or -ENOMEM. */
static int give_transfer(struct ncs_join *join,
			 struct transfer_connection *connection, bool send,
			 bool receive)
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
	finish(join, pending);
	return 0;
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
			     bool *give_send, bool *give_receive)
{
	const struct transfer_queue *ends = connection->ends;
	const struct ncs_part *send = head(&ends[0]), *receive = head(&ends[1]);
	const struct transfer_queue *later = &ends[send->number <
						   receive->number];
	uint64_t first = send->number < receive->number ? send->number :
							  receive->number;

	if (send->number != receive->number) {
		/* The other end of the first one may still come. */
		bool is_lost = later->parts[later->first + later->count - 1]
					       .number >=
			       first + OVERTAKEN;

		*give_send = is_lost && send->number == first;
		*give_receive = is_lost && receive->number == first;
		return true;
	}
	if (!may_be_pair(send, receive)) {
		connection->distrusted_until = first + DISTRUSTED;
		join->count.distrusted++;
	}
	*give_send = *give_receive = true;
	return first >= connection->distrusted_until;
}

/* Decides the same for transfers without numbers. Both ends are FIFOs: their
 * oldest transfers belong together. If they cannot, one end lacks a transfer,
 * and the transfer that ended first is given out alone. */
static void choose_by_order(const struct transfer_connection *connection,
			    bool *give_send, bool *give_receive)
{
	const struct ncs_part *send = head(&connection->ends[0]);
	const struct ncs_part *receive = head(&connection->ends[1]);
	bool is_pair = send->bytes == receive->bytes &&
		       receive->at_ns[NCS_MOMENT_LAST_END] >=
			       send->at_ns[NCS_MOMENT_OPERATION];
	bool send_first = send->at_ns[NCS_MOMENT_LAST_END] <
			  receive->at_ns[NCS_MOMENT_LAST_END];

	*give_send = is_pair || send_first;
	*give_receive = is_pair || !send_first;
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
static int match(struct ncs_join *join, struct transfer_connection *connection,
		 uint64_t until_ns)
{
	const struct ncs_part *send, *receive;
	bool is_end = until_ns == UINT64_MAX;
	int error = 0;

	for (;;) {
		bool give_send = true, give_receive = true;

		send = head(&connection->ends[0]);
		receive = head(&connection->ends[1]);
		if (error || (!send && !receive))
			return error;
		if (send && receive) {
			if (!connection->is_numbered) {
				choose_by_order(connection, &give_send,
						&give_receive);
			} else if (!choose_by_number(join, connection,
						     &give_send,
						     &give_receive)) {
				error = give_transfer(join, connection, true,
						      false);
				give_send = false;
			}
			if (!give_send && !give_receive) {
				if (!is_end && !is_full(connection) &&
				    !has_expired(connection, until_ns))
					return 0;
				give_send = send->number < receive->number;
				give_receive = !give_send;
			}
		} else {
			int32_t other = send ? connection->destination :
					       connection->source;

			if (!is_end && !is_full(connection) &&
			    !has_expired(connection, until_ns) &&
			    is_expected(connection->comm, other))
				return 0;
			give_send = send;
			give_receive = receive;
		}
		error |= give_transfer(join, connection, give_send,
				       give_receive);
	}
}

/* --- Public functions ----------------------------------------------------- */

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
	if (!comm || ncs_join_expect(join, part->comm_id, part->rank) != 0)
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

/* Finishes an operation that expects no more parts. Returns 0 or -ENOMEM. */
static int finish_if_complete(struct ncs_join *join, struct pending *pending)
{
	if (pending->joined.count < pending->expected)
		return 0;
	take_out(join, pending);
	if (reserve_finished(join) != 0) {
		pending_free(join, pending);
		return -ENOMEM;
	}
	finish(join, pending);
	return 0;
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
	for (pending = join->incomplete.next; pending != &join->incomplete;
	     pending = next) {
		next = pending->next;
		if (pending->comm != comm || has_part(pending, rank))
			continue;
		pending->expected--;
		error |= finish_if_complete(join, pending);
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

	for (size_t i = 0; i < join->connection_count; i++)
		match(join, join->connections[i], until_ns);
	for (pending = join->incomplete.next; pending != &join->incomplete;
	     pending = next) {
		next = pending->next;
		if (is_end || is_hopeless(pending) ||
		    until_ns > pending->joined.first_end_ns + LATE_NS)
			give_up(join, pending);
	}
	while (join->parts > join->parts_max && (pending = oldest(join)))
		give_up(join, pending);
	if (!join->in_order)
		return;
	pending = oldest(join);
	if (pending && pending->joined.first_end_ns < until_ns)
		until_ns = pending->joined.first_end_ns;
	for (size_t i = 0; i < join->connection_count; i++)
		for (unsigned k = 0; k < 2; k++) {
			const struct ncs_part *part =
				head(&join->connections[i]->ends[k]);

			if (part && ncs_part_first_end_ns(part) < until_ns)
				until_ns = ncs_part_first_end_ns(part);
		}
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
	if (!first || (first->joined.turn_ns + TAIL_NS > join->until_ns &&
		       join->parts <= join->parts_max))
		return NULL;
	join->given = ncs_heap_pop(&join->finished, is_before);
	return &join->given->joined;
}

const struct ncs_join_count *ncs_join_count(const struct ncs_join *join)
{
	return &join->count;
}
