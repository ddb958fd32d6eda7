/* SPDX-License-Identifier: MIT */
/* Adding up steps; see step_stats.h. Must not trust records: they come from
 * shared memory and may have any value. */
#include "analysis/records/step_stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/clock.h"

/* Number of operations whose records may still come. */
#define OPEN_MAX 32

typedef uint32_t counts[NCS_STEP_TIMES][NCS_HISTOGRAM_BUCKETS];

/* The steps of one operation in one direction. */
struct operation_part {
	uint64_t steps;
	double time_ns[NCS_STEP_TIMES];
	counts *values; /* number of values in each bucket; NULL if none */
	unsigned first[NCS_STEP_TIMES], last[NCS_STEP_TIMES]; /* buckets */
};

struct open_operation {
	uint32_t number; /* 0: none */
	unsigned level;
	bool is_added; /* the sums contain it */
	struct operation_part parts[2];
};

/* Sums over operations. */
struct step_sums {
	struct ncs_sums times[NCS_STEP_TIMES];  /* y: time, x: steps */
	struct ncs_sums shares[NCS_STEP_TIMES]; /* y: time, x: duration */
	struct ncs_distribution values[NCS_STEP_TIMES];
	struct ncs_steps_view view;
	bool is_estimated; /* the view is up to date */
};

struct ncs_steps {
	struct open_operation open[OPEN_MAX];
	struct step_sums directions[2];
	bool has_begun;
	uint64_t lost;
	uint64_t read;
};

static const struct ncs_estimate unknown = { -1, -1 };
static const struct ncs_step_estimate unknown_time = {
	.total = { -1, -1 },
	.mean = { -1, -1 },
	.share = { -1, -1 },
	.p50 = { -1, -1, -1 },
	.p99 = { -1, -1, -1 },
};

struct ncs_steps *ncs_steps_new(void)
{
	return calloc(1, sizeof(struct ncs_steps));
}

void ncs_steps_free(struct ncs_steps *steps)
{
	if (!steps)
		return;
	for (unsigned i = 0; i < OPEN_MAX; i++)
		for (unsigned k = 0; k < 2; k++)
			free(steps->open[i].parts[k].values);
	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < NCS_STEP_TIMES; i++)
			ncs_distribution_release(
				&steps->directions[k].values[i]);
	free(steps);
}

/* --- Operations --------------------------------------------------------- */

static double weight_of(unsigned level)
{
	return (double)(1u << level);
}

/* Returns whether an operation is sampled. Operations that are not sampled have
 * no error, so their steps are added immediately. */
static bool is_sampled(const struct open_operation *operation)
{
	return operation->level > 0;
}

/* Makes room in the sums for an operation. Returns 0 or -ENOMEM. */
static int reserve_parts(struct ncs_steps *steps,
			 const struct open_operation *operation)
{
	int error = 0;

	for (unsigned k = 0; k < 2; k++) {
		const struct operation_part *part = &operation->parts[k];

		for (unsigned i = 0; i < NCS_STEP_TIMES && part->steps > 0; i++)
			error |= ncs_distribution_reserve(
				&steps->directions[k].values[i],
				(*part->values)[i], part->first[i],
				part->last[i]);
	}
	return error;
}

/* Adds the steps of an operation to the sums, or removes them, as
 * ncs_sums_change() does. */
static void change_parts(struct ncs_steps *steps,
			 const struct open_operation *operation, double sign)
{
	double weight = weight_of(operation->level);

	for (unsigned k = 0; k < 2; k++) {
		struct step_sums *direction = &steps->directions[k];
		const struct operation_part *part = &operation->parts[k];

		for (unsigned i = 0; i < NCS_STEP_TIMES && part->steps > 0;
		     i++) {
			ncs_distribution_change(&direction->values[i], sign,
						weight, (*part->values)[i],
						part->first[i], part->last[i]);
			ncs_sums_change(&direction->times[i], sign, weight,
					part->time_ns[i], (double)part->steps);
			ncs_sums_change(&direction->shares[i], sign, weight,
					part->time_ns[i],
					part->time_ns[NCS_STEP_DURATION]);
		}
	}
}

/* Adds an operation to the sums or removes it, if needed. Returns 0, or -ENOMEM
 * with nothing added. */
static int set_added(struct ncs_steps *steps, struct open_operation *operation,
		     bool added)
{
	if (operation->number == 0 || operation->is_added == added)
		return 0;
	if (is_sampled(operation)) {
		if (added && reserve_parts(steps, operation) != 0)
			return -ENOMEM;
		change_parts(steps, operation, added ? 1 : -1);
	}
	operation->is_added = added;
	return 0;
}

static void empty_part(struct operation_part *part)
{
	counts *values = part->values;

	if (values && part->steps > 0)
		memset(values, 0, sizeof(*values));
	*part = (struct operation_part){ .values = values };
	for (unsigned i = 0; i < NCS_STEP_TIMES; i++)
		part->first[i] = NCS_HISTOGRAM_BUCKETS - 1;
}

/* Returns the entry of an operation, which replaces the operation that had the
 * entry before; NULL if there is no memory. */
static struct open_operation *open_operation(struct ncs_steps *steps,
					     uint32_t number, unsigned level)
{
	struct open_operation *operation = &steps->open[number % OPEN_MAX];

	if (operation->number == number && operation->level == level) {
		set_added(steps, operation, false);
		return operation;
	}
	if (set_added(steps, operation, true) != 0)
		return NULL;
	operation->number = number;
	operation->level = level;
	operation->is_added = false;
	for (unsigned k = 0; k < 2; k++)
		empty_part(&operation->parts[k]);
	return operation;
}

