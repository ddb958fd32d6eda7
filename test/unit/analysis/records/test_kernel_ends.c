/* SPDX-License-Identifier: MIT */
/* Operations of which only the events of their kernels are there: no proxy, no
 * times from the stream. Several communicators of the same ranks run at once, so
 * that their records are mixed. Where NCCL's channels stop with the kernel, the
 * end is the kernel's, and trusted; in a tree, channels of ranks whose data have
 * gone up stop before the last rank has come, and the end is not trusted. */
#include <stdlib.h>
#include <string.h>

#include "analysis/records/join.h"
#include "ncclstat/abi_header.h"
#include "ncclstat/names.h"
#include "ncclstat/size_class.h"
#include "shm/clock.h"
#include "test/unit/support/unit.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

#define RANKS 4u
#define COMMS_MAX 4u
#define OPERATIONS 12u
#define CHANNELS 2u
#define RECORDS (2u * OPERATIONS * (CHANNELS + 1))

/* Errors of the reading of a GPU's clock. */
#define READING_NS 200u
#define ERROR_NS UINT64_C(500)

/* NCCL hears of a stop this much later. */
#define REPORTED_NS (3 * US)

/* One rank comes to each operation this much later than the others. */
#define LATE_NS (2 * MS)

enum shape { SHAPE_RING, SHAPE_TREE, SHAPE_NVLINK, SHAPES };

static const unsigned algorithms[SHAPES] = {
	[SHAPE_RING] = NCS_ALGORITHM_RING,
	[SHAPE_TREE] = NCS_ALGORITHM_TREE,
	[SHAPE_NVLINK] = NCS_ALGORITHM_NVLS,
};

/* A job in which all ranks run the operations of all communicators, each
 * communicator on a stream of its own. */
struct kernel_job {
	enum shape shape;
	unsigned comms;
	bool is_late; /* one rank comes late to each operation */
};

/* The times of a rank in an operation, by a perfect clock. */
struct kernel_truth {
	uint64_t begin_ns;
	uint64_t stop_ns; /* of its last channel */
	uint64_t ready_ns; /* the last rank came */
	uint64_t end_ns;   /* of the kernels of all ranks */
};

static unsigned late_rank(unsigned number)
{
	return number % RANKS;
}

/* The root is rank 0; ranks 1 and 2 are below it, and rank 3 is below rank 1. */
static bool is_below(unsigned rank, unsigned top)
{
	static const unsigned parents[RANKS] = { 0, 0, 0, 1 };

	while (rank != top && rank != 0)
		rank = parents[rank];
	return rank == top;
}

/* Returns when all ranks below one had come, by whose data it waits to go up. */
static uint64_t below_ns(const uint64_t begins_ns[RANKS], unsigned top)
{
	uint64_t latest_ns = 0;

	for (unsigned rank = 0; rank < RANKS; rank++)
		if (is_below(rank, top) && begins_ns[rank] > latest_ns)
			latest_ns = begins_ns[rank];
	return latest_ns;
}

static struct kernel_truth truth_of(const struct kernel_job *job, unsigned comm,
				    unsigned number, unsigned rank)
{
	uint64_t called_ns = 5 * SECOND + number * 10 * MS + comm * 700 * US;
	uint64_t begins_ns[RANKS];
	struct kernel_truth truth = { 0 };

	for (unsigned i = 0; i < RANKS; i++) {
		begins_ns[i] = called_ns + i * 7 * US;
		if (job->is_late && i == late_rank(number))
			begins_ns[i] += LATE_NS;
		if (begins_ns[i] > truth.ready_ns)
			truth.ready_ns = begins_ns[i];
	}
	truth.begin_ns = begins_ns[rank];
	truth.end_ns = truth.ready_ns + 900 * US;
	truth.stop_ns = truth.end_ns;
	if (job->shape == SHAPE_TREE && rank != 0)
		truth.stop_ns = below_ns(begins_ns, rank) + 20 * US;
	return truth;
}

/* --- Records -------------------------------------------------------------- */

static uint64_t gpu_ns(unsigned rank, uint64_t ns)
{
	return ns + (rank + 1) * SECOND + rank * READING_NS / RANKS;
}

