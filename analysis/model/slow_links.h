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
 * Memory is bounded: 0.5 KiB for each link and kind of operations. Pure. Times
 * are ns.
 */
#ifndef NCS_ANALYSIS_MODEL_SLOW_LINKS_H
#define NCS_ANALYSIS_MODEL_SLOW_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/hash_table.h"

struct ncs_communicator;
struct ncs_joined;
struct ncs_model;

/* A link is slow if so many operations in a row were, and for so long. */
#define NCS_SLOW_OPERATIONS 3u
#define NCS_SLOW_NS UINT64_C(500000000)

/* A link that is slow now. */
struct ncs_slow_link {
	int32_t from, to;    /* ranks of the communicator */
	unsigned function;   /* enum ncs_function_id */
	uint64_t operations; /* slow ones in a row, up to the latest */
	uint64_t since_ns;   /* the begin of the first of them */
	/* Mean time that a message was on the way, now and before. */
	double message_ns, usual_message_ns;
	/* Mean time that these operations moved data, and before. */
	double moving_ns, usual_moving_ns;
	/* The share of the time since then by which operations moved data for
	 * longer. It costs at most so much: ranks may compute meanwhile. */
	double share;
};

/* Returns the slow link of a communicator whose messages are longest; false if
 * none is slow. */
bool ncs_communicator_slow_link(const struct ncs_model *model,
				const struct ncs_communicator *communicator,
				struct ncs_slow_link *found);

/* --- Kept with the state of a communicator -------------------------------- */

struct ncs_link_kind;

/* Start with zeros. */
struct ncs_link_kinds {
	struct ncs_hash_table by_key;
	struct ncs_link_kind **kinds;
	size_t count, capacity;
};

/* The latest times by which operations moved data for longer than usual. */
#define NCS_EXCESSES 1024u

struct ncs_excess {
	uint64_t begin_ns, end_ns;
};

struct ncs_excesses {
	struct ncs_excess latest[NCS_EXCESSES]; /* in rotation */
	uint64_t count;
};

/* Takes note of an operation that all ranks compared have a part in. Returns 0 or
 * -ENOMEM. */
int ncs_links_note(struct ncs_link_kinds *kinds, struct ncs_excesses *excesses,
		   const struct ncs_joined *joined);

/* Releases all memory. */
void ncs_links_release(struct ncs_link_kinds *kinds);

#endif
