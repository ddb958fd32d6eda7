/* SPDX-License-Identifier: MIT */
/* Tests of values as text: units and the limits between them, widths that are
 * never exceeded, and strings that could harm a terminal. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "ncclstat/histogram.h"
#include "analysis/base/utf8.h"
#include "tui/text/format.h"
#include "test/unit/support/unit.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)
#define MINUTE (60 * S)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static char text[NCS_FORMAT_MAX];

static const char *duration(uint64_t duration_ns, unsigned width)
{
	ncs_format_duration(text, sizeof(text), duration_ns, width);
	return text;
}

static const char *scaled(double number, unsigned width)
{
	ncs_format_scaled(text, sizeof(text), number, width);
	return text;
}

static const char *clean(const char *raw, bool ascii)
{
	ncs_utf8_clean(text, sizeof(text), raw, ascii);
	return text;
}

static const char *value(enum ncs_value_kind kind, int64_t number, double real,
			 unsigned width)
{
	struct ncs_value v = { .kind = kind, .number = number, .real = real };

	ncs_format_value(text, sizeof(text), &v, width, true);
	return text;
}

/* --- Durations ---------------------------------------------------------- */

TEST(durations_have_three_digits_and_a_unit)
{
	static const struct {
		uint64_t duration_ns;
		const char *text;
	} cases[] = {
		{ 0, "0ns" },
		{ 850, "850ns" },
		{ 999, "999ns" },
		{ 1 * US, "1.00us" },
		{ 12 * US + 345, "12.3us" },
		{ 999 * US + 999, "999us" },
		{ 4 * MS + 560 * US, "4.56ms" },
		{ 9 * MS + 999 * US, "9.99ms" },
		{ 1 * S + 230 * MS, "1.23s" },
		{ 59 * S + 999 * MS, "59.9s" },
		{ 60 * S, "1m00s" },
		{ 2 * MINUTE + 5 * S, "2m05s" },
		{ 59 * MINUTE + 59 * S, "59m59s" },
		{ 3 * HOUR + 12 * MINUTE + 59 * S, "3h12m" },
		{ 23 * HOUR + 59 * MINUTE, "23h59m" },
		{ 4 * DAY + 23 * HOUR, "4d" },
		{ UINT64_MAX, "213503d" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(duration(cases[i].duration_ns, 0),
				    cases[i].text);
}

TEST(durations_drop_digits_to_fit)
{
	assert_string_equal(duration(4560 * US, 5), "4.5ms");
	assert_string_equal(duration(4560 * US, 4), "4ms");
	assert_string_equal(duration(59 * MINUTE + 59 * S, 5), "59m");
	assert_string_equal(duration(850, 3), "###");
}

/* --- Numbers ------------------------------------------------------------ */

TEST(numbers_are_scaled_by_thousands)
{
	assert_string_equal(scaled(0, 0), "0");
	assert_string_equal(scaled(999, 0), "999");
	assert_string_equal(scaled(1000, 0), "1.00K");
	assert_string_equal(scaled(1234567, 0), "1.23M");
	assert_string_equal(scaled(12.3e9, 0), "12.3G");
	assert_string_equal(scaled(456e12, 0), "456T");
	assert_string_equal(scaled(-1500, 0), "-1.50K");
}

TEST(rounding_up_changes_to_the_next_unit)
{
	assert_string_equal(scaled(999.6, 0), "1.00K");
	assert_string_equal(scaled(9999, 0), "10.0K");
	assert_string_equal(scaled(99990, 0), "100K");
	assert_string_equal(scaled(999900, 0), "1.00M");
}

TEST(numbers_are_exact_while_they_fit)
{
	assert_string_equal(value(NCS_VALUE_NUMBER, 1234567, 0, 0), "1234567");
	assert_string_equal(value(NCS_VALUE_NUMBER, 1234567, 0, 7), "1234567");
	assert_string_equal(value(NCS_VALUE_NUMBER, 1234567, 0, 6), "1.23M");
	assert_string_equal(value(NCS_VALUE_NUMBER, 1234567, 0, 4), "1.2M");
	assert_string_equal(value(NCS_VALUE_NUMBER, 1234567, 0, 1), "#");
	assert_string_equal(value(NCS_VALUE_NUMBER, -3, 0, 4), "-3");
}

TEST(each_kind_of_value_has_its_format)
{
	assert_string_equal(value(NCS_VALUE_NONE, 7, 7, 4), "-");
	assert_string_equal(value(NCS_VALUE_RATE, 0, 0, 6), "0");
	assert_string_equal(value(NCS_VALUE_RATE, 0, 0.25, 6), "0.25");
	assert_string_equal(value(NCS_VALUE_RATE, 0, 58.5, 6), "58.5");
	assert_string_equal(value(NCS_VALUE_RATE, 0, 5214, 6), "5.21K");
	assert_string_equal(value(NCS_VALUE_BYTES, 512, 0, 7), "512");
	assert_string_equal(value(NCS_VALUE_SIZE, 0, 0, 5), "0");
	assert_string_equal(value(NCS_VALUE_SIZE, 1023, 0, 5), "1023");
	assert_string_equal(value(NCS_VALUE_SIZE, 1024, 0, 5), "1K");
	assert_string_equal(value(NCS_VALUE_SIZE, 1025, 0, 5), "1025");
	assert_string_equal(value(NCS_VALUE_SIZE, 1 << 20, 0, 5), "1M");
	assert_string_equal(value(NCS_VALUE_SIZE, INT64_C(1) << 39, 0, 5),
			    "512G");
	assert_string_equal(value(NCS_VALUE_BYTES_RATE, 0, 6.9e9, 7), "6.90G");
	assert_string_equal(value(NCS_VALUE_REAL, 0, 182.4, 7), "182.40");
	assert_string_equal(value(NCS_VALUE_REAL, 0, 182.4, 5), "182.4");
	assert_string_equal(value(NCS_VALUE_REAL, 0, 123456, 5), "123K");
	assert_string_equal(value(NCS_VALUE_SHARE, 0, 0.123, 4), "12.3");
	assert_string_equal(value(NCS_VALUE_SHARE, 0, 1, 4), "100");
	assert_string_equal(value(NCS_VALUE_SHARE, 0, 0.9996, 4), "100");
	assert_string_equal(value(NCS_VALUE_DURATION, 850, 0, 7), "850ns");
}

TEST(share_within_bounds_begins_with_a_sign)
{
	struct ncs_value value = { .kind = NCS_VALUE_SHARE, .real = 0.123 };
	char cell[16];

	value.is_most = true;
	ncs_format_value(cell, sizeof(cell), &value, 5, false);
	assert_string_equal(cell, "<12.3");
	value.is_least = true;
	ncs_format_value(cell, sizeof(cell), &value, 5, false);
	assert_string_equal(cell, "~12.3");
	value.is_most = false;
	ncs_format_value(cell, sizeof(cell), &value, 5, false);
	assert_string_equal(cell, ">12.3");
}

/* The error is appended regardless of the width. */
TEST(least_duration_begins_with_a_sign)
{
	struct ncs_value value = { 0 };

	ncs_value_set_percentile(&value,
				 ncs_histogram_low(NCS_HISTOGRAM_BUCKETS - 1));
	ncs_format_value(text, sizeof(text), &value, 7, false);
	assert_string_equal(text, ">36m04s");
	ncs_value_set_percentile(&value, 1000);
	ncs_format_value(text, sizeof(text), &value, 7, false);
	assert_string_equal(text, "1.00us");
}

TEST(error_is_appended_to_its_duration)
{
	struct ncs_value late = { .kind = NCS_VALUE_DURATION,
				  .number = 4123456,
				  .error_ns = 3210 };

	ncs_format_value(text, sizeof(text), &late, 7, false);
	assert_string_equal(text, "4.12ms");
	ncs_format_in_units(text, sizeof(text), &late,
			    &(struct ncs_units){ .exact = true }, 7);
	assert_string_equal(text, "4123456ns+-3.2us");
	late.error_ns = 321000;
	ncs_format_value(text, sizeof(text), &late, 7, false);
	assert_string_equal(text, "4.12ms+-321us");
	late.number = 300000;
	ncs_format_value(text, sizeof(text), &late, 7, false);
	assert_string_equal(text, "<321us");
	late.number = 4123456;
	ncs_format_value(text, 9, &late, 7, false);
	assert_string_equal(text, "4.12ms");
}

TEST(no_value_exceeds_its_width)
{
	static const double reals[] = { 0,    0.004, 0.5,    1,     9.996,
					99.9, 99.96, 999.99, 12345, 9.9e17 };

	for (unsigned width = 1; width <= 12; width++) {
		for (int kind = NCS_VALUE_NONE; kind < NCS_VALUE_TEXT; kind++) {
			for (size_t i = 0; i < 10; i++) {
				value((enum ncs_value_kind)kind,
				      (int64_t)reals[i], reals[i], width);
				assert_in_range(strlen(text), 1, width);
			}
			value((enum ncs_value_kind)kind, INT64_MAX, 1e19,
			      width);
			assert_in_range(strlen(text), 1, width);
		}
	}
}

/* --- Strings ------------------------------------------------------------ */

TEST(control_characters_become_question_marks)
{
	assert_string_equal(clean("a\033[31mb\177c\r\n", false), "a?[31mb?c??");
	/* C1 controls such as CSI; a no-break space is not a control. */
	assert_string_equal(clean("\xc2\x9b"
				  "1m\xc2\xa0",
				  false),
			    "?1m\xc2\xa0");
	/* Characters that change the direction of writing. */
	assert_string_equal(clean("a\xe2\x80\xae"
				  "b\xe2\x81\xa6",
				  false),
			    "a?b?");
}

TEST(invalid_utf8_becomes_question_marks)
{
	assert_string_equal(clean("\xff\xfe", false), "??");
	assert_string_equal(clean("\xc0\xaf", false), "??"); /* overlong */
	assert_string_equal(clean("\xe0\x80\xaf", false), "???");
	assert_string_equal(clean("\xed\xa0\x80", false),
			    "???"); /* half a surrogate pair */
	assert_string_equal(clean("\xf4\x90\x80\x80", false), "????");
	assert_string_equal(clean("a\xe2\x82", false), "a??"); /* cut off */
	assert_string_equal(clean("\xe2\x82\xac \xf0\x9f\x98\x80", false),
			    "\xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST(ascii_replaces_a_character_by_one_question_mark)
{
	assert_string_equal(clean("\xe2\x82\xac"
				  "1 \xf0\x9f\x98\x80",
				  true),
			    "?1 ?");
}

TEST(cleaning_cuts_between_characters)
{
	char small[4];

	ncs_utf8_clean(small, sizeof(small), "ab\xe2\x82\xac", false);
	assert_string_equal(small, "ab");
	ncs_utf8_clean(small, sizeof(small), "\xe2\x82\xac", false);
	assert_string_equal(small, "\xe2\x82\xac");
	ncs_utf8_clean(small, 1, "abc", false);
	assert_string_equal(small, "");
}

TEST(clipped_text_ends_with_a_plus)
{
	char word[16] = "abcdef";

	ncs_format_clip(word, 6);
	assert_string_equal(word, "abcdef");
	ncs_format_clip(word, 5);
	assert_string_equal(word, "abcd+");
	ncs_format_clip(word, 1);
	assert_string_equal(word, "+");
	ncs_format_clip(word, 0);
	assert_string_equal(word, "");
}

TEST(padding_follows_the_alignment)
{
	ncs_format_pad(text, sizeof(text), "ab", 5, NCS_ALIGN_LEFT);
	assert_string_equal(text, "ab   ");
	ncs_format_pad(text, sizeof(text), "ab", 5, NCS_ALIGN_RIGHT);
	assert_string_equal(text, "   ab");
	ncs_format_pad(text, sizeof(text), "abcdef", 5, NCS_ALIGN_RIGHT);
	assert_string_equal(text, "abcd+");
	ncs_format_pad(text, 4, "ab", 100, NCS_ALIGN_RIGHT);
	assert_string_equal(text, " ab");
}

static void format_cell(char *cell, size_t size, const struct ncs_value *value,
			unsigned width, enum ncs_column_align align)
{
	char plain[NCS_FORMAT_MAX];

	ncs_format_value(plain, sizeof(plain), value, width, false);
	ncs_format_pad(cell, size, plain, width, align);
}

/* Wide characters take two columns, combining characters none. */
TEST(cells_are_measured_in_columns)
{
	struct ncs_value name = {
		.kind = NCS_VALUE_TEXT,
		.text = "\xe6\xbc\xa2\xe5\xad\x97"
			"e\xcc\x81",
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	assert_int_equal(ncs_format_columns(name.text), 5);
	format_cell(text, sizeof(text), &name, 7, NCS_ALIGN_LEFT);
	assert_int_equal(ncs_format_columns(text), 7);
	/* Beside the "+", two of three columns are left, for one wide
	 * character. */
	format_cell(text, sizeof(text), &name, 3, NCS_ALIGN_LEFT);
	assert_string_equal(text, "\xe6\xbc\xa2+");
	/* One column is left, too narrow for a wide character. */
	format_cell(text, sizeof(text), &name, 2, NCS_ALIGN_LEFT);
	assert_string_equal(text, "+ ");
	setlocale(LC_CTYPE, "C");
}

/* --- Units ---------------------------------------------------------------- */

static void expect_in_units(enum ncs_value_kind kind, int64_t number,
			    double real, bool exact, bool bits,
			    const char *expected)
{
	const struct ncs_value v = { .kind = kind,
				     .number = number,
				     .real = real };
	const struct ncs_units units = { .exact = exact, .bits = bits };
	char shown[NCS_FORMAT_MAX];

	ncs_format_in_units(shown, sizeof(shown), &v, &units, 7);
	assert_string_equal(shown, expected);
}

TEST(exact_numbers_have_all_digits)
{
	expect_in_units(NCS_VALUE_BYTES, 123456789, 0, false, false, "123M");
	expect_in_units(NCS_VALUE_BYTES, 123456789, 0, true, false,
			"123456789");
	expect_in_units(NCS_VALUE_NUMBER, 1234567890, 0, true, false,
			"1234567890");
	expect_in_units(NCS_VALUE_DURATION, 2345678901, 0, true, false,
			"2345678901ns");
	expect_in_units(NCS_VALUE_BYTES_RATE, 0, 6912345678.4, true, false,
			"6912345678");
	expect_in_units(NCS_VALUE_RATE, 0, 12.34567, true, false, "12.346");
	expect_in_units(NCS_VALUE_REAL, 0, 182.4321, true, false, "182.432");
	expect_in_units(NCS_VALUE_SHARE, 0, 0.12345678, true, false, "12.346");
	expect_in_units(NCS_VALUE_NONE, 0, 0, true, true, "-");
}

TEST(rates_in_bits_are_eight_times_rates_in_bytes)
{
	expect_in_units(NCS_VALUE_BYTES_RATE, 0, 6.9e9, false, true, "55.2G");
	expect_in_units(NCS_VALUE_REAL, 0, 50, false, true, "400.00");
	expect_in_units(NCS_VALUE_REAL, 0, 50, true, true, "400.000");
	expect_in_units(NCS_VALUE_BYTES, 100, 0, true, true, "100");
	expect_in_units(NCS_VALUE_RATE, 0, 12, false, true, "12.0");
	expect_in_units(NCS_VALUE_SHARE, 0, 0.5, false, true, "50.0");
}
