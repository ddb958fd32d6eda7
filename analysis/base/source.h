/* SPDX-License-Identifier: MIT */
/* The interface of sources of samples: a live job, a recording, or streams.
 *
 * A source hands over everything that is visible at one time, rank by rank; the
 * model (analysis/model/model.h) takes it. Sources do the I/O that the rest of
 * analysis/ must not do.
 */
#ifndef NCS_ANALYSIS_BASE_SOURCE_H
#define NCS_ANALYSIS_BASE_SOURCE_H

#include <stdint.h>
#include <sys/types.h>

#include "analysis/base/machine_peaks.h"
#include "analysis/base/nodes.h"
#include "ncclstat/attach_result.h"
#include "ncclstat/snapshot.h"

struct ncs_header; /* ncclstat/abi_header.h */

/* A rank, or a segment that cannot be read. Borrowed: valid until the
 * source hands over another sample, begins a pass or is closed. */
struct ncs_sample {
	const char *id; /* stable and unique; the path of a live segment */
	enum ncs_attach attach;
	const char *why; /* if not NCS_ATTACHED: one clause for users */
	/* Only if NCS_ATTACHED: */
	const struct ncs_header *header;
	uid_t owner; /* user of the segment's file; or NCS_NO_OWNER */
	/* Labels that tell of which job the process is, as of
	 * ncs_reader_labels(); NULL: none. */
	const char *labels;
	const struct ncs_snapshot *snapshot;
	/* Its clock is aligned with those of other hosts, so that their times
	 * can be compared. */
	bool clock_is_aligned;
	uint64_t clock_error_ns; /* how far each clock is off at most */
	/* Nothing but CLOCK_REALTIME aligns it: it may well be so far off. */
	bool clock_is_by_realtime;
	bool without_records;    /* not wanted, or not available */
	/* The snapshot is that of the last pass. It may then be NULL, which the
	 * source's complete() changes. */
	bool is_old;
	/* The state says what that of the last pass did, later on: only the
	 * time at which it was taken, and that of the process's heartbeat, are
	 * others. The snapshot is NULL, which complete() changes. There are no
	 * records. */
	bool is_same;
	uint64_t taken_ns, alive_ns; /* if is_same */
	/* The node that told of it, as a number in the source's nodes. Is
	 * `is_past` if that node is silent or has ended: the rank may be in
	 * something else by now. Both are 0 in a source without nodes. */
	size_t node;
	bool is_past;
	const char *reach; /* the node's words before a command; NULL: none */
	/* The stack of its process, as lines of fleet/stacks, and when it was
	 * read; NULL: none was read. */
	const char *stack;
	uint64_t stack_ns;
	/* Peaks of the rank's machine; NULL: not known, or not wanted. */
	const struct ncs_machine_peaks *peaks;
	/* Records that are new since the last pass, lane by lane, with times in
	 * the segment's ticks. */
	const struct ncs_record *records;
	size_t record_count;
	uint64_t records_lost; /* overwritten since the last pass */
};

struct ncs_source {
	/* Filter set by the caller: returns true for samples that shall have
	 * records; NULL means all. The records of others stay in their rings
	 * until they are overwritten. */
	bool (*wants_records)(const void *context, const char *id);
	const void *wants_context;
	/* Set by the caller: segments of other users are handed over in any
	 * case, not only where no other can be read. */
	bool shows_denied;
	/* Set by the caller: samples have peaks, which on this machine takes a
	 * thread and NVML. */
	bool wants_peaks;
	/* Ranks of one process only are shown. */
	bool shows_part;
	/* The user's names for communicators, or NULL. They belong to the
	 * opener. */
	const struct ncs_aliases *aliases;
	/* Begins a pass over all ranks as of `now_ns` (CLOCK_MONOTONIC).
	 * Returns 0, or -errno with a clause for users in `why`. */
	int (*begin)(struct ncs_source *source, uint64_t now_ns, char *why,
		     size_t why_size);
	/* Hands over the next rank of the pass; returns false at its end. */
	bool (*next)(struct ncs_source *source, struct ncs_sample *sample);
	/* Adds the snapshot to the sample that next() has handed over. Returns
	 * false if there is none. NULL for a source whose samples have theirs. */
	bool (*complete)(struct ncs_source *source, struct ncs_sample *sample);
	/* Sets *nodes to the nodes that the source's streams come from, as of
	 * the latest pass, and returns their number. They are valid until the
	 * next pass. NULL for a source that has no nodes. */
	size_t (*nodes)(struct ncs_source *source,
			const struct ncs_node **nodes);
	/* Frees the source. */
	void (*close)(struct ncs_source *source);
};

#endif
