/* SPDX-License-Identifier: MIT */
/* Output of the program: collected in memory and written at once, so that
 * nothing is printed in part and no error goes unnoticed.
 */
#ifndef NCS_TUI_TEXT_OUTPUT_H
#define NCS_TUI_TEXT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses of the program. */
enum ncs_exit {
	NCS_EXIT_OK = 0,
	NCS_EXIT_NOTHING = 1, /* no job was found */
	/* With --diagnose: */
	NCS_EXIT_SLOW = 1,
	NCS_EXIT_STUCK = 2,
	NCS_EXIT_NO_VERDICT = 3, /* in place of NCS_EXIT_NOTHING */
	/* There are segments that cannot be read, or nodes that are not seen:
	 * with --diagnose if there is no other finding, also if no rank has
	 * called anything, or if the job may communicate outside NCCL; else if
	 * there is no other segment. */
	NCS_EXIT_UNREADABLE = 4,
	NCS_EXIT_USAGE = 64, /* EX_USAGE of sysexits.h; no verdict has it */
};

/* Returns the exit status for what was seen: NCS_EXIT_OK if there was a rank,
 * NCS_EXIT_UNREADABLE if there were only segments that cannot be read,
 * NCS_EXIT_NOTHING if there was nothing. */
int ncs_sight_status(uint64_t ranks, uint64_t unreadable);

/* Returns the width for tables on standard output: $COLUMNS, or the terminal's
 * width, or 120. */
unsigned ncs_output_columns(void);

/* Turns the standard streams of a child into /dev/null: whoever waits for their
 * end waits for the parent. */
void ncs_output_detach(void);

struct ncs_output {
	FILE *file; /* to print to */
	char *text;
	size_t size;
	bool failed; /* not all was written */
};

/* Prints a message as one line to standard error, after the program's name.
 * Whatever a terminal must not get is replaced by '?': messages contain paths
 * and names that others have chosen. */
void ncs_complain(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Complains that so many communicators have no segment, unless there are
 * none. */
void ncs_complain_of_unpublished(uint64_t count);

/* Prints messages in ASCII from now on; called before threads start. Says whether
 * they are. */
void ncs_complain_in_ascii(void);
bool ncs_complains_in_ascii(void);

/* Opens an output. Prints a message and returns false if there is no memory. */
bool ncs_output_init(struct ncs_output *output);

/* Writes the output to standard output and frees it. Returns the exit status:
 * `status` if all was written. Else prints a message; if standard output is a pipe
 * that its reader closed, there is no message and the status is NCS_EXIT_OK. */
int ncs_output_end(struct ncs_output *output, int status);

#endif
