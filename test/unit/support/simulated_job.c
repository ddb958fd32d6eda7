/* SPDX-License-Identifier: MIT */
/* The simulated job; see simulated_job.h.
 *
 * Calls are computed one after the other, in the order of the program: when
 * each member arrives, when its GPU begins, and when all is done. At the time
 * of a pass, calls in progress become states of channels, and finished ones
 * become counters. A member that never arrives does so at NEVER, and so does
 * everything that needs it.
 */
#include "test/unit/support/simulated_job.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/abi_header.h"
#include "shm/array.h"
#include "shm/hash.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define NEVER UINT64_MAX
#define MIB (UINT64_C(1) << 20)

#define SLOWER 20u
#define CALL_BYTES (16 * MIB)
#define TRANSFER_NS (5 * MS)
/* One in this many calls is stalled. */
#define STALL_EACH 50u
/* Time from a call to the start of its kernel. */
#define LAUNCH_NS (20 * US)

enum job_event_kind {
	COLLECTIVE,
	EXCHANGE, /* all send to the next and receive from the one before */
	PAIR,     /* one rank sends to the next */
	RECEIVES, /* all receive, none sends */
};

struct job_call {
	enum job_event_kind kind;
	unsigned comm;
	unsigned function;
	uint64_t sequence_number;
	uint64_t number;
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

struct job_comm {
	char name[32];
	uint64_t id;
	unsigned first; /* rank of the job that is its rank 0 */
	unsigned size;
	uint64_t next[NCS_FUNCTION_COUNT]; /* sequence numbers */
	uint64_t number;
	struct past *past; /* by member */
};

struct sim {
	struct ncs_source source; /* must be first: is cast to this struct */
	struct sim_options options;
	struct job_comm *comms;
	unsigned comm_count;
	struct job_call *calls; /* unfinished ones, in the program's order */
	size_t call_count;
	size_t call_capacity;
	uint64_t *ready; /* by process: when it continues */
	uint64_t step;   /* of the program */
	uint64_t now_ns;
	uint64_t visible_ns;
	bool has_failed; /* the fault has happened */
	uint64_t died_ns;
	unsigned comm_place, member_place; /* of next() */
	char id[64];
	struct ncs_header header;
	struct ncs_snapshot snapshot;
};

static struct sim *self_of(const struct ncs_source *source)
{
	return (struct sim *)(uintptr_t)source;
}

const char *sim_fault_name(enum sim_fault fault)
{
	static const char *const names[] = {
		"none",     "missing",   "elsewhere", "stopped",
		"died",     "order",     "size",      "GPU late",
		"consumer", "slow peer", "slow link", "stuck link",
		"proxy",    "launcher",  "deadlock",  "unmet",
	};

	static_assert(sizeof(names) / sizeof(*names) == SIM_FAULTS, "names");
	return names[fault];
}

/* Returns a number that only depends on the arguments. */
static uint64_t mix(uint64_t seed, uint64_t a, uint64_t b)
{
	return ncs_hash(seed + UINT64_C(0x9e3779b97f4a7c15) * ((a << 20) + b));
}

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		abort();
	return memory;
}

/* Adds two times; NEVER stays NEVER. */
static uint64_t plus(uint64_t at_ns, uint64_t time_ns)
{
	return at_ns > NEVER - time_ns ? NEVER : at_ns + time_ns;
}

/* --- The program ---------------------------------------------------------- */

static uint64_t compute_ns(struct sim *self, unsigned rank)
{
	const struct sim_options *options = &self->options;
	uint64_t random = mix(options->seed, self->step, rank + 1);
	uint64_t time_ns = options->compute_ns;

	time_ns += (uint64_t)((double)time_ns * options->jitter *
			      (double)(random % 1000) / 1000);
	if (options->stall_ns > 0 && self->step % STALL_EACH == 0 &&
	    mix(options->seed, self->step, 0) % options->ranks == rank)
		time_ns += options->stall_ns;
	if (options->fault == SIM_SLOW_PEER && rank == options->victim &&
	    self->has_failed)
		time_ns *= SLOWER;
	return time_ns;
}

