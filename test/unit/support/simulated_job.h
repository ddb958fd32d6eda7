/* SPDX-License-Identifier: MIT */
/* A job that is computed, with something wrong in it or not: what each rank's
 * segment would hold at any moment.
 *
 * Processes make the same calls in the same order, on a communicator of all
 * and on smaller ones, compute in between, and wait for each other where their
 * rings make them; what a fault does to the others follows from that. All of
 * it is a function of the seed. Time begins at 0 and goes on with the passes.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_SIMULATED_JOB_H
#define NCS_TEST_UNIT_SUPPORT_SIMULATED_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/source.h"

enum sim_fault {
	SIM_NO_FAULT,
	SIM_MISSING,   /* the rank makes no call any more */
	SIM_ELSEWHERE, /* … since it waits in a smaller communicator, for
			      one that makes none */
	SIM_STOPPED,   /* … since its process is stopped */
	SIM_DIED,
	SIM_ORDER,         /* it calls another collective than the others */
	SIM_SIZE,          /* … with another size */
	SIM_GPU_LATE,      /* its kernel does not start */
	SIM_CONSUMER_LATE, /* … that of a receive from the rank before it */
	SIM_SLOW_PEER,     /* it computes 20 times as long as before */
	SIM_SLOW_LINK,    /* its data takes 20 times as long to the next rank */
	SIM_STUCK_LINK,   /* … does not get there any more */
	SIM_PROXY_ASLEEP, /* its proxy thread sleeps */
	SIM_LAUNCHER,     /* … while its launcher is blocked */
	SIM_DEADLOCK,     /* all receive first */
	SIM_UNMET,        /* the next rank receives from it, it never sends */
	SIM_FAULTS
};

struct sim_options {
	uint64_t seed;
	unsigned ranks;  /* processes */
	unsigned seen;   /* of these, the first so many; 0: all */
	unsigned groups; /* ranks of a smaller communicator; 0: there are none */
	unsigned channels;
	unsigned api_version;
	bool nvlink;         /* no proxy operations */
	uint64_t compute_ns; /* between two calls, about */
	double jitter;       /* of it, up to so many times as much */
	uint64_t stall_ns;   /* … and now and then this, on one rank */
	/* From fault_ns on: for so long all of them compute, with their kernels
	 * queued or before they call. */
	uint64_t phase_ns;
	bool queued;
	bool idle; /* for ever */
	enum sim_fault fault;
	uint64_t fault_ns;
	unsigned victim; /* the rank that has it */
};

struct ncs_source *sim_open(const struct sim_options *options);

/* When the first rank began to wait because of the fault; UINT64_MAX: none
 * yet. */
uint64_t sim_visible_ns(const struct ncs_source *source);

const char *sim_fault_name(enum sim_fault fault);

#endif
