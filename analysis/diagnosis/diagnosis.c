/* SPDX-License-Identifier: MIT */
/* Runs the rules, the most certain first, and sorts what they find. Must hold
 * no rule of its own.
 *
 * Calls that disagree come first, since they are wrong beyond doubt; then the
 * ends of chains of waits; then circles; then ranks that are not seen here, if
 * nothing seen explains the waits for them; then communicators that are not set
 * up; then ranks that all others have left behind, and collectives that all have
 * begun and none ends; then slowness; then deaths that explain none of that, and calls
 * that differed but ended; at last nodes that are not seen, which make all the rest
 * less certain. Later rules skip a communicator that an earlier one explained: one
 * fault makes all its ranks wait.
 */
#include "analysis/diagnosis/diagnosis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_by_severity(const void *left, const void *right)
{
	const struct ncs_finding *a = left, *b = right;

	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	if (a->confidence != b->confidence)
		return a->confidence < b->confidence ? -1 : 1;
	if (a->verdict != b->verdict)
		return a->verdict < b->verdict ? -1 : 1;
	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return (a->duration_ns < b->duration_ns) -
	       (a->duration_ns > b->duration_ns);
}

static const struct {
	/* One of these: */
	void (*of_all)(struct ncs_diagnosis *diagnosis);
	bool (*of_one)(struct ncs_diagnosis *diagnosis,
		       const struct ncs_communicator *communicator);
} rules[] = {
	{ .of_one = ncs_find_disagreements },
	{ .of_all = ncs_find_chain_ends },
	{ .of_all = ncs_find_dead_ranks },
	{ .of_all = ncs_find_circles },
	{ .of_one = ncs_find_unseen_ranks },
	{ .of_one = ncs_find_unstarted_calls },
	{ .of_all = ncs_find_setups },
	{ .of_one = ncs_find_left_behind },
	{ .of_one = ncs_find_not_ended },
	{ .of_all = ncs_find_late_ranks },
	{ .of_all = ncs_find_slow_communicators },
	{ .of_one = ncs_find_slow_links },
	{ .of_all = ncs_find_late_deaths },
	{ .of_all = ncs_find_ended_mismatches },
	{ .of_all = ncs_find_held_back },
	{ .of_all = ncs_find_unseen_nodes },
};

static void run_rules(struct ncs_diagnosis *diagnosis)
{
	const struct ncs_model *model = diagnosis->model;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rules[i].of_all) {
			rules[i].of_all(diagnosis);
			continue;
		}
		for (size_t k = 0; k < model->communicator_count; k++)
			if (!diagnosis->explained[k])
				diagnosis->explained[k] = rules[i].of_one(
					diagnosis, &model->communicators[k]);
	}
}

void ncs_diagnosis_init(struct ncs_diagnosis *diagnosis)
{
	memset(diagnosis, 0, sizeof(*diagnosis));
}

void ncs_diagnosis_release(struct ncs_diagnosis *diagnosis)
{
	free(diagnosis->findings);
	free(diagnosis->explained);
	ncs_wait_graph_release(&diagnosis->graph);
	free(diagnosis->paces);
	ncs_diagnosis_init(diagnosis);
}

enum ncs_verdict_severity
ncs_diagnosis_severity(const struct ncs_diagnosis *diagnosis)
{
	return diagnosis->count > 0 ? diagnosis->findings[0].severity :
				      NCS_SEVERITY_WELL;
}

const struct ncs_rank *
ncs_diagnosis_suspect(const struct ncs_diagnosis *diagnosis)
{
	const struct ncs_finding *worst = diagnosis->findings;

	return diagnosis->count > 0 && worst->waiting > 0 ? worst->root.rank :
							    NULL;
}

bool ncs_diagnosis_is_victim(const struct ncs_diagnosis *diagnosis,
			     const struct ncs_rank *rank)
{
	const struct ncs_wait_graph *graph = &diagnosis->graph;
	const struct ncs_rank *suspect = ncs_diagnosis_suspect(diagnosis);
	size_t node = ncs_wait_graph_find(graph, rank);

	return suspect && suspect != rank && node != NCS_NOBODY &&
	       graph->nodes[node].is_marked;
}

/* Leaves the marks of the graph on the ranks that wait for the suspect. */
static void mark_victims(struct ncs_diagnosis *diagnosis)
{
	const struct ncs_rank *suspect = ncs_diagnosis_suspect(diagnosis);
	size_t node = suspect ? ncs_wait_graph_find(&diagnosis->graph,
						    suspect) :
				NCS_NOBODY;

	if (node != NCS_NOBODY)
		ncs_wait_graph_waiting(&diagnosis->graph, node);
	else
		ncs_wait_graph_unmark(&diagnosis->graph);
}

int ncs_diagnose(struct ncs_diagnosis *diagnosis, const struct ncs_model *model)
{
	diagnosis->model = model;
	diagnosis->passes++;
	diagnosis->count = 0;
	free(diagnosis->explained);
	diagnosis->explained = calloc(model->communicator_count + 1,
				      sizeof(*diagnosis->explained));
	diagnosis->no_memory = ncs_wait_graph_build(&diagnosis->graph, model) !=
				       0 ||
			       !diagnosis->explained;
	if (!diagnosis->no_memory)
		run_rules(diagnosis);
	if (diagnosis->no_memory) {
		diagnosis->count = 0;
		return -ENOMEM;
	}
	if (diagnosis->count > 1)
		qsort(diagnosis->findings, diagnosis->count,
		      sizeof(*diagnosis->findings), compare_by_severity);
	mark_victims(diagnosis);
	return 0;
}
