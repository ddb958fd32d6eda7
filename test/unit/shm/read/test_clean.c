/* SPDX-License-Identifier: MIT */
/* Removal of segments that dead processes left behind, and of nothing else; those that
 * are evidence stay within limits. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/read/clean.h"
#include "test/unit/support/segment_fixture.h"
#include "test/unit/support/unit.h"

#define SOMEBODY_ELSE 65534
#define SECOND_NS UINT64_C(1000000000)

static void touch(struct segment_fixture *fixture, const char *name)
{
	FILE *file = fopen(segment_fixture_path(fixture, name), "w");

	assert_non_null(file);
	fclose(file);
}

static struct {
	unsigned calls, kept;
	int error;
} reported;

static void report(const struct ncs_left *left, void *argument)
{
	assert_ptr_equal(argument, &reported);
	reported.calls++;
	reported.kept += left->is_kept;
	reported.error = left->error;
	if (left->is_kept)
		assert_true(left->bytes > 0);
}

static int clean(struct segment_fixture *fixture)
{
	memset(&reported, 0, sizeof(reported));
	return ncs_clean(fixture->directory, NULL, report, &reported);
}

UNIT_FIXTURE(segment_fixture_setup_bare, segment_fixture_teardown)

/* Whatever the header says of the process: nobody may be able to see it. */
TEST(segments_that_nobody_holds_are_removed_and_others_kept)
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
	assert_int_equal(ncs_clean(fixture->directory, NULL, NULL, NULL), 0);
	/* The process has called exec(). */
	segment_fixture_let_go(&mine);
	segment_fixture_let_go(&held);
	assert_int_equal(clean(fixture), 2);
}

TEST(finished_segment_of_live_process_is_kept)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;

	segment_fixture_make(fixture, &fixture->process, 0, &writer);
	writer.header->life = NCS_LIFE_FINISHED;
	assert_int_equal(clean(fixture), 0);
	assert_true(segment_fixture_exists(writer.path));
	segment_fixture_let_go(&writer);
}

TEST(files_not_named_like_segments_are_kept)
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

TEST(unpublished_segment_of_dead_process_is_removed)
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

TEST(segment_of_another_version_is_kept_while_held)
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

TEST(file_that_is_no_segment_is_kept_whatever_its_name)
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

TEST(failed_removal_is_reported)
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
	return ncs_clean(fixture->directory, NULL, NULL, NULL) != 0;
}

TEST(segments_of_another_user_are_kept)
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

/* Makes the segment of a process that was last known to live so many seconds ago. */
static void make_left(struct segment_fixture *fixture, unsigned age_s,
		      uint64_t number, struct ncs_writer *writer)
{
	struct ncs_process dead;
	struct timespec now;

	segment_fixture_dead_process(&dead);
	segment_fixture_make(fixture, &dead, number, writer);
	clock_gettime(CLOCK_REALTIME, &now);
	writer->header->clock = (struct ncs_clock){
		.kind = NCS_CLOCK_MONOTONIC,
		.base_ticks = 1,
		.base_monotonic_ns = 1,
		.base_realtime_ns = (uint64_t)(now.tv_sec - 2 * age_s) *
				    SECOND_NS,
		.multiplier = UINT64_C(1) << 32,
	};
	writer->header->alive = age_s * SECOND_NS;
}

TEST(segments_of_a_recent_death_stay_as_long_as_is_said)
{
	struct segment_fixture *fixture = *state;
	const struct ncs_clean_limits hour = { 3600 * SECOND_NS, UINT64_MAX };
	struct ncs_writer recent, old;

	make_left(fixture, 3000, 0, &recent);
	make_left(fixture, 4000, 1, &old);
	segment_fixture_let_go(&recent);
	segment_fixture_let_go(&old);
	memset(&reported, 0, sizeof(reported));
	assert_int_equal(
		ncs_clean(fixture->directory, &hour, report, &reported), 1);
	assert_int_equal(reported.calls, 2);
	assert_int_equal(reported.kept, 1);
	assert_true(segment_fixture_exists(recent.path));
	assert_false(segment_fixture_exists(old.path));
	assert_int_equal(clean(fixture), 1);
	assert_false(segment_fixture_exists(recent.path));
}

TEST(the_latest_segments_stay_that_have_room)
{
	struct segment_fixture *fixture = *state;
	struct ncs_clean_limits room = { UINT64_MAX, 0 };
	struct ncs_writer writers[3];
	struct stat status;

	make_left(fixture, 200, 0, &writers[0]);
	make_left(fixture, 100, 1, &writers[1]);
	make_left(fixture, 300, 2, &writers[2]);
	for (size_t i = 0; i < 3; i++)
		segment_fixture_let_go(&writers[i]);
	assert_int_equal(stat(writers[0].path, &status), 0);
	room.bytes = 2 * (uint64_t)status.st_blocks * 512;
	assert_int_equal(ncs_clean(fixture->directory, &room, NULL, NULL), 1);
	assert_false(segment_fixture_exists(writers[2].path));
	room.bytes /= 2;
	assert_int_equal(ncs_clean(fixture->directory, &room, NULL, NULL), 1);
	assert_true(segment_fixture_exists(writers[1].path));
}

TEST(what_is_no_evidence_goes_at_any_age)
{
	struct segment_fixture *fixture = *state;
	const struct ncs_clean_limits all = { UINT64_MAX, UINT64_MAX };
	struct ncs_writer finished, mute;

	make_left(fixture, 10, 0, &finished);
	finished.header->life = NCS_LIFE_FINISHED;
	make_left(fixture, 10, 1, &mute);
	mute.header->alive = 0;
	segment_fixture_let_go(&finished);
	segment_fixture_let_go(&mute);
	assert_int_equal(ncs_clean(fixture->directory, &all, NULL, NULL), 2);
}

TEST(cleaning_an_unreadable_directory_is_an_error)
{
	struct segment_fixture *fixture = *state;

	assert_int_equal(ncs_clean(segment_fixture_path(fixture, "absent"),
				   NULL, NULL, NULL),
			 -ENOENT);
}
