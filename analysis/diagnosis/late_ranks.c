/* SPDX-License-Identifier: MIT */
/* The rule for ranks that the others wait for again and again. A process that is
 * late in several communicators is one finding. Must not guess: lateness is that
 * of the GPUs (analysis/model/stragglers.h), and what could not be compared is
 * named.
 */
#include "analysis/diagnosis/rules.h"

#include <errno.h>
#include <math.h>

#include "analysis/model/communicators.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"

/* A rank that came late until then is not late any more. */
#define CURRENT_NS NCS_COST_WINDOW_NS

/* A lower bound leaves this share of it for what cannot be seen: without the
 * wait, the others would have waited for each other, and their kernels would have
 * run beside data that moves, which slows them. On two H200 that was 1 to 2 of
 * 38 % of the time. */
#define UNSEEN_SHARE 0.05

/* Where stages of a pipeline take turns, a late host costs at least this share of
 * what its delays suggest; of 400 jobs that were made up, the least was 0.56. */
#define HOST_IN_TURNS 0.5

/* A lag that goes on is the host's where so much of it began with a late
 * launch; operations after that one are launched in time. */
#define BEGUN_BY_HOST 0.1

/* The lateness of a process, over all its communicators. */
struct late_process {
	double cost, cost_of_long, cost_again;
	double cost_at_least, cost_at_most, cost_of_long_at_most;
	double limit, limit_at_most; /* as of struct ncs_lateness_view */
	double limiting; /* the one of these that is less than it seemed to cost; 1 if
			  * none is */
	bool is_unsure; /* hosts of others may have gone on with their work */
	uint64_t cause_ns[NCS_LATE_CAUSE_COUNT];
	const struct ncs_rank *main;          /* its rank that costs most */
	const struct ncs_lateness_view *view; /* of that rank */
};

/* Returns until when a rank's figures must reach to count: now while the job
 * runs, its end (not 0) after that. UINT64_MAX for a rank that ended or died
 * before the others: other rules tell of that. */
static uint64_t judged_ns(const struct ncs_wait_graph *graph,
			  const struct ncs_rank *rank, uint64_t job_end_ns)
{
	if (job_end_ns == 0)
		return ncs_rank_is_live(rank) ? rank->now.taken_ns : UINT64_MAX;
	return graph->nodes[ncs_wait_graph_find(graph, rank)].halted ?
		       UINT64_MAX :
		       job_end_ns;
}

/* Returns the figures of a rank that was compared lately; NULL if it was not. */
static const struct ncs_lateness_view *
current(const struct ncs_wait_graph *graph, const struct ncs_rank *rank,
	uint64_t job_end_ns)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(rank);

	return view && view->recent.operations >= NCS_STRAGGLER_OPERATIONS &&
			       !rank->is_past &&
			       judged_ns(graph, rank, job_end_ns) <
				       view->latest_ns + CURRENT_NS ?
		       view :
		       NULL;
}

/* Adds the lateness of a process that a rank belongs to. */
static struct late_process add_process(const struct ncs_wait_graph *graph,
				       const struct ncs_model *model,
				       const struct ncs_rank *rank,
				       uint64_t job_end_ns)
{
	struct late_process process = { .limit = 1, .limit_at_most = 1 };

	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *other = model->ranks[i];
		const struct ncs_lateness_view *view;

		if (!ncs_shares_process(rank, other))
			continue;
		view = current(graph, other, job_end_ns);
		if (!view || view->cost_of_long_at_most <= 0)
			continue;
		process.limit = fmin(process.limit, view->cost_limit);
		process.limit_at_most = fmin(process.limit_at_most,
					     view->cost_limit_at_most);
		process.cost += view->cost;
		process.cost_of_long += view->cost_of_long;
		process.is_unsure |= view->is_unsure;
		process.cost_again += view->cost_again;
		process.cost_at_most += view->cost_at_most;
		process.cost_of_long_at_most += view->cost_of_long_at_most;
		/* Two communicators may have lost the same time. */
		if (view->cost_at_least > process.cost_at_least)
			process.cost_at_least = view->cost_at_least;
		for (unsigned k = 0; k < NCS_LATE_CAUSE_COUNT; k++)
			process.cause_ns[k] += view->recent.cause_ns[k];
		if (process.main &&
		    (process.view->cost_of_long > view->cost_of_long ||
		     (process.view->cost_of_long == view->cost_of_long &&
		      process.view->cost_of_long_at_most >=
			      view->cost_of_long_at_most)))
			continue;
		process.main = other;
		process.view = view;
	}
	process.limiting = process.cost >= process.limit ? process.limit :
			   process.cost_at_most >= process.limit_at_most ?
							   process.limit_at_most :
							   1;
	process.cost = fmin(process.cost, process.limit);
	process.cost_of_long = fmin(process.cost_of_long, process.limit);
	process.cost_again = fmin(process.cost_again, process.limit);
	process.cost_at_least = fmin(process.cost_at_least, process.limit);
	process.cost_at_most = fmin(process.cost_at_most, process.limit_at_most);
	process.cost_of_long_at_most =
		fmin(process.cost_of_long_at_most, process.limit_at_most);
	return process;
}

