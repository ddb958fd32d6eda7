/* SPDX-License-Identifier: MIT */
/* When a rank came to its collectives, from its records, and where NCCL tells
 * no end of them, so that there are none, from its table of operations.
 *
 * Of each function the latest operations are kept until they are compared with
 * other ranks' (analysis/model/stragglers.h). What else is recorded of an
 * operation, its call, kernels, and transfers, is found by the operation's
 * number, or by the time for the call: records of calls name no operation.
 * Memory is bounded. No I/O.
 */
#ifndef NCS_ANALYSIS_RECORDS_ARRIVALS_H
#define NCS_ANALYSIS_RECORDS_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/reader.h"
#include "ncclstat/tables/lateness.def"

/* On the way into an operation, in this order. */
enum ncs_arrival_stage {
#define X(ID, name, help) NCS_AT_##ID,
	NCS_STAGES_OF_ARRIVAL(X)
#undef X
		NCS_ARRIVAL_STAGES
};

enum ncs_arrival_state {
	NCS_ARRIVAL_NONE,
	NCS_ARRIVAL_NEW,      /* records of it may still come */
	NCS_ARRIVAL_SETTLED,  /* … not any more */
	NCS_ARRIVAL_COMPARED, /* with the other ranks */
};

/* At one collective. */
struct ncs_arrival {
	uint64_t number; /* NCCL's, per function */
	uint32_t operation;
	uint8_t function;
	uint8_t state; /* enum ncs_arrival_state */
	int32_t root;
	uint64_t end_ns; /* of its enqueueing, if that is all NCCL tells */
	bool has_end;
	uint64_t at_ns[NCS_ARRIVAL_STAGES]; /* CLOCK_MONOTONIC, 0: not known */
};

struct ncs_arrivals;

/* NULL: no memory. */
struct ncs_arrivals *ncs_arrivals_new(void);
void ncs_arrivals_free(struct ncs_arrivals *arrivals); /* NULL: nothing to do */

/* Takes in one look: its snapshot, and records of any type.
 * `lost`: records that were overwritten since the look before. */
void ncs_arrivals_take(struct ncs_arrivals *arrivals,
		       const struct ncs_clock *clock,
		       const struct ncs_snapshot *snapshot,
		       const struct ncs_record *records, size_t count,
		       uint64_t lost);

/* One that is settled and not compared yet; NULL: there is none such. */
struct ncs_arrival *ncs_arrivals_find(struct ncs_arrivals *arrivals,
				      unsigned function, uint64_t number);

/* From *place on, which starts at 0, the next one of a function that is settled
 * and not compared yet; NULL: there are no more. */
struct ncs_arrival *ncs_arrivals_next(struct ncs_arrivals *arrivals,
				      unsigned function, size_t *place);

/* Notes that one of them was compared. */
void ncs_arrivals_compared(struct ncs_arrivals *arrivals,
			   struct ncs_arrival *arrival);

/* Whether it ever came to an operation of this function. */
bool ncs_arrivals_has(const struct ncs_arrivals *arrivals, unsigned function);

struct ncs_arrivals_count {
	uint64_t seen;         /* operations */
	uint64_t compared;     /* of these */
	uint64_t records_lost; /* overwritten since the first look */
};

const struct ncs_arrivals_count *
ncs_arrivals_count(const struct ncs_arrivals *arrivals);

#endif
