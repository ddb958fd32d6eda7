/* SPDX-License-Identifier: MIT */
/* Paths of control objects in the directory of the segments.
 *
 * Listing segments is public: ncs_discover(), ncs_directory() and
 * ncs_paths_release() are in ncclstat/reader.h. Names only: no file is opened,
 * and a name says nothing about what the file holds.
 */
#ifndef NCS_SHM_READ_PATHS_H
#define NCS_SHM_READ_PATHS_H

#include "ncclstat/reader.h"

/* Lists the files of `directory` that are named like control objects, as
 * ncs_discover() does for segments. Returns 0 or -errno; on success release
 * the paths with ncs_paths_release(). */
int ncs_discover_controls(const char *directory, struct ncs_paths *paths);

#endif
