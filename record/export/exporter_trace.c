/* SPDX-License-Identifier: MIT */
/* Exports a recording as a trace of either format: turns records into slices.
 * Records come from files and are not trusted: they may hold any value. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analysis/base/value_names.h"
#include "analysis/records/step_record.h"
#include "analysis/views/timeline.h"
#include "record/export/export_trace_tracks.h"
#include "record/export/exporter.h"
#include "shm/clock.h"

/* --- Arguments ----------------------------------------------------------- */

/* An event, and the arguments that it points to. */
struct event {
	struct ncs_trace_event event;
	struct ncs_trace_argument arguments[NCS_TRACE_ARGUMENTS_MAX];
};

static void add_argument(struct event *to, uint32_t name,
			 enum ncs_trace_value kind, uint64_t value)
{
	to->arguments[to->event.argument_count++] =
		(struct ncs_trace_argument){ name, kind, value };
}

/* Adds an argument that is a word; nothing if the word is 0. */
static void add_word(struct event *to, uint32_t name, uint32_t word)
{
	if (word != 0)
		add_argument(to, name, NCS_TRACE_WORD, word);
}

static void add_field(const struct ncs_trace_rank *rank, struct event *to,
		      const struct ncs_field_value *field)
{
	const struct ncs_trace_export *export = rank->export;
	uint32_t name = export->fields[field->field];
	char room[NCS_EXPORT_TEXT_BYTES];
	const char *text;

	switch (field->kind) {
	case NCS_FIELD_NOTHING:
	case NCS_FIELD_PROXY_STATE:
		break;
	case NCS_FIELD_NUMBER:
		/* Most records stand only for themselves; this is not worth an
		 * argument. */
		if (field->field != NCS_FIELD_STANDS_FOR || field->value != 1)
			add_argument(to, name, NCS_TRACE_NUMBER, field->value);
		break;
	case NCS_FIELD_IS:
		if (field->value)
			add_argument(to, name, NCS_TRACE_FLAG, 1);
		break;
	default:
		text = ncs_export_rank_text(rank->facts, field, room);
		if (text)
			add_word(to, name,
				 ncs_trace_word(export->writer, text));
	}
}

/* Whether a field is left out of the arguments: the track shows it, or it is
 * the number of an operation that the sequence number identifies. */
static bool is_redundant(const struct ncs_record *record, enum ncs_field field,
			 const struct ncs_known_operation *known)
{
	return (field == NCS_FIELD_PEER &&
		ncs_event_has_direction(record->event)) ||
	       (field == NCS_FIELD_OPERATION && known &&
		known->number != NCS_NO_SEQUENCE_NUMBER);
}

/* Makes the event of a record, whose fields become the arguments. `stream` is
 * the record's stream, 0 if the track shows the stream. `known` is the operation
 * that a child belongs to; NULL if it is not known. */
static void make_event(struct event *made, const struct ncs_trace_rank *rank,
		       const struct ncs_record *record, uint64_t stream,
		       const struct ncs_known_operation *known)
{
	const struct ncs_trace_export *export = rank->export;
	struct ncs_field_value fields[NCS_FIELDS_MAX];
	unsigned count =
		ncs_record_fields(record, stream, &rank->facts->clock, fields);
	bool has_function = ncs_event_has_function(record->event) &&
			    record->function < NCS_FUNCTION_COUNT;
	uint32_t category = record->event <= NCS_EVENT_MARK ?
				    export->events[record->event] :
				    0;

	made->event = (struct ncs_trace_event){
		.name = has_function ? export->functions[record->function] :
				       category,
		.category = category,
		.arguments = made->arguments,
	};
	for (unsigned i = 0; i < count; i++)
		if (ncs_field_is_traced(fields[i].field) &&
		    !is_redundant(record, fields[i].field, known))
			add_field(rank, made, &fields[i]);
	if (known && known->number != NCS_NO_SEQUENCE_NUMBER)
		add_argument(made, export->fields[NCS_FIELD_SEQUENCE_NUMBER],
			     NCS_TRACE_NUMBER, known->number);
}

/* --- Slices -------------------------------------------------------------- */

/* Writes a slice to a free track of `tracks`. Returns that track. */
static uint32_t put_slice(const struct ncs_trace_export *export,
			  struct ncs_slice_tracks *tracks,
			  const struct ncs_export_span *span,
			  const struct ncs_trace_event *event)
{
	uint32_t track = ncs_slice_tracks_take(tracks, export->writer,
					       span->start_ns, span->end_ns);

	ncs_trace_slice(export->writer, track, span->start_ns, span->end_ns,
			event);
	return track;
}

