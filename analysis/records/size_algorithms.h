/* SPDX-License-Identifier: MIT */
/* The algorithm and the protocol of a rank's operations, which records do not
 * tell: by function and size, as its classes of operations have them. Parts and
 * facts about clocks read it here. Pure.
 */
#ifndef NCS_ANALYSIS_RECORDS_SIZE_ALGORITHMS_H
#define NCS_ANALYSIS_RECORDS_SIZE_ALGORITHMS_H

#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/snapshot.h"
#include "ncclstat/size_class.h"

/* The algorithm of one function and size. */
struct ncs_size_algorithm {
	bool is_used;
	uint8_t algorithm; /* NCS_CLASS_OTHER if there are several */
	uint8_t protocol;  /* the same */
};

/* The algorithms of all functions and sizes; all zeros if none is known. */
struct ncs_size_algorithms {
	struct ncs_size_algorithm of[NCS_FUNCTION_COUNT][NCS_SIZE_CLASS_COUNT];
};

/* Learns from the classes of a snapshot, in place of what was known. */
void ncs_size_algorithms_learn(struct ncs_size_algorithms *algorithms,
			       const struct ncs_snapshot *snapshot);

/* Returns the algorithm and the protocol of an operation, each NCS_CLASS_OTHER if
 * it is not known. `function` must be less than NCS_FUNCTION_COUNT. */
struct ncs_size_algorithm
ncs_size_algorithms_find(const struct ncs_size_algorithms *algorithms,
			 unsigned function, uint64_t bytes);

#endif
