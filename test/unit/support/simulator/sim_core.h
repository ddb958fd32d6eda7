/* SPDX-License-Identifier: MIT */
/* Shared by the files of the core of the simulator. */
#ifndef NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_CORE_H
#define NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_CORE_H

#include "test/unit/support/simulator/sim_job.h"

#define SIM_ACTIONS 512u
#define SIM_AHEAD_MAX 8u

struct sim_rank {
	struct sim_job *job;
	unsigned rank;
	unsigned comm[SIM_COMMS], member[SIM_COMMS];
	double host_ns, compute_ns, comm_ns[SIM_COMMS];
	double step_ns[SIM_AHEAD_MAX]; /* ends of the latest steps */
	struct sim_action program[SIM_ACTIONS];
	unsigned actions, at, works;
	bool had_fault; /* the program has come to where it is */
	/* The operation that it stands at. */
	bool is_there;
	double called_ns, launched_ns, begun_ns;
};

/* Returns the communicator of a kind that a rank is in. */
static inline struct sim_comm *sim_comm_of(const struct sim_rank *self,
					   unsigned kind)
{
	return &self->job->comms[self->comm[kind]];
}

/* Returns whether a rank has a fault in this step. */
bool sim_is_faulty(const struct sim_job *job, unsigned rank,
		   enum sim_fault fault);

/* --- sim_network.c --------------------------------------------------------- */

/* Along links, from rank to rank. */
void sim_move_on_links(struct sim_job *job, struct sim_operation *operation);

/* In a time that the size gives. */
void sim_move_plainly(struct sim_job *job, struct sim_operation *operation);

/* --- sim_steps.c ----------------------------------------------------------- */

/* In steps, on each channel of a ring. */
void sim_move_in_steps(struct sim_job *job, struct sim_operation *operation);

/* --- sim_shapes.c ---------------------------------------------------------- */

void sim_make_comms(struct sim_job *job);

/* Makes the program of a rank for this step. */
void sim_make_program(struct sim_rank *self);

#endif
