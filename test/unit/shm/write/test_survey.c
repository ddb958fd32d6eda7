/* SPDX-License-Identifier: MIT */
/* The look at a directory: which objects count, which are removed, which stay,
 * and how many files are looked at. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/write/survey.h"
#include "test/unit/support/segment_fixture.h"
#include "test/unit/support/unit.h"

#define SKIPPED 77
#define SOMEBODY_ELSE 65534

/* Makes an object that its process has left behind. */
static void leave(struct segment_fixture *fixture,
		  const struct ncs_process *process, unsigned serial,
		  struct ncs_writer *writer)
{
	segment_fixture_make(fixture, process, serial, writer);
	segment_fixture_let_go(writer);
}

/* Moves the creation of an object back, before whatever came before it. */
static void age(const char *path)
{
	struct timespec times[2];

	assert_int_equal(clock_gettime(CLOCK_REALTIME, &times[0]), 0);
	times[0].tv_sec -= 60;
	times[1] = times[0];
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static struct ncs_survey survey(struct segment_fixture *fixture, bool reap)
{
	struct ncs_survey found;

	ncs_survey_take(&found, fixture->directory, &fixture->process, reap);
	return found;
}

/* --- Removing ---------------------------------------------------------- */

UNIT_FIXTURE(segment_fixture_setup_bare, segment_fixture_teardown)

TEST(held_objects_are_never_removed)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process elsewhere, other_boot, dead;
	struct ncs_writer here, there, before, child;
	struct ncs_survey found;

	segment_fixture_dead_process(&dead);
	elsewhere = other_boot = dead;
	elsewhere.pid_namespace++;
	other_boot.boot_id[0] ^= 1; /* some containers have their own */
	segment_fixture_make(fixture, &fixture->process, 0, &here);
	segment_fixture_make(fixture, &elsewhere, 1, &there);
	segment_fixture_make(fixture, &other_boot, 2, &before);
	segment_fixture_make(fixture, &dead, 3, &child);
	for (unsigned i = 0; i < 3; i++) {
		found = survey(fixture, true);
		assert_int_equal(found.removed, 0);
		assert_int_equal(found.held_bytes, 4 * here.mapped_bytes);
		assert_int_equal(found.abandoned_bytes, 0);
		assert_int_equal(found.processes, 2);
		assert_true(found.complete);
	}
	segment_fixture_let_go(&here);
	segment_fixture_let_go(&there);
	segment_fixture_let_go(&before);
	segment_fixture_let_go(&child);
}

TEST(latest_crash_stays_until_a_later_job_has_crashed)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process first, second;
	struct ncs_writer old[2], young;
	struct ncs_survey found;

	segment_fixture_dead_process(&first);
	segment_fixture_dead_process(&second);
	second.pid_namespace++; /* a restarted container */
	leave(fixture, &first, 0, &old[0]);
	leave(fixture, &first, 1, &old[1]);
	for (unsigned i = 0; i < 3; i++) {
		found = survey(fixture, true);
		assert_int_equal(found.removed, 0);
		assert_int_equal(found.abandoned_bytes,
				 2 * old[0].mapped_bytes);
		assert_int_equal(found.held_bytes, 0);
	}
	segment_fixture_make(fixture, &second, 0, &young);
	assert_int_equal(survey(fixture, true).removed, 0);
	segment_fixture_let_go(&young);
	found = survey(fixture, true);
	assert_int_equal(found.removed, 2);
	assert_int_equal(found.abandoned_bytes, young.mapped_bytes);
	assert_false(segment_fixture_exists(old[0].path));
	assert_false(segment_fixture_exists(old[1].path));
	assert_true(segment_fixture_exists(young.path));
	assert_int_equal(survey(fixture, true).removed, 0);
}

TEST(processes_of_one_crash_that_end_one_by_one_stay)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead;
	struct ncs_writer first, last;

	segment_fixture_dead_process(&dead);
	segment_fixture_make(fixture, &dead, 0, &first);
	segment_fixture_make(fixture, &dead, 1, &last);
	age(last.path);
	segment_fixture_let_go(&first);
	assert_int_equal(survey(fixture, true).removed, 0);
	segment_fixture_let_go(&last);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(survey(fixture, true).removed, 0);
	assert_true(segment_fixture_exists(first.path));
	assert_true(segment_fixture_exists(last.path));
}

TEST(own_objects_from_before_exec_are_removed)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer control;
	struct ncs_process namesake = fixture->process;
	struct ncs_writer ghost, other;

	namesake.pid_namespace++;
	leave(fixture, &fixture->process, 0, &ghost);
	leave(fixture, &namesake, 1, &other);
	assert_int_equal(ncs_writer_create_control(&control, fixture->directory,
						   &fixture->process, 0),
			 0);
	munmap(control.control, NCS_CONTROL_BYTES);
	assert_int_equal(survey(fixture, true).removed, 2);
	assert_false(segment_fixture_exists(ghost.path));
	assert_false(segment_fixture_exists(control.path));
	assert_true(segment_fixture_exists(other.path));
}

TEST(object_that_was_never_filled_in_is_an_object)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead;
	struct ncs_writer empty, half, later;

	segment_fixture_dead_process(&dead);
	segment_fixture_make(fixture, &dead, 0, &half);
	half.header->magic = 0;
	half.header->version = 0;
	segment_fixture_let_go(&half);
	leave(fixture, &dead, 1, &empty);
	assert_int_equal(truncate(empty.path, 0), 0);
	assert_int_equal(survey(fixture, true).removed, 0);
	leave(fixture, &dead, 2, &later);
	assert_int_equal(survey(fixture, true).removed, 2);
	assert_true(segment_fixture_exists(later.path));
}

