/* SPDX-License-Identifier: MIT */
/* Tests of details as text: which settings --set accepts and refuses, and that
 * written text can be parsed. */
#include <stdio.h>
#include <string.h>

#include "analysis/base/detail.h"
#include "analysis/base/value_names.h"
#include "test/unit/support/unit.h"

static struct ncs_change change;
static char error[256];

static void expect(const char *text)
{
	if (!ncs_change_parse(text, &change, error, sizeof(error)))
		fail_msg("'%s': %s", text, error);
}

/* Asserts that the error names the wrong text and the expected one. */
static void expect_error(const char *text, const char *wrong,
			 const char *expected)
{
	if (ncs_change_parse(text, &change, error, sizeof(error)))
		fail_msg("'%s' is accepted", text);
	if (!strstr(error, wrong) || !strstr(error, expected))
		fail_msg("'%s': \"%s\" does not have %s and %s", text, error,
			 wrong, expected);
}

TEST(item_changes_only_the_setting_it_names)
{
	expect("sample=16");
	assert_true(change.sample && !change.kernel && !change.groups);
	assert_int_equal(change.to.sample, 1 + 4);
	expect("events=all-control");
	assert_true(change.groups && !change.kernel && !change.sample);
	assert_int_equal(change.to.has_groups, 1);
	assert_int_equal(change.to.groups,
			 NCS_GROUPS_ALL & ~(1u << NCS_GROUP_CONTROL));
}

TEST(items_are_separated_by_commas_or_blanks)
{
	static const char *const lines[] = {
		"events=all-control,sample=2",
		"events=all-control   sample=2",
		" sample=2, events=all-control,",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		expect(lines[i]);
		assert_true(change.groups && !change.kernel && change.sample);
		assert_int_equal(change.to.sample, 2);
	}
}

TEST(timings_are_parsed)
{
	static const struct {
		const char *text;
		uint8_t timing;
	} cases[] = {
		{ "timing=default", NCS_TIMING_DETAIL_DEFAULT },
		{ "timing=off", NCS_TIMING_DETAIL_OFF },
		{ "timing=auto", NCS_TIMING_DETAIL_AUTO },
		{ "timing=all", NCS_TIMING_DETAIL_EVERY },
		{ "timing=1/1", NCS_TIMING_DETAIL_EVERY },
		{ "timing=1/64", NCS_TIMING_DETAIL_EVERY + 6 },
		{ "timing=1/1048576",
		  NCS_TIMING_DETAIL_EVERY + NCS_TIMING_DETAIL_LOG2_MAX },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		expect(cases[i].text);
		assert_true(change.timing && !change.groups && !change.kernel &&
			    !change.sample);
		assert_int_equal(change.to.timing, cases[i].timing);
	}
}

TEST(default_resets_all_settings)
{
	expect("default");
	assert_true(change.groups && change.kernel && change.sample &&
		    change.timing);
	assert_int_equal(ncs_detail_pack(&change.to), 0);
	expect("events=default,sample=default");
	assert_true(change.groups && change.sample && !change.kernel);
	assert_int_equal(ncs_detail_pack(&change.to), 0);
}

TEST(groups_are_removed_and_added)
{
	expect("events=all");
	assert_int_equal(change.to.groups, NCS_GROUPS_ALL);
	expect("events=none");
	assert_int_equal(change.to.groups, 1u << NCS_GROUP_CALLS);
	expect("events=none+proxy+steps");
	assert_int_equal(change.to.groups, 1u << NCS_GROUP_CALLS |
						   1u << NCS_GROUP_PROXY |
						   1u << NCS_GROUP_STEPS);
	/* Groups that need the removed one are removed, too. */
	expect("events=all-proxy");
	assert_int_equal(change.to.groups,
			 NCS_GROUPS_ALL & ~(1u << NCS_GROUP_PROXY |
					    1u << NCS_GROUP_STEPS |
					    1u << NCS_GROUP_NETWORK));
	expect("events=all-copies-launches");
	assert_int_equal(change.to.groups,
			 NCS_GROUPS_ALL & ~(1u << NCS_GROUP_COPIES |
					    1u << NCS_GROUP_LAUNCHES));
}

TEST(malformed_setting_is_refused_with_an_explanation)
{
	expect_error("", "events=", "default");
	expect_error(" , ", "events=", "default");
	expect_error("more", "'more'", "sample=");
	expect_error("sample", "'sample'", "sample=");
	expect_error("kernel=", "kernel=", "NCCLSTAT_KERNEL_TIMING");
	expect_error("kernel=always", "kernel=", "off or always");
	expect_error("kernel=sampled:64", "kernel=", "off or always");
	expect_error("kernel=default", "kernel=", "off or always");
	expect_error("timing=", "''", "auto");
	expect_error("timing=on", "'on'", "1/N");
	expect_error("timing=1/", "'1/'", "power of two");
	expect_error("timing=1/3", "'1/3'", "power of two");
	expect_error("timing=64", "'64'", "1/N");
	expect_error("sample=0", "'0'", "power of two");
	expect_error("sample=12", "'12'", "power of two");
	expect_error("sample=1.5", "'1.5'", "power of two");
	expect_error("sample=4294967296", "'4294967296'", "16384");
	expect_error("sample=18446744073709551617", "", "power of two");
	expect_error("events=", "''", "all[-GROUP]");
	expect_error("events=steps", "'steps'", "all[-GROUP]");
	expect_error("events=all+steps", "'+steps'", "proxy, steps");
	expect_error("events=none-steps", "'-steps'", "proxy, steps");
	expect_error("events=all-stepping", "'-stepping'", "proxy, steps");
	expect_error("events=all-", "'-'", "proxy, steps");
	expect_error("events=all--steps", "'--steps'", "proxy, steps");
	expect_error("events=all-steps-", "'-'", "proxy, steps");
	expect_error("events=all-calls", "calls", "cannot be left out");
	expect_error("events=none+network", "network", "without steps");
	expect_error("sample=2,kernel=off", "kernel=", "off or always");
}

