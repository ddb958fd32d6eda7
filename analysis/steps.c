/* Adding up steps; see steps.h. Records come from shared memory and are not
 * trusted: any value may be in them. */
#include "analysis/steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/clock.h"

/* Operations whose records may still come. */
#define OPEN_MAX 32

typedef uint32_t counts[NCS_STEP_TIMES][NCS_HISTOGRAM_BUCKETS];

/* Of one operation, in one direction. */
struct part {
	uint64_t steps;
	double time_ns[NCS_STEP_TIMES];
	counts *values; /* as many as there are of each; NULL: none yet */
	unsigned first[NCS_STEP_TIMES], last[NCS_STEP_TIMES];
};

struct operation {
	uint32_t number; /* 0: none */
	unsigned level;
	bool is_added; /* to the sums, as it is */
	struct part parts[2];
};

/* Sums over operations. */
struct direction {
	struct ncs_sums times[NCS_STEP_TIMES];	/* of the time; steps */
	struct ncs_sums shares[NCS_STEP_TIMES]; /* of the time; duration */
	struct ncs_distribution *values;	/* NCS_STEP_TIMES; NULL: none */
	struct ncs_steps_view view;
};

struct ncs_steps {
	struct operation open[OPEN_MAX];
	struct direction directions[2];
	bool looked;
	uint64_t lost;
	uint64_t read;
};

enum ncs_channel_state ncs_step_state(bool send, unsigned time)
{
	unsigned first = send ? NCS_CHANNEL_SEND_GPU_WAIT :
				NCS_CHANNEL_RECV_WAIT;

	return (enum ncs_channel_state)(first + time - NCS_STEP_FIRST_WAIT);
}

static_assert(NCS_CHANNEL_SEND_WAIT == NCS_CHANNEL_SEND_GPU_WAIT + 2 &&
		      NCS_CHANNEL_SEND_PEER_WAIT ==
			      NCS_CHANNEL_SEND_GPU_WAIT + 1,
	      "a sender's waits in the order of a step");
static_assert(NCS_CHANNEL_RECV_GPU_WAIT == NCS_CHANNEL_RECV_WAIT + 2 &&
		      NCS_CHANNEL_RECV_FLUSH_WAIT == NCS_CHANNEL_RECV_WAIT + 1,
	      "a receiver's waits in the order of a step");

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
	struct ncs_steps *steps = calloc(1, sizeof(*steps));

	for (unsigned k = 0; steps && k < 2; k++) {
		struct ncs_steps_view *view = &steps->directions[k].view;

		view->steps = unknown;
		for (unsigned i = 0; i < NCS_STEP_TIMES; i++)
			view->times[i] = unknown_time;
	}
	return steps;
}

void ncs_steps_free(struct ncs_steps *steps)
{
	if (!steps)
		return;
	for (unsigned i = 0; i < OPEN_MAX; i++)
		for (unsigned k = 0; k < 2; k++)
			free(steps->open[i].parts[k].values);
	for (unsigned k = 0; k < 2; k++)
		free(steps->directions[k].values);
	free(steps);
}

/* --- Operations --------------------------------------------------------- */

static double weight_of(unsigned level)
{
	return (double)(1u << level);
}

/* What is not sampled goes into the sums at once: it has no error. */
static bool is_sampled(const struct operation *operation)
{
	return operation->level > 0;
}

static void add_part(struct direction *direction, double weight,
		     const struct part *part)
{
	for (unsigned i = 0; i < NCS_STEP_TIMES; i++) {
		ncs_sums_add(&direction->times[i], weight, part->time_ns[i],
			     (double)part->steps);
		ncs_sums_add(&direction->shares[i], weight, part->time_ns[i],
			     part->time_ns[NCS_STEP_DURATION]);
		ncs_distribution_add(&direction->values[i], weight,
				     (*part->values)[i], part->first[i],
				     part->last[i]);
	}
}

static void remove_part(struct direction *direction, double weight,
			const struct part *part)
{
	for (unsigned i = 0; i < NCS_STEP_TIMES; i++) {
		ncs_sums_remove(&direction->times[i], weight, part->time_ns[i],
				(double)part->steps);
		ncs_sums_remove(&direction->shares[i], weight, part->time_ns[i],
				part->time_ns[NCS_STEP_DURATION]);
		ncs_distribution_remove(&direction->values[i], weight,
					(*part->values)[i], part->first[i],
					part->last[i]);
	}
}

static void set_added(struct ncs_steps *steps, struct operation *operation,
		      bool added)
{
	if (operation->number == 0 || operation->is_added == added)
		return;
	operation->is_added = added;
	if (!is_sampled(operation))
		return;
	for (unsigned k = 0; k < 2; k++) {
		const struct part *part = &operation->parts[k];
		double weight = weight_of(operation->level);

		if (part->steps == 0)
			continue;
		if (added)
			add_part(&steps->directions[k], weight, part);
		else
			remove_part(&steps->directions[k], weight, part);
	}
}

static void empty_part(struct part *part)
{
	counts *values = part->values;

	if (values && part->steps > 0)
		memset(values, 0, sizeof(*values));
	*part = (struct part){ .values = values };
	for (unsigned i = 0; i < NCS_STEP_TIMES; i++)
		part->first[i] = NCS_HISTOGRAM_BUCKETS - 1;
}

/* The entry of an operation; the one that had its place so far has had its
 * time. */
