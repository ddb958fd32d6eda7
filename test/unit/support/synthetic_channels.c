/* SPDX-License-Identifier: MIT */
/* The made-up job's channels, operations in flight and proxy threads. All of
 * them repeat cycles of states.
 */
#include "test/unit/support/synthetic_job.h"

#include <string.h>

/* --- Cycles --------------------------------------------------------------- */

/* A place in a cycle. */
struct synthetic_position {
	uint64_t cycles;  /* number of complete cycles before this one */
	unsigned phase;   /* index of the phase */
	uint64_t into_ns; /* time since the phase began */
};

/* Returns the place in the cycle at an age, and adds the time spent in each
 * state until then. */
static struct synthetic_position
position_at(const struct synthetic_phase *phases, unsigned count,
	    uint64_t age_ns, uint64_t *time_ns)
{
	struct synthetic_position position = { .cycles = age_ns / CYCLE_NS };
	uint64_t rest_ns = age_ns % CYCLE_NS;
	bool found = false;

	for (unsigned i = 0; i < count; i++) {
		uint64_t spent_ns = rest_ns < phases[i].length_ns ?
					    rest_ns :
					    phases[i].length_ns;

		time_ns[phases[i].state] +=
			position.cycles * phases[i].length_ns + spent_ns;
		if (!found && (spent_ns < phases[i].length_ns)) {
			position.phase = i;
			position.into_ns = spent_ns;
			found = true;
		}
		rest_ns -= spent_ns;
	}
	return position;
}

/* --- Channels ----------------------------------------------------------- */

static void send_phases(const struct synthetic_member *member,
			struct synthetic_phase *phases)
{
	uint64_t gpu = member->late ? 70 : 25;
	uint64_t peer = member->before_late ? 40 : 5;

	phases[0] = (struct synthetic_phase){ NCS_CHANNEL_SEND_GPU_WAIT,
					      CYCLE_NS / 100 * gpu };
	phases[1] = (struct synthetic_phase){ NCS_CHANNEL_SEND_PEER_WAIT,
					      CYCLE_NS / 100 * peer };
	phases[2] =
		(struct synthetic_phase){ NCS_CHANNEL_SEND_WAIT,
					  CYCLE_NS / 100 * (80 - gpu - peer) };
	phases[3] = (struct synthetic_phase){ NCS_CHANNEL_IDLE,
					      CYCLE_NS / 100 * 20 };
	/* API 1 reports the first two phases as one. */
	if (member->kind == OLD) {
		phases[0].length_ns += phases[1].length_ns;
		phases[1].length_ns = 0;
	}
}

static void recv_phases(const struct synthetic_member *member,
			struct synthetic_phase *phases)
{
	uint64_t peer = member->after_late ? 70 : 45;

	phases[0] = (struct synthetic_phase){ NCS_CHANNEL_RECV_WAIT,
					      CYCLE_NS / 100 * peer };
	phases[1] = (struct synthetic_phase){ NCS_CHANNEL_RECV_FLUSH_WAIT,
					      CYCLE_NS / 100 * 3 };
	phases[2] = (struct synthetic_phase){ NCS_CHANNEL_RECV_GPU_WAIT,
					      CYCLE_NS / 100 * (77 - peer) };
	phases[3] = (struct synthetic_phase){ NCS_CHANNEL_IDLE,
					      CYCLE_NS / 100 * 20 };
}

void ncs_synthetic_phases(const struct synthetic_member *member, bool send,
			  struct synthetic_phase phases[CHANNEL_PHASES])
{
	if (send)
		send_phases(member, phases);
	else
		recv_phases(member, phases);
}

uint64_t ncs_synthetic_hang_age_ns(const struct synthetic_member *member,
				   unsigned channel, bool send,
				   unsigned channels,
				   const struct synthetic_phase *phases)
{
	if (channel != 1 % channels ||
	    !(send ? member->hangs : member->is_hung_on))
		return NOT_HUNG;
	return HANG_AT_NS + (send ? phases[0].length_ns : 0);
}

