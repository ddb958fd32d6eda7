/* SPDX-License-Identifier: MIT */
/* The generated job; see generated_job.h. */
#include "test/unit/support/generated_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/names.h"
#include "shm/hash.h"

#define START_NS UINT64_C(1000000000000)
#define AHEAD_MAX 8u
#define SIZES 12u

const struct gen_options gen_usual = {
	.seed = 1,
	.ranks = 8,
	.ranks_per_host = 4,
	.operations = 400,
	.ahead = 2,
	.host_ns = 60e3,
	.launch_ns = 15e3,
	.kernel_ns = 5e3,
	.producer_ns = 400e3,
	.jitter = 0.2,
	.straggler = -1,
	.straggler_factor = 1,
	.alpha_ns = 3e3,
	.beta_ns = 0.02,
	.beta_inter_node = 1,
	.algorithm = NCS_ALGORITHM_RING,
};

struct generated_process {
	double ends_ns[AHEAD_MAX]; /* a ring of the latest ends */
	uint64_t count;
	double call_ns, ready_ns; /* of the latest bucket */
};

struct gen_job {
	struct gen_options options;
	uint64_t made;
	struct generated_process *processes;
	struct ncs_part *parts;
	struct ncs_joined joined;
	uint64_t *numbers; /* by communicator */
	uint32_t operation;
	double first_ns, last_ns;
};

struct gen_job *gen_new(const struct gen_options *options)
{
	struct gen_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->options = *options;
	job->first_ns = INFINITY;
	job->processes = calloc(options->ranks, sizeof(*job->processes));
	job->parts = calloc(options->ranks, sizeof(*job->parts));
	job->numbers = calloc(options->ranks + 3, sizeof(*job->numbers));
	if (job->processes && job->parts && job->numbers)
		return job;
	gen_free(job);
	return NULL;
}

void gen_free(struct gen_job *job)
{
	if (job) {
		free(job->processes);
		free(job->parts);
		free(job->numbers);
	}
	free(job);
}

/* Returns a random number that only depends on operation, rank and purpose. */
static double random_of(const struct gen_job *job, uint64_t rank,
			uint64_t purpose)
{
	uint64_t x = (job->options.seed - 1) * UINT64_C(0x9e3779b97f4a7c15) +
		     job->made * UINT64_C(0xd6e8feb86659fd93) + rank * 977 +
		     purpose * UINT64_C(0xbf58476d1ce4e5b9);

	return (double)(ncs_hash(x) >> 11) * 0x1p-53;
}

static double jittered(const struct gen_job *job, double ns, uint64_t rank,
		       uint64_t purpose)
{
	return ns * (1 + job->options.jitter * random_of(job, rank, purpose));
}

enum purpose { WHAT, SIZE, HOST, LAUNCH, WORK, NONE, WIRE };

static void set(struct ncs_part *part, enum ncs_moment stage, double ns)
{
	part->at_ns[stage] = START_NS + (uint64_t)llround(ns);
}

static double at(const struct ncs_part *part, enum ncs_moment stage)
{
	return (double)(part->at_ns[stage] - START_NS);
}

/* Computes when a rank arrives. */
static void arrive(struct gen_job *job, unsigned rank, struct ncs_part *part)
{
	const struct gen_options *options = &job->options;
	struct generated_process *process = &job->processes[rank];
	double slow =
		(int)rank == options->straggler ? options->straggler_factor : 1;
	double host_ns = jittered(job, options->host_ns, rank, HOST) * slow;
	double work_ns = jittered(job, options->producer_ns, rank, WORK) * slow;
	double before_ns = 0, called_ns = 0, call_ns, begin_ns, kernel_ns;

	/* Sometimes there is nothing to compute. */
	if (random_of(job, 0, NONE) < 0.2)
		work_ns = 0;
	if (process->count > 0)
		before_ns = process->ends_ns[(process->count - 1) % AHEAD_MAX];
	if (process->count >= options->ahead)
		called_ns = process->ends_ns[(process->count - options->ahead) %
					     AHEAD_MAX];
	call_ns = called_ns + host_ns;
	begin_ns = call_ns + jittered(job, options->launch_ns, rank, LAUNCH);
	kernel_ns = fmax(begin_ns, before_ns + work_ns) + options->kernel_ns;
	set(part, NCS_MOMENT_CALL, call_ns);
	set(part, NCS_MOMENT_OPERATION, begin_ns);
	set(part, NCS_MOMENT_KERNEL, kernel_ns);
	job->first_ns = fmin(job->first_ns, call_ns);
}

/* Computes when a rank arrives at a bucket of a training's step. */
static void arrive_in_step(struct gen_job *job, unsigned rank,
			   struct ncs_part *part)
{
	const struct gen_options *options = &job->options;
	struct generated_process *process = &job->processes[rank];
	bool is_late = (int)rank == options->straggler;
	double host_ns = jittered(job, options->host_ns, rank, HOST);
	double work_ns = jittered(job, options->producer_ns, rank, WORK);
	double begin_ns, free_ns = 0;

	if (process->count > 0)
		free_ns = process->ends_ns[(process->count - 1) % AHEAD_MAX];
	if ((job->made - 1) % options->buckets == 0) {
		process->call_ns = free_ns + host_ns +
				   (is_late ? options->late_host_ns : 0);
		process->ready_ns = process->call_ns + work_ns * 4 +
				    (is_late ? options->late_gpu_ns : 0);
	} else {
		process->call_ns += host_ns / 10;
		process->ready_ns += work_ns;
	}
	begin_ns = process->call_ns +
		   jittered(job, options->launch_ns, rank, LAUNCH);
	set(part, NCS_MOMENT_CALL, process->call_ns);
	set(part, NCS_MOMENT_OPERATION, begin_ns);
	set(part, NCS_MOMENT_KERNEL,
	    fmax(fmax(begin_ns, process->ready_ns), free_ns) +
		    options->kernel_ns);
	job->first_ns = fmin(job->first_ns, process->call_ns);
}

