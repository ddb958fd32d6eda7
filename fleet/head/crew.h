/* SPDX-License-Identifier: MIT */
/* The agents of a job, which this program starts (fleet/launch/agents.h), run
 * in a thread that feeds a fleet with all they tell. */
#ifndef NCS_FLEET_HEAD_CREW_H
#define NCS_FLEET_HEAD_CREW_H

#include <stdbool.h>
#include <stddef.h>

#include "fleet/head/fleet.h"
#include "fleet/launch/agents.h"

struct ncs_crew;

/* Finds out which nodes there are, and begins to start agents there. The fleet
 * and the texts of `launch` must outlive the crew. Returns 0, or -errno with a
 * clause for users in `why`. */
int ncs_crew_open(struct ncs_crew **crew, struct ncs_fleet *fleet,
		  const struct ncs_launch *launch, char *why, size_t why_size);

/* Whether no agent tells any more, nor will be started again. */
bool ncs_crew_has_ended(struct ncs_crew *crew);

/* Copies the launcher's latest message that was of no node; "" if there is
 * none. */
void ncs_crew_message(struct ncs_crew *crew, char *text, size_t size);

/* Ends all agents, which takes 2 s at most, and the thread; accepts NULL. */
void ncs_crew_close(struct ncs_crew *crew);

#endif
