/* SPDX-License-Identifier: MIT */
/* Collecting the facts about an operation; see children.h. */
#include "analysis/records/children.h"

#include "shm/clock.h"
#include "shm/hash.h"

static void keep_first(uint64_t *first_ns, uint64_t time_ns)
{
	if (time_ns != 0 && (*first_ns == 0 || time_ns < *first_ns))
		*first_ns = time_ns;
}

static void take_kernel(struct ncs_children *children,
			const struct ncs_record *record)
{
	uint64_t stop_ns = record->value + record->number;

	if (record->value == 0)
		return;
	keep_first(&children->gpu_start_ns, record->value);
	if (stop_ns > children->gpu_stop_ns)
		children->gpu_stop_ns = stop_ns;
}

static void take_proxy(struct ncs_children *children,
		       const struct ncs_clock *clock,
		       const struct ncs_record *record)
{
	uint64_t stop_ns =
		ncs_clock_ns(clock, record->start + record->duration);

	keep_first(&children->proxy_start_ns,
		   ncs_clock_ns(clock, record->start));
	if (stop_ns > children->proxy_stop_ns)
		children->proxy_stop_ns = stop_ns;
}

/* Returns a hash of a channel and peer; different pairs almost never have the
 * same hash. */
static uint64_t hash_of(const struct ncs_record *record)
{
	return ncs_hash((uint64_t)record->channel << 32 |
			(uint32_t)record->peer);
}

void ncs_children_take(struct ncs_children *children,
		       const struct ncs_clock *clock,
		       const struct ncs_record *record)
{
	bool send = record->flags & NCS_RECORD_SEND;

	if (record->event == NCS_EVENT_PROXY_OP)
		take_proxy(children, clock, record);
	if (record->event == NCS_EVENT_KERNEL_CH)
		take_kernel(children, record);
	else if (record->event == NCS_EVENT_PROXY_OP && send)
		children->sends ^= hash_of(record);
	else if (record->event == NCS_EVENT_PROXY_OP)
		children->receives ^= hash_of(record);
	else if (record->event == NCS_EVENT_PROXY_STEP && send &&
		 record->delta[0] != 0)
		keep_first(&children->data_ns,
			   ncs_clock_ns(clock,
					record->start + record->delta[0]));
}

bool ncs_children_sent_own_data(const struct ncs_children *children)
{
	return children->sends != children->receives;
}