static bool never_calls(const struct sim *self, unsigned rank)
{
	enum sim_fault fault = self->options.fault;
	unsigned victim = self->options.victim;

	if (!self->has_failed)
		return false;
	if (fault == SIM_ELSEWHERE)
		return rank == (victim ^ 1);
	return rank == victim &&
	       (fault == SIM_MISSING || fault == SIM_STOPPED ||
		fault == SIM_DIED || fault == SIM_UNMET);
}

static struct job_call *new_call(struct sim *self, unsigned comm,
				 enum job_event_kind kind, unsigned function)
{
	struct job_comm *of = &self->comms[comm];
	struct job_call *call;

	if (ncs_array_reserve(&self->calls, &self->call_capacity,
			      self->call_count + 1, sizeof(*call)) != 0)
		abort();
	call = &self->calls[self->call_count++];
	*call = (struct job_call){
		.kind = kind,
		.comm = comm,
		.function = function,
		.sequence_number = kind == COLLECTIVE ? of->next[function]++ :
							NCS_NO_SEQUENCE_NUMBER,
		.number = ++of->number,
		.comes = allocate(of->size, sizeof(uint64_t)),
		.begins = allocate(of->size, sizeof(uint64_t)),
	};
	return call;
}

/* Returns true if a member takes part in a call. In a pair the victim sends to
 * the next one. */
static bool takes_part(const struct sim *self, const struct job_call *call,
		       unsigned member)
{
	unsigned victim = self->options.victim;
	unsigned size = self->comms[call->comm].size;

	return call->kind != PAIR || member == victim ||
	       member == (victim + 1) % size;
}

static void note_visible(struct sim *self, const struct job_call *call)
{
	const struct job_comm *comm = &self->comms[call->comm];

	for (unsigned i = 0; i < comm->size; i++)
		if (takes_part(self, call, i) &&
		    call->comes[i] < self->visible_ns)
			self->visible_ns = call->comes[i];
}

static uint64_t transfer_ns(const struct sim *self, const struct job_call *call)
{
	uint64_t random = mix(self->options.seed, call->number, 77);
	uint64_t time_ns = TRANSFER_NS + random % (TRANSFER_NS / 4);

	if (self->options.fault == SIM_SLOW_LINK && self->has_failed)
		time_ns *= SLOWER;
	return time_ns;
}

/* Applies the fault to the call in which it happens. */
static void spoil(struct sim *self, struct job_call *call)
{
	unsigned victim = self->options.victim;
	unsigned next = (victim + 1) % self->comms[call->comm].size;

	call->fault = self->options.fault;
	switch (call->fault) {
	case SIM_GPU_LATE:
	case SIM_PROXY_ASLEEP:
	case SIM_LAUNCHER:
		call->begins[victim] = NEVER;
		break;
	case SIM_CONSUMER_LATE:
		call->begins[next] = NEVER;
		break;
	default:
		break;
	}
}

static bool spoils_end(enum sim_fault fault)
{
	return fault == SIM_ORDER || fault == SIM_SIZE ||
	       fault == SIM_STUCK_LINK || fault == SIM_DEADLOCK;
}

static void make_call(struct sim *self, unsigned comm, enum job_event_kind kind,
		      unsigned function, uint64_t phase_ns, bool fails)
{
	const struct sim_options *options = &self->options;
	struct job_call *call = new_call(self, comm, kind, function);
	const struct job_comm *of = &self->comms[comm];

	self->step++;
	for (unsigned i = 0; i < of->size; i++) {
		unsigned rank = of->first + i;

		if (!takes_part(self, call, i)) {
			call->comes[i] = call->begins[i] = NEVER;
			continue;
		}
		call->comes[i] =
			plus(self->ready[rank], compute_ns(self, rank));
		if (!options->queued)
			call->comes[i] = plus(call->comes[i], phase_ns);
		if (never_calls(self, rank))
			call->comes[i] = NEVER;
		call->begins[i] = plus(call->comes[i], LAUNCH_NS);
		if (options->queued)
			call->begins[i] = plus(call->begins[i], phase_ns);
	}
	if (fails)
		spoil(self, call);
	for (unsigned i = 0; i < of->size; i++)
		if (takes_part(self, call, i) &&
		    call->begins[i] > call->all_begin)
			call->all_begin = call->begins[i];
	call->done = plus(call->all_begin, transfer_ns(self, call));
	if (fails && spoils_end(options->fault))
		call->done = NEVER;
	for (unsigned i = 0; i < of->size; i++)
		if (takes_part(self, call, i))
			self->ready[of->first + i] = call->done;
	if (self->has_failed && (fails || call->done == NEVER))
		note_visible(self, call);
}