static bool is_known_to_straggle(const struct late_process *process)
{
	return ncs_is_straggling(process->cost_of_long, process->cost_again,
				 process->is_unsure);
}

/* Returns the cause of the cost. The wait for a peer is no part of it. */
static unsigned cause_of(const struct late_process *process)
{
	static const unsigned causes[] = { NCS_LATE_STREAM, NCS_LATE_PROXY };
	unsigned most = NCS_LATE_HOST;

	if (!is_known_to_straggle(process) &&
	    (double)process->cause_ns[NCS_LATE_HOST] >
		    BEGUN_BY_HOST * (double)process->cause_ns[NCS_LATE_STREAM])
		return NCS_LATE_HOST;

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (process->cause_ns[causes[i]] > process->cause_ns[most])
			most = causes[i];
	return most;
}

/* Whether a process is last nearly always by now, so that its lag may go from one
 * operation to the next, and may cost as much as a straggler's if it does
 * not. Hosts that run ahead leave it no more than the time for which they do not
 * work, as it seems. */
static bool may_straggle(const struct late_process *process)
{
	double cost = process->cost_of_long_at_most;

	if (process->view->hosts_run_ahead ?
		    fmin(cost, process->limit) < NCS_STRAGGLER_COST_UNSURE :
		    cost < NCS_STRAGGLER_COST)
		return false;
	return process->view->last_lately >= NCS_LATELY_LAST &&
	       !process->view->hosts_may_go_on;
}

/* Adds how often something was so of a rank; `expected` is 0 if there is no
 * number to compare that with. */
static void add_count(struct ncs_finding *finding, enum ncs_evidence_kind kind,
		      const struct ncs_rank *rank, uint64_t number,
		      uint64_t expected)
{
	ncs_finding_add_evidence(finding, (struct ncs_evidence){
						  .kind = kind,
						  .party = ncs_party_of(rank),
						  .call = ncs_no_call,
						  .number = number,
						  .expected = expected,
					  });
}

/* Adds what limits the cost, and why it is not known exactly. */
static void add_bounds(struct ncs_finding *finding,
		       const struct late_process *process,
		       const struct ncs_lateness *lateness)
{
	const struct ncs_rank *rank = process->main;

	if (process->limiting < 1)
		add_count(finding, NCS_EVIDENCE_HOSTS, rank,
			  (uint64_t)lround(100 * (1 - process->limiting)), 0);
	if (ncs_rank_lateness(rank)->may_rest)
		ncs_finding_add_fact(finding, NCS_EVIDENCE_RESTED, rank, 0);
	if (ncs_rank_lateness(rank)->takes_turns) {
		ncs_finding_add_fact(finding, NCS_EVIDENCE_TURNS, rank, 0);
		return;
	}
	if (ncs_rank_lateness(rank)->is_unlike) {
		ncs_finding_add_fact(finding, NCS_EVIDENCE_UNLIKE, rank, 0);
		return;
	}
	if (finding->share_least < finding->share * (1 - NCS_COST_NEAR) &&
	    !ncs_rank_lateness(rank)->may_rest)
		ncs_finding_add_fact(finding, NCS_EVIDENCE_LAG, rank, 0);
	if (finding->share_most > finding->share * (1 + NCS_COST_NEAR) &&
	    lateness->queued > 0)
		add_count(finding, NCS_EVIDENCE_QUEUED, rank, lateness->queued,
			  lateness->last);
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
		ncs_finding_add_evidence(finding,
					 (struct ncs_evidence){
						 .kind = NCS_EVIDENCE_WAITED,
						 .party = ncs_party_of(rank),
						 .call = ncs_no_call,
						 .number = recent->operations,
						 .duration_ns = waited_ns,
					 });
}

