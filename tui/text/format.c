/* SPDX-License-Identifier: MIT */
/* Values as text; see format.h. Pure but for wcwidth(), which depends on the
 * locale. */
#include "tui/text/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "analysis/base/utf8.h"
#include "shm/characters.h"

/* --- Strings -------------------------------------------------------------- */

/* Returns the columns of a character; 1 if the locale does not know it. */
static unsigned columns_of(uint32_t character)
{
	int columns = character < 0x80 ? 1 : wcwidth((wchar_t)character);

	return columns < 0 ? 1 : (unsigned)columns;
}

/* Returns the length in bytes of the part of a clean text that fits into a
 * width, and sets *columns to its columns. */
static size_t fit(const char *text, unsigned width, unsigned *columns)
{
	size_t used = 0;

	*columns = 0;
	while (text[used]) {
		uint32_t character = '?';
		size_t length = ncs_utf8_decode(&text[used], &character);
		unsigned more = columns_of(character);

		if (*columns + more > width)
			break;
		*columns += more;
		used += length > 0 ? length : 1;
	}
	return used;
}

unsigned ncs_format_columns(const char *text)
{
	unsigned columns;

	fit(text, UINT32_MAX, &columns);
	return columns;
}

void ncs_format_clip(char *text, unsigned width)
{
	unsigned columns;
	size_t length;

	if (ncs_format_columns(text) <= width)
		return;
	if (width == 0) {
		text[0] = '\0';
		return;
	}
	length = fit(text, width - 1, &columns);
	text[length] = '+';
	text[length + 1] = '\0';
}

/* --- Numbers -------------------------------------------------------------- */

static bool fits(const char *text, unsigned width)
{
	return width == 0 || strlen(text) <= width;
}

static void fill(char *text, size_t size, unsigned width)
{
	size_t length = width < size ? width : size - 1;

	memset(text, '#', length);
	text[length] = '\0';
}

/* Formats a number with as many decimals as fit, at most `decimals`. Returns
 * false if it does not fit. */
static bool format_decimals(char *text, size_t size, double number,
			    int decimals, const char *unit, unsigned width)
{
	for (; decimals >= 0; decimals--) {
		snprintf(text, size, "%.*f%s", decimals, number, unit);
		if (fits(text, width))
			return true;
	}
	return false;
}

/* Returns the number of decimals with which a number has three digits. */
static int decimals_of(double number)
{
	if (number < 9.995)
		return 2;
	return number < 99.95 ? 1 : 0;
}

static const char *const prefixes[] = { "", "K", "M", "G", "T", "P", "E" };

void ncs_format_scaled(char *text, size_t size, double number, unsigned width)
{
	double magnitude = fabs(number);
	size_t unit = 0;

	while (unit + 1 < sizeof(prefixes) / sizeof(prefixes[0]) &&
	       magnitude >= 999.5) {
		magnitude /= 1000;
		unit++;
	}
	if (!format_decimals(text, size, number < 0 ? -magnitude : magnitude,
			     unit > 0 ? decimals_of(magnitude) : 0,
			     prefixes[unit], width))
		fill(text, size, width);
}

/* Small rates keep decimals, to differ from each other; a rate of 0 is "0". */
static void format_rate(char *text, size_t size, double rate, unsigned width)
{
	if (rate > 0 && rate < 99.95 &&
	    format_decimals(text, size, rate, decimals_of(rate), "", width))
		return;
	ncs_format_scaled(text, size, rate, width);
}

/* Formats a size as nccl-tests does: multiples of powers of 1024, without
 * decimals. */
static void format_size(char *text, size_t size, uint64_t bytes, unsigned width)
{
	uint64_t magnitude = bytes;
	size_t unit = 0;

	while (magnitude >= 1024 && magnitude % 1024 == 0) {
		magnitude /= 1024;
		unit++;
	}
	snprintf(text, size, "%" PRIu64 "%s", magnitude, prefixes[unit]);
	if (!fits(text, width))
		ncs_format_scaled(text, size, (double)bytes, width);
}

static void format_number(char *text, size_t size, int64_t number,
			  unsigned width)
{
	snprintf(text, size, "%" PRId64, number);
	if (!fits(text, width))
		ncs_format_scaled(text, size, (double)number, width);
}

