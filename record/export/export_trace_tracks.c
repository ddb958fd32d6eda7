/* SPDX-License-Identifier: MIT */
/* The tracks of a rank, made when something first lies on them; see
 * export_trace_tracks.h. */
#include "record/export/export_trace_tracks.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/model/model.h"
#include "ncclstat/abi_channel.h"
#include "shm/array.h"
#include "shm/hash.h"

/* Order of the tracks below a rank. */
enum {
	PLACE_IN_FLIGHT,
	PLACE_BYTES,                    /* received, then sent */
	PLACE_SHARES = PLACE_BYTES + 2, /* and those of the other states */
	PLACE_MARKS = 100,
	PLACE_CALLS = 101,   /* and the following places, one per lane */
	PLACE_STREAMS = 500, /* and the following places, one per CUDA stream */
	PLACE_LAUNCHES = 999, /* also below a stream, like the next ones */
	PLACE_FUNCTIONS = 1000,
	PLACE_PROXY = 1100,
	PLACE_OTHER = 1101,
	PLACE_CHANNELS = 1200, /* and the following places, one per channel */
};

/* Order of the tracks below a channel. The tracks of one peer and direction are
 * adjacent. */
enum { PLACE_KERNEL, PLACE_PHASE, PLACE_SEND, PLACE_RECV };

/* --- Ranks --------------------------------------------------------------- */

static bool is_of_one_communicator(const struct ncs_trace_rank *a,
				   const struct ncs_trace_rank *b)
{
	return ncs_trace_has_comm_id(a) && ncs_trace_has_comm_id(b) &&
	       a->facts->identity.comm_id == b->facts->identity.comm_id;
}

/* Returns the track of a rank's communicator, which was made for the first of
 * its ranks. */
static uint32_t communicator_track(struct ncs_trace_export *export,
				   const struct ncs_trace_rank *rank)
{
	const char *communicator = rank->facts->communicator;
	char name[192];

	for (size_t i = 0; i < export->rank_count; i++) {
		const struct ncs_trace_rank *other = &export->ranks[i];

		if (other->track != 0 && is_of_one_communicator(rank, other))
			return ncs_trace_parent(export->writer, other->track);
	}
	snprintf(name, sizeof(name), "communicator %s",
		 communicator[0] ? communicator : "-");
	return ncs_trace_track(export->writer, 0, name, 0);
}

static void name_rank(const struct ncs_export_rank *facts, char *name,
		      size_t size)
{
	const struct ncs_identity *identity = &facts->identity;
	char number[16] = "-";

	if (identity->known & NCS_KNOWN_RANK)
		snprintf(number, sizeof(number), "%d", identity->rank);
	snprintf(name, size, "rank %s (%s, pid %u%s%.*s)", number, facts->host,
		 facts->pid, identity->known & NCS_KNOWN_GPU ? ", GPU " : "",
		 identity->known & NCS_KNOWN_GPU ? (int)sizeof(identity->gpu) :
						   0,
		 identity->gpu);
}

/* Returns tracks of a name, of which none has been made yet. */
static struct ncs_slice_tracks tracks_below(uint32_t parent, uint32_t place,
					    const char *name)
{
	return (struct ncs_slice_tracks){ .parent = parent,
					  .place = place,
					  .name = name };
}

/* Begins the operations on a stream, or on no known one. */
static void begin_stream(struct ncs_trace_stream *stream, uint64_t handle,
			 uint32_t parent)
{
	*stream = (struct ncs_trace_stream){
		.handle = handle,
		.launches.tracks =
			tracks_below(parent, PLACE_LAUNCHES, "launches"),
	};
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		stream->functions[i] = tracks_below(parent, PLACE_FUNCTIONS + i,
						    ncs_function_name(i));
}

struct ncs_trace_rank *ncs_trace_export_rank(struct ncs_trace_export *export,
					     size_t index)
{
	struct ncs_trace_rank *rank = &export->ranks[index];
	struct ncs_trace_writer *writer = export->writer;
	const struct ncs_identity *identity = &rank->facts->identity;
	char name[256];

	if (rank->track != 0)
		return rank;
	name_rank(rank->facts, name, sizeof(name));
	rank->track = ncs_trace_process(writer,
					communicator_track(export, rank), name,
					identity->known & NCS_KNOWN_RANK ?
						(uint32_t)identity->rank :
						UINT32_MAX);
	rank->marks =
		ncs_trace_track(writer, rank->track, "marks", PLACE_MARKS);
	begin_stream(&rank->no_stream, 0, rank->track);
	rank->proxy = tracks_below(rank->track, PLACE_PROXY, "proxy thread");
	rank->other = tracks_below(rank->track, PLACE_OTHER, "other events");
	return rank;
}

