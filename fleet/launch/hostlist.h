/* SPDX-License-Identifier: MIT */
/* Lists of hosts as ClusterShell and Slurm write them:
 *
 *	login,n[01-03,7],rack[1-2]node[1-4/2]-ib
 *
 * Commas and blanks separate parts; a range keeps the padding of its first
 * number; /STEP takes each STEPth; several brackets make all combinations, the
 * last one changing fastest. Groups ("@gpu") and set operators ("!", "&", "^")
 * are ClusterShell's own: such a list is handed to its program nodeset
 * (fleet/launch/lookups.h). No name may begin with '-', because names become
 * arguments of other programs. Functions here do no I/O.
 */
#ifndef NCS_FLEET_LAUNCH_HOSTLIST_H
#define NCS_FLEET_LAUNCH_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/base/hash_table.h"

/* Names in a list, counting those that come twice. */
#define NCS_HOSTLIST_MAX 65536u
/* Bytes of a name, with the final 0. */
#define NCS_HOST_NAME_BYTES 256u

/* Names of hosts, each once, in the order in which they were added. One of
 * zeros is empty. */
struct ncs_hostlist {
	struct ncs_host **hosts;
	size_t count;
	size_t capacity;
	struct ncs_hash_table by_name;
};

struct ncs_host {
	struct ncs_name_link link;
	char name[];
};

/* Whether a list has groups or set operators, which need nodeset. */
bool ncs_hostlist_needs_nodeset(const char *text);

/* Adds the names of a list in the order in which it has them. Returns 0;
 * -EINVAL with the position (characters from 1) and the reason in `error`;
 * -E2BIG likewise if there are too many; or -ENOMEM. After an error the list
 * may have some of the names. */
int ncs_hostlist_add(struct ncs_hostlist *list, const char *text, char *error,
		     size_t error_size);

/* Adds names in the same way, but no more than *room, from which it takes those
 * that it has made, also if it fails. */
int ncs_hostlist_add_within(struct ncs_hostlist *list, const char *text,
			    size_t *room, char *error, size_t error_size);

/* Adds a name as it is. Returns 0, -E2BIG or -ENOMEM. */
int ncs_hostlist_add_name(struct ncs_hostlist *list, const char *name);

/* Removes names from a list. */
void ncs_hostlist_exclude(struct ncs_hostlist *list,
			  const struct ncs_hostlist *excluded);

/* Whether the list has this name. */
bool ncs_hostlist_has(const struct ncs_hostlist *list, const char *name);

/* Frees the names; the list is then empty. */
void ncs_hostlist_release(struct ncs_hostlist *list);

#endif
