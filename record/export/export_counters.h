/* SPDX-License-Identifier: MIT */
/* Counters of a rank from its states, for traces. Not thread-safe. */
#ifndef NCS_RECORD_EXPORT_EXPORT_COUNTERS_H
#define NCS_RECORD_EXPORT_EXPORT_COUNTERS_H

#include "ncclstat/snapshot.h"
#include "record/export/trace_writer.h"

/* Sums of a state's counters. */
struct ncs_counter_sums {
	uint64_t taken_ns; /* 0 if there was no state yet */
	uint64_t bytes[2]; /* received, sent */
	bool bytes_known[2];
	uint64_t state_ns[NCS_CHANNEL_STATE_COUNT];
};

/* The counters of a rank. The caller sets parent and place; everything else
 * begins as zeros. */
struct ncs_export_counters {
	uint32_t parent; /* track above the counters */
	uint32_t place;  /* place of the first counter's track */
	struct ncs_counter_sums before;
	/* Tracks of the counters; 0 until there is a value. */
	uint32_t in_flight;
	uint32_t bytes[2];
	uint32_t shares[NCS_CHANNEL_STATE_COUNT];
};

/* Takes the rank's next state. Rates and shares cover the time since the
 * previous state, and are written at the time of the previous state. */
void ncs_export_counters_take(struct ncs_export_counters *counters,
			      struct ncs_trace_writer *writer,
			      const struct ncs_snapshot *snapshot);

#endif
