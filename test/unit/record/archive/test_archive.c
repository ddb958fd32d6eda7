/* SPDX-License-Identifier: MIT */
/* The directory of kept jobs: what a job keeps stays when the ring goes on, no more than
 * the limit is kept, jobs without a finding go first and running ones never, and the
 * latest job of a name is found, on one machine and on several. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/archive/archive.h"
#include "shm/labels.h"
#include "shm/read/job.h"
#include "test/unit/support/unit.h"

#define KIB 1024u
#define LIMIT (UINT64_C(512) * KIB)
#define LONG_AGO 1000000000

struct fixture {
	char folder[64];
	struct ncs_archive archive;
	unsigned files, removed;
	/* Jobs, by enum ncs_archive_fate. */
	unsigned fates[NCS_ARCHIVE_NO_ROOM + 1];
	uint64_t bytes[NCS_ARCHIVE_NO_ROOM + 1];
	char running[NCS_ARCHIVE_NAME_MAX]; /* pattern */
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

/* Writes so many files of 60 KiB, one second apart. */
static void record_some(struct fixture *fixture, unsigned count, time_t first)
{
	for (unsigned i = 0; i < count; i++)
		record(fixture, 60, first + i);
}

/* Names the folder of a job: its id, if it has one, and, behind blanks, other labels, of
 * which "owner" is its user's number. */
static void name_folder(char *folder, const char *job, time_t begun)
{
	char labels[256] = { 0 };
	const char *owner;

	snprintf(labels, sizeof(labels) - 1, "%s%s",
		 *job == ' ' ? "" : "job_id=", job + (*job == ' '));
	for (char *at = labels; (at = strchr(at, ' '));)
		*at++ = '\0';
	owner = ncs_labels_value(labels, "owner");
	ncs_archive_folder(folder, NCS_ARCHIVE_NAME_MAX, labels,
			   owner ? (uid_t)atol(owner) : NCS_NO_OWNER, begun);
}

static void keep(struct fixture *fixture, const char *job, time_t begun,
		 time_t since, bool has_finding)
{
	char folder[NCS_ARCHIVE_NAME_MAX];

	name_folder(folder, job, begun);
	assert_int_equal(ncs_archive_keep(&fixture->archive, folder, since,
					  has_finding),
			 0);
}

static bool is_running(void *context, const char *folder)
{
	const struct fixture *fixture = context;

	return fnmatch(fixture->running, folder, 0) == 0;
}

static void note_told(void *context, const struct ncs_archive_job *job)
{
	struct fixture *fixture = context;

	fixture->fates[job->fate]++;
	fixture->bytes[job->fate] += job->bytes;
	if (job->fate == NCS_ARCHIVE_KEPT)
		return;
	fixture->removed++;
	snprintf(fixture->last_removed, sizeof(fixture->last_removed), "%s",
		 job->folder);
}

static void trim(struct fixture *fixture)
{
	assert_int_equal(ncs_archive_trim(&fixture->archive, is_running,
					  note_told, fixture),
			 0);
}

/* Returns how many files are found of a job. */
static size_t found(const struct fixture *fixture, const char *pattern)
{
	struct ncs_archive_files files;
	int error = ncs_archive_find(&files, fixture->folder, pattern);
	size_t count = files.files.count;

	assert_true(error == 0 || error == -ENOENT);
	/* Those of the ring, too, come with the folder of the job. */
	assert_int_equal(files.folders.count, error == 0);
	ncs_archive_release(&files);
	return count;
}

UNIT_FIXTURE(set_up, tear_down)

TEST(a_job_keeps_its_files_when_the_ring_goes_on)
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

TEST(jobs_without_a_finding_go_first)
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

TEST(the_file_being_written_stays_in_the_ring)
{
	struct fixture *fixture = *state;

	keep(fixture, "new", LONG_AGO, LONG_AGO + 1000, false);
	record(fixture, 64, LONG_AGO + 2);
	/* The clock was set back. */
	record(fixture, 700, LONG_AGO + 1);
	trim(fixture);
	assert_int_equal(found(fixture, "new"), 1);
}

TEST(the_latest_job_of_a_name_is_found)
{
	struct fixture *fixture = *state;

	record(fixture, 4, LONG_AGO);
	keep(fixture, "job/1", LONG_AGO, LONG_AGO, false);
	record(fixture, 4, LONG_AGO + 10);
	record(fixture, 4, LONG_AGO + 11);
	keep(fixture, "job/1", LONG_AGO + 10, LONG_AGO + 10, false);
	assert_int_equal(found(fixture, "job/1"), 2);
	assert_int_equal(found(fixture, "job%2F1@1000000000"), 1);
	assert_int_equal(found(fixture, "job*"), 2);
}

