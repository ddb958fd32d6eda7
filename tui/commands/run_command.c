/* SPDX-License-Identifier: MIT */
/* Starts a program whose NCCL loads the plugin; see run_command.h. Opens no
 * segments. */
#include "tui/commands/run_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tui/commands/options.h"
#include "tui/text/output.h"

/* The name by which every NCCL from 2.23 on finds the plugin in the folders of
 * LD_LIBRARY_PATH. Some releases do not take a path. */
#define PLUGIN_FILE "libnccl-profiler-ncclstat.so"

#define STATUS_CANNOT_RUN 126
#define STATUS_NO_COMMAND 127

/* --- The plugin ------------------------------------------------------------ */

char *ncs_job_plugin(void)
{
	/* Relative to the program: where it is built, and where libraries are
	 * installed. */
	static const char *const folders[] = {
		".",
		"../lib",
		"../lib64",
#if defined(__x86_64__)
		"../lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
		"../lib/aarch64-linux-gnu",
#endif
	};
	char program[PATH_MAX], path[PATH_MAX + 64];
	ssize_t length =
		readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash;

	if (length < 0)
		return NULL;
	program[length] = '\0';
	slash = strrchr(program, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s/" PLUGIN_FILE, program,
			 folders[i]);
		if (access(path, R_OK) == 0)
			return realpath(path, NULL);
	}
	return NULL;
}

void ncs_job_plugin_folder(char *text, size_t size)
{
	char *plugin = ncs_job_plugin();
	const char *name = plugin ? strrchr(plugin, '/') : NULL;

	snprintf(text, size, "%.*s", name ? (int)(name - plugin) : 0,
		 plugin ? plugin : "");
	free(plugin);
}

/* --- Variables ------------------------------------------------------------- */

/* Takes a variable that a program needs to load the plugin. Returns false if there is
 * no memory. */
typedef bool take_variable(FILE *file, const char *name, const char *value);

static bool set_variable(FILE *file, const char *name, const char *value)
{
	(void)file;
	return setenv(name, value, 1) == 0;
}

/* Prints it as a shell reads it, in single quotes. */
static bool print_variable(FILE *file, const char *name, const char *value)
{
	fprintf(file, "export %s='", name);
	for (; *value; value++)
		if (*value == '\'')
			fputs("'\\''", file);
		else
			fputc(*value, file);
	fputs("'\n", file);
	return true;
}

/* Has a variable taken that names a library. Another library that it names now is
 * chained behind by the variable `chain`, unless that is set. */
static bool take_library(take_variable *take, FILE *file, const char *name,
			 const char *value, const char *chain)
{
	const char *now = getenv(name);
	const char *slash = now ? strrchr(now, '/') : NULL;
	const char *library = slash ? slash + 1 : now;
	bool is_chained = library && *library &&
			  strcasecmp(library, "none") != 0 &&
			  strcmp(library, PLUGIN_FILE) != 0 && !getenv(chain);
	char *before = is_chained ? strdup(now) : NULL;
	bool taken = take(file, name, value) &&
		     (!is_chained || (before && take(file, chain, before)));

	free(before);
	return taken;
}

/* Has the variables taken, in addition to the environment of this process. A profiler
 * plugin or NVTX tool that is set there is chained behind ours. Returns false after
 * a message. */
static bool take_variables(const char *plugin, take_variable *take, FILE *file)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	char *joined = NULL;
	bool taken = take_library(take, file, "NCCL_PROFILER_PLUGIN",
				  PLUGIN_FILE, "NCCLSTAT_CHAIN") &&
		     asprintf(&joined, "%.*s%s%s",
			      (int)(strrchr(plugin, '/') - plugin), plugin,
			      path && *path ? ":" : "",
			      path ? path : "") >= 0 &&
		     take(file, "LD_LIBRARY_PATH", joined) &&
		     take_library(take, file, "NVTX_INJECTION64_PATH", plugin,
				  "NCCLSTAT_NVTX_CHAIN");

	free(joined);
	if (!taken)
		ncs_complain("%s", strerror(ENOMEM));
	return taken;
}

static int print(const char *plugin)
{
	struct ncs_output output;
	bool taken;

	if (!ncs_output_init(&output))
		return NCS_EXIT_NOTHING;
	taken = take_variables(plugin, print_variable, output.file);
	return ncs_output_end(&output, taken ? NCS_EXIT_OK : NCS_EXIT_NOTHING);
}

/* Becomes the command. Returns only if that fails. */
static int become(const char *plugin, char **command)
{
	if (!take_variables(plugin, set_variable, NULL))
		return STATUS_CANNOT_RUN;
	signal(SIGPIPE, SIG_DFL);
	execvp(command[0], command);
	ncs_complain("%s: %s", command[0], strerror(errno));
	return errno == ENOENT ? STATUS_NO_COMMAND : STATUS_CANNOT_RUN;
}

/* --- A watch beside the command -------------------------------------------- */

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

/* --- The commands ---------------------------------------------------------- */

bool ncs_is_run_command(int count, char **words)
{
	bool asks_for_help = count == 3 && (strcmp(words[2], "--help") == 0 ||
					    strcmp(words[2], "-h") == 0);

	return count > 1 && !asks_for_help &&
	       (strcmp(words[1], "run") == 0 || strcmp(words[1], "env") == 0);
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
	struct watch_line line;
	char meant[80] = "", *plugin;
	int status = STATUS_CANNOT_RUN;

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
	plugin = ncs_job_plugin();
	if (!plugin) {
		ncs_complain(PLUGIN_FILE
			     " is not where this program was built or"
			     " installed; install it, or set"
			     " NCCL_PROFILER_PLUGIN and LD_LIBRARY_PATH"
			     " yourself");
		return is_env ? NCS_EXIT_NOTHING : STATUS_CANNOT_RUN;
	}
	if (is_env)
		status = print(plugin);
	else if (options == 0 ||
		 start_watch(&line, words[2] + strlen(watch_option)))
		status = become(plugin, words + first);
	free(plugin);
	return status;
}
