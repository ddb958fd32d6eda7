/* SPDX-License-Identifier: MIT */
/* Facts from collectives; see barriers.h. */
#include "analysis/clocks/barriers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/records/operation_record.h"
#include "ncclstat/names.h"
#include "shm/array.h"
#include "shm/clock.h"
#include "shm/hash.h"

/* Number of collectives that are kept until a later one takes their place. */
#define KEPT ((size_t)1024)

/* With more hosts than this, not every pair of them gets a fact. */
#define HOSTS_ALL 16

/* The times of a collective on one host; 0 if it was not seen there. */
struct seen {
	uint64_t begin_ns; /* the latest */
	uint64_t end_ns;   /* the earliest; 0 or UINT64_MAX if unusable */
};

struct kept_barrier {
	uint64_t comm_id;
	uint64_t number; /* plus 1; 0: none */
	uint8_t function;
	bool is_spoiled; /* a rank reported its number repeatedly */
	bool has_news;   /* since its facts were added */
};

struct ncs_barriers {
	struct ncs_alignment *alignment;
	size_t hosts;
	struct ncs_barrier_rank **ranks; /* by owner */
	size_t rank_count, rank_capacity;
	struct kept_barrier *kept;
	size_t kept_count;
	struct seen *seen; /* by collective, then by host */
	uint64_t count;    /* of collectives that gave a fact */
};

struct ncs_barriers *ncs_barriers_new(struct ncs_alignment *alignment,
				      size_t hosts, size_t kept)
{
	struct ncs_barriers *barriers = calloc(1, sizeof(*barriers));

	if (!barriers)
		return NULL;
	barriers->alignment = alignment;
	barriers->hosts = hosts;
	barriers->kept_count = kept ? kept : KEPT;
	barriers->kept =
		calloc(barriers->kept_count, sizeof(struct kept_barrier));
	barriers->seen =
		calloc(barriers->kept_count * hosts + 1, sizeof(struct seen));
	if (!barriers->kept || !barriers->seen) {
		ncs_barriers_free(barriers);
		return NULL;
	}
	return barriers;
}

void ncs_barriers_free(struct ncs_barriers *barriers)
{
	if (!barriers)
		return;
	for (size_t i = 0; i < barriers->rank_count; i++)
		free(barriers->ranks[i]);
	free(barriers->ranks);
	free(barriers->kept);
	free(barriers->seen);
	free(barriers);
}

uint64_t ncs_barriers_count(const struct ncs_barriers *barriers)
{
	return barriers->count;
}

void ncs_barrier_rank_learn(struct ncs_barrier_rank *rank,
			    const struct ncs_snapshot *snapshot)
{
	rank->identity = snapshot->identity;
	rank->stream_error_ns = snapshot->launches.error_ns;
	ncs_size_algorithms_learn(&rank->algorithms, snapshot);
}

int ncs_barriers_expect(struct ncs_barriers *barriers, size_t owner,
			const struct ncs_barrier_rank *announced)
{
	struct ncs_barrier_rank *rank;

	if (ncs_array_reserve_zeroed(&barriers->ranks, &barriers->rank_capacity,
				     owner + 1, sizeof(*barriers->ranks)) != 0)
		return -ENOMEM;
	if (owner >= barriers->rank_count)
		barriers->rank_count = owner + 1;
	if (announced->host >= barriers->hosts ||
	    !(announced->identity.known & NCS_KNOWN_COMM_ID))
		return 0;
	rank = barriers->ranks[owner];
	if (!rank)
		barriers->ranks[owner] = rank = calloc(1, sizeof(*rank));
	if (!rank)
		return -ENOMEM;
	*rank = *announced;
	return 0;
}

/* --- One collective ------------------------------------------------------- */

/* Adds the fact of one pair of hosts, if both have seen the collective. Returns
 * 0 or -ENOMEM. */
static int add_pair(struct ncs_barriers *barriers, const struct seen *seen,
		    size_t host, size_t then_host)
{
	uint64_t begin_ns = seen[host].begin_ns;
	uint64_t end_ns = seen[then_host].end_ns;

	if (host == then_host || begin_ns == 0 || end_ns == 0 ||
	    end_ns == UINT64_MAX)
		return 0;
	return ncs_alignment_add(barriers->alignment,
				 &(struct ncs_before){
					 .fact = NCS_FACT_ORDER,
					 .host = host,
					 .then_host = then_host,
					 .at_ns = begin_ns,
					 .then_ns = end_ns,
				 });
}

/* Adds the facts of a collective, if there are new ones. With many hosts, only
 * these pairs get facts: each host that has seen the collective with the next
 * such host and with the first one. Returns 0 or -ENOMEM. */
static int add_facts(struct ncs_barriers *barriers, size_t place)
{
	struct kept_barrier *kept = &barriers->kept[place];
	struct seen *seen = &barriers->seen[place * barriers->hosts];
	size_t first = barriers->hosts, last = barriers->hosts;
	int error = 0;

	for (size_t i = 0;
	     kept->has_news && !kept->is_spoiled && i < barriers->hosts; i++) {
		if (seen[i].begin_ns == 0)
			continue;
		if (first == barriers->hosts)
			first = i;
		else
			barriers->count += last == first;
		for (size_t k = 0; barriers->hosts <= HOSTS_ALL && k < i; k++) {
			error |= add_pair(barriers, seen, k, i);
			error |= add_pair(barriers, seen, i, k);
		}
		if (barriers->hosts > HOSTS_ALL && i != first) {
			error |= add_pair(barriers, seen, first, i);
			error |= add_pair(barriers, seen, i, first);
			error |= add_pair(barriers, seen, last, i);
			error |= add_pair(barriers, seen, i, last);
		}
		last = i;
	}
	kept->has_news = false;
	return error;
}

