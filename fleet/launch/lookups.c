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

/* --- Running a program --------------------------------------------------- */

/* Runs the words, releases them, and returns the program's output in `text`,
 * which is to be freed. */
static int run(struct ncs_guard *guard, struct ncs_words *words, char **text,
	       char *why, size_t why_size)
{
	struct ncs_answer answer;
	int error = ncs_answer_begin(&answer, guard, words, NULL, OUTPUT_MAX,
				     TIME_NS, why, why_size);

	*text = NULL;
	if (!error)
		error = ncs_answer_end(&answer, words->words[0],
				       ncs_answer_wait(&answer), text, why,
				       why_size);
	ncs_words_release(words);
	return error;
}

/* --- Questions ----------------------------------------------------------- */

/* Adds names, one a line, from another program's output. */
static int add_output(struct ncs_hostlist *list, const char *text, char *why,
		      size_t why_size)
{
	char error_text[200];
	int error =
		ncs_hostlist_add(list, text, error_text, sizeof(error_text));

	if (error == -ENOMEM)
		snprintf(why, why_size, "%s", strerror(ENOMEM));
	else if (error)
		snprintf(why, why_size, "%s", error_text);
	return error;
}

/* Runs a program and adds the names that it prints. */
static int add_answer(struct ncs_guard *guard, struct ncs_hostlist *list,
		      struct ncs_words *words, char *why, size_t why_size)
{
	char *names;
	int error = run(guard, words, &names, why, why_size);

	if (!error)
		error = add_output(list, names, why, why_size);
	free(names);
	return error;
}

/* Adds the names in a file, which may come more than once: hosts files have a line for each
 * process. */
static int add_file(struct ncs_hostlist *list, const char *path, char *why,
		    size_t why_size)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	ssize_t length = file ? getdelim(&text, &size, '\0', file) : -1;
	int error = length < 0 && !(file && feof(file)) ? -errno : 0;

	if (error)
		snprintf(why, why_size, "%s: %s", path, strerror(-error));
	else
		error = add_output(list, length > 0 ? text : "", why, why_size);
	if (file)
		fclose(file);
	free(text);
	return error;
}

int ncs_lookup_hosts(struct ncs_guard *guard, struct ncs_hostlist *list,
		     const char *text, char *why, size_t why_size)
{
	struct ncs_words words = { .count = 0 };

	if (text[0] == '/' || strncmp(text, "./", 2) == 0)
		return add_file(list, text, why, why_size);
	if (!ncs_hostlist_needs_nodeset(text))
		return add_output(list, text, why, why_size);
	ncs_words_add_split(&words, "nodeset --expand --separator=\\n --");
	ncs_words_add(&words, "%s", text);
	return add_answer(guard, list, &words, why, why_size);
}

int ncs_lookup_exclude(struct ncs_guard *guard, struct ncs_hostlist *list,
		       const char *text, char *why, size_t why_size)
{
	struct ncs_hostlist excluded = { .count = 0 };
	int error = 0;

	if (text)
		error = ncs_lookup_hosts(guard, &excluded, text, why, why_size);
	if (!error)
		ncs_hostlist_exclude(list, &excluded);
	ncs_hostlist_release(&excluded);
	return error;
}

