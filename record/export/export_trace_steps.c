/* SPDX-License-Identifier: MIT */
/* Steps, the waits inside them, and the arrows between the two ends of a
 * message; see export_trace_internal.h. */
#include "record/export/export_trace_internal.h"

#include <xxhash.h>

#include "analysis/records/step_stats.h"
#include "shm/clock.h"

/* --- Ordinals ------------------------------------------------------------ */

/* Returns an operation's ordinal on its connection; 0 if it is not known. */
static uint64_t ordinal_of(const struct ncs_trace_connection *connection,
			   uint32_t operation)
{
	for (unsigned i = 0; i < NCS_TRACE_ORDINALS; i++)
		if (connection->ordinals[i].operation == operation)
			return connection->ordinals[i].ordinal;
	return 0;
}

void ncs_trace_count_message(struct ncs_trace_connection *connection,
			     uint32_t operation)
{
	if (ordinal_of(connection, operation) != 0)
		return;
	connection->ordinals[connection->count % NCS_TRACE_ORDINALS] =
		(struct ncs_trace_ordinal){ operation, connection->count + 1 };
	connection->count++;
}

/* --- Steps --------------------------------------------------------------- */

/* Returns the number of a message's arrow, which is the same at both ends; 0 if
 * the other end is not in the trace or cannot be identified. */
static uint64_t flow_of(const struct ncs_trace_rank *rank,
			const struct ncs_trace_connection *connection,
			const struct ncs_record *record,
			const struct ncs_trace_operation *known)
{
	const struct ncs_identity *identity = &rank->facts->identity;
	bool send = record->flags & NCS_RECORD_SEND;
	bool numbered = known &&
			known->sequence_number != NCS_NO_SEQUENCE_NUMBER;
	uint64_t number = numbered ? known->sequence_number :
				     ordinal_of(connection, record->operation);
	uint64_t own = (uint32_t)identity->rank;
	uint64_t peer = (uint32_t)record->peer;

	if (!known || !connection->peer_is_there ||
	    !(identity->known & NCS_KNOWN_RANK) || (!numbered && number == 0) ||
	    (rank->ordinals_lost && (!numbered || known->repeat > 0)))
		return 0;
	/* The two ends of a point-to-point message have different functions. */
	const uint64_t words[] = {
		identity->comm_id,
		numbered ? known->function : NCS_FUNCTION_SEND_RECV,
		number,
		(uint64_t)known->repeat << 16 | (uint64_t)numbered << 8 |
			record->channel,
		send ? own << 32 | peer : peer << 32 | own,
		record->number,
	};

	return XXH3_64bits(words, sizeof(words)) | 1;
}

/* Writes the waits inside a step, and the step's end of the arrow: the arrow
 * leaves when the data is sent, and ends when the data has arrived. */
static void put_waits(struct ncs_trace_export *export,
		      const struct ncs_trace_rank *rank,
		      const struct ncs_record *record, uint32_t track,
		      uint64_t flow)
{
	const struct ncs_clock *clock = &rank->facts->clock;
	bool send = record->flags & NCS_RECORD_SEND;
	unsigned last = NCS_STEP_TIMES - 1, leaves = last, arrives = last;
	uint64_t ticks[NCS_STEP_TIMES];
	uint64_t at = record->start;

	ncs_step_split(record, ticks);
	while (leaves > NCS_STEP_FIRST_WAIT && ticks[leaves] == 0)
		leaves--;
	for (unsigned i = last; i > NCS_STEP_FIRST_WAIT; i--)
		if (ticks[i] > 0)
			arrives = i;
	if (ticks[arrives] == 0)
		arrives = NCS_STEP_FIRST_WAIT;
	for (unsigned i = NCS_STEP_FIRST_WAIT; i < NCS_STEP_TIMES; i++) {
		struct ncs_trace_event event = {
			.name = export->channel_states[ncs_step_state(send, i)],
			.category = export->wait,
			.flow = i == (send ? leaves : arrives) ? flow : 0,
			.is_flow_at_end = !send &&
					  arrives == NCS_STEP_FIRST_WAIT,
		};

		if (ticks[i] == 0)
			continue;
		ncs_trace_slice(export->writer, track, ncs_clock_ns(clock, at),
				ncs_clock_ns(clock, at + ticks[i]), &event);
		at += ticks[i];
	}
}

void ncs_trace_export_step(struct ncs_trace_export *export,
			   struct ncs_trace_rank *rank,
			   struct ncs_trace_connection *connection,
			   const struct ncs_record *record,
			   const struct ncs_trace_operation *known)
{
	uint64_t flow = flow_of(rank, connection, record, known);
	struct ncs_export_span span = ncs_export_rank_span(rank->facts, record);
	struct ncs_trace_arguments arguments;
	struct ncs_trace_event event;
	uint32_t track;

	event = ncs_trace_export_event(export, rank, record, 0, known,
				       &arguments);
	if (record->duration == 0)
		event.flow = flow;
	track = ncs_trace_export_slice(export, &connection->steps, &span,
				       &event);
	put_waits(export, rank, record, track, flow);
}
