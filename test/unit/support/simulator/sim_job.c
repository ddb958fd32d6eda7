/* SPDX-License-Identifier: MIT */
/* The core of the simulator; see sim_job.h.
 *
 * A step is computed rank by rank, as far as each can go: at an operation a rank
 * stops until all others of it have come there.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "shm/array.h"
#include "shm/hash.h"
#include "test/unit/support/simulator/sim_core.h"

#define US 1e3
#define MS 1e6

/* Time of the host to enqueue a kernel. */
#define KERNEL_HOST_NS (5 * US)
/* A kernel begins so long after its launch on an idle stream. */
#define LAUNCH_NS (6 * US)

/* --- Chance and clocks ---------------------------------------------------- */

double sim_random(const struct sim_job *job, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t hash = ncs_hash(job->options.seed);

	hash = ncs_hash_add(ncs_hash_add(ncs_hash_add(hash, a), b), c);
	return (double)(hash >> 11) * 0x1p-53;
}

double sim_error(const struct sim_job *job, uint64_t what, uint64_t number)
{
	return 2 * sim_random(job, 1000 + what, number, 0) - 1;
}

uint64_t sim_clock_ns(const struct sim_job *job, unsigned rank, double true_ns)
{
	const struct sim_options *options = &job->options;
	unsigned host = sim_host(job, rank);
	double off = sim_has_hosts(job) ?
			     options->skew_ns * sim_error(job, 1, host) +
				     options->drift * sim_error(job, 4, host) *
					     true_ns :
			     0;

	return SIM_BEGIN_NS + (uint64_t)llround(true_ns + off);
}

/* --- Operations ----------------------------------------------------------- */

/* Says that a rank has begun an operation, if all that it needs is known. */
static void come(struct sim_rank *self)
{
	const struct sim_action *action = &self->program[self->at];
	double stream_ns = action->inlined ? self->compute_ns :
					     self->comm_ns[action->comm];

	if (self->is_there)
		return;
	self->is_there = true;
	self->called_ns = self->host_ns;
	self->launched_ns = self->called_ns + self->job->options.launch_ns;
	self->host_ns = self->launched_ns + self->job->options.return_ns;
	self->begun_ns = fmax(self->launched_ns + LAUNCH_NS,
			      fmax(stream_ns, self->compute_ns) + 1 * US);
}

/* Lets a rank go on after an operation that ended. */
static void go_past(struct sim_job *job, const struct sim_part *part)
{
	struct sim_rank *self = &job->ranks[part->rank];

	if (part->action->inlined)
		self->compute_ns = part->end_ns;
	else
		self->comm_ns[part->action->comm] = part->end_ns;
	self->is_there = false;
	self->at = (unsigned)(part->action - self->program) + 1;
}

/* Returns whether a member of a communicator stands at an operation of it. */
static bool is_at(const struct sim_job *job, const struct sim_comm *comm,
		  unsigned member, enum sim_action_kind kind)
{
	const struct sim_rank *self = &job->ranks[comm->members[member]];
	const struct sim_action *action = &self->program[self->at];

	return self->is_there && action->kind == kind &&
	       &job->comms[self->comm[action->comm]] == comm &&
	       self->member[action->comm] == member;
}

static bool are_all_at(const struct sim_job *job, const struct sim_comm *comm,
		       enum sim_action_kind kind)
{
	for (unsigned i = 0; i < comm->count; i++)
		if (!is_at(job, comm, i, kind))
			return false;
	return true;
}

static double begun_ns(const struct sim_job *job, const struct sim_comm *comm,
		       unsigned member)
{
	return job->ranks[comm->members[member]].begun_ns;
}

/* Adds the part of a member that stands at an operation. */
static struct sim_part *add_part(struct sim_job *job, struct sim_comm *comm,
				 unsigned member, unsigned function)
{
	struct sim_operation *operation = &job->operation;
	unsigned rank = comm->members[member];
	const struct sim_rank *self = &job->ranks[rank];
	struct sim_part *part;

	if (ncs_array_reserve(&operation->parts, &operation->capacity,
			      operation->count + 1, sizeof(*part)) != 0)
		abort();
	part = &operation->parts[operation->count++];
	*part = (struct sim_part){
		.rank = rank,
		.member = member,
		.action = &self->program[self->at],
		.function = function,
		.called_ns = self->called_ns,
		.launched_ns = self->launched_ns,
		.begun_ns = self->begun_ns,
	};
	return part;
}

