/* SPDX-License-Identifier: MIT */
/* Removes files that dead processes left behind; see clean.h. Opens each file to
 * look at it, and maps none. */
#include "shm/read/clean.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "shm/object.h"
#include "shm/read/paths.h"

/* Tells whether a file is an abandoned object that the caller may remove: its
 * own, or anybody's if the caller is root. */
static bool is_dead(const char *path, const struct ncs_process *self)
{
	const char *name = strrchr(path, '/');
	enum ncs_object_kind kind;
	struct stat status;
	uint64_t start;
	uint32_t pid;
	bool dead;
	int file;

	kind = ncs_object_parse(name ? name + 1 : path, &pid, &start);
	file = kind == NCS_OBJECT_NONE ? -1 : ncs_object_open(AT_FDCWD, path);
	if (file < 0)
		return false;
	dead = fstat(file, &status) == 0 &&
	       (geteuid() == 0 || status.st_uid == geteuid()) &&
	       ncs_object_is_abandoned(file, kind, self, NULL);
	close(file);
	return dead;
}

/* Removes the abandoned ones of these files. Returns how many were removed. */
static int clean(const struct ncs_paths *paths, const struct ncs_process *self,
		 void (*removed)(const char *path, int error, void *argument),
		 void *argument)
{
	int count = 0;

	for (size_t i = 0; i < paths->count; i++) {
		int error;

		if (!is_dead(paths->path[i], self))
			continue;
		error = unlink(paths->path[i]) == 0 ? 0 : -errno;
		if (!error)
			count++;
		if (removed)
			removed(paths->path[i], error, argument);
	}
	return count;
}

int ncs_clean(const char *directory,
	      void (*removed)(const char *path, int error, void *argument),
	      void *argument)
{
	struct ncs_process self;
	struct ncs_paths paths;
	int error = ncs_discover(directory, &paths), count;

	if (error)
		return error;
	ncs_process_describe(&self);
	count = clean(&paths, &self, removed, argument);
	ncs_paths_release(&paths);
	error = ncs_discover_controls(directory, &paths);
	if (error)
		return error;
	count += clean(&paths, &self, removed, argument);
	ncs_paths_release(&paths);
	return count;
}
