/* SPDX-License-Identifier: MIT */
/* Packs and unpacks requests and details, and changes the words of a control
 * object; see control.h. */
#include "shm/control.h"

#include <string.h>

#include "shm/atomics.h"

#define DETAIL_MASK ((UINT64_C(1) << NCS_DETAIL_BITS) - 1)
#define SERIAL_MASK (NCS_CONTROL_SERIALS - 1)

static const struct {
	uint32_t events;
	uint8_t needs;
} groups_of[] = {
#define X(ID, name, events, needs, help) { events, NCS_GROUP_##needs },
	NCS_EVENT_GROUPS(X)
#undef X
};

/* --- Details ----------------------------------------------------------- */

uint8_t ncs_groups_sane(uint8_t groups)
{
	uint8_t sane = 1u << NCS_GROUP_CALLS;

	/* The table lists a group's prerequisite before the group. */
	for (unsigned i = 0; i < NCS_GROUP_COUNT; i++)
		if (groups >> i & 1 && sane >> groups_of[i].needs & 1)
			sane |= (uint8_t)(1u << i);
	return sane;
}

uint32_t ncs_groups_events(uint8_t groups)
{
	uint32_t events = 0;

	for (unsigned i = 0; i < NCS_GROUP_COUNT; i++)
		if (groups >> i & 1)
			events |= groups_of[i].events;
	return events;
}

bool ncs_detail_unpack(uint64_t bits, struct ncs_detail *detail)
{
	*detail = (struct ncs_detail){
		.groups = (uint8_t)bits,
		.has_groups = bits >> 8 & 1,
		.kernel = bits >> 9 & 0x1f,
		.sample = bits >> 14 & 0x1f,
		.timing = bits >> 19 & 0x1f,
	};
	if (bits <= DETAIL_MASK &&
	    detail->kernel <=
		    NCS_KERNEL_DETAIL_EVERY + NCS_KERNEL_DETAIL_LOG2_MAX &&
	    detail->sample <= NCS_LEVEL_MAX + 1 &&
	    detail->timing <=
		    NCS_TIMING_DETAIL_EVERY + NCS_TIMING_DETAIL_LOG2_MAX &&
	    (detail->has_groups ?
		     detail->groups == ncs_groups_sane(detail->groups) :
		     detail->groups == 0))
		return true;
	memset(detail, 0, sizeof(*detail));
	return false;
}

uint64_t ncs_detail_pack(const struct ncs_detail *detail)
{
	return detail->groups | (uint64_t)(detail->has_groups & 1) << 8 |
	       (uint64_t)(detail->kernel & 0x1f) << 9 |
	       (uint64_t)(detail->sample & 0x1f) << 14 |
	       (uint64_t)(detail->timing & 0x1f) << 19;
}

struct ncs_detail ncs_detail_over(const struct ncs_detail *upper,
				  const struct ncs_detail *lower)
{
	struct ncs_detail detail = *lower;

	if (upper->has_groups) {
		detail.has_groups = 1;
		detail.groups = upper->groups;
	}
	if (upper->kernel != NCS_KERNEL_DETAIL_DEFAULT)
		detail.kernel = upper->kernel;
	if (upper->sample != 0)
		detail.sample = upper->sample;
	if (upper->timing != NCS_TIMING_DETAIL_DEFAULT)
		detail.timing = upper->timing;
	return detail;
}

/* --- Requests ---------------------------------------------------------- */

bool ncs_request_unpack(uint64_t word, struct ncs_control_request *request)
{
	bool good;

	memset(request, 0, sizeof(*request));
	request->leased = word & NCS_CONTROL_LEASED;
	good = ncs_detail_unpack(word & DETAIL_MASK, &request->base) &&
	       ncs_detail_unpack(word >> NCS_CONTROL_LEASE_SHIFT & DETAIL_MASK,
				 &request->lease) &&
	       (request->leased || ncs_detail_pack(&request->lease) == 0);
	if (!good)
		memset(request, 0, sizeof(*request));
	request->serial = (uint32_t)(word >> NCS_CONTROL_SERIAL_SHIFT);
	return good;
}

