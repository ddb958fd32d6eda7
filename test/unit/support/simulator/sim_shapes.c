/* SPDX-License-Identifier: MIT */
/* The programs of ranks, and their communicators, by the shape of a job. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "shm/hash.h"
#include "test/unit/support/simulator/sim_core.h"

#define MS 1e6

#define LAYERS 4u
#define MICROBATCHES 4u

/* Where an operation runs: on the compute stream, or on its own beside it. */
enum { BESIDE, INLINED };

/* --- Actions -------------------------------------------------------------- */

const char *sim_fault_name(enum sim_fault fault)
{
	static const char *const names[] = {
		"none",     "host",       "stream",    "network",  "proxy",
		"asleep",   "GPU",        "slow peer", "missing",  "elsewhere",
		"stopped",  "died",       "order",     "size",     "GPU late",
		"consumer", "stuck link", "proxy",     "launcher", "deadlock",
		"unmet",
	};

	static_assert(sizeof(names) / sizeof(*names) == SIM_FAULTS, "names");
	return names[fault];
}

bool sim_is_faulty(const struct sim_job *job, unsigned rank,
		   enum sim_fault fault)
{
	const struct sim_options *options = &job->options;

	return options->fault == fault && options->victim == rank &&
	       job->step >= options->from_step &&
	       (options->until_step == 0 || job->step < options->until_step);
}

/* Returns a number from -1 to 1 that depends on its place only. */
static double chance(const struct sim_job *job, uint64_t rank, uint64_t what)
{
	return 2 * sim_random(job, job->step, rank, what) - 1;
}

static bool has_fault(const struct sim_rank *self, enum sim_fault fault)
{
	return sim_is_faulty(self->job, self->rank, fault);
}

static struct sim_action *add(struct sim_rank *self, enum sim_action_kind kind)
{
	if (self->actions == SIM_ACTIONS)
		abort();
	self->program[self->actions] = (struct sim_action){ .kind = kind };
	return &self->program[self->actions++];
}

static void add_fault(struct sim_rank *self)
{
	const struct sim_options *options = &self->job->options;

	if (options->period > 0 && options->victim == self->rank &&
	    ++self->job->faults % options->period != 0)
		return;
	if (has_fault(self, SIM_HOST))
		add(self, SIM_ON_HOST)->ns = options->fault_size;
	if (has_fault(self, SIM_STREAM))
		add(self, SIM_ON_STREAM)->ns = options->fault_size;
}

static void add_work(struct sim_rank *self, enum sim_action_kind kind,
		     double ns)
{
	const struct sim_options *options = &self->job->options;
	double random = sim_random(
		self->job, 1, self->job->step * UINT64_C(1000) + self->rank,
		self->works++);

	if (kind == SIM_ON_STREAM && has_fault(self, SIM_GPU) &&
	    (options->period == 0 ||
	     (self->job->step + 1) % options->period == 0))
		ns *= options->fault_size;
	add(self, kind)->ns = ns * (1 + options->jitter * random +
				    options->noise * (2 * random - 1));
}

static void compute(struct sim_rank *self, double ns)
{
	add_work(self, SIM_ON_STREAM, ns);
}

static struct sim_action *add_operation(struct sim_rank *self,
					enum sim_action_kind kind,
					unsigned comm, uint64_t bytes,
					bool inlined, int peer)
{
	const struct sim_options *options = &self->job->options;
	struct sim_action *action;

	if (options->each || (options->shape == SIM_3D &&
			      comm == options->group && !self->had_fault))
		add_fault(self);
	self->had_fault |= comm == options->group;
	action = add(self, kind);
	action->comm = comm;
	action->bytes = bytes;
	if (options->resize > 0 && self->job->step >= options->resize_step)
		action->bytes = (uint64_t)((double)bytes * options->resize);
	if (options->unlike_step > 0 && kind == SIM_COLLECTIVE &&
	    self->job->step == options->unlike_step &&
	    self->rank == options->victim)
		action->bytes /= 2;
	action->inlined = inlined;
	action->function = NCS_FUNCTION_ALL_REDUCE;
	action->peer = action->from = peer;
	return action;
}

