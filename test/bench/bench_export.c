/* SPDX-License-Identifier: MIT */
/* Measures exporting: the processor time and the size of a made-up job's
 * recording in each format.
 *
 *	bench_export [--rounds N] [--operations N]
 *
 * A ring of 8 ranks, AllReduce over 8 channels with 16 steps each way. Output
 * is only counted, but for the files of parquet, which are in memory; the recording is in the page cache. Times are the processor
 * time of one thread.
 */
#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/export/export.h"
#include "record/write/recording_writer.h"
#include "shm/read/job.h"
#include "test/bench/bench_segment.h"

#define RANKS 8
#define CHANNELS 8
#define STEPS 16
#define ROUNDS_MAX 99
/* Records of one operation in a rank, and slices that a trace has of them. */
#define RECORDS_EACH (2u * CHANNELS * (STEPS + 1) + 1)
#define SLICES_EACH (2u * CHANNELS * (STEPS * (1 + 3) + 1) + 1 + 2)

/* --- A recording --------------------------------------------------------- */

static struct ncs_header make_header(const char *directory)
{
	static const struct ncs_segment_size size = {
		.lanes = 1,
		.channels = 2 * CHANNELS,
		.operations = 256,
		.classes = NCS_FUNCTION_MAX + 2,
		.histograms = 3,
		.ring_records = 8,
		.ranges = 1,
		.range_histograms = 1,
	};
	struct ncs_writer writer;
	struct ncs_header header;

	bench_create_segment(&writer, directory, &size);
	ncs_writer_publish(&writer);
	header = *writer.header;
	header.clock = (struct ncs_clock){ .kind = NCS_CLOCK_MONOTONIC,
					   .multiplier = UINT64_C(1) << 32 };
	header.identity.known = NCS_KNOWN_COMM_ID | NCS_KNOWN_RANK |
				NCS_KNOWN_NRANKS;
	header.identity.comm_id = 1;
	header.identity.nranks = RANKS;
	unlink(writer.path);
	return header;
}

static struct ncs_record step_of(unsigned operation, unsigned channel,
				 unsigned step, bool send, int peer)
{
	uint64_t start = 1000000000 + operation * UINT64_C(400000) +
			 step * UINT64_C(20000) + channel * 100 + !send * 3000;

	return (struct ncs_record){
		.start = start,
		.event = NCS_EVENT_PROXY_STEP,
		.flags = send ? NCS_RECORD_SEND : 0,
		.channel = (uint8_t)channel,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.operation = operation + 1,
		.peer = peer,
		.value = 524288,
		.number = step,
		/* Up to three steps are in progress at the same time. */
		.duration = 50000 + (operation * 7 + step * 13) % 1000,
		.delta = { 20000, 30000 },
	};
}

static unsigned make_operation(struct ncs_record *records, unsigned operation,
			       int rank)
{
	unsigned count = 0;
	int peers[] = { (rank + RANKS - 1) % RANKS, (rank + 1) % RANKS };

	for (unsigned step = 0; step < STEPS; step++)
		for (unsigned i = 0; i < 2 * CHANNELS; i++)
			records[count++] = step_of(operation, i / 2, step,
						   i % 2, peers[i % 2]);
	for (unsigned i = 0; i < 2 * CHANNELS; i++) {
		struct ncs_record *record = &records[count++];

		*record = step_of(operation, i / 2, 0, i % 2, peers[i % 2]);
		record->event = NCS_EVENT_PROXY_OP;
		record->number = STEPS;
		record->duration = 390000;
	}
	records[count] = step_of(operation, 0, 0, false, -1);
	records[count].event = NCS_EVENT_COLL;
	records[count].channel = 0;
	records[count].number = operation;
	records[count].duration = 395000;
	records[count].delta[0] = 1000;
	records[count].delta[1] = 10000;
	return count + 1;
}

static void make_recording(const char *path, const char *directory,
			   unsigned operations)
{
	struct ncs_record records[RECORDS_EACH];
	struct ncs_recording_settings settings = { .means = 0 };
	struct ncs_header header = make_header(directory);
	struct ncs_recording_writer *writer;
	struct ncs_recording_totals totals;
	size_t ranks[RANKS];
	char why[256];
	int error = 0;

	ncs_recording_head_here(&settings.head);
	if (ncs_recording_writer_open(&writer, path, &settings, why,
				      sizeof(why)) != 0)
		bench_fail(path, why);
	for (int i = 0; i < RANKS; i++) {
		snprintf(why, sizeof(why), "rank %d", i);
		header.identity.rank = i;
		error |= ncs_recording_writer_add_rank(
			writer, &header, NCS_NO_OWNER, why, &ranks[i]);
	}
	for (unsigned k = 0; k < operations; k++)
		for (int i = 0; i < RANKS; i++)
			error |= ncs_recording_writer_records(
				writer, ranks[i], 0, records,
				make_operation(records, k, i),
				(uint64_t)k * RECORDS_EACH, 0,
				1000000000 + (k + 1) * UINT64_C(400000));
	error |= ncs_recording_writer_close(writer, &totals);
	if (error ||
	    totals.records != (uint64_t)operations * RANKS * RECORDS_EACH)
		bench_fail(path, "the recording could not be made");
}

