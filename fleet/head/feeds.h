/* SPDX-License-Identifier: MIT */
/* Feeds a fleet with streams, in a thread: those that are read from files, or
 * those of the agents of a job, which this program starts.
 */
#ifndef NCS_FLEET_HEAD_FEEDS_H
#define NCS_FLEET_HEAD_FEEDS_H

#include <stdbool.h>
#include <stddef.h>

#include "fleet/head/fleet.h"
#include "fleet/launch/agents.h"

/* --- Files --------------------------------------------------------------- */

/* Pipes, sockets, and files to their present end. A file has the bytes of one
 * agent, or the lines of any number (fleet/launch/lines.h); which of the two is
 * seen from its first bytes. */
struct ncs_pipes;

/* Opens files by their names, "-" for standard input, and begins to read them.
 * The fleet must outlive the pipes. Returns 0, or -errno with a clause for
 * users in `why`. */
int ncs_pipes_open(struct ncs_pipes **pipes, struct ncs_fleet *fleet,
		   char *const *paths, size_t count, char *why,
		   size_t why_size);

/* Returns the number of files that have not ended without a node; whether any
 * has lines. */
size_t ncs_pipes_count(struct ncs_pipes *pipes);
bool ncs_pipes_have_lines(struct ncs_pipes *pipes);

/* Whether all files have ended. */
bool ncs_pipes_have_ended(struct ncs_pipes *pipes);

/* Ends the thread and closes the files; accepts NULL. */
void ncs_pipes_close(struct ncs_pipes *pipes);

/* --- Agents -------------------------------------------------------------- */

/* The agents of a job (fleet/launch/agents.h). */
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
