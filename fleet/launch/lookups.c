/* SPDX-License-Identifier: MIT */
/* Asks other programs where a job runs; see lookups.h. */
#include "fleet/launch/lookups.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/append.h"
#include "analysis/base/utf8.h"
#include "fleet/launch/launchers.h"
#include "shm/array.h"
#include "shm/clock.h"

#define TIME_NS UINT64_C(10000000000)
#define OUTPUT_MAX ((size_t)16 << 20)

/* --- Running a program --------------------------------------------------- */

struct ncs_lookup {
	struct ncs_subprocess child;
	char *text; /* its output */
	size_t used;
	size_t capacity;
	char error[400]; /* the end of what it wrote to standard error */
	size_t error_used;
	uint64_t until_ns;
};

static void keep_error(struct ncs_lookup *lookup, const char *bytes, size_t size)
{
	size_t room = sizeof(lookup->error) - 1;

	if (size > room) {
		bytes += size - room;
		size = room;
	}
	if (lookup->error_used + size > room) {
		size_t cut = lookup->error_used + size - room;

		memmove(lookup->error, lookup->error + cut,
			lookup->error_used - cut);
		lookup->error_used -= cut;
	}
	memcpy(lookup->error + lookup->error_used, bytes, size);
	lookup->error_used += size;
	lookup->error[lookup->error_used] = 0;
}

static int keep_output(struct ncs_lookup *lookup, const char *bytes, size_t size)
{
	int error = ncs_array_reserve(&lookup->text, &lookup->capacity,
				      lookup->used + size + 1, 1);

	if (error)
		return error;
	if (lookup->used + size > OUTPUT_MAX)
		return -E2BIG;
	memcpy(lookup->text + lookup->used, bytes, size);
	lookup->used += size;
	lookup->text[lookup->used] = 0;
	return 0;
}

/* Reads what has come from one of the child's files; closes it at its end.
 * Returns 0 or -errno. */
static int take_bytes(struct ncs_lookup *lookup, int *file)
{
	char bytes[4096];
	ssize_t size = read(*file, bytes, sizeof(bytes));

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (size <= 0) {
		close(*file);
		*file = -1;
		return 0;
	}
	if (file == &lookup->child.output)
		return keep_output(lookup, bytes, (size_t)size);
	keep_error(lookup, bytes, (size_t)size);
	return 0;
}

/* Reads what the child has written, for which it waits `wait_ms` at most.
 * Returns 1 when the child has ended and all is read, 0 before, or -errno. */
static int follow(struct ncs_lookup *lookup, struct ncs_guard *guard,
		  int wait_ms)
{
	bool runs = ncs_subprocess_runs(&lookup->child, guard);
	struct pollfd files[2] = {
		{ .fd = lookup->child.output, .events = POLLIN },
		{ .fd = lookup->child.error, .events = POLLIN },
	};
	int error = 0;

	/* All that is left to read when it has ended is there already; another
	 * process may keep the pipe open. */
	if (poll(files, 2, runs ? wait_ms : 0) <= 0 && !runs)
		return 1;
	if (files[0].revents)
		error = take_bytes(lookup, &lookup->child.output);
	if (!error && files[1].revents)
		error = take_bytes(lookup, &lookup->child.error);
	if (!error && ncs_clock_monotonic_ns() > lookup->until_ns)
		error = -ETIMEDOUT;
	return error;
}

static void stop(struct ncs_lookup *lookup, struct ncs_guard *guard)
{
	const struct timespec step = { .tv_nsec = 1000000 };

	ncs_subprocess_signal(&lookup->child, SIGKILL);
	while (ncs_subprocess_runs(&lookup->child, guard))
		nanosleep(&step, NULL);
	ncs_subprocess_release(&lookup->child);
}

/* Writes the last line of the child's standard error. */
static void say_error(const struct ncs_lookup *lookup, const char *program,
		      char *why, size_t why_size)
{
	char clean[sizeof(lookup->error)], text[sizeof(lookup->error)];
	char *line;

	memcpy(text, lookup->error, sizeof(text));
	while (text[0] && text[strlen(text) - 1] == '\n')
		text[strlen(text) - 1] = 0;
	line = strrchr(text, '\n');
	ncs_utf8_clean(clean, sizeof(clean), line ? line + 1 : text, false);
	if (clean[0])
		snprintf(why, why_size, "%s says: %s", program, clean);
	else
		snprintf(why, why_size, "%s fails with status %d", program,
			 lookup->child.status);
}

