/* SPDX-License-Identifier: MIT */
/* Removal of segments that dead processes left behind, and of nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/read/clean.h"
#include "test/unit/support/segment_fixture.h"

#define SOMEBODY_ELSE 65534

static void touch(struct segment_fixture *fixture, const char *name)
{
	FILE *file = fopen(segment_fixture_path(fixture, name), "w");

	assert_non_null(file);
	fclose(file);
}

static struct {
	unsigned calls;
	int error;
	char path[512];
} reported;

static void report(const char *path, int error, void *argument)
{
	assert_ptr_equal(argument, &reported);
	reported.calls++;
	reported.error = error;
	snprintf(reported.path, sizeof(reported.path), "%s", path);
}

static int clean(struct segment_fixture *fixture)
{
	memset(&reported, 0, sizeof(reported));
	return ncs_clean(fixture->directory, report, &reported);
}

/* Whatever the header says of the process: nobody may be able to see it. */
static void segments_that_nobody_holds_are_removed_and_others_kept(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead, elsewhere, other_boot;
	struct ncs_writer mine, held, corpse, away, old;

	segment_fixture_dead_process(&dead);
	elsewhere = other_boot = dead;
	elsewhere.pid_namespace++;
	other_boot.boot_id[0] ^= 1;
	segment_fixture_make(fixture, &fixture->process, 0, &mine);
	segment_fixture_make(fixture, &other_boot, 1, &held);
	segment_fixture_make(fixture, &dead, 2, &corpse);
	segment_fixture_make(fixture, &elsewhere, 3, &away);
	segment_fixture_make(fixture, &other_boot, 4, &old);
	segment_fixture_let_go(&corpse);
	segment_fixture_let_go(&away);
	segment_fixture_let_go(&old);
	assert_int_equal(clean(fixture), 3);
	assert_int_equal(reported.calls, 3);
	assert_int_equal(reported.error, 0);
	assert_true(segment_fixture_exists(mine.path));
	assert_true(segment_fixture_exists(held.path));
	assert_false(segment_fixture_exists(corpse.path));
	assert_false(segment_fixture_exists(away.path));
	assert_false(segment_fixture_exists(old.path));
	/* Nothing is left to remove, and the callback is optional. */
	assert_int_equal(ncs_clean(fixture->directory, NULL, NULL), 0);
	/* The process has called exec(). */
	segment_fixture_let_go(&mine);
	segment_fixture_let_go(&held);
	assert_int_equal(clean(fixture), 2);
}

static void finished_segment_of_live_process_is_kept(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;

	segment_fixture_make(fixture, &fixture->process, 0, &writer);
	writer.header->life = NCS_LIFE_FINISHED;
	assert_int_equal(clean(fixture), 0);
	assert_true(segment_fixture_exists(writer.path));
	segment_fixture_let_go(&writer);
}

