/* SPDX-License-Identifier: MIT */
/* Computes figures of lateness from the state that compare_arrivals.c keeps;
 * see stragglers.h. */
#include "analysis/model/stragglers.h"

#include <math.h>
#include <string.h>

#include "analysis/base/collective_waits.h"
#include "analysis/base/estimate.h"
#include "analysis/base/percentile.h"
#include "analysis/model/communicators.h"
#include "analysis/model/lateness_state.h"
#include "analysis/model/model.h"
#include "analysis/model/moving.h"
#include "analysis/records/join.h"
#include "analysis/records/parts.h"

/* --- Figures -------------------------------------------------------------- */

/* Adds the causes of lateness. At a queued operation only the host's part and
 * that of the proxy thread are known to have cost anything. */
static void add_causes(const uint64_t cause_ns[NCS_LATE_CAUSE_COUNT],
		       bool is_queued, struct ncs_lateness *lateness)
{
	for (unsigned i = 0; i < NCS_LATE_CAUSE_COUNT; i++)
		if (!is_queued || i == NCS_LATE_HOST || i == NCS_LATE_PROXY)
			lateness->cause_ns[i] += cause_ns[i];
}

/* Returns a recent operation: a collective, or after these a transfer. */
static const struct ncs_late_part *recent_at(const struct ncs_late_rank *late,
					     size_t i)
{
	size_t collectives = ncs_recent_count(late->collectives.operations);

	return i < collectives ? &late->collectives.recent[i] :
				 &late->transfers->recent[i - collectives];
}

static size_t recent_count(const struct ncs_late_rank *late)
{
	return ncs_recent_count(late->collectives.operations) +
	       (late->transfers ?
			ncs_recent_count(late->transfers->operations) :
			0);
}

/* Returns whether in none of the recent operations the rank before the last came from
 * work of its own: then the job does nothing but communicate. */
static bool all_are_queued(const struct ncs_late_rank *late)
{
	for (size_t i = 0; i < recent_count(late); i++)
		if (recent_at(late, i)->before == NCS_BEFORE_WORK)
			return false;
	return true;
}

/* Sums the recent operations of one function, or of all for
 * NCS_FUNCTION_COUNT. */
static void sum_recent(const struct ncs_late_rank *late, unsigned function,
		       struct ncs_lateness *lateness)
{
	uint64_t late_ns[2 * NCS_LATENESS_RECENT];
	uint64_t exclusive_ns[2 * NCS_LATENESS_RECENT];
	bool is_idle = all_are_queued(late);
	size_t all = recent_count(late), count = 0, last = 0;

	*lateness = (struct ncs_lateness){ 0 };
	for (size_t i = 0; i < all; i++) {
		const struct ncs_late_part *recent = recent_at(late, i);
		bool is_queued;

		if (function < NCS_FUNCTION_COUNT &&
		    recent->function != function)
			continue;
		late_ns[count++] = recent->late_ns;
		if (recent->error_ns > lateness->error_ns)
			lateness->error_ns = recent->error_ns;
		if (recent->exclusive_ns == 0)
			continue;
		exclusive_ns[last++] = recent->exclusive_ns;
		is_queued = recent->before == NCS_BEFORE_QUEUED && !is_idle;
		lateness->queued += is_queued;
		lateness->kernels_unknown += recent->kernel_is_unknown;
		add_causes(recent->cause_ns, is_queued, lateness);
	}
	lateness->operations = count;
	lateness->last = last;
	lateness->median_ns = ncs_percentile_of_values(late_ns, count, 50);
	lateness->p99_ns = ncs_percentile_of_values(late_ns, count, 99);
	lateness->exclusive_ns =
		ncs_percentile_of_values(exclusive_ns, last, 50);
}

static uint64_t quantile(const struct ncs_distribution *distribution,
			 double fraction)
{
	double value = ncs_estimate_quantile(distribution, fraction).value;

	return value > 0 ? (uint64_t)value : 0;
}