/* Adds a member's part in a transfer to or from another one. */
static void add_transfer(struct sim_job *job, struct sim_comm *comm,
			 unsigned member, unsigned peer, bool sends)
{
	struct sim_part *part =
		add_part(job, comm, member,
			 sends ? NCS_FUNCTION_SEND : NCS_FUNCTION_RECV);

	part->next = part->before = (int)peer;
	part->number =
		comm->transfers[2 * (member * comm->count + peer) + !sends]++;
	part->ready_ns = fmax(part->begun_ns, begun_ns(job, comm, peer));
}

static void begin_operation(struct sim_job *job, struct sim_comm *comm,
			    enum sim_action_kind kind)
{
	job->operation.comm = comm;
	job->operation.kind = kind;
	job->operation.count = 0;
}

static void end_operation(struct sim_job *job, struct sim_comm *comm)
{
	struct sim_operation *operation = &job->operation;

	job->move(job, operation);
	comm->operations++;
	if (job->take)
		job->take(job, operation);
	for (size_t i = 0; i < operation->count; i++)
		go_past(job, &operation->parts[i]);
}

static bool try_collective(struct sim_job *job, struct sim_comm *comm,
			   unsigned function)
{
	unsigned count = comm->count;
	uint64_t number = comm->numbers[function];
	double ready_ns = 0;

	if (!are_all_at(job, comm, SIM_COLLECTIVE))
		return false;
	for (unsigned i = 0; i < count; i++)
		ready_ns = fmax(ready_ns, begun_ns(job, comm, i));
	begin_operation(job, comm, SIM_COLLECTIVE);
	for (unsigned i = 0; i < count; i++) {
		struct sim_part *part = add_part(job, comm, i, function);

		part->next = (int)((i + 1) % count);
		part->before = (int)((i + count - 1) % count);
		part->number = number;
		part->ready_ns = ready_ns;
	}
	if (ncs_array_reserve(&comm->ready_ns, &comm->capacity,
			      comm->collectives + 1,
			      sizeof(*comm->ready_ns)) != 0)
		abort();
	end_operation(job, comm);
	comm->ready_ns[comm->collectives++] = ready_ns;
	comm->numbers[function]++;
	return true;
}

static bool try_transfer(struct sim_job *job, struct sim_comm *comm,
			 const struct sim_action *action, unsigned member)
{
	unsigned peer = (unsigned)action->peer;
	bool sends = action->kind == SIM_SEND;
	const struct sim_rank *other = &job->ranks[comm->members[peer]];

	if (!is_at(job, comm, peer, sends ? SIM_RECEIVE : SIM_SEND) ||
	    other->program[other->at].peer != (int)member)
		return false;
	begin_operation(job, comm, SIM_SEND);
	add_transfer(job, comm, sends ? member : peer, sends ? peer : member,
		     true);
	add_transfer(job, comm, sends ? peer : member, sends ? member : peer,
		     false);
	end_operation(job, comm);
	return true;
}

/* Ends an exchange of all members: each waits for those that it sends to and receives
 * from. */
static bool try_exchange(struct sim_job *job, struct sim_comm *comm)
{
	if (!are_all_at(job, comm, SIM_EXCHANGE))
		return false;
	begin_operation(job, comm, SIM_EXCHANGE);
	for (unsigned i = 0; i < comm->count; i++) {
		const struct sim_rank *self = &job->ranks[comm->members[i]];
		const struct sim_action *action = &self->program[self->at];

		for (unsigned k = 0; k < 2; k++) {
			int peer = k ? action->from : action->peer;

			for (unsigned n = 0; n < comm->count; n++)
				if (peer == (int)n ||
				    (peer == SIM_EVERYONE && n != i))
					add_transfer(job, comm, i, n, !k);
		}
	}
	end_operation(job, comm);
	return true;
}

/* Ends the operation that a rank stands at, if all that it needs are there. */
static bool try_operation(struct sim_rank *self)
{
	const struct sim_action *action = &self->program[self->at];
	struct sim_comm *comm = sim_comm_of(self, action->comm);
	struct sim_job *job = self->job;

	switch (action->kind) {
	case SIM_COLLECTIVE:
		return try_collective(job, comm, action->function);
	case SIM_EXCHANGE:
		return try_exchange(job, comm);
	default:
		return try_transfer(job, comm, action,
				    self->member[action->comm]);
	}
}

