/* SPDX-License-Identifier: MIT */
/* Lines of jobs.jsonl; see job_summary.h. */
#include "tui/commands/job_summary.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/diagnosis/finding.h"
#include "tui/commands/json_values.h"

#define PATH_BYTES 4096

/* Bounds the length of a line. */
#define COMMUNICATORS_MOST 64u

/* --- The line ------------------------------------------------------------ */

static json_t *line_of(const struct ncs_job_summary *job, const char *event)
{
	json_t *line = ncs_json_document();
	const struct passwd *user = getpwuid(job->owner);
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	NCS_JSON_ADD(line, { "event", NCS_JSON(event) },
		     { "job", NCS_JSON(job->name) },
		     { "begun_s", NCS_JSON((uint64_t)job->begun) },
		     { "restarts", NCS_JSON(job->restarts) },
		     { "node", NCS_JSON(host) },
		     { "uid", NCS_JSON(job->owner) },
		     { "user", ncs_json_name(user ? user->pw_name : NULL) },
		     { "folder", NCS_JSON(job->folder) });
	return line;
}

/* Adds a line to those of the archive, and releases it. */
static int add_line(const struct ncs_archive *archive, json_t *line)
{
	char *text = json_dumps(line, JSON_COMPACT);
	char *ended = NULL;
	int error = -ENOMEM;

	if (text && asprintf(&ended, "%s\n", text) >= 0)
		error = ncs_archive_add_line(archive, ended);
	free(ended);
	free(text);
	json_decref(line);
	return error;
}

int ncs_job_summary_begin(const struct ncs_archive *archive,
			  const struct ncs_job_summary *job)
{
	return add_line(archive, line_of(job, "begun"));
}

/* --- What is concluded --------------------------------------------------- */

/* Runs this program on what is kept of a job. Returns the document that it prints; NULL
 * if there is none. */
static json_t *document_of(const char *option,
			   const struct ncs_archive *archive,
			   const struct ncs_job_summary *job)
{
	char program[] = "ncclstat", chosen[PATH_BYTES];
	char path[PATH_BYTES], folder[NCS_ARCHIVE_NAME_MAX + 8];
	char *words[] = { program, chosen, path, folder, NULL };
	json_t *document = NULL;
	int ends[2];
	FILE *output;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return NULL;
	snprintf(chosen, sizeof(chosen), "%s", option);
	snprintf(path, sizeof(path), "--archive=%s", archive->path);
	snprintf(folder, sizeof(folder), "--job=%s", job->folder);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(ends[1], STDOUT_FILENO);
		execv("/proc/self/exe", words);
		_exit(EXIT_FAILURE);
	}
	close(ends[1]);
	output = fdopen(ends[0], "r");
	if (output) {
		document = json_loadf(output, 0, NULL);
		fclose(output);
	} else {
		close(ends[0]);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return document;
}

/* Adds some members of an object to another one. */
static void copy_members(json_t *to, const json_t *from,
			 const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		json_t *value = json_object_get(from, names[i]);

		if (value)
			json_object_set(to, names[i], value);
	}
}

/* Returns how bad a severity is, by its name. */
static unsigned badness(const json_t *severity)
{
	const char *name = json_string_value(severity);

	for (unsigned i = 0; name && i < NCS_SEVERITY_COUNT; i++)
		if (strcmp(ncs_severity_name(i), name) == 0)
			return i;
	return 0;
}

/* Puts the worst of what was found in place of how the job ended, if that is better. */
static void add_worst(json_t *line, const json_t *findings)
{
	static const char *const names[] = { "severity", "sentence" };
	const json_t *finding, *worst = line;
	size_t at;

	json_array_foreach(findings, at, finding)
		if (badness(json_object_get(finding, "severity")) >
		    badness(json_object_get(worst, "severity")))
			worst = finding;
	if (worst != line)
		copy_members(line, worst, names, 2);
}

/* Adds what was found, at the end or before, in short. */
static void add_findings(json_t *line, const json_t *document)
{
	static const char *const lists[] = { "findings", "episodes" };
	static const char *const names[] = { "verdict",	   "severity",
					     "rank",	   "cost_share",
					     "from_ns",	   "until_ns",
					     "sentence" };
	json_t *findings = json_array(), *finding, *root;
	size_t at;

	for (size_t i = 0; i < 2; i++)
		json_array_foreach(json_object_get(document, lists[i]), at,
				   finding) {
			json_t *object = json_object();

			copy_members(object, finding, names,
				     sizeof(names) / sizeof(*names));
			root = json_object_get(finding, "root");
			copy_members(object, root, &names[2], 1);
			json_array_append_new(findings, object);
		}
	add_worst(line, findings);
	json_object_set_new(line, "findings", findings);
}

