/* SPDX-License-Identifier: MIT */
/* Makes communicators one after the other, with some AllReduces on each, and tells
 * what memory the process has and how long it takes to end:
 *
 *   rank N comms N resident_kib N     twenty times
 *   rank N exit_us N                  from exit() until its parent knows
 *
 * With --alone each communicator is made by one rank, whose AllReduces are no
 * operations of NCCL's; else by two processes that split one, on two GPUs or on one.
 * With --keep the process ends without destroying the last one. --events and
 * --streams make so many of CUDA's in addition, to tell what these cost at the end;
 * with --drop the process destroys the events after its call of exit().
 * The exit status is that of bench.c. Must not know ncclstat.
 */
#include "test/gpu/check.h"
#include "test/gpu/pair.h"

#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nccl.h>

#define USAGE 2
#define COUNT 256 /* elements of an AllReduce */
#define REPORTS 20

/* Options. */
static unsigned comm_count = 1, calls = 3, events, streams;
static unsigned patience_s = 240;
static bool is_alone, keeps_last, drops_events;
static const char *at_end;

static cudaStream_t stream;
static float *buffers[2];
static cudaEvent_t *more_events;

/* When the process called exit(), in memory that its parent shares. */
static volatile uint64_t *exit_ns;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- The process --------------------------------------------------------- */

static void report(unsigned made)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (!file || fscanf(file, "%*d %ld", &pages) != 1)
		give_up(__LINE__, "/proc/self/statm", "it cannot be read");
	fclose(file);
	printf("rank %d comms %u resident_kib %ld\n", own_rank, made,
	       pages * (sysconf(_SC_PAGESIZE) / 1024));
}

/* Called before CUDA ends, since it has begun before this was asked for. */
static void drop_events(void)
{
	for (unsigned i = 0; i < events; i++)
		CUDA(cudaEventDestroy(more_events[i]));
}

static void open_gpu(void)
{
	cudaStream_t more;
	int gpus;

	CUDA(cudaGetDeviceCount(&gpus));
	if (!is_alone && gpus < PAIR_SIZE)
		pretend_two_nodes();
	CUDA(cudaSetDevice(own_rank % gpus));
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (unsigned i = 0; i < 2; i++)
		CUDA(cudaMalloc((void **)&buffers[i], COUNT * sizeof(float)));
	CUDA(cudaMemset(buffers[0], 0, COUNT * sizeof(float)));
	more_events = calloc(events + 1, sizeof(*more_events));
	if (!more_events)
		give_up(__LINE__, "calloc", "no memory");
	for (unsigned i = 0; i < events; i++)
		CUDA(cudaEventCreate(&more_events[i]));
	if (drops_events)
		LIBC(atexit(drop_events));
	for (unsigned i = 0; i < streams; i++)
		CUDA(cudaStreamCreateWithFlags(&more, cudaStreamNonBlocking));
	if (own_rank == 0)
		say_versions();
}

static ncclComm_t make_first(void)
{
	ncclUniqueId id;
	ncclComm_t comm;

	if (own_rank == 0)
		NCCL(ncclGetUniqueId(&id));
	if (!is_alone)
		LIBC(pair_share(&id, sizeof(id)));
	NCCL(ncclCommInitRank(&comm, is_alone ? 1 : PAIR_SIZE, id, own_rank));
	return comm;
}

static void make_comms(void)
{
	ncclComm_t first = is_alone ? NULL : make_first();
	unsigned step = comm_count < REPORTS ? 1 : comm_count / REPORTS;

	for (unsigned i = 1; i <= comm_count; i++) {
		ncclComm_t comm;

		if (is_alone)
			comm = make_first();
		else
			NCCL(ncclCommSplit(first, 0, own_rank, &comm, NULL));
		for (unsigned k = 0; k < calls; k++)
			NCCL(ncclAllReduce(buffers[0], buffers[1], COUNT,
					   ncclFloat, ncclSum, comm, stream));
		CUDA(cudaStreamSynchronize(stream));
		if (i < comm_count || !keeps_last)
			NCCL(ncclCommDestroy(comm));
		if (i % step == 0)
			report(i);
	}
	if (first && !keeps_last)
		NCCL(ncclCommDestroy(first));
}

/* The plugin's thread, if there is one, has made what it makes. */
static void let_settle(void)
{
	const struct timespec time = { .tv_nsec = 500000000 };

	nanosleep(&time, NULL);
}

static _Noreturn void live_and_end(void)
{
	open_gpu();
	make_comms();
	let_settle();
	if (!is_alone)
		LIBC(pair_meet());
	else if (at_end && system(at_end) != 0)
		fprintf(stderr, "at the end: this failed: %s\n", at_end);
	fflush(stdout);
	*exit_ns = now_ns();
	exit(EXIT_SUCCESS);
}

/* --- Its parent ---------------------------------------------------------- */

/* Does not use CUDA: a process that has cannot be forked. */
static int work(int rank)
{
	int status;
	pid_t child;

	own_rank = rank;
	exit_ns = mmap(NULL, sizeof(*exit_ns), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (exit_ns == MAP_FAILED)
		give_up(__LINE__, "mmap", "no memory");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		live_and_end();
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		return EXIT_FAILURE;
	printf("rank %d exit_us %.0f\n", rank,
	       (double)(now_ns() - *exit_ns) / 1e3);
	return EXIT_SUCCESS;
}

/* --- Options ------------------------------------------------------------- */

static unsigned number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text == '\0' || *end != '\0' || value > 10000000) {
		fprintf(stderr, "comms: not a number: %s\n", text);
		exit(USAGE);
	}
	return (unsigned)value;
}

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{ "alone", no_argument, NULL, 'a' },
		{ "keep", no_argument, NULL, 'k' },
		{ "drop", no_argument, NULL, 'd' },
		{ "comms", required_argument, NULL, 'c' },
		{ "calls", required_argument, NULL, 'n' },
		{ "events", required_argument, NULL, 'e' },
		{ "streams", required_argument, NULL, 's' },
		{ "patience", required_argument, NULL, 'p' },
		{ "at-end", required_argument, NULL, 'x' },
		{ 0 },
	};
	int code;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((code = getopt_long(argc, argv, "", known, NULL)) != -1)
		switch (code) {
		case 'a':
			is_alone = true;
			break;
		case 'k':
			keeps_last = true;
			break;
		case 'd':
			drops_events = true;
			break;
		case 'c':
			comm_count = number(optarg);
			break;
		case 'n':
			calls = number(optarg);
			break;
		case 'e':
			events = number(optarg);
			break;
		case 's':
			streams = number(optarg);
			break;
		case 'p':
			patience_s = number(optarg);
			break;
		case 'x':
			at_end = optarg;
			break;
		default:
			return USAGE;
		}
	return is_alone ? work(0) : pair_run(work, patience_s, at_end);
}
