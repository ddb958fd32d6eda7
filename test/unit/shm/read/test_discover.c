/* SPDX-License-Identifier: MIT */
/* Finding segments, telling the living from the dead, and removing no more
 * than the dead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/read/discover.h"
#include "test/unit/support/segment_fixture.h"

#define SOMEBODY_ELSE 65534

/* --- Finding ----------------------------------------------------------- */

static void touch(struct segment_fixture *fixture, const char *name)
{
	FILE *file = fopen(segment_fixture_path(fixture, name), "w");

	assert_non_null(file);
	fclose(file);
}

static void segments_are_listed_in_the_order_of_their_numbers(void **state)
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

static void many_segments_are_all_listed(void **state)
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

static void an_empty_directory_has_no_segments(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_paths paths;

	assert_int_equal(ncs_discover(fixture->directory, &paths), 0);
	assert_int_equal(paths.count, 0);
	ncs_paths_release(&paths);
}

static void a_directory_that_cannot_be_read_is_an_error(void **state)
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
	assert_int_equal(ncs_clean(segment_fixture_path(fixture, "absent"),
				   NULL, NULL),
			 -ENOENT);
}

static void the_directory_is_given_or_told_or_the_default(void **state)
{
	(void)state;
	unsetenv("NCCLSTAT_DIR");
	assert_string_equal(ncs_directory(NULL), "/dev/shm");
	assert_string_equal(ncs_directory("/given"), "/given");
	setenv("NCCLSTAT_DIR", "", 1);
	assert_string_equal(ncs_directory(NULL), "/dev/shm");
	setenv("NCCLSTAT_DIR", "/told", 1);
	assert_string_equal(ncs_directory(NULL), "/told");
	assert_string_equal(ncs_directory("/given"), "/given");
	unsetenv("NCCLSTAT_DIR");
}

/* --- The living and the dead ------------------------------------------- */

static struct ncs_header header_of(const struct ncs_process *process)
{
	struct ncs_header header = {
		.pid = process->pid,
		.process_start = process->start,
		.pid_namespace = process->pid_namespace,
		.time_namespace = process->time_namespace,
		.life = NCS_LIFE_LIVE,
	};

	memcpy(header.boot_id, process->boot_id, sizeof(header.boot_id));
	return header;
}

static void a_process_is_gone_when_its_pid_is_or_is_anothers(void **state)
{
	struct ncs_process self, dead;
	struct ncs_header header;

	(void)state;
	ncs_process_describe(&self);
	segment_fixture_dead_process(&dead);
	header = header_of(&self);
	assert_false(ncs_process_is_gone(&header));
	header.process_start++; /* the pid has been used again */
	assert_true(ncs_process_is_gone(&header));
	header = header_of(&dead);
	assert_true(ncs_process_is_gone(&header));
}

static void a_process_of_another_boot_is_gone(void **state)
{
	struct ncs_process self;
	struct ncs_header header;

	(void)state;
	ncs_process_describe(&self);
	header = header_of(&self);
	header.boot_id[0] ^= 1;
	assert_true(ncs_process_is_gone(&header));
	header.pid_namespace++;
	assert_true(ncs_process_is_gone(&header));
}

static void what_cannot_be_told_counts_as_living(void **state)
{
	struct ncs_process self, dead;
	struct ncs_header header;

	(void)state;
	ncs_process_describe(&self);
	segment_fixture_dead_process(&dead);
	header = header_of(&dead);
	header.pid_namespace++; /* its pid means nothing here */
	assert_false(ncs_process_is_gone(&header));
	header = header_of(&self);
	header.process_start = 0; /* it could not read its own */
	assert_false(ncs_process_is_gone(&header));
	header = header_of(&self);
	header.process_start++; /* told in another time namespace */
	header.time_namespace++;
	assert_false(ncs_process_is_gone(&header));
	header = header_of(&dead);
	header.time_namespace++; /* but it is not there at all */
	assert_true(ncs_process_is_gone(&header));
}

