/* SPDX-License-Identifier: MIT */
/* Digests: what an agent tells of ranks that are level, in the place of their
 * states (struct ncs_digest, record/format/file_format.h).
 *
 * Says of each segment, look by look, whether it is level, by what this machine
 * shows alone; a rank that waits, is behind, or does not get on is not. Reads
 * segments through readers of its own: those of whoever writes states must see
 * every change. Not thread-safe.
 */
#ifndef NCS_FLEET_STREAM_DIGESTS_H
#define NCS_FLEET_STREAM_DIGESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/finding_numbers.h"
#include "ncclstat/snapshot.h"
#include "record/format/file_format.h"

struct ncs_header; /* ncclstat/abi_header.h */

/* A wait for so long is told in full. Shorter than a wait that is diagnosed. */
#define NCS_LEVEL_WAIT_NS (NCS_LONG_WAIT_NS / 2)

/* The most ranks with a digest in a look, and functions of them: they fit into a
 * chunk. */
#define NCS_DIGESTS_MAX 4096u
#define NCS_DIGEST_FUNCTIONS_MAX 16384u

struct ncs_digest_rank;

/* One of zeros knows no ranks. */
struct ncs_digests {
	struct ncs_digest_rank *known; /* by the caller's number of the rank */
	size_t known_count;
	size_t known_capacity;
	uint64_t looks; /* number of those that have begun */
	bool is_key;
	/* The digests of the present look; `rank` is the caller's number. */
	struct ncs_digest *ranks;
	size_t rank_count;
	size_t rank_capacity;
	struct ncs_digest_function *functions;
	size_t function_count;
	size_t function_capacity;
	size_t level; /* number of ranks that are level in it */
};

/* Frees all memory, and closes all readers. */
void ncs_digests_release(struct ncs_digests *digests);

/* Begins a look; `is_key` if it is one that can be read by itself, of which no
 * state may be left out. */
void ncs_digests_begin(struct ncs_digests *digests, bool is_key);

/* Looks at the segment of a rank at now_ns (CLOCK_MONOTONIC), and adds a digest
 * of it if its state may be left out: never while it is wanted, and then not
 * before the next look that can be read by itself. Returns 1 if it has, 0 if
 * not, or -ENOMEM. */
int ncs_digests_take(struct ncs_digests *digests, size_t rank, bool is_wanted,
		     const char *path, const struct ncs_header *header,
		     uint64_t now_ns);

/* Judges a rank by a snapshot, and adds a digest; else as above. */
int ncs_digests_judge(struct ncs_digests *digests, size_t rank, bool is_wanted,
		      const struct ncs_snapshot *snapshot);

/* Ends the look: forgets ranks that it did not have. */
void ncs_digests_end(struct ncs_digests *digests);

#endif