/* --- Exports ------------------------------------------------------------- */

static ssize_t count_bytes(void *cookie, const char *data, size_t bytes)
{
	uint64_t *total = cookie;

	(void)data;
	*total += bytes;
	return (ssize_t)bytes;
}

struct export_run_cost {
	double seconds;
	uint64_t bytes;
};

static double now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Returns the bytes of the files in a folder, and removes them. */
static uint64_t take_files(const char *folder)
{
	DIR *directory = opendir(folder);
	const struct dirent *entry;
	struct stat status;
	uint64_t bytes = 0;

	if (!directory)
		bench_fail(folder, "it cannot be read");
	while ((entry = readdir(directory)))
		if (fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 &&
		    S_ISREG(status.st_mode)) {
			bytes += (uint64_t)status.st_size;
			unlinkat(dirfd(directory), entry->d_name, 0);
		}
	closedir(directory);
	rmdir(folder);
	return bytes;
}

static void measure(const char *path, enum ncs_export_format format,
		    uint64_t records, struct export_run_cost *run)
{
	const cookie_io_functions_t functions = { .write = count_bytes };
	struct ncs_export_request request = { .format = format,
					      .until_ns = UINT64_MAX };
	struct ncs_export_result result;
	struct ncs_recording *recording;
	double begun = now_seconds();
	char why[256];

	char folder[80];

	snprintf(folder, sizeof(folder), "%s.tables", path);
	if (format == NCS_EXPORT_PARQUET)
		request.directory = folder;
	run->bytes = 0;
	request.file = fopencookie(&run->bytes, "w", functions);
	if (!request.file ||
	    ncs_recording_open(&recording, &path, 1, why, sizeof(why)) != 0)
		bench_fail(path, "it cannot be opened");
	setvbuf(request.file, NULL, _IOFBF, 1 << 20);
	if (ncs_export(recording, &request, &result) != 0 ||
	    (format != NCS_EXPORT_CSV && result.records != records))
		bench_fail(path, "not all was exported");
	fclose(request.file);
	ncs_recording_close(recording);
	run->seconds = now_seconds() - begun;
	if (format == NCS_EXPORT_PARQUET)
		run->bytes = take_files(folder);
}

static int compare(const void *left, const void *right)
{
	const struct export_run_cost *a = left, *b = right;

	return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

static void print_run(enum ncs_export_format format,
		      const struct export_run_cost *run, uint64_t records,
		      uint64_t slices)
{
	bool is_trace = format == NCS_EXPORT_PERFETTO ||
			format == NCS_EXPORT_CHROME;
	double things = (double)(is_trace ? slices : records);

	printf("| %s | %s | %.2f | %.0f | %.1f |\n", ncs_export_name(format),
	       is_trace ? "slice" : "record", things / run->seconds / 1e6,
	       run->seconds / things * 1e9, (double)run->bytes / things);
}

int main(int argc, char **argv)
{
	static const enum ncs_export_format formats[] = { NCS_EXPORT_PERFETTO,
							  NCS_EXPORT_CHROME,
							  NCS_EXPORT_NDJSON,
							  NCS_EXPORT_PARQUET };
	const unsigned count = sizeof(formats) / sizeof(formats[0]);
	static const struct option options[] = {
		{ "rounds", required_argument, NULL, 'r' },
		{ "operations", required_argument, NULL, 'o' },
		{ NULL, 0, NULL, 0 },
	};
	char directory[] = "/dev/shm/bench_export.XXXXXX", path[64];
	unsigned rounds = 5, operations = 500;
	struct export_run_cost runs[NCS_EXPORT_COUNT][ROUNDS_MAX];
	uint64_t records, slices;
	int letter;

	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (letter == 'r')
			rounds = bench_number(optarg, ROUNDS_MAX);
		else if (letter == 'o')
			operations = bench_number(optarg, 1 << 20);
		else
			return 2;
	}
	if (!mkdtemp(directory))
		bench_fail(directory, "it cannot be made");
	snprintf(path, sizeof(path), "%s/recording", directory);
	make_recording(path, directory, operations);
	records = (uint64_t)operations * RANKS * RECORDS_EACH;
	slices = (uint64_t)operations * RANKS * SLICES_EACH;
	for (unsigned i = 0; i < rounds; i++)
		for (unsigned k = 0; k < count; k++)
			measure(path, formats[k], records, &runs[k][i]);
	printf("%.1f million records, %.1f million slices, medians of %u"
	       " runs:\n\n"
	       "| format | of each | million/s | ns | bytes |\n"
	       "|---|---|---:|---:|---:|\n",
	       (double)records / 1e6, (double)slices / 1e6, rounds);
	for (unsigned k = 0; k < count; k++) {
		qsort(runs[k], rounds, sizeof(runs[k][0]), compare);
		print_run(formats[k], &runs[k][rounds / 2], records, slices);
	}
	unlink(path);
	rmdir(directory);
	return 0;
}