/* Adds how fast each communicator was, how late its ranks were, and how many records were
 * lost. */
static void add_communicators(json_t *line, const json_t *dump)
{
	static const char *const names[] = { "communicator", "functions", "skew",
					     "lost" };
	json_t *communicators = json_array(), *communicator;
	size_t at;

	json_array_foreach(json_object_get(dump, "communicators"), at,
			   communicator) {
		json_t *object;

		if (at == COMMUNICATORS_MOST)
			break;
		object = json_object();
		copy_members(object, communicator, names,
			     sizeof(names) / sizeof(*names));
		json_array_append_new(communicators, object);
	}
	json_object_set_new(line, "communicators", communicators);
}

int ncs_job_summary_end(const struct ncs_archive *archive,
			const struct ncs_job_summary *job)
{
	static const char *const names[] = { "severity", "verdict_line",
					     "training_step", "not_checked" };
	const char *verdict;
	char report[PATH_BYTES];
	json_t *line = line_of(job, "ended");
	json_t *document = document_of("--diagnose=json", archive, job);
	json_t *dump = document_of("--dump=json", archive, job);

	/* It prints nothing. */
	if (snprintf(report, sizeof(report),
		     "--report=%s/jobs/%s/" NCS_ARCHIVE_REPORT, archive->path,
		     job->folder) < (int)sizeof(report))
		json_decref(document_of(report, archive, job));
	NCS_JSON_ADD(line,
		     { "ended_s",
		       NCS_JSON_IF(job->ended > 0, (uint64_t)job->ended) },
		     { "lasted_s",
		       NCS_JSON_IF(job->ended >= job->begun,
				   (uint64_t)(job->ended - job->begun)) },
		     { "end_is_unseen", NCS_JSON(job->end_is_unseen) },
		     /* A watch that was started after the job's end has not
		      * seen them. */
		     { "processes", ncs_json_known(job->processes) },
		     { "ranks", ncs_json_known(job->ranks) });
	copy_members(line, document, names, sizeof(names) / sizeof(*names));
	/* A verdict begins with its severity. */
	verdict = json_string_value(json_object_get(line, "verdict_line"));
	if (verdict && strstr(verdict, ": "))
		json_object_set_new(line, "sentence",
				    json_string(strstr(verdict, ": ") + 2));
	add_findings(line, document);
	if (dump)
		add_communicators(line, dump);
	json_decref(document);
	json_decref(dump);
	return add_line(archive, line);
}

/* --- Reading ------------------------------------------------------------- */

static void read_job(struct ncs_job_summary *job, const json_t *line)
{
	const char *name = json_string_value(json_object_get(line, "job"));
	const char *folder = json_string_value(json_object_get(line, "folder"));

	*job = (struct ncs_job_summary){
		.owner =
			(uid_t)json_integer_value(json_object_get(line, "uid")),
		.begun = (time_t)json_integer_value(
			json_object_get(line, "begun_s")),
		.restarts = (unsigned)json_integer_value(
			json_object_get(line, "restarts")),
		.processes = (uint32_t)json_integer_value(
			json_object_get(line, "processes")),
		.ranks = (uint32_t)json_integer_value(
			json_object_get(line, "ranks")),
	};
	snprintf(job->name, sizeof(job->name), "%s", name ? name : "");
	snprintf(job->folder, sizeof(job->folder), "%s", folder ? folder : "");
}

size_t ncs_job_summary_open_ones(const char *path, struct ncs_job_summary *jobs,
				 size_t most)
{
	char name[PATH_BYTES], *text = NULL;
	size_t size = 0, count = 0;
	FILE *file;

	ncs_archive_lines(name, sizeof(name), path);
	file = fopen(name, "re");
	while (file && getline(&text, &size, file) > 0) {
		json_t *line = json_loads(text, 0, NULL);
		const char *event =
			json_string_value(json_object_get(line, "event"));
		bool has_begun = event && strcmp(event, "begun") == 0;
		bool has_ended = event && strcmp(event, "ended") == 0;
		struct ncs_job_summary job;
		size_t at = 0;

		read_job(&job, line);
		json_decref(line);
		while (at < count && strcmp(jobs[at].folder, job.folder) != 0)
			at++;
		if (has_begun && job.folder[0] && at == count && count < most)
			jobs[count++] = job;
		else if (has_ended && at < count)
			jobs[at] = jobs[--count];
	}
	free(text);
	if (file)
		fclose(file);
	return count;
}
