/* SPDX-License-Identifier: MIT */
/* Simulated jobs as sources; see sim_source.h. */
#include "test/unit/support/simulator/sim_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/abi_header.h"
#include "ncclstat/size_class.h"
#include "shm/array.h"
#include "test/unit/support/simulator/sim_states.h"

#define US 1e3

/* The proxy thread sees the end of an operation so much later. */
#define PROXY_LATE_NS (200 * US)
/* Sockets take data in this time. */
#define BUFFERED_NS (5 * US)
#define GPU_ERROR_NS 5e3
#define STREAM_ERROR_NS 2e3

struct sim_record {
	double published_ns;
	size_t order;
	struct ncs_record record;
};

struct sim_class {
	struct ncs_class_view view;
	uint64_t buckets[NCS_HISTOGRAM_BUCKETS];
};

/* A communicator of one process: what a segment shows. */
struct sim_segment {
	char id[32];
	struct sim_class *classes;
	size_t class_count, class_capacity;
	struct sim_record *records;
	size_t count, capacity, taken, published;
	uint64_t operations;
	struct ncs_header header;
	struct ncs_function_view functions[NCS_FUNCTION_COUNT];
	struct ncs_channel_view channels[2]; /* sends, receives */
};

/* Returns how far the clock of a GPU is before that of its host. */
static uint64_t gpu_offset_ns(const struct sim_job *job, unsigned rank,
			      double true_ns)
{
	double drift = job->options.gpu_drift * sim_error(job, 5, rank);

	return UINT64_C(1700000000000000000) + rank * UINT64_C(13000000) +
	       (uint64_t)llround(drift * true_ns);
}

static uint64_t gpu_ns(const struct sim_job *job, unsigned rank, double true_ns)
{
	return sim_clock_ns(job, rank,
			    true_ns + GPU_ERROR_NS * sim_error(job, 2, rank)) +
	       gpu_offset_ns(job, rank, true_ns);
}

/* --- Records -------------------------------------------------------------- */

/* An operation as one rank took part in it. */
struct sim_taken {
	const struct sim_job *job;
	struct sim_segment *segment;
	const struct sim_operation *operation;
	const struct sim_part *part;
	double end_ns; /* of all that is recorded of it */
};

/* Makes the record of a span with two moments in it, 0 if there is none. */
static struct ncs_record span(const struct sim_taken *taken, unsigned event,
			      double from_ns, double until_ns, double first_ns,
			      double second_ns)
{
	const struct sim_part *part = taken->part;
	uint64_t start = sim_clock_ns(taken->job, part->rank, from_ns);
#define SINCE_START(ns) \
	((ns) > 0 ? sim_clock_ns(taken->job, part->rank, ns) - start : 0)

	return (struct ncs_record){
		.start = start,
		.event = (uint8_t)event,
		.function = (uint8_t)part->function,
		.operation = (uint32_t)taken->segment->operations,
		.peer = -1,
		.value = part->action->bytes,
		.duration =
			sim_clock_ns(taken->job, part->rank, until_ns) - start,
		.delta = { SINCE_START(first_ns), SINCE_START(second_ns) },
	};
#undef SINCE_START
}

static void publish(struct sim_taken *taken, double now_ns,
		    const struct ncs_record *record)
{
	struct sim_segment *segment = taken->segment;

	if (ncs_array_reserve(&segment->records, &segment->capacity,
			      segment->count + 1,
			      sizeof(*segment->records)) != 0)
		abort();
	segment->records[segment->count++] =
		(struct sim_record){ now_ns, segment->published++, *record };
}

/* A step, or a proxy operation of steps, and two moments in it: the ends of the first
 * two waits of a step. */
struct sim_wait {
	bool send;
	int peer;
	unsigned channel;
	double start_ns, first_ns, second_ns, stop_ns;
};

