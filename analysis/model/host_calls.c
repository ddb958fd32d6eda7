/* SPDX-License-Identifier: MIT */
/* Calls of hosts; see host_calls.h. Must not judge lateness: lateness_cost.h and
 * transfer_cost.h do.
 */
#include "analysis/model/host_calls.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/base/host_waits.h"
#include "analysis/model/communicators.h"
#include "analysis/model/comparison.h"
#include "analysis/model/lateness_cost.h"
#include "shm/array.h"

/* The number of ranks of a large communicator whose hosts are looked at. */
#define ASKED 64u

/* Hosts are looked at if a rank seems to cost this share of the time. */
#define COSTS 0.01

/* A host waits for its GPU once in a step, in a long gap between two calls. The longest
 * gaps, which together make MOST_TIME of the time, are long, and all that have at least
 * LONG of the length of the shortest of these. */
#define LONG 0.5
#define MOST_TIME 0.8

/* A host does not wait for the end of a step if it calls before that end in more than
 * this share of the steps, and in more than one: a call may be disturbed. */
#define AHEAD 0.1

/* A host that works for at least WORKS of the time may go on with that while its GPU
 * waits. With fewer long gaps than LONG_LEAST nobody can tell. If it works for
 * WORKS_MUCH, chance puts it further behind, and LONG_LEAST_MUCH are needed. */
#define WORKS 0.04
#define WORKS_MUCH 0.25
#define LONG_LEAST 12u
#define LONG_LEAST_MUCH 24u

/* In LONG_LEAST steps, chance makes no rank seem to cost more than this share. */
#define CHANCE 0.3

/* Hosts are known to wait, or not to, if one in so many of them is. */
#define KNOWN 4

/* There is chance in how far behind a host is if its long gaps vary by this share, or if
 * there are fewer than so many. */
#define VARIES 0.002
#define VARIES_LEAST 4u

/* A host is at most so many steps ahead. */
#define AHEAD_MOST 64u

/* A call of a process. */
struct host_call {
	uint64_t call_ns, end_ns, ready_ns;
	uint64_t latest_end_ns; /* of this one and all that were called before */
	size_t step; /* number of the step that it is in */
	uint64_t gap_ns; /* since the call before; 0 for the first one */
	/* The first and the last end since the call before; 0: there is none. */
	uint64_t first_ns, last_ns;
	bool is_idle; /* all that was called before had ended */
};

struct host_calls {
	struct host_call *calls;
	size_t count, capacity;
	uint64_t from_ns; /* from then on, all are known */
	uint64_t costs_from_ns; /* costs are those from then on */
	uint64_t *gaps_ns; /* room for gaps */
	size_t gap_capacity;
	uint64_t *step_ends_ns; /* when each step had ended */
	size_t step_count, step_capacity;
	uint64_t long_ns; /* the shortest gap that is long */
	unsigned ahead;   /* steps */
	bool runs_away;   /* it waits for none of them */
};

/* The share of the time for which a host worked: as it seems, and at least. */
struct share {
	double share, at_least;
};

/* A host that was looked at. */
struct host {
	enum ncs_host_wait wait; /* while its GPU is idle */
	/* If it waits then … */
	struct share waiting;
	/* … and if it goes on with its work. */
	struct share going_on;
	size_t long_count; /* gaps that are long … */
	size_t idle_count; /* … and after which its GPU was idle */
	bool varies;       /* these are not always as long */
};

/* --- Calls of a process ---------------------------------------------------- */