static struct sim_action *add_collective(struct sim_rank *self, unsigned comm,
					 uint64_t bytes, bool inlined)
{
	return add_operation(self, SIM_COLLECTIVE, comm, bytes, inlined, -1);
}

/* Adds a Broadcast from rank 0 or a Reduce to it. */
static void add_rooted(struct sim_rank *self, unsigned function, uint64_t bytes)
{
	add_operation(self, SIM_COLLECTIVE, 0, bytes, INLINED, 0)->function =
		function;
}

/* --- Data and tensor parallel --------------------------------------------- */

/* Ends a step: norms are added up, weights are updated and sometimes compared. */
static void add_update(struct sim_rank *self)
{
	unsigned comms = self->job->options.communicators;

	if (comms > 2)
		add_collective(self, 2, 4, INLINED);
	compute(self, 1 * MS);
	if (comms > 3)
		add_collective(self, 3, 1 << 20, INLINED);
}

static void add_ddp(struct sim_rank *self)
{
	const struct sim_options *options = &self->job->options;
	unsigned buckets = options->buckets;
	unsigned halves = options->transport == SIM_PLAIN ? 1 : 2;

	if (options->greets && self->job->step == 0 && self->rank < 2)
		add_operation(self, self->rank == 0 ? SIM_SEND : SIM_RECEIVE, 0,
			      1 << 14, INLINED, (int)(1 - self->rank));
	for (unsigned i = 0; i < halves; i++) {
		compute(self, 6 * MS / halves);
		if (options->communicators > 1 && i == 0)
			add_collective(self, 1, 1 << 14, INLINED);
	}
	for (unsigned i = 0; i < buckets; i++) {
		compute(self, 12 * MS / buckets);
		add_collective(self, 0, 25 << 20, BESIDE);
	}
	add(self, SIM_AWAIT)->comm = 0;
	add_update(self);
}

static void add_buffers(struct sim_rank *self)
{
	add_rooted(self, NCS_FUNCTION_BROADCAST, 3072);
	add_rooted(self, NCS_FUNCTION_BROADCAST, 48);
	add_ddp(self);
}

static void add_server(struct sim_rank *self)
{
	add_rooted(self, NCS_FUNCTION_BROADCAST, 1 << 20);
	compute(self, 12 * MS);
	add_rooted(self, NCS_FUNCTION_REDUCE, 1 << 20);
	if (self->rank == 0)
		compute(self, 4 * MS);
}

static void add_fsdp(struct sim_rank *self)
{
	for (unsigned i = 0; i < 2 * LAYERS; i++) {
		add_collective(self, 0, 8 << 20, INLINED)->function =
			NCS_FUNCTION_ALL_GATHER;
		compute(self, (i < LAYERS ? 1.5 : 3) * MS);
		if (i >= LAYERS)
			add_collective(self, 0, 8 << 20, BESIDE)->function =
				NCS_FUNCTION_REDUCE_SCATTER;
	}
	add(self, SIM_AWAIT)->comm = 0;
	compute(self, 1 * MS);
}

static void add_tensor(struct sim_rank *self)
{
	const struct sim_options *options = &self->job->options;
	double more = options->transport == SIM_PLAIN ? 0.3 * MS : 0;

	for (unsigned i = 0; i < LAYERS; i++) {
		compute(self, 2 * MS + more * i);
		add_collective(self, 0, 8 << 20, INLINED);
	}
	if (options->communicators > 1)
		add_collective(self, 1, 25 << 20, INLINED);
	add_update(self);
}

/* Ranks have experts with more or less tokens, which changes from step to step. */
static void add_moe(struct sim_rank *self)
{
	for (unsigned i = 0; i < LAYERS; i++) {
		double uneven = chance(self->job, self->rank, 1000 + i);

		compute(self, 1 * MS);
		add_operation(self, SIM_EXCHANGE, 0, 8 << 20, INLINED,
			      SIM_EVERYONE);
		compute(self, (2 + 0.3 * uneven) * MS);
		add_operation(self, SIM_EXCHANGE, 0, 8 << 20, INLINED,
			      SIM_EVERYONE);
	}
	add_collective(self, 0, 25 << 20, INLINED);
	compute(self, 1 * MS);
}

