/* SPDX-License-Identifier: MIT */
/* The meaning of an operation's own record: when it began and ended, and by
 * what. Everything that shows or compares operations reads their times here.
 * Pure. Must not trust records.
 */
#ifndef NCS_ANALYSIS_RECORDS_OPERATION_RECORD_H
#define NCS_ANALYSIS_RECORDS_OPERATION_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/finding_numbers.h"
#include "ncclstat/abi_values.h"
#include "ncclstat/record.h"

/* Returns true if a record is an operation's own. */
static inline bool ncs_record_is_operation(const struct ncs_record *record)
{
	return record->event == NCS_EVENT_COLL ||
	       record->event == NCS_EVENT_P2P;
}

/* Returns true if operations of a function are sends and receives, which NCCL
 * does not number. */
static inline bool ncs_is_transfer(unsigned function)
{
	return function == NCS_FUNCTION_SEND || function == NCS_FUNCTION_RECV ||
	       function == NCS_FUNCTION_SEND_RECV;
}

/* The times of an operation, in ticks. */
struct ncs_operation_ticks {
	uint64_t start;    /* NCCL reported it */
	uint64_t enqueued; /* 0: not known */
	/* When its kernel began on the stream or, if it was not timed there,
	 * its first proxy operation; 0: not known. */
	uint64_t begin;
	/* It counts as running from then on: `begin`, or `enqueued` if that is
	 * not known; `end` if both are not. */
	uint64_t running;
	uint64_t end; /* of its kernel on the stream, or of its last child */
	bool is_on_stream; /* `begin` and `end` are its kernel's */
};

/* Returns the times that an operation's record holds. */
static inline struct ncs_operation_ticks
ncs_operation_ticks(const struct ncs_record *record)
{
	uint64_t start = record->start, duration = record->duration;
	uint64_t enqueued = record->delta[0], begun = record->delta[1];
	uint64_t running = begun != 0 ? begun : enqueued;
	bool is_known = begun <= duration;
	bool is_on_stream = is_known && record->flags & NCS_RECORD_ON_STREAM;

	return (struct ncs_operation_ticks){
		.start = start,
		.enqueued = enqueued != 0 ? start + enqueued : 0,
		.begin = is_on_stream || (is_known && begun != 0) ?
				 start + begun :
				 0,
		.running = running != 0 && running < duration ?
				   start + running :
				   start + duration,
		.end = start + duration,
		.is_on_stream = is_on_stream,
	};
}

#endif
