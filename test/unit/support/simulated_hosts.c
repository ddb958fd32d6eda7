/* SPDX-License-Identifier: MIT */
/* Simulated hosts; see simulated_hosts.h.
 *
 * Operations are computed one after the other in true time: when each rank
 * arrives, and when each step of each channel is posted, sent and received. The
 * records that a rank's plugin would have written are kept until all are
 * drained together, which happens regularly, and are written with the host's
 * clock.
 */
#include "shm/read/job.h"
#include "test/unit/support/simulated_hosts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/abi_class.h"
#include "ncclstat/names.h"
#include "ncclstat/size_class.h"
#include "ncclstat/version.h"
#include "record/write/recording_writer.h"
#include "shm/array.h"
#include "shm/hash.h"
#include "shm/segment.h"
#include "test/unit/support/simulator/sim_job.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

/* Number of steps of a connection that are in progress. */
#define DEPTH 8
#define STEP_BYTES (UINT64_C(512) << 10)
#define SMALL_BYTES (UINT64_C(4) << 10)
#define NVLINK_NS (2 * US)
#define NVLINK_BYTE_NS 0.005
#define LAUNCH_NS (8 * US)
#define GPU_ERROR_NS (1 * US)

#define DRAIN_EVERY_NS (50 * MS)
#define STATE_EVERY_NS (500 * MS)
/* One look of this many can be read by itself. */
#define KEY_EVERY 10u
#define PACK_LEVEL 3

#define COMM_ID UINT64_C(0x51a1a7edc0ffee)

/* Lane 0 is that of all threads without a lane. */
enum host_lane {
	LANE_APPLICATION = 1,
	LANE_PROXY,
	LANES,
};

struct host_kept {
	uint64_t end_ns; /* true time */
	struct ncs_record record;
};

struct host_queue {
	struct host_kept *kept;
	size_t count, capacity;
	uint64_t position;
};

struct host_rank {
	unsigned host;
	size_t number; /* of the rank in its writer */
	struct ncs_header header;
	struct host_queue queues[LANES];
	uint64_t ready_ns; /* when it continues */
	uint64_t operations;
	uint64_t calls;
	uint64_t bytes;
	/* The operation in progress. */
	uint64_t called_ns, begun_ns, end_ns;
	uint64_t first_proxy_ns, seen_end_ns; /* as its records tell */
};

/* Looks, instead of files. */
struct hosts_stream {
	uint64_t every_ns;
	uint64_t until_ns;
	uint64_t looks; /* at each host */
	struct ncs_sink_memory memory[SIMULATED_HOSTS_MAX];
	simulated_look *take;
	void *context;
};

struct hosts_job {
	struct simulated_hosts *hosts;
	const struct simulated_options *options;
	struct hosts_stream *stream; /* NULL: files */
	uint64_t state_every_ns;
	unsigned rank_count;
	struct host_rank *ranks;
	struct ncs_recording_writer *writers[SIMULATED_HOSTS_MAX];
	uint64_t *free_ns; /* of each link to the next rank, by channel */
	uint64_t random;
	uint64_t drained_ns;
	uint64_t state_ns;
	uint64_t sequence_number;
	int error;
};

struct simulated_options simulated_defaults(void)
{
	return (struct simulated_options){
		.seed = 1,
		.hosts = 4,
		.ranks = 2,
		.channels = 2,
		.operations = 300,
		.bytes = UINT64_C(16) << 20,
		.small_every = 4,
		.compute_ns = 8 * MS,
		.jitter = 0.1,
		.has_credits = true,
		.latency_ns = 2 * US,
		.byte_ns = 0.02,
		.queue_ns = 500 * US,
		.has_kernels = true,
		.algorithm = NCS_ALGORITHM_RING,
		.skew_ns = 5 * S,
		.drift = 100e-6,
		.realtime_error_ns = 2 * MS,
	};
}

/* --- Chance --------------------------------------------------------------- */

/* Returns a random number from 0 to 1. */
static double chance(struct hosts_job *job)
{
	uint64_t x = ncs_hash(job->random);

	job->random += UINT64_C(0x9e3779b97f4a7c15);
	return (double)(x >> 11) / 9007199254740992.0;
}

/* Returns a number from -1 to 1 that only depends on a seed and a number. */
static double fixed(uint64_t seed, uint64_t number)
{
	uint64_t x = ncs_hash((seed - 1) * UINT64_C(0x9e3779b97f4a7c15) +
			      number + 1);

	return (double)(x >> 11) / 4503599627370496.0 - 1;
}

static uint64_t noise(struct hosts_job *job, double mean_ns)
{
	return (uint64_t)(-mean_ns * log(1 - chance(job)));
}

/* --- Clocks --------------------------------------------------------------- */