static void sum_all(const struct ncs_late_rank *late,
		    struct ncs_lateness *lateness)
{
	lateness->error_ns = late->error_ns;
	lateness->operations = ncs_late_operations(late);
	lateness->last = late->last;
	lateness->queued = late->queued;
	lateness->median_ns = quantile(&late->late, 0.50);
	lateness->p99_ns = quantile(&late->late, 0.99);
	lateness->exclusive_ns =
		late->last > 0 ? quantile(&late->exclusive, 0.50) : 0;
	memset(lateness->cause_ns, 0, sizeof(lateness->cause_ns));
	add_causes(late->cause_ns[0], false, lateness);
	add_causes(late->cause_ns[1], !all_are_queued(late), lateness);
}

/* Waits for a rank in operations of one function. */
struct own_waits {
	uint64_t least, most; /* of their numbers */
	uint64_t count;
	uint64_t own_ns;
};

static void add_wait(struct own_waits *waits, const struct ncs_late_part *recent)
{
	if (waits->count == 0 || recent->number < waits->least)
		waits->least = recent->number;
	if (recent->number > waits->most)
		waits->most = recent->number;
	waits->count++;
	waits->own_ns += recent->own_ns;
}

/* Returns how long others waited in all operations, if they did in those that are not
 * compared as in those that are: often only some have times. Sends and receives are
 * numbered by connection, so that it is not known how many there were. */
static double waited_in_all_ns(const struct own_waits waits[NCS_FUNCTION_COUNT])
{
	double sum_ns = 0;

	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		double all = (double)(waits[i].most - waits[i].least) + 1;
		bool is_known = i != NCS_FUNCTION_SEND && i != NCS_FUNCTION_RECV;

		if (waits[i].count > 0)
			sum_ns += (double)waits[i].own_ns *
				  fmax(1, is_known ? all / (double)waits[i].count :
						     1);
	}
	return sum_ns;
}

/* Finds for which share of the latest NCS_COST_WINDOW_NS all others waited for what
 * the rank did by itself, and how much of that is one operation's. */
static void find_waited_share(struct ncs_late_rank *late)
{
	struct ncs_lateness_view *view = &late->view;
	struct own_waits waits[NCS_FUNCTION_COUNT] = { 0 };
	const uint64_t latest_ns = view->latest_ns;
	uint64_t first_ns = latest_ns, waited_ns = 0, longest_ns = 0;
	double window_ns;

	for (size_t i = 0; i < recent_count(late); i++) {
		const struct ncs_late_part *recent = recent_at(late, i);

		if (recent->ready_ns + NCS_COST_WINDOW_NS < latest_ns)
			continue;
		add_wait(&waits[recent->function], recent);
		waited_ns += recent->own_ns;
		if (recent->own_ns > longest_ns)
			longest_ns = recent->own_ns;
		if (recent->ready_ns - recent->own_ns < first_ns)
			first_ns = recent->ready_ns - recent->own_ns;
	}
	window_ns = fmax((double)(latest_ns - first_ns), 1);
	view->waited_share = fmin((double)waited_ns / window_ns, 1);
	view->longest_share = fmin((double)longest_ns / window_ns, 1);
	late->waited_in_all = waited_in_all_ns(waits) / window_ns;
}

/* Notes what is counted in the recent operations. */
static void count_recent(const struct ncs_late_rank *late,
			 struct ncs_lateness_view *view)
{
	memset(view->by_moment, 0, sizeof(view->by_moment));
	view->latest_ns = 0;
	for (size_t i = 0; i < recent_count(late); i++) {
		const struct ncs_late_part *recent = recent_at(late, i);

		view->by_moment[recent->moment]++;
		if (recent->ready_ns > view->latest_ns)
			view->latest_ns = recent->ready_ns;
	}
}

/* Computes the figures of a rank's lateness. */
static void sum_up(struct ncs_late_rank *late)
{
	struct ncs_lateness_view *view = &late->view;

	sum_recent(late, NCS_FUNCTION_COUNT, &view->recent);
	sum_all(late, &view->all);
	count_recent(late, view);
	find_waited_share(late);
	view->known_ns = ncs_time_since(late->first_ns, view->latest_ns);
	view->longest_host_ns = late->longest_host_ns;
	late->is_viewed = true;
}

