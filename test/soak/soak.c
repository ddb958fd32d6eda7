/* SPDX-License-Identifier: MIT */
/* A process that publishes a number of records through the plugin, as fast as it
 * can. Each of its threads has a communicator of its own and makes the calls of
 * collectives with a proxy operation each, and between them those of many groups,
 * which are records that take two calls.
 *
 *	soak RECORDS THREADS
 *
 * It begins once it has read a byte from standard input. At the end it prints a
 * line for each rank, of what was called and what the segment counts:
 *
 *	rank N operations N steps N records N counted_operations N counted_steps N
 *	published N
 *
 * and lives on until standard input ends. Must not judge.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "shm/clock.h"
#include "test/bench/caller.h"

#define THREADS_MAX 16u
#define GROUPS 64u
/* Records of one turn: GroupApi, CollApi, Group and Coll, the proxy operation and
 * its steps, and the groups. */
#define TURN_RECORDS (4 + 1 + BENCH_STEPS + GROUPS)
/* One more tells the CUDA stream of so many collectives: plugin/state/lane.c. */
#define STREAM_TURNS 16u

struct publisher {
	struct bench_caller caller;
	pthread_t thread;
	uint64_t turns;
};

static struct publisher publishers[THREADS_MAX];

static void call_groups(struct bench_caller *caller)
{
	for (unsigned i = 0; i < GROUPS; i++) {
		void *group;

		host_start_descr(caller->host, caller->context,
				 &caller->starts[BENCH_START_GROUP], &group);
		host_stop(caller->host, group);
	}
}

static void *publish(void *argument)
{
	struct publisher *publisher = argument;
	struct bench_caller *caller = &publisher->caller;

	for (uint64_t i = 0; i < publisher->turns; i++) {
		void *coll = bench_call_collective(caller);

		bench_make_proxy_op(caller, coll,
				    (uint8_t)(i % BENCH_CHANNELS));
		call_groups(caller);
	}
	return NULL;
}

/* Prints what a segment counts. */
static void say_counted(const char *path)
{
	struct ncs_snapshot snapshot;
	struct ncs_reader *reader;
	uint64_t published = 0, operations = 0, steps = 0;
	char why[256];

	if (ncs_reader_open(path, &reader, why, sizeof(why)) != NCS_ATTACHED)
		bench_fail(path, why);
	if (ncs_snapshot_init(&snapshot, reader) != 0)
		bench_fail("snapshot", strerror(ENOMEM));
	ncs_snapshot_take(&snapshot, reader, ncs_clock_monotonic_ns());
	for (size_t i = 0; i < snapshot.lane_count; i++)
		published += snapshot.lanes[i].published;
	for (size_t i = 0; i < snapshot.channel_count; i++)
		steps += snapshot.channels[i].steps_done;
	operations = snapshot.functions[NCS_FUNCTION_ALL_REDUCE].operations;
	printf(" counted_operations %llu counted_steps %llu published %llu\n",
	       (unsigned long long)operations, (unsigned long long)steps,
	       (unsigned long long)published);
	ncs_snapshot_release(&snapshot);
	ncs_reader_close(reader);
}

static void say_all(unsigned threads)
{
	struct ncs_paths paths;
	int error = ncs_discover(getenv("NCCLSTAT_DIR"), &paths);

	if (error)
		bench_fail("NCCLSTAT_DIR", strerror(-error));
	if (paths.count != threads)
		bench_fail("NCCLSTAT_DIR", "it has other segments");
	for (unsigned i = 0; i < threads; i++) {
		uint64_t turns = publishers[i].turns;

		printf("rank %u operations %llu steps %llu records %llu", i,
		       (unsigned long long)turns,
		       (unsigned long long)(turns * BENCH_STEPS),
		       (unsigned long long)(turns * TURN_RECORDS +
					    (turns - 1) / STREAM_TURNS + 1));
		say_counted(paths.path[i]);
	}
	fflush(stdout);
	ncs_paths_release(&paths);
}

static void run(struct host *host, unsigned threads)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) != 1)
		exit(EXIT_FAILURE);
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&publishers[i].thread, NULL, publish,
				   &publishers[i]) != 0)
			bench_fail("pthread_create", "no thread");
	for (unsigned i = 0; i < threads; i++)
		pthread_join(publishers[i].thread, NULL);
	say_all(threads);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	for (unsigned i = 0; i < threads; i++)
		host_finalize(host, publishers[i].caller.context);
	host_close(host);
}

int main(int argc, char **argv)
{
	unsigned threads = argc == 3 ? bench_number(argv[2], THREADS_MAX) : 0;
	uint64_t records = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	struct host *host;

	if (threads == 0 || records == 0) {
		fputs("usage: soak RECORDS THREADS\n", stderr);
		return 2;
	}
	host = bench_open_plugin(NCS_PLUGIN_PATH);
	for (unsigned i = 0; i < threads; i++) {
		void *context;

		bench_open_comm(host,
				&(struct host_comm){ .id = 1,
						     .name = "soak",
						     .nnodes = 1,
						     .nranks = (int)threads,
						     .rank = (int)i },
				&context);
		bench_prepare(&publishers[i].caller, host, context);
		publishers[i].turns = records / threads / TURN_RECORDS + 1;
	}
	run(host, threads);
	return 0;
}