/* Adds the latest calls of a ring in which so many have been noted. */
static int add_calls(struct host_calls *calls,
		     const struct ncs_late_part recent[NCS_LATENESS_RECENT],
		     uint64_t noted, size_t count)
{
	uint64_t first_ns = UINT64_MAX;

	if (ncs_array_reserve(&calls->calls, &calls->capacity,
			      calls->count + count, sizeof(*calls->calls)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct ncs_late_part *part =
			&recent[(noted - 1 - i) % NCS_LATENESS_RECENT];

		calls->calls[calls->count++] = (struct host_call){
			.call_ns = part->call_ns,
			.end_ns = part->end_ns,
			.ready_ns = part->ready_ns,
		};
		if (part->call_ns < first_ns)
			first_ns = part->call_ns;
	}
	if (noted > count && count > 0 && first_ns > calls->from_ns)
		calls->from_ns = first_ns;
	return 0;
}

/* Leaves the calls of the time in which those of all communicators are kept. */
static void drop_old(struct host_calls *calls)
{
	size_t kept = 0;

	for (size_t i = 0; i < calls->count; i++)
		if (calls->calls[i].call_ns >= calls->from_ns)
			calls->calls[kept++] = calls->calls[i];
	calls->count = kept;
}

/* Collects the recent calls of a rank's process. Returns 0 or -ENOMEM. */
static int collect(const struct ncs_model *model, const struct ncs_rank *rank,
		   struct host_calls *calls)
{
	int error = 0;

	calls->count = 0;
	calls->from_ns = calls->costs_from_ns = 0;
	if (rank->late && rank->late->operations > 0)
		calls->costs_from_ns =
			ncs_recent_at(rank->late,
				      ncs_costing_count(rank->late) - 1)
				->ready_ns;
	for (size_t i = 0; i < model->rank_count && !error; i++) {
		const struct ncs_late_rank *late = model->ranks[i]->late;

		if (!late || !ncs_shares_process(rank, model->ranks[i]))
			continue;
		error = add_calls(calls, late->recent, late->operations,
				  ncs_recent_count(late->operations));
		if (late->transfers)
			error |= add_calls(
				calls, late->transfers->recent,
				late->transfers->operations,
				ncs_recent_count(late->transfers->operations));
	}
	drop_old(calls);
	error |= ncs_array_reserve(&calls->gaps_ns, &calls->gap_capacity,
				   calls->count + 1, sizeof(*calls->gaps_ns));
	error |= ncs_array_reserve(&calls->step_ends_ns, &calls->step_capacity,
				   calls->count + 1,
				   sizeof(*calls->step_ends_ns));
	return error ? -ENOMEM : 0;
}

static int compare_calls(const void *left, const void *right)
{
	const struct host_call *a = left, *b = right;

	return (a->call_ns > b->call_ns) - (a->call_ns < b->call_ns);
}

/* --- What was before each call --------------------------------------------- */

static void find_latest_ends(struct host_calls *calls)
{
	uint64_t latest_ns = 0;

	for (size_t i = 0; i < calls->count; i++) {
		if (calls->calls[i].end_ns > latest_ns)
			latest_ns = calls->calls[i].end_ns;
		calls->calls[i].latest_end_ns = latest_ns;
	}
}

/* Finds the ends between a call and the one before. */
static void find_ends(struct host_calls *calls, size_t i)
{
	struct host_call *call = &calls->calls[i];
	uint64_t before_ns = calls->calls[i - 1].call_ns;

	call->gap_ns = call->call_ns - before_ns;
	call->is_idle = calls->calls[i - 1].latest_end_ns <= call->call_ns;
	for (size_t k = i; k-- > 0;) {
		uint64_t end_ns = calls->calls[k].end_ns;

		if (calls->calls[k].latest_end_ns <= before_ns)
			break;
		if (end_ns <= before_ns || end_ns > call->call_ns)
			continue;
		if (call->first_ns == 0 || end_ns < call->first_ns)
			call->first_ns = end_ns;
		if (end_ns > call->last_ns)
			call->last_ns = end_ns;
	}
}

static bool is_long(const struct host_calls *calls,
		    const struct host_call *call)
{
	return call->gap_ns >= calls->long_ns;
}

static int compare_gaps(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a < *b) - (*a > *b);
}