static void publish_wait(struct sim_taken *taken, unsigned event,
			 const struct sim_wait *wait, uint64_t bytes,
			 uint64_t number)
{
	struct ncs_record record = span(taken, event, wait->start_ns,
					wait->stop_ns, wait->first_ns,
					wait->second_ns);

	record.flags = wait->send ? NCS_RECORD_SEND : 0;
	record.channel = (uint8_t)wait->channel;
	record.peer = wait->peer;
	record.value = bytes;
	record.number = number;
	publish(taken, wait->stop_ns, &record);
	if (event == NCS_EVENT_PROXY_OP)
		taken->end_ns = fmax(taken->end_ns, wait->stop_ns);
}

/* Records a step, and the proxy operation that consists of it. */
static void record_step(struct sim_taken *taken, const struct sim_wait *step)
{
	uint64_t bytes = taken->part->action->bytes;
	struct sim_wait proxy = *step;

	publish_wait(taken, NCS_EVENT_PROXY_STEP, step, bytes, 0);
	proxy.first_ns = proxy.second_ns = step->start_ns + 1 * US;
	proxy.stop_ns += PROXY_LATE_NS;
	publish_wait(taken, NCS_EVENT_PROXY_OP, &proxy, bytes, 1);
}

/* Records what a rank sends on once it has data to send. */
static void record_send(struct sim_taken *taken, int peer, double data_ns,
			double posted_ns)
{
	const struct sim_part *part = taken->part;
	struct sim_wait step = {
		.send = true,
		.peer = peer,
		.start_ns = part->launched_ns + 5 * US,
		.first_ns = part->late_ns > 0 ? posted_ns : data_ns,
		.second_ns = posted_ns,
		.stop_ns = posted_ns + (taken->job->options.buffered ?
						BUFFERED_NS :
						part->wire_ns),
	};

	if (part->late_ns > 0 && taken->job->options.fault == SIM_ASLEEP)
		step.start_ns = posted_ns - 2 * US;
	record_step(taken, &step);
}

static void record_receive(struct sim_taken *taken, int peer, double came_ns)
{
	struct sim_wait step = {
		.peer = peer,
		.start_ns = taken->part->launched_ns + 5 * US,
		.first_ns = came_ns,
		.second_ns = came_ns + 5 * US,
		.stop_ns = came_ns + 10 * US,
	};

	record_step(taken, &step);
}

/* Records what a rank does in a tree: data comes from those below it and goes up
 * with its own; from the root it comes back. */
static void record_tree(struct sim_taken *taken)
{
	const struct sim_part *part = taken->part;
	const struct sim_hop *hops = taken->operation->hops;
	const struct sim_hop *own = &hops[part->member];
	unsigned members = taken->operation->comm->count;
	unsigned below = 2 * part->member + 1;
	int above = ((int)part->member - 1) / 2;
	double back_ns = part->end_ns - 10 * US;

	for (unsigned i = below; i < below + 2 && i < members; i++)
		record_receive(taken, (int)i, hops[i].came_ns);
	if (part->member > 0) {
		record_send(taken, above, own->data_ns, own->posted_ns);
		record_receive(taken, above, back_ns);
	}
	for (unsigned i = below; i < below + 2 && i < members; i++) {
		struct sim_wait back = {
			.send = true,
			.peer = (int)i,
			.start_ns = part->launched_ns + 5 * US,
			.first_ns = back_ns - 2 * US,
			.second_ns = back_ns - 1 * US,
			.stop_ns = back_ns,
		};

		if (part->member == 0 && i == below)
			record_send(taken, (int)i, own->data_ns,
				    own->posted_ns);
		else
			record_step(taken, &back);
	}
}

