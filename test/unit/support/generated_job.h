/* SPDX-License-Identifier: MIT */
/* A job that is computed operation by operation from the properties of its
 * ranks, GPUs and network, in the way that analysis/path/critical_path.h
 * understands jobs. A change can thus really be made, and compared with its
 * prediction.
 *
 * All ranks run one program: operations of all ranks, of groups, and, if asked
 * for, from each rank to the next. A call is made when the operation `ahead`
 * places before it has ended.
 *
 * With `buckets`, it is a training with so many operations of all ranks a step:
 * the host waits for the end of a step, then calls all operations of the next
 * one without waiting, while the GPU computes; that goes on while an operation
 * waits for other ranks. Operations follow one another on their stream.
 *
 * Everything is a function of the options.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_GENERATED_JOB_H
#define NCS_TEST_UNIT_SUPPORT_GENERATED_JOB_H

#include "analysis/records/join.h"

struct gen_options {
	uint64_t seed;
	unsigned ranks;
	unsigned ranks_per_host;
	unsigned group; /* ranks of each smaller communicator; 0 if none */
	bool pipeline;  /* each rank sometimes sends to the next one */
	unsigned operations;
	unsigned ahead; /* 1: a rank calls when its last operation has ended */
	double host_ns, launch_ns, kernel_ns, producer_ns;
	double jitter; /* each of them is up to this many times longer */
	int straggler; /* rank, or -1 if none */
	double straggler_factor; /* for its producer and host times */
	unsigned buckets;        /* operations of a step; 0: no training */
	/* The straggler's host or GPU is so much later at each step. */
	double late_host_ns, late_gpu_ns;
	double tail_ns;   /* from an end until the last proxy operation's */
	bool early_stops; /* kernels' channels stop long before they end */
	double alpha_ns;         /* for each step */
	double beta_ns;          /* for each byte */
	double beta_inter_node;  /* factor of beta_ns between hosts */
	unsigned algorithm;      /* enum ncs_algorithm; UNKNOWN: alternates */
};

/* Options of a usual job. */
extern const struct gen_options gen_usual;

struct gen_job;

/* Creates a job. Returns NULL if there is no memory. Free it with
 * gen_free(). */
struct gen_job *gen_new(const struct gen_options *options);
void gen_free(struct gen_job *job);

/* Returns the next operation, valid until the next call, or NULL at the end.
 * The owner of a part is its rank; one or two times the number of ranks are
 * added for parts of groups and of pairs. */
const struct ncs_joined *gen_next(struct gen_job *job);

/* Returns the time from the first call to the last end up to now. */
double gen_elapsed_ns(const struct gen_job *job);

#endif