/* Returns true if the fault or the phase is due. */
static bool is_due(const struct sim *self)
{
	for (unsigned i = 0; i < self->options.ranks; i++)
		if (self->ready[i] < self->options.fault_ns)
			return false;
	return true;
}

/* Runs one round of the program. */
static void go_on(struct sim *self)
{
	const struct sim_options *options = &self->options;
	bool due = !self->has_failed && is_due(self);
	uint64_t phase_ns = due ? options->phase_ns : 0;
	enum sim_fault fault = due ? options->fault : SIM_NO_FAULT;

	self->has_failed |= due;
	if (due && fault == SIM_DIED)
		self->died_ns = self->ready[options->victim];
	if (due && options->idle) {
		for (unsigned i = 0; i < options->ranks; i++)
			self->ready[i] = NEVER;
		return;
	}
	if (fault == SIM_DEADLOCK)
		make_call(self, 0, RECEIVES, NCS_FUNCTION_RECV, 0, true);
	if (fault == SIM_UNMET || fault == SIM_CONSUMER_LATE)
		make_call(self, 0, PAIR, NCS_FUNCTION_RECV, 0,
			  fault == SIM_CONSUMER_LATE);
	if (options->fault == SIM_UNMET && self->has_failed && !due)
		return;
	for (unsigned i = 1; i < self->comm_count; i++)
		make_call(self, i, COLLECTIVE, NCS_FUNCTION_REDUCE_SCATTER, 0,
			  false);
	make_call(self, 0, COLLECTIVE, NCS_FUNCTION_ALL_REDUCE, phase_ns,
		  due && fault != SIM_NO_FAULT);
	make_call(self, 0, EXCHANGE, NCS_FUNCTION_SEND, 0, false);
	make_call(self, 0, COLLECTIVE, NCS_FUNCTION_ALL_GATHER, 0, false);
}

/* --- Finished calls ------------------------------------------------------- */

static uint64_t between(uint64_t from, uint64_t to, uint64_t now_ns)
{
	if (to > now_ns)
		to = now_ns;
	return to > from ? to - from : 0;
}

static bool sends_slowly(const struct sim *self, const struct job_call *call,
			 unsigned member)
{
	return self->options.fault == SIM_SLOW_LINK && self->has_failed &&
	       call->comm == 0 && member == self->options.victim;
}

/* Adds the times of a member in a call up to now. */
static void add_times(const struct sim *self, const struct job_call *call,
		      unsigned member, struct past *past, uint64_t now_ns)
{
	uint64_t comes = call->comes[member];
	uint64_t sending = between(call->all_begin, call->done, now_ns);
	uint64_t wire = sends_slowly(self, call, member) ? sending :
							   sending / 8;

	if (self->options.fault == SIM_SLOW_LINK && self->has_failed &&
	    !sends_slowly(self, call, member))
		wire /= SLOWER;
	past->send_ns[NCS_CHANNEL_SEND_WAIT] += wire;
	past->send_ns[NCS_CHANNEL_SEND_GPU_WAIT] +=
		between(comes, call->all_begin, now_ns) + sending - wire;
	past->recv_ns[NCS_CHANNEL_RECV_WAIT] +=
		between(comes, call->done, now_ns);
}

static void fold(struct sim *self, const struct job_call *call)
{
	struct job_comm *comm = &self->comms[call->comm];

	for (unsigned i = 0; i < comm->size; i++) {
		struct past *past = &comm->past[i];

		if (call->comes[i] == NEVER)
			continue;
		past->calls[call->function]++;
		if (call->kind == EXCHANGE)
			past->calls[NCS_FUNCTION_RECV]++;
		past->steps += 8;
		past->bytes += CALL_BYTES;
		past->latest_ns = call->done;
		add_times(self, call, i, past, NEVER);
	}
}

