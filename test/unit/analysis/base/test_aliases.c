/* SPDX-License-Identifier: MIT */
/* Tests of the user's names for communicators: the syntax of the file, and
 * which communicators it names. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/aliases.h"

#include "ncclstat/abi_identity.h"
#include "test/unit/support/unit.h"

static struct ncs_identity named(uint64_t id, const char *name)
{
	struct ncs_identity identity = { .known = NCS_KNOWN_COMM_ID,
					 .comm_id = id };

	if (name)
		identity.known |= NCS_KNOWN_COMM_NAME;
	snprintf(identity.comm_name, sizeof(identity.comm_name), "%s",
		 name ? name : "");
	return identity;
}

static void check_name(const struct ncs_aliases *aliases,
		       struct ncs_identity identity, const char *expected)
{
	ncs_aliases_apply(aliases, &identity);
	assert_string_equal(identity.comm_name, expected);
	assert_int_equal(identity.known & NCS_KNOWN_COMM_NAME,
			 expected[0] ? NCS_KNOWN_COMM_NAME : 0);
}

TEST(first_matching_pattern_gives_the_name)
{
	struct ncs_aliases aliases;
	unsigned line;

	assert_int_equal(ncs_aliases_parse(&aliases,
					   "# groups\n"
					   "\n"
					   "  tp_*\ttensor parallel  \r\n"
					   "tp_1 never\n"
					   "00000000000000ab   data",
					   &line),
			 0);
	assert_int_equal(aliases.count, 3);
	check_name(&aliases, named(1, "tp_1"), "tensor parallel");
	check_name(&aliases, named(0xab, NULL), "data");
	check_name(&aliases, named(0xab, "dp"), "data");
	check_name(&aliases, named(2, "dp"), "dp");
	check_name(&aliases, named(2, NULL), "");
	ncs_aliases_release(&aliases);
}

TEST(line_of_a_pattern_without_a_name_is_reported)
{
	struct ncs_aliases aliases;
	unsigned line;

	assert_int_equal(ncs_aliases_parse(&aliases, "a b\n\n tp \nc d\n",
					   &line),
			 -EINVAL);
	assert_int_equal(line, 3);
	ncs_aliases_release(&aliases);
}

TEST(unknown_communicator_matches_no_pattern)
{
	struct ncs_identity identity = { 0 };
	struct ncs_aliases aliases;
	unsigned line;

	assert_int_equal(ncs_aliases_parse(&aliases, "* all\n", &line), 0);
	check_name(&aliases, identity, "");
	ncs_aliases_release(&aliases);
}

TEST(long_name_is_cut)
{
	struct ncs_aliases aliases;
	char text[600] = "* ";
	struct ncs_identity identity = named(1, NULL);
	unsigned line;

	memset(text + 2, 'x', sizeof(text) - 3);
	assert_int_equal(ncs_aliases_parse(&aliases, text, &line), 0);
	ncs_aliases_apply(&aliases, &identity);
	assert_int_equal(strlen(identity.comm_name),
			 sizeof(identity.comm_name) - 1);
	ncs_aliases_release(&aliases);
}
