/* SPDX-License-Identifier: MIT */
/* A made-up job, for the tests of the views and for trying them.
 *
 * Every number is a function of the seed and of the job's age, so that two
 * sources with one seed and the same passes agree to the byte. The job is 5 s
 * old at the first pass. There are
 *   - one communicator of all ranks with steady traffic, in which one rank is
 *     late, one channel hangs from an age of 8 s on, and of 8 ranks or more
 *     the last has died;
 *   - with 2 ranks or more, a communicator without a name, one that is
 *     finished, and a rank of a job whose NCCL tells little (API 1).
 * It is no simulation: a hung channel does not stop the others. Records are
 * those of the first communicator's busiest function, and of its proxy threads.
 */
#include "tui/synthetic/source_synthetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/names.h"

#define MS UINT64_C(1000000)
#define MIB (UINT64_C(1) << 20)

#define FIRST_AGE_NS (5000 * MS)
#define FINISHED_AT_NS (2000 * MS)
#define DEAD_AT_NS (4000 * MS)

/* An operation of the busiest function, on every channel, and its steps. Not a
 * divisor of a second: what is looked at every second has moved on. */
#define CYCLE_NS (17 * MS)
#define CYCLE_STEPS 8u
#define STEP_BYTES (14 * MIB) /* of all channels */

/* The beginning of a cycle, 8 s. */
#define HANG_AT_NS (471 * CYCLE_NS)

#define OVERWRITTEN_AFTER 65536u

/* Records of a rank in one pass; of all ranks, where there are many. */
#define RECORD_MAX 8192u
#define RECORDS_OF_ALL 98304u
/* How far back the first pass sees them. */
#define RECORDED_NS (250 * MS)
#define NOT_HUNG UINT64_MAX

enum synthetic_kind { WORLD, UNNAMED, FINISHED, OLD };

/* One rank of one communicator. */
struct synthetic_member {
	char id[64];
	enum synthetic_kind kind;
	struct ncs_header header;
	unsigned nranks;
	unsigned rank;
	bool late;
	bool after_late;  /* receives from the late rank */
	bool before_late; /* sends to it */
	bool dead;
	bool hangs;      /* sends on the channel that hangs */
	bool is_hung_on; /* receives there */
	bool loses;
	uint64_t recorded_ns; /* until then its records were handed over */
};

struct source_synthetic {
	struct ncs_source source; /* first: is cast to this struct */
	uint64_t seed;
	unsigned channels;
	struct synthetic_member *members;
	size_t count;
	size_t place; /* of next() */
	bool is_born; /* at the first pass */
	uint64_t born_ns;
	uint64_t now_ns;
	struct ncs_snapshot snapshot;
	struct ncs_record *records; /* RECORD_MAX, of the latest sample */
	size_t record_count;
};

static struct source_synthetic *self_of(struct ncs_source *source)
{
	return (struct source_synthetic *)source;
}

