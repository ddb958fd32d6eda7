/* SPDX-License-Identifier: MIT */
/* Reads keys that are played from a file; see key_script.h. Must not act:
 * tui/screen/live.c carries out each step.
 */
#include "tui/screen/key_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/term/keys.h"
#include "tui/text/text_file.h"

int ncs_script_read(struct ncs_script *script, const char *path)
{
	memset(script, 0, sizeof(*script));
	return ncs_text_file_read(path, &script->text);
}

void ncs_script_release(struct ncs_script *script)
{
	free(script->text);
	memset(script, 0, sizeof(*script));
}

static void next_line(struct ncs_script *script, size_t length)
{
	script->place += length + (script->text[script->place + length] != 0);
	script->in_line = 0;
}

/* Parses a line that is a command or the name of a key. Returns false if the
 * line is text. */
static bool whole_line(const char *line, size_t length,
		       struct ncs_script_step *step)
{
	char copy[sizeof(step->text)];
	double seconds;

	snprintf(copy, sizeof(copy), "%.*s", (int)length, line);
	if (sscanf(copy, "wait %lf", &seconds) == 1 && seconds >= 0 &&
	    seconds < 86400) {
		step->kind = NCS_SCRIPT_WAIT;
		step->wait_ns = (uint64_t)(seconds * 1e9);
		return true;
	}
	if (sscanf(copy, "await %255[^\n]", step->text) == 1) {
		step->kind = NCS_SCRIPT_AWAIT;
		return true;
	}
	if (sscanf(copy, "save %255s", step->text) == 1) {
		step->kind = NCS_SCRIPT_SAVE;
		return true;
	}
	step->kind = NCS_SCRIPT_KEY;
	step->code = ncs_key_code(line, length);
	return step->code >= 0;
}

void ncs_script_next(struct ncs_script *script, struct ncs_script_step *step)
{
	const char *line;
	size_t length;

	memset(step, 0, sizeof(*step));
	while (script->text && script->text[script->place]) {
		line = script->text + script->place;
		length = strcspn(line, "\n");
		if (length == 0) {
			next_line(script, length);
			continue;
		}
		if (script->in_line == 0 && whole_line(line, length, step)) {
			next_line(script, length);
			return;
		}
		step->kind = NCS_SCRIPT_KEY;
		step->code = (unsigned char)line[script->in_line++];
		if (script->in_line == length)
			next_line(script, length);
		return;
	}
	step->kind = NCS_SCRIPT_END;
}