TEST(files_that_are_no_objects_are_left_alone)
{
	static const char *const names[] = {
		"ncclstat.2024.11.05", "ncclstat.1.2.3.gz", "ncclstat.1.2",
		"ncclstat.log",        "other",
	};
	struct segment_fixture *fixture = *state;
	struct ncs_process dead;
	struct ncs_writer first, last;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		FILE *file = fopen(segment_fixture_path(fixture, names[i]),
				   "w");

		assert_non_null(file);
		fputs("a line of a log\n", file);
		fclose(file);
	}
	segment_fixture_dead_process(&dead);
	leave(fixture, &dead, 0, &first);
	survey(fixture, true);
	leave(fixture, &dead, 1, &last);
	assert_int_equal(survey(fixture, true).removed, 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(segment_fixture_exists(
			segment_fixture_path(fixture, names[i])));
}

TEST(objects_of_another_user_are_counted_and_left_alone)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead;
	struct ncs_writer first, last;
	struct ncs_survey found;

	if (geteuid() != 0)
		skip();
	segment_fixture_dead_process(&dead);
	leave(fixture, &dead, 0, &first);
	leave(fixture, &dead, 1, &last);
	assert_int_equal(chown(first.path, SOMEBODY_ELSE, SOMEBODY_ELSE), 0);
	assert_int_equal(chmod(first.path, 01400), 0);
	found = survey(fixture, true);
	assert_int_equal(found.removed, 0);
	assert_int_equal(found.held_bytes, first.mapped_bytes);
	assert_int_equal(found.abandoned_bytes, last.mapped_bytes);
}

TEST(without_reaping_nothing_is_changed)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead;
	struct ncs_writer writer;
	struct ncs_survey found;
	struct stat status;

	segment_fixture_dead_process(&dead);
	leave(fixture, &dead, 0, &writer);
	found = survey(fixture, false);
	assert_int_equal(found.held_bytes, writer.mapped_bytes);
	assert_int_equal(stat(writer.path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0400);
	survey(fixture, true);
	/* It is known to be abandoned from its mark, without another test. */
	found = survey(fixture, false);
	assert_int_equal(found.held_bytes, 0);
	assert_int_equal(found.abandoned_bytes, writer.mapped_bytes);
	assert_int_equal(found.removed, 0);
}

/* --- Limits ------------------------------------------------------------ */

TEST(few_files_are_looked_at_however_many_there_are)
{
	struct segment_fixture *fixture = *state;
	struct ncs_survey found;
	char name[64];

	for (unsigned i = 0; i < NCS_SURVEY_OBJECTS_MAX + 10; i++) {
		snprintf(name, sizeof(name), "ncclstat.%u.1.1", i);
		assert_int_equal(mknod(segment_fixture_path(fixture, name),
				       S_IFREG | 0600, 0),
				 0);
	}
	found = survey(fixture, true);
	assert_int_equal(found.looked_at, NCS_SURVEY_OBJECTS_MAX);
	assert_false(found.complete);
}

TEST(few_entries_are_read_however_many_there_are)
{
	struct segment_fixture *fixture = *state;
	char name[64];

	for (unsigned i = 0; i < NCS_SURVEY_ENTRIES_MAX + 10; i++) {
		snprintf(name, sizeof(name), "junk.%u", i);
		assert_int_equal(mknod(segment_fixture_path(fixture, name),
				       S_IFREG | 0600, 0),
				 0);
	}
	assert_false(survey(fixture, true).complete);
}

/* Fills a file system of 4 MiB, in the child's own mount namespace, with objects
 * of a crash that are larger together than the limit. */
static int fill_a_small_file_system(struct segment_fixture *fixture)
{
	struct ncs_writer writer[8];
	struct ncs_process dead;
	struct ncs_survey found;

	segment_fixture_dead_process(&dead);
	if (unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", fixture->directory, "tmpfs", 0, "size=4m") != 0)
		return SKIPPED;
	for (unsigned i = 0; i < 8; i++) {
		if (segment_fixture_create(fixture, &dead, i, &writer[i]) != 0)
			return 1;
		segment_fixture_let_go(&writer[i]);
		if (i < 7)
			age(writer[i].path);
	}
	found = survey(fixture, true);
	if (found.limit_bytes > (4 << 20) / NCS_SURVEY_SHARE ||
	    found.limit_bytes < (3 << 20) / NCS_SURVEY_SHARE)
		return 2;
	if (found.removed == 0 || found.abandoned_bytes > found.limit_bytes ||
	    found.abandoned_bytes == 0)
		return 3;
	if (!segment_fixture_exists(writer[7].path))
		return 4;
	/* The objects themselves do not make the limit smaller. */
	return survey(fixture, true).limit_bytes == found.limit_bytes ? 0 : 5;
}

TEST(latest_crash_takes_no_more_than_the_limit)
{
	int status = segment_fixture_in_child(fill_a_small_file_system, *state);

	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(missing_directory_is_an_empty_survey)
{
	struct segment_fixture *fixture = *state;
	struct ncs_survey found;

	ncs_survey_take(&found, segment_fixture_path(fixture, "absent"),
			&fixture->process, true);
	assert_int_equal(found.held_bytes, 0);
	assert_false(found.complete);
}