/* splitmix64: any two inputs give unrelated numbers. */
static uint64_t mix(uint64_t seed, uint64_t a, uint64_t b)
{
	uint64_t x = seed + UINT64_C(0x9e3779b97f4a7c15) * (1 + (a << 20) + b);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* --- Traffic of each function ------------------------------------------- */

struct synthetic_traffic {
	enum synthetic_kind kind;
	enum ncs_function_id function;
	uint64_t period_ns;
	uint64_t bytes;       /* 0: not told */
	unsigned timing;      /* NCS_TIMING_COUNT: none */
	unsigned timed_each;  /* one in how many */
	uint64_t duration_ns; /* of an operation, about */
};

static const struct synthetic_traffic traffics[] = {
	{ WORLD, NCS_FUNCTION_ALL_REDUCE, CYCLE_NS, 64 * MIB, NCS_TIMING_KERNEL,
	  16, 1 * MS },
	{ WORLD, NCS_FUNCTION_ALL_GATHER, 47 * MS, 16 * MIB, NCS_TIMING_PROXY,
	  1, 2 * MS },
	{ WORLD, NCS_FUNCTION_REDUCE_SCATTER, 53 * MS, 16 * MIB,
	  NCS_TIMING_COUNT, 1, 0 },
	{ UNNAMED, NCS_FUNCTION_SEND, 23 * MS, 1 * MIB, NCS_TIMING_PROXY, 1,
	  MS / 8 },
	{ UNNAMED, NCS_FUNCTION_RECV, 23 * MS, 1 * MIB, NCS_TIMING_PROXY, 1,
	  MS / 8 },
	{ FINISHED, NCS_FUNCTION_BROADCAST, 100 * MS, 4 * MIB, NCS_TIMING_COUNT,
	  1, 0 },
	{ OLD, NCS_FUNCTION_ALL_REDUCE, 40 * MS, 0, NCS_TIMING_COUNT, 1, 0 },
};

#define SPREAD 16u

/* The first timed operation waits for everybody; the others vary a little. */
static void add_times(struct ncs_function_view *view,
		      const struct synthetic_traffic *traffic, uint64_t timed,
		      uint64_t base_ns)
{
	uint64_t *histogram = view->histogram[traffic->timing];
	uint64_t first_ns = 20 * base_ns, usual = timed - 1;

	if (timed == 0)
		return;
	view->timed[traffic->timing] = timed;
	view->timed_bytes[traffic->timing] = timed * traffic->bytes;
	view->time_ns[traffic->timing] = first_ns;
	histogram[ncs_histogram_bucket(first_ns)]++;
	for (unsigned i = 0; i < SPREAD; i++) {
		uint64_t count = usual / SPREAD + (i < usual % SPREAD);
		uint64_t each_ns = base_ns + base_ns / 50 * (i * 7 % SPREAD);

		view->time_ns[traffic->timing] += count * each_ns;
		histogram[ncs_histogram_bucket(each_ns)] += count;
	}
}

static void add_function(struct ncs_function_view *view,
			 const struct synthetic_member *member,
			 const struct synthetic_traffic *traffic,
			 uint64_t age_ns)
{
	uint64_t round = age_ns / traffic->period_ns;
	bool busy = age_ns % traffic->period_ns < traffic->period_ns / 10 * 8;
	uint64_t base_ns = traffic->duration_ns;

	if (member->header.api_version >= 5)
		view->calls = round + 1;
	view->operations = round + 1;
	view->last_sequence_number = round;
	if (traffic->bytes > 0)
		view->bytes = view->operations * traffic->bytes;
	else
		view->size_unknown = view->operations;
	if (traffic->timing == NCS_TIMING_COUNT)
		return;
	view->with_children = view->operations;
	view->operations_done = round + !busy;
	/* Who is late is not kept waiting. */
	if (member->late)
		base_ns /= 2;
	add_times(view, traffic, view->operations_done / traffic->timed_each,
		  base_ns);
}

static bool has_traffic(const struct synthetic_member *member,
			const struct synthetic_traffic *traffic)
{
	if (traffic->kind != member->kind)
		return false;
	if (traffic->function == NCS_FUNCTION_SEND)
		return member->rank == 0;
	return traffic->function != NCS_FUNCTION_RECV || member->rank == 1;
}

static void clear_functions(struct ncs_snapshot *snapshot)
{
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++) {
		struct ncs_function_view *view = &snapshot->functions[i];
		struct ncs_function_view empty = {
			.last_sequence_number = NCS_NO_SEQUENCE_NUMBER,
		};

		for (size_t k = 0; k < NCS_TIMING_COUNT; k++) {
			empty.histogram[k] = view->histogram[k];
			if (empty.histogram[k])
				memset(empty.histogram[k], 0,
				       NCS_HISTOGRAM_BUCKETS *
					       sizeof(*empty.histogram[k]));
		}
		*view = empty;
	}
}

/* Of the function's histogram, from its first count to its last. */
static void add_class_times(struct ncs_snapshot *snapshot,
			    struct ncs_class_times *times,
			    const struct ncs_function_view *view,
			    unsigned timing)
{
	const uint64_t *histogram = view->histogram[timing];
	unsigned end = NCS_HISTOGRAM_BUCKETS;

	*times = (struct ncs_class_times){
		.timed = view->timed[timing],
		.time_ns = view->time_ns[timing],
		.bytes = view->timed_bytes[timing],
		.place = snapshot->class_bucket_count,
	};
	if (times->timed == 0)
		return;
	while (histogram[times->first] == 0)
		times->first++;
	while (histogram[end - 1] == 0)
		end--;
	times->count = end - times->first;
	times->longest_ns = ncs_histogram_middle(end - 1);
	memcpy(&snapshot->class_buckets[times->place], &histogram[times->first],
	       times->count * sizeof(*histogram));
	snapshot->class_bucket_count += times->count;
}

