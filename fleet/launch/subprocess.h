/* SPDX-License-Identifier: MIT */
/* Processes that the program starts, and that never outlive it.
 *
 * Each child leads a session of its own, without a terminal: it cannot ask for
 * a password, and Ctrl-C does not reach it. It is signalled with all processes
 * of its group. If the program dies in any way, even by SIGKILL, the kernel
 * terminates its children, and the guard, a process that only waits for that
 * death, their groups. A guard that is killed is replaced. Not thread-safe; the
 * thread that starts children must live as long as they do.
 */
#ifndef NCS_FLEET_LAUNCH_SUBPROCESS_H
#define NCS_FLEET_LAUNCH_SUBPROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Groups of processes that are not to outlive the program. */
struct ncs_guarded_group;
struct ncs_guarded_groups {
	struct ncs_guarded_group *groups;
	size_t count;
	size_t capacity;
};

/* One of zeros has never been started. */
struct ncs_guard {
	pid_t pid;  /* 0: there is none */
	int socket; /* to the guard */
	/* These are known to the guard, and to one that replaces it. */
	struct ncs_guarded_groups known;
};

/* Starts the guard. Returns 0 or -errno. */
int ncs_guard_start(struct ncs_guard *guard);

/* Starts another guard if the present one was killed. To be called often. */
void ncs_guard_check(struct ncs_guard *guard);

/* Ends the guard; children that still run are terminated, and killed two seconds
 * later. */
void ncs_guard_stop(struct ncs_guard *guard);

/* One of zeros has never been started. */
struct ncs_subprocess {
	pid_t pid;  /* also of its group; 0: none */
	int input;  /* to its standard input, does not block; -1: none, or
		       closed */
	int output; /* from its standard output, does not block; -1: closed */
	int error;  /* from its standard error, likewise */
	int status; /* exit status, or 128 and a signal, once it has ended */
};

/* Starts a program, found by PATH, whose environment is ours without
 * NCCLSTAT_DIR, which names a directory of this machine. Without `has_input`
 * its input is empty. Returns 0, or -errno if it cannot be started: -ENOENT if
 * it is not installed. */
int ncs_subprocess_start(struct ncs_subprocess *child,
			 struct ncs_guard *guard, char *const argv[],
			 bool has_input);

/* Sends a signal to the child's group. */
void ncs_subprocess_signal(const struct ncs_subprocess *child, int number);

/* Returns whether the child runs. Once it has ended, the rest of its group is
 * terminated, and killed by the guard two seconds later; what it has written can
 * still be read. */
bool ncs_subprocess_runs(struct ncs_subprocess *child,
			 struct ncs_guard *guard);

/* Closes all files. The child must have ended. */
void ncs_subprocess_release(struct ncs_subprocess *child);

#endif