static bool is_earlier(const uint64_t *ready, unsigned count, uint64_t now_ns)
{
	for (unsigned i = 0; i < count; i++)
		if (ready[i] <= now_ns)
			return true;
	return false;
}

static void advance(struct sim *self)
{
	size_t kept = 0;

	while (is_earlier(self->ready, self->options.ranks, self->now_ns))
		go_on(self);
	for (size_t i = 0; i < self->call_count; i++) {
		struct job_call *call = &self->calls[i];

		if (call->done > self->now_ns) {
			self->calls[kept++] = *call;
			continue;
		}
		fold(self, call);
		free(call->comes);
		free(call->begins);
	}
	self->call_count = kept;
}

/* --- Channels of calls in progress ---------------------------------------- */

struct job_look {
	const struct sim *self;
	const struct job_comm *comm;
	const struct job_call *call; /* NULL if none */
	unsigned member;
	unsigned before; /* member that it receives from */
	unsigned after;  /* member that it sends to */
	uint64_t now_ns;
};

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

	while (has_begun(look, member) && chunks < look->comm->size) {
		chunks++;
		member = (member + look->comm->size - 1) % look->comm->size;
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
	uint64_t nsteps = 2 * ((uint64_t)look->comm->size - 1);
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
	uint64_t nsteps = 2 * ((uint64_t)look->comm->size - 1);
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
	uint64_t nsteps = 2 * ((uint64_t)look->comm->size - 1);
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
	    look->member == look->self->options.victim)
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
	unsigned victim = look->self->options.victim;
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
	enum sim_fault fault = call ? call->fault : SIM_NO_FAULT;
	unsigned victim = look->self->options.victim;
	struct state idle = { .state = NCS_CHANNEL_IDLE };

	if (!call || look->comm->size < 2 || !has_come(look, look->member))
		return idle;
	if ((fault == SIM_PROXY_ASLEEP || fault == SIM_LAUNCHER) &&
	    look->member == victim)
		return idle;
	if (call->kind == RECEIVES && send)
		return idle;
	if (call->kind == RECEIVES)
		return (struct state){ NCS_CHANNEL_RECV_WAIT,
				       call->comes[look->member], 0, 4 };
	if (call->kind == PAIR)
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

static void add_channel(struct sim *self, const struct job_look *look,
			unsigned channel, bool send)
{
	const struct past *past = &look->comm->past[look->member];
	struct ncs_channel_view *view =
		&self->snapshot.channels[self->snapshot.channel_count++];
	struct state state = state_of(look, send);
	struct past now = *past;

	memset(view, 0, sizeof(*view));
	if (look->call && has_come(look, look->member))
		add_times(self, look->call, look->member, &now, look->now_ns);
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
	    self->options.api_version < 4)
		view->state = NCS_CHANNEL_SEND_GPU_WAIT;
	view->operation = look->call->number;
	view->step = state.step;
	view->nsteps = state.nsteps;
	view->steps_started++;
	view->function = look->call->function;
	if (look->call->kind == EXCHANGE && !send)
		view->function = NCS_FUNCTION_RECV;
	if (look->call->fault == SIM_ORDER &&
	    look->member == self->options.victim)
		view->function = NCS_FUNCTION_ALL_GATHER;
}

/* --- The rest of a snapshot ----------------------------------------------- */

static uint64_t sequence_of(const struct job_look *look, unsigned *function)
{
	const struct job_call *call = look->call;

	*function = call->function;
	if (call->fault != SIM_ORDER ||
	    look->member != look->self->options.victim)
		return call->sequence_number;
	*function = NCS_FUNCTION_ALL_GATHER;
	return look->comm->past[look->member].calls[NCS_FUNCTION_ALL_GATHER];
}

static void add_functions(struct ncs_snapshot *snapshot,
			  const struct job_look *look)
{
	const struct past *past = &look->comm->past[look->member];
	bool children = !look->self->options.nvlink && look->comm->size > 1;

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
		if (look->self->options.api_version >= 5)
			snapshot->functions[i].calls =
				snapshot->functions[i].operations;
}

