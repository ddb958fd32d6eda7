/* SPDX-License-Identifier: MIT */
/* Runs a program for its output, bounded in time and size. Never waits unless
 * asked to. Not thread-safe; the
 * thread that begins an answer must live until its end. */
#ifndef NCS_FLEET_LAUNCH_ANSWER_H
#define NCS_FLEET_LAUNCH_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fleet/launch/subprocess.h"

struct ncs_words; /* fleet/launch/launchers.h */

/* One of zeros has never begun. */
struct ncs_answer {
	struct ncs_guard *guard;
	struct ncs_subprocess child;
	const char *input; /* that it has not been given yet */
	char *text; /* its output, with a 0 at the end */
	size_t used;
	size_t capacity;
	size_t most;     /* bytes of output; more are an error */
	char error[400]; /* the end of what it wrote to standard error */
	size_t error_used;
	unsigned rest_reads; /* since it has ended and its time is up */
	uint64_t within_ns; /* it has this time … */
	uint64_t until_ns;  /* … until then, by CLOCK_MONOTONIC */
};

/* Starts the program of a command line, unless words of it are missing. Its
 * output is to be read: `most` bytes at most, within `within_ns`. `input` is what
 * it gets on its standard input, NULL for nothing; it and the guard must live
 * until the end, and SIGPIPE must be ignored. Returns 0; or -errno, with a clause
 * for users in `why` and nothing to end. */
int ncs_answer_begin(struct ncs_answer *answer, struct ncs_guard *guard,
		     const struct ncs_words *words, const char *input,
		     size_t most, uint64_t within_ns, char *why,
		     size_t why_size);

/* Reads what the program has written, for which it waits `wait_ms` at most.
 * Returns 1 when the program has ended and all is read, 0 before; or
 * -ETIMEDOUT if it still runs when its time is up, -E2BIG or -ENOMEM. Any but 0
 * is for ncs_answer_end(). */
int ncs_answer_turn(struct ncs_answer *answer, int wait_ms);

/* Returns what ncs_answer_turn() says in the end; turns take `wait_ms` at most. */
int ncs_answer_wait(struct ncs_answer *answer, int wait_ms);

/* Ends the program, of which ncs_answer_turn() said `turn`: kills it if it
 * still runs. Returns 0; or -errno, with a clause for users in `why`: -EIO if
 * the program's status is not 0. The output, to be freed, is in `text`, NULL after
 * other errors. */
int ncs_answer_end(struct ncs_answer *answer, const char *program, int turn,
		   char **text, char *why, size_t why_size);

/* Tasks, for each of which programs are run one after the other. */
struct ncs_answer_tasks {
	void *context;
	/* Begins the first program of a task. Returns whether it runs. */
	bool (*begin)(void *context, size_t task, struct ncs_answer *answer,
		      struct ncs_guard *guard);
	/* Ends it, by ncs_answer_end(), and begins the next one. Returns whether
	 * that runs. */
	bool (*next)(void *context, size_t task, struct ncs_answer *answer,
		     int turn);
};

/* Does so many tasks, 16 at a time. Returns 0, or -errno if none could be
 * begun. */
int ncs_answers_run(const struct ncs_answer_tasks *tasks, size_t count);

/* Kills the program and forgets its output. */
void ncs_answer_cancel(struct ncs_answer *answer);

#endif
