/* SPDX-License-Identifier: MIT */
/* Calls of hosts; see host_calls.h. Must not judge lateness: cost_limits.c concludes
 * from these calls what it costs.
 */
#include "analysis/model/host_calls.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/model/communicators.h"
#include "analysis/model/comparison.h"
#include "analysis/model/lateness_cost.h"
#include "shm/array.h"

/* A host waits for its GPU once in a step, in a long gap between two calls. The longest
 * gaps, which together make MOST_TIME of the time, are long, and all that have at least
 * LONG of the length of the shortest of these. */
#define LONG 0.5
#define MOST_TIME 0.8

/* A host does not wait for the end of a step if it calls before that end in more than
 * this share of the steps, and in more than one: a call may be disturbed. */
#define AHEAD 0.1

/* There is chance in how far behind a host is if its long gaps vary by this share, but
 * for the longest one, as when a job warms up, or if there are fewer than so many. */
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
	uint64_t last_ns; /* the last end since the call before; 0: there is none */
	bool is_idle; /* all that was called before had ended */
};

struct ncs_host_calls {
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

/* --- Calls of a process ---------------------------------------------------- */

/* Adds the latest calls of a ring in which so many have been noted. */
static int add_calls(struct ncs_host_calls *calls,
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
static void drop_old(struct ncs_host_calls *calls)
{
	size_t kept = 0;

	for (size_t i = 0; i < calls->count; i++)
		if (calls->calls[i].call_ns >= calls->from_ns)
			calls->calls[kept++] = calls->calls[i];
	calls->count = kept;
}

/* Collects the recent calls of a rank's process. Returns 0 or -ENOMEM. */
static int collect(const struct ncs_model *model, const struct ncs_rank *rank,
		   struct ncs_host_calls *calls)
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

/* Finds for each call when all that was called by then had ended. */
static void find_latest_ends(struct ncs_host_calls *calls)
{
	uint64_t latest_ns = 0;

	for (size_t i = 0; i < calls->count; i++) {
		if (calls->calls[i].end_ns > latest_ns)
			latest_ns = calls->calls[i].end_ns;
		calls->calls[i].latest_end_ns = latest_ns;
	}
}

/* Finds the last end between a call and the one before. */
static void find_last_end(struct ncs_host_calls *calls, size_t i)
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
		if (end_ns > call->last_ns)
			call->last_ns = end_ns;
	}
}

static bool is_long(const struct ncs_host_calls *calls,
		    const struct host_call *call)
{
	return call->gap_ns >= calls->long_ns;
}

static int compare_gaps(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a < *b) - (*a > *b);
}

