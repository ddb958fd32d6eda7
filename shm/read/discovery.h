/* SPDX-License-Identifier: MIT */
/* Finding the segments that there are to see: those of a directory and, where
 * the user has chosen none, those of containers (containers.h) as well.
 *
 * A container's segment is listed as /proc/PID/root/dev/shm/NAME; that path is
 * for people only, and must not be opened: ncs_discovery_file() says what is.
 */
#ifndef NCS_SHM_READ_DISCOVERY_H
#define NCS_SHM_READ_DISCOVERY_H

#include <stdbool.h>

#include "shm/read/containers.h"

struct ncs_paths; /* ncclstat/path_list.h */

struct ncs_discovery {
	const char *directory; /* NULL for the default */
	struct ncs_containers containers;
};

/* Returns whether containers are looked into, too: a directory of the user's
 * choice is the only one. */
bool ncs_discovery_has_all(const char *directory);

/* Lists segments as ncs_discover() does. */
int ncs_discovery_list(struct ncs_discovery *discovery,
		       struct ncs_paths *paths);

/* Returns the path by which a listed segment is to be opened: `path` itself, or
 * one in `room`, valid until the next listing. */
const char *ncs_discovery_file(const struct ncs_discovery *discovery,
			       const char *path, char *room, size_t size);

/* Releases what the lists needed. */
void ncs_discovery_release(struct ncs_discovery *discovery);

#endif
