/* SPDX-License-Identifier: MIT */
/* Mappings of files that others may cut short: once ncs_reader_guard()
 * (ncclstat/reader.h) was called, such a one reads as zeros, and what is written
 * to it goes nowhere. For the reader's side. Any thread.
 */
#ifndef NCS_SHM_READ_GUARD_H
#define NCS_SHM_READ_GUARD_H

#include <stddef.h>

void ncs_guard_add(const void *start, size_t bytes);

/* Before it is unmapped. */
void ncs_guard_remove(const void *start);

#endif
