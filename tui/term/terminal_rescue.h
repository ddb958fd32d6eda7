/* SPDX-License-Identifier: MIT */
/* Puts the terminal back when the process dies of a signal, and keeps stderr
 * off the screen.
 *
 * Curses may not be called in a signal handler (its locks and its memory may be
 * in any state), so the escape sequences that put the terminal back are
 * prepared beforehand. One thread, one terminal; must not include curses.
 */
#ifndef NCS_TUI_TERM_TERMINAL_RESCUE_H
#define NCS_TUI_TERM_TERMINAL_RESCUE_H

#include <stdbool.h>
#include <stddef.h>

/* Remembers the terminal behind a file descriptor and its modes, before curses
 * changes them. */
void ncs_rescue_save_modes(int file);

/* Begin a new text to put the terminal back, and add to it. add_byte returns
 * its argument, as tputs() wants it. */
void ncs_rescue_clear(void);
int ncs_rescue_add_byte(int byte);
void ncs_rescue_add_text(const char *text);

/* Says whether the terminal has been taken over and so needs the text. */
void ncs_rescue_arm(bool armed);

/* Install and remove the handlers of fatal signals. */
void ncs_rescue_install_handlers(void);
void ncs_rescue_remove_handlers(void);

/* Hold back what libraries write to stderr, if that is a terminal, because it
 * would spoil the screen; release writes it after all. Release is
 * async-signal-safe. */
void ncs_rescue_hold_stderr(void);
void ncs_rescue_release_stderr(void);

/* Lets output go on that the user stopped with Ctrl-S, by ending flow
 * control. */
void ncs_rescue_resume_output(void);

/* Writes to the terminal, past curses. */
void ncs_rescue_write(const char *text);

#endif
