/* SPDX-License-Identifier: MIT */
/* Reads stacks for the live view in a process of its own, so that the view goes
 * on meanwhile. Must not draw: the caller shows what comes. */
#ifndef NCS_TUI_SCREEN_STACKS_READING_H
#define NCS_TUI_SCREEN_STACKS_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tui/commands/job_stacks.h"

/* One of zeros has never been started. */
struct ncs_stacks_reading {
	pid_t child; /* 0: nothing is read */
	int output;  /* of the child, to be polled while it runs */
	char *text;  /* read from it so far */
	size_t size;
};

/* Forks a process that reads what is requested; `say` of the request is not
 * called. Returns 0 or -errno. */
int ncs_stacks_reading_start(struct ncs_stacks_reading *reading,
			     const struct ncs_stacks_request *request,
			     bool ascii);

/* Takes what the process has written, without waiting. `said` becomes its latest
 * message, valid until the next call, or NULL if there is no new one. Returns
 * whether the reading has ended; `page` then becomes its text, to be freed, which
 * is empty if there are no stacks; NULL if the process died. */
bool ncs_stacks_reading_take(struct ncs_stacks_reading *reading,
			     const char **said, char **page);

/* Waits until the process has ended, for as long as tools may run: one that is
 * killed could leave processes stopped. */
void ncs_stacks_reading_end(struct ncs_stacks_reading *reading);

#endif
