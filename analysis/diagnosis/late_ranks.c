/* SPDX-License-Identifier: MIT */
/* The rule for ranks that the others wait for again and again. A process that is
 * late in several communicators is one finding. Must not guess: lateness is that
 * of the GPUs (analysis/model/stragglers.h), and what could not be compared is
 * named.
 */
#include "analysis/diagnosis/rules.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/model/communicators.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"

/* Returns until when a rank's figures must reach to count: now while the job
 * runs, its end (not 0) after that. UINT64_MAX for a rank that ended or died
 * before the others: other rules tell of that. */
static uint64_t judged_ns(const struct ncs_wait_graph *graph,
			  const struct ncs_rank *rank, uint64_t job_end_ns)
{
	if (job_end_ns == 0)
		return ncs_rank_is_live(rank) ? rank->now.taken_ns : UINT64_MAX;
	return ncs_wait_node_of(graph, rank)->halted ? UINT64_MAX : job_end_ns;
}

/* Returns the figures of a rank that was compared lately and that others wait for; NULL
 * if it was not. */
static const struct ncs_lateness_view *
current(const struct ncs_wait_graph *graph, const struct ncs_rank *rank,
	uint64_t job_end_ns)
{
	const struct ncs_lateness_view *view =
		ncs_rank_is_waited_for(rank) ? ncs_rank_lateness(rank) : NULL;

	/* A rank that came late until before that window is not late any more. */
	return view && view->recent.operations >= NCS_FEW &&
			       !rank->is_past &&
			       judged_ns(graph, rank, job_end_ns) <
				       view->latest_ns + view->window_ns ?
		       view :
		       NULL;
}

/* Finds the ranks that are known to cost too much, or to be late for sure, and
 * returns how many; `late` has room for all. */
static size_t find_late(const struct ncs_wait_graph *graph,
			const struct ncs_model *model, uint64_t job_end_ns,
			const struct ncs_rank **late)
{
	size_t count = 0;

	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_lateness_view *view =
			current(graph, model->ranks[i], job_end_ns);

		if (view && (view->is_straggler || ncs_is_late_for_sure(view)))
			late[count++] = model->ranks[i];
	}
	return count;
}

/* Returns which of the late ranks of a rank's process others waited for most;
 * NULL if it has none. */
static const struct ncs_rank *main_rank(const struct ncs_rank *const *late,
					size_t count,
					const struct ncs_rank *rank)
{
	const struct ncs_rank *found = NULL;
	double most = -1;

	for (size_t i = 0; i < count; i++) {
		double share = ncs_rank_lateness(late[i])->waited_share;

		if (!ncs_shares_process(rank, late[i]) || share <= most)
			continue;
		found = late[i];
		most = share;
	}
	return found;
}

/* Returns the cause of most of the cost: as the replay tells, or where it does not, as
 * others waited. Late data is the proxy thread's or, where it is not seen to be, the
 * GPU's. */
static unsigned cause_of(const struct ncs_lateness_view *view)
{
	const struct ncs_cost_of_rank *cost = &view->cost;
	const uint64_t *cause_ns = view->recent.cause_ns;
	double most = fmax(cost->host, fmax(cost->stream, cost->data));
	unsigned of_gpu = cause_ns[NCS_LATE_PROXY] > cause_ns[NCS_LATE_STREAM] ?
				  NCS_LATE_PROXY :
				  NCS_LATE_STREAM;

	if (!view->is_straggler || most < NCS_MOST / 100. * cost->share)
		return cause_ns[NCS_LATE_HOST] > cause_ns[of_gpu] ?
			       NCS_LATE_HOST :
			       of_gpu;
	if (most <= cost->host)
		return NCS_LATE_HOST;
	return cost->data > cost->stream ? of_gpu : NCS_LATE_STREAM;
}

/* Adds how often something was so of a rank; `expected` is 0 if there is no
 * number to compare that with. */
static struct ncs_evidence *add_count(struct ncs_finding *finding,
				      enum ncs_evidence_kind kind,
				      const struct ncs_rank *rank,
				      uint64_t number, uint64_t expected)
{
	struct ncs_evidence *evidence =
		ncs_finding_add_fact(finding, kind, rank, 0);

	evidence->number = number;
	evidence->expected = expected;
	return evidence;
}

/* Adds how long others waited for the rank, where the times at which it came
 * last do not tell: a late message is no call that all ranks make. */
static void add_waits(struct ncs_finding *finding, const struct ncs_rank *rank,
		      const struct ncs_lateness *lateness)
{
	const struct ncs_lateness *recent = &ncs_rank_lateness(rank)->recent;
	uint64_t waited_ns = recent->cause_ns[NCS_LATE_HOST] +
			     recent->cause_ns[NCS_LATE_STREAM] +
			     recent->cause_ns[NCS_LATE_PROXY];

	if (waited_ns / (lateness->last + 1) > lateness->p99_ns)
		ncs_finding_add_fact(finding, NCS_EVIDENCE_WAITED, rank,
				     waited_ns)
			->number = recent->operations;
}