/* All operations of a function are of one size. */
static void add_class(struct ncs_snapshot *snapshot,
		      const struct synthetic_traffic *traffic)
{
	const struct ncs_function_view *view =
		&snapshot->functions[traffic->function];
	struct ncs_class_view *added =
		&snapshot->classes[snapshot->class_count++];
	bool is_p2p = traffic->function == NCS_FUNCTION_SEND ||
		      traffic->function == NCS_FUNCTION_RECV;

	*added = (struct ncs_class_view){
		.function = traffic->function,
		.size_class = traffic->bytes > 0 ?
				      ncs_size_class(traffic->bytes) :
				      NCS_SIZE_CLASS_UNKNOWN,
		.operations = view->operations,
	};
	if (!is_p2p) {
		added->algorithm = NCS_ALGORITHM_RING;
		added->protocol = traffic->bytes > 0 ? NCS_PROTOCOL_SIMPLE :
						       NCS_PROTOCOL_LL;
	}
	if (traffic->timing < NCS_TIMING_COUNT)
		add_class_times(snapshot, &added->times[traffic->timing], view,
				traffic->timing);
}

/* Of each kind of member, traffics are in the order of their functions. */
static void add_functions(struct ncs_snapshot *snapshot,
			  const struct synthetic_member *member,
			  uint64_t age_ns)
{
	clear_functions(snapshot);
	snapshot->class_count = 0;
	snapshot->class_bucket_count = 0;
	for (size_t i = 0; i < sizeof(traffics) / sizeof(traffics[0]); i++) {
		if (!has_traffic(member, &traffics[i]))
			continue;
		add_function(&snapshot->functions[traffics[i].function], member,
			     &traffics[i], age_ns);
		add_class(snapshot, &traffics[i]);
	}
}

/* --- Going round and round ---------------------------------------------- */

/* A cycle through states: how long each lasts, and what follows what. */
struct synthetic_phase {
	unsigned state;
	uint64_t length_ns;
};

/* Where a cycle is at a moment, and what it has spent in each state. */
struct synthetic_position {
	uint64_t cycles;
	unsigned phase;
	uint64_t into_ns; /* the phase */
};

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

enum { CHANNEL_PHASES = 4 };

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
	/* API 1 tells the first two as one. */
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

/* From when on the channel hangs: as a sender begins to wait for its peer, as
 * a receiver begins to wait for the data. */
