/* SPDX-License-Identifier: MIT */
/* The directory of kept jobs: what a job keeps stays when the ring goes on, no more than
 * the limit is kept, jobs without a finding go first and running ones never, and the
 * latest job of a name is found, on one machine and on several. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/archive/archive.h"

#define KIB 1024u
#define LIMIT (UINT64_C(512) * KIB)
#define LONG_AGO 1000000000

struct fixture {
	char folder[64];
	struct ncs_archive archive;
	unsigned files, removed;
	char running[NCS_ARCHIVE_NAME_MAX];
	char last_removed[NCS_ARCHIVE_NAME_MAX];
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	char why[256];

	if (!fixture)
		return -1;
	strcpy(fixture->folder, "/tmp/ncclstat-archive.XXXXXX");
	*state = fixture;
	return mkdtemp(fixture->folder) &&
			       ncs_archive_open(&fixture->archive,
						fixture->folder, LIMIT, why,
						sizeof(why)) ?
		       0 :
		       -1;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	char command[128];

	ncs_archive_close(&fixture->archive);
	snprintf(command, sizeof(command), "rm -r %s", fixture->folder);
	if (system(command) != 0)
		return -1;
	free(fixture);
	return 0;
}

/* Writes the next file of the ring, of so many KiB, as of a time. */
static void record(struct fixture *fixture, unsigned kib, time_t written)
{
	const struct timespec times[2] = { { .tv_sec = written },
					   { .tv_sec = written } };
	char path[4200], *bytes = malloc(kib * KIB);
	struct ncs_archive_run run;
	FILE *file;

	assert_non_null(bytes);
	memset(bytes, 'x', kib * KIB);
	ncs_archive_begin_run(&fixture->archive, &run);
	snprintf(path, sizeof(path), "%s.%u", run.path, fixture->files++);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, KIB, kib, file), kib);
	assert_int_equal(fclose(file), 0);
	free(bytes);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void keep(struct fixture *fixture, const char *job, time_t begun,
		 time_t since, bool has_finding)
{
	char folder[NCS_ARCHIVE_NAME_MAX];

	ncs_archive_folder(folder, sizeof(folder), job, begun);
	assert_int_equal(ncs_archive_keep(&fixture->archive, folder, since,
					  has_finding),
			 0);
}

static bool is_running(void *context, const char *folder)
{
	const struct fixture *fixture = context;

	return strcmp(folder, fixture->running) == 0;
}

static void note_removed(void *context, const char *folder)
{
	struct fixture *fixture = context;

	fixture->removed++;
	snprintf(fixture->last_removed, sizeof(fixture->last_removed), "%s",
		 folder);
}

static void trim(struct fixture *fixture)
{
	assert_int_equal(ncs_archive_trim(&fixture->archive, is_running,
					  note_removed, fixture),
			 0);
}

/* Returns how many files are found of a job. */
static size_t found(const struct fixture *fixture, const char *pattern)
{
	struct ncs_archive_files files;
	int error = ncs_archive_find(&files, fixture->folder, pattern);
	size_t count = files.count;

	assert_true(error == 0 || error == -ENOENT);
	/* Those of the ring, too, come with the folder of the job. */
	assert_int_equal(files.folder_count, error == 0);
	ncs_archive_release(&files);
	return count;
}

static void a_job_keeps_its_files_when_the_ring_goes_on(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned i = 0; i < 3; i++)
		record(fixture, 64, LONG_AGO + i);
	keep(fixture, "4711", LONG_AGO, LONG_AGO + 1, true);
	assert_int_equal(found(fixture, "4711"), 2);
	for (unsigned i = 0; i < 6; i++)
		record(fixture, 64, LONG_AGO + 100 + i);
	trim(fixture);
	/* Half of the limit are four files, which are what a new job has. */
	keep(fixture, "new", LONG_AGO, LONG_AGO + 1000, false);
	assert_int_equal(found(fixture, "new"), 4);
	assert_int_equal(found(fixture, "no such job"), 0);
	assert_int_equal(found(fixture, "4711"), 2);
	assert_int_equal(fixture->removed, 0);
}

static void jobs_without_a_finding_go_first(void **state)
{
	struct fixture *fixture = *state;

	record(fixture, 128, LONG_AGO);
	keep(fixture, "found", LONG_AGO, LONG_AGO, true);
	record(fixture, 128, LONG_AGO + 10);
	keep(fixture, "well", LONG_AGO + 10, LONG_AGO + 10, false);
	record(fixture, 128, LONG_AGO + 20);
	keep(fixture, "runs", LONG_AGO + 20, LONG_AGO + 20, false);
	strcpy(fixture->running, "runs@1000000020");
	for (unsigned i = 0; i < 4; i++)
		record(fixture, 64, LONG_AGO + 100 + i);
	trim(fixture);
	assert_int_equal(fixture->removed, 1);
	assert_string_equal(fixture->last_removed, "well@1000000010");
	/* The others fit again. */
	trim(fixture);
	assert_int_equal(fixture->removed, 1);
	fixture->archive.limit_bytes = LIMIT / 2;
	trim(fixture);
	assert_string_equal(fixture->last_removed, "found@1000000000");
	assert_int_equal(found(fixture, "runs"), 1);
}

static void the_file_being_written_stays_in_the_ring(void **state)
{
	struct fixture *fixture = *state;

	keep(fixture, "new", LONG_AGO, LONG_AGO + 1000, false);
	record(fixture, 64, LONG_AGO + 2);
	/* The clock was set back. */
	record(fixture, 700, LONG_AGO + 1);
	trim(fixture);
	assert_int_equal(found(fixture, "new"), 1);
}

