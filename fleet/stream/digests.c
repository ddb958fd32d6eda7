/* SPDX-License-Identifier: MIT */
/* Judges whether ranks are level; see digests.h. */
#include "fleet/stream/digests.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/collective_waits.h"
#include "analysis/model/waits.h"
#include "ncclstat/abi_header.h"
#include "ncclstat/reader.h"
#include "shm/array.h"

static_assert(sizeof(struct ncs_digest_head) +
			      NCS_DIGESTS_MAX * sizeof(struct ncs_digest) +
			      NCS_DIGEST_FUNCTIONS_MAX *
				      sizeof(struct ncs_digest_function) <
		      NCS_CHUNK_BYTES_MAX - sizeof(struct ncs_chunk),
	      "digests fit into a chunk");

/* How far a rank was in a look. */
struct place {
	uint64_t taken_ns;
	uint64_t finished; /* operations; all of them, where ends are unknown */
	/* The next sequence number of each function in which all ranks wait for
	 * all; 0: none. */
	uint64_t next[NCS_FUNCTION_COUNT];
};

struct ncs_digest_rank {
	struct ncs_reader *reader; /* NULL: none is open */
	uint64_t look; /* that has `now`, plus 1; 0: the rank is not known */
	uint64_t comm_id;
	bool has_comm_id;
	bool is_level_in_key; /* in the latest key look */
	uint64_t moved_ns;    /* when operations were last seen to finish */
	struct place now, before;
};

/* --- What a rank is in ----------------------------------------------------- */

static struct place place_of(const struct ncs_snapshot *snapshot)
{
	struct place place = { .taken_ns = snapshot->taken_ns };

	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		const struct ncs_function_view *view = &snapshot->functions[i];

		place.finished += view->with_children > 0 ?
					  view->operations_done :
					  view->operations;
		if (ncs_wait_rule_of(i) == NCS_WAIT_FOR_ALL)
			place.next[i] = view->last_sequence_number + 1;
	}
	return place;
}

/* A channel without data at its first step waits for a kernel, here or at its
 * peer, that may be queued behind other work. */
static bool has_begun(const struct ncs_channel_view *channel)
{
	return channel->state != NCS_CHANNEL_IDLE &&
	       (channel->step > 0 ||
		(channel->state != NCS_CHANNEL_SEND_GPU_WAIT &&
		 channel->state != NCS_CHANNEL_RECV_WAIT));
}

static bool is_long(uint64_t since_ns, uint64_t now_ns)
{
	return since_ns < now_ns && now_ns - since_ns >= NCS_LEVEL_WAIT_NS;
}

static bool waits_long(const struct ncs_snapshot *snapshot)
{
	const struct ncs_launches_view *launches = &snapshot->launches;

	if (launches->begun > launches->ended &&
	    is_long(launches->begun_ns, snapshot->taken_ns))
		return true;
	for (size_t i = 0; i < snapshot->channel_count; i++)
		if (has_begun(&snapshot->channels[i]) &&
		    is_long(snapshot->channels[i].since_ns, snapshot->taken_ns))
			return true;
	return false;
}

/* Whether a rank of the same communicator was further in the look before than
 * this one is now. */
static bool is_behind(const struct ncs_digests *digests,
		      const struct ncs_digest_rank *rank)
{
	for (size_t i = 0; i < digests->known_count; i++) {
		const struct ncs_digest_rank *other = &digests->known[i];
		const struct place *then = other->look == digests->looks ?
						   &other->before :
						   &other->now;

		if (other == rank || other->look == 0 || !other->has_comm_id ||
		    !rank->has_comm_id || other->comm_id != rank->comm_id)
			continue;
		for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++)
			if (rank->now.next[k] < then->next[k])
				return true;
	}
	return false;
}

static bool is_level(const struct ncs_digests *digests,
		     const struct ncs_digest_rank *rank,
		     const struct ncs_snapshot *snapshot)
{
	/* Nothing is known of a rank that was not there in the look before. */
	if (rank->before.taken_ns == 0 || snapshot->liveness != NCS_ALIVE ||
	    snapshot->process_gone || snapshot->process_stopped ||
	    snapshot->torn)
		return false;
	return (rank->now.finished != rank->before.finished ||
		!is_long(rank->moved_ns, snapshot->taken_ns)) &&
	       !waits_long(snapshot) && !is_behind(digests, rank);
}

