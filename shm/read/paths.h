/* SPDX-License-Identifier: MIT */
/* Lists of paths, and those of control objects in the directory of the segments.
 *
 * Listing segments is public: ncs_discover(), ncs_directory() and
 * ncs_paths_release() are in ncclstat/reader.h. Names only: no object is opened,
 * and a name says nothing about what the file holds.
 */
#ifndef NCS_SHM_READ_PATHS_H
#define NCS_SHM_READ_PATHS_H

#include <stdbool.h>

struct ncs_paths; /* ncclstat/path_list.h */

/* Lists the files of `directory` that are named like control objects, as
 * ncs_discover() does for segments. Returns 0 or -errno; on success release
 * the paths with ncs_paths_release(). */
int ncs_discover_controls(const char *directory, struct ncs_paths *paths);

/* Adds a path at the end of a list, which begins as zeros. Returns 0 or -ENOMEM. */
int ncs_paths_add(struct ncs_paths *paths, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Sorts paths as ncs_discover() does. */
void ncs_paths_sort(struct ncs_paths *paths);

/* Tells whether jobs can publish in a directory: the plugin does so on a tmpfs
 * or ramfs only. Also true of a directory that cannot be opened. Files that
 * were copied elsewhere can be read all the same. */
bool ncs_directory_can_have_jobs(const char *directory);

/* Returns how a message about an empty directory goes on after its name: a
 * clause that tells so if no job can publish there, else "". */
const char *ncs_directory_clause(const char *directory);

#endif