/* Returns the shortest gap that is long. `gaps_ns` has room for all. */
static uint64_t long_gap_ns(const struct host_calls *calls, uint64_t *gaps_ns)
{
	double sum_ns = 0, left_ns;
	size_t count = 0;

	for (size_t i = 1; i < calls->count; i++) {
		gaps_ns[count++] = calls->calls[i].gap_ns;
		sum_ns += (double)calls->calls[i].gap_ns;
	}
	qsort(gaps_ns, count, sizeof(*gaps_ns), compare_gaps);
	left_ns = MOST_TIME * sum_ns;
	for (size_t i = 0; i < count; i++) {
		left_ns -= (double)gaps_ns[i];
		if (left_ns <= 0)
			return (uint64_t)(LONG * (double)gaps_ns[i]);
	}
	return 0;
}

/* Finds the steps, which begin after long gaps, and when they ended. */
static void find_steps(struct host_calls *calls)
{
	calls->step_count = 0;
	for (size_t i = 0; i < calls->count; i++) {
		struct host_call *call = &calls->calls[i];
		uint64_t *end_ns;

		if (i == 0 || is_long(calls, call))
			calls->step_ends_ns[calls->step_count++] = 0;
		call->step = calls->step_count - 1;
		end_ns = &calls->step_ends_ns[call->step];
		if (call->end_ns > *end_ns)
			*end_ns = call->end_ns;
	}
}

/* Returns when the step before a call's ended, or one so many before that; 0 if it is
 * not known. */
static uint64_t awaited_ns(const struct host_calls *calls,
			   const struct host_call *call, unsigned ahead)
{
	return call->step > ahead ? calls->step_ends_ns[call->step - 1 - ahead] :
				    0;
}

/* Returns whether a host calls, from one place to another, before the end of the step
 * that it waits for if it is so many ahead. */
static bool calls_before_end(const struct host_calls *calls, unsigned ahead,
			     size_t from, size_t until)
{
	size_t count = 0, before = 0;

	for (size_t i = from; i < until; i++) {
		const struct host_call *call = &calls->calls[i];
		uint64_t end_ns = awaited_ns(calls, call, ahead);

		if (!is_long(calls, call) || end_ns == 0)
			continue;
		count++;
		before += end_ns > call->call_ns + NCS_LAUNCH_NS;
	}
	return before > 1 && (double)before > AHEAD * (double)count;
}

/* Returns how many steps a host is ahead from one place to another. */
static unsigned ahead_of(const struct host_calls *calls, size_t from,
			 size_t until)
{
	unsigned ahead = 0;

	while (ahead < AHEAD_MOST && calls_before_end(calls, ahead, from, until))
		ahead++;
	return ahead;
}

/* Returns whether a host gets further and further ahead: it does not wait at all. */
static bool runs_away(const struct host_calls *calls)
{
	size_t third = calls->count / 3;

	return ahead_of(calls, 2 * third, calls->count) >
	       ahead_of(calls, third, 2 * third) + 1;
}

/* --- Work ------------------------------------------------------------------ */

/* Returns the time since the call before, in ns, until the last end if the GPU is idle
 * when the host calls again; 0 if that does not tell whether the host waits for it. */
static double idle_end_ns(const struct host_calls *calls, size_t i)
{
	const struct host_call *call = &calls->calls[i];

	return call->is_idle && call->last_ns != 0 ?
		       (double)(call->last_ns - calls->calls[i - 1].call_ns) :
		       0;
}

/* Returns the same time until the end of the step that the host waits for. */
static double step_end_ns(const struct host_calls *calls, size_t i)
{
	const struct host_call *call = &calls->calls[i];
	uint64_t end_ns = awaited_ns(calls, call, calls->ahead);

	return end_ns <= call->call_ns ?
		       (double)ncs_time_since(calls->calls[i - 1].call_ns,
					      end_ns) :
		       0;
}

/* Returns whether the host waits for these ends. The earliest and the latest since a
 * call do not count: a single one that is far from the others, as after an operation
 * that is not known, would decide the answer. */