/* --- Running -------------------------------------------------------------- */

/* Takes a rank as far as it can go. Returns false if it cannot move. */
static bool go_on(struct sim_rank *self)
{
	bool moved = false;

	while (self->at < self->actions) {
		const struct sim_action *action = &self->program[self->at];

		switch (action->kind) {
		case SIM_ON_HOST:
			self->host_ns += action->ns;
			break;
		case SIM_ON_STREAM:
			self->host_ns += KERNEL_HOST_NS;
			self->compute_ns = fmax(self->compute_ns,
						self->host_ns + LAUNCH_NS) +
					   action->ns;
			break;
		case SIM_AWAIT:
			self->compute_ns = fmax(self->compute_ns,
						self->comm_ns[action->comm]);
			break;
		case SIM_BLOCK:
			self->host_ns = fmax(self->host_ns, self->compute_ns);
			break;
		default:
			moved |= !self->is_there;
			come(self);
			if (!try_operation(self))
				return moved;
			moved = true;
			continue;
		}
		moved = true;
		self->at++;
	}
	return moved;
}

/* Ends a step of a rank: its host waits for the end of an earlier one. */
static void end_step(struct sim_job *job, struct sim_rank *self)
{
	unsigned step = job->step, ahead = job->options.ahead;

	if (self->at != self->actions)
		abort();
	self->step_ns[step % SIM_AHEAD_MAX] = self->compute_ns;
	if (step >= ahead)
		self->host_ns =
			fmax(self->host_ns,
			     self->step_ns[(step - ahead) % SIM_AHEAD_MAX]);
	job->ends_ns[step] += self->compute_ns / job->options.ranks;
}

double sim_job_ready_ns(const struct sim_job *job)
{
	double ready_ns = INFINITY;

	for (unsigned i = 0; i < job->options.ranks; i++)
		ready_ns = fmin(ready_ns, job->ranks[i].host_ns);
	return ready_ns;
}

/* Begins the fault in this step if all hosts have come to its time. */
static void find_fault(struct sim_job *job)
{
	for (unsigned i = 0; i < job->options.ranks; i++)
		if (job->ranks[i].host_ns < job->options.from_ns)
			return;
	if (job->options.from_step == UINT_MAX)
		job->options.from_step = job->step;
}

void sim_job_step(struct sim_job *job)
{
	unsigned ranks = job->options.ranks;
	bool moved = true;

	if (ncs_array_reserve(&job->begins_ns, &job->begin_capacity,
			      job->step + 1, sizeof(double)) != 0 ||
	    ncs_array_reserve(&job->ends_ns, &job->end_capacity, job->step + 1,
			      sizeof(double)) != 0)
		abort();
	job->begins_ns[job->step] = sim_job_ready_ns(job);
	job->ends_ns[job->step] = 0;
	find_fault(job);
	for (unsigned i = 0; i < ranks; i++)
		sim_make_program(&job->ranks[i]);
	while (moved) {
		moved = false;
		for (unsigned i = 0; i < ranks; i++)
			moved |= go_on(&job->ranks[i]);
	}
	for (unsigned i = 0; i < ranks; i++)
		end_step(job, &job->ranks[i]);
	job->step++;
}

void sim_job_run(struct sim_job *job)
{
	while (job->step < job->options.steps)
		sim_job_step(job);
}

/* --- The job -------------------------------------------------------------- */

struct sim_options sim_options(unsigned seed, enum sim_fault fault,
			       unsigned ranks, unsigned ranks_per_host)
{
	struct sim_options options = {
		.seed = seed,
		.transport = seed / 3 % SIM_TRANSPORTS,
		.ranks = ranks,
		.ranks_per_host = ranks_per_host,
		.steps = 40,
		.ahead = seed / 11 % 3,
		.buckets = 4,
		.jitter = seed / 13 % 3 * 0.03,
		.gap_ns = 0.5 * MS,
		.launch_ns = 15 * US,
		.skew_ns = SIM_HOST_ERROR_NS,
		.api_version = 5,
		.fault = fault,
		.victim = seed * 5 % ranks,
	};

	/* Within a host, NCCL has no trees with proxies. */
	if (options.transport == SIM_TREE)
		options.ranks_per_host = 1;
	return options;
}

