/* SPDX-License-Identifier: MIT */
/* A ring of calls in order of time; see call_history.h. */
#include "analysis/records/call_history.h"

#include <errno.h>
#include <stdlib.h>

int ncs_call_history_init(struct ncs_call_history *calls, size_t capacity,
			  size_t limit)
{
	*calls = (struct ncs_call_history){
		.calls = calloc(capacity, sizeof(*calls->calls)),
		.capacity = capacity,
		.limit = limit,
		.needed_ns = UINT64_MAX,
	};
	return calls->calls ? 0 : -ENOMEM;
}

void ncs_call_history_release(struct ncs_call_history *calls)
{
	free(calls->calls);
	*calls = (struct ncs_call_history){ 0 };
}

static struct ncs_timed_call *at(const struct ncs_call_history *calls,
				 uint64_t index)
{
	return &calls->calls[index % calls->capacity];
}

static uint64_t oldest(const struct ncs_call_history *calls)
{
	return calls->count > calls->capacity ? calls->count - calls->capacity :
						0;
}

/* Doubles the capacity. If there is no memory, the oldest calls are lost, as
 * they are at the limit. */
static void grow(struct ncs_call_history *calls)
{
	struct ncs_call_history grown = *calls;

	grown.capacity *= 2;
	grown.calls = calloc(grown.capacity, sizeof(*grown.calls));
	if (!grown.calls)
		return;
	for (uint64_t i = oldest(calls); i < calls->count; i++)
		*at(&grown, i) = *at(calls, i);
	free(calls->calls);
	*calls = grown;
}

void ncs_call_history_take(struct ncs_call_history *calls,
			   const struct ncs_timed_call *call)
{
	uint64_t place = calls->count;

	if (place >= calls->capacity && calls->capacity < calls->limit &&
	    at(calls, oldest(calls))->start_ns >= calls->needed_ns)
		grow(calls);
	calls->count++;
	while (place > oldest(calls) &&
	       at(calls, place - 1)->start_ns > call->start_ns) {
		*at(calls, place) = *at(calls, place - 1);
		place--;
	}
	*at(calls, place) = *call;
}

void ncs_call_history_forget(struct ncs_call_history *calls)
{
	calls->count = 0;
}

struct ncs_timed_call
ncs_call_history_before(const struct ncs_call_history *calls, unsigned kind,
			uint64_t time_ns)
{
	uint64_t low = oldest(calls), high = calls->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (at(calls, middle)->start_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > oldest(calls))
		if (at(calls, low)->kind == kind)
			return *at(calls, low);
	return (struct ncs_timed_call){ 0 };
}