bool ncs_rank_is_waited_for(const struct ncs_rank *rank)
{
	struct ncs_late_rank *late = rank->late;

	if (!late || ncs_late_operations(late) == 0)
		return false;
	if (!late->is_viewed)
		sum_up(late);
	return late->waited_in_all >= NCS_COST_LEAST / 100.;
}

const struct ncs_lateness_view *ncs_rank_lateness(const struct ncs_rank *rank)
{
	static const struct ncs_cost_of_rank none = {
		.unknown = NCS_COST_FEW_STEPS
	};
	struct ncs_late_rank *late = rank->late;
	const struct ncs_cost_of_rank *cost;
	struct ncs_lateness_view *view;

	if (!late || ncs_late_operations(late) == 0)
		return NULL;
	cost = ncs_costs_find(late);
	view = &late->view;
	view->count = late->count;
	view->count.records_lost =
		rank->parts ? ncs_parts_count(rank->parts)->lost : 0;
	view->cost = cost ? *cost : none;
	view->window_ns =
		(uint64_t)fmax(NCS_COST_WINDOW_NS, view->cost.window_ns);
	/* Computed only on demand: of many ranks, few are shown. */
	if (!late->is_viewed)
		sum_up(late);
	view->is_straggler = view->cost.is_too_much &&
			     ncs_rank_is_waited_for(rank) &&
			     view->recent.operations >= NCS_FEW;
	return view;
}

void ncs_rank_function_lateness(const struct ncs_rank *rank, unsigned function,
				struct ncs_lateness *lateness)
{
	*lateness = (struct ncs_lateness){ 0 };
	if (rank->late)
		sum_recent(rank->late, function, lateness);
}

unsigned ncs_rank_late_function(const struct ncs_rank *rank,
				struct ncs_lateness *lateness)
{
	unsigned found = NCS_FUNCTION_COUNT;
	struct ncs_lateness one;

	*lateness = (struct ncs_lateness){ 0 };
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		if (ncs_wait_rule_of(i) == NCS_WAIT_FOR_NONE &&
		    i != NCS_FUNCTION_SEND && i != NCS_FUNCTION_RECV)
			continue;
		ncs_rank_function_lateness(rank, i, &one);
		if (one.last <= lateness->last)
			continue;
		*lateness = one;
		found = i;
	}
	return found;
}

unsigned ncs_lateness_cause(const struct ncs_lateness *lateness)
{
	unsigned most = 0;

	if (lateness->last == 0)
		return NCS_LATE_CAUSE_COUNT;
	for (unsigned i = 1; i < NCS_LATE_CAUSE_COUNT; i++)
		if (lateness->cause_ns[i] > lateness->cause_ns[most])
			most = i;
	return most;
}

const struct ncs_skew *
ncs_communicator_skew(const struct ncs_communicator *communicator)
{
	struct ncs_skew_state *state = communicator->skew;
	uint64_t skew_ns[NCS_LATENESS_RECENT];
	uint64_t moving_ns[NCS_LATENESS_RECENT];
	size_t count, moved = 0;

	if (!state || state->view.all == 0)
		return NULL;
	if (state->is_viewed)
		return &state->view;
	count = ncs_recent_count(state->view.all);
	state->view.error_ns = state->view.moving_error_ns = 0;
	for (size_t i = 0; i < count; i++) {
		const struct ncs_skew_part *part = &state->recent[i];

		if (part->error_ns > state->view.error_ns)
			state->view.error_ns = part->error_ns;
		skew_ns[i] = part->skew_ns;
		if (!part->is_moving)
			continue;
		moving_ns[moved++] = part->moving_ns;
		if (part->moving_error_ns > state->view.moving_error_ns)
			state->view.moving_error_ns = part->moving_error_ns;
	}
	state->view.operations = count;
	state->view.moved = moved;
	state->view.median_ns = ncs_percentile_of_values(skew_ns, count, 50);
	state->view.p99_ns = ncs_percentile_of_values(skew_ns, count, 99);
	state->view.moving_ns = ncs_percentile_of_values(moving_ns, moved, 50);
	state->is_viewed = true;
	return &state->view;
}

