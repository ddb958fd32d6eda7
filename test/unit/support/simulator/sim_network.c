/* SPDX-License-Identifier: MIT */
/* How the data of operations moves, and what delays it. */
#include <math.h>

#include "test/unit/support/simulator/sim_core.h"

#define US 1e3

/* The first data gets from one rank to the next in this time. */
#define HOP_NS (30 * US)

/* --- Links ---------------------------------------------------------------- */

static bool is_inside(const struct sim_job *job, unsigned a, unsigned b)
{
	return sim_host(job, a) == sim_host(job, b);
}

/* Returns how long the data of a rank is on the way to another one. */
static double wire_ns(const struct sim_job *job, unsigned from, unsigned to,
		      const struct sim_action *action)
{
	double ns = (is_inside(job, from, to) ? 10 * US : 30 * US) +
		    (double)action->bytes * 0.02;

	return from != to && sim_is_faulty(job, from, SIM_NETWORK) ?
		       ns * job->options.fault_size :
		       ns;
}

static bool crosses(const struct sim_job *job, unsigned a, unsigned b)
{
	return job->options.transport != SIM_NVLINK &&
	       (!is_inside(job, a, b) || job->options.ranks_per_host == 1);
}

/* Returns how late the proxy thread of a rank sends to another one. */
static double proxy_late_ns(const struct sim_job *job, unsigned from,
			    unsigned to)
{
	return crosses(job, from, to) &&
			       (sim_is_faulty(job, from, SIM_PROXY) ||
				sim_is_faulty(job, from, SIM_ASLEEP)) ?
		       job->options.fault_size :
		       0;
}

/* Finds what the links that a part uses do to it. */
static void find_links(const struct sim_job *job, const struct sim_comm *comm,
		       struct sim_part *part)
{
	bool receives_only = part->function == NCS_FUNCTION_RECV;
	unsigned before = comm->members[part->before];
	unsigned from = receives_only ? before : part->rank;
	unsigned to = receives_only ? part->rank : comm->members[part->next];

	part->sends = !receives_only && crosses(job, from, to);
	part->receives = part->function != NCS_FUNCTION_SEND &&
			 crosses(job, before, part->rank);
	part->wire_ns = wire_ns(job, from, to, part->action);
	part->late_ns = proxy_late_ns(job, from, to);
}

/* Finds when each member of a tree has data to send on, from the leaves to the
 * root. Returns when the root sends it back. */
static double climb(const struct sim_job *job,
		    const struct sim_operation *operation)
{
	struct sim_hop *hops = operation->hops;

	for (size_t i = operation->count; i-- > 0;) {
		const struct sim_part *part = &operation->parts[i];
		double data_ns = part->begun_ns + 10 * US, wire = part->wire_ns;

		for (size_t k = 2 * i + 1;
		     k <= 2 * i + 2 && k < operation->count; k++)
			data_ns = fmax(data_ns, hops[k].came_ns + 5 * US);
		hops[i].data_ns = data_ns;
		hops[i].posted_ns = data_ns + 10 * US + part->late_ns;
		/* The first data is passed on before the last has come. */
		if (i > 0 && !sim_is_faulty(job, part->rank, SIM_NETWORK))
			wire = fmin(wire, HOP_NS);
		hops[i].came_ns = hops[i].posted_ns + wire;
	}
	return hops[0].came_ns;
}

/* Returns when the data of a collective has come to all ranks of its ring. */
static double go_round(const struct sim_operation *operation)
{
	struct sim_hop *hops = operation->hops;
	double slowest_ns = 0;

	for (size_t i = 0; i < operation->count; i++) {
		const struct sim_part *part = &operation->parts[i];

		hops[i].data_ns = part->begun_ns + 10 * US;
		hops[i].posted_ns = part->ready_ns + 20 * US + part->late_ns;
		hops[i].came_ns = hops[i].posted_ns + part->wire_ns;
		slowest_ns = fmax(slowest_ns, hops[i].came_ns);
	}
	return slowest_ns;
}

static void move_collective(struct sim_job *job,
			    struct sim_operation *operation)
{
	double end_ns;

