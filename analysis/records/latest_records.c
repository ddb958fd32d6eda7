/* SPDX-License-Identifier: MIT */
/* Keeping the latest records; see latest_records.h. */
#include "analysis/records/latest_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/abi_header.h"
#include "shm/clock.h"

/* Limits on the number of records: for all ranks together, and the least and
 * the most for one rank. */
static const struct {
	size_t all;
	size_t least;
	size_t most;
} limits[NCS_LATEST_KINDS] = {
	[NCS_LATEST_CALLS] = { 8192, 32, 1024 },
	[NCS_LATEST_WORK] = { 65536, 128, 16384 },
};

#define FIRST_CAPACITY 64

struct ncs_latest *ncs_latest_new(void)
{
	return calloc(1, sizeof(struct ncs_latest));
}

void ncs_latest_free(struct ncs_latest *latest)
{
	if (!latest)
		return;
	for (unsigned i = 0; i < NCS_LATEST_KINDS; i++)
		free(latest->rings[i].records);
	free(latest);
}

const struct ncs_record *ncs_latest_at(const struct ncs_latest_ring *ring,
				       size_t i)
{
	return &ring->records[(ring->first + i) % ring->capacity];
}

/* Returns the ring of a record, or NCS_LATEST_KINDS if it is not kept. */
static enum ncs_latest_kind kind_of(const struct ncs_record *record)
{
	switch (record->event) {
	case NCS_EVENT_COLL:
	case NCS_EVENT_P2P:
	case NCS_EVENT_GROUP_API:
	case NCS_EVENT_COLL_API:
	case NCS_EVENT_P2P_API:
	case NCS_EVENT_KERNEL_LAUNCH:
	case NCS_EVENT_CE_COLL:
		return NCS_LATEST_CALLS;
	case NCS_EVENT_PROXY_OP:
	case NCS_EVENT_PROXY_STEP:
	case NCS_EVENT_PROXY_CTRL:
	case NCS_EVENT_KERNEL_CH:
		return NCS_LATEST_WORK;
	default:
		return NCS_LATEST_KINDS;
	}
}

static uint64_t end_ns(const struct ncs_record *record,
		       const struct ncs_clock *clock)
{
	return ncs_clock_ns(clock, record->start + record->duration);
}

/* Drops the oldest record. */
static void drop_first(struct ncs_latest_ring *ring,
		       const struct ncs_clock *clock)
{
	uint64_t gone_ns = end_ns(ncs_latest_at(ring, 0), clock);

	/* A sample has the records of one thread after those of another, so the
	 * ends are not in order. */
	if (gone_ns > ring->complete_from_ns)
		ring->complete_from_ns = gone_ns;
	ring->first = (ring->first + 1) % ring->capacity;
	ring->count--;
}

static int resize(struct ncs_latest_ring *ring, size_t capacity,
		  const struct ncs_clock *clock)
{
	struct ncs_record *records = malloc(capacity * sizeof(*records));

	if (!records)
		return -ENOMEM;
	while (ring->count > capacity)
		drop_first(ring, clock);
	for (size_t i = 0; i < ring->count; i++)
		records[i] = *ncs_latest_at(ring, i);
	free(ring->records);
	ring->records = records;
	ring->capacity = capacity;
	ring->first = 0;
	return 0;
}

/* Makes room for one more record: grows the ring up to `most` records, then
 * drops the oldest. Returns 0 or -ENOMEM. */
static int make_room(struct ncs_latest_ring *ring, size_t most,
		     const struct ncs_clock *clock)
{
	size_t wanted = ring->capacity > 0 ? 2 * ring->capacity :
					     FIRST_CAPACITY;

	if (ring->count < ring->capacity)
		return 0;
	if (ring->capacity == most) {
		drop_first(ring, clock);
		return 0;
	}
	return resize(ring, wanted < most ? wanted : most, clock);
}

static size_t share(enum ncs_latest_kind kind, size_t ranks)
{
	size_t own = limits[kind].all / (ranks > 0 ? ranks : 1);

	if (own < limits[kind].least)
		return limits[kind].least;
	return own < limits[kind].most ? own : limits[kind].most;
}

static int put(struct ncs_latest_ring *ring, const struct ncs_record *record,
	       size_t most, const struct ncs_clock *clock)
{
	int error = make_room(ring, most, clock);

	if (error)
		return error;
	ring->records[(ring->first + ring->count) % ring->capacity] = *record;
	ring->count++;
	return 0;
}

/* Sets the time from which on the rings are complete at the first refresh:
 * records that were overwritten before it are missing. */
static void set_beginning(struct ncs_latest *latest,
			  const struct ncs_sample *sample)
{
	const struct ncs_clock *clock = &sample->header->clock;

	for (unsigned i = 0; i < NCS_LATEST_KINDS; i++)
		latest->rings[i].complete_from_ns =
			sample->snapshot->losses[NCS_LOSS_OVERWRITTEN] > 0 ?
				sample->snapshot->taken_ns :
				clock->base_monotonic_ns;
	for (size_t i = 0; i < sample->record_count; i++) {
		enum ncs_latest_kind kind = kind_of(&sample->records[i]);
		uint64_t ended_ns = end_ns(&sample->records[i], clock);

		if (kind != NCS_LATEST_KINDS &&
		    ended_ns < latest->rings[kind].complete_from_ns)
			latest->rings[kind].complete_from_ns = ended_ns;
	}
}

