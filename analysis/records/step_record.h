/* SPDX-License-Identifier: MIT */
/* The meaning of a proxy step's record: when its data were there, when they were
 * handed over, and what the step waited for. Everything that shows or adds up
 * steps, or puts the two ends of a message together, reads them here. Pure. Must
 * not trust records.
 */
#ifndef NCS_ANALYSIS_RECORDS_STEP_RECORD_H
#define NCS_ANALYSIS_RECORDS_STEP_RECORD_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/abi_values.h"
#include "ncclstat/record.h"

/* The times of a step: its duration and the three waits that make it up. */
enum ncs_step_time {
	NCS_STEP_DURATION,
	NCS_STEP_FIRST_WAIT,
	NCS_STEP_TIMES = NCS_STEP_FIRST_WAIT + 3
};

/* Returns the channel state that a wait is spent in. `time` must not be the
 * duration. */
static inline enum ncs_channel_state ncs_step_state(bool send, unsigned time)
{
	unsigned first = send ? NCS_CHANNEL_SEND_GPU_WAIT :
				NCS_CHANNEL_RECV_WAIT;

	return (enum ncs_channel_state)(first + time - NCS_STEP_FIRST_WAIT);
}

static_assert(NCS_CHANNEL_SEND_WAIT == NCS_CHANNEL_SEND_GPU_WAIT + 2 &&
		      NCS_CHANNEL_SEND_PEER_WAIT ==
			      NCS_CHANNEL_SEND_GPU_WAIT + 1,
	      "a sender's waits are in the order of a step");
static_assert(NCS_CHANNEL_RECV_GPU_WAIT == NCS_CHANNEL_RECV_WAIT + 2 &&
		      NCS_CHANNEL_RECV_FLUSH_WAIT == NCS_CHANNEL_RECV_WAIT + 1,
	      "a receiver's waits are in the order of a step");

/* Splits a step's record into its times, in ticks. If NCCL did not report a
 * transition, the wait before it lasts until the next one. */
static inline void ncs_step_split(const struct ncs_record *record,
				  uint64_t ticks[NCS_STEP_TIMES])
{
	uint64_t end = record->duration;
	uint64_t third = record->delta[1] != 0 && record->delta[1] < end ?
				 record->delta[1] :
				 end;
	uint64_t second = record->delta[0] != 0 && record->delta[0] < third ?
				  record->delta[0] :
				  third;

	ticks[NCS_STEP_DURATION] = end;
	ticks[NCS_STEP_FIRST_WAIT] = second;
	ticks[NCS_STEP_FIRST_WAIT + 1] = third - second;
	ticks[NCS_STEP_FIRST_WAIT + 2] = end - third;
}

/* Returns whether a step or a proxy operation sends, and does not receive. */
static inline bool ncs_step_sends(const struct ncs_record *record)
{
	return record->flags & NCS_RECORD_SEND;
}

/* Returns when a sender's data were ready, or when a receiver's came, in ticks; 0
 * if NCCL did not report it. */
static inline uint64_t ncs_step_data_ticks(const struct ncs_record *record)
{
	return record->delta[0] != 0 ? record->start + record->delta[0] : 0;
}

/* Returns when the network took the data from a sender, or when they came to a
 * receiver, in ticks; 0 if NCCL did not report it. */
static inline uint64_t ncs_step_moved_ticks(const struct ncs_record *record)
{
	uint64_t delta = record->delta[ncs_step_sends(record)];

	return delta != 0 ? record->start + delta : 0;
}

#endif
