/* SPDX-License-Identifier: MIT */
/* Arrivals with the changes of scenarios; see path_arrivals.h. */
#include "analysis/path/path_arrivals.h"

#include <math.h>

#include "analysis/base/selection.h"
#include "analysis/path/path_finished.h"
#include "analysis/path/path_hosts.h"

/* Work of this length, in ns, is compared with that of others. */
#define COMPARED_NS 100000.0

/* Others' work is known if they waited for no more than this share of it. */
#define WAITED_LITTLE 0.1

/* This much of a straggler's speed is forgotten with each comparison. */
#define FORGOTTEN 0.1

/* A GPU with this share of the others' speed is as fast. */
#define AS_FAST 0.9

/* That is not known any more after so many works for which the others may have used
 * their waits: a job may have begun otherwise. */
#define UNSURE 16u

/* Work counts as longer than that of others from this share on, and by so
 * much. */
#define LONGER 0.1
#define LONGER_NS 100000.0

/* Whether the time before an arrival is known. A rank that came straight from
 * the operation before it may have been ready long since, unless all it does is
 * to communicate. */
static bool is_total_known(const struct ncs_path_arrival *arrival)
{
	return !arrival->is_queued ||
	       arrival->member->rank->queued == NCS_PATH_QUEUED_MANY;
}

/* Returns the end that an arrival follows in run k. */
static double base_ns(const struct ncs_path_arrival *arrival, size_t k)
{
	const struct ncs_path_finished *earliest = arrival->earliest;

	if (arrival->predecessor.finished)
		return ncs_path_before_ns(&arrival->predecessor, k);
	return arrival->base_ns +
	       (earliest ? earliest->runs[k].end_ns - earliest->at_ns : 0);
}

/* Returns when a part is called in run k, if the host takes as long as it
 * did. */
static double call_ns(const struct ncs_path_arrival *arrival, size_t k)
{
	if (arrival->call_predecessor.finished)
		return ncs_path_before_ns(&arrival->call_predecessor, k) +
		       arrival->call_gap_ns;
	return base_ns(arrival, k) + arrival->gap_ns[NCS_PATH_HOST];
}

/* Returns when a part of another rank than the straggler is called in run k. If it
 * was called before the end that its arrival follows, and that which its call follows
 * is not remembered, only its host tells. */
static double other_call_ns(const struct ncs_path *path,
			    const struct ncs_path_arrival *arrival, size_t k)
{
	double from_ns = arrival->at_ns - arrival->total_ns;
	double paced_ns = ncs_path_paced_call_ns(path, k, arrival);

	if (isfinite(paced_ns) && !arrival->call_predecessor.finished &&
	    arrival->call_ns < from_ns)
		return paced_ns;
	return ncs_larger(call_ns(arrival, k), paced_ns);
}

/* Negative if the end before is recorded too late, as the arrival was before
 * it. */
static double after_end_ns(const struct ncs_path_arrival *arrival)
{
	return arrival->total_ns - arrival->predecessor.overlap_ns;
}

static double total_ns(const struct ncs_path *path,
		       const struct ncs_path_arrival *arrival, size_t k)
{
	(void)path;
	(void)k;
	return is_total_known(arrival) ? after_end_ns(arrival) : INFINITY;
}

/* Returns how long a rank's GPU took before an arrival, without the time until its
 * host called: where all hosts pause, that time says nothing about the GPU. */
static double own_work_ns(const struct ncs_path_arrival *arrival)
{
	return arrival->total_ns - arrival->gap_ns[NCS_PATH_HOST];
}

static double work_ns(const struct ncs_path *path,
		      const struct ncs_path_arrival *arrival, size_t k)
{
	(void)path;
	(void)k;
	return is_total_known(arrival) ?
		       ncs_larger(own_work_ns(arrival) -
					  arrival->predecessor.overlap_ns,
				  0) :
		       INFINITY;
}

