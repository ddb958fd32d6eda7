/* SPDX-License-Identifier: MIT */
/* The made-up job's records: those of the main communicator's busiest function,
 * and of its proxy threads.
 */
#include "test/unit/support/synthetic_job.h"

/* Largest number of records of all ranks in one pass. */
#define RECORDS_OF_ALL 98304u

uint64_t ncs_synthetic_gpu_offset_ns(const struct synthetic_member *member)
{
	return UINT64_C(1000000000) * (member->rank + 1);
}

/* The records of one pass: those that end after from_ns and not after until_ns.
 * Both are ages of the job as the rank sees them. */
struct synthetic_pass {
	struct synthetic_job *job;
	const struct synthetic_member *member;
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t born_ns; /* the time at age 0 */
};

static void record(const struct synthetic_pass *pass, uint64_t age_ns,
		   struct ncs_record content)
{
	struct synthetic_job *job = pass->job;
	uint64_t end_ns = age_ns + content.duration;

	if (end_ns <= pass->from_ns || end_ns > pass->until_ns ||
	    job->record_count == RECORD_MAX)
		return;
	content.start = pass->born_ns + age_ns;
	job->records[job->record_count++] = content;
}

/* Makes the records of a call, its launch, its operation, and the proxy
 * thread. */
static void record_operation(const struct synthetic_pass *pass, uint64_t round)
{
	uint64_t age_ns = round * CYCLE_NS;
	struct ncs_record operation = {
		.event = NCS_EVENT_COLL,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.operation = (uint32_t)round + 1,
		.peer = -1,
		.value = 64 * MIB,
		.number = round,
		/* The late rank comes half a cycle later, and ends with all. */
		.duration = CYCLE_NS / 100 * (pass->member->late ? 30 : 80),
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
	if (pass->member->kind == WORLD &&
	    round % (UINT64_C(1) << SYNTHETIC_LAUNCH_LEVEL) == 0)
		operation.flags = NCS_RECORD_ON_STREAM;
	append.number = NCS_PROXY_APPEND;
	append.duration = CYCLE_NS / 100 * 5;
	record(pass, age_ns - MS / 20, call);
	record(pass, age_ns + MS / 100, launch);
	record(pass, age_ns, operation);
	record(pass, age_ns, append);
	record(pass, age_ns + CYCLE_NS / 100 * 85, sleep);
}

static void record_kernels(const struct synthetic_pass *pass, uint64_t round)
{
	uint64_t age_ns = round * CYCLE_NS + MS / 20;
	struct ncs_record kernel = {
		.event = NCS_EVENT_KERNEL_CH,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.operation = (uint32_t)round + 1,
		.peer = -1,
		.value = pass->born_ns + age_ns +
			 ncs_synthetic_gpu_offset_ns(pass->member),
		.number = CYCLE_NS / 100 * 78,
		.duration = CYCLE_NS / 100 * 79,
	};

	if (round % 16 != 0)
		return;
	for (unsigned i = 0; i < pass->job->channels; i++) {
		kernel.channel = (uint8_t)i;
		record(pass, age_ns, kernel);
	}
}

/* Returns the time in ns from a step's start to the end of its first phases, at
 * least 1 so that the time counts as reported; 0 if the phases end after the
 * step. */
static uint64_t delta_to(uint64_t phase_end_ns, uint64_t start_ns,
			 uint64_t length_ns)
{
	if (phase_end_ns <= start_ns)
		return 1;
	return phase_end_ns < start_ns + length_ns ? phase_end_ns - start_ns :
						     0;
}

/* Makes the records of the steps of a round, one after another. Their waits
 * agree with the channel's phases. */
static void record_steps(const struct synthetic_pass *pass,
			 const struct ncs_channel_view *channel, uint64_t round,
			 uint64_t age_ns)
{
	struct synthetic_phase phases[CHANNEL_PHASES];
	uint64_t length_ns = CYCLE_NS / 100 * 80 / CYCLE_STEPS;

	ncs_synthetic_phases(pass->member, channel->send, phases);
	if (round * CYCLE_NS >=
	    ncs_synthetic_hang_age_ns(pass->member, channel->channel,
				      channel->send, pass->job->channels,
				      phases))
		return;
	for (unsigned i = 0; i < CYCLE_STEPS; i++) {
		uint64_t start_ns = i * length_ns;
		uint64_t second_ns = phases[0].length_ns;
		uint64_t third_ns = second_ns + phases[1].length_ns;

		record(pass, age_ns + start_ns,
		       (struct ncs_record){
			       .event = NCS_EVENT_PROXY_STEP,
			       .flags = channel->send ? NCS_RECORD_SEND : 0,
			       .channel = channel->channel,
			       .function = NCS_FUNCTION_ALL_REDUCE,
			       .operation = (uint32_t)round + 1,
			       .peer = channel->peer,
			       .value = STEP_BYTES / pass->job->channels,
			       .number = i,
			       .duration = length_ns,
			       .delta = { delta_to(second_ns, start_ns,
						   length_ns),
					  delta_to(third_ns, start_ns,
						   length_ns) },
		       });
	}
}

uint64_t ncs_synthetic_records(struct synthetic_job *job,
			       const struct synthetic_member *member,
			       uint64_t age_ns, uint64_t end_ns)
{
	uint64_t each = 5 + job->channels * (2 * (uint64_t)CYCLE_STEPS + 1);
	uint64_t room = RECORDS_OF_ALL / job->count;
	uint64_t past_ns = job->now_ns - member->recorded_ns, lost_ns;
	struct synthetic_pass pass = { .job = job,
				       .member = member,
				       .until_ns = age_ns,
				       .born_ns = end_ns - age_ns };

	if (member->kind != WORLD || member->dead)
		return 0;
	room = (room < RECORD_MAX ? room : RECORD_MAX) / each * CYCLE_NS;
	lost_ns = past_ns > room ? past_ns - room : 0;
	pass.from_ns = age_ns - (past_ns - lost_ns);
	for (uint64_t i = pass.from_ns / CYCLE_NS - 1; i <= age_ns / CYCLE_NS;
	     i++) {
		record_operation(&pass, i);
		record_kernels(&pass, i);
		for (size_t k = 0; k < job->snapshot.channel_count; k++) {
			const struct ncs_channel_view *channel =
				&job->snapshot.channels[k];

			record_steps(&pass, channel, i,
				     i * CYCLE_NS + ncs_synthetic_jitter_ns(
							    job, member,
							    channel->channel));
		}
	}
	return lost_ns / CYCLE_NS * each;
}