/* Records the kernel of a channel. */
static void record_kernel(struct sim_taken *taken, unsigned channel,
			  double stop_ns)
{
	const struct sim_part *part = taken->part;
	const struct sim_job *job = taken->job;
	struct ncs_record record;

	if ((job->options.transport == SIM_TREE &&
	     (part->action->kind != SIM_COLLECTIVE ||
	      taken->operation->comm->count > 1)) ||
	    (job->options.transport == SIM_STEPS &&
	     job->options.algorithm == NCS_ALGORITHM_TREE))
		stop_ns = fmin(stop_ns, part->begun_ns + 40 * US);
	record = span(taken, NCS_EVENT_KERNEL_CH, part->begun_ns,
		      stop_ns + 50 * US, 0, 0);
	record.channel = (uint8_t)channel;
	record.value = gpu_ns(job, part->rank, part->begun_ns);
	record.number = gpu_ns(job, part->rank, stop_ns) - record.value;
	publish(taken, stop_ns + 50 * US, &record);
	taken->end_ns = fmax(taken->end_ns, stop_ns + 50 * US);
}

/* Returns what a sender or a receiver does in a step; a sender begins with it when an
 * earlier one has made room. */
static struct sim_wait wait_of(const struct sim_job *job,
			       const struct sim_step *step, bool send,
			       double room_ns)
{
	if (send)
		return (struct sim_wait){
			.send = true,
			.start_ns = fmin(room_ns, step->ready_ns),
			.first_ns = step->ready_ns,
			.second_ns = step->sent_ns,
			.stop_ns = step->came_ns + job->options.latency_ns,
		};
	return (struct sim_wait){
		.start_ns = step->posted_ns,
		.first_ns = step->came_ns,
		.second_ns = step->came_ns + 100,
		.stop_ns = step->consumed_ns,
	};
}

/* Records the steps of a channel at one of their ends, and their proxy operation. */
static void record_side(struct sim_taken *taken, unsigned channel, size_t from,
			bool send)
{
	const struct sim_operation *operation = taken->operation;
	const struct sim_job *job = taken->job;
	const struct sim_step *steps = sim_steps_of(operation, channel, from);
	double begun_ns = taken->part->launched_ns + 4 * US;
	struct sim_wait proxy = {
		.send = send,
		.peer = send ? taken->part->next : taken->part->before,
		.channel = channel,
		.start_ns = begun_ns,
		.first_ns = begun_ns + 200,
		.second_ns = send ? begun_ns + 300 : steps->posted_ns,
	};

	for (unsigned k = 0; k < operation->step_count; k++) {
		double room_ns =
			k < SIM_STEPS_DEPTH ?
				begun_ns + 300 :
				steps[k - SIM_STEPS_DEPTH].came_ns + 500;
		struct sim_wait step = wait_of(job, &steps[k], send, room_ns);

		step.peer = proxy.peer;
		step.channel = channel;
		if (sim_random(job, 6, (uint64_t)step.stop_ns,
			       taken->part->rank) >= job->options.lost)
			publish_wait(taken, NCS_EVENT_PROXY_STEP, &step,
				     operation->step_bytes, k);
		proxy.stop_ns = fmax(proxy.stop_ns, step.stop_ns + 100);
	}
	publish_wait(taken, NCS_EVENT_PROXY_OP, &proxy,
		     operation->step_bytes * operation->step_count,
		     operation->step_count);
}

/* Records what a rank does in all steps. */
static void record_steps(struct sim_taken *taken)
{
	const struct sim_operation *operation = taken->operation;
	const struct sim_options *options = &taken->job->options;
	size_t own = (size_t)(taken->part - operation->parts);
	size_t before = (own + operation->count - 1) % operation->count;
	unsigned last = operation->step_count - 1;

	taken->end_ns = taken->part->launched_ns;
	for (unsigned c = 0; c < options->channels; c++) {
		if (taken->part->sends)
			record_side(taken, c, own, true);
		if (taken->part->receives)
			record_side(taken, c, before, false);
		if (operation->kind == SIM_COLLECTIVE && !options->no_kernels)
			record_kernel(taken, c,
				      sim_steps_of(operation, c, before)[last]
					      .consumed_ns);
	}
}

/* Records the stream, as the plugin does right before an operation: at first, and
 * now and then again. */