/* --- Streams and calls --------------------------------------------------- */

static struct ncs_trace_stream *find_stream(const struct ncs_trace_rank *rank,
					    uint64_t handle)
{
	for (size_t i = 0; i < rank->stream_count; i++)
		if (rank->streams[i].handle == handle)
			return &rank->streams[i];
	return NULL;
}

/* Returns NULL if there are too many streams, or no memory. */
static struct ncs_trace_stream *add_stream(struct ncs_trace_rank *rank,
					   uint64_t handle)
{
	size_t count = rank->stream_count;
	char handle_text[NCS_CUDA_STREAM_TEXT_BYTES], name[32];
	struct ncs_trace_stream *stream;
	uint32_t track;

	if (count == NCS_TRACE_STREAMS_MAX ||
	    ncs_array_reserve(&rank->streams, &rank->stream_capacity, count + 1,
			      sizeof(*rank->streams)) != 0)
		return NULL;
	stream = &rank->streams[rank->stream_count++];
	ncs_cuda_stream_text(handle, handle_text);
	snprintf(name, sizeof(name), "stream %s", handle_text);
	track = ncs_trace_track(rank->export->writer, rank->track, name,
				PLACE_STREAMS + (uint32_t)count);
	begin_stream(stream, handle, track);
	return stream;
}

struct ncs_trace_stream *ncs_trace_export_stream(struct ncs_trace_rank *rank,
						 uint64_t stream)
{
	uint64_t handle = NCS_RECORD_STREAM_HANDLE(stream);
	struct ncs_trace_stream *found = NULL;

	if (stream != 0)
		found = find_stream(rank, handle);
	if (stream != 0 && !found)
		found = add_stream(rank, handle);
	return found ? found : &rank->no_stream;
}

struct ncs_slice_tracks *ncs_trace_export_calls(struct ncs_trace_rank *rank,
						unsigned lane)
{
	if (ncs_array_reserve(&rank->calls, &rank->call_capacity,
			      (size_t)lane + 1, sizeof(*rank->calls)) != 0)
		return NULL;
	for (; rank->call_count <= lane; rank->call_count++)
		rank->calls[rank->call_count] = tracks_below(
			rank->track, PLACE_CALLS + (uint32_t)rank->call_count,
			"API");
	return &rank->calls[lane];
}

/* --- Channels and connections -------------------------------------------- */

struct ncs_trace_channel *ncs_trace_export_channel(struct ncs_trace_rank *rank,
						   uint8_t number)
{
	struct ncs_trace_channel *channel = rank->channels[number];
	char name[32];

	if (channel)
		return channel;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return NULL;
	snprintf(name, sizeof(name), "channel %u", number);
	channel->track = ncs_trace_track(rank->export->writer, rank->track,
					 name, PLACE_CHANNELS + number);
	channel->kernels = tracks_below(channel->track, PLACE_KERNEL, "kernel");
	channel->phases =
		tracks_below(channel->track, PLACE_PHASE, "kernel phases");
	rank->channels[number] = channel;
	return channel;
}

/* Whether a rank of the same communicator has this number. */
static bool has_peer(const struct ncs_trace_rank *rank, int32_t number)
{
	const struct ncs_trace_export *export = rank->export;

	for (size_t i = 0; i < export->rank_count; i++) {
		const struct ncs_trace_rank *other = &export->ranks[i];

		if (is_of_one_communicator(rank, other) &&
		    other->facts->identity.known & NCS_KNOWN_RANK &&
		    other->facts->identity.rank == number)
			return true;
	}
	return false;
}

static void begin_connection(struct ncs_trace_connection *connection,
			     uint32_t parent)
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
	connection->steps = tracks_below(parent, place, connection->name);
	connection->operations =
		tracks_below(parent, place + 1, connection->operations_name);
	connection->network =
		tracks_below(parent, place + 1, connection->network_name);
}

struct ncs_trace_connection *
ncs_trace_export_connection(struct ncs_trace_rank *rank,
			    const struct ncs_record *record)
{
	uint64_t key = NCS_CHANNEL_KEY(
		record->channel, record->flags & NCS_RECORD_SEND, record->peer);
	/* ncs_hash() is a bijection: equal hashes have equal keys. */
	struct ncs_trace_connection *connection =
		ncs_hash_table_first(&rank->connections, ncs_hash(key));
	struct ncs_trace_channel *channel;

	if (connection)
		return connection;
	channel = ncs_trace_export_channel(rank, record->channel);
	if (channel)
		connection = ncs_hash_table_add(
			&rank->connections, sizeof(*connection), ncs_hash(key));
	if (!connection)
		return NULL;
	connection->key = key;
	connection->peer_is_there = has_peer(rank, record->peer);
	begin_connection(connection, channel->track);
	return connection;
}

