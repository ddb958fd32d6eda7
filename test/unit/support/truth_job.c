/* SPDX-License-Identifier: MIT */
/* Simulated jobs; see truth_job.h.
 *
 * A step is computed rank by rank, as far as each can go: at an operation a rank
 * stops until all others of it have come there. Random numbers depend on the
 * place in the program only, so that a fault changes nothing but what it
 * delays.
 */
#include "test/unit/support/truth_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/abi_header.h"
#include "ncclstat/size_class.h"
#include "shm/array.h"
#include "shm/hash.h"

#define START_NS UINT64_C(1000000000000)
#define US 1e3
#define MS 1e6

#define COMMS 4u
#define ACTIONS 512u
#define BUCKETS 4u
#define LAYERS 4u
#define MICROBATCHES 4u
#define AHEAD_MAX 8u

/* Time of the host to enqueue a kernel, and an operation. */
#define KERNEL_HOST_NS (5 * US)
#define OPERATION_HOST_NS (15 * US)
/* A kernel begins so long after its launch on an idle stream. */
#define LAUNCH_NS (6 * US)
/* The proxy thread sees the end of an operation so much later. */
#define PROXY_LATE_NS (200 * US)
/* The first data gets from one rank to the next in this time. */
#define HOP_NS (30 * US)
/* Sockets take data in this time. */
#define BUFFERED_NS (5 * US)
#define GPU_ERROR_NS 5e3
#define STREAM_ERROR_NS 2e3
#define HOST_ERROR_NS 20e3

enum action_kind {
	ON_HOST,   /* work of the host */
	ON_STREAM, /* a kernel on the compute stream */
	COLLECTIVE,
	SEND_TO,
	RECEIVE_FROM,
	EXCHANGE, /* sends to one and receives from another one at once */
	AWAIT, /* the compute stream waits for the communicator's */
};

struct action {
	enum action_kind kind;
	unsigned comm; /* kind of communicator, below COMMS */
	bool inlined;  /* on the compute stream, not one of its own */
	int peer;      /* member of the communicator … */
	int from;      /* … that an exchange receives from */
	uint64_t bytes;
	double ns;
};

struct truth_record {
	double published_ns;
	size_t order;
	struct ncs_record record;
};

/* A communicator of one process: what a segment shows. */
struct truth_class {
	struct ncs_class_view view;
	uint64_t buckets[NCS_HISTOGRAM_BUCKETS];
};

struct truth_segment {
	char id[32];
	struct truth_class *classes;
	size_t class_count, class_capacity;
	struct truth_record *records;
	size_t count, capacity, taken;
	uint64_t operations;
	uint64_t transfers[TRUTH_RANKS_MAX][2]; /* sends, receives */
	struct ncs_header header;
	struct ncs_function_view functions[NCS_FUNCTION_COUNT];
	struct ncs_channel_view channels[2]; /* sends, receives */
};

struct truth_comm {
	uint64_t id;
	unsigned count; /* of its members */
	unsigned members[TRUTH_RANKS_MAX];
	struct truth_segment *segments; /* by member */
	double *ready_ns;               /* of its collectives */
	size_t collectives, capacity;
};

struct truth_rank {
	unsigned comm[COMMS], member[COMMS];
	double host_ns, compute_ns, comm_ns[COMMS];
	double step_ns[AHEAD_MAX]; /* ends of the latest steps */
	struct action program[ACTIONS];
	unsigned actions, at, works;
	bool had_fault; /* the program has come to where it is */
	/* The operation that it stands at. */
	bool is_there;
	double called_ns, launched_ns, begun_ns;
};

struct truth_job {
	struct ncs_source source; /* must be first: is cast to this struct */
	struct truth_options options;
	unsigned step;
	struct truth_rank ranks[TRUTH_RANKS_MAX];
	struct truth_comm *comms;
	unsigned comm_count;
	double *steps_ns; /* when each step begins */
	double end_ns;
	unsigned faults; /* times that one could have come */
	/* The pass that goes on. */
	uint64_t now_ns;
	unsigned comm_place, member_place;
	struct ncs_snapshot snapshot;
	struct ncs_record *batch;
	size_t batch_capacity;
	/* The rest of the time before. */
	enum truth_past past;
	double forget_ns;
	struct ncs_class_view *classes;
	uint64_t *buckets;
	size_t class_capacity, bucket_capacity;
};

