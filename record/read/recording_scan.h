/* SPDX-License-Identifier: MIT */
/* Finds chunks by searching a file for them, without an index. */
#ifndef NCS_RECORD_READ_RECORDING_SCAN_H
#define NCS_RECORD_READ_RECORDING_SCAN_H

#include "record/read/recording_file.h"

/* Adds the chunks found from one offset up to another. Counts all skipped
 * bytes, and each gap that a chunk follows as damage. Returns 0 or -ENOMEM. */
int ncs_recorded_file_scan(struct ncs_recorded_file *file, uint64_t from,
			   uint64_t until);

/* Returns the offset of the last good index before `until`; 0 if there is
 * none. */
uint64_t ncs_recorded_file_last_index(const struct ncs_recorded_file *file,
				      uint64_t until);

#endif