static enum ncs_host_wait
wait_of(const struct host_calls *calls,
	double (*end_ns)(const struct host_calls *, size_t))
{
	struct ncs_host_waits *waits = ncs_host_waits_new(1);
	const struct ncs_waited_call idle = { .is_idle = true };
	size_t first = 0, last = 0;
	enum ncs_host_wait wait;

	if (!waits)
		return NCS_HOST_WAIT_UNKNOWN;
	for (size_t i = 1; i < calls->count; i++) {
		double ns = end_ns(calls, i);

		if (ns <= 0 || !is_long(calls, &calls->calls[i]))
			continue;
		if (first == 0 || ns < end_ns(calls, first))
			first = i;
		if (last == 0 || ns > end_ns(calls, last))
			last = i;
	}
	for (size_t i = 1; i < calls->count; i++) {
		struct ncs_waited_call call = {
			.call_ns = (double)calls->calls[i].gap_ns,
			.last_ns = end_ns(calls, i),
			.is_idle = true,
		};

		if (call.last_ns > 0 && is_long(calls, &calls->calls[i]) &&
		    i != first && i != last)
			ncs_host_waits_note(waits, 0, &call);
	}
	wait = ncs_host_waits_of(waits, 0, &idle);
	ncs_host_waits_free(waits);
	return wait;
}

/* Returns when the step ended that a host waited for before a call: none that ended
 * after the call. 0 if it is not known. */
static uint64_t waited_until_ns(const struct host_calls *calls,
				const struct host_call *call)
{
	for (unsigned ahead = calls->ahead; call->step > ahead; ahead++) {
		uint64_t end_ns = awaited_ns(calls, call, ahead);

		if (end_ns <= call->call_ns)
			return end_ns;
	}
	return 0;
}

/* Returns how long the host worked before a call since a time. */
static double since(const struct host_call *call, uint64_t from_ns)
{
	uint64_t work_ns = ncs_time_since(from_ns, call->call_ns);

	return (double)(work_ns < call->gap_ns ? work_ns : call->gap_ns);
}

/* Returns the share of the time for which the host worked, from a call on: before each
 * call, since the one before, or since the end of the step that it waits for; at least,
 * since any end. */
static double share_of(const struct host_calls *calls, size_t from,
		       bool waits_when_idle, bool at_least)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	double sum_ns = 0, elapsed_ns;

	for (size_t i = from; i < calls->count; i++) {
		const struct host_call *call = &calls->calls[i];
		uint64_t end_ns = call->last_ns;

		if (call->ready_ns < calls->costs_from_ns)
			continue;
		if (call->ready_ns > last_ns)
			last_ns = call->ready_ns;
		if (first_ns == UINT64_MAX) {
			first_ns = call->ready_ns;
			continue;
		}
		if (call->ready_ns < first_ns)
			first_ns = call->ready_ns;
		if (!(call->is_idle ? waits_when_idle : !calls->runs_away))
			end_ns = 0;
		else if (!at_least && end_ns > 0 && is_long(calls, call))
			end_ns = waited_until_ns(calls, call);
		sum_ns += since(call, end_ns);
	}
	elapsed_ns = (double)(last_ns - first_ns);
	return elapsed_ns > 0 ? fmin(sum_ns / elapsed_ns, 1) : 0;
}

/* Counts the long gaps of a host, and finds whether they vary. */
static void count_gaps(const struct host_calls *calls, struct host *host)
{
	double sum_ns = 0, squares = 0, count, variance;

	for (size_t i = 1; i < calls->count; i++) {
		const struct host_call *call = &calls->calls[i];
		double gap_ns = (double)call->gap_ns;

		if (!is_long(calls, call))
			continue;
		host->long_count++;
		host->idle_count += call->is_idle;
		sum_ns += gap_ns;
		squares += gap_ns * gap_ns;
	}
	count = (double)host->long_count;
	variance = squares * count - sum_ns * sum_ns;
	host->varies = host->long_count < VARIES_LEAST ||
		       variance > VARIES * VARIES * sum_ns * sum_ns;
}

