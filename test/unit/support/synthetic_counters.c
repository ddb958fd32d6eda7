/* SPDX-License-Identifier: MIT */
/* The made-up job's counters: by function, by class and by range. All are
 * functions of the job's age.
 */
#include "test/unit/support/synthetic_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/names.h"
#include "ncclstat/size_class.h"

/* --- Functions and classes ------------------------------------------------ */

struct synthetic_traffic {
	enum synthetic_kind kind;
	enum ncs_function_id function;
	uint64_t period_ns;
	uint64_t bytes;       /* size of an operation; 0 if not reported */
	unsigned timing;      /* NCS_TIMING_COUNT if none is timed */
	unsigned timed_each;  /* one in this number of operations is timed */
	uint64_t duration_ns; /* duration of an operation, approximately */
};

/* The traffic of each kind of member. The entries of one kind are in the order
 * of their functions, as required for classes. */
static const struct synthetic_traffic traffics[] = {
	{ WORLD, NCS_FUNCTION_ALL_REDUCE, CYCLE_NS, 64 * MIB, NCS_TIMING_KERNEL,
	  16, 1 * MS },
	{ WORLD, NCS_FUNCTION_ALL_GATHER, 47 * MS, 16 * MIB, NCS_TIMING_STREAM,
	  1, 2 * MS },
	{ WORLD, NCS_FUNCTION_REDUCE_SCATTER, 53 * MS, 16 * MIB,
	  NCS_TIMING_COUNT, 1, 0 },
	{ UNNAMED, NCS_FUNCTION_SEND, 23 * MS, 1 * MIB, NCS_TIMING_PROXY, 1,
	  MS / 8 },
	{ UNNAMED, NCS_FUNCTION_RECV, 23 * MS, 1 * MIB, NCS_TIMING_PROXY, 1,
	  MS / 8 },
	{ FINISHED, NCS_FUNCTION_BROADCAST, 100 * MS, 4 * MIB, NCS_TIMING_COUNT,
	  1, 0 },
	{ OLD, NCS_FUNCTION_ALL_REDUCE, 40 * MS, 0, NCS_TIMING_COUNT, 1, 0 },
};

#define TRAFFICS (sizeof(traffics) / sizeof(traffics[0]))
#define RANGES 4
#define SPREAD 16u

/* Adds the times of operations. The first operation takes long, because it
 * waits for all ranks; the others vary a little. */
static void add_times(struct ncs_function_view *view,
		      const struct synthetic_traffic *traffic, uint64_t timed,
		      uint64_t base_ns)
{
	uint64_t *histogram = view->histogram[traffic->timing];
	uint64_t first_ns = 20 * base_ns, usual = timed - 1;

	if (timed == 0)
		return;
	view->timed[traffic->timing] = timed;
	view->timed_bytes[traffic->timing] = timed * traffic->bytes;
	view->time_ns[traffic->timing] = first_ns;
	histogram[ncs_histogram_bucket(first_ns)]++;
	for (unsigned i = 0; i < SPREAD; i++) {
		uint64_t count = usual / SPREAD + (i < usual % SPREAD);
		uint64_t each_ns = base_ns + base_ns / 50 * (i * 7 % SPREAD);

		view->time_ns[traffic->timing] += count * each_ns;
		histogram[ncs_histogram_bucket(each_ns)] += count;
	}
}

static void add_function(struct ncs_function_view *view,
			 const struct synthetic_member *member,
			 const struct synthetic_traffic *traffic,
			 uint64_t age_ns)
{
	uint64_t round = age_ns / traffic->period_ns;
	bool busy = age_ns % traffic->period_ns < traffic->period_ns / 10 * 8;
	uint64_t base_ns = traffic->duration_ns;

	if (member->header.api_version >= 5)
		view->calls = round + 1;
	view->operations = round + 1;
	view->last_sequence_number = round;
	if (traffic->bytes > 0)
		view->bytes = view->operations * traffic->bytes;
	else
		view->size_unknown = view->operations;
	if (traffic->timing == NCS_TIMING_COUNT)
		return;
	view->with_children = view->operations;
	view->operations_done = round + !busy;
	/* The late rank does not wait for others. */
	if (member->late)
		base_ns /= 2;
	add_times(view, traffic, view->operations_done / traffic->timed_each,
		  base_ns);
}

