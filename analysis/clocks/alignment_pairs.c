/* SPDX-License-Identifier: MIT */
/* Facts about pairs of hosts and the line of each pair; see
 * alignment_internal.h. */
#include "analysis/clocks/alignment_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/base/wrapping.h"

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

static struct ncs_bounds *bounds_of(struct ncs_pair_direction *direction,
				    enum ncs_fact fact)
{
	if (fact == NCS_FACT_ORDER)
		return &direction->order;
	direction->awaited += fact == NCS_FACT_AWAITED_CREDIT;
	return &direction->credit;
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
		bounds_of(is_low ? &pair->most : &pair->least, before->fact),
		is_low ? before->at_ns : before->then_ns,
		(int64_t)(before->then_ns - before->at_ns));
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
	       direction->awaited >= direction->credit.facts / AWAITED_PART;
}

/* Collects all bounds of one side. Returns 0 or -ENOMEM. */
static int gather(const struct ncs_pair_direction *direction, bool with_credit,
		  struct ncs_bounds *all)
{
	int error = ncs_bounds_add_all(all, &direction->order);

	if (with_credit && has_credits(direction))
		error |= ncs_bounds_add_all(all, &direction->credit);
	return error;
}

/* Fits a line to the bounds of a pair. Returns 0 or -ENOMEM. */
static int fit(const struct ncs_host_pair *pair, bool with_credit,
	       uint64_t from_ns, uint64_t until_ns, bool *has_line,
	       struct ncs_clock_line *line)
{
	struct ncs_bounds most = { 0 }, least = { 0 };
	int error = gather(&pair->most, with_credit, &most);

	error |= gather(&pair->least, with_credit, &least);
	*has_line = error == 0 &&
		    ncs_clock_line_fit(&most, &least, from_ns, until_ns, line);
	ncs_bounds_release(&most);
	ncs_bounds_release(&least);
	return error;
}

int ncs_host_pair_solve(struct ncs_host_pair *pair, uint64_t from_ns,
			uint64_t until_ns)
{
	struct ncs_clock_line other;
	bool has_other;
	int error = fit(pair, true, from_ns, until_ns, &pair->has_line,
			&pair->line);

	if (error || !pair->has_line || pair->line.violations == 0)
		return error;
	/* Ignores credits if they contradict certain facts. */
	error = fit(pair, false, from_ns, until_ns, &has_other, &other);
	if (has_other && other.violations < pair->line.violations)
		pair->line = other;
	return error;
}
