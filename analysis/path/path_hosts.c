/* SPDX-License-Identifier: MIT */
/* Calls of hosts in each run; see path_hosts.h. */
#include "analysis/path/path_hosts.h"

#include <math.h>
#include <stdlib.h>

/* Number of calls of a rank that are remembered. A host that is further ahead of
 * its GPU has not waited for it. */
#define CALLS 64u

/* A call, and when its part ended. Times are as recorded, but in `runs`. */
struct ncs_path_call {
	double call_ns;
	double end_ns; /* it may have ended from then on */
	struct {
		double call_ns, end_ns;
	} runs[];
};

/* A host whose work may be this share of the time between its calls has little to
 * do. */
#define LITTLE 0.08

/* Number of leads that are remembered. */
#define LEADS 8u

/* A host that gets further ahead does so by this share of the time between its
 * calls. */
#define AHEAD 0.01

/* The latest calls of a host, in the order in which their parts were processed:
 * about that of their ends. */
struct ncs_path_host {
	size_t call_bytes;
	unsigned count, next;
	/* How long before the ends of their parts the latest calls came before
	 * which some part had ended. */
	double leads_ns[LEADS];
	unsigned lead_count;
	_Alignas(struct ncs_path_call) char calls[];
};

bool ncs_path_hosts_init(const struct ncs_path *path,
			 struct ncs_path_rank *rank)
{
	size_t bytes =
		sizeof(struct ncs_path_call) +
		path->run_count * sizeof(((struct ncs_path_call *)0)->runs[0]);

	rank->host = calloc(1, sizeof(*rank->host) + CALLS * bytes);
	if (!rank->host)
		return false;
	rank->host->call_bytes = bytes;
	return true;
}

void ncs_path_hosts_release(struct ncs_path_rank *rank)
{
	free(rank->host);
}

static struct ncs_path_call *call_at(struct ncs_path_host *host, unsigned place)
{
	return (void *)(host->calls + place * host->call_bytes);
}

/* Returns the i-th newest call. */
static const struct ncs_path_call *newest(struct ncs_path_host *host,
					  unsigned i)
{
	return call_at(host, (host->next + CALLS - 1 - i) % CALLS);
}

/* Returns what a host called last, of what is remembered, by `until_ns`; NULL if
 * there is none. */
static const struct ncs_path_call *called_before(struct ncs_path_host *host,
						 double until_ns)
{
	const struct ncs_path_call *found = NULL;

	for (unsigned i = 0; i < host->count; i++) {
		const struct ncs_path_call *call = newest(host, i);

		if (found && call->end_ns <= found->call_ns)
			break;
		if (call->call_ns <= until_ns &&
		    (!found || call->call_ns > found->call_ns))
			found = call;
	}
	return found;
}

/* Notes how long before the end of its part a host has called. Returns whether it
 * has got further ahead of its GPU than it was of late. */
static bool gets_ahead(struct ncs_path_host *host, double lead_ns,
		       double since_ns)
{
	unsigned count = host->lead_count < LEADS ? host->lead_count : LEADS;
	double most_ns = -INFINITY;

	for (unsigned i = 0; i < count; i++)
		most_ns = ncs_larger(most_ns, host->leads_ns[i]);
	host->leads_ns[host->lead_count++ % LEADS] = lead_ns;
	return lead_ns > most_ns + AHEAD * since_ns;
}

/* The parts of a rank that ended between two calls. */
struct ended_between {
	const struct ncs_path_call *first, *last;
	unsigned in_flight; /* parts that had been called and had not ended */
	bool is_forgotten;  /* others may have ended that are not remembered */
};

static struct ended_between find_ended(struct ncs_path_host *host,
				       double from_ns, double until_ns)
{
	struct ended_between ended = { .is_forgotten = host->count == CALLS };

	for (unsigned i = 0; i < host->count; i++) {
		const struct ncs_path_call *call = newest(host, i);

		if (call->end_ns <= from_ns) {
			ended.is_forgotten = false;
			break;
		}
		ended.in_flight += call->end_ns > until_ns &&
				   call->call_ns < until_ns;
		if (call->end_ns > until_ns)
			continue;
		if (!ended.first || call->end_ns < ended.first->end_ns)
			ended.first = call;
		if (!ended.last || call->end_ns > ended.last->end_ns)
			ended.last = call;
	}
	return ended;
}

/* Tells how long a host worked at most before a call: as long as at least, if it
 * has waited for the last end; if it may have waited, since the first end; else, and
 * if it got further ahead, since its call before. */
