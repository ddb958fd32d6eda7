/* SPDX-License-Identifier: MIT */
/* Keys that are played from a file, for --keys: tests and demonstrations.
 *
 * Each line is the name of a key, as in the help or in tmux; or text, each
 * character of which is a key; or "wait SECONDS"; or "await TEXT", which the
 * screen is to show; or "save FILE". Must not act
 * on the steps: the caller does, and keeps the time.
 */
#ifndef NCS_TUI_SCREEN_KEY_SCRIPT_H
#define NCS_TUI_SCREEN_KEY_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#define NCS_SCRIPT_TEXT_MAX 256u

enum ncs_script_step_kind {
	NCS_SCRIPT_END,
	NCS_SCRIPT_KEY,
	NCS_SCRIPT_WAIT,
	NCS_SCRIPT_AWAIT,
	NCS_SCRIPT_SAVE,
};

struct ncs_script_step {
	enum ncs_script_step_kind kind;
	int code;         /* NCS_SCRIPT_KEY */
	uint64_t wait_ns; /* NCS_SCRIPT_WAIT */
	/* The text of NCS_SCRIPT_AWAIT, or the path of NCS_SCRIPT_SAVE. */
	char text[NCS_SCRIPT_TEXT_MAX];
};

struct ncs_script {
	char *text;     /* owned; NULL if there is nothing to play */
	size_t place;   /* byte at which the current line begins */
	/* Characters of the current line that were already played. */
	size_t in_line;
};

/* Reads a script from a file. Returns 0 or -errno; ncs_script_release() frees
 * its memory. */
int ncs_script_read(struct ncs_script *script, const char *path);
void ncs_script_release(struct ncs_script *script);

/* Gets the next step. At the end, each call gets NCS_SCRIPT_END. */
void ncs_script_next(struct ncs_script *script, struct ncs_script_step *step);

#endif
