/* SPDX-License-Identifier: MIT */
/* Facts about the clocks of hosts from messages (analysis/records/messages.h):
 * data are sent before they arrive and, with InfiniBand, a receive is posted
 * before its send is accepted. Pure.
 */
#ifndef NCS_ANALYSIS_CLOCKS_MESSAGE_FACTS_H
#define NCS_ANALYSIS_CLOCKS_MESSAGE_FACTS_H

#include <stddef.h>

#include "analysis/clocks/alignment.h"
#include "analysis/records/messages.h"

/* Adds what a message from one host to another tells. Returns 0 or -ENOMEM. */
int ncs_alignment_add_message(struct ncs_alignment *alignment,
			      const struct ncs_message *message, size_t sender,
			      size_t receiver);

#endif
