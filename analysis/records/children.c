/* SPDX-License-Identifier: MIT */
/* Collecting the facts about an operation; see children.h. */
#include "analysis/records/children.h"

#include "analysis/records/operation_record.h"
#include "analysis/records/step_record.h"
#include "shm/clock.h"
#include "shm/hash.h"

static void keep_first(uint64_t *first_ns, uint64_t time_ns)
{
	if (time_ns != 0 && (*first_ns == 0 || time_ns < *first_ns))
		*first_ns = time_ns;
}

static void keep_last(uint64_t *last_ns, uint64_t time_ns)
{
	if (time_ns > *last_ns)
		*last_ns = time_ns;
}

static void take_kernel(struct ncs_children *children,
			const struct ncs_record *record)
{
	if (record->value == 0)
		return;
	keep_first(&children->gpu_start_ns, record->value);
	keep_last(&children->gpu_stop_ns, record->value + record->number);
}

/* Returns a hash of a channel and peer; different pairs almost never have the
 * same hash. */
static uint64_t hash_of(const struct ncs_record *record)
{
	return ncs_hash((uint64_t)record->channel << 32 |
			(uint32_t)record->peer);
}

static void take_proxy(struct ncs_children *children,
		       const struct ncs_clock *clock,
		       const struct ncs_record *record)
{
	bool send = record->flags & NCS_RECORD_SEND;
	uint64_t stop_ns =
		ncs_clock_ns(clock, record->start + record->duration);

	keep_first(&children->proxy_start_ns,
		   ncs_clock_ns(clock, record->start));
	keep_last(&children->proxy_stop_ns, stop_ns);
	if (!send)
		keep_last(&children->receive_stop_ns, stop_ns);
	*(send ? &children->sends : &children->receives) ^= hash_of(record);
}

static void take_step(struct ncs_children *children,
		      const struct ncs_clock *clock,
		      const struct ncs_record *record)
{
	uint64_t data_ns = ncs_clock_ns(clock, ncs_step_data_ticks(record));

	if (ncs_step_sends(record))
		keep_first(&children->data_ns, data_ns);
	else
		keep_last(&children->came_ns, data_ns);
}

void ncs_children_take(struct ncs_children *children,
		       const struct ncs_clock *clock,
		       const struct ncs_record *record)
{
	if (NCS_RECORD_LEVEL(record->flags) == NCS_LEVEL_SLOW)
		return;
	if (record->event == NCS_EVENT_KERNEL_CH)
		take_kernel(children, record);
	else if (record->event == NCS_EVENT_PROXY_OP)
		take_proxy(children, clock, record);
	else if (record->event == NCS_EVENT_PROXY_STEP)
		take_step(children, clock, record);
}

bool ncs_children_came_later(const struct ncs_children *children,
			     uint64_t stop_ns, uint64_t error_ns)
{
	if (children->came_ns != 0)
		return children->came_ns > stop_ns + error_ns;
	return children->receive_stop_ns > stop_ns + error_ns + NCS_TAIL_NS;
}

bool ncs_children_sent_own_data(const struct ncs_children *children)
{
	return children->sends != children->receives;
}
