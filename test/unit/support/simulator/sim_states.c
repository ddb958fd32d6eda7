/* SPDX-License-Identifier: MIT */
/* The states of a simulated job's segments; see sim_states.h.
 *
 * At the time of a pass, calls in progress become states of channels, and
 * finished ones become counters. A member that never arrives does so at NEVER,
 * and so does everything that needs it.
 */
#include "test/unit/support/simulator/sim_states.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/abi_header.h"
#include "shm/array.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define NEVER UINT64_MAX

#define SLOWER 20u
#define TRANSFER_NS (5 * MS)
/* From a call until its kernel is launched. */
#define LAUNCH_NS 15e3

/* An operation of all members, or of two. */
struct job_call {
	unsigned comm;
	unsigned function;
	bool is_pair; /* one rank sends to the next */
	uint64_t sequence_number;
	uint64_t number;
	uint64_t bytes;
	uint64_t *comes;  /* by member */
	uint64_t *begins; /* on its GPU */
	uint64_t all_begin;
	uint64_t done;
	enum sim_fault fault;
};

/* The finished calls of one member. */
struct past {
	uint64_t calls[NCS_FUNCTION_COUNT];
	uint64_t steps;
	uint64_t bytes;
	uint64_t send_ns[NCS_CHANNEL_STATE_COUNT];
	uint64_t recv_ns[NCS_CHANNEL_STATE_COUNT];
	uint64_t latest_ns;
};

struct sim_states {
	struct past **past;     /* by communicator and member */
	struct job_call *calls; /* unfinished ones, in the program's order */
	size_t call_count;
	size_t call_capacity;
	bool has_failed; /* the fault has happened */
	struct ncs_channel_view *channels;
	struct ncs_operation_view operation;
};

/* --- Calls ---------------------------------------------------------------- */

static uint64_t time_ns(double ns)
{
	return isinf(ns) ? NEVER : (uint64_t)ns;
}

static void note_visible(struct sim_source *self, const struct job_call *call)
{
	for (unsigned i = 0; i < self->job.comms[call->comm].count; i++)
		if (call->comes[i] < self->visible_ns)
			self->visible_ns = call->comes[i];
}

/* Keeps an operation until it is done. */
static void take(struct sim_job *job, const struct sim_operation *operation)
{
	struct sim_source *self =
		(void *)((char *)job - offsetof(struct sim_source, job));
	const struct sim_comm *comm = operation->comm;
	bool has_failed = job->options.fault != SIM_HEALTHY &&
			  job->step >= job->options.from_step;
	struct job_call call = {
		.comm = (unsigned)(comm - job->comms),
		.function = operation->parts->function,
		.is_pair = operation->kind == SIM_SEND,
		.sequence_number = operation->parts->number,
		.number = comm->operations,
		.bytes = operation->parts->action->bytes,
		.comes = sim_alloc(comm->count, sizeof(uint64_t)),
		.begins = sim_alloc(comm->count, sizeof(uint64_t)),
		.done = time_ns(operation->parts->end_ns),
	};
	bool fails;

	if (call.is_pair)
		call.function = NCS_FUNCTION_RECV;
	if (call.function == NCS_FUNCTION_SEND ||
	    call.function == NCS_FUNCTION_RECV)
		call.sequence_number = NCS_NO_SEQUENCE_NUMBER;
	memset(call.comes, -1, comm->count * sizeof(uint64_t));
	memset(call.begins, -1, comm->count * sizeof(uint64_t));
	for (size_t i = 0; i < operation->count; i++) {
		const struct sim_part *part = &operation->parts[i];

		call.comes[part->member] = time_ns(part->called_ns);
		call.begins[part->member] = time_ns(part->begun_ns);
		call.all_begin = time_ns(part->ready_ns);
	}
	fails = has_failed && job->step == job->options.from_step &&
		(call.function == NCS_FUNCTION_ALL_REDUCE ||
		 (call.function == NCS_FUNCTION_RECV &&
		  job->options.fault != SIM_UNMET));
	if (fails)
		call.fault = job->options.fault;
	if (has_failed && (fails || call.done == NEVER))
		note_visible(self, &call);
	if (ncs_array_reserve(&self->states->calls,
			      &self->states->call_capacity,
			      self->states->call_count + 1, sizeof(call)) != 0)
		abort();
	self->states->calls[self->states->call_count++] = call;
}

/* --- Finished calls ------------------------------------------------------- */

static uint64_t between(uint64_t from, uint64_t to, uint64_t now_ns)
{
	if (to > now_ns)
		to = now_ns;
	return to > from ? to - from : 0;
}

