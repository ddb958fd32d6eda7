/* SPDX-License-Identifier: MIT */
/* How much memory may be taken by what files and streams unpack to: neither is
 * trusted, and few bytes of them can unpack to many.
 *
 * Counts bytes, allocates nothing. Not thread-safe.
 */
#ifndef NCS_RECORD_READ_BUDGET_H
#define NCS_RECORD_READ_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct ncs_budget {
	struct ncs_budget *whole; /* of which this is a part; NULL: of none */
	uint64_t most;
	uint64_t used;
};

/* Takes bytes from a budget and from those that it is a part of. Returns false,
 * with nothing taken, if one of them has not so many left. A budget of NULL has
 * any number. */
bool ncs_budget_take(struct ncs_budget *budget, uint64_t bytes);

/* Gives bytes back that were taken. */
void ncs_budget_give(struct ncs_budget *budget, uint64_t bytes);

/* Returns half of the memory that this process may still take: of the machine,
 * and of its group (cgroup v2). */
uint64_t ncs_budget_half_of_free(void);

#endif