static void format_real(char *text, size_t size, double real, unsigned width)
{
	if (!format_decimals(text, size, real, 2, "", width))
		ncs_format_scaled(text, size, real, width);
}

/* Formats a share in percent; one that may be smaller as "<12.5", one that may be
 * larger as ">12.5", one that may be both as "~12.5". */
static void format_share(char *text, size_t size, const struct ncs_value *value,
			 unsigned width)
{
	double percent = 100 * value->real;

	if (value->is_least || value->is_most) {
		snprintf(text, size, "%c",
			 !value->is_most ? '>' :
			 value->is_least ? '~' :
					   '<');
		text++;
		size--;
		width -= width > 0;
	}
	if (!format_decimals(text, size, percent, percent < 99.95 ? 1 : 0, "",
			     width))
		fill(text, size, width);
}

/* --- Durations ------------------------------------------------------------ */

/* Formats a whole number of thousandths of a unit with three digits, not
 * rounded. Returns false if it does not fit. */
static bool format_thousandths(char *text, size_t size, uint64_t thousandths,
			       const char *unit, unsigned width)
{
	uint64_t whole = thousandths / 1000, rest = thousandths % 1000;

	for (int digits = decimals_of((double)whole); digits > 0; digits--) {
		snprintf(text, size, "%" PRIu64 ".%0*" PRIu64 "%s", whole,
			 digits, rest / (digits == 2 ? 10 : 100), unit);
		if (fits(text, width))
			return true;
	}
	snprintf(text, size, "%" PRIu64 "%s", whole, unit);
	return fits(text, width);
}

/* Formats two numbers with their units; without the smaller one if both do not
 * fit. Returns false if the larger one does not fit either. */
static bool format_two(char *text, size_t size, uint64_t large,
		       const char *large_unit, uint64_t small,
		       const char *small_unit, unsigned width)
{
	snprintf(text, size, "%" PRIu64 "%s%02" PRIu64 "%s", large, large_unit,
		 small, small_unit);
	if (fits(text, width))
		return true;
	snprintf(text, size, "%" PRIu64 "%s", large, large_unit);
	return fits(text, width);
}

static bool format_seconds(char *text, size_t size, uint64_t seconds,
			   unsigned width)
{
	if (seconds < 3600)
		return format_two(text, size, seconds / 60, "m", seconds % 60,
				  "s", width);
	if (seconds < 86400)
		return format_two(text, size, seconds / 3600, "h",
				  seconds % 3600 / 60, "m", width);
	snprintf(text, size, "%" PRIu64 "d", seconds / 86400);
	return fits(text, width);
}

void ncs_format_duration(char *text, size_t size, uint64_t duration_ns,
			 unsigned width)
{
	bool good;

	if (duration_ns < 1000) {
		snprintf(text, size, "%" PRIu64 "ns", duration_ns);
		good = fits(text, width);
	} else if (duration_ns < 1000000) {
		good = format_thousandths(text, size, duration_ns, "us", width);
	} else if (duration_ns < 1000000000) {
		good = format_thousandths(text, size, duration_ns / 1000, "ms",
					  width);
	} else if (duration_ns < UINT64_C(60000000000)) {
		good = format_thousandths(text, size, duration_ns / 1000000,
					  "s", width);
	} else {
		good = format_seconds(text, size, duration_ns / 1000000000,
				      width);
	}
	if (!good)
		fill(text, size, width);
}

bool ncs_error_matters(uint64_t error_ns, int64_t duration_ns)
{
	return (double)error_ns >= 0.05 * (double)duration_ns;
}

/* Appends an error, as in "4.1ms+-3us", whatever the width. */
static void append_error(char *text, size_t size, uint64_t error_ns)
{
	size_t length = strlen(text);

	if (error_ns == 0 || length + sizeof("+-9.99us") > size)
		return;
	snprintf(text + length, size - length, "+-");
	ncs_format_duration(text + length + 2, size - length - 2, error_ns, 5);
}

/* Formats a duration with its error where that matters; a duration that may be 0
 * as "<8.0us", one that may be any longer as ">36m". */
