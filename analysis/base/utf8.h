/* SPDX-License-Identifier: MIT */
/* Cleaning untrusted text for terminals and files: names from shared memory and
 * recordings, which may be any bytes. Pure. */
#ifndef NCS_ANALYSIS_BASE_UTF8_H
#define NCS_ANALYSIS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Copies a string to `text`, a buffer of `size` bytes, replacing by '?' each
 * byte that is not valid UTF-8 and each character that a terminal must not get,
 * or that is not ASCII if `ascii` is set. Cuts the text at a whole
 * character. */
void ncs_utf8_clean(char *text, size_t size, const char *raw, bool ascii);

#endif
