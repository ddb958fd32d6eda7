/* SPDX-License-Identifier: MIT */
/* Asks other programs where a job runs; see lookups.h. */
#include "fleet/launch/lookups.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/launch/answer.h"
#include "fleet/launch/launchers.h"

#define TIME_NS UINT64_C(10000000000)
#define OUTPUT_MAX ((size_t)16 << 20)
/* The longest wait of one turn for a tool's answer. */
#define TURN_MS 20

static int say_no_memory(const struct ncs_lookup *lookup)
{
	snprintf(lookup->why, lookup->why_size, "%s", strerror(ENOMEM));
	return -ENOMEM;
}

/* --- Running a program --------------------------------------------------- */

/* Begins to run the words. */
static int begin(const struct ncs_lookup *lookup, const struct ncs_words *words,
		 struct ncs_answer *answer)
{
	return ncs_answer_begin(answer, lookup->guard, words, NULL, OUTPUT_MAX,
				TIME_NS, lookup->why, lookup->why_size);
}

/* Runs the words, releases them, and returns the program's output in `text`,
 * which is to be freed. */
static int run(const struct ncs_lookup *lookup, struct ncs_words *words,
	       char **text)
{
	struct ncs_answer answer;
	int error = begin(lookup, words, &answer);

	*text = NULL;
	if (!error)
		error = ncs_answer_end(&answer, words->words[0],
				       ncs_answer_wait(&answer, TURN_MS), text,
				       lookup->why, lookup->why_size);
	ncs_words_release(words);
	return error;
}

/* --- Questions ----------------------------------------------------------- */

/* Adds names, one a line, from another program's output. */
static int add_output(const struct ncs_lookup *lookup, const char *text)
{
	int error = ncs_hostlist_add(lookup->list, text, lookup->why,
				     lookup->why_size);

	return error == -ENOMEM ? say_no_memory(lookup) : error;
}

/* Runs a program and adds the names that it prints. */
static int add_answer(const struct ncs_lookup *lookup, struct ncs_words *words)
{
	char *names;
	int error = run(lookup, words, &names);

	if (!error)
		error = add_output(lookup, names);
	free(names);
	return error;
}

/* Adds the names in a file, which may come more than once: hosts files have a line for each
 * process. */
static int add_file(const struct ncs_lookup *lookup, const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	ssize_t length = file ? getdelim(&text, &size, '\0', file) : -1;
	int error = length < 0 && !(file && feof(file)) ? -errno : 0;

	if (error)
		snprintf(lookup->why, lookup->why_size, "%s: %s", path,
			 strerror(-error));
	else
		error = add_output(lookup, length > 0 ? text : "");
	if (file)
		fclose(file);
	free(text);
	return error;
}

int ncs_lookup_hosts(const struct ncs_lookup *lookup, const char *text)
{
	struct ncs_words words = { .count = 0 };

	if (text[0] == '/' || strncmp(text, "./", 2) == 0)
		return add_file(lookup, text);
	if (!ncs_hostlist_needs_nodeset(text))
		return add_output(lookup, text);
	ncs_words_add_split(&words, "nodeset --expand --separator=\\n --");
	ncs_words_add(&words, "%s", text);
	return add_answer(lookup, &words);
}

int ncs_lookup_exclude(const struct ncs_lookup *lookup, const char *text)
{
	struct ncs_hostlist excluded = { .count = 0 };
	struct ncs_lookup of_excluded = *lookup;
	int error = 0;

	of_excluded.list = &excluded;
	if (text)
		error = ncs_lookup_hosts(&of_excluded, text);
	if (!error)
		ncs_hostlist_exclude(lookup->list, &excluded);
	ncs_hostlist_release(&excluded);
	return error;
}

/* Adds a list of nodes as Slurm prints it. */
static int add_slurm_list(const struct ncs_lookup *lookup, const char *text)
{
	struct ncs_words words = { .count = 0 };
	int error = add_output(lookup, text);

	if (error != -EINVAL)
		return error;
	ncs_words_add_split(&words, "scontrol show hostnames");
	ncs_words_add(&words, "%s", text);
	return add_answer(lookup, &words);
}

/* A line of squeue: a job, a job of an array, or a component. */
struct slurm_part {
	char state[32];
	char number[32];
	char id[64]; /* such as 4711, 4711_3 or 4711+0 */
	const char *nodes;
};

