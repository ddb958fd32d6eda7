/* SPDX-License-Identifier: MIT */
/* Labels of jobs for readers; see job.h. A segment's labels are hostile input:
 * they are copied once and cleaned. */
#include "shm/read/job.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/labels.h"
#include "shm/process.h"
#include "shm/read/containers.h"
#include "shm/read/reader_internal.h"
#include "shm/segment.h"

/* --- The environment of another process ---------------------------------- */

/* The variables of a process: "NAME=value" after another, each terminated. */
struct environment {
	char *text;
	size_t bytes;
};

static const char *find_variable(void *context, const char *name)
{
	const struct environment *environment = context;
	const char *text = environment->text;
	const char *end = text + environment->bytes;
	size_t length = strlen(name);

	while (text < end) {
		if (strncmp(text, name, length) == 0 && text[length] == '=')
			return text + length + 1;
		text += strlen(text) + 1;
	}
	return NULL;
}

/* Adds labels from the environment of a process that this one can see; does
 * nothing if it may not be read, or is another process by now: `start` is its
 * start time (shm/process.h). */
static void add_environment(struct ncs_labels *labels, uint32_t pid,
			    uint64_t start)
{
	struct environment environment;

	environment.text = ncs_process_text(pid, "environ", &environment.bytes);
	if (environment.text && start != 0 && ncs_process_start(pid) == start)
		ncs_labels_collect(labels, find_variable, &environment);
	free(environment.text);
}

void ncs_job_environment_value(uint32_t pid, const char *name, char *text,
			       size_t size)
{
	struct environment environment;
	const char *value;

	environment.text = ncs_process_text(pid, "environ", &environment.bytes);
	value = environment.text ? find_variable(&environment, name) : NULL;
	if (value && strlen(value) < size)
		strcpy(text, value);
	free(environment.text);
}

/* --- The labels of a segment ---------------------------------------------- */

/* Spoils all labels of a key. */
static void hide(struct ncs_labels *labels, const char *key)
{
	char *found = labels->text;
	size_t left = sizeof(labels->text);

	while ((found = memmem(found, left, key, strlen(key)))) {
		*found = '-';
		left = sizeof(labels->text) - (size_t)(found - labels->text);
	}
}

static void read_segment(struct ncs_labels *labels,
			 const struct ncs_reader *reader)
{
	struct ncs_labels copy;

	ncs_load_words(&copy,
		       ncs_reader_entry(reader, &reader->header.labels, 0),
		       sizeof(copy));
	/* In a live segment nobody but this viewer knows them. */
	if (!ncs_reader_is_image(reader)) {
		hide(&copy, "host_pid=");
		hide(&copy, "container=");
	}
	ncs_labels_add_all(labels, &copy);
}

/* Finds the process of a live segment among those to be seen here, and labels it
 * with its container: what the segment says of that is not asked. */
static void find_process(struct ncs_reader *reader,
			 const struct ncs_process *self,
			 struct ncs_labels *labels)
{
	const struct ncs_header *header = &reader->header;
	char number[16];

	if (header->pid_namespace == self->pid_namespace ||
	    strcmp(header->boot_id, self->boot_id) != 0)
		return;
	reader->pid_here =
		ncs_container_pid_here(header->pid_namespace, header->pid);
	if (reader->pid_here == 0)
		return;
	snprintf(number, sizeof(number), "%u", reader->pid_here);
	ncs_labels_add(labels, "host_pid", number);
	ncs_container_labels(labels, reader->pid_here);
}

/* Adds the name of a job in an array, as Slurm and LSF print it: jobs of Slurm have
 * an id of their own beside it, those of LSF only that of the array. LSF numbers
 * from 1 on; 0 is a job that is in no array. */
static void name_in_array(struct ncs_labels *labels)
{
	const char *array = ncs_labels_value(labels->text, "array_job");
	const char *job = ncs_labels_value(labels->text, "job_id");
	const char *task = ncs_labels_value(labels->text, "array_task");
	char text[2 * NCS_LABEL_VALUE_BYTES + 3];

	if (array && task)
		snprintf(text, sizeof(text), "%s_%s", array, task);
	else if (job && task && strcmp(task, "0") != 0)
		snprintf(text, sizeof(text), "%s[%s]", job, task);
	else
		return;
	ncs_labels_add(labels, "array_id", text);
}

/* Returns the number of the segment's process here; 0 if it is not known. */
static uint32_t pid_of(const struct ncs_reader *reader,
		       const struct ncs_process *self)
{
	const struct ncs_header *header = &reader->header;

	if (header->pid_namespace == self->pid_namespace &&
	    strcmp(header->boot_id, self->boot_id) == 0)
		return header->pid;
	return reader->pid_here;
}

