/* SPDX-License-Identifier: MIT */
/* --jobs: lists the jobs of an archive, the latest last, or writes what is kept of one.
 * Must not read recordings: the lines of jobs.jsonl tell what was concluded. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/utf8.h"
#include "fleet/launch/launchers.h"
#include "record/archive/archive.h"
#include "tui/commands/commands.h"
#include "tui/commands/json_values.h"
#include "tui/text/format.h"
#include "tui/text/output.h"
#include "tui/text/words.h"

#define PATH_BYTES 4096
#define LASTED_COLUMNS 7

/* --- Reading ------------------------------------------------------------- */

static const char *text_of(const json_t *job, const char *key)
{
	const char *text = json_string_value(json_object_get(job, key));

	return text ? text : "";
}

/* Adds the jobs of a directory, by archive and folder: the line of a job's end takes the
 * place of that of its begin. Returns false if it has none. */
static bool read_archive(void *jobs, const char *path)
{
	char name[PATH_BYTES], key[2 * PATH_BYTES], *text = NULL;
	size_t size = 0;
	FILE *file;

	ncs_archive_lines(name, sizeof(name), path);
	file = fopen(name, "re");
	if (!file)
		return false;
	while (getline(&text, &size, file) > 0) {
		/* A line that is not whole is one that is being written. */
		json_t *line = json_loads(text, 0, NULL);

		if (json_is_object(line)) {
			json_object_set_new(line, "archive", json_string(path));
			snprintf(key, sizeof(key), "%s/%s", path,
				 text_of(line, "folder"));
			json_object_set(jobs, key, line);
		}
		json_decref(line);
	}
	free(text);
	fclose(file);
	return true;
}

/* --- Printing ------------------------------------------------------------ */

static int by_begin(const void *a, const void *b)
{
	json_int_t x = json_integer_value(
		json_object_get(*(json_t *const *)a, "begun_s"));
	json_int_t y = json_integer_value(
		json_object_get(*(json_t *const *)b, "begun_s"));

	return (x > y) - (x < y);
}

static void print_cell(FILE *file, const char *text, unsigned width, bool ascii)
{
	char clean[NCS_FORMAT_MAX], cell[NCS_FORMAT_MAX];

	ncs_utf8_clean(clean, sizeof(clean), text, ascii);
	ncs_format_pad(cell, sizeof(cell), clean, width, NCS_ALIGN_LEFT);
	fprintf(file, "%s  ", cell);
}

static void print_job(FILE *file, const json_t *job, bool ascii)
{
	time_t begun = (time_t)json_integer_value(
		json_object_get(job, "begun_s"));
	const json_t *lasted = json_object_get(job, "lasted_s");
	const json_t *processes = json_object_get(job, "processes");
	bool has_ended = strcmp(text_of(job, "event"), "ended") == 0;
	char text[NCS_FORMAT_MAX], verdict[1024];

	print_cell(file, ncs_local_time(begun).text, 19, ascii);
	snprintf(text, sizeof(text), "%s", has_ended ? "-" : "runs");
	if (json_is_integer(lasted))
		ncs_format_duration(text, sizeof(text),
				    (uint64_t)json_integer_value(lasted) *
					    UINT64_C(1000000000),
				    LASTED_COLUMNS);
	print_cell(file, text, LASTED_COLUMNS, ascii);
	print_cell(file, text_of(job, "node"), 8, ascii);
	print_cell(file, text_of(job, "user"), 8, ascii);
	print_cell(file, text_of(job, "job"), 8, ascii);
	snprintf(text, sizeof(text), "-");
	if (json_is_integer(processes))
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT,
			 json_integer_value(processes));
	fprintf(file, "%5s  ", text);
	ncs_utf8_clean(verdict, sizeof(verdict), text_of(job, "sentence"),
		       ascii);
	fprintf(file, "%s%s%s\n", text_of(job, "severity"),
		verdict[0] ? ": " : "", has_ended ? verdict : "-");
}

static void print_text(FILE *file, json_t *const *sorted, size_t count,
		       bool ascii)
{
	fprintf(file, "%-19s  %-*s  %-8s  %-8s  %-8s  %-5s  VERDICT\n", "BEGUN",
		LASTED_COLUMNS, "LASTED", "NODE", "USER", "JOB", "PROCS");
	for (size_t i = 0; i < count; i++)
		print_job(file, sorted[i], ascii);
}

NCS_JSON_ARRAY(static json_t *list_of(json_t *const *sorted, size_t count),
	       count, json_incref(sorted[i]))

static void print_json(FILE *file, json_t *const *sorted, size_t count)
{
	json_t *document = ncs_json_document();

	NCS_JSON_ADD(document, { "schema", NCS_JSON(NCS_JSON_SCHEMA) },
		     { "jobs", list_of(sorted, count) });
	ncs_json_print(file, document, JSON_COMPACT);
}

static int print(const struct ncs_command_input *input, json_t *jobs)
{
	const struct ncs_options *options = input->options;
	size_t all = json_object_size(jobs), count = 0;
	json_t **sorted = calloc(all + 1, sizeof(json_t *)), *job;
	const char *key;

	if (!sorted)
		return NCS_EXIT_NOTHING;
	json_object_foreach(jobs, key, job)
	{
		if (!options->choice.job ||
		    ncs_archive_matches(text_of(job, "folder"),
					options->choice.job))
			sorted[count++] = job;
	}
	if (count > 0)
		qsort(sorted, count, sizeof(json_t *), by_begin);
	if (options->jobs_format == NCS_JOBS_JSON)
		print_json(input->file, sorted, count);
	else
		print_text(input->file, sorted, count, options->ascii);
	free(sorted);
	return count > 0 ? NCS_EXIT_OK : NCS_EXIT_NOTHING;
}