/* --- Digests --------------------------------------------------------------- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

static struct ncs_digest digest_of(size_t rank,
				   const struct ncs_snapshot *snapshot)
{
	struct ncs_digest digest = { .rank = (uint32_t)rank };

	for (size_t i = 0; i < snapshot->channel_count; i++)
		if (snapshot->channels[i].state != NCS_CHANNEL_IDLE)
			digest.wait_ns = earlier(
				digest.wait_ns, snapshot->channels[i].since_ns);
	for (size_t i = 0; i < snapshot->operation_count; i++)
		digest.operation_ns =
			earlier(digest.operation_ns,
				snapshot->operations[i].start_ns);
	return digest;
}

static int add(struct ncs_digests *digests, size_t rank,
	       const struct ncs_snapshot *snapshot)
{
	uint32_t place = (uint32_t)digests->rank_count;

	if (place == NCS_DIGESTS_MAX ||
	    digests->function_count + NCS_FUNCTION_COUNT >
		    NCS_DIGEST_FUNCTIONS_MAX)
		return 0;
	if (ncs_array_reserve(&digests->ranks, &digests->rank_capacity,
			      place + 1u, sizeof(*digests->ranks)) != 0 ||
	    ncs_array_reserve(&digests->functions, &digests->function_capacity,
			      digests->function_count + NCS_FUNCTION_COUNT,
			      sizeof(*digests->functions)) != 0)
		return -ENOMEM;
	digests->ranks[digests->rank_count++] = digest_of(rank, snapshot);
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		const struct ncs_function_view *view = &snapshot->functions[i];

		if (view->calls == 0 && view->operations == 0)
			continue;
		digests->functions[digests->function_count++] =
			(struct ncs_digest_function){
				.place = place,
				.function = i,
				.operations = view->operations,
				.sequence_number = view->last_sequence_number,
			};
	}
	return 1;
}

/* Returns what is known of a rank; NULL if there is no memory. */
static struct ncs_digest_rank *rank_of(struct ncs_digests *digests, size_t rank)
{
	if (ncs_array_reserve_zeroed(&digests->known, &digests->known_capacity,
				     rank + 1, sizeof(*digests->known)) != 0)
		return NULL;
	if (rank >= digests->known_count)
		digests->known_count = rank + 1;
	return &digests->known[rank];
}

int ncs_digests_judge(struct ncs_digests *digests, size_t number,
		      bool is_wanted, const struct ncs_snapshot *snapshot)
{
	struct ncs_digest_rank *rank = rank_of(digests, number);
	bool level;

	if (!rank)
		return -ENOMEM;
	rank->before = rank->now;
	rank->now = place_of(snapshot);
	rank->comm_id = snapshot->identity.comm_id;
	rank->has_comm_id = snapshot->identity.known & NCS_KNOWN_COMM_ID;
	if (rank->now.finished != rank->before.finished)
		rank->moved_ns = snapshot->taken_ns;
	rank->look = digests->looks;
	level = is_level(digests, rank, snapshot);
	digests->level += level;
	if (digests->is_key)
		rank->is_level_in_key = level;
	/* Digests are relative to the state of the key look: after a later one
	 * they would have none. */
	else if (!level || is_wanted)
		rank->is_level_in_key = false;
	if (digests->is_key || !rank->is_level_in_key)
		return 0;
	return add(digests, number, snapshot);
}

static bool open_reader(struct ncs_digest_rank *rank, const char *path,
			const struct ncs_header *header)
{
	const struct ncs_header *opened;

	if (!rank->reader)
		ncs_reader_open(path, &rank->reader, NULL, 0);
	if (!rank->reader)
		return false;
	opened = ncs_reader_header(rank->reader);
	if (opened->pid == header->pid &&
	    opened->process_start == header->process_start &&
	    opened->created == header->created)
		return true;
	ncs_reader_close(rank->reader);
	rank->reader = NULL;
	return false;
}

int ncs_digests_take(struct ncs_digests *digests, size_t number,
		     bool is_wanted, const char *path, const struct ncs_header *header,
		     uint64_t now_ns)
{
	struct ncs_digest_rank *rank = rank_of(digests, number);
	struct ncs_snapshot snapshot;
	int taken;

	if (!rank)
		return -ENOMEM;
	if (!open_reader(rank, path, header))
		return 0;
	if (ncs_snapshot_init(&snapshot, rank->reader) != 0)
		return -ENOMEM;
	ncs_snapshot_take(&snapshot, rank->reader, now_ns);
	taken = ncs_digests_judge(digests, number, is_wanted, &snapshot);
	ncs_snapshot_release(&snapshot);
	return taken;
}

/* --- Looks ----------------------------------------------------------------- */

static void forget(struct ncs_digest_rank *rank)
{
	ncs_reader_close(rank->reader);
	memset(rank, 0, sizeof(*rank));
}

void ncs_digests_begin(struct ncs_digests *digests, bool is_key)
{
	digests->looks++;
	digests->is_key = is_key;
	digests->rank_count = digests->function_count = digests->level = 0;
}

void ncs_digests_end(struct ncs_digests *digests)
{
	for (size_t i = 0; i < digests->known_count; i++)
		if (digests->known[i].look != 0 &&
		    digests->known[i].look != digests->looks)
			forget(&digests->known[i]);
}

void ncs_digests_release(struct ncs_digests *digests)
{
	for (size_t i = 0; i < digests->known_count; i++)
		forget(&digests->known[i]);
	free(digests->known);
	free(digests->ranks);
	free(digests->functions);
	memset(digests, 0, sizeof(*digests));
}
