/* SPDX-License-Identifier: MIT */
/* Tests of scripts of keys: lines become keys, waits and saves. */
#include <stdio.h>
#include <string.h>

#include "test/unit/support/unit.h"
#include "tui/screen/key_script.h"
#include "tui/term/curses.h"

static void assert_next(struct ncs_script *script,
			enum ncs_script_step_kind kind, int code)
{
	struct ncs_script_step step;

	ncs_script_next(script, &step);
	assert_int_equal(step.kind, kind);
	if (kind == NCS_SCRIPT_KEY)
		assert_int_equal(step.code, code);
}

TEST(script_yields_keys_waits_and_saves_in_order)
{
	char text[] = "Down\n\nab\nwait 1.5\nF10\nawait two words\nsave /tmp/x\nq";
	struct ncs_script script = { .text = text };
	struct ncs_script_step step;

	assert_next(&script, NCS_SCRIPT_KEY, KEY_DOWN);
	assert_next(&script, NCS_SCRIPT_KEY, 'a');
	assert_next(&script, NCS_SCRIPT_KEY, 'b');
	ncs_script_next(&script, &step);
	assert_int_equal(step.kind, NCS_SCRIPT_WAIT);
	assert_true(step.wait_ns == 1500000000);
	assert_next(&script, NCS_SCRIPT_KEY, KEY_F(10));
	ncs_script_next(&script, &step);
	assert_int_equal(step.kind, NCS_SCRIPT_AWAIT);
	assert_string_equal(step.text, "two words");
	ncs_script_next(&script, &step);
	assert_int_equal(step.kind, NCS_SCRIPT_SAVE);
	assert_string_equal(step.text, "/tmp/x");
	assert_next(&script, NCS_SCRIPT_KEY, 'q');
	assert_next(&script, NCS_SCRIPT_END, 0);
	assert_next(&script, NCS_SCRIPT_END, 0);
}

TEST(reading_a_missing_script_fails)
{
	struct ncs_script script;

	assert_true(ncs_script_read(&script, "/nonexistent/script") < 0);
	assert_true(ncs_script_read(&script, "/") < 0);
}
