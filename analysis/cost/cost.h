/* SPDX-License-Identifier: MIT */
/* The cost of a rank: the share of a window's time that a job would be without if
 * the rank worked as the others do. One rule for all jobs, learned from the times
 * alone.
 *
 * An event of a rank is the call of a launch on its host, or the moment at which
 * the launch's stream was ready for it. Each event comes a regular time after
 * some earlier event of its rank, its anchor: the end of a launch (the rank waits
 * for it), the readiness of another launch (computing goes on beside
 * communication), or a call. The anchor with the smallest spread within ranks is
 * the one that the event depends on; where one does not do, the later of two. The
 * times from anchors to events are the rank's works. The cost of a rank is the
 * replay of the window with its works replaced, quantile by quantile, by those
 * of the ranks that do the same.
 *
 * Launches are compared by their place in the job's repeating step. Operations
 * are told by sequence number, never by count. A link's time belongs to no rank:
 * transfers stay as they are.
 *
 * Numbers that decide a conclusion: ncclstat/tables/cost.def. Pure; memory is
 * about 200 bytes a launch. Not thread-safe for one cost.
 */
#ifndef NCS_ANALYSIS_COST_COST_H
#define NCS_ANALYSIS_COST_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/records/joined.h"
#include "ncclstat/tables/cost.def"

enum ncs_cost_number {
#define X(ID, value, unit, reason, source) NCS_COST_##ID = value,
	NCS_COST_NUMBERS(X)
#undef X
};

enum ncs_cost_unknown {
	NCS_COST_KNOWN,
#define X(ID, name, help) NCS_COST_##ID,
	NCS_COST_UNKNOWNS(X)
#undef X
		NCS_COST_UNKNOWN_COUNT
};

/* Return the words of the table for a reason, which is not NCS_COST_KNOWN. */
const char *ncs_cost_unknown_name(enum ncs_cost_unknown unknown);
const char *ncs_cost_unknown_help(enum ncs_cost_unknown unknown);

/* The part of a rank in an operation. Times are in ns of one clock. */
struct ncs_cost_part {
	uint64_t comm_id;
	uint64_t number; /* sequence number, or that of its connection */
	uint64_t bytes;
	uint64_t stream;  /* any number that tells streams of a rank apart */
	uint64_t call_ns; /* the host began to launch it … */
	uint64_t launched_ns; /* … and had launched it */
	uint64_t begin_ns;    /* on the stream; 0 if not known */
	uint64_t end_ns;      /* likewise; or it ended … */
	uint64_t tail_ns;     /* … so much later at most */
	/* All waited so long for its data although its kernel could begin. */
	uint64_t data_late_ns;
	uint32_t rank;    /* of the job */
	uint32_t repeat;  /* times that the number had been reported before */
	int32_t member;   /* rank in the communicator */
	int32_t members;  /* of the communicator */
	int32_t peer;     /* or root; negative if none */
	uint8_t function; /* enum ncs_function_id */
};

/* Returns the part of a rank of the job in a joined operation. */
struct ncs_cost_part ncs_cost_part_of(const struct ncs_joined *joined,
				      const struct ncs_part *part,
				      uint32_t rank, uint64_t data_late_ns);

/* The cost of a rank. Shares are of the window's time, of 1. */
struct ncs_cost_of_rank {
	uint32_t rank; /* of the job */
	enum ncs_cost_unknown unknown;
	uint32_t steps; /* whose anchors are known */
	/* If it is known: negative if the job would take longer. */
	double share, least, most;
	double gain_ns; /* the time of that share */
	/* The share that it costs by each of its works alone: by late calls, by late
	 * readiness on the stream, and by late data. */
	double host, stream, data;
	bool is_too_much; /* it costs much, and surely something */
};

struct ncs_cost;

/* Learns the dependencies of a window from the parts of all its ranks, in any
 * order. The parts are not kept. Returns NULL if there is no memory. Free it with
 * ncs_cost_free(), which accepts NULL. */
struct ncs_cost *ncs_cost_new(const struct ncs_cost_part *parts, size_t count);
void ncs_cost_free(struct ncs_cost *cost);

/* Computes the cost of all ranks, or with `rank` not negative of this one alone: the
 * others stay as they were, zeros at first. Returns 0 or -ENOMEM. */
int ncs_cost_compute(struct ncs_cost *cost, int64_t rank);

/* Returns the costs, sorted by rank, and sets *count to their number. Valid until
 * the next call for `cost`. */
const struct ncs_cost_of_rank *ncs_cost_ranks(const struct ncs_cost *cost,
					      size_t *count);

#endif
