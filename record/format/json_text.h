/* SPDX-License-Identifier: MIT */
/* Writes JSON value by value, for files of any length; jansson would have to
 * hold all of a file in memory. Does not write the punctuation between values.
 *
 * Write errors are kept in the FILE (ferror()). The FILE is not locked.
 */
#ifndef NCS_RECORD_FORMAT_JSON_TEXT_H
#define NCS_RECORD_FORMAT_JSON_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Writes a string in quotes. The text must be valid UTF-8
 * (ncs_utf8_clean()). */
void ncs_json_text(FILE *file, const char *text);
/* Writes a number, in quotes from 2^63 on: some readers refuse files with
 * larger numbers. */
void ncs_json_number(FILE *file, uint64_t value);
/* Writes a signed number. */
void ncs_json_whole(FILE *file, int64_t value);
/* Writes true or false. */
void ncs_json_flag(FILE *file, bool value);
/* Writes a number with 9 significant digits; null if it is not finite. */
void ncs_json_real(FILE *file, double value);
/* Writes a time in ns as a number of µs, with three digits after the point. */
void ncs_json_us(FILE *file, uint64_t value_ns);
/* Writes 64 bits as a string: "0x" and 16 hexadecimal digits. Readers would
 * round a number. */
void ncs_json_id(FILE *file, uint64_t value);

/* Writes text that is already JSON. */
void ncs_json_raw(FILE *file, const char *json);

#endif