static void end(struct gen_job *job, unsigned rank, struct ncs_part *part,
		double end_ns)
{
	const struct gen_options *options = &job->options;
	struct generated_process *process = &job->processes[rank];

	set(part, NCS_MOMENT_LAST_END, end_ns);
	process->ends_ns[process->count++ % AHEAD_MAX] =
		at(part, NCS_MOMENT_LAST_END);
	set(part, NCS_MOMENT_LAST_END, end_ns + options->tail_ns);
	if (options->early_stops)
		set(part, NCS_MOMENT_KERNEL_END,
		    at(part, NCS_MOMENT_KERNEL) + 1000 * (1.0 + rank));
	job->last_ns = fmax(job->last_ns, end_ns + options->tail_ns);
}

static double transfer_ns(const struct gen_job *job, unsigned ranks,
			  unsigned algorithm, uint64_t bytes, bool spans_hosts)
{
	const struct gen_options *options = &job->options;
	bool is_tree = algorithm == NCS_ALGORITHM_TREE;
	double steps = ranks == 2 ? 1 :
		       is_tree    ? 2 * ceil(log2(ranks)) :
				    2 * (ranks - 1.0);
	double beta_ns = options->beta_ns * (is_tree ? 1.5 : 1) *
			 (spans_hosts ? options->beta_inter_node : 1);

	return options->alpha_ns * steps +
	       beta_ns * (double)bytes * (1 + 0.02 * random_of(job, 0, WIRE));
}

static void make(struct gen_job *job, unsigned kind, unsigned first,
		 unsigned count)
{
	const struct gen_options *options = &job->options;
	struct ncs_joined *joined = &job->joined;
	unsigned size = 12 + (unsigned)(SIZES * random_of(job, 0, SIZE));
	unsigned algorithm = options->algorithm;
	double ready_ns = 0, took_ns;
	bool is_pair = kind == 2;

	if (algorithm == NCS_ALGORITHM_UNKNOWN)
		algorithm = job->made & 1 ? NCS_ALGORITHM_RING :
					    NCS_ALGORITHM_TREE;
	*joined = (struct ncs_joined){
		.comm_id = kind == 1 ? 100 + first : kind + 1,
		.number = job->numbers[kind == 1 ? 3 + first : kind]++,
		.function = is_pair ? NCS_FUNCTION_SEND_RECV :
				      NCS_FUNCTION_ALL_REDUCE,
		.is_complete = true,
		.is_whole = true,
		.wait_rule = NCS_WAIT_FOR_ALL,
		.arrival = NCS_MOMENT_KERNEL,
		.end = NCS_MOMENT_LAST_END,
		.end_is_trusted = true,
		.first_end_ns = UINT64_MAX,
		.count = count,
		.parts = job->parts,
	};
	job->operation++;
	for (unsigned i = 0; i < count; i++) {
		unsigned rank = (first + i) % options->ranks;
		struct ncs_part *part = &job->parts[i];

		*part = (struct ncs_part){
			.comm_id = joined->comm_id,
			.rank = (int32_t)i,
			.nranks = (int32_t)count,
			.owner = rank + (size_t)kind * options->ranks,
			.function = is_pair && i ? NCS_FUNCTION_RECV :
				    is_pair      ? NCS_FUNCTION_SEND :
						   NCS_FUNCTION_ALL_REDUCE,
			.algorithm = (uint8_t)algorithm,
			.protocol = NCS_PROTOCOL_SIMPLE,
			.peer = is_pair ? (int32_t)!i : -1,
			.operation = job->operation,
			.number = joined->number,
			.bytes = UINT64_C(1) << size,
		};
		if (options->buckets > 0)
			arrive_in_step(job, rank, part);
		else
			arrive(job, rank, part);
		ready_ns = fmax(ready_ns, at(part, NCS_MOMENT_KERNEL));
	}
	took_ns = transfer_ns(job, count, algorithm, UINT64_C(1) << size,
			      first / options->ranks_per_host !=
				      (first + count - 1) % options->ranks /
					      options->ranks_per_host);
	for (unsigned i = 0; i < count; i++) {
		struct ncs_part *part = &job->parts[i];

		end(job, (first + i) % options->ranks, part,
		    ready_ns + took_ns);
		if (part->at_ns[NCS_MOMENT_LAST_END] < joined->first_end_ns)
			joined->first_end_ns = part->at_ns[NCS_MOMENT_LAST_END];
	}
	joined->turn_ns = joined->first_end_ns;
}

/* The choice of the operation and its ranks does not depend on times: groups
 * and pairs take turns. */
const struct ncs_joined *gen_next(struct gen_job *job)
{
	const struct gen_options *options = &job->options;
	double what;

	if (job->made == options->operations)
		return NULL;
	job->made++;
	what = random_of(job, 0, WHAT);
	if (options->group && what < 0.4) {
		unsigned groups = options->ranks / options->group;

		make(job, 1, job->made % groups * options->group,
		     options->group);
	} else if (options->pipeline && what < 0.7) {
		make(job, 2, (unsigned)(job->made % options->ranks), 2);
	} else {
		make(job, 0, 0, options->ranks);
	}
	return &job->joined;
}

double gen_elapsed_ns(const struct gen_job *job)
{
	return job->last_ns - job->first_ns;
}
