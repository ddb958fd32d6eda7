/* SPDX-License-Identifier: MIT */
/* API calls and their operations; see call.h. */
#include "plugin/events/call.h"

#include <string.h>

#include "plugin/events/capture.h"
#include "plugin/events/operation.h"
#include "plugin/events/range_stats.h"
#include "plugin/events/sampling.h"
#include "plugin/state/noted_calls.h"

/* Fetches what the operation of a call will need, as ncs_call_expect() does. */
NCS_CALL_FETCHING expect_operation(const struct ncs_comm *comm,
				   const struct ncs_lane_state *lane)
{
	uint64_t index = ncs_load_relaxed(&comm->header->filled.operations) &
			 (comm->operation_count - 1);
	const char *op = (const char *)&comm->ops[index];
	const char *published = (const char *)&comm->operations[index];

	ncs_call_fetch(op);
	ncs_call_fetch(op + NCS_CACHE_LINE);
	ncs_call_fetch(op + 2 * NCS_CACHE_LINE);
	ncs_call_fetch(published);
	ncs_call_fetch(published + NCS_CACHE_LINE);
	ncs_call_fetch(&comm->classes[lane->class_index]);
}

void ncs_call_api(struct ncs_comm *comm, struct ncs_lane_state *lane,
		  struct ncs_span_slot *span, uint64_t handle,
		  enum ncs_event event, uint64_t parent, const void *body,
		  uint64_t now)
{
	struct ncs_decoded_call call;
	struct ncs_function *function;
	struct ncs_noted_call noted;

	expect_operation(comm, lane);
	ncs_decode_api_call(event, body, ncs_lane_names(lane), &call);
	ncs_store_relaxed(&lane->launched, now);
	function = ncs_lane_function_begin(lane, call.function);
	ncs_lane_function_add(lane, &function->calls, 1);
	ncs_lane_function_end(lane, function);
	noted.range = ncs_range_call(comm, lane, call.function);
	noted.stream = call.stream;
	noted.captured = call.graph;
	ncs_call_note(handle, &noted);
	if (!lane->shared) {
		lane->call_handle = handle;
		lane->call_group = parent;
		lane->call = noted;
	}
	if (!span)
		return;
	span->record.number = noted.range;
	span->record.delta[0] = noted.stream;
	span->words[1] = ncs_record_word1(
		event, call.graph ? NCS_RECORD_GRAPH : 0, 0, call.function);
	span->words[2] = ncs_record_word2(0, call.root);
	ncs_message_bytes(comm->nranks, call.function, call.datatype,
			  call.count, &span->record.value);
}

/* Completes the identity, which API 1-3 report with the first operation. */
__attribute__((noinline)) static void
identify(struct ncs_comm *comm, int rank, const struct ncs_decoded_comm *facts)
{
	struct ncs_identity *identity = &comm->header->identity;
	struct ncs_identity copy;

	/* Comes first: it must be done when `identified` is set. */
	ncs_sampling_identify(comm, facts->id, rank);
	/* ORDER: pairs with identify() (plugin/events/call.c): only the
	 * first thread continues. */
	if (ncs_exchange_acquire_release(&comm->identified, 1) != 0)
		return;
	memcpy(&copy, identity, sizeof(copy));
	copy.rank = rank;
	copy.known |= NCS_KNOWN_RANK;
	if (facts->id != 0) {
		copy.comm_id = facts->id;
		copy.known |= NCS_KNOWN_COMM_ID;
	}
	if (facts->name) {
		strncpy(copy.comm_name, facts->name,
			sizeof(copy.comm_name) - 1);
		copy.known |= NCS_KNOWN_COMM_NAME;
	}
	ncs_seqlock_begin(&identity->sequence);
	for (size_t i = 1; i < sizeof(copy) / sizeof(uint64_t); i++)
		ncs_payload_store((uint64_t *)identity + i,
				  ((uint64_t *)&copy)[i]);
	ncs_seqlock_end(&identity->sequence);
}

uint64_t ncs_call_operation(unsigned api_version, struct ncs_comm *comm,
			    struct ncs_lane_state *lane, enum ncs_event event,
			    uint64_t parent, int rank, const void *body,
			    uint64_t now)
{
	struct ncs_operation_facts facts = { .event = event };
	struct ncs_decoded_comm reported = { 0 };
	struct ncs_noted_call call;
	bool noted;

	/* Before there were call events, the parent was the group. */
	if (api_version < ncs_event_api(NCS_EVENT_COLL_API))
		parent = 0;
	if (parent != 0 && parent == lane->call_handle && !lane->shared) {
		call = lane->call;
		noted = true;
	} else {
		noted = ncs_call_find(parent, &call);
	}
	if (event == NCS_EVENT_COLL)
		ncs_decode_coll(api_version, body, ncs_lane_names(lane), &facts,
				&reported);
	else
		ncs_decode_p2p(api_version, body, ncs_lane_names(lane), &facts,
			       &reported);
	if (api_version < 4 && ncs_load_relaxed(&comm->identified) == 0)
		identify(comm, rank, &reported);
	facts.range = ncs_range_of_operation(comm, lane, parent,
					     noted ? &call : NULL);
	facts.stream = call.stream;
	facts.captured = call.captured;
	if (lane->is_captured) {
		ncs_capture_operation(lane, &facts);
		return ncs_handle_encode(NCS_HANDLE_UNTRACKED, comm->index, 0,
					 0, 0);
	}
	return ncs_operation_start(comm, lane, &facts, now);
}