/* Returns the place of the first call before which the host may have waited for a step
 * that is known; 0 if there is none, or if it waits for none. */
static size_t first_known(const struct host_calls *calls)
{
	for (size_t i = 1; i < calls->count && !calls->runs_away; i++)
		if (is_long(calls, &calls->calls[i]) &&
		    awaited_ns(calls, &calls->calls[i], calls->ahead) != 0)
			return i;
	return 0;
}

/* Looks at the recent calls of a process's host. */
static struct host look_at(struct host_calls *calls)
{
	struct host host = { .wait = NCS_HOST_WAIT_UNKNOWN };
	size_t from;

	if (calls->count < NCS_STRAGGLER_OPERATIONS)
		return host;
	qsort(calls->calls, calls->count, sizeof(*calls->calls), compare_calls);
	find_latest_ends(calls);
	for (size_t i = 1; i < calls->count; i++)
		find_ends(calls, i);
	calls->long_ns = long_gap_ns(calls, calls->gaps_ns);
	find_steps(calls);
	calls->ahead = ahead_of(calls, 1, calls->count);
	calls->runs_away = runs_away(calls) ||
			   wait_of(calls, step_end_ns) == NCS_HOST_WAIT_NONE;
	from = first_known(calls);
	host = (struct host){
		.wait = wait_of(calls, idle_end_ns),
		.waiting = { share_of(calls, from, true, false),
			     share_of(calls, 0, true, true) },
		.going_on = { share_of(calls, from, false, false),
			      share_of(calls, 0, false, true) },
	};
	count_gaps(calls, &host);
	return host;
}

/* --- Limits ---------------------------------------------------------------- */

/* The hosts of a communicator that were looked at. */
struct hosts {
	struct host_calls calls;
	struct host *hosts;
	size_t count, capacity;
	size_t step; /* each so many ranks, one was looked at */
};

/* Returns whether the hosts of all ranks but one wait while their GPUs are idle: what
 * most of those do of which it is known, as all run the same program. That one is left
 * out since a late host may do otherwise. */
static enum ncs_host_wait wait_of_others(const struct hosts *hosts, size_t but)
{
	size_t wait = 0, go_on = 0;

	for (size_t i = 0; i < hosts->count; i++) {
		if (i * hosts->step == but)
			continue;
		wait += hosts->hosts[i].wait == NCS_HOST_WAIT_LAST;
		go_on += hosts->hosts[i].wait == NCS_HOST_WAIT_NONE;
	}
	if (wait == go_on || wait + go_on < hosts->count / KNOWN)
		return NCS_HOST_WAIT_UNKNOWN;
	return wait > go_on ? NCS_HOST_WAIT_LAST : NCS_HOST_WAIT_NONE;
}

/* Returns whether a host may go on with its work while its GPU is idle, as it mostly is
 * when it calls. */
static bool works_while_idle(const struct host *host)
{
	return host->waiting.at_least >= WORKS && host->varies &&
	       2 * host->idle_count > host->long_count;
}

/* Returns whether a host runs ahead of its GPU, and has work of its own. */
static bool works_ahead(const struct host *host)
{
	return host->waiting.share >= WORKS_MUCH && host->varies &&
	       2 * host->idle_count <= host->long_count;
}

/* Returns whether there are too few calls to tell whether a host works while its GPU is
 * idle. */
static bool is_early(const struct host *host)
{
	return works_while_idle(host) &&
	       host->long_count < (host->waiting.at_least < WORKS_MUCH ?
					   LONG_LEAST :
					   LONG_LEAST_MUCH);
}

/* Returns whether chance may explain what a rank seems to cost. It averages out with
 * the root of the number of steps. */
static bool may_be_chance(const struct host *host, double cost)
{
	double steps = fmin((double)host->long_count, LONG_LEAST);

	return cost * sqrt(steps / LONG_LEAST) < CHANCE;
}

