/* SPDX-License-Identifier: MIT */
/* The links of a part: when its data was handed to the network and when data
 * came, by the rank at the other end.
 *
 * The steps of both ends of a link are the same, so the difference of the mean
 * times at its ends is the mean time for which its data was on the way: no step
 * need be looked for. Pure. Must not trust channels.
 */
#ifndef NCS_ANALYSIS_RECORDS_PART_LINKS_H
#define NCS_ANALYSIS_RECORDS_PART_LINKS_H

#include <stddef.h>

#include "analysis/records/parts.h"

/* Sets the links of a part from its channels. Its operation's time must be
 * known. */
void ncs_part_links_make(const struct ncs_part_channel *channels, size_t count,
			 struct ncs_part *part);

/* Returns a part's link to or from a rank; NULL if it has none. */
const struct ncs_part_link *ncs_part_link_of(const struct ncs_part *part,
					     int32_t peer, bool send);

/* Returns the mean time in ns for which the data of a link was on the way, at
 * most: its receiver may have had no buffer for it. Returns 0 if that is not
 * known. */
double ncs_link_message_ns(const struct ncs_part_link *send,
			   const struct ncs_part_link *receive);

#endif