/* --- Pipelines ------------------------------------------------------------ */

/* Returns whether a member of the communicator of the pipeline is there. */
static bool is_stage(const struct sim_rank *self, int member)
{
	return member >= 0 && member < (int)sim_comm_of(self, 0)->count;
}

/* Adds the computing of a stage: where two ranks share its layers, of two, each
 * followed by an AllReduce. */
static void add_stage_work(struct sim_rank *self, double ns)
{
	bool is_shared = self->job->options.shape == SIM_3D;

	for (unsigned i = 0; i < (is_shared ? 2 : 1); i++) {
		compute(self, ns);
		if (is_shared)
			add_collective(self, SIM_GROUP_TENSOR, 8 << 20,
				       INLINED);
	}
}

static void add_transfer(struct sim_rank *self, enum sim_action_kind kind,
			 int peer)
{
	if (is_stage(self, peer))
		add_operation(self, kind, 0, 4 << 20,
			      kind == SIM_RECEIVE || self->job->options.blocks,
			      peer);
}

/* Adds a microbatch of a stage, which it has from rank `from` and passes on to
 * rank `to`, if these are stages. Sends go on their own stream, so that the one
 * that sends computes on, unless they block. */
static void add_microbatch(struct sim_rank *self, int from, int to,
			   double work_ns)
{
	add_transfer(self, SIM_RECEIVE, from);
	add_stage_work(self, work_ns);
	add_transfer(self, SIM_SEND, to);
}

/* Adds a send and a receive that stages make together; an even stage sends
 * first. */
static void add_exchange(struct sim_rank *self, int peer)
{
	unsigned stage = self->member[0];

	add_transfer(self, stage % 2 ? SIM_RECEIVE : SIM_SEND, peer);
	add_transfer(self, stage % 2 ? SIM_SEND : SIM_RECEIVE, peer);
}

/* One forward, one backward: a stage runs as many microbatches forward first as
 * there are stages after it. */
static void add_alternating(struct sim_rank *self)
{
	unsigned stage = self->member[0];
	unsigned after = sim_comm_of(self, 0)->count - 1 - stage;
	unsigned first = after < MICROBATCHES ? after : MICROBATCHES;
	int before = (int)stage - 1, next = (int)stage + 1;

	for (unsigned i = 0; i < first; i++)
		add_microbatch(self, before, next, 1 * MS);
	for (unsigned i = first; i < MICROBATCHES; i++) {
		if (i == first)
			add_transfer(self, SIM_RECEIVE, before);
		add_stage_work(self, 1 * MS);
		add_exchange(self, next);
		add_stage_work(self, 2 * MS);
		if (i + 1 < MICROBATCHES)
			add_exchange(self, before);
		else
			add_transfer(self, SIM_SEND, before);
	}
	for (unsigned i = 0; i < first; i++)
		add_microbatch(self, next, before, 2 * MS);
}

static void add_pipeline(struct sim_rank *self)
{
	unsigned sum = self->job->options.communicators > 1;
	int before = (int)self->rank - 1, next = (int)self->rank + 1;

	if (self->job->options.alternates)
		add_alternating(self);
	else
		for (unsigned i = 0; i < 2 * MICROBATCHES; i++)
			if (i < MICROBATCHES)
				add_microbatch(self, before, next, 1 * MS);
			else
				add_microbatch(self, next, before, 2 * MS);
	add_collective(self, sum, 1 << 20, INLINED);
	compute(self, 1 * MS);
}

/* All send to the next stage, then to the one before, in turn. */
static void add_round(struct sim_rank *self, bool forward)
{
	unsigned stage = self->member[0];
	unsigned count = sim_comm_of(self, 0)->count;
	unsigned next = (stage + 1) % count;
	unsigned before = (stage + count - 1) % count;

	for (unsigned i = 0; i < MICROBATCHES / 2; i++) {
		add_stage_work(self, 2 * MS);
		add_operation(self, SIM_EXCHANGE, SIM_GROUP_PIPE, 4 << 20,
			      INLINED, (int)(forward ? next : before))
			->from = (int)(forward ? before : next);
	}
}

