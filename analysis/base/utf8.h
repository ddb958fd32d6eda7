/* SPDX-License-Identifier: MIT */
/* Text that nobody vouches for: names out of shared memory and recordings.
 * Pure. */
#ifndef NCS_ANALYSIS_BASE_UTF8_H
#define NCS_ANALYSIS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one character; returns its length in bytes, 0 if there is none:
 * overlong forms, surrogates and what lies beyond Unicode are none. The text
 * ends with a zero. */
size_t ncs_utf8_decode(const char *text, uint32_t *character);

/* Copies what can be shown: a '?' for each byte that is no valid UTF-8 and for
 * each character that a terminal must not get, or that is not ASCII if only
 * that is wanted. Cuts at a whole character. */
void ncs_utf8_clean(char *text, size_t size, const char *raw, bool ascii);

#endif
