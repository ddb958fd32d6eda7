/* SPDX-License-Identifier: MIT */
/* Measures opening a recording and moving about in it.
 *
 *	bench_replay [--dir DIR] [--mib N] [--seeks N]
 *
 * Writes recordings of eight ranks and N MiB, with a state of each rank five
 * times a second: one of a job whose records fill chunks, and one with few
 * records. Opens them, and at random times reads the states of all ranks, and
 * jumps as the live view does, with a past. The files are in DIR, by default
 * the build folder, and in the page cache.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/replay/replay.h"
#include "record/write/recording_writer.h"
#include "shm/clock.h"
#include "shm/read/image.h"
#include "shm/read/job.h"
#include "test/bench/bench_segment.h"

#define MIB (UINT64_C(1) << 20)
#define RANKS 8u
#define SECOND UINT64_C(1000000000)
#define ROUND_NS (SECOND / 5)
#define BEGUN_NS (1000 * SECOND)
#define SEEKS_MAX 1000

struct replay_bench {
	struct ncs_writer segment;
	struct ncs_reader *reader;
	char file[4096];
	uint64_t bytes;
	unsigned seeks;
};

/* --- Recordings ---------------------------------------------------------- */

static void make_segment(struct replay_bench *bench, const char *directory)
{
	static const struct ncs_segment_size size = {
		.lanes = 8,
		.channels = 256,
		.operations = 1024,
		.classes = NCS_FUNCTION_MAX + 64,
		.histograms = 32,
		.ring_records = 65536,
		.ranges = 64,
		.range_histograms = 64,
	};

	bench_create_segment(&bench->segment, directory, &size);
	bench->segment.header->clock = (struct ncs_clock){
		.kind = NCS_CLOCK_MONOTONIC,
		.multiplier = UINT64_C(1) << 32,
	};
	bench->segment.header->filled.channels = 64;
	bench->reader = bench_publish_segment(&bench->segment);
}

/* Changes all channels. */
static void move_on(struct replay_bench *bench, uint64_t now_ns)
{
	const struct ncs_table *table = &bench->segment.header->channels;

	for (unsigned i = 0; i < 64; i++) {
		struct ncs_channel *channel =
			(struct ncs_channel *)((char *)bench->segment.header +
					       table->offset +
					       (size_t)i * table->stride);

		channel->key = NCS_CHANNEL_KEY(i / 2, i % 2, 1);
		channel->state = NCS_CHANNEL_SEND_WAIT;
		channel->since = now_ns;
		channel->bytes += 12345;
	}
}

static void write_round(struct replay_bench *bench,
			struct ncs_recording_writer *writer, size_t rank,
			uint64_t round, unsigned count)
{
	static struct ncs_record records[2046];
	uint64_t now_ns = BEGUN_NS + round * ROUND_NS;
	struct ncs_recording_piece piece = { writer, rank };
	bool whole = ncs_image_take(bench->reader,
				    ncs_recording_writer_image(writer, rank),
				    ncs_recording_writer_piece, &piece);

	for (unsigned i = 0; i < count; i++)
		records[i] = (struct ncs_record){
			.start = now_ns - ROUND_NS + i * (ROUND_NS / 2046),
			.duration = 20000,
			.event = NCS_EVENT_PROXY_STEP,
			.position = (uint32_t)(round * count + i),
		};
	if (ncs_recording_writer_state(writer, rank, now_ns, 0, !whole) != 0 ||
	    ncs_recording_writer_records(writer, rank, 1, records, count,
					 round * count, 0, now_ns) != 0)
		bench_fail(bench->file, "it cannot be written");
}

static void record(struct replay_bench *bench, unsigned records)
{
	struct ncs_recording_settings settings = { .means =
							   NCS_SINK_ALL_MEANS };
	struct ncs_recording_writer *writer;
	size_t ranks[RANKS];
	char why[256], path[32];

	ncs_recording_head_here(&settings.head);
	settings.head.interval_ns = ROUND_NS;
	if (ncs_recording_writer_open(&writer, bench->file, &settings, why,
				      sizeof(why)) != 0)
		bench_fail(bench->file, why);
	for (unsigned i = 0; i < RANKS; i++) {
		snprintf(path, sizeof(path), "rank %u", i);
		ncs_recording_writer_add_rank(writer,
					      ncs_reader_header(bench->reader),
					      NCS_NO_OWNER, path, &ranks[i]);
	}
	for (uint64_t round = 1;
	     ncs_recording_writer_bytes(writer) < bench->bytes; round++) {
		move_on(bench, BEGUN_NS + round * ROUND_NS);
		for (unsigned i = 0; i < RANKS; i++)
			write_round(bench, writer, ranks[i], round, records);
	}
	if (ncs_recording_writer_close(writer, NULL) != 0)
		bench_fail(bench->file, "it cannot be written");
}