/* Returns the share of the time for which a host worked. While it is too early to tell
 * whether the host goes on, and chance may explain what a rank seems to cost, all of the
 * time counts as work. */
static struct share choose(const struct host *host, enum ncs_host_wait wait,
			   double seeming_cost)
{
	if (wait != NCS_HOST_WAIT_LAST && is_early(host) &&
	    may_be_chance(host, seeming_cost))
		return (struct share){ 1, 1 };
	return wait == NCS_HOST_WAIT_NONE ? host->going_on : host->waiting;
}

/* Sets what a rank costs at most. */
static void set_limit(const struct hosts *hosts, size_t rank,
		      struct ncs_late_rank *late)
{
	enum ncs_host_wait wait = wait_of_others(hosts, rank);
	double seeming_cost =
		hosts->count > 0 ? ncs_seeming_cost(late, NCS_STRAGGLER_NS,
						    NCS_COST_MOST) :
				   0;
	struct ncs_lateness_view *view = &late->view;
	struct share most = { 0 };

	view->hosts_may_go_on = view->hosts_run_ahead = view->is_unsure = false;
	for (size_t i = 0; i < hosts->count; i++) {
		struct share share =
			choose(&hosts->hosts[i], wait, seeming_cost);
		bool may_work = wait != NCS_HOST_WAIT_LAST &&
				works_while_idle(&hosts->hosts[i]);

		if (i * hosts->step == rank)
			continue;
		view->hosts_may_go_on |= may_work;
		view->hosts_run_ahead |= works_ahead(&hosts->hosts[i]);
		view->is_unsure |= may_work &&
				   (wait == NCS_HOST_WAIT_UNKNOWN ||
				    is_early(&hosts->hosts[i]));
		most.share = fmax(most.share, share.share);
		most.at_least = fmax(most.at_least, share.at_least);
	}
	view->cost_limit = 1 - most.share;
	view->cost_limit_at_most = fmax(view->cost_limit, 1 - most.at_least);
	late->is_viewed = false;
}

/* Returns whether a rank of a communicator seems to cost anything. */
static bool has_cost(const struct ncs_communicator *communicator)
{
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i]->late &&
		    ncs_seeming_cost(communicator->ranks[i]->late,
				     NCS_STRAGGLER_NS, NCS_COST_MOST) > COSTS)
			return true;
	return false;
}

/* Looks at the hosts of a communicator. Returns 0 or -ENOMEM. */
static int look_at_hosts(const struct ncs_model *model,
			 const struct ncs_communicator *communicator,
			 struct hosts *hosts)
{
	hosts->count = 0;
	hosts->step = communicator->rank_count / ASKED + 1;
	if (ncs_array_reserve(&hosts->hosts, &hosts->capacity,
			      communicator->rank_count / hosts->step + 1,
			      sizeof(*hosts->hosts)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < communicator->rank_count; i += hosts->step) {
		if (collect(model, communicator->ranks[i], &hosts->calls) != 0)
			return -ENOMEM;
		hosts->hosts[hosts->count++] = look_at(&hosts->calls);
	}
	return 0;
}

int ncs_host_calls_update(struct ncs_model *model)
{
	struct hosts hosts = { .step = 1 };
	int error = 0;

	for (size_t i = 0; i < model->communicator_count && !error; i++) {
		hosts.count = 0;
		if (has_cost(&model->communicators[i]))
			error = look_at_hosts(model, &model->communicators[i],
					      &hosts);
		for (size_t k = 0; k < model->communicators[i].rank_count; k++)
			if (model->communicators[i].ranks[k]->late)
				set_limit(&hosts, k,
					  model->communicators[i].ranks[k]->late);
	}
	free(hosts.hosts);
	free(hosts.calls.calls);
	free(hosts.calls.gaps_ns);
	free(hosts.calls.step_ends_ns);
	return error;
}