/* Adds what the finding rests on, and what it could not see. */
static void add_evidence(struct ncs_finding *finding,
			 const struct late_process *process,
			 const struct ncs_communicator *communicator,
			 const struct ncs_lateness *lateness)
{
	const struct ncs_rank *rank = process->main;
	const struct ncs_lateness_view *view = process->view;
	struct ncs_transfer_count transfers =
		ncs_communicator_transfers(communicator);

	if (lateness->last > 0)
		ncs_finding_add_evidence(finding,
					 (struct ncs_evidence){
						 .kind = NCS_EVIDENCE_LATE,
						 .party = ncs_party_of(rank),
						 .call = finding->call,
						 .number = lateness->last,
						 .expected = lateness->operations,
						 .duration_ns = lateness->p99_ns,
					 });
	add_waits(finding, rank, lateness);
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
	add_bounds(finding, process, lateness);
	ncs_finding_add_unseen(finding, communicator);
}

static int report(struct ncs_diagnosis *diagnosis,
		  const struct ncs_communicator *communicator,
		  const struct late_process *process)
{
	struct ncs_finding *finding =
		ncs_diagnosis_add(diagnosis, NCS_VERDICT_LATE_RANK);
	struct ncs_lateness lateness;

	if (!finding)
		return -ENOMEM;
	finding->root = ncs_party_of(process->main);
	finding->call.function =
		ncs_rank_late_function(process->main, &lateness);
	finding->share = process->cost;
	finding->cause = cause_of(process);
	finding->share_least = process->cost_at_least;
	finding->share_most = process->cost_at_most;
	if (!is_known_to_straggle(process)) {
		finding->share = finding->share_most;
		finding->share_least = process->cost;
	}
	if (finding->share_most > finding->share * (1 + NCS_COST_NEAR))
		finding->share_least *= 1 - UNSEEN_SHARE;
	/* A host may be late while its GPU waits for the turn to come back. */
	if (process->view->takes_turns && finding->cause == NCS_LATE_HOST)
		finding->share_least *= HOST_IN_TURNS;
	/* A rank computes on while its proxy thread sends. */
	if (finding->cause == NCS_LATE_PROXY)
		finding->share_least = 0;
	if (finding->share > 1)
		finding->share = 1;
	if (finding->share_most > 1)
		finding->share_most = 1;
	finding->waiting = ncs_communicator_judged(communicator) - 1;
	ncs_finding_set_severity(finding, false);
	ncs_finding_set_confidence(finding, communicator->other_clocks > 0 ?
						    NCS_CONFIDENCE_POSSIBLE :
						    NCS_CONFIDENCE_LIKELY);
	add_evidence(finding, process, communicator, &lateness);
	return 0;
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

int ncs_find_late_ranks(struct ncs_diagnosis *diagnosis,
			const struct ncs_model *model)
{
	const struct ncs_wait_graph *graph = &diagnosis->graph;
	const uint64_t job_end_ns = ncs_job_end_ns(model);
	const bool only_over = is_only_over(diagnosis);

	for (size_t i = 0; i < model->communicator_count; i++) {
		const struct ncs_communicator *communicator =
			&model->communicators[i];
		bool found = false;

		for (size_t k = 0;
		     k < communicator->rank_count &&
		     (only_over || !diagnosis->explained[i]);
		     k++) {
			const struct ncs_rank *rank = communicator->ranks[k];
			const struct ncs_lateness_view *view =
				current(graph, rank, job_end_ns);
			struct late_process process;

			if (!view || view->cost_of_long_at_most <= 0)
				continue;
			process = add_process(graph, model, rank, job_end_ns);
			if (!is_known_to_straggle(&process) &&
			    !may_straggle(&process))
				continue;
			found = true;
			if (process.main == rank &&
			    report(diagnosis, communicator, &process) != 0)
				return -ENOMEM;
		}
		diagnosis->explained[i] |= found;
	}
	return 0;
}
