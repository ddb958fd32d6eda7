/* SPDX-License-Identifier: MIT */
/* Operations and their children; see export_trace_internal.h. */
#include "record/export/export_trace_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <xxhash.h>

#include "analysis/records/operation_record.h"
#include "shm/clock.h"

/* Returns the number that all ranks' parts of a collective share. */
static uint64_t correlation_of(uint64_t comm_id, unsigned function,
			       uint64_t sequence_number)
{
	const uint64_t words[] = { comm_id, function, sequence_number };

	return XXH3_64bits(words, sizeof(words)) | 1;
}

/* Writes the launch of an operation's kernel, from its begin to its end on the
 * stream. The operations of a launch come one after the other, and have the
 * same times; the first of them stands for all. */
static void put_launch(struct ncs_trace_export *export,
		       struct ncs_trace_launches *launches,
		       const struct ncs_operation_ticks *ticks,
		       const struct ncs_export_span *span,
		       const struct ncs_trace_event *operation)
{
	const struct ncs_trace_event event = {
		.name = operation->name,
		.category = export->launch,
		.correlation = operation->correlation,
	};

	if (!ticks->is_on_stream || ticks->begin >= ticks->end ||
	    (ticks->begin == launches->latest_begin &&
	     ticks->end == launches->latest_end))
		return;
	launches->latest_begin = ticks->begin;
	launches->latest_end = ticks->end;
	ncs_trace_export_slice(export, &launches->tracks, span, &event);
}

static void put_operation(struct ncs_trace_export *export,
			  struct ncs_trace_rank *rank, uint64_t stream,
			  const struct ncs_record *record)
{
	unsigned function = record->function < NCS_FUNCTION_COUNT ?
				    record->function :
				    NCS_FUNCTION_OTHER;
	struct ncs_export_span span = ncs_export_rank_span(rank->facts, record);
	struct ncs_operation_ticks ticks = ncs_operation_ticks(record);
	uint64_t running_ns = ncs_clock_ns(&rank->facts->clock, ticks.running);
	struct ncs_trace_arguments arguments;
	struct ncs_trace_event event;
	struct ncs_trace_stream *on =
		ncs_trace_export_stream(export, rank, stream);
	struct ncs_slice_tracks *functions = on ? on->functions :
						  rank->functions;
	uint32_t track;

	event = ncs_trace_export_event(export, rank, record, on ? 0 : stream,
				       NULL, &arguments);
	if (record->event == NCS_EVENT_COLL && ncs_trace_has_comm_id(rank) &&
	    record->number != NCS_NO_SEQUENCE_NUMBER)
		event.correlation =
			correlation_of(rank->facts->identity.comm_id, function,
				       record->number);
	track = ncs_trace_export_slice(export, &functions[function], &span,
				       &event);
	ncs_trace_export_inner(export, track, export->queued, span.start_ns,
			       running_ns);
	ncs_trace_export_inner(export, track, export->running, running_ns,
			       span.end_ns);
	span.start_ns = running_ns;
	put_launch(export, on ? &on->launches : &rank->launches, &ticks, &span,
		   &event);
}

/* Writes a child; `known` is NULL if its operation is not known. */
static int put_child(struct ncs_trace_export *export,
		     struct ncs_trace_rank *rank,
		     const struct ncs_record *record,
		     const struct ncs_trace_operation *known)
{
	struct ncs_trace_connection *connection;
	struct ncs_trace_channel *channel;

	if (record->event == NCS_EVENT_KERNEL_CH ||
	    record->event == NCS_EVENT_KERNEL_PHASE) {
		channel =
			ncs_trace_export_channel(export, rank, record->channel);
		if (!channel)
			return -ENOMEM;
		ncs_trace_export_plain(export, rank,
				       record->event == NCS_EVENT_KERNEL_CH ?
					       &channel->kernels :
					       &channel->phases,
				       record, 0, known);
		return 0;
	}
	connection = ncs_trace_export_connection(export, rank, record);
	if (!connection)
		return -ENOMEM;
	if (record->event == NCS_EVENT_PROXY_STEP)
		ncs_trace_export_step(export, rank, connection, record, known);
	else
		ncs_trace_export_plain(export, rank,
				       record->event == NCS_EVENT_PROXY_OP ?
					       &connection->operations :
					       &connection->network,
				       record, 0, known);
	return 0;
}

