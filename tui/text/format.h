/* SPDX-License-Identifier: MIT */
/* Values as text: units, durations, clipping, and strings from shared memory
 * made harmless.
 *
 * Pure functions, shared by the live view, the dumps and the list. A width is
 * in columns of a terminal; 0 means as wide as need be. What is unknown is
 * "-". Nothing here ever writes more columns than it was given: a number that
 * cannot be shown in its width is a row of "#".
 */
#ifndef NCS_TUI_TEXT_FORMAT_H
#define NCS_TUI_TEXT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/views/columns.h"

/* Room for any cell: 128 characters of up to 4 bytes. */
#define NCS_FORMAT_MAX 520

/* Copies a string that nobody vouches for: control characters, those that turn
 * the direction of writing, and what is no UTF-8 become "?"; with `ascii` also
 * all that is not ASCII. */
void ncs_format_clean(char *text, size_t size, const char *raw, bool ascii);

/* Columns that a clean text takes. */
unsigned ncs_format_columns(const char *text);

/* Cuts a clean text to a width; a "+" at its end says that it was cut. */
void ncs_format_clip(char *text, unsigned width);

/* 850ns 12.3us 4.56ms 1.23s 2m05s 3h12m 4d; cut, not rounded. */
void ncs_format_duration(char *text, size_t size, uint64_t duration_ns,
			 unsigned width);

/* Three digits and K, M, G, T, P or E, which are powers of 1000. */
void ncs_format_scaled(char *text, size_t size, double number, unsigned width);

/* A value as its column shows it, not padded; one that may be off is longer than
 * the width. */
void ncs_format_value(char *text, size_t size, const struct ncs_value *value,
		      unsigned width, bool ascii);

/* How the live view shows numbers. */
struct ncs_units {
	bool exact; /* all digits, whatever the width; else what fits */
	bool bits;  /* bits per second; else bytes */
};

/* As ncs_format_value(), in these units. */
void ncs_format_in_units(char *text, size_t size, const struct ncs_value *value,
			 const struct ncs_units *units, unsigned width);

/* A clean text, clipped and padded to exactly `width` columns. */
void ncs_format_pad(char *text, size_t size, const char *clean, unsigned width,
		    enum ncs_column_align align);

/* A value, padded to exactly `width` columns. */
void ncs_format_cell(char *text, size_t size, const struct ncs_value *value,
		     unsigned width, enum ncs_column_align align, bool ascii);

#endif
