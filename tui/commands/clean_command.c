/* SPDX-License-Identifier: MIT */
/* --clean: removes the shared memory of dead processes, or what an archive keeps of
 * jobs. shm/read/clean.h and record/archive decide what goes; this file only prints. */
#include "ncclstat/reader.h"
#include "tui/commands/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/archive/archive.h"
#include "shm/read/clean.h"
#include "tui/commands/dump_command.h"
#include "tui/commands/job_summary.h"
#include "tui/commands/print_values.h"
#include "tui/text/output.h"

#define SECOND_NS UINT64_C(1000000000)
#define PATH_BYTES 4096

/* Jobs of which only the begin is known. */
#define OPEN_MOST 4096u

struct clean_report {
	const struct ncs_options *options;
	FILE *file;
	const char *archive; /* the one that is cleaned */
	const struct ncs_job_summary *open; /* its jobs that may run */
	size_t open_count;
	/* Files, or what is kept of jobs. */
	size_t kept, removed;
	uint64_t kept_bytes, removed_bytes;
	bool failed;
};

/* --- Printing ------------------------------------------------------------ */

/* Prints how long ago that was, since 1970. */
static void print_age(const struct clean_report *report, uint64_t since_ns)
{
	uint64_t now_ns = ncs_dump_stamp(NULL).realtime_ns;

	ncs_print(report->file, "$d",
		  now_ns > since_ns ? now_ns - since_ns : 0);
}

/* Counts what was kept or removed, and begins its line. */
static void begin_line(struct clean_report *report, bool is_kept,
		       const char *path, uint64_t bytes)
{
	*(is_kept ? &report->kept : &report->removed) += 1;
	*(is_kept ? &report->kept_bytes : &report->removed_bytes) += bytes;
	ncs_print(report->file, "$s $s: $b", is_kept ? "kept" : "removed", path,
		  bytes);
}

static void print_sum(const struct clean_report *report)
{
	ncs_print(report->file, "removed $n, $b; kept $n, $b\n",
		  report->removed, report->removed_bytes, report->kept,
		  report->kept_bytes);
}

static void complain(struct clean_report *report, const char *path, int error)
{
	ncs_complain("%s: %s", path, strerror(-error));
	report->failed = true;
}

/* --- Archives ------------------------------------------------------------- */

static bool may_run(void *context, const char *folder)
{
	const struct clean_report *report = context;

	for (size_t i = 0; i < report->open_count; i++)
		if (strcmp(report->open[i].folder, folder) == 0)
			return true;
	return false;
}

static void on_job(void *context, const struct ncs_archive_job *job)
{
	static const char *const reasons[] = {
		[NCS_ARCHIVE_KEPT] = "",
		[NCS_ARCHIVE_TOO_OLD] = ", too old",
		[NCS_ARCHIVE_NO_ROOM] = ", beyond the size",
	};
	struct clean_report *report = context;
	char path[PATH_BYTES + NCS_ARCHIVE_NAME_MAX];

	snprintf(path, sizeof(path), "%s/jobs/%s", report->archive,
		 job->folder);
	begin_line(report, job->fate == NCS_ARCHIVE_KEPT, path, job->bytes);
	fputs(", written ", report->file);
	print_age(report, (uint64_t)job->written * SECOND_NS);
	fprintf(report->file, " ago%s%s%s\n", reasons[job->fate],
		job->has_finding ? ", with a finding" : "",
		job->runs ? ", runs" : "");
}

static bool clean_archive(void *context, const char *path)
{
	struct clean_report *report = context;
	const struct ncs_retention *retain = &report->options->retain;
	uint64_t age_s = retain->age_ns / SECOND_NS;
	time_t now = time(NULL);
	struct ncs_archive_limits limits = { .bytes = retain->bytes };
	struct ncs_job_summary *open = calloc(OPEN_MOST, sizeof(*open));
	int error = -ENOMEM;

	if ((uint64_t)now > age_s)
		limits.since = now - (time_t)age_s;
	if (open) {
		report->archive = path;
		report->open = open;
		report->open_count =
			ncs_job_summary_open_ones(path, open, OPEN_MOST);
		error = ncs_archive_clean(path, &limits, may_run, on_job,
					  report);
	}
	free(open);
	if (error == -ENOENT || error == -ENOTDIR)
		return false;
	if (error)
		complain(report, path, error);
	return true;
}

static void clean_archives(struct clean_report *report)
{
	const char *path = report->options->archive_path;
	int error = ncs_archive_each(path, clean_archive, report);

	if (error)
		complain(report, path, error);
	else
		print_sum(report);
}

/* Counts what is kept of a job. */
static void count_job(void *context, const struct ncs_archive_job *job)
{
	struct clean_report *report = context;

	report->kept++;
	report->kept_bytes += job->bytes;
}

/* Says what is left alone, as it is in the archive that is read by default. */
static void tell_of_archive(const struct clean_report *report)
{
	/* Nothing goes, whatever its date. */
	const struct ncs_archive_limits all = { .since = (time_t)INT64_MIN,
						.bytes = UINT64_MAX };
	struct clean_report sums = { .options = report->options };
	char path[PATH_BYTES];

	if (!ncs_archive_default(path, sizeof(path))[0] ||
	    ncs_archive_clean(path, &all, NULL, count_job, &sums) != 0 ||
	    sums.kept == 0)
		return;
	ncs_print(report->file,
		  "kept $s: $b of $n job$s; \"ncclstat --clean --archive"
		  " --retain=30d\" removes what is older\n",
		  path, sums.kept_bytes, sums.kept, sums.kept == 1 ? "" : "s");
}

/* --- Segments --------------------------------------------------------------- */

static void on_left(const struct ncs_left *left, void *argument)
{
	struct clean_report *report = argument;

	if (left->error) {
		complain(report, left->path, left->error);
		return;
	}
	begin_line(report, left->is_kept, left->path, left->bytes);
	if (left->is_finished) {
		fputs(", of a communicator that was finalized", report->file);
	} else if (left->alive_ns != 0) {
		fputs(", of a process that is gone for ", report->file);
		print_age(report, left->alive_ns);
	}
	fputc('\n', report->file);
}

static void clean_segments(struct clean_report *report)
{
	const struct ncs_options *options = report->options;
	const struct ncs_clean_limits limits = {
		.age_ns = options->retain.age_ns,
		.bytes = options->retain.bytes,
	};
	const char *directory = ncs_directory(options->directory);
	int removed = ncs_clean(directory, &limits, on_left, report);

	if (removed < 0) {
		complain(report, directory, removed);
	} else if (report->removed + report->kept > 0) {
		print_sum(report);
	} else if (!report->failed) {
		ncs_print(report->file, "nothing to remove in $s\n", directory);
	}
	tell_of_archive(report);
}

int ncs_clean_run(const struct ncs_command_input *input)
{
	struct clean_report report = { .options = input->options,
				       .file = input->file };

	if (input->options->archive_path[0])
		clean_archives(&report);
	else
		clean_segments(&report);
	return report.failed ? NCS_EXIT_NOTHING : NCS_EXIT_OK;
}
