/* SPDX-License-Identifier: MIT */
/* Metrics of the node: the exporter itself, segments, communicators, findings,
 * losses. */
#include "analysis/metrics/metric_fill.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "ncclstat/abi_header.h"
#include "ncclstat/version.h"

NCS_METRIC_FILL(BUILD_INFO)
{
	char abi[32];

	snprintf(abi, sizeof(abi), "%u.%u", NCS_ABI_MAJOR, NCS_ABI_MINOR);
	ncs_metric_put(input->writer,
		       (const char *const[]){ NCS_VERSION_TEXT, abi }, 1);
}

enum segment_state {
#define X(ID, name, help) SEGMENT_##ID,
	NCS_METRIC_STATES(X)
#undef X
		SEGMENT_STATE_COUNT
};

NCS_METRIC_FILL(SEGMENTS)
{
	static const char *const names[] = {
#define X(ID, name, help) name,
		NCS_METRIC_STATES(X)
#undef X
	};
	static const enum segment_state states[] = {
		[NCS_ATTACHED] = SEGMENT_FAILED,
		[NCS_ATTACH_ABSENT] = SEGMENT_FAILED,
		[NCS_ATTACH_DENIED] = SEGMENT_DENIED,
		[NCS_ATTACH_NOT_READY] = SEGMENT_NOT_READY,
		[NCS_ATTACH_OTHER_VERSION] = SEGMENT_OTHER_VERSION,
		[NCS_ATTACH_CORRUPT] = SEGMENT_CORRUPT,
		[NCS_ATTACH_FAILED] = SEGMENT_FAILED,
	};
	uint64_t counts[SEGMENT_STATE_COUNT] = { 0 };
	const struct ncs_model *model = input->model;

	static_assert(sizeof(states) / sizeof(states[0]) ==
			      NCS_ATTACH_FAILED + 1,
		      "a state for each result");
	counts[SEGMENT_ATTACHED] = model->rank_count;
	counts[SEGMENT_DUPLICATE] = input->metrics->ranks.duplicates;
	for (size_t i = 0; i < model->unreadable_count; i++)
		counts[states[model->unreadable[i].attach]]++;
	for (size_t i = 0; i < SEGMENT_STATE_COUNT; i++)
		ncs_metric_put(input->writer, &names[i], counts[i]);
}

NCS_METRIC_FILL(COMMUNICATOR_SIZE)
{
	const struct ncs_metric_rank *first = input->metrics->ranks.ranks;

	NCS_FOR_METRIC_RANKS (entry, input) {
		const struct ncs_identity *identity =
			&entry->rank->now.identity;
		const struct ncs_metric_rank *same = first;
		const char *comm = entry->comm;

		/* The first of its ranks that knows tells. */
		while (same < entry &&
		       (strcmp(same->comm, comm) != 0 ||
			!(same->rank->now.identity.known & NCS_KNOWN_NRANKS)))
			same++;
		if (same == entry && (identity->known & NCS_KNOWN_NRANKS) &&
		    identity->nranks > 0)
			ncs_metric_put(
				input->writer,
				(const char *const[]){ NCS_COMM_LABELS(entry) },
				(uint64_t)identity->nranks);
	}
}

/* --- Findings ------------------------------------------------------------- */

struct finding_labels {
	struct ncs_metric_rank root;
	const char *func;
};

/* A rank that is not seen here has the labels that its communicator has. */
static void label_finding(const struct ncs_finding *finding,
			  struct finding_labels *labels)
{
	const struct ncs_party *root = &finding->root;
	unsigned function = finding->call.function;
	struct ncs_metric_rank *name = &labels->root;

	*name = (struct ncs_metric_rank){ .comm_name = "", .job_id = "" };
	labels->func = function < NCS_FUNCTION_COUNT ?
			       ncs_function_name(function) :
			       "";
	if (root->rank) {
		ncs_metric_rank_name(name, root->rank);
		return;
	}
	if (root->communicator)
		ncs_metric_rank_name(name, root->communicator->ranks[0]);
	name->node = finding->node ? finding->node->name : "";
	name->number[0] = '\0';
	if (root->number >= 0)
		snprintf(name->number, sizeof(name->number), "%" PRId32,
			 root->number);
}