static void record_stream(struct sim_taken *taken)
{
	struct ncs_record record = span(taken, NCS_EVENT_STREAM, taken->end_ns,
					taken->end_ns, 0, 0);

	record.function = NCS_FUNCTION_OTHER;
	record.operation = 0;
	record.value = NCS_RECORD_STREAM(0x7000 + taken->part->action->comm);
	if (taken->segment->operations % 16 == 1)
		publish(taken, taken->end_ns, &record);
}

static void record_call(struct sim_taken *taken, bool is_p2p)
{
	const struct sim_part *part = taken->part;
	bool is_plain = taken->job->options.transport == SIM_PLAIN;
	unsigned stream = part->action->comm;
	struct ncs_record record =
		span(taken, is_p2p ? NCS_EVENT_P2P_API : NCS_EVENT_COLL_API,
		     part->called_ns, part->launched_ns + 2 * US, 0, 0);

	if (is_plain)
		stream = !part->action->inlined;
	record.operation = 0;
	record.delta[0] = NCS_RECORD_STREAM(0x7000 + stream);
	publish(taken, part->launched_ns + 2 * US, &record);
	if (!is_plain)
		return;
	record.event = NCS_EVENT_KERNEL_LAUNCH;
	record.duration -= (uint64_t)(2 * US);
	publish(taken, part->launched_ns, &record);
}

static bool is_on_stream(const struct sim_job *job)
{
	return job->options.transport == SIM_NVLINK ||
	       job->options.transport == SIM_MIXED ||
	       job->options.transport == SIM_PLAIN;
}

static struct ncs_record on_stream(struct sim_taken *taken, unsigned event)
{
	const struct sim_part *part = taken->part;
	double begun_ns = part->begun_ns, start_ns = part->launched_ns;
	struct ncs_record record;

	if (taken->job->options.transport != SIM_PLAIN)
		begun_ns +=
			STREAM_ERROR_NS *
			sim_error(taken->job, 3,
				  taken->segment->operations * 64 + part->rank);
	start_ns = fmin(start_ns, begun_ns - 1);
	record = span(taken, event, start_ns, part->end_ns, start_ns + 1,
		      begun_ns);
	record.flags = NCS_RECORD_ON_STREAM;
	taken->end_ns = fmax(taken->end_ns, part->end_ns + 100 * US);
	return record;
}

static void record_part(struct sim_taken *taken)
{
	const struct sim_part *part = taken->part;
	bool is_p2p = part->action->kind != SIM_COLLECTIVE;
	unsigned event = is_p2p ? NCS_EVENT_P2P : NCS_EVENT_COLL;
	double start_ns = part->launched_ns;
	struct ncs_record record;

	taken->end_ns = part->end_ns;
	taken->segment->operations++;
	record_call(taken, is_p2p);
	if (taken->job->options.transport == SIM_STEPS)
		record_steps(taken);
	else if (taken->operation->is_tree)
		record_tree(taken);
	else if (part->sends)
		record_send(taken, part->next, part->begun_ns + 10 * US,
			    part->ready_ns + 20 * US + part->late_ns);
	if (part->receives && !taken->operation->is_tree &&
	    taken->job->options.transport != SIM_STEPS)
		record_receive(taken, part->before, part->came_ns);
	if (is_on_stream(taken->job)) {
		record = on_stream(taken, event);
	} else {
		if (taken->job->options.transport == SIM_STEPS)
			record_stream(taken);
		else
			record_kernel(taken, 0, part->end_ns);
		record = span(
			taken, event, start_ns, taken->end_ns,
			start_ns + 3 * US,
			part->sends || part->receives ? start_ns + 5 * US : 0);
	}
	record.peer = is_p2p ? part->next : part->action->peer;
	record.number = part->number;
	if (is_p2p)
		record.flags |= NCS_RECORD_NUMBERED;
	publish(taken, taken->end_ns + 1, &record);
}

