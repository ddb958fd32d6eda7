/* SPDX-License-Identifier: MIT */
/* The works of ranks, by kind and anchor: the times from anchors to events. Those that
 * are only known to be shorter than a time are kept apart. Private to analysis/cost.
 * Times are ns.
 */
#ifndef NCS_ANALYSIS_COST_COST_WORKS_H
#define NCS_ANALYSIS_COST_COST_WORKS_H

#include "analysis/cost/cost_anchors.h"

/* The works of a rank of one kind since one anchor. */
struct ncs_cost_bucket {
	uint32_t seen, seen_count; /* in `values`, in ascending order */
	uint32_t less, less_count; /* in `values`: limits of works not seen */
	float median_ns;     /* of those seen; NAN if they are too few */
	float expected_ns;   /* where none is seen; NAN if not known */
	float least_less_ns; /* the least limit; INFINITY if there is none */
};

/* A kind that has works: of those of cost_anchors.h, with the same index, or of
 * launches that have no position or follow one that has none. */
struct ncs_cost_work_kind {
	const struct ncs_cost_class *class;
	uint32_t first; /* bucket: by anchor, then by rank of the class */
	enum ncs_cost_event event;
	/* The event of its anchors; END for a kind of the other sort. */
	uint8_t anchors[2];
	bool is_regular;
};

/* How much slower a rank is as a whole: it takes so many times what is usual, and so
 * much longer. */
struct ncs_cost_pace {
	double factor, delay_ns;
};

/* Returns what is usual for what a rank takes. */
static inline double ncs_cost_usual_ns(struct ncs_cost_pace pace, double ns)
{
	return (ns - pace.delay_ns) / pace.factor;
}

/* In which way a rank is slow where it was not seen. Times cannot tell. */
enum ncs_cost_slow {
	NCS_COST_SLOW_BY_FACTOR,
	NCS_COST_SLOW_BY_DELAY,
	NCS_COST_SLOW_NOWHERE, /* it is as fast as all others */
};

struct ncs_cost_works {
	const struct ncs_cost_window *window;
	struct ncs_cost_work_kind *kinds;
	size_t kind_count, kind_capacity;
	struct ncs_cost_other_kind {
		uint64_t key;
		uint32_t kind;
	} * others; /* those without an index in cost_anchors.h, by key */
	size_t other_count, other_capacity;
	struct ncs_cost_bucket *buckets;
	size_t bucket_count, bucket_capacity;
	float *values;
	size_t value_capacity;
	struct ncs_cost_pace *paces; /* by rank of the window */
	double *scratch;             /* as many as there are ranks, twice */
};

/* Prepares works of a window's kinds. Returns 0 or -ENOMEM; in both cases release
 * them. */
int ncs_cost_works_init(struct ncs_cost_works *works,
			const struct ncs_cost_window *window);
void ncs_cost_works_release(struct ncs_cost_works *works);

/* Sets *kind to that of a key of a class that is not in cost_anchors.h. Returns 0
 * or -ENOMEM. */
int ncs_cost_other_kind(struct ncs_cost_works *works,
			const struct ncs_cost_class *class, uint64_t key,
			enum ncs_cost_event event, uint32_t *kind);

/* Returns the bucket of a rank. */
static inline struct ncs_cost_bucket *
ncs_cost_bucket_of(const struct ncs_cost_works *works, uint32_t kind,
		   unsigned anchor, const struct ncs_cost_rank *rank)
{
	const struct ncs_cost_work_kind *of = &works->kinds[kind];

	return &works->buckets[of->first + anchor * of->class->rank_count +
			       rank->class_place];
}

/* Makes room for the works that were counted in the buckets, whose counts become
 * 0 again: the same are then put there. Returns 0 or -ENOMEM. */
int ncs_cost_works_reserve(struct ncs_cost_works *works);

/* Puts a work, or its limit, into a bucket. */
void ncs_cost_works_put(struct ncs_cost_works *works,
			struct ncs_cost_bucket *bucket, bool is_less,
			double ns);

/* Sorts and sums up all works that were put there. */
void ncs_cost_works_finish(struct ncs_cost_works *works,
			   enum ncs_cost_slow slow);

/* Returns what a work of a rank becomes if it is that of the others. */
double ncs_cost_mapped_ns(struct ncs_cost_works *works,
			  const struct ncs_cost_rank *rank, uint32_t kind,
			  unsigned anchor, double ns);

#endif
