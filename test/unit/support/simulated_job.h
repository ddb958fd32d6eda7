/* SPDX-License-Identifier: MIT */
/* A simulated job with or without a fault: the contents of each rank's segment
 * at any time.
 *
 * Processes make the same calls in the same order, on one communicator of all
 * and on smaller ones, compute in between, and wait for each other as their
 * rings require; the effects of a fault on others follow from that. Everything
 * is a function of the seed. Time begins at 0 and advances with the passes.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_SIMULATED_JOB_H
#define NCS_TEST_UNIT_SUPPORT_SIMULATED_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/source.h"

enum sim_fault {
	SIM_NO_FAULT,
	SIM_MISSING, /* the victim makes no more calls */
	/* … because it waits in a smaller communicator for a rank that makes
	 * none */
	SIM_ELSEWHERE,
	SIM_STOPPED,       /* … because its process is stopped */
	SIM_DIED,          /* … because its process died */
	SIM_ORDER,         /* it calls another collective than the others */
	SIM_SIZE,          /* it calls a collective with another size */
	SIM_GPU_LATE,      /* its kernel does not start */
	SIM_CONSUMER_LATE, /* the kernel of its receive does not start */
	SIM_SLOW_PEER,     /* it computes 20 times longer than before */
	SIM_SLOW_LINK,     /* its data take 20 times longer to the next rank */
	SIM_STUCK_LINK,    /* its data no longer get to the next rank */
	SIM_PROXY_ASLEEP,  /* its proxy thread sleeps */
	SIM_LAUNCHER,      /* the same, while its launcher is blocked */
	SIM_DEADLOCK,      /* all ranks receive first */
	SIM_UNMET,         /* the next rank receives from it, it never sends */
	SIM_FAULTS
};

struct sim_options {
	uint64_t seed;
	unsigned ranks;  /* processes */
	unsigned seen;   /* number of processes that are visible; 0: all */
	unsigned groups; /* ranks of each smaller communicator; 0 if none */
	unsigned channels;
	unsigned api_version;
	bool nvlink;         /* no proxy operations */
	uint64_t compute_ns; /* between two calls, roughly */
	double jitter;       /* compute_ns is up to this many times longer */
	uint64_t stall_ns;   /* sometimes added to it on one rank */
	/* Time that all processes compute from fault_ns on: with their kernels
	 * queued, or before they call. */
	uint64_t phase_ns;
	bool queued;
	bool idle; /* they never call again */
	enum sim_fault fault;
	uint64_t fault_ns;
	unsigned victim; /* rank that has the fault */
	/* The victim's process begins so late; 0: with the others. */
	uint64_t birth_ns;
};

/* Opens a source of the job, to be closed with its close(). */
struct ncs_source *sim_open(const struct sim_options *options);

/* Returns the time at which the first rank began to wait because of the fault,
 * or UINT64_MAX if none has. */
uint64_t sim_visible_ns(const struct ncs_source *source);

/* Returns the name of a fault. */
const char *sim_fault_name(enum sim_fault fault);

#endif