static void add_3d(struct sim_rank *self)
{
	if (self->job->options.alternates) {
		add_alternating(self);
	} else {
		add_round(self, true);
		add_round(self, false);
	}
	add_collective(self, SIM_GROUP_DATA, 8 << 20, INLINED);
	add_collective(self, SIM_GROUP_ALL, 4, INLINED);
	compute(self, 0.5 * MS);
}

/* --- Sizes ---------------------------------------------------------------- */

enum { SIZES_ALL, SIZES_NEIGHBOURS, SIZES_FIRST, SIZES_SECOND };

/* Adds an operation of all, of a few neighbours, or from one rank to the next. */
static void add_sizes(struct sim_rank *self)
{
	const struct sim_options *options = &self->job->options;
	unsigned step = self->job->step, comm = SIZES_ALL;
	double what = chance(self->job, 0, 700);
	uint64_t bytes = UINT64_C(1)
			 << (18 + (int)floor(6 * chance(self->job, 0, 701)));

	if (options->neighbours > 0 && what < -0.2) {
		unsigned groups = options->ranks / options->neighbours;

		comm = SIZES_NEIGHBOURS;
		if (self->rank / options->neighbours != step % groups)
			return;
	} else if (options->sends && what <= 0.4) {
		comm = self->rank == step % options->ranks ? SIZES_FIRST :
							     SIZES_SECOND;
		if (comm == SIZES_SECOND &&
		    self->rank != (step + 1) % options->ranks)
			return;
	}
	/* Sometimes there is nothing to compute. */
	if (chance(self->job, 0, 702) > -0.6)
		compute(self, options->work_ns);
	if (comm < SIZES_FIRST)
		add_collective(self, comm, bytes, INLINED);
	else
		add_operation(self,
			      comm == SIZES_FIRST ? SIM_SEND : SIM_RECEIVE,
			      comm, bytes, INLINED, comm == SIZES_FIRST);
}

/* --- Calls ---------------------------------------------------------------- */

/* One call in this many is stalled. */
#define STALL_EACH 50u

/* Adds the work of a host before a call. */
static void add_host_work(struct sim_rank *self)
{
	const struct sim_options *options = &self->job->options;
	uint64_t call = self->job->step * UINT64_C(8) + self->works++;
	double random = sim_random(self->job, 3, call, self->rank);
	double ns = options->work_ns * (1 + options->jitter * random);

	if (call % STALL_EACH == 0 &&
	    self->rank == (unsigned)(sim_random(self->job, 4, call, 0) *
				     options->ranks))
		ns += options->stall_ns;
	if (has_fault(self, SIM_SLOW_PEER))
		ns *= options->fault_size;
	add(self, SIM_ON_HOST)->ns = ns;
}

/* Adds a host's work, and a call that it waits for. */
static struct sim_action *add_call(struct sim_rank *self, unsigned comm,
				   unsigned function)
{
	struct sim_action *action;

	add_host_work(self);
	action = add_collective(self, comm, SIM_CALL_BYTES, INLINED);
	action->function = function;
	add(self, SIM_BLOCK);
	return action;
}

/* Adds the calls in which a fault happens that comes with calls of its own: the rank
 * after the victim receives from it, or all receive. */
static void add_calls_of_fault(struct sim_rank *self)
{
	const struct sim_options *options = &self->job->options;
	unsigned victim = options->victim, next = (victim + 1) % options->ranks;
	bool sends = self->rank == victim;

	if (options->fault == SIM_DEADLOCK)
		add_call(self, 0, NCS_FUNCTION_RECV)->ns = INFINITY;
	if ((options->fault != SIM_UNMET &&
	     options->fault != SIM_CONSUMER_LATE) ||
	    (!sends && self->rank != next))
		return;
	add_host_work(self);
	if (self->rank == next && options->fault == SIM_CONSUMER_LATE)
		add(self, SIM_ON_STREAM)->ns = INFINITY;
	add_operation(self, sends ? SIM_SEND : SIM_RECEIVE, 0, SIM_CALL_BYTES,
		      INLINED, (int)(sends ? next : victim));
	add(self, SIM_BLOCK);
}