/* Writes a slice inside one that is already on the track; nothing if the slice
 * is empty. */
static void put_inner(const struct ncs_trace_export *export, uint32_t track,
		      uint32_t name, uint64_t start_ns, uint64_t end_ns)
{
	const struct ncs_trace_event event = { .name = name,
					       .category = export->part };

	if (end_ns > start_ns)
		ncs_trace_slice(export->writer, track, start_ns, end_ns,
				&event);
}

/* Writes the slice of a record that has neither inner slices nor an arrow.
 * `stream` and `known` are as for make_event(). */
static void put_plain(const struct ncs_trace_rank *rank,
		      struct ncs_slice_tracks *tracks,
		      const struct ncs_record *record, uint64_t stream,
		      const struct ncs_known_operation *known)
{
	const struct ncs_trace_export *export = rank->export;
	struct ncs_export_span span = ncs_export_rank_span(rank->facts, record);
	struct event plain;

	make_event(&plain, rank, record, stream, known);
	if (span.is_by_gpu)
		add_argument(&plain, export->fields[NCS_FIELD_GPU_ERROR_NS],
			     NCS_TRACE_NUMBER, span.gpu_error_ns);
	put_slice(export, tracks, &span, &plain.event);
}

/* --- Steps and messages -------------------------------------------------- */

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

/* Writes a step, the waits inside it, and its end of the message's arrow. */
static void put_step(struct ncs_trace_rank *rank,
		     struct ncs_trace_connection *connection,
		     const struct ncs_child *child)
{
	const struct ncs_record *record = child->record;
	uint64_t flow = flow_of(rank, connection, child);
	struct ncs_export_span span = ncs_export_rank_span(rank->facts, record);
	struct event step;
	uint32_t track;

	make_event(&step, rank, record, 0, child->operation);
	if (record->duration == 0)
		step.event.flow = flow;
	track = put_slice(rank->export, &connection->steps, &span, &step.event);
	put_waits(rank, record, track, flow);
}

/* --- Operations and their children --------------------------------------- */

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
	put_slice(export, &launches->tracks, span, &event);
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
	struct ncs_trace_stream *on = ncs_trace_export_stream(rank, stream);
	struct event put;
	uint32_t track;

	make_event(&put, rank, record, on == &rank->no_stream ? stream : 0,
		   NULL);
	add_word(&put, export->begin_source, export->sources[ran.begin]);
	add_word(&put, export->end_source, export->sources[ran.end]);
	add_word(&put, export->trust,
		 export->doubts[joined ? joined->doubt : NCS_DOUBT_ALONE]);
	if (record->event == NCS_EVENT_COLL && ncs_trace_has_comm_id(rank) &&
	    record->number != NCS_NO_SEQUENCE_NUMBER)
		put.event.correlation =
			correlation_of(rank->facts->identity.comm_id, function,
				       record->number);
	/* The proxy thread may be told of the end after it. */
	span.end_ns = ran.end_ns > last_ns ? ran.end_ns : last_ns;
	track = put_slice(export, &on->functions[function], &span, &put.event);
	put_inner(export, track, export->queued, span.start_ns, ran.begin_ns);
	put_inner(export, track, export->running, ran.begin_ns, ran.end_ns);
	span.start_ns = ran.begin_ns;
	span.end_ns = ran.end_ns;
	put_launch(export, &on->launches, &ticks, &span, &put.event);
}

/* Writes a child once its operation's record has come. */
static int put_child(void *context, const struct ncs_child *child)
{
	struct ncs_trace_rank *rank = context;
	const struct ncs_record *record = child->record;
	bool is_kernel = record->event == NCS_EVENT_KERNEL_CH;
	struct ncs_trace_connection *connection;
	struct ncs_trace_channel *channel;
	struct ncs_slice_tracks *tracks;

	if (is_kernel || record->event == NCS_EVENT_KERNEL_PHASE) {
		channel = ncs_trace_export_channel(rank, record->channel);
		if (!channel)
			return -ENOMEM;
		tracks = is_kernel ? &channel->kernels : &channel->phases;
	} else {
		connection = ncs_trace_export_connection(rank, record);
		if (!connection)
			return -ENOMEM;
		if (record->event == NCS_EVENT_PROXY_STEP) {
			put_step(rank, connection, child);
			return 0;
		}
		tracks = record->event == NCS_EVENT_PROXY_OP ?
				 &connection->operations :
				 &connection->network;
	}
	put_plain(rank, tracks, record, 0, child->operation);
	return 0;
}

