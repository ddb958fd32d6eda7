/* SPDX-License-Identifier: MIT */
/* Tests of the key table: every name in it is a key, no key has two actions,
 * and the codes of different terminals are understood. test_screens tests that
 * each action has an effect. */
#include <stdio.h>
#include <string.h>

#include "test/unit/support/unit.h"
#include "tui/term/curses.h"
#include "tui/term/keys.h"

static enum ncs_action action_of(const char *name)
{
	return ncs_key_action(ncs_key_code(name, strlen(name)));
}

TEST(every_key_name_decodes_to_its_action)
{
	for (size_t i = 0; i < NCS_ACTION_COUNT - 1; i++) {
		const char *names = ncs_keys[i].keys;
		size_t length, count = 0;

		while ((length = ncs_key_next_name(&names)) > 0) {
			int code = ncs_key_code(names, length);

			assert_true(code >= 0);
			/* A second action of the key would hide this one. */
			assert_int_equal(ncs_key_action(code),
					 ncs_keys[i].action);
			names += length;
			count++;
		}
		assert_true(count > 0);
	}
}

TEST(key_table_is_complete)
{
	for (size_t i = 0; i < NCS_ACTION_COUNT - 1; i++) {
		assert_int_equal(ncs_keys[i].action, i + 1);
		assert_true(ncs_keys[i].group < NCS_KEY_GROUP_COUNT);
		assert_true(strlen(ncs_keys[i].help) > 0);
	}
}

static bool is_function_key(const char *name, size_t length)
{
	int code = ncs_key_code(name, length);

	return code >= KEY_F(1) && code <= KEY_F(24);
}

TEST(function_keys_have_letter_equivalents)
{
	for (size_t i = 0; i < NCS_ACTION_COUNT - 1; i++) {
		const char *names = ncs_keys[i].keys;
		size_t length, function_keys = 0, others = 0;

		/* F9 does nothing, and so needs no letter. */
		if (ncs_keys[i].action == NCS_ACTION_NO_KILL)
			continue;
		while ((length = ncs_key_next_name(&names)) > 0) {
			if (is_function_key(names, length))
				function_keys++;
			else
				others++;
			names += length;
		}
		assert_true(function_keys == 0 || others > 0);
	}
}

TEST(function_bar_has_unique_numbers)
{
	unsigned seen = 0;

	for (size_t i = 0; i < NCS_ACTION_COUNT - 1; i++) {
		unsigned number = ncs_key_bar_number(&ncs_keys[i]);

		assert_true((number > 0) == (ncs_keys[i].label[0] != '\0'));
		assert_true(number == 0 || !(seen & 1u << number));
		seen |= 1u << number;
	}
	assert_true(seen & 1u << 1);
	assert_true(seen & 1u << 10);
}

TEST(codes_of_different_terminals_are_normalized)
{
	assert_int_equal(ncs_key_action('\r'), NCS_ACTION_ENTER);
	assert_int_equal(ncs_key_action('\n'), NCS_ACTION_ENTER);
	assert_int_equal(ncs_key_action(KEY_ENTER), NCS_ACTION_ENTER);
	assert_int_equal(ncs_key_action(0x7f), NCS_ACTION_BACK);
	assert_int_equal(ncs_key_action(8), NCS_ACTION_BACK);
	assert_int_equal(ncs_key_action(KEY_BACKSPACE), NCS_ACTION_BACK);
	assert_int_equal(ncs_key_action(27), NCS_ACTION_BACK);
	assert_int_equal(ncs_key_action(KEY_F(15)), NCS_ACTION_SEARCH_PREVIOUS);
	assert_int_equal(ncs_key_action(3), NCS_ACTION_QUIT);
	assert_int_equal(ncs_key_action('y'), NCS_ACTION_NONE);
	assert_int_equal(ncs_key_action(-1), NCS_ACTION_NONE);
	assert_int_equal(ncs_key_action(0), NCS_ACTION_NONE);
	assert_int_equal(ncs_key_action(KEY_RESIZE), NCS_ACTION_NONE);
}

TEST(tmux_key_names_are_understood)
{
	assert_int_equal(action_of("NPage"), NCS_ACTION_PAGE_DOWN);
	assert_int_equal(action_of("PageUp"), NCS_ACTION_PAGE_UP);
	assert_int_equal(action_of("Escape"), NCS_ACTION_BACK);
	assert_int_equal(action_of("BSpace"), NCS_ACTION_BACK);
	assert_int_equal(action_of("BTab"), NCS_ACTION_VIEW_PREVIOUS);
	assert_int_equal(action_of("C-l"), NCS_ACTION_REPAINT);
	assert_int_equal(action_of("S-F3"), NCS_ACTION_SEARCH_PREVIOUS);
	assert_int_equal(ncs_key_code("Nonsense", 8), -1);
	assert_int_equal(ncs_key_code("F13", 3), -1);
	assert_int_equal(ncs_key_code("F0", 2), -1);
	assert_int_equal(ncs_key_code("Ctrl-1", 6), -1);
}