struct ncs_transfer_count
ncs_communicator_transfers(const struct ncs_communicator *communicator)
{
	const struct ncs_skew_state *state = communicator->skew;
	struct ncs_transfer_count count = { 0 };

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_late_rank *late = communicator->ranks[i]->late;

		if (!late)
			continue;
		count.seen += late->transfer_count;
		count.unnumbered += late->unnumbered;
	}
	if (state && state->join)
		count.distrusted = ncs_join_count(state->join)->distrusted;
	return count;
}

bool ncs_transfers_are_blind(const struct ncs_transfer_count *count)
{
	return count->distrusted > 0 ||
	       (double)count->unnumbered >
		       NCS_STRAGGLER_COST * (double)count->seen;
}

const struct ncs_rank *
ncs_communicator_straggler(const struct ncs_communicator *communicator)
{
	const struct ncs_rank *worst = NULL;
	double cost = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		const struct ncs_lateness_view *view =
			ncs_rank_is_waited_for(rank) ? ncs_rank_lateness(rank) :
						       NULL;

		if (!view || !view->is_straggler || !ncs_rank_is_live(rank) ||
		    view->cost.share <= cost)
			continue;
		worst = rank;
		cost = view->cost.share;
	}
	return worst;
}

/* --- The step of a job ---------------------------------------------------- */

/* Returns the rank of a process that others waited for most. */
static const struct ncs_rank *rank_of(const struct ncs_model *model,
				      uint32_t process)
{
	const struct ncs_rank *found = NULL;
	double most = -1;

	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];
		const struct ncs_lateness_view *view;

		if (!rank->late || rank->late->process != process)
			continue;
		view = ncs_rank_lateness(rank);
		if (!view || view->waited_share <= most)
			continue;
		found = rank;
		most = view->waited_share;
	}
	return found;
}

bool ncs_rank_step(const struct ncs_model *model, const struct ncs_rank *rank,
		   struct ncs_job_step *step)
{
	const struct ncs_costs_step *kept =
		ncs_rank_lateness(rank) ? ncs_costs_step(rank->late) : NULL;
	const struct ncs_cost_of_rank *exposed;

	if (!kept)
		return false;
	exposed = &kept->transfers;
	*step = (struct ncs_job_step){
		.step = kept->step,
		.exposed_unknown = kept->step.unknown != NCS_COST_KNOWN ?
					   kept->step.unknown :
					   exposed->unknown,
	};
	if (kept->step.unknown != NCS_COST_KNOWN)
		return true;
	if (exposed->unknown == NCS_COST_KNOWN) {
		step->exposed_ns = fmax(exposed->share, 0) * kept->step.ns;
		step->exposed_least_ns =
			fmax(exposed->least, 0) * kept->step.ns;
		step->exposed_most_ns = fmin(exposed->most, 1) * kept->step.ns;
	}
	step->latest = kept->latest > 0 ? rank_of(model, kept->latest) : NULL;
	if (step->latest)
		step->waiting_ns = kept->latest_share * kept->step.ns;
	return true;
}

bool ncs_busiest_step(const struct ncs_model *model, struct ncs_job_step *step)
{
	const struct ncs_communicator *communicator =
		ncs_busiest_communicator(model);

	/* Nothing was compared: no need to look at each of many ranks. */
	if (!model->skews)
		return false;
	for (size_t i = 0; communicator && i < communicator->rank_count; i++)
		if (ncs_rank_step(model, communicator->ranks[i], step))
			return true;
	for (size_t i = 0; i < model->rank_count; i++)
		if (ncs_rank_step(model, model->ranks[i], step))
			return true;
	return false;
}
