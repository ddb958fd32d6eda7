/* SPDX-License-Identifier: MIT */
/* Reading a step's record; see step_record.h.
 */
#include "analysis/records/step_record.h"

enum ncs_channel_state ncs_step_state(bool send, unsigned time)
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

void ncs_step_split(const struct ncs_record *record,
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
