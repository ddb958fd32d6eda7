/* SPDX-License-Identifier: MIT */
/* One collective in all ranks, for the timeline: the collective that a stretch
 * belongs to, and the part that each rank has in it.
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
	const struct ncs_latest_ring *ring =
		&rank->latest->rings[NCS_LATEST_CALLS];

	for (size_t i = rank->now.operation_count; i-- > 0;) {
		const struct ncs_operation_view *operation =
			&rank->now.operations[i];

		if ((uint32_t)operation->number == number)
			return set_collective(rank, operation->event,
					      operation->function,
					      operation->sequence_number,
					      collective);
	}
	for (size_t i = ring->count; i-- > 0;) {
		const struct ncs_record *record = ncs_latest_at(ring, i);

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
	const struct ncs_latest_ring *ring;

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
	ring = rank->latest ? &rank->latest->rings[NCS_LATEST_CALLS] : NULL;
	for (size_t i = ring ? ring->count : 0; i-- > 0;) {
		const struct ncs_record *record = ncs_latest_at(ring, i);

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
