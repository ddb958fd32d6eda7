/* SPDX-License-Identifier: MIT */
/* Keeping the latest records; see latest_records.h. */
#include "analysis/records/latest_records.h"

#include <errno.h>
#include <stdlib.h>

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

struct ncs_latest *ncs_latest_new(void)
{
	return calloc(1, sizeof(struct ncs_latest));
}

void ncs_latest_free(struct ncs_latest *latest)
{
	if (!latest)
		return;
	for (unsigned i = 0; i < NCS_LATEST_KINDS; i++)
		free(latest->lists[i].records);
	free(latest);
}

/* Returns the list of a record, or NCS_LATEST_KINDS if it is not kept. */
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

static size_t share(enum ncs_latest_kind kind, size_t ranks)
{
	size_t own = limits[kind].all / (ranks > 0 ? ranks : 1);

	if (own < limits[kind].least)
		return limits[kind].least;
	return own < limits[kind].most ? own : limits[kind].most;
}

/* Sets the time from which on the lists are complete at the first refresh:
 * records that were overwritten before it are missing. */
static void set_beginning(struct ncs_latest *latest,
			  const struct ncs_sample *sample)
{
	const struct ncs_clock *clock = &sample->header->clock;

	for (unsigned i = 0; i < NCS_LATEST_KINDS; i++)
		latest->lists[i].complete_from_ns =
			sample->snapshot->losses[NCS_LOSS_OVERWRITTEN] > 0 ?
				sample->snapshot->taken_ns :
				clock->base_monotonic_ns;
	for (size_t i = 0; i < sample->record_count; i++) {
		enum ncs_latest_kind kind = kind_of(&sample->records[i]);
		uint64_t ended_ns = end_ns(&sample->records[i], clock);

		if (kind != NCS_LATEST_KINDS &&
		    ended_ns < latest->lists[kind].complete_from_ns)
			latest->lists[kind].complete_from_ns = ended_ns;
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

/* --- The records of a sample --------------------------------------------- */

static int compare_ends(const void *a, const void *b)
{
	const struct ncs_record *const *first = a, *const *second = b;
	uint64_t end_a = (*first)->start + (*first)->duration;
	uint64_t end_b = (*second)->start + (*second)->duration;

	return (end_a > end_b) - (end_a < end_b);
}

/* Lists the records of a kind at the end of `room`, in their order: of each thread
 * one more than are kept, as a thread's records are in order. Returns their number. */
static size_t find_kind(const struct ncs_sample *sample,
			enum ncs_latest_kind kind, size_t most,
			const struct ncs_record **room)
{
	const struct ncs_record *records = sample->records;
	size_t count = 0, of_thread = 0;

	for (size_t i = sample->record_count; i-- > 0;) {
		if (i + 1 < sample->record_count &&
		    records[i].position + 1 != records[i + 1].position)
			of_thread = 0;
		if (kind_of(&records[i]) == kind && of_thread++ <= most)
			room[sample->record_count - ++count] = &records[i];
	}
	return count;
}

/* Notes that a record that ended then is missing, or that none which ended later
 * is. */
static void note_gone(struct ncs_latest_list *list, uint64_t ended_ns)
{
	if (ended_ns > list->complete_from_ns)
		list->complete_from_ns = ended_ns;
}

/* Makes a list that of its former records and these, which it takes the place of.
 * Returns 0 or -ENOMEM. */
static int append(struct ncs_latest_list *list,
		  const struct ncs_record *const *added, size_t count,
		  size_t most, const struct ncs_clock *clock)
{
	size_t all = list->count + count, gone = all > most ? all - most : 0;
	struct ncs_record *records = malloc((all - gone) * sizeof(*records));
	size_t kept = 0;

	if (!records)
		return -ENOMEM;
	/* A sample has the records of one thread after those of another, so the
	 * ends are not in order. */
	for (size_t i = 0; i < gone; i++)
		note_gone(list, end_ns(&list->records[i], clock));
	for (size_t i = gone; i < list->count; i++)
		records[kept++] = list->records[i];
	for (size_t i = 0; i < count; i++)
		records[kept++] = *added[i];
	free(list->records);
	list->records = records;
	list->count = kept;
	return 0;
}

/* Takes the records of a kind: those that ended last, in the order of their ends,
 * if there are more than there is room for. Returns 0 or -ENOMEM. */
static int take_kind(struct ncs_latest_list *list,
		     const struct ncs_sample *sample, enum ncs_latest_kind kind,
		     size_t most)
{
	const struct ncs_clock *clock = &sample->header->clock;
	const struct ncs_record **room, **found;
	size_t count;
	int error;

	room = malloc((sample->record_count + 1) *
		      sizeof(const struct ncs_record *));
	if (!room)
		return -ENOMEM;
	count = find_kind(sample, kind, most, room);
	found = room + (sample->record_count - count);
	if (count > most) {
		qsort(found, count, sizeof(found[0]), compare_ends);
		found += count - most;
		count = most;
		/* None of the others ended later. */
		note_gone(list, end_ns(found[0], clock));
	}
	error = count > 0 || list->count > most ?
			append(list, found, count, most, clock) :
			0;
	free(room);
	return error;
}

int ncs_latest_take(struct ncs_latest *latest, const struct ncs_sample *sample,
		    size_t ranks)
{
	int error = 0;

	if (latest->has_begun)
		note_lost(latest, sample);
	else
		set_beginning(latest, sample);
	latest->has_begun = latest->has_begun || sample->record_count > 0;
	latest->taken_ns = sample->snapshot->taken_ns;
	for (unsigned i = 0; !error && i < NCS_LATEST_KINDS; i++)
		error = take_kind(&latest->lists[i], sample, i,
				  share(i, ranks));
	return error;
}
