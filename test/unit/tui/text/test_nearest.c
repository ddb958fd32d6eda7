/* SPDX-License-Identifier: MIT */
/* The nearest of some names is what was meant by a mistyped word. */
#include <string.h>

#include "test/unit/support/unit.h"
#include "tui/text/nearest.h"

/* Checks what is meant by a word; NULL: nothing. */
static void expect(const char *choices, const char *word, const char *meant)
{
	struct ncs_nearest nearest;

	ncs_nearest_begin(&nearest, word, strlen(word));
	ncs_nearest_try_choices(&nearest, choices);
	if (!meant) {
		assert_null(nearest.name);
		return;
	}
	assert_non_null(nearest.name);
	assert_int_equal(nearest.name_length, strlen(meant));
	assert_memory_equal(nearest.name, meant, strlen(meant));
}

#define NAMES "dump|diagnose|record|records|pid|SINCE"

TEST(each_kind_of_mistake_is_understood)
{
	expect(NAMES, "dump", "dump");
	expect(NAMES, "dmup", "dump");
	expect(NAMES, "dunp", "dump");
	expect(NAMES, "dum", "dump");
	expect(NAMES, "duump", "dump");
	expect(NAMES, "diagnoze", "diagnose");
	expect(NAMES, "digagnosis", "diagnose");
	expect(NAMES, "since", "SINCE");
	expect(NAMES, "recrod", "record");
	expect(NAMES, "recrods", "records");
	expect(NAMES, "pdi", "pid");
}

TEST(what_is_unlike_all_names_is_not_understood)
{
	expect(NAMES, "", NULL);
	expect(NAMES, "x", NULL);
	expect(NAMES, "xyz", NULL);
	expect(NAMES, "interval", NULL);
	expect(NAMES, "dddddddddddddddddddddddddddddddddddddddddddddump", NULL);
	expect("", "dump", NULL);
	expect("dddddddddddddddddddddddddddddddddddddddddddddump", "dump", NULL);
}

TEST(only_so_many_bytes_of_a_word_are_read)
{
	struct ncs_nearest nearest;
	char text[40] = "no option";

	ncs_nearest_begin(&nearest, "dmup=json", 4);
	ncs_nearest_try_choices(&nearest, NAMES);
	ncs_nearest_append(&nearest, "--", text, sizeof(text));
	assert_string_equal(text, "no option; did you mean --dump?");
	ncs_nearest_begin(&nearest, "interval", 8);
	ncs_nearest_try_choices(&nearest, NAMES);
	ncs_nearest_append(&nearest, "--", text, sizeof(text));
	assert_string_equal(text, "no option; did you mean --dump?");
}
