/* SPDX-License-Identifier: MIT */
/* Texts that are put together piece by piece. Pure. */
#ifndef NCS_ANALYSIS_BASE_APPEND_H
#define NCS_ANALYSIS_BASE_APPEND_H

#include <stddef.h>

/* Appends to a text of at most `size` bytes; what does not fit is cut. */
void ncs_append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
