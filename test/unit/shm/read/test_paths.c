/* SPDX-License-Identifier: MIT */
/* Listing of segments by name, and the directory they are in. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/reader.h"
#include "shm/read/paths.h"
#include "test/unit/support/segment_fixture.h"
#include "test/unit/support/unit.h"

static void touch(struct segment_fixture *fixture, const char *name)
{
	FILE *file = fopen(segment_fixture_path(fixture, name), "w");

	assert_non_null(file);
	fclose(file);
}

UNIT_FIXTURE(segment_fixture_setup_bare, segment_fixture_teardown)

TEST(segments_are_listed_in_numeric_order)
{
	static const char *const names[] = {
		"ncclstat.9.100.0",  "ncclstat.10.5.0",  "ncclstat.10.20.2",
		"ncclstat.10.20.10", "ncclstat.100.1.0",
	};
	struct segment_fixture *fixture = *state;
	struct ncs_paths paths;

	for (size_t i = 5; i-- > 0;)
		touch(fixture, names[i]);
	touch(fixture, "ncclstatus");
	touch(fixture, "nccl-segment");
	touch(fixture, ".ncclstat.1.2.3");
	assert_int_equal(ncs_discover(fixture->directory, &paths), 0);
	assert_int_equal(paths.count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(paths.path[i],
				    segment_fixture_path(fixture, names[i]));
	ncs_paths_release(&paths);
	assert_int_equal(paths.count, 0);
	assert_null(paths.path);
}

TEST(all_of_many_segments_are_listed)
{
	struct segment_fixture *fixture = *state;
	struct ncs_paths paths;
	char name[32];

	for (unsigned i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "ncclstat.%u.1.0", i);
		touch(fixture, name);
	}
	assert_int_equal(ncs_discover(fixture->directory, &paths), 0);
	assert_int_equal(paths.count, 300);
	for (unsigned i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "ncclstat.%u.1.0", i);
		assert_string_equal(paths.path[i],
				    segment_fixture_path(fixture, name));
	}
	ncs_paths_release(&paths);
}

TEST(empty_directory_has_no_segments)
{
	struct segment_fixture *fixture = *state;
	struct ncs_paths paths;

	assert_int_equal(ncs_discover(fixture->directory, &paths), 0);
	assert_int_equal(paths.count, 0);
	ncs_paths_release(&paths);
}

TEST(unreadable_directory_is_an_error)
{
	struct segment_fixture *fixture = *state;
	struct ncs_paths paths;

	assert_int_equal(ncs_discover(segment_fixture_path(fixture, "absent"),
				      &paths),
			 -ENOENT);
	touch(fixture, "file");
	assert_int_equal(ncs_discover(segment_fixture_path(fixture, "file"),
				      &paths),
			 -ENOTDIR);
}

TEST_WITH(directory_is_argument_or_environment_or_default, NULL, NULL)
{
	unsetenv("NCCLSTAT_DIR");
	assert_string_equal(ncs_directory(NULL), "/dev/shm");
	assert_string_equal(ncs_directory("/given"), "/given");
	setenv("NCCLSTAT_DIR", "", 1);
	assert_string_equal(ncs_directory(NULL), "/dev/shm");
	setenv("NCCLSTAT_DIR", "/variable", 1);
	assert_string_equal(ncs_directory(NULL), "/variable");
	assert_string_equal(ncs_directory("/given"), "/given");
	unsetenv("NCCLSTAT_DIR");
}

TEST(no_job_publishes_on_a_file_system_of_files)
{
	const struct segment_fixture *fixture = *state;

	assert_true(ncs_directory_can_have_jobs(fixture->directory));
	assert_string_equal(ncs_directory_clause(fixture->directory), "");
	assert_false(ncs_directory_can_have_jobs("/proc"));
	assert_non_null(strstr(ncs_directory_clause("/proc"), "no job"));
	assert_true(ncs_directory_can_have_jobs("/proc/none"));
}
