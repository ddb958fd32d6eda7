/* SPDX-License-Identifier: MIT */
/* What the program prints: gathered in memory and written at once, so that
 * nothing is printed by halves and each error of writing is seen.
 */
#ifndef NCS_TUI_TEXT_OUTPUT_H
#define NCS_TUI_TEXT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* Exit statuses of the program. */
enum ncs_exit {
	NCS_EXIT_OK = 0,
	NCS_EXIT_NOTHING = 1, /* no job was found, or nothing could be read */
	NCS_EXIT_USAGE = 2,
	/* With --diagnose: */
	NCS_EXIT_SLOW = 1,
	NCS_EXIT_STUCK = 2,
	NCS_EXIT_NO_VERDICT = 3, /* what NCS_EXIT_NOTHING is otherwise */
};

struct ncs_output {
	FILE *file; /* print here */
	char *text;
	size_t size;
};

/* False, with a message, where there is no memory. */
bool ncs_output_init(struct ncs_output *output);

/* Writes all to standard output and releases the rest. True if it has gone
 * there; *status is then left alone. Else says what is wrong and sets the
 * status to leave with: NCS_EXIT_OK where only nobody reads any more. */
bool ncs_output_release(struct ncs_output *output, int *status);

#endif
