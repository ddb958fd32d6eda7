/* SPDX-License-Identifier: MIT */
/* Measures the cost of recording: moving records from rings to a file by each
 * method, and the share of our own code.
 *
 *	bench_record [--dir DIR] [--mib N] [--rounds N]
 *
 * The rings are of one segment. Records are not written anew each time, but
 * published again by moving the ring's head, so that all processor time is the
 * recorder's. The file is in DIR, by default the build folder. Each round runs
 * every method, so that other load on the machine affects all alike.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/write/recording_writer.h"
#include "shm/atomics.h"
#include "shm/clock.h"
#include "shm/read/job.h"
#include "test/bench/bench_segment.h"

#define MIB (UINT64_C(1) << 20)
#define RECORDS_A_MIB (MIB / sizeof(struct ncs_record))
#define LANES 4u
#define RING_RECORDS 65536u
#define ROUNDS_MAX 99

struct record_bench {
	struct ncs_writer segment;
	struct ncs_reader *reader;
	char file[4096];
	uint64_t records; /* per run */
};

struct recording_run {
	double seconds;
	double cpu_seconds;
	uint64_t bytes;
};

/* --- Rings --------------------------------------------------------------- */

static struct ncs_ring *ring_of(const struct record_bench *bench, unsigned lane)
{
	struct ncs_header *header = bench->segment.header;

	return (struct ncs_ring *)((char *)header + header->rings.offset +
				   (size_t)lane * header->rings.stride);
}

static void make_segment(struct record_bench *bench, const char *directory)
{
	static const struct ncs_segment_size size = {
		.lanes = LANES,
		.channels = 64,
		.operations = 256,
		.classes = NCS_FUNCTION_MAX + 16,
		.histograms = 8,
		.ring_records = RING_RECORDS,
		.ranges = 1,
		.range_histograms = 1,
	};

	bench_create_segment(&bench->segment, directory, &size);
	for (unsigned i = 0; i < LANES; i++) {
		struct ncs_header *header = bench->segment.header;
		struct ncs_ring *ring = ring_of(bench, i);
		struct ncs_record *records = (struct ncs_record *)(ring + 1);
		struct ncs_lane *lane =
			(struct ncs_lane *)((char *)header +
					    header->lanes.offset +
					    (size_t)i * header->lanes.stride);

		lane->owner = i + 1;
		for (unsigned k = 0; k < RING_RECORDS; k++)
			records[k] = (struct ncs_record){
				.start = UINT64_C(1) << 40 | k * 50,
				.position = k,
				.event = NCS_EVENT_PROXY_STEP,
				.channel = (uint8_t)(k % 32),
				.operation = k / 100,
				.peer = (int32_t)(k % 8),
				.value = 524288,
				.number = k % 100,
				.duration = 20000 + k * 7 % 1000,
				.delta = { 1000, 15000 },
			};
	}
	bench->reader = bench_publish_segment(&bench->segment);
}

/* Publishes another quarter of a ring, as much as the recorder lets come
 * together. */
static void publish(struct record_bench *bench, unsigned lane)
{
	struct ncs_ring *ring = ring_of(bench, lane);

	ncs_store_relaxed(&ring->head,
			  ncs_load_relaxed(&ring->head) + RING_RECORDS / 4);
}

/* --- Methods ------------------------------------------------------------- */

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Copies from rings to memory, the least that any method does. */
static void copy(struct record_bench *bench, unsigned means, const char *path,
		 struct recording_run *run)
{
	static struct ncs_record records[RECORDS_A_MIB];
	uint64_t lost = 0, done = 0;

	(void)means;
	(void)path;
	for (unsigned lane = 0; done < bench->records;
	     lane = (lane + 1) % LANES) {
		publish(bench, lane);
		done += ncs_reader_records(bench->reader, lane, records,
					   RING_RECORDS / 4, &lost);
	}
	run->bytes = done * sizeof(struct ncs_record);
}

static void record(struct record_bench *bench, unsigned means, const char *path,
		   struct recording_run *run)
{
	struct ncs_recording_settings settings = { .means = means };
	struct ncs_recording_writer *writer;
	struct ncs_recording_totals totals;
	uint64_t done = 0;
	char why[256];
	size_t rank, count;

	if (ncs_recording_writer_open(&writer, path, &settings, why,
				      sizeof(why)) != 0)
		bench_fail(path, why);
	if (ncs_recording_writer_sink(writer)->fallback[0])
		bench_fail(path, ncs_recording_writer_sink(writer)->fallback);
	ncs_recording_writer_add_rank(writer, ncs_reader_header(bench->reader),
				      NCS_NO_OWNER, "rank", &rank);
	for (unsigned lane = 0; done < bench->records;
	     lane = (lane + 1) % LANES) {
		publish(bench, lane);
		if (ncs_recording_writer_drain(writer, rank, bench->reader,
					       lane, 1, &count) != 0)
			break;
		done += count;
	}
	if (ncs_recording_writer_close(writer, &totals) != 0 ||
	    totals.lost != 0)
		bench_fail(path, "not all could be written");
	run->bytes = totals.bytes;
}

