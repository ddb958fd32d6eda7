/* SPDX-License-Identifier: MIT */
/* Simulated streams; see simulated_streams.h.
 *
 * Call k of each communicator begins at k periods; those of smaller
 * communicators half a period earlier. How far a segment is follows from the
 * time alone, so that nodes can be computed one by one, in any order.
 */
#include "shm/read/job.h"
#include "test/unit/support/simulated_streams.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/stream/key_times.h"
#include "fleet/stream/look_pack.h"
#include "ncclstat/abi.h"
#include "ncclstat/names.h"
#include "ncclstat/size_class.h"
#include "ncclstat/version.h"
#include "record/write/recording_writer.h"
#include "shm/hash.h"
#include "shm/segment.h"

#define US UINT64_C(1000)

#define COMM_ID UINT64_C(0x51a1a7edc0ffee)

/* Lane 0 is that of all threads without a lane. */
enum stream_lane {
	LANE_APPLICATION = 1,
	LANE_PROXY,
	LANES,
};

#define OPERATIONS 256u
#define CLASS NCS_FUNCTION_MAX
#define STEP_BYTES (UINT64_C(512) << 10)

/* The level at which agents compress by default. */
#define PACK_LEVEL 3

/* A process in a communicator. */
struct stream_segment {
	struct ncs_header header;
	size_t number; /* of the rank in its writer */
	unsigned process;
	bool is_group;
	unsigned first; /* process that has rank 0 */
	unsigned ranks;
};

struct stream_node {
	struct ncs_recording_writer *writer;
	struct ncs_sink_memory memory;
	struct ncs_look_packer *packer; /* NULL: looks are not packed */
	struct ncs_sink_memory packed;
	struct stream_segment *segments;
	unsigned segment_count;
	uint64_t looks;
	struct ncs_key_times keys;
	uint64_t ahead_ns;
};

struct simulated_streams {
	struct simulated_streams_options options;
	struct ncs_packer *packer; /* of all nodes; NULL: looks are not packed */
	struct stream_node *nodes;
	char name[32];
};

/* How far a segment is. */
struct progress {
	uint64_t calls;
	uint64_t done;
	uint64_t called_ns; /* time of the job of the latest call */
	uint64_t took_ns;   /* by an operation that is done */
};

/* Returns a number below `limit` that only depends on three others. */
static uint64_t chosen(uint64_t seed, uint64_t a, uint64_t b, uint64_t limit)
{
	return ncs_hash(ncs_hash(ncs_hash(seed) + a) + b) % limit;
}

/* --- Progress ------------------------------------------------------------- */

/* When call k is made, without faults. */
static uint64_t call_ns(const struct simulated_streams_options *options,
			const struct stream_segment *segment, uint64_t k)
{
	uint64_t at_ns = (k + 1) * options->period_ns;

	if (segment->is_group)
		at_ns -= options->period_ns / 2;
	return at_ns + chosen(options->seed, segment->process, k,
			      options->period_ns / 20 + 1);
}

/* Calls that no rank finishes: those of the large communicator from `missing`
 * on. Ranks that wait make no further calls, the missing one none at all. */
static uint64_t calls_until(const struct simulated_streams_options *options,
			    const struct stream_segment *segment,
			    uint64_t calls)
{
	uint64_t missing = options->missing_ns / options->period_ns;
	uint64_t most = missing + 1;

	if (options->missing_rank == UINT_MAX)
		return calls;
	if (!segment->is_group && segment->process == options->missing_rank)
		most = missing;
	return calls < most ? calls : most;
}

static struct progress
progress_of(const struct simulated_streams_options *options,
	    const struct stream_segment *segment, uint64_t at_ns)
{
	struct progress progress = { .took_ns = options->period_ns / 4 };
	uint64_t calls = at_ns / options->period_ns + 1;

	while (calls > 0 && call_ns(options, segment, calls - 1) > at_ns)
		calls--;
	progress.calls = calls_until(options, segment, calls);
	progress.done = progress.calls;
	if (progress.calls == 0)
		return progress;
	progress.called_ns = call_ns(options, segment, progress.calls - 1);
	if (at_ns < progress.called_ns + progress.took_ns)
		progress.done--;
	/* This one waits for the rank that is missing. */
	else if (options->missing_rank != UINT_MAX && !segment->is_group &&
		 progress.calls == options->missing_ns / options->period_ns + 1)
		progress.done--;
	return progress;
}

