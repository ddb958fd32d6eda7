/* SPDX-License-Identifier: MIT */
/* A job that is simulated event by event and seen as ncclstat sees jobs: as
 * records and counters of its ranks. Its truth is known: the same job can be made
 * without its fault.
 *
 * A rank's host runs through a program and enqueues kernels and operations, at
 * most some steps ahead of its GPU. Streams run what they have been given one
 * after the other. The kernel of an operation runs until all its ranks have
 * begun and the data has moved. Everything is a function of the options.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_TRUTH_JOB_H
#define NCS_TEST_UNIT_SUPPORT_TRUTH_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/source.h"

#define TRUTH_RANKS_MAX 64u

/* A host that may be so far ahead of its GPU never waits for it. */
#define TRUTH_AHEAD_FREE 1000000u

enum truth_shape {
	/* Gradients are reduced in buckets while the backward pass goes on. */
	TRUTH_DDP,
	/* Layers of groups of ranks, each followed by an AllReduce that the
	 * next one needs; then an AllReduce across the groups. */
	TRUTH_TENSOR,
	/* Each rank is a stage: all microbatches forward, all backward; then an
	 * AllReduce of all stages. */
	TRUTH_PIPELINE,
	/* Tensor, pipeline and data parallel, as test/gpu/jobs.py: two ranks
	 * share each layer; after some, all send to the next stage and receive
	 * from the one before at once; then gradients and norms are added up.
	 * With `alternates`, stages run one microbatch forward, one
	 * backward. */
	TRUTH_3D,
};

/* The communicators of TRUTH_3D. */
enum truth_group {
	TRUTH_GROUP_PIPE,
	TRUTH_GROUP_TENSOR,
	TRUTH_GROUP_DATA,
	TRUTH_GROUP_ALL,
};

/* How an operation moves data decides what its records tell. */
enum truth_transport {
	TRUTH_NVLINK, /* begin and end on the stream, no proxy */
	TRUTH_RING,   /* proxies and kernels, no times from the stream */
	/* The records of a ring, but the channels of a kernel stop long before
	 * the kernel does. */
	TRUTH_TREE,
	TRUTH_MIXED, /* times from the stream, and proxies between hosts */
	TRUTH_TRANSPORTS
};

enum truth_fault {
	TRUTH_HEALTHY,
	TRUTH_HOST,    /* its host does something else first */
	TRUTH_STREAM,  /* its GPU does something else first */
	TRUTH_NETWORK, /* what it sends takes longer by this factor */
	TRUTH_PROXY,   /* its proxy thread sends so much too late */
	TRUTH_ASLEEP,  /* the same; it does not look at the operation before */
	TRUTH_GPU,     /* its kernels take longer by this factor */
};

struct truth_options {
	uint64_t seed;
	enum truth_shape shape;
	enum truth_transport transport;
	unsigned ranks, ranks_per_host;
	unsigned communicators; /* of each process, 1 to 4 */
	unsigned number;        /* differs in jobs that are looked at at once */
	unsigned steps;
	/* 0: the host waits for its GPU after each step. */
	unsigned ahead;
	bool blocks;    /* stages of a pipeline wait for their sends */
	/* In TRUTH_DDP, rank 0 sends to rank 1 once, when the job begins. */
	bool greets;
	bool alternates; /* they run one microbatch forward, one backward */
	double jitter;  /* work takes up to this many times longer */
	/* In one step of so many, all hosts do something else first, for so
	 * long: they save a checkpoint; 0: never. */
	unsigned pause_period;
	double pause_ns;
	enum truth_fault fault;
	unsigned victim;   /* rank */
	double fault_size; /* ns, or the factor */
	bool buffered; /* the network takes data at once, as sockets do */
	bool each;         /* before each operation, not once a step */
	/* A late host or a busy GPU delays each time of so many; 0: always. */
	unsigned period;
	/* In TRUTH_3D, once a step, before the first operation in it. */
	enum truth_group group;
	unsigned from_step;
	unsigned until_step; /* 0: to the end */
	/* From a step on, what is sent is so many times as large; 0: never. */
	double resize;
	unsigned resize_step;
	/* In this step, the victim calls collectives with half the size: they
	 * end, as over NVLink; 0: never. */
	unsigned unlike_step;
};

struct truth_job;

/* Returns options of a job with a fault: what the seed decides in the same way for
 * all tests. The caller sets the rest: the shape, the number of communicators, the
 * fault's size and when it comes. */
struct truth_options truth_options(unsigned seed, enum truth_fault fault,
				   unsigned ranks, unsigned ranks_per_host);

/* Computes a job; stops the program if there is no memory. Free it with
 * truth_job_free(). */
struct truth_job *truth_job_new(const struct truth_options *options);
void truth_job_free(struct truth_job *job);

/* The part of the job's past that a viewer that begins late still finds. */
enum truth_past {
	TRUTH_PAST_WHOLE,
	TRUTH_PAST_OPERATIONS, /* records of operations, none of proxies */
	TRUTH_PAST_COUNTERS,   /* no records, but times of classes since the start */
	TRUTH_PAST_NONE,       /* nor those */
};

/* Leaves only so much of what was before a step. Call this before the first
 * look. */
void truth_job_forget(struct truth_job *job, unsigned step,
		      enum truth_past past);

/* Returns when a step begins, in ns since the job's begin: its first rank may
 * begin with it then. */
double truth_job_step_ns(const struct truth_job *job, unsigned step);

/* Returns when all ranks had first come to a collective, in ns since the job's
 * begin: what is before is seen in part. */
double truth_job_met_ns(const struct truth_job *job);

/* Returns its source, which belongs to the job. All ranks are alive for ever;
 * the process of a rank has pid 1000 plus the rank, and 100 more for each number of
 * the job before its own. */
struct ncs_source *truth_job_source(struct truth_job *job);

/* Returns when the job begins and ends, by a perfect clock. */
uint64_t truth_job_begin_ns(const struct truth_job *job);
uint64_t truth_job_end_ns(const struct truth_job *job);

/* Returns the number of collectives of a communicator that all ranks had arrived
 * at by a time. */
uint64_t truth_job_collectives(const struct truth_job *job, uint64_t comm_id,
			       uint64_t until_ns);

/* Returns when all ranks had arrived at a collective, in ns since the job's
 * begin. */
double truth_job_ready_ns(const struct truth_job *job, uint64_t comm_id,
			  uint64_t number);

#endif