static bool sends_slowly(const struct sim_source *self,
			 const struct job_call *call, unsigned member)
{
	return self->job.options.fault == SIM_NETWORK &&
	       self->states->has_failed && call->comm == 0 &&
	       member == self->job.options.victim;
}

/* Adds the times of a member in a call up to now. */
static void add_times(const struct sim_source *self,
		      const struct job_call *call, unsigned member,
		      struct past *past, uint64_t now_ns)
{
	uint64_t comes = call->comes[member];
	uint64_t sending = between(call->all_begin, call->done, now_ns);
	uint64_t wire = sends_slowly(self, call, member) ? sending :
							   sending / 8;

	if (self->job.options.fault == SIM_NETWORK &&
	    self->states->has_failed && !sends_slowly(self, call, member))
		wire /= SLOWER;
	past->send_ns[NCS_CHANNEL_SEND_WAIT] += wire;
	past->send_ns[NCS_CHANNEL_SEND_GPU_WAIT] +=
		between(comes, call->all_begin, now_ns) + sending - wire;
	past->recv_ns[NCS_CHANNEL_RECV_WAIT] +=
		between(comes, call->done, now_ns);
}

static void fold(struct sim_source *self, const struct job_call *call)
{
	const struct sim_comm *comm = &self->job.comms[call->comm];

	for (unsigned i = 0; i < comm->count; i++) {
		struct past *past = &self->states->past[call->comm][i];

		if (call->comes[i] == NEVER)
			continue;
		past->calls[call->function]++;
		if (call->function == NCS_FUNCTION_SEND)
			past->calls[NCS_FUNCTION_RECV]++;
		past->steps += 8;
		past->bytes += call->bytes;
		past->latest_ns = call->done;
		add_times(self, call, i, past, NEVER);
		sim_source_count(self, call->comm, i, call->function,
				 call->bytes, NCS_TIMING_PROXY,
				 call->done - call->comes[i]);
	}
}

void sim_states_advance(struct sim_source *self)
{
	size_t kept = 0;

	while (sim_job_ready_ns(&self->job) <= (double)self->now_ns) {
		sim_job_step(&self->job);
		self->states->has_failed = self->job.step >
					   self->job.options.from_step;
	}
	for (size_t i = 0; i < self->states->call_count; i++) {
		struct job_call *call = &self->states->calls[i];

		if (call->done > self->now_ns) {
			self->states->calls[kept++] = *call;
			continue;
		}
		fold(self, call);
		free(call->comes);
		free(call->begins);
	}
	self->states->call_count = kept;
}

/* --- Channels of calls in progress ---------------------------------------- */

struct job_look {
	const struct sim_source *self;
	const struct sim_comm *comm;
	const struct job_call *call; /* NULL if none */
	const struct past *past;
	unsigned member;
	unsigned before; /* member that it receives from */
	unsigned after;  /* member that it sends to */
	uint64_t now_ns;
};

/* Whether all receive, and none sends. */
static bool is_all_receiving(const struct job_call *call)
{
	return call->function == NCS_FUNCTION_RECV && !call->is_pair;
}

struct state {
	enum ncs_channel_state state;
	uint64_t since_ns;
	uint64_t step;
	uint64_t nsteps;
};

static bool has_come(const struct job_look *look, unsigned member)
{
	return look->call->comes[member] <= look->now_ns;
}

static bool has_begun(const struct job_look *look, unsigned member)
{
	return look->call->begins[member] <= look->now_ns;
}

/* Returns the number of chunks that a member has sent while the GPU of some
 * member has not begun: its own and those that it forwarded. */
static uint64_t chunks_sent(const struct job_look *look, unsigned member)
{
	uint64_t chunks = 0;

	while (has_begun(look, member) && chunks < look->comm->count) {
		chunks++;
		member = (member + look->comm->count - 1) % look->comm->count;
	}
	return chunks;
}

static uint64_t latest_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct state sending(const struct job_look *look)
{
	const struct job_call *call = look->call;
	uint64_t nsteps = 2 * ((uint64_t)look->comm->count - 1);
	uint64_t chunks = chunks_sent(look, look->member);
	uint64_t begins = call->begins[look->member];

	if (!has_begun(look, look->member))
		return (struct state){ NCS_CHANNEL_SEND_GPU_WAIT,
				       call->comes[look->member], 0, nsteps };
	if (!has_come(look, look->after))
		return (struct state){ NCS_CHANNEL_SEND_PEER_WAIT, begins, 0,
				       nsteps };
	return (struct state){ NCS_CHANNEL_SEND_GPU_WAIT, begins, chunks,
			       nsteps };
}

