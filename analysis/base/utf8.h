/* SPDX-License-Identifier: MIT */
/* Decoding and cleaning untrusted text: names from shared memory and
 * recordings, which may be any bytes. Pure. */
#ifndef NCS_ANALYSIS_BASE_UTF8_H
#define NCS_ANALYSIS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the character at the beginning of a string. Returns its length in
 * bytes, or 0 if it is invalid: overlong, a surrogate, or beyond Unicode. */
size_t ncs_utf8_decode(const char *text, uint32_t *character);

/* Copies a string to `text`, a buffer of `size` bytes, replacing by '?' each
 * byte that is not valid UTF-8 and each character that a terminal must not get,
 * or that is not ASCII if `ascii` is set. Cuts the text at a whole
 * character. */
void ncs_utf8_clean(char *text, size_t size, const char *raw, bool ascii);

#endif