static void bound_work(const struct ncs_path *path, uint32_t rank,
		       const struct ncs_waited_call *call,
		       const struct ended_between *ended, bool is_further,
		       struct ncs_path_pace *pace)
{
	struct ncs_host_waits *waits =
		ncs_path_works_waits(path->options.works);
	enum ncs_host_wait wait = ncs_host_waits_of(waits, rank, call);
	bool waits_for_last = wait == NCS_HOST_WAIT_LAST;

	if (call->is_idle && wait == NCS_HOST_WAIT_NONE) {
		pace->least_ns = call->call_ns;
		return;
	}
	if (call->is_idle) {
		waits_for_last |= pace->least_ns <= LITTLE * call->call_ns;
		waits_for_last &= !ncs_host_waits_is_ahead(waits, rank);
	}
	if (waits_for_last) {
		pace->first = ended->last;
		pace->most_ns = pace->least_ns;
	} else if (!call->is_idle && !is_further) {
		pace->first = ended->first;
		pace->most_ns = ncs_smaller(
			call->call_ns - call->first_ns,
			ncs_host_waits_most_ns(waits, call->call_ns));
		pace->most_ns = ncs_larger(pace->most_ns, pace->least_ns);
	}
}

void ncs_path_find_pace(const struct ncs_path *path,
			const struct ncs_part_times *times,
			struct ncs_path_arrival *arrival)
{
	struct ncs_path_host *host = arrival->member->rank->host;
	uint32_t rank = path->options.owners[times->owner].rank;
	struct ncs_path_pace *pace = &arrival->pace;
	struct ncs_waited_call call;
	struct ended_between ended;
	double before_ns, lead_ns;
	bool is_further;

	*pace = (struct ncs_path_pace){ .before = NULL };
	if (!host || arrival->member->rank->has_transfers)
		return;
	pace->before = called_before(host, arrival->call_ns);
	if (!pace->before)
		return;
	before_ns = pace->before->call_ns;
	ended = find_ended(host, before_ns, arrival->call_ns);
	pace->most_ns = arrival->call_ns - before_ns;
	pace->least_ns = ended.is_forgotten ? 0 : pace->most_ns;
	if (!ended.first)
		return;
	if (!ended.is_forgotten)
		pace->least_ns = arrival->call_ns - ended.last->end_ns;
	lead_ns = ncs_since(path->base_ns, times->least_end_ns) -
		  arrival->call_ns;
	is_further = gets_ahead(host, lead_ns, pace->most_ns);
	if (ended.is_forgotten)
		return;
	call = (struct ncs_waited_call){
		.call_ns = pace->most_ns,
		.first_ns = ended.first->end_ns - before_ns,
		.last_ns = ended.last->end_ns - before_ns,
		.is_idle = ended.in_flight == 0,
	};
	if (!path->options.learns)
		bound_work(path, rank, &call, &ended, is_further, pace);
	else if (call.is_idle || !is_further)
		ncs_host_waits_note(ncs_path_works_waits(path->options.works),
				    rank, &call);
}

double ncs_path_paced_call_ns(const struct ncs_path *path, size_t k,
			      const struct ncs_path_arrival *arrival)
{
	const struct ncs_path_pace *pace = &arrival->pace;
	double from_ns;

	if (!(path->paced >> k & 1) || !pace->before)
		return -INFINITY;
	from_ns = pace->before->runs[k].call_ns;
	if (!(path->at_worst >> k & 1))
		return from_ns + pace->least_ns;
	if (pace->first)
		from_ns = ncs_larger(from_ns, pace->first->runs[k].end_ns);
	return from_ns + pace->most_ns;
}

double ncs_path_paced_ns(const struct ncs_path *path, size_t k,
			 const struct ncs_path_arrival *arrival)
{
	double work_ns = arrival->total_ns - arrival->gap_ns[NCS_PATH_HOST];

	if (path->at_best >> k & 1)
		work_ns = 0;
	return ncs_path_paced_call_ns(path, k, arrival) + work_ns;
}

void ncs_path_keep_call(const struct ncs_path *path,
			const struct ncs_path_arrival *arrival,
			const struct ncs_path_ready *ready,
			const struct ncs_part_times *times,
			const double *calls_ns)
{
	struct ncs_path_host *host = arrival->member->rank->host;
	struct ncs_path_call *call = call_at(host, host->next);
	double end_ns = ncs_since(path->base_ns, times->least_end_ns);

	host->next = (host->next + 1) % CALLS;
	if (host->count < CALLS)
		host->count++;
	call->call_ns = arrival->call_ns;
	call->end_ns = end_ns;
	for (size_t k = 0; k < path->run_count; k++) {
		call->runs[k].call_ns = calls_ns[k];
		call->runs[k].end_ns = ready->in_ns[k] + (end_ns - ready->ns);
	}
}