static bool has_traffic(const struct synthetic_member *member,
			const struct synthetic_traffic *traffic)
{
	if (traffic->kind != member->kind)
		return false;
	if (traffic->function == NCS_FUNCTION_SEND)
		return member->rank == 0;
	return traffic->function != NCS_FUNCTION_RECV || member->rank == 1;
}

static void clear_functions(struct ncs_snapshot *snapshot)
{
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++) {
		struct ncs_function_view *view = &snapshot->functions[i];
		struct ncs_function_view empty = {
			.last_sequence_number = NCS_NO_SEQUENCE_NUMBER,
		};

		for (size_t k = 0; k < NCS_TIMING_COUNT; k++) {
			empty.histogram[k] = view->histogram[k];
			if (empty.histogram[k])
				memset(empty.histogram[k], 0,
				       NCS_HISTOGRAM_BUCKETS *
					       sizeof(*empty.histogram[k]));
		}
		*view = empty;
	}
}

/* Copies the function's histogram, from its first used bucket to its last. */
static void add_class_times(struct ncs_snapshot *snapshot,
			    struct ncs_class_times *times,
			    const struct ncs_function_view *view,
			    unsigned timing)
{
	const uint64_t *histogram = view->histogram[timing];
	unsigned end = NCS_HISTOGRAM_BUCKETS;

	*times = (struct ncs_class_times){
		.timed = view->timed[timing],
		.time_ns = view->time_ns[timing],
		.bytes = view->timed_bytes[timing],
		.place = snapshot->class_bucket_count,
	};
	if (times->timed == 0)
		return;
	while (histogram[times->first] == 0)
		times->first++;
	while (histogram[end - 1] == 0)
		end--;
	times->count = end - times->first;
	times->longest_ns = ncs_histogram_middle(end - 1);
	memcpy(&snapshot->class_buckets[times->place], &histogram[times->first],
	       times->count * sizeof(*histogram));
	snapshot->class_bucket_count += times->count;
}

/* Adds the class of some traffic; all operations of a function have one
 * size. */
static void add_class(struct ncs_snapshot *snapshot,
		      const struct synthetic_traffic *traffic)
{
	const struct ncs_function_view *view =
		&snapshot->functions[traffic->function];
	struct ncs_class_view *added =
		&snapshot->classes[snapshot->class_count++];
	bool is_p2p = traffic->function == NCS_FUNCTION_SEND ||
		      traffic->function == NCS_FUNCTION_RECV;

	*added = (struct ncs_class_view){
		.function = traffic->function,
		.size_class = traffic->bytes > 0 ?
				      ncs_size_class(traffic->bytes) :
				      NCS_SIZE_CLASS_UNKNOWN,
		.operations = view->operations,
	};
	if (!is_p2p) {
		added->algorithm = NCS_ALGORITHM_RING;
		added->protocol = traffic->bytes > 0 ? NCS_PROTOCOL_SIMPLE :
						       NCS_PROTOCOL_LL;
	}
	if (traffic->timing < NCS_TIMING_COUNT)
		add_class_times(snapshot, &added->times[traffic->timing], view,
				traffic->timing);
}

void ncs_synthetic_functions(struct ncs_snapshot *snapshot,
			     const struct synthetic_member *member,
			     uint64_t age_ns)
{
	clear_functions(snapshot);
	snapshot->class_count = 0;
	snapshot->class_bucket_count = 0;
	for (size_t i = 0; i < TRAFFICS; i++) {
		if (!has_traffic(member, &traffics[i]))
			continue;
		add_function(&snapshot->functions[traffics[i].function], member,
			     &traffics[i], age_ns);
		add_class(snapshot, &traffics[i]);
	}
}

