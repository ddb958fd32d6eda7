/* SPDX-License-Identifier: MIT */
/* Copies a function's counters of one lane. They are in two places under one
 * sequence: struct ncs_function, and from minor version 5 on struct
 * ncs_stream_times. */
#ifndef NCS_SHM_READ_FUNCTION_READER_H
#define NCS_SHM_READ_FUNCTION_READER_H

#include <stdbool.h>

#include "shm/read/reader_internal.h"

/* Copies the counters of `function` in a lane of the segment, `times` all zeros
 * if the segment has none. Returns false if the copies may be inconsistent. */
bool ncs_function_copy(const struct ncs_reader *reader,
		       const struct ncs_lane *lane, unsigned function,
		       struct ncs_function *counters,
		       struct ncs_stream_times *times);

#endif