/* Reads a line, which is cut off at its end. Returns the next one; NULL: it is none. */
static char *read_part(char *line, struct slurm_part *part)
{
	char *end = strchr(line, '\n');
	int length = 0;

	if (!end)
		return NULL;
	*end = '\0';
	if (sscanf(line, "%31s %31s %63s %n", part->state, part->number,
		   part->id, &length) < 3)
		return NULL;
	part->nodes = line + length;
	return end + 1;
}

/* Says what to do with a job of which several parts run. */
static void say_parts(const struct ncs_lookup *lookup, const char *name,
		      const struct slurm_part *first)
{
	/* Those that wait are one: 4711_[5-9]. */
	int length = (int)strcspn(first->id, "[");
	const char *number = first->id + length + (first->id[length] == '[');

	snprintf(lookup->why, lookup->why_size,
		 "job %s has several parts: name one, such as %.*s%.*s", name,
		 length, first->id, (int)strspn(number, "0123456789"), number);
}

/* Adds a component of a heterogeneous job, such as 4711+1. */
static int add_component(const struct ncs_lookup *lookup,
			 struct ncs_slurm_job *job,
			 const struct slurm_part *part)
{
	const char *plus = strchr(part->id, '+');
	size_t number = plus ? strtoul(plus + 1, NULL, 10) : SIZE_MAX;
	struct ncs_lookup of_component = *lookup;
	struct ncs_hostlist *nodes;
	int error;

	if (number >= NCS_SLURM_COMPONENTS_MAX) {
		snprintf(lookup->why, lookup->why_size, "squeue says: %s",
			 part->id);
		return -EINVAL;
	}
	of_component.list = nodes = &job->components[number];
	error = add_slurm_list(&of_component, part->nodes);
	for (size_t i = 0; !error && i < nodes->count; i++)
		error = ncs_hostlist_add_name(lookup->list,
					      nodes->hosts[i]->name);
	if (number >= job->component_count)
		job->component_count = number + 1;
	return error;
}

/* Adds the components that run, or the one that is named: squeue prints all. srun takes
 * the number of the job, which is the first one's. */
static int add_components(const struct ncs_lookup *lookup, const char *name,
			  struct ncs_slurm_job *job, struct slurm_part *part,
			  char *rest)
{
	bool all = !strchr(name, '+');
	int error = 0;

	job->components = calloc(NCS_SLURM_COMPONENTS_MAX,
				 sizeof(*job->components));
	if (!job->components)
		return say_no_memory(lookup);
	snprintf(job->number, sizeof(job->number), "%.*s",
		 (int)strcspn(part->id, "+"), part->id);
	do
		if (strcmp(part->state, "RUNNING") == 0 &&
		    (all || strcmp(part->id, name) == 0))
			error = add_component(lookup, job, part);
	while (!error && (rest = read_part(rest, part)));
	if (error || lookup->list->count > 0)
		return error;
	snprintf(lookup->why, lookup->why_size, "component %s does not run",
		 name);
	return -EINVAL;
}

int ncs_lookup_job(const struct ncs_lookup *lookup, const char *name,
		   struct ncs_slurm_job *job)
{
	struct ncs_words words = { .count = 0 };
	struct slurm_part part;
	char *text, *rest, *next;
	bool runs;
	int error;

	ncs_words_add_split(&words, "squeue --noheader");
	ncs_words_add(&words, "--jobs=%s", name);
	ncs_words_add(&words, "--format=%%T %%A %%i %%N");
	error = run(lookup, &words, &text);
	if (error) {
		free(text);
		return error;
	}
	error = -EINVAL;
	next = rest = read_part(text, &part);
	/* Jobs of an array that wait come first. */
	while (next && next[0] && strcmp(part.state, "RUNNING") != 0)
		next = read_part(next, &part);
	runs = next && strcmp(part.state, "RUNNING") == 0;
	if (!rest)
		snprintf(lookup->why, lookup->why_size, "there is no job %s",
			 name);
	else if (runs && strchr(part.id, '+'))
		error = add_components(lookup, name, job, &part, next);
	else if (rest[0] && !strchr(part.id, '+'))
		say_parts(lookup, name, &part);
	else if (!runs)
		snprintf(lookup->why, lookup->why_size,
			 "job %s does not run: it is %s", name, part.state);
	else {
		snprintf(job->number, sizeof(job->number), "%s", part.number);
		error = add_slurm_list(lookup, part.nodes);
	}
	free(text);
	return error;
}

