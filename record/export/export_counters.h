/* SPDX-License-Identifier: MIT */
/* Counters of a rank along its states: for traces. */
#ifndef NCS_RECORD_EXPORT_EXPORT_COUNTERS_H
#define NCS_RECORD_EXPORT_EXPORT_COUNTERS_H

#include "ncclstat/reader.h"
#include "record/export/trace_writer.h"

/* What a state's counters add up to. */
struct ncs_counter_sums {
	uint64_t taken_ns; /* 0: there was no state yet */
	struct {
		uint64_t bytes;
		uint64_t time_ns;
		uint64_t size_unknown;
	} functions[NCS_FUNCTION_COUNT];
	uint64_t bytes[2]; /* received, sent */
	bool bytes_known[2];
	uint64_t state_ns[NCS_CHANNEL_STATE_COUNT];
};

/* All zeros but for the parent. */
struct ncs_export_counters {
	uint32_t parent; /* track */
	uint32_t place;  /* of the first counter */
	struct ncs_counter_sums before;
	uint32_t busbw[NCS_FUNCTION_COUNT]; /* tracks; 0: not yet */
	uint32_t in_flight;
	uint32_t bytes[2];
	uint32_t shares[NCS_CHANNEL_STATE_COUNT];
};

/* The next state: what is a rate or a share is that since the state before, and
 * is written as of then. */
void ncs_export_counters_take(struct ncs_export_counters *counters,
			      struct ncs_trace_writer *writer,
			      const struct ncs_snapshot *snapshot);

#endif