/* --- Ranges of the program ---------------------------------------------- */

static struct ncs_range_view *add_range(struct ncs_snapshot *snapshot,
					uint32_t number, uint32_t parent,
					const char *name)
{
	struct ncs_range_view *range = &snapshot->ranges[snapshot->range_count];

	snapshot->range_count++;
	memset(range, 0, sizeof(*range));
	range->number = number;
	range->parent = parent;
	snprintf(range->name, sizeof(range->name), "%s", name);
	return range;
}

static void add_range_operations(struct ncs_snapshot *snapshot,
				 struct ncs_range_view *range, uint64_t count,
				 uint64_t bytes, uint64_t time_ns,
				 enum ncs_timing timing)
{
	uint64_t *buckets =
		&snapshot->range_buckets[snapshot->range_histogram_count *
					 NCS_RANGE_BUCKETS];

	range->calls = range->operations = range->with_children = count;
	range->bytes = range->with_children_bytes = count * bytes;
	range->timed[timing] = count;
	range->time_ns[timing] = range->busy_ns = count * time_ns;
	range->timed_bytes[timing] = count * bytes;
	memset(buckets, 0, NCS_RANGE_BUCKETS * sizeof(*buckets));
	buckets[ncs_range_bucket(time_ns)] = count;
	range->histogram[timing] = (uint32_t)++snapshot->range_histogram_count;
}

/* Each round is a training step, whose backward pass reduces gradients; every
 * tenth round is an evaluation. All waits of channels belong to the
 * reduction. */
void ncs_synthetic_ranges(struct ncs_snapshot *snapshot,
			  const struct synthetic_member *member,
			  uint64_t age_ns)
{
	struct ncs_range_view *step, *backward, *reduce, *evaluate;
	uint64_t rounds = age_ns / CYCLE_NS;

	if (member->kind != WORLD)
		return;
	step = add_range(snapshot, 2, 0, "train step");
	backward = add_range(snapshot, 3, 2, "backward");
	reduce = add_range(snapshot, 4, 3, "reduce gradients");
	evaluate = add_range(snapshot, 5, 0, "evaluate");
	add_range_operations(snapshot, reduce, rounds, 64 * MIB,
			     CYCLE_NS / 100 * 80, NCS_TIMING_PROXY);
	add_range_operations(snapshot, evaluate, rounds / 10, MIB, MS / 2,
			     NCS_TIMING_STREAM);
	step->busy_ns = backward->busy_ns = reduce->busy_ns;
	for (size_t i = 0; i < snapshot->channel_count; i++)
		for (size_t k = NCS_CHANNEL_IDLE + 1;
		     k < NCS_CHANNEL_STATE_COUNT; k++)
			reduce->channel_time_ns[k] +=
				snapshot->channels[i].time_ns[k];
}

/* --- Memory --------------------------------------------------------------- */

int ncs_synthetic_reserve(struct ncs_snapshot *snapshot)
{
	snapshot->classes = calloc(TRAFFICS, sizeof(*snapshot->classes));
	snapshot->class_buckets =
		calloc(TRAFFICS, NCS_HISTOGRAM_BUCKETS * sizeof(uint64_t));
	snapshot->ranges = calloc(RANGES, sizeof(*snapshot->ranges));
	snapshot->range_buckets =
		calloc(RANGES, NCS_RANGE_BUCKETS * sizeof(uint64_t));
	if (!snapshot->classes || !snapshot->class_buckets ||
	    !snapshot->ranges || !snapshot->range_buckets)
		return -1;
	for (size_t i = 0; i < TRAFFICS; i++) {
		struct ncs_function_view *view =
			&snapshot->functions[traffics[i].function];
		unsigned timing = traffics[i].timing;

		if (timing == NCS_TIMING_COUNT || view->histogram[timing])
			continue;
		view->histogram[timing] =
			calloc(NCS_HISTOGRAM_BUCKETS, sizeof(uint64_t));
		if (!view->histogram[timing])
			return -1;
	}
	return 0;
}
