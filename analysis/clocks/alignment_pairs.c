/* SPDX-License-Identifier: MIT */
/* Facts about pairs of hosts and the line of each pair; see
 * alignment_internal.h. */
#include "analysis/clocks/alignment_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/base/wrapping.h"

/* Sizes must differ by this factor for the time of a byte to be measured. */
#define SIZE_RATIO 4

/* Credits count if at least AWAITED_MIN senders, and at least one sender in
 * AWAITED_PART, have waited for one. */
#define AWAITED_MIN 16
#define AWAITED_PART 256

struct ncs_alignment *ncs_alignment_new(size_t hosts)
{
	struct ncs_alignment *alignment = calloc(1, sizeof(*alignment));

	if (!alignment)
		return NULL;
	alignment->hosts = hosts;
	alignment->nodes = hosts + 1;
	alignment->pairs = calloc(alignment->nodes * alignment->nodes,
				  sizeof(struct ncs_host_pair *));
	alignment->list = calloc(alignment->nodes * alignment->nodes,
				 sizeof(struct ncs_host_pair *));
	alignment->readings =
		calloc(hosts + 1, sizeof(struct ncs_realtime_reading));
	if (!alignment->pairs || !alignment->list || !alignment->readings) {
		ncs_alignment_free(alignment);
		return NULL;
	}
	return alignment;
}

static void release_direction(struct ncs_pair_direction *direction)
{
	ncs_bounds_release(&direction->order);
	ncs_bounds_release(&direction->credit);
	for (unsigned i = 0; i < NCS_ALIGNMENT_SIZES; i++)
		ncs_bounds_release(&direction->sizes[i].bounds);
}

void ncs_alignment_free(struct ncs_alignment *alignment)
{
	if (!alignment)
		return;
	for (size_t i = 0; i < alignment->count; i++) {
		release_direction(&alignment->list[i]->most);
		release_direction(&alignment->list[i]->least);
		free(alignment->list[i]);
	}
	free(alignment->pairs);
	free(alignment->list);
	free(alignment->readings);
	free(alignment);
}

/* --- Facts ---------------------------------------------------------------- */

/* Returns the pair of two hosts, or NULL if there is no memory. */
static struct ncs_host_pair *pair_of(struct ncs_alignment *alignment,
				     size_t low, size_t high)
{
	struct ncs_host_pair **place =
		&alignment->pairs[low * alignment->nodes + high];

	if (!*place) {
		*place = calloc(1, sizeof(**place));
		if (!*place)
			return NULL;
		(*place)->low = low;
		(*place)->high = high;
		alignment->list[alignment->count++] = *place;
	}
	return *place;
}

static struct ncs_bounds *sized_bounds(struct ncs_pair_direction *direction,
				       uint64_t bytes)
{
	unsigned power = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;

	for (unsigned i = 0; power > 0 && i < NCS_ALIGNMENT_SIZES; i++) {
		struct ncs_sized_bounds *sized = &direction->sizes[i];

		if (sized->power == 0)
			*sized = (struct ncs_sized_bounds){
				.power = power, .least_bytes = bytes
			};
		if (sized->power != power)
			continue;
		if (bytes < sized->least_bytes)
			sized->least_bytes = bytes;
		if (bytes > sized->most_bytes)
			sized->most_bytes = bytes;
		return &sized->bounds;
	}
	return &direction->order;
}

static struct ncs_bounds *bounds_of(struct ncs_pair_direction *direction,
				    const struct ncs_before *before)
{
	switch (before->fact) {
	case NCS_FACT_DATA:
		return sized_bounds(direction, before->bytes);
	case NCS_FACT_AWAITED_CREDIT:
		direction->awaited++;
		direction->credits++;
		return &direction->credit;
	case NCS_FACT_CREDIT:
		direction->credits++;
		return &direction->credit;
	default:
		return &direction->order;
	}
}

