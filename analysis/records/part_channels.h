/* SPDX-License-Identifier: MIT */
/* The channels of a part, in each direction and with each peer, added up from the
 * records of its proxy operations and steps as they come; its links, and when its
 * rank had data of its own to send. Pure. Must not trust records.
 */
#ifndef NCS_ANALYSIS_RECORDS_PART_CHANNELS_H
#define NCS_ANALYSIS_RECORDS_PART_CHANNELS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/records/parts.h"

struct ncs_clock; /* ncclstat/abi_clock.h */

/* Start with {0}. */
struct ncs_part_channels {
	struct ncs_part_channel *all;
	size_t count, capacity;
	size_t found; /* place of the one found last */
};

/* Frees the memory. */
void ncs_part_channels_release(struct ncs_part_channels *channels);

/* Takes the record of a proxy operation or a step. Returns 0, or -ENOMEM, also if
 * there are too many channels. */
int ncs_part_channels_take(struct ncs_part_channels *channels,
			   const struct ncs_clock *clock,
			   const struct ncs_record *record);

/* Sets the number of channels of a part, its waits, when its last data moved, and
 * its channels that ended last and that took longest. */
void ncs_part_channels_sum(const struct ncs_part_channels *channels,
			   struct ncs_part *part);

/* Sets the links of a part: when its data was handed to the network and when data
 * came, by the rank at the other end. Its operation's time must be known. */
void ncs_part_channels_link(const struct ncs_part_channels *channels,
			    struct ncs_part *part);

/* Returns when a rank whose kernel began at `begin_ns` would have had its first
 * data if it had not waited for others: in a tree, and between two ranks, each
 * rank receives from those that it sends to. Returns 0 if that is not known. On
 * each channel it is when it had data to send, less the time for which a buffer
 * that was there had waited for the data that came last before. What its GPU and
 * its proxy thread took by themselves is left. Of several channels, the first one
 * counts. Times are ns, and may be any value. */
uint64_t ncs_first_data_ns(const struct ncs_part_channel *channels,
			   size_t count, uint64_t begin_ns);

#endif
