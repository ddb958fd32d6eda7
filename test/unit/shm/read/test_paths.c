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

static void segments_are_listed_in_numeric_order(void **state)
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

static void all_of_many_segments_are_listed(void **state)
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

static void empty_directory_has_no_segments(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_paths paths;

	assert_int_equal(ncs_discover(fixture->directory, &paths), 0);
	assert_int_equal(paths.count, 0);
	ncs_paths_release(&paths);
}

static void unreadable_directory_is_an_error(void **state)
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

static void directory_is_argument_or_environment_or_default(void **state)
{
	(void)state;
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

static void no_job_publishes_on_a_file_system_of_files(void **state)
{
	const struct segment_fixture *fixture = *state;

	assert_true(ncs_directory_can_have_jobs(fixture->directory));
	assert_string_equal(ncs_directory_clause(fixture->directory), "");
	assert_false(ncs_directory_can_have_jobs("/proc"));
	assert_non_null(strstr(ncs_directory_clause("/proc"), "no job"));
	assert_true(ncs_directory_can_have_jobs("/proc/none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SEGMENT_FIXTURE_BARE(segments_are_listed_in_numeric_order),
		SEGMENT_FIXTURE_BARE(all_of_many_segments_are_listed),
		SEGMENT_FIXTURE_BARE(empty_directory_has_no_segments),
		SEGMENT_FIXTURE_BARE(unreadable_directory_is_an_error),
		SEGMENT_FIXTURE_BARE(no_job_publishes_on_a_file_system_of_files),
		cmocka_unit_test(
			directory_is_argument_or_environment_or_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
