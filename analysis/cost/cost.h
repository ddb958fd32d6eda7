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
 * Numbers that decide a conclusion: ncclstat/tables/findings.def. Pure; memory is
 * about 200 bytes a launch. Not thread-safe for one cost.
 */
#ifndef NCS_ANALYSIS_COST_COST_H
#define NCS_ANALYSIS_COST_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/records/joined.h"
#include "ncclstat/tables/cost.def"

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
	/* Any number that tells streams of a rank apart; 0 if it is not known. */
	uint64_t stream;
	uint64_t call_ns; /* the host began to launch it … */
	uint64_t launched_ns; /* … and had launched it */
	uint64_t begin_ns;    /* on the stream; 0 if not known */
	uint64_t end_ns;      /* likewise; or it ended … */
	uint64_t tail_ns;     /* … so much later at most */
	/* All waited so long for its data although its kernel could begin. */
	uint64_t data_late_ns;
	/* Its clock and that of another part may be apart by so much. */
	uint64_t clocks_apart_ns;
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

/* Moves the parts of the longest stretch in which nearly all launches have times to the
 * front, and sets *count to their number; of stretches alike, those of the latest. The
 * number stays where nearly all have times, or none has. The order of parts is another
 * one. Returns 0 or -ENOMEM. */
int ncs_cost_keep_stretch(struct ncs_cost_part *parts, size_t *count);

/* The cost of a rank. Shares are of the window's time, of 1. */
struct ncs_cost_of_rank {
	uint32_t rank; /* of the job; of all ranks at once UINT32_MAX */
	enum ncs_cost_unknown unknown;
	uint32_t steps; /* whose anchors are known */
	/* If it is known: negative if the job would take longer. */
	double share, least, most;
	/* Bounds of the share in this very window: without what other moments of it would
	 * have given by chance. */
	double least_here, most_here;
	/* The time that shares are of, and that with the first launches, of which no
	 * anchors are known. */
	double window_ns, steps_ns;
	/* The share that it costs by each of its works alone: by late calls, by late
	 * readiness on the stream, and by late data. */
	double host, stream, data;
	bool is_too_much; /* it costs much, and surely something */
	/* It costs more than others waited for it, or far less: anchors do not tell
	 * that nothing else would have held the job up. */
	bool is_contradicted;
};

/* The step in which the launches of a job repeat: that of the ranks that take longest
 * for one. */
struct ncs_cost_step {
	enum ncs_cost_unknown unknown;
	uint32_t launches; /* of a rank, in one */
	uint32_t count;    /* whole ones in the window */
	/* If it is known: the mean time from one to the next, in ns. */
	double ns;
};

struct ncs_cost;

/* Learns the dependencies of a window from the parts of all its ranks, in any
 * order. The parts are not kept. Returns NULL if there is no memory. Free it with
 * ncs_cost_free(), which accepts NULL. */
struct ncs_cost *ncs_cost_new(const struct ncs_cost_part *parts, size_t count);
void ncs_cost_free(struct ncs_cost *cost);

/* Returns the step of a window, which belongs to `cost`. */
const struct ncs_cost_step *ncs_cost_step(const struct ncs_cost *cost);

/* Fills in when its steps begin on a rank, in ns of the parts' clock, unless `begins_ns`
 * is NULL. Returns how many there are; 0 if it is not known. */
size_t ncs_cost_step_begins(const struct ncs_cost *cost, uint64_t *begins_ns);

/* In place of a rank: each one for itself, and the transfers; all of them at once, none
 * of which then works longer than the others do; or what all transfers cost, as far as
 * nothing goes on beside them: the job is without it if operations end once all their
 * ranks have begun. */
#define NCS_COST_EACH (-1)
#define NCS_COST_AT_ONCE (-2)
#define NCS_COST_TRANSFERS (-3)

/* Computes the cost of a rank: the others' stay as they were, zeros at first. Returns
 * 0 or -ENOMEM. */
int ncs_cost_compute(struct ncs_cost *cost, int64_t rank);

/* Returns the costs, sorted by rank, and sets *count to their number. Valid until
 * the next call for `cost`. */
const struct ncs_cost_of_rank *ncs_cost_ranks(const struct ncs_cost *cost,
					      size_t *count);

/* Returns the cost of a rank, or that of all at once; NULL if it has no parts. Valid as
 * those are. */
const struct ncs_cost_of_rank *ncs_cost_find(const struct ncs_cost *cost,
					     int64_t rank);

/* How much earlier, in ns, a part comes without what a rank costs; NAN if its times are
 * not known. */
struct ncs_cost_move {
	float call_ns, begin_ns, end_ns;
};

/* Fills in the moves of all parts without a rank, or without what all cost at once, by
 * their places among the parts that the window was made of. Returns 0 or -ENOMEM. */
int ncs_cost_moves(struct ncs_cost *cost, int64_t rank,
		   struct ncs_cost_move *moves);

#endif