TEST(a_job_in_an_array_is_found_by_each_of_its_names)
{
	static const char *const good[] = { "4711_3", "4714", "4711", "4711_*",
					    "4711_3=4714@1000000000" };
	static const char *const bad[] = { "4711_1", "471", "4711_3_", "3" };
	struct fixture *fixture = *state;

	record(fixture, 4, LONG_AGO);
	keep(fixture, "4714 array_id=4711_3", LONG_AGO, LONG_AGO, false);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (found(fixture, good[i]) != 1)
			fail_msg("%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (found(fixture, bad[i]) != 0)
			fail_msg("%s", bad[i]);
	record(fixture, 4, LONG_AGO + 10);
	keep(fixture, "1234[5].server", LONG_AGO + 10, LONG_AGO + 10, false);
	assert_int_equal(found(fixture, "1234[5].server"), 1);
	assert_int_equal(found(fixture, "1234[5]"), 1);
	assert_int_equal(found(fixture, "1234"), 1);
	assert_int_equal(found(fixture, "1234[6]"), 0);
	record(fixture, 4, LONG_AGO + 20);
	keep(fixture, "815 array_id=815[7]", LONG_AGO + 20, LONG_AGO + 20,
	     false);
	assert_int_equal(found(fixture, "815"), 1);
	assert_int_equal(found(fixture, "815[7]"), 1);
	assert_int_equal(found(fixture, "815_7"), 0);
}

TEST(a_job_that_was_queued_again_is_another_one)
{
	struct fixture *fixture = *state;
	struct ncs_archive_files files;

	record(fixture, 4, LONG_AGO);
	keep(fixture, "4711", LONG_AGO, LONG_AGO, false);
	record(fixture, 4, LONG_AGO + 100);
	keep(fixture, "4711 requeued=1", LONG_AGO + 100, LONG_AGO + 100, false);
	assert_int_equal(ncs_archive_find(&files, fixture->folder, "4711"), 0);
	assert_int_equal(files.begun, LONG_AGO + 100);
	assert_int_equal(files.matching, 2);
	assert_string_equal(files.job, "4711");
	assert_string_equal(files.before, "4711@1000000000");
	assert_int_equal(files.next_begun, 0);
	ncs_archive_release(&files);
	/* The one before. */
	assert_int_equal(ncs_archive_find(&files, fixture->folder,
					  "4711@1000000000"),
			 0);
	assert_int_equal(files.begun, LONG_AGO);
	assert_int_equal(files.matching, 1);
	assert_int_equal(files.next_begun, LONG_AGO + 100);
	ncs_archive_release(&files);
}

/* Also without a label. */
TEST(jobs_of_two_users_are_apart)
{
	struct fixture *fixture = *state;
	struct ncs_archive_files files;

	record(fixture, 4, LONG_AGO);
	keep(fixture, " owner=1000", LONG_AGO, LONG_AGO, false);
	keep(fixture, " owner=1001", LONG_AGO + 10, LONG_AGO, false);
	assert_int_equal(ncs_archive_find(&files, fixture->folder, "unnamed"),
			 0);
	assert_int_equal(files.matching, 2);
	assert_int_equal(files.owner, 1001);
	assert_int_equal(files.begun, LONG_AGO + 10);
	assert_string_equal(files.before, "unnamed@1000000000,1000");
	ncs_archive_release(&files);
	assert_int_equal(
		ncs_archive_find(&files, fixture->folder, "unnamed@*,1000"), 0);
	assert_int_equal(files.owner, 1000);
	/* That of the other user is no later run. */
	assert_int_equal(files.next_begun, 0);
	ncs_archive_release(&files);
}

TEST(a_pod_is_found_by_its_namespace)
{
	struct fixture *fixture = *state;
	struct ncs_archive_files files;

	record(fixture, 4, LONG_AGO);
	keep(fixture, " pod=train-0 namespace=team", LONG_AGO, LONG_AGO, false);
	assert_int_equal(found(fixture, "train-0"), 1);
	assert_int_equal(found(fixture, "team/train-0"), 1);
	assert_int_equal(found(fixture, "team/train-*"), 1);
	assert_int_equal(found(fixture, "other/train-0"), 0);
	assert_int_equal(found(fixture, "train-0+team@1000000000"), 1);
	assert_int_equal(ncs_archive_find(&files, fixture->folder, "train-0"),
			 0);
	assert_string_equal(files.job, "team/train-0");
	ncs_archive_release(&files);
	/* Nor is that of another namespace its next run. */
	record(fixture, 4, LONG_AGO + 10);
	keep(fixture, " pod=train-0 namespace=other", LONG_AGO + 10,
	     LONG_AGO + 10, false);
	assert_int_equal(ncs_archive_find(&files, fixture->folder,
					  "team/train-0"),
			 0);
	assert_int_equal(files.next_begun, 0);
	ncs_archive_release(&files);
}

/* Its folder has no room for it: the job is found by its whole name all the same. */
TEST(a_job_with_a_long_name_is_found)
{
	struct fixture *fixture = *state;
	struct ncs_archive_files files;
	char name[3 * 31 + 1] = "";

	for (size_t i = 0; i < 31; i++)
		strcat(name, "\xe8\xa8\x93");
	record(fixture, 4, LONG_AGO);
	keep(fixture, name, LONG_AGO, LONG_AGO, false);
	assert_int_equal(ncs_archive_find(&files, fixture->folder, name), 0);
	assert_int_equal(files.folders.count, 1);
	/* A pattern, which the whole name matches. */
	assert_int_equal(fnmatch(files.job, name, 0), 0);
	ncs_archive_release(&files);
}

/* Finds the files of a pattern in the archives of two machines, each of which keeps one
 * job; the second machine's began later. */
static void find_in_two(struct fixture *fixture, const char *job,
			const char *later, const char *pattern,
			struct ncs_archive_files *files)
{
	char shared[128], one[160], other[160], why[100];

	snprintf(shared, sizeof(shared), "%s.shared", fixture->folder);
	snprintf(one, sizeof(one), "%s/n1", shared);
	snprintf(other, sizeof(other), "%s/n2", shared);
	assert_int_equal(mkdir(shared, 0700), 0);
	record(fixture, 4, LONG_AGO);
	keep(fixture, job, LONG_AGO, LONG_AGO, false);
	assert_int_equal(rename(fixture->folder, one), 0);
	ncs_archive_close(&fixture->archive);
	assert_true(ncs_archive_open(&fixture->archive, fixture->folder, LIMIT,
				     why, sizeof(why)));
	record(fixture, 4, LONG_AGO + 100);
	keep(fixture, later, LONG_AGO + 100, LONG_AGO, false);
	assert_int_equal(rename(fixture->folder, other), 0);
	assert_int_equal(rename(shared, fixture->folder), 0);
	assert_int_equal(ncs_archive_find(files, fixture->folder, pattern), 0);
	assert_int_equal(files->begun,
			 files->folders.count == 1 ? LONG_AGO + 100 : LONG_AGO);
}

/* A machine that has no part in the latest run has an earlier one. */
TEST(runs_of_machines_are_not_mixed)
{
	struct ncs_archive_files files;

	find_in_two(*state, "4711", "4711 requeued=1", "4711", &files);
	assert_int_equal(files.folders.count, 1);
	ncs_archive_release(&files);
}

TEST(jobs_of_users_are_not_mixed)
{
	struct ncs_archive_files files;

	find_in_two(*state, "4711 owner=1000", "4711 owner=1001", "4711",
		    &files);
	assert_int_equal(files.folders.count, 1);
	assert_int_equal(files.owner, 1001);
	ncs_archive_release(&files);
}

/* The watch of one machine is of an earlier version: nothing says whose its job is. Of the
 * other one it is known. */
TEST(a_job_whose_user_is_not_known_may_be_any)
{
	struct ncs_archive_files files;

	find_in_two(*state, "4711 owner=1000", "4711", "4711", &files);
	assert_int_equal(files.folders.count, 2);
	assert_int_equal(files.owner, 1000);
	ncs_archive_release(&files);
}

TEST(jobs_that_a_pattern_names_are_not_mixed)
{
	struct ncs_archive_files files;

	find_in_two(*state, "4711", "4712", "471*", &files);
	assert_int_equal(files.folders.count, 1);
	assert_string_equal(files.job, "4712");
	ncs_archive_release(&files);
}

TEST(pods_that_a_pattern_names_are_of_one_job)
{
	struct ncs_archive_files files;

	find_in_two(*state, " pod=train-0 namespace=team",
		    " pod=train-1 namespace=team", "team/train-*", &files);
	assert_int_equal(files.folders.count, 2);
	assert_string_equal(files.job, "team/train-*");
	ncs_archive_release(&files);
}

TEST(pods_of_other_namespaces_are_other_jobs)
{
	struct ncs_archive_files files;

	find_in_two(*state, " pod=train-0 namespace=team",
		    " pod=train-0 namespace=other", "train-*", &files);
	assert_int_equal(files.folders.count, 1);
	ncs_archive_release(&files);
}

TEST(jobs_of_several_machines_are_found)
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
TEST(a_file_that_jobs_share_counts_once)
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

/* Their oldest file is freed once both have lost it; neither loses a later one. */
TEST(jobs_that_run_lose_a_file_that_they_share)
{
	struct fixture *fixture = *state;

	record_some(fixture, 2, LONG_AGO);
	keep(fixture, "one", LONG_AGO, LONG_AGO, false);
	keep(fixture, "two", LONG_AGO, LONG_AGO, true);
	strcpy(fixture->running, "*");
	record_some(fixture, 4, LONG_AGO + 100);
	fixture->archive.limit_bytes = 230 * KIB;
	trim(fixture);
	/* One in the ring. */
	assert_int_equal(found(fixture, "one"), 2);
	assert_int_equal(found(fixture, "two"), 2);
	fixture->archive.limit_bytes = 150 * KIB;
	trim(fixture);
	assert_int_equal(found(fixture, "one"), 1);
	assert_int_equal(found(fixture, "two"), 1);
}

/* The first one to go frees nothing. */
TEST(jobs_go_until_a_file_that_they_share_is_freed)
{
	struct fixture *fixture = *state;

	record(fixture, 60, LONG_AGO);
	keep(fixture, "one", LONG_AGO, LONG_AGO, false);
	keep(fixture, "two", LONG_AGO, LONG_AGO, true);
	record(fixture, 60, LONG_AGO + 50);
	keep(fixture, "other", LONG_AGO, LONG_AGO + 50, true);
	record_some(fixture, 4, LONG_AGO + 100);
	fixture->archive.limit_bytes = 150 * KIB;
	trim(fixture);
	assert_int_equal(fixture->removed, 2);
	assert_int_equal(found(fixture, "other"), 1);
}

TEST(a_job_that_runs_loses_its_oldest_files_last)
{
	struct fixture *fixture = *state;

	record_some(fixture, 2, LONG_AGO);
	keep(fixture, "runs", LONG_AGO, LONG_AGO, true);
	strcpy(fixture->running, "runs@1000000000");
	record_some(fixture, 4, LONG_AGO + 100);
	fixture->archive.limit_bytes = 320 * KIB;
	trim(fixture);
	/* Two in the ring, and as many of the job as there is room for. */
	assert_int_equal(found(fixture, "runs"), 2);
	fixture->archive.limit_bytes = 150 * KIB;
	trim(fixture);
	assert_int_equal(found(fixture, "runs"), 1);
	assert_int_equal(fixture->removed, 0);
}

TEST(a_job_keeps_at_most_a_quarter_of_the_limit)
{
	struct fixture *fixture = *state;

	for (unsigned i = 0; i < 5; i++)
		record(fixture, 32, LONG_AGO + i);
	keep(fixture, "4711", LONG_AGO, LONG_AGO, true);
	assert_int_equal(found(fixture, "4711"), 4);
}

/* A recorder that is killed, or has no room, leaves such a file. */
TEST(an_empty_file_is_none)
{
	struct fixture *fixture = *state;

	record(fixture, 0, LONG_AGO + 1);
	record(fixture, 4, LONG_AGO + 2);
	keep(fixture, "4711", LONG_AGO, LONG_AGO, false);
	keep(fixture, "new", LONG_AGO, LONG_AGO + 1000, false);
	assert_int_equal(found(fixture, "4711"), 1);
	assert_int_equal(found(fixture, "new"), 1);
}

/* Cleans, to limits in seconds before now and in KiB. */
static void clean(struct fixture *fixture, time_t age_s, unsigned kib)
{
	const struct ncs_archive_limits limits = {
		.since = time(NULL) - age_s,
		.bytes = (uint64_t)kib * KIB,
	};

	memset(fixture->fates, 0, sizeof(fixture->fates));
	memset(fixture->bytes, 0, sizeof(fixture->bytes));
	fixture->removed = 0;
	assert_int_equal(ncs_archive_clean(fixture->folder, &limits, is_running,
					   note_told, fixture),
			 0);
}

/* Has what is kept of a job written so many seconds ago. */
static void age(const struct fixture *fixture, const char *folder, time_t age_s)
{
	const struct timespec then = { .tv_sec = time(NULL) - age_s };
	char path[256];

	snprintf(path, sizeof(path), "%s/jobs/%s", fixture->folder, folder);
	assert_int_equal(utimensat(AT_FDCWD, path,
				   (struct timespec[2]){ then, then }, 0),
			 0);
}

/* Keeps three jobs of 64 KiB each: one with a finding, the oldest; one that is well; and
 * one that runs. */
static void keep_three(struct fixture *fixture)
{
	static const char *const jobs[] = { "found", "well", "runs" };
	char folder[NCS_ARCHIVE_NAME_MAX];
	time_t first = time(NULL) - 20;

	for (int i = 0; i < 3; i++) {
		/* After the files of the others. */
		record(fixture, 64, first + i);
		keep(fixture, jobs[i], LONG_AGO, first + i, i == 0);
		name_folder(folder, jobs[i], LONG_AGO);
		age(fixture, folder, 3000 - 1000 * i);
	}
	strcpy(fixture->running, folder);
}

TEST(cleaning_removes_what_is_old_but_what_runs)
{
	struct fixture *fixture = *state;

	keep_three(fixture);
	clean(fixture, 4000, 1024);
	assert_int_equal(fixture->fates[NCS_ARCHIVE_KEPT], 3);
	assert_in_range(fixture->bytes[NCS_ARCHIVE_KEPT], 192 * KIB, 250 * KIB);
	clean(fixture, 2500, 1024);
	assert_int_equal(fixture->fates[NCS_ARCHIVE_TOO_OLD], 1);
	assert_string_equal(fixture->last_removed, "found@1000000000");
	assert_int_equal(found(fixture, "found"), 0);
	clean(fixture, 500, 1024);
	assert_string_equal(fixture->last_removed, "well@1000000000");
	assert_int_equal(fixture->fates[NCS_ARCHIVE_KEPT], 1);
	assert_int_equal(found(fixture, "runs"), 1);
	/* The ring is the watch's. */
	assert_true(ncs_archive_last_written(&fixture->archive) > 0);
}

TEST(cleaning_keeps_findings_longest)
{
	struct fixture *fixture = *state;

	keep_three(fixture);
	clean(fixture, 4000, 150);
	assert_int_equal(fixture->fates[NCS_ARCHIVE_NO_ROOM], 1);
	assert_string_equal(fixture->last_removed, "well@1000000000");
	clean(fixture, 4000, 100);
	assert_string_equal(fixture->last_removed, "found@1000000000");
	clean(fixture, 4000, 64);
	assert_int_equal(fixture->removed, 0);
	assert_int_equal(found(fixture, "runs"), 1);
}

/* A file of two jobs takes the room of one, and stays with the second. */
TEST(cleaning_counts_a_file_of_two_jobs_once)
{
	struct fixture *fixture = *state;

	record(fixture, 64, time(NULL) - 1);
	keep(fixture, "one", LONG_AGO, LONG_AGO, false);
	keep(fixture, "two", LONG_AGO + 1, LONG_AGO, true);
	clean(fixture, 100, 100);
	assert_int_equal(fixture->fates[NCS_ARCHIVE_KEPT], 2);
	assert_in_range(fixture->bytes[NCS_ARCHIVE_KEPT], 64 * KIB, 99 * KIB);
	/* It would still be there if the first one alone went. */
	clean(fixture, 100, 64 - 1);
	assert_int_equal(fixture->fates[NCS_ARCHIVE_NO_ROOM], 2);
}

/* No recorder has written for long: the watch was killed, and no other one begun. */
TEST(a_job_that_nobody_records_does_not_run)
{
	struct fixture *fixture = *state;

	record(fixture, 64, LONG_AGO);
	keep(fixture, "runs", LONG_AGO, LONG_AGO, false);
	strcpy(fixture->running, "runs@1000000000");
	age(fixture, fixture->running, 1000);
	clean(fixture, 500, 1024);
	assert_int_equal(fixture->fates[NCS_ARCHIVE_TOO_OLD], 1);
}

TEST(what_is_no_archive_is_not_cleaned)
{
	struct fixture *fixture = *state;
	const struct ncs_archive_limits none = { .since = time(NULL) };
	char path[128];

	snprintf(path, sizeof(path), "%s/ring", fixture->folder);
	assert_int_equal(ncs_archive_clean(path, &none, NULL, NULL, NULL),
			 -ENOENT);
}

TEST(a_line_is_whole_after_one_that_was_cut)
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

TEST(only_one_watch_writes)
{
	struct fixture *fixture = *state;
	struct ncs_archive other;
	char why[256];

	assert_false(ncs_archive_open(&other, fixture->folder, LIMIT, why,
				      sizeof(why)));
	assert_non_null(strstr(why, "another watch"));
}
