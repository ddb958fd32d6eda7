/* SPDX-License-Identifier: MIT */
/* Finds groups; see group.h. */
#include "shm/group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number of the group that a line NAME:PASSWORD:NUMBER:MEMBERS is
 * of; NCS_GROUP_NONE if it is not of that name, or no such line. */
static gid_t number_in(const char *line, const char *name)
{
	size_t length = strlen(name);
	unsigned long number;
	const char *at;
	char *end;

	if (length == 0 || strncmp(line, name, length) != 0 ||
	    line[length] != ':')
		return NCS_GROUP_NONE;
	at = strchr(line + length + 1, ':');
	if (!at || at[1] < '0' || at[1] > '9')
		return NCS_GROUP_NONE;
	errno = 0;
	number = strtoul(at + 1, &end, 10);
	return errno || *end != ':' || number >= NCS_GROUP_NONE ? NCS_GROUP_NONE :
								  (gid_t)number;
}

/* Lines may be of any length. fgetgrent_r() is not used: its buffer has to hold
 * a line with all members, and after a line that is too long releases of glibc
 * read that one again, or the next. */
int ncs_group_find_name(const char *path, const char *name, gid_t *group)
{
	FILE *file = fopen(path, "re");
	gid_t found = NCS_GROUP_NONE;
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return -errno;
	while (found == NCS_GROUP_NONE && getline(&line, &size, file) >= 0)
		found = number_in(line, name);
	free(line);
	fclose(file);
	if (found == NCS_GROUP_NONE)
		return -ENOENT;
	*group = found;
	return 0;
}

int ncs_group_find(const char *name, gid_t *group)
{
	unsigned long number;
	char *end;

	if (name[0] < '0' || name[0] > '9')
		return ncs_group_find_name("/etc/group", name, group);
	errno = 0;
	number = strtoul(name, &end, 10);
	if (errno || *end || number >= NCS_GROUP_NONE)
		return -ENOENT;
	*group = (gid_t)number;
	return 0;
}
