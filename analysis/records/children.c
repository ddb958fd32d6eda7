/* SPDX-License-Identifier: MIT */
/* Adding up an operation's children; see children.h. */
#include "analysis/records/children.h"

#include "shm/clock.h"

static void keep_first(uint64_t *first_ns, uint64_t moment_ns)
{
	if (moment_ns != 0 && (*first_ns == 0 || moment_ns < *first_ns))
		*first_ns = moment_ns;
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

/* Two different channels or peers almost never give the same. */
static uint64_t mix(const struct ncs_record *record)
{
	uint64_t x = (uint64_t)record->channel << 32 | (uint32_t)record->peer;

	x = (x + 1) * UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

void ncs_children_take(struct ncs_children *children,
		       const struct ncs_clock *clock,
		       const struct ncs_record *record)
{
	bool send = record->flags & NCS_RECORD_SEND;

	if (record->event == NCS_EVENT_KERNEL_CH)
		take_kernel(children, record);
	else if (record->event == NCS_EVENT_PROXY_OP && send)
		children->sends ^= mix(record);
	else if (record->event == NCS_EVENT_PROXY_OP)
		children->receives ^= mix(record);
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
