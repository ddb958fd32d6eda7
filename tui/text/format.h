/* SPDX-License-Identifier: MIT */
/* Values as text: units, durations, clipping and padding.
 *
 * Pure functions, shared by the live view, the dumps and the list. A width is
 * in columns of a terminal; 0 means as wide as necessary. Unknown values are
 * "-". Unless a comment says otherwise, no text is wider than its width: a
 * number that does not fit becomes a row of "#". Texts are cut at the size of
 * the buffer.
 */
#ifndef NCS_TUI_TEXT_FORMAT_H
#define NCS_TUI_TEXT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/views/columns.h"

/* Room for any cell: 128 characters of up to 4 bytes. */
#define NCS_FORMAT_MAX 520

/* Returns the number of columns that a clean text (ncs_utf8_clean()) takes. */
unsigned ncs_format_columns(const char *text);

/* Cuts a clean text to a width; a text that was cut ends with "+". */
void ncs_format_clip(char *text, unsigned width);

/* Formats a duration: 850ns 12.3us 4.56ms 1.23s 2m05s 3h12m 4d. Digits that
 * have no room are cut off, not rounded. */
void ncs_format_duration(char *text, size_t size, uint64_t duration_ns,
			 unsigned width);

/* Formats a number with three digits and K, M, G, T, P or E, powers of 1000. */
void ncs_format_scaled(char *text, size_t size, double number, unsigned width);

/* Returns whether an error is so large beside a duration that it is shown next
 * to it: 5 % or more. */
bool ncs_error_matters(uint64_t error_ns, int64_t duration_ns);

/* Formats a value as its column shows it, not padded. An error that is appended
 * to it ("4.1ms+-3us") is not counted in the width. */
void ncs_format_value(char *text, size_t size, const struct ncs_value *value,
		      unsigned width, bool ascii);

/* How the live view shows numbers. */
struct ncs_units {
	bool exact; /* all digits, whatever the width; if false, what fits */
	bool bits;  /* bits per second; if false, bytes */
};

/* Formats a value like ncs_format_value(), in these units. */
void ncs_format_in_units(char *text, size_t size, const struct ncs_value *value,
			 const struct ncs_units *units, unsigned width);

/* Clips or pads a clean text to exactly `width` columns. */
void ncs_format_pad(char *text, size_t size, const char *clean, unsigned width,
		    enum ncs_column_align align);

#endif
