/* SPDX-License-Identifier: MIT */
/* Lists of files; see entries.h. */
#include "record/archive/entries.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"

void ncs_entries_release(struct ncs_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		free(entries->at[i].path);
	free(entries->at);
	*entries = (struct ncs_entries){ 0 };
}

int ncs_entry_by_time(const void *a, const void *b)
{
	const struct ncs_entry *x = a, *y = b;

	if (x->written.tv_sec != y->written.tv_sec)
		return x->written.tv_sec < y->written.tv_sec ? -1 : 1;
	if (x->written.tv_nsec != y->written.tv_nsec)
		return x->written.tv_nsec < y->written.tv_nsec ? -1 : 1;
	return strcmp(x->path, y->path);
}

int ncs_entries_add(struct ncs_entries *entries, const char *path,
		    const struct stat *stat)
{
	struct ncs_entry *entry;
	char *copy = strdup(path);

	if (!copy ||
	    ncs_array_reserve(&entries->at, &entries->capacity,
			      entries->count + 1, sizeof(*entries->at)) != 0) {
		free(copy);
		return -ENOMEM;
	}
	entry = &entries->at[entries->count++];
	*entry = (struct ncs_entry){
		.path = copy,
		.name = strrchr(copy, '/') + 1,
		.written = stat->st_mtim,
		.bytes = (uint64_t)stat->st_blocks * 512,
		.size = (uint64_t)stat->st_size,
		.inode = stat->st_ino,
	};
	entries->bytes += entry->bytes;
	return 0;
}

int ncs_entries_list(struct ncs_entries *entries, const char *path, mode_t kind)
{
	DIR *folder = opendir(path);
	struct dirent *file;
	struct stat stat;
	char name[NCS_ENTRY_PATH_BYTES];
	int error = 0;

	*entries = (struct ncs_entries){ 0 };
	if (!folder)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	while (!error && (file = readdir(folder)) != NULL) {
		if (file->d_name[0] == '.')
			continue;
		if (snprintf(name, sizeof(name), "%s/%s", path, file->d_name) <
			    (int)sizeof(name) &&
		    lstat(name, &stat) == 0 && (stat.st_mode & S_IFMT) == kind)
			error = ncs_entries_add(entries, name, &stat);
	}
	closedir(folder);
	if (entries->count > 0)
		qsort(entries->at, entries->count, sizeof(*entries->at),
		      ncs_entry_by_time);
	return error;
}

bool ncs_entry_is_recording(const struct ncs_entry *file)
{
	return file->name[0] >= '0' && file->name[0] <= '9';
}
