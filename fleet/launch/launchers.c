/* SPDX-License-Identifier: MIT */
/* The command lines of launchers; see launchers.h. */
#include "fleet/launch/launchers.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"

/* All that is nothing but itself to a shell. */
#define PLAIN_CHARACTERS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789-_=.,:/+@%"

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

/* Prints a word as a shell reads it: between single quotes, unless it is plain. */
static void print_quoted(FILE *file, const char *word)
{
	if (*word && !word[strspn(word, PLAIN_CHARACTERS)]) {
		fputs(word, file);
		return;
	}
	putc('\'', file);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", file);
		else
			putc(*word, file);
	putc('\'', file);
}

/* --- Agents -------------------------------------------------------------- */

static void add_agent_options(struct ncs_words *words,
			      const struct ncs_agent_call *call)
{
	ncs_words_add(words, "--stream=lines");
	ncs_words_add(words, "--interval=%" PRIu64 ".%03" PRIu64,
		      call->interval_ns / UINT64_C(1000000000),
		      call->interval_ns / UINT64_C(1000000) % 1000);
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

static void add_agent(struct ncs_words *words,
		      const struct ncs_agent_call *call)
{
	ncs_words_add_split(words, call->command);
	add_agent_options(words, call);
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
void ncs_words_add_ssh_command(struct ncs_words *words, const char *host,
			       const struct ncs_agent_call *call,
			       const struct ncs_words *options)
{
	char *text = NULL;
	size_t size;
	FILE *line = open_memstream(&text, &size);

	add_ssh(words, host, call->ssh);
	if (line) {
		fprintf(line, "exec %s", call->command);
		for (size_t i = 0; i < options->count; i++) {
			putc(' ', line);
			print_quoted(line, options->words[i]);
		}
	}
	if (!line || fclose(line) != 0 || options->failed)
		words->failed = true;
	else
		ncs_words_add(words, "%s", text);
	free(text);
}

void ncs_words_add_ssh(struct ncs_words *words, const char *host,
		       const struct ncs_agent_call *call)
{
	struct ncs_words options = { .count = 0 };

	add_agent_options(&options, call);
	ncs_words_add_ssh_command(words, host, call, &options);
	ncs_words_release(&options);
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