/* --- States --------------------------------------------------------------- */

static void *at(void *image, const struct ncs_table *table, size_t index)
{
	return (char *)image + table->offset + index * table->stride;
}

/* Returns a node's clock at a time of the job. */
static uint64_t clock_of(const struct simulated_streams_options *options,
			 const struct stream_node *node, uint64_t at_ns)
{
	return options->begun_ns + node->ahead_ns + at_ns;
}

static void write_lanes(const struct simulated_streams *streams,
			const struct stream_node *node,
			const struct stream_segment *segment, void *image,
			const struct progress *progress)
{
	const struct simulated_streams_options *options = &streams->options;
	struct ncs_lane *lane =
		at(image, &segment->header.lanes, LANE_APPLICATION);
	struct ncs_function *function =
		&lane->functions[NCS_FUNCTION_ALL_REDUCE];

	lane->owner = 1;
	lane->last_call = clock_of(options, node, progress->called_ns);
	lane->events[NCS_EVENT_COLL] = progress->calls;
	function->calls = function->operations = progress->calls;
	function->operations_done = progress->done;
	function->with_children = progress->calls;
	function->bytes = progress->calls * options->bytes;
	function->last_sequence_number = progress->calls;
	function->timed[NCS_TIMING_PROXY] = progress->done;
	function->time_ns[NCS_TIMING_PROXY] =
		progress->done * progress->took_ns;
	function->timed_bytes[NCS_TIMING_PROXY] =
		progress->done * options->bytes;
	lane = at(image, &segment->header.lanes, LANE_PROXY);
	lane->owner = 2;
	lane->last_call = clock_of(options, node, progress->called_ns) + US;
	lane->events[NCS_EVENT_PROXY_OP] =
		progress->calls * options->channels * 2;
	lane->events[NCS_EVENT_PROXY_STEP] = progress->done *
					     options->channels * 2 *
					     (options->bytes / STEP_BYTES + 1);
}

/* A rank has received what it sends, except to the rank that is
 * missing, which has posted no buffers. */
static enum ncs_channel_state
state_of(const struct simulated_streams_options *options,
	 const struct stream_segment *segment, bool send, bool waits)
{
	unsigned after = segment->first + (segment->process - segment->first +
					   1) % segment->ranks;

	if (!waits)
		return NCS_CHANNEL_IDLE;
	if (!send)
		return NCS_CHANNEL_RECV_WAIT;
	return after == options->missing_rank && !segment->is_group ?
		       NCS_CHANNEL_SEND_PEER_WAIT :
		       NCS_CHANNEL_SEND_GPU_WAIT;
}

static void write_channels(const struct simulated_streams *streams,
			   const struct stream_node *node,
			   const struct stream_segment *segment, void *image,
			   const struct progress *progress)
{
	const struct simulated_streams_options *options = &streams->options;
	unsigned rank = segment->process - segment->first;
	unsigned after = (rank + 1) % segment->ranks;
	unsigned before = (rank + segment->ranks - 1) % segment->ranks;
	uint64_t steps = options->bytes / STEP_BYTES / options->channels + 1;
	bool waits = progress->done < progress->calls;

	for (unsigned i = 0; i < 2 * options->channels; i++) {
		bool send = i & 1;
		struct ncs_channel *channel =
			at(image, &segment->header.channels, i);

		channel->key =
			NCS_CHANNEL_KEY(i / 2, send, send ? after : before);
		channel->state = state_of(options, segment, send, waits);
		channel->since =
			clock_of(options, node,
				 progress->called_ns +
					 (waits ? 10 * US : progress->took_ns));
		channel->function = NCS_FUNCTION_ALL_REDUCE;
		channel->operation = waits ? progress->calls : 0;
		channel->step = 0;
		channel->nsteps = steps;
		channel->operations_started = progress->calls;
		channel->operations_done = progress->done;
		channel->steps_started = progress->calls * steps;
		channel->steps_done = progress->done * steps;
		channel->bytes = progress->done * options->bytes;
		channel->time[NCS_CHANNEL_IDLE] =
			progress->done *
			(options->period_ns - progress->took_ns);
		channel->time[send ? NCS_CHANNEL_SEND_WAIT :
				     NCS_CHANNEL_RECV_WAIT] =
			progress->done * progress->took_ns;
	}
}

