/* SPDX-License-Identifier: MIT */
/* Who waits for whom in a collective operation. Pure. */
#ifndef NCS_ANALYSIS_BASE_COLLECTIVE_WAITS_H
#define NCS_ANALYSIS_BASE_COLLECTIVE_WAITS_H

#include <stdbool.h>

enum ncs_wait_rule {
	NCS_WAIT_FOR_NONE,   /* not known, or no collective */
	NCS_WAIT_FOR_ALL,    /* everybody waits for everybody */
	NCS_WAIT_FOR_ROOT,   /* the others wait for the root */
	NCS_WAIT_FOR_LEAVES, /* the root waits for the others */
};

/* Of enum ncs_function_id. */
enum ncs_wait_rule ncs_wait_rule_of(unsigned function);

/* Whether others wait for a rank; whether it waits for others. */
static inline bool ncs_is_awaited(enum ncs_wait_rule rule, bool is_root)
{
	return rule == NCS_WAIT_FOR_ALL ||
	       (rule == NCS_WAIT_FOR_ROOT && is_root) ||
	       (rule == NCS_WAIT_FOR_LEAVES && !is_root);
}

static inline bool ncs_is_waiting(enum ncs_wait_rule rule, bool is_root)
{
	return rule == NCS_WAIT_FOR_ALL || !ncs_is_awaited(rule, is_root);
}

#endif
