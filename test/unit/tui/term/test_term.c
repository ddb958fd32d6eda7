/* SPDX-License-Identifier: MIT */
/* Tests of the terminal's input: keys are recognized, mouse reports are
 * recognized in all forms, and other sequences do not turn into keys. */
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/unit/support/unit.h"
#include "tui/term/curses.h"
#include "tui/term/term.h"

static FILE *output, *input;
static int sender;

static int start(void **state)
{
	struct ncs_term_config config = {
		.type = "xterm-256color",
		.height = 24,
		.width = 80,
	};
	int ends[2];

	(void)state;
	setlocale(LC_CTYPE, "C");
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	sender = ends[1];
	output = fopen("/dev/null", "we");
	input = fdopen(ends[0], "r");
	config.output = output;
	config.input = input;
	return ncs_term_start(&config);
}

static int stop(void **state)
{
	(void)state;
	ncs_term_stop();
	fclose(output);
	fclose(input);
	close(sender);
	return 0;
}

static void send_bytes(const char *bytes, size_t length)
{
	assert_int_equal(write(sender, bytes, length), length);
}

/* Asserts that the next input is this mouse event. */
static void expect_mouse(const char *bytes, enum ncs_mouse_kind kind, int y,
			 int x)
{
	struct ncs_mouse mouse;

	send_bytes(bytes, strlen(bytes));
	assert_true(ncs_term_mouse(ncs_term_key(), &mouse));
	assert_int_equal(mouse.kind, kind);
	if (kind != NCS_MOUSE_OTHER) {
		assert_int_equal(mouse.y, y);
		assert_int_equal(mouse.x, x);
	}
	assert_int_equal(ncs_term_key(), -1);
}

UNIT_FIXTURE(start, stop)

TEST(mouse_reports_are_decoded)
{
	ncs_term_set_mouse(true);
	assert_true(ncs_term_has_mouse());
	expect_mouse("\033[<0;1;1M", NCS_MOUSE_CLICK, 0, 0);
	expect_mouse("\033[<0;300;100M", NCS_MOUSE_CLICK, 99, 299);
	expect_mouse("\033[<16;5;6M", NCS_MOUSE_CLICK, 5, 4); /* with Ctrl */
	expect_mouse("\033[<64;5;6M", NCS_MOUSE_WHEEL_UP, 5, 4);
	expect_mouse("\033[<65;5;6M", NCS_MOUSE_WHEEL_DOWN, 5, 4);
	expect_mouse("\033[<66;5;6M", NCS_MOUSE_OTHER, 0, 0);
	expect_mouse("\033[<2;5;6M", NCS_MOUSE_OTHER, 0, 0);
	expect_mouse("\033[<35;5;6M", NCS_MOUSE_OTHER, 0, 0);
	expect_mouse("\033[<0;5;6m", NCS_MOUSE_OTHER, 0, 0); /* release */
	expect_mouse("\033[M !!", NCS_MOUSE_CLICK, 0, 0);
	expect_mouse("\033[M`%&", NCS_MOUSE_WHEEL_UP, 5, 4);
	expect_mouse("\033[M#%&", NCS_MOUSE_OTHER, 0, 0);
}

/* An unknown sequence must not be read as the keys that its characters stand
 * for. */
TEST(unknown_sequence_is_one_unknown_key)
{
	static const char *const wrong[] = {
		"\033[<0;5M", "\033[<M",       "\033[<0;5;6;7M",
		"\033[<;x",   "\033[>0;95;0c", "\033[M",
	};

	ncs_term_set_mouse(true);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		send_bytes(wrong[i], strlen(wrong[i]));
		assert_int_equal(ncs_term_key(), 0);
		assert_int_equal(ncs_term_key(), -1);
	}
}

TEST(mouse_report_is_an_unknown_key_while_the_mouse_is_off)
{
	struct ncs_mouse mouse;

	assert_false(ncs_term_has_mouse());
	send_bytes("\033[<0;5;6M", 9);
	assert_false(ncs_term_mouse(ncs_term_key(), &mouse));
	assert_int_equal(ncs_term_key(), -1);
}

TEST(keys_are_not_taken_for_the_mouse)
{
	ncs_term_set_mouse(true);
	send_bytes("M<\033OA", 5);
	assert_int_equal(ncs_term_key(), 'M');
	assert_int_equal(ncs_term_key(), '<');
	assert_int_equal(ncs_term_key(), KEY_UP);
	assert_int_equal(ncs_term_key(), -1);
}

TEST(any_input_ends)
{
	static const char pieces[] = "\033\033[[<<;;MMm0123456789O~ \377\001";
	uint32_t seed = 11;
	char bytes[64];

	ncs_term_set_mouse(true);
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 1664525u + 1013904223u;
			bytes[i] = pieces[(seed >> 16) % (sizeof(pieces) - 1)];
		}
		send_bytes(bytes, sizeof(bytes));
		for (size_t i = 0; ncs_term_key() >= 0; i++)
			assert_true(i < sizeof(bytes));
	}
}
