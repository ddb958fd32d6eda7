/* SPDX-License-Identifier: MIT */
/* The step of a job in words; see step_text.h. */
#include "tui/text/step_text.h"

#include <inttypes.h>

#include "tui/text/words.h"

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