/* Returns the shortest gap that is long. */
static uint64_t long_gap_ns(const struct ncs_host_calls *calls)
{
	uint64_t *gaps_ns = calls->gaps_ns;
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
static void find_steps(struct ncs_host_calls *calls)
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
static uint64_t awaited_ns(const struct ncs_host_calls *calls,
			   const struct host_call *call, unsigned ahead)
{
	return call->step > ahead ? calls->step_ends_ns[call->step - 1 - ahead] :
				    0;
}

/* Returns whether a host calls, from one place to another, before the end of the step
 * that it waits for if it is so many ahead. */
static bool calls_before_end(const struct ncs_host_calls *calls, unsigned ahead,
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
static unsigned ahead_of(const struct ncs_host_calls *calls, size_t from,
			 size_t until)
{
	unsigned ahead = 0;

	while (ahead < AHEAD_MOST && calls_before_end(calls, ahead, from, until))
		ahead++;
	return ahead;
}

/* Returns whether a host gets further and further ahead: it does not wait at all. */
static bool runs_away(const struct ncs_host_calls *calls)
{
	size_t third = calls->count / 3;

	return ahead_of(calls, 2 * third, calls->count) >
	       ahead_of(calls, third, 2 * third) + 1;
}

/* --- Work ------------------------------------------------------------------ */

/* Returns the time since the call before, in ns, until the last end if the GPU is idle
 * when the host calls again; 0 if that does not tell whether the host waits for it. */
static double idle_end_ns(const struct ncs_host_calls *calls, size_t i)
{
	const struct host_call *call = &calls->calls[i];

	return call->is_idle && call->last_ns != 0 ?
		       (double)(call->last_ns - calls->calls[i - 1].call_ns) :
		       0;
}

/* Returns the time since the call before, in ns, until the end of the step that the host
 * waits for; 0 if that does not tell whether it does. */
static double step_end_ns(const struct ncs_host_calls *calls, size_t i)
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
wait_of(const struct ncs_host_calls *calls,
	double (*end_ns)(const struct ncs_host_calls *, size_t))
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
static uint64_t waited_until_ns(const struct ncs_host_calls *calls,
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
static double share_of(const struct ncs_host_calls *calls, size_t from,
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
static void count_gaps(const struct ncs_host_calls *calls,
		       struct ncs_host_work *host)
{
	double sum_ns = 0, squares = 0, longest_ns = 0, count, variance;

	for (size_t i = 1; i < calls->count; i++) {
		const struct host_call *call = &calls->calls[i];
		double gap_ns = (double)call->gap_ns;

		if (!is_long(calls, call))
			continue;
		host->long_count++;
		host->idle_count += call->is_idle;
		sum_ns += gap_ns;
		squares += gap_ns * gap_ns;
		longest_ns = fmax(longest_ns, gap_ns);
	}
	count = (double)host->long_count - 1;
	sum_ns -= longest_ns;
	squares -= longest_ns * longest_ns;
	variance = squares * count - sum_ns * sum_ns;
	host->varies = host->long_count < VARIES_LEAST ||
		       variance > VARIES * VARIES * sum_ns * sum_ns;
}

/* Returns the place of the first call before which the host may have waited for a step
 * that is known; 0 if there is none, or if it waits for none. */
static size_t first_known(const struct ncs_host_calls *calls)
{
	for (size_t i = 1; i < calls->count && !calls->runs_away; i++)
		if (is_long(calls, &calls->calls[i]) &&
		    awaited_ns(calls, &calls->calls[i], calls->ahead) != 0)
			return i;
	return 0;
}

/* Looks at the calls that were collected. */
static struct ncs_host_work look_at(struct ncs_host_calls *calls)
{
	struct ncs_host_work host = { .wait = NCS_HOST_WAIT_UNKNOWN };
	size_t from;

	if (calls->count < NCS_STRAGGLER_OPERATIONS)
		return host;
	qsort(calls->calls, calls->count, sizeof(*calls->calls), compare_calls);
	find_latest_ends(calls);
	for (size_t i = 1; i < calls->count; i++)
		find_last_end(calls, i);
	calls->long_ns = long_gap_ns(calls);
	find_steps(calls);
	calls->ahead = ahead_of(calls, 1, calls->count);
	calls->runs_away = runs_away(calls) ||
			   wait_of(calls, step_end_ns) == NCS_HOST_WAIT_NONE;
	from = first_known(calls);
	host = (struct ncs_host_work){
		.wait = wait_of(calls, idle_end_ns),
		.waiting = { share_of(calls, from, true, false),
			     share_of(calls, 0, true, true) },
		.going_on = { share_of(calls, from, false, false),
			      share_of(calls, 0, false, true) },
	};
	count_gaps(calls, &host);
	return host;
}

/* --- Looks ----------------------------------------------------------------- */

struct ncs_host_calls *ncs_host_calls_new(void)
{
	return calloc(1, sizeof(struct ncs_host_calls));
}

void ncs_host_calls_free(struct ncs_host_calls *calls)
{
	if (!calls)
		return;
	free(calls->calls);
	free(calls->gaps_ns);
	free(calls->step_ends_ns);
	free(calls);
}

int ncs_host_calls_look(struct ncs_host_calls *calls,
			const struct ncs_model *model,
			const struct ncs_rank *rank, struct ncs_host_work *host)
{
	if (collect(model, rank, calls) != 0)
		return -ENOMEM;
	*host = look_at(calls);
	return 0;
}
