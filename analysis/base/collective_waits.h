/* SPDX-License-Identifier: MIT */
/* Who waits for whom in a collective operation. Pure. */
#ifndef NCS_ANALYSIS_BASE_COLLECTIVE_WAITS_H
#define NCS_ANALYSIS_BASE_COLLECTIVE_WAITS_H

#include <stdbool.h>

enum ncs_gate {
	NCS_GATE_NONE,   /* not known, or no collective */
	NCS_GATE_ALL,    /* everybody waits for everybody */
	NCS_GATE_ROOT,   /* the others wait for the root */
	NCS_GATE_LEAVES, /* the root waits for the others */
};

/* Of enum ncs_function_id. */
enum ncs_gate ncs_gate_of(unsigned function);

/* Whether others wait for a rank; whether it waits for others. */
static inline bool ncs_gate_is_waited_for(enum ncs_gate gate, bool is_root)
{
	return gate == NCS_GATE_ALL || (gate == NCS_GATE_ROOT && is_root) ||
	       (gate == NCS_GATE_LEAVES && !is_root);
}

static inline bool ncs_gate_waits(enum ncs_gate gate, bool is_root)
{
	return gate == NCS_GATE_ALL || !ncs_gate_is_waited_for(gate, is_root);
}

#endif
