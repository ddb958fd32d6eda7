/* SPDX-License-Identifier: MIT */
/* Lists the files of segments and control objects by their names; see paths.h.
 * Reads directories and opens no object. */
#include "shm/read/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "shm/object.h"
#include "shm/process.h"

const char *ncs_directory(const char *directory)
{
	const char *variable = getenv("NCCLSTAT_DIR");

	if (directory)
		return directory;
	return variable && variable[0] ? variable : NCS_DEFAULT_DIR;
}

static int compare_paths(const void *left, const void *right)
{
	char *const *a = left, *const *b = right;

	return strverscmp(*a, *b);
}

void ncs_paths_sort(struct ncs_paths *paths)
{
	if (paths->count > 0)
		qsort(paths->path, paths->count, sizeof(*paths->path),
		      compare_paths);
}

int ncs_paths_add(struct ncs_paths *paths, const char *format, ...)
{
	size_t count = paths->count;
	va_list arguments;
	char **grown;
	int length;

	/* There is room up to the next power of two. */
	if ((count & (count - 1)) == 0) {
		grown = realloc(paths->path,
				(count ? 2 * count : 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		paths->path = grown;
	}
	va_start(arguments, format);
	length = vasprintf(&paths->path[count], format, arguments);
	va_end(arguments);
	paths->count += length >= 0;
	return length >= 0 ? 0 : -ENOMEM;
}

/* Lists the files whose names begin with `prefix`, sorted. */
static int list(const char *directory, const char *prefix,
		struct ncs_paths *paths)
{
	DIR *entries = opendir(directory);
	struct dirent *found;
	int error = 0;

	memset(paths, 0, sizeof(*paths));
	if (!entries)
		return -errno;
	while (!error && (found = readdir(entries)))
		if (strncmp(found->d_name, prefix, strlen(prefix)) == 0)
			error = ncs_paths_add(paths, "%s/%s", directory,
					      found->d_name);
	closedir(entries);
	if (error) {
		ncs_paths_release(paths);
		return error;
	}
	ncs_paths_sort(paths);
	return 0;
}

int ncs_discover(const char *directory, struct ncs_paths *paths)
{
	return list(directory, NCS_NAME_PREFIX, paths);
}

int ncs_discover_controls(const char *directory, struct ncs_paths *paths)
{
	return list(directory, NCS_CONTROL_PREFIX, paths);
}

void ncs_paths_release(struct ncs_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->path[i]);
	free(paths->path);
	memset(paths, 0, sizeof(*paths));
}

bool ncs_directory_can_have_jobs(const char *directory)
{
	int file = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool can = file < 0 || ncs_object_is_in_memory(file);

	if (file >= 0)
		close(file);
	return can;
}

const char *ncs_directory_clause(const char *directory)
{
	return ncs_directory_can_have_jobs(directory) ?
		       "" :
		       ", where no job publishes: it is not on a tmpfs";
}