/* --- Records ------------------------------------------------------------- */

static void put_proxy(struct ncs_trace_rank *rank,
		      const struct ncs_record *record)
{
	struct ncs_export_span span = ncs_export_rank_span(rank->facts, record);
	unsigned state = record->number < NCS_PROXY_STATE_COUNT ?
				 (unsigned)record->number :
				 NCS_PROXY_UNKNOWN;
	struct event put;

	make_event(&put, rank, record, 0, NULL);
	put.event.name = rank->export->proxy_states[state];
	put_slice(rank->export, &rank->proxy, &span, &put.event);
}

static void put_instant(const struct ncs_trace_rank *rank,
			const struct ncs_record *record)
{
	struct ncs_trace_writer *writer = rank->export->writer;
	const char *path =
		record->event == NCS_EVENT_MARK ?
			ncs_export_rank_path(rank->facts, record->value) :
			NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;
	struct event put;

	make_event(&put, rank, record, 0, NULL);
	/* The last name in the range's path is the mark's own name. */
	if (path)
		put.event.name =
			ncs_trace_word(writer, slash ? slash + 1 : path);
	ncs_trace_instant(writer, rank->marks,
			  ncs_clock_ns(&rank->facts->clock, record->start),
			  &put.event);
}

static int put_call(struct ncs_trace_rank *rank, unsigned lane, uint64_t stream,
		    const struct ncs_record *record)
{
	struct ncs_slice_tracks *calls = ncs_trace_export_calls(rank, lane);

	if (!calls)
		return -ENOMEM;
	put_plain(rank, calls, record, stream, NULL);
	return 0;
}

static int take_record(struct ncs_exporter *exporter, size_t index,
		       unsigned lane, uint64_t stream,
		       const struct ncs_record *record)
{
	struct ncs_trace_rank *rank =
		ncs_trace_export_rank(exporter->own, index);
	const struct ncs_child_visitor visitor = { put_child, rank };
	const struct ncs_known_operation *known;

	switch (record->event) {
	case NCS_EVENT_COLL:
	case NCS_EVENT_P2P:
		put_operation(rank, stream, record);
		return ncs_rank_operations_take(rank->operations, record,
						&visitor, &known);
	case NCS_EVENT_PROXY_OP:
	case NCS_EVENT_PROXY_STEP:
	case NCS_EVENT_NET_PLUGIN:
	case NCS_EVENT_KERNEL_CH:
	case NCS_EVENT_KERNEL_PHASE:
		return ncs_rank_operations_take_child(rank->operations, record,
						      &visitor);
	case NCS_EVENT_PROXY_CTRL:
		put_proxy(rank, record);
		return 0;
	case NCS_EVENT_SETTINGS:
	case NCS_EVENT_MARK:
		put_instant(rank, record);
		return 0;
	case NCS_EVENT_GROUP:
	case NCS_EVENT_GROUP_API:
	case NCS_EVENT_COLL_API:
	case NCS_EVENT_P2P_API:
	case NCS_EVENT_KERNEL_LAUNCH:
	case NCS_EVENT_CE_COLL:
	case NCS_EVENT_CE_SYNC:
	case NCS_EVENT_CE_BATCH:
		return put_call(rank, lane, stream, record);
	default:
		/* An event type of a later version. */
		put_plain(rank, &rank->other, record, stream, NULL);
		return 0;
	}
}

static int take_state(struct ncs_exporter *exporter, size_t index,
		      const struct ncs_snapshot *snapshot, bool is_last)
{
	(void)is_last;
	/* States lack the rank until the communicator is ready. */
	if (snapshot->identity.known & NCS_KNOWN_RANK)
		ncs_trace_export_state(
			ncs_trace_export_rank(exporter->own, index), snapshot);
	return 0;
}

static int lose(struct ncs_exporter *exporter, size_t index)
{
	struct ncs_trace_export *export = exporter->own;

	ncs_rank_operations_lose(export->ranks[index].operations);
	return 0;
}

