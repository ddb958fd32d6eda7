/* SPDX-License-Identifier: MIT */
/* One collective in all ranks, for the timeline: the collective that a stretch
 * belongs to, and the part that each rank has in it. The latest step of a rank, for the
 * time that the timeline begins with: its latest operations as far as they repeat those
 * before.
 */
#include "analysis/views/timeline.h"

#include "analysis/records/operation_record.h"
#include "shm/clock.h"

static bool set_collective(const struct ncs_rank *rank, unsigned event,
			   unsigned function, uint64_t sequence_number,
			   struct ncs_collective *collective)
{
	*collective = (struct ncs_collective){
		.comm_id = rank->now.identity.comm_id,
		.function = function,
		.sequence_number = sequence_number,
	};
	return event == NCS_EVENT_COLL &&
	       sequence_number != NCS_NO_SEQUENCE_NUMBER &&
	       rank->now.identity.known & NCS_KNOWN_COMM_ID;
}

/* Finds the collective of an operation's number. Numbers are reused, so the
 * latest one counts. */
static bool operation_collective(const struct ncs_rank *rank, uint32_t number,
				 struct ncs_collective *collective)
{
	const struct ncs_latest_list *list =
		&rank->latest->lists[NCS_LATEST_CALLS];

	for (size_t i = rank->now.operation_count; i-- > 0;) {
		const struct ncs_operation_view *operation =
			&rank->now.operations[i];

		if ((uint32_t)operation->number == number)
			return set_collective(rank, operation->event,
					      operation->function,
					      operation->sequence_number,
					      collective);
	}
	for (size_t i = list->count; i-- > 0;) {
		const struct ncs_record *record = &list->records[i];

		if (ncs_record_is_operation(record) &&
		    record->operation == number)
			return set_collective(rank, record->event,
					      record->function, record->number,
					      collective);
	}
	return false;
}

bool ncs_stretch_collective(const struct ncs_rank *rank,
			    const struct ncs_stretch *stretch,
			    struct ncs_collective *collective)
{
	const struct ncs_operation_view *operation = stretch->operation;
	const struct ncs_record *record = stretch->record;

	if (operation)
		return set_collective(rank, operation->event,
				      operation->function,
				      operation->sequence_number, collective);
	if (!record)
		return false;
	if (ncs_record_is_operation(record))
		return set_collective(rank, record->event, record->function,
				      record->number, collective);
	return record->operation != 0 &&
	       operation_collective(rank, record->operation, collective);
}

bool ncs_collective_find(const struct ncs_rank *rank,
			 const struct ncs_collective *collective,
			 struct ncs_presence *part)
{
	const struct ncs_latest_list *list;

	if (!(rank->now.identity.known & NCS_KNOWN_COMM_ID) ||
	    rank->now.identity.comm_id != collective->comm_id)
		return false;
	for (size_t i = 0; i < rank->now.operation_count; i++) {
		const struct ncs_operation_view *operation =
			&rank->now.operations[i];

		if (operation->event != NCS_EVENT_COLL ||
		    operation->function != collective->function ||
		    operation->sequence_number != collective->sequence_number)
			continue;
		*part = (struct ncs_presence){ operation->start_ns, 0,
					       (uint32_t)operation->number };
		return true;
	}
	list = rank->latest ? &rank->latest->lists[NCS_LATEST_CALLS] : NULL;
	for (size_t i = list ? list->count : 0; i-- > 0;) {
		const struct ncs_record *record = &list->records[i];

		if (record->event != NCS_EVENT_COLL ||
		    record->function != collective->function ||
		    record->number != collective->sequence_number)
			continue;
		*part = (struct ncs_presence){
			ncs_clock_ns(&rank->clock, record->start),
			ncs_clock_ns(&rank->clock,
				     record->start + record->duration),
			record->operation
		};
		return true;
	}
	return false;
}

bool ncs_presence_has(const struct ncs_presence *part,
		      const struct ncs_collective *collective,
		      const struct ncs_track *track,
		      const struct ncs_stretch *stretch)
{
	uint32_t number =
		stretch->record    ? stretch->record->operation :
		stretch->operation ? (uint32_t)stretch->operation->number :
				     0;

	if (number == 0 && stretch->open && track->kind == NCS_TRACK_CHANNEL)
		number = (uint32_t)track->channel->operation;
	if (track->kind == NCS_TRACK_FUNCTION &&
	    track->function != collective->function)
		return false;
	return number != 0 && number == part->operation;
}

/* --- The latest step --------------------------------------------------------- */

/* Operations that are compared; those that are a step if none is repeated. */
#define COMPARED_MAX 512u
#define WITHOUT_PERIOD 8u

static bool are_alike(const struct ncs_record *a, const struct ncs_record *b)
{
	return a->event == b->event && a->function == b->function &&
	       a->value == b->value;
}

/* Returns after how many operations the latest ones, which come first, begin
 * again. */
static size_t period_of(const struct ncs_record *const *records, size_t count)
{
	for (size_t period = 1; 2 * period <= count; period++) {
		size_t i = 0;

		while (i < period && are_alike(records[i], records[i + period]))
			i++;
		if (i == period)
			return period;
	}
	return count < WITHOUT_PERIOD ? count : WITHOUT_PERIOD;
}

bool ncs_latest_step(const struct ncs_rank *rank, uint64_t *from_ns,
		     uint64_t *until_ns)
{
	const struct ncs_latest_list *list =
		rank->latest ? &rank->latest->lists[NCS_LATEST_CALLS] : NULL;
	const struct ncs_record *records[COMPARED_MAX];
	size_t count = 0, period;

	for (size_t i = list ? list->count : 0;
	     i-- > 0 && count < COMPARED_MAX;)
		if (ncs_record_is_operation(&list->records[i]))
			records[count++] = &list->records[i];
	if (count == 0)
		return false;
	period = period_of(records, count);
	*from_ns = UINT64_MAX;
	*until_ns = 0;
	for (size_t i = 0; i < period; i++) {
		uint64_t start_ns =
			ncs_clock_ns(&rank->clock, records[i]->start);
		uint64_t end_ns = ncs_clock_ns(
			&rank->clock, records[i]->start + records[i]->duration);

		if (start_ns < *from_ns)
			*from_ns = start_ns;
		if (end_ns > *until_ns)
			*until_ns = end_ns;
	}
	return *until_ns > *from_ns;
}