int ncs_alignment_add(struct ncs_alignment *alignment,
		      const struct ncs_before *before)
{
	bool is_low = before->host < before->then_host;
	size_t low = is_low ? before->host : before->then_host;
	size_t high = is_low ? before->then_host : before->host;
	struct ncs_host_pair *pair;

	if (low == high || high >= alignment->hosts)
		return 0;
	pair = pair_of(alignment, low, high);
	if (!pair)
		return -ENOMEM;
	pair->about_ns = (int64_t)(is_low ? before->then_ns - before->at_ns :
					    before->at_ns - before->then_ns);
	return ncs_bounds_add(
		bounds_of(is_low ? &pair->most : &pair->least, before),
		is_low ? before->at_ns : before->then_ns,
		(int64_t)(before->then_ns - before->at_ns - before->delay_ns));
}

/* Returns true if CLOCK_REALTIME was set since the last reading. CLOCK_REALTIME
 * is corrected like CLOCK_MONOTONIC, so their difference changes only if
 * CLOCK_REALTIME is set, or by the drift of the times given here. */
static bool is_step(const struct ncs_realtime_reading *last, uint64_t before_ns,
		    uint64_t realtime_ns, uint64_t after_ns)
{
	int64_t most = (int64_t)(realtime_ns - before_ns);
	int64_t least = (int64_t)(realtime_ns - after_ns);
	int64_t last_most = (int64_t)(last->realtime_ns - last->before_ns);
	int64_t last_least = (int64_t)(last->realtime_ns - last->after_ns);
	double drifts = NCS_DRIFT_MAX *
			fabs((double)(int64_t)(before_ns - last->before_ns));

	return last->is_there && ((double)least - (double)last_most > drifts ||
				  (double)last_least - (double)most > drifts);
}

int ncs_alignment_add_realtime(struct ncs_alignment *alignment, size_t host,
			       uint64_t before_ns, uint64_t realtime_ns,
			       uint64_t after_ns, uint64_t error_ns)
{
	struct ncs_realtime_reading *reading;
	struct ncs_host_pair *pair;
	int error;

	if (host >= alignment->hosts || after_ns < before_ns)
		return 0;
	reading = &alignment->readings[host];
	pair = pair_of(alignment, host, alignment->hosts);
	if (!pair)
		return -ENOMEM;
	/* Earlier readings are of no use after the clock was set. */
	if (is_step(reading, before_ns, realtime_ns, after_ns)) {
		reading->steps++;
		ncs_bounds_release(&pair->most.order);
		ncs_bounds_release(&pair->least.order);
	}
	*reading = (struct ncs_realtime_reading){ before_ns, realtime_ns,
						  after_ns, reading->steps,
						  true };
	pair->about_ns = (int64_t)(realtime_ns - before_ns);
	if (error_ns > INT64_MAX / 4)
		return 0;
	error = ncs_bounds_add(&pair->most.order, before_ns,
			       (int64_t)(realtime_ns + error_ns - before_ns));
	return error ? error :
		       ncs_bounds_add(
			       &pair->least.order, before_ns,
			       (int64_t)(after_ns - realtime_ns + error_ns));
}

/* --- Pairs ---------------------------------------------------------------- */

static bool has_credits(const struct ncs_pair_direction *direction)
{
	return direction->awaited >= AWAITED_MIN &&
	       direction->awaited >= direction->credits / AWAITED_PART;
}

/* Collects all bounds of one side. Returns 0 or -ENOMEM. */
static int gather(const struct ncs_pair_direction *direction, bool with_credit,
		  bool with_bytes, struct ncs_bounds *all)
{
	int error = ncs_bounds_add_all(all, &direction->order, 0);

	if (with_credit && has_credits(direction))
		error |= ncs_bounds_add_all(all, &direction->credit, 0);
	for (unsigned i = 0; i < NCS_ALIGNMENT_SIZES; i++) {
		const struct ncs_sized_bounds *sized = &direction->sizes[i];
		double least_ns = with_bytes ?
					  direction->byte_ns *
						  (double)sized->least_bytes :
					  0;

		error |= ncs_bounds_add_all(all, &sized->bounds,
					    (int64_t)least_ns);
	}
	return error;
}

