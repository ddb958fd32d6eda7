/* SPDX-License-Identifier: MIT */
/* Words on jobs, and on their steps; see job_text.h. */
#include "tui/text/job_text.h"

#include <inttypes.h>
#include <string.h>

#include "shm/labels.h"

/* A clause that is being made: its parts are separated by commas. */
struct clause {
	char *text;
	size_t size;
	bool began;
};

/* Appends "what value"; nothing if the value is not known. */
static bool put(struct clause *clause, const char *what, const char *value)
{
	if (!value)
		return false;
	if (clause->began)
		ncs_append(clause->text, clause->size, ", %s %s", what, value);
	else
		ncs_append_clause(clause->text, clause->size, "%s %s", what,
				  value);
	clause->began = true;
	return true;
}

/* Appends a value to the part before, if there are both. */
static void join(struct clause *clause, bool has_part, const char *between,
		 const char *value)
{
	if (has_part && value)
		ncs_append(clause->text, clause->size, "%s%s", between, value);
}

/* A count that says that nothing happened is left out. */
static const char *unless_0(const char *value)
{
	return value && strcmp(value, "0") == 0 ? NULL : value;
}

static void put_pod(struct clause *clause, const char *labels)
{
	const char *pod = ncs_labels_value(labels, "pod");
	const char *space = ncs_labels_value(labels, "namespace");

	if (pod && space)
		join(clause, put(clause, "pod", space), "/", pod);
	else if (!put(clause, "pod", pod))
		put(clause, "pod", ncs_labels_value(labels, "pod_uid"));
}

void ncs_append_job(const struct ncs_rank *rank, char *text, size_t size)
{
	const char *labels = rank->labels;
	struct clause clause = { .text = text, .size = size };
	const char *run = ncs_labels_value(labels, "run_id");

	join(&clause, put(&clause, "job", ncs_labels_value(labels, "job_id")),
	     ".", ncs_labels_value(labels, "job_step"));
	if (run && strcmp(run, "none") != 0)
		put(&clause, "run", run);
	join(&clause,
	     put(&clause, "process", ncs_labels_value(labels, "job_rank")),
	     " of ", ncs_labels_value(labels, "world_size"));
	put(&clause, "restart", unless_0(ncs_labels_value(labels, "restart")));
	put(&clause, "requeued",
	    unless_0(ncs_labels_value(labels, "requeued")));
	put_pod(&clause, labels);
	put(&clause, "container", ncs_labels_value(labels, "container"));
	if (put(&clause, "pid", ncs_labels_value(labels, "host_pid")))
		ncs_append(text, size, ", in there %u", rank->process.pid);
}

static void append_count(size_t count, const char *what, char *text,
			 size_t size)
{
	if (count > 1)
		ncs_append(text, size, "%s%zu %s", text[0] ? ", " : "", count,
			   what);
}

void ncs_append_jobs(const struct ncs_job_counts *counts, char *text,
		     size_t size)
{
	append_count(counts->jobs, "jobs", text, size);
	append_count(counts->pods, "pods", text, size);
}

/* --- Its step ---------------------------------------------------------------- */

/* A bound this near to a value is no other one. */
#define NEAR 0.1

bool ncs_bound_is_near(double bound, double value)
{
	return bound >= value * (1 - NEAR) && bound <= value * (1 + NEAR);
}

struct ncs_phrase ncs_bounded(double ns, double least_ns, double most_ns)
{
	if (ncs_bound_is_near(least_ns, ns) && ncs_bound_is_near(most_ns, ns))
		return ncs_duration((uint64_t)ns);
	return ncs_phrase("%s to %s", ncs_duration((uint64_t)least_ns).text,
			  ncs_duration((uint64_t)most_ns).text);
}

void ncs_append_step(const struct ncs_model *model, char *text, size_t size)
{
	struct ncs_job_step step;

	if (!ncs_busiest_step(model, &step)) {
		ncs_append(text, size,
			   "how long a step takes is not known: no operation of"
			   " several ranks was compared");
		return;
	}
	if (step.step.unknown != NCS_COST_KNOWN) {
		ncs_append(text, size, "how long a step takes is not known: %s",
			   ncs_cost_unknown_help(step.step.unknown));
		return;
	}
	ncs_append(text, size,
		   "a step takes %s (mean of %" PRIu32 ", by %" PRIu32
		   " call%s),",
		   ncs_duration((uint64_t)step.step.ns).text, step.step.count,
		   step.step.launches,
		   step.step.launches == 1 ? " that repeats" : "s that repeat");
	if (step.exposed_unknown == NCS_COST_KNOWN)
		ncs_append(text, size, " of it %s exposed communication",
			   ncs_bounded(step.exposed_ns, step.exposed_least_ns,
				       step.exposed_most_ns)
				   .text);
	else
		ncs_append(text, size,
			   " exposed communication is not known: %s",
			   ncs_cost_unknown_help(step.exposed_unknown));
	if (step.latest)
		ncs_append(text, size, ", %s waiting for %s",
			   ncs_duration((uint64_t)step.waiting_ns).text,
			   ncs_rank_of(step.latest).text);
}
