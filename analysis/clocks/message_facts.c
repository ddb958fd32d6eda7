/* SPDX-License-Identifier: MIT */
/* Facts from messages; see message_facts.h. */
#include "analysis/clocks/message_facts.h"

/* A sender waited for its receiver if sending took longer than this, which is
 * longer than a call takes even if it is delayed a little. */
#define AWAITED_NS UINT64_C(20000)

int ncs_alignment_add_message(struct ncs_alignment *alignment,
			      const struct ncs_message *message, size_t sender,
			      size_t receiver)
{
	struct ncs_before before = {
		.fact = NCS_FACT_DATA,
		.host = sender,
		.then_host = receiver,
		.at_ns = message->sent_ns ? message->sent_ns :
					    message->ready_ns,
		.then_ns = message->arrived_ns,
		.bytes = message->bytes,
	};
	int error = 0;

	if (sender == receiver)
		return 0;
	if (before.at_ns != 0 && before.then_ns != 0)
		error = ncs_alignment_add(alignment, &before);
	/* If the order of these two is not known, the sender need not have
	 * waited for the receiver. */
	if (message->ready_ns == 0 || message->sent_ns < message->ready_ns)
		return error;
	before.fact = message->sent_ns - message->ready_ns >= AWAITED_NS ?
			      NCS_FACT_AWAITED_CREDIT :
			      NCS_FACT_CREDIT;
	before.then_host = sender;
	before.host = receiver;
	before.at_ns = message->posted_ns;
	before.then_ns = message->sent_ns;
	before.bytes = 0;
	return error | ncs_alignment_add(alignment, &before);
}
