/* SPDX-License-Identifier: MIT */
/* The group whose users may look at a job's segments beside their owner; see
 * NCCLSTAT_GROUP. Both the plugin and its readers find it here. */
#ifndef NCS_SHM_GROUP_H
#define NCS_SHM_GROUP_H

#include <sys/types.h>

#define NCS_GROUP_VARIABLE "NCCLSTAT_GROUP"

/* No group has this number. */
#define NCS_GROUP_NONE ((gid_t)-1)

/* Finds a group by its number, or by its name in /etc/group: asks no directory
 * service, which might not answer for long. Allocates memory. Returns 0, -ENOENT
 * if there is no such name, or -errno. */
int ncs_group_find(const char *name, gid_t *group);

/* Finds a group by its name in a file that is written as /etc/group is. Otherwise
 * as ncs_group_find(). */
int ncs_group_find_name(const char *path, const char *name, gid_t *group);

#endif
