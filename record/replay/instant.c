/* SPDX-License-Identifier: MIT */
/* Parses and prints points in time; see instant.h. No I/O except that the C
 * library reads time zones. */
#include "record/replay/instant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND_NS UINT64_C(1000000000)

/* A hundred years; the sum of two such times in ns fits into 64 bits. */
#define SECONDS_MAX UINT64_C(3155760000)

/* Parses a number of `least` to `most` digits. */
static bool take_digits(const char **text, size_t least, size_t most,
			uint64_t *number)
{
	size_t count = strspn(*text, "0123456789");

	if (count < least || count > most)
		return false;
	*number = 0;
	for (; count > 0; count--)
		*number = *number * 10 + (uint64_t)(*(*text)++ - '0');
	return true;
}

static bool take_character(const char **text, char wanted)
{
	if (**text != wanted)
		return false;
	(*text)++;
	return true;
}

/* Parses a fraction such as ".25" if there is one; otherwise sets *ns to 0.
 * Cuts off digits below a nanosecond. */
static bool take_fraction(const char **text, uint64_t *ns)
{
	uint64_t digit_ns = SECOND_NS / 10;

	*ns = 0;
	if (!take_character(text, '.'))
		return true;
	if (!strchr("0123456789", **text) || !**text)
		return false;
	for (; **text >= '0' && **text <= '9'; (*text)++, digit_ns /= 10)
		*ns += (uint64_t)(**text - '0') * digit_ns;
	return true;
}

/* Parses a number of two digits below 60. */
static bool take_sixtieths(const char **text, uint64_t *number)
{
	return take_digits(text, 2, 2, number) && *number < 60;
}

/* Parses "12.5", "2:03", or "1:02:03.5". */
static bool parse_distance(const char *text, uint64_t *ns)
{
	uint64_t seconds, part, fraction_ns;

	if (text[0] == '.')
		seconds = 0;
	else if (!take_digits(&text, 1, 10, &seconds))
		return false;
	for (int i = 0; i < 2 && take_character(&text, ':'); i++) {
		if (!take_sixtieths(&text, &part))
			return false;
		seconds = seconds * 60 + part;
	}
	if (!take_fraction(&text, &fraction_ns) || seconds > SECONDS_MAX)
		return false;
	*ns = seconds * SECOND_NS + fraction_ns;
	return *text == '\0';
}

/* Parses "14:03" or "14:03:05.25", with or without a "Z" behind it. */
static bool parse_daytime(const char *text, struct ncs_instant *instant)
{
	uint64_t hours, minutes, seconds = 0, fraction_ns = 0;

	if (!take_digits(&text, 2, 2, &hours) || hours > 23 ||
	    !take_character(&text, ':') || !take_sixtieths(&text, &minutes))
		return false;
	if (take_character(&text, ':') && (!take_sixtieths(&text, &seconds) ||
					   !take_fraction(&text, &fraction_ns)))
		return false;
	instant->kind = NCS_INSTANT_DAYTIME;
	instant->utc = take_character(&text, 'Z');
	instant->ns = ((hours * 60 + minutes) * 60 + seconds) * SECOND_NS +
		      fraction_ns;
	return *text == '\0';
}

/* Parses "2026-11-21". */
static bool take_date(const char **text, struct tm *day)
{
	uint64_t year, month, of_month;

	if (!take_digits(text, 4, 4, &year) || !take_character(text, '-') ||
	    !take_digits(text, 2, 2, &month) || !take_character(text, '-') ||
	    !take_digits(text, 2, 2, &of_month))
		return false;
	*day = (struct tm){
		.tm_year = (int)year - 1900,
		.tm_mon = (int)month - 1,
		.tm_mday = (int)of_month,
	};
	return month >= 1 && month <= 12 && of_month >= 1 && of_month <= 31;
}

/* Converts a time of a day to ns of CLOCK_REALTIME. Returns false for a time
 * before 1970. */
static bool realtime_of(const struct ncs_instant *daytime, struct tm day,
			uint64_t *realtime_ns)
{
	uint64_t seconds = daytime->ns / SECOND_NS;
	time_t time;

	day.tm_hour = (int)(seconds / 3600);
	day.tm_min = (int)(seconds / 60 % 60);
	day.tm_sec = (int)(seconds % 60);
	day.tm_isdst = -1;
	time = daytime->utc ? timegm(&day) : mktime(&day);
	if (time < 0)
		return false;
	*realtime_ns = (uint64_t)time * SECOND_NS + daytime->ns % SECOND_NS;
	return true;
}

