/* SPDX-License-Identifier: MIT */
/* The command lines of launchers; see launchers.h. */
#include "fleet/launch/launchers.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"

/* Room for a path between quotes, each of whose characters may be one. */
#define QUOTED_MAX (4 * 4096 + 3)

/* --- Words --------------------------------------------------------------- */

void ncs_words_add(struct ncs_words *words, const char *format, ...)
{
	va_list arguments;
	char *word;
	int length;

	if (ncs_array_reserve(&words->words, &words->capacity, words->count + 2,
			      sizeof(*words->words)) != 0) {
		words->failed = true;
		return;
	}
	va_start(arguments, format);
	length = vasprintf(&word, format, arguments);
	va_end(arguments);
	if (length < 0) {
		words->failed = true;
		return;
	}
	words->words[words->count++] = word;
	words->words[words->count] = NULL;
}

void ncs_words_add_split(struct ncs_words *words, const char *text)
{
	while (*(text += strspn(text, " "))) {
		size_t length = strcspn(text, " ");

		ncs_words_add(words, "%.*s", (int)length, text);
		text += length;
	}
}

void ncs_words_release(struct ncs_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->words[i]);
	free(words->words);
	memset(words, 0, sizeof(*words));
}

/* Writes a word as a shell reads it, between single quotes; cuts it off where
 * the buffer ends. */
static void quote(char *text, size_t size, const char *word)
{
	size_t used = 0;

	if (size < 3)
		return;
	text[used++] = '\'';
	for (; *word && used + 6 <= size; word++) {
		if (*word == '\'') {
			memcpy(text + used, "'\\''", 4);
			used += 4;
		} else {
			text[used++] = *word;
		}
	}
	text[used++] = '\'';
	text[used] = 0;
}

/* --- Agents -------------------------------------------------------------- */

/* Writes the interval as the option reads it. */
static void interval_text(char text[32], uint64_t interval_ns)
{
	snprintf(text, 32, "%" PRIu64 ".%03" PRIu64,
		 interval_ns / UINT64_C(1000000000),
		 interval_ns / UINT64_C(1000000) % 1000);
}

static void add_agent(struct ncs_words *words,
		      const struct ncs_agent_call *call)
{
	char interval[32];

	interval_text(interval, call->interval_ns);
	ncs_words_add_split(words, call->command);
	ncs_words_add(words, "--stream=lines");
	ncs_words_add(words, "--interval=%s", interval);
	ncs_words_add(words, "--heartbeat=%d", NCS_AGENT_HEARTBEAT_S);
	if (call->with_records)
		ncs_words_add(words, "--records");
	if (call->with_stacks)
		ncs_words_add(words, "--stacks");
	if (call->choice.pid != 0)
		ncs_words_add(words, "--pid=%" PRIu32, call->choice.pid);
	if (call->choice.job)
		ncs_words_add(words, "--job=%s", call->choice.job);
	if (call->directory)
		ncs_words_add(words, "--dir=%s", call->directory);
}

/* Adds ssh and all before the command that runs on the host. */
static void add_ssh(struct ncs_words *words, const char *host, const char *ssh)
{
	static const char *const options[] = {
		"BatchMode=yes",           "ConnectTimeout=5",
		"ServerAliveInterval=2",   "ServerAliveCountMax=2",
		"ClearAllForwardings=yes", "ControlMaster=no",
		"RemoteCommand=none",
	};

	ncs_words_add_split(words, ssh && ssh[0] ? ssh : "ssh");
	ncs_words_add(words, "-T");
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		ncs_words_add(words, "-o");
		ncs_words_add(words, "%s", options[i]);
	}
	ncs_words_add(words, "--");
	ncs_words_add(words, "%s", host);
}

/* ssh hands one text to the shell there. The user's command goes as it is, so that
 * "~/bin/ncclstat" works. */
void ncs_words_add_ssh(struct ncs_words *words, const char *host,
		       const struct ncs_agent_call *call)
{
	char directory[QUOTED_MAX] = "", job[QUOTED_MAX] = "", pid[32] = "";
	char interval[32];

	add_ssh(words, host, call->ssh);
	interval_text(interval, call->interval_ns);
	if (call->choice.pid != 0)
		snprintf(pid, sizeof(pid), " --pid=%" PRIu32, call->choice.pid);
	if (call->choice.job)
		quote(job, sizeof(job), call->choice.job);
	if (call->directory)
		quote(directory, sizeof(directory), call->directory);
	ncs_words_add(words,
		      "exec %s --stream=lines --interval=%s --heartbeat=%d"
		      "%s%s%s%s%s%s%s",
		      call->command, interval, NCS_AGENT_HEARTBEAT_S,
		      call->with_records ? " --records" : "",
		      call->with_stacks ? " --stacks" : "", pid,
		      call->choice.job ? " --job=" : "", job,
		      call->directory ? " --dir=" : "", directory);
}

void ncs_words_add_ssh_command(struct ncs_words *words, const char *host,
			       const struct ncs_agent_call *call,
			       const struct ncs_words *options)
{
	char *text = NULL, quoted[QUOTED_MAX];
	size_t size;
	FILE *line = open_memstream(&text, &size);

	add_ssh(words, host, call->ssh);
	if (line) {
		fprintf(line, "exec %s", call->command);
		for (size_t i = 0; i < options->count; i++) {
			quote(quoted, sizeof(quoted), options->words[i]);
			fprintf(line, " %s", quoted);
		}
	}
	if (!line || fclose(line) != 0 || options->failed)
		words->failed = true;
	else
		ncs_words_add(words, "%s", text);
	free(text);
}

void ncs_words_add_srun(struct ncs_words *words, const char *job,
			size_t component, const char *nodes, size_t node_count,
			const struct ncs_agent_call *call)
{
	ncs_words_add(words, words->count == 0 ? "srun" : ":");
	ncs_words_add(words, "--jobid=%s", job);
	if (component != SIZE_MAX)
		ncs_words_add(words, "--het-group=%zu", component);
	/* Beside the job's own steps, with nothing of theirs. */
	ncs_words_add(words, "--overlap");
	ncs_words_add(words, "--nodelist=%s", nodes);
	ncs_words_add(words, "--nodes=%zu", node_count);
	ncs_words_add(words, "--ntasks=%zu", node_count);
	ncs_words_add_split(words, "--ntasks-per-node=1 --mpi=none"
				   " --kill-on-bad-exit=0 --chdir=/");
	add_agent(words, call);
}

void ncs_words_add_kubectl(struct ncs_words *words, const char *name_space,
			   const char *pod, const struct ncs_agent_call *call)
{
	/* Its input is open as long as ours: the agent's sign to go on. */
	ncs_words_add_split(words, "kubectl exec --stdin");
	ncs_words_add(words, "--namespace=%s", name_space);
	ncs_words_add(words, "%s", pod);
	ncs_words_add(words, "--");
	add_agent(words, call);
}

void ncs_words_add_shell(struct ncs_words *words, const char *command)
{
	ncs_words_add_split(words, "sh -c");
	ncs_words_add(words, "%s", command);
}