static void set_channel(struct ncs_channel_view *view,
			const struct synthetic_member *member,
			unsigned channels, uint64_t age_ns, uint64_t end_ns)
{
	struct synthetic_phase phases[CHANNEL_PHASES];
	uint64_t hang_ns, hung_ns = 0, busy_ns, steps;
	struct synthetic_position at;

	ncs_synthetic_phases(member, view->send, phases);
	hang_ns = ncs_synthetic_hang_age_ns(member, view->channel, view->send,
					    channels, phases);
	if (age_ns > hang_ns) {
		hung_ns = age_ns - hang_ns;
		age_ns = hang_ns;
	}
	at = position_at(phases, CHANNEL_PHASES, age_ns, view->time_ns);
	view->state = (enum ncs_channel_state)phases[at.phase].state;
	view->time_ns[view->state] += hung_ns;
	view->since_ns = end_ns - hung_ns - at.into_ns;
	busy_ns = age_ns % CYCLE_NS;
	steps = busy_ns * CYCLE_STEPS / (CYCLE_NS / 100 * 80);
	if (steps > CYCLE_STEPS)
		steps = CYCLE_STEPS;
	view->operations_started = at.cycles + 1;
	view->operations_done = at.cycles + (view->state == NCS_CHANNEL_IDLE);
	view->steps_done = at.cycles * CYCLE_STEPS + steps;
	view->steps_started = view->steps_done;
	if (view->state == NCS_CHANNEL_IDLE)
		return;
	view->steps_started++;
	view->operation = view->operations_started;
	view->function = NCS_FUNCTION_ALL_REDUCE;
	view->step = steps;
	view->nsteps = CYCLE_STEPS;
}

uint64_t ncs_synthetic_jitter_ns(const struct synthetic_job *job,
				 const struct synthetic_member *member,
				 unsigned channel)
{
	return ncs_synthetic_number(job->seed, member->rank + 1, channel + 1) %
	       (CYCLE_NS / 2);
}

static void add_channel(struct synthetic_job *job,
			const struct synthetic_member *member, unsigned channel,
			bool send, uint64_t age_ns, uint64_t end_ns)
{
	struct ncs_snapshot *snapshot = &job->snapshot;
	struct ncs_channel_view *view =
		&snapshot->channels[snapshot->channel_count++];
	unsigned nranks = member->nranks;

	memset(view, 0, sizeof(*view));
	view->channel = (uint8_t)channel;
	view->send = send;
	view->peer =
		(int32_t)((member->rank + (send ? 1 : nranks - 1)) % nranks);
	set_channel(view, member, job->channels,
		    age_ns - ncs_synthetic_jitter_ns(job, member, channel),
		    end_ns);
	if (member->kind == OLD)
		view->size_unknown = view->steps_done;
	else
		view->bytes = view->steps_done * (STEP_BYTES / job->channels);
}

void ncs_synthetic_channels(struct synthetic_job *job,
			    const struct synthetic_member *member,
			    uint64_t age_ns, uint64_t end_ns)
{
	job->snapshot.channel_count = 0;
	for (unsigned i = 0; i < job->channels; i++) {
		add_channel(job, member, i, true, age_ns, end_ns);
		add_channel(job, member, i, false, age_ns, end_ns);
	}
}

/* --- Operations in flight ----------------------------------------------- */

static void add_operation(struct synthetic_job *job, uint64_t round,
			  uint64_t start_ns, uint64_t done, uint64_t launch)
{
	struct ncs_snapshot *snapshot = &job->snapshot;
	struct ncs_operation_view *view =
		&snapshot->operations[snapshot->operation_count++];

	memset(view, 0, sizeof(*view));
	view->number = round + 1;
	view->start_ns = start_ns;
	view->sequence_number = round;
	view->bytes = 64 * MIB;
	view->count = view->bytes / 4;
	view->event = NCS_EVENT_COLL;
	view->function = NCS_FUNCTION_ALL_REDUCE;
	view->nchannels = job->channels;
	view->peer = -1;
	view->enqueued_ns = start_ns + MS / 100;
	view->children_started = 2 * (uint64_t)job->channels;
	view->children_done = done;
	view->launch = launch;
	view->first_child_ns = start_ns + MS / 20;
}