static void *checked(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/* --- Chance and clocks ---------------------------------------------------- */

/* Returns a number from 0 to 1 that only depends on the arguments. */
static double random_of(const struct truth_job *job, uint64_t a, uint64_t b,
			uint64_t c)
{
	uint64_t hash = ncs_hash(job->options.seed);

	hash = ncs_hash_add(ncs_hash_add(ncs_hash_add(hash, a), b), c);
	return (double)(hash >> 11) * 0x1p-53;
}

/* Returns a fixed number from -1 to 1. */
static double error_of(const struct truth_job *job, uint64_t what,
		       uint64_t number)
{
	return 2 * random_of(job, 1000 + what, number, 0) - 1;
}

static unsigned host_of(const struct truth_job *job, unsigned rank)
{
	return rank / job->options.ranks_per_host;
}

static bool has_hosts(const struct truth_job *job)
{
	return job->options.ranks > job->options.ranks_per_host;
}

/* Returns a true time by the clock of a rank's host. */
static uint64_t clock_ns(const struct truth_job *job, unsigned rank,
			 double true_ns)
{
	double off = has_hosts(job) ? HOST_ERROR_NS * error_of(job, 1,
							       host_of(job,
								       rank)) :
				      0;

	return START_NS + (uint64_t)llround(true_ns + off);
}

static uint64_t gpu_offset_ns(unsigned rank)
{
	return UINT64_C(1700000000000000000) + rank * UINT64_C(13000000);
}

static uint64_t gpu_ns(const struct truth_job *job, unsigned rank,
		       double true_ns)
{
	return clock_ns(job, rank,
			true_ns + GPU_ERROR_NS * error_of(job, 2, rank)) +
	       gpu_offset_ns(rank);
}

/* --- The program ---------------------------------------------------------- */

static bool is_faulty(const struct truth_job *job, unsigned rank,
		      enum truth_fault fault)
{
	const struct truth_options *options = &job->options;

	return options->fault == fault && options->victim == rank &&
	       job->step >= options->from_step &&
	       (options->until_step == 0 || job->step < options->until_step);
}

static struct action *add(struct truth_job *job, unsigned rank,
			  enum action_kind kind)
{
	struct truth_rank *self = &job->ranks[rank];

	if (self->actions == ACTIONS)
		abort();
	self->program[self->actions] = (struct action){ .kind = kind };
	return &self->program[self->actions++];
}

static void add_fault(struct truth_job *job, unsigned rank)
{
	unsigned period = job->options.period;

	if (period > 0 && job->options.victim == rank &&
	    ++job->faults % period != 0)
		return;
	if (is_faulty(job, rank, TRUTH_HOST))
		add(job, rank, ON_HOST)->ns = job->options.fault_size;
	if (is_faulty(job, rank, TRUTH_STREAM))
		add(job, rank, ON_STREAM)->ns = job->options.fault_size;
}

static void add_work(struct truth_job *job, unsigned rank,
		     enum action_kind kind, double ns)
{
	double more = job->options.jitter *
		      random_of(job, 1, job->step * UINT64_C(1000) + rank,
				job->ranks[rank].works++);

	if (kind == ON_STREAM && is_faulty(job, rank, TRUTH_GPU))
		ns *= job->options.fault_size;
	add(job, rank, kind)->ns = ns * (1 + more);
}

static void add_operation(struct truth_job *job, unsigned rank,
			  enum action_kind kind, unsigned comm, uint64_t bytes,
			  bool inlined, int peer)
{
	struct action *action;

	if (job->options.each ||
	    (job->options.shape == TRUTH_3D && comm == job->options.group &&
	     !job->ranks[rank].had_fault))
		add_fault(job, rank);
	job->ranks[rank].had_fault |= comm == job->options.group;
	action = add(job, rank, kind);
	action->comm = comm;
	action->bytes = bytes;
	if (job->options.resize > 0 && job->step >= job->options.resize_step)
		action->bytes = (uint64_t)((double)bytes * job->options.resize);
	if (job->options.unlike_step > 0 && kind == COLLECTIVE &&
	    job->step == job->options.unlike_step &&
	    rank == job->options.victim)
		action->bytes /= 2;
	action->inlined = inlined;
	action->peer = peer;
}

static void add_collective(struct truth_job *job, unsigned rank, unsigned comm,
			   uint64_t bytes, bool inlined)
{
	add_operation(job, rank, COLLECTIVE, comm, bytes, inlined, -1);
}

static void add_ddp(struct truth_job *job, unsigned rank)
{
	unsigned comms = job->options.communicators;

	if (job->options.greets && job->step == 0 && rank < 2)
		add_operation(job, rank, rank == 0 ? SEND_TO : RECEIVE_FROM, 0,
			      1 << 14, true, (int)(1 - rank));
	add_work(job, rank, ON_STREAM, 3 * MS);
	if (comms > 1)
		add_collective(job, rank, 1, 1 << 14, true);
	add_work(job, rank, ON_STREAM, 3 * MS);
	for (unsigned i = 0; i < BUCKETS; i++) {
		add_work(job, rank, ON_STREAM, 3 * MS);
		add_collective(job, rank, 0, 25 << 20, false);
	}
	add(job, rank, AWAIT)->comm = 0;
	if (comms > 2)
		add_collective(job, rank, 2, 4, true);
	add_work(job, rank, ON_STREAM, 1 * MS);
	if (comms > 3)
		add_collective(job, rank, 3, 1 << 20, true);
}

static void add_tensor(struct truth_job *job, unsigned rank)
{
	unsigned comms = job->options.communicators;

	for (unsigned i = 0; i < LAYERS; i++) {
		add_work(job, rank, ON_STREAM, 2 * MS);
		add_collective(job, rank, 0, 8 << 20, true);
	}
	if (comms > 1)
		add_collective(job, rank, 1, 25 << 20, true);
	if (comms > 2)
		add_collective(job, rank, 2, 4, true);
	add_work(job, rank, ON_STREAM, 1 * MS);
	if (comms > 3)
		add_collective(job, rank, 3, 1 << 20, true);
}

/* Returns the communicator of a kind that a rank is in. */
static const struct truth_comm *comm_of(const struct truth_job *job,
					unsigned rank, unsigned comm)
{
	return &job->comms[job->ranks[rank].comm[comm]];
}

/* Returns whether a member of the communicator of the pipeline is there. */
static bool is_stage(const struct truth_job *job, unsigned rank, int member)
{
	return member >= 0 && member < (int)comm_of(job, rank, 0)->count;
}

/* Adds the computing of a stage: where two ranks share its layers, of two, each
 * followed by an AllReduce. */
static void add_stage_work(struct truth_job *job, unsigned rank, double ns)
{
	bool is_shared = job->options.shape == TRUTH_3D;

	for (unsigned i = 0; i < (is_shared ? 2 : 1); i++) {
		add_work(job, rank, ON_STREAM, ns);
		if (is_shared)
			add_collective(job, rank, TRUTH_GROUP_TENSOR, 8 << 20,
				       true);
	}
}

static void add_transfer(struct truth_job *job, unsigned rank,
			 enum action_kind kind, int peer)
{
	if (is_stage(job, rank, peer))
		add_operation(job, rank, kind, 0, 4 << 20,
			      kind == RECEIVE_FROM || job->options.blocks,
			      peer);
}

/* Adds a microbatch of a stage, which it has from rank `from` and passes on to
 * rank `to`, if these are stages. Sends go on their own stream, so that the one
 * that sends computes on, unless they block. */
static void add_microbatch(struct truth_job *job, unsigned rank, int from,
			   int to, double work_ns)
{
	add_transfer(job, rank, RECEIVE_FROM, from);
	add_stage_work(job, rank, work_ns);
	add_transfer(job, rank, SEND_TO, to);
}

/* Adds a send and a receive that stages make together; an even stage sends
 * first. */
static void add_exchange(struct truth_job *job, unsigned rank, int peer)
{
	unsigned stage = job->ranks[rank].member[0];

	add_transfer(job, rank, stage % 2 ? RECEIVE_FROM : SEND_TO, peer);
	add_transfer(job, rank, stage % 2 ? SEND_TO : RECEIVE_FROM, peer);
}

/* One forward, one backward: a stage runs as many microbatches forward first as
 * there are stages after it. */
static void add_alternating(struct truth_job *job, unsigned rank)
{
	unsigned stage = job->ranks[rank].member[0];
	unsigned after = comm_of(job, rank, 0)->count - 1 - stage;
	unsigned first = after < MICROBATCHES ? after : MICROBATCHES;
	int before = (int)stage - 1, next = (int)stage + 1;

	for (unsigned i = 0; i < first; i++) {
		add_transfer(job, rank, RECEIVE_FROM, before);
		add_stage_work(job, rank, 1 * MS);
		add_transfer(job, rank, SEND_TO, next);
	}
	for (unsigned i = first; i < MICROBATCHES; i++) {
		if (i == first)
			add_transfer(job, rank, RECEIVE_FROM, before);
		add_stage_work(job, rank, 1 * MS);
		add_exchange(job, rank, next);
		add_stage_work(job, rank, 2 * MS);
		if (i + 1 < MICROBATCHES)
			add_exchange(job, rank, before);
		else
			add_transfer(job, rank, SEND_TO, before);
	}
	for (unsigned i = 0; i < first; i++) {
		add_transfer(job, rank, RECEIVE_FROM, next);
		add_stage_work(job, rank, 2 * MS);
		add_transfer(job, rank, SEND_TO, before);
	}
}

/* All microbatches forward, then all backward. */
static void add_in_turn(struct truth_job *job, unsigned rank)
{
	int before = (int)rank - 1, next = (int)rank + 1;

	for (unsigned i = 0; i < MICROBATCHES; i++)
		add_microbatch(job, rank, before, next, 1 * MS);
	for (unsigned i = 0; i < MICROBATCHES; i++)
		add_microbatch(job, rank, next, before, 2 * MS);
}

static void add_pipeline(struct truth_job *job, unsigned rank)
{
	unsigned sum = job->options.communicators > 1;

	if (job->options.alternates)
		add_alternating(job, rank);
	else
		add_in_turn(job, rank);
	add_collective(job, rank, sum, 1 << 20, true);
	add_work(job, rank, ON_STREAM, 1 * MS);
}

/* All send to the next stage, then to the one before, in turn. */
static void add_round(struct truth_job *job, unsigned rank, bool forward)
{
	unsigned stage = job->ranks[rank].member[0];
	unsigned count = comm_of(job, rank, 0)->count;
	unsigned next = (stage + 1) % count;
	unsigned before = (stage + count - 1) % count;

	for (unsigned i = 0; i < MICROBATCHES / 2; i++) {
		add_stage_work(job, rank, 2 * MS);
		add_operation(job, rank, EXCHANGE, TRUTH_GROUP_PIPE, 4 << 20,
			      true, (int)(forward ? next : before));
		job->ranks[rank].program[job->ranks[rank].actions - 1].from =
			(int)(forward ? before : next);
	}
}

static void add_3d(struct truth_job *job, unsigned rank)
{
	if (job->options.alternates) {
		add_alternating(job, rank);
	} else {
		add_round(job, rank, true);
		add_round(job, rank, false);
	}
	add_collective(job, rank, TRUTH_GROUP_DATA, 8 << 20, true);
	add_collective(job, rank, TRUTH_GROUP_ALL, 4, true);
	add_work(job, rank, ON_STREAM, 0.5 * MS);
}

static void make_program(struct truth_job *job, unsigned rank)
{
	job->ranks[rank].actions = job->ranks[rank].at = 0;
	job->ranks[rank].works = 0;
	job->ranks[rank].had_fault = false;
	add_work(job, rank, ON_HOST, 0.5 * MS);
	if (job->options.pause_period > 0 &&
	    job->step % job->options.pause_period == 0)
		add_work(job, rank, ON_HOST, job->options.pause_ns);
	if (!job->options.each && job->options.shape != TRUTH_3D)
		add_fault(job, rank);
	if (job->options.shape == TRUTH_DDP)
		add_ddp(job, rank);
	else if (job->options.shape == TRUTH_TENSOR)
		add_tensor(job, rank);
	else if (job->options.shape == TRUTH_3D)
		add_3d(job, rank);
	else
		add_pipeline(job, rank);
}

/* --- Records -------------------------------------------------------------- */

static struct truth_segment *segment_of(struct truth_job *job, unsigned rank,
					unsigned comm)
{
	const struct truth_rank *self = &job->ranks[rank];

	return &job->comms[self->comm[comm]].segments[self->member[comm]];
}

/* Makes the record of a span with two moments in it, 0 if there is none. */
static struct ncs_record span(const struct truth_job *job, unsigned rank,
			      double from_ns, double until_ns, double first_ns,
			      double second_ns)
{
	uint64_t start = clock_ns(job, rank, from_ns);

	return (struct ncs_record){
		.start = start,
		.peer = -1,
		.duration = clock_ns(job, rank, until_ns) - start,
		.delta = { first_ns > 0 ? clock_ns(job, rank, first_ns) - start :
					  0,
			   second_ns > 0 ? clock_ns(job, rank, second_ns) -
						   start :
					   0 },
	};
}

static void publish(struct truth_segment *segment, double now_ns,
		    const struct ncs_record *record)
{
	if (ncs_array_reserve(&segment->records, &segment->capacity,
			      segment->count + 1,
			      sizeof(*segment->records)) != 0)
		abort();
	segment->records[segment->count] =
		(struct truth_record){ now_ns, segment->count, *record };
	segment->count++;
}

/* A member of a collective: when it had its data, in a tree also of those below
 * it, and when it sent that on. */
struct truth_hop {
	double data_ns, posted_ns;
	double came_ns; /* it came to the next one */
};

/* An operation as one rank took part in it. */
struct truth_part {
	struct truth_job *job;
	struct truth_segment *segment;
	unsigned rank, comm, function;
	const struct action *action;
	bool has_others;
	bool sends, receives; /* over the network */
	int next, before;     /* members that it sends to and receives from */
	double called_ns, launched_ns, begun_ns, ready_ns, end_ns;
	double wire_ns; /* time that its data is on the way */
	double late_ns; /* its proxy thread is so late with it */
	uint64_t number;
	double came_ns; /* what it receives came then */
	bool is_tree;
	/* All members of a collective, and which of them this is. */
	const struct truth_hop *hops;
	unsigned member, members;
};

static void fill(const struct truth_part *part, struct ncs_record *record,
		 unsigned event)
{
	record->event = (uint8_t)event;
	record->function = (uint8_t)part->function;
	record->operation = (uint32_t)part->segment->operations;
}

/* A step, and the ends of its first two waits. */
struct truth_step {
	bool send;
	int peer;
	double start_ns, first_ns, second_ns, stop_ns;
};

/* Records a step, and the proxy operation that consists of it. */
static void record_step(const struct truth_part *part,
			const struct truth_step *step, double *end_ns)
{
	double stop_ns = step->stop_ns;
	struct ncs_record record =
		span(part->job, part->rank, step->start_ns, stop_ns,
		     step->first_ns, step->second_ns);

	fill(part, &record, NCS_EVENT_PROXY_STEP);
	record.flags = step->send ? NCS_RECORD_SEND : 0;
	record.peer = step->peer;
	record.value = part->action->bytes;
	publish(part->segment, stop_ns, &record);
	stop_ns += PROXY_LATE_NS;
	record = span(part->job, part->rank, step->start_ns, stop_ns,
		      step->start_ns + 1 * US, step->start_ns + 1 * US);
	fill(part, &record, NCS_EVENT_PROXY_OP);
	record.flags = step->send ? NCS_RECORD_SEND : 0;
	record.peer = step->peer;
	record.value = part->action->bytes;
	record.number = 1;
	publish(part->segment, stop_ns, &record);
	*end_ns = fmax(*end_ns, stop_ns);
}

/* Records what a rank sends on once it has data to send. */
static void record_send(const struct truth_part *part, int peer,
			double data_ns, double posted_ns, double *end_ns)
{
	struct truth_step step = {
		.send = true,
		.peer = peer,
		.start_ns = part->launched_ns + 5 * US,
		.first_ns = part->late_ns > 0 ? posted_ns : data_ns,
		.second_ns = posted_ns,
		.stop_ns = posted_ns + (part->job->options.buffered ?
						BUFFERED_NS :
						part->wire_ns),
	};

	if (part->late_ns > 0 && part->job->options.fault == TRUTH_ASLEEP)
		step.start_ns = posted_ns - 2 * US;
	record_step(part, &step, end_ns);
}

static void record_receive(const struct truth_part *part, int peer,
			   double came_ns, double *end_ns)
{
	struct truth_step step = {
		.peer = peer,
		.start_ns = part->launched_ns + 5 * US,
		.first_ns = came_ns,
		.second_ns = came_ns + 5 * US,
		.stop_ns = came_ns + 10 * US,
	};

	record_step(part, &step, end_ns);
}

static int parent_of(unsigned member)
{
	return ((int)member - 1) / 2;
}

/* Records what a rank does in a tree: data comes from those below it and goes up
 * with its own; from the root it comes back. */
static void record_tree(const struct truth_part *part, double *end_ns)
{
	const struct truth_hop *own = &part->hops[part->member];
	unsigned below = 2 * part->member + 1;
	double back_ns = part->end_ns - 10 * US;

	for (unsigned i = below; i < below + 2 && i < part->members; i++)
		record_receive(part, (int)i, part->hops[i].came_ns, end_ns);
	if (part->member > 0) {
		record_send(part, parent_of(part->member), own->data_ns,
			    own->posted_ns, end_ns);
		record_receive(part, parent_of(part->member), back_ns, end_ns);
	}
	for (unsigned i = below; i < below + 2 && i < part->members; i++) {
		struct truth_step back = {
			.send = true,
			.peer = (int)i,
			.start_ns = part->launched_ns + 5 * US,
			.first_ns = back_ns - 2 * US,
			.second_ns = back_ns - 1 * US,
			.stop_ns = back_ns,
		};

		if (part->member == 0 && i == below)
			record_send(part, (int)i, own->data_ns, own->posted_ns,
				    end_ns);
		else
			record_step(part, &back, end_ns);
	}
}

static void record_kernel(const struct truth_part *part, double *end_ns)
{
	double stop_ns = part->end_ns;
	struct ncs_record record;

	if (part->job->options.transport == TRUTH_TREE && part->has_others)
		stop_ns = fmin(stop_ns, part->begun_ns + 40 * US);
	record = span(part->job, part->rank, part->begun_ns, stop_ns + 50 * US,
		      0, 0);
	fill(part, &record, NCS_EVENT_KERNEL_CH);
	record.value = gpu_ns(part->job, part->rank, part->begun_ns);
	record.number =
		gpu_ns(part->job, part->rank, stop_ns) - record.value;
	publish(part->segment, stop_ns + 50 * US, &record);
	*end_ns = fmax(*end_ns, stop_ns + 50 * US);
}

static bool is_on_stream(const struct truth_job *job)
{
	return job->options.transport == TRUTH_NVLINK ||
	       job->options.transport == TRUTH_MIXED;
}

static void record_part(const struct truth_part *part)
{
	struct truth_segment *segment = part->segment;
	bool is_p2p = part->action->kind != COLLECTIVE;
	bool on_stream = is_on_stream(part->job);
	double start_ns = part->launched_ns, end_ns = part->end_ns;
	double begun_ns = start_ns + 5 * US;
	struct ncs_record record =
		span(part->job, part->rank, part->called_ns,
		     part->launched_ns + 2 * US, 0, 0);

	segment->operations++;
	fill(part, &record, is_p2p ? NCS_EVENT_P2P_API : NCS_EVENT_COLL_API);
	record.operation = 0;
	record.value = part->action->bytes;
	record.delta[0] = NCS_RECORD_STREAM(0x7000 + part->comm);
	publish(segment, part->launched_ns + 2 * US, &record);
	if (part->is_tree)
		record_tree(part, &end_ns);
	if (part->sends && !part->is_tree)
		record_send(part, part->next, part->begun_ns + 10 * US,
			    part->ready_ns + 20 * US + part->late_ns, &end_ns);
	if (part->receives && !part->is_tree)
		record_receive(part, part->before, part->came_ns, &end_ns);
	if (!on_stream)
		record_kernel(part, &end_ns);
	if (on_stream) {
		double off = STREAM_ERROR_NS *
			     error_of(part->job, 3,
				      segment->operations * 64 + part->rank);

		begun_ns = part->begun_ns + off;
		start_ns = fmin(start_ns, begun_ns - 1);
		record = span(part->job, part->rank, start_ns, part->end_ns,
			      start_ns + 1, begun_ns);
		record.flags = NCS_RECORD_ON_STREAM;
		end_ns = fmax(end_ns, part->end_ns + 100 * US);
	} else {
		record = span(part->job, part->rank, start_ns, end_ns,
			      start_ns + 3 * US,
			      part->sends || part->receives ? begun_ns : 0);
	}
	fill(part, &record, is_p2p ? NCS_EVENT_P2P : NCS_EVENT_COLL);
	record.peer = is_p2p ? part->next : -1;
	record.value = part->action->bytes;
	record.number = part->number;
	if (is_p2p)
		record.flags |= NCS_RECORD_NUMBERED;
	publish(segment, end_ns + 1, &record);
	part->job->end_ns = fmax(part->job->end_ns, end_ns);
}

/* --- Operations ----------------------------------------------------------- */

static bool is_inside(const struct truth_job *job, unsigned a, unsigned b)
{
	return host_of(job, a) == host_of(job, b);
}

/* Returns how long the data of a rank is on the way to another one. */
static double wire_ns(const struct truth_job *job, unsigned from, unsigned to,
		      const struct action *action)
{
	double ns = (is_inside(job, from, to) ? 10 * US : 30 * US) +
		    (double)action->bytes * 0.02;

	return is_faulty(job, from, TRUTH_NETWORK) ?
		       ns * (from != to ? job->options.fault_size : 1) :
		       ns;
}

static bool crosses(const struct truth_job *job, unsigned a, unsigned b)
{
	return job->options.transport != TRUTH_NVLINK &&
	       (!is_inside(job, a, b) || job->options.ranks_per_host == 1);
}

/* Returns how late the proxy thread of a rank sends to another one. */
static double proxy_late_ns(const struct truth_job *job, unsigned from,
			    unsigned to)
{
	return crosses(job, from, to) && (is_faulty(job, from, TRUTH_PROXY) ||
					  is_faulty(job, from, TRUTH_ASLEEP)) ?
		       job->options.fault_size :
		       0;
}

/* Says that a rank has begun an operation, if all that it needs is known. */
static void come(struct truth_job *job, unsigned rank)
{
	struct truth_rank *self = &job->ranks[rank];
	const struct action *action = &self->program[self->at];
	double *stream_ns = action->inlined ? &self->compute_ns :
					      &self->comm_ns[action->comm];

	if (self->is_there)
		return;
	self->is_there = true;
	self->called_ns = self->host_ns;
	self->host_ns += OPERATION_HOST_NS;
	self->launched_ns = self->host_ns;
	self->begun_ns = fmax(self->launched_ns + LAUNCH_NS,
			      fmax(*stream_ns, self->compute_ns) + 1 * US);
}

/* Records a rank's part in the operation that it stands at. */
static void take_part(struct truth_job *job, struct truth_part *part)
{
	const struct truth_rank *self = &job->ranks[part->rank];

	part->called_ns = self->called_ns;
	part->launched_ns = self->launched_ns;
	part->begun_ns = self->begun_ns;
	record_part(part);
}

/* Lets a rank go on after an operation that ended. */
static void go_past(struct truth_job *job, unsigned rank, double end_ns)
{
	struct truth_rank *self = &job->ranks[rank];
	const struct action *action = &self->program[self->at];

	if (action->inlined)
		self->compute_ns = end_ns;
	else
		self->comm_ns[action->comm] = end_ns;
	self->is_there = false;
	self->at++;
}

static void leave(struct truth_job *job, struct truth_part *part)
{
	take_part(job, part);
	go_past(job, part->rank, part->end_ns);
}

/* Finds when each member of a tree has data to send on, from the leaves to the
 * root. Returns when the root sends it back. */
static double climb(const struct truth_job *job, const struct truth_comm *comm,
		    struct truth_hop *hops)
{
	for (unsigned i = comm->count; i-- > 0;) {
		unsigned rank = comm->members[i];
		unsigned to = comm->members[(i + 1) % comm->count];
		double data_ns = job->ranks[rank].begun_ns + 10 * US, wire;

		for (unsigned k = 2 * i + 1; k <= 2 * i + 2 && k < comm->count;
		     k++)
			data_ns = fmax(data_ns, hops[k].came_ns + 5 * US);
		hops[i].data_ns = data_ns;
		hops[i].posted_ns = data_ns + 10 * US +
				    proxy_late_ns(job, rank, to);
		wire = wire_ns(job, rank, to,
			       &job->ranks[rank].program[job->ranks[rank].at]);
		/* The first data is passed on before the last has come. */
		if (i > 0 && !is_faulty(job, rank, TRUTH_NETWORK))
			wire = fmin(wire, HOP_NS);
		hops[i].came_ns = hops[i].posted_ns + wire;
	}
	return hops[0].came_ns;
}

/* Returns when the data of a collective has come to all ranks, the last of which
 * began at `ready_ns`. */
static double done_ns(const struct truth_job *job,
		      const struct truth_comm *comm, double ready_ns,
		      struct truth_hop *hops)
{
	double slowest_ns = 0;

	if (job->options.transport == TRUTH_TREE && comm->count > 1)
		return climb(job, comm, hops);
	for (unsigned i = 0; i < comm->count; i++) {
		unsigned rank = comm->members[i];
		unsigned to = comm->members[(i + 1) % comm->count];
		const struct truth_rank *self = &job->ranks[rank];

		hops[i].data_ns = job->ranks[rank].begun_ns + 10 * US;
		hops[i].posted_ns =
			ready_ns + 20 * US + proxy_late_ns(job, rank, to);
		hops[i].came_ns =
			hops[i].posted_ns +
			wire_ns(job, rank, to, &self->program[self->at]);
		slowest_ns = fmax(slowest_ns, hops[i].came_ns);
	}
	return slowest_ns;
}

/* Ends a collective that all ranks have come to. */
static void end_collective(struct truth_job *job, struct truth_comm *comm,
			   unsigned kind)
{
	struct truth_hop hops[TRUTH_RANKS_MAX];
	double ready_ns = 0, end_ns;
	unsigned count = comm->count;

	for (unsigned i = 0; i < count; i++)
		ready_ns = fmax(ready_ns,
				job->ranks[comm->members[i]].begun_ns);
	end_ns = done_ns(job, comm, ready_ns, hops);
	if (ncs_array_reserve(&comm->ready_ns, &comm->capacity,
			      comm->collectives + 1,
			      sizeof(*comm->ready_ns)) != 0)
		abort();
	for (unsigned i = 0; i < count; i++) {
		unsigned rank = comm->members[i];
		unsigned next = (i + 1) % count, before = (i + count - 1) % count;
		struct truth_rank *self = &job->ranks[rank];
		struct truth_part part = {
			.job = job,
			.segment = &comm->segments[i],
			.rank = rank,
			.comm = kind,
			.function = NCS_FUNCTION_ALL_REDUCE,
			.has_others = count > 1,
			.action = &self->program[self->at],
			.next = (int)next,
			.before = (int)before,
			.number = comm->collectives,
			.ready_ns = ready_ns,
			.end_ns = end_ns +
				  10 * US * random_of(job, 2,
						      comm->collectives, rank),
			.member = i,
			.members = count,
		};

		part.sends = crosses(job, rank, comm->members[next]);
		part.receives = crosses(job, rank, comm->members[before]);
		part.is_tree = job->options.transport == TRUTH_TREE && count > 1;
		part.hops = hops;
		part.came_ns = hops[before].came_ns;
		part.wire_ns = wire_ns(job, rank, comm->members[next],
				       part.action);
		part.late_ns = proxy_late_ns(job, rank, comm->members[next]);
		leave(job, &part);
	}
	comm->ready_ns[comm->collectives++] = ready_ns;
}

static bool is_at(const struct truth_job *job, unsigned rank,
		  enum action_kind kind, unsigned comm)
{
	const struct truth_rank *self = &job->ranks[rank];

	return self->is_there && self->program[self->at].kind == kind &&
	       self->program[self->at].comm == comm;
}

static bool try_collective(struct truth_job *job, unsigned rank)
{
	const struct truth_rank *self = &job->ranks[rank];
	unsigned kind = self->program[self->at].comm;
	struct truth_comm *comm = &job->comms[self->comm[kind]];

	for (unsigned i = 0; i < comm->count; i++)
		if (!is_at(job, comm->members[i], COLLECTIVE, kind))
			return false;
	end_collective(job, comm, kind);
	return true;
}

/* Returns a rank's part in a transfer of it to or from a member. */
static struct truth_part transfer_part(struct truth_job *job, unsigned rank,
				       bool sends, unsigned member)
{
	const struct truth_rank *self = &job->ranks[rank];
	const struct truth_comm *comm = comm_of(job, rank, 0);
	struct truth_segment *segment = segment_of(job, rank, 0);
	unsigned peer = comm->members[member];
	unsigned from = sends ? rank : peer, to = sends ? peer : rank;

	return (struct truth_part){
		.job = job,
		.segment = segment,
		.rank = rank,
		.function = sends ? NCS_FUNCTION_SEND : NCS_FUNCTION_RECV,
		.has_others = true,
		.action = &self->program[self->at],
		.sends = sends && crosses(job, from, to),
		.receives = !sends && crosses(job, from, to),
		.next = (int)member,
		.before = (int)member,
		.number = segment->transfers[member][!sends]++,
		.wire_ns = wire_ns(job, from, to, &self->program[self->at]),
		.late_ns = proxy_late_ns(job, from, to),
	};
}

static bool try_transfer(struct truth_job *job, unsigned rank)
{
	const struct truth_rank *self = &job->ranks[rank], *other;
	const struct action *action = &self->program[self->at];
	unsigned peer = comm_of(job, rank, 0)->members[action->peer];
	bool sends = action->kind == SEND_TO;
	struct truth_part part;
	double begun_ns, end_ns;

	other = &job->ranks[peer];
	if (!is_at(job, peer, sends ? RECEIVE_FROM : SEND_TO, 0) ||
	    other->program[other->at].peer != (int)self->member[0])
		return false;
	begun_ns = fmax(self->begun_ns, other->begun_ns);
	for (unsigned i = 0; i < 2; i++) {
		unsigned own = sends == !i ? rank : peer;
		unsigned member = job->ranks[own == rank ? peer : rank].member[0];

		part = transfer_part(job, own, !i, member);
		if (!i)
			end_ns = begun_ns + part.wire_ns + part.late_ns;
		part.ready_ns = begun_ns;
		part.end_ns = end_ns;
		part.came_ns = end_ns - 10 * US;
		leave(job, &part);
	}
	return true;
}

/* Ends an exchange of all stages of a pipeline: each waits for those that it
 * sends to and receives from. */
static bool try_exchange(struct truth_job *job, unsigned rank)
{
	const struct truth_comm *comm = comm_of(job, rank, 0);
	double end_ns[TRUTH_RANKS_MAX];

	for (unsigned i = 0; i < comm->count; i++)
		if (!is_at(job, comm->members[i], EXCHANGE, 0))
			return false;
	for (unsigned i = 0; i < comm->count; i++) {
		unsigned own = comm->members[i];
		const struct truth_rank *self = &job->ranks[own];
		const struct action *action = &self->program[self->at];
		unsigned members[2] = { (unsigned)action->peer,
					(unsigned)action->from };
		struct truth_part parts[2];

		end_ns[i] = 0;
		for (unsigned k = 0; k < 2; k++) {
			parts[k] = transfer_part(job, own, !k, members[k]);
			parts[k].ready_ns = fmax(
				self->begun_ns,
				job->ranks[comm->members[members[k]]].begun_ns);
			end_ns[i] = fmax(end_ns[i], parts[k].ready_ns +
							    parts[k].wire_ns +
							    parts[k].late_ns);
		}
		for (unsigned k = 0; k < 2; k++) {
			parts[k].end_ns = end_ns[i];
			take_part(job, &parts[k]);
		}
	}
	for (unsigned i = 0; i < comm->count; i++)
		go_past(job, comm->members[i], end_ns[i]);
	return true;
}

/* Ends the operation that a rank stands at, if all that it needs are there. */
static bool try_operation(struct truth_job *job, unsigned rank)
{
	const struct truth_rank *self = &job->ranks[rank];

	switch (self->program[self->at].kind) {
	case COLLECTIVE:
		return try_collective(job, rank);
	case EXCHANGE:
		return try_exchange(job, rank);
	default:
		return try_transfer(job, rank);
	}
}

/* --- Running -------------------------------------------------------------- */

/* Takes a rank as far as it can go. Returns false if it cannot move. */
static bool go_on(struct truth_job *job, unsigned rank)
{
	struct truth_rank *self = &job->ranks[rank];
	bool moved = false;

	while (self->at < self->actions) {
		const struct action *action = &self->program[self->at];

		switch (action->kind) {
		case ON_HOST:
			self->host_ns += action->ns;
			break;
		case ON_STREAM:
			self->host_ns += KERNEL_HOST_NS;
			self->compute_ns =
				fmax(self->compute_ns,
				     self->host_ns + LAUNCH_NS) +
				action->ns;
			break;
		case AWAIT:
			self->compute_ns =
				fmax(self->compute_ns,
				     self->comm_ns[action->comm]);
			break;
		default:
			moved |= !self->is_there;
			come(job, rank);
			if (!try_operation(job, rank))
				return moved;
			moved = true;
			continue;
		}
		moved = true;
		self->at++;
	}
	return moved;
}

static void run_step(struct truth_job *job)
{
	bool moved = true;

	job->steps_ns[job->step] = INFINITY;
	for (unsigned i = 0; i < job->options.ranks; i++) {
		make_program(job, i);
		job->steps_ns[job->step] = fmin(job->steps_ns[job->step],
						job->ranks[i].host_ns);
	}
	while (moved) {
		moved = false;
		for (unsigned i = 0; i < job->options.ranks; i++)
			moved |= go_on(job, i);
	}
	for (unsigned i = 0; i < job->options.ranks; i++) {
		struct truth_rank *self = &job->ranks[i];
		unsigned ahead = job->options.ahead;

		if (self->at != self->actions)
			abort();
		self->step_ns[job->step % AHEAD_MAX] = self->compute_ns;
		if (job->step >= ahead)
			self->host_ns = fmax(
				self->host_ns,
				self->step_ns[(job->step - ahead) % AHEAD_MAX]);
	}
}

/* --- Communicators -------------------------------------------------------- */

static struct truth_comm *add_comm(struct truth_job *job)
{
	struct truth_comm *comm = &job->comms[job->comm_count++];

	comm->id = ncs_hash(job->options.seed * 64 + job->comm_count);
	return comm;
}

static void add_member(struct truth_job *job, struct truth_comm *comm,
		       unsigned kind, unsigned rank)
{
	job->ranks[rank].comm[kind] = (unsigned)(comm - job->comms);
	job->ranks[rank].member[kind] = comm->count;
	comm->members[comm->count++] = rank;
}

/* Adds the communicators of a kind: of `size` ranks that are `apart` ranks
 * apart. */
static void add_comms(struct truth_job *job, unsigned kind, unsigned size,
		      unsigned apart)
{
	unsigned ranks = job->options.ranks, first = 0;

	while (first < ranks) {
		for (unsigned i = first; i < first + apart; i++) {
			struct truth_comm *comm = add_comm(job);

			for (unsigned k = 0; k < size; k++)
				add_member(job, comm, kind, i + k * apart);
		}
		first += size * apart;
	}
}

static unsigned group_size(const struct truth_job *job)
{
	unsigned ranks = job->options.ranks;

	if (job->options.communicators == 1 || ranks < 4 || ranks % 2)
		return ranks;
	return ranks % 8 == 0 && ranks > 8 ? 8 : ranks / 2;
}

/* Two ranks share layers; from eight ranks on, the model is there twice. */
static void make_3d_comms(struct truth_job *job)
{
	unsigned ranks = job->options.ranks, half = ranks / 2;
	unsigned width = 2, stages = half / width;

	if (ranks < 8) {
		half = 1;
		stages = ranks < 4 ? ranks : ranks / width;
		width = ranks < 4 ? 1 : width;
	}
	add_comms(job, TRUTH_GROUP_PIPE, stages, width);
	add_comms(job, TRUTH_GROUP_TENSOR, 2, 1);
	add_comms(job, TRUTH_GROUP_DATA, ranks / half, half);
	add_comms(job, TRUTH_GROUP_ALL, ranks, 1);
}

static void make_comms(struct truth_job *job)
{
	unsigned ranks = job->options.ranks, group = group_size(job);
	bool is_tensor = job->options.shape == TRUTH_TENSOR;

	job->comms = checked(calloc((size_t)ranks * COMMS + COMMS,
				    sizeof(*job->comms)));
	if (job->options.shape == TRUTH_3D) {
		make_3d_comms(job);
		return;
	}
	add_comms(job, 0, is_tensor ? group : ranks, 1);
	if (job->options.communicators > 1 &&
	    job->options.shape == TRUTH_PIPELINE)
		add_comms(job, 1, ranks, 1);
	else if (job->options.communicators > 1)
		add_comms(job, 1, is_tensor ? ranks / group : group,
			  is_tensor ? group : 1);
	if (job->options.communicators > 2)
		add_comms(job, 2, ranks, 1);
	if (job->options.communicators > 3)
		add_comms(job, 3, ranks / group, group);
}

static void make_header(const struct truth_job *job, unsigned rank,
			struct ncs_header *header)
{
	header->api_version = 5;
	header->pid = 1000 + 100 * job->options.number + rank;
	header->process_start = 1 + header->pid;
	header->clock.multiplier = UINT64_C(1) << 32;
	snprintf(header->host, sizeof(header->host), "host%u",
		 host_of(job, rank));
	snprintf(header->boot_id, sizeof(header->boot_id), "boot%u",
		 host_of(job, rank));
}

static void make_segments(struct truth_job *job)
{
	for (unsigned i = 0; i < job->comm_count; i++) {
		struct truth_comm *comm = &job->comms[i];

		comm->segments = checked(
			calloc(comm->count, sizeof(*comm->segments)));
		for (unsigned k = 0; k < comm->count; k++) {
			struct truth_segment *segment = &comm->segments[k];

			make_header(job, comm->members[k], &segment->header);
			snprintf(segment->id, sizeof(segment->id),
				 "truth%u/%u.%u", job->options.number, i, k);
			for (unsigned f = 0; f < NCS_FUNCTION_COUNT; f++)
				segment->functions[f].last_sequence_number =
					NCS_NO_SEQUENCE_NUMBER;
			segment->channels[0].peer =
				(int)((k + 1) % comm->count);
			segment->channels[0].send = true;
			segment->channels[1].peer =
				(int)((k + comm->count - 1) % comm->count);
		}
	}
}

/* --- The source ----------------------------------------------------------- */

static int begin(struct ncs_source *source, uint64_t now_ns, char *why,
		 size_t why_size)
{
	struct truth_job *job = (struct truth_job *)source;

	(void)why;
	(void)why_size;
	job->now_ns = now_ns;
	job->comm_place = job->member_place = 0;
	return 0;
}

/* Counts the time of an operation in its class, as the plugin does. */
static void count_class(struct truth_segment *segment,
			const struct ncs_record *record)
{
	unsigned timing = record->flags & NCS_RECORD_ON_STREAM ?
				  NCS_TIMING_STREAM :
				  NCS_TIMING_PROXY;
	unsigned size_class = ncs_size_class(record->value);
	uint64_t time_ns = record->duration - record->delta[1];
	struct truth_class *found = NULL;
	struct ncs_class_times *times;

	for (size_t i = 0; i < segment->class_count; i++)
		if (segment->classes[i].view.function == record->function &&
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
		found->view.function = record->function;
		found->view.size_class = size_class;
	}
	found->view.operations++;
	found->buckets[ncs_histogram_bucket(time_ns)]++;
	times = &found->view.times[timing];
	times->timed++;
	times->time_ns += time_ns;
	times->bytes += record->value;
	times->count = NCS_HISTOGRAM_BUCKETS;
}

/* Counts what a record tells, as the plugin does. */
static void count_record(struct truth_segment *segment,
			 const struct ncs_record *record)
{
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
		count_class(segment, record);
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

static bool is_call(const struct ncs_record *record)
{
	return record->event == NCS_EVENT_COLL_API ||
	       record->event == NCS_EVENT_P2P_API;
}

/* Returns whether a record was overwritten before anybody looked. */
static bool is_forgotten(const struct truth_job *job,
			 const struct truth_record *record)
{
	unsigned event = record->record.event;

	if (record->published_ns >= job->forget_ns)
		return false;
	return job->past >= TRUTH_PAST_COUNTERS ||
	       (job->past == TRUTH_PAST_OPERATIONS &&
		(event == NCS_EVENT_PROXY_STEP || event == NCS_EVENT_PROXY_OP));
}

/* Takes what has been published since the last pass, lane by lane: calls come
 * from the application's thread, all else from another one. */
static void take_records(struct truth_job *job, struct truth_segment *segment,
			 struct ncs_sample *sample)
{
	double now_ns = (double)(job->now_ns - START_NS);
	size_t end = segment->taken, count = 0;

	while (end < segment->count &&
	       segment->records[end].published_ns <= now_ns)
		end++;
	if (ncs_array_reserve(&job->batch, &job->batch_capacity,
			      end - segment->taken + 1,
			      sizeof(*job->batch)) != 0)
		abort();
	for (unsigned calls = 0; calls < 2; calls++)
		for (size_t i = segment->taken; i < end; i++) {
			const struct ncs_record *record =
				&segment->records[i].record;

			if (is_call(record) != !calls)
				continue;
			count_record(segment, record);
			if (!is_forgotten(job, &segment->records[i]))
				job->batch[count++] = *record;
		}
	segment->taken = end;
	sample->records = job->batch;
	sample->record_count = count;
}

/* Shows the times of classes in a snapshot. */
static void show_classes(struct truth_job *job,
			 const struct truth_segment *segment)
{
	size_t count = segment->class_count;

	if (ncs_array_reserve(&job->classes, &job->class_capacity, count + 1,
			      sizeof(*job->classes)) != 0 ||
	    ncs_array_reserve(&job->buckets, &job->bucket_capacity,
			      (count + 1) * NCS_HISTOGRAM_BUCKETS,
			      sizeof(*job->buckets)) != 0)
		abort();
	for (size_t i = 0; i < count; i++) {
		job->classes[i] = segment->classes[i].view;
		for (unsigned k = 0; k < NCS_TIMING_COUNT; k++)
			job->classes[i].times[k].place =
				i * NCS_HISTOGRAM_BUCKETS;
		memcpy(&job->buckets[i * NCS_HISTOGRAM_BUCKETS],
		       segment->classes[i].buckets,
		       sizeof(segment->classes[i].buckets));
	}
	job->snapshot.classes = job->classes;
	job->snapshot.class_count = count;
	job->snapshot.class_buckets = job->buckets;
	job->snapshot.class_bucket_count = count * NCS_HISTOGRAM_BUCKETS;
}

static void take_snapshot(struct truth_job *job, const struct truth_comm *comm,
			  unsigned member)
{
	struct ncs_snapshot *snapshot = &job->snapshot;
	struct truth_segment *segment = &comm->segments[member];
	unsigned rank = comm->members[member];
	uint64_t taken_ns =
		clock_ns(job, rank, (double)(job->now_ns - START_NS));

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
	if (job->past == TRUTH_PAST_COUNTERS)
		show_classes(job, segment);
	if (is_on_stream(job))
		snapshot->launches.error_ns = (uint64_t)STREAM_ERROR_NS;
	else
		snapshot->gpu_clock = (struct ncs_gpu_clock_view){
			.known = true,
			.told_ns = taken_ns,
			.offset_ns = (int64_t)gpu_offset_ns(rank),
			.error_ns = (uint64_t)GPU_ERROR_NS,
			.quantum_ns = 32,
		};
	if (job->options.transport == TRUTH_NVLINK)
		return;
	snapshot->channels = segment->channels;
	snapshot->channel_count = 2;
}

static bool next(struct ncs_source *source, struct ncs_sample *sample)
{
	struct truth_job *job = (struct truth_job *)source;
	const struct truth_comm *comm;
	struct truth_segment *segment;

	if (job->comm_place == job->comm_count)
		return false;
	comm = &job->comms[job->comm_place];
	segment = &comm->segments[job->member_place];
	*sample = (struct ncs_sample){
		.id = segment->id,
		.attach = NCS_ATTACHED,
		.header = &segment->header,
		.snapshot = &job->snapshot,
		.clock_is_aligned = has_hosts(job),
		.clock_error_ns = has_hosts(job) ? (uint64_t)HOST_ERROR_NS : 0,
	};
	take_records(job, segment, sample);
	take_snapshot(job, comm, job->member_place);
	if (++job->member_place == comm->count) {
		job->member_place = 0;
		job->comm_place++;
	}
	return true;
}

static void close_source(struct ncs_source *source)
{
	(void)source;
}

/* --- The job -------------------------------------------------------------- */

static int compare_published(const void *left, const void *right)
{
	const struct truth_record *a = left, *b = right;

	if (a->published_ns != b->published_ns)
		return a->published_ns < b->published_ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

struct truth_options truth_options(unsigned seed, enum truth_fault fault,
				   unsigned ranks, unsigned ranks_per_host)
{
	struct truth_options options = {
		.seed = seed,
		.transport = seed / 3 % TRUTH_TRANSPORTS,
		.ranks = ranks,
		.ranks_per_host = ranks_per_host,
		.steps = 40,
		.ahead = seed / 11 % 3,
		.jitter = seed / 13 % 3 * 0.03,
		.fault = fault,
		.victim = seed * 5 % ranks,
	};

	/* Within a host, NCCL has no trees with proxies. */
	if (options.transport == TRUTH_TREE)
		options.ranks_per_host = 1;
	return options;
}

struct truth_job *truth_job_new(const struct truth_options *options)
{
	struct truth_job *job = checked(calloc(1, sizeof(*job)));

	job->source.begin = begin;
	job->source.next = next;
	job->source.close = close_source;
	job->options = *options;
	job->steps_ns = checked(calloc(options->steps, sizeof(double)));
	make_comms(job);
	make_segments(job);
	for (; job->step < options->steps; job->step++)
		run_step(job);
	for (unsigned i = 0; i < job->comm_count; i++)
		for (unsigned k = 0; k < job->comms[i].count; k++) {
			struct truth_segment *segment =
				&job->comms[i].segments[k];

			if (segment->count > 0)
				qsort(segment->records, segment->count,
				      sizeof(*segment->records),
				      compare_published);
		}
	return job;
}

void truth_job_free(struct truth_job *job)
{
	for (unsigned i = 0; i < job->comm_count; i++) {
		for (unsigned k = 0; k < job->comms[i].count; k++) {
			free(job->comms[i].segments[k].records);
			free(job->comms[i].segments[k].classes);
		}
		free(job->comms[i].segments);
		free(job->comms[i].ready_ns);
	}
	free(job->comms);
	free(job->steps_ns);
	free(job->batch);
	free(job->classes);
	free(job->buckets);
	free(job);
}

void truth_job_forget(struct truth_job *job, unsigned step,
		      enum truth_past past)
{
	job->past = past;
	job->forget_ns = job->steps_ns[step];
}

double truth_job_step_ns(const struct truth_job *job, unsigned step)
{
	return job->steps_ns[step];
}

double truth_job_met_ns(const struct truth_job *job)
{
	double first_ns = INFINITY;

	for (unsigned i = 0; i < job->comm_count; i++)
		if (job->comms[i].collectives > 0)
			first_ns = fmin(first_ns, job->comms[i].ready_ns[0]);
	return first_ns;
}

struct ncs_source *truth_job_source(struct truth_job *job)
{
	return &job->source;
}

uint64_t truth_job_begin_ns(const struct truth_job *job)
{
	(void)job;
	return START_NS;
}

uint64_t truth_job_end_ns(const struct truth_job *job)
{
	return START_NS + (uint64_t)llround(job->end_ns);
}

static const struct truth_comm *find_comm(const struct truth_job *job,
					  uint64_t comm_id)
{
	for (unsigned i = 0; i < job->comm_count; i++)
		if (job->comms[i].id == comm_id)
			return &job->comms[i];
	abort();
}

uint64_t truth_job_collectives(const struct truth_job *job, uint64_t comm_id,
			       uint64_t until_ns)
{
	const struct truth_comm *comm = find_comm(job, comm_id);
	double now_ns = (double)(until_ns - START_NS);
	uint64_t count = 0;

	while (count < comm->collectives && comm->ready_ns[count] < now_ns)
		count++;
	return count;
}

double truth_job_ready_ns(const struct truth_job *job, uint64_t comm_id,
			  uint64_t number)
{
	return find_comm(job, comm_id)->ready_ns[number];
}
