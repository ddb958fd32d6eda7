/* SPDX-License-Identifier: MIT */
/* The clocks of a fleet's hosts against each other, by the traffic that their
 * records tell of, as they come (analysis/clocks/alignment.h).
 *
 * The clock of this machine is host 0, of which there may be no records: then
 * hosts are aligned to one of themselves. Facts are kept of the latest minutes:
 * two generations of them, of which the older one is used until the younger one
 * aligns as many hosts. Memory is bounded. Not thread-safe. Must not trust
 * records.
 */
#ifndef NCS_FLEET_HEAD_FLEET_ALIGNMENT_H
#define NCS_FLEET_HEAD_FLEET_ALIGNMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/clocks/alignment.h"
#include "analysis/records/rank_operations.h"
#include "ncclstat/snapshot.h"
#include "record/format/file_format.h"

struct ncs_clock; /* ncclstat/abi_clock.h */

struct ncs_fleet_alignment;

/* A rank whose records are taken. One of zeros is new; the caller releases
 * it. */
struct ncs_fleet_reported {
	struct ncs_rank_operations *operations;
	bool has_repeats; /* of sequence numbers */
	/* Its number in each of the two generations. */
	uint64_t generations[2];
	size_t owners[2];
};

/* Creates an alignment without facts. Returns NULL if there is no memory;
 * ncs_fleet_alignment_free() accepts NULL. */
struct ncs_fleet_alignment *ncs_fleet_alignment_new(void);
void ncs_fleet_alignment_free(struct ncs_fleet_alignment *alignment);

/* Takes new records of a rank of a host. `clock` turns ticks into times of the
 * host, moved by a constant that is the same for all ranks and readings of the
 * host and brings the time near to this machine's. Returns 0 or -ENOMEM. */
int ncs_fleet_alignment_take(struct ncs_fleet_alignment *alignment, size_t host,
			     struct ncs_fleet_reported *rank,
			     const struct ncs_snapshot *snapshot,
			     const struct ncs_clock *clock,
			     const struct ncs_record *records, size_t count);
void ncs_fleet_reported_release(struct ncs_fleet_reported *rank);

/* Takes a reading of a host's clocks, whose times are moved by `base_ns`.
 * Ignores hosts of which no records came. Returns 0 or -ENOMEM. */
int ncs_fleet_alignment_read(struct ncs_fleet_alignment *alignment, size_t host,
			     int64_t base_ns,
			     const struct ncs_clock_reading *reading);

/* The result: hosts against the reference, whose `by` is BY_TRAFFIC. */
struct ncs_fleet_aligned {
	size_t reference;
	const struct ncs_aligned *hosts; /* valid until the next solution */
	size_t count;
	uint64_t from_ns, until_ns; /* for which errors hold */
};

/* Aligns all hosts for the time around now_ns. A host that has facts is
 * reported, with BY_NOTHING if they do not suffice. The result's count is 0
 * without records of two hosts, or when all was found to be wrong: sequence
 * numbers come again. Returns 0 or -ENOMEM. */
int ncs_fleet_alignment_solve(struct ncs_fleet_alignment *alignment,
			      uint64_t now_ns,
			      struct ncs_fleet_aligned *aligned);

/* Forgets all facts: the numbers of hosts mean others from now on. */
void ncs_fleet_alignment_forget(struct ncs_fleet_alignment *alignment);

#endif