uint64_t ncs_request_pack(const struct ncs_control_request *request)
{
	return ncs_detail_pack(&request->base) |
	       (request->leased ? NCS_CONTROL_LEASED : 0) |
	       ncs_detail_pack(&request->lease) << NCS_CONTROL_LEASE_SHIFT |
	       (uint64_t)(request->serial & SERIAL_MASK)
		       << NCS_CONTROL_SERIAL_SHIFT;
}

bool ncs_request_is_since(uint64_t word, uint64_t other)
{
	uint32_t ahead = (uint32_t)(word >> NCS_CONTROL_SERIAL_SHIFT) -
			 (uint32_t)(other >> NCS_CONTROL_SERIAL_SHIFT);

	return (ahead & SERIAL_MASK) < NCS_CONTROL_SERIALS / 2;
}

bool ncs_lease_is_over(uint64_t until_ns, uint64_t now_ns)
{
	return until_ns <= now_ns || until_ns - now_ns > NCS_LEASE_MAX_NS;
}

/* --- Changes of the word ----------------------------------------------- */

/* Increments the request's serial number and returns its word. */
static uint64_t successor(struct ncs_control_request *request)
{
	request->serial = (request->serial + 1) & SERIAL_MASK;
	if (request->serial == 0) /* 0 means that there is no request */
		request->serial = 1;
	return ncs_request_pack(request);
}

/* Replaces `before` by the request that was derived from it. Returns false if
 * the word has changed meanwhile. */
static bool put(struct ncs_control *control, uint64_t before,
		struct ncs_control_request *request, uint64_t *word)
{
	*word = successor(request);
	/* ORDER: pairs with ncs_control_update()
	 * (plugin/events/control_watch.c): a plugin that sees the lease sees
	 * its end and holder. */
	return ncs_cas_acquire_release(&control->request, before, *word);
}

uint64_t ncs_control_change(struct ncs_control *control,
			    const struct ncs_change *change)
{
	struct ncs_control_request request;
	uint64_t before, word;

	do {
		before = ncs_load_relaxed(&control->request);
		ncs_request_unpack(before, &request);
		if (change->groups) {
			request.base.has_groups = change->to.has_groups;
			request.base.groups = change->to.groups;
		}
		if (change->kernel)
			request.base.kernel = change->to.kernel;
		if (change->sample)
			request.base.sample = change->to.sample;
		if (change->timing)
			request.base.timing = change->to.timing;
	} while (!put(control, before, &request, &word));
	return word;
}

uint64_t ncs_control_take_lease(struct ncs_control *control,
				const struct ncs_detail *detail,
				uint64_t holder, uint64_t now_ns)
{
	struct ncs_control_request request;
	uint64_t before, word;

	do {
		before = ncs_load_relaxed(&control->request);
		ncs_request_unpack(before, &request);
		request.leased = true;
		request.lease = *detail;
		ncs_store_relaxed(&control->lease_holder, holder);
		ncs_store_relaxed(&control->lease_until_ns,
				  now_ns + NCS_LEASE_NS);
	} while (!put(control, before, &request, &word));
	return word;
}

static bool is_holder(const struct ncs_control *control, uint64_t holder)
{
	return ncs_load_relaxed(&control->request) & NCS_CONTROL_LEASED &&
	       ncs_load_relaxed(&control->lease_holder) == holder;
}

bool ncs_control_renew_lease(struct ncs_control *control, uint64_t holder,
			     uint64_t now_ns)
{
	if (!is_holder(control, holder) ||
	    ncs_lease_is_over(ncs_load_relaxed(&control->lease_until_ns),
			      now_ns))
		return false;
	ncs_store_relaxed(&control->lease_until_ns, now_ns + NCS_LEASE_NS);
	return true;
}

uint64_t ncs_control_end_lease(struct ncs_control *control, uint64_t word)
{
	struct ncs_control_request request;
	uint64_t ended;

	ncs_request_unpack(word, &request);
	request.leased = false;
	memset(&request.lease, 0, sizeof(request.lease));
	return put(control, word, &request, &ended) ? ended : word;
}

void ncs_control_drop_lease(struct ncs_control *control, uint64_t holder)
{
	while (is_holder(control, holder)) {
		uint64_t word = ncs_load_relaxed(&control->request);

		ncs_control_end_lease(control, word);
	}
}
