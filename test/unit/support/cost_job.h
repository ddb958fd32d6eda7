/* SPDX-License-Identifier: MIT */
/* A job whose times are sums and maxima: hosts call, streams wait, operations end
 * with their last rank. Each launch is timed on its stream. The same job can be made
 * without its fault, so that the true cost of a rank is known: what a fault costs.
 *
 * Chance depends on the place in the job only: a fault changes nothing but what it
 * delays. Everything is a function of the options.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_COST_JOB_H
#define NCS_TEST_UNIT_SUPPORT_COST_JOB_H

#include "analysis/base/source.h"
#include "analysis/cost/cost.h"
#include "ncclstat/abi_header.h"

#define COST_JOB_RANKS_MAX 16u
/* Times begin here. */
#define COST_JOB_BEGIN_NS UINT64_C(1000000000000)

enum cost_shape {
	COST_DDP,  /* buckets are reduced while the backward pass goes on */
	COST_FSDP, /* layers are gathered, gradients scattered beside the next */
	COST_TENSOR,   /* each layer waits for its AllReduce */
	COST_MOE,      /* ranks exchange tokens, and have unequal work */
	COST_PIPELINE, /* each rank is a stage */
	COST_BUFFERS, /* COST_DDP; rank 0 broadcasts buffers at first */
	COST_SERVER, /* rank 0 alone updates what it broadcasts to all */
};

enum cost_fault {
	COST_HEALTHY,
	COST_GPU, /* the victim's GPU works so many times longer */
	COST_HOST, /* its host does something else first, for so many ns a step */
	COST_LINK, /* transfers take so many times longer */
};

struct cost_options {
	uint64_t seed;
	enum cost_shape shape;
	unsigned ranks, steps;
	unsigned buckets; /* of COST_DDP */
	/* The host waits for the end of the step so many steps before; 0: of this
	 * one. */
	unsigned ahead;
	double noise;  /* works differ by so much, as a share, either way */
	double gap_ns; /* the host's own work each step */
	enum cost_fault fault;
	unsigned victim;
	double size;
	unsigned from_step;
	unsigned period; /* one step of so many has the fault; 0: each */
	/* One step of so many ends with a barrier of its own; 0: none. */
	unsigned barrier_period;
};

struct cost_job {
	struct ncs_source source; /* must be first: is cast to this struct */
	struct cost_options options;
	struct ncs_cost_part *parts; /* in the order of operations */
	size_t count, capacity;
	double *ends_ns; /* of steps, since the begin: mean of ranks */
	/* The state of the simulation, by rank. */
	double host_ns[COST_JOB_RANKS_MAX], compute_ns[COST_JOB_RANKS_MAX];
	double stream_ns[COST_JOB_RANKS_MAX][2];
	double *step_ends_ns[COST_JOB_RANKS_MAX];
	uint64_t numbers[NCS_FUNCTION_COUNT];
	uint64_t messages; /* on each connection */
	unsigned step, work;
	/* The pass of the source that goes on. */
	uint64_t now_ns, before_ns;
	unsigned place;
	struct ncs_header headers[COST_JOB_RANKS_MAX];
	struct ncs_snapshot snapshots[COST_JOB_RANKS_MAX];
	struct ncs_record *records;
	size_t record_capacity;
	char id[32];
};

/* Returns options of a healthy job of a shape. */
struct cost_options cost_job_options(enum cost_shape shape, unsigned seed);

/* Computes a job; stops the program if there is no memory. Free it with
 * cost_job_free(). */
struct cost_job *cost_job_new(const struct cost_options *options);
void cost_job_free(struct cost_job *job);

/* Returns what its fault truly costs from a step on: the share of the time that the
 * job would be without. */
double cost_job_share(const struct cost_options *options, unsigned from_step);

/* Returns its source, which belongs to the job: one communicator, the process of a
 * rank has pid 1000 plus the rank. */
struct ncs_source *cost_job_source(struct cost_job *job);

/* Returns when the job ends. */
uint64_t cost_job_end_ns(const struct cost_job *job);

#endif
