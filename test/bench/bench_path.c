/* SPDX-License-Identifier: MIT */
/* Measures the pass along the critical path: ns of processor time for each rank
 * and collective, once the records are decoded and joined.
 *
 * 	bench_path [--ranks N] [--collectives N] [--ahead N]
 * 		   [--broadcasts]
 *
 * A generated job runs collectives of all ranks, one after the other. The pass
 * is measured without a scenario, then with one, four and eight. With --ahead N
 * the host calls N collectives ahead of the GPU. With --broadcasts the pass has
 * to look at each part by itself. The program measures and judges nothing.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "analysis/path/critical_path.h"
#include "test/bench/caller.h"

#define START_NS UINT64_C(1000000000000)
#define ROW 4u
#define PERIOD_NS 400000

static const char *const specifications[] = {
	"net:x2",     "stream:0.9", "latency:-1us", "host:0.5",
	"launch:0.5", "without:7",    "overlap",      "algorithm:tree",
};

/* Returns the processor time of this process, in ns: other processes may hold
 * the processor in between. */
static uint64_t next(uint64_t *seed)
{
	uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 27;
}

/* Fills in the times of one collective, whose ranks are free from `from_ns`
 * on. */
static void make_times(struct ncs_part *parts, unsigned ranks, unsigned ahead,
		       uint64_t from_ns, uint64_t *seed,
		       struct ncs_joined *joined)
{
	uint64_t last_ns = 0;

	for (unsigned i = 0; i < ranks; i++) {
		uint64_t *at_ns = parts[i].at_ns;

		at_ns[NCS_MOMENT_CALL] = from_ns + next(seed) % 20000 -
					 (uint64_t)ahead * PERIOD_NS;
		at_ns[NCS_MOMENT_OPERATION] = at_ns[NCS_MOMENT_CALL] + 10000;
		at_ns[NCS_MOMENT_KERNEL] = from_ns + 50000 + next(seed) % 50000;
		if (at_ns[NCS_MOMENT_KERNEL] > last_ns)
			last_ns = at_ns[NCS_MOMENT_KERNEL];
	}
	joined->first_end_ns = UINT64_MAX;
	for (unsigned i = 0; i < ranks; i++) {
		uint64_t end_ns = last_ns + 200000 + next(seed) % 1000;

		parts[i].at_ns[NCS_MOMENT_LAST_END] = end_ns;
		if (end_ns < joined->first_end_ns)
			joined->first_end_ns = end_ns;
	}
	joined->turn_ns = joined->first_end_ns;
}

/* Collectives are generated ahead, several at a time, so that generating them
 * is not measured. */
struct collectives_row {
	struct ncs_part *parts;
	struct ncs_part_times *part_times;
	struct ncs_joined joined[ROW];
};

static void make_part_times(struct collectives_row *row)
{
	struct ncs_part_times *times = row->part_times;

	for (size_t i = 0; i < ROW; i++)
		for (size_t k = 0; k < row->joined[i].count; k++)
			ncs_part_times_make(times++, &row->joined[i],
					    &row->joined[i].parts[k]);
}

static void fill(struct collectives_row *row, unsigned ranks, unsigned ahead,
		 bool broadcasts)
{
	uint64_t seed = 1;

	row->parts = calloc((size_t)ROW * ranks, sizeof(*row->parts));
	row->part_times = calloc((size_t)ROW * ranks, sizeof(*row->part_times));
	if (!row->parts || !row->part_times)
		abort();
	for (unsigned c = 0; c < ROW; c++) {
		struct ncs_part *parts = &row->parts[(size_t)c * ranks];

		row->joined[c] = (struct ncs_joined){
			.comm_id = 1,
			.function = NCS_FUNCTION_ALL_REDUCE,
			.is_complete = true,
			.is_whole = true,
			.wait_rule = broadcasts ? NCS_WAIT_FOR_ROOT :
						  NCS_WAIT_FOR_ALL,
			.arrival = NCS_MOMENT_KERNEL,
			.end = NCS_MOMENT_LAST_END,
			.end_is_trusted = true,
			.count = ranks,
			.parts = parts,
			.part_times = &row->part_times[(size_t)c * ranks],
		};
		for (unsigned i = 0; i < ranks; i++) {
			parts[i].owner = i;
			parts[i].rank = (int32_t)i;
			parts[i].nranks = (int32_t)ranks;
			parts[i].algorithm = NCS_ALGORITHM_RING;
			parts[i].bytes = UINT64_C(1) << (20 + c % 4);
			parts[i].slowest.steps = 8;
			parts[i].slowest.wait_ns[NCS_CHANNEL_RECV_WAIT] = 100;
		}
		make_times(parts, ranks, ahead, START_NS + c * PERIOD_NS, &seed,
			   &row->joined[c]);
	}
	make_part_times(row);
}

