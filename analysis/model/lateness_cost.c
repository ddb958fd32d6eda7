/* SPDX-License-Identifier: MIT */
/* Counts waits; see lateness_cost.h. Must not count a wait twice that ranks make
 * up for only once.
 *
 * Ranks may go on with their own work while they wait in an operation: most jobs
 * that train with data parallelism do. Two signs of this are known:
 *
 * - They come to the next operation straight from the one before, since their
 *   work for it was done meanwhile. That a rank that was late still has to do
 *   it, is nobody's fault.
 * - A rank that is behind stays behind: its lag goes from one operation to the
 *   next, up and down, although each of them ended for all at once. The lag is
 *   made up for at the end of the step.
 *
 * Where the operation before ended later for a rank than for others, as much of
 * its lateness is not its own.
 *
 * If ranks begin their work anew after each operation, a lag has nothing to do
 * with the one before it, and each wait counts.
 */
#include "analysis/model/lateness_cost.h"

#include "analysis/base/selection.h"

/* The length of the runs of lags that tell whether lags persist, and their least
 * number. */
#define RUN 16u
#define RUNS_LEAST 3u

/* A lag persists if it explains so much of the next one; in so short a run,
 * chance takes some of that away. It is known not to if it explains less than
 * the other; between them, it may. */
#define PERSISTS 0.35
#define RENEWS 0.15

/* Lags vary if their standard deviation is this share of their mean. */
#define VARIES 0.05

/* A lag that falls below this share of what it was has been made up for. */
#define MADE_UP 0.5

size_t ncs_costing_count(const struct ncs_late_rank *late)
{
	size_t count = ncs_recent_count(late->operations), i = 0;
	uint64_t latest_ns = 0;

	for (; i < count; i++) {
		uint64_t ready_ns = ncs_recent_at(late, i)->ready_ns;

		if (ready_ns > latest_ns)
			latest_ns = ready_ns;
		if (i >= NCS_STRAGGLER_OPERATIONS &&
		    ready_ns + NCS_COST_WINDOW_NS < latest_ns)
			break;
	}
	return i;
}

bool ncs_all_are_queued(const struct ncs_late_rank *late)
{
	size_t count = ncs_costing_count(late);

	for (size_t i = 0; i < count; i++)
		if (ncs_recent_at(late, i)->before == NCS_BEFORE_WORK)
			return false;
	return true;
}

/* Returns the autocorrelation of RUN lags, from the i-th on. */
static double correlation(const struct ncs_late_rank *late, size_t i)
{
	double mean_ns = 0, variance = 0, covariance = 0;

	for (size_t k = i; k < i + RUN; k++)
		mean_ns += (double)ncs_recent_at(late, k)->lag_ns / RUN;
	for (size_t k = i; k < i + RUN; k++) {
		double lag_ns = (double)ncs_recent_at(late, k)->lag_ns - mean_ns;

		variance += lag_ns * lag_ns;
		if (k > i)
			covariance += lag_ns *
				      ((double)ncs_recent_at(late, k - 1)->lag_ns -
				       mean_ns);
	}
	return variance > 0 ? covariance / variance : 0;
}

/* Returns whether the others waited for the rank at most of RUN operations, from
 * the i-th on. */
static bool is_late_in(const struct ncs_late_rank *late, size_t i)
{
	size_t waits = 0;

	for (size_t k = i; k < i + RUN; k++)
		waits += ncs_recent_at(late, k)->exclusive_ns > 0;
	return waits > RUN / 2;
}

static double median_of(double runs[], size_t count)
{
	return count >= RUNS_LEAST ? ncs_select(runs, count, (count - 1) / 2) :
				     0;
}

/* Returns how much of a lag goes from one operation to the next: the median of
 * the autocorrelations of short runs of them, or of those in which the rank was
 * late if that is more: a rank that turns late, and is so at each operation from
 * then on, does not count as one whose lag persists. */
static double persistence(const struct ncs_late_rank *late, size_t count)
{
	double runs[NCS_LATENESS_RECENT / RUN];
	double late_runs[NCS_LATENESS_RECENT / RUN];
	size_t run_count = count / RUN, late_count = 0;
	double all, late_ones;

	for (size_t i = 0; i < run_count; i++) {
		runs[i] = correlation(late, i * RUN);
		if (is_late_in(late, i * RUN))
			late_runs[late_count++] = runs[i];
	}
	all = median_of(runs, run_count);
	late_ones = median_of(late_runs, late_count);
	return late_ones > all ? late_ones : all;
}

static bool lags_persist(const struct ncs_late_rank *late, size_t count)
{
	return persistence(late, count) > PERSISTS;
}

/* Returns whether lags vary: those of the runs in which the rank was late, or all
 * if these are few. */
static bool lags_vary(const struct ncs_late_rank *late, size_t count)
{
	double sum_ns = 0, squares = 0, mean_ns;
	size_t run_count = count / RUN, late_count = 0, lags = 0;

	for (size_t i = 0; i < run_count; i++)
		late_count += is_late_in(late, i * RUN);
	for (size_t i = 0; i < run_count * RUN; i++) {
		double lag_ns = (double)ncs_recent_at(late, i)->lag_ns;

		if (late_count >= RUNS_LEAST && !is_late_in(late, i / RUN * RUN))
			continue;
		lags++;
		sum_ns += lag_ns;
		squares += lag_ns * lag_ns;
	}
	if (lags == 0)
		return false;
	mean_ns = sum_ns / (double)lags;
	return squares / (double)lags - mean_ns * mean_ns >
	       VARIES * VARIES * mean_ns * mean_ns;
}