/* --- Opening and closing ------------------------------------------------- */

static void take_words(struct ncs_trace_export *export)
{
	static const char *const sources[NCS_TIME_SOURCES] = {
		[NCS_TIME_BY_STREAM] = "stream",
		[NCS_TIME_BY_KERNEL] = "kernel",
		[NCS_TIME_BY_PROXY] = "proxy",
		[NCS_TIME_BY_REPORT] = "report",
	};
	struct ncs_trace_writer *writer = export->writer;

	for (unsigned i = 0; i < NCS_FIELD_COUNT; i++)
		export->fields[i] = ncs_trace_word(writer, ncs_field_name(i));
	for (unsigned i = 0; i <= NCS_EVENT_MARK; i++)
		export->events[i] = ncs_trace_word(writer, ncs_event_name(i));
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		export->functions[i] =
			ncs_trace_word(writer, ncs_function_name(i));
	for (unsigned i = 0; i < NCS_CHANNEL_STATE_COUNT; i++)
		export->channel_states[i] =
			ncs_trace_word(writer, ncs_channel_state_name(i));
	for (unsigned i = 0; i < NCS_PROXY_STATE_COUNT; i++)
		export->proxy_states[i] =
			ncs_trace_word(writer, ncs_proxy_state_name(i));
	for (unsigned i = NCS_TIME_BY_STREAM; i < NCS_TIME_SOURCES; i++)
		export->sources[i] = ncs_trace_word(writer, sources[i]);
	for (unsigned i = 0; i < NCS_DOUBT_COUNT; i++)
		export->doubts[i] = ncs_trace_word(writer, ncs_doubt_name(i));
	export->trust = ncs_trace_word(writer, "trust");
	export->begin_source = ncs_trace_word(writer, "begin_source");
	export->end_source = ncs_trace_word(writer, "end_source");
	export->wait = ncs_trace_word(writer, "wait");
	export->part = ncs_trace_word(writer, "part");
	export->launch = ncs_trace_word(writer, "launch");
	export->queued = ncs_trace_word(
		writer, ncs_activities[NCS_ACTIVITY_QUEUED].label);
	export->running = ncs_trace_word(
		writer, ncs_activities[NCS_ACTIVITY_RUNNING].label);
}

static int begin(struct ncs_exporter *exporter)
{
	struct ncs_trace_export *export = calloc(1, sizeof(*export));
	bool is_chrome = exporter->request->format == NCS_EXPORT_CHROME;

	exporter->own = export;
	if (!export)
		return -ENOMEM;
	export->writer = ncs_trace_open(
		is_chrome ? NCS_TRACE_CHROME : NCS_TRACE_PERFETTO,
		exporter->request->file, &exporter->base);
	if (export->writer)
		export->ranks = calloc(exporter->rank_count + 1,
				       sizeof(*export->ranks));
	if (!export->ranks)
		return -ENOMEM;
	export->operations = &exporter->operations;
	take_words(export);
	for (size_t i = 0; i < exporter->rank_count; i++) {
		struct ncs_trace_rank *rank = &export->ranks[i];

		rank->export = export;
		rank->facts = &exporter->ranks[i];
		rank->operations = ncs_rank_operations_new(0);
		if (!rank->operations)
			return -ENOMEM;
		export->rank_count = i + 1;
	}
	return 0;
}

static int end(struct ncs_exporter *exporter)
{
	const struct ncs_export_request *request = exporter->request;
	struct ncs_trace_export *export = exporter->own;
	int error = 0, write_error;
	bool has_begun;

	if (!export)
		return 0;
	has_begun = export->ranks && export->rank_count == exporter->rank_count;
	for (size_t i = 0; i < export->rank_count && !error; i++)
		error = ncs_rank_operations_flush(
			export->ranks[i].operations,
			&(struct ncs_child_visitor){ put_child,
						     &export->ranks[i] });
	if (has_begun && !error && request->add)
		error = request->add(request->context, export->writer);
	for (size_t i = 0; i < export->rank_count; i++)
		ncs_trace_rank_release(&export->ranks[i]);
	write_error = ncs_trace_close(export->writer);
	free(export->ranks);
	free(export);
	return error ? error : write_error;
}

const struct ncs_exporter_functions ncs_exporter_trace = {
	.joins_operations = true,
	.begin = begin,
	.state = take_state,
	.record = take_record,
	.lose = lose,
	.end = end,
};