/* Returns the end of the gap that lost records leave. A thread that has lost
 * records has a ring full of later ones: the gap ends at the first of these.
 * Records of one thread have consecutive positions. */
static uint64_t gap_end_ns(const struct ncs_sample *sample)
{
	const struct ncs_record *records = sample->records;
	size_t full = sample->header->ring_records / 4, first = 0;
	uint64_t found_ns = 0;

	for (size_t i = 0; i < sample->record_count; i++) {
		uint64_t begun_ns;

		if (i > 0 && records[i].position != records[i - 1].position + 1)
			first = i;
		if (i - first + 1 != full)
			continue;
		begun_ns = end_ns(&records[first], &sample->header->clock);
		if (begun_ns > found_ns)
			found_ns = begun_ns;
	}
	return found_ns != 0 && found_ns < sample->snapshot->taken_ns ?
		       found_ns :
		       sample->snapshot->taken_ns;
}

static void note_lost(struct ncs_latest *latest,
		      const struct ncs_sample *sample)
{
	if (sample->records_lost == 0)
		return;
	latest->lost_from_ns = latest->taken_ns;
	latest->lost_until_ns = gap_end_ns(sample);
	latest->lost += sample->records_lost;
}

/* --- More records than there is room for -------------------------------- */

static size_t count_kind(const struct ncs_sample *sample,
			 enum ncs_latest_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < sample->record_count; i++)
		count += kind_of(&sample->records[i]) == kind;
	return count;
}

static int compare_ends(const void *a, const void *b)
{
	const struct ncs_record *const *first = a, *const *second = b;
	uint64_t end_a = (*first)->start + (*first)->duration;
	uint64_t end_b = (*second)->start + (*second)->duration;

	return (end_a > end_b) - (end_a < end_b);
}

/* Finds the records of a kind that may be among the `most` latest: of each
 * thread as many, as a thread's records are in order. Returns their number. */
static size_t find_candidates(const struct ncs_sample *sample,
			      enum ncs_latest_kind kind, size_t most,
			      const struct ncs_record **candidates)
{
	const struct ncs_record *records = sample->records;
	size_t found = 0, of_thread = 0;

	for (size_t i = sample->record_count; i-- > 0;) {
		if (i + 1 < sample->record_count &&
		    records[i].position + 1 != records[i + 1].position)
			of_thread = 0;
		if (kind_of(&records[i]) == kind && of_thread++ < most)
			candidates[found++] = &records[i];
	}
	return found;
}

/* Puts the records of a kind in the order of their ends: a sample has the
 * records of one thread after those of another, and the ring keeps what was put
 * last. Returns 0 or -ENOMEM. */
static int put_in_order(struct ncs_latest_ring *ring,
			const struct ncs_sample *sample,
			enum ncs_latest_kind kind, size_t count, size_t most)
{
	const struct ncs_clock *clock = &sample->header->clock;
	const struct ncs_record **candidates;
	uint64_t from_ns;
	size_t found;
	int error = 0;

	candidates = malloc(count * sizeof(const struct ncs_record *));
	if (!candidates)
		return -ENOMEM;
	found = find_candidates(sample, kind, most, candidates);
	qsort(candidates, found, sizeof(candidates[0]), compare_ends);
	/* None of the others ended later. */
	from_ns = end_ns(candidates[found - most], clock);
	if (from_ns > ring->complete_from_ns)
		ring->complete_from_ns = from_ns;
	for (size_t i = found - most; !error && i < found; i++)
		error = put(ring, candidates[i], most, clock);
	free(candidates);
	return error;
}

static int put_all(struct ncs_latest_ring *ring,
		   const struct ncs_sample *sample, enum ncs_latest_kind kind,
		   size_t most)
{
	const struct ncs_clock *clock = &sample->header->clock;
	int error = 0;

	for (size_t i = 0; !error && i < sample->record_count; i++)
		if (kind_of(&sample->records[i]) == kind)
			error = put(ring, &sample->records[i], most, clock);
	return error;
}

int ncs_latest_take(struct ncs_latest *latest, const struct ncs_sample *sample,
		    size_t ranks)
{
	const struct ncs_clock *clock = &sample->header->clock;
	int error = 0;

	if (latest->has_begun)
		note_lost(latest, sample);
	else
		set_beginning(latest, sample);
	latest->has_begun = latest->has_begun || sample->record_count > 0;
	latest->taken_ns = sample->snapshot->taken_ns;
	for (unsigned i = 0; !error && i < NCS_LATEST_KINDS; i++) {
		struct ncs_latest_ring *ring = &latest->rings[i];
		size_t count = count_kind(sample, i), most = share(i, ranks);

		if (ring->capacity > most)
			error = resize(ring, most, clock);
		if (!error)
			error = count > most ? put_in_order(ring, sample, i,
							    count, most) :
					       put_all(ring, sample, i, most);
	}
	return error;
}