/* Returns whether lags are known to begin anew at each operation: they vary, and
 * surely do not persist. */
static bool lags_renew(const struct ncs_late_rank *late, size_t count)
{
	return count / RUN >= RUNS_LEAST && lags_vary(late, count) &&
	       persistence(late, count) < RENEWS;
}

/* The time that the operations of one function waited. */
struct function_wait {
	double wait_ns;
	uint64_t count; /* operations in which that is known … */
	uint64_t first; /* … of those from this sequence number */
	uint64_t last;  /* … to this one */
};

static void count_operation(struct function_wait *waiting,
			    const struct ncs_late_part *recent,
			    uint64_t wait_ns)
{
	if (waiting->count == 0 || recent->number < waiting->first)
		waiting->first = recent->number;
	if (waiting->count == 0 || recent->number > waiting->last)
		waiting->last = recent->number;
	waiting->count++;
	waiting->wait_ns += (double)wait_ns;
}

/* Returns the time of all waits. Operations that were compared stand for those
 * between them. */
static double sum_all(const struct function_wait waiting[NCS_FUNCTION_COUNT])
{
	double sum_ns = 0;

	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		if (waiting[i].count > 0)
			sum_ns +=
				waiting[i].wait_ns *
				((double)(waiting[i].last - waiting[i].first) +
				 1) /
				(double)waiting[i].count;
	return sum_ns;
}

/* A lag that persists: the longest wait for it so far. */
struct lag {
	uint64_t longest_ns;
	double sum_ns;      /* of the lags before it … */
	uint64_t of_all_ns; /* … and the longest of them */
};

static void end_lag(struct lag *lag)
{
	lag->sum_ns += (double)lag->longest_ns;
	if (lag->longest_ns > lag->of_all_ns)
		lag->of_all_ns = lag->longest_ns;
	lag->longest_ns = 0;
}

static void continue_lag(struct lag *lag, uint64_t wait_ns)
{
	if ((double)wait_ns < MADE_UP * (double)lag->longest_ns)
		end_lag(lag);
	if (wait_ns > lag->longest_ns)
		lag->longest_ns = wait_ns;
}

/* Returns for how long the others waited for what the rank itself did. */
static uint64_t own_wait_ns(const struct ncs_late_part *recent, bool is_sure)
{
	return recent->before == NCS_BEFORE_QUEUED && is_sure ?
		       recent->surely_ns :
		       recent->own_ns;
}

double ncs_lateness_cost(const struct ncs_late_rank *late, uint64_t least_ns,
			 enum ncs_cost_kind kind)
{
	struct function_wait waiting[NCS_FUNCTION_COUNT] = { 0 };
	struct lag lag = { 0 };
	uint64_t first_ns = UINT64_MAX, last_ns = 0, longest_ns = 0;
	uint64_t before_ns = 0;
	bool is_sure = kind != NCS_COST_MOST && !ncs_all_are_queued(late);
	size_t count = ncs_costing_count(late);
	bool grows = kind == NCS_COST_LEAST && !lags_renew(late, count);
	double cost;

	for (size_t i = count; i-- > 0;) {
		const struct ncs_late_part *recent = ncs_recent_at(late, i);
		uint64_t own_ns = own_wait_ns(recent, is_sure), wait_ns;

		wait_ns = grows ? ncs_time_since(before_ns, own_ns) : own_ns;
		before_ns = recent->exclusive_ns;
		/* The wait for the first one was before the time that
		 * counts. */
		if (wait_ns < least_ns || i == count - 1)
			wait_ns = 0;
		count_operation(&waiting[recent->function], recent, wait_ns);
		continue_lag(&lag, wait_ns);
		if (wait_ns > longest_ns)
			longest_ns = wait_ns;
		if (recent->ready_ns < first_ns)
			first_ns = recent->ready_ns;
		if (recent->ready_ns > last_ns)
			last_ns = recent->ready_ns;
	}
	if (last_ns <= first_ns)
		return -1;
	end_lag(&lag);
	cost = sum_all(waiting);
	if (kind < NCS_COST_LEAST && lags_persist(late, count)) {
		cost = lag.sum_ns;
		longest_ns = lag.of_all_ns;
	}
	if (kind == NCS_COST_AGAIN)
		cost -= (double)longest_ns;
	cost /= (double)(last_ns - first_ns);
	return cost < 1 ? cost : 1;
}

static double transfer_cost(const struct ncs_late_transfers *transfers,
			    enum ncs_cost_kind kind)
{
	switch (kind) {
	case NCS_COST_AGAIN:
		return transfers->cost_again;
	case NCS_COST_LEAST:
		return transfers->cost_at_least;
	case NCS_COST_MOST:
		return transfers->cost_at_most;
	default:
		return transfers->cost;
	}
}

double ncs_seeming_cost(const struct ncs_late_rank *late, uint64_t least_ns,
			enum ncs_cost_kind kind)
{
	double cost = ncs_lateness_cost(late, least_ns, kind);
	double more = late->transfers ? transfer_cost(late->transfers, kind) :
					-1;

	if (late->transfer_use == NCS_TRANSFERS_RULE)
		return more >= 0 || cost < 0 ? more : 0;
	return more > cost ? more : cost;
}
