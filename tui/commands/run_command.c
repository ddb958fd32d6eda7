/* SPDX-License-Identifier: MIT */
/* Starts a program whose NCCL loads the plugin; see run_command.h. Opens no
 * segments. */
#include "tui/commands/run_command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tui/commands/job_environment.h"
#include "tui/text/output.h"

#define STATUS_CANNOT_RUN 126
#define STATUS_NO_COMMAND 127

bool ncs_is_run_command(int count, char **words)
{
	bool asks_for_help = count == 3 && (strcmp(words[2], "--help") == 0 ||
					    strcmp(words[2], "-h") == 0);

	return count > 1 && !asks_for_help &&
	       (strcmp(words[1], "run") == 0 || strcmp(words[1], "env") == 0);
}

/* Determines the variables. Returns false after printing a message. */
static bool prepare(struct ncs_job_environment *environment)
{
	char *plugin = ncs_job_plugin();
	int error = 0;

	if (!plugin) {
		ncs_complain(NCS_PLUGIN_FILE
			     " is not where this program was built or"
			     " installed; install it, or set"
			     " NCCL_PROFILER_PLUGIN and LD_LIBRARY_PATH"
			     " yourself");
		return false;
	}
	error = ncs_job_environment_make(environment, plugin);
	free(plugin);
	if (error)
		ncs_complain("%s", strerror(-error));
	return !error;
}

/* Prints text in single quotes, as a shell reads it. */
static void print_quoted(FILE *file, const char *text)
{
	fputc('\'', file);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", file);
		else
			fputc(*text, file);
	fputc('\'', file);
}

static int print(const struct ncs_job_environment *environment)
{
	struct ncs_output output;
	int status = NCS_EXIT_OK;

	if (!ncs_output_init(&output))
		return NCS_EXIT_NOTHING;
	for (size_t i = 0; i < environment->count; i++) {
		fprintf(output.file, "export %s=",
			environment->variables[i].name);
		print_quoted(output.file, environment->variables[i].value);
		fputc('\n', output.file);
	}
	ncs_output_release(&output, &status);
	return status;
}

/* Becomes the command. Returns only if that fails. */
static int become(const struct ncs_job_environment *environment, char **command)
{
	for (size_t i = 0; i < environment->count; i++)
		if (setenv(environment->variables[i].name,
			   environment->variables[i].value, 1) != 0) {
			ncs_complain("%s", strerror(errno));
			return STATUS_CANNOT_RUN;
		}
	signal(SIGPIPE, SIG_DFL);
	execvp(command[0], command);
	ncs_complain("%s: %s", command[0], strerror(errno));
	return errno == ENOENT ? STATUS_NO_COMMAND : STATUS_CANNOT_RUN;
}

int ncs_run_run(int count, char **words)
{
	bool is_env = strcmp(words[1], "env") == 0;
	int first = count > 2 && strcmp(words[2], "--") == 0 ? 3 : 2;
	struct ncs_job_environment environment;
	int status;

	if (is_env ? count != 2 :
		     first >= count || (first == 2 && words[2][0] == '-')) {
		ncs_complain(is_env ?
				     "env takes no arguments" :
				     "usage: ncclstat run -- COMMAND"
				     " [ARGUMENT]...");
		return NCS_EXIT_USAGE;
	}
	if (!prepare(&environment))
		return is_env ? NCS_EXIT_NOTHING : STATUS_CANNOT_RUN;
	status = is_env ? print(&environment) :
			  become(&environment, words + first);
	ncs_job_environment_release(&environment);
	return status;
}