static struct state receiving(const struct job_look *look)
{
	const struct job_call *call = look->call;
	uint64_t nsteps = 2 * ((uint64_t)look->comm->count - 1);
	uint64_t chunks = chunks_sent(look, look->before);
	uint64_t comes = call->comes[look->member];

	if (chunks > 0 && !has_begun(look, look->member))
		return (struct state){
			NCS_CHANNEL_RECV_GPU_WAIT,
			latest_of(comes, call->begins[look->before]), 0, nsteps
		};
	return (struct state){
		NCS_CHANNEL_RECV_WAIT,
		chunks == 0 ? comes :
			      latest_of(comes, call->begins[look->before]),
		chunks, nsteps
	};
}

/* Returns the state of a channel when all GPUs have begun. */
static struct state transferring(const struct job_look *look, bool send)
{
	const struct job_call *call = look->call;
	uint64_t nsteps = 2 * ((uint64_t)look->comm->count - 1);
	uint64_t whole_ns = call->done - call->all_begin;
	uint64_t into_ns = look->now_ns - call->all_begin;
	uint64_t step = nsteps / 2;
	struct state state = {
		.state = send ? NCS_CHANNEL_SEND_GPU_WAIT :
				NCS_CHANNEL_RECV_WAIT,
		.since_ns = call->all_begin + TRANSFER_NS / 2,
		.step = step,
		.nsteps = nsteps,
	};

	if (state.since_ns > look->now_ns)
		state.since_ns = look->now_ns;
	if (call->fault == SIM_STUCK_LINK && send &&
	    look->member == look->self->job.options.victim)
		state.state = NCS_CHANNEL_SEND_WAIT;
	if (call->done == NEVER)
		return state;
	state.step = into_ns * nsteps / whole_ns;
	state.since_ns = look->now_ns - whole_ns / nsteps / 2;
	if (send && look->now_ns / MS % 2)
		state.state = NCS_CHANNEL_SEND_WAIT;
	return state;
}

static struct state pair_state(const struct job_look *look, bool send)
{
	unsigned victim = look->self->job.options.victim;
	const struct job_call *call = look->call;
	bool is_sender = look->member == victim;
	uint64_t comes = call->comes[look->member];

	if (send != is_sender)
		return (struct state){ .state = NCS_CHANNEL_IDLE };
	if (!send && has_come(look, victim))
		return (struct state){ NCS_CHANNEL_RECV_GPU_WAIT,
				       latest_of(comes, call->begins[victim]),
				       0, 4 };
	if (!send)
		return (struct state){ NCS_CHANNEL_RECV_WAIT, comes, 0, 4 };
	return (struct state){ has_come(look, look->after) ?
				       NCS_CHANNEL_IDLE :
				       NCS_CHANNEL_SEND_PEER_WAIT,
			       call->begins[victim], 0, 4 };
}

static struct state state_of(const struct job_look *look, bool send)
{
	const struct job_call *call = look->call;
	enum sim_fault fault = call ? call->fault : SIM_HEALTHY;
	unsigned victim = look->self->job.options.victim;
	struct state idle = { .state = NCS_CHANNEL_IDLE };

	if (!call || look->comm->count < 2 || !has_come(look, look->member))
		return idle;
	if ((fault == SIM_PROXY_ASLEEP || fault == SIM_LAUNCHER) &&
	    look->member == victim)
		return idle;
	if (is_all_receiving(call) && send)
		return idle;
	if (is_all_receiving(call))
		return (struct state){ NCS_CHANNEL_RECV_WAIT,
				       call->comes[look->member], 0, 4 };
	if (call->is_pair)
		return pair_state(look, send);
	if (call->all_begin <= look->now_ns)
		return transferring(look, send);
	/* The proxy of the victim posts nothing, so nothing can be sent to
	 * it. */
	if ((fault == SIM_PROXY_ASLEEP || fault == SIM_LAUNCHER) && send &&
	    look->after == victim)
		return (struct state){ NCS_CHANNEL_SEND_PEER_WAIT,
				       call->begins[look->member], 0, 2 };
	return send ? sending(look) : receiving(look);
}