/* Records what all ranks did in an operation. */
static void take(struct sim_job *job, const struct sim_operation *operation)
{
	struct sim_source *self =
		(void *)((char *)job - offsetof(struct sim_source, job));
	struct sim_segment *segments =
		self->segments[operation->comm - job->comms];

	for (size_t i = 0; i < operation->count; i++) {
		struct sim_taken taken = {
			.job = job,
			.segment = &segments[operation->parts[i].member],
			.operation = operation,
			.part = &operation->parts[i],
		};

		record_part(&taken);
		self->end_ns = fmax(self->end_ns, taken.end_ns);
	}
}

/* --- The source ----------------------------------------------------------- */

static int compare_published(const void *left, const void *right)
{
	const struct sim_record *a = left, *b = right;

	if (a->published_ns != b->published_ns)
		return a->published_ns < b->published_ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* Sorts the records that have not been taken, and forgets the others. */
static void sort_records(struct sim_source *self)
{
	for (unsigned i = 0; i < self->job.comm_count; i++)
		for (unsigned k = 0; k < self->job.comms[i].count; k++) {
			struct sim_segment *segment = &self->segments[i][k];

			segment->count -= segment->taken;
			if (segment->count > 0) {
				memmove(segment->records,
					&segment->records[segment->taken],
					segment->count *
						sizeof(*segment->records));
				qsort(segment->records, segment->count,
				      sizeof(*segment->records),
				      compare_published);
			}
			segment->taken = 0;
		}
}

/* Runs the job until the time of the pass. */
static void advance(struct sim_source *self)
{
	double now_ns = (double)(self->now_ns - SIM_BEGIN_NS);

	while (sim_job_ready_ns(&self->job) <= now_ns)
		sim_job_step(&self->job);
	sort_records(self);
}

static int begin(struct ncs_source *source, uint64_t now_ns, char *why,
		 size_t why_size)
{
	struct sim_source *self = (struct sim_source *)source;

	(void)why;
	(void)why_size;
	self->now_ns = now_ns;
	self->comm_place = self->member_place = 0;
	if (self->states)
		sim_states_advance(self);
	else if (self->job.options.steps == 0)
		advance(self);
	return 0;
}

void sim_source_count(struct sim_source *self, unsigned comm, unsigned member,
		      unsigned function, uint64_t bytes, unsigned timing,
		      uint64_t time_ns)
{
	struct sim_segment *segment = &self->segments[comm][member];
	unsigned size_class = ncs_size_class(bytes);
	struct ncs_function_view *view = &segment->functions[function];
	struct sim_class *found = NULL;
	struct ncs_class_times *times;

	for (size_t i = 0; i < segment->class_count; i++)
		if (segment->classes[i].view.function == function &&
		    segment->classes[i].view.size_class == size_class)
			found = &segment->classes[i];
	if (!found) {
		if (ncs_array_reserve(&segment->classes,
				      &segment->class_capacity,
				      segment->class_count + 1,
				      sizeof(*segment->classes)) != 0)
			abort();
		found = &segment->classes[segment->class_count++];
		memset(found, 0, sizeof(*found));
		found->view.function = function;
		found->view.size_class = size_class;
		found->view.algorithm = self->job.options.algorithm;
		found->view.protocol = NCS_PROTOCOL_SIMPLE;
	}
	found->view.operations++;
	view->bytes += bytes;
	if (time_ns == 0)
		return;
	view->timed[timing]++;
	view->time_ns[timing] += time_ns;
	view->timed_bytes[timing] += bytes;
	found->buckets[ncs_histogram_bucket(time_ns)]++;
	times = &found->view.times[timing];
	times->timed++;
	times->time_ns += time_ns;
	times->bytes += bytes;
	times->longest_ns = time_ns > times->longest_ns ? time_ns :
							  times->longest_ns;
	times->count = NCS_HISTOGRAM_BUCKETS;
}

/* Counts what a record tells, as the plugin does. */
static void count_record(struct sim_source *self, unsigned comm,
			 unsigned member, const struct ncs_record *record)
{
	struct sim_segment *segment = &self->segments[comm][member];
	bool send = record->flags & NCS_RECORD_SEND;
	struct ncs_function_view *function =
		&segment->functions[record->function];
	struct ncs_channel_view *channel = &segment->channels[!send];
	uint64_t wait_ns[3] = { record->delta[0],
				record->delta[1] - record->delta[0],
				record->duration - record->delta[1] };

	if (record->event == NCS_EVENT_COLL || record->event == NCS_EVENT_P2P) {
		function->calls++;
		function->operations++;
		function->operations_done++;
		function->with_children++;
		if (record->event == NCS_EVENT_COLL)
			function->last_sequence_number = record->number;
		sim_source_count(self, comm, member, record->function,
				 record->value,
				 record->flags & NCS_RECORD_ON_STREAM ?
					 NCS_TIMING_STREAM :
					 NCS_TIMING_PROXY,
				 record->delta[1] > 0 ? wait_ns[2] : 0);
	}
	if (record->event != NCS_EVENT_PROXY_STEP)
		return;
	channel->operations_started++;
	channel->operations_done++;
	channel->steps_started++;
	channel->steps_done++;
	channel->bytes += record->value;
	for (unsigned i = 0; i < 3; i++)
		channel->time_ns[(send ? NCS_CHANNEL_SEND_GPU_WAIT :
					 NCS_CHANNEL_RECV_WAIT) +
				 i] += wait_ns[i];
}

bool sim_source_is_call(const struct ncs_record *record)
{
	return record->event == NCS_EVENT_COLL_API ||
	       record->event == NCS_EVENT_P2P_API;
}

/* Returns whether a record was overwritten before anybody looked. */
static bool is_forgotten(const struct sim_source *self,
			 const struct sim_record *record)
{
	unsigned event = record->record.event;

	if (record->published_ns >= self->forget_ns)
		return false;
	return self->past >= SIM_PAST_COUNTERS ||
	       (self->past == SIM_PAST_OPERATIONS &&
		(event == NCS_EVENT_PROXY_STEP || event == NCS_EVENT_PROXY_OP));
}

/* Takes what has been published since the last pass, lane by lane: calls come
 * from the application's thread, all else from another one. */
static void take_records(struct sim_source *self, unsigned comm,
			 unsigned member, struct ncs_sample *sample)
{
	struct sim_segment *segment = &self->segments[comm][member];
	double now_ns = (double)(self->now_ns - SIM_BEGIN_NS);
	size_t end = segment->taken, count = 0;

	while (end < segment->count &&
	       segment->records[end].published_ns <= now_ns)
		end++;
	if (ncs_array_reserve(&self->batch, &self->batch_capacity,
			      end - segment->taken + 1,
			      sizeof(*self->batch)) != 0)
		abort();
	for (unsigned calls = 0; calls < 2; calls++)
		for (size_t i = segment->taken; i < end; i++) {
			const struct ncs_record *record =
				&segment->records[i].record;

			if (sim_source_is_call(record) != !calls)
				continue;
			count_record(self, comm, member, record);
			if (!is_forgotten(self, &segment->records[i]))
				self->batch[count++] = *record;
		}
	segment->taken = end;
	sample->records = self->batch;
	sample->record_count = count;
}

/* Shows the times of classes in a snapshot. */
static void show_classes(struct sim_source *self,
			 const struct sim_segment *segment)
{
	size_t count = segment->class_count;

	if (ncs_array_reserve(&self->classes, &self->class_capacity, count + 1,
			      sizeof(*self->classes)) != 0 ||
	    ncs_array_reserve(&self->buckets, &self->bucket_capacity,
			      (count + 1) * NCS_HISTOGRAM_BUCKETS,
			      sizeof(*self->buckets)) != 0)
		abort();
	for (size_t i = 0; i < count; i++) {
		self->classes[i] = segment->classes[i].view;
		for (unsigned k = 0; k < NCS_TIMING_COUNT; k++)
			self->classes[i].times[k].place =
				i * NCS_HISTOGRAM_BUCKETS;
		memcpy(&self->buckets[i * NCS_HISTOGRAM_BUCKETS],
		       segment->classes[i].buckets,
		       sizeof(segment->classes[i].buckets));
	}
	self->snapshot.classes = self->classes;
	self->snapshot.class_count = count;
	self->snapshot.class_buckets = self->buckets;
	self->snapshot.class_bucket_count = count * NCS_HISTOGRAM_BUCKETS;
}

static void take_snapshot(struct sim_source *self, const struct sim_comm *comm,
			  unsigned member)
{
	struct ncs_snapshot *snapshot = &self->snapshot;
	struct sim_segment *segment =
		&self->segments[comm - self->job.comms][member];
	unsigned rank = comm->members[member];
	uint64_t taken_ns = sim_clock_ns(&self->job, rank,
					 (double)(self->now_ns - SIM_BEGIN_NS));

	*snapshot = (struct ncs_snapshot){
		.taken_ns = taken_ns,
		.last_call_ns = taken_ns,
		.identity = { .known = NCS_KNOWN_COMM_ID | NCS_KNOWN_RANK |
				       NCS_KNOWN_NRANKS | NCS_KNOWN_NNODES,
			      .comm_id = comm->id,
			      .rank = (int)member,
			      .nranks = (int)comm->count,
			      .nnodes = 1 },
	};
	memcpy(snapshot->functions, segment->functions,
	       sizeof(snapshot->functions));
	if (self->past == SIM_PAST_COUNTERS)
		show_classes(self, segment);
	if (self->job.options.transport == SIM_PLAIN)
		return;
	if (is_on_stream(&self->job))
		snapshot->launches.error_ns = (uint64_t)STREAM_ERROR_NS;
	else
		snapshot->gpu_clock = (struct ncs_gpu_clock_view){
			.known = true,
			.told_ns = taken_ns,
			.offset_ns = (int64_t)gpu_offset_ns(
				&self->job, rank,
				(double)(self->now_ns - SIM_BEGIN_NS)),
			.error_ns = (uint64_t)GPU_ERROR_NS,
			.quantum_ns = 32,
		};
	if (self->job.options.transport == SIM_NVLINK ||
	    self->job.options.transport == SIM_STEPS)
		return;
	snapshot->channels = segment->channels;
	snapshot->channel_count = 2;
}

void sim_source_show(struct sim_source *self, unsigned comm, unsigned member)
{
	take_snapshot(self, &self->job.comms[comm], member);
	if (self->states)
		sim_states_show(self, comm, member);
}

/* Returns whether the process of a rank can be seen. */
static bool is_seen(const struct sim_source *self,
		    const struct sim_segment *segment, unsigned rank)
{
	const struct sim_options *options = &self->job.options;

	return (options->seen == 0 || rank < options->seen) &&
	       segment->header.created <= self->now_ns;
}

/* Returns the next member that can be seen; NULL if there is none. */
static struct sim_segment *next_segment(struct sim_source *self)
{
	while (self->comm_place < self->job.comm_count) {
		const struct sim_comm *comm =
			&self->job.comms[self->comm_place];
		unsigned member = ++self->member_place;
		struct sim_segment *segment =
			&self->segments[self->comm_place][member - 1];

		if (member > comm->count) {
			self->member_place = 0;
			self->comm_place++;
		} else if (is_seen(self, segment, comm->members[member - 1])) {
			return segment;
		}
	}
	return NULL;
}

static bool next(struct ncs_source *source, struct ncs_sample *sample)
{
	struct sim_source *self = (struct sim_source *)source;
	struct sim_segment *segment = next_segment(self);
	unsigned comm = self->comm_place, member = self->member_place - 1;

	if (!segment)
		return false;
	*sample = (struct ncs_sample){
		.id = segment->id,
		.attach = NCS_ATTACHED,
		.header = &segment->header,
		.snapshot = &self->snapshot,
		.without_records = self->states != NULL,
		.clock_is_aligned = sim_has_hosts(&self->job),
		.clock_error_ns = sim_has_hosts(&self->job) ?
					  (uint64_t)SIM_HOST_ERROR_NS :
					  0,
	};
	take_records(self, comm, member, sample);
	sim_source_show(self, comm, member);
	return true;
}

static void close_source(struct ncs_source *source)
{
	(void)source;
}

/* --- The job -------------------------------------------------------------- */

static void make_header(const struct sim_job *job, unsigned rank,
			struct ncs_header *header)
{
	header->api_version = job->options.api_version;
	if (job->options.has_states)
		header->created = 1;
	if (rank == job->options.victim && job->options.birth_ns > 0)
		header->created = (uint64_t)job->options.birth_ns;
	header->pid = 1000 + 100 * job->options.number + rank;
	header->process_start = 1 + header->pid;
	header->clock.multiplier = UINT64_C(1) << 32;
	snprintf(header->host, sizeof(header->host), "host%u",
		 sim_host(job, rank));
	snprintf(header->boot_id, sizeof(header->boot_id), "boot%u",
		 sim_host(job, rank));
}

static struct sim_segment *make_segments(const struct sim_job *job,
					 unsigned number)
{
	const struct sim_comm *comm = &job->comms[number];
	struct sim_segment *segments =
		sim_alloc(comm->count, sizeof(*segments));

	for (unsigned k = 0; k < comm->count; k++) {
		struct sim_segment *segment = &segments[k];

		make_header(job, comm->members[k], &segment->header);
		snprintf(segment->id, sizeof(segment->id), "truth%u/%u.%u",
			 job->options.number, number, k);
		for (unsigned f = 0; f < NCS_FUNCTION_COUNT; f++)
			segment->functions[f].last_sequence_number =
				NCS_NO_SEQUENCE_NUMBER;
		segment->channels[0].peer = (int)((k + 1) % comm->count);
		segment->channels[0].send = true;
		segment->channels[1].peer =
			(int)((k + comm->count - 1) % comm->count);
	}
	return segments;
}

struct sim_source *sim_source_new(const struct sim_options *options)
{
	struct sim_source *self = sim_alloc(1, sizeof(*self));
	struct sim_job *job = &self->job;

	self->source.begin = begin;
	self->source.next = next;
	self->source.close = close_source;
	sim_job_init(job, options);
	job->take = take;
	if (options->has_states)
		sim_states_init(self);
	self->segments = sim_alloc(job->comm_count, sizeof(*self->segments));
	for (unsigned i = 0; i < job->comm_count; i++)
		self->segments[i] = make_segments(job, i);
	sim_job_run(job);
	sort_records(self);
	return self;
}

void sim_source_free(struct sim_source *self)
{
	for (unsigned i = 0; i < self->job.comm_count; i++) {
		for (unsigned k = 0; k < self->job.comms[i].count; k++) {
			free(self->segments[i][k].records);
			free(self->segments[i][k].classes);
		}
		free(self->segments[i]);
	}
	if (self->states)
		sim_states_release(self);
	free(self->segments);
	free(self->batch);
	free(self->classes);
	free(self->buckets);
	sim_job_release(&self->job);
	free(self);
}

void sim_source_forget(struct sim_source *self, unsigned step,
		       enum sim_past past)
{
	self->past = past;
	self->forget_ns = self->job.begins_ns[step];
}

/* --- The truth ------------------------------------------------------------- */

double sim_source_met_ns(const struct sim_source *self)
{
	double first_ns = INFINITY;

	for (unsigned i = 0; i < self->job.comm_count; i++)
		if (self->job.comms[i].collectives > 0)
			first_ns =
				fmin(first_ns, self->job.comms[i].ready_ns[0]);
	return first_ns;
}

uint64_t sim_source_end_ns(const struct sim_source *self)
{
	return SIM_BEGIN_NS + (uint64_t)llround(self->end_ns);
}

const struct sim_comm *sim_source_comm(const struct sim_source *self,
				       uint64_t comm_id)
{
	for (unsigned i = 0; i < self->job.comm_count; i++)
		if (self->job.comms[i].id == comm_id)
			return &self->job.comms[i];
	abort();
}
