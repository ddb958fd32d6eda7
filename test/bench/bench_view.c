/* SPDX-License-Identifier: MIT */
/* Costs of the live view: bytes written to the terminal, processor time and
 * memory, and the time to start and to quit.
 *
 *	bench_view [--seconds N] [--ranks N]...
 *
 * The job is synthetic: eight processes, whose ranks have BENCH_CHANNELS channels
 * each and communicate ten times a second. The program runs in a terminal of
 * 80x24, without options. The benchmark measures only; it has no limits.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/clock.h"
#include "test/bench/caller.h"
#include "test/bench/viewer.h"

#define PROCESSES 8
#define RANKS_MAX 512
#define JOBS_MAX 8
#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

/* --- The job ------------------------------------------------------------ */

static void sleep_ns(uint64_t ns)
{
	const struct timespec time = { (time_t)(ns / SECOND),
				       (long)(ns % SECOND) };

	nanosleep(&time, NULL);
}

/* Runs every PROCESSES-th rank until the process is killed. Writes a line to
 * `ready` when all of them have communicated. */
static void be_process(unsigned process, unsigned ranks, int ready)
{
	struct host *host = bench_open_plugin(NCS_PLUGIN_PATH);
	unsigned own = (ranks - process + PROCESSES - 1) / PROCESSES;
	struct bench_caller *callers = calloc(own, sizeof(*callers));
	void *context;

	if (!callers)
		bench_fail("calloc", strerror(ENOMEM));
	for (unsigned i = 0; i < own; i++) {
		const struct host_comm comm = {
			.id = 1,
			.name = "bench",
			.nnodes = 1,
			.nranks = (int)ranks,
			.rank = (int)(i * PROCESSES + process),
		};

		bench_open_comm(host, &comm, &context);
		bench_prepare(&callers[i], host, context);
	}
	for (bool first = true;; first = false) {
		for (unsigned i = 0; i < own; i++) {
			void *coll = bench_call_collective(&callers[i]);

			for (uint8_t k = 0; k < BENCH_CHANNELS; k++)
				bench_make_proxy_op(&callers[i], coll, k);
		}
		if (first && write(ready, "\n", 1) != 1)
			bench_fail("pipe", strerror(errno));
		sleep_ns(100 * MS);
	}
}

static void start_job(unsigned ranks, pid_t processes[PROCESSES])
{
	char byte;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		bench_fail("pipe", strerror(errno));
	for (unsigned i = 0; i < PROCESSES; i++) {
		processes[i] = fork();
		if (processes[i] < 0)
			bench_fail("fork", strerror(errno));
		if (processes[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			be_process(i, ranks, ends[1]);
		}
	}
	close(ends[1]);
	for (unsigned i = 0; i < PROCESSES; i++)
		if (read(ends[0], &byte, 1) != 1)
			bench_fail("the job", "it did not start");
	close(ends[0]);
}

static void end_job(const pid_t processes[PROCESSES])
{
	for (unsigned i = 0; i < PROCESSES; i++)
		kill(processes[i], SIGKILL);
	for (unsigned i = 0; i < PROCESSES; i++)
		waitpid(processes[i], NULL, 0);
}

/* --- The view ----------------------------------------------------------- */

struct measured {
	double first_screen_ms;
	double bytes_per_second;
	double paused_bytes_per_second;
	double processor_percent;
	unsigned long own_kib; /* in the view that needs most */
	unsigned long shared_kib;
	double exit_ms;
};

static unsigned long own_kib(const struct viewer *view)
{
	return viewer_memory_kib(view, "RssAnon") +
	       viewer_memory_kib(view, "RssFile");
}

/* Returns the memory in the view that needs most, after two samples in each. */
static unsigned long most_kib(struct viewer *view)
{
	static const char *const keys[] = { "2", "3", "4", "5", "6" };
	unsigned long most = own_kib(view), now;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		viewer_press(view, keys[i]);
		viewer_read_until(
			view, ncs_clock_monotonic_ns() + 5 * SECOND / 2, NULL);
		now = own_kib(view);
		most = now > most ? now : most;
	}
	return most;
}

