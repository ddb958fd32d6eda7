/* SPDX-License-Identifier: MIT */
/* A job that is computed operation by operation from what its ranks, its GPUs
 * and its network are like, as analysis/path/critical_path.h understands jobs: so that
 * a change can really be made, and compared with what is said it would do.
 *
 * All ranks run one program: operations of all of them, of groups, and, where
 * asked for, from each rank to the next. A call is made once the operation
 * `ahead` before it has ended. All is a function of the options.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_GENERATED_JOB_H
#define NCS_TEST_UNIT_SUPPORT_GENERATED_JOB_H

#include "analysis/records/join.h"

struct gen_options {
	uint64_t seed;
	unsigned ranks;
	unsigned ranks_per_host;
	unsigned group; /* ranks of a smaller communicator; 0: there are none */
	bool pipeline;  /* each rank sends to the next one now and then */
	unsigned operations;
	unsigned ahead; /* 1: a rank calls once its last one has ended */
	double host_ns, launch_ns, kernel_ns, producer_ns;
	double jitter; /* of each of them, up to so many times as much */
	int straggler; /* rank; -1: none */
	double straggler_factor; /* of its producer and host times */
	double alpha_ns;         /* a step */
	double beta_ns;          /* a byte */
	double beta_inter_node;  /* times as much between hosts */
	unsigned algorithm;      /* enum ncs_algorithm; UNKNOWN: both in turn */
};

extern const struct gen_options gen_usual;

struct gen_job;

/* NULL: no memory. */
struct gen_job *gen_new(const struct gen_options *options);
void gen_free(struct gen_job *job);

/* The next operation; valid until the next call. NULL: no more. Its parts'
 * owner is the rank, and for parts of groups and of pairs that plus one or two
 * times the number of ranks. */
const struct ncs_joined *gen_next(struct gen_job *job);

/* From the first call to the last end so far. */
double gen_elapsed_ns(const struct gen_job *job);

#endif
