/* SPDX-License-Identifier: MIT */
/* Processor time of a head's look at many nodes: to read the lines of their
 * streams, take all states, and diagnose them.
 *
 *	bench_fleet [--view[=PROGRAM]] [NODES [LOOKS [RANK [SECONDS]]]]
 *
 * The streams are those of test/unit/support/simulator/sim_stream.h, packed, 8
 * ranks a node, 20 calls a second; with RANK, all wait for this one, which has
 * made no call for 30 s at the first look, or for SECONDS, or, if that is less
 * than 0, calls no more after so many.
 * Prints the bytes of a node's look, those of a look at all nodes, on average and
 * at most after the first two, as they are in packs (lines have a third more);
 * the processor time of a look at all nodes, which is a share of a core at one
 * look a second, and the memory of this process, in which the simulation has its
 * part.
 *
 * With --view, computes the streams first, then plays them, one look a second of
 * each node, to the live view of PROGRAM, by default that of this build, in a
 * terminal of 150x50. Prints when the view said what is wrong, from its 10th
 * second on the share of a core that its process took, and its greatest memory.
 * LOOKS should be some 30.
 *
 * It measures only; it has no limits.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/diagnosis/diagnosis.h"
#include "analysis/model/model.h"
#include "fleet/head/fleet.h"
#include "fleet/launch/lines.h"
#include "shm/array.h"
#include "shm/clock.h"
#include "test/bench/caller.h"
#include "test/bench/viewer.h"
#include "test/unit/support/simulator/sim_stream.h"

#define RANKS 8
#define NODES_MAX 4096
#define SECOND_NS UINT64_C(1000000000)
#define AGE_NS (60 * SECOND_NS)

struct bench {
	struct sim_stream *streams;
	struct ncs_fleet *fleet;
	struct ncs_model model;
	struct ncs_diagnosis diagnosis;
	unsigned nodes;
	unsigned missing_rank; /* UINT_MAX: none */
	struct ncs_line_writer writers[NODES_MAX];
	double missing_s; /* for which it has been so at the first look */
	uint64_t bytes; /* of all looks */
	uint64_t late_bytes, most_bytes; /* of those after the first two */
	uint64_t lines_ns, states_ns, diagnosis_ns;
};

/* Hands a look over as the lines that it comes in; only reading them is
 * timed. */
static void feed(struct bench *bench, unsigned node, const char *bytes,
		 size_t size, uint64_t now_ns)
{
	while (size > 0) {
		char text[NCS_LINE_PADDED];
		struct ncs_line line;
		size_t length;
		size_t taken = ncs_line_put(&bench->writers[node], bytes, size,
					    text, &length);
		uint64_t began_ns = bench_processor_ns();

		if (ncs_line_parse(text, length - 1, &line) != NCS_LINE_OURS ||
		    ncs_fleet_feed(bench->fleet, node, line.bytes,
				   line.byte_count, now_ns) != 0)
			bench_fail("a line", "it is not read");
		bench->lines_ns += bench_processor_ns() - began_ns;
		bytes += taken;
		size -= taken;
	}
}

static void look(struct bench *bench, uint64_t after_ns, uint64_t now_ns)
{
	uint64_t times_ns[3], bytes_before = bench->bytes;

	for (unsigned i = 0; i < bench->nodes; i++) {
		const void *bytes;
		size_t size;

		if (sim_stream_look(bench->streams, i, AGE_NS + after_ns,
				    &bytes, &size) != 0)
			bench_fail("a look", strerror(ENOMEM));
		bench->bytes += size;
		feed(bench, i, bytes, size, now_ns);
	}
	bytes_before = bench->bytes - bytes_before;
	if (after_ns >= 2 * SECOND_NS) {
		bench->late_bytes += bytes_before;
		if (bytes_before > bench->most_bytes)
			bench->most_bytes = bytes_before;
	}
	times_ns[0] = bench_processor_ns();
	if (ncs_model_update(&bench->model, ncs_fleet_source(bench->fleet),
			     now_ns) != 0)
		bench_fail("a look", strerror(ENOMEM));
	times_ns[1] = bench_processor_ns();
	if (ncs_diagnose(&bench->diagnosis, &bench->model) != 0)
		bench_fail("a look", strerror(ENOMEM));
	times_ns[2] = bench_processor_ns();
	bench->states_ns += times_ns[1] - times_ns[0];
	bench->diagnosis_ns += times_ns[2] - times_ns[1];
}

static void open_streams(struct bench *bench, uint64_t begun_ns,
			 uint64_t realtime_ns)
{
	bench->streams = sim_stream_new(&(struct sim_stream_options){
		.seed = 1,
		.nodes = bench->nodes,
		.ranks = RANKS,
		.channels = 4,
		.bytes = UINT64_C(16) << 20,
		.period_ns = SECOND_NS / 20,
		.missing_rank = bench->missing_rank,
		.missing_ns =
			(uint64_t)((double)AGE_NS - bench->missing_s * 1e9),
		.begun_ns = begun_ns - AGE_NS,
		.realtime_ns = realtime_ns - AGE_NS,
		.interval_ns = SECOND_NS,
		.is_packed = true,
	});
	if (!bench->streams)
		bench_fail("the streams", strerror(ENOMEM));
	for (unsigned i = 0; i < bench->nodes; i++)
		ncs_line_writer_init(&bench->writers[i],
				     sim_stream_name(bench->streams, i), i, 0);
}