static void files_not_named_like_segments_are_kept(void **state)
{
	static const char *const names[] = {
		"ncclstat.log",    "ncclstat.2024.11.log",
		"ncclstat.1.2",    "ncclstat.1.2.3.gz",
		"ncclstat.1.2.3 ", "ncclstat.",
		"other",
	};
	struct segment_fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		touch(fixture, names[i]);
	assert_int_equal(clean(fixture), 0);
	assert_int_equal(reported.calls, 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(segment_fixture_exists(
			segment_fixture_path(fixture, names[i])));
}

static void unpublished_segment_of_dead_process_is_removed(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead;
	struct ncs_writer half, mine;

	segment_fixture_dead_process(&dead);
	assert_int_equal(segment_fixture_create(fixture, &dead, 0, &half), 0);
	assert_int_equal(segment_fixture_create(fixture, &fixture->process, 0,
						&mine),
			 0);
	segment_fixture_let_go(&half);
	assert_int_equal(clean(fixture), 1);
	assert_false(segment_fixture_exists(half.path));
	assert_true(segment_fixture_exists(mine.path));
	segment_fixture_let_go(&mine);
}

static void segment_of_another_version_is_kept_while_held(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead;
	struct ncs_writer writer;

	segment_fixture_dead_process(&dead);
	segment_fixture_make(fixture, &dead, 0, &writer);
	writer.header->version = 99u << 16;
	assert_int_equal(clean(fixture), 0);
	assert_true(segment_fixture_exists(writer.path));
	segment_fixture_let_go(&writer);
	assert_int_equal(clean(fixture), 1);
	assert_false(segment_fixture_exists(writer.path));
}

static void file_that_is_no_segment_is_kept_whatever_its_name(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead;
	struct ncs_writer writer;

	segment_fixture_dead_process(&dead);
	segment_fixture_make(fixture, &dead, 0, &writer);
	writer.header->magic ^= 1;
	segment_fixture_let_go(&writer);
	assert_int_equal(clean(fixture), 0);
	assert_true(segment_fixture_exists(writer.path));
}

/* Cleans in a directory where the caller must not remove anything. */
static int clean_where_it_is_forbidden(struct segment_fixture *fixture)
{
	if (geteuid() == 0 && seteuid(SOMEBODY_ELSE) != 0)
		return 1;
	if (clean(fixture) != 0)
		return 2;
	return reported.calls == 1 && reported.error == -EACCES ? 0 : 3;
}

static void failed_removal_is_reported(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead;
	struct ncs_writer writer;
	int status;

	segment_fixture_dead_process(&dead);
	segment_fixture_make(fixture, &dead, 0, &writer);
	segment_fixture_let_go(&writer);
	if (geteuid() == 0)
		assert_int_equal(
			chown(writer.path, SOMEBODY_ELSE, SOMEBODY_ELSE), 0);
	assert_int_equal(chmod(fixture->directory, 0555), 0);
	status = segment_fixture_in_child(clean_where_it_is_forbidden, fixture);
	assert_int_equal(chmod(fixture->directory, 0700), 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(segment_fixture_exists(writer.path));
}

/* Runs as another user, in a directory in which anyone may remove files. */
static int clean_as_somebody_else(struct segment_fixture *fixture)
{
	if (setegid(SOMEBODY_ELSE) != 0 || seteuid(SOMEBODY_ELSE) != 0)
		return 1;
	return ncs_clean(fixture->directory, NULL, NULL) != 0;
}

static void segments_of_another_user_are_kept(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead;
	struct ncs_writer writer;
	int status;

	if (geteuid() != 0)
		skip();
	segment_fixture_dead_process(&dead);
	segment_fixture_make(fixture, &dead, 0, &writer);
	segment_fixture_let_go(&writer);
	assert_int_equal(chmod(fixture->directory, 0777), 0);
	status = segment_fixture_in_child(clean_as_somebody_else, fixture);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(segment_fixture_exists(writer.path));
	/* Permission to read the segment is not enough. */
	assert_int_equal(chmod(writer.path, 0666), 0);
	status = segment_fixture_in_child(clean_as_somebody_else, fixture);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(segment_fixture_exists(writer.path));
}

static void cleaning_an_unreadable_directory_is_an_error(void **state)
{
	struct segment_fixture *fixture = *state;

	assert_int_equal(ncs_clean(segment_fixture_path(fixture, "absent"),
				   NULL, NULL),
			 -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SEGMENT_FIXTURE_BARE(
			segments_that_nobody_holds_are_removed_and_others_kept),
		SEGMENT_FIXTURE_BARE(finished_segment_of_live_process_is_kept),
		SEGMENT_FIXTURE_BARE(files_not_named_like_segments_are_kept),
		SEGMENT_FIXTURE_BARE(
			unpublished_segment_of_dead_process_is_removed),
		SEGMENT_FIXTURE_BARE(
			segment_of_another_version_is_kept_while_held),
		SEGMENT_FIXTURE_BARE(
			file_that_is_no_segment_is_kept_whatever_its_name),
		SEGMENT_FIXTURE_BARE(failed_removal_is_reported),
		SEGMENT_FIXTURE_BARE(segments_of_another_user_are_kept),
		SEGMENT_FIXTURE_BARE(
			cleaning_an_unreadable_directory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
