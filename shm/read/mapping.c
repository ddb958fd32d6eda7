/* SPDX-License-Identifier: MIT */
/* Mapping of files; see mapping.h. Looks at what a file is, never at its
 * contents. */
#include "shm/read/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/group.h"
#include "shm/read/guard.h"

enum ncs_attach ncs_attach_refuse(enum ncs_attach result, const char *text,
				  char *why, size_t size)
{
	if (why && size > 0)
		snprintf(why, size, "%s", text);
	return result;
}

enum ncs_attach ncs_attach_failure(int error, char *why, size_t size)
{
	enum ncs_attach result = NCS_ATTACH_FAILED;

	if (error == ENOENT)
		result = NCS_ATTACH_ABSENT;
	else if (error == EACCES || error == EPERM)
		result = NCS_ATTACH_DENIED;
	else if (error == ELOOP) /* a symbolic link; segments never are */
		result = NCS_ATTACH_CORRUPT;
	return ncs_attach_refuse(result, strerror(error), why, size);
}

static void name_user(uid_t owner, char *name, size_t size)
{
	struct passwd entry, *found = NULL;
	char buffer[1024];

	if (getpwuid_r(owner, &entry, buffer, sizeof(buffer), &found) == 0 &&
	    found)
		snprintf(name, size, "%s", found->pw_name);
	else
		snprintf(name, size, "user %u", (unsigned)owner);
}

static void name_group(gid_t group, char *name, size_t size)
{
	struct group entry, *found = NULL;
	char buffer[4096];

	if (getgrgid_r(group, &entry, buffer, sizeof(buffer), &found) == 0 &&
	    found)
		snprintf(name, size, "%s", found->gr_name);
	else
		snprintf(name, size, "%u", (unsigned)group);
}

/* Refuses a file of another user, whom it names, and says what helps. */
static enum ncs_attach refuse_owner(const struct stat *status, char *why,
				    size_t why_size)
{
	char user[64], group[64], text[256];

	name_user(status->st_uid, user, sizeof(user));
	name_group(status->st_gid, group, sizeof(group));
	if (status->st_mode & S_IRGRP)
		snprintf(text, sizeof(text),
			 NCS_WHY_OWNER "%s; try sudo, or " NCS_GROUP_VARIABLE
				       "=%s as a member of that group",
			 user, group);
	else
		snprintf(text, sizeof(text),
			 NCS_WHY_OWNER "%s; try sudo, or let the job set "
				       NCS_GROUP_VARIABLE,
			 user);
	return ncs_attach_refuse(NCS_ATTACH_DENIED, text, why, why_size);
}

/* Whether another user's file may be read: if it is open to the group that this
 * user names. In a group that is not named, everybody could show jobs that do
 * not exist. */
static bool is_shared(const struct stat *status)
{
	const char *name = getenv(NCS_GROUP_VARIABLE);
	gid_t group;

	return name && name[0] && (status->st_mode & S_IRGRP) &&
	       ncs_group_find(name, &group) == 0 && group == status->st_gid;
}

static enum ncs_attach check_file(const struct stat *status, bool writable,
				  size_t least_bytes, char *why,
				  size_t why_size)
{
	if (!S_ISREG(status->st_mode))
		return ncs_attach_refuse(NCS_ATTACH_CORRUPT,
					 "it is not a regular file", why,
					 why_size);
	if (geteuid() != 0 && status->st_uid != geteuid() &&
	    (writable || !is_shared(status)))
		return refuse_owner(status, why, why_size);
	if (status->st_size == 0)
		return ncs_attach_refuse(NCS_ATTACH_NOT_READY,
					 "it is not ready yet", why, why_size);
	if ((size_t)status->st_size < least_bytes)
		return ncs_attach_refuse(NCS_ATTACH_CORRUPT, "it is too short",
					 why, why_size);
	/* The writer reserves every page before the file has a size. A file
	 * with holes costs its maker nothing, but its readers the memory and
	 * the time of what it claims to be. */
	if ((uint64_t)status->st_blocks * S_BLKSIZE < (uint64_t)status->st_size)
		return ncs_attach_refuse(NCS_ATTACH_CORRUPT, "it has holes",
					 why, why_size);
	return NCS_ATTACHED;
}

static enum ncs_attach map(struct ncs_mapping *mapping, int file, bool writable,
			   size_t least_bytes, size_t most_bytes, char *why,
			   size_t why_size)
{
	enum ncs_attach result;
	struct stat status;
	size_t bytes;
	void *start;

	if (fstat(file, &status) != 0)
		return ncs_attach_failure(errno, why, why_size);
	result = check_file(&status, writable, least_bytes, why, why_size);
	if (result != NCS_ATTACHED)
		return result;
	bytes = (size_t)status.st_size < most_bytes ? (size_t)status.st_size :
						      most_bytes;
	start = mmap(NULL, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ,
		     MAP_SHARED, file, 0);
	if (start == MAP_FAILED)
		return ncs_attach_failure(errno, why, why_size);
	*mapping = (struct ncs_mapping){
		.start = start,
		.bytes = bytes,
		.device = status.st_dev,
		.inode = status.st_ino,
		.owner = status.st_uid,
	};
	ncs_guard_add(start, bytes);
	return NCS_ATTACHED;
}

/* Says why a file could not be opened; whose it is, if that is why. */
static enum ncs_attach explain_open(const char *path, int error, char *why,
				    size_t why_size)
{
	struct stat status;

	if (error == EACCES && lstat(path, &status) == 0 &&
	    status.st_uid != geteuid())
		return refuse_owner(&status, why, why_size);
	return ncs_attach_failure(error, why, why_size);
}

enum ncs_attach ncs_mapping_open(struct ncs_mapping *mapping, const char *path,
				 bool writable, size_t least_bytes,
				 size_t most_bytes, char *why, size_t why_size)
{
	enum ncs_attach result;
	int file = open(path, (writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW |
				      O_CLOEXEC | O_NONBLOCK);

	memset(mapping, 0, sizeof(*mapping));
	if (file < 0)
		return explain_open(path, errno, why, why_size);
	result = map(mapping, file, writable, least_bytes, most_bytes, why,
		     why_size);
	close(file);
	return result;
}

void ncs_mapping_close(struct ncs_mapping *mapping)
{
	if (!mapping->start)
		return;
	ncs_guard_remove(mapping->start);
	munmap(mapping->start, mapping->bytes);
	memset(mapping, 0, sizeof(*mapping));
}