/* Adds the facts of a collective and forgets it. Returns 0 or -ENOMEM. */
static int end_barrier(struct ncs_barriers *barriers, size_t place)
{
	int error = add_facts(barriers, place);

	barriers->kept[place] = (struct kept_barrier){ 0 };
	memset(&barriers->seen[place * barriers->hosts], 0,
	       barriers->hosts * sizeof(*barriers->seen));
	return error;
}

int ncs_barriers_note(struct ncs_barriers *barriers)
{
	int error = 0;

	for (size_t i = 0; i < barriers->kept_count; i++)
		error |= add_facts(barriers, i);
	return error;
}

int ncs_barriers_flush(struct ncs_barriers *barriers)
{
	int error = 0;

	for (size_t i = 0; i < barriers->kept_count; i++)
		error |= end_barrier(barriers, i);
	return error;
}

/* --- Records -------------------------------------------------------------- */

static bool is_barrier(unsigned function)
{
	return function == NCS_FUNCTION_ALL_REDUCE ||
	       function == NCS_FUNCTION_ALL_GATHER ||
	       function == NCS_FUNCTION_REDUCE_SCATTER;
}

/* Returns whether all data had moved by the end that a record tells. */
static bool is_end(const struct ncs_barrier_rank *rank,
		   const struct ncs_record *record,
		   const struct ncs_operation_ticks *ticks)
{
	if (ticks->is_on_stream)
		return rank->stream_error_ns > 0;
	/* Without proxy operations, it is that of a kernel's channel. */
	return ticks->begin != 0 ||
	       ncs_size_algorithms_find(&rank->algorithms, record->function,
					record->value)
			       .algorithm == NCS_ALGORITHM_RING;
}

/* Returns the latest time before which the rank surely had not arrived. */
static uint64_t begin_ns(const struct ncs_barrier_rank *rank,
			 const struct ncs_operation_ticks *ticks)
{
	uint64_t start_ns = ncs_clock_ns(&rank->clock, ticks->start);
	uint64_t stream_ns = ncs_clock_ns(&rank->clock, ticks->begin);

	/* A record that starts just before its kernel began has its start from
	 * the stream. */
	bool is_start_seen = !ticks->is_on_stream ||
			     ticks->begin - ticks->start > 1;

	stream_ns = ticks->is_on_stream && rank->stream_error_ns > 0 &&
				    stream_ns > rank->stream_error_ns ?
			    stream_ns - rank->stream_error_ns :
			    0;
	return is_start_seen && start_ns > stream_ns ? start_ns : stream_ns;
}

static size_t place_of(const struct ncs_barriers *barriers, uint64_t comm_id,
		       const struct ncs_record *record)
{
	uint64_t hash = ncs_hash_add(ncs_hash(comm_id), record->function);

	/* Numbers that follow each other have different places. */
	return (size_t)((hash >> 32) + record->number) % barriers->kept_count;
}

static int take(struct ncs_barriers *barriers,
		const struct ncs_barrier_rank *rank,
		const struct ncs_record *record, bool is_repeated)
{
	uint64_t comm_id = rank->identity.comm_id;
	size_t place = place_of(barriers, comm_id, record);
	struct kept_barrier *kept = &barriers->kept[place];
	struct seen *seen =
		&barriers->seen[place * barriers->hosts + rank->host];
	struct ncs_operation_ticks ticks = ncs_operation_ticks(record);
	uint64_t begun_ns = begin_ns(rank, &ticks);
	uint64_t end_ns = ncs_clock_ns(&rank->clock, ticks.end);
	int error = 0;

	if (kept->number != record->number + 1 || kept->comm_id != comm_id ||
	    kept->function != record->function) {
		error = end_barrier(barriers, place);
		*kept = (struct kept_barrier){
			.comm_id = comm_id,
			.number = record->number + 1,
			.function = record->function,
		};
	}
	kept->is_spoiled |= is_repeated;
	kept->has_news = true;
	if (begun_ns > seen->begin_ns)
		seen->begin_ns = begun_ns;
	if (ticks.is_on_stream)
		end_ns += rank->stream_error_ns;
	/* The end that was reported before was wrong. */
	if (record->flags & NCS_RECORD_AGAIN)
		seen->end_ns = UINT64_MAX;
	else if (is_end(rank, record, &ticks) &&
		 (seen->end_ns == 0 || end_ns < seen->end_ns))
		seen->end_ns = end_ns;
	return error;
}

int ncs_barriers_take(struct ncs_barriers *barriers, size_t owner,
		      const struct ncs_record *record,
		      const struct ncs_known_operation *known)
{
	const struct ncs_barrier_rank *rank =
		owner < barriers->rank_count ? barriers->ranks[owner] : NULL;

	if (!rank || record->event != NCS_EVENT_COLL ||
	    !is_barrier(record->function) ||
	    record->number == NCS_NO_SEQUENCE_NUMBER)
		return 0;
	return take(barriers, rank, record, known && known->repeat > 0);
}