/* Puts the channels of an operation's kernel, and its own record. */
static size_t put(struct ncs_record *records, const struct kernel_truth *truth,
		  unsigned rank, unsigned number)
{
	uint64_t last_ns = truth->stop_ns + REPORTED_NS;
	struct ncs_record record = {
		.function = NCS_FUNCTION_ALL_REDUCE,
		.operation = number + 1,
		.peer = -1,
	};

	for (unsigned i = 0; i < CHANNELS; i++) {
		/* The first channel stops a little earlier. */
		uint64_t stop_ns = truth->stop_ns - (i == 0 ? 9 * US : 0);

		record.event = NCS_EVENT_KERNEL_CH;
		record.channel = (uint8_t)i;
		record.start = truth->begin_ns + 2 * US;
		record.duration = stop_ns + REPORTED_NS - record.start;
		record.value = gpu_ns(rank, truth->begin_ns + i * US);
		record.number = gpu_ns(rank, stop_ns) - record.value;
		records[i] = record;
	}
	record.event = NCS_EVENT_COLL;
	record.channel = 0;
	record.start = truth->begin_ns - 30 * US;
	record.duration = last_ns - record.start;
	record.delta[0] = 5 * US;
	record.value = 1 << 20;
	record.number = number;
	records[CHANNELS] = record;
	return CHANNELS + 1;
}

static struct ncs_parts *parts_of(const struct kernel_job *job, unsigned comm,
				  unsigned rank)
{
	const struct ncs_header header = {
		.clock = { .kind = NCS_CLOCK_TSC,
			   .base_ticks = SECOND,
			   .base_monotonic_ns = SECOND,
			   .multiplier = UINT64_C(1) << 32 },
		.identity = { .known = NCS_KNOWN_COMM_ID | NCS_KNOWN_RANK |
				       NCS_KNOWN_NRANKS,
			      .comm_id = 70 + comm,
			      .rank = (int32_t)rank,
			      .nranks = RANKS },
	};
	struct ncs_class_view class = {
		.function = NCS_FUNCTION_ALL_REDUCE,
		.size_class = ncs_size_class(1 << 20),
		.algorithm = algorithms[job->shape],
		.operations = 1,
	};
	struct ncs_snapshot snapshot = {
		.identity = header.identity,
		.classes = &class,
		.class_count = 1,
	};
	struct ncs_parts *parts = ncs_parts_new(&header, comm * RANKS + rank);

	assert_non_null(parts);
	for (unsigned i = 0; i < 3; i++) {
		snapshot.gpu_clock = (struct ncs_gpu_clock_view){
			.known = true,
			.told_ns = (4 + i) * SECOND,
			.offset_ns = (int64_t)((rank + 1) * SECOND),
			.error_ns = ERROR_NS,
		};
		assert_int_equal(ncs_parts_learn(parts, &snapshot), 0);
	}
	return parts;
}

/* Adds all parts of a rank of a communicator. Its records come in two batches, as
 * those of others do in between. */
static void add_parts(struct ncs_parts *parts, struct ncs_join *join,
		      const struct kernel_job *job, unsigned comm,
		      unsigned rank)
{
	struct ncs_record records[RECORDS];
	const struct ncs_part *part;
	size_t count = 0;

	for (unsigned number = 0; number < OPERATIONS; number++) {
		struct kernel_truth truth = truth_of(job, comm, number, rank);

		count += put(&records[count], &truth, rank, number);
	}
	assert_int_equal(ncs_parts_take(parts, records, count / 2, 0,
					6 * SECOND),
			 0);
	assert_int_equal(ncs_parts_take(parts, &records[count / 2],
					count - count / 2, 0, 7 * SECOND),
			 0);
	ncs_parts_settle(parts, UINT64_MAX);
	while ((part = ncs_parts_next(parts)))
		assert_int_equal(ncs_join_add(join, part), 0);
}

/* --- What is concluded ---------------------------------------------------- */

/* Returns whether channels stop before the last rank comes: with a late rank,
 * those of all ranks that do not wait for its data. */
static bool stops_early(const struct kernel_job *job)
{
	return job->shape == SHAPE_TREE && job->is_late;
}

