/* SPDX-License-Identifier: MIT */
/* Restores the terminal when the process dies of a signal, and keeps stderr off
 * the screen.
 *
 * Curses must not be called in a signal handler (its locks and its memory may
 * be in any state), so the escape sequences that restore the terminal are
 * prepared beforehand. One thread, one terminal; must not include curses.
 */
#ifndef NCS_TUI_TERM_TERMINAL_RESCUE_H
#define NCS_TUI_TERM_TERMINAL_RESCUE_H

#include <stdbool.h>
#include <stddef.h>

/* Remembers the terminal behind a file descriptor and its modes, before curses
 * changes them. */
void ncs_rescue_save_modes(int file);

/* Begin a new list of escape sequences that restore the terminal, and add to
 * it. ncs_rescue_add_byte() returns its argument, as tputs() requires. */
void ncs_rescue_clear(void);
int ncs_rescue_add_byte(int byte);
void ncs_rescue_add_text(const char *text);

/* Sets whether the terminal is taken over, and must be restored with the escape
 * sequences. */
void ncs_rescue_arm(bool armed);

/* Install and remove the handlers of fatal signals. */
void ncs_rescue_install_handlers(void);
void ncs_rescue_remove_handlers(void);

/* Hold back the output of libraries to stderr, if that is a terminal, because
 * it would spoil the screen; and write it when the screen is gone.
 * ncs_rescue_release_stderr() is async-signal-safe. */
void ncs_rescue_hold_stderr(void);
void ncs_rescue_release_stderr(void);

/* Resumes output that the user stopped with Ctrl-S, by ending flow control. */
void ncs_rescue_resume_output(void);

/* Writes to the terminal, bypassing curses. */
void ncs_rescue_write(const char *text);

#endif