static double queued_ns(const struct ncs_path *path,
			const struct ncs_path_arrival *arrival, size_t k)
{
	(void)path;
	(void)k;
	return arrival->is_queued ? after_end_ns(arrival) : INFINITY;
}

static double waited_ns(const struct ncs_path *path,
			const struct ncs_path_arrival *arrival, size_t k)
{
	(void)path;
	(void)k;
	return is_total_known(arrival) ? arrival->waited_ns : INFINITY;
}

/* Returns the median of a time of all ranks, or of all but the one that the
 * scenario names, without those that are INFINITY. Returns INFINITY if there is
 * nothing to compare with. */
static double median_of(const struct ncs_path *path, size_t k,
			const struct ncs_part *parts, size_t count,
			double (*time_ns)(const struct ncs_path *,
					  const struct ncs_path_arrival *,
					  size_t))
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t rank = path->options.owners[parts[i].owner].rank;
		double ns = time_ns(path, &path->arrivals[i], k);

		if (isfinite(ns) &&
		    (scenario->rank < 0 || rank != (uint32_t)scenario->rank))
			path->gaps[known++] = ns;
	}
	if (known == 0 || (scenario->rank < 0 && known < 2))
		return INFINITY;
	return ncs_select(path->gaps, known, (known - 1) / 2);
}

/* Whether a scenario changes the arrival of this part. */
static bool is_meant(const struct ncs_path *path,
		     const struct ncs_scenario *scenario,
		     const struct ncs_part *part)
{
	const struct ncs_path_options *options = &path->options;

	if (scenario->rank >= 0 &&
	    options->owners[part->owner].rank != (uint32_t)scenario->rank)
		return false;
	return !scenario->range ||
	       (options->is_in_range &&
		options->is_in_range(options->context, part, scenario->range));
}

/* Savings by a scenario of the time before a part's arrival, in ns. */
struct gap_savings {
	double gap_ns[NCS_PATH_GAPS];
	/* The end before, which is recorded too late, comes so much earlier. */
	double early_ns;
};

/* Takes up to `ns` of a gap; returns what is left of `ns`. */
static double save(struct gap_savings *savings,
		   const struct ncs_path_arrival *arrival, unsigned gap,
		   double ns)
{
	double saved_ns =
		ncs_smaller(arrival->gap_ns[gap] - savings->gap_ns[gap], ns);

	savings->gap_ns[gap] += saved_ns;
	return ns - saved_ns;
}

/* Returns how much longer a straggler works than others do between the same kinds
 * of operations. */
static double longer_ns(const struct ncs_path_arrival *arrival)
{
	double others_ns = arrival->others_ns;

	if (!arrival->is_by_kind || isinf(others_ns) ||
	    arrival->total_ns <= others_ns * (1 + LONGER) + LONGER_NS)
		return 0;
	return arrival->total_ns - others_ns;
}

/* Makes a straggler work as long as others do. */
static void save_work(const struct ncs_path_arrival *arrival,
		      struct gap_savings *savings)
{
	double ns = longer_ns(arrival);

	ns = save(savings, arrival, NCS_PATH_STREAM, ns);
	ns = save(savings, arrival, NCS_PATH_LAUNCH, ns);
	ns = save(savings, arrival, NCS_PATH_QUEUE, ns);
	save(savings, arrival, NCS_PATH_HOST, ns);
}

/* Returns what a straggler's GPU takes before an arrival. */
static double gpu_ns(const struct ncs_path_arrival *arrival, size_t k,
		     const struct ncs_path_usual *usual)
{
	double host_ns = ncs_larger(usual->call_ns - base_ns(arrival, k), 0);

	return arrival->total_ns -
	       ncs_larger(arrival->gap_ns[NCS_PATH_HOST] - host_ns, 0);
}

/* Returns how much of a straggler's work the others may have done while they waited
 * before. */
static double done_before_ns(const struct ncs_path_arrival *arrival,
			     const struct ncs_path_usual *usual)
{
	return !isinf(usual->total_ns) &&
			       usual->waited_ns >=
				       WAITED_LITTLE * own_work_ns(arrival) ?
		       usual->waited_ns :
		       0;
}

