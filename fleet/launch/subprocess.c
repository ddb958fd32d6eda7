/* SPDX-License-Identifier: MIT */
/* Processes that the program starts; see subprocess.h. Must leave none behind. */
#include "fleet/launch/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/array.h"

/* How long the guard lets a terminated group run, in steps. */
#define GUARD_STEPS 20
#define GUARD_STEP_MS 100

/* --- The guard ----------------------------------------------------------- */

/* Tells the guard that a group has begun, or that its first process, which is
 * the child, has ended. */
struct guard_note {
	int32_t group;
	int32_t runs;
};

struct ncs_guarded_group {
	pid_t group;
	int steps; /* that it may still run; -1: its first process runs */
};

/* Forgets the groups that have no process: another group may get the number of
 * such a one. */
static void forget_empty(struct ncs_guarded_groups *known)
{
	size_t kept = 0;

	for (size_t i = 0; i < known->count; i++)
		if (known->groups[i].steps < 0 ||
		    kill(-known->groups[i].group, 0) == 0)
			known->groups[kept++] = known->groups[i];
	known->count = kept;
}

static void take_note(struct ncs_guarded_groups *known, const struct guard_note *note)
{
	for (size_t i = 0; i < known->count; i++)
		if (known->groups[i].group == note->group)
			known->groups[i].steps = GUARD_STEPS;
	forget_empty(known);
	if (note->runs &&
	    ncs_array_reserve(&known->groups, &known->capacity,
			      known->count + 1, sizeof(*known->groups)) == 0)
		known->groups[known->count++] =
			(struct ncs_guarded_group){ note->group, -1 };
}

/* Lets groups that are to end run for one step less, and kills those that had
 * their last. */
static void count_steps(struct ncs_guarded_groups *known)
{
	for (size_t i = 0; i < known->count; i++) {
		struct ncs_guarded_group *group = &known->groups[i];

		if (group->steps == 0)
			kill(-group->group, SIGKILL);
		if (group->steps > 0)
			group->steps--;
	}
}

static bool signal_all(const struct ncs_guarded_groups *known, int number)
{
	bool any = false;

	for (size_t i = 0; i < known->count; i++)
		any = kill(-known->groups[i].group, number) == 0 || any;
	return any;
}

/* Takes notes until the program has ended, and kills what outlives its group's
 * first process. */
static void take_notes(struct ncs_guarded_groups *known)
{
	struct pollfd notes = { .fd = 0, .events = POLLIN };
	struct guard_note note;
	bool are_ending;
	ssize_t bytes = 1;

	while (bytes > 0 || (bytes < 0 && errno == EINTR)) {
		forget_empty(known);
		are_ending = false;
		for (size_t i = 0; i < known->count; i++)
			are_ending |= known->groups[i].steps >= 0;
		bytes = poll(&notes, 1, are_ending ? GUARD_STEP_MS : -1);
		if (bytes == 0) {
			count_steps(known);
			bytes = 1;
			continue;
		}
		if (bytes > 0)
			bytes = read(0, &note, sizeof(note));
		if (bytes == (ssize_t)sizeof(note))
			take_note(known, &note);
	}
}

/* Closes all files but one, which becomes file 0. */
static void keep_one_file(int file)
{
	dup2(file, 0);
#ifdef SYS_close_range
	if (syscall(SYS_close_range, 1u, ~0u, 0u) == 0)
		return;
#endif
	for (int other = 1; other < 1024; other++)
		close(other);
}

/* Terminates all groups, and kills those that do not end. */
static void end_groups(const struct ncs_guarded_groups *known)
{
	const struct timespec step = { .tv_nsec = GUARD_STEP_MS * 1000000L };

	signal_all(known, SIGTERM);
	for (int i = 0; i < GUARD_STEPS && signal_all(known, 0); i++)
		nanosleep(&step, NULL);
	signal_all(known, SIGKILL);
}

/* The guard's life: it takes notes until the end of the socket, which is the end
 * of the program, and then ends all groups. */
static void guard(int notes, struct ncs_guarded_groups *known)
	__attribute__((noreturn));

static void guard(int notes, struct ncs_guarded_groups *known)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
				       SIGPIPE };

	setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	keep_one_file(notes);
	prctl(PR_SET_NAME, "ncclstat-guard");
	take_notes(known);
	end_groups(known);
	_exit(0);
}

int ncs_guard_start(struct ncs_guard *guard_)
{
	int ends[2];

	guard_->socket = -1;
	guard_->pid = 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	guard_->pid = fork();
	if (guard_->pid == 0)
		guard(ends[0], &guard_->known);
	close(ends[0]);
	if (guard_->pid < 0) {
		int error = -errno;

		close(ends[1]);
		guard_->pid = 0;
		return error;
	}
	guard_->socket = ends[1];
	return 0;
}

/* Whether there is no guard any more, although one was started. */
static bool has_lost_guard(struct ncs_guard *guard_)
{
	if (guard_->pid > 0 && waitpid(guard_->pid, NULL, WNOHANG) == 0)
		return false;
	if (guard_->pid > 0)
		close(guard_->socket);
	guard_->socket = -1;
	guard_->pid = 0;
	return true;
}

void ncs_guard_check(struct ncs_guard *guard_)
{
	forget_empty(&guard_->known);
	/* Without a process for it, this is tried again. */
	if (has_lost_guard(guard_))
		ncs_guard_start(guard_);
}

