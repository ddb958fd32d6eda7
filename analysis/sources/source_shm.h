/* SPDX-License-Identifier: MIT */
/* The source that reads the jobs of this machine from shared memory. */
#ifndef NCS_ANALYSIS_SOURCES_SOURCE_SHM_H
#define NCS_ANALYSIS_SOURCES_SOURCE_SHM_H

#include "analysis/base/source.h"
#include "shm/read/job.h"

/* Opens the segments in a directory, of the processes that are chosen; NULL
 * chooses all. The choice's strings must outlive the source. Returns NULL if
 * there is no memory. Close it with its close(). */
struct ncs_source *ncs_source_open_shm(const char *directory,
				       const struct ncs_choice *choice);

#endif
