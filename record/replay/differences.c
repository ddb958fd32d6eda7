/* SPDX-License-Identifier: MIT */
/* Adds up what looks at a recording tell; compares two; see differences.h. */
#include "record/replay/differences.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timings.h"
#include "ncclstat/histogram.h"
#include "shm/array.h"

#define SECOND_NS 1e9

/* Classes, in the order in which they were met. */
struct classes {
	struct ncs_job_class *all;
	size_t count, capacity;
};

struct rank_counts {
	char *id; /* the source's name of its segment */
	uint64_t operations, taken_ns; /* at its latest look */
	struct classes latest;         /* counters at that look … */
	struct classes first;          /* … and those to begin with */
};

struct reading_job {
	struct ncs_recorded_job *job;
	uint64_t from_ns; /* when the recording begins */
	struct rank_counts *ranks;
	size_t count, capacity;
	uint64_t looks;
};

/* --- Means ---------------------------------------------------------------- */

static void add_value(struct ncs_mean *mean, double value)
{
	double before = value - mean->mean;

	mean->mean += before / (double)++mean->count;
	mean->squares += before * (value - mean->mean);
}

/* The variance of a mean; negative if it is not known. */
static double variance(const struct ncs_mean *mean)
{
	double count = (double)mean->count;

	return mean->count < 2 ? -1 : mean->squares / (count - 1) / count;
}

/* --- Looks ---------------------------------------------------------------- */

static struct rank_counts *counts_of(struct reading_job *reading,
				     const char *id)
{
	struct rank_counts *counts;

	for (size_t i = 0; i < reading->count; i++)
		if (strcmp(reading->ranks[i].id, id) == 0)
			return &reading->ranks[i];
	if (ncs_array_reserve(&reading->ranks, &reading->capacity,
			      reading->count + 1,
			      sizeof(*reading->ranks)) != 0)
		return NULL;
	counts = &reading->ranks[reading->count];
	*counts = (struct rank_counts){ .id = strdup(id) };
	if (!counts->id)
		return NULL;
	reading->count++;
	return counts;
}

/* Returns the class of a function and size, a new one if there is none; NULL if there is
 * no memory. */
static struct ncs_job_class *class_of(struct classes *classes,
				      unsigned function, unsigned size_class,
				      unsigned timing)
{
	for (size_t i = 0; i < classes->count; i++)
		if (classes->all[i].function == function &&
		    classes->all[i].size_class == size_class)
			return &classes->all[i];
	if (ncs_array_reserve(&classes->all, &classes->capacity,
			      classes->count + 1, sizeof(*classes->all)) != 0)
		return NULL;
	classes->all[classes->count] = (struct ncs_job_class){
		.function = function,
		.size_class = size_class,
		.timing = timing,
	};
	return &classes->all[classes->count++];
}

/* The sum of the squares of a class's times. */
static double squares_of(const struct ncs_snapshot *now,
			 const struct ncs_class_times *times)
{
	double sum = 0;

	for (unsigned i = 0; i < times->count; i++) {
		double middle =
			(double)ncs_histogram_middle(times->first + i);

		sum += (double)now->class_buckets[times->place + i] * middle *
		       middle;
	}
	return sum;
}

/* Adds a class's counters to those of its function and size. */
static int add_class(struct classes *classes, const struct ncs_snapshot *now,
		     const struct ncs_class_view *view)
{
	const struct ncs_class_times *times = ncs_times_of_class(view);
	unsigned timing = ncs_class_timing(view);
	struct ncs_job_class *class = class_of(
		classes, view->function, view->size_class, NCS_TIMING_COUNT);

	if (!class)
		return -ENOMEM;
	class->operations += view->operations;
	/* Times of two kinds are not added up. */
	if (!times || (class->timing != NCS_TIMING_COUNT &&
		       class->timing != timing))
		return 0;
	class->timing = timing;
	class->timed += times->timed;
	class->time_ns += (double)times->time_ns;
	class->squares += squares_of(now, times);
	return 0;
}

static int add_classes(struct classes *classes, const struct ncs_snapshot *now)
{
	for (size_t i = 0; i < classes->count; i++)
		classes->all[i] = (struct ncs_job_class){
			.function = classes->all[i].function,
			.size_class = classes->all[i].size_class,
			.timing = classes->all[i].timing,
		};
	for (size_t i = 0; i < now->class_count; i++)
		if (add_class(classes, now, &now->classes[i]) != 0)
			return -ENOMEM;
	return 0;
}

static uint64_t operations_of(const struct ncs_snapshot *now)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		sum += now->functions[i].operations;
	return sum;
}

