/* SPDX-License-Identifier: MIT */
/* JSON written as it comes, value by value: for files of any length, which
 * jansson would have to hold in memory.
 *
 * Errors are the stream's (ferror()). The stream is not locked.
 */
#ifndef NCS_RECORD_FORMAT_JSON_TEXT_H
#define NCS_RECORD_FORMAT_JSON_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* In quotes; the text is valid UTF-8 (ncs_utf8_clean()). */
void ncs_json_text(FILE *file, const char *text);
/* In quotes from 2^63 on: there are readers that refuse the whole file. */
void ncs_json_number(FILE *file, uint64_t value);
void ncs_json_whole(FILE *file, int64_t value);
void ncs_json_flag(FILE *file, bool value);
/* Infinite, or no number: null. */
void ncs_json_real(FILE *file, double value);
/* ns as µs, with three digits after the point. */
void ncs_json_us(FILE *file, uint64_t value_ns);
/* 64 bits in quotes, "0x" and 16 digits: as a number, readers would round it. */
void ncs_json_id(FILE *file, uint64_t value);

/* What is JSON already. */
void ncs_json_raw(FILE *file, const char *json);

#endif
