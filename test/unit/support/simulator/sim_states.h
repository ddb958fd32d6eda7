/* SPDX-License-Identifier: MIT */
/* The states of a simulated job of SIM_CALLS or SIM_LOOP: the contents of each rank's
 * segment at any time, without records. Time begins at 0 and advances with the passes.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_STATES_H
#define NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_STATES_H

#include "test/unit/support/simulator/sim_source.h"

/* Begins a job of SIM_CALLS with these options, whose transport is not used; free it
 * with sim_source_free(). */
struct sim_source *sim_states_new(const struct sim_options *options);

/* --- Used by sim_source.c -------------------------------------------------- */

void sim_states_init(struct sim_source *self);
void sim_states_release(struct sim_source *self);

/* Runs the job until the time of the pass. */
void sim_states_advance(struct sim_source *self);

/* Fills in the rest of the snapshot of a member. */
void sim_states_show(struct sim_source *self, unsigned comm, unsigned member);

#endif
