/* SPDX-License-Identifier: MIT */
/* Joining sends with their receives; see join.h. Must not trust parts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/records/join_internal.h"
#include "shm/array.h"
#include "shm/hash.h"

/* A transfer without its other end is given up once this many more transfers
 * wait on its connection. */
#define WAITING_MAX 1024u

/* A transfer's other end is lost once that end has reported one whose number is
 * larger by this much: those of a connection end nearly in order. */
#define OVERTAKEN 16u

/* Where two transfers of the same number cannot belong together, the two ends
 * have counted differently: so many more are distrusted. */
#define DISTRUSTED 256u

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

int ncs_join_add_transfer(struct ncs_join *join, struct join_comm *comm,
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
		ncs_join_pending_new(join, connection->comm, &joined, 2);

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
	ncs_join_finish(join, pending);
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
			    ncs_join_is_expected(connection->comm, other))
				return 0;
			give_send = send;
			give_receive = receive;
		}
		error |= give_transfer(join, connection, give_send,
				       give_receive);
	}
}

void ncs_join_match(struct ncs_join *join, uint64_t until_ns)
{
	for (size_t i = 0; i < join->connection_count; i++)
		match(join, join->connections[i], until_ns);
}

uint64_t ncs_join_first_transfer_ns(const struct ncs_join *join)
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

void ncs_join_free_transfers(struct ncs_join *join)
{
	for (size_t i = 0; i < join->connection_count; i++) {
		free(join->connections[i]->ends[0].parts);
		free(join->connections[i]->ends[1].parts);
		free(join->connections[i]);
	}
	free(join->connections);
	ncs_hash_table_release(&join->connections_by_key);
}
