/* SPDX-License-Identifier: MIT */
/* Measures how much longer a process takes to end if it has loaded the plugin:
 * from its call of exit() until its parent knows, compared with a plugin that
 * does nothing, with and without a GPU's driver (a fake one), with and without
 * finalize before. All take turns in each round.
 *
 *	bench_exit [--rounds N] [--comms N] [--calls N]
 *
 * Must not judge.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/atomics.h"
#include "shm/clock.h"
#include "test/bench/caller.h"
#include "test/plugin/next/fake_cuda.h"

#define COMMS_MAX 64u
#define ROUNDS_MAX 1000u

/* The versions of the API that are used: of ours the latest, which tells of
 * launches. */
#define EMPTY_API 5
#define LATEST_API 7

struct subject {
	bool is_ours;
	bool has_driver;
	bool finalizes;
};

/* Pairs of the empty plugin and ours. */
static const struct subject subjects[] = {
	{ false, false, true },	 { true, false, true },
	{ false, false, false }, { true, false, false },
	{ false, true, true },	 { true, true, true },
	{ false, true, false },	 { true, true, false },
};

#define SUBJECTS (sizeof(subjects) / sizeof(subjects[0]))

static struct {
	unsigned rounds, comms, calls;
} load = { 31, 1, 10000 };

/* When the child called exit(), in memory that it shares with its parent. */
static uint64_t *exit_ns;

/* --- The process that ends ------------------------------------------------ */

/* Loads the driver and makes a context with a stream; returns the stream. */
static void *open_driver(struct fake_cuda **cuda)
{
	void *library = dlopen(NCS_NEXT "/cuda.so", RTLD_NOW | RTLD_LOCAL);
	struct fake_cuda *driver = library ? dlsym(library, "fake_cuda") : NULL;

	if (!driver)
		bench_fail("cuda.so", dlerror());
	driver->context_use(driver->context_create());
	*cuda = driver;
	return driver->stream_create();
}

static void call(struct host *host, void *context, struct fake_cuda *cuda,
		 void *stream, uint64_t number)
{
	const struct host_event launch = { .type = NCCL_EVENT_KERNEL_LAUNCH,
					   .stream = stream };
	const struct host_event coll = { .type = NCCL_EVENT_COLL,
					 .func = "AllReduce",
					 .count = 1 << 20,
					 .datatype = "ncclFloat32",
					 .seq_number = number,
					 .channels = BENCH_CHANNELS,
					 .algorithm = "RING",
					 .protocol = "SIMPLE" };
	void *handle;

	host_start(host, context, &launch, &handle);
	if (cuda)
		cuda->launch(stream, 0);
	host_stop(host, handle);
	host_start(host, context, &coll, &handle);
	host_stop(host, handle);
}

static void live_and_end(const struct subject *subject)
	__attribute__((noreturn));

static void live_and_end(const struct subject *subject)
{
	char message[512];
	struct fake_cuda *cuda = NULL;
	void *stream = subject->has_driver ? open_driver(&cuda) : NULL;
	void *contexts[COMMS_MAX];
	struct host *host;

	if (host_open(&host,
		      subject->is_ours ?
			      NCS_PLUGIN_PATH :
			      NCS_BUILD "/bench/libnccl-profiler-empty.so",
		      subject->is_ours ? LATEST_API : EMPTY_API, message,
		      sizeof(message)) != 0)
		bench_fail("plugin", message);
	for (unsigned i = 0; i < load.comms; i++)
		bench_open_comm(host,
				&(struct host_comm){ .id = i + 1,
						     .name = "bench",
						     .nnodes = 1,
						     .nranks = 1 },
				&contexts[i]);
	for (unsigned i = 0; i < load.calls; i++)
		for (unsigned k = 0; k < load.comms; k++)
			call(host, contexts[k], cuda, stream, i);
	for (unsigned i = 0; i < load.comms && subject->finalizes; i++)
		host_finalize(host, contexts[i]);
	ncs_store_relaxed(exit_ns, ncs_clock_monotonic_ns());
	exit(0);
}

/* --- The parent ----------------------------------------------------------- */

static double time_exit_us(const struct subject *subject)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		live_and_end(subject);
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		bench_fail("fork", "the process failed");
	return (double)(ncs_clock_monotonic_ns() - ncs_load_relaxed(exit_ns)) /
	       1000;
}

static double median(double *values, size_t count)
{
	bench_sort(values, count);
	return values[count / 2];
}

static void print_times(double (*times)[ROUNDS_MAX])
{
	double more[ROUNDS_MAX];

	printf("From exit() until the parent knows, in us, with %u"
	       " communicators of %u calls each; medians of %u:\n\n"
	       "| driver | finalize | empty | ncclstat | more |\n"
	       "|---|---|---:|---:|---:|\n",
	       load.comms, load.calls, load.rounds);
	for (unsigned k = 0; k < SUBJECTS; k += 2) {
		for (unsigned i = 0; i < load.rounds; i++)
			more[i] = times[k + 1][i] - times[k][i];
		printf("| %s | %s | %.0f | %.0f | %.0f |\n",
		       subjects[k].has_driver ? "fake" : "none",
		       subjects[k].finalizes ? "yes" : "no",
		       median(times[k], load.rounds),
		       median(times[k + 1], load.rounds),
		       median(more, load.rounds));
	}
}

int main(int argc, char **argv)
{
	char directory[] = "/dev/shm/ncclstat-bench.XXXXXX";
	static double times[SUBJECTS][ROUNDS_MAX];

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--rounds") == 0)
			load.rounds = bench_number(argv[i + 1], ROUNDS_MAX);
		else if (strcmp(argv[i], "--comms") == 0)
			load.comms = bench_number(argv[i + 1], COMMS_MAX);
		else if (strcmp(argv[i], "--calls") == 0)
			load.calls = bench_number(argv[i + 1], 100000000);
		else
			argc = 0;
	}
	if (argc % 2 == 0) {
		fputs("usage: bench_exit [--rounds N] [--comms N]"
		      " [--calls N]\n",
		      stderr);
		return 2;
	}
	exit_ns = mmap(NULL, sizeof(*exit_ns), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (exit_ns == MAP_FAILED || !mkdtemp(directory) ||
	    setenv("NCCLSTAT_DIR", directory, 1) != 0)
		bench_fail("set-up", strerror(errno));
	for (unsigned i = 0; i < load.rounds; i++)
		for (unsigned k = 0; k < SUBJECTS; k++)
			times[k][i] = time_exit_us(&subjects[k]);
	print_times(times);
	rmdir(directory);
	return 0;
}
