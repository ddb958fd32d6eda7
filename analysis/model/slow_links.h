/* SPDX-License-Identifier: MIT */
/* Links that have turned slow: for how long data was on the way from one rank to
 * another, and how long the operations moved data, against their own past.
 *
 * Kinds of operations are told apart by function and size class. An operation is
 * slow on a link if both times are several times as long as usual, and if what
 * its messages were longer on the way explains what it moved longer. A link is
 * slow after several operations in a row, some time apart. Slow operations do not
 * become usual. A link that has been slow from the start is not known: nothing is
 * said of it. Where operations end does not count, so a rank that is late does
 * not make a link slow, nor does one that has no buffer for what comes.
 *
 * A look that begins after a link turned slow finds what is usual in what the
 * segments have kept: in the records of operations whose steps are overwritten,
 * else in the counters since the job's start. How long messages were on the way
 * then is not known: they were so for no longer than the operations took.
 *
 * Memory is bounded: 0.5 KiB for each link and kind of operations, and 16 KiB for
 * each communicator that has slow ones. Pure. Times are ns.
 */
#ifndef NCS_ANALYSIS_MODEL_SLOW_LINKS_H
#define NCS_ANALYSIS_MODEL_SLOW_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/base/hash_table.h"

struct ncs_communicator;
struct ncs_joined;
struct ncs_model;
struct ncs_rank;

/* Tells what is usual on a link. */
enum ncs_link_past {
	NCS_PAST_NONE,
	NCS_PAST_LINK,       /* earlier operations on it */
	NCS_PAST_OPERATIONS, /* earlier operations, of which steps are not known */
	NCS_PAST_COUNTERS,   /* the receiver's counters since the job's start */
};

/* A link that is slow now. */
struct ncs_slow_link {
	int32_t from, to;    /* ranks of the communicator */
	unsigned function;   /* enum ncs_function_id */
	uint64_t operations; /* slow ones in a row, up to the latest */
	uint64_t since_ns;   /* the begin of the first of them */
	enum ncs_link_past past;
	/* Mean time that a message was on the way, now and before; that is not
	 * known (0) unless the past is the link's. */
	double message_ns, usual_message_ns;
	/* Mean time that these operations moved data, and before; where the past
	 * are counters, that they took the receiver once all had come. */
	double moving_ns, usual_moving_ns;
	/* The share of the time since then by which operations of its job moved
	 * data for longer. It costs at most so much: ranks may compute meanwhile. */
	double share;
};

/* Returns the slow link of a communicator whose messages are longest; false if
 * none is slow. */
bool ncs_communicator_slow_link(const struct ncs_model *model,
				const struct ncs_communicator *communicator,
				struct ncs_slow_link *found);

/* Returns whether any operation on a link of the communicator was compared with
 * the time since the job's start, or with operations that were NCS_COST_WINDOW_NS
 * earlier: records of less time may all be from after a change. */
bool ncs_communicator_links_compared(
	const struct ncs_communicator *communicator);

/* --- Kept with the state of a communicator -------------------------------- */

struct ncs_excess;
struct ncs_link_kind;

/* Start with zeros. */
struct ncs_link_kinds {
	struct ncs_hash_table by_key;
	struct ncs_link_kind **kinds;
	size_t count, capacity;
	bool are_compared; /* see ncs_communicator_links_compared() */
	/* The latest times by which operations moved data for longer than usual,
	 * in rotation; NULL if there are none. */
	struct ncs_excess *excesses;
	uint64_t excess_count;
	size_t job; /* the same number for all communicators of a job */
};

/* Takes note of an operation that all ranks compared have a part in; `ranks` are
 * those of its parts. Returns 0 or -ENOMEM. */
int ncs_links_note(struct ncs_link_kinds *kinds,
		   const struct ncs_joined *joined,
		   struct ncs_rank *const *ranks);

/* Finds which communicators are of one job, if any has an excess: call this once
 * all operations are noted. Returns 0 or -ENOMEM. */
int ncs_links_find_jobs(struct ncs_model *model);

/* Releases all memory. */
void ncs_links_release(struct ncs_link_kinds *kinds);

#endif
