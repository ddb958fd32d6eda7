/* SPDX-License-Identifier: MIT */
/* The arrivals of a rank at its collectives. They come from its records; if
 * NCCL does not report when operations end, there are no records, and arrivals
 * come from the rank's table of operations.
 *
 * The latest operations of each function are kept until they are compared with
 * those of other ranks (analysis/model/stragglers.h). The kernels and transfers
 * of an operation are found by its number. Records of calls name no operation,
 * so calls are found by their time. Memory is bounded. Must do no I/O.
 */
#ifndef NCS_ANALYSIS_RECORDS_ARRIVALS_H
#define NCS_ANALYSIS_RECORDS_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/reader.h"
#include "ncclstat/tables/lateness.def"

/* Stages on the way into an operation, in this order. */
enum ncs_arrival_stage {
#define X(ID, name, help) NCS_AT_##ID,
	NCS_STAGES_OF_ARRIVAL(X)
#undef X
		NCS_ARRIVAL_STAGES
};

enum ncs_arrival_state {
	NCS_ARRIVAL_NONE,
	NCS_ARRIVAL_NEW,      /* more records may come */
	NCS_ARRIVAL_SETTLED,  /* no more records will come */
	NCS_ARRIVAL_COMPARED, /* compared with other ranks */
};

/* The arrival of a rank at one collective. */
struct ncs_arrival {
	uint64_t number; /* NCCL's sequence number of the function */
	uint32_t operation;
	uint8_t function;
	uint8_t state; /* enum ncs_arrival_state */
	int32_t root;
	uint64_t end_ns; /* end of its enqueueing if has_end is false */
	bool has_end;    /* NCCL reports its end */
	uint64_t at_ns[NCS_ARRIVAL_STAGES]; /* CLOCK_MONOTONIC; 0: unknown */
};

struct ncs_arrivals;

/* Creates the arrivals of a rank. Returns NULL if there is no memory. Free them
 * with ncs_arrivals_free(), which accepts NULL. */
struct ncs_arrivals *ncs_arrivals_new(void);
void ncs_arrivals_free(struct ncs_arrivals *arrivals);

/* Takes one refresh: a snapshot, and records of any type. `lost` records before
 * these were overwritten since the last refresh. */
void ncs_arrivals_take(struct ncs_arrivals *arrivals,
		       const struct ncs_clock *clock,
		       const struct ncs_snapshot *snapshot,
		       const struct ncs_record *records, size_t count,
		       uint64_t lost);

/* Returns an arrival that is settled and not yet compared, or NULL if there is
 * none for that function and sequence number. */
struct ncs_arrival *ncs_arrivals_find(struct ncs_arrivals *arrivals,
				      unsigned function, uint64_t number);

/* Returns the next arrival of a function that is settled and not yet compared,
 * or NULL if there are no more. Set *place to 0 before the first call. */
struct ncs_arrival *ncs_arrivals_next(struct ncs_arrivals *arrivals,
				      unsigned function, size_t *place);

/* Notes that an arrival was compared. */
void ncs_arrivals_compared(struct ncs_arrivals *arrivals,
			   struct ncs_arrival *arrival);

/* Returns true if the rank ever arrived at an operation of this function. */
bool ncs_arrivals_has(const struct ncs_arrivals *arrivals, unsigned function);

/* Counts of collectives and records since the first refresh. */
struct ncs_arrivals_count {
	uint64_t seen;         /* operations */
	uint64_t compared;     /* operations compared with other ranks */
	uint64_t records_lost; /* overwritten since the first refresh */
};

/* Returns the counts up to now. They belong to `arrivals`. */
const struct ncs_arrivals_count *
ncs_arrivals_count(const struct ncs_arrivals *arrivals);

#endif
