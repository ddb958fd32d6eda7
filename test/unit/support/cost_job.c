/* SPDX-License-Identifier: MIT */
/* Jobs of sums and maxima; see cost_job.h. */
#include "test/unit/support/cost_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/abi_values.h"
#include "ncclstat/names.h"
#include "shm/array.h"
#include "shm/hash.h"

#define US 1e3
#define MS 1e6

/* Time of a host to enqueue a kernel, and to launch an operation. */
#define KERNEL_NS (5 * US)
#define LAUNCH_NS (12 * US)
/* A kernel begins so long after its launch, and after the one before on its
 * stream. */
#define DELAY_NS (5 * US)
#define FOLLOWS_NS (7 * US)
#define LAYERS 4u
#define MICROBATCHES 4u
#define COMM_ID 7u

enum { COMPUTE, COMMUNICATION };

static void *checked(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/* Returns a number from -1 to 1 that depends on its place only. */
static double chance(const struct cost_job *job, uint64_t rank, uint64_t what)
{
	uint64_t hash = ncs_hash(job->options.seed);

	hash = ncs_hash_add(ncs_hash_add(hash, job->step), rank);
	return (double)(ncs_hash_add(hash, what) >> 11) * 0x1p-52 - 1;
}

static bool is_faulty(const struct cost_job *job, enum cost_fault fault,
		      unsigned rank)
{
	const struct cost_options *options = &job->options;

	return options->fault == fault && options->victim == rank &&
	       job->step >= options->from_step &&
	       (options->period == 0 || job->step % options->period == 0);
}

/* Lets the GPU of a rank work. */
static void compute(struct cost_job *job, unsigned rank, double ns)
{
	ns *= 1 + job->options.noise * chance(job, rank, job->work);
	if (is_faulty(job, COST_GPU, rank))
		ns *= job->options.size;
	job->host_ns[rank] += KERNEL_NS;
	job->compute_ns[rank] =
		fmax(job->compute_ns[rank], job->host_ns[rank] + DELAY_NS) + ns;
}

static void compute_all(struct cost_job *job, double ns)
{
	job->work++;
	for (unsigned i = 0; i < job->options.ranks; i++)
		compute(job, i, ns);
}

/* --- Launches ------------------------------------------------------------- */

struct launch {
	double call_ns, launched_ns, begin_ns;
};

static struct launch launch_on(struct cost_job *job, unsigned rank,
			       unsigned stream)
{
	double call_ns = job->host_ns[rank], before_ns;
	struct launch launch = { call_ns, call_ns + job->options.launch_ns, 0 };

	job->host_ns[rank] = launch.launched_ns + 2 * US;
	before_ns = job->stream_ns[rank][stream];
	launch.begin_ns = fmax(launch.launched_ns + DELAY_NS,
			       job->compute_ns[rank] + 1 * US);
	if (before_ns > 0)
		launch.begin_ns = fmax(launch.begin_ns, before_ns + FOLLOWS_NS);
	return launch;
}

static void add_part(struct cost_job *job, unsigned rank, unsigned stream,
		     const struct launch *launch, double end_ns,
		     unsigned function, int peer, uint64_t number,
		     uint64_t bytes)
{
	if (ncs_array_reserve(&job->parts, &job->capacity, job->count + 1,
			      sizeof(*job->parts)) != 0)
		abort();
	job->parts[job->count++] = (struct ncs_cost_part){
		.comm_id = COMM_ID,
		.number = number,
		.bytes = bytes,
		.stream = 1 + stream,
		.call_ns = COST_JOB_BEGIN_NS + (uint64_t)launch->call_ns,
		.launched_ns =
			COST_JOB_BEGIN_NS + (uint64_t)launch->launched_ns,
		.begin_ns = COST_JOB_BEGIN_NS + (uint64_t)launch->begin_ns,
		.end_ns = COST_JOB_BEGIN_NS + (uint64_t)end_ns,
		.rank = rank,
		.member = (int)rank,
		.members = (int)job->options.ranks,
		.peer = peer,
		.function = (uint8_t)function,
	};
}

/* Ends a launch of a rank; the next kernel waits for it, if it is on the compute
 * stream. */
static void end_launch(struct cost_job *job, unsigned rank, unsigned stream,
		       double end_ns)
{
	job->stream_ns[rank][stream] = end_ns;
	if (stream == COMPUTE)
		job->compute_ns[rank] = end_ns;
}

static double transfer_ns(struct cost_job *job, double ns)
{
	ns *= 1 + job->options.noise * chance(job, 99, ++job->work);
	return is_faulty(job, COST_LINK, job->options.victim) ?
		       ns * job->options.size :
		       ns;
}

/* Ranks of an operation, one after the other from the first on. */
struct members {
	uint64_t comm_id;
	unsigned first, count;
	uint64_t number;
};

static void join(struct cost_job *job, const struct members *members,
		 unsigned stream, unsigned function, uint64_t bytes, double ns)
{
	struct launch launches[COST_JOB_RANKS_MAX];
	double end_ns = 0;

	for (unsigned i = 0; i < members->count; i++) {
		unsigned rank = (members->first + i) % job->options.ranks;

		launches[i] = launch_on(job, rank, stream);
		end_ns = fmax(end_ns, launches[i].begin_ns);
	}
	end_ns += transfer_ns(job, ns);
	for (unsigned i = 0; i < members->count; i++) {
		unsigned rank = (members->first + i) % job->options.ranks;
		struct ncs_cost_part *part;

		add_part(job, rank, stream, &launches[i], end_ns, function, -1,
			 members->number, bytes);
		part = &job->parts[job->count - 1];
		part->comm_id = members->comm_id;
		part->member = (int)i;
		part->members = (int)members->count;
		if (function == NCS_FUNCTION_SEND_RECV) {
			part->function = i ? NCS_FUNCTION_RECV :
					     NCS_FUNCTION_SEND;
			part->peer = !i;
		}
		end_launch(job, rank, stream, end_ns);
	}
}

static void collective(struct cost_job *job, unsigned stream, unsigned function,
		       uint64_t bytes, double ns)
{
	const struct members all = { COMM_ID, 0, job->options.ranks,
				     job->numbers[function]++ };

	join(job, &all, stream, function, bytes, ns);
}

/* Small data from rank 0 to the others, or to it: a rank that sends waits for none. */
static void rooted(struct cost_job *job, unsigned function, uint64_t bytes)
{
	struct launch launches[COST_JOB_RANKS_MAX];
	double last_ns = 0, root_ns, ns = transfer_ns(job, 20 * US);
	bool is_broadcast = function == NCS_FUNCTION_BROADCAST;
	uint64_t number = job->numbers[function]++;

	for (unsigned i = 0; i < job->options.ranks; i++) {
		launches[i] = launch_on(job, i, COMPUTE);
		last_ns = fmax(last_ns, launches[i].begin_ns);
	}
	root_ns = launches[0].begin_ns;
	for (unsigned i = 0; i < job->options.ranks; i++) {
		double end_ns = launches[i].begin_ns;

		if (is_broadcast)
			end_ns = fmax(end_ns, root_ns);
		else if (i == 0)
			end_ns = last_ns;
		add_part(job, i, COMPUTE, &launches[i], end_ns + ns, function,
			 0, number, bytes);
		end_launch(job, i, COMPUTE, end_ns + ns);
	}
}

/* All ranks send to all others in one launch. */
static void exchange(struct cost_job *job, uint64_t bytes, double ns)
{
	struct launch launches[COST_JOB_RANKS_MAX];
	double end_ns = 0;
	uint64_t number = job->messages++;

	for (unsigned i = 0; i < job->options.ranks; i++) {
		launches[i] = launch_on(job, i, COMPUTE);
		end_ns = fmax(end_ns, launches[i].begin_ns);
	}
	end_ns += transfer_ns(job, ns);
	for (unsigned i = 0; i < job->options.ranks; i++) {
		for (unsigned k = 0; k < job->options.ranks; k++) {
			if (i == k)
				continue;
			add_part(job, i, COMPUTE, &launches[i], end_ns,
				 NCS_FUNCTION_SEND, (int)k, number, bytes);
			add_part(job, i, COMPUTE, &launches[i], end_ns,
				 NCS_FUNCTION_RECV, (int)k, number, bytes);
		}
		end_launch(job, i, COMPUTE, end_ns);
	}
}

/* A rank sends to another one. */
static void message(struct cost_job *job, unsigned from, unsigned to,
		    uint64_t number)
{
	struct launch sends = launch_on(job, from, COMMUNICATION);
	struct launch receives = launch_on(job, to, COMPUTE);
	double end_ns = fmax(sends.begin_ns, receives.begin_ns) +
			transfer_ns(job, 0.2 * MS);

	add_part(job, from, COMMUNICATION, &sends, end_ns, NCS_FUNCTION_SEND,
		 (int)to, number, 1 << 20);
	add_part(job, to, COMPUTE, &receives, end_ns, NCS_FUNCTION_RECV,
		 (int)from, number, 1 << 20);
	end_launch(job, from, COMMUNICATION, end_ns);
	end_launch(job, to, COMPUTE, end_ns);
}

/* --- Steps ---------------------------------------------------------------- */

static void await_communication(struct cost_job *job)
{
	for (unsigned i = 0; i < job->options.ranks; i++)
		job->compute_ns[i] = fmax(job->compute_ns[i],
					  job->stream_ns[i][COMMUNICATION]);
}

static void step_ddp(struct cost_job *job)
{
	compute_all(job, 6 * MS);
	for (unsigned i = 0; i < job->options.buckets; i++) {
		compute_all(job, 12 * MS / job->options.buckets);
		collective(job, COMMUNICATION, NCS_FUNCTION_ALL_REDUCE,
			   25 << 20, 6 * MS / job->options.buckets);
	}
	await_communication(job);
	compute_all(job, 1 * MS);
}

static void step_buffers(struct cost_job *job)
{
	rooted(job, NCS_FUNCTION_BROADCAST, 3072);
	rooted(job, NCS_FUNCTION_BROADCAST, 48);
	step_ddp(job);
}

static void step_server(struct cost_job *job)
{
	rooted(job, NCS_FUNCTION_BROADCAST, 1 << 20);
	compute_all(job, 12 * MS);
	rooted(job, NCS_FUNCTION_REDUCE, 1 << 20);
	job->work++;
	compute(job, 0, 4 * MS);
}

static void step_fsdp(struct cost_job *job)
{
	for (unsigned i = 0; i < 2 * LAYERS; i++) {
		collective(job, COMPUTE, NCS_FUNCTION_ALL_GATHER, 8 << 20,
			   0.5 * MS);
		compute_all(job, (i < LAYERS ? 1.5 : 3) * MS);
		if (i >= LAYERS)
			collective(job, COMMUNICATION,
				   NCS_FUNCTION_REDUCE_SCATTER, 8 << 20,
				   0.6 * MS);
	}
	await_communication(job);
	compute_all(job, 1 * MS);
}

static void step_tensor(struct cost_job *job)
{
	for (unsigned i = 0; i < LAYERS; i++) {
		compute_all(job, (2 + 0.3 * i) * MS);
		collective(job, COMPUTE, NCS_FUNCTION_ALL_REDUCE, 8 << 20,
			   0.8 * MS);
	}
	compute_all(job, 1 * MS);
}

/* Ranks have experts with more or less tokens, which changes from step to step. */
static void step_moe(struct cost_job *job)
{
	for (unsigned i = 0; i < LAYERS; i++) {
		compute_all(job, 1 * MS);
		exchange(job, 4 << 20, 0.4 * MS);
		job->work++;
		for (unsigned k = 0; k < job->options.ranks; k++)
			compute(job, k,
				(2 + 0.3 * chance(job, k, 1000 + i)) * MS);
		exchange(job, 4 << 20, 0.4 * MS);
	}
	collective(job, COMPUTE, NCS_FUNCTION_ALL_REDUCE, 25 << 20, 1 * MS);
	compute_all(job, 1 * MS);
}

static void step_pipeline(struct cost_job *job)
{
	unsigned last = job->options.ranks - 1;

	for (unsigned m = 0; m < 2 * MICROBATCHES; m++) {
		bool forward = m < MICROBATCHES;
		uint64_t number = job->step * MICROBATCHES + m % MICROBATCHES;

		job->work++;
		for (unsigned i = 0; i <= last; i++) {
			unsigned rank = forward ? i : last - i;

			compute(job, rank, (forward ? 1 : 2) * MS);
			if (i < last)
				message(job, rank,
					forward ? rank + 1 : rank - 1, number);
		}
	}
	collective(job, COMPUTE, NCS_FUNCTION_ALL_REDUCE, 1 << 20, 0.3 * MS);
}

static unsigned algorithm_of(const struct cost_job *job, uint64_t number)
{
	if (job->options.algorithm != NCS_ALGORITHM_UNKNOWN)
		return job->options.algorithm;
	return number % 2 ? NCS_ALGORITHM_RING : NCS_ALGORITHM_TREE;
}

static double size_ns(const struct cost_job *job, const struct members *members,
		      uint64_t bytes)
{
	const struct cost_options *options = &job->options;
	unsigned last = (members->first + members->count - 1) % options->ranks;
	bool spans_hosts = members->first / options->ranks_per_host !=
			   last / options->ranks_per_host;
	bool is_tree = algorithm_of(job, members->number) == NCS_ALGORITHM_TREE;
	double steps = members->count == 2 ? 1 :
		       is_tree             ? 2 * ceil(log2(members->count)) :
					     2 * (members->count - 1.0);

	return options->alpha_ns * steps +
	       options->beta_ns * (double)bytes * (is_tree ? 1.5 : 1) *
		       (spans_hosts ? options->beta_inter_node : 1);
}

/* Returns the ranks of the operation of a step. */
static struct members choose(struct cost_job *job)
{
	const struct cost_options *options = &job->options;
	double what = chance(job, 0, 700);
	struct members few = { 0 };
	unsigned kind = options->group > 0 && what < -0.2 ? 0 : 1;

	if (kind == 1 && (!options->sends || what > 0.4))
		return (struct members){
			COMM_ID, 0, options->ranks,
			job->numbers[NCS_FUNCTION_ALL_REDUCE]++
		};
	few.count = kind == 0 ? options->group : 2;
	few.first = kind == 0 ? job->step % (options->ranks / few.count) *
					few.count :
				job->step % options->ranks;
	few.comm_id = 100 + 100 * kind + few.first;
	few.number = job->few_numbers[kind][few.first]++;
	return few;
}

static void step_sizes(struct cost_job *job)
{
	const struct members members = choose(job);
	unsigned size = 18 + (unsigned)floor(6 * chance(job, 0, 701));
	uint64_t bytes = UINT64_C(1) << size;

	job->work++;
	/* Sometimes there is nothing to compute. */
	for (unsigned i = 0; i < members.count && chance(job, 0, 702) > -0.6;
	     i++)
		compute(job, (members.first + i) % job->options.ranks,
			job->options.work_ns);
	join(job, &members, COMPUTE,
	     members.comm_id < 200 ? NCS_FUNCTION_ALL_REDUCE :
				     NCS_FUNCTION_SEND_RECV,
	     bytes, size_ns(job, &members, bytes));
}

static void run_step(struct cost_job *job)
{
	static void (*const steps[])(struct cost_job *) = {
		[COST_DDP] = step_ddp,           [COST_FSDP] = step_fsdp,
		[COST_TENSOR] = step_tensor,     [COST_MOE] = step_moe,
		[COST_PIPELINE] = step_pipeline, [COST_BUFFERS] = step_buffers,
		[COST_SERVER] = step_server,     [COST_SIZES] = step_sizes,
	};
	const struct cost_options *options = &job->options;
	unsigned step = job->step;

	job->work = 0;
	for (unsigned i = 0; i < options->ranks; i++) {
		job->host_ns[i] += options->gap_ns *
				   (1 + options->noise * chance(job, i, 500));
		if (is_faulty(job, COST_HOST, i))
			job->host_ns[i] += options->size;
	}
	steps[options->shape](job);
	if (options->barrier_period > 0 &&
	    step % options->barrier_period == options->barrier_period - 1)
		collective(job, COMPUTE, NCS_FUNCTION_ALL_REDUCE, 4, 20 * US);
	job->ends_ns[step] = 0;
	for (unsigned i = 0; i < options->ranks; i++) {
		job->step_ends_ns[i][step] = job->compute_ns[i];
		job->ends_ns[step] += job->compute_ns[i] / options->ranks;
		if (step >= options->ahead)
			job->host_ns[i] = fmax(
				job->host_ns[i],
				job->step_ends_ns[i][step - options->ahead]);
	}
}

/* --- Joined operations ---------------------------------------------------- */

static struct ncs_part part_of(const struct cost_job *job,
			       const struct ncs_cost_part *cost)
{
	return (struct ncs_part){
		.comm_id = cost->comm_id,
		.rank = cost->member,
		.nranks = cost->members,
		.owner = cost->rank,
		.function = cost->function,
		.algorithm = (uint8_t)algorithm_of(job, cost->number),
		.protocol = NCS_PROTOCOL_SIMPLE,
		.peer = cost->peer,
		.number = cost->number,
		.bytes = cost->bytes,
		.stream = cost->stream,
		.at_ns = {
			[NCS_MOMENT_CALL] = cost->call_ns,
			[NCS_MOMENT_LAUNCH] = cost->call_ns,
			[NCS_MOMENT_OPERATION] = cost->launched_ns,
			[NCS_MOMENT_STREAM] = cost->begin_ns,
			[NCS_MOMENT_STREAM_END] = cost->end_ns,
			[NCS_MOMENT_LAST_END] = cost->end_ns,
		},
	};
}

bool cost_job_operation(const struct cost_job *job, size_t *at,
			struct cost_operation *operation)
{
	const struct ncs_cost_part *parts = &job->parts[*at];
	uint64_t first_end_ns = UINT64_MAX;

	if (*at == job->count)
		return false;
	for (int i = 0; i < parts->members; i++) {
		operation->parts[i] = part_of(job, &parts[i]);
		if (parts[i].number != parts->number)
			abort();
		if (parts[i].end_ns < first_end_ns)
			first_end_ns = parts[i].end_ns;
	}
	operation->joined = (struct ncs_joined){
		.comm_id = parts->comm_id,
		.function = parts->function == NCS_FUNCTION_SEND ?
				    NCS_FUNCTION_SEND_RECV :
				    parts->function,
		.number = parts->number,
		.is_complete = true,
		.is_whole = true,
		.wait_rule = NCS_WAIT_FOR_ALL,
		.arrival = NCS_MOMENT_STREAM,
		.end = NCS_MOMENT_STREAM_END,
		.end_is_trusted = true,
		.first_end_ns = first_end_ns,
		.turn_ns = first_end_ns,
		.count = (size_t)parts->members,
		.parts = operation->parts,
	};
	*at += operation->joined.count;
	return true;
}

/* --- The source ----------------------------------------------------------- */

static int begin(struct ncs_source *source, uint64_t now_ns, char *why,
		 size_t why_size)
{
	struct cost_job *job = (struct cost_job *)source;

	(void)why;
	(void)why_size;
	job->before_ns = job->now_ns;
	job->now_ns = now_ns;
	job->place = 0;
	return 0;
}

static struct ncs_record *add_record(struct cost_job *job, size_t *count,
				     unsigned event,
				     const struct ncs_cost_part *part,
				     uint64_t start_ns, uint64_t stop_ns)
{
	struct ncs_record *record;

	if (ncs_array_reserve(&job->records, &job->record_capacity, *count + 1,
			      sizeof(*job->records)) != 0)
		abort();
	record = &job->records[(*count)++];
	*record = (struct ncs_record){
		.start = start_ns,
		.duration = stop_ns - start_ns,
		.event = (uint8_t)event,
		.function = part->function,
		.peer = part->peer,
		.value = part->bytes,
		.delta = { NCS_RECORD_STREAM(part->stream) },
	};
	return record;
}

/* Adds what a rank's ring would have since the last look: calls, and then what has
 * ended. */
static size_t add_records(struct cost_job *job, unsigned rank)
{
	size_t count = 0;
	uint32_t operation = 0;

	for (size_t i = 0; i < job->count; i++) {
		const struct ncs_cost_part *part = &job->parts[i];
		bool is_p2p = part->function == NCS_FUNCTION_SEND ||
			      part->function == NCS_FUNCTION_RECV;
		uint64_t seen_ns = part->end_ns + 100000;
		struct ncs_record *record;

		if (part->rank != rank)
			continue;
		operation++;
		if (seen_ns <= job->before_ns || seen_ns > job->now_ns)
			continue;
		add_record(job, &count,
			   is_p2p ? NCS_EVENT_P2P_API : NCS_EVENT_COLL_API,
			   part, part->call_ns - 2000, part->call_ns - 1);
		add_record(job, &count, NCS_EVENT_KERNEL_LAUNCH, part,
			   part->call_ns, part->launched_ns);
		record = add_record(job, &count,
				    is_p2p ? NCS_EVENT_P2P : NCS_EVENT_COLL,
				    part, part->launched_ns, part->end_ns);
		record->delta[0] = 1;
		record->delta[1] = part->begin_ns - part->launched_ns;
		record->flags = NCS_RECORD_ON_STREAM;
		if (is_p2p)
			record->flags |= NCS_RECORD_NUMBERED;
		record->number = part->number;
		record->operation = operation;
	}
	return count;
}

static bool next(struct ncs_source *source, struct ncs_sample *sample)
{
	struct cost_job *job = (struct cost_job *)source;
	unsigned rank = job->place++;
	struct ncs_snapshot *snapshot;

	if (rank == job->options.ranks)
		return false;
	snapshot = &job->snapshots[rank];
	snapshot->taken_ns = snapshot->last_call_ns = job->now_ns;
	snprintf(job->id, sizeof(job->id), "cost/%u", rank);
	*sample = (struct ncs_sample){
		.id = job->id,
		.attach = NCS_ATTACHED,
		.header = &job->headers[rank],
		.snapshot = snapshot,
	};
	sample->record_count = add_records(job, rank);
	sample->records = job->records;
	return true;
}

static void close_source(struct ncs_source *source)
{
	(void)source;
}

static void make_source(struct cost_job *job)
{
	job->source.begin = begin;
	job->source.next = next;
	job->source.close = close_source;
	for (unsigned i = 0; i < job->options.ranks; i++) {
		struct ncs_header *header = &job->headers[i];
		struct ncs_snapshot *snapshot = &job->snapshots[i];

		header->api_version = 5;
		header->pid = 1000 + i;
		header->process_start = header->pid;
		header->clock.multiplier = UINT64_C(1) << 32;
		snapshot->identity.known = NCS_KNOWN_COMM_ID | NCS_KNOWN_RANK |
					   NCS_KNOWN_NRANKS;
		snapshot->identity.comm_id = COMM_ID;
		snapshot->identity.rank = (int)i;
		snapshot->identity.nranks = (int)job->options.ranks;
		for (unsigned f = 0; f < NCS_FUNCTION_COUNT; f++)
			snapshot->functions[f].last_sequence_number =
				NCS_NO_SEQUENCE_NUMBER;
	}
}

/* --- The job -------------------------------------------------------------- */

struct cost_options cost_job_options(enum cost_shape shape, unsigned seed)
{
	return (struct cost_options){
		.seed = seed,
		.shape = shape,
		.ranks = 4,
		.steps = 150,
		.buckets = 4,
		.noise = 0.01,
		.gap_ns = 0.3 * MS,
		.launch_ns = LAUNCH_NS,
		.ranks_per_host = COST_JOB_RANKS_MAX,
		.algorithm = NCS_ALGORITHM_RING,
		.victim = 1,
		.size = 1,
	};
}

struct cost_job *cost_job_new(const struct cost_options *options)
{
	struct cost_job *job = checked(calloc(1, sizeof(*job)));

	job->options = *options;
	job->ends_ns = checked(calloc(options->steps, sizeof(double)));
	for (unsigned i = 0; i < options->ranks; i++) {
		job->host_ns[i] = 1 * MS;
		job->step_ends_ns[i] =
			checked(calloc(options->steps, sizeof(double)));
	}
	for (job->step = 0; job->step < options->steps; job->step++)
		run_step(job);
	make_source(job);
	return job;
}

void cost_job_free(struct cost_job *job)
{
	for (unsigned i = 0; i < job->options.ranks; i++)
		free(job->step_ends_ns[i]);
	free(job->ends_ns);
	free(job->parts);
	free(job->records);
	free(job);
}

static double elapsed_ns(const struct cost_options *options, unsigned from)
{
	struct cost_job *job = cost_job_new(options);
	double ns = job->ends_ns[options->steps - 1] - job->ends_ns[from];

	cost_job_free(job);
	return ns;
}

double cost_job_share(const struct cost_options *options, unsigned from_step)
{
	struct cost_options healthy = *options;

	healthy.fault = COST_HEALTHY;
	return 1 -
	       elapsed_ns(&healthy, from_step) / elapsed_ns(options, from_step);
}

struct ncs_source *cost_job_source(struct cost_job *job)
{
	return &job->source;
}

uint64_t cost_job_end_ns(const struct cost_job *job)
{
	return COST_JOB_BEGIN_NS +
	       (uint64_t)job->ends_ns[job->options.steps - 1] + 1000000;
}
