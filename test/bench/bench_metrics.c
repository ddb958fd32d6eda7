/* SPDX-License-Identifier: MIT */
/* Processor time of an exporter's look: 8 ranks with 4 communicators each, that
 * communicate all the time; to take all segments' state, diagnose it, and print
 * the metrics.
 *
 *	bench_metrics [LOOKS]
 *
 * Prints the median and the greatest of all looks but the first, in ms: for the
 * metrics that are there by default, for all that need states only, and for all,
 * which includes reading the records. It measures only; it has no limits.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/metrics/metrics.h"
#include "analysis/sources/source_shm.h"
#include "shm/clock.h"
#include "test/bench/caller.h"

#define PROCESSES 8
#define COMMS 4
#define LOOKS_MAX 1000
#define PAUSE_NS 100000000 /* between two looks, for the job to go on */

/* --- The job ------------------------------------------------------------ */

static void be_rank(int rank, int ready)
{
	struct host *host = bench_open_plugin(NCS_PLUGIN_PATH);
	static struct bench_caller callers[COMMS];
	const struct timespec pause = { 0, 10000000 };

	for (unsigned i = 0; i < COMMS; i++) {
		const struct host_comm comm = {
			.id = i + 1,
			.name = "bench",
			.nnodes = 1,
			.nranks = PROCESSES,
			.rank = rank,
		};
		void *context;

		bench_open_comm(host, &comm, &context);
		bench_prepare(&callers[i], host, context);
	}
	for (bool first = true;; first = false) {
		for (unsigned i = 0; i < COMMS; i++) {
			void *coll = bench_call_collective(&callers[i]);

			for (uint8_t k = 0; k < BENCH_CHANNELS; k++)
				bench_make_proxy_op(&callers[i], coll, k);
		}
		if (first && write(ready, "\n", 1) != 1)
			bench_fail("pipe", strerror(errno));
		nanosleep(&pause, NULL);
	}
}

static void start_ranks(pid_t ranks[PROCESSES])
{
	char byte;
	int ends[2];

	if (pipe(ends) != 0)
		bench_fail("pipe", strerror(errno));
	for (int i = 0; i < PROCESSES; i++) {
		ranks[i] = fork();
		if (ranks[i] < 0)
			bench_fail("fork", strerror(errno));
		if (ranks[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			be_rank(i, ends[1]);
		}
	}
	for (int i = 0; i < PROCESSES; i++)
		if (read(ends[0], &byte, 1) != 1)
			bench_fail("the job", "it did not start");
}

/* --- Looks -------------------------------------------------------------- */

static bool wants_none(const void *context, const char *id)
{
	(void)context;
	(void)id;
	return false;
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Looks once; returns the bytes of the text. */
static size_t look(struct ncs_metrics *metrics, struct ncs_source *source,
		   struct ncs_model *model, struct ncs_diagnosis *diagnosis)
{
	const struct ncs_metrics_look when = {
		.realtime_ns = UINT64_C(1700000000000000000),
	};
	size_t size = 0;
	char *text = NULL;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		bench_fail("open_memstream", strerror(errno));
	if (ncs_model_update(model, source, ncs_clock_monotonic_ns()) != 0 ||
	    ncs_diagnose(diagnosis, model) != 0 ||
	    ncs_metrics_write(metrics, file, NCS_METRICS_OPENMETRICS, model,
			      diagnosis, &when) != 0)
		bench_fail("a look", strerror(errno));
	fclose(file);
	free(text);
	return size;
}

static void measure(const char *name, uint64_t wanted, unsigned count)
{
	const struct timespec pause = { 0, PAUSE_NS };
	struct ncs_source *source = ncs_source_open_shm(NULL, 0);
	static uint64_t times_ns[LOOKS_MAX];
	struct ncs_diagnosis diagnosis;
	struct ncs_metrics metrics;
	struct ncs_model model;
	size_t size;

	if (!source)
		bench_fail("the source", strerror(ENOMEM));
	ncs_model_init(&model);
	ncs_diagnosis_init(&diagnosis);
	ncs_metrics_init(&metrics);
	metrics.wanted = wanted;
	metrics.series_max = NCS_METRICS_SERIES_MAX;
	if (!ncs_metrics_need_records(&metrics))
		source->wants_records = wants_none;
	size = look(&metrics, source, &model, &diagnosis);
	for (unsigned i = 0; i < count; i++) {
		uint64_t began_ns;

		nanosleep(&pause, NULL);
		began_ns = bench_processor_ns();
		size = look(&metrics, source, &model, &diagnosis);
		times_ns[i] = bench_processor_ns() - began_ns;
	}
	qsort(times_ns, count, sizeof(*times_ns), compare);
	printf("%-8s  %zu segments  %7zu bytes  median %6.2f ms  greatest"
	       " %6.2f ms\n",
	       name, model.rank_count, size,
	       (double)times_ns[count / 2] / 1e6,
	       (double)times_ns[count - 1] / 1e6);
	ncs_metrics_release(&metrics);
	ncs_diagnosis_release(&diagnosis);
	ncs_model_release(&model);
	source->close(source);
}

/* Removes the directory with its segments and control objects. */
static void remove_all(const char *directory)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;

	while (entries && (entry = readdir(entries)))
		unlinkat(dirfd(entries), entry->d_name, 0);
	if (entries)
		closedir(entries);
	if (rmdir(directory) != 0)
		bench_fail(directory, strerror(errno));
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 50;
	uint64_t all = ncs_metrics_default();
	char directory[] = "/dev/shm/ncclstat-bench.XXXXXX", wrong[8];
	pid_t ranks[PROCESSES];

	if (count < 1 || count > LOOKS_MAX)
		bench_fail("LOOKS", "1 to 1000 are expected");
	if (!mkdtemp(directory))
		bench_fail(directory, strerror(errno));
	setenv("NCCLSTAT_DIR", directory, 1);
	setenv("NCCLSTAT_SHM_BYTES", "256M", 1);
	start_ranks(ranks);
	ncs_metrics_parse("all", &all, wrong, sizeof(wrong));
	measure("default", ncs_metrics_default(), count);
	measure("states", all & ~NCS_METRIC_BIT(NCS_METRIC_LATE_RATIO), count);
	measure("all", all, count);
	for (unsigned i = 0; i < PROCESSES; i++)
		kill(ranks[i], SIGKILL);
	for (unsigned i = 0; i < PROCESSES; i++)
		waitpid(ranks[i], NULL, 0);
	remove_all(directory);
	return 0;
}
