/* SPDX-License-Identifier: MIT */
/* Records as slices; see export_trace.h. Records come out of files and are not
 * trusted: any value may be in them. */
#include "record/export/export_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analysis/base/detail.h"
#include "analysis/base/value_names.h"
#include "analysis/records/step_stats.h"
#include "analysis/views/timeline.h"
#include "record/export/export_counters.h"
#include "record/format/record_fields.h"
#include "record/export/deferred_records.h"
#include "record/export/slice_tracks.h"
#include "record/format/cuda_streams.h"
#include "shm/clock.h"
#include "shm/control.h"

/* Places of tracks below a rank. */
enum {
	PLACE_COUNTERS = 0, /* and the next ones */
	PLACE_MARKS = 100,
	PLACE_CALLS = 101,      /* and the next ones, by lane */
	PLACE_STREAMS = 500,    /* and the next ones */
	PLACE_FUNCTIONS = 1000, /* also below a stream */
	PLACE_PROXY = 1100,
	PLACE_OTHER = 1101,
	PLACE_CHANNELS = 1200,
};

/* … and below a channel; of one direction, those of a peer come together. */
enum { PLACE_KERNEL, PLACE_PHASE, PLACE_SEND, PLACE_RECV };

/* What is known of an operation once its own record has come. */
struct known {
	uint32_t operation; /* 0: nothing */
	uint8_t event;
	uint8_t function;
	uint32_t repeat;          /* how many before it had the same number */
	uint64_t sequence_number; /* NCS_NO_SEQUENCE_NUMBER: it has none */
};

/* Operations that are known, by the low bits of their number; and the latest
 * with a sequence number, by its low bits: where CUDA graphs are launched again
 * and again, they may come again. */
#define KNOWN_MAX 1024u

struct latest {
	uint32_t operation; /* 0: none */
	uint32_t repeat;
	uint64_t sequence_number;
	uint8_t function;
};

/* Operations of a connection that may be under way at once. */
#define PLACES 16u

/* One channel, direction and peer. */
struct connection {
	uint64_t key; /* NCS_CHANNEL_KEY */
	char name[32];
	char operations_name[48];
	char network_name[48];
	struct ncs_slice_tracks steps;
	struct ncs_slice_tracks operations;
	struct ncs_slice_tracks network;
	bool peer_is_there; /* its other end is in the trace, too */
	/* Operations without a sequence number: how many so far, and the places
	 * of the latest. */
	uint64_t count;
	struct place {
		uint32_t operation; /* 0: none */
		uint64_t place;
	} places[PLACES];
};

struct channel {
	uint32_t track;
	struct ncs_slice_tracks kernels;
	struct ncs_slice_tracks phases;
};

#define CHANNELS 256u

/* Operations on one CUDA stream. */
struct stream {
	uint64_t handle;
	struct ncs_slice_tracks functions[NCS_FUNCTION_COUNT];
};

/* More than a program has. Of those beyond operations are found by their
 * argument. */
#define STREAMS_MAX 256u

struct rank {
	const struct ncs_export_rank *who;
	uint32_t track;
	struct ncs_export_counters counters;
	struct ncs_slice_tracks *calls; /* by lane */
	unsigned call_count;
	struct ncs_slice_tracks functions[NCS_FUNCTION_COUNT];
	struct stream *streams;
	unsigned stream_count;
	struct ncs_slice_tracks proxy;
	struct ncs_slice_tracks other;
	uint32_t marks;
	struct channel *channels[CHANNELS];
	struct connection **connections; /* a hash table */
	unsigned connection_slots;
	unsigned connection_count;
	struct ncs_deferred_records held;
	struct known *known;
	struct latest *latest;
	/* Operations that have no sequence number of their own cannot be told
	 * apart any more: records were lost, or left out. */
	bool ordinals_lost;
};

struct ncs_trace_export {
	struct ncs_trace_writer *writer;
	struct rank *ranks;
	size_t rank_count;
	uint32_t fields[NCS_FIELD_COUNT]; /* words */
	uint32_t events[NCS_EVENT_MARK + 1];
	uint32_t functions[NCS_FUNCTION_COUNT];
	uint32_t channel_states[NCS_CHANNEL_STATE_COUNT];
	uint32_t proxy_states[NCS_PROXY_STATE_COUNT];
	uint32_t wait;
	uint32_t part;
	uint32_t queued;
	uint32_t running;
};

/* --- Opening and closing --------------------------------------------------- */