/* Adds a look at a rank; *rate is added what its operations were a second. */
static int add_rank(struct reading_job *reading, const struct ncs_rank *rank,
		    double *rate, size_t *rated)
{
	struct rank_counts *counts = counts_of(reading, rank->id);
	uint64_t operations = operations_of(&rank->now);

	if (!counts)
		return -ENOMEM;
	if (counts->taken_ns != 0 && rank->now.taken_ns > counts->taken_ns &&
	    operations >= counts->operations && ncs_rank_is_live(rank)) {
		*rate += (double)(operations - counts->operations) * SECOND_NS /
			 (double)(rank->now.taken_ns - counts->taken_ns);
		++*rated;
	}
	counts->operations = operations;
	counts->taken_ns = rank->now.taken_ns;
	/* The recording has nothing of the time before its beginning. */
	if (reading->looks == 1 &&
	    rank->history.birth.taken_ns < reading->from_ns &&
	    add_classes(&counts->first, &rank->now) != 0)
		return -ENOMEM;
	return add_classes(&counts->latest, &rank->now);
}

static int add_look(struct reading_job *reading, const struct ncs_model *model)
{
	struct ncs_recorded_job *job = reading->job;
	size_t rated = 0;
	double rate = 0;

	reading->looks++;
	for (size_t i = 0; i < model->rank_count; i++)
		if (add_rank(reading, model->ranks[i], &rate, &rated) != 0)
			return -ENOMEM;
	if (model->rank_count > job->ranks)
		job->ranks = model->rank_count;
	if (rated > 0)
		add_value(&job->rate, rate / (double)rated);
	for (unsigned i = 0; model->waits.ranks > 0 && i < NCS_WAIT_COUNT; i++)
		add_value(&job->waits[i], model->waits.share[i]);
	return 0;
}

/* Adds the last states of ranks that have left between two looks. */
static int add_last(struct reading_job *reading, const struct ncs_replay *replay)
{
	struct ncs_model model;
	int error;

	ncs_model_init(&model);
	error = ncs_replay_fill(replay->source, &model, NULL, replay->until_ns,
				replay->until_ns, NCS_STUCK_NS);
	if (!error)
		error = ncs_model_update(&model, replay->source,
					 replay->until_ns);
	for (size_t i = 0; !error && i < model.rank_count; i++) {
		const struct ncs_rank *rank = model.ranks[i];
		struct rank_counts *counts = counts_of(reading, rank->id);

		error = counts ? add_classes(&counts->latest, &rank->now) :
				 -ENOMEM;
	}
	if (!error && model.rank_count > reading->job->ranks)
		reading->job->ranks = model.rank_count;
	ncs_model_release(&model);
	return error;
}

/* --- The job -------------------------------------------------------------- */

/* Adds what a rank did since it began, or since the recording did. */
static int add_rank_classes(struct classes *job,
			    const struct rank_counts *counts)
{
	for (size_t i = 0; i < counts->latest.count; i++) {
		const struct ncs_job_class *latest = &counts->latest.all[i];
		struct ncs_job_class first = { 0 };
		struct ncs_job_class *class = class_of(job, latest->function,
						       latest->size_class,
						       latest->timing);

		if (!class)
			return -ENOMEM;
		/* Those of the first look are in the same order. */
		if (i < counts->first.count)
			first = counts->first.all[i];
		class->ranks += latest->operations > first.operations;
		class->operations += latest->operations - first.operations;
		if (latest->timing != class->timing)
			continue;
		class->timed += latest->timed - first.timed;
		class->time_ns += latest->time_ns - first.time_ns;
		class->squares += latest->squares - first.squares;
	}
	return 0;
}

static int add_up(struct reading_job *reading)
{
	struct classes job = { 0 };
	int error = 0;

	for (size_t i = 0; i < reading->count && !error; i++)
		error = add_rank_classes(&job, &reading->ranks[i]);
	reading->job->classes = job.all;
	reading->job->class_count = job.count;
	return error;
}

int ncs_recorded_job_read(struct ncs_recorded_job *job,
			  const struct ncs_replay *replay, uint32_t pid,
			  ncs_describe_finding *describe)
{
	struct reading_job reading = { .job = job, .from_ns = replay->from_ns };
	int error = -ENOMEM;

	*job = (struct ncs_recorded_job){
		.length_ns = replay->until_ns - replay->from_ns,
		.search = calloc(1, sizeof(*job->search)),
	};
	if (job->search)
		error = ncs_replay_search_begin(job->search, replay, pid,
						describe);
	while (!error && !job->search->done) {
		error = ncs_replay_search_step(job->search);
		if (!error)
			error = add_look(&reading, &job->search->model);
	}
	if (!error)
		error = add_last(&reading, replay);
	if (!error)
		error = add_up(&reading);
	if (!error)
		ncs_episodes_sort(&job->search->found);
	for (size_t i = 0; i < reading.count; i++) {
		free(reading.ranks[i].id);
		free(reading.ranks[i].latest.all);
		free(reading.ranks[i].first.all);
	}
	free(reading.ranks);
	return error;
}

void ncs_recorded_job_release(struct ncs_recorded_job *job)
{
	if (job->search)
		ncs_replay_search_end(job->search);
	free(job->search);
	free(job->classes);
	*job = (struct ncs_recorded_job){ 0 };
}

/* --- Comparing ------------------------------------------------------------ */