uint64_t simulated_clock_ns(const struct simulated_hosts *hosts, unsigned host,
			    uint64_t true_ns)
{
	double drift = hosts->host[host].drift;

	return hosts->host[host].ahead_ns + true_ns +
	       (uint64_t)llround(drift * (double)true_ns);
}

/* Returns the %globaltimer of a rank's GPU at a true time. */
static uint64_t simulated_gpu_ns(const struct simulated_hosts *hosts,
				 unsigned rank, uint64_t true_ns)
{
	double drift = 20e-6 * fixed(hosts->options.seed + 77, rank);

	return UINT64_C(1700000000) * S + rank * 13 * MS + true_ns +
	       (uint64_t)llround(drift * (double)true_ns);
}

static uint64_t realtime_ns(const struct simulated_hosts *hosts, unsigned host,
			    uint64_t true_ns)
{
	const struct simulated_options *options = &hosts->options;
	double off = fixed(options->seed + 5, host) *
		     (double)options->realtime_error_ns;
	uint64_t now_ns = UINT64_C(1700000000) * S +
			  simulated_clock_ns(hosts, host, true_ns) -
			  hosts->host[host].ahead_ns +
			  (uint64_t)llround(off * 0.9);

	if (options->set_at_ns > true_ns && host == options->hosts - 1)
		now_ns -= 3 * S;
	return now_ns;
}

static void set_clocks(struct simulated_hosts *hosts)
{
	const struct simulated_options *options = &hosts->options;

	for (unsigned i = 0; i < options->hosts; i++) {
		double apart = (double)options->skew_ns *
			       (1 + fixed(options->seed, i));

		hosts->host[i].ahead_ns = 1000 * S + (uint64_t)apart;
		hosts->host[i].drift =
			options->drift * fixed(options->seed + 9, i);
	}
}

/* --- Records -------------------------------------------------------------- */

static uint64_t clock_of(const struct hosts_job *job,
			 const struct host_rank *rank, uint64_t true_ns)
{
	return simulated_clock_ns(job->hosts, rank->host, true_ns);
}

/* Makes the record of a span from `start_ns` to `end_ns` with two times in
 * between, all in true time. */
static struct ncs_record span(const struct hosts_job *job,
			      const struct host_rank *rank, uint64_t start_ns,
			      uint64_t end_ns, uint64_t first_ns,
			      uint64_t second_ns)
{
	uint64_t start = clock_of(job, rank, start_ns);

	return (struct ncs_record){
		.start = start,
		.peer = -1,
		.duration = clock_of(job, rank, end_ns) - start,
		.delta = { first_ns ? clock_of(job, rank, first_ns) - start : 0,
			   second_ns ? clock_of(job, rank, second_ns) - start :
				       0 },
	};
}

static void keep(struct host_rank *rank, enum host_lane lane, uint64_t end_ns,
		 const struct ncs_record *record)
{
	struct host_queue *queue = &rank->queues[lane];

	if (ncs_array_reserve(&queue->kept, &queue->capacity, queue->count + 1,
			      sizeof(*queue->kept)) != 0)
		abort();
	queue->kept[queue->count++] = (struct host_kept){ end_ns, *record };
}