/* Adds a list of nodes as Slurm prints it. */
static int add_slurm_list(struct ncs_guard *guard,
			  struct ncs_hostlist *list, const char *text,
			  char *why, size_t why_size)
{
	struct ncs_words words = { .count = 0 };
	int error = add_output(list, text, why, why_size);

	if (error != -EINVAL)
		return error;
	ncs_words_add_split(&words, "scontrol show hostnames");
	ncs_words_add(&words, "%s", text);
	return add_answer(guard, list, &words, why, why_size);
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
static void say_parts(const char *name, const struct slurm_part *first,
		      char *why, size_t why_size)
{
	/* Those that wait are one: 4711_[5-9]. */
	int length = (int)strcspn(first->id, "[");
	const char *number = first->id + length + (first->id[length] == '[');

	snprintf(why, why_size,
		 "job %s has several parts: name one, such as %.*s%.*s", name,
		 length, first->id, (int)strspn(number, "0123456789"), number);
}

/* Adds a component of a heterogeneous job, such as 4711+1. */
static int add_component(struct ncs_guard *guard, struct ncs_hostlist *list,
			 struct ncs_slurm_job *job,
			 const struct slurm_part *part, char *why,
			 size_t why_size)
{
	const char *plus = strchr(part->id, '+');
	size_t number = plus ? strtoul(plus + 1, NULL, 10) : SIZE_MAX;
	struct ncs_hostlist *nodes;
	int error;

	if (number >= NCS_SLURM_COMPONENTS_MAX) {
		snprintf(why, why_size, "squeue says: %s", part->id);
		return -EINVAL;
	}
	nodes = &job->components[number];
	error = add_slurm_list(guard, nodes, part->nodes, why, why_size);
	for (size_t i = 0; !error && i < nodes->count; i++)
		error = ncs_hostlist_add_name(list, nodes->hosts[i]->name);
	if (number >= job->component_count)
		job->component_count = number + 1;
	return error;
}

/* Adds the components that run, or the one that is named: squeue prints all. srun takes
 * the number of the job, which is the first one's. */
static int add_components(struct ncs_guard *guard, struct ncs_hostlist *list,
			  const char *name, struct ncs_slurm_job *job,
			  struct slurm_part *part, char *rest, char *why,
			  size_t why_size)
{
	bool all = !strchr(name, '+');
	int error = 0;

	job->components = calloc(NCS_SLURM_COMPONENTS_MAX,
				 sizeof(*job->components));
	if (!job->components) {
		snprintf(why, why_size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	snprintf(job->number, sizeof(job->number), "%.*s",
		 (int)strcspn(part->id, "+"), part->id);
	do
		if (strcmp(part->state, "RUNNING") == 0 &&
		    (all || strcmp(part->id, name) == 0))
			error = add_component(guard, list, job, part, why,
					      why_size);
	while (!error && (rest = read_part(rest, part)));
	if (error || list->count > 0)
		return error;
	snprintf(why, why_size, "component %s does not run", name);
	return -EINVAL;
}

int ncs_lookup_job(struct ncs_guard *guard, struct ncs_hostlist *list,
		   const char *name, struct ncs_slurm_job *job, char *why,
		   size_t why_size)
{
	struct ncs_words words = { .count = 0 };
	struct slurm_part part;
	char *text, *rest, *next;
	bool runs;
	int error;

	ncs_words_add_split(&words, "squeue --noheader");
	ncs_words_add(&words, "--jobs=%s", name);
	ncs_words_add(&words, "--format=%%T %%A %%i %%N");
	error = run(guard, &words, &text, why, why_size);
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
		snprintf(why, why_size, "there is no job %s", name);
	else if (runs && strchr(part.id, '+'))
		error = add_components(guard, list, name, job, &part, next,
				       why, why_size);
	else if (rest[0] && !strchr(part.id, '+'))
		say_parts(name, &part, why, why_size);
	else if (!runs)
		snprintf(why, why_size, "job %s does not run: it is %s", name,
			 part.state);
	else {
		snprintf(job->number, sizeof(job->number), "%s", part.number);
		error = add_slurm_list(guard, list, part.nodes, why, why_size);
	}
	free(text);
	return error;
}

/* Adds lists of nodes, one a line. A part of a job that never ran has an empty one, or
 * one in words. */
static int add_slurm_lists(struct ncs_guard *guard, struct ncs_hostlist *list,
			   char *text, char *why, size_t why_size)
{
	char *nodes;
	int error = 0;

	while (!error && (nodes = strsep(&text, "\n")))
		if (nodes[0] && !strchr(nodes, ' '))
			error = add_slurm_list(guard, list, nodes, why,
					       why_size);
	return error;
}

int ncs_lookup_job_that_ran(struct ncs_guard *guard, struct ncs_hostlist *list,
			    const char *name, char *why, size_t why_size)
{
	static const char *const questions[] = {
		"squeue --noheader --states=all --format=%N",
		"sacct --noheader --allocations --parsable2 --format=NodeList",
	};
	int error = 0;

	for (size_t i = 0; list->count == 0 && i < 2; i++) {
		struct ncs_words words = { .count = 0 };
		char *text;

		ncs_words_add_split(&words, questions[i]);
		ncs_words_add(&words, "--jobs=%s", name);
		error = run(guard, &words, &text, why, why_size);
		if (!error)
			error = add_slurm_lists(guard, list, text, why,
						why_size);
		free(text);
	}
	if (error || list->count > 0)
		return error;
	snprintf(why, why_size, "Slurm knows no nodes of job %s", name);
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
static int add_pods(struct ncs_hostlist *list, char *text, char *why,
		    size_t why_size)
{
	int error = 0;

	for (char *line = strtok(text, "\n"); line && !error;
	     line = strtok(NULL, "\n")) {
		char *phase = strchr(line, ' ');

		if (!phase || strcmp(phase, " Running") != 0)
			continue;
		*phase = 0;
		error = ncs_hostlist_add_name(list, line);
	}
	if (error)
		snprintf(why, why_size, "%s", strerror(-error));
	return error;
}

int ncs_lookup_pods_begin(struct ncs_answer *answer, struct ncs_guard *guard,
			  const char *selector, char *why, size_t why_size)
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
	error = ncs_answer_begin(answer, guard, &words, NULL, OUTPUT_MAX,
				 TIME_NS, why, why_size);
	ncs_words_release(&words);
	return error;
}

int ncs_lookup_pods_end(struct ncs_answer *answer, int turn,
			struct ncs_hostlist *list, char *why, size_t why_size)
{
	char *text;
	int error =
		ncs_answer_end(answer, "kubectl", turn, &text, why, why_size);

	if (!error)
		error = add_pods(list, text, why, why_size);
	free(text);
	return error;
}

int ncs_lookup_pods(struct ncs_guard *guard, struct ncs_hostlist *list,
		    const char *selector, char *why, size_t why_size)
{
	struct ncs_answer answer;
	int error =
		ncs_lookup_pods_begin(&answer, guard, selector, why, why_size);

	return error ? error :
		       ncs_lookup_pods_end(&answer, ncs_answer_wait(&answer),
					   list, why, why_size);
}
