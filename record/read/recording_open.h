/* SPDX-License-Identifier: MIT */
/* Opens one file of a recording: maps it, checks that it is a recording that
 * this program can read, and finds its chunks. */
#ifndef NCS_RECORD_READ_RECORDING_OPEN_H
#define NCS_RECORD_READ_RECORDING_OPEN_H

#include "record/read/recording_file.h"

/* Opens a file. Returns 0 or -errno; on failure sets `why` to a clause for the
 * user that names the file. On success the caller releases the file. */
int ncs_recorded_file_open(struct ncs_recorded_file *file, const char *path,
			   char *why, size_t why_size);
/* Opens a file's bytes in memory, which must outlive it. The path is a name for
 * messages. */
int ncs_recorded_file_open_memory(struct ncs_recorded_file *file,
				  const void *bytes, size_t size,
				  const char *path, char *why, size_t why_size);

#endif
