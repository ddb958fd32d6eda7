/* SPDX-License-Identifier: MIT */
/* The 64-byte record: one finished event of NCCL.
 *
 * A span is one record, published when it has ended; what has not ended is in
 * the state tables (abi.h). A record is eight 64-bit words, so that it can be
 * copied word by word with relaxed atomics; this struct names their parts on
 * little-endian machines. Types and asserts only: no code.
 */
#ifndef NCCLSTAT_RECORD_H
#define NCCLSTAT_RECORD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/tables/events.def"
#include "ncclstat/tables/own_events.def"

/* The number of an event type; NCCL's type bit is 1 << number. */
enum ncs_event {
#define X(ID, name, bit, api, help) NCS_EVENT_##ID,
	NCS_EVENTS(X)
#undef X
	NCS_EVENT_COUNT
};

/* Room for later versions of the API in tables that count by event type. */
#define NCS_EVENT_MAX 32

/* … and the plugin's own, which have no place in such tables. */
enum ncs_own_event {
#define X(ID, name, number, help) NCS_EVENT_##ID = number,
	NCS_OWN_EVENTS(X)
#undef X
};

enum ncs_record_flag {
	NCS_RECORD_SEND = 1,         /* direction: set for send */
	NCS_RECORD_GRAPH = 2,        /* captured into a CUDA graph */
	NCS_RECORD_MISSING_STOP = 4, /* NCCL did not report the stop */
	NCS_RECORD_AGAIN = 8,        /* replaces an earlier one of its operation */
	/* COLL, P2P: the records of its children were left out. */
	NCS_RECORD_LEFT_OUT = NCS_RECORD_MISSING_STOP,
};

/* The upper four bits of `flags` are the level at which the record was chosen:
 * one operation in 2^level keeps the records of its children, so that each of
 * them stands for 2^level. NCS_LEVEL_SLOW: it was not chosen, but kept since
 * its operation was slow; it stands for nothing but itself, and is left out of
 * estimates. The records of COLL and P2P are all there: their level is that of
 * their children. All other records are all there, at level 0. */
#define NCS_LEVEL_MAX 14u
#define NCS_LEVEL_SLOW 15u
#define NCS_LEVEL_SHIFT 4
#define NCS_RECORD_LEVEL(flags) ((unsigned)(uint8_t)(flags) >> NCS_LEVEL_SHIFT)
#define NCS_RECORD_AT_LEVEL(level) ((uint8_t)((level) << NCS_LEVEL_SHIFT))

#define NCS_RECORD_RANGE_MAX 255u

#define NCS_RECORD_WORDS 8

/* A CUDA stream in a record: its handle plus 1, as a handle of 0 is the default
 * stream; 0: not known. Up to API 4 NCCL tells none, and up to minor version 3
 * of the ABI none is in any record. */
#define NCS_RECORD_STREAM(handle) ((uint64_t)(uintptr_t)(handle) + 1)
#define NCS_RECORD_STREAM_HANDLE(stream) ((stream)-1)

/* Times are ticks of the segment's clock (abi.h, struct ncs_clock); a delta
 * is a time since start, 0 where it was not reached. What an event type does
 * not use is 0.
 *
 * event        value               number           delta[0], delta[1]
 * GROUP        -                   -                -
 * COLL, P2P    message bytes       sequence number  enqueueing ended, first
 *                                                   child started; the span
 *                                                   ends with the last child;
 *                                                   channel: the range that it
 *                                                   was called in, 0: none,
 *                                                   NCS_RECORD_RANGE_MAX: that
 *                                                   or one with a larger number
 * PROXY_OP     bytes moved         steps done       in progress, first step
 * PROXY_STEP   bytes moved         step             send: peer wait, wait;
 *                                                   recv: flush wait, GPU wait
 * PROXY_CTRL   operations          state entered    sleep: wakeup; append:
 *              appended                             end of it
 * KERNEL_CH    GPU clock at start  GPU duration_ns  -
 *              in ns
 * KERNEL_PHASE GPU clock at start  GPU duration_ns  delta[0]: number of the
 *              in ns                                phase, not a time
 * NET_PLUGIN   bytes               plugin's id      -
 * GROUP_API    -                   depth            start call ended, end call
 *                                                   began
 * COLL_API,    message bytes       range that it    delta[0]: stream, not a
 * P2P_API                          was called in,   time
 *                                  0: none
 * KERNEL_LAUNCH -                  -                delta[0]: stream, not a
 *                                                   time
 * CE_COLL      message bytes       sequence number  delta[0]: stream, not a
 *                                                   time
 * CE_SYNC      -                   ranks            -
 * CE_BATCH     bytes               copies           -
 * SETTINGS     detail in force     detail before    the request; the lease's
 *              from now on                          end in ns of
 *                                                   CLOCK_MONOTONIC, no
 *                                                   times since start
 *                                                   (control_object.h)
 * MARK         range: the mark's   -                -
 *              own name, in the
 *              range that it was
 *              set in
 * STREAM       stream that the     -                -
 *              operations were
 *              called on whose
 *              own records (COLL,
 *              P2P) come after it
 *              in the same ring,
 *              up to its next one
 */
struct ncs_record {
	uint64_t start;      /* ticks */
	uint32_t position;   /* low 32 bits of the record's position in its ring:
				a raw copy of a ring can be checked slot by slot */
	uint8_t event;       /* enum ncs_event, enum ncs_own_event */
	uint8_t flags;       /* enum ncs_record_flag; NCS_RECORD_LEVEL() */
	uint8_t channel;
	uint8_t function;    /* enum ncs_function */
	uint32_t operation;  /* low 32 bits of the operation's number in its
				communicator; 0: belongs to none */
	int32_t peer;        /* peer or root; -1: none */
	uint64_t value;
	uint64_t number;
	uint64_t duration;   /* ticks from start to stop */
	uint64_t delta[2];   /* ticks since start */
};

static_assert(sizeof(struct ncs_record) == 8 * NCS_RECORD_WORDS,
	       "a record is one cache line");

#endif