/* Returns how much longer than the others a straggler took. Where they waited
 * before, their work may have gone on: a GPU that is known to be as fast was
 * late by what that leaves, and so it is at worst if that was known once. One that had
 * nothing to do is queued as they were, if it is called in time. */
static double lateness_ns(const struct ncs_path *path,
			  const struct ncs_path_arrival *arrival, size_t k,
			  const struct ncs_path_usual *usual)
{
	const struct ncs_path_compared *compared =
		&arrival->member->rank->compared[k];
	double own_ns = gpu_ns(arrival, k, usual);
	double ns = own_ns - usual->total_ns;

	if (isinf(usual->total_ns) && !isinf(usual->queued_ns) &&
	    own_ns <= NCS_PATH_QUEUED_NS &&
	    usual->call_ns <= base_ns(arrival, k))
		ns = own_ns - usual->queued_ns;
	if (compared->surely_as_fast >= AS_FAST &&
	    (compared->unsure < UNSURE || path->at_worst >> k & 1))
		ns -= done_before_ns(arrival, usual);
	return ncs_larger(ns, 0);
}

/* Makes a straggler like the others: its call comes when theirs do, and it takes
 * no longer than they did. */
static void save_lateness(const struct ncs_path *path,
			  const struct ncs_path_arrival *arrival, size_t k,
			  const struct ncs_path_usual *usual,
			  struct gap_savings *savings)
{
	double ns = lateness_ns(path, arrival, k, usual);

	save(savings, arrival, NCS_PATH_HOST,
	     arrival->total_ns - gpu_ns(arrival, k, usual));
	ns = save(savings, arrival, NCS_PATH_STREAM, ns);
	ns = save(savings, arrival, NCS_PATH_LAUNCH, ns);
	ns = save(savings, arrival, NCS_PATH_QUEUE, ns);
	ns = save(savings, arrival, NCS_PATH_HOST, ns);
	savings->early_ns =
		ncs_path_before_early(arrival->predecessor, ns).overlap_ns -
		arrival->predecessor.overlap_ns;
}

/* Whether all of the time before a straggler's arrival may be lateness: it cannot
 * be compared, or only by kind, of which the few others may be misleading. */
static bool is_incomparable(const struct ncs_path_arrival *arrival,
			    const struct ncs_path_usual *usual)
{
	return arrival->is_by_kind || isinf(usual->total_ns);
}

/* Takes all of the time before an arrival. */
static void save_all(const struct ncs_path_arrival *arrival,
		     struct gap_savings *savings)
{
	for (unsigned i = 0; i < NCS_PATH_GAPS; i++)
		savings->gap_ns[i] = arrival->gap_ns[i];
	savings->early_ns =
		ncs_path_before_early(arrival->predecessor, INFINITY)
			.overlap_ns -
		arrival->predecessor.overlap_ns;
}

static struct gap_savings savings_of(const struct ncs_path *path, size_t k,
				     const struct ncs_part *part,
				     const struct ncs_path_arrival *arrival,
				     const struct ncs_path_usual *usual)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);
	struct gap_savings savings = { .early_ns = 0 };
	double share;

	if ((path->at_best >> k & 1) && arrival->is_beside &&
	    arrival->comm_predecessor.finished)
		save_all(arrival, &savings);
	if (!scenario || !is_meant(path, scenario, part))
		return savings;
	share = 1 - scenario->factor;
	switch (scenario->kind) {
	case NCS_WHAT_IF_STREAM:
		savings.gap_ns[NCS_PATH_STREAM] =
			arrival->gap_ns[NCS_PATH_STREAM] * share;
		break;
	case NCS_WHAT_IF_HOST:
		savings.gap_ns[NCS_PATH_HOST] =
			arrival->gap_ns[NCS_PATH_HOST] * share;
		break;
	case NCS_WHAT_IF_LAUNCH:
		savings.gap_ns[NCS_PATH_LAUNCH] =
			arrival->gap_ns[NCS_PATH_LAUNCH] * share;
		break;
	case NCS_WHAT_IF_OVERLAP:
		savings.gap_ns[NCS_PATH_STREAM] =
			arrival->gap_ns[NCS_PATH_STREAM];
		break;
	case NCS_WHAT_IF_WITHOUT:
		if ((path->at_best >> k & 1) && is_incomparable(arrival, usual))
			save_all(arrival, &savings);
		else if (arrival->is_by_kind)
			save_work(arrival, &savings);
		else
			save_lateness(path, arrival, k, usual, &savings);
		break;
	default:
		break;
	}
	return savings;
}