/* Starts a program whose output is to be read. */
static int begin(struct ncs_lookup *lookup, struct ncs_guard *guard,
		 char *const argv[], char *why, size_t why_size)
{
	int error;

	*lookup = (struct ncs_lookup){ .used = 0 };
	error = ncs_subprocess_start(&lookup->child, guard, argv, false);
	if (error)
		snprintf(why, why_size, "%s cannot be started: %s", argv[0],
			 error == -ENOENT ? "it is not installed" :
					    strerror(-error));
	else
		error = keep_output(lookup, "", 0);
	lookup->until_ns = ncs_clock_monotonic_ns() + TIME_NS;
	return error;
}

/* Ends the program, of which follow() said `error` or its end. Returns its
 * output, to be freed, in `text`. */
static int end(struct ncs_lookup *lookup, struct ncs_guard *guard,
	       const char *program, int error, char **text, char *why,
	       size_t why_size)
{
	stop(lookup, guard);
	if (error == -ETIMEDOUT)
		snprintf(why, why_size, "%s does not answer within 10 s",
			 program);
	else if (error < 0)
		snprintf(why, why_size, "%s: %s", program, strerror(-error));
	else if (lookup->child.status != 0) {
		say_error(lookup, program, why, why_size);
		error = -EIO;
	}
	if (error < 0)
		free(lookup->text);
	else
		*text = lookup->text;
	return error < 0 ? error : 0;
}

/* Runs a program and returns its output in `text`, which is to be freed. More
 * than 16 MiB of output is an error. */
static int run(struct ncs_guard *guard, char *const argv[], char **text,
	       char *why, size_t why_size)
{
	struct ncs_lookup lookup;
	int error = begin(&lookup, guard, argv, why, why_size);

	*text = NULL;
	if (error && lookup.child.pid == 0)
		return error;
	while (!error)
		error = follow(&lookup, guard, 20);
	return end(&lookup, guard, argv[0], error, text, why, why_size);
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

int ncs_lookup_hosts(struct ncs_guard *guard, struct ncs_hostlist *list,
		     const char *text, char *why, size_t why_size)
{
	struct ncs_words words = { .count = 0 };

	if (!ncs_hostlist_needs_nodeset(text))
		return add_output(list, text, why, why_size);
	ncs_words_add(&words, "nodeset");
	ncs_words_add(&words, "--expand");
	ncs_words_add(&words, "--separator=\\n");
	ncs_words_add(&words, "--");
	ncs_words_add(&words, "%s", text);
	return add_answer(guard, list, &words, why, why_size);
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

int ncs_lookup_job(struct ncs_guard *guard, struct ncs_hostlist *list,
		   const char *job, char *why, size_t why_size)
{
	struct ncs_words words = { .count = 0 };
	char *text, *nodes, *end;
	int error;

	ncs_words_add(&words, "squeue");
	ncs_words_add(&words, "--noheader");
	ncs_words_add(&words, "--jobs=%s", job);
	ncs_words_add(&words, "--format=%%T %%N");
	error = run_words(guard, &words, &text, why, why_size);
	if (error)
		return error;
	error = -EINVAL;
	end = strchr(text, '\n');
	nodes = strchr(text, ' ');
	if (!end || !nodes)
		snprintf(why, why_size, "there is no job %s", job);
	else if (end[1])
		snprintf(why, why_size,
			 "job %s has several parts: name one, such as %s_1 or"
			 " %s+0",
			 job, job, job);
	else if (strncmp(text, "RUNNING ", 8) != 0)
		snprintf(why, why_size, "job %s does not run: it is %.*s", job,
			 (int)(nodes - text), text);
	else {
		*end = 0;
		error = add_slurm_list(guard, list, nodes + 1, why, why_size);
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

int ncs_lookup_pods_begin(struct ncs_lookup **lookup,
			  struct ncs_guard *guard, const char *selector)
{
	struct ncs_words words = { .count = 0 };
	int error = -ENOMEM;
	char why[200];

	*lookup = malloc(sizeof(**lookup));
	add_pods_words(&words, selector);
	if (*lookup && !words.failed)
		error = begin(*lookup, guard, words.words, why, sizeof(why));
	if (error && *lookup && (*lookup)->child.pid != 0) {
		stop(*lookup, guard);
		free((*lookup)->text);
	}
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
	int error = follow(*lookup, guard, 0);
	char *text = NULL, why[200];

	if (error == 0)
		return -EAGAIN;
	error = end(*lookup, guard, "kubectl", error, &text, why, sizeof(why));
	if (!error)
		error = add_pods(list, text, why, sizeof(why));
	free(text);
	free(*lookup);
	*lookup = NULL;
	return error;
}

void ncs_lookup_cancel(struct ncs_lookup *lookup, struct ncs_guard *guard)
{
	if (!lookup)
		return;
	stop(lookup, guard);
	free(lookup->text);
	free(lookup);
}
