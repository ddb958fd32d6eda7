/* SPDX-License-Identifier: MIT */
/* Tests of texts that are broken into lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tui/term/wrap.h"

static void line_ends_at_the_last_blank_that_fits(void **state)
{
	(void)state;
	assert_int_equal(ncs_line_length("one two three", 7), 7);
	assert_int_equal(ncs_line_length("one two three", 12), 7);
	assert_int_equal(ncs_line_length("one two three", 13), 13);
	assert_int_equal(ncs_line_length("one", 80), 3);
	assert_int_equal(ncs_line_length("", 80), 0);
}

static void word_that_does_not_fit_is_cut(void **state)
{
	(void)state;
	assert_int_equal(ncs_line_length("abcdefgh", 3), 3);
	assert_int_equal(ncs_line_length("abcdefgh", 0), 1);
}

static void character_is_never_cut(void **state)
{
	(void)state;
	/* No terminal was started, so that ASCII is shown: "u" and "...". */
	assert_int_equal(ncs_line_length("\u00b5\u00b5\u00b5", 2), 4);
	assert_int_equal(ncs_line_length("\u2026\u2026", 5), 3);
	assert_int_equal(ncs_line_length("\u2026", 1), 3);
	/* A byte that is no character is shown in one column. */
	assert_int_equal(ncs_line_length("\xff\xff\xff", 2), 2);
}

static void line_of_any_length_is_bounded(void **state)
{
	char text[2000];
	size_t length;

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	length = ncs_line_length(text, INT16_MAX);
	assert_true(length > 500 && length < 512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_ends_at_the_last_blank_that_fits),
		cmocka_unit_test(word_that_does_not_fit_is_cut),
		cmocka_unit_test(character_is_never_cut),
		cmocka_unit_test(line_of_any_length_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
