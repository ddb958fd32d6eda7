/* SPDX-License-Identifier: MIT */
/* Starts a program whose NCCL loads the plugin; see run_command.h. Opens no
 * segments. */
#include "tui/commands/run_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tui/commands/job_environment.h"
#include "tui/commands/options.h"
#include "tui/commands/subcommands.h"
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

	if (!ncs_output_init(&output))
		return NCS_EXIT_NOTHING;
	for (size_t i = 0; i < environment->count; i++) {
		fprintf(output.file, "export %s=",
			environment->variables[i].name);
		print_quoted(output.file, environment->variables[i].value);
		fputc('\n', output.file);
	}
	return ncs_output_end(&output, NCS_EXIT_OK);
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

static const char watch_option[] = "--watch=", hook_option[] = "--on=";

/* The words of a watch's command line; NULL ends them. */
struct watch_line {
	char *words[NCS_HOOKS_MAX + 4];
};

/* Makes the line of options of which the first names the watch's file. Returns
 * false after a message if one is wrong. */
static bool make_watch_line(struct watch_line *line, char **options, int count)
{
	static char watch[] = "--watch=beside";
	struct watch_line copy;
	struct ncs_options parsed;
	char error[1024];

	*line = (struct watch_line){ { options[-2], watch } };
	for (int i = 1; i < count; i++)
		line->words[i + 1] = options[i];
	copy = *line;
	ncs_options_init(&parsed);
	if (ncs_options_parse(&parsed, count + 1, copy.words, error,
			      sizeof(error)))
		return true;
	ncs_complain("%s (see ncclstat run --help)", error);
	return false;
}

/* Becomes the watch, whose input ends when the command's processes have. */
static void become_watch(char **words, int input, int output)
	__attribute__((noreturn));

static void become_watch(char **words, int input, int output)
{
	/* No signal to the command's group is for it. */
	setsid();
	if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0)
		execv("/proc/self/exe", words);
	_exit(STATUS_CANNOT_RUN);
}

/* Starts a watch beside the command, which writes to a file. It is no child of
 * the command, which holds the other end of its input and passes that on to
 * processes of its own. Returns false after a message. */
static bool start_watch(struct watch_line *line, const char *path)
{
	int output = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			  0644);
	int ends[2] = { -1, -1 };
	pid_t child = -1;

	if (output >= 0 && pipe(ends) == 0)
		child = fork();
	if (child < 0) {
		ncs_complain("%s: %s", path, strerror(errno));
		return false;
	}
	if (child == 0) {
		close(ends[1]);
		if (fork() != 0)
			_exit(0);
		fcntl(ends[0], F_SETFD, FD_CLOEXEC);
		become_watch(line->words, ends[0], output);
	}
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	close(ends[0]);
	close(output);
	return true;
}

/* Returns the number of options of a watch that the words begin with. */
static int count_options(int count, char **words)
{
	int options = 0;

	while (options < count &&
	       strncmp(words[options],
		       options == 0 ? watch_option : hook_option,
		       strlen(options == 0 ? watch_option : hook_option)) == 0)
		options++;
	return options;
}

int ncs_run_run(int count, char **words)
{
	bool is_env = strcmp(words[1], "env") == 0;
	int options = count_options(count - 2, words + 2), first = 2 + options;
	struct ncs_job_environment environment;
	struct watch_line line;
	char meant[80] = "";
	int status;

	if (first < count && strcmp(words[first], "--") == 0) {
		first++;
	} else if (first < count && words[first][0] == '-') {
		ncs_options_suggest(words[first] + strspn(words[first], "-"),
				    false, meant, sizeof(meant));
		first = count;
	}
	if (is_env ? count != 2 :
		     first >= count || options > (int)NCS_HOOKS_MAX + 1) {
		ncs_complain("%s%s",
			     is_env ? "env takes no arguments" :
				      "usage: ncclstat run " NCS_RUN_OPTIONS
				      " -- COMMAND [ARGUMENT]...",
			     is_env ? "" : meant);
		return NCS_EXIT_USAGE;
	}
	if (options > 0 && !make_watch_line(&line, words + 2, options))
		return NCS_EXIT_USAGE;
	if (!prepare(&environment))
		return is_env ? NCS_EXIT_NOTHING : STATUS_CANNOT_RUN;
	if (options > 0 &&
	    !start_watch(&line, words[2] + strlen(watch_option))) {
		ncs_job_environment_release(&environment);
		return STATUS_CANNOT_RUN;
	}
	status = is_env ? print(&environment) :
			  become(&environment, words + first);
	ncs_job_environment_release(&environment);
	return status;
}
