/* SPDX-License-Identifier: MIT */
/* Putting texts together piece by piece. Pure. */
#ifndef NCS_ANALYSIS_BASE_APPEND_H
#define NCS_ANALYSIS_BASE_APPEND_H

#include <stddef.h>

/* Appends formatted text to `text`, a string in a buffer of `size` bytes. Cuts
 * off what does not fit. */
void ncs_append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
