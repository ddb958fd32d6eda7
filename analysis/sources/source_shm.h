/* SPDX-License-Identifier: MIT */
/* The source that reads the jobs of this machine from shared memory. */
#ifndef NCS_ANALYSIS_SOURCES_SOURCE_SHM_H
#define NCS_ANALYSIS_SOURCES_SOURCE_SHM_H

#include "analysis/base/source.h"

/* Opens the segments in a directory, of all processes if `pid` is 0, and of the
 * one process else. Returns NULL if there is no memory. Close it with its
 * close(). */
struct ncs_source *ncs_source_open_shm(const char *directory, uint32_t pid);

#endif