struct sim_options sim_plain(enum sim_shape shape, unsigned seed)
{
	return (struct sim_options){
		.seed = seed,
		.shape = shape,
		.transport = SIM_PLAIN,
		.ranks = 4,
		.ranks_per_host = SIM_RANKS_MAX,
		.communicators = 1,
		.steps = 150,
		.buckets = 4,
		.noise = 0.01,
		.gap_ns = 0.3 * MS,
		.launch_ns = 12 * US,
		.return_ns = 2 * US,
		.skew_ns = SIM_HOST_ERROR_NS,
		.api_version = 5,
		.victim = 1,
		.fault_size = 1,
		.alpha_ns = 3 * US,
		.beta_ns = 0.06,
		.beta_inter_node = 1,
		.algorithm = NCS_ALGORITHM_RING,
	};
}

struct sim_options sim_steps(unsigned hosts, unsigned ranks_per_host)
{
	return (struct sim_options){
		.seed = 1,
		.shape = SIM_LOOP,
		.transport = SIM_STEPS,
		.ranks = hosts * ranks_per_host,
		.ranks_per_host = ranks_per_host,
		.steps = 300,
		.channels = 2,
		.bytes = UINT64_C(16) << 20,
		.small_period = 4,
		.jitter = 0.1,
		.gap_ns = 8 * MS,
		.launch_ns = 2 * US,
		.beta_ns = 0.02,
		.latency_ns = 2 * US,
		.queue_ns = 500 * US,
		.algorithm = NCS_ALGORITHM_RING,
		.skew_ns = 5e9,
		.drift = 100e-6,
		.gpu_drift = 100e-6,
		.realtime_error_ns = (uint64_t)(2 * MS),
		.api_version = 5,
	};
}

void sim_job_init(struct sim_job *job, const struct sim_options *options)
{
	*job = (struct sim_job){
		.options = *options,
		.ranks = sim_alloc(options->ranks, sizeof(*job->ranks)),
		.comms = sim_alloc((size_t)options->ranks * SIM_COMMS +
					   SIM_COMMS,
				   sizeof(*job->comms)),
		.operation.hops =
			sim_alloc(options->ranks, sizeof(*job->operation.hops)),
		.free_ns = sim_alloc((size_t)options->ranks * options->channels,
				     sizeof(*job->free_ns)),
		.move = options->transport == SIM_STEPS ? sim_move_in_steps :
			options->transport == SIM_PLAIN ? sim_move_plainly :
							  sim_move_on_links,
	};
	for (unsigned i = 0; i < options->ranks; i++) {
		job->ranks[i].job = job;
		job->ranks[i].rank = i;
	}
	job->ranks[options->victim].host_ns = options->birth_ns;
	if (options->from_ns > 0)
		job->options.from_step = UINT_MAX;
	sim_make_comms(job);
	for (unsigned i = 0; i < job->comm_count; i++) {
		struct sim_comm *comm = &job->comms[i];

		comm->transfers =
			sim_alloc(2 * (size_t)comm->count * comm->count,
				  sizeof(*comm->transfers));
	}
}

void sim_job_release(struct sim_job *job)
{
	for (unsigned i = 0; i < job->comm_count; i++) {
		free(job->comms[i].members);
		free(job->comms[i].ready_ns);
		free(job->comms[i].transfers);
	}
	free(job->comms);
	free(job->ranks);
	free(job->begins_ns);
	free(job->ends_ns);
	free(job->operation.parts);
	free(job->operation.hops);
	free(job->operation.steps);
	free(job->free_ns);
}

static double elapsed_ns(const struct sim_options *options, unsigned from_step)
{
	struct sim_job job;
	double ns;

	sim_job_init(&job, options);
	sim_job_run(&job);
	ns = job.ends_ns[options->steps - 1] - job.ends_ns[from_step];
	sim_job_release(&job);
	return ns;
}

double sim_share(const struct sim_options *options, unsigned from_step)
{
	struct sim_options healthy = *options;

	healthy.fault = SIM_HEALTHY;
	return 1 -
	       elapsed_ns(&healthy, from_step) / elapsed_ns(options, from_step);
}

double sim_step_ns(const struct sim_options *options, unsigned from_step)
{
	return elapsed_ns(options, from_step) /
	       (options->steps - 1 - from_step);
}
