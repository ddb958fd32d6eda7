/* SPDX-License-Identifier: MIT */
/* Simulated jobs as parts; see sim_parts.h. */
#include "test/unit/support/simulator/sim_parts.h"

#include <stdlib.h>

#include "ncclstat/abi_values.h"
#include "shm/array.h"

static uint64_t at_ns(double ns)
{
	return SIM_BEGIN_NS + (uint64_t)ns;
}

static void take(struct sim_job *job, const struct sim_operation *operation)
{
	struct sim_parts *self = (struct sim_parts *)job;

	if (ncs_array_reserve(&self->parts, &self->capacity,
			      self->count + operation->count,
			      sizeof(*self->parts)) != 0)
		abort();
	for (size_t i = 0; i < operation->count; i++) {
		const struct sim_part *part = &operation->parts[i];
		bool is_p2p = operation->kind != SIM_COLLECTIVE;

		self->parts[self->count++] = (struct ncs_cost_part){
			.comm_id = operation->comm->id,
			.number = part->number,
			.bytes = part->action->bytes,
			.stream = 1 + !part->action->inlined,
			.call_ns = at_ns(part->called_ns),
			.launched_ns = at_ns(part->launched_ns),
			.begin_ns = at_ns(part->begun_ns),
			.end_ns = at_ns(part->end_ns),
			.rank = part->rank,
			.member = (int)part->member,
			.members = (int)operation->comm->count,
			.peer = is_p2p ? part->next : part->action->peer,
			.function = (uint8_t)part->function,
		};
	}
}

struct sim_parts *sim_parts_new(const struct sim_options *options)
{
	struct sim_parts *self = sim_alloc(1, sizeof(*self));

	sim_job_init(&self->job, options);
	self->job.take = take;
	sim_job_run(&self->job);
	return self;
}

void sim_parts_free(struct sim_parts *self)
{
	sim_job_release(&self->job);
	free(self->parts);
	free(self);
}

uint64_t sim_parts_end_ns(const struct sim_parts *self)
{
	return at_ns(self->job.ends_ns[self->job.options.steps - 1]);
}

/* --- Joined operations ---------------------------------------------------- */

static struct ncs_part part_of(const struct sim_parts *self,
			       const struct ncs_cost_part *cost)
{
	return (struct ncs_part){
		.comm_id = cost->comm_id,
		.rank = cost->member,
		.nranks = cost->members,
		.owner = cost->rank,
		.function = cost->function,
		.algorithm = (uint8_t)sim_algorithm(&self->job.options,
						    cost->number),
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

bool sim_parts_join(const struct sim_parts *self, size_t *at,
		    struct sim_joined *operation)
{
	const struct ncs_cost_part *parts = &self->parts[*at];
	uint64_t first_end_ns = UINT64_MAX;

	if (*at == self->count)
		return false;
	for (int i = 0; i < parts->members; i++) {
		operation->parts[i] = part_of(self, &parts[i]);
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