static void measure(struct measured *measured, char *program, unsigned seconds)
{
	uint64_t before_ns, before;
	struct viewer view;
	double elapsed;

	viewer_start(&view, (char *[]){ program, NULL }, 80, 24);
	/* The last word of the function bar, which is drawn last. */
	if (!viewer_read_until(&view, view.started_ns + 20 * SECOND, "Quit"))
		bench_fail(program, "it ended by itself");
	before = ncs_clock_monotonic_ns();
	measured->first_screen_ms =
		(double)(before - view.started_ns) / (double)MS;
	viewer_read_until(&view, before + 2 * SECOND, NULL);
	before = ncs_clock_monotonic_ns();
	before_ns = viewer_processor_ns(&view);
	view.bytes = 0;
	viewer_read_until(&view, before + seconds * SECOND, NULL);
	elapsed = (double)(ncs_clock_monotonic_ns() - before);
	measured->bytes_per_second =
		(double)view.bytes / elapsed * (double)SECOND;
	measured->processor_percent =
		100 * (double)(viewer_processor_ns(&view) - before_ns) /
		elapsed;
	measured->shared_kib = viewer_memory_kib(&view, "RssShmem");
	measured->own_kib = most_kib(&view);
	viewer_press(&view, "Z");
	/* Wait until the message about it has expired. */
	viewer_read_until(&view, ncs_clock_monotonic_ns() + 4 * SECOND, NULL);
	view.bytes = 0;
	viewer_read_until(&view, ncs_clock_monotonic_ns() + 5 * SECOND, NULL);
	measured->paused_bytes_per_second = (double)view.bytes / 5;
	before = ncs_clock_monotonic_ns();
	viewer_press(&view, "q");
	while (viewer_read_until(&view, before + 5 * SECOND, NULL) &&
	       ncs_clock_monotonic_ns() < before + 5 * SECOND)
		;
	waitpid(view.pid, NULL, 0);
	measured->exit_ms =
		(double)(ncs_clock_monotonic_ns() - before) / (double)MS;
	close(view.terminal);
}

/* --- Main --------------------------------------------------------------- */

static void measure_job(char *program, unsigned ranks, unsigned seconds)
{
	pid_t processes[PROCESSES];
	struct measured measured;

	fflush(stdout);
	start_job(ranks, processes);
	measure(&measured, program, seconds);
	end_job(processes);
	printf("| %u | %.0f | %.0f | %.0f | %.2f | %.1f | %.1f | %.0f |\n",
	       ranks, measured.first_screen_ms, measured.bytes_per_second,
	       measured.paused_bytes_per_second, measured.processor_percent,
	       (double)measured.own_kib / 1024,
	       (double)measured.shared_kib / 1024, measured.exit_ms);
}

/* Creates a folder for the job's segments, so that the view sees no other job. */
static void make_directory(char *directory, size_t size)
{
	snprintf(directory, size, "/dev/shm/bench_view.XXXXXX");
	if (!mkdtemp(directory) || setenv("NCCLSTAT_DIR", directory, 1) != 0 ||
	    setenv("NCCLSTAT_SHM_BYTES", "256M", 1) != 0)
		bench_fail(directory, strerror(errno));
}

/* Removes the segments that a killed job leaves. */
static void remove_segments(const char program[4096])
{
	char command[4200];

	snprintf(command, sizeof(command), "%s --clean >/dev/null", program);
	if (system(command) != 0)
		bench_fail(command, "it failed");
}

static unsigned number(const char *text, unsigned most)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || value < 1 || value > most)
		bench_fail(text, "a number is expected");
	return (unsigned)value;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "ranks", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	unsigned ranks[JOBS_MAX] = { 8, RANKS_MAX }, jobs = 0, seconds = 20;
	char program[4096], directory[64];
	int letter;

	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (letter == 's')
			seconds = number(optarg, 3600);
		else if (letter == 'r' && jobs < JOBS_MAX)
			ranks[jobs++] = number(optarg, RANKS_MAX);
		else
			return 2;
	}
	snprintf(program, sizeof(program), "%s/ncclstat", NCS_BUILD);
	make_directory(directory, sizeof(directory));
	printf("The live view, 80x24, ranks of %d channels, %u seconds each:\n\n"
	       "| ranks | first screen, ms | bytes/s | paused, bytes/s |"
	       " %% of a processor | its memory, MiB | segments in it, MiB |"
	       " exit, ms |\n|---:|---:|---:|---:|---:|---:|---:|---:|\n",
	       BENCH_CHANNELS, seconds);
	for (unsigned i = 0; i < (jobs ? jobs : 2); i++) {
		measure_job(program, ranks[i], seconds);
		remove_segments(program);
	}
	if (rmdir(directory) != 0)
		bench_fail(directory, strerror(errno));
	return 0;
}