/* Fits a line to the bounds of a pair. Returns 0 or -ENOMEM. */
static int fit(const struct ncs_host_pair *pair, bool with_credit,
	       bool with_bytes, uint64_t from_ns, uint64_t until_ns,
	       bool *has_line, struct ncs_clock_line *line)
{
	struct ncs_bounds most = { 0 }, least = { 0 };
	int error = gather(&pair->most, with_credit, with_bytes, &most);

	error |= gather(&pair->least, with_credit, with_bytes, &least);
	*has_line = error == 0 &&
		    ncs_clock_line_fit(&most, &least, from_ns, until_ns, line);
	ncs_bounds_release(&most);
	ncs_bounds_release(&least);
	return error;
}

/* Measures the least time that a byte takes in most windows, by comparing the
 * smallest with the largest messages. `line` is the line of the value that this
 * direction bounds. */
static void measure_bytes(struct ncs_pair_direction *direction,
			  const struct ncs_clock_line *line)
{
	struct ncs_sized_bounds *small = NULL, *large = NULL;
	double gap_ns;

	direction->byte_ns = 0;
	for (unsigned i = 0; i < NCS_ALIGNMENT_SIZES; i++) {
		struct ncs_sized_bounds *sized = &direction->sizes[i];

		if (sized->power == 0)
			continue;
		if (!small || sized->power < small->power)
			small = sized;
		if (!large || sized->power > large->power)
			large = sized;
	}
	if (!small || large->least_bytes / SIZE_RATIO < small->most_bytes ||
	    !ncs_bounds_gap(&small->bounds, &large->bounds, line, &gap_ns) ||
	    gap_ns <= 0)
		return;
	direction->byte_ns =
		gap_ns / (double)(large->most_bytes - small->least_bytes);
}

static struct ncs_clock_line negative_of(const struct ncs_clock_line *line)
{
	struct ncs_clock_line negative = *line;

	negative.offset_ns = ncs_minus(0, line->offset_ns);
	negative.drift = -line->drift;
	return negative;
}

int ncs_host_pair_solve(struct ncs_host_pair *pair, uint64_t from_ns,
			uint64_t until_ns)
{
	struct ncs_clock_line other, negative;
	bool with_credit = true, has_other;
	int error = fit(pair, true, false, from_ns, until_ns, &pair->has_line,
			&pair->line);

	if (error || !pair->has_line)
		return error;
	/* Ignores credits if they contradict certain facts. */
	if (pair->line.violations > 0) {
		error = fit(pair, false, false, from_ns, until_ns, &has_other,
			    &other);
		if (error)
			return error;
		if (has_other && other.violations < pair->line.violations) {
			with_credit = false;
			pair->line = other;
		}
	}
	measure_bytes(&pair->most, &pair->line);
	negative = negative_of(&pair->line);
	measure_bytes(&pair->least, &negative);
	if (pair->most.byte_ns <= 0 && pair->least.byte_ns <= 0)
		return 0;
	error = fit(pair, with_credit, true, from_ns, until_ns, &has_other,
		    &other);
	if (!error && has_other && !other.is_uneven &&
	    other.violations <= pair->line.violations)
		pair->line = other;
	return error;
}

static uint64_t facts_of(const struct ncs_pair_direction *direction)
{
	uint64_t facts = direction->order.facts + direction->credit.facts;

	for (unsigned i = 0; i < NCS_ALIGNMENT_SIZES; i++)
		facts += direction->sizes[i].bounds.facts;
	return facts;
}

uint64_t ncs_host_pair_facts(const struct ncs_host_pair *pair)
{
	return facts_of(&pair->most) + facts_of(&pair->least);
}
