/* SPDX-License-Identifier: MIT */
/* The operations of one rank, and which of them each child's record belongs to.
 *
 * An operation's own record is published after those of its children, and says
 * what the operation is: children wait here until it comes, then they are
 * handed out with it, in their order. A collective is identified by its
 * function and sequence number, and by how often that number has come before,
 * since replays of CUDA graphs repeat it. NCCL does not number sends and
 * receives. Where the plugin has numbered them on their connections, they are
 * identified by that; else by their place on every channel that they use, since
 * connections keep their order.
 *
 * The records of one lane must come in order, lanes may come in any order.
 * Memory is bounded: if too many children wait, those of the oldest operation
 * are handed out without it. Must not trust records. Not thread-safe.
 */
#ifndef NCS_ANALYSIS_RECORDS_RANK_OPERATIONS_H
#define NCS_ANALYSIS_RECORDS_RANK_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ncs_record; /* ncclstat/record.h */

/* Number of children that wait for an operation's record, if no other is
 * given. */
#define NCS_CHILDREN_MAX ((size_t)1 << 18)

/* The facts that an operation's own record has. */
struct ncs_known_operation {
	uint32_t operation; /* number in the order in which operations began */
	uint32_t repeat;    /* times that its sequence number had come before */
	uint64_t number;    /* sequence number or NCS_NO_SEQUENCE_NUMBER */
	uint64_t transfer;  /* number on its connection, or the same */
	uint8_t event;      /* NCS_EVENT_COLL or NCS_EVENT_P2P */
	uint8_t function;
};

/* A child: a proxy operation, a step, what the network plugin did for it, a
 * kernel's channel or a phase of it. */
struct ncs_child {
	const struct ncs_record *record;
	/* NULL if the operation's own record never came. */
	const struct ncs_known_operation *operation;
	/* Place of a send or receive, from 1, among those of the same channel,
	 * direction and peer; 0 if not known, and for a collective. */
	uint64_t place;
};

/* Takes the children that are handed out. Returns 0 or -ENOMEM. */
struct ncs_child_visitor {
	int (*visit)(void *context, const struct ncs_child *child);
	void *context;
};

struct ncs_rank_operations;

/* Creates the operations of a rank, of which up to `children_max` children
 * wait, or NCS_CHILDREN_MAX if that is 0. Returns NULL if there is no memory.
 * Free them with ncs_rank_operations_free(), which accepts NULL; children that
 * still wait are lost. */
struct ncs_rank_operations *ncs_rank_operations_new(size_t children_max);
void ncs_rank_operations_free(struct ncs_rank_operations *operations);

/* Takes an operation's own record, and hands out its children. Sets *known to
 * the operation, valid until the next call; NULL if the record does not number
 * it. Returns 0 or -ENOMEM. */
int ncs_rank_operations_take(struct ncs_rank_operations *operations,
			     const struct ncs_record *record,
			     const struct ncs_child_visitor *visitor,
			     const struct ncs_known_operation **known);

/* Takes the record of a child, and hands it out if its operation is known or if
 * it has none. Returns 0 or -ENOMEM. */
int ncs_rank_operations_take_child(struct ncs_rank_operations *operations,
				   const struct ncs_record *record,
				   const struct ncs_child_visitor *visitor);

/* Returns the children of an operation that wait for its record, in the order in
 * which they came, and sets *count to their number. They are valid until the next
 * call. */
const struct ncs_record *
ncs_rank_operations_waiting(const struct ncs_rank_operations *operations,
			    uint32_t operation, size_t *count);

/* Hands out all children that wait, without their operations. Returns 0 or
 * -ENOMEM. */
int ncs_rank_operations_flush(struct ncs_rank_operations *operations,
			      const struct ncs_child_visitor *visitor);

/* Notes that records are missing: from here on it is not known how many sends
 * and receives there were, and how often a number has come. */
void ncs_rank_operations_lose(struct ncs_rank_operations *operations);

/* Notes the first record of a batch from a lane. */
void ncs_rank_operations_begin(struct ncs_rank_operations *operations,
			       unsigned lane, const struct ncs_record *first);

/* Returns false if records are missing, the first ones of a lane included,
 * where ncs_rank_operations_begin() is called: then places and repeats count
 * from some record on, which need not be the same one at another rank. */
bool ncs_rank_operations_are_whole(const struct ncs_rank_operations *operations);

/* Identifies a message among those of all ranks. */
struct ncs_message_key {
	uint64_t comm_id;
	/* The sequence number of the function; for a send and its receive their
	 * number on the connection from one rank to the other, or their place
	 * on the channel. */
	uint64_t number;
	uint64_t step;
	uint32_t repeat; /* times that this number had been reported before */
	int32_t source;  /* rank */
	int32_t destination;
	uint8_t function; /* NCS_FUNCTION_SEND_RECV for sends and receives */
	uint8_t channel;
	bool is_by_place; /* `number` is a place */
	uint8_t reserved;
};

/* Sets *key to the message that a step of this rank is an end of; both ends
 * have the same key. Returns false if the message is not known. */
bool ncs_message_key_of(const struct ncs_rank_operations *operations,
			const struct ncs_child *step, uint64_t comm_id,
			int32_t rank, struct ncs_message_key *key);

#endif
