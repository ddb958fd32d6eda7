/* SPDX-License-Identifier: MIT */
/* A simulated job of SIM_CALLS as a source of states: the contents of each rank's
 * segment at any time, without records. Time begins at 0 and advances with the
 * passes.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_STATES_H
#define NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_STATES_H

#include "analysis/base/source.h"
#include "test/unit/support/simulator/sim_job.h"

/* Opens a source of the job, to be closed with its close(). */
struct ncs_source *sim_states_open(const struct sim_options *options);

/* Returns the time at which the first rank began to wait because of the fault,
 * or UINT64_MAX if none has. */
uint64_t sim_visible_ns(const struct ncs_source *source);

#endif
