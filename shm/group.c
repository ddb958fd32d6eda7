/* SPDX-License-Identifier: MIT */
/* Finds groups; see group.h. */
#include "shm/group.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int find_name(const char *name, gid_t *group)
{
	struct group entry, *found;
	int error = -ENOENT;
	FILE *file = fopen("/etc/group", "re");
	/* The members of a group are on its line. */
	size_t size = 65536;
	char *buffer = malloc(size);

	if (!file || !buffer)
		error = file ? -ENOMEM : -errno;
	/* A line that is too long is passed over. */
	while (error == -ENOENT) {
		int failure = fgetgrent_r(file, &entry, buffer, size, &found);

		if (failure == ERANGE)
			continue;
		if (failure || !found)
			break;
		if (strcmp(entry.gr_name, name) != 0)
			continue;
		*group = entry.gr_gid;
		error = 0;
	}
	free(buffer);
	if (file)
		fclose(file);
	return error;
}

int ncs_group_find(const char *name, gid_t *group)
{
	unsigned long number;
	char *end;

	if (name[0] < '0' || name[0] > '9')
		return find_name(name, group);
	errno = 0;
	number = strtoul(name, &end, 10);
	if (errno || *end || number >= NCS_GROUP_NONE)
		return -ENOENT;
	*group = (gid_t)number;
	return 0;
}
