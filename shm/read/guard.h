/* SPDX-License-Identifier: MIT */
/* Mappings of files that other processes may truncate.
 *
 * After ncs_reader_guard() (ncclstat/reader.h) a guarded mapping whose file has
 * become too short reads as zeros and loses writes; without it, accesses raise
 * SIGBUS. For the reader's half. Any thread may call these functions.
 */
#ifndef NCS_SHM_READ_GUARD_H
#define NCS_SHM_READ_GUARD_H

#include <stddef.h>

/* Guards a mapping. Beyond 8192 mappings of a process it has no effect. */
void ncs_guard_add(const void *start, size_t bytes);

/* Ends guarding the mapping that begins at `start`; call it before munmap(). */
void ncs_guard_remove(const void *start);

#endif