void ncs_synthetic_operations(struct synthetic_job *job,
			      const struct synthetic_member *member,
			      uint64_t age_ns, uint64_t end_ns)
{
	uint64_t into_ns = age_ns % CYCLE_NS;
	uint64_t hung_round = HANG_AT_NS / CYCLE_NS;

	job->snapshot.operation_count = 0;
	if (member->kind != WORLD)
		return;
	if ((member->hangs || member->is_hung_on) &&
	    age_ns / CYCLE_NS > hung_round)
		add_operation(job, hung_round, end_ns - (age_ns - HANG_AT_NS),
			      2 * (uint64_t)job->channels - 1, 0);
	if (into_ns < CYCLE_NS / 100 * 80)
		add_operation(job, age_ns / CYCLE_NS, end_ns - into_ns, 0,
			      age_ns / CYCLE_NS + 1);
}

/* --- Launches ------------------------------------------------------------- */

void ncs_synthetic_launches(struct ncs_snapshot *snapshot,
			    const struct synthetic_member *member,
			    uint64_t age_ns, uint64_t end_ns)
{
	uint64_t into_ns = age_ns % CYCLE_NS, busy_ns = CYCLE_NS / 100 * 80;
	struct ncs_launches_view *view = &snapshot->launches;
	uint64_t number = age_ns / CYCLE_NS + 1;
	bool runs = into_ns < busy_ns;

	if (member->kind == OLD)
		view->status = NCS_STREAM_RELEASE;
	if (member->kind != WORLD)
		return;
	*view = (struct ncs_launches_view){
		.status = NCS_STREAM_SOME,
		.level = SYNTHETIC_LAUNCH_LEVEL,
		.ended = number - runs,
		.begun = number,
		.followed = number,
		.launched = number,
		.ended_ns = end_ns - into_ns + busy_ns - runs * CYCLE_NS,
		.begun_ns = end_ns - into_ns,
		.launched_ns = end_ns - into_ns,
		.bias_ns = 1250,
		.error_ns = 4000,
	};
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		view->timed += snapshot->functions[i].timed[NCS_TIMING_STREAM];
}

/* --- The proxy thread ----------------------------------------------------- */

void ncs_synthetic_proxy(struct ncs_proxy_view *view, uint64_t age_ns,
			 uint64_t end_ns)
{
	static const struct synthetic_phase phases[] = {
		{ NCS_PROXY_APPEND, CYCLE_NS / 100 * 5 },
		{ NCS_PROXY_ACTIVE, CYCLE_NS / 100 * 55 },
		{ NCS_PROXY_IDLE, CYCLE_NS / 100 * 25 },
		{ NCS_PROXY_SLEEP, CYCLE_NS / 100 * 15 },
	};
	struct synthetic_position at =
		position_at(phases, sizeof(phases) / sizeof(phases[0]), age_ns,
			    view->time_ns);

	view->state = (enum ncs_proxy_state)phases[at.phase].state;
	view->since_ns = end_ns - at.into_ns;
	view->count[NCS_TRANSITION_APPEND] = at.cycles + 1;
	view->count[NCS_TRANSITION_APPEND_END] = at.cycles + (at.phase >= 1);
	view->count[NCS_TRANSITION_ACTIVE] = at.cycles + (at.phase >= 1);
	view->count[NCS_TRANSITION_IDLE] = at.cycles + (at.phase >= 2);
	view->count[NCS_TRANSITION_SLEEP] = at.cycles + (at.phase >= 3);
	view->count[NCS_TRANSITION_WAKEUP] = at.cycles;
}
