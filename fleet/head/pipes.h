/* SPDX-License-Identifier: MIT */
/* Reads streams from files and feeds a fleet with them, in a thread: pipes,
 * sockets, and files to their present end. A file has the bytes of one agent,
 * or the lines of any number (fleet/launch/lines.h); which of the two is seen
 * from its first bytes.
 */
#ifndef NCS_FLEET_HEAD_PIPES_H
#define NCS_FLEET_HEAD_PIPES_H

#include <stdbool.h>
#include <stddef.h>

#include "fleet/head/fleet.h"

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

#endif