static void open_fleet(struct bench *bench)
{
	bench->fleet = ncs_fleet_new(NULL);
	if (!bench->fleet)
		bench_fail("the fleet", strerror(ENOMEM));
	for (unsigned i = 0; i < bench->nodes; i++) {
		const char *name = sim_stream_name(bench->streams, i);
		size_t node;

		if (ncs_fleet_add(bench->fleet, name, "", &node) != 0 ||
		    node != i)
			bench_fail(name, strerror(ENOMEM));
	}
	ncs_model_init(&bench->model);
	ncs_diagnosis_init(&bench->diagnosis);
}

/* Returns the memory that this process has in use, in MB. */
static double memory_mb(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long all = 0, resident = 0;

	if (!file || fscanf(file, "%lu %lu", &all, &resident) != 2)
		bench_fail("/proc/self/statm", "it cannot be read");
	fclose(file);
	return (double)resident * 4096 / 1e6;
}

/* --- Played to the view --------------------------------------------------- */

/* Looks are written in so many portions a second. */
#define PORTIONS 100u

/* How long the computing of a look at a node may take. */
#define LOOK_NS UINT64_C(700000)

/* The lines of a look at all nodes. */
struct played {
	char *text;
	size_t size, capacity;
};

static void put_lines(struct ncs_line_writer *writer, const char *bytes,
		      size_t size, struct played *played)
{
	while (size > 0) {
		size_t length, taken;

		if (ncs_array_reserve(&played->text, &played->capacity,
				      played->size + NCS_LINE_PADDED, 1) != 0)
			bench_fail("a look", strerror(ENOMEM));
		taken = ncs_line_put(writer, bytes, size,
				     played->text + played->size, &length);
		played->size += length;
		bytes += taken;
		size -= taken;
	}
}

/* Computes look i at each node, one a second, each after those at the nodes before. */
static void compute_look(struct bench *bench, uint64_t i, struct played *played)
{
	for (unsigned node = 0; node < bench->nodes; node++) {
		uint64_t after_ns =
			i * SECOND_NS + node * SECOND_NS / bench->nodes;
		const void *bytes;
		size_t size;

		if (sim_stream_look(bench->streams, node, AGE_NS + after_ns,
				    &bytes, &size) != 0)
			bench_fail("a look", strerror(ENOMEM));
		put_lines(&bench->writers[node], bytes, size, played);
	}
}

/* Computes the looks of all nodes, the first of which is due at due_ns. */
static void compute_all(struct bench *bench, unsigned looks,
			struct played *played, uint64_t due_ns)
{
	struct timespec realtime;

	clock_gettime(CLOCK_REALTIME, &realtime);
	open_streams(bench, due_ns,
		     (uint64_t)realtime.tv_sec * SECOND_NS +
			     (uint64_t)realtime.tv_nsec + due_ns -
			     ncs_clock_monotonic_ns());
	for (unsigned i = 0; i < looks; i++) {
		played[i].size = 0;
		compute_look(bench, i, &played[i]);
	}
	sim_stream_free(bench->streams);
}

/* Computes the looks until it is done before the first is due: times in them are
 * as of then. Returns that time. */
static uint64_t compute(struct bench *bench, unsigned looks,
			struct played *played)
{
	uint64_t needed_ns = bench->nodes * looks * LOOK_NS, due_ns;

	for (;;) {
		uint64_t from_ns = ncs_clock_monotonic_ns();

		due_ns = from_ns + needed_ns;
		compute_all(bench, looks, played, due_ns);
		if (ncs_clock_monotonic_ns() < due_ns)
			return due_ns;
		needed_ns = (ncs_clock_monotonic_ns() - from_ns) * 3 / 2;
	}
}

static void wait_until(uint64_t due_ns)
{
	const struct timespec due = { (time_t)(due_ns / SECOND_NS),
				      (long)(due_ns % SECOND_NS) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) ==
	       EINTR)
		;
}

static void write_all(int output, const char *text, size_t size)
{
	while (size > 0) {
		ssize_t written = write(output, text, size);

		if (written <= 0)
			_exit(0); /* the view has ended */
		text += written;
		size -= (size_t)written;
	}
}

/* Starts the process that writes the lines as time passes. Returns where they
 * can be read. */
