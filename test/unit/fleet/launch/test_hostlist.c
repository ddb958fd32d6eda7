/* SPDX-License-Identifier: MIT */
/* Tests of lists of hosts: what they expand to, the position of what is wrong,
 * limits, and the same result as nodeset and scontrol where these are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/append.h"
#include "fleet/launch/hostlist.h"
#include "test/unit/support/unit.h"

/* Stores a list's names, separated by commas, or the error. */
static void expand(const char *text, char *names, size_t size)
{
	struct ncs_hostlist list = { .count = 0 };
	char error[200] = "";

	names[0] = 0;
	if (ncs_hostlist_add(&list, text, error, sizeof(error)) != 0)
		snprintf(names, size, "%s", error);
	else
		for (size_t i = 0; i < list.count; i++)
			ncs_append(names, size, "%s%s", i > 0 ? "," : "",
				   list.hosts[i]->name);
	ncs_hostlist_release(&list);
}

static const struct {
	const char *text;
	const char *names;
	bool is_of_slurm; /* Slurm understands it as well */
} good[] = {
	{ "n1", "n1", true },
	{ "n[1-3]", "n1,n2,n3", true },
	{ "n[01-03]", "n01,n02,n03", true },
	{ "n[08-11]", "n08,n09,n10,n11", true },
	{ "n[1,3-5]", "n1,n3,n4,n5", true },
	{ "n[5,1]", "n5,n1", true },
	{ "n[1-1]", "n1", true },
	{ "n[00-02,010]", "n00,n01,n02,n010", true },
	{ "n[1-10/3]", "n1,n4,n7,n10", false },
	{ "n[01-09/4]", "n01,n05,n09", false },
	{ "n[1-3]i[1-2]", "n1i1,n1i2,n2i1,n2i2,n3i1,n3i2", true },
	{ "n[1-2]-ib", "n1-ib,n2-ib", false },
	{ "n[1-2]3", "n13,n23", false },
	{ "a,b,n[1-2],c", "a,b,n1,n2,c", true },
	{ "n1,n1,n[1-2]", "n1,n2", false },
	{ "n-1.example.com", "n-1.example.com", true },
	{ "root@n[1-2]", "root@n1,root@n2", false },
	{ "[1-3]", "1,2,3", false },
	{ "n[ 1-2 ]", "n1,n2", false },
};

TEST(lists_expand)
{
	char names[1000];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		expand(good[i].text, names, sizeof(names));
		assert_string_equal(names, good[i].names);
	}
	expand(" a  b,\n c\n", names, sizeof(names));
	assert_string_equal(names, "a,b,c");
	expand("n[1-2]5[1-2]", names, sizeof(names));
	assert_string_equal(names, "n151,n152,n251,n252");
	expand("n[98-101]", names, sizeof(names));
	assert_string_equal(names, "n98,n99,n100,n101");
	/* Slurm takes it; ClusterShell does not. */
	expand("n[099-101]", names, sizeof(names));
	assert_string_equal(names, "n099,n100,n101");
}

TEST(errors_say_where_and_why)
{
	static const char *const bad[][2] = {
		{ "", "character 1: a name is expected here" },
		{ "  ", "character 3: a name is expected here" },
		{ "n1,,n2", "character 4: a name is expected here" },
		{ ",n1", "character 1: a name is expected here" },
		{ "n[3-1]", "character 3: the range goes backwards" },
		{ "n[1-2", "character 2: ']' is missing" },
		{ "n1,n[1", "character 5: ']' is missing" },
		{ "n]1", "character 2: '[' is missing" },
		{ "n[1-2]]", "character 7: '[' is missing" },
		{ "n[]", "character 3: a number is expected here" },
		{ "n[1,]", "character 5: a number is expected here" },
		{ "n[a]", "character 3: a number is expected here" },
		{ "n[1-]", "character 5: a number is expected here" },
		{ "n[1x]",
		  "character 4: ',', '-', '/' or ']' is expected here" },
		{ "n[1-3/0]",
		  "character 7: a step of 1 or more is expected here" },
		{ "n[1-3/]",
		  "character 7: a step of 1 or more is expected here" },
		{ "n[1-010]",
		  "character 3: its numbers have different padding" },
		{ "a,-oProxyCommand=x",
		  "character 3: no name begins with a '-'" },
		{ "a;b",
		  "character 2: this character is in no name of a host" },
		{ "a,n$(x)",
		  "character 4: this character is in no name of a host" },
		{ "n[1234567890123456789]",
		  "character 3: a number is expected here" },
		{ "n[1-65537]",
		  "character 11: there are more than 65536 names" },
		{ "n[1-999999999999999999]",
		  "character 24: there are more than 65536 names" },
		{ "n[1-300]i[1-300]",
		  "character 17: there are more than 65536 names" },
	};
	char names[1000], long_name[600];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		expand(bad[i][0], names, sizeof(names));
		assert_string_equal(names, bad[i][1]);
	}
	memset(long_name, 'n', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = 0;
	expand(long_name, names, sizeof(names));
	assert_string_equal(names, "character 1: the name is too long");
	memcpy(long_name + 254, "[1-90]", 7);
	expand(long_name, names, sizeof(names));
	assert_string_equal(names, "character 261: the name is too long");
}

