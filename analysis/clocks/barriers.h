/* SPDX-License-Identifier: MIT */
/* What collectives tell of the clocks of hosts.
 *
 * Where everybody waits for everybody, no rank is done before the last one has
 * come. So the latest beginning on each host came before the earliest end on
 * each other one, whichever ranks are seen. Collectives are known by
 * communicator, function and NCCL's sequence number; those that a rank tells of
 * several times, as replays of CUDA graphs do, say nothing. Memory is bounded.
 * Pure; records are not trusted.
 */
#ifndef NCS_ANALYSIS_CLOCKS_BARRIERS_H
#define NCS_ANALYSIS_CLOCKS_BARRIERS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/clocks/alignment.h"
#include "ncclstat/reader.h"

struct ncs_barriers;

/* Facts go into `alignment`, whose hosts they are. So many collectives are kept
 * until the last of their ranks has told of them; 0: 1024. NULL: no memory. */
struct ncs_barriers *ncs_barriers_new(struct ncs_alignment *alignment,
				      size_t hosts, size_t kept);
void ncs_barriers_free(struct ncs_barriers *barriers); /* NULL: nothing */

/* A rank whose records will come, by what the caller calls it: a small number
 * that no other rank has. 0 or -ENOMEM. */
int ncs_barriers_expect(struct ncs_barriers *barriers, size_t owner,
			size_t host, const struct ncs_identity *identity,
			const struct ncs_clock *clock);

/* Takes in records of any type, nearly in the order of time. 0 or -ENOMEM. */
int ncs_barriers_take(struct ncs_barriers *barriers, size_t owner,
		      const struct ncs_record *records, size_t count);

/* Tells of all that are kept, and forgets them. 0 or -ENOMEM. */
int ncs_barriers_flush(struct ncs_barriers *barriers);

/* Collectives that told something, until now. */
uint64_t ncs_barriers_count(const struct ncs_barriers *barriers);

#endif