/* Notes how much earlier a part's call comes in run k if hosts are faster. */
static void note_call(const struct ncs_path *path, size_t k,
		      const struct ncs_part *part,
		      const struct ncs_path_arrival *arrival)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);
	double *saved_ns = &arrival->member->saved_ns[k];

	if (!arrival->is_next_call)
		*saved_ns = 0;
	if (scenario->kind == NCS_WHAT_IF_HOST &&
	    is_meant(path, scenario, part))
		*saved_ns += arrival->host_ns * (1 - scenario->factor);
}

/* Whether the scenario of run k makes a part like the others. */
static bool is_straggler(const struct ncs_path *path, size_t k,
			 const struct ncs_part *part)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);

	return scenario && scenario->kind == NCS_WHAT_IF_WITHOUT &&
	       is_meant(path, scenario, part);
}

/* Returns how much earlier a part's call comes in run k than by the end before
 * it. */
static double call_saved_ns(const struct ncs_path *path, size_t k,
			    const struct ncs_part *part,
			    const struct ncs_path_arrival *arrival,
			    const struct ncs_path_usual *usual)
{
	/* Its call is in its work. */
	if (is_straggler(path, k, part) && arrival->is_by_kind)
		return INFINITY;
	if (is_straggler(path, k, part) && usual->host_ns > 0 &&
	    (path->at_best >> k & 1))
		return INFINITY;
	if (is_straggler(path, k, part))
		return ncs_larger(call_ns(arrival, k) - usual->call_ns, 0);
	return arrival->member->saved_ns[k];
}

double ncs_path_call_ns(const struct ncs_path *path, size_t k, size_t owner,
			const struct ncs_path_arrival *arrival)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);
	uint32_t rank = path->options.owners[owner].rank;

	if (scenario && rank == (uint32_t)scenario->rank)
		return call_ns(arrival, k);
	return other_call_ns(path, arrival, k);
}

/* Returns when a part arrives in run k by what its host has called before. */
static double by_host_ns(const struct ncs_path *path, size_t k,
			 const struct ncs_part *part,
			 const struct ncs_path_arrival *arrival)
{
	if (!(path->paced >> k & 1) || is_straggler(path, k, part))
		return -INFINITY;
	return ncs_path_paced_ns(path, k, arrival);
}

double ncs_path_arrival_ns(const struct ncs_path *path, size_t k,
			   const struct ncs_part *part,
			   const struct ncs_path_arrival *arrival,
			   const struct ncs_path_usual *usual)
{
	struct gap_savings savings = savings_of(path, k, part, arrival, usual);
	double at_ns =
		base_ns(arrival, k) + arrival->total_ns - savings.early_ns;

	for (unsigned i = 0; i < NCS_PATH_GAPS; i++)
		at_ns -= savings.gap_ns[i];
	at_ns = ncs_path_not_before_ns(
		arrival, k, call_saved_ns(path, k, part, arrival, usual),
		savings.early_ns, at_ns);
	return ncs_larger(at_ns, by_host_ns(path, k, part, arrival));
}

/* Notes when a straggler calls. If it cannot be compared with others, it calls as
 * long after its call before as it did. */