int ncs_job_attach(struct ncs_reader *reader)
{
	const struct ncs_header *header = &reader->header;
	struct ncs_labels labels = { 0 };
	struct ncs_process self;

	if (!ncs_reader_is_image(reader)) {
		ncs_process_describe(&self);
		find_process(reader, &self, &labels);
	}
	if (ncs_segment_has_labels(header))
		read_segment(&labels, reader);
	else if (!ncs_reader_is_image(reader) && pid_of(reader, &self) != 0)
		add_environment(&labels, pid_of(reader, &self),
				header->process_start);
	name_in_array(&labels);
	reader->labels = malloc(ncs_labels_bytes(labels.text));
	if (!reader->labels)
		return -ENOMEM;
	memcpy(reader->labels, labels.text, ncs_labels_bytes(labels.text));
	return 0;
}

const char *ncs_reader_labels(const struct ncs_reader *reader)
{
	return reader->labels;
}

/* --- Jobs ------------------------------------------------------------------ */

enum ncs_job_kind ncs_job_of(const char *labels, const char **name)
{
	const char *run = ncs_labels_value(labels, "run_id");

	*name = ncs_labels_value(labels, "array_id");
	if (!*name)
		*name = ncs_labels_value(labels, "job_id");
	/* torchrun calls a run "none" that was given no name. */
	if (!*name && run && strcmp(run, "none") != 0)
		*name = run;
	if (*name)
		return NCS_JOB_BATCH;
	*name = ncs_labels_value(labels, "pod");
	return *name ? NCS_JOB_POD : NCS_JOB_NONE;
}

/* An id such as 1234[5].server has brackets that are no pattern. */
static bool matches(const char *pattern, const char *text)
{
	return strcmp(pattern, text) == 0 || fnmatch(pattern, text, 0) == 0;
}

/* Tells whether the pattern matches "first<separator>second". */
static bool matches_pair(const char *pattern, const char *first, char separator,
			 const char *second)
{
	char text[2 * NCS_LABEL_VALUE_BYTES + 2];

	if (!first || !second)
		return false;
	snprintf(text, sizeof(text), "%s%c%s", first, separator, second);
	return matches(pattern, text);
}

/* Tells whether the pattern is the id of a job without what follows its number:
 * 1234 and 1234[5] are 1234[5].server of PBS. */
static bool is_short_id(const char *pattern, const char *id)
{
	size_t length = strlen(pattern);

	return id && length > 0 && strncmp(pattern, id, length) == 0 &&
	       (id[length] == '.' || id[length] == '[');
}

/* Tells whether the pattern is a component of a heterogeneous job of Slurm, such as
 * 4711+1: its ranks have the id of the job, and do not tell the component. */
static bool is_component(const char *pattern, const char *id)
{
	const char *number = strchr(pattern, '+');

	return id && number && strncmp(pattern, id, strlen(id)) == 0 &&
	       pattern + strlen(id) == number && number[1] &&
	       !number[1 + strspn(number + 1, "0123456789")];
}

const char *ncs_job_name(const char *labels)
{
	const char *name;

	return ncs_job_of(labels, &name) != NCS_JOB_NONE ? name :
							   NCS_JOB_UNNAMED;
}

bool ncs_job_matches(const char *labels, const char *pattern)
{
	static const char *const keys[] = { "job_id", "array_job", "array_id",
					    "run_id", "pod",       "pod_uid" };
	const char *id = ncs_labels_value(labels, "job_id"), *name;

	if (!pattern)
		return true;
	if (ncs_job_of(labels, &name) == NCS_JOB_NONE &&
	    strcmp(pattern, NCS_JOB_UNNAMED) == 0)
		return true;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *value = ncs_labels_value(labels, keys[i]);

		if (value && matches(pattern, value))
			return true;
	}
	return is_short_id(pattern, id) || is_component(pattern, id) ||
	       matches_pair(pattern, id, '.',
			    ncs_labels_value(labels, "job_step")) ||
	       matches_pair(pattern, ncs_labels_value(labels, "namespace"), '/',
			    ncs_labels_value(labels, "pod"));
}

bool ncs_choice_has(const struct ncs_choice *choice,
		    const struct ncs_header *header, const char *labels)
{
	const char *here = ncs_labels_value(labels, "host_pid");
	uint32_t pid = here ? (uint32_t)strtoul(here, NULL, 10) : header->pid;

	return (choice->pid == 0 || pid == choice->pid) &&
	       ncs_job_matches(labels, choice->job);
}