	operation->is_tree = job->options.transport == SIM_TREE &&
			     operation->count > 1;
	end_ns = operation->is_tree ? climb(job, operation) :
				      go_round(operation);
	for (size_t i = 0; i < operation->count; i++) {
		struct sim_part *part = &operation->parts[i];

		part->came_ns = operation->hops[part->before].came_ns;
		part->end_ns =
			end_ns +
			10 * US * sim_random(job, 2, part->number, part->rank);
	}
}

/* A rank ends all its transfers of an operation together. */
static void end_together(struct sim_operation *operation)
{
	for (size_t i = 0, end; i < operation->count; i = end) {
		double end_ns = 0;

		for (end = i;
		     end < operation->count &&
		     operation->parts[end].rank == operation->parts[i].rank;
		     end++)
			end_ns = fmax(end_ns, operation->parts[end].end_ns);
		for (size_t k = i; k < end; k++)
			operation->parts[k].end_ns = end_ns;
	}
}

void sim_move_on_links(struct sim_job *job, struct sim_operation *operation)
{
	struct sim_part *parts = operation->parts;

	operation->is_tree = false;
	for (size_t i = 0; i < operation->count; i++) {
		find_links(job, operation->comm, &parts[i]);
		parts[i].end_ns =
			parts[i].ready_ns + parts[i].wire_ns + parts[i].late_ns;
		parts[i].came_ns = parts[i].end_ns - 10 * US;
	}
	if (operation->kind == SIM_COLLECTIVE) {
		move_collective(job, operation);
	} else if (operation->kind == SIM_EXCHANGE) {
		end_together(operation);
	} else {
		parts[1].end_ns = parts[0].end_ns;
		parts[1].came_ns = parts[0].came_ns;
	}
}

/* --- By size --------------------------------------------------------------- */

unsigned sim_algorithm(const struct sim_options *options, uint64_t number)
{
	if (options->algorithm != NCS_ALGORITHM_UNKNOWN)
		return options->algorithm;
	return number % 2 ? NCS_ALGORITHM_RING : NCS_ALGORITHM_TREE;
}

static double size_ns(const struct sim_job *job,
		      const struct sim_operation *operation)
{
	const struct sim_options *options = &job->options;
	const struct sim_comm *comm = operation->comm;
	const struct sim_part *part = operation->parts;
	bool spans_hosts = !is_inside(job, comm->members[0],
				      comm->members[comm->count - 1]);
	bool is_tree = sim_algorithm(options, part->number) ==
		       NCS_ALGORITHM_TREE;
	double steps = operation->kind != SIM_COLLECTIVE ||
				       part->action->peer >= 0 ?
			       1 :
		       is_tree ? 2 * ceil(log2(comm->count)) :
				 2 * (comm->count - 1.0);

	return options->alpha_ns * steps +
	       options->beta_ns * (double)part->action->bytes *
		       (is_tree ? 1.5 : 1) *
		       (spans_hosts ? options->beta_inter_node : 1);
}

void sim_move_plainly(struct sim_job *job, struct sim_operation *operation)
{
	const struct sim_options *options = &job->options;
	double ns = size_ns(job, operation), root_ns;

	ns *= 1 + options->noise * sim_error(job,
					     9 + (operation->comm - job->comms),
					     operation->comm->operations);
	if (sim_is_faulty(job, options->victim, SIM_NETWORK))
		ns *= options->fault_size;
	ns += operation->parts->action->ns;
	root_ns = operation->parts->begun_ns;
	for (size_t i = 0; i < operation->count; i++) {
		struct sim_part *part = &operation->parts[i];
		double last_ns = part->ready_ns;

		/* A rank that sends to or from the root waits for none. */
		if (part->function == NCS_FUNCTION_BROADCAST)
			last_ns = fmax(part->begun_ns, root_ns);
		else if (part->function == NCS_FUNCTION_REDUCE && i > 0)
			last_ns = part->begun_ns;
		part->end_ns = last_ns + ns;
	}
	end_together(operation);
}
