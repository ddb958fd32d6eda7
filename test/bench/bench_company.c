/* SPDX-License-Identifier: MIT */
/* Measures what ncclstat's callbacks cost beside another thread that publishes and
 * under a reader that never pauses, and what memory they take.
 *
 *	bench_company [--rounds N] [--collectives N]
 *
 * A writer on one processor makes the calls of a proxy thread while a companion
 * on another does something. Each kind of company has a control that does the
 * same work on other memory: another communicator of the same process. The
 * difference between the two is the cost of cache lines that move from one
 * processor to the other. All take turns in each round.
 *
 * Must not judge.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "shm/atomics.h"
#include "shm/clock.h"
#include "test/bench/caller.h"

/* Proxy operations in one measurement of the writer. */
#define BATCH 2000

/* --- The companion ------------------------------------------------------ */

enum company {
	COMPANY_NONE,
	COMPANY_PUBLISHER_APART,
	COMPANY_PUBLISHER,
	COMPANY_READER_APART,
	COMPANY_READER,
	COMPANY_COUNT
};

static const char *const company_names[COMPANY_COUNT] = {
	[COMPANY_NONE] = "none (the other processor spins)",
	[COMPANY_PUBLISHER_APART] = "a thread publishes, other communicator",
	[COMPANY_PUBLISHER] = "a thread publishes, same communicator",
	[COMPANY_READER_APART] = "a reader never pauses, other communicator",
	[COMPANY_READER] = "a reader never pauses, same communicator",
};

struct companion {
	uint64_t wanted; /* enum company; COMPANY_COUNT to end */
	uint64_t doing;
	uint64_t turns; /* work done; keeps the compiler from removing the work */
	int cpu;
	struct bench_caller
		callers[2]; /* of the writer's communicator and of another one */
	struct ncs_reader *readers[2];
	struct ncs_snapshot snapshots[2];
};

static void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		bench_fail("sched_setaffinity", strerror(errno));
}

static void look(struct companion *companion, unsigned which)
{
	static struct ncs_record records[256];
	struct ncs_snapshot *snapshot = &companion->snapshots[which];
	uint64_t lost;

	ncs_snapshot_take(snapshot, companion->readers[which],
			  ncs_clock_monotonic_ns());
	for (size_t lane = 0; lane < snapshot->lane_count; lane++)
		while (ncs_reader_records(companion->readers[which], lane,
					  records, 256, &lost) == 256)
			;
}

static void *keep_company(void *argument)
{
	struct companion *companion = argument;
	uint64_t wanted;

	pin(companion->cpu);
	do {
		wanted = ncs_load_relaxed(&companion->wanted);
		switch ((int)wanted) {
		case COMPANY_PUBLISHER:
		case COMPANY_PUBLISHER_APART:
			bench_call_collective(
				&companion->callers[wanted !=
						    COMPANY_PUBLISHER]);
			break;
		case COMPANY_READER:
		case COMPANY_READER_APART:
			look(companion, wanted != COMPANY_READER);
			break;
		default:
			break;
		}
		ncs_store_relaxed(&companion->doing, wanted);
		ncs_add_relaxed(&companion->turns, 1);
	} while (wanted != COMPANY_COUNT);
	return NULL;
}

/* Asks the companion for a kind of company and waits until it has done one round
 * of it. */
static void ask(struct companion *companion, enum company company)
{
	ncs_store_relaxed(&companion->wanted, company);
	while (ncs_load_relaxed(&companion->doing) != (uint64_t)company)
		;
}

/* --- Time --------------------------------------------------------------- */

/* Returns the ns that a callback takes. */
static double time_writer(struct bench_caller *writer)
{
	uint64_t before = ncs_clock_monotonic_ns();

	for (unsigned i = 0; i < BATCH; i++)
		bench_make_proxy_op(writer, NULL,
				    (uint8_t)(i % BENCH_CHANNELS));
	return (double)(ncs_clock_monotonic_ns() - before) /
	       (BATCH * BENCH_PROXY_OP_CALLBACKS);
}

