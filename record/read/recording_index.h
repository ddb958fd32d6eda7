/* SPDX-License-Identifier: MIT */
/* Finds the chunks of a file by its indexes. */
#ifndef NCS_RECORD_READ_RECORDING_INDEX_H
#define NCS_RECORD_READ_RECORDING_INDEX_H

#include "record/read/recording_file.h"

/* Adds the chunks of all indexes, and those found by a search elsewhere.
 * Returns 0 or -ENOMEM. */
int ncs_recorded_file_index(struct ncs_recorded_file *file);

#endif
