/* SPDX-License-Identifier: MIT */
/* Calls that have started no operation; see unstarted_calls.h. Must not judge
 * them. */
#include "analysis/diagnosis/unstarted_calls.h"

#include "analysis/model/waits.h"

bool ncs_is_p2p(unsigned function)
{
	return function == NCS_FUNCTION_SEND || function == NCS_FUNCTION_RECV ||
	       function == NCS_FUNCTION_SEND_RECV;
}

/* Returns the longest time that a thread has been inside NCCL's API; 0 if no
 * thread is inside. */
static uint64_t in_api_ns(const struct ncs_rank *rank)
{
	static const enum ncs_event events[] = {
		NCS_EVENT_COLL_API,
		NCS_EVENT_P2P_API,
		NCS_EVENT_GROUP_API,
	};
	uint64_t longest_ns = 0;

	for (size_t i = 0; i < rank->now.lane_count; i++)
		for (size_t k = 0; k < sizeof(events) / sizeof(*events); k++) {
			uint64_t open_ns =
				rank->now.lanes[i].open_since_ns[events[k]];
			uint64_t age_ns = ncs_age_ns(rank, open_ns);

			if (age_ns > longest_ns)
				longest_ns = age_ns;
		}
	return longest_ns;
}

uint64_t ncs_unstarted_calls(const struct ncs_rank *rank, unsigned function)
{
	const struct ncs_function_view *view = &rank->now.functions[function];

	return view->calls > view->operations ? view->calls - view->operations :
						0;
}

uint64_t ncs_unstarted_ns(const struct ncs_rank *rank, unsigned *function)
{
	if (!ncs_rank_calls_known(rank) || rank->now.operation_count > 0)
		return 0;
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		if (ncs_unstarted_calls(rank, i) == 0)
			continue;
		*function = i;
		return in_api_ns(rank);
	}
	return 0;
}