/* Writes as many prepared bytes by write(2) alone. */
static void write_only(struct record_bench *bench, unsigned means,
		       const char *path, struct recording_run *run)
{
	static char chunks[MIB];
	uint64_t bytes = bench->records * sizeof(struct ncs_record);
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	(void)means;
	if (file < 0)
		bench_fail(path, strerror(errno));
	memset(chunks, 'x', sizeof(chunks));
	while (run->bytes < bytes) {
		ssize_t written = write(file, chunks, sizeof(chunks));

		if (written <= 0)
			bench_fail(path, strerror(errno));
		run->bytes += (uint64_t)written;
	}
	close(file);
}

static const struct recording_method {
	const char *name;
	void (*run)(struct record_bench *bench, unsigned means,
		    const char *path, struct recording_run *run);
	unsigned means;
	const char *path; /* NULL for the file */
} ways[] = {
	{ "ring to memory, nothing more", copy, 0, NULL },
	{ "recording to /dev/null", record, 0, "/dev/null" },
	{ "recording: io_uring, O_DIRECT", record, NCS_SINK_ALL_MEANS, NULL },
	{ "recording: pwrite, O_DIRECT", record, NCS_SINK_DIRECT, NULL },
	{ "recording: io_uring, page cache", record, NCS_SINK_URING, NULL },
	{ "recording: pwrite, page cache", record, 0, NULL },
	{ "write(2) of as many bytes, page cache", write_only, 0, NULL },
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void measure(struct record_bench *bench,
		    const struct recording_method *way,
		    struct recording_run *run)
{
	uint64_t begun_ns;
	double begun_cpu;

	memset(run, 0, sizeof(*run));
	/* Nothing of earlier runs may be written back during this one. */
	unlink(bench->file);
	sync();
	begun_cpu = cpu_seconds();
	begun_ns = ncs_clock_monotonic_ns();
	way->run(bench, way->means, way->path ? way->path : bench->file, run);
	run->seconds = (double)(ncs_clock_monotonic_ns() - begun_ns) / 1e9;
	run->cpu_seconds = cpu_seconds() - begun_cpu;
}

/* --- The program --------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
	const struct recording_run *a = left, *b = right;

	return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

static void print_way(const struct record_bench *bench,
		      const struct recording_method *way,
		      struct recording_run *runs, unsigned rounds)
{
	const struct recording_run *run = &runs[rounds / 2];
	double records = (double)bench->records;

	qsort(runs, rounds, sizeof(*runs), compare);
	printf("| %s | %.1f | %.0f | %.0f | %.1f |\n", way->name,
	       records / run->seconds / 1e6,
	       (double)run->bytes / run->seconds / 1e6,
	       100 * run->cpu_seconds / run->seconds,
	       run->cpu_seconds / records * 1e9);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "mib", required_argument, NULL, 'm' },
		{ "rounds", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	static struct recording_run runs[WAYS][ROUNDS_MAX];
	const char *directory = NCS_BUILD;
	char shared[] = "/dev/shm/bench_record.XXXXXX";
	unsigned mib = 1024, rounds = 5;
	struct record_bench bench;
	int letter;

	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (letter == 'd')
			directory = optarg;
		else if (letter == 'm')
			mib = bench_number(optarg, 1 << 20);
		else if (letter == 'r')
			rounds = bench_number(optarg, ROUNDS_MAX);
		else
			return 2;
	}
	if (!mkdtemp(shared))
		bench_fail(shared, strerror(errno));
	bench.records = mib * RECORDS_A_MIB;
	snprintf(bench.file, sizeof(bench.file), "%s/bench_record.out",
		 directory);
	make_segment(&bench, shared);
	for (unsigned i = 0; i < rounds; i++)
		for (size_t k = 0; k < WAYS; k++)
			measure(&bench, &ways[k], &runs[k][i]);
	printf("%u MiB of records a run, medians of %u runs:\n\n"
	       "| way | million records/s | MB/s | %% of a processor |"
	       " its ns/record |\n|---|---:|---:|---:|---:|\n",
	       mib, rounds);
	for (size_t k = 0; k < WAYS; k++)
		print_way(&bench, &ways[k], runs[k], rounds);
	ncs_reader_close(bench.reader);
	unlink(bench.file);
	unlink(bench.segment.path);
	rmdir(shared);
	return 0;
}