/* Adds lists of nodes, one a line. A part of a job that never ran has an empty one, or
 * one in words. */
static int add_slurm_lists(const struct ncs_lookup *lookup, char *text)
{
	char *nodes;
	int error = 0;

	while (!error && (nodes = strsep(&text, "\n")))
		if (nodes[0] && !strchr(nodes, ' '))
			error = add_slurm_list(lookup, nodes);
	return error;
}

int ncs_lookup_job_that_ran(const struct ncs_lookup *lookup, const char *name)
{
	static const char *const questions[] = {
		"squeue --noheader --states=all --format=%N",
		"sacct --noheader --allocations --parsable2 --format=NodeList",
	};
	int error = 0;

	for (size_t i = 0; lookup->list->count == 0 && i < 2; i++) {
		struct ncs_words words = { .count = 0 };
		char *text;

		ncs_words_add_split(&words, questions[i]);
		ncs_words_add(&words, "--jobs=%s", name);
		error = run(lookup, &words, &text);
		if (!error)
			error = add_slurm_lists(lookup, text);
		free(text);
	}
	if (error || lookup->list->count > 0)
		return error;
	snprintf(lookup->why, lookup->why_size,
		 "Slurm knows no nodes of job %s", name);
	return -EINVAL;
}

void ncs_slurm_job_release(struct ncs_slurm_job *job)
{
	for (size_t i = 0; i < job->component_count; i++)
		ncs_hostlist_release(&job->components[i]);
	free(job->components);
	*job = (struct ncs_slurm_job){ .component_count = 0 };
}

size_t ncs_slurm_component_of(const struct ncs_slurm_job *job,
			      const char *node)
{
	for (size_t i = 0; i < job->component_count; i++)
		if (ncs_hostlist_has(&job->components[i], node))
			return i;
	return SIZE_MAX;
}

/* Adds the running pods of kubectl's lines "NAMESPACE/POD PHASE". */
static int add_pods(const struct ncs_lookup *lookup, char *text)
{
	int error = 0;

	for (char *line = strtok(text, "\n"); line && !error;
	     line = strtok(NULL, "\n")) {
		char *phase = strchr(line, ' ');

		if (!phase || strcmp(phase, " Running") != 0)
			continue;
		*phase = 0;
		error = ncs_hostlist_add_name(lookup->list, line);
	}
	if (error)
		snprintf(lookup->why, lookup->why_size, "%s", strerror(-error));
	return error;
}

int ncs_lookup_pods_begin(const struct ncs_lookup *lookup, const char *selector,
			  struct ncs_answer *answer)
{
	struct ncs_words words = { .count = 0 };
	const char *colon = strchr(selector, ':');
	int error;

	ncs_words_add_split(&words, "kubectl get pods");
	if (colon)
		ncs_words_add(&words, "--namespace=%.*s",
			      (int)(colon - selector), selector);
	ncs_words_add(&words, "--selector=%s", colon ? colon + 1 : selector);
	ncs_words_add(&words, "--request-timeout=5s");
	ncs_words_add(&words, "--output=jsonpath={range .items[*]}"
			      "{.metadata.namespace}/{.metadata.name}"
			      " {.status.phase}{\"\\n\"}{end}");
	error = begin(lookup, &words, answer);
	ncs_words_release(&words);
	return error;
}

int ncs_lookup_pods_end(const struct ncs_lookup *lookup,
			struct ncs_answer *answer, int turn)
{
	char *text;
	int error = ncs_answer_end(answer, "kubectl", turn, &text, lookup->why,
				   lookup->why_size);

	if (!error)
		error = add_pods(lookup, text);
	free(text);
	return error;
}

int ncs_lookup_pods(const struct ncs_lookup *lookup, const char *selector)
{
	struct ncs_answer answer;
	int error = ncs_lookup_pods_begin(lookup, selector, &answer);

	return error ? error :
		       ncs_lookup_pods_end(lookup, &answer,
					   ncs_answer_wait(&answer, TURN_MS));
}
