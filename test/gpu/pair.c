/* SPDX-License-Identifier: MIT */
/* Two processes that work together under a watchdog; see pair.h. Must not know
 * CUDA, NCCL or ncclstat. */
#include "test/gpu/pair.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A rank's ends of the pipes. */
static struct {
	int rank;
	int share;
	int status;
	int go;
} self;

/* The parent's view of a rank. A byte in `status` means that the rank is in
 * pair_meet(); end of file means that it has exited, as only the rank has the
 * other end.
 */
struct child {
	pid_t pid;
	int status;
};

enum news { NEWS_MET, NEWS_ENDED_WELL, NEWS_FAILED, NEWS_TIME_IS_UP };

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void open_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC) == 0)
		return;
	perror("pipe2");
	exit(EXIT_FAILURE);
}

/* --- In a rank ----------------------------------------------------------- */

int pair_share(void *data, size_t size)
{
	ssize_t done = self.rank == 0 ? write(self.share, data, size) :
					read(self.share, data, size);

	close(self.share);
	return done == (ssize_t)size ? 0 : -EPIPE;
}

int pair_meet(void)
{
	char byte = 0;

	if (write(self.status, &byte, 1) != 1)
		return -EPIPE;
	/* The parent never writes; it closes its end. */
	return read(self.go, &byte, 1) == 0 ? 0 : -EPIPE;
}

/* --- In the parent ------------------------------------------------------- */

static struct child start(int rank, const int share[2], const int go[2],
			  int (*work)(int rank))
{
	pid_t parent = getpid();
	struct child child;
	int status[2];

	open_pipe(status);
	child.pid = fork();
	if (child.pid < 0) {
		perror("fork");
		exit(EXIT_FAILURE);
	}
	if (child.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(EXIT_FAILURE);
		close(share[rank == 0 ? 0 : 1]);
		close(go[1]);
		close(status[0]);
		self.rank = rank;
		self.share = share[rank == 0 ? 1 : 0];
		self.status = status[1];
		self.go = go[0];
		exit(work(rank));
	}
	close(status[1]);
	child.status = status[0];
	return child;
}

/* Waits for a child that has exited or was killed; returns its wait status. */
static int reap(struct child *child)
{
	int status;

	waitpid(child->pid, &status, 0);
	close(child->status);
	child->status = -1;
	return status;
}

static bool ended_well(int rank, int status)
{
	if (WIFSIGNALED(status))
		fprintf(stderr, "rank %d was ended by signal %d\n", rank,
			WTERMSIG(status));
	return status == 0;
}

static enum news next_news(struct child children[PAIR_SIZE], long long end_ms)
{
	struct pollfd polls[PAIR_SIZE];
	long long left_ms;
	char byte;

	for (int rank = 0; rank < PAIR_SIZE; rank++)
		polls[rank] = (struct pollfd){ .fd = children[rank].status,
					       .events = POLLIN };
	do {
		left_ms = end_ms - now_ms();
		if (left_ms <= 0)
			return NEWS_TIME_IS_UP;
	} while (poll(polls, PAIR_SIZE, (int)left_ms) <= 0);
	for (int rank = 0; rank < PAIR_SIZE; rank++) {
		if (polls[rank].revents == 0)
			continue;
		if (read(children[rank].status, &byte, 1) == 1)
			return NEWS_MET;
		return ended_well(rank, reap(&children[rank])) ?
			       NEWS_ENDED_WELL :
			       NEWS_FAILED;
	}
	return NEWS_FAILED;
}

static void run_command(const char *command)
{
	if (command && system(command) != 0)
		fprintf(stderr, "at the end: this failed: %s\n", command);
}

/* Follows both ranks to their end; returns 0, 1 or PAIR_HUNG. */
static int follow(struct child children[PAIR_SIZE], int go, long long end_ms,
		  const char *at_end)
{
	int met = 0;
	int ended = 0;

	while (ended < PAIR_SIZE) {
		switch (next_news(children, end_ms)) {
		case NEWS_MET:
			if (++met < PAIR_SIZE)
				break;
			run_command(at_end);
			close(go);
			break;
		case NEWS_ENDED_WELL:
			ended++;
			break;
		case NEWS_FAILED:
			return EXIT_FAILURE;
		case NEWS_TIME_IS_UP:
			fprintf(stderr,
				"hung: %d of 2 were done, %d had left\n", met,
				ended);
			return PAIR_HUNG;
		}
	}
	return EXIT_SUCCESS;
}

int pair_run(int (*work)(int rank), unsigned patience_s, const char *at_end)
{
	long long end_ms = now_ms() + patience_s * 1000LL;
	struct child children[PAIR_SIZE];
	int share[2];
	int go[2];
	int status;

	/* Otherwise each child would print buffered output again. */
	fflush(NULL);
	open_pipe(share);
	open_pipe(go);
	for (int rank = 0; rank < PAIR_SIZE; rank++)
		children[rank] = start(rank, share, go, work);
	close(share[0]);
	close(share[1]);
	close(go[0]);
	status = follow(children, go[1], end_ms, at_end);
	if (status == PAIR_HUNG)
		run_command(at_end);
	for (int rank = 0; rank < PAIR_SIZE; rank++) {
		if (children[rank].status < 0)
			continue;
		kill(children[rank].pid, SIGKILL);
		reap(&children[rank]);
	}
	return status;
}
