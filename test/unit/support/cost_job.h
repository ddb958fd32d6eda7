/* SPDX-License-Identifier: MIT */
/* A job whose times are sums and maxima: hosts call, streams wait, operations end
 * with their last rank. Each launch is timed on its stream. The same job can be made
 * without its fault, or with another change, so that the true effect is known.
 * The job is read as parts for the cost of ranks, as joined operations for the
 * critical path, or as records of a source.
 *
 * Chance depends on the place in the job only: a fault changes nothing but what it
 * delays. Everything is a function of the options.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_COST_JOB_H
#define NCS_TEST_UNIT_SUPPORT_COST_JOB_H

#include "analysis/base/source.h"
#include "analysis/cost/cost.h"
#include "analysis/records/join.h"
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
	COST_BUFFERS,  /* COST_DDP; rank 0 broadcasts buffers at first */
	COST_SERVER,   /* rank 0 alone updates what it broadcasts to all */
	COST_SIZES, /* a step is one AllReduce of any size, sometimes of few */
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
	double launch_ns; /* from a call until it is launched */
	/* For COST_SIZES. Ranks work before most operations; some are of `group`
	 * neighbours (0: none), some go from a rank to the next. */
	double work_ns;
	unsigned group;
	bool sends;
	double alpha_ns;        /* for each step of the algorithm */
	double beta_ns;         /* for each byte … */
	double beta_inter_node; /* … and by this factor between hosts */
	unsigned ranks_per_host;
	unsigned algorithm; /* enum ncs_algorithm; UNKNOWN: alternates */
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
	uint64_t few_numbers[2][COST_JOB_RANKS_MAX]; /* by their first rank */
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

/* An operation, as joined records of it tell; its parts have all moments of a
 * stream. */
struct cost_operation {
	struct ncs_joined joined;
	struct ncs_part parts[COST_JOB_RANKS_MAX];
};

/* Makes the operation whose parts begin at *at, and moves *at behind them. Returns
 * false at the end. Not for exchanges, nor for messages of pipelines. */
bool cost_job_operation(const struct cost_job *job, size_t *at,
			struct cost_operation *operation);

/* Returns what its fault truly costs from a step on: the share of the time that the
 * job would be without. */
double cost_job_share(const struct cost_options *options, unsigned from_step);

/* Returns its source, which belongs to the job: one communicator, the process of a
 * rank has pid 1000 plus the rank. */
struct ncs_source *cost_job_source(struct cost_job *job);

/* Returns when the job ends. */
uint64_t cost_job_end_ns(const struct cost_job *job);

#endif
