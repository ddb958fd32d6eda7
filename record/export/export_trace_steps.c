/* SPDX-License-Identifier: MIT */
/* Steps, the waits inside them, and the arrows between the two ends of a
 * message; see export_trace_internal.h. */
#include "record/export/export_trace_internal.h"

#include <xxhash.h>

#include "analysis/records/step_record.h"
#include "shm/clock.h"

/* Returns the number of a message's arrow, which is the same at both ends; 0 if
 * the other end is not in the trace or cannot be identified. */
static uint64_t flow_of(const struct ncs_trace_rank *rank,
			const struct ncs_trace_connection *connection,
			const struct ncs_child *child)
{
	const struct ncs_identity *identity = &rank->facts->identity;
	struct ncs_message_key key;

	if (!connection->peer_is_there || !(identity->known & NCS_KNOWN_RANK) ||
	    !ncs_message_key_of(rank->operations, child, identity->comm_id,
				identity->rank, &key))
		return 0;
	return XXH3_64bits(&key, sizeof(key)) | 1;
}

/* Writes the waits inside a step, and the step's end of the arrow: the arrow
 * leaves when the data is sent, and ends when the data has arrived. */
static void put_waits(const struct ncs_trace_rank *rank,
		      const struct ncs_record *record, uint32_t track,
		      uint64_t flow)
{
	const struct ncs_trace_export *export = rank->export;
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

void ncs_trace_export_step(struct ncs_trace_rank *rank,
			   struct ncs_trace_connection *connection,
			   const struct ncs_child *child)
{
	const struct ncs_record *record = child->record;
	uint64_t flow = flow_of(rank, connection, child);
	struct ncs_export_span span = ncs_export_rank_span(rank->facts, record);
	struct ncs_trace_arguments arguments;
	struct ncs_trace_event event;
	uint32_t track;

	event = ncs_trace_export_event(rank, record, 0, child->operation,
				       &arguments);
	if (record->duration == 0)
		event.flow = flow;
	track = ncs_trace_export_slice(rank->export, &connection->steps, &span,
				       &event);
	put_waits(rank, record, track, flow);
}
