/* SPDX-License-Identifier: MIT */
/* Lists of the files and folders of an archive, for its own sources. Any thread.
 */
#ifndef NCS_RECORD_ARCHIVE_ENTRIES_H
#define NCS_RECORD_ARCHIVE_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

/* Size of a buffer for a path. */
#define NCS_ENTRY_PATH_BYTES 4096

/* A file of the ring, or a folder of a job. */
struct ncs_entry {
	char *path;
	const char *name; /* its last part */
	struct timespec written;
	uint64_t bytes; /* of a folder: of all files that only folders have */
	uint64_t freed; /* of a folder: once those that go first have gone */
	uint64_t size;  /* of its contents */
	ino_t inode;
	bool has_finding;
	unsigned turn; /* of a folder that may go: those with lower ones go first */
};

struct ncs_entries {
	struct ncs_entry *at;
	size_t count, capacity;
	uint64_t bytes;
};

/* Lists the files or the folders of a folder, the latest last. One that is not there is
 * empty. Returns 0 or -errno. Release the entries in any case. */
int ncs_entries_list(struct ncs_entries *entries, const char *path,
		     mode_t kind);
void ncs_entries_release(struct ncs_entries *entries);

/* Adds a file, by its path. Returns 0 or -ENOMEM. */
int ncs_entries_add(struct ncs_entries *entries, const char *path,
		    const struct stat *stat);

/* Compares two entries for qsort(): the one written earlier comes first. */
int ncs_entry_by_time(const void *a, const void *b);

/* Returns whether a file of a folder is a recording: its name is that of one in the ring. */
bool ncs_entry_is_recording(const struct ncs_entry *file);

#endif
