/* SPDX-License-Identifier: MIT */
/* The 64-byte record: one finished event of NCCL.
 *
 * An event with a start and an end is one record, published when it has ended;
 * unfinished events are in the state tables (abi.h). A record consists of eight
 * 64-bit words, which are copied one by one with relaxed atomics; struct
 * ncs_record names their parts. Types and asserts only.
 */
#ifndef NCCLSTAT_RECORD_H
#define NCCLSTAT_RECORD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/tables/events.def"
#include "ncclstat/tables/own_events.def"

/* Event types of NCCL; the bit of a type in NCCL's masks is 1 << number. */
enum ncs_event {
#define X(ID, name, bit, api, help) NCS_EVENT_##ID,
	NCS_EVENTS(X)
#undef X
	NCS_EVENT_COUNT
};

/* Size of tables that count by event type, with room for later API versions. */
#define NCS_EVENT_MAX 32

static_assert((int)NCS_EVENT_COUNT <= NCS_EVENT_MAX, "events fit their table");

/* Event types of the plugin itself, from NCS_EVENT_MAX on: not counted in
 * tables. */
enum ncs_own_event {
#define X(ID, name, number, help) NCS_EVENT_##ID = number,
	NCS_OWN_EVENTS(X)
#undef X
};

/* The lower four bits of a record's flags. */
enum ncs_record_flag {
	NCS_RECORD_SEND = 1,         /* direction is send, not receive */
	NCS_RECORD_GRAPH = 2,        /* captured into a CUDA graph */
	NCS_RECORD_MISSING_STOP = 4, /* NCCL did not report the stop */
	NCS_RECORD_AGAIN = 8, /* replaces the operation's earlier record */
	/* COLL, P2P: sampling left out the records of its children. */
	NCS_RECORD_LEFT_OUT = NCS_RECORD_MISSING_STOP,
	/* COLL, P2P: delta[1] and the duration lead to the begin and to the end
	 * of its kernel, by CUDA events on the stream. */
	NCS_RECORD_ON_STREAM = NCS_RECORD_SEND,
	/* P2P: `number` is the number of the transfer on its connection. */
	NCS_RECORD_NUMBERED = NCS_RECORD_GRAPH,
};

/* The upper four bits of a record's flags are its sampling level. At level L,
 * one operation in 2^L keeps the records of its children, so that each of these
 * records represents 2^L. NCS_LEVEL_SLOW marks records of an operation that was
 * not chosen but turned out to be slow: they represent themselves only and are
 * left out of estimates. COLL and P2P records are always kept; their level is
 * that of their children. All other records are always kept, at level 0. */
#define NCS_LEVEL_MAX 14u
#define NCS_LEVEL_SLOW 15u
#define NCS_LEVEL_SHIFT 4
#define NCS_RECORD_LEVEL(flags) ((unsigned)(uint8_t)(flags) >> NCS_LEVEL_SHIFT)
#define NCS_RECORD_AT_LEVEL(level) ((uint8_t)((level) << NCS_LEVEL_SHIFT))

/* The largest number of a range that a COLL or P2P record holds; also used for
 * all ranges with larger numbers. */
#define NCS_RECORD_RANGE_MAX 255u

#define NCS_RECORD_WORDS 8

/* A CUDA stream in a record: its handle plus 1, since the default stream's
 * handle is 0; 0 means unknown. NCCL reports streams from API 5 on, and records
 * have them from minor version 4 of the ABI on. */
#define NCS_RECORD_STREAM(handle) ((uint64_t)(uintptr_t)(handle) + 1)
#define NCS_RECORD_STREAM_HANDLE(stream) ((stream)-1)

/* A record. Times are ticks of the segment's clock (abi_clock.h). A delta is a
 * time since the start, 0 if that point was not reached. Fields that an event
 * type does not use are 0. Callbacks that NCCL makes one directly after the other
 * have one time (plugin/events/call.h).
 *
 * event        value               number           delta[0], delta[1]
 * GROUP        -                   -                -
 * COLL, P2P    message bytes       sequence number  enqueued, begun;
 *                                                   channel: range of the
 *                                                   call, 0: none
 * PROXY_OP     bytes moved         steps done       in progress, first step
 * PROXY_STEP   bytes moved         step             send: peer wait, wait;
 *                                                   recv: flush wait, GPU wait
 * PROXY_CTRL   operations          state entered    sleep: wakeup; append:
 *              appended                             end of it
 * KERNEL_CH    GPU clock at start  GPU duration_ns  -
 *              in ns
 * KERNEL_PHASE GPU clock at start  GPU duration_ns  delta[0]: number of the
 *              in ns                                phase
 * NET_PLUGIN   bytes               plugin's id      -
 * GROUP_API    -                   depth            ncclGroupStart returned,
 *                                                   ncclGroupEnd called
 * COLL_API,    message bytes       range of the     delta[0]: stream
 * P2P_API                          call, 0: none
 * KERNEL_LAUNCH -                  -                delta[0]: stream
 * CE_COLL      message bytes       sequence number  delta[0]: stream
 * CE_SYNC      -                   ranks            -
 * CE_BATCH     bytes               copies           -
 * SETTINGS     new detail in force previous detail  delta[0]: the request;
 *              (control_object.h)                   delta[1]: end of the
 *                                                   lease in ns of
 *                                                   CLOCK_MONOTONIC
 * MARK         range: the mark's   -                -
 *              name, inside the
 *              range it was set in
 * STREAM       stream              -                -
 *
 * The number of a P2P record is not NCCL's. With NCS_RECORD_NUMBERED it is the
 * number of transfers before it on its connection, from one rank to the other,
 * since the communicator's init: the same at both ends, as NCCL matches them in
 * order. Else it is NCS_NO_SEQUENCE_NUMBER, as in records of a minor version
 * before 8.
 *
 * A COLL or P2P record starts when NCCL reported the operation, or just before
 * its kernel began if that is earlier. With NCS_RECORD_ON_STREAM its begin and
 * its end are those of its kernel on the stream, and the begin is never
 * unknown. Otherwise the begin is that of its first proxy operation, unknown if
 * it had none, and the end that of its last child; records of a minor version
 * before 5 are all of this kind.
 *
 * A STREAM record applies to the COLL and P2P records after it in the same
 * ring, up to the next STREAM record: their operations were called on that
 * stream. Streams are NCS_RECORD_STREAM().
 */
struct ncs_record {
	uint64_t start;      /* ticks */
	uint32_t position;   /* low 32 bits of the record's position in its ring,
				by which a slot can be checked */
	uint8_t event;       /* enum ncs_event, enum ncs_own_event */
	uint8_t flags;       /* enum ncs_record_flag and NCS_RECORD_LEVEL() */
	uint8_t channel;
	uint8_t function;    /* enum ncs_function_id */
	uint32_t operation;  /* low 32 bits of its operation's number (abi.h);
				0: none */
	int32_t peer;        /* peer or root; -1: none */
	uint64_t value;      /* by event, see above */
	uint64_t number;     /* by event, see above */
	uint64_t duration;   /* ticks from start to stop */
	uint64_t delta[2];   /* ticks since start, unless noted above */
};

static_assert(sizeof(struct ncs_record) == 8 * NCS_RECORD_WORDS,
	       "a record is one cache line");

#endif
