/* SPDX-License-Identifier: MIT */
/* Keys that are played from a file, for --keys: tests and demonstrations.
 *
 * Each line is the name of a key, as in the help or as tmux calls it; or text,
 * each character of which is a key; or "wait SECONDS"; or "save FILE". Pure:
 * reads memory, knows no time.
 */
#ifndef NCS_TUI_TERM_KEY_SCRIPT_H
#define NCS_TUI_TERM_KEY_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

enum ncs_step_kind {
	NCS_STEP_END,
	NCS_STEP_KEY,
	NCS_STEP_WAIT,
	NCS_STEP_SAVE,
};

struct ncs_step {
	enum ncs_step_kind kind;
	int code;
	uint64_t wait_ns;
	char path[256];
};

struct ncs_script {
	char *text; /* owned; NULL: nothing to play */
	size_t place;
	size_t in_line; /* characters of a line of text played so far */
};

/* 0 or -errno. */
int ncs_script_read(struct ncs_script *script, const char *path);
void ncs_script_release(struct ncs_script *script);

void ncs_script_next(struct ncs_script *script, struct ncs_step *step);

#endif