static void take_words(struct ncs_trace_export *export)
{
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
	export->wait = ncs_trace_word(writer, "wait");
	export->part = ncs_trace_word(writer, "part");
	export->queued =
		ncs_trace_word(writer, ncs_activity_label(NCS_ACTIVITY_QUEUED));
	export->running = ncs_trace_word(
		writer, ncs_activity_label(NCS_ACTIVITY_RUNNING));
}

struct ncs_trace_export *
ncs_trace_export_open(struct ncs_trace_writer *writer,
		      const struct ncs_export_rank *ranks, size_t count)
{
	struct ncs_trace_export *export = calloc(1, sizeof(*export));

	if (!export)
		return NULL;
	export->writer = writer;
	export->rank_count = count;
	export->ranks = calloc(count ? count : 1, sizeof(*export->ranks));
	if (!export->ranks) {
		free(export);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		export->ranks[i].who = &ranks[i];
	take_words(export);
	return export;
}

static void release_connections(struct rank *rank)
{
	for (unsigned i = 0; i < rank->connection_slots; i++) {
		struct connection *connection = rank->connections[i];

		if (!connection)
			continue;
		ncs_slice_tracks_release(&connection->steps);
		ncs_slice_tracks_release(&connection->operations);
		ncs_slice_tracks_release(&connection->network);
		free(connection);
	}
	free(rank->connections);
}

static void release_functions(struct ncs_slice_tracks *functions)
{
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		ncs_slice_tracks_release(&functions[i]);
}

static void release_rank(struct rank *rank)
{
	for (unsigned i = 0; i < rank->call_count; i++)
		ncs_slice_tracks_release(&rank->calls[i]);
	free(rank->calls);
	release_functions(rank->functions);
	for (unsigned i = 0; i < rank->stream_count; i++)
		release_functions(rank->streams[i].functions);
	free(rank->streams);
	ncs_slice_tracks_release(&rank->proxy);
	ncs_slice_tracks_release(&rank->other);
	for (unsigned i = 0; i < CHANNELS; i++) {
		if (!rank->channels[i])
			continue;
		ncs_slice_tracks_release(&rank->channels[i]->kernels);
		ncs_slice_tracks_release(&rank->channels[i]->phases);
		free(rank->channels[i]);
	}
	release_connections(rank);
	ncs_deferred_records_release(&rank->held);
	free(rank->known);
	free(rank->latest);
}

void ncs_trace_export_close(struct ncs_trace_export *export)
{
	if (!export)
		return;
	for (size_t i = 0; i < export->rank_count; i++)
		release_rank(&export->ranks[i]);
	free(export->ranks);
	free(export);
}

/* --- Tracks ------------------------------------------------------------------ */

static bool has_comm_id(const struct ncs_export_rank *who)
{
	return who->identity.known & NCS_KNOWN_COMM_ID;
}

/* Of the first rank of the same communicator that has its track already. */
static uint32_t communicator_track(struct ncs_trace_export *export,
				   const struct ncs_export_rank *who)
{
	char name[192];

	for (size_t i = 0; i < export->rank_count; i++) {
		const struct rank *other = &export->ranks[i];

		if (other->track != 0 && has_comm_id(who) &&
		    has_comm_id(other->who) &&
		    other->who->identity.comm_id == who->identity.comm_id)
			return ncs_trace_parent(export->writer, other->track);
	}
	snprintf(name, sizeof(name), "communicator %s",
		 who->communicator[0] ? who->communicator : "-");
	return ncs_trace_track(export->writer, 0, name, 0);
}

static void name_rank(const struct ncs_export_rank *who, char *name,
		      size_t size)
{
	const struct ncs_identity *identity = &who->identity;
	char number[16] = "-";

	if (identity->known & NCS_KNOWN_RANK)
		snprintf(number, sizeof(number), "%d", identity->rank);
	snprintf(name, size, "rank %s (%s, pid %u%s%.*s)", number, who->host,
		 who->pid, identity->known & NCS_KNOWN_GPU ? ", GPU " : "",
		 identity->known & NCS_KNOWN_GPU ? (int)sizeof(identity->gpu) :
						   0,
		 identity->gpu);
}

static void begin_functions(struct ncs_slice_tracks *functions, uint32_t parent)
{
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		functions[i] = (struct ncs_slice_tracks){
			.parent = parent,
			.place = PLACE_FUNCTIONS + i,
			.name = ncs_function_name(i)
		};
}

static struct rank *rank_of(struct ncs_trace_export *export, size_t index)
{
	struct rank *rank = &export->ranks[index];
	struct ncs_trace_writer *writer = export->writer;
	const struct ncs_identity *identity = &rank->who->identity;
	char name[256];

	if (rank->track != 0)
		return rank;
	name_rank(rank->who, name, sizeof(name));
	rank->track = ncs_trace_process(
		writer, communicator_track(export, rank->who), name,
		identity->known & NCS_KNOWN_RANK ? (uint32_t)identity->rank :
						   UINT32_MAX);
	rank->counters.parent = rank->track;
	rank->counters.place = PLACE_COUNTERS;
	rank->marks =
		ncs_trace_track(writer, rank->track, "marks", PLACE_MARKS);
	begin_functions(rank->functions, rank->track);
	rank->proxy = (struct ncs_slice_tracks){ .parent = rank->track,
						 .place = PLACE_PROXY,
						 .name = "proxy thread" };
	rank->other = (struct ncs_slice_tracks){ .parent = rank->track,
						 .place = PLACE_OTHER,
						 .name = "other events" };
	return rank;
}

static struct stream *find_stream(const struct rank *rank, uint64_t handle)
{
	for (unsigned i = 0; i < rank->stream_count; i++)
		if (rank->streams[i].handle == handle)
			return &rank->streams[i];
	return NULL;
}

/* NULL: there are too many, or there is no memory. */
static struct stream *add_stream(struct ncs_trace_export *export,
				 struct rank *rank, uint64_t handle)
{
	unsigned count = rank->stream_count;
	struct stream *streams = rank->streams;
	char handle_text[NCS_CUDA_STREAM_TEXT_BYTES], name[32];

	if (count == STREAMS_MAX)
		return NULL;
	streams = realloc(streams, (count + 1) * sizeof(*streams));
	if (!streams)
		return NULL;
	rank->streams = streams;
	streams[count].handle = handle;
	ncs_cuda_stream_text(handle, handle_text);
	snprintf(name, sizeof(name), "stream %s", handle_text);
	begin_functions(streams[count].functions,
			ncs_trace_track(export->writer, rank->track, name,
					PLACE_STREAMS + count));
	return &streams[rank->stream_count++];
}

/* Where a rank's operations on a stream are, by function; NULL: on none of its
 * own. */
static struct stream *stream_of(struct ncs_trace_export *export,
				struct rank *rank, uint64_t stream)
{
	uint64_t handle = NCS_RECORD_STREAM_HANDLE(stream);
	struct stream *found;

	if (stream == 0)
		return NULL;
	found = find_stream(rank, handle);
	return found ? found : add_stream(export, rank, handle);
}

/* NULL: no memory. */
static struct ncs_slice_tracks *calls_of(struct rank *rank, unsigned lane)
{
	struct ncs_slice_tracks *calls = rank->calls;

	if (lane >= rank->call_count) {
		calls = realloc(calls, (lane + 1) * sizeof(*calls));
		if (!calls)
			return NULL;
		rank->calls = calls;
		for (unsigned i = rank->call_count; i <= lane; i++)
			calls[i] = (struct ncs_slice_tracks){
				.parent = rank->track,
				.place = PLACE_CALLS + i,
				.name = "API"
			};
		rank->call_count = lane + 1;
	}
	return &calls[lane];
}

static struct channel *channel_of(struct ncs_trace_export *export,
				  struct rank *rank, uint8_t number)
{
	struct channel *channel = rank->channels[number];
	char name[32];

	if (channel)
		return channel;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return NULL;
	snprintf(name, sizeof(name), "channel %u", number);
	channel->track = ncs_trace_track(export->writer, rank->track, name,
					 PLACE_CHANNELS + number);
	channel->kernels = (struct ncs_slice_tracks){ .parent = channel->track,
						      .place = PLACE_KERNEL,
						      .name = "kernel" };
	channel->phases = (struct ncs_slice_tracks){ .parent = channel->track,
						     .place = PLACE_PHASE,
						     .name = "kernel phases" };
	rank->channels[number] = channel;
	return channel;
}

/* --- Connections ------------------------------------------------------------- */

static struct connection **slot_of(const struct rank *rank, uint64_t key)
{
	unsigned mask = rank->connection_slots - 1;
	unsigned i = (unsigned)XXH3_64bits(&key, sizeof(key)) & mask;

	while (rank->connections[i] && rank->connections[i]->key != key)
		i = (i + 1) & mask;
	return &rank->connections[i];
}

/* Room for one more, half of the slots empty. */
static int grow_connections(struct rank *rank)
{
	unsigned count = rank->connection_slots;
	struct connection **before = rank->connections;

	if (count > 2 * rank->connection_count)
		return 0;
	rank->connection_slots = count ? 2 * count : 16;
	rank->connections =
		calloc(rank->connection_slots, sizeof(*rank->connections));
	if (!rank->connections) {
		rank->connections = before;
		rank->connection_slots = count;
		return -ENOMEM;
	}
	for (unsigned i = 0; i < count; i++)
		if (before[i])
			*slot_of(rank, before[i]->key) = before[i];
	free(before);
	return 0;
}

static bool has_rank(const struct ncs_trace_export *export,
		     const struct ncs_export_rank *who, int32_t number)
{
	for (size_t i = 0; has_comm_id(who) && i < export->rank_count; i++) {
		const struct ncs_export_rank *other = export->ranks[i].who;

		if (has_comm_id(other) &&
		    other->identity.comm_id == who->identity.comm_id &&
		    other->identity.known & NCS_KNOWN_RANK &&
		    other->identity.rank == number)
			return true;
	}
	return false;
}

static void begin_connection(struct connection *connection, uint32_t parent)
{
	bool send = NCS_CHANNEL_KEY_SEND(connection->key);
	int32_t peer = NCS_CHANNEL_KEY_PEER(connection->key);
	uint32_t place =
		(uint32_t)peer * 8 + (send ? PLACE_SEND : PLACE_RECV) * 2;

	snprintf(connection->name, sizeof(connection->name), "%s %d",
		 send ? "send ->" : "recv <-", peer);
	snprintf(connection->operations_name,
		 sizeof(connection->operations_name), "%s operations",
		 connection->name);
	snprintf(connection->network_name, sizeof(connection->network_name),
		 "%s network plugin", connection->name);
	connection->steps = (struct ncs_slice_tracks){
		.parent = parent, .place = place, .name = connection->name
	};
	connection->operations = (struct ncs_slice_tracks){
		.parent = parent,
		.place = place + 1,
		.name = connection->operations_name
	};
	connection->network =
		(struct ncs_slice_tracks){ .parent = parent,
					   .place = place + 1,
					   .name = connection->network_name };
}

/* NULL: no memory. */
static struct connection *connection_of(struct ncs_trace_export *export,
					struct rank *rank,
					const struct ncs_record *record)
{
	uint64_t key = NCS_CHANNEL_KEY(
		record->channel, record->flags & NCS_RECORD_SEND, record->peer);
	struct connection *connection;
	struct channel *channel;

	if (rank->connection_slots > 0 && *slot_of(rank, key))
		return *slot_of(rank, key);
	channel = channel_of(export, rank, record->channel);
	if (!channel || grow_connections(rank) != 0)
		return NULL;
	connection = calloc(1, sizeof(*connection));
	if (!connection)
		return NULL;
	connection->key = key;
	connection->peer_is_there = has_rank(export, rank->who, record->peer);
	begin_connection(connection, channel->track);
	*slot_of(rank, key) = connection;
	rank->connection_count++;
	return connection;
}

/* --- Arguments --------------------------------------------------------------- */

struct arguments {
	struct ncs_trace_argument list[NCS_TRACE_ARGUMENTS_MAX];
	unsigned count;
};

static void add_argument(struct arguments *arguments, uint32_t name,
			 enum ncs_trace_value kind, uint64_t value)
{
	arguments->list[arguments->count++] =
		(struct ncs_trace_argument){ name, kind, value };
}

static uint32_t detail_word(struct ncs_trace_export *export, uint64_t bits)
{
	struct ncs_detail detail;
	char text[256];

	if (!ncs_detail_unpack(bits, &detail))
		return 0;
	ncs_detail_text(&detail, text, sizeof(text));
	return ncs_trace_word(export->writer, text);
}

static uint32_t path_word(struct ncs_trace_export *export,
			  const struct rank *rank, uint64_t range)
{
	const char *path = ncs_export_rank_path(rank->who, range);

	return path ? ncs_trace_word(export->writer, path) : 0;
}

static uint32_t stream_word(struct ncs_trace_export *export, uint64_t handle)
{
	char text[NCS_CUDA_STREAM_TEXT_BYTES];

	ncs_cuda_stream_text(handle, text);
	return ncs_trace_word(export->writer, text);
}

static void add_word(struct arguments *arguments, uint32_t name, uint32_t word)
{
	if (word != 0)
		add_argument(arguments, name, NCS_TRACE_WORD, word);
}

static void add_field(struct ncs_trace_export *export, const struct rank *rank,
		      struct arguments *arguments,
		      const struct ncs_field_value *field)
{
	uint32_t name = export->fields[field->field];

	switch (field->kind) {
	case NCS_FIELD_NOTHING:
	case NCS_FIELD_PROXY_STATE:
		break;
	case NCS_FIELD_NUMBER:
		/* What stands for itself is as it should be. */
		if (field->field != NCS_FIELD_STANDS_FOR || field->value != 1)
			add_argument(arguments, name, NCS_TRACE_NUMBER,
				     field->value);
		break;
	case NCS_FIELD_IS:
		if (field->value)
			add_argument(arguments, name, NCS_TRACE_FLAG, 1);
		break;
	case NCS_FIELD_RANGE_PATH:
		add_word(arguments, name,
			 path_word(export, rank, field->value));
		break;
	case NCS_FIELD_DETAIL:
		add_word(arguments, name, detail_word(export, field->value));
		break;
	case NCS_FIELD_HANDLE:
		add_word(arguments, name, stream_word(export, field->value));
		break;
	}
}

/* What the track says, and the number of an operation whose own slice can be
 * found by its sequence number. */
static bool is_told(const struct ncs_record *record, enum ncs_field field,
		    const struct known *known)
{
	return (field == NCS_FIELD_PEER &&
		ncs_event_has_direction(record->event)) ||
	       (field == NCS_FIELD_OPERATION && known &&
		known->sequence_number != NCS_NO_SEQUENCE_NUMBER);
}

static void add_fields(struct ncs_trace_export *export, const struct rank *rank,
		       const struct ncs_record *record, uint64_t stream,
		       const struct known *known, struct arguments *arguments)
{
	struct ncs_field_value fields[NCS_FIELDS_MAX];
	unsigned count =
		ncs_record_fields(record, stream, &rank->who->clock, fields);

	arguments->count = 0;
	for (unsigned i = 0; i < count; i++)
		if (ncs_field_is_traced(fields[i].field) &&
		    !is_told(record, fields[i].field, known))
			add_field(export, rank, arguments, &fields[i]);
	if (known && known->sequence_number != NCS_NO_SEQUENCE_NUMBER)
		add_argument(arguments,
			     export->fields[NCS_FIELD_SEQUENCE_NUMBER],
			     NCS_TRACE_NUMBER, known->sequence_number);
}

static struct ncs_trace_event event_of(const struct ncs_trace_export *export,
				       const struct ncs_record *record,
				       const struct arguments *arguments)
{
	bool has_function = ncs_event_has_function(record->event) &&
			    record->function < NCS_FUNCTION_COUNT;
	uint32_t category = record->event <= NCS_EVENT_MARK ?
				    export->events[record->event] :
				    0;

	return (struct ncs_trace_event){
		.name = has_function ? export->functions[record->function] :
				       category,
		.category = category,
		.arguments = arguments->list,
		.argument_count = arguments->count,
	};
}

/* --- Slices ------------------------------------------------------------------ */

/* A slice on a lane; returns its track. */
static uint32_t put_slice(struct ncs_trace_export *export,
			  struct ncs_slice_tracks *lanes,
			  const struct ncs_export_span *span,
			  const struct ncs_trace_event *event)
{
	uint32_t track = ncs_slice_tracks_take(lanes, export->writer,
					       span->start_ns, span->end_ns);

	ncs_trace_slice(export->writer, track, span->start_ns, span->end_ns,
			event);
	return track;
}

/* A part of what is on the track already. */
static void put_part(struct ncs_trace_export *export, uint32_t track,
		     uint32_t name, uint64_t start_ns, uint64_t end_ns)
{
	const struct ncs_trace_event event = { .name = name,
					       .category = export->part };

	if (end_ns > start_ns)
		ncs_trace_slice(export->writer, track, start_ns, end_ns,
				&event);
}

uint64_t ncs_collective_correlation(uint64_t comm_id, unsigned function,
				    uint64_t sequence_number)
{
	const uint64_t words[] = { comm_id, function, sequence_number };

	return XXH3_64bits(words, sizeof(words)) | 1;
}

static void put_operation(struct ncs_trace_export *export, struct rank *rank,
			  uint64_t stream, const struct ncs_record *record)
{
	unsigned function = record->function < NCS_FUNCTION_COUNT ?
				    record->function :
				    NCS_FUNCTION_OTHER;
	struct ncs_export_span span = ncs_export_rank_span(rank->who, record);
	struct arguments arguments;
	struct ncs_trace_event event;
	uint64_t delta = record->delta[1] != 0 ? record->delta[1] :
						 record->delta[0];
	uint64_t begun_ns = span.end_ns;
	struct stream *on = stream_of(export, rank, stream);
	struct ncs_slice_tracks *functions = on ? on->functions :
						  rank->functions;
	uint32_t track;

	/* Else the tracks tell it. */
	add_fields(export, rank, record, on ? 0 : stream, NULL, &arguments);
	event = event_of(export, record, &arguments);
	if (record->event == NCS_EVENT_COLL && has_comm_id(rank->who) &&
	    record->number != NCS_NO_SEQUENCE_NUMBER)
		event.correlation = ncs_collective_correlation(
			rank->who->identity.comm_id, function, record->number);
	track = put_slice(export, &functions[function], &span, &event);
	/* Of kernels alone it is not told when they begin. */
	if (delta != 0 && delta < record->duration)
		begun_ns =
			ncs_clock_ns(&rank->who->clock, record->start + delta);
	put_part(export, track, export->queued, span.start_ns, begun_ns);
	put_part(export, track, export->running, begun_ns, span.end_ns);
}

/* --- Steps ------------------------------------------------------------------- */

/* The place of an operation among those of its connection; 0: not known. */
static uint64_t place_of(const struct connection *connection,
			 uint32_t operation)
{
	for (unsigned i = 0; i < PLACES; i++)
		if (connection->places[i].operation == operation)
			return connection->places[i].place;
	return 0;
}

/* Operations of a connection begin one after another, at both of its ends: so
 * they are counted as their first records come, not as they are explained. */
static void count_operation(struct connection *connection, uint32_t operation)
{
	if (place_of(connection, operation) != 0)
		return;
	connection->places[connection->count % PLACES] =
		(struct place){ operation, connection->count + 1 };
	connection->count++;
}

/* Whether operations of this function have no sequence number. */
static bool is_p2p(unsigned function)
{
	return function == NCS_FUNCTION_SEND || function == NCS_FUNCTION_RECV ||
	       function == NCS_FUNCTION_SEND_RECV;
}

/* The number of a message's arrow; 0: its other end is not in the trace, or
 * cannot be told. Both ends come to the same. */
static uint64_t flow_of(const struct rank *rank,
			const struct connection *connection,
			const struct ncs_record *record,
			const struct known *known)
{
	const struct ncs_identity *identity = &rank->who->identity;
	bool send = record->flags & NCS_RECORD_SEND;
	bool numbered = known &&
			known->sequence_number != NCS_NO_SEQUENCE_NUMBER;
	uint64_t number = numbered ? known->sequence_number :
				     place_of(connection, record->operation);
	uint64_t own = (uint32_t)identity->rank;
	uint64_t peer = (uint32_t)record->peer;

	if (!known || !connection->peer_is_there ||
	    !(identity->known & NCS_KNOWN_RANK) || (!numbered && number == 0) ||
	    (rank->ordinals_lost && (!numbered || known->repeat > 0)))
		return 0;
	/* Of what is sent and received point to point, each end has a function
	 * of its own. */
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

/* The waits inside a step. The arrow leaves as the data goes onto the wire, and
 * arrives as it has come. */
static void put_waits(struct ncs_trace_export *export, const struct rank *rank,
		      const struct ncs_record *record, uint32_t track,
		      uint64_t flow)
{
	const struct ncs_clock *clock = &rank->who->clock;
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

static void put_step(struct ncs_trace_export *export, struct rank *rank,
		     struct connection *connection,
		     const struct ncs_record *record, const struct known *known)
{
	uint64_t flow = flow_of(rank, connection, record, known);
	struct ncs_export_span span = ncs_export_rank_span(rank->who, record);
	struct arguments arguments;
	struct ncs_trace_event event;
	uint32_t track;

	add_fields(export, rank, record, 0, known, &arguments);
	event = event_of(export, record, &arguments);
	if (record->duration == 0)
		event.flow = flow;
	track = put_slice(export, &connection->steps, &span, &event);
	put_waits(export, rank, record, track, flow);
}

/* --- Parts of operations ----------------------------------------------------- */

static void put_plain(struct ncs_trace_export *export, struct rank *rank,
		      struct ncs_slice_tracks *lanes,
		      const struct ncs_record *record, uint64_t stream,
		      const struct known *known)
{
	struct ncs_export_span span = ncs_export_rank_span(rank->who, record);
	struct arguments arguments;
	struct ncs_trace_event event;

	add_fields(export, rank, record, stream, known, &arguments);
	if (span.is_by_gpu)
		add_argument(&arguments, export->fields[NCS_FIELD_GPU_ERROR_NS],
			     NCS_TRACE_NUMBER, span.gpu_error_ns);
	event = event_of(export, record, &arguments);
	put_slice(export, lanes, &span, &event);
}

/* A part of an operation; `known` NULL: of none that is known. */
static int put_child(struct ncs_trace_export *export, struct rank *rank,
		     const struct ncs_record *record, const struct known *known)
{
	struct connection *connection;
	struct channel *channel;

	if (record->event == NCS_EVENT_KERNEL_CH ||
	    record->event == NCS_EVENT_KERNEL_PHASE) {
		channel = channel_of(export, rank, record->channel);
		if (!channel)
			return -ENOMEM;
		put_plain(export, rank,
			  record->event == NCS_EVENT_KERNEL_CH ?
				  &channel->kernels :
				  &channel->phases,
			  record, 0, known);
		return 0;
	}
	connection = connection_of(export, rank, record);
	if (!connection)
		return -ENOMEM;
	if (record->event == NCS_EVENT_PROXY_STEP)
		put_step(export, rank, connection, record, known);
	else
		put_plain(export, rank,
			  record->event == NCS_EVENT_PROXY_OP ?
				  &connection->operations :
				  &connection->network,
			  record, 0, known);
	return 0;
}

static int put_held(struct ncs_trace_export *export, struct rank *rank,
		    uint32_t operation, const struct known *known)
{
	struct ncs_deferred_operation *held =
		ncs_deferred_records_take(&rank->held, operation);
	int error = 0;

	if (!held)
		return 0;
	for (uint32_t i = 0; i < held->count; i++)
		error |= put_child(export, rank, &held->records[i], known);
	ncs_deferred_records_give_back(&rank->held, held);
	return error ? -ENOMEM : 0;
}

/* NULL: it is not known yet, or not any more. */
static const struct known *find_known(const struct rank *rank,
				      uint32_t operation)
{
	const struct known *known =
		rank->known ? &rank->known[operation % KNOWN_MAX] : NULL;

	return known && known->operation == operation ? known : NULL;
}

/* How often an operation's sequence number has come before; the number of a
 * record that comes again is its own. */
static uint32_t count_repeat(struct rank *rank, const struct ncs_record *record)
{
	struct latest *latest =
		&rank->latest[(record->number + record->function * 67u) %
			      KNOWN_MAX];
	bool same = latest->operation != 0 &&
		    latest->sequence_number == record->number &&
		    latest->function == record->function;

	if (record->number == NCS_NO_SEQUENCE_NUMBER)
		return 0;
	if (!same || latest->operation != record->operation)
		*latest = (struct latest){
			.operation = record->operation,
			.repeat = same ? latest->repeat + 1 : 0,
			.sequence_number = record->number,
			.function = record->function,
		};
	return latest->repeat;
}

static int take_operation(struct ncs_trace_export *export, struct rank *rank,
			  uint64_t stream, const struct ncs_record *record)
{
	struct known *known;

	put_operation(export, rank, stream, record);
	if (record->flags & NCS_RECORD_LEFT_OUT &&
	    record->number == NCS_NO_SEQUENCE_NUMBER)
		rank->ordinals_lost = true;
	if (record->operation == 0)
		return 0;
	if (!rank->known)
		rank->known = calloc(KNOWN_MAX, sizeof(*rank->known));
	if (!rank->latest)
		rank->latest = calloc(KNOWN_MAX, sizeof(*rank->latest));
	if (!rank->known || !rank->latest)
		return -ENOMEM;
	known = &rank->known[record->operation % KNOWN_MAX];
	*known = (struct known){
		.operation = record->operation,
		.event = record->event,
		.function = record->function,
		.repeat = count_repeat(rank, record),
		.sequence_number = record->number,
	};
	return put_held(export, rank, record->operation, known);
}

static int take_child(struct ncs_trace_export *export, struct rank *rank,
		      const struct ncs_record *record)
{
	const struct known *known =
		record->operation != 0 ? find_known(rank, record->operation) :
					 NULL;
	struct connection *connection;
	int error;

	if (record->operation != 0 && ncs_event_has_direction(record->event) &&
	    is_p2p(record->function)) {
		connection = connection_of(export, rank, record);
		if (!connection)
			return -ENOMEM;
		count_operation(connection, record->operation);
	}
	if (record->operation == 0 || known)
		return put_child(export, rank, record, known);
	error = ncs_deferred_records_add(&rank->held, record);
	if (!error && ncs_deferred_records_are_full(&rank->held))
		error = put_held(export, rank, rank->held.oldest->number, NULL);
	return error;
}

/* --- Everything else --------------------------------------------------------- */

static void put_proxy(struct ncs_trace_export *export, struct rank *rank,
		      const struct ncs_record *record)
{
	struct ncs_export_span span = ncs_export_rank_span(rank->who, record);
	struct arguments arguments;
	struct ncs_trace_event event;

	add_fields(export, rank, record, 0, NULL, &arguments);
	event = event_of(export, record, &arguments);
	event.name =
		export->proxy_states[record->number < NCS_PROXY_STATE_COUNT ?
					     record->number :
					     NCS_PROXY_UNKNOWN];
	put_slice(export, &rank->proxy, &span, &event);
}

static void put_moment(struct ncs_trace_export *export, struct rank *rank,
		       const struct ncs_record *record)
{
	const char *path =
		record->event == NCS_EVENT_MARK ?
			ncs_export_rank_path(rank->who, record->value) :
			NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;
	struct arguments arguments;
	struct ncs_trace_event event;

	add_fields(export, rank, record, 0, NULL, &arguments);
	event = event_of(export, record, &arguments);
	/* A mark's own name is the last of the path. */
	if (path)
		event.name = ncs_trace_word(export->writer,
					    slash ? slash + 1 : path);
	ncs_trace_instant(export->writer, rank->marks,
			  ncs_clock_ns(&rank->who->clock, record->start),
			  &event);
}

static int put_call(struct ncs_trace_export *export, struct rank *rank,
		    unsigned lane, uint64_t stream,
		    const struct ncs_record *record)
{
	struct ncs_slice_tracks *calls = calls_of(rank, lane);

	if (!calls)
		return -ENOMEM;
	put_plain(export, rank, calls, record, stream, NULL);
	return 0;
}

int ncs_trace_export_record(struct ncs_trace_export *export, size_t index,
			    unsigned lane, uint64_t stream,
			    const struct ncs_record *record)
{
	struct rank *rank = rank_of(export, index);

	switch (record->event) {
	case NCS_EVENT_COLL:
	case NCS_EVENT_P2P:
		return take_operation(export, rank, stream, record);
	case NCS_EVENT_PROXY_OP:
	case NCS_EVENT_PROXY_STEP:
	case NCS_EVENT_NET_PLUGIN:
	case NCS_EVENT_KERNEL_CH:
	case NCS_EVENT_KERNEL_PHASE:
		return take_child(export, rank, record);
	case NCS_EVENT_PROXY_CTRL:
		put_proxy(export, rank, record);
		return 0;
	case NCS_EVENT_SETTINGS:
	case NCS_EVENT_MARK:
		put_moment(export, rank, record);
		return 0;
	case NCS_EVENT_GROUP:
	case NCS_EVENT_GROUP_API:
	case NCS_EVENT_COLL_API:
	case NCS_EVENT_P2P_API:
	case NCS_EVENT_KERNEL_LAUNCH:
	case NCS_EVENT_CE_COLL:
	case NCS_EVENT_CE_SYNC:
	case NCS_EVENT_CE_BATCH:
		return put_call(export, rank, lane, stream, record);
	default:
		/* Of a later version. */
		put_plain(export, rank, &rank->other, record, stream, NULL);
		return 0;
	}
}

void ncs_trace_export_state(struct ncs_trace_export *export, size_t index,
			    const struct ncs_snapshot *snapshot)
{
	/* Before that it has no name, and nothing happens. */
	if (snapshot->identity.known & NCS_KNOWN_RANK)
		ncs_export_counters_take(&rank_of(export, index)->counters,
					 export->writer, snapshot);
}

void ncs_trace_export_lose(struct ncs_trace_export *export, size_t index)
{
	export->ranks[index].ordinals_lost = true;
}

int ncs_trace_export_finish(struct ncs_trace_export *export)
{
	int error = 0;

	for (size_t i = 0; i < export->rank_count; i++) {
		struct rank *rank = &export->ranks[i];

		while (rank->held.oldest)
			error |= put_held(export, rank,
					  rank->held.oldest->number, NULL);
	}
	return error ? -ENOMEM : 0;
}
