/* SPDX-License-Identifier: MIT */
/* A made-up job, for the tests of the views and for trying the views.
 *
 * Every number is a function of the seed and of the job's age, so two sources
 * with the same seed and the same times of passes agree to the byte. The job is
 * 5 s old at the first pass. It has
 *   - a communicator of all ranks with steady traffic, in which one rank is
 *     late, one channel hangs from an age of 8 s on, and, with 8 ranks or more,
 *     the last rank has died;
 *   - with 2 ranks or more, a communicator without a name, a finished one, and
 *     a rank of a job whose NCCL has profiler API 1, which reports little.
 * It does not simulate NCCL: a hung channel does not stop the others.
 */
#include "test/unit/support/source_synthetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/abi.h"
#include "test/unit/support/synthetic_job.h"

#define FIRST_AGE_NS (5000 * MS)
#define FINISHED_AT_NS (2000 * MS)
#define DEAD_AT_NS (4000 * MS)

/* The number of records that a rank's rings hold. */
#define OVERWRITTEN_AFTER 65536u

/* The age of the oldest records that the first pass sees. */
#define RECORDED_NS (250 * MS)

static struct synthetic_job *job_of(struct ncs_source *source)
{
	return (struct synthetic_job *)source;
}

/* --- The rest of a snapshot --------------------------------------------- */

static void set_identity(struct ncs_identity *identity,
			 const struct synthetic_member *member, uint64_t seed)
{
	identity->comm_id = ncs_synthetic_number(seed, 0, member->kind + 1);
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
	snapshot->kernel = (struct ncs_kernel_view){
		.status = member->kind == OLD ? NCS_KERNEL_RELEASE :
						NCS_KERNEL_ALWAYS,
		.mode = NCS_KERNEL_TIMING_ALWAYS,
	};
	if (member->kind == OLD)
		return;
	snapshot->gpu_clock = (struct ncs_gpu_clock_view){
		.known = true,
		.told_ns = end_ns,
		.offset_ns = (int64_t)ncs_synthetic_gpu_offset_ns(member),
		.error_ns = 1500,
		.quantum_ns = 32,
	};
}