static void compare_calls(const struct ncs_path_arrival *arrival, size_t k,
			  struct ncs_path_usual *usual)
{
	struct ncs_path_compared *compared =
		&arrival->member->rank->compared[k];

	if (isinf(usual->call_ns) && compared->has_called &&
	    compared->call_ns <= arrival->call_ns) {
		usual->host_ns = arrival->call_ns - compared->call_ns;
		usual->call_ns = compared->called_ns + usual->host_ns;
	}
	compared->has_called = true;
	compared->call_ns = arrival->call_ns;
	compared->called_ns = ncs_smaller(call_ns(arrival, k), usual->call_ns);
}

static unsigned work_size(double ns)
{
	int size = ns < 1 ? 0 : ilogb(ns);

	return size < (int)NCS_PATH_WORK_SIZES ? (unsigned)size :
						 NCS_PATH_WORK_SIZES - 1;
}

/* Compares a straggler's work with that of others. */
static void compare_work(const struct ncs_path_arrival *arrival, size_t k,
			 const struct ncs_path_usual *usual)
{
	struct ncs_path_compared *compared =
		&arrival->member->rank->compared[k];
	double own_ns = own_work_ns(arrival), as_fast;
	float *of_size;

	if (isinf(usual->work_ns) || own_ns < COMPARED_NS)
		return;
	as_fast = ncs_smaller(usual->work_ns / own_ns, 1);
	compared->as_fast = ncs_larger(as_fast, compared->as_fast - FORGOTTEN);
	of_size = &compared->as_fast_of[work_size(own_ns)];
	*of_size = (float)ncs_larger(as_fast, *of_size - FORGOTTEN);
	compared->unsure++;
	if (as_fast == 1 || usual->waited_ns < WAITED_LITTLE * own_ns) {
		compared->surely_as_fast = as_fast;
		compared->unsure = 0;
	}
}

/* Returns how much of a straggler's time before an arrival may be its lateness,
 * where what its GPU took cannot be compared with others: a slow GPU is as slow
 * there as it has been wherever it was compared of late, and wherever it took as
 * long. Before a send or a receive, all of it may be. */
static double unknown_ns(const struct ncs_part *part,
			 const struct ncs_path_arrival *arrival, size_t k,
			 const struct ncs_path_usual *usual)
{
	const struct ncs_path_compared *compared =
		&arrival->member->rank->compared[k];
	double own_ns = own_work_ns(arrival), as_fast = 0;

	if (arrival->is_by_kind)
		return isinf(arrival->others_ns) ? arrival->total_ns : 0;
	if (!isinf(usual->total_ns) && compared->surely_as_fast >= AS_FAST &&
	    compared->unsure >= UNSURE)
		return ncs_smaller(
			done_before_ns(arrival, usual),
			ncs_larger(gpu_ns(arrival, k, usual) - usual->total_ns,
				   0));
	if (!isinf(usual->total_ns))
		return 0;
	if (part->flags & NCS_PART_P2P)
		return gpu_ns(arrival, k, usual);
	for (unsigned i = work_size(own_ns); i < NCS_PATH_WORK_SIZES; i++)
		as_fast = ncs_larger(as_fast, compared->as_fast_of[i]);
	return own_ns * (1 - ncs_smaller(as_fast, compared->as_fast));
}

/* Returns how much of a straggler's work before an arrival goes away. */
static double cut_ns(const struct ncs_path *path, size_t k,
		     const struct ncs_path_arrival *arrival,
		     const struct ncs_path_usual *usual)
{
	if ((path->at_best >> k & 1) && is_incomparable(arrival, usual))
		return arrival->new_ns;
	return ncs_smaller(longer_ns(arrival), arrival->new_ns);
}