static bool parse_wall_clock(const char *text, struct ncs_instant *instant)
{
	struct tm day;
	bool has_date = text[0] != 'T';

	if (has_date && !take_date(&text, &day))
		return false;
	if (!take_character(&text, 'T') &&
	    !(has_date && take_character(&text, ' ')))
		return false;
	if (!parse_daytime(text, instant))
		return false;
	if (!has_date)
		return true;
	instant->kind = NCS_INSTANT_REALTIME;
	return realtime_of(instant, day, &instant->ns);
}

bool ncs_instant_parse(const char *text, struct ncs_instant *instant)
{
	struct ncs_instant parsed = { .kind = NCS_INSTANT_SINCE };
	bool is_good;

	if (text[0] == '-') {
		parsed.kind = NCS_INSTANT_BEFORE_END;
		is_good = parse_distance(text + 1, &parsed.ns);
	} else if (strchr(text, 'T') || strchr(text, '-')) {
		is_good = parse_wall_clock(text, &parsed);
	} else {
		is_good = parse_distance(text, &parsed.ns);
	}
	if (is_good)
		*instant = parsed;
	return is_good;
}

/* --- Resolving ----------------------------------------------------------- */

/* Finds the first occurrence of a time of day at or after the span's beginning.
 * Returns false if the C library cannot represent the day. */
static bool first_daytime(const struct ncs_instant *instant,
			  uint64_t from_realtime_ns, uint64_t *realtime_ns)
{
	time_t from = (time_t)(from_realtime_ns / SECOND_NS);
	struct tm day;

	if (!(instant->utc ? gmtime_r(&from, &day) :
			     localtime_r(&from, &day)) ||
	    !realtime_of(instant, day, realtime_ns))
		return false;
	if (*realtime_ns >= from_realtime_ns)
		return true;
	day.tm_mday++;
	return realtime_of(instant, day, realtime_ns);
}

void ncs_instant_print(uint64_t since_ns, char *text, size_t size)
{
	uint64_t seconds = since_ns / SECOND_NS;
	unsigned ms = (unsigned)(since_ns % SECOND_NS / 1000000);

	if (seconds >= 3600)
		snprintf(text, size, "%" PRIu64 ":%02u:%02u.%03u",
			 seconds / 3600, (unsigned)(seconds / 60 % 60),
			 (unsigned)(seconds % 60), ms);
	else
		snprintf(text, size, "%u:%02u.%03u", (unsigned)(seconds / 60),
			 (unsigned)(seconds % 60), ms);
}

static bool refuse(const struct ncs_time_span *span, const char *where,
		   char *why, size_t why_size)
{
	char length[32];

	ncs_instant_print(span->until_ns - span->from_ns, length,
			  sizeof(length));
	snprintf(why, why_size,
		 "that is %s the recording, which is %s long (a time of day is"
		 " written T14:03:05)",
		 where, length);
	return false;
}

bool ncs_instant_resolve(const struct ncs_instant *instant,
			 const struct ncs_time_span *span, uint64_t *moment_ns,
			 char *why, size_t why_size)
{
	uint64_t length_ns = span->until_ns - span->from_ns;
	uint64_t offset_ns = (uint64_t)span->realtime_offset_ns;
	uint64_t realtime_ns = instant->ns;

	switch (instant->kind) {
	case NCS_INSTANT_SINCE:
		if (instant->ns > length_ns)
			return refuse(span, "after", why, why_size);
		*moment_ns = span->from_ns + instant->ns;
		return true;
	case NCS_INSTANT_BEFORE_END:
		if (instant->ns > length_ns)
			return refuse(span, "before", why, why_size);
		*moment_ns = span->until_ns - instant->ns;
		return true;
	case NCS_INSTANT_DAYTIME:
		if (!first_daytime(instant, span->from_ns + offset_ns,
				   &realtime_ns))
			return refuse(span, "not in", why, why_size);
		break;
	default:
		break;
	}
	if (realtime_ns < span->from_ns + offset_ns)
		return refuse(span, "before", why, why_size);
	if (realtime_ns > span->until_ns + offset_ns)
		return refuse(span, "after", why, why_size);
	*moment_ns = realtime_ns - offset_ns;
	return true;
}
