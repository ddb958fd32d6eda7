/* SPDX-License-Identifier: MIT */
/* Lists the recordings in folders; see recording_names.h. Must not check more of
 * a file than whether it may be a recording: recording_open.c does. */
#include "record/read/recording_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "record/format/file_format.h"
#include "shm/read/paths.h"

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Whether a file may be a recording. */
static bool is_recording(const char *path)
{
	uint64_t magic = 0;
	struct stat status;
	bool is_read;
	int file;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file < 0)
		return true;
	is_read = read(file, &magic, sizeof(magic)) == (ssize_t)sizeof(magic);
	close(file);
	return is_read && magic == NCS_CHUNK_MAGIC;
}

static int add_folder(struct ncs_paths *names, const char *folder)
{
	char path[PATH_MAX];
	struct dirent **entries;
	int error = 0, count = scandir(folder, &entries, is_shown, versionsort);
	size_t before = names->count;

	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		int length = snprintf(path, sizeof(path), "%s/%s", folder,
				      entries[i]->d_name);

		if (!error && length < PATH_MAX && is_recording(path))
			error = ncs_paths_add(names, "%s", path);
		free(entries[i]);
	}
	free(entries);
	return !error && names->count == before ? -ENOENT : error;
}

int ncs_recording_names_add(struct ncs_paths *names, const char *path,
			    char *why, size_t why_size)
{
	struct stat status;
	int error = stat(path, &status) == 0 && S_ISDIR(status.st_mode) ?
			    add_folder(names, path) :
			    ncs_paths_add(names, "%s", path);

	if (error)
		snprintf(why, why_size, "%s: %s", path,
			 error == -ENOENT ? "there is no recording in it" :
					    strerror(-error));
	return error;
}

bool ncs_recording_names_have(const char *path, char *const *paths,
			      size_t count)
{
	struct ncs_paths names = { .count = 0 };
	struct stat output, input;
	bool is_one = false;

	if (stat(path, &output) != 0)
		return false;
	for (size_t i = 0; i < count; i++)
		ncs_recording_names_add(&names, paths[i], NULL, 0);
	for (size_t i = 0; i < names.count && !is_one; i++)
		is_one = stat(names.path[i], &input) == 0 &&
			 input.st_dev == output.st_dev &&
			 input.st_ino == output.st_ino;
	ncs_paths_release(&names);
	return is_one;
}