static void write_operations(const struct simulated_streams *streams,
			     const struct stream_node *node,
			     const struct stream_segment *segment, void *image,
			     const struct progress *progress)
{
	const struct simulated_streams_options *options = &streams->options;
	uint64_t first =
		progress->calls > OPERATIONS ? progress->calls - OPERATIONS : 0;

	for (uint64_t k = first; k < progress->calls; k++) {
		struct ncs_operation *operation =
			at(image, &segment->header.operations, k % OPERATIONS);
		uint64_t start_ns =
			clock_of(options, node, call_ns(options, segment, k));

		/* A slot is empty once its operation is done. */
		if (k < progress->done) {
			memset(operation, 0, sizeof(*operation));
			continue;
		}
		*operation = (struct ncs_operation){
			.number = k + 1,
			.start = start_ns,
			.sequence_number = k,
			.bytes = options->bytes,
			.count = options->bytes / 4,
			.event = NCS_EVENT_COLL,
			.function = NCS_FUNCTION_ALL_REDUCE,
			.datatype = NCS_DATATYPE_FLOAT32,
			.algorithm = NCS_ALGORITHM_RING,
			.protocol = NCS_PROTOCOL_SIMPLE,
			.nchannels = (uint8_t)options->channels,
			.peer = -1,
			.enqueued = start_ns + US,
			.children_started = 2 * options->channels,
			.first_child = start_ns + 5 * US,
		};
	}
}

static void write_classes(const struct simulated_streams *streams,
			  const struct stream_segment *segment, void *image,
			  const struct progress *progress)
{
	uint64_t bytes = streams->options.bytes;
	struct ncs_class *class = at(image, &segment->header.classes, CLASS);
	struct ncs_histogram *histogram =
		at(image, &segment->header.histograms, 0);
	unsigned bucket = ncs_histogram_bucket(progress->took_ns);

	class->key = NCS_CLASS_KEY(NCS_FUNCTION_ALL_REDUCE,
				   ncs_size_class(bytes), NCS_ALGORITHM_RING,
				   NCS_PROTOCOL_SIMPLE);
	class->operations = progress->calls;
	histogram->key = NCS_HISTOGRAM_KEY(CLASS, NCS_TIMING_PROXY);
	histogram->buckets[bucket] = progress->done;
	histogram->time_ns = progress->done * progress->took_ns;
	histogram->bytes = progress->done * bytes;
	histogram->longest_ns = progress->took_ns;
	histogram->first = bucket + 1;
	histogram->end = bucket + 1;
}

/* Writes all of the image that is in use, except operations' older slots. */
static int write_state(const struct simulated_streams *streams,
		       struct stream_node *node, struct stream_segment *segment,
		       uint64_t at_ns)
{
	const struct simulated_streams_options *options = &streams->options;
	struct progress progress = progress_of(options, segment, at_ns);
	struct ncs_recording_piece piece = { node->writer, segment->number };
	struct ncs_header *header =
		ncs_recording_writer_image(node->writer, segment->number);
	const struct ncs_header *lasting = &segment->header;

	if (!header)
		return -ENOMEM;
	*header = *lasting;
	header->latest_done = progress.done;
	header->filled.channels = 2 * options->channels;
	header->filled.operations = progress.calls;
	header->alive = clock_of(options, node, at_ns);
	header->proxy.state = NCS_PROXY_ACTIVE;
	header->proxy.since = lasting->created;
	header->proxy.appended_operations =
		progress.calls * 2 * options->channels;
	write_lanes(streams, node, segment, header, &progress);
	write_channels(streams, node, segment, header, &progress);
	write_operations(streams, node, segment, header, &progress);
	write_classes(streams, segment, header, &progress);
	ncs_recording_writer_piece(
		&piece, 0,
		(size_t)((char *)at(header, &lasting->rings, 0) -
			 (char *)header));
	ncs_recording_writer_piece(&piece, lasting->histograms.offset,
				   sizeof(struct ncs_histogram));
	return ncs_recording_writer_state(node->writer, segment->number,
					  clock_of(options, node, at_ns), 0,
					  false);
}

/* --- Looks ---------------------------------------------------------------- */

static int write_clock(const struct simulated_streams *streams,
		       struct stream_node *node, struct ncs_look *look,
		       uint64_t at_ns)
{
	look->taken_ns = clock_of(&streams->options, node, at_ns);
	look->realtime_ns = streams->options.realtime_ns + at_ns;
	return ncs_recording_writer_clock(
		node->writer, &(struct ncs_clock_reading){
				      .before_ns = look->taken_ns,
				      .realtime_ns = look->realtime_ns,
				      .after_ns = look->taken_ns,
				      .maximum_error_ns = 2000 * US,
				      .estimated_error_ns = 500 * US,
				      .synchronized = 1,
			      });
}