/* --- A tar file ---------------------------------------------------------- */

/* Adds a path, as tar is to know it: below the archive. */
static void add_below(struct ncs_words *words, const char *path,
		      const char *archive)
{
	path += strlen(archive);
	ncs_words_add(words, "%s", path + strspn(path, "/"));
}

/* Returns a file in memory with the lines of the job that a folder is of; -errno. The tar
 * program, which this one becomes, has it open, too. */
static int lines_of(const char *folder, const char *name)
{
	int memory = memfd_create("jobs.jsonl", 0);
	FILE *lines = fopen(name, "re");
	char *text = NULL;
	size_t size = 0;
	ssize_t length;

	if (memory < 0)
		memory = -errno;
	while (memory >= 0 && lines &&
	       (length = getline(&text, &size, lines)) > 0) {
		json_t *line = json_loads(text, 0, NULL);

		if (strcmp(text_of(line, "folder"), folder) == 0 &&
		    write(memory, text, (size_t)length) != length)
			memory = -errno;
		json_decref(line);
	}
	if (memory >= 0)
		fchmod(memory, 0600);
	free(text);
	if (lines)
		fclose(lines);
	return memory;
}

/* Adds the lines of each folder's job, as the jobs.jsonl beside those of jobs. */
static void add_lines(struct ncs_words *words, const char *archive,
		      const struct ncs_archive_files *files)
{
	for (size_t i = 0; i < files->folders.count; i++) {
		const char *folder = strrchr(files->folders.path[i], '/') + 1;
		size_t root = strlen(files->folders.path[i]) - strlen(folder) -
			      strlen("/jobs/");
		char machine[PATH_BYTES], name[2 * PATH_BYTES];
		int memory;

		snprintf(machine, sizeof(machine), "%.*s", (int)root,
			 files->folders.path[i]);
		ncs_archive_lines(name, sizeof(name), machine);
		memory = lines_of(folder, name);
		words->failed |= memory < 0;
		ncs_words_add(words, "--transform=s|^%d$|.%s|", memory,
			      name + strlen(archive));
		ncs_words_add(words, "%d", memory);
	}
}

/* Adds a file of a job's folder, unless there is none. */
static void add_if(struct ncs_words *words, const char *folder,
		   const char *name, const char *archive)
{
	char path[2 * PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (access(path, F_OK) == 0)
		add_below(words, path, archive);
}

/* Becomes tar, which writes what an archive keeps of a job: its folder, also if nothing
 * is in it yet, with its files, and its lines. Returns only if it cannot. */
static void write_tar(const char *archive,
		      const struct ncs_archive_files *files)
{
	struct ncs_words words = { .count = 0 };

	ncs_words_add_split(&words, "tar --no-recursion --dereference -cf - -C"
				    " /proc/self/fd");
	add_lines(&words, archive, files);
	ncs_words_add(&words, "-C");
	ncs_words_add(&words, "%s", archive);
	ncs_words_add(&words, "--");
	for (size_t i = 0; i < files->folders.count; i++) {
		add_below(&words, files->folders.path[i], archive);
		add_if(&words, files->folders.path[i], NCS_ARCHIVE_REPORT,
		       archive);
		add_if(&words, files->folders.path[i], NCS_ARCHIVE_FINDING,
		       archive);
	}
	for (size_t i = 0; i < files->files.count; i++)
		add_below(&words, files->files.path[i], archive);
	/* Their names tell a reader that there are other jobs. */
	for (size_t i = 0; i < files->others.count; i++)
		add_below(&words, files->others.path[i], archive);
	/* A reader that goes away ends tar without a word. */
	signal(SIGPIPE, SIG_DFL);
	errno = ENOMEM;
	if (!words.failed)
		execvp(words.words[0], words.words);
	ncs_complain("tar: %s", strerror(errno));
	ncs_words_release(&words);
}

static void run_tar(const char *archive, const char *job)
{
	struct ncs_archive_files files = { .matching = 0 };
	char path[PATH_MAX];
	int error = realpath(archive, path) ? 0 : -errno;

	if (!error)
		error = ncs_archive_find(&files, path, job);
	if (error)
		ncs_complain("%s: nothing is kept of job %s (%s)", archive, job,
			     strerror(-error));
	else
		write_tar(path, &files);
	ncs_archive_release(&files);
}

int ncs_jobs_run(const struct ncs_command_input *input)
{
	const struct ncs_options *options = input->options;
	char path[PATH_BYTES];
	json_t *jobs = json_object();
	int status = NCS_EXIT_NOTHING, error;

	snprintf(path, sizeof(path), "%s", options->archive_path);
	if (!path[0])
		ncs_archive_default(path, sizeof(path));
	if (options->jobs_format == NCS_JOBS_TAR) {
		json_decref(jobs);
		run_tar(path, options->choice.job);
		return NCS_EXIT_NOTHING;
	}
	error = ncs_archive_each(path, read_archive, jobs);
	if (error)
		ncs_complain("%s: no archive of jobs is there (%s); \"ncclstat"
			     " watch --archive\" makes one",
			     path, strerror(-error));
	else
		status = print(input, jobs);
	json_decref(jobs);
	return status;
}