/* Sets the error of a difference, and whether it is more than that. */
static void judge(struct ncs_difference *one, double of_before, double of_after)
{
	one->error = of_before < 0 || of_after < 0 ?
				-1 :
				sqrt(of_before + of_after);
	one->differs = one->error >= 0 &&
			  fabs(one->after - one->before) >
				  2 * one->error;
}

static struct ncs_difference compare_means(enum ncs_difference_kind kind,
				       const struct ncs_mean *before,
				       const struct ncs_mean *after)
{
	struct ncs_difference one = {
		.kind = kind,
		.before = before->mean,
		.after = after->mean,
	};

	judge(&one, variance(before), variance(after));
	return one;
}

static double mean_ns(const struct ncs_job_class *class)
{
	return class->time_ns / (double)class->timed;
}

/* The variance of the mean time. Ranks are in the same operations, so that more of
 * them do not make it less. */
static double class_variance(const struct ncs_job_class *class)
{
	double each = (double)class->timed / (double)class->ranks;
	double mean = mean_ns(class);
	double spread = class->squares / (double)class->timed - mean * mean;

	return each < 2 ? -1 : fmax(spread, 0) / (each - 1);
}

static const struct ncs_job_class *find_class(const struct ncs_recorded_job *job,
					      const struct ncs_job_class *other)
{
	for (size_t i = 0; i < job->class_count; i++)
		if (job->classes[i].function == other->function &&
		    job->classes[i].size_class == other->size_class &&
		    job->classes[i].operations > 0)
			return &job->classes[i];
	return NULL;
}

/* The share of a job's time that its ranks are in operations of a class. */
static double share_of(const struct ncs_recorded_job *job,
		       const struct ncs_job_class *class)
{
	return class->timed == 0 || class->ranks == 0 || job->length_ns == 0 ?
		       0 :
		       mean_ns(class) * (double)class->operations /
			       (double)class->ranks / (double)job->length_ns;
}

/* Compares the times of a class that both jobs have, or its number where one of
 * them has none. Returns false if neither can be told. */
static bool compare_class(const struct ncs_recorded_job *jobs[2],
			  const struct ncs_job_class *classes[2],
			  struct ncs_difference *one)
{
	const struct ncs_job_class *before = classes[0], *after = classes[1];
	const struct ncs_job_class *any = before ? before : after;

	*one = (struct ncs_difference){
		.kind = NCS_DIFFERENCE_COUNT,
		.function = any->function,
		.size_class = any->size_class,
		.before = before ? (double)before->operations : 0,
		.after = after ? (double)after->operations : 0,
		.differs = true,
		.weight = share_of(jobs[before ? 0 : 1], any),
	};
	if (!before || !after)
		return true;
	if (before->timed == 0 || after->timed == 0 ||
	    before->timing != after->timing)
		return false;
	one->kind = NCS_DIFFERENCE_TIME;
	one->before = mean_ns(before);
	one->after = mean_ns(after);
	one->weight = share_of(jobs[1], after) *
			 fabs(one->after - one->before) / fmax(one->after, 1);
	judge(one, class_variance(before), class_variance(after));
	return true;
}

static int by_weight(const void *left, const void *right)
{
	const struct ncs_difference *a = left, *b = right;

	if (a->differs != b->differs)
		return a->differs ? -1 : 1;
	if (a->kind != b->kind)
		return (int)a->kind - (int)b->kind;
	return (a->weight < b->weight) - (a->weight > b->weight);
}

size_t ncs_jobs_compare(const struct ncs_recorded_job *before,
			const struct ncs_recorded_job *after,
			struct ncs_difference **differences)
{
	const struct ncs_recorded_job *jobs[] = { before, after };
	size_t most = 1 + NCS_WAIT_COUNT + before->class_count +
		      after->class_count;
	struct ncs_difference *all = calloc(most, sizeof(*all));
	size_t count = 0;

	*differences = all;
	if (!all)
		return 0;
	if (before->rate.count > 0 && after->rate.count > 0)
		all[count++] = compare_means(NCS_DIFFERENCE_RATE, &before->rate,
					     &after->rate);
	for (unsigned i = 0; i < NCS_WAIT_COUNT; i++) {
		if (before->waits[i].count == 0 || after->waits[i].count == 0)
			continue;
		all[count] = compare_means(NCS_DIFFERENCE_WAIT, &before->waits[i],
					   &after->waits[i]);
		all[count].wait = i;
		all[count].weight = fabs(all[count].after - all[count].before);
		count++;
	}
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < jobs[side]->class_count; i++) {
			const struct ncs_job_class *class =
				&jobs[side]->classes[i];
			const struct ncs_job_class *pair[] = {
				find_class(before, class),
				find_class(after, class),
			};

			/* Those of both were compared from the first side. */
			if (class->operations > 0 && !(side == 1 && pair[0]) &&
			    compare_class(jobs, pair, &all[count]))
				count++;
		}
	qsort(all, count, sizeof(*all), by_weight);
	return count;
}