void ncs_path_arrive_separately(struct ncs_path *path,
				const struct ncs_part *parts, size_t count,
				size_t k, struct ncs_path_start *start)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);
	struct ncs_path_usual *usual = &start->usual[k];

	/* The two ends of a transfer are not alike. */
	if (scenario->kind == NCS_WHAT_IF_WITHOUT &&
	    !(parts[0].flags & NCS_PART_P2P))
		*usual = (struct ncs_path_usual){
			.total_ns = median_of(path, k, parts, count, total_ns),
			.work_ns = median_of(path, k, parts, count, work_ns),
			.queued_ns =
				median_of(path, k, parts, count, queued_ns),
			.waited_ns =
				median_of(path, k, parts, count, waited_ns),
			.call_ns =
				median_of(path, k, parts, count, other_call_ns),
		};
	usual->host_ns = isinf(usual->call_ns) ? INFINITY : 0;
	for (size_t i = 0; i < count; i++) {
		note_call(path, k, &parts[i], &path->arrivals[i]);
		if (is_straggler(path, k, &parts[i]))
			path->arrivals[i].member->rank->compared[k].cut_ns +=
				cut_ns(path, k, &path->arrivals[i], usual);
		if (is_straggler(path, k, &parts[i]) &&
		    !path->arrivals[i].is_by_kind) {
			compare_calls(&path->arrivals[i], k, usual);
			compare_work(&path->arrivals[i], k, usual);
		}
		ncs_path_note_arrival(start, k, i,
				      ncs_path_arrival_ns(path, k, &parts[i],
							  &path->arrivals[i],
							  usual));
	}
}

void ncs_path_explain(const struct ncs_path *path, size_t k,
		      const struct ncs_part *part,
		      const struct ncs_path_arrival *arrival,
		      const struct ncs_path_usual *usual, double at_ns,
		      struct ncs_path_node *node)
{
	const struct ncs_path_before *called = &arrival->call_predecessor;
	struct gap_savings savings = savings_of(path, k, part, arrival, usual);
	const struct ncs_path_before queued = ncs_path_before_early(
		arrival->comm_predecessor, savings.early_ns);
	const struct ncs_path_before before =
		ncs_path_before_early(arrival->predecessor, savings.early_ns);
	double call_gap_ns = arrival->call_gap_ns -
			     call_saved_ns(path, k, part, arrival, usual);
	bool is_late = is_straggler(path, k, part);

	*node = (struct ncs_path_node){ .owner = (uint32_t)part->owner,
					.at_ns = at_ns };
	if (queued.finished &&
	    ncs_path_before_ns(&queued, k) + arrival->comm_gap_ns == at_ns) {
		node->predecessor = ncs_path_finished_end(&queued, k);
		node->gap_ns[NCS_PATH_QUEUE] = arrival->comm_gap_ns;
		return;
	}
	if (called->finished &&
	    ncs_path_before_ns(called, k) + call_gap_ns == at_ns) {
		node->predecessor = ncs_path_finished_end(called, k);
		node->gap_ns[NCS_PATH_HOST] = call_gap_ns;
		if (is_late)
			node->unknown_ns =
				ncs_smaller(call_gap_ns, usual->host_ns);
		return;
	}
	if (before.finished)
		node->predecessor = ncs_path_finished_end(&before, k);
	else
		node->predecessor.operation = NCS_PATH_NO_OPERATION;
	node->lacks_before = !before.finished && !arrival->is_first;
	if (by_host_ns(path, k, part, arrival) == at_ns) {
		node->gap_ns[NCS_PATH_HOST] =
			at_ns - (before.finished ?
					 ncs_path_before_ns(&before, k) :
					 base_ns(arrival, k));
		return;
	}
	for (unsigned i = 0; i < NCS_PATH_GAPS; i++)
		node->gap_ns[i] = arrival->gap_ns[i] - savings.gap_ns[i];
	if (is_late)
		node->unknown_ns = unknown_ns(part, arrival, k, usual);
	else if (k > 0 && arrival->is_guessed)
		node->unknown_ns = arrival->total_ns;
	if (is_late && !arrival->is_by_kind)
		node->unknown_ns += ncs_smaller(node->gap_ns[NCS_PATH_HOST],
						usual->host_ns);
}