/* Adds what the finding rests on, and what it could not see. */
static void add_evidence(struct ncs_finding *finding,
			 const struct ncs_rank *rank,
			 const struct ncs_communicator *communicator,
			 const struct ncs_lateness *lateness)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(rank);
	struct ncs_transfer_count transfers =
		ncs_communicator_transfers(communicator);
	struct ncs_evidence *evidence;

	if (lateness->last > 0) {
		evidence = add_count(finding, NCS_EVIDENCE_LATE, rank,
				     lateness->last, lateness->operations);
		evidence->call = finding->call;
		evidence->duration_ns = lateness->p99_ns;
	}
	add_waits(finding, rank, lateness);
	if (finding->step_ns > 0) {
		evidence = add_count(finding, NCS_EVIDENCE_REPLAY, rank,
				     view->cost.steps,
				     (uint64_t)finding->step_ns);
		evidence->duration_ns =
			(uint64_t)(finding->share * finding->step_ns);
	}
	if (view->cost.unknown != NCS_COST_KNOWN)
		add_count(finding, NCS_EVIDENCE_COST, rank, view->cost.unknown,
			  (uint64_t)lround(100 * view->waited_share));
	if (finding->cause == NCS_LATE_STREAM &&
	    2 * lateness->kernels_unknown > lateness->last)
		add_count(finding, NCS_EVIDENCE_NO_DATA, rank,
			  lateness->kernels_unknown, lateness->last);
	if (view->count.unknown > 0)
		add_count(finding, NCS_EVIDENCE_UNCOMPARED, rank,
			  view->count.unknown, view->count.seen);
	if (transfers.unnumbered > 0)
		add_count(finding, NCS_EVIDENCE_UNPAIRED, rank,
			  transfers.unnumbered, transfers.seen);
	if (communicator->other_clocks > 0)
		add_count(finding, NCS_EVIDENCE_CLOCKS, rank,
			  communicator->other_clocks, 0);
	ncs_finding_add_unseen(finding, communicator);
}

static void report(struct ncs_diagnosis *diagnosis,
		   const struct ncs_communicator *communicator,
		   const struct ncs_rank *rank)
{
	const struct ncs_cost_of_rank *cost = &ncs_rank_lateness(rank)->cost;
	struct ncs_finding *finding = ncs_diagnosis_add(
		diagnosis, NCS_VERDICT_LATE_RANK, ncs_party_of(rank));
	struct ncs_lateness lateness;
	struct ncs_job_step step;

	finding->call.function = ncs_rank_late_function(rank, &lateness);
	finding->cause = cause_of(ncs_rank_lateness(rank));
	if (cost->unknown == NCS_COST_KNOWN) {
		finding->share = fmin(cost->share, 1);
		finding->share_least = fmin(cost->least, finding->share);
		finding->share_most = fmin(fmax(cost->most, finding->share), 1);
		if (ncs_rank_step(diagnosis->model, rank, &step))
			finding->step_ns = step.step.ns;
	}
	finding->waiting = ncs_communicator_judged(communicator) - 1;
	ncs_finding_rate(finding, false,
			 communicator->other_clocks > 0 ?
				 NCS_CONFIDENCE_POSSIBLE :
				 NCS_CONFIDENCE_LIKELY);
	add_evidence(finding, rank, communicator, &lateness);
}

/* Whether all processes have ended, and nothing but that was found so far: it
 * explains nothing that was before. */
static bool is_only_over(const struct ncs_diagnosis *diagnosis)
{
	for (size_t i = 0; i < diagnosis->count; i++)
		if (diagnosis->findings[i].verdict != NCS_VERDICT_RANK_DIED)
			return false;
	return diagnosis->graph.is_over;
}

static void report_late(struct ncs_diagnosis *diagnosis,
			const struct ncs_rank *const *late, size_t count)
{
	const struct ncs_model *model = diagnosis->model;
	const bool only_over = is_only_over(diagnosis);

	for (size_t i = 0; i < model->communicator_count && count > 0; i++) {
		const struct ncs_communicator *communicator =
			&model->communicators[i];
		bool found = false;

		for (size_t k = 0; k < communicator->rank_count &&
				   (only_over || !diagnosis->explained[i]);
		     k++) {
			const struct ncs_rank *rank = communicator->ranks[k];
			const struct ncs_rank *main =
				main_rank(late, count, rank);

			found |= main != NULL;
			if (main == rank)
				report(diagnosis, communicator, rank);
		}
		diagnosis->explained[i] |= found;
	}
}

void ncs_find_late_ranks(struct ncs_diagnosis *diagnosis)
{
	const struct ncs_model *model = diagnosis->model;
	const struct ncs_rank **late =
		calloc(model->rank_count + 1, sizeof(const void *));

	if (late)
		report_late(diagnosis, late,
			    find_late(&diagnosis->graph, model,
				      ncs_job_end_ns(model), late));
	else
		diagnosis->no_memory = true;
	free(late);
}
