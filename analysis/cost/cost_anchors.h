/* SPDX-License-Identifier: MIT */
/* The anchors of each kind of event: which earlier event of its rank it depends on.
 * A kind is a class, a position in its step, and the call or the readiness of the
 * launch there. Private to analysis/cost.
 */
#ifndef NCS_ANALYSIS_COST_COST_ANCHORS_H
#define NCS_ANALYSIS_COST_COST_ANCHORS_H

#include "analysis/cost/cost_window.h"

/* An event of the launch so many regular launches before. */
struct ncs_cost_anchor {
	uint8_t event; /* enum ncs_cost_event */
	uint8_t back;
};

#define NCS_COST_EVENTS 3u

struct ncs_cost_chosen {
	unsigned count; /* 0 (not known), 1, or 2: the later one */
	struct ncs_cost_anchor anchors[2];
	double usual_ns[2]; /* work since each: the median of the ranks' */
	/* Since each of two anchors, by the rank's place in the class; negative
	 * where it is never the later one. NAN for a rank that was not seen. */
	double (*works_ns)[2];
};

struct ncs_cost_event_kind {
	struct ncs_cost_chosen chosen;
	/* An end that explains the times as well, if there is one. */
	struct ncs_cost_choice {
		bool is_known;
		struct ncs_cost_anchor anchor;
		double work_ns;
	} end;
};

/* Returns the kind of the call or the readiness of a launch at a position. */
static inline uint32_t ncs_cost_kind_index(const struct ncs_cost_class *class,
					   uint32_t position,
					   enum ncs_cost_event event)
{
	return class->first_kind + 2 * position + (event == NCS_COST_READY);
}

/* Chooses the anchors of all kinds of a window whose steps are known. Sets *kinds,
 * to be freed with ncs_cost_kinds_free(), and *count. Returns 0 or -ENOMEM. */
int ncs_cost_choose_anchors(struct ncs_cost_window *window,
			    struct ncs_cost_event_kind **kinds, size_t *count);
void ncs_cost_kinds_free(struct ncs_cost_event_kind *kinds, size_t count);

/* --- Between the files of the choice -------------------------------------- */

/* An event of a kind. */
struct ncs_cost_instance {
	const struct ncs_cost_launch *launch;
	double at_ns;
	bool is_censored; /* it was not later than that */
};

/* At most this many events of a kind and rank are looked at, spread evenly. */
#define NCS_COST_LOOKED_AT 60u

/* The events of a kind that are looked at, by rank of the class. */
struct ncs_cost_instances {
	const struct ncs_cost_window *window;
	const struct ncs_cost_class *class;
	enum ncs_cost_event event;
	struct ncs_cost_instance *instances;
	uint32_t *first;     /* by rank, and their number */
	uint32_t rank_count; /* ranks that have some */
	uint32_t known;      /* instances that are not censored */
};

/* Returns whether others wait for a rank now and then in the operations of these events,
 * or may do so. A host that never waits runs ahead of its GPU more and more, unless others
 * wait for it. Calls of a rank that is not awaited therefore follow some end, although
 * they also have the period of the job, so that they seem to follow the call before. */
bool ncs_cost_is_awaited(const struct ncs_cost_instances *of, uint32_t place);

/* How well a candidate explains a kind. */
struct ncs_cost_score {
	struct ncs_cost_anchor anchor;
	double score_ns; /* the spread, on the mean of ranks, and contradiction */
	double work_ns;      /* the median of the ranks' */
	double *spreads_ns;  /* by rank; NAN if not known */
	float *since_ns;     /* by instance; NAN if not known */
};

/* Looks for two anchors that explain a kind better than one does, which was chosen
 * of `count` scores. If there are any, sets *pair, whose works are to be freed.
 * Returns 0 or -ENOMEM. */
int ncs_cost_find_pair(const struct ncs_cost_instances *instances,
		       const struct ncs_cost_score *scores, size_t count,
		       size_t chosen, struct ncs_cost_chosen *pair);

/* Returns the score up to which a candidate is as good as the best, of so many
 * events that are known. */
double ncs_cost_limit_ns(double best_ns, uint32_t known);

/* Returns whether an event comes before another one, by more than the error. */
static inline bool ncs_cost_is_early(double since_ns)
{
	return since_ns < -(double)NCS_ERROR_NS;
}

/* Returns the launch that has the anchor of an instance. */
static inline const struct ncs_cost_launch *
ncs_cost_anchor_of(const struct ncs_cost_instances *instances,
		   const struct ncs_cost_instance *instance,
		   struct ncs_cost_anchor anchor)
{
	return &instances->window->launches[ncs_cost_back(
		instances->window, instance->launch, anchor.back)];
}

#endif
