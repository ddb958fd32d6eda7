/* SPDX-License-Identifier: MIT */
/* --textfile: writes metrics for Prometheus's node_exporter to a file, again and
 * again. A file is never there in part, and never after its writer's end.
 *
 * node_exporter goes on to serve a file that nobody writes any more, so the file
 * must go with its writer. A second process, the keeper, waits for the end of
 * the first one, however it comes, SIGKILL included, and removes the file.
 */
#include "tui/commands/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/clock.h"
#include "tui/commands/dump_command.h"
#include "tui/commands/metrics_watch.h"
#include "tui/commands/stop_signals.h"
#include "tui/text/output.h"

/* Between two writings unless --interval says otherwise. */
#define INTERVAL_NS UINT64_C(15000000000)

struct textfile {
	char path[PATH_MAX];
	char unfinished[PATH_MAX + 24]; /* not .prom: node_exporter skips it */
	int keeper_pipe; /* the keeper sees its end; -1 without a keeper */
	pid_t keeper;
	int said; /* error that was printed, so that it is printed once */
};

/* --- The keeper ---------------------------------------------------------- */

/* Waits until the last write end of the pipe is closed, which is when its parent
 * has ended. */
__attribute__((noreturn)) static void keep(const struct textfile *file,
					   int pipe_end)
{
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_NAME, "ncclstat-keeper");
	setsid();
	while (read(pipe_end, &byte, 1) < 0 && errno == EINTR)
		;
	unlink(file->path);
	unlink(file->unfinished);
	_exit(0);
}

static int start_keeper(struct textfile *file)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	file->keeper = fork();
	if (file->keeper < 0) {
		int error = errno;

		close(ends[0]);
		close(ends[1]);
		return -error;
	}
	if (file->keeper == 0) {
		close(ends[1]);
		ncs_output_detach();
		keep(file, ends[0]);
	}
	close(ends[0]);
	file->keeper_pipe = ends[1];
	return 0;
}

/* --- The file ------------------------------------------------------------ */

/* Writes metrics of the latest look to an open file, which it closes. Returns 0
 * or -errno. */
static int fill(struct ncs_metrics_watch *watch, int fd)
{
	FILE *stream = fdopen(fd, "w");
	int error;

	if (!stream) {
		error = -errno;
		close(fd);
		return error;
	}
	error = ncs_metrics_watch_print(watch, stream, NCS_METRICS_PROMETHEUS);
	errno = 0;
	if (fflush(stream) != 0 && !error)
		error = errno ? -errno : -EIO;
	/* node_exporter is another user. */
	if (fchmod(fileno(stream), 0644) != 0 && !error)
		error = -errno;
	if (fclose(stream) != 0 && !error)
		error = errno ? -errno : -EIO;
	return error;
}

/* Replaces the file as a whole. Returns 0 or -errno. */
static int write_file(struct textfile *file, struct ncs_metrics_watch *watch)
{
	int fd, error;

	/* A file of that name is another's, or a trap. */
	if (unlink(file->unfinished) != 0 && errno != ENOENT)
		return -errno;
	fd = open(file->unfinished,
		  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	error = fill(watch, fd);
	if (!error && rename(file->unfinished, file->path) != 0)
		error = -errno;
	if (error)
		unlink(file->unfinished);
	return error;
}

/* Looks and writes once. Returns 0 or -errno, after a message. */
static int refresh(struct textfile *file, struct ncs_metrics_watch *watch)
{
	struct ncs_stamp stamp = ncs_dump_stamp(NULL);
	int error = ncs_metrics_watch_look(watch, &stamp);

	if (error)
		return error;
	error = write_file(file, watch);
	if (error && error != file->said)
		ncs_complain("%s: %s", file->path, strerror(-error));
	file->said = error;
	return error;
}

/* --- The command --------------------------------------------------------- */

static bool name_file(struct textfile *file, const char *directory)
{
	int length = snprintf(file->path, sizeof(file->path),
			      "%s/ncclstat.prom", directory);

	if (length < 0 || (size_t)length >= sizeof(file->path)) {
		ncs_complain("%s: %s", directory, strerror(ENAMETOOLONG));
		return false;
	}
	snprintf(file->unfinished, sizeof(file->unfinished), "%s.%ld",
		 file->path, (long)getpid());
	return true;
}

static void write_until_stopped(struct textfile *file,
				const struct ncs_command_input *input,
				struct ncs_metrics_watch *watch,
				const sigset_t *signals)
{
	const struct ncs_options *options = input->options;
	uint64_t interval_ns =
		ncs_options_is_given(options, NCS_OPTION_INTERVAL) ?
			options->interval_ns :
			INTERVAL_NS;
	uint64_t next_ns = ncs_clock_monotonic_ns();

	for (uint64_t i = 1; i != options->count; i++) {
		next_ns += interval_ns;
		if (next_ns < ncs_clock_monotonic_ns())
			next_ns = ncs_clock_monotonic_ns();
		if (ncs_stop_signals_wait(signals, next_ns))
			return;
		/* An error may pass, as a full disk does. */
		refresh(file, watch);
	}
}

int ncs_textfile_run(const struct ncs_command_input *input)
{
	struct textfile file = { .keeper_pipe = -1 };
	struct ncs_metrics_watch watch;
	sigset_t signals;
	int status = NCS_EXIT_NOTHING, error;

	if (!name_file(&file, input->options->textfile_directory))
		return NCS_EXIT_USAGE;
	ncs_stop_signals_block(&signals);
	error = start_keeper(&file);
	if (error) {
		ncs_complain("%s", strerror(-error));
		return NCS_EXIT_NOTHING;
	}
	ncs_metrics_watch_init(&watch, input);
	/* A directory that cannot be written at first is a mistake. */
	if (refresh(&file, &watch) == 0) {
		write_until_stopped(&file, input, &watch, &signals);
		status = NCS_EXIT_OK;
	}
	ncs_metrics_watch_release(&watch);
	/* The keeper removes the file. */
	close(file.keeper_pipe);
	while (waitpid(file.keeper, NULL, 0) < 0 && errno == EINTR)
		;
	return status;
}