static uint64_t hang_age_ns(const struct synthetic_member *member,
			    unsigned channel, bool send, unsigned channels,
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

	if (view->send)
		send_phases(member, phases);
	else
		recv_phases(member, phases);
	hang_ns = hang_age_ns(member, view->channel, view->send, channels,
			      phases);
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

/* How late a channel is in its cycle. */
static uint64_t jitter_ns(const struct source_synthetic *self,
			  const struct synthetic_member *member,
			  unsigned channel)
{
	return mix(self->seed, member->rank + 1, channel + 1) % (CYCLE_NS / 2);
}

static void add_channel(struct source_synthetic *self,
			const struct synthetic_member *member, unsigned channel,
			bool send, uint64_t age_ns, uint64_t end_ns)
{
	struct ncs_snapshot *snapshot = &self->snapshot;
	struct ncs_channel_view *view =
		&snapshot->channels[snapshot->channel_count++];
	unsigned nranks = member->nranks;

	memset(view, 0, sizeof(*view));
	view->channel = (uint8_t)channel;
	view->send = send;
	view->peer =
		(int32_t)((member->rank + (send ? 1 : nranks - 1)) % nranks);
	set_channel(view, member, self->channels,
		    age_ns - jitter_ns(self, member, channel), end_ns);
	if (member->kind == OLD)
		view->size_unknown = view->steps_done;
	else
		view->bytes = view->steps_done * (STEP_BYTES / self->channels);
}

static void add_channels(struct source_synthetic *self,
			 const struct synthetic_member *member, uint64_t age_ns,
			 uint64_t end_ns)
{
	self->snapshot.channel_count = 0;
	for (unsigned i = 0; i < self->channels; i++) {
		add_channel(self, member, i, true, age_ns, end_ns);
		add_channel(self, member, i, false, age_ns, end_ns);
	}
}

/* --- Operations in flight ----------------------------------------------- */

static void add_operation(struct source_synthetic *self, uint64_t round,
			  uint64_t start_ns, uint64_t done)
{
	struct ncs_snapshot *snapshot = &self->snapshot;
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
	view->nchannels = self->channels;
	view->peer = -1;
	view->enqueued_ns = start_ns + MS / 100;
	view->children_started = 2 * (uint64_t)self->channels;
	view->children_done = done;
	view->first_child_ns = start_ns + MS / 20;
}

static void add_operations(struct source_synthetic *self,
			   const struct synthetic_member *member,
			   uint64_t age_ns, uint64_t end_ns)
{
	uint64_t into_ns = age_ns % CYCLE_NS;
	uint64_t hung_round = HANG_AT_NS / CYCLE_NS;

	self->snapshot.operation_count = 0;
	if (member->kind != WORLD)
		return;
	if ((member->hangs || member->is_hung_on) &&
	    age_ns / CYCLE_NS > hung_round)
		add_operation(self, hung_round, end_ns - (age_ns - HANG_AT_NS),
			      2 * (uint64_t)self->channels - 1);
	if (into_ns < CYCLE_NS / 100 * 80)
		add_operation(self, age_ns / CYCLE_NS, end_ns - into_ns, 0);
}

/* --- Ranges of the program ---------------------------------------------- */

#define RANGES 4

static struct ncs_range_view *add_range(struct ncs_snapshot *snapshot,
					uint32_t number, uint32_t parent,
					const char *name)
{
	struct ncs_range_view *range = &snapshot->ranges[snapshot->range_count];

	snapshot->range_count++;
	memset(range, 0, sizeof(*range));
	range->number = number;
	range->parent = parent;
	snprintf(range->name, sizeof(range->name), "%s", name);
	return range;
}

static void add_range_operations(struct ncs_snapshot *snapshot,
				 struct ncs_range_view *range, uint64_t count,
				 uint64_t bytes, uint64_t time_ns)
{
	uint64_t *buckets =
		&snapshot->range_buckets[snapshot->range_histogram_count *
					 NCS_RANGE_BUCKETS];

	range->calls = range->operations = range->with_children = count;
	range->bytes = range->with_children_bytes = count * bytes;
	range->timed[NCS_TIMING_PROXY] = count;
	range->time_ns[NCS_TIMING_PROXY] = range->busy_ns = count * time_ns;
	range->timed_bytes[NCS_TIMING_PROXY] = count * bytes;
	memset(buckets, 0, NCS_RANGE_BUCKETS * sizeof(*buckets));
	buckets[ncs_range_bucket(time_ns)] = count;
	range->histogram[NCS_TIMING_PROXY] =
		(uint32_t)++snapshot->range_histogram_count;
}

/* Each round is a step of training, whose backward pass reduces; one in ten
 * evaluates. What channels wait for is all the reduction's. */
static void add_ranges(struct ncs_snapshot *snapshot,
		       const struct synthetic_member *member, uint64_t age_ns)
{
	struct ncs_range_view *step, *backward, *reduce, *evaluate;
	uint64_t rounds = age_ns / CYCLE_NS;

	if (member->kind != WORLD)
		return;
	step = add_range(snapshot, 2, 0, "train step");
	backward = add_range(snapshot, 3, 2, "backward");
	reduce = add_range(snapshot, 4, 3, "reduce gradients");
	evaluate = add_range(snapshot, 5, 0, "evaluate");
	add_range_operations(snapshot, reduce, rounds, 64 * MIB,
			     CYCLE_NS / 100 * 80);
	add_range_operations(snapshot, evaluate, rounds / 10, MIB, MS / 2);
	step->busy_ns = backward->busy_ns = reduce->busy_ns;
	for (size_t i = 0; i < snapshot->channel_count; i++)
		for (size_t k = NCS_CHANNEL_IDLE + 1;
		     k < NCS_CHANNEL_STATE_COUNT; k++)
			reduce->channel_time_ns[k] +=
				snapshot->channels[i].time_ns[k];
}

/* --- Records ------------------------------------------------------------ */

/* What the GPU's clock is ahead. */
static uint64_t gpu_offset_ns(const struct synthetic_member *member)
{
	return UINT64_C(1000000000) * (member->rank + 1);
}

/* When things happen that end in a pass, by the job's age as the rank sees it. */
struct synthetic_pass {
	struct source_synthetic *self;
	const struct synthetic_member *member;
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t born_ns; /* at an age of 0 */
};

static void record(const struct synthetic_pass *recording, uint64_t age_ns,
		   struct ncs_record content)
{
	struct source_synthetic *self = recording->self;
	uint64_t end_ns = age_ns + content.duration;

	if (end_ns <= recording->from_ns || end_ns > recording->until_ns ||
	    self->record_count == RECORD_MAX)
		return;
	content.start = recording->born_ns + age_ns;
	self->records[self->record_count++] = content;
}

/* The call, the operation, its kernels if it is timed, the proxy thread. */
static void record_operation(const struct synthetic_pass *recording,
			     uint64_t round)
{
	uint64_t age_ns = round * CYCLE_NS;
	struct ncs_record operation = {
		.event = NCS_EVENT_COLL,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.operation = (uint32_t)round + 1,
		.peer = -1,
		.value = 64 * MIB,
		.number = round,
		.duration = CYCLE_NS / 100 * 80,
		.delta = { MS / 100, MS / 20 },
	};
	struct ncs_record call = operation, launch = operation;
	struct ncs_record sleep = { .event = NCS_EVENT_PROXY_CTRL,
				    .peer = -1,
				    .number = NCS_PROXY_SLEEP,
				    .duration = CYCLE_NS / 100 * 15 };
	struct ncs_record append = sleep;

	call.event = NCS_EVENT_COLL_API;
	call.duration = MS / 10;
	call.delta[0] = NCS_RECORD_STREAM(0x7f0012345678);
	call.delta[1] = 0;
	launch.event = NCS_EVENT_KERNEL_LAUNCH;
	launch.duration = MS / 50;
	launch.delta[0] = call.delta[0];
	launch.delta[1] = 0;
	append.number = NCS_PROXY_APPEND;
	append.duration = CYCLE_NS / 100 * 5;
	record(recording, age_ns - MS / 20, call);
	record(recording, age_ns + MS / 100, launch);
	record(recording, age_ns, operation);
	record(recording, age_ns, append);
	record(recording, age_ns + CYCLE_NS / 100 * 85, sleep);
}

static void record_kernels(const struct synthetic_pass *recording,
			   uint64_t round)
{
	uint64_t age_ns = round * CYCLE_NS + MS / 20;
	struct ncs_record kernel = {
		.event = NCS_EVENT_KERNEL_CH,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.operation = (uint32_t)round + 1,
		.peer = -1,
		.value = recording->born_ns + age_ns +
			 gpu_offset_ns(recording->member),
		.number = CYCLE_NS / 100 * 78,
		.duration = CYCLE_NS / 100 * 79,
	};

	if (round % 16 != 0)
		return;
	for (unsigned i = 0; i < recording->self->channels; i++) {
		kernel.channel = (uint8_t)i;
		record(recording, age_ns, kernel);
	}
}

/* From a step's start to the end of the first phases; 1 at least: it was told,
 * 0 if that is not within the step. */
static uint64_t delta_to(uint64_t phase_end_ns, uint64_t start_ns,
			 uint64_t length_ns)
{
	if (phase_end_ns <= start_ns)
		return 1;
	return phase_end_ns < start_ns + length_ns ? phase_end_ns - start_ns :
						     0;
}

/* One after the other, so that what the steps wait for is what the channel's
 * phases say. */
static void record_steps(const struct synthetic_pass *recording,
			 const struct ncs_channel_view *channel, uint64_t round,
			 uint64_t age_ns)
{
	struct synthetic_phase phases[CHANNEL_PHASES];
	uint64_t length_ns = CYCLE_NS / 100 * 80 / CYCLE_STEPS;

	if (channel->send)
		send_phases(recording->member, phases);
	else
		recv_phases(recording->member, phases);
	if (round * CYCLE_NS >= hang_age_ns(recording->member, channel->channel,
					    channel->send,
					    recording->self->channels, phases))
		return;
	for (unsigned i = 0; i < CYCLE_STEPS; i++) {
		uint64_t start_ns = i * length_ns;
		uint64_t second_ns = phases[0].length_ns;
		uint64_t third_ns = second_ns + phases[1].length_ns;

		record(recording, age_ns + start_ns,
		       (struct ncs_record){
			       .event = NCS_EVENT_PROXY_STEP,
			       .flags = channel->send ? NCS_RECORD_SEND : 0,
			       .channel = channel->channel,
			       .function = NCS_FUNCTION_ALL_REDUCE,
			       .operation = (uint32_t)round + 1,
			       .peer = channel->peer,
			       .value = STEP_BYTES / recording->self->channels,
			       .number = i,
			       .duration = length_ns,
			       .delta = { delta_to(second_ns, start_ns,
						   length_ns),
					  delta_to(third_ns, start_ns,
						   length_ns) },
		       });
	}
}

/* As many as there is room for; the oldest are lost. Returns how many. */
static uint64_t add_records(struct source_synthetic *self,
			    const struct synthetic_member *member,
			    uint64_t age_ns, uint64_t end_ns)
{
	uint64_t each = 5 + self->channels * (2 * (uint64_t)CYCLE_STEPS + 1);
	uint64_t room = RECORDS_OF_ALL / self->count;
	uint64_t past_ns = self->now_ns - member->recorded_ns, lost_ns;
	struct synthetic_pass recording = { .self = self,
					    .member = member,
					    .until_ns = age_ns,
					    .born_ns = end_ns - age_ns };

	if (member->kind != WORLD || member->dead)
		return 0;
	room = (room < RECORD_MAX ? room : RECORD_MAX) / each * CYCLE_NS;
	lost_ns = past_ns > room ? past_ns - room : 0;
	recording.from_ns = age_ns - (past_ns - lost_ns);
	for (uint64_t i = recording.from_ns / CYCLE_NS - 1;
	     i <= age_ns / CYCLE_NS; i++) {
		record_operation(&recording, i);
		record_kernels(&recording, i);
		for (size_t k = 0; k < self->snapshot.channel_count; k++) {
			const struct ncs_channel_view *channel =
				&self->snapshot.channels[k];

			record_steps(&recording, channel, i,
				     i * CYCLE_NS +
					     jitter_ns(self, member,
						       channel->channel));
		}
	}
	return lost_ns / CYCLE_NS * each;
}

/* --- The rest of a snapshot --------------------------------------------- */

static void set_proxy(struct ncs_proxy_view *view, uint64_t age_ns,
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

static void set_identity(struct ncs_identity *identity,
			 const struct synthetic_member *member, uint64_t seed)
{
	identity->comm_id = mix(seed, 0, member->kind + 1);
	identity->rank = (int32_t)member->rank;
	identity->known = NCS_KNOWN_COMM_ID | NCS_KNOWN_RANK;
	if (member->kind == OLD)
		return;
	identity->known |= NCS_KNOWN_NRANKS | NCS_KNOWN_NNODES |
			   NCS_KNOWN_NCCL_VERSION | NCS_KNOWN_GPU;
	identity->nranks = (int32_t)member->nranks;
	identity->nnodes = 1;
	identity->nccl_version = 22809;
	snprintf(identity->gpu, sizeof(identity->gpu), "0000:%02x:00.0",
		 member->rank & 0xff);
	if (member->kind == UNNAMED)
		return;
	identity->known |= NCS_KNOWN_COMM_NAME;
	snprintf(identity->comm_name, sizeof(identity->comm_name), "%s",
		 member->kind == WORLD ? "world" : "setup");
}

static void set_kernel(struct ncs_snapshot *snapshot,
		       const struct synthetic_member *member, uint64_t end_ns)
{
	uint64_t timed = 0;

	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		timed += snapshot->functions[i].timed[NCS_TIMING_KERNEL];
	snapshot->kernel = (struct ncs_kernel_view){
		.status = member->kind == OLD ? NCS_KERNEL_RELEASE :
						NCS_KERNEL_SAMPLED,
		.mode = NCS_KERNEL_TIMING_SAMPLED,
		.period = 64,
		.timed_calls = timed,
	};
	if (member->kind == OLD)
		return;
	snapshot->gpu_clock = (struct ncs_gpu_clock_view){
		.known = true,
		.told_ns = end_ns,
		.offset_ns = (int64_t)gpu_offset_ns(member),
		.error_ns = 1500,
		.quantum_ns = 32,
	};
}

/* What a process starts with. */
static void set_settings(struct ncs_settings_view *settings)
{
	settings->known = true;
	settings->in_force = (struct ncs_detail){
		.has_groups = 1,
		.groups = NCS_GROUPS_ALL,
		.kernel = NCS_KERNEL_DETAIL_EVERY + 6,
		.sample = 1,
	};
}

static void count_events(struct ncs_snapshot *snapshot, unsigned channels)
{
	uint64_t *events = snapshot->events;

	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++) {
		const struct ncs_function_view *function =
			&snapshot->functions[i];
		bool p2p = i == NCS_FUNCTION_SEND || i == NCS_FUNCTION_RECV;

		events[NCS_EVENT_GROUP] += function->operations;
		events[p2p ? NCS_EVENT_P2P : NCS_EVENT_COLL] +=
			function->operations;
		events[p2p ? NCS_EVENT_P2P_API : NCS_EVENT_COLL_API] +=
			function->calls;
		events[NCS_EVENT_KERNEL_CH] +=
			channels * function->timed[NCS_TIMING_KERNEL];
	}
	for (size_t i = 0; i < snapshot->channel_count; i++) {
		const struct ncs_channel_view *channel = &snapshot->channels[i];

		events[NCS_EVENT_PROXY_OP] += channel->operations_started;
		events[NCS_EVENT_PROXY_STEP] += channel->steps_started;
	}
	for (size_t i = 0; i < NCS_TRANSITION_COUNT; i++)
		events[NCS_EVENT_PROXY_CTRL] += snapshot->proxy.count[i];
}

static void set_losses(struct ncs_snapshot *snapshot,
		       const struct synthetic_member *member, uint64_t age_ns)
{
	uint64_t published = 0;

	snapshot->lane_count = 2;
	memset(snapshot->lanes, 0, 2 * sizeof(*snapshot->lanes));
	for (size_t i = 0; i < NCS_EVENT_COUNT; i++)
		published += snapshot->events[i];
	for (size_t i = 0; i < 2; i++) {
		snapshot->lanes[i].published = published / 2;
		snapshot->lanes[i].last_call_ns = snapshot->last_call_ns;
	}
	if (published > OVERWRITTEN_AFTER)
		snapshot->losses[NCS_LOSS_OVERWRITTEN] =
			published - OVERWRITTEN_AFTER;
	if (member->loses) {
		snapshot->losses[NCS_LOSS_POOL_FULL] = age_ns / (100 * MS);
		snapshot->losses[NCS_LOSS_STALE] = 3;
	}
}

/* How old the job was when this rank's clock stopped. */
static uint64_t end_age_ns(const struct synthetic_member *member)
{
	if (member->kind == FINISHED)
		return FINISHED_AT_NS;
	return member->dead ? DEAD_AT_NS : UINT64_MAX;
}

/* Returns how many records were lost. */
static uint64_t take(struct source_synthetic *self,
		     const struct synthetic_member *member, bool with_records)
{
	struct ncs_snapshot *snapshot = &self->snapshot;
	struct ncs_snapshot fresh = { .taken_ns = self->now_ns };
	uint64_t age_ns = self->now_ns - self->born_ns, end_ns;

	if (age_ns > end_age_ns(member))
		age_ns = end_age_ns(member);
	end_ns = self->born_ns + age_ns;
	self->record_count = 0;
	fresh.channels = snapshot->channels;
	fresh.operations = snapshot->operations;
	fresh.lanes = snapshot->lanes;
	fresh.classes = snapshot->classes;
	fresh.class_buckets = snapshot->class_buckets;
	fresh.ranges = snapshot->ranges;
	fresh.range_buckets = snapshot->range_buckets;
	memcpy(fresh.functions, snapshot->functions, sizeof(fresh.functions));
	*snapshot = fresh;

	snapshot->liveness = NCS_ALIVE;
	if (member->kind == FINISHED) {
		snapshot->liveness = NCS_FINISHED;
		snapshot->finished_ns = end_ns;
	} else if (member->dead) {
		snapshot->liveness = NCS_DEAD;
		snapshot->process_gone = true;
	}
	/* An end is a call, too. */
	snapshot->last_call_ns = end_ns;
	if (snapshot->liveness == NCS_ALIVE)
		snapshot->last_call_ns -= age_ns % (3 * MS);
	set_identity(&snapshot->identity, member, self->seed);
	if (member->late)
		age_ns -= CYCLE_NS / 2;
	add_functions(snapshot, member, age_ns);
	if (member->kind != OLD) {
		set_proxy(&snapshot->proxy, age_ns, end_ns);
		set_settings(&snapshot->settings);
	}
	if (member->kind != FINISHED)
		add_channels(self, member, age_ns, end_ns);
	else
		snapshot->channel_count = 0;
	add_operations(self, member, age_ns, end_ns);
	add_ranges(snapshot, member, age_ns);
	for (size_t i = 0; i < snapshot->channel_count; i++)
		snapshot->proxy.appended_operations +=
			member->kind == OLD ?
				0 :
				snapshot->channels[i].operations_started;
	set_kernel(snapshot, member, end_ns);
	count_events(snapshot, self->channels);
	set_losses(snapshot, member, age_ns);
	return with_records ? add_records(self, member, age_ns, end_ns) : 0;
}

/* --- The source --------------------------------------------------------- */

static int begin(struct ncs_source *source, uint64_t now_ns, char *why,
		 size_t why_size)
{
	struct source_synthetic *self = self_of(source);

	(void)why;
	(void)why_size;
	if (!self->is_born) {
		self->born_ns = now_ns - FIRST_AGE_NS;
		for (size_t i = 0; i < self->count; i++) {
			self->members[i].header.created = self->born_ns;
			self->members[i].recorded_ns = now_ns - RECORDED_NS;
		}
	}
	self->is_born = true;
	self->now_ns = now_ns;
	self->place = 0;
	return 0;
}

static bool next(struct ncs_source *source, struct ncs_sample *sample)
{
	struct source_synthetic *self = self_of(source);
	struct synthetic_member *member;

	if (self->place == self->count)
		return false;
	member = &self->members[self->place++];
	memset(sample, 0, sizeof(*sample));
	sample->without_records =
		source->wants_records &&
		!source->wants_records(source->wants_context, member->id);
	sample->records_lost = take(self, member, !sample->without_records);
	if (!sample->without_records)
		member->recorded_ns = self->now_ns;
	sample->id = member->id;
	sample->attach = NCS_ATTACHED;
	sample->header = &member->header;
	sample->snapshot = &self->snapshot;
	sample->records = self->records;
	sample->record_count = self->record_count;
	return true;
}

static void close_source(struct ncs_source *source)
{
	struct source_synthetic *self = self_of(source);

	ncs_snapshot_release(&self->snapshot);
	free(self->members);
	free(self->records);
	free(self);
}

static struct synthetic_member *add_member(struct source_synthetic *self,
					   enum synthetic_kind kind,
					   unsigned rank, unsigned nranks)
{
	static const char *const names[] = { "world", "unnamed", "setup",
					     "old" };
	struct synthetic_member *member = &self->members[self->count++];
	struct ncs_header *header = &member->header;

	member->kind = kind;
	member->rank = rank;
	member->nranks = nranks;
	snprintf(member->id, sizeof(member->id), "synthetic/%s.%u", names[kind],
		 rank);
	header->magic = NCS_MAGIC;
	header->version = NCS_ABI_VERSION;
	header->byte_order = NCS_BYTE_ORDER;
	header->pid = kind == OLD ? 999 : 1000 + rank;
	header->api_version = kind == OLD ? 1 : 5;
	header->process_start = mix(self->seed, 1, header->pid);
	header->clock.kind = NCS_CLOCK_MONOTONIC;
	header->clock.multiplier = UINT64_C(1) << 32;
	snprintf(header->host, sizeof(header->host), "synthetic");
	return member;
}

/* Who is special: the late rank, the rank after it, and so on; the dead one,
 * the last, never is. */
static void add_world(struct source_synthetic *self, unsigned ranks)
{
	unsigned living = ranks >= 8 ? ranks - 1 : ranks;
	unsigned late = (unsigned)(mix(self->seed, 2, 2) % living);
	unsigned hangs = (late + living / 2) % living;

	for (unsigned i = 0; i < ranks; i++) {
		struct synthetic_member *member =
			add_member(self, WORLD, i, ranks);

		if (ranks == 1)
			return;
		member->dead = i >= living;
		member->late = i == late;
		member->after_late = i == (late + 1) % ranks;
		member->before_late = (i + 1) % ranks == late;
		member->hangs = i == hangs;
		member->is_hung_on = i == (hangs + 1) % ranks;
		member->loses = i == (late + 1) % living;
	}
}

static int reserve(struct source_synthetic *self, unsigned ranks)
{
	struct ncs_snapshot *snapshot = &self->snapshot;

	self->members = calloc((size_t)ranks + 4, sizeof(*self->members));
	snapshot->channels =
		calloc(2 * (size_t)self->channels, sizeof(*snapshot->channels));
	snapshot->operations = calloc(2, sizeof(*snapshot->operations));
	snapshot->lanes = calloc(2, sizeof(*snapshot->lanes));
	self->records = calloc(RECORD_MAX, sizeof(*self->records));
	snapshot->classes = calloc(sizeof(traffics) / sizeof(traffics[0]),
				   sizeof(*snapshot->classes));
	snapshot->ranges = calloc(RANGES, sizeof(*snapshot->ranges));
	snapshot->range_buckets =
		calloc(RANGES, NCS_RANGE_BUCKETS * sizeof(uint64_t));
	snapshot->class_buckets =
		calloc(sizeof(traffics) / sizeof(traffics[0]),
		       NCS_HISTOGRAM_BUCKETS * sizeof(uint64_t));
	if (!self->members || !self->records || !snapshot->channels ||
	    !snapshot->operations || !snapshot->lanes || !snapshot->classes ||
	    !snapshot->class_buckets || !snapshot->ranges ||
	    !snapshot->range_buckets)
		return -1;
	for (size_t i = 0; i < sizeof(traffics) / sizeof(traffics[0]); i++) {
		struct ncs_function_view *view =
			&snapshot->functions[traffics[i].function];
		unsigned timing = traffics[i].timing;

		if (timing == NCS_TIMING_COUNT || view->histogram[timing])
			continue;
		view->histogram[timing] =
			calloc(NCS_HISTOGRAM_BUCKETS, sizeof(uint64_t));
		if (!view->histogram[timing])
			return -1;
	}
	return 0;
}

struct ncs_source *ncs_source_open_synthetic(uint64_t seed, unsigned ranks,
					     unsigned channels)
{
	struct source_synthetic *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->source.begin = begin;
	self->source.next = next;
	self->source.close = close_source;
	self->seed = seed;
	self->channels = channels > 0 ? channels : 1;
	ranks = ranks > 0 ? ranks : 1;
	if (reserve(self, ranks) != 0) {
		close_source(&self->source);
		return NULL;
	}
	add_world(self, ranks);
	if (ranks >= 2) {
		add_member(self, UNNAMED, 0, 2);
		add_member(self, UNNAMED, 1, 2);
		add_member(self, FINISHED, 0, 2);
		add_member(self, OLD, 0, 4);
	}
	return &self->source;
}