TEST(as_many_names_as_allowed_fit)
{
	struct ncs_hostlist list = { .count = 0 };
	char error[200];

	assert_int_equal(
		ncs_hostlist_add(&list, "n[1-65536]", error, sizeof(error)), 0);
	assert_int_equal(list.count, 65536);
	assert_true(ncs_hostlist_has(&list, "n65536"));
	assert_false(ncs_hostlist_has(&list, "n65537"));
	ncs_hostlist_release(&list);
	assert_int_equal(list.count, 0);
}

TEST(excluded_names_are_gone)
{
	struct ncs_hostlist list = { .count = 0 }, excluded = { .count = 0 };
	char error[200];

	ncs_hostlist_add(&list, "n[1-5]", error, sizeof(error));
	ncs_hostlist_add(&excluded, "n[2-3],n5,n9", error, sizeof(error));
	ncs_hostlist_exclude(&list, &excluded);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.hosts[0]->name, "n1");
	assert_string_equal(list.hosts[1]->name, "n4");
	assert_false(ncs_hostlist_has(&list, "n2"));
	assert_int_equal(ncs_hostlist_add(&list, "n2", error, sizeof(error)),
			 0);
	assert_int_equal(list.count, 3);
	ncs_hostlist_release(&list);
	ncs_hostlist_release(&excluded);
}

TEST(nodeset_is_needed_for_groups_and_sets_only)
{
	assert_true(ncs_hostlist_needs_nodeset("@gpu"));
	assert_true(ncs_hostlist_needs_nodeset("n1,@gpu"));
	assert_true(ncs_hostlist_needs_nodeset("n[1-3]!n2"));
	assert_true(ncs_hostlist_needs_nodeset("n[1-3]&n2"));
	assert_true(ncs_hostlist_needs_nodeset("n[1-3]^n2"));
	assert_false(ncs_hostlist_needs_nodeset("root@n1"));
	assert_false(ncs_hostlist_needs_nodeset("n[1-3/2],b"));
}

/* --- The real programs --------------------------------------------------- */

/* Stores what a program prints, its lines joined by commas, sorted and each
 * once. Returns false if it fails. */
static bool ask(const char *command, const char *text, char *names, size_t size)
{
	char line[4200];
	FILE *pipe;

	names[0] = 0;
	snprintf(line, sizeof(line),
		 "{ %s '%s' | sort -u | paste -sd,; } 2>/dev/null", command,
		 text);
	pipe = popen(line, "r");
	assert_non_null(pipe);
	if (!fgets(names, (int)size, pipe))
		names[0] = 0;
	names[strcspn(names, "\n")] = 0;
	return pclose(pipe) == 0 && names[0];
}

static void compare(const char *command, bool slurm_only)
{
	char theirs[4000], ours[4000], sorted[4000];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (slurm_only && !good[i].is_of_slurm)
			continue;
		expand(good[i].text, ours, sizeof(ours));
		if (!ask(command, good[i].text, theirs, sizeof(theirs)))
			fail_msg("%s %s fails", command, good[i].text);
		/* Sorts our names as theirs are. */
		ask("f() { echo \"$1\" | tr , '\\n'; }; f", ours, sorted,
		    sizeof(sorted));
		assert_string_equal(sorted, theirs);
	}
}

TEST(nodeset_expands_the_same)
{
	char names[100];

	if (!ask("nodeset -e", "n1", names, sizeof(names)))
		skip();
	compare("nodeset -e -S '\\n'", false);
}

TEST(scontrol_expands_the_same)
{
	char path[] = "/tmp/ncclstat-slurm.XXXXXX", names[100];
	int file = mkstemp(path);

	assert_true(file >= 0);
	dprintf(file, "ClusterName=test\nSlurmctldHost=localhost\n"
		      "NodeName=localhost\n"
		      "PartitionName=all Nodes=localhost\n");
	close(file);
	setenv("SLURM_CONF", path, 1);
	if (!ask("scontrol show hostnames", "n1", names, sizeof(names))) {
		unlink(path);
		skip();
	}
	compare("scontrol show hostnames", true);
	unlink(path);
}