static void add_operation(struct ncs_snapshot *snapshot,
			  const struct job_look *look)
{
	const struct sim *self = look->self;
	bool is_victim = look->member == self->options.victim;
	enum sim_fault fault;
	struct ncs_operation_view *view = &snapshot->operations[0];

	snapshot->operation_count = 0;
	if (!look->call || !has_come(look, look->member) ||
	    self->options.nvlink || look->comm->size < 2)
		return;
	fault = is_victim ? look->call->fault : SIM_NO_FAULT;
	snapshot->operation_count = 1;
	*view = (struct ncs_operation_view){
		.number = look->call->number,
		.start_ns = look->call->comes[look->member],
		.bytes = CALL_BYTES,
		.count = CALL_BYTES / 4 + (fault == SIM_SIZE),
		.event = look->call->kind == COLLECTIVE ? NCS_EVENT_COLL :
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

	if (look->self->options.api_version < 4)
		return;
	for (size_t i = 0; i < snapshot->channel_count; i++)
		asleep &= snapshot->channels[i].state == NCS_CHANNEL_IDLE;
	snapshot->proxy.state = asleep ? NCS_PROXY_SLEEP : NCS_PROXY_IDLE;
	snapshot->proxy.since_ns = snapshot->last_call_ns;
}

static void set_life(struct ncs_snapshot *snapshot, const struct job_look *look,
		     unsigned rank)
{
	const struct sim *self = look->self;
	uint64_t latest = look->comm->past[look->member].latest_ns;

	if (look->call && has_come(look, look->member))
		latest = latest_of(latest, look->call->comes[look->member]);
	snapshot->last_call_ns = latest;
	snapshot->liveness = self->now_ns > latest + NCS_SILENT_AFTER_NS ?
				     NCS_SILENT :
				     NCS_ALIVE;
	if (!self->has_failed || rank != self->options.victim)
		return;
	if (self->options.fault == SIM_DIED && self->now_ns >= self->died_ns) {
		snapshot->liveness = NCS_DEAD;
		snapshot->process_gone = true;
	}
	snapshot->process_stopped = self->options.fault == SIM_STOPPED;
}

static const struct job_call *call_of(const struct sim *self, unsigned comm,
				      unsigned member)
{
	for (size_t i = 0; i < self->call_count; i++)
		if (self->calls[i].comm == comm &&
		    self->calls[i].comes[member] <= self->now_ns)
			return &self->calls[i];
	return NULL;
}

static void set_identity(struct ncs_identity *identity,
			 const struct job_look *look)
{
	memset(identity, 0, sizeof(*identity));
	identity->known = NCS_KNOWN_COMM_ID | NCS_KNOWN_COMM_NAME |
			  NCS_KNOWN_RANK | NCS_KNOWN_NRANKS | NCS_KNOWN_NNODES;
	identity->comm_id = look->comm->id;
	identity->rank = (int32_t)look->member;
	identity->nranks = (int32_t)look->comm->size;
	identity->nnodes = identity->nranks;
	memcpy(identity->comm_name, look->comm->name, sizeof(look->comm->name));
}

/* Returns when the process of a rank of the job begins. */
static uint64_t birth_ns(const struct sim *self, unsigned rank)
{
	return rank == self->options.victim && self->options.birth_ns > 0 ?
		       self->options.birth_ns :
		       1;
}

static void take(struct sim *self, unsigned comm, unsigned member)
{
	struct job_comm *of = &self->comms[comm];
	struct ncs_snapshot *snapshot = &self->snapshot;
	struct job_look look = {
		.self = self,
		.comm = of,
		.call = call_of(self, comm, member),
		.member = member,
		.before = (member + of->size - 1) % of->size,
		.after = (member + 1) % of->size,
		.now_ns = self->now_ns,
	};

	snapshot->taken_ns = self->now_ns;
	snapshot->process_gone = false;
	snapshot->process_stopped = false;
	snapshot->proxy = (struct ncs_proxy_view){ 0 };
	set_identity(&snapshot->identity, &look);
	set_life(snapshot, &look, of->first + member);
	add_functions(snapshot, &look);
	add_operation(snapshot, &look);
	snapshot->channel_count = 0;
	if (!self->options.nvlink && of->size > 1) {
		for (unsigned i = 0; i < self->options.channels; i++) {
			add_channel(self, &look, i, true);
			add_channel(self, &look, i, false);
		}
	}
	set_proxy(snapshot, &look);
	self->header.pid = 1000 + of->first + member;
	self->header.process_start = 1 + self->header.pid;
	self->header.created = birth_ns(self, of->first + member);
	snprintf(self->id, sizeof(self->id), "simulated/%u.%u", comm, member);
}

/* --- The source ----------------------------------------------------------- */

static int begin(struct ncs_source *source, uint64_t now_ns, char *why,
		 size_t why_size)
{
	struct sim *self = self_of(source);

	(void)why;
	(void)why_size;
	self->now_ns = now_ns;
	self->comm_place = 0;
	self->member_place = 0;
	advance(self);
	return 0;
}

static bool is_seen(const struct sim *self, unsigned rank)
{
	return (self->options.seen == 0 || rank < self->options.seen) &&
	       birth_ns(self, rank) <= self->now_ns;
}

static bool next(struct ncs_source *source, struct ncs_sample *sample)
{
	struct sim *self = self_of(source);

	while (self->comm_place < self->comm_count) {
		const struct job_comm *comm = &self->comms[self->comm_place];
		unsigned member = self->member_place++;

		if (member == comm->size) {
			self->member_place = 0;
			self->comm_place++;
			continue;
		}
		if (!is_seen(self, comm->first + member))
			continue;
		take(self, self->comm_place, member);
		*sample = (struct ncs_sample){
			.id = self->id,
			.attach = NCS_ATTACHED,
			.header = &self->header,
			.snapshot = &self->snapshot,
			.without_records = true,
		};
		return true;
	}
	return false;
}

static void close_source(struct ncs_source *source)
{
	struct sim *self = self_of(source);

	for (size_t i = 0; i < self->call_count; i++) {
		free(self->calls[i].comes);
		free(self->calls[i].begins);
	}
	for (unsigned i = 0; i < self->comm_count; i++)
		free(self->comms[i].past);
	free(self->calls);
	free(self->comms);
	free(self->ready);
	free(self->snapshot.channels);
	free(self->snapshot.operations);
	free(self);
}

static void add_comm(struct sim *self, const char *name, unsigned first,
		     unsigned size)
{
	struct job_comm *comm = &self->comms[self->comm_count];

	snprintf(comm->name, sizeof(comm->name), "%s%u", name,
		 self->comm_count);
	comm->id = mix(self->options.seed, 3, ++self->comm_count);
	comm->first = first;
	comm->size = size;
	comm->past = allocate(size, sizeof(*comm->past));
}

struct ncs_source *sim_open(const struct sim_options *options)
{
	struct sim *self = allocate(1, sizeof(*self));
	unsigned groups = options->groups;

	self->source.begin = begin;
	self->source.next = next;
	self->source.close = close_source;
	self->options = *options;
	self->visible_ns = NEVER;
	self->died_ns = NEVER;
	self->comms = allocate(options->ranks + 1, sizeof(*self->comms));
	self->ready = allocate(options->ranks, sizeof(*self->ready));
	self->ready[options->victim] = options->birth_ns;
	self->snapshot.channels = allocate(2 * (size_t)options->channels,
					   sizeof(*self->snapshot.channels));
	self->snapshot.operations =
		allocate(1, sizeof(*self->snapshot.operations));
	self->header.api_version = options->api_version;
	self->header.clock.multiplier = UINT64_C(1) << 32;
	snprintf(self->header.host, sizeof(self->header.host), "simulated");
	add_comm(self, "world", 0, options->ranks);
	for (unsigned i = 0; groups > 0 && i + groups <= options->ranks;
	     i += groups)
		add_comm(self, "group", i, groups);
	return &self->source;
}

uint64_t sim_visible_ns(const struct ncs_source *source)
{
	return self_of(source)->visible_ns;
}
