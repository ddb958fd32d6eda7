/* SPDX-License-Identifier: MIT */
/* Operations and their children; see export_trace_internal.h. */
#include "record/export/export_trace_internal.h"

#include <errno.h>
#include <xxhash.h>

/* Returns the number that all ranks' parts of a collective share. */
static uint64_t correlation_of(uint64_t comm_id, unsigned function,
			       uint64_t sequence_number)
{
	const uint64_t words[] = { comm_id, function, sequence_number };

	return XXH3_64bits(words, sizeof(words)) | 1;
}

/* Remembers a launch; returns whether it is new. */
static bool is_new_launch(struct ncs_trace_launches *launches,
			  const struct ncs_operation_ticks *ticks)
{
	for (unsigned i = 0; i < NCS_TRACE_OPEN_LAUNCHES; i++)
		if (launches->begin_ticks[i] == ticks->begin &&
		    launches->end_ticks[i] == ticks->end)
			return false;
	launches->begin_ticks[launches->next] = ticks->begin;
	launches->end_ticks[launches->next] = ticks->end;
	launches->next = (launches->next + 1) % NCS_TRACE_OPEN_LAUNCHES;
	return true;
}

/* Writes the launch of an operation's kernel, from its begin to its end on the
 * stream. The operations of a launch have the same times; the first of them
 * stands for all. */
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
	    !is_new_launch(launches, ticks))
		return;
	ncs_trace_export_slice(export, &launches->tracks, span, &event);
}

/* Returns what the records of all ranks tell of an operation; NULL if nothing
 * is known. */
static const struct ncs_exported_operation *
joined_of(const struct ncs_trace_rank *rank, const struct ncs_record *record)
{
	const struct ncs_trace_export *export = rank->export;
	const struct ncs_exported_operation *facts = ncs_operation_table_find(
		export->operations, (size_t)(rank - export->ranks),
		record->operation);

	return facts && facts->is_joined ? facts : NULL;
}

/* Returns when an operation ran, whose children wait for its own record. Sets
 * *last_ns to the end of its last proxy operation; 0 if it has none. */
static struct ncs_operation_run
find_run(const struct ncs_trace_rank *rank, const struct ncs_record *record,
	 const struct ncs_operation_ticks *ticks,
	 const struct ncs_exported_operation *joined, uint64_t *last_ns)
{
	const struct ncs_operation_clocks clocks = { &rank->facts->clock,
						     &rank->facts->gpu };
	uint64_t at_ns[NCS_MOMENT_COUNT] = { 0 };
	struct ncs_children facts = { 0 };
	struct ncs_kernel_trust kernel;
	size_t count;
	const struct ncs_record *children = ncs_rank_operations_waiting(
		rank->operations, record->operation, &count);

	for (size_t i = 0; i < count; i++)
		ncs_children_take(&facts, clocks.host, &children[i]);
	*last_ns = facts.proxy_stop_ns;
	if (ticks->is_on_stream)
		facts = (struct ncs_children){ 0 };
	ncs_operation_times_take(at_ns, &clocks, ticks, &facts);
	kernel = ncs_operation_times_take_kernel(at_ns, &clocks, &facts);
	return ncs_operation_run_of(
		at_ns, &clocks, ticks,
		kernel.is_early || (joined && joined->kernel_end_is_wrong));
}

static void put_operation(struct ncs_trace_rank *rank, uint64_t stream,
			  const struct ncs_record *record)
{
	struct ncs_trace_export *export = rank->export;
	unsigned function = record->function < NCS_FUNCTION_COUNT ?
				    record->function :
				    NCS_FUNCTION_OTHER;
	struct ncs_export_span span = ncs_export_rank_span(rank->facts, record);
	struct ncs_operation_ticks ticks = ncs_operation_ticks(record);
	const struct ncs_exported_operation *joined = joined_of(rank, record);
	uint64_t last_ns;
	struct ncs_operation_run ran =
		find_run(rank, record, &ticks, joined, &last_ns);
	struct ncs_trace_arguments arguments;
	struct ncs_trace_event event;
	struct ncs_trace_stream *on = ncs_trace_export_stream(rank, stream);
	uint32_t track;

	event = ncs_trace_export_event(rank, record,
				       on == &rank->no_stream ? stream : 0,
				       NULL, &arguments);
	ncs_trace_export_add(&arguments, export->begin_source,
			     export->sources[ran.begin]);
	ncs_trace_export_add(&arguments, export->end_source,
			     export->sources[ran.end]);
	ncs_trace_export_add(
		&arguments, export->trust,
		export->doubts[joined ? joined->doubt : NCS_DOUBT_ALONE]);
	event.argument_count = arguments.count;
	if (record->event == NCS_EVENT_COLL && ncs_trace_has_comm_id(rank) &&
	    record->number != NCS_NO_SEQUENCE_NUMBER)
		event.correlation =
			correlation_of(rank->facts->identity.comm_id, function,
				       record->number);
	/* The proxy thread may be told of the end after it. */
	span.end_ns = ran.end_ns > last_ns ? ran.end_ns : last_ns;
	track = ncs_trace_export_slice(export, &on->functions[function], &span,
				       &event);
	ncs_trace_export_inner(export, track, export->queued, span.start_ns,
			       ran.begin_ns);
	ncs_trace_export_inner(export, track, export->running, ran.begin_ns,
			       ran.end_ns);
	span.start_ns = ran.begin_ns;
	span.end_ns = ran.end_ns;
	put_launch(export, &on->launches, &ticks, &span, &event);
}

static int put_child(void *context, const struct ncs_child *child)
{
	struct ncs_trace_rank *rank = context;
	const struct ncs_record *record = child->record;
	const struct ncs_known_operation *known = child->operation;
	struct ncs_trace_connection *connection;
	struct ncs_trace_channel *channel;

	if (record->event == NCS_EVENT_KERNEL_CH ||
	    record->event == NCS_EVENT_KERNEL_PHASE) {
		channel = ncs_trace_export_channel(rank, record->channel);
		if (!channel)
			return -ENOMEM;
		ncs_trace_export_plain(rank,
				       record->event == NCS_EVENT_KERNEL_CH ?
					       &channel->kernels :
					       &channel->phases,
				       record, 0, known);
		return 0;
	}
	connection = ncs_trace_export_connection(rank, record);
	if (!connection)
		return -ENOMEM;
	if (record->event == NCS_EVENT_PROXY_STEP)
		ncs_trace_export_step(rank, connection, child);
	else
		ncs_trace_export_plain(rank,
				       record->event == NCS_EVENT_PROXY_OP ?
					       &connection->operations :
					       &connection->network,
				       record, 0, known);
	return 0;
}

int ncs_trace_export_operation(struct ncs_trace_rank *rank, uint64_t stream,
			       const struct ncs_record *record)
{
	const struct ncs_child_visitor visitor = { put_child, rank };
	const struct ncs_known_operation *known;

	put_operation(rank, stream, record);
	return ncs_rank_operations_take(rank->operations, record, &visitor,
					&known);
}

int ncs_trace_export_child(struct ncs_trace_rank *rank,
			   const struct ncs_record *record)
{
	const struct ncs_child_visitor visitor = { put_child, rank };

	return ncs_rank_operations_take_child(rank->operations, record,
					      &visitor);
}

int ncs_trace_export_rest(struct ncs_trace_rank *rank)
{
	const struct ncs_child_visitor visitor = { put_child, rank };

	return ncs_rank_operations_flush(rank->operations, &visitor);
}
