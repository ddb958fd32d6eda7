/* SPDX-License-Identifier: MIT */
/* The parts of a window while its operations are found. Private to analysis/cost.
 */
#ifndef NCS_ANALYSIS_COST_COST_ITEMS_H
#define NCS_ANALYSIS_COST_COST_ITEMS_H

#include "analysis/cost/cost_window.h"
#include "ncclstat/abi_values.h"

/* A part that has times. */
struct ncs_cost_item {
	const struct ncs_cost_part *part; /* if it is made up, another rank's */
	uint64_t call_ns; /* in the order of sequence numbers */
	uint64_t stream;  /* known, or as likely */
	int32_t member;   /* rank in the communicator */
	uint32_t index;   /* of the part; NONE: it is made up */
	uint32_t rank;    /* index */
	uint32_t operation;
	uint32_t launch;
};

/* The items of a window while it is made. */
struct ncs_cost_items {
	struct ncs_cost_item *items;
	size_t count, capacity;
	struct ncs_cost_span {
		const struct ncs_cost_part *some; /* NULL: it has none */
		uint64_t least, most;             /* of numbers */
		uint64_t next_call_ns;
		uint64_t stream; /* one of a communicator; 0: none is known */
	} * spans; /* by rank */
};

/* Returns whether a part is one end of a message. */
static inline bool ncs_cost_is_transfer(const struct ncs_cost_part *part)
{
	return part->function == NCS_FUNCTION_SEND ||
	       part->function == NCS_FUNCTION_RECV;
}

/* Returns whether it is known when a part was called, began and ended. */
static inline bool ncs_cost_has_times(const struct ncs_cost_part *part)
{
	return part->begin_ns > 0 && part->end_ns >= part->begin_ns &&
	       part->call_ns > 0 && part->launched_ns >= part->call_ns;
}

/* Compare parts of different series, each of which is numbered by itself, and of
 * different operations of these. */
int ncs_cost_compare_series(const struct ncs_cost_part *a,
			    const struct ncs_cost_part *b);
int ncs_cost_compare_operations(const struct ncs_cost_part *a,
				const struct ncs_cost_part *b);

/* Returns how many operations of a series there must be between one and the next; 0 if
 * the parts are not of one series. */
uint64_t ncs_cost_missing_between(const struct ncs_cost_part *before,
				  const struct ncs_cost_part *after);

/* Finds the ranks and operations of a window: an item for each part that has times or
 * is lost. Returns 0 or -ENOMEM; in both cases release the items. */
int ncs_cost_items_make(struct ncs_cost_items *items,
			struct ncs_cost_window *window,
			const struct ncs_cost_part *parts, size_t count);
void ncs_cost_items_release(struct ncs_cost_items *items);

#endif
