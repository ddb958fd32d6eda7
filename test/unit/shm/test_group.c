/* SPDX-License-Identifier: MIT */
/* Groups are found by number and by name. */
#include <errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "shm/group.h"
#include "test/unit/support/unit.h"

static void expect(const char *name, int error, gid_t wanted)
{
	gid_t group = 77;

	assert_int_equal(ncs_group_find(name, &group), error);
	assert_int_equal(group, error ? 77 : wanted);
}

TEST(numbers_are_taken_as_they_are)
{
	expect("0", 0, 0);
	expect("54321", 0, 54321);
	expect("4294967294", 0, 4294967294u);
}

TEST(names_are_those_of_the_file)
{
	expect("root", 0, 0);
	expect("no-such-group", -ENOENT, 0);
}

TEST(nonsense_is_no_group)
{
	expect("", -ENOENT, 0);
	expect("-1", -ENOENT, 0);
	expect("12x", -ENOENT, 0);
	expect("4294967295", -ENOENT, 0);
	expect("99999999999999999999", -ENOENT, 0);
	expect("root:x:0:", -ENOENT, 0);
}

/* Clusters have groups of thousands of users. */
TEST(groups_may_have_very_many_members)
{
	char path[] = "/tmp/ncclstat-groups.XXXXXX";
	int descriptor = mkstemp(path);
	FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
	gid_t group = 0;

	assert_non_null(file);
	fputs("ops-old:x:1:\nall:x:100:", file);
	for (unsigned i = 0; i < 50000; i++)
		fprintf(file, "user%u,", i);
	fputs("last\nbroken:x\nnumberless:x::\n\nops:x:4711:ann,bob\nend:x:9:",
	      file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(ncs_group_find_name(path, "ops", &group), 0);
	assert_int_equal(group, 4711);
	assert_int_equal(ncs_group_find_name(path, "all", &group), 0);
	assert_int_equal(group, 100);
	assert_int_equal(ncs_group_find_name(path, "end", &group), 0);
	assert_int_equal(group, 9);
	assert_int_equal(ncs_group_find_name(path, "op", &group), -ENOENT);
	assert_int_equal(ncs_group_find_name(path, "broken", &group), -ENOENT);
	assert_int_equal(ncs_group_find_name(path, "numberless", &group),
			 -ENOENT);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ncs_group_find_name(path, "ops", &group), -ENOENT);
}
