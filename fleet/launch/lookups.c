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

/* Runs a program and returns its output in `text`, which is to be freed. */
static int run(struct ncs_guard *guard, char *const argv[], char **text,
	       char *why, size_t why_size)
{
	struct ncs_answer answer;
	int error = ncs_answer_begin(&answer, guard, argv, NULL, OUTPUT_MAX,
				     TIME_NS, why, why_size);

	if (error)
		return error;
	while (error == 0)
		error = ncs_answer_turn(&answer, guard, 20);
	return ncs_answer_end(&answer, guard, argv[0], error, text, why,
			      why_size);
}

/* Runs the words and releases them. */
static int run_words(struct ncs_guard *guard, struct ncs_words *words,
		     char **text, char *why, size_t why_size)
{
	int error = -ENOMEM;

	*text = NULL;
	if (words->failed)
		snprintf(why, why_size, "%s", strerror(ENOMEM));
	else
		error = run(guard, words->words, text, why, why_size);
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
	int error = run_words(guard, words, &names, why, why_size);

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
	ncs_words_add(&words, "nodeset");
	ncs_words_add(&words, "--expand");
	ncs_words_add(&words, "--separator=\\n");
	ncs_words_add(&words, "--");
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
	ncs_words_add(&words, "scontrol");
	ncs_words_add(&words, "show");
	ncs_words_add(&words, "hostnames");
	ncs_words_add(&words, "%s", text);
	return add_answer(guard, list, &words, why, why_size);
}

/* A line of squeue: a job, a job of an array, or a component. */
struct slurm_part {
	char state[32];
	char number[NCS_SLURM_NUMBER_BYTES];
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

/* Says what to do with a job of several parts. srun starts a step in one job only. */
static void say_parts(const char *job, const struct slurm_part *first,
		      char *rest, char *why, size_t why_size)
{
	struct slurm_part part;
	/* Those that wait are one: 4711_[5-9]. */
	int length = (int)strcspn(first->id, "[");
	const char *number = first->id + length + (first->id[length] == '[');

	if (!strchr(first->id, '+')) {
		snprintf(why, why_size,
			 "job %s has several parts: name one, such as %.*s%.*s",
			 job, length, first->id,
			 (int)strspn(number, "0123456789"), number);
		return;
	}
	snprintf(why, why_size,
		 "job %s is heterogeneous, in which a step has one component:"
		 " give --hosts=%s",
		 job, first->nodes);
	while ((rest = read_part(rest, &part)))
		snprintf(why + strlen(why), why_size - strlen(why), ",%s",
			 part.nodes);
}

int ncs_lookup_job(struct ncs_guard *guard, struct ncs_hostlist *list,
		   const char *job, char *number, char *why, size_t why_size)
{
	struct ncs_words words = { .count = 0 };
	struct slurm_part part;
	char *text, *rest;
	bool runs;
	int error;

	ncs_words_add(&words, "squeue");
	ncs_words_add(&words, "--noheader");
	ncs_words_add(&words, "--jobs=%s", job);
	ncs_words_add(&words, "--format=%%T %%A %%i %%N");
	error = run_words(guard, &words, &text, why, why_size);
	if (error) {
		free(text);
		return error;
	}
	error = -EINVAL;
	rest = read_part(text, &part);
	/* Jobs of an array that wait come first. */
	for (char *next = rest; next && next[0] && !strchr(part.id, '+') &&
				strcmp(part.state, "RUNNING") != 0;)
		next = read_part(next, &part);
	runs = rest && strcmp(part.state, "RUNNING") == 0;
	if (!rest)
		snprintf(why, why_size, "there is no job %s", job);
	else if (rest[0] && (runs || !strchr(part.id, '+')))
		say_parts(job, &part, rest, why, why_size);
	else if (!runs)
		snprintf(why, why_size, "job %s does not run: it is %s", job,
			 part.state);
	else {
		strcpy(number, part.number);
		error = add_slurm_list(guard, list, part.nodes, why, why_size);
	}
	free(text);
	return error;
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

static void add_pods_words(struct ncs_words *words, const char *selector)
{
	const char *colon = strchr(selector, ':');

	ncs_words_add(words, "kubectl");
	ncs_words_add(words, "get");
	ncs_words_add(words, "pods");
	if (colon)
		ncs_words_add(words, "--namespace=%.*s",
			      (int)(colon - selector), selector);
	ncs_words_add(words, "--selector=%s", colon ? colon + 1 : selector);
	ncs_words_add(words, "--request-timeout=5s");
	ncs_words_add(words, "--output=jsonpath={range .items[*]}"
			     "{.metadata.namespace}/{.metadata.name}"
			     " {.status.phase}{\"\\n\"}{end}");
}

int ncs_lookup_pods(struct ncs_guard *guard, struct ncs_hostlist *list,
		    const char *selector, char *why, size_t why_size)
{
	struct ncs_words words = { .count = 0 };
	char *text;
	int error;

	add_pods_words(&words, selector);
	error = run_words(guard, &words, &text, why, why_size);
	if (!error)
		error = add_pods(list, text, why, why_size);
	free(text);
	return error;
}

struct ncs_lookup {
	struct ncs_answer answer;
};

int ncs_lookup_pods_begin(struct ncs_lookup **lookup,
			  struct ncs_guard *guard, const char *selector)
{
	struct ncs_words words = { .count = 0 };
	int error = -ENOMEM;
	char why[200];

	*lookup = malloc(sizeof(**lookup));
	add_pods_words(&words, selector);
	if (*lookup && !words.failed)
		error = ncs_answer_begin(&(*lookup)->answer, guard, words.words,
					 NULL, OUTPUT_MAX, TIME_NS, why,
					 sizeof(why));
	if (error) {
		free(*lookup);
		*lookup = NULL;
	}
	ncs_words_release(&words);
	return error;
}

int ncs_lookup_pods_turn(struct ncs_lookup **lookup,
			 struct ncs_guard *guard,
			 struct ncs_hostlist *list)
{
	int error = ncs_answer_turn(&(*lookup)->answer, guard, 0);
	char *text = NULL, why[200];

	if (error == 0)
		return -EAGAIN;
	error = ncs_answer_end(&(*lookup)->answer, guard, "kubectl", error,
			       &text, why, sizeof(why));
	if (!error)
		error = add_pods(list, text, why, sizeof(why));
	free(text);
	free(*lookup);
	*lookup = NULL;
	return error;
}

void ncs_lookup_cancel(struct ncs_lookup *lookup,
		       struct ncs_guard *guard)
{
	if (!lookup)
		return;
	ncs_answer_cancel(&lookup->answer, guard);
	free(lookup);
}
