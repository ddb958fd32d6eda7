/* SPDX-License-Identifier: MIT */
/* The state of the whole job in brief: how many ranks wait, for how long, and
 * where the chain of waits ends.
 *
 * Pure. Pointers lead into the model and are valid until its next update.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_SUMMARY_H
#define NCS_ANALYSIS_DIAGNOSIS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/launch_waits.h"
#include "analysis/model/model.h"
#include "analysis/model/oldest.h"

#define NCS_CHAIN_MAX 64

/* Where the chain of waits ends. */
enum ncs_chain_end {
	NCS_CHAIN_NONE,   /* there is no chain: no rank waits for a peer */
	NCS_CHAIN_UNSEEN, /* at a rank that is not seen here: `peer` */
	NCS_CHAIN_ENDED,  /* at a rank that is dead or has finished */
	NCS_CHAIN_ABSENT, /* at a rank that has no operation in progress */
	NCS_CHAIN_MOVING, /* at a rank that still makes progress */
	NCS_CHAIN_LOCAL,  /* at a rank that waits for its GPU or network */
	NCS_CHAIN_CIRCLE, /* at a rank that is in the chain already */
};

/* A rank whose sequence number in a function is smaller than the others'. */
struct ncs_behind {
	const struct ncs_rank *rank; /* NULL if no rank is behind */
	unsigned function;
	uint64_t at;        /* its sequence number */
	uint64_t others_at; /* the largest sequence number */
	size_t count;       /* number of ranks that are equally far behind */
};

struct ncs_summary {
	size_t ranks;
	size_t dead;
	size_t finished;
	size_t silent;
	const struct ncs_rank *first_dead;
	uint64_t lost;
	size_t channels;
	size_t states[NCS_CHANNEL_STATE_COUNT]; /* channels in each state */
	/* Ranks that live and that have launched kernels, and those of them that
	 * wait, without a busy channel, by what for. */
	size_t launching;
	size_t launches[NCS_LAUNCH_WAIT_COUNT];
	size_t long_waits; /* all of these that last NCS_LONG_WAIT_NS or more */
	struct ncs_oldest oldest;
	struct ncs_wait channel_wait; /* the longest of channels */
	/* From the rank of that channel; each waits for the next. */
	const struct ncs_rank *chain[NCS_CHAIN_MAX];
	size_t chain_length;
	enum ncs_chain_end chain_end;
	struct ncs_wait last; /* of the chain; only if NCS_CHAIN_LOCAL */
	int peer;             /* the rank that the last one waits for */
	struct ncs_behind behind;
};

/* Summarizes the model. */
void ncs_summarize(struct ncs_summary *summary, const struct ncs_model *model);

/* Returns the rank at the end of the chain, which others wait for; NULL if it
 * is not seen here, or unknown. */
const struct ncs_rank *ncs_suspect(const struct ncs_summary *summary);

/* Returns the rank with the number `peer` of the same communicator; NULL if it
 * is not seen here. If several ranks have this number, as in a restarted job,
 * returns a live one. */
const struct ncs_rank *ncs_peer_rank(const struct ncs_rank *rank, int peer);

#endif
