/* SPDX-License-Identifier: MIT */
/* Messages between ranks: the sender's record of a step and the receiver's, put
 * together.
 *
 * NCCL gives no message a number, but the proxy steps of both ends agree in the
 * operation, the channel, the two ranks and the step. A collective is known by
 * its function and sequence number, which its own record tells once all of its
 * parts have ended: steps wait for it here. Sends and receives have no number;
 * what they are the how manieth of on their channel is the same on both sides,
 * as connections keep their order. So these are only found where the records
 * of both ranks are there from the first one on, none left out or lost.
 *
 * Records may come in any order in which each lane's are; only so many wait at a
 * time, the oldest make room. Pure; records are not trusted.
 */
#ifndef NCS_ANALYSIS_RECORDS_MESSAGES_H
#define NCS_ANALYSIS_RECORDS_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/reader.h"

/* Which message; of all ranks together. */
struct ncs_message_key {
	uint64_t comm_id;
	/* NCCL's number, of the function; for a send and its receive, their
	 * place on the channel from one to the other, from 0. */
	uint64_t number;
	uint64_t step;
	uint32_t repeat; /* times that this number had been told before */
	int32_t source;  /* rank */
	int32_t destination;
	uint8_t function; /* NCS_FUNCTION_SEND_RECV for sends and receives */
	uint8_t channel;
	uint8_t reserved[2];
};

/* The same on all machines: an id that both ends' records give. */
uint64_t ncs_message_hash(const struct ncs_message_key *key);

/* Moments are ns of the clock that each rank was given with, 0: not told. */
struct ncs_message {
	struct ncs_message_key key;
	size_t sender; /* what the caller calls the ranks */
	size_t receiver;
	const struct ncs_record *send;
	const struct ncs_record *receive;
	uint64_t ready_ns;  /* the sender had the data … */
	uint64_t sent_ns;   /* … and the network took them */
	uint64_t posted_ns; /* the receiver was about to post its buffer … */
	uint64_t arrived_ns; /* … and had the data; at its step's end at last */
	uint64_t bytes;
};

/* Valid during the call. */
typedef void ncs_message_visit(void *context,
			       const struct ncs_message *message);

enum ncs_unmatched {
	NCS_UNMATCHED_OPERATION, /* the record of their operation never came */
	NCS_UNMATCHED_PLACE, /* a send or receive of which the place is unknown */
	NCS_UNMATCHED_UNKNOWN_PEER, /* the other rank is not there */
	NCS_UNMATCHED_PEER,         /* … has no record of it */
	NCS_UNMATCHED_COUNT
};

struct ncs_messages_count {
	uint64_t steps;
	uint64_t messages; /* two steps each */
	uint64_t unmatched[NCS_UNMATCHED_COUNT];
};

struct ncs_messages;

/* Room for so many steps that wait, 0: for 256 Ki. NULL: no memory. */
struct ncs_messages *ncs_messages_new(size_t steps_max,
				      ncs_message_visit *visit, void *context);
void ncs_messages_free(struct ncs_messages *messages); /* NULL: nothing */

/* A rank whose records will come, before the first of them: `owner` is what the
 * caller calls it, a small number that no other rank has. Messages with ranks
 * that were not told of are not looked for. 0 or -ENOMEM. */
int ncs_messages_expect(struct ncs_messages *messages, size_t owner,
			const struct ncs_identity *identity,
			const struct ncs_clock *clock);

/* Takes in records of one lane, of any type. `lost`: so many right before them
 * are missing. Calls `visit` for each message that is complete by that. 0 or
 * -ENOMEM. */
int ncs_messages_take(struct ncs_messages *messages, size_t owner,
		      unsigned lane, const struct ncs_record *records,
		      size_t count, uint64_t lost);

/* Counts what waits as unmatched, and forgets it. */
void ncs_messages_flush(struct ncs_messages *messages);

const struct ncs_messages_count *
ncs_messages_count(const struct ncs_messages *messages);

#endif