static struct operation *open_operation(struct ncs_steps *steps,
					uint32_t number, unsigned level)
{
	struct operation *operation = &steps->open[number % OPEN_MAX];

	if (operation->number == number && operation->level == level) {
		set_added(steps, operation, false);
		return operation;
	}
	set_added(steps, operation, true);
	operation->number = number;
	operation->level = level;
	operation->is_added = false;
	for (unsigned k = 0; k < 2; k++)
		empty_part(&operation->parts[k]);
	return operation;
}

/* --- Steps -------------------------------------------------------------- */

/* The times of a step. What NCCL did not report is not there: then the wait
 * before it lasted until the next. */
static void split(const struct ncs_record *record,
		  const struct ncs_clock *clock, uint64_t times[NCS_STEP_TIMES])
{
	uint64_t end = record->duration;
	uint64_t third = record->delta[1] != 0 && record->delta[1] < end ?
				 record->delta[1] :
				 end;
	uint64_t second = record->delta[0] != 0 && record->delta[0] < third ?
				  record->delta[0] :
				  third;

	times[NCS_STEP_DURATION] = ncs_clock_duration_ns(clock, end);
	times[NCS_STEP_FIRST_WAIT] = ncs_clock_duration_ns(clock, second);
	times[NCS_STEP_FIRST_WAIT + 1] =
		ncs_clock_duration_ns(clock, third - second);
	times[NCS_STEP_FIRST_WAIT + 2] =
		ncs_clock_duration_ns(clock, end - third);
}

/* Directly into the sums, as one that stands for itself. */
static void add_step(struct direction *direction,
		     const uint64_t times[NCS_STEP_TIMES])
{
	for (unsigned i = 0; i < NCS_STEP_TIMES; i++) {
		ncs_sums_add(&direction->times[i], 1, (double)times[i], 1);
		ncs_sums_add(&direction->shares[i], 1, (double)times[i],
			     (double)times[NCS_STEP_DURATION]);
		ncs_distribution_count(&direction->values[i],
				       ncs_histogram_bucket(times[i]));
	}
}

static void put_step(struct part *part, const uint64_t times[NCS_STEP_TIMES])
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

static int make_room(struct direction *direction, struct operation *operation,
		     struct part *part)
{
	if (!direction->values)
		direction->values = calloc(NCS_STEP_TIMES,
					   sizeof(*direction->values));
	if (!direction->values)
		return -ENOMEM;
	if (operation && is_sampled(operation) && !part->values)
		part->values = calloc(1, sizeof(*part->values));
	return operation && is_sampled(operation) && !part->values ? -ENOMEM :
								     0;
}

static int take_step(struct ncs_steps *steps, const struct ncs_clock *clock,
		     const struct ncs_record *record)
{
	bool send = record->flags & NCS_RECORD_SEND;
	unsigned level = NCS_RECORD_LEVEL(record->flags);
	struct direction *direction = &steps->directions[send];
	uint64_t times[NCS_STEP_TIMES];
	struct operation *operation;
	struct part *part;

	if (level == NCS_LEVEL_SLOW) {
		direction->view.slow++;
		return 0;
	}
	/* Of no known operation, it is there for itself. */
	operation = record->operation != 0 ?
			    open_operation(steps, record->operation, level) :
			    NULL;
	part = operation ? &operation->parts[send] : NULL;
	if (make_room(direction, operation, part) != 0)
		return -ENOMEM;
	split(record, clock, times);
	direction->view.records++;
	if (operation)
		direction->view.level = level;
	if (part && part->steps++ == 0)
		direction->view.operations++;
	if (operation && is_sampled(operation))
		put_step(part, times);
	else
		add_step(direction, times);
	return 0;
}

/* --- Estimates ---------------------------------------------------------- */

static void forget_error(struct ncs_estimate *estimate)
{
	estimate->error = -1;
}

static void forget_bounds(struct ncs_quantile *quantile)
{
	quantile->low = quantile->high = -1;
}

static void estimate(struct ncs_steps *steps, struct direction *direction)
{
	struct ncs_steps_view *view = &direction->view;
	bool few_lost = steps->lost <= steps->read / 100;

	if (!direction->values)
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
		forget_error(&time->mean);
		forget_error(&time->share);
		forget_bounds(&time->p50);
		forget_bounds(&time->p99);
	}
	if (steps->lost > 0)
		view->steps = unknown;
}

int ncs_steps_take(struct ncs_steps *steps, const struct ncs_clock *clock,
		   const struct ncs_record *records, size_t count,
		   uint64_t lost)
{
	int error = 0;

	/* What was gone before the first look is not missing. */
	if (steps->looked)
		steps->lost += lost;
	steps->looked = true;
	steps->read += count;
	for (size_t i = 0; i < count && !error; i++)
		if (records[i].event == NCS_EVENT_PROXY_STEP &&
		    !(records[i].flags & NCS_RECORD_MISSING_STOP))
			error = take_step(steps, clock, &records[i]);
	for (unsigned i = 0; i < OPEN_MAX; i++)
		set_added(steps, &steps->open[i], true);
	for (unsigned k = 0; k < 2; k++)
		estimate(steps, &steps->directions[k]);
	return error;
}

const struct ncs_steps_view *ncs_steps_view(const struct ncs_steps *steps,
					    bool send)
{
	const struct direction *direction;

	if (!steps)
		return NULL;
	direction = &steps->directions[send];
	return direction->values || direction->view.slow ? &direction->view :
							   NULL;
}

uint64_t ncs_steps_lost(const struct ncs_steps *steps)
{
	return steps ? steps->lost : 0;
}
