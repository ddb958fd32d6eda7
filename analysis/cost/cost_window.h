/* SPDX-License-Identifier: MIT */
/* The launches of a window, and which of them are one operation. Private to
 * analysis/cost. Times are in ns since the window's first call.
 */
#ifndef NCS_ANALYSIS_COST_COST_WINDOW_H
#define NCS_ANALYSIS_COST_COST_WINDOW_H

#include "analysis/cost/cost.h"

/* An anchor is so many launches back at most: the search for it takes as long, and
 * memory, which is 120 KB for each rank of a class with so long a step. */
#define NCS_COST_DEPTH_MOST 250u

/* No launch, no class, no place. */
#define NCS_COST_NONE UINT32_MAX

/* The events of a launch. It is ready once its stream could begin it, if the host
 * had launched it long before. */
enum ncs_cost_event {
	NCS_COST_CALL,
	NCS_COST_READY,
	NCS_COST_END,
};

/* A launch: the kernel of one rank for one or several operations. */
struct ncs_cost_launch {
	double call_ns;
	double begin_ns;
	double end_ns;
	/* Equal for launches that may have the same place in a step. */
	uint64_t token;
	uint64_t bytes;
	uint32_t rank;       /* index */
	uint32_t queue;      /* of its rank: its communicator on its stream */
	uint32_t before;     /* the launch before on its stream, or NONE */
	uint32_t operations; /* the first of its own, in the window's list */
	uint32_t operation_count;
	uint32_t position;  /* in the step; NONE: it belongs to none */
	uint32_t regular;   /* place among its rank's with a position */
	float launching_ns; /* from its call until it was launched */
	float tail_ns;      /* it ended so much after its end at most */
	float clocks_apart_ns; /* its clock and those of others, at most */
	/* It was ready some time before it began, and waited for its host or
	 * its stream. */
	bool is_censored;
	bool is_root; /* its rank is the root of an operation of it */
	bool may_end_early; /* before other launches of its operation begin */
	uint8_t wait_rule;  /* of its last operation; enum ncs_wait_rule */
};

/* An operation, or one message between two ranks: it ends once all its members, which
 * are launches, have begun. A launch that ended before others had begun, as a root may,
 * has a separate operation that it ended with: of it, of the last one that had begun, and
 * of the root if it waits for that. */
struct ncs_cost_operation {
	uint32_t first, count; /* in the window's list of members */
	double last_begin_ns;
	uint64_t data_late_ns; /* all waited so long for the data … */
	uint32_t late_rank;    /* … of this rank, an index; if it is not 0 */
	bool is_transfer;      /* of a send and a receive */
	bool is_separate;
	/* Another separate one, of the same operation and with the same last launch,
	 * waited longer for that. */
	bool waits_less;
};

struct ncs_cost_rank {
	uint32_t number;       /* of the job */
	uint32_t first, count; /* its launches, in the order of calls */
	uint32_t queue_count;
	uint32_t regular, regular_count; /* in the list of regular launches */
	uint32_t class_index;            /* NONE: it repeats in no step */
	uint32_t class_place;            /* among the ranks of the class */
	size_t seen, unknown; /* parts; those without times on the stream */
};

/* Ranks whose launches repeat in the same step. */
struct ncs_cost_class {
	uint32_t period; /* launches of a step */
	uint32_t depth;  /* how many launches back an anchor may be */
	uint64_t *step;  /* tokens by position */
	uint32_t *ranks; /* indices */
	uint32_t rank_count;
	uint32_t first_kind; /* see cost_anchors.h */
	/* Its ranks send to one another at different positions: they are stages
	 * of a pipeline, whose works differ. */
	bool is_chain;
	uint64_t messages, unlike; /* within it, and at different positions */
};

struct ncs_cost_window {
	uint64_t base_ns; /* times are since then */
	struct ncs_cost_rank *ranks;      /* by number */
	struct ncs_cost_launch *launches; /* by rank and call */
	struct ncs_cost_operation *operations;
	uint32_t *members;           /* launches */
	uint32_t *launch_operations; /* operations */
	uint32_t *regular; /* launches that have a position, by rank and call */
	uint32_t *part_launches; /* by part: its launch; NONE if it is in none */
	struct ncs_cost_class *classes;
	size_t rank_count, launch_count, operation_count, class_count;
	size_t part_count;
	size_t whole_count; /* operations without separate ones */
	size_t missing_count; /* operations between others, that no rank has */
	size_t item_count;    /* parts of ranks in operations … */
	size_t partial_count; /* … of which some other rank's is not there */
};

/* Makes a window of parts: launches, operations and ranks. Returns 0 or
 * -ENOMEM; in both cases release it. */
int ncs_cost_window_make(struct ncs_cost_window *window,
			 const struct ncs_cost_part *parts, size_t count);
void ncs_cost_window_release(struct ncs_cost_window *window);

/* Finds the steps in which launches repeat: classes and positions. Returns 0 or
 * -ENOMEM. */
int ncs_cost_find_steps(struct ncs_cost_window *window);

/* Sets *period to the number of launches in a step of ranks that launch the same; 0 if
 * there is none. Returns 0 or -ENOMEM. */
int ncs_cost_find_period(const struct ncs_cost_window *window,
			 const uint32_t *ranks, uint32_t rank_count,
			 uint32_t *period);

/* Returns the time of a launch's event; of one that is ready, its begin. */
static inline double ncs_cost_at_ns(const struct ncs_cost_launch *launch,
				    enum ncs_cost_event event)
{
	return event == NCS_COST_CALL  ? launch->call_ns :
	       event == NCS_COST_READY ? launch->begin_ns :
					 launch->end_ns;
}

/* Returns whether a member of an operation ends with it: else it ended before others of
 * it had begun. */
static inline bool ncs_cost_ends_with(const struct ncs_cost_window *window,
				      const struct ncs_cost_launch *launch,
				      size_t operation)
{
	return launch->operation_count > 1 ||
	       window->launch_operations[launch->operations] == operation;
}

/* Returns the index of a regular launch so many regular launches before another
 * one of its rank. There must be one. */
static inline uint32_t ncs_cost_back(const struct ncs_cost_window *window,
				     const struct ncs_cost_launch *launch,
				     uint32_t back)
{
	return window->regular[window->ranks[launch->rank].regular +
			       launch->regular - back];
}

#endif
