/* SPDX-License-Identifier: MIT */
/* Runs a program for its output; see answer.h. */
#include "fleet/launch/answer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/utf8.h"
#include "fleet/launch/launchers.h"
#include "fleet/launch/lines.h"
#include "shm/array.h"
#include "shm/clock.h"

/* Tasks that are done at once, and the pause between two looks, in ms. */
#define AT_ONCE 16u
#define STEP_MS 2
/* Reads of what has ended, once its time is up: a pipe holds 1 MiB at most. */
#define REST_READS 64u

static void keep_error(struct ncs_answer *answer, const char *bytes,
		       size_t size)
{
	answer->error_used =
		ncs_line_keep_end(answer->error, answer->error_used,
				  sizeof(answer->error) - 1, bytes, size);
	answer->error[answer->error_used] = 0;
}

static int keep_output(struct ncs_answer *answer, const char *bytes,
		       size_t size)
{
	int error = ncs_array_reserve(&answer->text, &answer->capacity,
				      answer->used + size + 1, 1);

	if (error)
		return error;
	if (answer->used + size > answer->most)
		return -E2BIG;
	memcpy(answer->text + answer->used, bytes, size);
	answer->used += size;
	answer->text[answer->used] = 0;
	return 0;
}

/* Reads what has come from one of the child's files; closes it at its end.
 * Returns 0 or -errno. */
static int take_bytes(struct ncs_answer *answer, int *file)
{
	char bytes[16384];
	ssize_t size = read(*file, bytes, sizeof(bytes));

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (size <= 0) {
		close(*file);
		*file = -1;
		return 0;
	}
	if (file == &answer->child.output)
		return keep_output(answer, bytes, (size_t)size);
	keep_error(answer, bytes, (size_t)size);
	return 0;
}

/* Gives the child its input as far as it takes it. */
static void feed(struct ncs_answer *answer)
{
	int *file = &answer->child.input;
	ssize_t size;

	if (*file < 0)
		return;
	size = write(*file, answer->input, strlen(answer->input));
	if (size > 0)
		answer->input += size;
	if (!*answer->input || (size < 0 && errno != EAGAIN && errno != EINTR)) {
		close(*file);
		*file = -1;
	}
}

int ncs_answer_turn(struct ncs_answer *answer, int wait_ms)
{
	/* Looked at before the child: one that has ended meanwhile has answered,
	 * however late this process is to read it. */
	bool is_late = ncs_clock_monotonic_ns() > answer->until_ns;
	bool runs = ncs_subprocess_runs(&answer->child, answer->guard);
	struct pollfd files[2] = {
		{ .fd = answer->child.output, .events = POLLIN },
		{ .fd = answer->child.error, .events = POLLIN },
	};
	int error = 0;

	feed(answer);
	/* All that is left to read when it has ended is there already; another
	 * process may keep the pipe open. */
	if (poll(files, 2, runs ? wait_ms : 0) <= 0 && !runs)
		return 1;
	if (files[0].revents)
		error = take_bytes(answer, &answer->child.output);
	if (!error && files[1].revents)
		error = take_bytes(answer, &answer->child.error);
	if (!error && is_late && (runs || ++answer->rest_reads > REST_READS))
		error = -ETIMEDOUT;
	return error;
}

int ncs_answer_wait(struct ncs_answer *answer, int wait_ms)
{
	int turn;

	while ((turn = ncs_answer_turn(answer, wait_ms)) == 0)
		;
	return turn;
}

static void stop(struct ncs_answer *answer)
{
	const struct timespec step = { .tv_nsec = 1000000 };

	ncs_subprocess_signal(&answer->child, SIGKILL);
	while (ncs_subprocess_runs(&answer->child, answer->guard))
		nanosleep(&step, NULL);
	ncs_subprocess_release(&answer->child);
}

/* Writes the last line of the child's standard error. */
static void say_error(const struct ncs_answer *answer, const char *program,
		      char *why, size_t why_size)
{
	char clean[sizeof(answer->error)], text[sizeof(answer->error)];
	char *line;

	memcpy(text, answer->error, sizeof(text));
	/* ssh ends its lines with "\r\n". */
	while (text[0] && strchr("\r\n", text[strlen(text) - 1]))
		text[strlen(text) - 1] = 0;
	line = strrchr(text, '\n');
	ncs_utf8_clean(clean, sizeof(clean), line ? line + 1 : text, false);
	if (clean[0])
		snprintf(why, why_size, "%s says: %s", program, clean);
	else
		snprintf(why, why_size, "%s fails with status %d", program,
			 answer->child.status);
}

int ncs_answer_begin(struct ncs_answer *answer, struct ncs_guard *guard,
		     const struct ncs_words *words, const char *input,
		     size_t most, uint64_t within_ns, char *why,
		     size_t why_size)
{
	int error;

	if (words->failed) {
		snprintf(why, why_size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	*answer = (struct ncs_answer){
		.guard = guard,
		.input = input,
		.most = most,
		.within_ns = within_ns,
		.until_ns = ncs_clock_monotonic_ns() + within_ns,
	};
	error = keep_output(answer, "", 0);
	if (!error)
		error = ncs_subprocess_start(&answer->child, guard,
					     words->words, input != NULL);
	if (!error)
		return 0;
	free(answer->text);
	*answer = (struct ncs_answer){ .used = 0 };
	snprintf(why, why_size, "%s cannot be started: %s", words->words[0],
		 error == -ENOENT ? "it is not installed" : strerror(-error));
	return error;
}

int ncs_answer_end(struct ncs_answer *answer, const char *program, int turn,
		   char **text, char *why, size_t why_size)
{
	stop(answer);
	*text = NULL;
	if (turn == -ETIMEDOUT)
		snprintf(why, why_size, "%s does not answer within %g s",
			 program, (double)answer->within_ns / 1e9);
	else if (turn < 0)
		snprintf(why, why_size, "%s: %s", program, strerror(-turn));
	else if (answer->child.status != 0) {
		say_error(answer, program, why, why_size);
		turn = -EIO;
	}
	if (turn >= 0 || turn == -EIO)
		*text = answer->text;
	else
		free(answer->text);
	return turn < 0 ? turn : 0;
}

void ncs_answer_cancel(struct ncs_answer *answer)
{
	stop(answer);
	free(answer->text);
}

int ncs_answers_run(const struct ncs_answer_tasks *tasks, size_t count)
{
	struct ncs_answer answers[AT_ONCE];
	bool runs[AT_ONCE] = { false };
	size_t task[AT_ONCE], next = 0, running;
	struct ncs_guard guard = { .pid = 0 };
	int error = ncs_guard_start(&guard);

	if (error)
		return error;
	do {
		running = 0;
		for (size_t i = 0; i < AT_ONCE; i++) {
			int turn = runs[i] ? ncs_answer_turn(&answers[i], 0) :
					     0;

			if (turn != 0)
				runs[i] = tasks->next(tasks->context, task[i],
						      &answers[i], turn);
			while (!runs[i] && next < count) {
				task[i] = next++;
				runs[i] = tasks->begin(tasks->context, task[i],
						       &answers[i], &guard);
			}
			running += runs[i];
		}
		if (running > 0)
			poll(NULL, 0, STEP_MS);
	} while (running > 0);
	ncs_guard_stop(&guard);
	return 0;
}