/* Sets the settings that a process starts with. */
static void set_settings(struct ncs_settings_view *settings)
{
	settings->known = true;
	settings->in_force = (struct ncs_detail){
		.has_groups = 1,
		.groups = NCS_GROUPS_ALL,
		.kernel = NCS_KERNEL_DETAIL_ALWAYS,
		.sample = 1,
		.timing = NCS_TIMING_DETAIL_AUTO,
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

/* Returns the age of the job at which a rank ended; UINT64_MAX if the rank
 * still runs. */
static uint64_t end_age_ns(const struct synthetic_member *member)
{
	if (member->kind == FINISHED)
		return FINISHED_AT_NS;
	return member->dead ? DEAD_AT_NS : UINT64_MAX;
}

/* Takes the snapshot and, if wanted, the records of a member. Returns how many
 * records were lost. */
static uint64_t take(struct synthetic_job *job,
		     const struct synthetic_member *member, bool with_records)
{
	struct ncs_snapshot *snapshot = &job->snapshot;
	struct ncs_snapshot fresh = { .taken_ns = job->now_ns };
	uint64_t age_ns = job->now_ns - job->born_ns, end_ns;

	if (age_ns > end_age_ns(member))
		age_ns = end_age_ns(member);
	end_ns = job->born_ns + age_ns;
	job->record_count = 0;
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
	/* The end of a rank counts as its last call. */
	snapshot->last_call_ns = snapshot->alive_ns = end_ns;
	if (snapshot->liveness == NCS_ALIVE)
		snapshot->last_call_ns -= age_ns % (3 * MS);
	set_identity(&snapshot->identity, member, job->seed);
	if (member->late)
		age_ns -= CYCLE_NS / 2;
	ncs_synthetic_functions(snapshot, member, age_ns);
	if (member->kind != OLD) {
		ncs_synthetic_proxy(&snapshot->proxy, age_ns, end_ns);
		set_settings(&snapshot->settings);
	}
	if (member->kind != FINISHED)
		ncs_synthetic_channels(job, member, age_ns, end_ns);
	else
		snapshot->channel_count = 0;
	ncs_synthetic_operations(job, member, age_ns, end_ns);
	ncs_synthetic_launches(snapshot, member, age_ns, end_ns);
	ncs_synthetic_ranges(snapshot, member, age_ns);
	for (size_t i = 0; i < snapshot->channel_count; i++)
		snapshot->proxy.appended_operations +=
			member->kind == OLD ?
				0 :
				snapshot->channels[i].operations_started;
	set_kernel(snapshot, member, end_ns);
	count_events(snapshot, job->channels);
	set_losses(snapshot, member, age_ns);
	return with_records ?
		       ncs_synthetic_records(job, member, age_ns, end_ns) :
		       0;
}

/* --- The source --------------------------------------------------------- */

static int begin(struct ncs_source *source, uint64_t now_ns, char *why,
		 size_t why_size)
{
	struct synthetic_job *job = job_of(source);

	(void)why;
	(void)why_size;
	if (!job->is_born) {
		job->born_ns = now_ns - FIRST_AGE_NS;
		for (size_t i = 0; i < job->count; i++) {
			job->members[i].header.created = job->born_ns;
			job->members[i].recorded_ns = now_ns - RECORDED_NS;
		}
	}
	job->is_born = true;
	job->now_ns = now_ns;
	job->place = 0;
	return 0;
}

static bool next(struct ncs_source *source, struct ncs_sample *sample)
{
	struct synthetic_job *job = job_of(source);
	struct synthetic_member *member;

	if (job->place == job->count)
		return false;
	member = &job->members[job->place++];
	memset(sample, 0, sizeof(*sample));
	sample->without_records =
		source->wants_records &&
		!source->wants_records(source->wants_context, member->id);
	sample->records_lost = take(job, member, !sample->without_records);
	if (!sample->without_records)
		member->recorded_ns = job->now_ns;
	sample->id = member->id;
	sample->attach = NCS_ATTACHED;
	sample->header = &member->header;
	sample->snapshot = &job->snapshot;
	sample->records = job->records;
	sample->record_count = job->record_count;
	return true;
}

static void close_source(struct ncs_source *source)
{
	struct synthetic_job *job = job_of(source);

	ncs_snapshot_release(&job->snapshot);
	free(job->members);
	free(job->records);
	free(job);
}

/* From so many ranks on the job is on nodes, of so many ranks each; their clocks
 * are one. */
#define MANY_RANKS 64u
#define RANKS_OF_NODE 8u

static struct synthetic_member *add_member(struct synthetic_job *job,
					   enum synthetic_kind kind,
					   unsigned rank, unsigned nranks)
{
	static const char *const names[] = { "world", "unnamed", "setup",
					     "old" };
	struct synthetic_member *member = &job->members[job->count++];
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
	header->process_start = ncs_synthetic_number(job->seed, 1, header->pid);
	header->clock.kind = NCS_CLOCK_MONOTONIC;
	header->clock.multiplier = UINT64_C(1) << 32;
	if (kind == WORLD && nranks >= MANY_RANKS)
		snprintf(header->host, sizeof(header->host), "node%03u",
			 rank / RANKS_OF_NODE);
	else
		snprintf(header->host, sizeof(header->host), "synthetic");
	return member;
}

/* Adds the main communicator, and chooses its late rank, hung channel and rank
 * that loses events; the dead rank, which is the last, has no other role. */
static void add_world(struct synthetic_job *job, unsigned ranks)
{
	unsigned living = ranks >= 8 ? ranks - 1 : ranks;
	unsigned late =
		(unsigned)(ncs_synthetic_number(job->seed, 2, 2) % living);
	unsigned hangs = (late + living / 2) % living;

	for (unsigned i = 0; i < ranks; i++) {
		struct synthetic_member *member =
			add_member(job, WORLD, i, ranks);

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

static int reserve(struct synthetic_job *job, unsigned ranks)
{
	struct ncs_snapshot *snapshot = &job->snapshot;

	job->members = calloc((size_t)ranks + 4, sizeof(*job->members));
	job->records = calloc(RECORD_MAX, sizeof(*job->records));
	snapshot->channels =
		calloc(2 * (size_t)job->channels, sizeof(*snapshot->channels));
	snapshot->operations = calloc(2, sizeof(*snapshot->operations));
	snapshot->lanes = calloc(2, sizeof(*snapshot->lanes));
	if (!job->members || !job->records || !snapshot->channels ||
	    !snapshot->operations || !snapshot->lanes)
		return -1;
	return ncs_synthetic_reserve(snapshot);
}

struct ncs_source *ncs_source_open_synthetic(uint64_t seed, unsigned ranks,
					     unsigned channels)
{
	struct synthetic_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->source.begin = begin;
	job->source.next = next;
	job->source.close = close_source;
	job->seed = seed;
	job->channels = channels > 0 ? channels : 1;
	ranks = ranks > 0 ? ranks : 1;
	if (reserve(job, ranks) != 0) {
		close_source(&job->source);
		return NULL;
	}
	add_world(job, ranks);
	if (ranks >= 2) {
		add_member(job, UNNAMED, 0, 2);
		add_member(job, UNNAMED, 1, 2);
		add_member(job, FINISHED, 0, 2);
		add_member(job, OLD, 0, 4);
	}
	return &job->source;
}
