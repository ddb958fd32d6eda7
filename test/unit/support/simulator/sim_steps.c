/* SPDX-License-Identifier: MIT */
/* How data moves in steps: on each channel from rank to rank, between hosts over a
 * network. */
#include <math.h>

#include "shm/array.h"
#include "test/unit/support/simulator/sim_core.h"

#define US 1e3

#define STEP_BYTES (UINT64_C(512) << 10)
#define NVLINK_NS (2 * US)
#define NVLINK_BYTE_NS 0.005

/* Times that differ from step to step. */
enum step_delay {
	DELAY_READY = 10,
	DELAY_POSTED,
	DELAY_CREDIT,
	DELAY_SENT,
	DELAY_WIRE,
	DELAY_IS_QUEUED,
	DELAY_QUEUE,
	DELAY_CONSUMED,
};

/* Returns a random number from 0 to 1 of a step. */
static double random_of(const struct sim_job *job, enum step_delay what,
			const struct sim_step *step)
{
	const struct sim_operation *operation = &job->operation;

	return sim_random(job, what,
			  (uint64_t)(operation->comm - job->comms) << 48 |
				  operation->comm->operations,
			  (uint64_t)(step - operation->steps));
}

static double delay_ns(const struct sim_job *job, enum step_delay what,
		       const struct sim_step *step, double mean_ns)
{
	return -mean_ns * log(1 - random_of(job, what, step));
}

/* Makes room for the steps of all channels of the first parts, which send so many
 * rounds of so many bytes on each. */
static void begin_steps(const struct sim_job *job,
			struct sim_operation *operation, size_t senders,
			unsigned rounds, uint64_t bytes)
{
	uint64_t loops = (bytes + STEP_BYTES - 1) / STEP_BYTES;

	loops += loops == 0;
	operation->senders = (unsigned)senders;
	operation->step_count = (unsigned)(rounds * loops);
	operation->step_bytes = bytes / loops + (bytes / loops == 0);
	if (ncs_array_reserve(&operation->steps, &operation->step_capacity,
			      senders * job->options.channels *
				      operation->step_count,
			      sizeof(*operation->steps)) != 0)
		abort();
}

/* Sends step k over the network, after those before it on its link. */
static void send_step(struct sim_job *job, double *free_ns,
		      struct sim_step *step, unsigned k)
{
	const struct sim_options *options = &job->options;
	double posted_ns = step->posted_ns;

	step->sent_ns = step->ready_ns + 150;
	if (!options->is_socket)
		step->sent_ns =
			fmax(step->sent_ns,
			     posted_ns + options->latency_ns +
				     delay_ns(job, DELAY_CREDIT, step, 500));
	step->sent_ns += delay_ns(job, DELAY_SENT, step, 200);
	if (k > 0)
		step->sent_ns = fmax(step->sent_ns, step[-1].sent_ns + 1);
	*free_ns = fmax(*free_ns, step->sent_ns) +
		   options->beta_ns * (double)job->operation.step_bytes;
	step->came_ns = *free_ns + options->latency_ns + 100 +
			delay_ns(job, DELAY_WIRE, step, 800);
	if (random_of(job, DELAY_IS_QUEUED, step) < 0.02)
		step->came_ns +=
			delay_ns(job, DELAY_QUEUE, step, options->queue_ns);
	/* A receiver only polls for posted buffers. */
	step->came_ns = fmax(step->came_ns, posted_ns + 300);
	if (k > 0)
		step->came_ns = fmax(step->came_ns, step[-1].came_ns + 1);
	job->messages++;
}

/* Moves step k of a channel from a part to the next one. */
static void move_step(struct sim_job *job,
		      const struct sim_operation *operation, unsigned channel,
		      size_t from, unsigned k)
{
	struct sim_step *step = &sim_steps_of(operation, channel, from)[k];
	unsigned rank = operation->parts[from].rank;

	step->posted_ns =
		operation->parts[(from + 1) % operation->count].begun_ns;
	if (k >= SIM_STEPS_DEPTH)
		step->posted_ns = fmax(step->posted_ns,
				       step[-(int)SIM_STEPS_DEPTH].consumed_ns);
	step->posted_ns += 200 + delay_ns(job, DELAY_POSTED, step, 300);
	if (sim_steps_cross(job, operation, from)) {
		send_step(job,
			  &job->free_ns[rank * job->options.channels + channel],
			  step, k);
	} else {
		step->sent_ns = fmax(step->ready_ns, step->posted_ns);
		step->came_ns = step->sent_ns + NVLINK_NS +
				NVLINK_BYTE_NS * (double)operation->step_bytes;
	}
	step->consumed_ns = step->came_ns + 1 * US +
			    delay_ns(job, DELAY_CONSUMED, step, 500);
}

/* Finds when a part has the data of step k: it sends on what came to it a round
 * before. */
static void find_ready(const struct sim_job *job,
		       const struct sim_operation *operation, unsigned channel,
		       size_t part, unsigned k, unsigned loops)
{
	size_t before = (part + operation->senders - 1) % operation->senders;
	struct sim_step *step = &sim_steps_of(operation, channel, part)[k];

	step->ready_ns = operation->parts[part].begun_ns;
	if (k >= loops)
		step->ready_ns =
			fmax(step->ready_ns,
			     sim_steps_of(operation, channel, before)[k - loops]
					     .came_ns +
				     1 * US);
	if (k > 0)
		step->ready_ns = fmax(step->ready_ns, step[-1].ready_ns + 200);
	step->ready_ns += delay_ns(job, DELAY_READY, step, 300);
}

void sim_move_in_steps(struct sim_job *job, struct sim_operation *operation)
{
	bool is_ring = operation->kind == SIM_COLLECTIVE;
	size_t count = operation->count, senders = is_ring ? count : 1;
	unsigned channels = job->options.channels;
	unsigned rounds = is_ring && count > 1 ? 2 * (unsigned)(count - 1) : 1;
	unsigned last;

	begin_steps(job, operation, senders, rounds,
		    operation->parts->action->bytes / senders / channels);
	last = operation->step_count - 1;
	for (size_t i = 0; i < count; i++)
		operation->parts[i].end_ns = operation->parts[i].begun_ns;
	for (unsigned c = 0; c < channels; c++)
		for (unsigned k = 0; k <= last; k++) {
			for (size_t i = 0; i < senders; i++)
				find_ready(job, operation, c, i, k,
					   operation->step_count / rounds);
			for (size_t i = 0; i < senders; i++)
				move_step(job, operation, c, i, k);
		}
	for (unsigned c = 0; c < channels; c++)
		for (size_t i = 0; i < senders; i++) {
			const struct sim_step *step =
				&sim_steps_of(operation, c, i)[last];
			struct sim_part *from = &operation->parts[i];
			struct sim_part *to =
				&operation->parts[(i + 1) % count];

			from->sends = to->receives =
				sim_steps_cross(job, operation, i);
			from->end_ns = fmax(from->end_ns, step->sent_ns);
			to->end_ns = fmax(to->end_ns, step->consumed_ns);
		}
}