static int start_player(const struct played *played, unsigned looks,
			uint64_t due_ns)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0 || (pid = fork()) < 0)
		bench_fail("the player", strerror(errno));
	if (pid > 0) {
		close(ends[1]);
		return ends[0];
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(ends[0]);
	for (unsigned i = 0; i < looks * PORTIONS; i++) {
		const struct played *look = &played[i / PORTIONS];
		size_t from = look->size * (i % PORTIONS) / PORTIONS;
		size_t end = look->size * (i % PORTIONS + 1) / PORTIONS;

		wait_until(due_ns + i * SECOND_NS / PORTIONS);
		write_all(ends[1], look->text + from, end - from);
	}
	_exit(0);
}

static void view_streams(struct bench *bench, char *program, unsigned looks)
{
	char follow[] = "--follow", path[32];
	char *arguments[] = { program, follow, path, NULL };
	struct played *played = calloc(looks, sizeof(*played));
	uint64_t due_ns, from_ns, used_ns;
	struct viewer view;
	int input;

	if (!played || looks < 12)
		bench_fail("LOOKS", "12 or more are expected");
	due_ns = compute(bench, looks, played);
	input = start_player(played, looks, due_ns);
	wait_until(due_ns);
	snprintf(path, sizeof(path), "/dev/fd/%d", input);
	viewer_start(&view, arguments, 150, 50);
	close(input);
	if (bench->missing_rank != UINT_MAX &&
	    viewer_read_until(&view, due_ns + 9 * SECOND_NS,
			      "has not called") &&
	    ncs_clock_monotonic_ns() < due_ns + 9 * SECOND_NS)
		printf("verdict after %.1f s  ",
		       (double)(ncs_clock_monotonic_ns() - due_ns) / 1e9);
	viewer_read_until(&view, due_ns + 10 * SECOND_NS, NULL);
	from_ns = ncs_clock_monotonic_ns();
	used_ns = viewer_processor_ns(&view);
	viewer_read_until(&view, due_ns + looks * SECOND_NS, NULL);
	used_ns = viewer_processor_ns(&view) - used_ns;
	from_ns = ncs_clock_monotonic_ns() - from_ns;
	printf("%u nodes, %u ranks  %.1f %% of a core  %.0f MB\n", bench->nodes,
	       bench->nodes * RANKS, 100 * (double)used_ns / (double)from_ns,
	       (double)viewer_memory_kib(&view, "VmHWM") * 1024 / 1e6);
	viewer_press(&view, "q");
	while (viewer_read_until(&view, UINT64_MAX / 2, NULL))
		;
	waitpid(view.pid, NULL, 0);
}

/* -------------------------------------------------------------------------- */

static void measure(struct bench *bench, unsigned looks)
{
	uint64_t begun_ns = ncs_clock_monotonic_ns();
	double before_mb = memory_mb(), all_ms;

	open_streams(bench, begun_ns, UINT64_C(1700000000) * SECOND_NS);
	open_fleet(bench);
	for (unsigned i = 0; i < looks; i++)
		look(bench, i * SECOND_NS, begun_ns + i * SECOND_NS);
	all_ms = (double)(bench->lines_ns + bench->states_ns +
			  bench->diagnosis_ns) /
		 1e6 / looks;
	printf("%u nodes, %zu ranks  %llu bytes a node and look  lines %.2f"
	       " ms  states %.2f ms  diagnosis %.2f ms  together %.2f ms:"
	       " %.1f %% of a core at one look a second  %.0f MB\n",
	       bench->nodes, bench->model.rank_count,
	       (unsigned long long)(bench->bytes / looks / bench->nodes),
	       (double)bench->lines_ns / 1e6 / looks,
	       (double)bench->states_ns / 1e6 / looks,
	       (double)bench->diagnosis_ns / 1e6 / looks, all_ms, all_ms / 10,
	       memory_mb() - before_mb);
	if (looks > 2)
		printf("a look at all nodes after the first two: %.3f MB,"
		       " at most %.3f MB\n",
		       (double)bench->late_bytes / 1e6 / (looks - 2),
		       (double)bench->most_bytes / 1e6);
	ncs_diagnosis_release(&bench->diagnosis);
	ncs_model_release(&bench->model);
	ncs_fleet_free(bench->fleet);
	sim_stream_free(bench->streams);
}

int main(int argc, char **argv)
{
	static struct bench bench;
	bool views = argc > 1 && strncmp(argv[1], "--view", 6) == 0;
	char own[] = NCS_BUILD "/ncclstat", *program = own;
	unsigned looks;

	if (views && argv[1][6] == '=')
		program = argv[1] + 7;
	argc -= views;
	argv += views;
	looks = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
	bench.nodes = argc > 1 ? (unsigned)atoi(argv[1]) : 64;
	bench.missing_rank = argc > 3 ? (unsigned)atoi(argv[3]) : UINT_MAX;
	bench.missing_s = argc > 4 ? atof(argv[4]) : 30;
	if (bench.nodes < 1 || bench.nodes > NODES_MAX || looks < 1)
		bench_fail("NODES LOOKS", "1 to 4096 nodes are expected");
	if (views)
		view_streams(&bench, program, looks);
	else
		measure(&bench, looks);
	return 0;
}
