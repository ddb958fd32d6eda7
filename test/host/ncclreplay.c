/* SPDX-License-Identifier: MIT */
/* ncclreplay: a substitute for a training job. Each call log is one process,
 * which loads the profiler plugin as NCCL does and makes the recorded calls at
 * the recorded times. NCCL and a GPU are not needed.
 *
 * The parent only starts processes and waits for them; it must never load the
 * plugin. No process is left behind: children end with the parent, and a child
 * that does not end in time when told to is killed.
 */
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test/host/calllog.h"
#include "test/host/plugin_host.h"
#include "test/host/call_player.h"

#define PROGRAM "ncclreplay"
#define PLUGIN_FILE "libnccl-profiler-ncclstat.so"
#define GPU_FILE "test/next/cuda.so"
#define EXIT_USAGE 2
#define MESSAGE_BYTES 1024
#define NS_PER_S 1000000000L

/* Time from asking children to end until they are killed. */
#define PATIENCE_S 5

/* All processes are ready well before the first call is due. */
#define LEAD_NS UINT64_C(100000000)

/* Time that an event with times takes on its stream. */
#define EVENT_NS 2000

struct settings {
	char plugin[PATH_MAX];
	double speed;
	uint64_t rounds;
	bool hold;
	bool exit;
	bool no_gpu;
	bool gpus;
	bool verbose;
};

/* The files of one folder are one job and share one time. */
struct process {
	char *path;
	char *folder;
	struct calllog *log;
	struct replay_body body;
	struct launch_plans launches;
	uint64_t *begins;		/* of all launches of its job */
	_Atomic uint64_t *late_until_ns; /* of its job */
	uint64_t origin_ns;
	uint64_t period_ns;
	int number;			/* from 1 */
	pid_t pid;			/* 0 if not started, or ended */
};

struct processes {
	struct process *all;
	size_t count;
};

static const char usage_text[] =
"Usage: " PROGRAM " [--plugin SO] [--speed X|max] [--loop N] [--hold]\n"
"                  [--exit] [--no-gpu | --gpus] [--verbose] FILE...\n"
"Replays call logs (test/captures) against an NCCL profiler plugin, one\n"
"process for each FILE; a folder stands for all rank files in it.\n"
"\n"
"  --plugin SO   the plugin; default: " PLUGIN_FILE "\n"
"                beside this program\n"
"  --speed X     X times as fast as recorded; max: without waiting (default 1)\n"
"  --loop N      make the calls between init and finalize N times, 0: for ever\n"
"                (default 1)\n"
"  --hold        when all calls are made, stay until SIGTERM\n"
"  --exit        end by _exit(2), and finalize no communicator that is left at\n"
"                the end\n"
"  --no-gpu      do without the fake GPU that runs the launches of a log, from\n"
"                which the plugin has the times on streams\n"
"  --gpus        give the fake GPU of each process a PCI bus ID of its own:\n"
"                0000:01:00.0 is that of the first\n"
"  --verbose     say on stderr what was done\n"
"  --help        this text\n";

static void __attribute__((format(printf, 1, 2)))
complain(const char *format, ...)
{
	char text[2 * MESSAGE_BYTES];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	fprintf(stderr, PROGRAM ": %s\n", text);
}

static void __attribute__((noreturn, format(printf, 1, 2)))
usage_error(const char *format, ...)
{
	char text[2 * MESSAGE_BYTES];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	fprintf(stderr, PROGRAM ": %s\n"
		"Try '" PROGRAM " --help'.\n", text);
	exit(EXIT_USAGE);
}

static void *must(void *memory)
{
	if (memory == NULL) {
		complain("out of memory");
		exit(EXIT_FAILURE);
	}
	return memory;
}

/* --- Command line ------------------------------------------------------ */