/* Whether a rank makes no more calls from the fault on. */
static bool never_calls(const struct sim_rank *self)
{
	unsigned victim = self->job->options.victim;

	return has_fault(self, SIM_MISSING) || has_fault(self, SIM_STOPPED) ||
	       has_fault(self, SIM_DIED) || has_fault(self, SIM_UNMET) ||
	       (self->rank == (victim ^ 1) &&
		sim_is_faulty(self->job, victim, SIM_ELSEWHERE));
}

static void add_calls(struct sim_rank *self)
{
	const struct sim_options *options = &self->job->options;
	bool is_due = self->job->step == options->from_step;
	enum sim_fault fault = is_due ? options->fault : SIM_HEALTHY;
	struct sim_action *action;

	if (never_calls(self) || (is_due && options->is_idle))
		add(self, SIM_ON_HOST)->ns = INFINITY;
	if (is_due)
		add_calls_of_fault(self);
	if (options->neighbours > 0 &&
	    self->rank <
		    options->ranks / options->neighbours * options->neighbours)
		add_call(self, 1, NCS_FUNCTION_REDUCE_SCATTER);
	if (is_due)
		add(self, options->is_queued ? SIM_ON_STREAM : SIM_ON_HOST)->ns =
			options->phase_ns;
	if (self->rank == options->victim &&
	    (fault == SIM_GPU_LATE || fault == SIM_PROXY_ASLEEP ||
	     fault == SIM_LAUNCHER))
		add(self, SIM_ON_STREAM)->ns = INFINITY;
	action = add_call(self, 0, NCS_FUNCTION_ALL_REDUCE);
	if (fault == SIM_ORDER || fault == SIM_SIZE || fault == SIM_STUCK_LINK)
		action->ns = INFINITY;
	add_call(self, 0, NCS_FUNCTION_SEND);
	add_call(self, 0, NCS_FUNCTION_ALL_GATHER);
}

/* --- Loops ---------------------------------------------------------------- */

static uint64_t bytes_of_step(const struct sim_job *job)
{
	unsigned period = job->options.small_period;

	return period > 0 && job->step % period == 0 ? 4096 :
						       job->options.bytes;
}

static void add_loop(struct sim_rank *self)
{
	uint64_t bytes = bytes_of_step(self->job);

	if (self->job->options.neighbours > 0) {
		add_collective(self, SIZES_NEIGHBOURS, bytes, INLINED);
		add(self, SIM_BLOCK);
	}
	if (never_calls(self))
		add(self, SIM_ON_HOST)->ns = INFINITY;
	add_collective(self, SIZES_ALL, bytes, INLINED);
	add(self, SIM_BLOCK);
}

static void add_one_way(struct sim_rank *self)
{
	uint64_t bytes = bytes_of_step(self->job);
	unsigned apart = self->job->options.ranks_per_host;
	int before = (int)self->rank - (int)apart;
	int next = (int)(self->rank + apart);

	if (is_stage(self, before)) {
		add_operation(self, SIM_RECEIVE, 0, bytes, INLINED, before);
		add(self, SIM_BLOCK);
		add_work(self, SIM_ON_HOST, self->job->options.gap_ns);
	}
	if (is_stage(self, next))
		add_operation(self, SIM_SEND, 0, bytes, INLINED, next);
	add(self, SIM_BLOCK);
}

/* --- Programs ------------------------------------------------------------- */

void sim_make_program(struct sim_rank *self)
{
	static void (*const shapes[])(struct sim_rank *) = {
		[SIM_DDP] = add_ddp,           [SIM_TENSOR] = add_tensor,
		[SIM_PIPELINE] = add_pipeline, [SIM_3D] = add_3d,
		[SIM_FSDP] = add_fsdp,         [SIM_MOE] = add_moe,
		[SIM_BUFFERS] = add_buffers,   [SIM_SERVER] = add_server,
		[SIM_SIZES] = add_sizes,       [SIM_CALLS] = add_calls,
		[SIM_LOOP] = add_loop,         [SIM_ONE_WAY] = add_one_way,
	};
	const struct sim_options *options = &self->job->options;

	self->actions = self->at = self->works = 0;
	self->had_fault = false;
	add_work(self, SIM_ON_HOST, options->gap_ns);
	if (options->pause_period > 0 &&
	    self->job->step % options->pause_period == 0)
		add_work(self, SIM_ON_HOST, options->pause_ns);
	if (!options->each && options->shape != SIM_3D)
		add_fault(self);
	shapes[options->shape](self);
	if (options->barrier_period > 0 &&
	    (self->job->step + 1) % options->barrier_period == 0)
		add_collective(self, 0, 4, INLINED);
}