/* --- Measuring ----------------------------------------------------------- */

static double ms_since(uint64_t began_ns)
{
	return (double)(ncs_clock_monotonic_ns() - began_ns) / 1e6;
}

static void print(const char *what, double *times_ms, unsigned count)
{
	bench_sort(times_ms, count);
	printf("  %-24s %8.2f ms, %8.2f at worst\n", what, times_ms[count / 2],
	       times_ms[count - 1]);
}

static void look_at_states(struct ncs_replay *replay, uint64_t moment_ns)
{
	for (size_t i = 0; i < RANKS; i++) {
		struct ncs_reader *reader;
		uint64_t taken_ns;

		if (ncs_recording_state(replay->recording, i, moment_ns,
					&reader, &taken_ns) != NCS_RECORDED_YES)
			bench_fail("a state", "it is not there");
	}
}

static void jump(struct ncs_replay *replay, struct ncs_model *model,
		 uint64_t moment_ns)
{
	if (ncs_replay_fill(replay->source, model, NULL, replay->from_ns,
			    moment_ns, SECOND) != 0 ||
	    ncs_model_update(model, replay->source, moment_ns) != 0 ||
	    model->rank_count != RANKS)
		bench_fail("a jump", "ranks are missing");
}

static void measure(struct replay_bench *bench)
{
	static double states_ms[SEEKS_MAX], jumps_ms[SEEKS_MAX];
	const char *path = bench->file;
	const struct ncs_replay_part all = { .pid = 0 };
	uint64_t began_ns = ncs_clock_monotonic_ns();
	struct ncs_replay replay;
	struct ncs_model model;
	char why[4600];

	if (ncs_replay_open(&replay, &path, 1, &all, why, sizeof(why)) != 0)
		bench_fail(path, why);
	printf("  %-24s %8.2f ms, %llu chunks, %.0f s\n", "open",
	       ms_since(began_ns),
	       (unsigned long long)ncs_recording_facts(replay.recording)->chunks,
	       (double)(replay.until_ns - replay.from_ns) / 1e9);
	ncs_model_init(&model);
	model.keeps_latest = true;
	srand(1);
	for (unsigned i = 0; i < bench->seeks; i++) {
		uint64_t length_ns = replay.until_ns - replay.from_ns;
		uint64_t moment_ns =
			replay.from_ns +
			(uint64_t)((double)length_ns * rand() / RAND_MAX);

		began_ns = ncs_clock_monotonic_ns();
		look_at_states(&replay, moment_ns);
		states_ms[i] = ms_since(began_ns);
		began_ns = ncs_clock_monotonic_ns();
		jump(&replay, &model, moment_ns);
		jumps_ms[i] = ms_since(began_ns);
	}
	print("states of all ranks", states_ms, bench->seeks);
	print("a jump with its past", jumps_ms, bench->seeks);
	ncs_model_release(&model);
	ncs_replay_close(&replay);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "mib", required_argument, NULL, 'm' },
		{ "seeks", required_argument, NULL, 's' },
		{ 0 },
	};
	static const unsigned records[] = { 2046, 100 };
	struct replay_bench bench = { .bytes = 1024 * MIB, .seeks = 100 };
	const char *directory = NCS_BUILD;
	char shared[] = "/dev/shm/bench_replay.XXXXXX";
	struct stat status;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'd')
			directory = optarg;
		else if (option == 'm')
			bench.bytes = bench_number(optarg, 1 << 20) * MIB;
		else if (option == 's')
			bench.seeks = bench_number(optarg, SEEKS_MAX);
		else
			return 2;
	}
	snprintf(bench.file, sizeof(bench.file), "%s/bench_replay.ncs",
		 directory);
	if (!mkdtemp(shared))
		bench_fail(shared, strerror(errno));
	make_segment(&bench, shared);
	for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++) {
		record(&bench, records[i]);
		stat(bench.file, &status);
		printf("%u records a chunk, %.0f MiB:\n", records[i],
		       (double)status.st_size / (double)MIB);
		measure(&bench);
		unlink(bench.file);
	}
	ncs_reader_close(bench.reader);
	unlink(bench.segment.path);
	rmdir(shared);
	return 0;
}
