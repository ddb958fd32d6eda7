/* SPDX-License-Identifier: MIT */
/* The state of a node by the messages of its launcher; see failures.h. */
#include "fleet/launch/failures.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/append.h"
#include "analysis/base/utf8.h"
#include "ncclstat/tables/launch_failures.def"

/* Exit statuses of ssh, for its own failures, and of shells. */
#define STATUS_SSH 255
#define STATUS_CANNOT_RUN 126
#define STATUS_NOT_FOUND 127

static const struct failure_row {
	enum ncs_node_state state;
	const char *words;
	const char *advice;
} rows[] = {
#define X(state, words, advice) { NCS_NODE_##state, words, advice },
	NCS_LAUNCH_FAILURES(X)
#undef X
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Returns the number of the first row that fits, from 1; 0 if none does. */
static size_t find_row(const char *message)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strstr(message, rows[i].words))
			return i + 1;
	return 0;
}

/* Whether there is a letter or a digit, of any language. */
static bool has_words(const char *message)
{
	while (*message && (unsigned char)*message < 0x80 &&
	       !isalnum((unsigned char)*message))
		message++;
	return *message;
}

void ncs_failure_take(struct ncs_failure *failure, const char *message)
{
	size_t row = find_row(message);
	bool is_better = row && (!failure->row || row < failure->row);
	size_t length;

	message += strspn(message, " \t@");
	/* The latest message is kept until there is one that is known. Frames
	 * say nothing. */
	if (!has_words(message) || (failure->is_said && !is_better))
		return;
	if (is_better) {
		failure->row = row;
		failure->is_said = true;
	}
	ncs_utf8_clean(failure->message, sizeof(failure->message), message,
		       false);
	/* ssh frames some of its warnings. */
	length = strlen(failure->message);
	while (length > 0 && strchr(" \t@", failure->message[length - 1]))
		failure->message[--length] = 0;
}

int ncs_failure_status_in(const char *message)
{
	static const char *const words[] = { "exit code ", "exit status " };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *found = strstr(message, words[i]);
		char *end;
		long status;

		if (!found)
			continue;
		found += strlen(words[i]);
		status = strtol(found, &end, 10);
		if (end > found && status >= 0 && status <= 255)
			return (int)status;
	}
	return -1;
}

/* The state that a status alone tells. */
static enum ncs_node_state judge_status(int status, bool has_spoken)
{
	if (status == STATUS_SSH)
		return NCS_NODE_NOT_REACHABLE;
	if (!has_spoken &&
	    (status == STATUS_CANNOT_RUN || status == STATUS_NOT_FOUND))
		return NCS_NODE_NOT_INSTALLED;
	return has_spoken || status == 0 ? NCS_NODE_ENDED : NCS_NODE_FAILED;
}

enum ncs_node_state ncs_failure_judge(const struct ncs_failure *failure,
				      int status, bool has_spoken, char *why,
				      size_t why_size)
{
	const struct failure_row *row = failure->row ? &rows[failure->row - 1] :
						       NULL;
	enum ncs_node_state state = row && status != 0 ?
					    row->state :
					    judge_status(status, has_spoken);

	/* An agent that has told was installed, and could be read. */
	if (has_spoken && (state == NCS_NODE_NOT_INSTALLED ||
			   state == NCS_NODE_OTHER_VERSION))
		state = NCS_NODE_ENDED;
	why[0] = 0;
	if (status > 128 && status < STATUS_SSH && !row)
		ncs_append(why, why_size, "ended by signal %d", status - 128);
	else if (status > 0 && !row)
		ncs_append(why, why_size, "exit status %d", status);
	if (failure->message[0])
		ncs_append(why, why_size, "%s%s", why[0] ? ": " : "",
			   failure->message);
	if (row && row->advice[0])
		ncs_append(why, why_size, " (%s)", row->advice);
	return state;
}

bool ncs_failure_may_pass(enum ncs_node_state state)
{
	return state == NCS_NODE_NOT_REACHABLE || state == NCS_NODE_FAILED ||
	       state == NCS_NODE_SILENT || state == NCS_NODE_ENDED;
}