static double median(double *values, size_t count)
{
	bench_sort(values, count);
	return values[count / 2];
}

static void print_times(double (*times)[COMPANY_COUNT], size_t rounds)
{
	static const enum company controls[COMPANY_COUNT] = {
		[COMPANY_PUBLISHER] = COMPANY_PUBLISHER_APART,
		[COMPANY_READER] = COMPANY_READER_APART,
	};
	double *column = malloc(rounds * sizeof(*column));

	if (!column)
		bench_fail("malloc", strerror(ENOMEM));
	printf("\nThe writer's callbacks, medians of %zu rounds of %d:\n\n"
	       "| company | ns/callback | to none | to the other"
	       " communicator |\n|---|---:|---:|---:|\n",
	       rounds, BATCH * BENCH_PROXY_OP_CALLBACKS);
	for (unsigned i = 0; i < COMPANY_COUNT; i++) {
		for (size_t k = 0; k < rounds; k++)
			column[k] = times[k][i];
		printf("| %s | %.1f |", company_names[i],
		       median(column, rounds));
		for (size_t k = 0; k < rounds; k++)
			column[k] = times[k][i] / times[k][COMPANY_NONE];
		printf(" %.2f |", median(column, rounds));
		for (size_t k = 0; k < rounds; k++)
			column[k] = times[k][i] / times[k][controls[i]];
		if (controls[i] != COMPANY_NONE)
			printf(" %.2f |\n", median(column, rounds));
		else
			puts(" - |");
	}
	free(column);
}

static void measure_time(struct companion *companion, size_t rounds)
{
	double(*times)[COMPANY_COUNT] = malloc(rounds * sizeof(*times));
	struct bench_caller writer = companion->callers[0];
	pthread_t thread;

	if (!times)
		bench_fail("malloc", strerror(ENOMEM));
	if (pthread_create(&thread, NULL, keep_company, companion) != 0)
		bench_fail("pthread_create", "no thread");
	time_writer(&writer);
	for (size_t round = 0; round < rounds; round++) {
		for (unsigned i = 0; i < COMPANY_COUNT; i++) {
			enum company company =
				(enum company)((round + i) % COMPANY_COUNT);

			ask(companion, company);
			times[round][company] = time_writer(&writer);
		}
	}
	ncs_store_relaxed(&companion->wanted, COMPANY_COUNT);
	pthread_join(thread, NULL);
	print_times(times, rounds);
	free(times);
}

/* --- Memory ------------------------------------------------------------- */

/* Returns the resident memory of this process, with shared memory, in KiB. */
static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (!file || fscanf(file, "%*d %ld", &pages) != 1)
		bench_fail("/proc/self/statm", "cannot be read");
	fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void open_comm(struct host *host, unsigned number, void **context)
{
	const struct host_comm comm = {
		.id = number,
		.name = "bench",
		.nnodes = 2,
		.nranks = 2,
	};

	bench_open_comm(host, &comm, context);
}

static void measure_memory(const char *path, unsigned long collectives)
{
	static struct bench_caller caller;
	unsigned long next = collectives / 1000 ? collectives / 1000 : 1;
	long before = resident_kib();
	struct host *host = bench_open_plugin(path);
	void *context, *coll;

	open_comm(host, 1, &context);
	bench_prepare(&caller, host, context);
	printf("\nResident memory of a rank, KiB more than before the plugin"
	       " was loaded:\n\n| collectives of %d channels | KiB |\n"
	       "|---:|---:|\n| 0 | %ld |\n",
	       BENCH_CHANNELS, resident_kib() - before);
	for (unsigned long i = 1; i <= collectives; i++) {
		coll = bench_call_collective(&caller);
		for (uint8_t channel = 0; channel < BENCH_CHANNELS; channel++)
			bench_make_proxy_op(&caller, coll, channel);
		if (i == next) {
			printf("| %lu | %ld |\n", i, resident_kib() - before);
			next = i * 10 <= collectives ? i * 10 : collectives;
		}
	}
	fflush(stdout);
	host_finalize(host, context);
}