/* Turns the row into the next one: the same collectives, later. */
static void move(struct collectives_row *row, unsigned ranks)
{
	for (unsigned c = 0; c < ROW; c++) {
		row->joined[c].number += ROW;
		row->joined[c].first_end_ns += (uint64_t)ROW * PERIOD_NS;
		row->joined[c].turn_ns += (uint64_t)ROW * PERIOD_NS;
	}
	for (size_t i = 0; i < (size_t)ROW * ranks; i++)
		for (unsigned m = 0; m < NCS_MOMENT_COUNT; m++)
			if (row->parts[i].at_ns[m] != 0)
				row->parts[i].at_ns[m] +=
					(uint64_t)ROW * PERIOD_NS;
	make_part_times(row);
}

struct bench_options {
	unsigned ranks, collectives, ahead;
	bool broadcasts;
};

static void measure(const struct bench_options *bench, unsigned collectives,
		    unsigned scenarios)
{
	struct ncs_scenario parsed[NCS_SCENARIOS_MAX];
	unsigned ranks = bench->ranks;
	struct ncs_path_owner *owners = calloc(ranks, sizeof(*owners));
	struct ncs_fits fits = { 0 };
	struct ncs_path_options options = {
		.owners = owners,
		.owner_count = ranks,
		.rank_count = ranks,
		.scenarios = parsed,
		.scenario_count = scenarios,
		.fits = &fits,
	};
	struct ncs_path *path;
	struct rusage usage;
	struct collectives_row row;
	uint64_t spent_ns = 0;
	char error[256];

	if (!owners)
		abort();
	for (unsigned i = 0; i < ranks; i++)
		owners[i] = (struct ncs_path_owner){ i, i / 8 };
	for (unsigned i = 0; i < scenarios; i++)
		if (!ncs_scenario_parse(&parsed[i], specifications[i], error,
					sizeof(error)))
			abort();
	fill(&row, ranks, bench->ahead, bench->broadcasts);
	for (unsigned c = 0; c < ROW; c++)
		if (ncs_fits_add(&fits, &row.joined[c],
				 ncs_joined_moving_ns(&row.joined[c])))
			abort();
	path = ncs_path_new(&options);
	if (!path)
		abort();
	for (unsigned i = 0; i < collectives; i += ROW) {
		uint64_t before_ns = bench_processor_ns();

		for (unsigned c = 0; c < ROW; c++)
			if (ncs_path_add(path, &row.joined[c], true,
					 i / 1024) != 0)
				abort();
		spent_ns += bench_processor_ns() - before_ns;
		move(&row, ranks);
	}
	if (ncs_path_end(path) != 0)
		abort();
	getrusage(RUSAGE_SELF, &usage);
	printf("%5u ranks, %6u collectives, %u scenarios: %6.2f s, %5.2f ns a"
	       " rank and collective, %4ld MiB\n",
	       ranks, collectives, scenarios, (double)spent_ns / 1e9,
	       (double)spent_ns / ranks / collectives, usage.ru_maxrss / 1024);
	ncs_path_free(path);
	ncs_fits_release(&fits);
	free(row.parts);
	free(row.part_times);
	free(owners);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "ranks", required_argument, NULL, 'r' },
		{ "collectives", required_argument, NULL, 'c' },
		{ "ahead", required_argument, NULL, 'a' },
		{ "broadcasts", no_argument, NULL, 'b' },
		{ NULL, 0, NULL, 0 },
	};
	struct bench_options bench = { .ranks = 1024, .collectives = 100000 };
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'r')
			bench.ranks = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'c')
			bench.collectives = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'a')
			bench.ahead = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'b')
			bench.broadcasts = true;
		else
			return 2;
	}
	if (bench.ranks == 0 || bench.collectives == 0)
		return 2;
	measure(&bench, bench.collectives, 0);
	measure(&bench, bench.collectives / 10, 1);
	measure(&bench, bench.collectives / 10, 4);
	measure(&bench, bench.collectives / 10, 8);
	return 0;
}