TEST(written_detail_is_parsed_to_the_same)
{
	unsigned read = 0;

	for (uint64_t bits = 0; bits < UINT64_C(1) << NCS_DETAIL_BITS; bits++) {
		struct ncs_detail detail;
		char text[160];

		/* Kernel timing is only written. */
		if (!ncs_detail_unpack(bits, &detail) || detail.kernel != 0 ||
		    (detail.timing > NCS_TIMING_DETAIL_EVERY &&
		     detail.sample > 1))
			continue;
		ncs_detail_text(&detail, text, sizeof(text));
		expect(text);
		if (ncs_detail_pack(&change.to) != bits)
			fail_msg("%s is read as %#x, not %#x", text,
				 (unsigned)ncs_detail_pack(&change.to),
				 (unsigned)bits);
		read++;
	}
	assert_true(read > 1000);
}

TEST(note_names_unusual_settings)
{
	static const struct {
		struct ncs_detail detail;
		const char *note;
		enum ncs_kernel_status status;
	} cases[] = {
		{ { 1, NCS_GROUPS_ALL, NCS_KERNEL_DETAIL_OFF, 1, 0 },
		  "",
		  NCS_KERNEL_OFF },
		{ { 0 }, "", NCS_KERNEL_UNKNOWN },
		{ { 1, NCS_GROUPS_ALL, NCS_KERNEL_DETAIL_EVERY + 6, 1, 0 },
		  "kernel 1/64",
		  NCS_KERNEL_UNKNOWN },
		{ { 1, NCS_GROUPS_ALL, NCS_KERNEL_DETAIL_ALWAYS, 5, 0 },
		  "kernel always, sample 1/16",
		  NCS_KERNEL_ALWAYS },
		{ { 1, NCS_GROUPS_ALL & ~(1u << NCS_GROUP_CONTROL),
		    NCS_KERNEL_DETAIL_AUTO, 1, 0 },
		  "kernel auto, no control",
		  NCS_KERNEL_SAMPLED },
		{ { 1,
		    1u << NCS_GROUP_CALLS | 1u << NCS_GROUP_OPERATIONS |
			    1u << NCS_GROUP_PROXY | 1u << NCS_GROUP_STEPS,
		    NCS_KERNEL_DETAIL_OFF, 1, 0 },
		  "no network/control/launches/copies",
		  NCS_KERNEL_OFF },
		{ { 1, NCS_GROUPS_ALL, NCS_KERNEL_DETAIL_EVERY + 6, 1, 0 },
		  "kernel 1/64",
		  NCS_KERNEL_SAMPLED },
		{ { 1, NCS_GROUPS_ALL, NCS_KERNEL_DETAIL_EVERY + 6, 2, 0 },
		  "kernel several, sample 1/2",
		  NCS_KERNEL_SEVERAL },
		{ { 1, NCS_GROUPS_ALL, NCS_KERNEL_DETAIL_OFF, 1, 0 },
		  "",
		  NCS_KERNEL_RELEASE },
		{ { 1, NCS_GROUPS_ALL, NCS_KERNEL_DETAIL_OFF, 1, 0 },
		  "kernel chained",
		  NCS_KERNEL_CHAINED },
		{ { 1, NCS_GROUPS_ALL, NCS_KERNEL_DETAIL_OFF, 1,
		    NCS_TIMING_DETAIL_AUTO },
		  "",
		  NCS_KERNEL_OFF },
		{ { 1, NCS_GROUPS_ALL, NCS_KERNEL_DETAIL_OFF, 4,
		    NCS_TIMING_DETAIL_EVERY + 3 },
		  "timing 1/8, sample 1/8",
		  NCS_KERNEL_OFF },
	};
	char text[160];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ncs_detail_note(&cases[i].detail, cases[i].status, text,
				sizeof(text));
		assert_string_equal(text, cases[i].note);
	}
}

TEST(expired_lease_has_no_time_left)
{
	struct ncs_settings_view settings = { .lease_until_ns = 1000 };

	assert_int_equal(ncs_lease_left_ns(&settings, 400), 600);
	assert_int_equal(ncs_lease_left_ns(&settings, 1000), 0);
	assert_int_equal(ncs_lease_left_ns(&settings, 5000), 0);
	settings.lease_until_ns = UINT64_MAX;
	assert_int_equal(ncs_lease_left_ns(&settings, 400), 0);
}

TEST(numbers_out_of_range_have_a_name)
{
	assert_string_equal(ncs_event_name(NCS_EVENT_SETTINGS), "settings");
	assert_string_equal(ncs_event_name(NCS_EVENT_MAX - 1), "unknown");
	assert_string_equal(ncs_event_name(255), "unknown");
	assert_string_equal(ncs_event_group_name(99), "unknown");
	assert_string_equal(ncs_refusal_name(99), "unknown");
	assert_non_null(ncs_refusal_help(99));
}