static void format_uncertain(char *text, size_t size,
			     const struct ncs_value *value, unsigned width)
{
	uint64_t ns = (uint64_t)value->number;
	bool may_be_0 = value->error_ns > 0 && ns <= value->error_ns;

	if (may_be_0 || value->is_least) {
		snprintf(text, size, "%c", may_be_0 ? '<' : '>');
		ncs_format_duration(text + 1, size - 1,
				    may_be_0 ? value->error_ns : ns, width - 1);
		return;
	}
	ncs_format_duration(text, size, ns, width);
	if (ncs_error_matters(value->error_ns, value->number))
		append_error(text, size, value->error_ns);
}

/* --- Values --------------------------------------------------------------- */

void ncs_format_value(char *text, size_t size, const struct ncs_value *value,
		      unsigned width, bool ascii)
{
	switch (value->kind) {
	case NCS_VALUE_NONE:
	case NCS_VALUE_RECENT: /* tui/term/sparkline.h draws these */
		snprintf(text, size, "-");
		return;
	case NCS_VALUE_NUMBER:
		format_number(text, size, value->number, width);
		return;
	case NCS_VALUE_RATE:
		format_rate(text, size, value->real, width);
		return;
	case NCS_VALUE_BYTES:
		ncs_format_scaled(text, size, (double)value->number, width);
		return;
	case NCS_VALUE_SIZE:
		format_size(text, size, (uint64_t)value->number, width);
		return;
	case NCS_VALUE_BYTES_RATE:
		ncs_format_scaled(text, size, value->real, width);
		return;
	case NCS_VALUE_REAL:
		format_real(text, size, value->real, width);
		return;
	case NCS_VALUE_SHARE:
		format_share(text, size, value, width);
		return;
	case NCS_VALUE_DURATION:
		format_uncertain(text, size, value, width);
		return;
	case NCS_VALUE_TEXT:
		ncs_utf8_clean(text, size, value->text, ascii);
		if (width > 0)
			ncs_format_clip(text, width);
		return;
	}
}

/* Formats a number with all digits. Returns false if the value is not a
 * number. */
static bool format_exact(char *text, size_t size, const struct ncs_value *value)
{
	switch (value->kind) {
	case NCS_VALUE_NUMBER:
	case NCS_VALUE_BYTES:
	case NCS_VALUE_SIZE:
		snprintf(text, size, "%" PRId64, value->number);
		return true;
	case NCS_VALUE_DURATION:
		snprintf(text, size, "%" PRId64 "ns", value->number);
		append_error(text, size, value->error_ns);
		return true;
	case NCS_VALUE_BYTES_RATE:
		snprintf(text, size, "%.0f", value->real);
		return true;
	case NCS_VALUE_RATE:
	case NCS_VALUE_REAL:
		snprintf(text, size, "%.3f", value->real);
		return true;
	case NCS_VALUE_SHARE:
		snprintf(text, size, "%.3f", 100 * value->real);
		return true;
	case NCS_VALUE_NONE:
	case NCS_VALUE_TEXT:
	case NCS_VALUE_RECENT:
		break;
	}
	return false;
}

void ncs_format_in_units(char *text, size_t size, const struct ncs_value *value,
			 const struct ncs_units *units, unsigned width)
{
	bool is_rate = value->kind == NCS_VALUE_BYTES_RATE ||
		       value->kind == NCS_VALUE_REAL;
	struct ncs_value shown = *value;

	if (units->bits && is_rate)
		shown.real *= 8;
	if (!units->exact || !format_exact(text, size, &shown))
		ncs_format_value(text, size, &shown, width, false);
}

void ncs_format_pad(char *text, size_t size, const char *clean, unsigned width,
		    enum ncs_column_align align)
{
	size_t length, padding;

	if (size == 0)
		return;
	snprintf(text, size, "%s", clean);
	ncs_format_clip(text, width);
	length = strlen(text);
	padding = width - ncs_format_columns(text);
	if (padding > size - 1 - length)
		padding = size - 1 - length;
	if (align == NCS_ALIGN_RIGHT) {
		memmove(&text[padding], text, length);
		memset(text, ' ', padding);
	} else {
		memset(&text[length], ' ', padding);
	}
	text[length + padding] = '\0';
}