static void add_channel(struct sim_source *self, const struct job_look *look,
			unsigned channel, bool send)
{
	const struct past *past = look->past;
	struct ncs_channel_view *view =
		&self->snapshot.channels[self->snapshot.channel_count++];
	struct state state = state_of(look, send);
	struct past now = *past;

	memset(view, 0, sizeof(*view));
	if (look->call && has_come(look, look->member))
		add_times(self, look->call, look->member, &now,
			  state.state == NCS_CHANNEL_IDLE ? look->now_ns :
							    state.since_ns);
	view->channel = (uint8_t)channel;
	view->send = send;
	view->peer = (int32_t)(send ? look->after : look->before);
	view->state = state.state;
	view->since_ns = state.state == NCS_CHANNEL_IDLE ? past->latest_ns :
							   state.since_ns;
	view->steps_done = past->steps + state.step;
	view->steps_started = view->steps_done;
	view->operations_done = past->steps / 8;
	view->bytes = past->bytes;
	memcpy(view->time_ns, send ? now.send_ns : now.recv_ns,
	       sizeof(view->time_ns));
	if (state.state == NCS_CHANNEL_IDLE)
		return;
	/* Before API 4 the GPU wait contains the peer wait. */
	if (state.state == NCS_CHANNEL_SEND_PEER_WAIT &&
	    self->job.options.api_version < 4)
		view->state = NCS_CHANNEL_SEND_GPU_WAIT;
	view->time_ns[view->state] += look->now_ns - state.since_ns;
	view->operation = look->call->number;
	view->step = state.step;
	view->nsteps = state.nsteps;
	view->steps_started++;
	view->function = look->call->function;
	if (look->call->function == NCS_FUNCTION_SEND && !send)
		view->function = NCS_FUNCTION_RECV;
	if (look->call->fault == SIM_ORDER &&
	    look->member == self->job.options.victim)
		view->function = NCS_FUNCTION_ALL_GATHER;
}

/* --- The rest of a snapshot ----------------------------------------------- */

static uint64_t sequence_of(const struct job_look *look, unsigned *function)
{
	const struct job_call *call = look->call;

	*function = call->function;
	if (call->fault != SIM_ORDER ||
	    look->member != look->self->job.options.victim)
		return call->sequence_number;
	*function = NCS_FUNCTION_ALL_GATHER;
	return look->past->calls[NCS_FUNCTION_ALL_GATHER];
}

static void add_functions(struct ncs_snapshot *snapshot,
			  const struct job_look *look)
{
	const struct past *past = look->past;
	bool children = !look->self->job.options.is_nvlink &&
			look->comm->count > 1;

	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		struct ncs_function_view *view = &snapshot->functions[i];
		bool numbered = i != NCS_FUNCTION_SEND &&
				i != NCS_FUNCTION_RECV;

		view->operations = past->calls[i];
		view->last_sequence_number = NCS_NO_SEQUENCE_NUMBER;
		view->operations_done = children ? past->calls[i] : 0;
		view->with_children = children ? past->calls[i] : 0;
		if (numbered && past->calls[i] > 0)
			view->last_sequence_number = past->calls[i] - 1;
	}
	if (look->call && has_come(look, look->member)) {
		unsigned function;
		uint64_t sequence = sequence_of(look, &function);
		struct ncs_function_view *view = &snapshot->functions[function];

		view->operations++;
		view->with_children += children;
		if (sequence != NCS_NO_SEQUENCE_NUMBER)
			view->last_sequence_number = sequence;
	}
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		if (look->self->job.options.api_version >= 5)
			snapshot->functions[i].calls =
				snapshot->functions[i].operations;
}

static void add_operation(struct ncs_snapshot *snapshot,
			  const struct job_look *look)
{
	const struct sim_source *self = look->self;
	bool is_victim = look->member == self->job.options.victim;
	enum sim_fault fault;
	struct ncs_operation_view *view = &snapshot->operations[0];

	if (!look->call || !has_come(look, look->member) ||
	    self->job.options.is_nvlink || look->comm->count < 2)
		return;
	fault = is_victim ? look->call->fault : SIM_HEALTHY;
	snapshot->operation_count = 1;
	*view = (struct ncs_operation_view){
		.number = look->call->number,
		.start_ns = look->call->comes[look->member],
		.bytes = look->call->bytes,
		.count = look->call->bytes / 4 + (fault == SIM_SIZE),
		.event = look->call->sequence_number != NCS_NO_SEQUENCE_NUMBER ?
				 NCS_EVENT_COLL :
				 NCS_EVENT_P2P,
		.peer = -1,
		.children_started = 2,
	};
	view->sequence_number = sequence_of(look, &view->function);
	if (fault != SIM_LAUNCHER)
		view->enqueued_ns = view->start_ns + US;
	if (fault == SIM_LAUNCHER || fault == SIM_PROXY_ASLEEP)
		view->children_started = 0;
}