/* Writes the deferred children of an operation; `known` as for put_child(). */
static int put_deferred(struct ncs_trace_export *export,
			struct ncs_trace_rank *rank, uint32_t operation,
			const struct ncs_trace_operation *known)
{
	struct ncs_deferred_operation *deferred =
		ncs_deferred_records_take(&rank->deferred, operation);
	int error = 0;

	if (!deferred)
		return 0;
	for (size_t i = 0; i < deferred->count; i++)
		error |= put_child(export, rank, &deferred->records[i], known);
	ncs_deferred_records_give_back(&rank->deferred, deferred);
	return error ? -ENOMEM : 0;
}

int ncs_trace_export_deferred(struct ncs_trace_export *export,
			      struct ncs_trace_rank *rank)
{
	int error = 0;

	while (rank->deferred.oldest)
		error |= put_deferred(export, rank,
				      rank->deferred.oldest->number, NULL);
	return error ? -ENOMEM : 0;
}

/* Returns NULL if the operation is not yet or no longer known. */
static const struct ncs_trace_operation *
find_known(const struct ncs_trace_rank *rank, uint32_t operation)
{
	const struct ncs_trace_operation *known =
		rank->known ? &rank->known[operation % NCS_TRACE_OPERATIONS] :
			      NULL;

	return known && known->operation == operation ? known : NULL;
}

/* Returns NCCL's number of an operation. The number of a transfer is none. */
static uint64_t sequence_number_of(const struct ncs_record *record)
{
	return record->event == NCS_EVENT_COLL ? record->number :
						 NCS_NO_SEQUENCE_NUMBER;
}

/* Counts how often an operation's sequence number has come before. A second
 * record of the same operation does not count. */
static uint32_t count_repeat(struct ncs_trace_rank *rank,
			     const struct ncs_record *record)
{
	struct ncs_trace_latest *latest =
		&rank->latest[(record->number + record->function * 67u) %
			      NCS_TRACE_OPERATIONS];
	bool same = latest->operation != 0 &&
		    latest->sequence_number == record->number &&
		    latest->function == record->function;

	if (sequence_number_of(record) == NCS_NO_SEQUENCE_NUMBER)
		return 0;
	if (!same || latest->operation != record->operation)
		*latest = (struct ncs_trace_latest){
			.operation = record->operation,
			.repeat = same ? latest->repeat + 1 : 0,
			.sequence_number = record->number,
			.function = record->function,
		};
	return latest->repeat;
}

int ncs_trace_export_operation(struct ncs_trace_export *export,
			       struct ncs_trace_rank *rank, uint64_t stream,
			       const struct ncs_record *record)
{
	struct ncs_trace_operation *known;
	uint64_t number = sequence_number_of(record);

	put_operation(export, rank, stream, record);
	if (record->flags & NCS_RECORD_LEFT_OUT &&
	    number == NCS_NO_SEQUENCE_NUMBER)
		rank->ordinals_lost = true;
	if (record->operation == 0)
		return 0;
	if (!rank->known)
		rank->known =
			calloc(NCS_TRACE_OPERATIONS, sizeof(*rank->known));
	if (!rank->latest)
		rank->latest =
			calloc(NCS_TRACE_OPERATIONS, sizeof(*rank->latest));
	if (!rank->known || !rank->latest)
		return -ENOMEM;
	known = &rank->known[record->operation % NCS_TRACE_OPERATIONS];
	*known = (struct ncs_trace_operation){
		.operation = record->operation,
		.event = record->event,
		.function = record->function,
		.repeat = count_repeat(rank, record),
		.sequence_number = number,
	};
	return put_deferred(export, rank, record->operation, known);
}

/* Whether operations of this function have no sequence number. */
static bool is_p2p(unsigned function)
{
	return function == NCS_FUNCTION_SEND || function == NCS_FUNCTION_RECV ||
	       function == NCS_FUNCTION_SEND_RECV;
}

int ncs_trace_export_child(struct ncs_trace_export *export,
			   struct ncs_trace_rank *rank,
			   const struct ncs_record *record)
{
	const struct ncs_trace_operation *known =
		record->operation != 0 ? find_known(rank, record->operation) :
					 NULL;
	struct ncs_trace_connection *connection;
	int error;

	if (record->operation != 0 && ncs_event_has_direction(record->event) &&
	    is_p2p(record->function)) {
		connection = ncs_trace_export_connection(export, rank, record);
		if (!connection)
			return -ENOMEM;
		ncs_trace_count_message(connection, record->operation);
	}
	if (record->operation == 0 || known)
		return put_child(export, rank, record, known);
	error = ncs_deferred_records_add(&rank->deferred, record);
	if (!error && ncs_deferred_records_are_full(&rank->deferred))
		error = put_deferred(export, rank,
				     rank->deferred.oldest->number, NULL);
	return error;
}