/* --- Steps -------------------------------------------------------------- */

/* Adds a step that stands for itself only: without an error, it is as good as a
 * cluster. Returns 0 or -ENOMEM. */
static int add_step(struct step_sums *direction,
		    const uint64_t times[NCS_STEP_TIMES])
{
	int error = 0;

	for (unsigned i = 0; i < NCS_STEP_TIMES; i++) {
		ncs_sums_change(&direction->times[i], 1, 1, (double)times[i],
				1);
		ncs_sums_change(&direction->shares[i], 1, 1, (double)times[i],
				(double)times[NCS_STEP_DURATION]);
		error |= ncs_distribution_count(&direction->values[i],
						ncs_histogram_bucket(times[i]));
	}
	return error;
}

static void put_step(struct operation_part *part,
		     const uint64_t times[NCS_STEP_TIMES])
{
	for (unsigned i = 0; i < NCS_STEP_TIMES; i++) {
		unsigned bucket = ncs_histogram_bucket(times[i]);

		part->time_ns[i] += (double)times[i];
		(*part->values)[i][bucket]++;
		if (bucket < part->first[i])
			part->first[i] = bucket;
		if (bucket > part->last[i])
			part->last[i] = bucket;
	}
}

static int take_step(struct ncs_steps *steps, const struct ncs_clock *clock,
		     const struct ncs_record *record)
{
	bool send = record->flags & NCS_RECORD_SEND;
	unsigned level = NCS_RECORD_LEVEL(record->flags);
	struct step_sums *direction = &steps->directions[send];
	uint64_t times[NCS_STEP_TIMES];
	struct open_operation *operation;
	struct operation_part *part;

	if (level == NCS_LEVEL_SLOW) {
		direction->view.slow++;
		return 0;
	}
	/* A step of no known operation stands for itself. */
	operation = record->operation != 0 ?
			    open_operation(steps, record->operation, level) :
			    NULL;
	if (record->operation != 0 && !operation)
		return -ENOMEM;
	part = operation ? &operation->parts[send] : NULL;
	if (part && is_sampled(operation) && !part->values)
		part->values = calloc(1, sizeof(*part->values));
	if (part && is_sampled(operation) && !part->values)
		return -ENOMEM;
	ncs_step_split(record, times);
	for (unsigned i = 0; i < NCS_STEP_TIMES; i++)
		times[i] = ncs_clock_duration_ns(clock, times[i]);
	direction->view.records++;
	if (operation)
		direction->view.level = level;
	if (part && part->steps++ == 0)
		direction->view.operations++;
	if (!part || !is_sampled(operation))
		return add_step(direction, times);
	put_step(part, times);
	return 0;
}

/* --- Estimates ---------------------------------------------------------- */

static void estimate(struct ncs_steps *steps, struct step_sums *direction)
{
	struct ncs_steps_view *view = &direction->view;
	bool few_lost = steps->lost <= steps->read / 100;

	view->steps = unknown;
	for (unsigned i = 0; i < NCS_STEP_TIMES; i++)
		view->times[i] = unknown_time;
	if (view->records == 0)
		return;
	view->steps = ncs_estimate_total_x(&direction->times[0]);
	for (unsigned i = 0; i < NCS_STEP_TIMES; i++) {
		struct ncs_step_estimate *time = &view->times[i];
		const struct ncs_distribution *values = &direction->values[i];

		time->total = ncs_estimate_total_y(&direction->times[i]);
		time->mean = ncs_estimate_ratio(&direction->times[i]);
		time->share = ncs_estimate_ratio(&direction->shares[i]);
		time->p50 = ncs_estimate_quantile(values, 0.50);
		time->p99 = ncs_estimate_quantile(values, 0.99);
		if (steps->lost > 0)
			time->total = unknown;
		if (few_lost)
			continue;
		time->mean.error = time->share.error = -1;
		time->p50.low = time->p50.high = -1;
		time->p99.low = time->p99.high = -1;
	}
	if (steps->lost > 0)
		view->steps = unknown;
}

int ncs_steps_take(struct ncs_steps *steps, const struct ncs_clock *clock,
		   const struct ncs_record *records, size_t count,
		   uint64_t lost)
{
	int error = 0;

	/* Records lost before the first refresh do not count. */
	if (steps->has_begun)
		steps->lost += lost;
	steps->has_begun = true;
	steps->read += count;
	for (size_t i = 0; i < count && !error; i++)
		if (records[i].event == NCS_EVENT_PROXY_STEP &&
		    !(records[i].flags & NCS_RECORD_MISSING_STOP))
			error = take_step(steps, clock, &records[i]);
	for (unsigned i = 0; i < OPEN_MAX; i++)
		error |= set_added(steps, &steps->open[i], true);
	for (unsigned k = 0; k < 2; k++)
		steps->directions[k].is_estimated = false;
	return error;
}

const struct ncs_steps_view *ncs_steps_view(struct ncs_steps *steps, bool send)
{
	struct step_sums *direction;

	if (!steps)
		return NULL;
	direction = &steps->directions[send];
	/* Estimates on demand: of many ranks, few are shown. */
	if (!direction->is_estimated)
		estimate(steps, direction);
	direction->is_estimated = true;
	return direction->view.records || direction->view.slow ?
		       &direction->view :
		       NULL;
}

uint64_t ncs_steps_lost(const struct ncs_steps *steps)
{
	return steps ? steps->lost : 0;
}