/* --- Counters ------------------------------------------------------------ */

static struct ncs_counter_sums sums_of(const struct ncs_snapshot *snapshot)
{
	struct ncs_counter_sums sums = { .taken_ns = snapshot->taken_ns };
	bool unknown[2] = { false, false };

	for (size_t i = 0; i < snapshot->channel_count; i++) {
		const struct ncs_channel_view *channel = &snapshot->channels[i];

		sums.bytes[channel->send] += channel->bytes;
		if (!ncs_channel_bytes_known(channel))
			unknown[channel->send] = true;
		for (unsigned k = 0; k < NCS_CHANNEL_STATE_COUNT; k++)
			sums.state_ns[k] += channel->time_ns[k];
	}
	for (unsigned i = 0; i < 2; i++)
		sums.bytes_known[i] = snapshot->channel_count > 0 &&
				      !unknown[i];
	return sums;
}

/* Writes a value; makes the counter's track before the first value. */
static void count(const struct ncs_trace_rank *rank, uint32_t *track,
		  const char *name, const char *unit, unsigned place,
		  uint64_t at_ns, double value)
{
	struct ncs_trace_writer *writer = rank->export->writer;

	if (*track == 0)
		*track = ncs_trace_counter(writer, rank->track, name, unit,
					   place);
	ncs_trace_count(writer, *track, at_ns, value);
}

static void count_bytes(struct ncs_trace_rank *rank,
			const struct ncs_counter_sums *now)
{
	static const char *const names[2] = { "received", "sent" };
	const struct ncs_counter_sums *before = &rank->counters.before;
	double interval_ns = (double)(now->taken_ns - before->taken_ns);

	for (unsigned i = 0; i < 2; i++)
		if (now->bytes_known[i] && now->bytes[i] >= before->bytes[i])
			count(rank, &rank->counters.bytes[i], names[i], "B/s",
			      PLACE_BYTES + i, before->taken_ns,
			      (double)(now->bytes[i] - before->bytes[i]) * 1e9 /
				      interval_ns);
}

/* Writes the share of each channel state in the time in which channels were not
 * idle. */
static void count_shares(struct ncs_trace_rank *rank,
			 const struct ncs_counter_sums *now)
{
	const struct ncs_counter_sums *before = &rank->counters.before;
	uint64_t total_ns = 0;

	for (unsigned i = NCS_CHANNEL_IDLE + 1; i < NCS_CHANNEL_STATE_COUNT;
	     i++)
		total_ns += now->state_ns[i] - before->state_ns[i];
	for (unsigned i = NCS_CHANNEL_IDLE + 1;
	     total_ns > 0 && i < NCS_CHANNEL_STATE_COUNT; i++) {
		char name[64];

		snprintf(name, sizeof(name), "share %s",
			 ncs_channel_state_name(i));
		count(rank, &rank->counters.shares[i], name, "%",
		      PLACE_SHARES + i, before->taken_ns,
		      100 * (double)(now->state_ns[i] - before->state_ns[i]) /
			      (double)total_ns);
	}
}

void ncs_trace_export_state(struct ncs_trace_rank *rank,
			    const struct ncs_snapshot *snapshot)
{
	struct ncs_export_counters *counters = &rank->counters;
	struct ncs_counter_sums now = sums_of(snapshot);

	count(rank, &counters->in_flight, "operations in flight", "count",
	      PLACE_IN_FLIGHT, now.taken_ns, (double)snapshot->operation_count);
	if (counters->before.taken_ns != 0 &&
	    now.taken_ns > counters->before.taken_ns) {
		count_bytes(rank, &now);
		count_shares(rank, &now);
	}
	counters->before = now;
}

/* --- Releasing ----------------------------------------------------------- */

void ncs_trace_rank_release(struct ncs_trace_rank *rank)
{
	free(rank->calls);
	free(rank->streams);
	for (unsigned i = 0; i < NCS_TRACE_CHANNELS; i++)
		free(rank->channels[i]);
	ncs_hash_table_sweep(&rank->connections, NULL, 0);
	ncs_hash_table_release(&rank->connections);
	ncs_rank_operations_free(rank->operations);
}
