/* SPDX-License-Identifier: MIT */
/* Joining parts; see join.h. Must not trust parts: ranks, numbers and times may
 * be any value. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/records/join_internal.h"
#include "analysis/records/operation_record.h"
#include "shm/array.h"
#include "shm/hash.h"

#define PARTS_MAX (UINT32_C(1) << 20)

/* Ranks from this number on are taken for damaged data. */
#define RANKS_MAX (UINT32_C(1) << 20)

/* A collective is given up once every missing rank has reported one whose
 * number is larger by this much. Records of two lanes may be out of order, but
 * not by so many operations. */
#define MUCH_LATER 64u

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
		ncs_join_pending_free(join, pending);
	}
	for (size_t i = 0; i < join->finished.count; i++)
		ncs_join_pending_free(join, join->finished.items[i]);
	ncs_join_pending_free(join, join->given);
	ncs_join_free_transfers(join);
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
	TAILQ_REMOVE(&join->incomplete, pending, entry);
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
	if (ncs_join_reserve(join) == 0) {
		ncs_join_finish(join, pending);
		return;
	}
	join->count.incomplete++;
	ncs_join_pending_free(join, pending);
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
	    ncs_join_reserve(join) != 0)
		return -ENOMEM;
	hash = hash_of(&joined);
	pending = find(join, &joined, hash);
	if (!pending) {
		pending = ncs_join_pending_new(join, comm, &joined,
					       comm->expected);
		if (!pending)
			return -ENOMEM;
		if (ncs_hash_table_insert(&join->collectives, &pending->link,
					  hash) != 0) {
			ncs_join_pending_free(join, pending);
			return -ENOMEM;
		}
		TAILQ_INSERT_TAIL(&join->incomplete, pending, entry);
	}
	if (!insert(pending, part)) {
		join->count.again++;
		return 0;
	}
	join->parts++;
	if (pending->joined.count == pending->expected) {
		take_out(join, pending);
		ncs_join_finish(join, pending);
	}
	return 0;
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
	return is_transfer ? ncs_join_add_transfer(join, comm, part) :
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
	if (ncs_join_reserve(join) != 0) {
		ncs_join_pending_free(join, pending);
		return -ENOMEM;
	}
	ncs_join_finish(join, pending);
	return 0;
}

int ncs_join_forget(struct ncs_join *join, uint64_t comm_id, int32_t rank)
{
	struct join_comm *comm = comm_of(join, comm_id);
	struct pending *pending, *next;
	int error = 0;

	if (!comm)
		return -ENOMEM;
	if (!ncs_join_is_expected(comm, rank))
		return 0;
	comm->is_expected[rank] = false;
	comm->expected--;
	for (pending = TAILQ_FIRST(&join->incomplete); pending;
	     pending = next) {
		next = TAILQ_NEXT(pending, entry);
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

	ncs_join_match(join, until_ns);
	for (pending = TAILQ_FIRST(&join->incomplete); pending;
	     pending = next) {
		next = TAILQ_NEXT(pending, entry);
		if (is_end || is_hopeless(pending) ||
		    until_ns > pending->joined.first_end_ns + LATE_NS)
			give_up(join, pending);
	}
	while (waiting_parts(join) > join->parts_max &&
	       (pending = oldest(join)))
		give_up(join, pending);
	if (!join->in_order)
		return;
	pending = oldest(join);
	if (pending && pending->joined.first_end_ns < until_ns)
		until_ns = pending->joined.first_end_ns;
	if (ncs_join_first_transfer_ns(join) < until_ns)
		until_ns = ncs_join_first_transfer_ns(join);
	if (until_ns > join->until_ns)
		join->until_ns = until_ns;
}

const struct ncs_joined *ncs_join_next(struct ncs_join *join)
{
	const struct pending *first;

	ncs_join_pending_free(join, join->given);
	join->given = NULL;
	first = join->finished.count > 0 ? join->finished.items[0] : NULL;
	/* The promise is about ends, which turns may be before. */
	if (!first || (first->joined.turn_ns + NCS_TAIL_NS > join->until_ns &&
		       join->parts <= join->parts_max))
		return NULL;
	join->given = ncs_heap_pop(&join->finished, ncs_join_is_before);
	return &join->given->joined;
}

const struct ncs_join_count *ncs_join_count(const struct ncs_join *join)
{
	return &join->count;
}