static int write_states(const struct simulated_streams *streams,
			struct stream_node *node, uint64_t at_ns)
{
	int error = 0;

	for (unsigned i = 0; i < node->segment_count && !error; i++)
		error = write_state(streams, node, &node->segments[i], at_ns);
	return error;
}

int simulated_streams_look(struct simulated_streams *streams, unsigned number,
			   uint64_t at_ns, const void **bytes, size_t *size)
{
	struct stream_node *node = &streams->nodes[number];
	const struct ncs_sink_memory *memory = &node->memory;
	struct ncs_look look = {
		.number = node->looks,
		.interval_ns = streams->options.interval_ns,
		.ranks = node->segment_count,
	};
	uint64_t now_ns = clock_of(&streams->options, node, at_ns);
	int error = 0;

	/* Like an agent. */
	if (ncs_key_times_are_due(&node->keys, now_ns)) {
		look.flags = NCS_LOOK_KEY;
		node->keys.latest_ns = now_ns;
	}
	/* The first look has the bytes that the writer flushed when it began. */
	if (node->looks > 0)
		node->memory.size = 0;
	if (node->looks > 0 && (look.flags & NCS_LOOK_KEY))
		error = ncs_recording_writer_renew(node->writer);
	if (!error)
		error = write_clock(streams, node, &look, at_ns);
	if (!error)
		error = write_states(streams, node, at_ns);
	if (!error)
		error = ncs_recording_writer_look(node->writer, &look);
	node->looks++;
	if (!error && node->packer) {
		error = ncs_look_packer_pack(node->packer, node->memory.bytes,
					     node->memory.size, &node->packed);
		memory = &node->packed;
	}
	*bytes = memory->bytes;
	*size = memory->size;
	return error;
}

/* --- Beginning ------------------------------------------------------------ */

static void set_header(struct simulated_streams *streams, unsigned number,
		       struct stream_segment *segment)
{
	const struct simulated_streams_options *options = &streams->options;
	const struct stream_node *node = &streams->nodes[number];
	const struct ncs_segment_size size = {
		.lanes = LANES,
		.channels = 2 * SIMULATED_CHANNELS_MAX,
		.operations = OPERATIONS,
		.classes = NCS_FUNCTION_MAX + 2,
		.histograms = 2,
		.ring_records = 2,
	};
	struct ncs_header *header = &segment->header;
	uint64_t begun_ns = clock_of(options, node, 0);
	unsigned rank = segment->process - segment->first;

	*header = (struct ncs_header){
		.magic = NCS_MAGIC,
		.version = NCS_ABI_VERSION,
		.byte_order = NCS_BYTE_ORDER,
		.header_bytes = sizeof(*header),
		.record_bytes = sizeof(struct ncs_record),
		.plugin_version = NCS_VERSION_MAJOR << 16 |
				  NCS_VERSION_MINOR << 8 | NCS_VERSION_PATCH,
		.pid = 4000 + segment->process % options->ranks,
		.api_version = 5,
		.process_start = 100 + segment->process,
		.pid_namespace = 1,
		.time_namespace = 1,
		.clock = { .kind = NCS_CLOCK_MONOTONIC,
			   .base_ticks = begun_ns,
			   .base_monotonic_ns = begun_ns,
			   .base_realtime_ns = options->realtime_ns,
			   .multiplier = UINT64_C(1) << 32 },
		.created = begun_ns,
		.life = NCS_LIFE_LIVE,
		.identity = { .known = NCS_KNOWN_COMM_ID | NCS_KNOWN_COMM_NAME |
				       NCS_KNOWN_RANK | NCS_KNOWN_NRANKS |
				       NCS_KNOWN_NNODES,
			      .comm_id = COMM_ID + (segment->is_group ?
							    segment->first + 1 :
							    0),
			      .rank = (int32_t)rank,
			      .nranks = (int32_t)segment->ranks,
			      .nnodes = (int32_t)options->nodes },
	};
	snprintf(header->identity.comm_name, sizeof(header->identity.comm_name),
		 "%s", segment->is_group ? "group" : "world");
	snprintf(header->identity.gpu, sizeof(header->identity.gpu),
		 "0000:%02x:00.0", 16 + segment->process % options->ranks);
	snprintf(header->boot_id, sizeof(header->boot_id),
		 "00000000-0000-4000-8000-%012x", number + 1);
	snprintf(header->host, sizeof(header->host), "%s",
		 simulated_streams_name(streams, number));
	ncs_segment_lay_out(header, &size);
}

