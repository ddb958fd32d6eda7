/* SPDX-License-Identifier: MIT */
/* One rank's parts in operations, from its records: what the application, the
 * proxy thread and the GPU did for an operation, and when.
 *
 * Records of several lanes come nearly in the order of time, those of one lane
 * in order; they are sorted by operation here, and a part is given out once no
 * more records of it can come. All times are ns of the clock that records are
 * converted with. Memory is bounded: by the operations that are under way, and
 * what is drained at once. Pure; records are not trusted: any value may be in
 * them. Functions are not thread-safe for one rank.
 */
#ifndef NCS_ANALYSIS_RECORDS_PARTS_H
#define NCS_ANALYSIS_RECORDS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/reader.h"

/* On the way into an operation and out of it. Those from BEGIN on are not
 * before BEGIN, nor after END; those before it not after BEGIN. */
enum ncs_part_stage {
	NCS_PART_CALL,   /* the application called */
	NCS_PART_LAUNCH, /* the kernel's launch began */
	NCS_PART_BEGIN,  /* NCCL began to enqueue it */
	NCS_PART_ENQUEUED,
	NCS_PART_PROXY,  /* the proxy thread had its first part */
	NCS_PART_KERNEL, /* its first kernel began */
	NCS_PART_DATA,   /* the GPU had produced the first data to be sent */
	NCS_PART_KERNEL_END,
	NCS_PART_END, /* its last child was over: always known */
	NCS_PART_STAGES
};

enum ncs_part_flag {
	NCS_PART_P2P = 1,
	NCS_PART_GRAPH = 2,
	/* Records of its children were left out, or lost: it has no channels,
	 * and DATA and KERNEL are not known. */
	NCS_PART_LEFT_OUT = 4,
	NCS_PART_MISSING_STOP = 8, /* of a child */
};

/* A channel's waits: its steps' times together, which for steps that are under
 * way side by side are more than the time that it took. */
struct ncs_part_channel {
	uint64_t end_ns;
	uint64_t bytes;
	uint64_t steps;
	int32_t peer;
	uint8_t channel;
	bool send;
	uint64_t wait_ns[NCS_CHANNEL_STATE_COUNT];
};

/* A part: what one member of a communicator did for one operation. */
struct ncs_part {
	uint64_t comm_id;
	int32_t rank;
	int32_t nranks;
	size_t owner; /* what the caller calls the rank */
	uint8_t function;
	uint8_t algorithm; /* NCS_CLASS_OTHER: not known */
	uint8_t protocol;
	uint8_t flags;      /* enum ncs_part_flag */
	int32_t peer;       /* or root; -1: none */
	uint32_t range;     /* that it was called in; 0: none, or not known */
	uint32_t operation; /* in the order in which they began */
	uint32_t channels;  /* channel, direction and peer: proxy operations */
	uint64_t number; /* NCCL's, per function; NCS_NO_SEQUENCE_NUMBER: none */
	uint64_t bytes;
	uint64_t at_ns[NCS_PART_STAGES]; /* 0: not known */
	struct ncs_part_channel slowest; /* that ended last; steps 0: none */
	uint64_t wait_ns[NCS_CHANNEL_STATE_COUNT]; /* of all channels */
	/* Of those that send: whose steps were on the wire for longest,
	 * each. */
	struct ncs_part_channel wire; /* steps 0: none */
};

struct ncs_parts;

/* Of the rank with this header. NULL: no memory. */
struct ncs_parts *ncs_parts_new(const struct ncs_header *header, size_t owner);
void ncs_parts_free(struct ncs_parts *parts); /* NULL: nothing to do */

/* What records do not tell, from a state of the rank: who it is, which
 * algorithms it uses for which sizes, what its GPU's clock shows. Before any
 * records are taken, best several that are spread over their time, in its
 * order: the GPU's clock drifts. 0 or -ENOMEM. */
int ncs_parts_learn(struct ncs_parts *parts,
		    const struct ncs_snapshot *snapshot);

/* Takes in records of one lane, which were read at `drained_ns`; `lost` were
 * overwritten right before them. 0 or -ENOMEM: then parts are missing. */
int ncs_parts_take(struct ncs_parts *parts, const struct ncs_record *records,
		   size_t count, uint64_t lost, uint64_t drained_ns);

/* Nothing more will come of what was read until then; UINT64_MAX: at all. */
void ncs_parts_settle(struct ncs_parts *parts, uint64_t drained_ns);

/* The next one, in the order in which they ended, but for what lanes are apart.
 * Valid until the next call for this rank. NULL: none yet. */
const struct ncs_part *ncs_parts_next(struct ncs_parts *parts);

struct ncs_parts_count {
	uint64_t parts;
	uint64_t lost;     /* records */
	uint64_t replaced; /* by a later record of the same operation, too late */
	uint64_t dropped; /* children of operations that have not ended */
};

const struct ncs_parts_count *ncs_parts_count(const struct ncs_parts *parts);

#endif
