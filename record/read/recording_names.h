/* SPDX-License-Identifier: MIT */
/* The files that arguments name: a folder stands for the recordings in it. */
#ifndef NCS_RECORD_READ_RECORDING_NAMES_H
#define NCS_RECORD_READ_RECORDING_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct ncs_paths; /* ncclstat/path_list.h */

/* Adds the path of a file, or those of the recordings in a folder, in the order
 * of their names: its files whose first bytes are those of a recording, and
 * those that this user may not read. Hidden ones and folders in it are left out. A
 * path that does not exist is added, too. Returns 0, or -errno and sets `why` to a
 * clause for the user that names the path. */
int ncs_recording_names_add(struct ncs_paths *names, const char *path,
			    char *why, size_t why_size);

/* Whether a path is one of these recordings, or one in these folders, by another
 * name or not: then nothing else may be written there. */
bool ncs_recording_names_have(const char *path, char *const *paths,
			      size_t count);

#endif