static double parse_speed(const char *text)
{
	char *end;
	double speed;

	if (strcmp(text, "max") == 0)
		return REPLAY_SPEED_MAX;
	speed = strtod(text, &end);
	if (end == text || *end != '\0' || !isfinite(speed) ||
	    speed < 1e-6 || speed > 1e6)
		usage_error("--speed: '%s' is neither a positive number "
			"nor 'max'", text);
	return speed;
}

static uint64_t parse_rounds(const char *text)
{
	char *end;
	unsigned long long rounds;

	errno = 0;
	rounds = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end != '\0' || errno != 0)
		usage_error("--loop: '%s' is not a number of rounds", text);
	return rounds;
}

static void set_plugin(struct settings *settings, const char *path)
{
	if (realpath(path, settings->plugin) == NULL)
		usage_error("--plugin: %s: %s", path, strerror(errno));
}

/* Gets the path of a file beside the program; `option` does without it. */
static void find_file(char *path, const char *file, const char *option)
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program,
		sizeof(program) - 1);
	int used;

	if (length < 0)
		usage_error("cannot tell where the program lies: use %s",
			option);
	program[length] = '\0';
	used = snprintf(path, PATH_MAX, "%s/%s", dirname(program), file);
	if (used < 0 || used >= PATH_MAX)
		usage_error("the program's path is too long: use %s", option);
}

static void set_default_plugin(struct settings *settings)
{
	find_file(settings->plugin, PLUGIN_FILE, "--plugin");
	if (access(settings->plugin, R_OK) < 0)
		usage_error("%s: %s: build it or use --plugin",
			settings->plugin, strerror(errno));
}

enum { OPT_PLUGIN = 256, OPT_SPEED, OPT_LOOP, OPT_HOLD, OPT_EXIT, OPT_NO_GPU,
	OPT_GPUS, OPT_VERBOSE, OPT_HELP };

