/* SPDX-License-Identifier: MIT */
/* Mapping of files; see mapping.h. Looks at what a file is, never at its
 * contents. */
#include "shm/read/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/read/attach.h"
#include "shm/read/guard.h"

/* Refuses a file of another user, whom it names. */
static enum ncs_attach refuse_owner(uid_t owner, char *why, size_t why_size)
{
	char buffer[1024], text[160];
	struct passwd entry, *found = NULL;

	if (getpwuid_r(owner, &entry, buffer, sizeof(buffer), &found) == 0 &&
	    found)
		snprintf(text, sizeof(text), NCS_WHY_OWNER "%s",
			 found->pw_name);
	else
		snprintf(text, sizeof(text), NCS_WHY_OWNER "user %u",
			 (unsigned)owner);
	return ncs_attach_refuse(NCS_ATTACH_DENIED, text, why, why_size);
}

static enum ncs_attach check_file(const struct stat *status, size_t least_bytes,
				  char *why, size_t why_size)
{
	if (!S_ISREG(status->st_mode))
		return ncs_attach_refuse(NCS_ATTACH_CORRUPT,
					 "it is not a regular file", why,
					 why_size);
	if (geteuid() != 0 && status->st_uid != geteuid())
		return refuse_owner(status->st_uid, why, why_size);
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
	result = check_file(&status, least_bytes, why, why_size);
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

enum ncs_attach ncs_mapping_open(struct ncs_mapping *mapping, const char *path,
				 bool writable, size_t least_bytes,
				 size_t most_bytes, char *why, size_t why_size)
{
	enum ncs_attach result;
	int file = open(path, (writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW |
				      O_CLOEXEC | O_NONBLOCK);

	memset(mapping, 0, sizeof(*mapping));
	if (file < 0)
		return ncs_attach_failure(errno, why, why_size);
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
