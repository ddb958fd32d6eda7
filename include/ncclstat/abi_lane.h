/* SPDX-License-Identifier: MIT */
/* Lanes of a segment: the counters of each publishing thread, by function, and the
 * header of its ring. For all of the segment see abi.h. */
#ifndef NCCLSTAT_ABI_LANE_H
#define NCCLSTAT_ABI_LANE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi_values.h"
#include "ncclstat/record.h"

/* Counters of one function in one lane; readers add them over all lanes. Sums
 * are modulo 2^64: if a finished operation is reopened, the lane that sees it
 * subtracts it, which need not be the lane that counted it. */
struct ncs_function {
	uint64_t sequence;
	uint64_t calls;           /* number of CollApi and P2pApi events */
	uint64_t operations;      /* number of Coll and P2p events */
	uint64_t operations_done; /* operations whose children have all ended */
	uint64_t with_children;   /* operations with at least one child */
	uint64_t bytes;           /* message sizes as nccl-tests counts them */
	uint64_t size_unknown;    /* operations of unknown size */
	uint64_t last_sequence_number; /* last reported number + 1; 0: none */
	/* Finished operations with a time, by its source: enum ncs_timing. */
	uint64_t timed[2];       /* their number */
	uint64_t time_ns[2];     /* sum of their times */
	uint64_t timed_bytes[2]; /* sum of their bytes */
	uint64_t reserved[2];
};

/* Counters of operations with a time from the stream, as in struct
 * ncs_function, whose sequence covers them, or struct ncs_range. */
struct ncs_stream_times {
	uint64_t timed;
	uint64_t time_ns;
	uint64_t timed_bytes;
	uint64_t reserved;
};

/* The counters of one publishing thread; its ring has the same index. Lane 0 is
 * shared by all threads that found no lane of their own: there, counters are
 * added to atomically, and blocks have no seqlock.
 *
 * From minor version 10 on the last lanes may be call lanes. Call lane i of them
 * (from 0) belongs to the thread of lane i + 1: its ring in header.call_rings has
 * the thread's COLL, P2P, STREAM, KERNEL_LAUNCH, COLL_API, P2P_API and CE_COLL
 * records, so that proxy steps do not overwrite them. All other records, and all
 * of a thread without a call lane, are in the ring of the thread's own lane. A
 * call lane has no counters. Its ring in header.rings is for readers that do not
 * know call lanes: it has the COLL, P2P and STREAM records once more. */
struct ncs_lane {
	uint64_t owner;     /* opaque; 0: not in use (lane 0: always 0) */
	/* Ticks of the latest callback, except state changes of steps, which
	 * update their channel's `since`, and of kernels. */
	uint64_t last_call;
	uint64_t reserved[6];
	uint64_t events[NCS_EVENT_MAX]; /* events started, by enum ncs_event */
	uint64_t losses[NCS_LOSS_MAX];  /* by enum ncs_loss */
	/* By enum ncs_event: start, in ticks, of the event that the thread is
	 * in; 0: none. Only for types that start and stop on one thread. */
	uint64_t open_since[NCS_EVENT_MAX];
	struct ncs_function functions[NCS_FUNCTION_MAX];
	/* From minor version 5 on, by function. */
	struct ncs_stream_times stream_times[NCS_FUNCTION_MAX];
	uint64_t padding[8]; /* keeps the next lane from being prefetched */
};

/* Bytes of an entry that readers accept: before minor version 5. */
#define NCS_LANE_BYTES_LEAST offsetof(struct ncs_lane, stream_times)

/* The header of a lane's ring (shm/ring.h); ring_records records follow it. */
struct ncs_ring {
	uint64_t head; /* number of records published so far */
	uint64_t padding[15];
};

static_assert(sizeof(struct ncs_function) == 128, "function");
static_assert(sizeof(struct ncs_lane) == 3328, "lane");
static_assert(offsetof(struct ncs_lane, functions) % 64 == 0, "functions");
static_assert(sizeof(struct ncs_ring) == 128, "ring");

#endif
