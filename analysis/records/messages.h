/* SPDX-License-Identifier: MIT */
/* Messages between ranks: the sender's record of a step and the receiver's, put
 * together.
 *
 * NCCL gives messages no number, but the proxy steps of both ends agree in the
 * operation, the channel, the two ranks and the step. Steps come with their
 * operations, as analysis/records/rank_operations.h hands them out. Sends and
 * receives that the plugin has not numbered are matched by their places, only
 * if all records of both ranks are there from the first one on, with none left
 * out or lost.
 *
 * The number of steps that wait for their other end is bounded; the oldest are
 * given up to make room. Pure. Must not trust records.
 */
#ifndef NCS_ANALYSIS_RECORDS_MESSAGES_H
#define NCS_ANALYSIS_RECORDS_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/records/rank_operations.h"
#include "ncclstat/snapshot.h"

struct ncs_clock; /* ncclstat/abi_clock.h */

/* A message and its times in ns. Each time is by the clock that its rank was
 * announced with, and is 0 if NCCL did not report it. */
struct ncs_message {
	struct ncs_message_key key;
	size_t sender;   /* the caller's number for the sending rank */
	size_t receiver; /* the caller's number for the receiving rank */
	const struct ncs_record *send;
	const struct ncs_record *receive;
	uint64_t ready_ns;   /* the sender had the data */
	uint64_t sent_ns;    /* the network took the data from the sender */
	uint64_t posted_ns;  /* the receiver was about to post its buffer */
	uint64_t arrived_ns; /* the receiver had the data, or its step ended */
};

/* Called for each message, which is valid during the call. */
typedef void ncs_message_visit(void *context,
			       const struct ncs_message *message);

struct ncs_messages;

/* Creates a matcher in which up to `steps_max` steps wait. It calls `visit` with
 * `context`. Returns NULL if there is no memory. Free it with ncs_messages_free(),
 * which accepts NULL. */
struct ncs_messages *ncs_messages_new(size_t steps_max,
				      ncs_message_visit *visit, void *context);
void ncs_messages_free(struct ncs_messages *messages);

/* Announces a rank. Call this before its first record. `owner` is the caller's
 * number for the rank: small, and different for each rank. Messages to and from
 * ranks that were not announced are not matched. Returns 0 or -ENOMEM. */
int ncs_messages_expect(struct ncs_messages *messages, size_t owner,
			const struct ncs_identity *identity,
			const struct ncs_clock *clock);

/* Takes a child of the rank, ignoring all but steps, as `operations`, those of
 * the rank, hand it out. Calls the visitor if this completes a message. */
void ncs_messages_take(struct ncs_messages *messages, size_t owner,
		       const struct ncs_rank_operations *operations,
		       const struct ncs_child *child);

/* Forgets all waiting steps. */
void ncs_messages_flush(struct ncs_messages *messages);

#endif
