/* SPDX-License-Identifier: MIT */
/* The latest operations of ranks that send and receive, as the comparison found
 * them: what transfer_cost.c computes from. Private to analysis/model. Pure.
 * Times are ns.
 */
#ifndef NCS_ANALYSIS_MODEL_TRANSFER_LOG_H
#define NCS_ANALYSIS_MODEL_TRANSFER_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/comparison.h"
#include "analysis/records/work_kind.h"

/* At most this many parts are kept, and so many for each rank of the model. */
#define NCS_LOGGED_MAX 65536u
#define NCS_LOGGED_PER_RANK 1024u

/* A rank's part in an operation. */
struct ncs_logged {
	uint64_t owner; /* serial of the rank */
	uint64_t arrival_ns, launched_ns;
	uint64_t end_ns, latest_end_ns; /* it ended between them */
	uint32_t operation;             /* in the order of calls */
	uint32_t place, count; /* of it, and of all parts of the operation */
	uint8_t kind;          /* enum ncs_work_kind */
	bool waits, is_awaited;
};

struct ncs_transfer_log {
	struct ncs_logged *parts; /* those of an operation are adjacent */
	size_t count, capacity;
	uint64_t computed_ns; /* when the costs were last computed */
};

/* Adds an operation, dropping the oldest ones. Returns 0 or -ENOMEM. */
int ncs_transfer_log_add(struct ncs_transfer_log *log,
			 const struct ncs_comparison *comparison);

/* Drops the operations that ended before a time. */
void ncs_transfer_log_drop(struct ncs_transfer_log *log, uint64_t until_ns);

/* Releases its memory; it is empty then. */
void ncs_transfer_log_release(struct ncs_transfer_log *log);

#endif
