/* SPDX-License-Identifier: MIT */
/* The state of the whole job in a few words: who waits, for how long, and
 * where the chain of waits ends.
 *
 * Pure: reads the model. Everything points into it and is valid until its next
 * update.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_SUMMARY_H
#define NCS_ANALYSIS_DIAGNOSIS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/model/waits.h"

#define NCS_CHAIN_MAX 64

enum ncs_chain_end {
	NCS_CHAIN_NONE,   /* nobody waits for a peer */
	NCS_CHAIN_UNSEEN, /* at a rank that is not here: `peer` */
	NCS_CHAIN_ENDED,  /* at a rank that is dead or has finished */
	NCS_CHAIN_ABSENT, /* at a rank with nothing under way */
	NCS_CHAIN_MOVING, /* at a rank that goes on all the same */
	NCS_CHAIN_LOCAL,  /* at a rank that waits for its GPU or network */
	NCS_CHAIN_CIRCLE, /* it comes back to where it was */
};

/* A rank whose sequence number of a function is behind the others'. */
struct ncs_behind {
	const struct ncs_rank *rank; /* NULL: none is */
	unsigned function;
	uint64_t at;
	uint64_t others_at;
	size_t count; /* of ranks that are as far behind */
};

struct ncs_summary {
	size_t ranks;
	size_t dead;
	size_t finished;
	size_t silent;
	const struct ncs_rank *first_dead;
	uint64_t lost;
	size_t channels;
	size_t states[NCS_CHANNEL_STATE_COUNT];
	size_t long_waits;
	struct ncs_wait oldest;
	/* From the oldest wait on: each waits for the next. */
	const struct ncs_rank *chain[NCS_CHAIN_MAX];
	size_t chain_length;
	enum ncs_chain_end chain_end;
	struct ncs_wait last; /* of the chain, NCS_CHAIN_LOCAL */
	int peer;
	struct ncs_behind behind;
};

void ncs_summarize(struct ncs_summary *summary, const struct ncs_model *model);

/* The rank that others wait for, at the end of the chain; NULL: it is not seen
 * here, or it is not to be told. */
const struct ncs_rank *ncs_suspect(const struct ncs_summary *summary);

/* The rank of the same communicator with this number; NULL: it is not seen
 * here. */
const struct ncs_rank *ncs_peer_rank(const struct ncs_rank *rank, int peer);

#endif
