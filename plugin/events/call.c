/* SPDX-License-Identifier: MIT */
/* API calls; see call.h. */
#include "plugin/events/call.h"

#include "plugin/events/range_stats.h"
#include "plugin/state/noted_calls.h"

void ncs_call_api(struct ncs_comm *comm, struct ncs_lane_state *lane,
		  struct ncs_span_slot *span, uint64_t handle,
		  enum ncs_event event, const void *body, uint64_t now)
{
	struct ncs_decoded_call call;
	struct ncs_function *function;
	struct ncs_noted_call noted;

	ncs_decode_api_call(event, body, ncs_lane_names(lane), &call);
	ncs_store_relaxed(&lane->launched, now);
	function = ncs_lane_function_begin(lane, call.function);
	ncs_lane_function_add(lane, &function->calls, 1);
	ncs_lane_function_end(lane, function);
	noted.range = ncs_range_call(comm, lane, call.function);
	noted.stream = call.stream;
	noted.captured = call.graph;
	ncs_call_note(handle, &noted);
	if (!span)
		return;
	span->record.number = noted.range;
	span->record.delta[0] = noted.stream;
	span->words[1] = ncs_record_word1(
		event, call.graph ? NCS_RECORD_GRAPH : 0, 0, call.function);
	span->words[2] = ncs_record_word2(0, call.root);
	ncs_message_bytes(comm, call.function, call.datatype, call.count,
			  &span->record.value);
}
