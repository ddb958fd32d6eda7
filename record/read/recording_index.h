/* SPDX-License-Identifier: MIT */
/* Finds the chunks of a file by its indexes, and by a search (recording_scan.h)
 * where there is no good index. */
#ifndef NCS_RECORD_READ_RECORDING_INDEX_H
#define NCS_RECORD_READ_RECORDING_INDEX_H

#include "record/read/recording_file.h"

/* Adds the places of all chunks to the file. Returns 0 or -ENOMEM. */
int ncs_recorded_file_index(struct ncs_recorded_file *file);

#endif