static void assert_near(uint64_t found_ns, uint64_t true_ns)
{
	assert_in_range(found_ns, true_ns - ERROR_NS, true_ns + ERROR_NS);
}

static void check_part(const struct kernel_job *job,
		       const struct ncs_joined *joined,
		       const struct ncs_part *part)
{
	struct kernel_truth truth =
		truth_of(job, (unsigned)(joined->comm_id - 70),
			 (unsigned)joined->number, (unsigned)part->rank);
	uint64_t end_ns = ncs_joined_end_ns(joined, part);

	assert_int_equal(part->algorithm, algorithms[job->shape]);
	assert_int_equal(part->at_ns[NCS_MOMENT_PROXY], 0);
	assert_int_equal(part->at_ns[NCS_MOMENT_STREAM], 0);
	assert_near(ncs_joined_arrival_ns(joined, part), truth.begin_ns);
	assert_near(part->at_ns[NCS_MOMENT_KERNEL_END], truth.stop_ns);
	assert_in_range(part->kernel_error_ns, READING_NS, 4 * ERROR_NS);
	if (!stops_early(job)) {
		assert_near(end_ns, truth.stop_ns);
		assert_int_equal(ncs_joined_doubt(joined, part),
				 NCS_DOUBT_NONE);
		return;
	}
	/* The true end is not in the records: the one that is told is neither
	 * before the last rank came nor after the true one. */
	assert_in_range(end_ns, truth.ready_ns - ERROR_NS,
			truth.end_ns + REPORTED_NS + ERROR_NS);
	assert_int_equal(ncs_joined_doubt(joined, part), NCS_DOUBT_END);
}

static void check_job(const struct kernel_job *job)
{
	struct ncs_join *join = ncs_join_new(0, true);
	struct ncs_parts *parts[COMMS_MAX][RANKS];
	unsigned numbers[COMMS_MAX] = { 0 };
	const struct ncs_joined *joined;
	unsigned count = 0;

	assert_non_null(join);
	for (unsigned comm = 0; comm < job->comms; comm++)
		for (unsigned rank = 0; rank < RANKS; rank++) {
			assert_int_equal(ncs_join_expect(join, 70 + comm,
							 (int32_t)rank),
					 0);
			parts[comm][rank] = parts_of(job, comm, rank);
		}
	for (unsigned rank = 0; rank < RANKS; rank++)
		for (unsigned comm = job->comms; comm-- > 0;)
			add_parts(parts[comm][rank], join, job, comm, rank);
	ncs_join_advance(join, UINT64_MAX);
	for (; (joined = ncs_join_next(join)); count++) {
		unsigned comm = (unsigned)(joined->comm_id - 70);

		assert_in_range(comm, 0, job->comms - 1);
		assert_int_equal(joined->number, numbers[comm]++);
		assert_true(joined->is_whole);
		assert_int_equal(joined->arrival, NCS_MOMENT_KERNEL);
		assert_int_equal(joined->end_is_trusted, !stops_early(job));
		if (!stops_early(job))
			assert_int_equal(joined->end, NCS_MOMENT_KERNEL_END);
		for (size_t i = 0; i < joined->count; i++)
			check_part(job, joined, &joined->parts[i]);
	}
	assert_int_equal(count, job->comms * OPERATIONS);
	for (unsigned comm = 0; comm < job->comms; comm++)
		for (unsigned rank = 0; rank < RANKS; rank++)
			ncs_parts_free(parts[comm][rank]);
	ncs_join_free(join);
}

static void check_shape(enum shape shape)
{
	for (unsigned comms = 2; comms <= COMMS_MAX; comms++)
		for (unsigned late = 0; late < 2; late++)
			check_job(&(struct kernel_job){ shape, comms, late });
}

TEST(kernels_of_a_ring_end_when_their_channels_stop)
{
	check_shape(SHAPE_RING);
}

TEST(channels_of_a_tree_stop_before_their_kernels_end)
{
	check_shape(SHAPE_TREE);
}

TEST(kernels_on_nvlink_end_when_their_channels_stop)
{
	check_shape(SHAPE_NVLINK);
}