static bool is_alike(const struct ncs_diagnosis *diagnosis,
		     const struct finding_labels *labels, size_t a, size_t b)
{
	const struct ncs_finding *one = &diagnosis->findings[a];
	const struct ncs_finding *other = &diagnosis->findings[b];

	return one->verdict == other->verdict &&
	       one->severity == other->severity &&
	       one->confidence == other->confidence &&
	       strcmp(labels[a].func, labels[b].func) == 0 &&
	       strcmp(labels[a].root.comm, labels[b].root.comm) == 0 &&
	       strcmp(labels[a].root.number, labels[b].root.number) == 0;
}

/* Adds a finding, unless one with its labels was added before. Of several, the
 * longest counts. */
static void put_finding(const struct ncs_metric_input *input,
			const struct finding_labels *labels, size_t place)
{
	const struct ncs_diagnosis *diagnosis = input->diagnosis;
	const struct ncs_finding *finding = &diagnosis->findings[place];
	uint64_t longest_ns = finding->duration_ns;

	for (size_t i = 0; i < diagnosis->count; i++) {
		if (!is_alike(diagnosis, labels, place, i))
			continue;
		if (i < place)
			return;
		if (diagnosis->findings[i].duration_ns > longest_ns)
			longest_ns = diagnosis->findings[i].duration_ns;
	}
	ncs_metric_put(
		input->writer,
		(const char *const[]){ NCS_RANK_LABELS(&labels[place].root),
				       ncs_verdict_name(finding->verdict),
				       ncs_severity_name(finding->severity),
				       ncs_confidence_name(finding->confidence),
				       labels[place].func },
		longest_ns);
}

NCS_METRIC_FILL(FINDING_SECONDS)
{
	size_t count = input->diagnosis->count;
	struct finding_labels *labels = calloc(count + 1, sizeof(*labels));

	if (!labels) {
		input->writer->no_memory = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		label_finding(&input->diagnosis->findings[i], &labels[i]);
	for (size_t i = 0; i < count; i++)
		put_finding(input, labels, i);
	free(labels);
}

/* --- Jobs ----------------------------------------------------------------- */

NCS_METRIC_FILL(JOB_OPERATIONS)
{
	const struct ncs_metric_jobs *list = &input->metrics->jobs;
	const struct ncs_model *model = input->model;

	/* Serial 0 is no segment: keeps what ranks that have left counted. */
	for (size_t i = 0; i < list->count; i++)
		ncs_metric_count(input->writer,
				 (const char *const[]){ list->jobs[i].id }, 0,
				 &(uint64_t){ 0 });
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];
		const struct ncs_metric_job *job =
			ncs_metric_jobs_find(list, rank);
		uint64_t sum = 0;

		for (unsigned id = 0; id < NCS_FUNCTION_COUNT; id++)
			sum += rank->now.functions[id].operations;
		if (job)
			ncs_metric_count(input->writer,
					 (const char *const[]){ job->id },
					 rank->serial, &sum);
	}
}

NCS_METRIC_FILL(FINISHED_JOB_SECONDS)
{
	const struct ncs_metric_jobs *list = &input->metrics->jobs;

	for (size_t i = 0; i < list->count; i++) {
		const struct ncs_metric_job *job = &list->jobs[i];

		if (!job->is_live && job->ended_ns >= job->begun_ns)
			ncs_metric_put(input->writer,
				       (const char *const[]){
					       job->id,
					       ncs_severity_name(job->severity),
					       job->verdict },
				       job->ended_ns - job->begun_ns);
	}
}

/* --- The exporter --------------------------------------------------------- */

NCS_METRIC_FILL(LOST)
{
	const struct ncs_model *model = input->model;

	for (unsigned i = NCS_LOSS_OVERWRITTEN + 1; i < NCS_LOSS_COUNT; i++) {
		const char *reason = ncs_loss_name(i);

		/* Serial 0 is no segment: keeps what ranks that have left
		 * counted. */
		ncs_metric_count(input->writer, &reason, 0, &(uint64_t){ 0 });
		for (size_t k = 0; k < model->rank_count; k++)
			ncs_metric_count(input->writer, &reason,
					 model->ranks[k]->serial,
					 &model->ranks[k]->now.losses[i]);
	}
}

NCS_METRIC_FILL(COLLECT_SECONDS)
{
	ncs_metric_put(input->writer, NULL, input->look->took_ns);
}

NCS_METRIC_FILL(SERIES_LEFT_OUT)
{
	ncs_metric_put(input->writer, NULL, input->writer->left_out);
}