static void the_latest_job_of_a_name_is_found(void **state)
{
	struct fixture *fixture = *state;

	record(fixture, 4, LONG_AGO);
	keep(fixture, "job/1", LONG_AGO, LONG_AGO, false);
	record(fixture, 4, LONG_AGO + 10);
	record(fixture, 4, LONG_AGO + 11);
	keep(fixture, "job/1", LONG_AGO + 10, LONG_AGO + 10, false);
	assert_int_equal(found(fixture, "job/1"), 2);
	assert_int_equal(found(fixture, "job_1@1000000000"), 1);
	assert_int_equal(found(fixture, "job*"), 2);
}

static void jobs_of_several_machines_are_found(void **state)
{
	struct fixture *fixture = *state;
	char shared[128], here[160];

	record(fixture, 4, LONG_AGO);
	keep(fixture, "4711", LONG_AGO, LONG_AGO, false);
	snprintf(shared, sizeof(shared), "%s.shared", fixture->folder);
	snprintf(here, sizeof(here), "%s/n1", shared);
	assert_int_equal(mkdir(shared, 0700), 0);
	assert_int_equal(rename(fixture->folder, here), 0);
	assert_int_equal(rename(shared, fixture->folder), 0);
	assert_int_equal(found(fixture, "4711"), 1);
	assert_int_equal(found(fixture, "4712"), 0);
}

/* Files of 64 KiB that two jobs keep, of which the ring has none any more, take the room of
 * two files, and go with the second job. */
static void a_file_that_jobs_share_counts_once(void **state)
{
	struct fixture *fixture = *state;

	record(fixture, 64, LONG_AGO);
	record(fixture, 64, LONG_AGO + 1);
	keep(fixture, "one", LONG_AGO, LONG_AGO, false);
	keep(fixture, "two", LONG_AGO + 1, LONG_AGO, false);
	for (unsigned i = 0; i < 5; i++)
		record(fixture, 64, LONG_AGO + 100 + i);
	fixture->archive.limit_bytes = 400 * KIB;
	trim(fixture);
	assert_int_equal(fixture->removed, 0);
	assert_int_equal(found(fixture, "one"), 2);
	assert_int_equal(found(fixture, "two"), 2);
}

static void a_job_that_runs_loses_its_oldest_files_last(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned i = 0; i < 2; i++)
		record(fixture, 60, LONG_AGO + i);
	keep(fixture, "runs", LONG_AGO, LONG_AGO, true);
	strcpy(fixture->running, "runs@1000000000");
	for (unsigned i = 0; i < 4; i++)
		record(fixture, 60, LONG_AGO + 100 + i);
	fixture->archive.limit_bytes = 320 * KIB;
	trim(fixture);
	/* Two in the ring, and as many of the job as there is room for. */
	assert_int_equal(found(fixture, "runs"), 2);
	fixture->archive.limit_bytes = 150 * KIB;
	trim(fixture);
	assert_int_equal(found(fixture, "runs"), 1);
	assert_int_equal(fixture->removed, 0);
}

static void a_job_keeps_at_most_a_quarter_of_the_limit(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned i = 0; i < 5; i++)
		record(fixture, 32, LONG_AGO + i);
	keep(fixture, "4711", LONG_AGO, LONG_AGO, true);
	assert_int_equal(found(fixture, "4711"), 4);
}

/* A recorder that is killed, or has no room, leaves such a file. */
static void an_empty_file_is_none(void **state)
{
	struct fixture *fixture = *state;

	record(fixture, 0, LONG_AGO + 1);
	record(fixture, 4, LONG_AGO + 2);
	keep(fixture, "4711", LONG_AGO, LONG_AGO, false);
	keep(fixture, "new", LONG_AGO, LONG_AGO + 1000, false);
	assert_int_equal(found(fixture, "4711"), 1);
	assert_int_equal(found(fixture, "new"), 1);
}

static void a_line_is_whole_after_one_that_was_cut(void **state)
{
	struct fixture *fixture = *state;
	char path[128], text[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/jobs.jsonl", fixture->folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("{\"cut", file);
	fclose(file);
	assert_int_equal(ncs_archive_add_line(&fixture->archive, "{1}\n"), 0);
	assert_int_equal(ncs_archive_add_line(&fixture->archive, "{2}\n"), 0);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	assert_string_equal(text, "{\"cut\n{1}\n{2}\n");
}

static void only_one_watch_writes(void **state)
{
	struct fixture *fixture = *state;
	struct ncs_archive other;
	char why[256];

	assert_false(ncs_archive_open(&other, fixture->folder, LIMIT, why,
				      sizeof(why)));
	assert_non_null(strstr(why, "another watch"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_job_keeps_its_files_when_the_ring_goes_on),
		TEST(jobs_without_a_finding_go_first),
		TEST(the_file_being_written_stays_in_the_ring),
		TEST(the_latest_job_of_a_name_is_found),
		TEST(jobs_of_several_machines_are_found),
		TEST(a_file_that_jobs_share_counts_once),
		TEST(a_job_that_runs_loses_its_oldest_files_last),
		TEST(a_job_keeps_at_most_a_quarter_of_the_limit),
		TEST(an_empty_file_is_none),
		TEST(a_line_is_whole_after_one_that_was_cut),
		TEST(only_one_watch_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
