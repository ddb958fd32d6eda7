/* SPDX-License-Identifier: MIT */
/* Facts of an operation's function: which of its ranks wait for which
 * others, and in what their calls must agree. Pure. */
#ifndef NCS_ANALYSIS_BASE_COLLECTIVE_WAITS_H
#define NCS_ANALYSIS_BASE_COLLECTIVE_WAITS_H

#include <stdbool.h>

enum ncs_wait_rule {
	NCS_WAIT_FOR_NONE,   /* unknown, or not a collective */
	NCS_WAIT_FOR_ALL,    /* all ranks wait for all others */
	NCS_WAIT_FOR_ROOT,   /* the other ranks wait for the root */
	NCS_WAIT_FOR_LEAVES, /* the root waits for the other ranks */
};

/* Returns the wait rule of a function, a number of enum ncs_function_id that
 * may be out of range. */
enum ncs_wait_rule ncs_wait_rule_of(unsigned function);

/* Returns true if others wait for a rank, which may be the root. */
static inline bool ncs_is_awaited(enum ncs_wait_rule rule, bool is_root)
{
	return rule == NCS_WAIT_FOR_ALL ||
	       (rule == NCS_WAIT_FOR_ROOT && is_root) ||
	       (rule == NCS_WAIT_FOR_LEAVES && !is_root);
}

/* Returns true if a rank, which may be the root, waits for others. */
static inline bool ncs_is_waiting(enum ncs_wait_rule rule, bool is_root)
{
	return rule == NCS_WAIT_FOR_ALL || !ncs_is_awaited(rule, is_root);
}

/* Returns whether all ranks must call a function with one size. Those are left out
 * of which NCCL may report each rank's own size. */
bool ncs_has_one_size(unsigned function);

/* Returns whether they must call it with one root, too. */
bool ncs_has_root(unsigned function);

#endif