void ncs_guard_stop(struct ncs_guard *guard_)
{
	int status = 0;

	if (guard_->pid > 0) {
		close(guard_->socket);
		while (waitpid(guard_->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	/* A guard that was killed has ended nothing. */
	if (guard_->pid == 0 || WIFSIGNALED(status))
		end_groups(&guard_->known);
	free(guard_->known.groups);
	*guard_ = (struct ncs_guard){ .socket = -1 };
}

static void tell_guard(struct ncs_guard *guard_, pid_t group, bool runs)
{
	struct guard_note note = { .group = group, .runs = runs };

	take_note(&guard_->known, &note);
	/* A guard that was killed cannot be told; the next one knows. */
	while (guard_->pid > 0 &&
	       send(guard_->socket, &note, sizeof(note), MSG_NOSIGNAL) < 0 &&
	       errno == EINTR)
		;
}

/* --- Starting ------------------------------------------------------------ */

/* The files between us and a child that starts: our ends, and its own. */
struct child_files {
	int ours[3];
	int its[3];
	int failure[2]; /* for errno, if the program cannot be run */
};

static void close_file(int *file)
{
	if (*file >= 0)
		close(*file);
	*file = -1;
}

static void close_files(struct child_files *files)
{
	for (int i = 0; i < 3; i++) {
		close_file(&files->ours[i]);
		close_file(&files->its[i]);
	}
	close_file(&files->failure[0]);
	close_file(&files->failure[1]);
}

static bool open_pipe(int *reads, int *writes)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	*reads = ends[0];
	*writes = ends[1];
	return true;
}

static bool open_files(struct child_files *files, bool has_input)
{
	memset(files, -1, sizeof(*files));
	if (has_input ? !open_pipe(&files->its[0], &files->ours[0]) :
			(files->its[0] =
				 open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
		return false;
	/* One that does not read must not hold us up. */
	if (has_input && fcntl(files->ours[0], F_SETFL, O_NONBLOCK) != 0)
		return false;
	return open_pipe(&files->ours[1], &files->its[1]) &&
	       open_pipe(&files->ours[2], &files->its[2]) &&
	       open_pipe(&files->failure[0], &files->failure[1]) &&
	       fcntl(files->ours[1], F_SETFL, O_NONBLOCK) == 0 &&
	       fcntl(files->ours[2], F_SETFL, O_NONBLOCK) == 0;
}

/* Moves a file above those that the child gets as 0, 1 and 2. */
static int above_standard(int file)
{
	return file > 2 ? file : fcntl(file, F_DUPFD_CLOEXEC, 3);
}

/* The child, up to its program. */
static void become(const struct child_files *files, char *const argv[],
		   pid_t parent) __attribute__((noreturn));

static void become(const struct child_files *files, char *const argv[],
		   pid_t parent)
{
	int failure = above_standard(files->failure[1]);
	int its[3], error;
	sigset_t none;

	for (int i = 0; i < 3; i++)
		its[i] = above_standard(files->its[i]);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* The parent may have died before this process asked for the signal. */
	if (getppid() != parent)
		_exit(127);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 0; i < 3; i++)
		dup2(its[i], i);
	unsetenv("NCCLSTAT_DIR");
	execvp(argv[0], argv);
	error = errno;
	if (write(failure, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/* Waits until the child runs its program. Returns 0, or -errno if it could
 * not. */
static int wait_for_program(int failure)
{
	int error = 0;
	ssize_t bytes;

	do
		bytes = read(failure, &error, sizeof(error));
	while (bytes < 0 && errno == EINTR);
	return bytes == (ssize_t)sizeof(error) ? -error : 0;
}

int ncs_subprocess_start(struct ncs_subprocess *child,
			 struct ncs_guard *guard_, char *const argv[],
			 bool has_input)
{
	struct child_files files;
	pid_t parent = getpid(), pid = -1;
	int error;

	*child = (struct ncs_subprocess){ .input = -1,
					  .output = -1,
					  .error = -1 };
	if (!open_files(&files, has_input) || (pid = fork()) < 0) {
		error = -errno;
		close_files(&files);
		return error;
	}
	if (pid == 0)
		become(&files, argv, parent);
	close_file(&files.failure[1]);
	error = wait_for_program(files.failure[0]);
	if (error) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		close_files(&files);
		return error;
	}
	tell_guard(guard_, pid, true);
	*child = (struct ncs_subprocess){
		.pid = pid,
		.input = files.ours[0],
		.output = files.ours[1],
		.error = files.ours[2],
	};
	memset(files.ours, -1, sizeof(files.ours));
	close_files(&files);
	return 0;
}

/* --- Ending -------------------------------------------------------------- */

void ncs_subprocess_signal(const struct ncs_subprocess *child, int number)
{
	if (child->pid > 0)
		kill(-child->pid, number);
}

bool ncs_subprocess_runs(struct ncs_subprocess *child,
			 struct ncs_guard *guard_)
{
	int status;
	pid_t ended;

	if (child->pid <= 0)
		return false;
	ended = waitpid(child->pid, &status, WNOHANG);
	if (ended == 0 || (ended < 0 && errno == EINTR))
		return true;
	if (ended < 0)
		child->status = 255;
	else
		child->status = WIFEXITED(status) ? WEXITSTATUS(status) :
						    128 + WTERMSIG(status);
	/* While a member of the group lives, no other process gets its number. */
	ncs_subprocess_signal(child, SIGTERM);
	tell_guard(guard_, child->pid, false);
	child->pid = 0;
	return false;
}

void ncs_subprocess_release(struct ncs_subprocess *child)
{
	close_file(&child->input);
	close_file(&child->output);
	close_file(&child->error);
}