static void parse_options(int argc, char **argv, struct settings *settings)
{
	static const struct option options[] = {
		{ "plugin", required_argument, NULL, OPT_PLUGIN },
		{ "speed", required_argument, NULL, OPT_SPEED },
		{ "loop", required_argument, NULL, OPT_LOOP },
		{ "hold", no_argument, NULL, OPT_HOLD },
		{ "exit", no_argument, NULL, OPT_EXIT },
		{ "no-gpu", no_argument, NULL, OPT_NO_GPU },
		{ "gpus", no_argument, NULL, OPT_GPUS },
		{ "verbose", no_argument, NULL, OPT_VERBOSE },
		{ "help", no_argument, NULL, OPT_HELP },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	*settings = (struct settings){ .speed = 1, .rounds = 1 };
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case OPT_PLUGIN: set_plugin(settings, optarg); break;
		case OPT_SPEED: settings->speed = parse_speed(optarg); break;
		case OPT_LOOP: settings->rounds = parse_rounds(optarg); break;
		case OPT_HOLD: settings->hold = true; break;
		case OPT_EXIT: settings->exit = true; break;
		case OPT_NO_GPU: settings->no_gpu = true; break;
		case OPT_GPUS: settings->gpus = true; break;
		case OPT_VERBOSE: settings->verbose = true; break;
		case OPT_HELP:
			fputs(usage_text, stdout);
			exit(EXIT_SUCCESS);
		default:
			fputs("Try '" PROGRAM " --help'.\n", stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind == argc)
		usage_error("no call log is given");
	if (settings->plugin[0] == '\0')
		set_default_plugin(settings);
}

/* --- Files ------------------------------------------------------------- */

static char *folder_of(const char *path)
{
	char *copy = must(strdup(path));
	char *folder = must(strdup(dirname(copy)));

	free(copy);
	return folder;
}

static void add_file(struct processes *processes, const char *path)
{
	char message[MESSAGE_BYTES];
	struct process *process;

	processes->all = must(reallocarray(processes->all,
		processes->count + 1, sizeof(*processes->all)));
	process = &processes->all[processes->count++];
	memset(process, 0, sizeof(*process));
	process->path = must(strdup(path));
	process->folder = folder_of(path);
	if (calllog_read(path, &process->log, message, sizeof(message)) != 0) {
		complain("%s", message);
		exit(EXIT_USAGE);
	}
	process->body = replay_find_body(process->log);
}

/* Returns the number of a file rank<number>.calllog[.xz]; -1 if it has another
 * name. */
static long rank_of_name(const char *name)
{
	char *end;
	long rank;

	if (strncmp(name, "rank", 4) != 0 || !isdigit((unsigned char)name[4]))
		return -1;
	rank = strtol(name + 4, &end, 10);
	if (strcmp(end, ".calllog") != 0 && strcmp(end, ".calllog.xz") != 0)
		return -1;
	return rank;
}

static int is_rank_file(const struct dirent *entry)
{
	return rank_of_name(entry->d_name) >= 0;
}

static int by_rank(const struct dirent **left, const struct dirent **right)
{
	long a = rank_of_name((*left)->d_name);
	long b = rank_of_name((*right)->d_name);

	return (a > b) - (a < b);
}

static void add_folder(struct processes *processes, const char *folder)
{
	struct dirent **entries;
	char path[PATH_MAX];
	int count = scandir(folder, &entries, is_rank_file, by_rank);
	int index;
	int used;

	if (count < 0)
		usage_error("%s: %s", folder, strerror(errno));
	if (count == 0)
		usage_error("%s: has no file rank*.calllog[.xz]", folder);
	for (index = 0; index < count; index++) {
		used = snprintf(path, sizeof(path), "%s/%s", folder,
			entries[index]->d_name);
		if (used < 0 || (size_t)used >= sizeof(path))
			usage_error("%s: the path is too long", folder);
		add_file(processes, path);
		free(entries[index]);
	}
	free(entries);
}

static void add_argument(struct processes *processes, const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		usage_error("%s: %s", path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		add_folder(processes, path);
	else
		add_file(processes, path);
}

/* Returns memory, all 0, that the processes share as long as they live. */
static void *share(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return must(memory == MAP_FAILED ? NULL : memory);
}

/* Plans when the launches of a job run. */
static void plan_job(struct processes *processes, const char *folder)
{
	const struct calllog **logs = must(calloc(processes->count,
		sizeof(*logs)));
	struct launch_plans *plans = must(calloc(processes->count,
		sizeof(*plans)));
	_Atomic uint64_t *late_until_ns = share(sizeof(*late_until_ns));
	uint64_t *begins;
	size_t count = 0;

	for (size_t index = 0; index < processes->count; index++)
		if (strcmp(processes->all[index].folder, folder) == 0)
			logs[count++] = processes->all[index].log;
	if (launch_plans_make(logs, count, plans) != 0)
		must(NULL);
	begins = share((plans[0].job_count + 1) * sizeof(*begins));
	count = 0;
	for (size_t index = 0; index < processes->count; index++) {
		if (strcmp(processes->all[index].folder, folder) != 0)
			continue;
		processes->all[index].launches = plans[count++];
		processes->all[index].begins = begins;
		processes->all[index].late_until_ns = late_until_ns;
	}
	free(plans);
	free(logs);
}

/* Time starts with the earliest call of a job. */
static void align_job(struct processes *processes, const char *folder)
{
	struct replay_body *bodies = must(calloc(processes->count,
		sizeof(*bodies)));
	uint64_t origin_ns = UINT64_MAX;
	uint64_t period_ns;
	size_t count = 0;
	size_t index;
	struct process *process;

	for (index = 0; index < processes->count; index++) {
		process = &processes->all[index];
		if (strcmp(process->folder, folder) != 0)
			continue;
		bodies[count++] = process->body;
		if (process->log->calls[0].time_ns < origin_ns)
			origin_ns = process->log->calls[0].time_ns;
	}
	period_ns = replay_period_ns(bodies, count);
	free(bodies);
	for (index = 0; index < processes->count; index++) {
		process = &processes->all[index];
		if (strcmp(process->folder, folder) != 0)
			continue;
		process->origin_ns = origin_ns;
		process->period_ns = period_ns;
	}
}

static void align_jobs(struct processes *processes)
{
	size_t index;

	for (index = 0; index < processes->count; index++)
		if (processes->all[index].origin_ns == 0) {
			align_job(processes, processes->all[index].folder);
			plan_job(processes, processes->all[index].folder);
		}
}

static void free_processes(struct processes *processes)
{
	size_t index;

	for (index = 0; index < processes->count; index++) {
		launch_plans_free(&processes->all[index].launches);
		calllog_free(processes->all[index].log);
		free(processes->all[index].path);
		free(processes->all[index].folder);
	}
	free(processes->all);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* --- The child --------------------------------------------------------- */

static struct replay *stoppable;

static void on_stop(int signal_number)
{
	(void)signal_number;
	/* A plugin that hangs must not keep the process. */
	alarm(PATIENCE_S);
	replay_stop(stoppable);
}

/* Handles signals that end the process, and unblocks those that came
 * meanwhile. */
static void catch_stop(const sigset_t *before)
{
	struct sigaction action = { .sa_handler = on_stop,
		.sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	sigprocmask(SIG_SETMASK, before, NULL);
}

static void wait_for_stop(void)
{
	sigset_t stops;
	sigset_t before;

	sigemptyset(&stops);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGHUP);
	sigprocmask(SIG_BLOCK, &stops, &before);
	while (!replay_is_stopped(stoppable))
		sigsuspend(&before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void die_with_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		exit(EXIT_FAILURE);
}

static void close_stdin(void)
{
	int fd = open("/dev/null", O_RDONLY);

	if (fd > 0) {
		dup2(fd, STDIN_FILENO);
		close(fd);
	}
}

static void summarize(const struct process *process, const struct host *host,
	uint64_t run_ns)
{
	struct host_counts counts = host_counts(host);

	complain("%s: pid %d, %llu calls in %llu rounds and %.3f s, "
		"%llu skipped (handle NULL), %llu (dropped), %llu (disabled), "
		"opened %u times, mask %d", process->path, (int)getpid(),
		(unsigned long long)counts.made,
		(unsigned long long)replay_rounds(stoppable),
		(double)run_ns / NS_PER_S,
		(unsigned long long)counts.skipped_null,
		(unsigned long long)counts.skipped_dropped,
		(unsigned long long)counts.skipped_disabled,
		counts.opened, host_mask());
}

/* Loads the fake GPU for the launches of a log, where the plugin will look for
 * a driver. Returns NULL if there are none. */
static struct fake_cuda *load_gpu(const struct process *process,
	const struct settings *settings)
{
	char path[PATH_MAX];
	struct fake_cuda *gpu;
	void *library;

	if (settings->no_gpu || process->launches.count == 0)
		return NULL;
	find_file(path, GPU_FILE, "--no-gpu");
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	gpu = library == NULL ? NULL : dlsym(library, "fake_cuda");
	if (gpu == NULL) {
		complain("%s: build it or use --no-gpu", dlerror());
		exit(EXIT_FAILURE);
	}
	gpu->gap_ns = EVENT_NS;
	gpu->gpu = settings->gpus ? process->number : 0;
	gpu->play_along();
	return gpu;
}

static int play(const struct process *process,
	const struct settings *settings, uint64_t start_ns,
	const sigset_t *before)
{
	struct replay_options options = { settings->speed, settings->rounds,
		process->origin_ns, start_ns, process->period_ns,
		load_gpu(process, settings), &process->launches,
		process->begins, process->late_until_ns, settings->exit };
	char message[MESSAGE_BYTES];
	struct host *host;
	uint64_t run_ns;
	int error;

	if (host_open(&host, settings->plugin, process->log->api, message,
	    sizeof(message)) != 0) {
		complain("%s: %s", process->path, message);
		return EXIT_FAILURE;
	}
	error = replay_create(&stoppable, process->log, host, &options);
	if (error != 0) {
		complain("%s: %s", process->path, strerror(-error));
		return EXIT_FAILURE;
	}
	catch_stop(before);
	run_ns = now_ns();
	error = replay_run(stoppable, message, sizeof(message));
	run_ns = now_ns() - run_ns;
	if (error != 0)
		complain("%s", message);
	if (settings->verbose)
		summarize(process, host, run_ns);
	if (error == 0 && settings->hold)
		wait_for_stop();
	if (settings->exit)
		_exit(error == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
	if (replay_is_stopped(stoppable))
		host_finalize_all(host);
	return error == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* --- The parent -------------------------------------------------------- */

static void block_signals(sigset_t *set, sigset_t *before)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
	sigprocmask(SIG_BLOCK, set, before);
}

static void signal_all(const struct processes *processes, int signal_number)
{
	size_t index;

	for (index = 0; index < processes->count; index++)
		if (processes->all[index].pid > 0)
			kill(processes->all[index].pid, signal_number);
}

static bool start_all(struct processes *processes,
	const struct settings *settings, const sigset_t *before)
{
	uint64_t start_ns = now_ns() + LEAD_NS;
	pid_t parent = getpid();
	size_t index;
	pid_t pid;

	for (index = 0; index < processes->count; index++) {
		processes->all[index].number = (int)index + 1;
		pid = fork();
		if (pid < 0) {
			complain("fork: %s", strerror(errno));
			return false;
		}
		if (pid == 0) {
			die_with_parent(parent);
			close_stdin();
			exit(play(&processes->all[index], settings, start_ns,
				before));
		}
		processes->all[index].pid = pid;
	}
	return true;
}

static bool ended_well(const struct process *process, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
		return true;
	if (WIFSIGNALED(status))
		complain("%s: pid %d was killed by signal %d (%s)",
			process->path, (int)process->pid, WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else
		complain("%s: pid %d failed", process->path,
			(int)process->pid);
	return false;
}

/* Reaps the children that have ended; returns false if one of them failed. */
static bool reap(struct processes *processes)
{
	bool well = true;
	size_t index;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (index = 0; index < processes->count; index++) {
			if (processes->all[index].pid != pid)
				continue;
			well = ended_well(&processes->all[index], status) &&
				well;
			processes->all[index].pid = 0;
		}
	}
	return well;
}

static size_t count_running(const struct processes *processes)
{
	size_t running = 0;
	size_t index;

	for (index = 0; index < processes->count; index++)
		if (processes->all[index].pid > 0)
			running++;
	return running;
}

/* Waits until all have ended; `stop` asks them to end immediately. */
static bool wait_for_all(struct processes *processes, const sigset_t *signals,
	bool stop)
{
	struct timespec pause = { 0, 100000000 };
	uint64_t deadline_ns = 0;
	bool well = true;
	int got;

	while (count_running(processes) > 0) {
		if (stop && deadline_ns == 0) {
			deadline_ns = now_ns() + PATIENCE_S * NS_PER_S;
			signal_all(processes, SIGTERM);
		}
		if (deadline_ns != 0 && now_ns() >= deadline_ns)
			signal_all(processes, SIGKILL);
		if (deadline_ns == 0)
			got = sigwaitinfo(signals, NULL);
		else
			got = sigtimedwait(signals, NULL, &pause);
		if (got > 0 && got != SIGCHLD)
			stop = true;
		well = reap(processes) && well;
	}
	return well;
}

int main(int argc, char **argv)
{
	struct processes processes = { NULL, 0 };
	struct settings settings;
	sigset_t signals;
	sigset_t before;
	bool started;
	bool well;

	parse_options(argc, argv, &settings);
	while (optind < argc)
		add_argument(&processes, argv[optind++]);
	align_jobs(&processes);
	block_signals(&signals, &before);
	started = start_all(&processes, &settings, &before);
	well = wait_for_all(&processes, &signals, !started);
	free_processes(&processes);
	return started && well ? EXIT_SUCCESS : EXIT_FAILURE;
}