/* --- Communicators -------------------------------------------------------- */

static struct sim_comm *add_comm(struct sim_job *job, unsigned size)
{
	struct sim_comm *comm = &job->comms[job->comm_count++];

	comm->id = ncs_hash(job->options.seed * 64 + job->comm_count);
	comm->members = sim_alloc(size, sizeof(*comm->members));
	return comm;
}

static void add_member(struct sim_job *job, struct sim_comm *comm,
		       unsigned kind, unsigned rank)
{
	job->ranks[rank].comm[kind] = (unsigned)(comm - job->comms);
	job->ranks[rank].member[kind] = comm->count;
	comm->members[comm->count++] = rank;
}

/* Adds the communicators of a kind: of `size` ranks that are `apart` ranks
 * apart. Ranks that are too few for one have none. */
static void add_comms(struct sim_job *job, unsigned kind, unsigned size,
		      unsigned apart)
{
	unsigned ranks = job->options.ranks, first = 0;

	while (first + size * apart <= ranks) {
		for (unsigned i = first; i < first + apart; i++) {
			struct sim_comm *comm = add_comm(job, size);

			for (unsigned k = 0; k < size; k++)
				add_member(job, comm, kind, i + k * apart);
		}
		first += size * apart;
	}
}

static unsigned group_size(const struct sim_job *job)
{
	unsigned ranks = job->options.ranks;

	if (job->options.communicators == 1 || ranks < 4 || ranks % 2)
		return ranks;
	return ranks % 8 == 0 && ranks > 8 ? 8 : ranks / 2;
}

/* Two ranks share layers; from eight ranks on, the model is there twice. */
static void make_3d_comms(struct sim_job *job)
{
	unsigned ranks = job->options.ranks, half = ranks / 2;
	unsigned width = 2, stages = half / width;

	if (ranks < 8) {
		half = 1;
		stages = ranks < 4 ? ranks : ranks / width;
		width = ranks < 4 ? 1 : width;
	}
	add_comms(job, SIM_GROUP_PIPE, stages, width);
	add_comms(job, SIM_GROUP_TENSOR, 2, 1);
	add_comms(job, SIM_GROUP_DATA, ranks / half, half);
	add_comms(job, SIM_GROUP_ALL, ranks, 1);
}

static void make_comms_of_sizes(struct sim_job *job)
{
	const struct sim_options *options = &job->options;

	add_comms(job, SIZES_ALL, options->ranks, 1);
	if (options->neighbours > 0)
		add_comms(job, SIZES_NEIGHBOURS, options->neighbours, 1);
	for (unsigned i = 0; options->sends && i < options->ranks; i++) {
		struct sim_comm *comm = add_comm(job, 2);

		add_member(job, comm, SIZES_FIRST, i);
		add_member(job, comm, SIZES_SECOND, (i + 1) % options->ranks);
	}
}

void sim_make_comms(struct sim_job *job)
{
	unsigned ranks = job->options.ranks, group = group_size(job);
	bool is_tensor = job->options.shape == SIM_TENSOR;

	if (job->options.shape == SIM_3D) {
		make_3d_comms(job);
		return;
	}
	if (job->options.shape == SIM_SIZES ||
	    job->options.shape == SIM_CALLS || job->options.shape == SIM_LOOP) {
		make_comms_of_sizes(job);
		return;
	}
	add_comms(job, 0, is_tensor ? group : ranks, 1);
	if (job->options.communicators > 1 &&
	    job->options.shape == SIM_PIPELINE)
		add_comms(job, 1, ranks, 1);
	else if (job->options.communicators > 1)
		add_comms(job, 1, is_tensor ? ranks / group : group,
			  is_tensor ? group : 1);
	if (job->options.communicators > 2)
		add_comms(job, 2, ranks, 1);
	if (job->options.communicators > 3)
		add_comms(job, 3, ranks / group, group);
}