static void set_proxy(struct ncs_snapshot *snapshot,
		      const struct job_look *look)
{
	bool asleep = true;

	if (look->self->job.options.api_version < 4)
		return;
	for (size_t i = 0; i < snapshot->channel_count; i++)
		asleep &= snapshot->channels[i].state == NCS_CHANNEL_IDLE;
	snapshot->proxy.state = asleep ? NCS_PROXY_SLEEP : NCS_PROXY_IDLE;
	snapshot->proxy.since_ns = snapshot->last_call_ns;
}

static void set_life(struct ncs_snapshot *snapshot, const struct job_look *look,
		     unsigned rank)
{
	const struct sim_source *self = look->self;
	uint64_t latest = look->past->latest_ns;

	if (look->call && has_come(look, look->member))
		latest = latest_of(latest, look->call->comes[look->member]);
	snapshot->last_call_ns = latest;
	snapshot->liveness = self->now_ns > latest + NCS_SILENT_AFTER_NS ?
				     NCS_SILENT :
				     NCS_ALIVE;
	if (!self->states->has_failed || rank != self->job.options.victim)
		return;
	if (self->job.options.fault == SIM_DIED &&
	    (double)self->now_ns >=
		    self->job.begins_ns[self->job.options.from_step]) {
		snapshot->liveness = NCS_DEAD;
		snapshot->process_gone = true;
	}
	snapshot->process_stopped = self->job.options.fault == SIM_STOPPED;
}

static const struct job_call *call_of(const struct sim_source *self,
				      unsigned comm, unsigned member)
{
	for (size_t i = 0; i < self->states->call_count; i++)
		if (self->states->calls[i].comm == comm &&
		    self->states->calls[i].comes[member] <= self->now_ns)
			return &self->states->calls[i];
	return NULL;
}

void sim_states_show(struct sim_source *self, unsigned comm, unsigned member)
{
	const struct sim_comm *of = &self->job.comms[comm];
	unsigned rank = of->members[member];
	struct ncs_snapshot *snapshot = &self->snapshot;
	struct job_look look = {
		.self = self,
		.comm = of,
		.call = call_of(self, comm, member),
		.past = &self->states->past[comm][member],
		.member = member,
		.before = (member + of->count - 1) % of->count,
		.after = (member + 1) % of->count,
		.now_ns = self->now_ns,
	};

	snapshot->taken_ns = self->now_ns;
	snapshot->identity.known |= NCS_KNOWN_COMM_NAME;
	snapshot->identity.nnodes = (int)of->count;
	snprintf(snapshot->identity.comm_name,
		 sizeof(snapshot->identity.comm_name), "%s%u",
		 comm == 0 ? "world" : "group", comm);
	snapshot->channels = self->states->channels;
	snapshot->operations = &self->states->operation;
	set_life(snapshot, &look, rank);
	add_functions(snapshot, &look);
	add_operation(snapshot, &look);
	if (!self->job.options.is_nvlink && of->count > 1) {
		for (unsigned i = 0; i < self->job.options.channels; i++) {
			add_channel(self, &look, i, true);
			add_channel(self, &look, i, false);
		}
	}
	set_proxy(snapshot, &look);
}

/* --- The job -------------------------------------------------------------- */

void sim_states_init(struct sim_source *self)
{
	struct sim_job *job = &self->job;
	struct sim_states *states = sim_alloc(1, sizeof(*states));

	self->states = states;
	self->visible_ns = NEVER;
	job->take = take;
	states->past = sim_alloc(job->comm_count, sizeof(*states->past));
	for (unsigned i = 0; i < job->comm_count; i++)
		states->past[i] =
			sim_alloc(job->comms[i].count, sizeof(**states->past));
	states->channels = sim_alloc(2 * (size_t)job->options.channels,
				     sizeof(*states->channels));
}

void sim_states_release(struct sim_source *self)
{
	struct sim_states *states = self->states;

	for (size_t i = 0; i < states->call_count; i++) {
		free(states->calls[i].comes);
		free(states->calls[i].begins);
	}
	for (unsigned i = 0; i < self->job.comm_count; i++)
		free(states->past[i]);
	free(states->past);
	free(states->calls);
	free(states->channels);
	free(states);
}

struct sim_source *sim_states_new(const struct sim_options *options)
{
	struct sim_options calls = *options;

	calls.shape = SIM_CALLS;
	calls.has_states = true;
	calls.transport = SIM_PLAIN;
	calls.ranks_per_host = options->ranks;
	calls.launch_ns = LAUNCH_NS;
	calls.fault_size = SLOWER;
	calls.noise = 0.1;
	calls.beta_ns = 1.1 * TRANSFER_NS / SIM_CALL_BYTES;
	calls.algorithm = NCS_ALGORITHM_RING;
	return sim_source_new(&calls);
}
