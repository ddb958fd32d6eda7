/* SPDX-License-Identifier: MIT */
/* Tests of points in time as users write them: every way to write one, and
 * malformed ones. */
#include <stdlib.h>
#include <time.h>

#include "record/replay/instant.h"
#include "test/unit/support/unit.h"

#define MS_NS UINT64_C(1000000)
#define S_NS UINT64_C(1000000000)

static void expect(const char *text, enum ncs_instant_kind kind, uint64_t ns)
{
	struct ncs_instant instant = { .kind = NCS_INSTANT_NONE };

	if (!ncs_instant_parse(text, &instant))
		fail_msg("%s is refused", text);
	if (instant.kind != kind || instant.ns != ns)
		fail_msg("%s: kind %d, %llu ns", text, instant.kind,
			 (unsigned long long)instant.ns);
}

TEST(number_is_seconds_since_the_beginning)
{
	expect("0", NCS_INSTANT_SINCE, 0);
	expect("12.5", NCS_INSTANT_SINCE, 12500 * MS_NS);
	expect(".25", NCS_INSTANT_SINCE, 250 * MS_NS);
	expect("0.123456789", NCS_INSTANT_SINCE, 123456789);
	expect("0.1234567899", NCS_INSTANT_SINCE, 123456789);
	expect("90:00", NCS_INSTANT_SINCE, 5400 * S_NS);
	expect("1:02:03.5", NCS_INSTANT_SINCE, 3723500 * MS_NS);
}

TEST(minus_counts_back_from_the_end)
{
	expect("-0", NCS_INSTANT_BEFORE_END, 0);
	expect("-1:00.5", NCS_INSTANT_BEFORE_END, 60500 * MS_NS);
}

TEST(date_and_time_are_wall_clock_time)
{
	/* A time zone without summer time; in POSIX, a minus sign means east of
	 * UTC. */
	setenv("TZ", "XYZ-3", 1);
	tzset();
	expect("1970-01-02T00:00Z", NCS_INSTANT_REALTIME, 86400 * S_NS);
	expect("2026-11-21T14:03:05.5Z", NCS_INSTANT_REALTIME,
	       1795269785500 * MS_NS);
	expect("2026-11-21T17:03:05.5", NCS_INSTANT_REALTIME,
	       1795269785500 * MS_NS);
	expect("2026-11-21 17:03:05", NCS_INSTANT_REALTIME, 1795269785 * S_NS);
	expect("T14:03:05.25", NCS_INSTANT_DAYTIME, 50585250 * MS_NS);
	expect("T00:00Z", NCS_INSTANT_DAYTIME, 0);
}

TEST(malformed_instant_is_refused)
{
	static const char *const wrong[] = {
		"",
		"-",
		"--1",
		"+1",
		"1s",
		"1.",
		".",
		"1..2",
		"1:2",
		"1:60",
		"1:2:3",
		"a",
		"1:00:00:00",
		"99999999999",
		"4000000000",
		"T",
		"T14",
		"T24:00",
		"T14:60",
		"T14:03:60",
		"Z",
		"T14:03z",
		"14:03Z",
		"2026-11-21",
		"2026-11-21T",
		"1e3",
		" 1",
		"1 ",
		"2026-13-01T00:00",
		"T1:00",
		"2026-00-01T00:00",
		"2026-11-32T00:00",
		"1969-01-01T00:00",
		"26-11-21T00:00",
	};
	struct ncs_instant instant = { .kind = NCS_INSTANT_NONE };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (ncs_instant_parse(wrong[i], &instant))
			fail_msg("'%s' is taken", wrong[i]);
	assert_int_equal(instant.kind, NCS_INSTANT_NONE);
}