/* As process 1 of a PID namespace of its own. */
static int look_from_another_namespace(struct segment_fixture *fixture)
{
	struct ncs_process here;
	pid_t pid;
	int status;

	if (unshare(CLONE_NEWPID) != 0)
		return 77;
	pid = fork();
	if (pid == 0) {
		ncs_process_describe(&here);
		if (here.pid_namespace == fixture->process.pid_namespace)
			_exit(1);
		_exit(ncs_process_has_ended(&fixture->process, &here));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

static void from_another_pid_namespace_all_are_living(void **state)
{
	struct segment_fixture *fixture = *state;
	int status;

	segment_fixture_dead_process(&fixture->process);
	status = segment_fixture_in_child(look_from_another_namespace, fixture);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void liveness_is_one_of_four(void **state)
{
	const uint64_t now = 1000 * UINT64_C(1000000000);
	const uint64_t just = now - NCS_SILENT_AFTER_NS;

	(void)state;
	assert_int_equal(ncs_liveness_of(NCS_LIFE_LIVE, false, now, now),
			 NCS_ALIVE);
	assert_int_equal(ncs_liveness_of(NCS_LIFE_LIVE, false, just, now),
			 NCS_ALIVE);
	assert_int_equal(ncs_liveness_of(NCS_LIFE_LIVE, false, just - 1, now),
			 NCS_SILENT);
	/* A call that is later than now is a recent one. */
	assert_int_equal(ncs_liveness_of(NCS_LIFE_LIVE, false, now + 5, now),
			 NCS_ALIVE);
	assert_int_equal(ncs_liveness_of(NCS_LIFE_LIVE, true, now, now),
			 NCS_DEAD);
	assert_int_equal(ncs_liveness_of(NCS_LIFE_LIVE, true, just - 1, now),
			 NCS_DEAD);
	assert_int_equal(ncs_liveness_of(NCS_LIFE_FINISHED, true, now, now),
			 NCS_FINISHED);
	assert_int_equal(ncs_liveness_of(NCS_LIFE_FINISHED, false, 0, now),
			 NCS_FINISHED);
}

/* --- Removing ---------------------------------------------------------- */

static void make(struct segment_fixture *fixture,
		 const struct ncs_process *process, unsigned serial,
		 struct ncs_writer *writer)
{
	assert_int_equal(
		segment_fixture_create(fixture, process, serial, writer), 0);
	ncs_writer_publish(writer);
}

static void unmap(struct ncs_writer *writer)
{
	munmap(writer->header, writer->mapped_bytes);
}

static bool exists(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

static struct {
	unsigned calls;
	int error;
	char path[512];
} told;

static void tell(const char *path, int error, void *argument)
{
	assert_ptr_equal(argument, &told);
	told.calls++;
	told.error = error;
	snprintf(told.path, sizeof(told.path), "%s", path);
}

static int clean(struct segment_fixture *fixture)
{
	memset(&told, 0, sizeof(told));
	return ncs_clean(fixture->directory, tell, &told);
}

static void segments_of_the_dead_are_removed_and_others_kept(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead, reused = fixture->process;
	struct ncs_process elsewhere, other_boot = fixture->process;
	struct ncs_writer mine, corpse, former, away, old;

	segment_fixture_dead_process(&dead);
	elsewhere = dead;
	elsewhere.pid_namespace++;
	reused.start++;
	other_boot.boot_id[0] ^= 1;
	make(fixture, &fixture->process, 0, &mine);
	make(fixture, &dead, 1, &corpse);
	make(fixture, &reused, 2, &former);
	make(fixture, &elsewhere, 3, &away);
	make(fixture, &other_boot, 4, &old);
	assert_int_equal(clean(fixture), 3);
	assert_int_equal(told.calls, 3);
	assert_int_equal(told.error, 0);
	assert_true(exists(mine.path));
	assert_false(exists(corpse.path));
	assert_false(exists(former.path));
	assert_true(exists(away.path));
	assert_false(exists(old.path));
	/* Nothing is left to be done, and nobody need be told. */
	assert_int_equal(ncs_clean(fixture->directory, NULL, NULL), 0);
	unmap(&mine);
	unmap(&corpse);
	unmap(&former);
	unmap(&away);
	unmap(&old);
}

static void a_finished_segment_of_a_living_process_is_kept(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;

	make(fixture, &fixture->process, 0, &writer);
	writer.header->life = NCS_LIFE_FINISHED;
	assert_int_equal(clean(fixture), 0);
	assert_true(exists(writer.path));
	unmap(&writer);
}

static void what_is_no_segments_name_is_kept(void **state)
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
	assert_int_equal(told.calls, 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(exists(segment_fixture_path(fixture, names[i])));
}

/* A segment that was never published, by a process that has died. */
static void what_a_dead_process_left_half_made_is_removed(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead;
	struct ncs_writer half, mine;

	segment_fixture_dead_process(&dead);
	assert_int_equal(segment_fixture_create(fixture, &dead, 0, &half), 0);
	assert_int_equal(segment_fixture_create(fixture, &fixture->process, 0,
						&mine),
			 0);
	unmap(&half);
	unmap(&mine);
	assert_int_equal(clean(fixture), 1);
	assert_false(exists(half.path));
	assert_true(exists(mine.path));
}

/* What cannot be read does not tell its PID namespace, and its pid may mean
 * another process in ours. */
static void what_is_still_mapped_by_anybody_is_kept(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead;
	struct ncs_writer writer;
	struct statfs status;

	assert_int_equal(statfs(fixture->directory, &status), 0);
	if (status.f_type != TMPFS_MAGIC)
		skip(); /* not every file system knows */
	segment_fixture_dead_process(&dead);
	make(fixture, &dead, 0, &writer);
	writer.header->version = 99u << 16;
	assert_int_equal(clean(fixture), 0);
	assert_true(exists(writer.path));
	unmap(&writer);
	assert_int_equal(clean(fixture), 1);
	assert_false(exists(writer.path));
}

static void what_cannot_be_removed_is_told(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead;
	char name[64], path[512];

	segment_fixture_dead_process(&dead);
	snprintf(name, sizeof(name), "ncclstat.%u.%llu.0", dead.pid,
		 (unsigned long long)dead.start);
	snprintf(path, sizeof(path), "%s", segment_fixture_path(fixture, name));
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(clean(fixture), 0);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.error, -EISDIR);
	assert_string_equal(told.path, path);
	assert_true(exists(path));
}

/* As another user, in a directory where he could remove anything. */
static int clean_as_somebody_else(struct segment_fixture *fixture)
{
	if (setegid(SOMEBODY_ELSE) != 0 || seteuid(SOMEBODY_ELSE) != 0)
		return 1;
	return ncs_clean(fixture->directory, NULL, NULL) != 0;
}

static void anothers_segments_are_kept(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead;
	struct ncs_writer writer;
	int status;

	if (geteuid() != 0)
		skip();
	segment_fixture_dead_process(&dead);
	make(fixture, &dead, 0, &writer);
	unmap(&writer);
	assert_int_equal(chmod(fixture->directory, 0777), 0);
	status = segment_fixture_in_child(clean_as_somebody_else, fixture);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(exists(writer.path));
	/* Readable by all is not enough. */
	assert_int_equal(chmod(writer.path, 0666), 0);
	status = segment_fixture_in_child(clean_as_somebody_else, fixture);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(exists(writer.path));
}

#define IN_DIRECTORY(test) \
	cmocka_unit_test_setup_teardown(test, segment_fixture_setup_bare, \
					segment_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIRECTORY(segments_are_listed_in_the_order_of_their_numbers),
		IN_DIRECTORY(many_segments_are_all_listed),
		IN_DIRECTORY(an_empty_directory_has_no_segments),
		IN_DIRECTORY(a_directory_that_cannot_be_read_is_an_error),
		cmocka_unit_test(the_directory_is_given_or_told_or_the_default),
		cmocka_unit_test(
			a_process_is_gone_when_its_pid_is_or_is_anothers),
		cmocka_unit_test(a_process_of_another_boot_is_gone),
		cmocka_unit_test(what_cannot_be_told_counts_as_living),
		IN_DIRECTORY(from_another_pid_namespace_all_are_living),
		cmocka_unit_test(liveness_is_one_of_four),
		IN_DIRECTORY(segments_of_the_dead_are_removed_and_others_kept),
		IN_DIRECTORY(a_finished_segment_of_a_living_process_is_kept),
		IN_DIRECTORY(what_is_no_segments_name_is_kept),
		IN_DIRECTORY(what_a_dead_process_left_half_made_is_removed),
		IN_DIRECTORY(what_is_still_mapped_by_anybody_is_kept),
		IN_DIRECTORY(what_cannot_be_removed_is_told),
		IN_DIRECTORY(anothers_segments_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
