/* SPDX-License-Identifier: MIT */
/* Signals that end a command which runs until it is stopped: they are blocked
 * and waited for, so that the command can clean up. */
#ifndef NCS_TUI_COMMANDS_STOP_SIGNALS_H
#define NCS_TUI_COMMANDS_STOP_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Blocks all signals that would end the process and that are sent from outside,
 * in this thread and those that it starts later. Signals that are ignored stay
 * so: nohup relies on this. Writing to a closed pipe, or beyond the limit of a
 * file's size, becomes an error. */
void ncs_stop_signals_block(sigset_t *set);

/* Blocks SIGINT, SIGTERM and SIGHUP. Returns a file that becomes readable when one of
 * them comes; -1 if there is none. */
int ncs_stop_signals_file(void);

/* Waits until a time of CLOCK_MONOTONIC. Returns true at once if one of the
 * signals comes or has come. */
bool ncs_stop_signals_wait(const sigset_t *set, uint64_t until_ns);

#endif
