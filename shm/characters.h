/* SPDX-License-Identifier: MIT */
/* Decoding untrusted text: names from the environment, from shared memory and
 * from recordings, which may be any bytes. Pure. */
#ifndef NCS_SHM_CHARACTERS_H
#define NCS_SHM_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the character at the beginning of a string. Returns its length in
 * bytes, or 0 if it is invalid: overlong, a surrogate, or beyond Unicode. */
size_t ncs_utf8_decode(const char *text, uint32_t *character);

/* Tells whether it is safe to send a character to a terminal: it is no control
 * character, and changes neither the line nor the direction of writing. */
bool ncs_utf8_is_harmless(uint32_t character);

#endif