static int compare_ends(const void *a, const void *b)
{
	const struct host_kept *x = a, *y = b;

	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* Keeps the first error of the writers. */
static void note(struct hosts_job *job, int error)
{
	if (!job->error)
		job->error = error;
}

/* Writes the records that have ended by `now_ns`; the others stay. */
static void drain_queue(struct hosts_job *job, struct host_rank *rank,
			unsigned lane, uint64_t now_ns)
{
	struct host_queue *queue = &rank->queues[lane];
	struct ncs_record *records =
		sim_alloc(queue->count + 1, sizeof(*records));
	size_t count = 0;

	if (queue->count > 0)
		qsort(queue->kept, queue->count, sizeof(*queue->kept),
		      compare_ends);
	while (count < queue->count && queue->kept[count].end_ns <= now_ns) {
		records[count] = queue->kept[count].record;
		records[count].position = (uint32_t)(queue->position + count);
		count++;
	}
	if (count > 0) {
		note(job, ncs_recording_writer_records(
				  job->writers[rank->host], rank->number, lane,
				  records, count, queue->position, 0,
				  clock_of(job, rank, now_ns)));
		queue->count -= count;
		memmove(queue->kept, &queue->kept[count],
			queue->count * sizeof(*queue->kept));
	}
	queue->position += count;
	job->hosts->records += count;
	free(records);
}

/* --- States --------------------------------------------------------------- */

static void *at(void *image, const struct ncs_table *table, size_t index)
{
	return (char *)image + table->offset + index * table->stride;
}

/* Writes the state of a rank's segment: its identity and its progress. */
static void write_state(struct hosts_job *job, struct host_rank *rank,
			uint64_t now_ns)
{
	struct ncs_recording_writer *writer = job->writers[rank->host];
	struct ncs_recording_piece piece = { writer, rank->number };
	struct ncs_header *image =
		ncs_recording_writer_image(writer, rank->number);
	struct ncs_lane *lane;
	struct ncs_function *function;
	struct ncs_class *class;
	const uint64_t sizes[] = { job->options->bytes, SMALL_BYTES };
	uint64_t number = (uint64_t)(rank - job->ranks);
	uint64_t gpu_ns =
		simulated_gpu_ns(job->hosts, (unsigned)number, now_ns);
	unsigned index = job->options->calls == SIMULATED_SEND ?
				 NCS_FUNCTION_SEND :
				 NCS_FUNCTION_ALL_REDUCE;

	if (!image)
		abort();
	rank->header.gpu_clock = (struct ncs_gpu_clock){
		.ticks = job->options->has_kernels ?
				 clock_of(job, rank, now_ns) :
				 0,
		.low_ns = gpu_ns - GPU_ERROR_NS,
		.high_ns = gpu_ns + GPU_ERROR_NS,
		.quantum_ns = 32,
		.samples = rank->operations,
	};
	rank->header.latest_done = rank->operations;
	*image = rank->header;
	ncs_recording_writer_piece(&piece, 0, sizeof(*image));
	lane = at(image, &rank->header.lanes, LANE_PROXY);
	lane->owner = 1;
	lane->last_call = clock_of(job, rank, now_ns);
	lane->events[NCS_EVENT_COLL] = rank->operations;
	function = &lane->functions[index];
	function->calls = function->operations = rank->operations;
	function->operations_done = rank->operations;
	function->with_children = rank->operations;
	function->bytes = rank->bytes;
	if (index == NCS_FUNCTION_ALL_REDUCE)
		function->last_sequence_number = job->sequence_number;
	ncs_recording_writer_piece(&piece, rank->header.lanes.offset,
				   LANES * sizeof(*lane));
	class = at(image, &rank->header.classes, NCS_FUNCTION_MAX);
	for (unsigned i = 0; i < 2; i++)
		class[i] = (struct ncs_class){
			.key = NCS_CLASS_KEY(index, ncs_size_class(sizes[i]),
					     job->options->algorithm,
					     NCS_PROTOCOL_SIMPLE),
			.operations = rank->operations,
		};
	ncs_recording_writer_piece(&piece,
				   (size_t)((char *)class - (char *)image),
				   2 * sizeof(*class));
	for (unsigned i = 0; i < LANES; i++) {
		struct ncs_ring *ring = at(image, &rank->header.rings, i);

		ring->head = rank->queues[i].position;
		ncs_recording_writer_piece(
			&piece, (size_t)((char *)ring - (char *)image),
			sizeof(*ring));
	}
	note(job,
	     ncs_recording_writer_state(writer, rank->number,
					clock_of(job, rank, now_ns), 0, false));
}

static void write_clock(struct hosts_job *job, unsigned host, uint64_t now_ns)
{
	uint64_t own_ns = simulated_clock_ns(job->hosts, host, now_ns);
	bool keeps_time = job->options->realtime_error_ns > 0;
	struct ncs_clock_reading reading = {
		.before_ns = own_ns,
		.realtime_ns = realtime_ns(job->hosts, host, now_ns) + 30,
		.after_ns = own_ns + 60,
		.maximum_error_ns = keeps_time ?
					    job->options->realtime_error_ns :
					    UINT64_MAX,
		.estimated_error_ns = job->options->realtime_error_ns / 4,
		.synchronized = keeps_time,
	};

	note(job, ncs_recording_writer_clock(job->writers[host], &reading));
}

/* Ends a look at a host, and begins the next one. */
static void write_look(struct hosts_job *job, unsigned host, uint64_t now_ns)
{
	struct hosts_stream *stream = job->stream;
	struct ncs_sink_memory *memory = &stream->memory[host];
	struct ncs_look look = {
		.number = stream->looks,
		.taken_ns = simulated_clock_ns(job->hosts, host, now_ns),
		.interval_ns = stream->every_ns,
		.ranks = job->options->ranks,
		.flags = stream->looks % KEY_EVERY == 0 ? NCS_LOOK_KEY : 0,
	};

	if (job->error)
		return;
	note(job, ncs_recording_writer_look(job->writers[host], &look));
	note(job, stream->take(stream->context, host, now_ns, memory->bytes,
			       memory->size));
	memory->size = 0;
	if ((stream->looks + 1) % KEY_EVERY == 0)
		note(job, ncs_recording_writer_renew(job->writers[host]));
}

/* Drains all ranks. */
static void drain(struct hosts_job *job, uint64_t now_ns)
{
	bool with_states = now_ns >= job->state_ns;

	for (unsigned i = 0; i < job->rank_count; i++) {
		for (unsigned k = 0; k < LANES; k++)
			drain_queue(job, &job->ranks[i], k, now_ns);
		if (with_states)
			write_state(job, &job->ranks[i], now_ns);
	}
	for (unsigned i = 0; i < job->options->hosts && with_states; i++)
		write_clock(job, i, now_ns);
	for (unsigned i = 0;
	     i < job->options->hosts && with_states && job->stream; i++)
		write_look(job, i, now_ns);
	if (with_states && job->stream)
		job->stream->looks++;
	job->drained_ns = now_ns;
	if (with_states)
		job->state_ns = now_ns + job->state_every_ns;
}

/* --- One operation -------------------------------------------------------- */

/* A connection's steps, from a rank to the next. */
struct steps {
	struct host_rank *from;
	struct host_rank *to;
	unsigned channel;
	uint64_t bytes; /* of a step */
	unsigned count;
	struct host_step {
		uint64_t ready_ns;  /* the sender has the data */
		uint64_t posted_ns; /* the receiver posted its buffer */
		uint64_t sent_ns, arrived_ns, consumed_ns;
	} * at;
};

static unsigned number_of(const struct hosts_job *job,
			  const struct host_rank *rank)
{
	return (unsigned)(rank - job->ranks);
}

static bool is_over_network(const struct hosts_job *job,
			    const struct steps *steps)
{
	return !job->options->is_nvlink && steps->from->host != steps->to->host;
}

/* Computes when step k is sent and received. */
static void move_step(struct hosts_job *job, struct steps *steps, unsigned k)
{
	const struct simulated_options *options = job->options;
	uint64_t *free_ns =
		&job->free_ns[number_of(job, steps->from) * options->channels +
			      steps->channel];
	uint64_t posted_ns = steps->to->begun_ns + LAUNCH_NS;
	uint64_t sent_ns, arrived_ns;
	double wire_ns = options->byte_ns * (double)steps->bytes;

	if (k >= DEPTH && steps->at[k - DEPTH].consumed_ns > posted_ns)
		posted_ns = steps->at[k - DEPTH].consumed_ns;
	posted_ns += 200 + noise(job, 300);
	steps->at[k].posted_ns = posted_ns;
	if (!is_over_network(job, steps)) {
		sent_ns = steps->at[k].ready_ns > posted_ns ?
				  steps->at[k].ready_ns :
				  posted_ns;
		steps->at[k].sent_ns = sent_ns;
		steps->at[k].arrived_ns =
			sent_ns + NVLINK_NS +
			(uint64_t)(NVLINK_BYTE_NS * (double)steps->bytes);
		return;
	}
	sent_ns = steps->at[k].ready_ns + 150;
	if (options->has_credits) {
		uint64_t credit_ns =
			posted_ns + options->latency_ns + noise(job, 500);

		if (credit_ns > sent_ns)
			sent_ns = credit_ns;
	}
	sent_ns += noise(job, 200);
	if (k > 0 && sent_ns < steps->at[k - 1].sent_ns)
		sent_ns = steps->at[k - 1].sent_ns + 1;
	if (*free_ns < sent_ns)
		*free_ns = sent_ns;
	*free_ns += (uint64_t)wire_ns;
	arrived_ns = *free_ns + options->latency_ns + 100 + noise(job, 800);
	if (options->queue_ns > 0 && chance(job) < 0.02)
		arrived_ns += noise(job, (double)options->queue_ns);
	/* A receiver only polls for posted buffers. */
	if (arrived_ns < posted_ns + 300)
		arrived_ns = posted_ns + 300;
	if (k > 0 && arrived_ns < steps->at[k - 1].arrived_ns)
		arrived_ns = steps->at[k - 1].arrived_ns + 1;
	steps->at[k].sent_ns = sent_ns;
	steps->at[k].arrived_ns = arrived_ns;
	job->hosts->messages++;
}

static void later(uint64_t *end_ns, uint64_t moment_ns)
{
	if (moment_ns > *end_ns)
		*end_ns = moment_ns;
}

static void earlier(uint64_t *first_ns, uint64_t moment_ns)
{
	if (*first_ns == 0 || moment_ns < *first_ns)
		*first_ns = moment_ns;
}

static unsigned function_of(const struct hosts_job *job, bool send)
{
	if (job->options->calls == SIMULATED_ALL_REDUCE)
		return NCS_FUNCTION_ALL_REDUCE;
	return send ? NCS_FUNCTION_SEND : NCS_FUNCTION_RECV;
}

/* Records a connection's steps as the proxy thread of one side does. */
static void record_side(struct hosts_job *job, const struct steps *steps,
			bool send)
{
	struct host_rank *rank = send ? steps->from : steps->to;
	const struct host_rank *peer = send ? steps->to : steps->from;
	struct ncs_record record;
	uint64_t end_ns = 0, first_ns = 0;
	uint64_t begun_ns = rank->begun_ns + LAUNCH_NS / 2;

	for (unsigned k = 0; k < steps->count; k++) {
		uint64_t start_ns, stop_ns;

		if (send) {
			start_ns = begun_ns + 300;
			if (k >= DEPTH)
				start_ns =
					steps->at[k - DEPTH].arrived_ns + 500;
			if (start_ns > steps->at[k].ready_ns)
				start_ns = steps->at[k].ready_ns;
			stop_ns = steps->at[k].arrived_ns +
				  job->options->latency_ns;
			record = span(job, rank, start_ns, stop_ns,
				      steps->at[k].ready_ns,
				      steps->at[k].sent_ns);
		} else {
			start_ns = steps->at[k].posted_ns;
			stop_ns = steps->at[k].consumed_ns;
			record = span(job, rank, start_ns, stop_ns,
				      steps->at[k].arrived_ns,
				      steps->at[k].arrived_ns + 100);
		}
		later(&end_ns, stop_ns);
		earlier(&first_ns, start_ns);
		record.event = NCS_EVENT_PROXY_STEP;
		record.flags = send ? NCS_RECORD_SEND : 0;
		record.channel = (uint8_t)steps->channel;
		record.function = (uint8_t)function_of(job, send);
		record.operation = (uint32_t)rank->operations;
		record.peer = (int32_t)number_of(job, peer);
		record.value = steps->bytes;
		record.number = k;
		if (chance(job) >= job->options->lost)
			keep(rank, LANE_PROXY, stop_ns, &record);
	}
	end_ns += 100;
	record = span(job, rank, begun_ns, end_ns, begun_ns + 200, first_ns);
	record.event = NCS_EVENT_PROXY_OP;
	record.flags = send ? NCS_RECORD_SEND : 0;
	record.channel = (uint8_t)steps->channel;
	record.function = (uint8_t)function_of(job, send);
	record.operation = (uint32_t)rank->operations;
	record.peer = (int32_t)number_of(job, peer);
	record.value = steps->bytes * steps->count;
	record.number = steps->count;
	keep(rank, LANE_PROXY, end_ns, &record);
	later(&rank->end_ns, end_ns);
	later(&rank->seen_end_ns, end_ns);
	earlier(&rank->first_proxy_ns, begun_ns);
}

static void record_kernel(struct hosts_job *job, struct host_rank *rank,
			  unsigned channel, uint64_t end_ns, unsigned function)
{
	unsigned number = number_of(job, rank);
	uint64_t start_ns = rank->begun_ns + LAUNCH_NS;
	uint64_t gpu_ns = simulated_gpu_ns(job->hosts, number, start_ns);
	struct ncs_record record;

	if (job->options->kernels_stop_early)
		end_ns = start_ns + 20 * US;
	record = span(job, rank, start_ns + 1 * US, end_ns + 2 * US, 0, 0);
	record.event = NCS_EVENT_KERNEL_CH;
	record.channel = (uint8_t)channel;
	record.function = (uint8_t)function;
	record.operation = (uint32_t)rank->operations;
	record.value = gpu_ns;
	record.number = simulated_gpu_ns(job->hosts, number, end_ns) - gpu_ns;
	keep(rank, LANE_PROXY, end_ns + 2 * US, &record);
	later(&rank->end_ns, end_ns + 2 * US);
	later(&rank->seen_end_ns, end_ns + 2 * US);
}

/* Returns the CUDA stream of a rank. */
static uint64_t stream_of(const struct hosts_job *job,
			  const struct host_rank *rank)
{
	return NCS_RECORD_STREAM(0x7f0000001000 +
				 0x100 * (uint64_t)(rank - job->ranks));
}

/* Records the stream, as the plugin does right before an operation: at first,
 * and now and then again. */
static void record_stream(struct hosts_job *job, struct host_rank *rank,
			  uint64_t end_ns)
{
	struct ncs_record record = span(job, rank, end_ns, end_ns, 0, 0);

	if (rank->operations % 16 != 1)
		return;
	record.event = NCS_EVENT_STREAM;
	record.function = NCS_FUNCTION_OTHER;
	record.peer = -1;
	record.value = stream_of(job, rank);
	keep(rank, LANE_PROXY, end_ns, &record);
}

static void record_operation(struct hosts_job *job, struct host_rank *rank,
			     unsigned function, int32_t peer, uint64_t bytes)
{
	bool is_transfer = function != NCS_FUNCTION_ALL_REDUCE;
	uint64_t end_ns;
	struct ncs_record record =
		span(job, rank, rank->called_ns, rank->begun_ns + 3 * US, 0, 0);

	record.event = is_transfer ? NCS_EVENT_P2P_API : NCS_EVENT_COLL_API;
	record.function = (uint8_t)function;
	record.peer = peer;
	record.value = bytes;
	record.delta[0] = stream_of(job, rank);
	keep(rank, LANE_APPLICATION, rank->begun_ns + 3 * US, &record);
	rank->end_ns += 500;
	end_ns = job->options->kernels_stop_early ? rank->seen_end_ns + 500 :
						    rank->end_ns;
	record_stream(job, rank, end_ns - 1);
	record = span(job, rank, rank->begun_ns, end_ns,
		      rank->begun_ns + 2 * US, rank->first_proxy_ns);
	record.event = is_transfer ? NCS_EVENT_P2P : NCS_EVENT_COLL;
	record.function = (uint8_t)function;
	record.operation = (uint32_t)rank->operations;
	record.peer = peer;
	record.value = bytes;
	record.number = is_transfer ? NCS_NO_SEQUENCE_NUMBER :
				      job->sequence_number;
	keep(rank, LANE_PROXY, end_ns, &record);
	rank->bytes += bytes;
	rank->ready_ns = rank->end_ns;
}

/* Computes when each rank calls and begins. */
static void begin_all(struct hosts_job *job)
{
	const struct simulated_options *options = job->options;

	for (unsigned i = 0; i < job->rank_count; i++) {
		struct host_rank *rank = &job->ranks[i];

		rank->called_ns =
			rank->ready_ns +
			(uint64_t)((double)options->compute_ns *
				   (1 + options->jitter * chance(job)));
		if (options->late_ns > 0 && i == options->late_rank)
			rank->called_ns += options->late_ns;
		rank->begun_ns = rank->called_ns + 1 * US + noise(job, 500);
		rank->end_ns = rank->first_proxy_ns = rank->seen_end_ns = 0;
		rank->operations++;
	}
}

/* Runs a ring from rank to rank: each sends the data that it received
 * before. */
static void all_reduce_channel(struct hosts_job *job, unsigned channel,
			       uint64_t bytes)
{
	unsigned ranks = job->rank_count, rounds = 2 * (ranks - 1);
	uint64_t chunk = bytes / ranks / job->options->channels;
	unsigned loops = (unsigned)((chunk + STEP_BYTES - 1) / STEP_BYTES);
	struct steps *ring = sim_alloc(ranks, sizeof(*ring));

	if (loops == 0)
		loops = 1;
	for (unsigned r = 0; r < ranks; r++)
		ring[r] = (struct steps){
			.from = &job->ranks[r],
			.to = &job->ranks[(r + 1) % ranks],
			.channel = channel,
			.bytes = chunk / loops ? chunk / loops : 1,
			.count = rounds * loops,
			.at = sim_alloc(rounds * loops, sizeof(*ring->at)),
		};
	for (unsigned k = 0; k < rounds * loops; k++) {
		for (unsigned r = 0; r < ranks; r++) {
			const struct steps *before =
				&ring[(r + ranks - 1) % ranks];
			uint64_t ready_ns = job->ranks[r].begun_ns + LAUNCH_NS;

			if (k >= loops)
				later(&ready_ns,
				      before->at[k - loops].arrived_ns +
					      1 * US);
			if (k > 0)
				later(&ready_ns,
				      ring[r].at[k - 1].ready_ns + 200);
			ring[r].at[k].ready_ns = ready_ns + noise(job, 300);
		}
		for (unsigned r = 0; r < ranks; r++) {
			move_step(job, &ring[r], k);
			ring[r].at[k].consumed_ns = ring[r].at[k].arrived_ns +
						    1 * US + noise(job, 500);
		}
	}
	for (unsigned r = 0; r < ranks; r++) {
		struct steps *into = &ring[(r + ranks - 1) % ranks];

		if (is_over_network(job, &ring[r]))
			record_side(job, &ring[r], true);
		if (is_over_network(job, into))
			record_side(job, into, false);
		later(&job->ranks[r].end_ns,
		      into->at[into->count - 1].consumed_ns);
		if (job->options->has_kernels)
			record_kernel(job, &job->ranks[r], channel,
				      into->at[into->count - 1].consumed_ns,
				      NCS_FUNCTION_ALL_REDUCE);
	}
	for (unsigned r = 0; r < ranks; r++)
		free(ring[r].at);
	free(ring);
}

static void all_reduce(struct hosts_job *job, uint64_t bytes)
{
	begin_all(job);
	for (unsigned i = 0; i < job->options->channels; i++)
		all_reduce_channel(job, i, bytes);
	for (unsigned i = 0; i < job->rank_count; i++)
		record_operation(job, &job->ranks[i], NCS_FUNCTION_ALL_REDUCE,
				 -1, bytes);
	job->sequence_number++;
}

/* Sends from a rank to the one on the next host. */
static void send_one(struct hosts_job *job, unsigned from, uint64_t bytes)
{
	struct host_rank *sender = &job->ranks[from];
	struct host_rank *receiver = &job->ranks[from + job->options->ranks];
	unsigned channels = job->options->channels;
	uint64_t share = bytes / channels;
	unsigned count = (unsigned)((share + STEP_BYTES - 1) / STEP_BYTES);

	if (count == 0)
		count = 1;
	for (unsigned c = 0; c < channels; c++) {
		struct steps steps = {
			.from = sender,
			.to = receiver,
			.channel = c,
			.count = count,
			.bytes = share / count,
			.at = sim_alloc(count, sizeof(*steps.at)),
		};

		for (unsigned k = 0; k < steps.count; k++) {
			steps.at[k].ready_ns = sender->begun_ns + LAUNCH_NS +
					       k * 300 + noise(job, 300);
			move_step(job, &steps, k);
			steps.at[k].consumed_ns =
				steps.at[k].arrived_ns + 1 * US;
		}
		record_side(job, &steps, true);
		record_side(job, &steps, false);
		free(steps.at);
	}
}

/* Runs all sends. A rank receives before it sends: each is an operation of its
 * own. */
static void send_all(struct hosts_job *job, uint64_t bytes)
{
	unsigned ranks = job->options->ranks;

	for (unsigned i = 0; i + ranks < job->rank_count; i++) {
		struct host_rank *pair[2] = { &job->ranks[i],
					      &job->ranks[i + ranks] };

		for (unsigned k = 0; k < 2; k++) {
			pair[k]->called_ns = pair[k]->ready_ns +
					     job->options->compute_ns +
					     noise(job, 100e3);
			pair[k]->begun_ns = pair[k]->called_ns + 1 * US;
			pair[k]->end_ns = pair[k]->first_proxy_ns =
				pair[k]->seen_end_ns = 0;
			pair[k]->operations++;
		}
		send_one(job, i, bytes);
		record_operation(job, pair[0], NCS_FUNCTION_SEND,
				 (int32_t)(i + ranks), bytes);
		record_operation(job, pair[1], NCS_FUNCTION_RECV, (int32_t)i,
				 bytes);
	}
}

/* --- Files ---------------------------------------------------------------- */

static int open_host(struct hosts_job *job, const char *directory,
		     unsigned host, char *why, unsigned why_size)
{
	struct simulated_hosts *hosts = job->hosts;
	struct ncs_recording_settings settings = { 0 };
	struct ncs_file_head *head = &settings.head;
	char *path = hosts->host[host].path;

	snprintf(path, sizeof(hosts->host[host].path), "%s/host%u.ncclstat",
		 directory, host);
	head->recording[0] = 0x51a1;
	head->recording[1] = job->options->seed << 8 | host;
	head->begun_monotonic_ns = simulated_clock_ns(hosts, host, 0);
	head->begun_realtime_ns = realtime_ns(hosts, host, 0);
	head->interval_ns = job->state_every_ns;
	head->time_namespace = 1;
	head->pid_namespace = 1;
	snprintf(head->boot_id, sizeof(head->boot_id),
		 "00000000-0000-4000-8000-%012x", host + 1);
	snprintf(head->host, sizeof(head->host), "host%u", host);
	if (job->stream) {
		settings.is_packed = settings.is_stream = true;
		settings.pack_level = PACK_LEVEL;
		settings.key_every_ns = UINT64_MAX;
		return ncs_recording_writer_open_memory(
			&job->writers[host], &job->stream->memory[host],
			&settings);
	}
	return ncs_recording_writer_open(&job->writers[host], path, &settings,
					 why, why_size);
}

static void set_header(struct hosts_job *job, struct host_rank *rank)
{
	static const struct ncs_segment_size size = {
		.lanes = LANES,
		.channels = 8,
		.operations = 8,
		.classes = NCS_FUNCTION_MAX + 2,
		.histograms = 2,
		.ring_records = 2,
		.ranges = 2,
		.range_histograms = 2,
	};
	struct ncs_header *header = &rank->header;
	unsigned number = number_of(job, rank);

	*header = (struct ncs_header){
		.magic = NCS_MAGIC,
		.version = NCS_ABI_VERSION,
		.byte_order = NCS_BYTE_ORDER,
		.header_bytes = sizeof(*header),
		.record_bytes = sizeof(struct ncs_record),
		.plugin_version = NCS_VERSION_MAJOR << 16 |
				  NCS_VERSION_MINOR << 8 | NCS_VERSION_PATCH,
		.pid = 4000 + number,
		.api_version = 5,
		.process_start = 100 + number,
		.pid_namespace = 1,
		.time_namespace = 1,
		.clock = { .kind = NCS_CLOCK_MONOTONIC,
			   .base_ticks = clock_of(job, rank, 0),
			   .base_monotonic_ns = clock_of(job, rank, 0),
			   .base_realtime_ns =
				   realtime_ns(job->hosts, rank->host, 0),
			   .multiplier = UINT64_C(1) << 32 },
		.created = clock_of(job, rank, 0),
		.life = NCS_LIFE_LIVE,
		.identity = { .known = NCS_KNOWN_COMM_ID | NCS_KNOWN_COMM_NAME |
				       NCS_KNOWN_RANK | NCS_KNOWN_NRANKS |
				       NCS_KNOWN_NNODES,
			      .comm_id = COMM_ID,
			      .rank = (int32_t)number,
			      .nranks = (int32_t)job->rank_count,
			      .nnodes = (int32_t)job->options->hosts,
			      .comm_name = "world" },
	};
	snprintf(header->boot_id, sizeof(header->boot_id),
		 "00000000-0000-4000-8000-%012x", rank->host + 1);
	snprintf(header->host, sizeof(header->host), "host%u", rank->host);
	ncs_segment_lay_out(header, &size);
}

static void add_ranks(struct hosts_job *job)
{
	for (unsigned i = 0; i < job->rank_count; i++) {
		struct host_rank *rank = &job->ranks[i];
		char path[64];

		rank->host = i / job->options->ranks;
		set_header(job, rank);
		snprintf(path, sizeof(path), "/dev/shm/ncclstat.%u.%u.0",
			 rank->header.pid, 100 + i);
		note(job, ncs_recording_writer_add_rank(
				  job->writers[rank->host], &rank->header,
				  NCS_NO_OWNER, path, &rank->number));
	}
}

/* Returns the latest time of all ranks. */
static uint64_t now_ns(const struct hosts_job *job)
{
	uint64_t now = 0;

	for (unsigned i = 0; i < job->rank_count; i++)
		later(&now, job->ranks[i].ready_ns);
	return now;
}

static bool goes_on(const struct hosts_job *job, unsigned operations)
{
	return job->stream ? job->drained_ns < job->stream->until_ns :
			     operations < job->options->operations;
}

static void run(struct hosts_job *job)
{
	const struct simulated_options *options = job->options;

	drain(job, 0);
	for (unsigned i = 0; !job->error && goes_on(job, i); i++) {
		uint64_t bytes = options->bytes;

		if (options->small_every > 0 && i % options->small_every == 0)
			bytes = SMALL_BYTES;
		if (options->calls == SIMULATED_SEND)
			send_all(job, bytes);
		else
			all_reduce(job, bytes);
		while (!job->error &&
		       now_ns(job) >= job->drained_ns + DRAIN_EVERY_NS)
			drain(job, job->drained_ns + DRAIN_EVERY_NS);
	}
	job->state_ns = 0;
	if (!job->error && !job->stream)
		drain(job, now_ns(job) + 1 * MS);
	job->hosts->end_ns = job->drained_ns;
}

/* Computes the job; `directory` is NULL for a stream. */
static int compute(struct hosts_job *job, const char *directory, char *why,
		   unsigned why_size)
{
	const struct simulated_options *options = job->options;

	job->rank_count = options->hosts * options->ranks;
	job->random = ncs_hash(options->seed - UINT64_C(0x9e3779b97f4a7c15));
	if (options->hosts > SIMULATED_HOSTS_MAX || options->hosts == 0)
		return -EINVAL;
	*job->hosts = (struct simulated_hosts){ .options = *options };
	set_clocks(job->hosts);
	job->ranks = sim_alloc(job->rank_count, sizeof(*job->ranks));
	job->free_ns = sim_alloc((size_t)job->rank_count * options->channels,
				 sizeof(uint64_t));
	for (unsigned i = 0; i < options->hosts && !job->error; i++)
		job->error = open_host(job, directory, i, why, why_size);
	if (!job->error)
		add_ranks(job);
	if (!job->error)
		run(job);
	for (unsigned i = 0; i < options->hosts; i++)
		if (job->writers[i])
			note(job,
			     ncs_recording_writer_close(job->writers[i], NULL));
	for (unsigned i = 0; i < job->rank_count; i++)
		for (unsigned k = 0; k < LANES; k++)
			free(job->ranks[i].queues[k].kept);
	free(job->ranks);
	free(job->free_ns);
	return job->error;
}

int simulated_hosts_write(const struct simulated_options *options,
			  const char *directory, struct simulated_hosts *hosts,
			  char *why, unsigned why_size)
{
	struct hosts_job job = {
		.hosts = hosts,
		.options = options,
		.state_every_ns = STATE_EVERY_NS,
	};

	why[0] = '\0';
	return compute(&job, directory, why, why_size);
}

int simulated_hosts_stream(const struct simulated_options *options,
			   uint64_t every_ns, uint64_t until_ns,
			   struct simulated_hosts *hosts, simulated_look *take,
			   void *context)
{
	struct hosts_stream stream = {
		.every_ns = every_ns,
		.until_ns = until_ns,
		.take = take,
		.context = context,
	};
	struct hosts_job job = {
		.hosts = hosts,
		.options = options,
		.stream = &stream,
		.state_every_ns = every_ns,
	};
	int error = compute(&job, NULL, NULL, 0);

	for (unsigned i = 0; i < SIMULATED_HOSTS_MAX; i++)
		free(stream.memory[i].bytes);
	return error;
}