static int add_segment(struct simulated_streams *streams, unsigned number,
		       unsigned process, bool is_group)
{
	const struct simulated_streams_options *options = &streams->options;
	unsigned all = options->nodes * options->ranks;
	struct stream_node *node = &streams->nodes[number];
	struct stream_segment *segment = &node->segments[node->segment_count++];
	char path[64];

	segment->process = process;
	segment->is_group = is_group;
	segment->ranks = all;
	if (is_group) {
		segment->first = process / options->group * options->group;
		segment->ranks = all - segment->first < options->group ?
					 all - segment->first :
					 options->group;
	}
	set_header(streams, number, segment);
	snprintf(path, sizeof(path), "/dev/shm/ncclstat.%u.%u.%d",
		 segment->header.pid, 100 + process, is_group);
	return ncs_recording_writer_add_rank(node->writer, &segment->header,
					     NCS_NO_OWNER, path,
					     &segment->number);
}

static int begin_node(struct simulated_streams *streams, unsigned number)
{
	const struct simulated_streams_options *options = &streams->options;
	struct stream_node *node = &streams->nodes[number];
	struct ncs_recording_settings settings = {
		.is_packed = !streams->packer,
		.pack_level = PACK_LEVEL,
		.key_every_ns = UINT64_MAX,
		.is_stream = true,
	};
	int error;

	node->keys.phase = chosen(options->seed, number, 1, UINT64_MAX);
	node->ahead_ns = chosen(options->seed, number, 0, options->skew_ns + 1);
	settings.head = (struct ncs_file_head){
		.recording = { 0x51a1 + number, options->seed },
		.begun_monotonic_ns = clock_of(options, node, 0),
		.begun_realtime_ns = options->realtime_ns,
		.interval_ns = options->interval_ns,
		.time_namespace = 1,
		.pid_namespace = 1,
	};
	snprintf(settings.head.boot_id, sizeof(settings.head.boot_id),
		 "00000000-0000-4000-8000-%012x", number + 1);
	snprintf(settings.head.host, sizeof(settings.head.host), "%s",
		 simulated_streams_name(streams, number));
	node->segments =
		calloc((size_t)options->ranks * 2, sizeof(*node->segments));
	if (!node->segments)
		return -ENOMEM;
	if (streams->packer) {
		node->packer = ncs_look_packer_new(streams->packer);
		if (!node->packer)
			return -ENOMEM;
	}
	error = ncs_recording_writer_open_memory(&node->writer, &node->memory,
						 &settings);
	for (unsigned i = 0; i < options->ranks && !error; i++) {
		unsigned process = number * options->ranks + i;

		error = add_segment(streams, number, process, false);
		if (!error && options->group > 0)
			error = add_segment(streams, number, process, true);
	}
	return error;
}

struct simulated_streams *
simulated_streams_new(const struct simulated_streams_options *options)
{
	struct simulated_streams *streams = calloc(1, sizeof(*streams));

	if (!streams)
		return NULL;
	streams->options = *options;
	streams->packer =
		options->is_packed ? ncs_packer_create(PACK_LEVEL) : NULL;
	streams->nodes = calloc(options->nodes, sizeof(*streams->nodes));
	for (unsigned i = 0; streams->nodes && i < options->nodes; i++)
		if (begin_node(streams, i) != 0) {
			simulated_streams_free(streams);
			return NULL;
		}
	if (streams->nodes)
		return streams;
	ncs_packer_free(streams->packer);
	free(streams);
	return NULL;
}

void simulated_streams_free(struct simulated_streams *streams)
{
	for (unsigned i = 0; i < streams->options.nodes; i++) {
		struct stream_node *node = &streams->nodes[i];

		if (node->writer)
			ncs_recording_writer_close(node->writer, NULL);
		ncs_look_packer_free(node->packer);
		free(node->packed.bytes);
		free(node->memory.bytes);
		free(node->segments);
	}
	ncs_packer_free(streams->packer);
	free(streams->nodes);
	free(streams);
}

const char *simulated_streams_name(struct simulated_streams *streams,
				   unsigned node)
{
	snprintf(streams->name, sizeof(streams->name), "node%04u", node);
	return streams->name;
}