/* Measures memory in a new process, which has not loaded the plugin yet. */
static void measure_memory_apart(const char *path, unsigned long collectives)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		measure_memory(path, collectives);
		exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		bench_fail("memory", "the process failed");
}

/* --- The program -------------------------------------------------------- */

static void plugin_path(char *path, size_t size)
{
	static const char name[] = "libnccl-profiler-ncclstat.so";
	ssize_t length = readlink("/proc/self/exe", path, size - sizeof(name));

	if (length < 0)
		bench_fail("/proc/self/exe", strerror(errno));
	path[length] = '\0';
	strcpy(strrchr(path, '/') + 1, name);
}

/* Chooses the last two processors that the process may use. */
static void choose_cpus(int cpus[2])
{
	cpu_set_t allowed;

	cpus[0] = cpus[1] = -1;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		bench_fail("sched_getaffinity", strerror(errno));
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &allowed))
			continue;
		cpus[1] = cpus[0];
		cpus[0] = i;
	}
	if (cpus[1] < 0)
		bench_fail("processors", "it takes two");
}

/* Makes a directory that holds only the segments of this program. */
static void make_directory(char *directory)
{
	strcpy(directory, "/dev/shm/ncclstat-bench.XXXXXX");
	if (!mkdtemp(directory))
		bench_fail(directory, strerror(errno));
	if (setenv("NCCLSTAT_DIR", directory, 1) != 0)
		bench_fail("setenv", strerror(errno));
}

static void open_readers(struct companion *companion, const char *directory)
{
	struct ncs_paths paths;
	char why[256];
	int error = ncs_discover(directory, &paths);

	if (error)
		bench_fail(directory, strerror(-error));
	if (paths.count != 2)
		bench_fail(directory, "there are not two segments in it");
	for (unsigned i = 0; i < 2; i++) {
		if (ncs_reader_open(paths.path[i], &companion->readers[i], why,
				    sizeof(why)) != NCS_ATTACHED)
			bench_fail(paths.path[i], why);
		if (ncs_snapshot_init(&companion->snapshots[i],
				      companion->readers[i]) != 0)
			bench_fail("snapshot", strerror(ENOMEM));
	}
	ncs_paths_release(&paths);
}

static void close_readers(struct companion *companion)
{
	for (unsigned i = 0; i < 2; i++) {
		ncs_snapshot_release(&companion->snapshots[i]);
		ncs_reader_close(companion->readers[i]);
	}
}

static void measure_company(const char *path, const char *directory,
			    size_t rounds)
{
	static struct companion companion;
	struct host *host = bench_open_plugin(path);
	void *contexts[2];
	int cpus[2];

	choose_cpus(cpus);
	pin(cpus[0]);
	companion.cpu = cpus[1];
	for (unsigned i = 0; i < 2; i++) {
		open_comm(host, i + 1, &contexts[i]);
		bench_prepare(&companion.callers[i], host, contexts[i]);
	}
	open_readers(&companion, directory);
	measure_time(&companion, rounds);
	close_readers(&companion);
	for (unsigned i = 0; i < 2; i++)
		host_finalize(host, contexts[i]);
	host_close(host);
}

int main(int argc, char **argv)
{
	unsigned long collectives = 1000000;
	char path[4096], directory[64];
	size_t rounds = 41;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--rounds") == 0 && atoi(argv[i + 1]) > 0)
			rounds = (size_t)atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--collectives") == 0 &&
			 atol(argv[i + 1]) > 0)
			collectives = (unsigned long)atol(argv[i + 1]);
		else
			argc = 0;
	}
	if (argc % 2 == 0) {
		fputs("usage: bench_company [--rounds N] [--collectives N]\n",
		      stderr);
		return 2;
	}
	plugin_path(path, sizeof(path));
	make_directory(directory);
	measure_memory_apart(path, collectives);
	measure_company(path, directory, rounds);
	rmdir(directory);
	return 0;
}
