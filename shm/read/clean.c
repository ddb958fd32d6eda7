/* SPDX-License-Identifier: MIT */
/* Removes files that dead processes left behind; see clean.h. Each file is
 * opened and validated as a reader does before its process is looked up. */
#include "shm/read/clean.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shm/process.h"
#include "shm/read/liveness.h"
#include "shm/read/paths.h"
#include "shm/read/remote.h"

/* Judges a file that is named like an object but cannot be read as one. It may
 * be removed only if the process in its name is gone. The name does not contain
 * the PID namespace, so a file that is still mapped is kept. */
static bool named_process_is_gone(const char *path, const char *prefix)
{
	const char *name = strrchr(path, '/');
	unsigned long long start;
	unsigned pid, serial;
	int end = -1;

	name = name ? name + 1 : path;
	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return false;
	name += strlen(prefix);
	if (sscanf(name, "%u.%llu.%u%n", &pid, &start, &serial, &end) != 3 ||
	    end < 0 || name[end] != '\0')
		return false;
	return ncs_process_start(pid) != start && !ncs_is_being_written(path);
}

static bool is_dead(const char *path)
{
	struct ncs_reader *reader;
	enum ncs_attach result = ncs_reader_open(path, &reader, NULL, 0);
	bool gone;

	if (result == NCS_ATTACH_DENIED || result == NCS_ATTACH_ABSENT ||
	    result == NCS_ATTACH_FAILED)
		return false;
	if (result != NCS_ATTACHED)
		return named_process_is_gone(path, NCS_NAME_PREFIX);
	gone = ncs_process_is_gone(ncs_reader_header(reader));
	ncs_reader_close(reader);
	return gone;
}

static bool is_dead_control(const char *path)
{
	struct ncs_process process;
	struct ncs_remote *remote;
	enum ncs_attach result = ncs_remote_open(path, &remote, NULL, 0);

	if (result == NCS_ATTACH_DENIED || result == NCS_ATTACH_ABSENT ||
	    result == NCS_ATTACH_FAILED)
		return false;
	if (result != NCS_ATTACHED)
		return named_process_is_gone(path, NCS_CONTROL_PREFIX);
	process = *ncs_remote_process(remote);
	ncs_remote_close(remote);
	return ncs_process_ended(&process);
}

/* Removes the files for which `dead` returns true. Returns how many were
 * removed. */
static int clean(const struct ncs_paths *paths, bool (*dead)(const char *path),
		 void (*removed)(const char *path, int error, void *argument),
		 void *argument)
{
	int count = 0;

	for (size_t i = 0; i < paths->count; i++) {
		int error;

		if (!dead(paths->path[i]))
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
	struct ncs_paths paths;
	int error = ncs_discover(directory, &paths), count;

	if (error)
		return error;
	count = clean(&paths, is_dead, removed, argument);
	ncs_paths_release(&paths);
	error = ncs_discover_controls(directory, &paths);
	if (error)
		return error;
	count += clean(&paths, is_dead_control, removed, argument);
	ncs_paths_release(&paths);
	return count;
}
